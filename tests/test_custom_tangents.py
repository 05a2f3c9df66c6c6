"""Tangents of functions with rules of the user's: what `defjvp` and `custom_jvp` give, or what is made of a pullback."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import (
    NoRule,
    Unsupported,
    custom_gradient,
    custom_jvp,
    defjvp,
    defvjp,
    grad,
    jacfwd,
    jvp,
    linearize,
    nondifferentiable,
    primitive,
    stop_gradient,
)

X, U = np.array([0.3, -0.7, 1.1]), np.array([1.0, 0.5, -2.0])


def power_of(rule=None):
    """A primitive that has a tangent, a pullback, or both."""

    @primitive
    def power(x, n=3.0):
        return x**n

    if rule != "vjp":
        power.defjvp(lambda t, y, x, n: t * n * x ** (n - 1), lambda t, y, x, n: t * y * np.log(x))
    if rule != "jvp":
        power.defvjp(lambda g, y, x, n: g * n * x ** (n - 1), lambda g, y, x, n: g * y * np.log(x))
    return power


@pytest.mark.parametrize("rule", ["jvp", "vjp", "both"])
def test_tangents_of_a_primitive(rule):
    power = power_of(rule)
    assert jvp(power, (2.0, 3.0), (1.0, None)) == (8.0, 12.0)
    assert jvp(lambda x: power(x) * x, (2.0,), (1.0,)) == (16.0, 32.0)
    assert jvp(lambda x, n: power(x, n=n) * x, (2.0, 3.0), (1.0, 0.5))[1] == 32.0 + 8.0 * np.log(2.0)
    assert jvp(lambda n: power(2.0, n=n), (3.0,), (1.0,))[1] == 8.0 * np.log(2.0)
    assert jvp(lambda x: power(x, 3.0) * x, (-2.0,), (1.0,)) == (16.0, -32.0)  # the logarithm is never taken
    np.testing.assert_allclose(jvp(lambda x: power(x, 2.0) * x, (X,), (U,))[1], 3.0 * X**2 * U)


def test_arguments_by_name_alone():
    @primitive
    def power(x, *, n=3.0, scale=1.0):
        return scale * x**n

    power.defvjp(lambda g, y, x, n, scale: g * scale * n * x ** (n - 1), lambda g, y, x, n, scale: g * y * np.log(x))
    assert jvp(lambda x: power(x, scale=2.0), (2.0,), (1.0,)) == (16.0, 24.0)
    power.defjvp(lambda t, y, x, n, scale: t * scale * n * x ** (n - 1), lambda t, y, x, n, scale: 100.0 * t)
    assert jvp(lambda x: power(x, scale=2.0), (2.0,), (1.0,)) == (16.0, 24.0)
    assert jvp(lambda x, n: power(x, scale=2.0, n=n), (2.0, 3.0), (1.0, 1.0)) == (16.0, 124.0)

    @custom_jvp
    def scaled(x, *, scale=2.0):
        return scale * x

    scaled.defjvp(lambda p, t: (p[0] * p[1], p[0] * t[1] + t[0] * p[1]))
    assert jvp(lambda x: scaled(x), (3.0,), (1.0,)) == (6.0, 2.0)
    assert jvp(lambda x: scaled(x, scale=x), (3.0,), (1.0,)) == (9.0, 6.0)


def test_a_tangent_is_read_before_a_pullback_and_beside_one():
    @primitive
    def product(x, y):
        return x * y

    product.defvjp(lambda g, z, x, y: g * y, lambda g, z, x, y: g * x)
    product.defjvp(lambda t, z, x, y: t * y)
    assert jvp(lambda x, y: product(x, y), (2.0, 3.0), (1.0, 10.0)) == (6.0, 23.0)
    product.defjvp(lambda t, z, x, y: 100.0 * t)
    assert jvp(lambda x, y: product(x, y), (2.0, 3.0), (1.0, 10.0)) == (6.0, 120.0)
    product.defjvp(None)
    assert jvp(lambda x, y: product(x, y), (2.0, 3.0), (1.0, 10.0)) == (6.0, 20.0)


def test_higher_tangents_of_a_primitive():
    power = power_of("both")
    assert jvp(lambda x: jvp(power, (x,), (1.0,))[1], (2.0,), (1.0,)) == (12.0, 12.0)
    assert jvp(grad(power), (2.0,), (1.0,)) == (12.0, 12.0)
    assert grad(lambda x: jvp(power, (x,), (1.0,))[1])(2.0) == 12.0


def test_a_custom_jvp():
    calls = []

    @custom_jvp
    def product(x, y):
        return x * y

    @product.defjvp
    def product_jvp(primals, tangents):
        calls.append(tangents)
        (x, y), (t, s) = primals, tangents
        return x * y, t * y + x * s

    assert jvp(lambda x, y: product(x, y), (2.0, 3.0), (1.0, 10.0)) == (6.0, 23.0)
    assert jvp(lambda x: product(x, 3.0) * x, (2.0,), (1.0,)) == (12.0, 12.0) and calls[-1] == (1.0, 0.0)
    _, tangent = jvp(product, (X, U), (U, None))
    np.testing.assert_allclose(tangent, U * U)
    assert not np.any(calls[-1][1])
    with pytest.raises(NoRule, match="`product` has no derivative in `x` for reverse mode, only a tangent"):
        grad(lambda x: product(x, 3.0))(2.0)


def test_a_custom_jvp_for_each_argument():
    @custom_jvp
    def product(x, y):
        return x * y

    product.defjvps(lambda t, z, x, y: t * y, None)
    assert jvp(lambda x: product(x, x), (3.0,), (1.0,)) == (9.0, 3.0)


def test_elementwise_tangents_are_stretched():
    @primitive(elementwise=True)
    def product(x, y):
        return x * y

    product.defjvp(lambda t, z, x, y: t * y, lambda t, z, x, y: t * x)
    tall = np.ones((2, 1))
    np.testing.assert_allclose(jvp(lambda x: product(x, tall), (X,), (U,))[1], np.stack((U, U)))
    np.testing.assert_allclose(jvp(lambda x: product(x, X), (2.0,), (1.0,))[1], X)


def test_structures_and_memory():
    @primitive
    def both(x):
        return {"x": x, "square": x * x}

    both.defjvp(lambda t, y, x: {"x": t, "square": 2.0 * x * t})
    _, tangent = jvp(lambda x: both(x), (X,), (U,))
    np.testing.assert_allclose(tangent["square"], 2.0 * X * U)
    assert not np.shares_memory(tangent["x"], U)
    np.testing.assert_allclose(jvp(lambda x: both(x)["square"] * x, (X,), (U,))[1], 3.0 * X**2 * U)


def test_a_method_and_a_function_of_others():
    class Spring:
        k = 2.0

        @primitive
        def force(self, x):
            return self.k * x

        @custom_gradient
        def energy(self, x):
            return 0.5 * self.k * x * x, lambda g: g * self.k * x

    spring = Spring()
    Spring.force.defjvp(None, lambda t, y, self, x: self.k * t)
    assert jvp(lambda x: spring.force(x) * x, (3.0,), (1.0,)) == (18.0, 12.0)
    assert jvp(lambda x: spring.energy(x) * x, (3.0,), (1.0,)) == (27.0, 27.0)

    def foreign(x):
        return float(str(x)) ** 2

    defjvp(foreign, lambda t, y, x: 2.0 * x * t)
    assert jvp(lambda x: foreign(x) * x, (3.0,), (1.0,)) == (27.0, 27.0)


def test_a_pullback_is_transposed():
    @custom_gradient
    def log1pexp(x):
        e = np.exp(x)
        return np.log(1.0 + e), lambda g: g * (1.0 - 1.0 / (1.0 + e))

    assert jvp(log1pexp, (0.0,), (1.0,))[1] == 0.5
    assert jvp(lambda x: log1pexp(x) * x, (0.0,), (1.0,))[1] == np.log(2.0)
    rounded = custom_gradient(lambda x: (np.round(x), lambda g: g))
    assert jvp(lambda x: rounded(x) ** 2, (1.7,), (1.0,)) == (4.0, 4.0)
    assert jvp(grad(log1pexp), (0.0,), (1.0,))[1] == 0.25
    assert grad(lambda x: jvp(log1pexp, (x,), (1.0,))[1])(0.0) == 0.25


def test_a_pullback_that_cannot_be_transposed_asks_for_a_tangent():
    @primitive
    def hidden(x):
        return x * 2.0

    hidden.defvjp(eval("lambda g, y, x: g * 2.0"))
    with pytest.raises(NoRule, match=r"`hidden` has no tangent in `x`, and none .* `defjvp\(\.\., argnums=\"x\"\)`"):
        jvp(lambda x: hidden(x) * x, (1.0,), (1.0,))
    hidden.defjvp(lambda t, y, x: 2.0 * t)
    assert jvp(lambda x: hidden(x) * x, (1.0,), (1.0,)) == (2.0, 4.0)

    @custom_gradient
    def sign(x):
        if x > 0:
            return x, lambda g: g
        return -x, lambda g: -g

    assert jvp(lambda x: sign(x) * x, (-2.0,), (1.0,)) == (-4.0, 4.0)  # the pullback that was returned is transposed
    with pytest.raises(Unsupported, match="the gradient of that is made of its text: it must end in its only `return"):
        jvp(grad(lambda x: sign(x) * x), (1.0,), (1.0,))


def test_what_has_neither():
    @primitive
    def product(x, y):
        return x * y

    with pytest.raises(NoRule, match=r"`product` has no tangent in `x`: give it one with `defjvp\(\.\., argnums=\"x\"\)`"):
        jvp(lambda x: product(x, 2.0), (1.0,), (1.0,))
    product.defjvp(lambda t, z, x, y: t * y)
    with pytest.raises(NoRule, match="`product` has no tangent in `y`"):
        jvp(lambda x: product(2.0, x), (1.0,), (1.0,))
    product.defvjp(lambda g, z, x, y: g * x, argnums="y")
    assert jvp(lambda x: product(2.0, x), (1.0,), (1.0,)) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        (lambda t, y, x: None, TypeError, "the jvp of `twice` in `x` returned None"),
        (lambda t, y, x: np.ones(2), ValueError, r"`twice` in `x` returned a tangent of shape \(2,\) for a result"),
        (lambda t, y, x: [t], ValueError, "the jvp of `twice` in `x` returned a list for a result"),
        (lambda t, y, x: "t", ValueError, "the jvp of `twice` in `x` returned a str"),
        (lambda t, y, x: t.__imul__(2.0), ValueError, "read-only"),
    ],
)
def test_what_a_jvp_returns_is_checked(rule, error, message):
    @primitive
    def twice(x):
        return 2.0 * x

    twice.defjvp(rule)
    with pytest.raises(error, match=message):
        jvp(lambda x: twice(x), (X,), (U,))


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        (lambda p, t: t[0], TypeError, "the jvp of `twice` must return the value and its tangent"),
        (lambda p, t: (p[0], None), TypeError, "the jvp of `twice` returned None for the tangent"),
        (lambda p, t: (p[0], np.ones(2)), ValueError, r"the jvp of `twice` returned a tangent of shape \(2,\) for a result"),
    ],
)
def test_what_a_custom_jvp_returns_is_checked(rule, error, message):
    @custom_jvp
    def twice(x):
        return 2.0 * x

    twice.defjvp(rule)
    with pytest.raises(error, match=message):
        jvp(lambda x: twice(x), (X,), (U,))


def test_what_a_jvp_takes_is_checked():
    @primitive
    def product(x, y):
        return x * y

    with pytest.raises(TypeError, match=r"the jvp of `product` in `x` must take \(t, y, x, y\); it takes \(t, y\)"):
        product.defjvp(lambda t, y: t)
    with pytest.raises(TypeError, match=r"the jvp of `f` must take \(primals, tangents\); it takes \(primals\)"):
        custom_jvp(power_named_f()).defjvp(lambda primals: primals)


def power_named_f():
    def f(x):
        return x

    return f


def test_constants():
    @nondifferentiable
    def size(x):
        return np.sum(x * x)

    np.testing.assert_allclose(jvp(lambda x: x * size(x), (X,), (U,))[1], U * np.sum(X * X))
    assert jvp(lambda x: stop_gradient(x) * x, (3.0,), (1.0,)) == (9.0, 3.0)
    assert jvp(lambda x: stop_gradient(x), (3.0,), (1.0,)) == (3.0, 0.0)


def test_a_rule_that_is_replaced_is_read_anew():
    def f(x):
        return foreign(x) * 1.0

    def foreign(x):
        return x * x

    defvjp(foreign, lambda g, y, x: g * 2.0 * x)
    assert jvp(f, (3.0,), (1.0,)) == (9.0, 6.0)
    defjvp(foreign, lambda t, y, x: t * 7.0)
    assert jvp(f, (3.0,), (1.0,)) == (9.0, 7.0)


def test_the_tangent_of_a_rule_reads_the_pullback_alone():
    """What the value is computed with has no rule, and need not be read: a Fourier transform."""

    @custom_gradient
    def power(x):
        s = np.fft.rfft(x)
        weight = np.array([1.0, 2.0, 1.0])
        return np.sum(weight * np.abs(s) ** 2), lambda g: g * 2.0 * len(x) * np.fft.irfft(s, len(x))

    x, v = np.array([0.5, 1.5, 2.5, 0.7]), np.array([1.0, -1.0, 2.0, 0.5])
    expected = 8.0 * x @ v  # Parseval
    assert np.isclose(grad(power)(x) @ v, expected)
    for f in (power, lambda x: 1.0 * power(x)):
        assert np.isclose(jvp(f, (x,), (v,))[1], expected)
        assert np.isclose(linearize(f, x)[1](v), expected)
        assert np.isclose(jacfwd(f)(x) @ v, expected)
