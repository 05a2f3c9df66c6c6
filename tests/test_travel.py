"""Gradients and pullbacks go to other processes and come back: pickle, cloudpickle, multiprocessing, copy; and threads."""

from __future__ import annotations

import concurrent.futures
import copy
import functools
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap
import threading
import traceback

import numpy as np
import pytest

import s2sgrad
from s2sgrad import grad, value_and_grad, vjp
from s2sgrad.api import higher
from s2sgrad.driver import cache, compiled

ROOT = pathlib.Path(s2sgrad.__file__).resolve().parent.parent


def cube(x, k=1.0):
    return k * x**3


def failing(x):
    y = np.sin(x) * x
    return y / check(x)


def check(x):
    if x > 5.0:
        raise ValueError("too large")
    return 2.0


@grad
def decorated(x):
    return x**3


@grad(argnums="k")
def decorated_with_options(x, k):
    return x * k**2


@grad
@grad
def twice_decorated(x):
    return x**3


@value_and_grad
def energy(x):
    return x * x


class Spring:
    def __init__(self, k):
        self.k = k

    def plain(self, x):
        return x * x

    @grad
    def slope(self, x):
        return x * x * self.k

    @grad
    @staticmethod
    def static(x):
        return x * x

    @grad
    @classmethod
    def of_class(cls, x):
        return x * x

    def __call__(self, x):
        return x * x


renamed = grad(cube)

GRADIENTS = {
    "function": (grad(cube), (2.0,), 12.0),
    "by_name": (grad(cube, "k"), (2.0,), 8.0),
    "tuple": (grad(cube, (0, 1)), (2.0, 1.0), (12.0, 8.0)),
    "value": (value_and_grad(cube), (2.0,), (8.0, 12.0)),
    "seeded": (grad(cube, output_gradients=10.0), (2.0,), 120.0),
    "second": (grad(grad(cube)), (2.0,), 12.0),
    "second_of_decorated": (grad(decorated), (2.0,), 12.0),
    "decorated": (decorated, (2.0,), 12.0),
    "decorated_with_options": (decorated_with_options, (3.0, 2.0), 12.0),
    "twice_decorated": (twice_decorated, (2.0,), 12.0),
    "energy": (energy, (2.0,), (4.0, 4.0)),
    "renamed": (renamed, (2.0,), 12.0),
    "library": (grad(np.sin), (0.0,), 1.0),
    "partial": (grad(functools.partial(cube, k=2.0)), (2.0,), 24.0),
    "method": (grad(Spring(1.0).plain), (3.0,), 6.0),
    "unbound": (grad(Spring.plain, 1), (Spring(1.0), 3.0), 6.0),
    "instance": (grad(Spring(1.0)), (3.0,), 6.0),
    "slope_of_instance": (Spring(1.0).slope, (3.0,), 6.0),
    "slope_of_class": (Spring.slope, (Spring(1.0), 3.0), {"k": 9.0}),
    "static": (Spring.static, (3.0,), 6.0),
    "of_class": (Spring.of_class, (3.0,), 6.0),
    "of_the_class_of_an_instance": (Spring(1.0).of_class, (3.0,), 6.0),
}

WAYS = {
    **{f"pickle {k}": lambda g, k=k: pickle.loads(pickle.dumps(g, k)) for k in range(2, pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GRADIENTS)
def test_there_and_back(name, way):
    gradient, args, expected = GRADIENTS[name]
    for _ in range(2):  # before and after it was called
        other = WAYS[way](gradient)
        assert other(*args) == expected
        assert repr(other) == repr(gradient) and other.source == gradient.source_for(*args)
        assert gradient(*args) == expected


@pytest.mark.parametrize("name", ["decorated", "twice_decorated", "energy", "slope_of_class", "static"])
def test_what_a_module_knows_by_its_name_is_itself(name):
    gradient = GRADIENTS[name][0]
    assert pickle.loads(pickle.dumps(gradient)) is gradient
    assert len(pickle.dumps(gradient)) < 100


def test_arriving_compiles_nothing(monkeypatch):
    data = pickle.dumps([grad(cube), grad(grad(cube)), vjp(cube, 2.0)[1], decorated])
    monkeypatch.setattr(compiled, "compile_gradient", None)
    monkeypatch.setattr(compiled, "compile_pair", None)
    cache.forget()
    pickle.loads(data)


def handed(x, through):
    return through(lambda t: np.sin(x[1] * t), x[0])


def called(f, t):
    return f(t)


def test_a_pullback_that_holds_function_values_does_not_go_by_pickle():
    value, pullback = vjp(handed, np.array([0.7, 1.3]), called)
    assert value == np.sin(1.3 * 0.7)
    with pytest.raises(TypeError, match="was made while this ran, and cannot be pickled: call the pullback here"):
        pickle.dumps(pullback)
    assert np.shape(pullback(1.0)[0]) == (2,)


def test_a_lambda_does_not_go_by_pickle():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(grad(lambda x: x * x))
    f = lambda x: x * x  # noqa: E731
    assert copy.copy(grad(f))(3.0) == copy.deepcopy(grad(f))(3.0) == 6.0


def test_a_deep_copy_has_seeds_of_its_own():
    weights = np.ones(2)
    first = grad(cube, output_gradients=weights)
    second = copy.deepcopy(first)
    weights *= 10.0
    np.testing.assert_array_equal(second(np.ones(2)), [3.0, 3.0])
    np.testing.assert_array_equal(first(np.ones(2)), [30.0, 30.0])


def test_a_pullback_of_another_version_is_refused():
    text = pickle.dumps(vjp(cube, 2.0)[1])
    _, pullback = vjp(cube, 2.0)
    way = pullback.__reduce__()[1][0]
    pullback._bwd = (*way[:-1], "0" * 16)
    with pytest.raises(RuntimeError, match="another version of `cube`"):
        pullback(1.0)
    assert pickle.loads(text)(1.0) == (12.0,)


# --- other processes ---------------------------------------------------------------------------------------------------


def applied(gradient, *args):
    return gradient(*args)


def text_of_a_traceback(gradient, x):
    try:
        gradient(x)
    except ValueError:
        return traceback.format_exc()
    return ""


@pytest.fixture(scope="module", params=["spawn", "forkserver"])
def pool(request):
    if request.param not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    try:
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context(request.param)) as pool:
            yield pool
    finally:
        os.environ.pop("PYTHONPATH") if before is None else os.environ.__setitem__("PYTHONPATH", before)


@pytest.mark.dear
def test_gradients_in_another_process(pool):
    jobs = {name: pool.submit(applied, gradient, *args) for name, (gradient, args, _) in GRADIENTS.items()}
    assert {name: job.result(120) for name, job in jobs.items()} == {n: e for n, (_, _, e) in GRADIENTS.items()}


def test_gradients_are_mapped(pool):
    assert list(pool.map(decorated, [1.0, 2.0, 3.0])) == [3.0, 12.0, 27.0]
    assert list(pool.map(grad(cube), [1.0, 2.0, 3.0])) == [3.0, 12.0, 27.0]


def test_pullbacks_go_and_come_back(pool):
    y, pullback = vjp(cube, np.array([1.0, 2.0]), 2.0)
    here = pullback(np.ones(2))
    there = pool.submit(applied, pullback, np.ones(2)).result(120)
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(a, b)
    y, made_there = pool.submit(vjp, cube, 2.0).result(120)
    assert (y, made_there(1.0)) == (8.0, (12.0,))


def test_tracebacks_in_another_process_are_those_of_here(pool):
    here = text_of_a_traceback(grad(failing), 6.0)
    there = pool.submit(text_of_a_traceback, grad(failing), 6.0).result(120)
    assert here == there and "check(" in there


BY_VALUE = """
    import cloudpickle, linecache, sys
    import numpy as np
    from s2sgrad import grad, vjp

    source = '''
    import numpy as np
    def helper(x):
        return np.sin(x) * SCALE
    SCALE = 2.0
    def f(x, k):
        return helper(x) * k
    def make(k):
        return lambda x: f(x, k) * x
    '''
    name = "<ipython-input-7-abc>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space = {"__name__": "__main__"}
    exec(compile(source, name, "exec"), space)

    def in_main(x):
        return other_in_main(x) * 3.0

    def other_in_main(x):
        return x * x

    things = [
        grad(space["f"]), grad(space["make"](3.0)), grad(grad(space["make"](3.0))), grad(lambda x: x**3),
        vjp(space["make"](3.0), 0.5)[1], grad(in_main), vjp(in_main, 2.0)[1], grad(in_main, output_gradients=2.0),
    ]
    open(sys.argv[1], "wb").write(cloudpickle.dumps(things))
    args = [(0.5, 2.0), (0.5,), (0.5,), (2.0,), (1.0,), (2.0,), (1.0,), (2.0,)]
    print([repr(thing(*a)) for thing, a in zip(things, args)])
    print([getattr(thing, "source", "") for thing in things])
"""

ARRIVING = """
    import pickle, sys
    things = pickle.load(open(sys.argv[1], "rb"))
    args = [(0.5, 2.0), (0.5,), (0.5,), (2.0,), (1.0,), (2.0,), (1.0,), (2.0,)]
    print([repr(thing(*a)) for thing, a in zip(things, args)])
    print([getattr(thing, "source", "") for thing in things])
"""


@pytest.mark.dear
@pytest.mark.parametrize("file_is_gone", [False, True])
def test_cloudpickle_takes_functions_of_main_and_of_notebooks(tmp_path, file_is_gone):
    pytest.importorskip("cloudpickle")
    (tmp_path / "leaving.py").write_text(textwrap.dedent(BY_VALUE))
    (tmp_path / "arriving.py").write_text(textwrap.dedent(ARRIVING))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(script):
        done = subprocess.run([sys.executable, script, "things.pickle"], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    there = run("leaving.py")
    if file_is_gone:
        (tmp_path / "leaving.py").unlink()
    assert run("arriving.py") == there


WORKERS = """
    import joblib
    import numpy as np
    from s2sgrad import grad, value_and_grad

    def loss(w, b):
        return np.sum((w * b) ** 2)

    def make(k):
        return lambda w: np.sum(w ** k)

    if __name__ == "__main__":
        w = np.arange(3.0)
        for jobs in (1, 2):
            made = joblib.Parallel(n_jobs=jobs)(joblib.delayed(grad(loss))(w, b) for b in (1.0, 2.0))
            made += joblib.Parallel(n_jobs=jobs)(joblib.delayed(value_and_grad(make(k)))(w) for k in (2, 3))
            print(made)
"""


@pytest.mark.dear
def test_joblib_takes_gradients_to_its_workers(tmp_path):
    pytest.importorskip("joblib")
    (tmp_path / "workers.py").write_text(textwrap.dedent(WORKERS))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "workers.py"], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    here, there = done.stdout.splitlines()
    assert here == there


# --- threads -----------------------------------------------------------------------------------------------------------


@pytest.mark.dear
def test_many_threads_compile_call_pickle_and_forget():
    functions = [lambda x, k=k: x**k for k in (1, 2, 3)] + [np.sin, cube, functools.partial(cube, k=2.0)]
    expected = [float(grad(f)(0.5)) for f in functions]
    arrays = [float(np.sum(grad(f)(np.full(2, 0.5)))) for f in functions]
    cache.forget()
    wrong, done = [], []
    barrier = threading.Barrier(8)

    def work(seed):
        rng = np.random.default_rng(seed)
        barrier.wait()
        for step in range(150):
            k = int(rng.integers(len(functions)))
            gradient = grad(functions[k]) if step % 2 else shared[k]
            value = float(gradient(0.5))
            if value != expected[k] or float(np.sum(gradient(np.full(2, 0.5)))) != arrays[k]:
                wrong.append((k, value))
            if float(vjp(functions[k], 0.5)[1](1.0)[0]) != expected[k]:
                wrong.append(("vjp", k))
            if seed == 0 and step % 10 == 0:
                cache.forget()
            if k == 4 and pickle.loads(pickle.dumps(gradient))(0.5) != expected[k]:
                wrong.append(("pickle", k))
        done.append(seed)

    shared = [grad(f) for f in functions]
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert wrong == [] and sorted(done) == list(range(8))


@pytest.mark.parametrize("level", [1, 2, 5])
def test_adjoints_of_functions_known_at_run_time_go_by_their_names(level):
    for of_call in (False, True):
        adjoint = higher.backward_of(level, of_call)
        assert pickle.loads(pickle.dumps(adjoint)) is adjoint
    with pytest.raises(AttributeError, match="no attribute 'vjp_forward_1'"):
        higher.vjp_forward_1  # noqa: B018
