"""Functions made anew in every step of a loop: compiled once, right in every step, and nothing grows."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import inspect
import linecache
import sys
import textwrap
import threading
import tracemalloc
import types
import weakref

import numpy as np
import pytest

from s2sgrad import S2SGradError, grad, value_and_grad, vjp
from s2sgrad.driver import cache, compiled

STEPS = 500
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def compilations(monkeypatch):
    """A list that grows by one name for each gradient or pair that is compiled."""
    cache.forget()
    made = []
    for name in ("compile_gradient", "compile_pair"):
        original = getattr(compiled, name)

        def counted(function, *rest, original=original):
            made.append(function.__name__)
            return original(function, *rest)

        monkeypatch.setattr(f"s2sgrad.driver.compiled.{name}", counted)
        monkeypatch.setattr("s2sgrad.api.dynamic.compile_pair", compiled.compile_pair)
    return made


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module from text and import it, without a name that keeps it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    count = iter(range(1000))

    def made(text):
        path = tmp_path / f"looped_{next(count)}.py"
        path.write_text(textwrap.dedent(text))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return made


def loss(w, batch):
    return np.sum((batch * w - 1.0) ** 2)


def loss_grad(w, batch):
    return 2.0 * np.sum((batch * w - 1.0) * batch)


class Model:
    def __init__(self, batch):
        self.batch = batch

    def loss(self, w):
        return loss(w, self.batch)

    def __call__(self, w):
        return loss(w, self.batch) * 2.0


def as_lambda(batch):
    return grad(lambda w: loss(w, batch))


def as_default(batch):
    return grad(lambda w, batch=batch: loss(w, batch))


def as_nested(batch):
    def predict(w):
        return batch * w

    def loss(w):
        return np.sum((predict(w) - 1.0) ** 2)

    return grad(loss)


def as_nested_twice(batch):
    def make(scale):
        def predict(w):
            return batch * w * scale

        return predict

    predict = make(1.0)

    def residual(w):
        return predict(w) - 1.0

    return grad(lambda w: np.sum(residual(w) ** 2))


def as_partial(batch):
    return grad(functools.partial(loss, batch=batch))


def as_partial_of_a_lambda(batch):
    return grad(functools.partial(lambda b, w: loss(w, b), batch))


def as_method(batch):
    return grad(Model(batch).loss)


def as_callable(batch):
    gradient = grad(Model(batch))
    return lambda w: gradient(w) / 2.0


def as_value_and_grad(batch):
    return lambda w: value_and_grad(lambda w: loss(w, batch))(w)[1]


def as_pullback(batch):
    return lambda w: vjp(lambda w: loss(w, batch), w)[1](1.0)[0]


MAKERS = [
    as_lambda, as_default, as_nested, as_nested_twice, as_partial, as_partial_of_a_lambda, as_method, as_callable,
    as_value_and_grad, as_pullback,
]  # fmt: skip


@pytest.mark.dear
@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize(("make", "steps"), [(as_lambda, 5 * STEPS), *((make, STEPS) for make in MAKERS[1:])])
def test_thousands_of_steps(make, steps, compilations):
    w = 0.5
    for _ in range(20):  # caches of Python and NumPy fill
        make(RNG.normal(size=3))(w)
    count = len(compilations)
    gone = []
    gc.collect()  # functions of earlier tests go, and their texts
    texts, codes = set(linecache.cache), len(cache._codes)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for k in range(steps):
        batch = RNG.normal(size=3)
        gradient = make(batch)
        assert gradient(w) == pytest.approx(loss_grad(w, batch), rel=1e-12) if k % 100 == 0 else gradient(w) is not None
        if k % 200 == 0:
            gone.append(weakref.ref(batch))
    del batch, gradient
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert count == 1 and len(compilations) == 1
    assert set(linecache.cache) <= texts and len(cache._codes) == codes
    assert all(ref() is None for ref in gone)
    assert grown < 20_000 + 5 * steps  # lists that Python keeps for later fill up first


def test_a_gradient_of_a_gradient_in_a_loop(compilations):
    def cubic(w, batch):
        return np.sum(batch * w**3)

    for _ in range(50):
        batch = RNG.normal(size=4)
        second = grad(grad(lambda w: cubic(w, batch)))(2.0)
        np.testing.assert_allclose(second, 12.0 * np.sum(batch), rtol=1e-12)
    assert len(compilations) == 2


def test_batches_of_other_shapes_and_kinds_compile_once_each(compilations):
    for _ in range(5):
        for batch in (np.ones(3), np.ones(7), np.ones((2, 3)), np.ones(4, np.float32), 2.0, 3, np.ones(1)):
            expected = loss_grad(0.5, batch)
            np.testing.assert_allclose(as_lambda(batch)(0.5), expected, rtol=1e-6)
    assert len(compilations) <= 6


def test_a_lambda_whose_cell_holds_another_function(compilations):
    def applied(f):
        return grad(lambda x: f(x) * 2.0)(0.5)

    for _ in range(3):
        for f, slope in ((np.sin, np.cos(0.5)), (np.cos, -np.sin(0.5)), (lambda x: x * x, 1.0), (lambda x: x**3, 0.75)):
            np.testing.assert_allclose(applied(f), 2.0 * slope, rtol=1e-14)
    assert len(compilations) == 4  # each lambda on its line is one code


def test_two_closures_that_swap():
    def make(k):
        return lambda x: k * x

    def both(f, g):
        return grad(lambda x: f(x) * f(x) + g(x))(3.0)

    two, five = make(2.0), make(5.0)
    assert both(two, five) == 2 * 4 * 3.0 + 5.0
    assert both(five, two) == 2 * 25 * 3.0 + 2.0
    assert both(two, two) == 2 * 4 * 3.0 + 2.0
    assert both(make(3.0), make(4.0)) == 2 * 9 * 3.0 + 4.0


def test_one_closure_under_two_names_and_then_two():
    def make(k):
        return lambda x: k * x

    def both(f, g):
        return grad(lambda x: f(x) * g(x))(3.0)

    one = make(2.0)
    assert both(one, one) == 2 * 4 * 3.0
    assert both(make(2.0), make(5.0)) == 2 * 10 * 3.0


def test_a_closure_that_is_a_global_as_well(module):
    made = module("""
        from s2sgrad import grad
        def make(k):
            return lambda x: k * x
        shared = make(2.0)
        def both(f):
            return grad(lambda x: f(x) + 10.0 * shared(x))(3.0)
    """)
    assert made.both(made.shared) == 22.0
    assert made.both(made.make(5.0)) == 25.0
    made.shared = made.make(3.0)
    assert made.both(made.make(5.0)) == 35.0
    assert made.both(made.shared) == 33.0


def test_a_cell_that_is_rebound_after_the_gradient_was_made():
    def make(k):
        return lambda x: k * x

    f = make(2.0)
    df = grad(lambda x: f(x) * x)
    assert df(3.0) == 12.0
    f = make(5.0)
    assert df(3.0) == 30.0
    f = np.sin
    np.testing.assert_allclose(df(3.0), np.cos(3.0) * 3.0 + np.sin(3.0))
    f = make(2.0)
    assert df(3.0) == 12.0


def test_defaults_of_a_helper_that_is_made_anew():
    def make(n):
        def helper(x, n=n):
            return x**n

        return grad(lambda x: helper(x) + helper(x, 1))

    assert [make(n)(2.0) for n in (1, 2, 3, 2, 2.0, True)] == [2.0, 5.0, 13.0, 5.0, 5.0, 2.0]


def test_a_recursion_that_is_made_anew(compilations):
    def make(step):
        def power(x, n=3):
            return step if n == 0 else x * power(x, n - 1)

        return grad(power)

    for step in (1.0, 2.0, 3.0, 4.0):
        np.testing.assert_allclose(make(step)(2.0), step * 12.0)
    assert len(compilations) == 1


def test_numbers_in_cells_and_defaults_by_their_kind(compilations):
    def run(k, d):
        return grad(lambda x, d=d: x**k * d)(2.0)

    for k, d in ((2, 1.0), (3, 5.0), (2.0, 1.0), (3.0, 2.0), (np.float64(2.0), 1.0), (2, np.ones(2))):
        np.testing.assert_allclose(run(k, d), k * 2.0 ** (k - 1) * np.sum(d))
    assert len(compilations) == 4


def test_texts_in_cells_by_their_value():
    def run(mode):
        return grad(lambda x: np.sum(np.pad(x, 2, mode=mode) * np.arange(7.0)))(np.ones(3))

    first = run("edge")
    assert not np.array_equal(first, run("reflect"))
    np.testing.assert_array_equal(first, run("ed" + "ge"))


@pytest.mark.parametrize(
    "data", [lambda k: {"w": k}, lambda k: [k, k], lambda k: (k, np.ones(3)), lambda k: types.SimpleNamespace(w=k)]
)
def test_containers_and_objects_in_cells(data, compilations):
    def value(d):
        return d.w if isinstance(d, types.SimpleNamespace) else d["w"] if isinstance(d, dict) else d[0]

    def run(d):
        return grad(lambda x: x * x * value(d))(3.0)

    assert [run(data(k)) for k in (1.0, 2.0, 3.0)] == [6.0, 12.0, 18.0]
    assert len(compilations) == 1


# --- what is rebound ---------------------------------------------------------------------------------------------------

REBOUND = """
    import numpy as np
    import types
    from s2sgrad import grad

    def helper(x):
        return x * x

    def other(x):
        return x * 7.0

    def count(x):
        return helper(x)

    tools = types.ModuleType("tools")
    tools.helper = helper

    class Tool:
        @staticmethod
        def helper(x):
            return x * x

    def step(b):
        return grad(lambda x: b * count(x))(3.0)

    def step_by_module(b):
        return grad(lambda x: b * tools.helper(x))(3.0)

    def step_by_class(b):
        return grad(lambda x: b * Tool.helper(x))(3.0)

    def step_by_late_name(b):
        return grad(lambda x: b * late(x))(3.0)
"""


def test_a_helper_that_is_rebound_between_the_steps(module, compilations):
    made = module(REBOUND)
    assert [made.step(1.0), made.step(2.0)] == [6.0, 12.0]
    kept, made.helper = made.helper, made.other
    assert [made.step(1.0), made.step(2.0)] == [7.0, 14.0]
    made.helper = kept
    assert made.step(2.0) == 12.0
    assert len(compilations) == 2  # both are remembered
    made.helper.__code__ = made.other.__code__  # as a reloader does
    assert made.step(2.0) == 14.0


@pytest.mark.parametrize("owner", ["tools", "Tool"])
def test_an_attribute_that_is_rebound_between_the_steps(module, owner):
    made = module(REBOUND)
    step = made.step_by_module if owner == "tools" else made.step_by_class
    assert step(1.0) == 6.0
    setattr(getattr(made, owner), "helper", staticmethod(made.other) if owner == "Tool" else made.other)  # noqa: B010
    assert step(1.0) == 7.0
    df = grad(lambda x: made.tools.helper(x))
    assert df(3.0) == (7.0 if owner == "tools" else 6.0)
    made.tools.helper = np.sin
    np.testing.assert_allclose(df(3.0), np.cos(3.0))


def test_a_name_that_is_bound_later(module):
    made = module(REBOUND)
    with pytest.raises((NameError, S2SGradError)):
        made.step_by_late_name(1.0)
    made.late = made.other
    assert made.step_by_late_name(2.0) == 14.0
    del made.late
    with pytest.raises((NameError, S2SGradError)):
        made.step_by_late_name(1.0)


def test_a_callee_of_what_is_only_called(module):
    made = module("""
        import numpy as np
        from s2sgrad import grad

        def touch(v):
            return 0.0

        def clobber(v):
            v[0] = 100.0
            return 0.0

        def note(v):
            touch(v)
            return 1.0

        def f(x):
            y = x * 2.0
            note(y)
            return np.sum(y * y)
    """)
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(grad(made.f)(x), 8.0 * x)
    made.touch = made.clobber
    with contextlib.suppress(S2SGradError):
        np.testing.assert_array_equal(grad(made.f)(x), [0.0, 16.0])


def test_code_that_runs_in_two_namespaces():
    text = "def make(b):\n    return lambda x: helper(x) * b\n"
    filename = "<two namespaces>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    code = compile(text, filename, "exec")
    one, two = {"helper": np.sin, "__name__": "one"}, {"helper": np.cos, "__name__": "two"}
    exec(code, one)
    exec(code, two)
    for _ in range(3):
        np.testing.assert_allclose(grad(one["make"](2.0))(0.5), 2 * np.cos(0.5))
        np.testing.assert_allclose(grad(two["make"](2.0))(0.5), -2 * np.sin(0.5))
    one["helper"] = np.exp
    np.testing.assert_allclose(grad(one["make"](2.0))(0.5), 2 * np.exp(0.5))
    del linecache.cache[filename]


@pytest.mark.sampled(one_in=3)
@pytest.mark.dear
def test_namespaces_without_end_do_not_grow():
    text = "def f(x):\n    return helper(x) * 2.0\n\ndef helper(x):\n    return x * x\n"
    filename = "<many namespaces>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    code = compile(text, filename, "exec")
    refs = []
    for _ in range(70):
        space = {"__name__": "space"}
        exec(code, space)
        assert grad(space["f"])(3.0) == 12.0
        refs.append(weakref.ref(space["helper"]))
        del space
    gc.collect()
    assert not any(ref() for ref in refs)
    code = next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == "f")
    family = next(iter(cache.of(code).families.values()))
    assert sum(map(len, family._recipes.values())) <= 64
    del linecache.cache[filename]


@pytest.mark.dear
def test_modules_go_with_all_that_was_compiled_for_them(module):
    def used():
        made = module(REBOUND)
        assert made.step(1.0) == 6.0
        assert grad(made.count)(3.0) == 6.0
        assert grad(grad(made.count))(3.0) == 2.0
        assert vjp(made.count, 3.0)[1](1.0) == (6.0,)
        return weakref.ref(made.helper), weakref.ref(made.step.__code__), made.step.__code__.co_filename

    gc.collect()  # functions of earlier tests go, and their texts
    texts = set(linecache.cache)
    codes = len(cache._codes)
    gone = used()
    gc.collect()
    assert gone[0]() is None and gone[1]() is None
    assert {t for t in linecache.cache if t != gone[2]} == texts
    assert len(cache._codes) == codes


@pytest.mark.dear
def test_classes_of_arguments_go_too(module):
    def used():
        made = module("""
            import numpy as np
            class Model:
                def __init__(self, w):
                    self.w = w
                def loss(self, x):
                    return np.sum(self.w * x * x)
        """)
        from s2sgrad import grad

        np.testing.assert_array_equal(grad(made.Model(2.0).loss)(np.ones(2)), [4.0, 4.0])
        assert grad(made.Model.loss, "x")(made.Model(2.0), 3.0) == 12.0
        return weakref.ref(made.Model)

    gone = used()
    gc.collect()
    assert gone() is None


def test_a_method_that_is_rebound_between_the_steps(module):
    made = module("""
        class Base:
            rate = 2.0
            def inner(self, x):
                return x * x
        class Model(Base):
            def __init__(self, k):
                self.k = k
            @staticmethod
            def scaled(x):
                return 3.0 * x
            def loss(self, x):
                return self.k * self.inner(self.scaled(x)) * self.rate
    """)

    def step(k):
        return grad(made.Model(k).loss)(1.0)

    assert [step(1.0), step(2.0)] == [36.0, 72.0]
    made.Base.rate = 1.0
    assert step(1.0) == 18.0
    made.Model.scaled = staticmethod(lambda x: x)
    assert step(1.0) == 2.0
    made.Model.inner = lambda self, x: x * x * x
    assert step(1.0) == 3.0
    made.Model.rate = 10.0
    assert step(1.0) == 30.0
    del made.Model.inner
    assert step(1.0) == 20.0


def test_imports_inside_of_functions(module, monkeypatch):
    inner = types.ModuleType("module_that_is_imported_inside")
    inner.helper = lambda x: x * x
    monkeypatch.setitem(sys.modules, inner.__name__, inner)
    made = module("""
        from s2sgrad import grad
        def step(b):
            def f(x):
                from module_that_is_imported_inside import helper
                return helper(x) * b
            return grad(f)(3.0)
    """)
    assert [made.step(1.0), made.step(2.0)] == [6.0, 12.0]
    inner.helper = np.sin
    np.testing.assert_allclose(made.step(1.0), np.cos(3.0))


@pytest.mark.dear
def test_gradients_and_recursions_inside(compilations):
    def step(k):
        def power(x, n):
            return k if n == 0 else x * power(x, n - 1)

        def f(x):
            return x * grad(lambda y: power(y, 2))(x)

        return grad(f)(3.0)

    try:
        results = [step(k) for k in (1.0, 2.0, 5.0)]
    except S2SGradError:
        return
    assert results == [12.0, 24.0, 60.0]


def test_the_signature_is_not_asked_for_in_each_step(monkeypatch):
    as_lambda(np.ones(3))(0.5)
    grad(lambda p, k=2.0: np.sum(p[0] * p[1]) * k)([np.ones(2), np.ones(2)])

    def never(*args, **keywords):
        raise AssertionError("inspect.signature")

    monkeypatch.setattr(inspect, "signature", never)
    as_lambda(np.ones(4))(0.5)
    as_default(np.ones(4))
    for make in MAKERS[:2]:
        make(np.ones(3))


def test_steps_in_many_threads_at_once(compilations):
    wrong = []
    barrier = threading.Barrier(8)

    def work(seed):
        rng = np.random.default_rng(seed)
        barrier.wait()
        for k in range(200):
            batch = rng.normal(size=3)
            make = MAKERS[k % len(MAKERS)]
            got = make(batch)(0.5)
            if abs(got - loss_grad(0.5, batch)) > 1e-9:
                wrong.append((make.__name__, got))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert wrong == []
    assert len(compilations) <= len(MAKERS)


# --- partial -----------------------------------------------------------------------------------------------------------


def four(a, b, c=3.0, *, d=1.0):
    return a * b**2 * c * d


@pytest.mark.parametrize(
    ("bound", "args", "argnums", "expected"),
    [
        (functools.partial(four, 2.0), (5.0,), 0, 60.0),
        (functools.partial(four, 2.0), (5.0, 1.0), (0, 1), (20.0, 50.0)),
        (functools.partial(four, 2.0), (5.0,), -2, 60.0),
        (functools.partial(four, 2.0, 5.0), (1.0,), 0, 50.0),
        (functools.partial(four, b=5.0), (2.0,), 0, 75.0),
        (functools.partial(four, b=5.0), (2.0,), "b", 60.0),
        (functools.partial(four, 2.0, d=2.0), (5.0,), 0, 120.0),
        (functools.partial(four, 2.0, d=2.0), (5.0,), "d", 150.0),
        (functools.partial(functools.partial(four, 2.0), c=1.0), (5.0,), 0, 20.0),
        (functools.partial(np.multiply, 2.0), (5.0,), 0, 2.0),
        (functools.partial(Model(np.ones(2)).loss), (0.5,), 0, loss_grad(0.5, np.ones(2))),
        (functools.partial(Model(np.ones(2))), (0.5,), 0, 2.0 * loss_grad(0.5, np.ones(2))),
        (functools.partial(Model.loss, Model(np.ones(2))), (0.5,), 0, loss_grad(0.5, np.ones(2))),
    ],
)
def test_partials(bound, args, argnums, expected):
    df = grad(bound, argnums)
    np.testing.assert_allclose(df(*args), expected)
    np.testing.assert_allclose(grad(bound, argnums)(*args), expected)
    assert df.primal is bound
    signature = inspect.signature(df)
    assert "seed" in signature.parameters
    signature.bind(*args)


def test_keywords_of_a_call_replace_those_of_a_partial():
    df = grad(functools.partial(four, 2.0, d=2.0))
    assert [df(5.0), df(5.0, d=1.0), df(5.0, c=1.0), df(5.0)] == [120.0, 60.0, 40.0, 120.0]


def test_the_keywords_of_a_partial_are_read_when_it_is_called():
    bound = functools.partial(four, 2.0, d=2.0)
    df = grad(bound)
    assert df(5.0) == 120.0
    bound.keywords["d"] = 1.0
    assert df(5.0) == 60.0


def test_a_partial_of_a_gradient():
    df = grad(functools.partial(grad(four, "a"), 2.0))
    assert df(5.0) == 30.0
    assert functools.partial(grad(four), 2.0)(5.0) == 75.0


def test_a_partial_with_star_arguments():
    def total(a, *rest):
        return a * sum(r * r for r in rest) if False else a * rest[0] * rest[1]

    assert grad(functools.partial(total, 2.0))(3.0, 5.0) == 10.0
    assert grad(functools.partial(total, 2.0, 3.0))(5.0) == 6.0
    assert grad(functools.partial(total, 2.0, 3.0), 0)(5.0) == 6.0


@pytest.mark.parametrize(
    ("bound", "argnums"),
    [(functools.partial(four, 2.0), 2), (functools.partial(four, b=5.0), 1), (functools.partial(four, 2.0), "e")],
)
def test_argnums_that_a_partial_does_not_have(bound, argnums):
    with pytest.raises(TypeError, match=r"argnums|no parameter"):
        grad(bound, argnums)(5.0)


def test_arguments_that_a_partial_cannot_take():
    df = grad(functools.partial(four, 2.0, b=5.0), "c")
    with pytest.raises(TypeError, match="four"):
        df(1.0)
