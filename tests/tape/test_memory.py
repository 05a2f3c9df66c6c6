"""What a tape holds, and when it lets go."""

import gc
import sys
import tracemalloc
import weakref

import numpy as np
import pytest

from s2sgrad import SGD, GradientTape, Variable, constant, differentiable


def recorded(persistent):
    x = constant(np.ones(10))
    with GradientTape(persistent=persistent) as t:
        t.watch(x)
        intermediate = np.sin(x)
        y = np.sum(intermediate * intermediate)
    return t, x, y, weakref.ref(intermediate)


@pytest.fixture(autouse=True)
def no_collection():
    """Freed at once, not by the garbage collector."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_gradient_frees_a_tape_that_is_not_persistent():
    t, x, y, intermediate = recorded(False)
    assert intermediate() is not None
    t.gradient(y, x)
    assert intermediate() is None


def test_a_persistent_tape_is_freed_when_it_is_dropped():
    t, x, y, intermediate = recorded(True)
    t.gradient(y, x)
    assert intermediate() is not None
    del t
    assert intermediate() is None


def test_a_tape_that_gives_no_gradient_is_freed_when_it_is_dropped():
    t, _, _, intermediate = recorded(False)
    del t
    assert intermediate() is None


def test_records_are_freed_while_the_sweep_goes_on():
    alive, seen = [], []

    from s2sgrad import custom_gradient

    @custom_gradient
    def spy(x):
        return x * 1.0, lambda g: (seen.append([ref() is not None for ref in alive]), g)[1]

    x = constant(np.ones(3))
    with GradientTape() as t:
        t.watch(x)
        y = spy(x)
        for _ in range(3):
            y = np.sin(y)
            alive.append(weakref.ref(y))
        y = np.sum(y)
    t.gradient(y, x)
    assert seen == [[False, False, False]]


def test_what_nobody_follows_is_not_kept():
    x, w = constant(np.ones(3)), Variable(1.0)
    with GradientTape():
        a = weakref.ref(x * 2.0)
        b = x * 2.0
        w * 1.0
        c = weakref.ref(b)
        del b
        assert a() is None and c() is None


def test_thousands_of_steps_of_training_do_not_grow():
    w, optimiser = Variable([0.0, 0.0]), SGD(0.01)
    x = np.array([[1.0, 2.0], [3.0, 4.0]])

    @differentiable
    def loss(w):
        return np.sum((x @ w - 1.0) ** 2)

    def steps(count):
        for k in range(count):
            with GradientTape() as t:
                y = np.sum((x @ w - 1.0) ** 2) if k % 2 else loss(w)
            optimiser.apply_gradients(zip(t.gradient(y, [w]), [w], strict=True))

    steps(2_000)  # the interpreter's free lists are filled by then
    blocks = sys.getallocatedblocks()
    steps(4_000)
    assert sys.getallocatedblocks() - blocks < 1_000, "a block of memory each step would be 4,000"
    assert np.isfinite(w.numpy()).all()


def test_the_memory_of_a_tape_is_given_back():
    x = constant(np.ones(1_000))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        with GradientTape() as t:
            t.watch(x)
            y = x
            for _ in range(100):
                y = np.sin(y)
            y = np.sum(y)
        assert tracemalloc.get_traced_memory()[0] - before > 100 * 8_000
        t.gradient(y, x)
        assert tracemalloc.get_traced_memory()[0] - before < 50_000
    finally:
        tracemalloc.stop()
