"""Threads do not see each other's tapes."""

import threading

import numpy as np

from s2sgrad import GradientTape, Variable, constant


def test_threads_do_not_see_each_others_tapes():
    x, v = constant(3.0), Variable(2.0)
    seen, barrier = {}, threading.Barrier(2)

    def work(name, factor):
        with GradientTape() as t:
            t.watch(x)
            barrier.wait()
            y = x * factor
            barrier.wait()
            seen[name] = t.gradient(y, x).numpy(), len(t.watched_variables())

    threads = [threading.Thread(target=work, args=(k, float(k))) for k in (2, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {2: (2.0, 0), 5: (5.0, 0)}

    with GradientTape() as t:
        t.watch(x)
        done = []
        thread = threading.Thread(target=lambda: done.append((np.asarray(x), v * 2.0)))  # free there: no tape records
        thread.start()
        thread.join()
    assert done[0][0] == 3.0 and t.watched_variables() == ()
    assert t.gradient(done[0][1], v) is None


def test_many_threads_train_at_once():
    def train(start, out):
        w = Variable(start)
        for _ in range(50):
            with GradientTape() as t:
                loss = (w - 1.0) ** 2
            w.assign_sub(0.1 * t.gradient(loss, w))
        out.append(w.numpy())

    out = []
    threads = [threading.Thread(target=train, args=(float(k), out)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(out, np.ones(8), atol=1e-3)
