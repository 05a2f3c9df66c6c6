"""`differentiable` functions are one record of a tape; the Variables that they read by name become arguments."""

import contextlib
import functools
import operator
import sys
import types

import numpy as np
import pytest
from scipy import special
from unruled import first_without_rule

from s2sgrad import GradientTape, NoRule, S2SGradError, Unsupported, Variable, constant, differentiable, grad

V = np.array([0.5, 1.0, 1.5])


def records(t):
    return len(t._tape.entries)


def taped(f, *args):
    """Value, gradients and number of records."""
    args = [constant(a) for a in args]
    with GradientTape() as t:
        t.watch(args)
        y = f(*args)
    count = records(t)
    return y, [None if g is None else g.numpy() for g in t.gradient(y, args)], count


def loop(x, c):
    y = x
    for _ in range(100):
        y = np.sin(y) + c * x  # 200 sines and sums
    return np.sum(y)


def test_a_loop_of_200_operations_is_one_record():
    y, bars, count = taped(differentiable(loop), V, 0.5)
    y2, bars2, count2 = taped(loop, V, 0.5)
    assert count == 1 and count2 > 200
    np.testing.assert_allclose(y.numpy(), y2.numpy(), rtol=1e-12)
    for a, b in zip(bars, bars2, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_in_place_writes_work():
    @differentiable
    def written(x):
        y = np.zeros(3)
        for k in range(3):
            y[k] = x[k] ** 2
            y[:k] += x[k]
        return y

    y, bars, count = taped(written, V)
    assert count == 1 and y.shape == (3,)
    np.testing.assert_allclose(bars[0], 2 * V + np.arange(3))


def test_without_a_tape_the_function_runs_as_it_is():
    calls = []

    @differentiable
    def noted(x):
        calls.append(type(x))
        return x * 2.0

    assert noted(3.0) == 6.0 and noted(constant(3.0)).numpy() == 6.0
    assert calls == [float, np.float64]
    assert noted.__name__ == "noted"


def test_arguments_that_nobody_follows():
    with GradientTape() as t:
        y = differentiable(loop)(V, 0.5)
        z = differentiable(loop)(constant(V), 0.5)
    assert not isinstance(y, type(z)) and y == pytest.approx(z.numpy()) and records(t) == 0


def test_only_followed_arguments_get_a_cotangent():
    x, data = constant(2.0), V.copy()

    @differentiable
    def scaled(data, x):
        return np.sum(data * x**2)

    with GradientTape() as t:
        t.watch(x)
        y = scaled(data, x)
        assert t._tape.entries[0][1].places == (1,)
        data[:] = 100.0  # the record keeps what it was
    assert t.gradient(y, x).numpy() == 2 * 2.0 * V.sum()


def test_structures_and_keywords():
    @differentiable
    def model(params, x, *, scale=1.0, power=2):
        for w, b in params["layers"]:
            x = np.tanh(w * x + b)
        return {"y": np.sum(x) * scale, "parts": (x**power, "text", 3)}

    w, b, s = Variable([0.5, 0.1, 0.2]), Variable(0.1), constant(3.0)
    for f in (model, model.differentiated):
        with GradientTape() as t:
            t.watch(s)
            out = f({"layers": [(w, b), (w, b)]}, V, scale=s)
            total = out["y"] + np.sum(out["parts"][0])
        assert out["parts"][1:] == ("text", 3)
        if f is model:
            assert sum(type(e[1]).__name__ == "Node" for e in t._tape.entries) == 1
            first = t.gradient(total, [w, b, s])
        else:
            for g, h in zip(first, t.gradient(total, [w, b, s]), strict=True):
                np.testing.assert_allclose(g, h, rtol=1e-12)


SHARED = np.ones(3)


def test_results_that_belong_to_others_stay_writable_and_apart():
    x = constant(V)
    f = differentiable(lambda x, data: {"y": x * 2.0, "parts": (SHARED, data)})
    data = np.zeros(3)
    for tapes in (0, 1):
        with GradientTape() as t:
            if tapes:
                t.watch(x)
            out = f(x, data)
        SHARED[:] = data[:] = 5.0
        assert out["parts"][0].numpy().tolist() == [1.0] * 3 and out["parts"][1].numpy().tolist() == [0.0] * 3
        SHARED[:], data[:] = 1.0, 0.0


def test_a_default_that_is_a_variable():
    w = Variable(2.0)

    def f(x, w=w, *, k=3.0):
        return np.sum(w * x * k)

    with GradientTape() as t:
        y = differentiable(f)(V, k=1.0)
    assert t.gradient(y, w).numpy() == V.sum()


def test_arguments_are_read_only_for_the_function():
    def writes(x):
        x[0] = 1.0
        return np.sum(x)

    x = constant(V)
    with pytest.raises(ValueError, match="read-only"):
        differentiable(writes)(x)
    with GradientTape() as t, pytest.raises(Unsupported, match="writes the argument"):
        t.watch(x)
        differentiable(writes)(x)
    assert x.numpy().tolist() == V.tolist()


# --- higher order ----------------------------------------------------------------------------------------------------


def third(f, x):
    """The first three derivatives of the sum of f, each summed."""
    x = constant(x)
    with GradientTape() as t3:
        t3.watch(x)
        with GradientTape() as t2:
            t2.watch(x)
            with GradientTape() as t1:
                t1.watch(x)
                y = f(x)
            first = t1.gradient(y, x)
        second = t2.gradient(first, x)
    return [g.numpy() for g in (first, second, t3.gradient(second, x))]


def product(x):
    y = np.ones(3)
    for k in range(4):
        y = y * np.sin(x + k)
    return y


def written_product(x):
    y = np.ones(3)
    for k in range(4):
        y[:] = y * np.sin(x + k)
    return y


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("f", [product, written_product])
def test_derivatives_of_a_node_to_third_order(f):
    node = differentiable(f)
    for compiled, by_operation in (
        (node, product),
        (lambda x: node(x * x) * x, lambda x: product(x * x) * x),
    ):
        for a, b in zip(third(compiled, V), third(by_operation, V), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)


def test_the_cotangent_of_a_node_is_differentiated_too():
    x = constant(V)
    results = []
    for f in (differentiable(product), product):
        with GradientTape() as outer:
            outer.watch(x)
            with GradientTape() as t:
                t.watch(x)
                y = np.sum(f(x) ** 3)
            g = t.gradient(y, x)
        results.append(outer.jacobian(g, x).numpy())
    np.testing.assert_allclose(*results, rtol=1e-9)


def test_the_pullback_under_another_tape_is_one_record():
    x = constant(V)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = differentiable(product)(x)
        t.gradient(y, x)
    assert records(outer) == 2


# --- Variables by name -----------------------------------------------------------------------------------------------

SLOPE, OFFSET = Variable(2.0), Variable(3.0)
TABLE = {"w": Variable([1.0, 2.0, 3.0]), "more": [Variable(0.5)]}


class Layer:
    def __init__(self, w):
        self.w = Variable(w)

    def __call__(self, x):
        return self.w * x

    def forward(self, x, times=2):
        for _ in range(times):
            x = self(x)
        return np.sum(x)


class Model:
    def __init__(self):
        self.layers = [Layer(2.0), Layer(3.0)]
        self.bias = Variable(1.0)

    def loss(self, x):
        for layer in self.layers:
            x = layer(x)
        return np.sum((x + self.bias) ** 2)


MODEL = Model()


def line(x):
    return SLOPE * x + OFFSET


def reads_globals(x):
    return np.sum(SLOPE * x + OFFSET * x**2)


def reads_in_a_helper(x):
    y = np.zeros(3)
    for k in range(3):
        y[k] = line(x[k]) ** 2
    return np.sum(y)


def reads_in_a_helper_without_writes(x):
    return np.sum(line(x) ** 2)


def reads_a_table(x):
    return np.sum(TABLE["w"] * x) * TABLE["more"][0]


def reads_an_object(x):
    return MODEL.loss(x) * SLOPE


def factorial(n):
    return 1.0 if n == 0 else SLOPE * factorial(n - 1)


def reads_in_a_recursion(x):
    return np.sum(x) * factorial(3)


def with_defaults(x, k=2.0, *, power=2):
    return k * SLOPE * x**power


def reads_with_defaults(x):
    return np.sum(with_defaults(x) + with_defaults(x, 3.0, power=1))


def reads_closure():
    w = Variable(4.0)

    def inner(x):
        return np.sum(w * x)

    return inner, w


CLOSURE, CLOSED = reads_closure()
VARIABLES = [SLOPE, OFFSET, TABLE["w"], TABLE["more"][0], MODEL.bias, MODEL.layers[0].w, MODEL.layers[1].w, CLOSED]


@pytest.mark.parametrize(
    ("f", "same"),
    [
        (reads_globals, None),
        (reads_in_a_helper, reads_in_a_helper_without_writes),
        (reads_in_a_helper_without_writes, None),
        (reads_a_table, None),
        (reads_an_object, None),
        (MODEL.loss, None),
        (MODEL.layers[0], None),
        (MODEL.layers[0].forward, None),
        (reads_in_a_recursion, None),
        (reads_with_defaults, None),
        (CLOSURE, None),
        (lambda x: np.sum(SLOPE * x), None),
        (functools.partial(lambda k, x: np.sum(k * OFFSET * x), 2.0), None),
    ],
)
def test_variables_read_by_name_get_their_gradients(f, same):
    results = []
    for g in (differentiable(f), same or f):
        with GradientTape() as t:
            y = g(V)
        if len(results) == 0:
            assert records(t) == 1, "not one node"
        results.append([y, *t.gradient(y, VARIABLES)])
    for a, b in zip(*results, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-12)
    assert any(g is not None for g in results[0][1:])


def test_variables_and_arguments_together():
    x = constant(V)
    with GradientTape() as t:
        t.watch(x)
        y = differentiable(reads_in_a_helper)(x)
    gm, gx = t.gradient(y, [SLOPE, x])
    e = 2.0 * V + 3.0
    np.testing.assert_allclose(gm, np.sum(2 * e * V))
    np.testing.assert_allclose(gx, 4 * e)


def test_assigning_and_rebinding_between_calls(monkeypatch):
    f = differentiable(reads_globals)
    for value in (2.0, 5.0):
        monkeypatch.setitem(globals(), "SLOPE", Variable(value))
        with GradientTape() as t:
            y = f(V)
        assert y.numpy() == pytest.approx(value * V.sum() + 3.0 * np.sum(V**2))
        assert t.gradient(y, SLOPE).numpy() == V.sum()
        SLOPE.assign(7.0)
        with GradientTape() as t:
            y = f(V)
        assert y.numpy() == pytest.approx(7.0 * V.sum() + 3.0 * np.sum(V**2))
    monkeypatch.setitem(globals(), "SLOPE", 1.0)  # a number now
    with GradientTape() as t:
        y = f(V)
    assert t.gradient(y, OFFSET).numpy() == np.sum(V**2)


def test_an_array_in_a_closure():
    x = constant(3.0)
    with GradientTape() as t:
        t.watch(x)
        y = differentiable(lambda a: np.sum(a * x))(V)
        assert records(t) == 1
    assert t.gradient(y, x).numpy() == V.sum()


def test_second_derivative_in_a_variable():
    w = Variable(0.7)

    def f(x):
        return np.sum(np.sin(w * x))

    for g in (differentiable(f), f):
        with GradientTape() as outer:
            with GradientTape() as t:
                y = g(V)
            first = t.gradient(y, w)
        np.testing.assert_allclose(outer.gradient(first, w), -np.sum(V**2 * np.sin(0.7 * V)))


# --- the last resort -------------------------------------------------------------------------------------------------


@pytest.fixture
def module(monkeypatch):
    made = types.ModuleType("weights_elsewhere")
    made.w = Variable(3.0)
    monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.setitem(globals(), "ELSEWHERE", made)
    return made


def test_what_cannot_be_lifted_runs_operation_by_operation(module):
    def f(x):
        return np.sum(ELSEWHERE.w * x)  # noqa: F821

    with GradientTape() as t:
        y = differentiable(f)(constant(V))
    assert t.gradient(y, module.w).numpy() == V.sum()


def test_a_variable_that_appears_later():
    holder = Layer(1.0)
    f = differentiable(lambda x: np.sum(holder.w * x))
    x = constant(V)
    for w in (2.0, Variable(3.0)):
        holder.w = w
        with GradientTape() as t:
            t.watch(x)
            y = f(x)
    assert t.gradient(y, w).numpy() == V.sum()
    with GradientTape() as t:
        y = f(x)
    assert records(t) == 1 and t.gradient(y, w).numpy() == V.sum()


class Hooked:
    """Attributes that go through a hook are not followed by the compiler."""

    def __init__(self):
        self.w = Variable(3.0)

    def __getattr__(self, name):
        if name != "double":
            raise AttributeError(name)
        return self.w * 2.0

    def __call__(self, x):
        return np.sum(self.double * x)


class Twice:
    def __init__(self):
        self.w = Variable(3.0)

    def __call__(self, x):
        return np.sum(self.w * x) * 2.0


class Slotted:
    __slots__ = ("w",)

    def __init__(self):
        self.w = Variable(3.0)

    def __call__(self, x):
        return np.sum(self.w * x) * 2.0


WAYS = {
    "closure": lambda model: lambda x: model(x),
    "object": lambda model: model,
    "method": lambda model: model.__call__,
    "argument": lambda model: functools.partial(type(model).__call__, model),
    "getattr": lambda model: lambda x: np.sum(getattr(model, "w") * x) * 2.0,  # noqa: B009
    "vars": lambda model: lambda x: np.sum(vars(model)["w"] * x) * 2.0,
    "dict": lambda model: lambda x: np.sum(model.__dict__["w"] * x) * 2.0,
    "attrgetter": lambda model: lambda x: np.sum(operator.attrgetter("w")(model) * x) * 2.0,
    "map": lambda model: lambda x: next(map(model, [x])),
}


@pytest.mark.parametrize("cls", [Hooked, Slotted, Twice])
@pytest.mark.parametrize("way", WAYS)
def test_the_right_gradients_or_an_error_however_an_object_is_reached(cls, way):
    model, x = cls(), constant(V)
    f = WAYS[way](model)
    with GradientTape() as t:
        t.watch(x)
        try:
            y = differentiable(f)(x)
        except (S2SGradError, TypeError, AttributeError):
            return
    gw, gx = t.gradient(y, [model.w, x])
    assert gw is not None and gw.numpy() == pytest.approx(2 * V.sum())
    assert gx is not None and gx.numpy() == pytest.approx([6.0] * 3)


def test_the_last_resort_refuses_in_place_writes(module):
    def f(x):
        y = np.zeros(3)
        for k in range(3):
            y[k] = ELSEWHERE.w * x[k]  # noqa: F821
        return np.sum(y)

    with GradientTape(), pytest.raises((TypeError, ValueError)):
        differentiable(f)(constant(V))


def test_refused_code_is_refused_with_its_place():
    @differentiable
    def attempts(x):
        class Attempt:
            value = x

        return Attempt.value

    x = constant(V)
    with GradientTape() as t:
        t.watch(x)
        with pytest.raises(Unsupported, match=r"test_differentiable\.py"):
            attempts(x)


def test_library_functions():
    x = constant(V)
    with GradientTape() as t:
        t.watch(x)
        y = differentiable(special.logsumexp)(x)
    np.testing.assert_allclose(t.gradient(y, x), np.exp(V) / np.exp(V).sum())
    with GradientTape() as t, pytest.raises((NoRule, OSError)):
        t.watch(x)
        differentiable(first_without_rule(special.riccati_jn, special.lqn))(2, x[0])


def test_not_a_function():
    with pytest.raises(TypeError, match="needs a function"):
        differentiable(3.0)


def assigns(x):
    SLOPE.assign_add(x)
    return SLOPE * x


def test_a_function_that_assigns_runs_operation_by_operation():
    before = SLOPE.numpy()
    with GradientTape() as t:
        y = differentiable(assigns)(2.0)
    assert SLOPE.numpy() == before + 2.0 and t.gradient(y, SLOPE).numpy() == 2.0
    SLOPE.assign(before)


def test_a_gradient_is_a_function_like_any_other():
    x = constant(V)
    for f in (differentiable(grad(lambda z: np.sum(z**3))), grad(lambda z: np.sum(z**3))):
        with GradientTape() as t:
            t.watch(x)
            y = f(x)
        np.testing.assert_allclose(t.gradient(y, x), 6 * V)
    k = constant(2.0)
    with GradientTape(persistent=True) as t:
        t.watch([x, k])
        y = differentiable(grad(lambda z, k=1.0: np.sum(k * z**3)))(x, k=k)
        z = differentiable(grad(lambda z: np.sum(z**3)))(x, seed=k)
    for value in (y, z):
        np.testing.assert_allclose(t.gradient(value, k), np.sum(3 * V**2))


def test_a_comprehension_over_functions_of_two_kinds():
    def f(w, x):
        return sum([g(x) for g in [lambda t: np.sum(t * w), np.sum]])

    assert grad(f)(3.0, V) == np.sum(V)


# --- in compiled code ------------------------------------------------------------------------------------------------


@differentiable
def square(x):
    return x * x


class Squares:
    def __init__(self, w):
        self.w = w

    @differentiable
    def __call__(self, x):
        return square(x) * self.w


def test_compiled_code_looks_through():
    def f(w, x):
        return np.sum(square(x) + Squares(w)(x))

    assert grad(f)(2.0, V) == pytest.approx(np.sum(V**2))
    np.testing.assert_allclose(grad(f, "x")(2.0, V), 6.0 * V)
    np.testing.assert_allclose(grad(square)(V), 2.0 * V)
    _, bars, count = taped(differentiable(f), 2.0, V)
    assert count == 1
    np.testing.assert_allclose(bars[1], 6.0 * V)


def test_a_differentiable_method():
    model = Squares(Variable(2.0))
    with GradientTape() as t:
        y = np.sum(model(V))
    assert t.gradient(y, model.w).numpy() == pytest.approx(np.sum(V**2))


# --- what is written between the call and `gradient` ----------------------------------------------------------------


class Scaled:
    def __init__(self):
        self.w, self.scale, self.calls = Variable(2.0), np.ones(3), 0

    def __call__(self, x):
        return np.sum(self.w * self.scale * x**2)


def test_arrays_that_are_attributes_may_be_written_after_the_call():
    model, x = Scaled(), constant(V)
    for f, args in ((model, [x]), (lambda m, x: m(x), [model, x])):
        with GradientTape() as t:
            t.watch(x)
            y = differentiable(f)(*args)
        model.scale[:] = 100.0
        gx, gw = t.gradient(y, [x, model.w])
        np.testing.assert_allclose(gx, 4 * V)
        np.testing.assert_allclose(gw, np.sum(V**2))
        model.scale[:] = 1.0


def read_only(base):
    view = base.view()
    view.flags.writeable = False
    return view


@pytest.mark.parametrize("wrapped", [lambda a: a, read_only])
def test_arrays_in_lists_may_be_written_after_the_call(wrapped):
    x, data = constant(V), np.ones(3)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = differentiable(lambda x, data: np.sum(data[0] * x**3))(x, [wrapped(data)])
        data[:] = 100.0
        g = t.gradient(y, x)
    np.testing.assert_allclose(g, 3 * V**2)
    np.testing.assert_allclose(outer.gradient(g, x), 6 * V)


FACTORS, BIG, SETTINGS = np.ones(3), np.ones(200_000), {"k": [2.0, 3.0]}


def factor_helper(x):
    return FACTORS * x**2


@pytest.mark.parametrize(("f", "change"), [
    (lambda x: np.sum(FACTORS * x**2), lambda: FACTORS.__setitem__(0, 5.0)),
    (lambda x: np.sum(factor_helper(x)), lambda: FACTORS.__setitem__(2, 5.0)),
    (lambda x: np.sum(BIG) * np.sum(x**2) + np.sum(BIG * x[0]), lambda: BIG.fill(5.0)),
    (lambda x: np.sum(SLOPE * FACTORS * x**2), lambda: FACTORS.__setitem__(0, 5.0)),
    (lambda x: np.sum(SETTINGS["k"][0] * x**2), lambda: SETTINGS["k"].__setitem__(0, 5.0)),
])  # fmt: skip
def test_what_is_read_by_name_and_changed_after_the_call_is_an_error(f, change, monkeypatch):
    """Never the gradient of something else."""
    x = constant(V)
    for name in ("FACTORS", "BIG"):
        monkeypatch.setitem(globals(), name, globals()[name].copy())
    monkeypatch.setitem(SETTINGS, "k", [2.0, 3.0])
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = differentiable(f)(x)
    before = t.gradient(y, x).numpy()
    change()
    try:
        np.testing.assert_array_equal(t.gradient(y, x), before)
    except RuntimeError as error:
        assert "reads, was changed" in str(error)


def test_an_array_read_by_name_may_be_written_after_the_call():
    x, factors = constant(V), np.ones(3)
    with GradientTape() as t:
        t.watch(x)
        y = differentiable(lambda x: np.sum(factors * x**2))(x)
    factors[:] = 2.0
    np.testing.assert_allclose(t.gradient(y, x), 2 * V)


def test_what_is_not_read_may_change():
    x, model = constant(V), types.SimpleNamespace(k=2.0)
    plain = Scaled()
    plain.w = 2.0
    with GradientTape() as t:
        t.watch(x)
        y = differentiable(lambda x: np.sum(plain.w * x**2))(x) + model.k
    plain.calls, model.k = 7, 5.0
    np.testing.assert_allclose(t.gradient(y, x), 4 * V)


def test_a_second_derivative_with_data_that_changed_is_an_error():
    x, k = constant(V), 2.0

    def f(x):
        return np.sum(k * x)

    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = differentiable(f)(x)
        k = 3.0
        with pytest.raises(RuntimeError, match="`k`"):
            t.gradient(y, x)


def test_a_function_that_asks_for_the_class_of_a_variable_runs_operation_by_operation():
    def f(x):
        return np.sum(SLOPE * x) if isinstance(SLOPE, Variable) else np.sum(x)

    with GradientTape() as t:
        y = differentiable(f)(V)
    assert y.numpy() == SLOPE.numpy() * V.sum() and t.gradient(y, SLOPE).numpy() == V.sum()


# --- side effects ----------------------------------------------------------------------------------------------------


class Stateful:
    def __init__(self):
        self.w, self.calls, self.last, self.log, self.inner = Variable(3.0), 0, None, [], {"w": Variable(1.0), "old": 1}


def stateful(model, x):
    model.calls += 1
    model.last = model.w * x
    model.log.append(model.calls)
    model.inner["more"] = [model.calls]
    model.inner.pop("old", None)
    return np.sum(model.last) * model.calls


@pytest.mark.parametrize(
    "block", [contextlib.nullcontext, GradientTape, functools.partial(GradientTape, watch_accessed_variables=False)]
)
def test_objects_lists_and_dicts_keep_what_a_function_writes(block):
    """With a tape or without: the function works on plain copies of what holds Variables."""
    model = Stateful()
    w, log, inner = model.w, model.log, model.inner
    with block():
        values = [differentiable(stateful)(model, V) for _ in range(2)]
    assert [float(v) for v in values] == [9.0, 18.0]  # nobody records any more
    assert model.calls == 2 and model.w is w and np.asarray(model.last).tolist() == (3.0 * V).tolist()
    assert model.log is log and log == [1, 2]
    assert model.inner is inner and inner["more"] == [2] and "old" not in inner and isinstance(inner["w"], Variable)


def test_a_list_of_variables_keeps_its_variables_and_gets_new_items():
    w = Variable(2.0)
    weights = [w, 5]

    def f(weights, x):
        weights.insert(0, 7)
        return weights[1] * x

    assert differentiable(f)(weights, 3.0).numpy() == 6.0
    assert weights[0] == 7 and weights[1] is w and weights[2] == 5


class OfAClass:
    w = Variable(2.0)


def test_a_variable_of_a_class_or_a_module_does_not_run_the_function_twice(module):
    calls = []

    def f(x):
        calls.append(1)
        return np.sum(OfAClass.w * x)

    def g(x):
        calls.append(1)
        return np.sum(ELSEWHERE.w * x)  # noqa: F821

    for each, variable in ((f, OfAClass.w), (g, module.w)):
        with GradientTape() as t:
            y = differentiable(each)(V)
        assert t.gradient(y, variable).numpy() == V.sum()
    assert len(calls) == 2


def test_assigning_to_an_argument_says_what_to_do():
    def f(w, x):
        w.assign_add(1.0)
        return w * x

    for tape in (contextlib.nullcontext(), GradientTape()):
        with tape, pytest.raises(AttributeError) as raised:
            differentiable(f)(Variable(1.0), V)
        assert "assign outside of it" in raised.value.__notes__[0]
