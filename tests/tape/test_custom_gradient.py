"""`custom_gradient` and `recompute_grad`, on a tape and in compiled code."""

import threading

import numpy as np
import pytest

from s2sgrad import GradientTape, Unsupported, Variable, constant, custom_gradient, differentiable, grad, recompute_grad, vjp


@custom_gradient
def log1pexp(x):
    e = np.exp(x)
    return np.log(1 + e), lambda g: g * (1 - 1 / (1 + e))


@custom_gradient
def tenfold(x, k=1.0):
    """With a wrong gradient on purpose, to see that it is the one that is used."""
    return x * k, lambda g: (10.0 * g, None)


def slope(f, x):
    x = constant(x)
    with GradientTape() as t:
        t.watch(x)
        y = f(x)
    return t.gradient(y, x)


def test_the_value_and_the_gradient_of_the_page():
    assert slope(log1pexp, 100.0).numpy() == 1.0
    with np.errstate(all="ignore"):
        assert np.isnan(slope(lambda x: np.log(1 + np.exp(x)), 1000.0).numpy())
    assert log1pexp(0.0) == pytest.approx(np.log(2.0))  # plain in, plain out


def test_its_own_gradient_is_used():
    assert slope(lambda x: tenfold(x, 1.0) * 2.0, 3.0).numpy() == 20.0
    assert slope(differentiable(lambda x: tenfold(x, 1.0) * 2.0), 3.0).numpy() == 20.0


def test_the_second_derivative_is_that_of_its_pullback():
    x = constant(0.5)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = log1pexp(x)
        g = t.gradient(y, x)
    p = 1 / (1 + np.exp(-0.5))
    assert outer.gradient(g, x).numpy() == pytest.approx(p * (1 - p))


def test_several_results():
    @custom_gradient
    def both(a, b):
        return (a * b, a + b), lambda g, h: (g * 100.0, h * 1000.0)

    a, b = constant(2.0), constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch([a, b])
        product, total = both(a, b)
    assert (product.numpy(), total.numpy()) == (6.0, 5.0)
    assert [g.numpy() for g in t.gradient(product, [a, b])] == [100.0, 0.0]
    assert [g.numpy() for g in t.gradient([product, total], [a, b])] == [100.0, 1000.0]


def test_variables():
    w = Variable(3.0, name="w")

    @custom_gradient
    def scaled(x):
        def pullback(g, variables=None):
            return g * w, [g * x * 7.0]

        return x * w, pullback

    x = constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        y = scaled(x)
    assert [g.numpy() for g in t.gradient(y, [x, w])] == [3.0, 14.0]


def test_variables_without_a_place_for_their_gradients():
    w = Variable(3.0, name="w")

    @custom_gradient
    def scaled(x):
        return x * w, lambda g: g * w

    with GradientTape() as t, pytest.raises(TypeError, match="variables"):
        x = constant(2.0)
        t.watch(x)
        scaled(x)


def test_what_must_be_returned():
    with pytest.raises(TypeError, match="pullback"):
        custom_gradient(lambda x: x)(constant(1.0))
    wrong = custom_gradient(lambda x, y: (x * y, lambda g: g))
    x = constant(1.0)
    with GradientTape() as t:
        t.watch(x)
        y = wrong(x, 2.0)
    with pytest.raises(ValueError, match="1 gradients for 2 arguments"):
        t.gradient(y, x)
    with pytest.raises(ValueError, match="1 gradients for 2 arguments"):
        grad(lambda x: wrong(x, 2.0))(1.0)


def test_in_compiled_code():
    x = np.array([0.5, 1.0])
    np.testing.assert_allclose(grad(lambda x: np.sum(log1pexp(x)))(x), 1 / (1 + np.exp(-x)))
    np.testing.assert_allclose(grad(lambda x: np.sum(tenfold(x, 2.0) * x))(x), 10.0 * x + 2.0 * x)
    np.testing.assert_allclose(grad(log1pexp)(x), 1 / (1 + np.exp(-x)))
    np.testing.assert_allclose(vjp(log1pexp, x)[1](np.ones(2))[0], 1 / (1 + np.exp(-x)))
    second = slope(lambda x: slope(lambda t: log1pexp(t) * t, x), 1.0)
    np.testing.assert_allclose(grad(grad(lambda x: log1pexp(x) * x))(1.0), second.numpy())


class Scaled:
    def __init__(self, k):
        self.k, self.w = k, Variable(3.0, name="w")

    @custom_gradient
    def scaled(self, x):
        return x * self.k, lambda g: 100.0 * g

    @custom_gradient
    def product(self, x, y):
        return x * y, lambda g: (7.0 * g, 8.0 * g)

    @custom_gradient
    def weighted(self, x):
        def pullback(g, variables=None):
            return 50.0 * g, [70.0 * g]

        return x * self.w, pullback

    @classmethod
    @custom_gradient
    def of_class(cls, x):
        return 2.0 * x, lambda g: 100.0 * g

    @staticmethod
    @custom_gradient
    def of_none(x):
        return 2.0 * x, lambda g: 100.0 * g

    @custom_gradient
    def __call__(self, x):
        return x * self.k, lambda g: 100.0 * g

    def tripled(self, x):
        return 3.0 * self.scaled(x)


class More(Scaled):
    @custom_gradient
    def scaled(self, x):
        return 2.0 * super().scaled(x), lambda g: 1000.0 * g


class Own:
    @custom_gradient
    def own(self, x):
        return 2.0 * x, lambda g: 100.0 * g


SCALED, MORE = Scaled(2.0), More(2.0)


@pytest.mark.parametrize(("f", "expected"), [
    (SCALED.scaled, 100.0), (SCALED, 100.0), (SCALED.of_class, 100.0), (Scaled.of_class, 100.0), (SCALED.of_none, 100.0),
    (MORE.scaled, 1000.0), (custom_gradient(Scaled.scaled.custom_gradient.__get__(SCALED)), 100.0),
    (lambda x: Scaled.scaled(SCALED, x), 100.0), (lambda x: SCALED.of_none(x) * 2.0, 200.0),
])  # fmt: skip
def test_a_method_is_not_asked_for_the_gradient_of_self(f, expected):
    assert slope(f, 3.0).numpy() == expected
    assert slope(differentiable(f), 3.0).numpy() == expected
    assert grad(f)(3.0) == expected


def test_methods_of_several_arguments_and_of_variables():
    x, y = constant(2.0), constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch([x, y])
        p, q, r = SCALED.product(x, y), SCALED.weighted(x), MORE.tripled(x)
    assert [g.numpy() for g in t.gradient(p, [x, y])] == [7.0, 8.0] == list(grad(SCALED.product, (0, 1))(2.0, 3.0))
    assert [g.numpy() for g in t.gradient(q, [x, SCALED.w])] == [50.0, 70.0]
    assert t.gradient(r, x).numpy() == 3000.0


def test_a_method_that_returns_a_gradient_of_self_too():
    class Counted:
        @custom_gradient
        def f(self, x):
            return 2.0 * x, lambda g: (None, g)

    with pytest.raises(ValueError, match="2 gradients for 1 arguments"):
        slope(Counted().f, 1.0)


@pytest.mark.parametrize("f", [
    SCALED.tripled, lambda x: SCALED.scaled(x), lambda x: SCALED(x), lambda x: SCALED.of_class(x),
    lambda x: Scaled.of_class(x),
])  # fmt: skip
def test_a_method_with_its_own_gradient_inside_compiled_code(f):
    assert grad(f)(3.0) == slope(f, 3.0).numpy() in (100.0, 300.0)


def test_a_method_of_an_object_that_is_made_inside_is_refused_at_its_call():
    with pytest.raises(Unsupported, match="brings its own gradient") as raised:
        grad(lambda x: Own().own(x))(3.0)
    assert raised.value.place.file == __file__


# --- recompute_grad --------------------------------------------------------------------------------------------------


def test_recompute_grad_records_once_and_computes_twice():
    calls = []

    def f(x):
        calls.append(1)
        for _ in range(10):
            x = np.sin(x) * 1.5
        return x

    x = constant([0.3, 0.7])
    with GradientTape() as t:
        t.watch(x)
        y = recompute_grad(f)(x)
    assert len(t._tape.entries) == 1 and len(calls) == 1
    np.testing.assert_allclose(t.gradient(y, x), slope(f, [0.3, 0.7]))
    assert len(calls) == 3


def test_recompute_grad_with_variables_and_to_second_order():
    w = Variable(0.3)

    def f(x):
        return np.sin(w * x) * w

    x = constant(0.5)
    results = []
    for g in (recompute_grad(f), f):
        with GradientTape() as outer:
            outer.watch(x)
            with GradientTape() as t:
                t.watch(x)
                y = g(x)
            gx, gw = t.gradient(y, [x, w])
            z = gx * gw
        results.append([v.numpy() for v in (y, gx, gw, *outer.gradient(z, [x, w]))])
    np.testing.assert_allclose(*results, rtol=1e-12)


def test_recompute_grad_sees_the_values_of_then():
    w = Variable(2.0)
    x = constant(3.0)
    with GradientTape() as t:
        t.watch(x)
        y = recompute_grad(lambda x: w * x)(x)
    w.assign(100.0)
    assert t.gradient(y, x).numpy() == 2.0 and w.numpy() == 100.0


def test_a_pullback_returns_dicts_by_their_keys():
    @custom_gradient
    def product(d):
        return d["a"] * d["b"], lambda g: ({"b": g * d["a"], "a": g * d["b"]},)

    a, b = constant(2.0), constant(3.0)
    with GradientTape() as t:
        t.watch([a, b])
        y = product({"a": a, "b": b})
    assert [g.numpy() for g in t.gradient(y, [a, b])] == [3.0, 2.0]


@pytest.mark.parametrize(("returned", "message"), [
    (np.ones(4), r"shape \(4,\) for an argument `x` of shape \(2,\)"),
    (([1.0, 2.0],), "a list for an argument"),
    (({"a": 1.0},), "a dict for an argument"), (np.array([1j, 2.0]), "complex numbers for an argument"),
])  # fmt: skip
def test_a_pullback_that_returns_something_else_than_a_gradient(returned, message):
    with pytest.raises(ValueError, match=message):
        slope(custom_gradient(lambda x: (np.sum(x), lambda g: returned)), [1.0, 2.0])


def test_a_pullback_that_returns_another_structure():
    f = custom_gradient(lambda d: (d["a"], lambda g: ({"b": g},)))
    x = constant(1.0)
    with GradientTape() as t:
        t.watch(x)
        y = f({"a": x})
    with pytest.raises(ValueError, match="keys"):
        t.gradient(y, x)


@custom_gradient
def shifted(x, by=2.0, scale=1.0, *, only=1.0):
    return (x + by) * scale * only, lambda g: (g * scale, g * scale, g * (x + by))


def test_a_keyword_of_a_custom_gradient_is_handed_on_by_position():
    x, k = constant(2.0), constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch([x, k])
        y = shifted(scale=k, x=x)
        with pytest.raises(TypeError, match="`only`: pass it by position"):
            shifted(x, only=k)
        z = tenfold(x, k=k)
    assert [bar.item() for bar in t.gradient(y, [x, k])] == [3.0, 4.0]
    in_x, in_k = t.gradient(z, [x, k])
    assert in_x.item() == 10.0
    assert in_k is None


def both_ways(f, sources, call, order=1):
    """Gradients of `call(f)`, recomputed and recorded; up to the second order."""
    results = []
    for g in (recompute_grad(f), f):
        with GradientTape() as outer:
            outer.watch(sources)
            with GradientTape() as t:
                t.watch(sources)
                y = call(g)
            first = t.gradient(y, sources)
            s = sum(np.sum(d * d) for d in first)
        results.append([*first, *(outer.gradient(s, sources) if order == 2 else [])])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_recompute_grad_tells_equal_arguments_apart():
    x = constant([1.0, 2.0])
    both_ways(lambda a, b: np.sum(a * b**2), [x], lambda f: f(x, x), order=2)


def test_recompute_grad_takes_keywords_and_structures():
    x, b = constant([1.0, 2.0]), Variable(2.0)

    def f(p, k=1.0, *, q):
        return p["x"] * p["b"][0] * k, q**2

    def call(f):
        u, v = f({"x": x, "b": [b]}, 3.0, q=x)
        return np.sum(u * v)

    both_ways(f, [x, b], call, order=2)


def test_recompute_grad_follows_arrays_in_closures_and_variables_on_request():
    x, z, fixed = constant([1.0, 2.0]), constant(3.0), Variable(0.7, trainable=False)
    both_ways(lambda x: np.sin(z * x) * fixed, [x, z, fixed], lambda f: f(x), order=2)


def test_recompute_grad_in_recompute_grad():
    w, z, x = Variable(0.3), constant(3.0), constant([1.0, 2.0])

    def f(x):
        inner = recompute_grad(lambda x: np.sin(w * x))
        return inner(x) * w + inner(2 * x) * z

    both_ways(f, [x, w, z], lambda f: f(x), order=2)


def test_recompute_grad_of_a_differentiable_function_that_writes_in_place():
    w, x = Variable(0.3), constant([1.0, 2.0])

    @differentiable
    def written(x):
        y = np.zeros(2)
        for k in range(2):
            y[k] = w * x[k] ** 2
        return y

    both_ways(lambda x: np.sin(written(x)), [x, w], lambda f: f(x))


@pytest.mark.parametrize("other", [Variable(2.0, trainable=False), Variable(2)])
def test_recompute_grad_sees_the_values_of_then_of_all_variables(other):
    x = constant(3.0)
    with GradientTape() as t:
        t.watch(x)
        y = recompute_grad(lambda x: x**other)(x)
    other.assign(5)
    assert t.gradient(y, x).numpy() == 6.0 and other.numpy() == 5


def test_recompute_grad_assigns_once_and_computes_with_what_was_there():
    count, w, x = Variable(1.0, trainable=False), Variable(2.0), constant(3.0)

    def f(x):
        count.assign_add(1.0)
        y = x * w * count
        count.assign_add(1.0)
        return y * count

    with GradientTape() as t:
        t.watch(x)
        y = recompute_grad(f)(x)
    assert y.numpy() == 36.0
    assert [g.numpy() for g in t.gradient(y, [x, w])] == [12.0, 18.0] and count.numpy() == 3.0


def test_recompute_grad_copies_ndarrays_and_leaves_them_writable():
    x, data, more = constant([1.0, 1.0]), np.array([2.0, 3.0]), [np.ones(2)]
    with GradientTape() as t:
        t.watch(x)
        y = recompute_grad(lambda x, data, more: x * data * more[0])(x, data, more)
        data[:] = 100.0
        more[0][:] = 100.0
    assert t.gradient(y, x).numpy().tolist() == [2.0, 3.0]


def test_recompute_grad_does_not_change_variables_for_other_threads():
    w, x, seen = Variable(2.0), constant(3.0), []

    def f(x):
        thread = threading.Thread(target=lambda: seen.append(w.numpy()))
        thread.start()
        thread.join()
        return w * x

    with GradientTape() as t:
        t.watch(x)
        y = recompute_grad(f)(x)
    w.assign(7.0)
    assert t.gradient(y, x).numpy() == 2.0 and seen == [2.0, 7.0]
