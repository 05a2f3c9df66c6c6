"""Programs of autograd's, by its import lines alone: each once as it would be there, with `numpy` for `autograd.numpy`."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import S2SGradError, testing
from s2sgrad.compat.autograd import (
    checkpoint,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_vector_product,
    jacobian,
    jacobian_vector_product,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
)
from s2sgrad.compat.autograd.builtins import list as list_
from s2sgrad.compat.autograd.builtins import tuple as tuple_
from s2sgrad.compat.autograd.extend import defjvp, defvjp, notrace_primitive, primitive
from s2sgrad.compat.autograd.misc import flatten
from s2sgrad.compat.autograd.misc.fixed_points import fixed_point
from s2sgrad.compat.autograd.misc.flatten import flatten_func
from s2sgrad.compat.autograd.misc.optimizers import adam, rmsprop, sgd, unflatten_optimizer
from s2sgrad.compat.autograd.test_util import check_equivalent, check_grads, combo_check, scalar_close
from s2sgrad.compat.autograd.tracer import getval

X = np.array([0.3, 0.7, 1.1])


def tanh(x):
    y = np.exp(-2.0 * x)
    return (1.0 - y) / (1.0 + y)


def test_the_first_page_of_the_tutorial():
    grad_tanh = grad(tanh)
    assert np.isclose(grad_tanh(1.0), (tanh(1.0001) - tanh(0.9999)) / 0.0002)
    assert np.allclose(elementwise_grad(tanh)(X), 1.0 - tanh(X) ** 2)
    assert np.allclose(elementwise_grad(elementwise_grad(tanh))(X), -2.0 * tanh(X) * (1.0 - tanh(X) ** 2))


def test_matrices_and_products():
    def f(x, y):
        return np.sum(x**3) * y

    assert np.allclose(hessian(f)(X, 2.0), np.diag(12.0 * X))
    assert np.allclose(hessian_vector_product(f)(X, 2.0, X), 12.0 * X * X)
    assert np.allclose(jacobian(lambda x: x**2)(X), np.diag(2.0 * X))
    assert np.allclose(jacobian_vector_product(lambda x: x**2)(X, X), 2.0 * X * X)
    assert np.allclose(tensor_jacobian_product(lambda x: x**2)(X, X), 2.0 * X * X)
    pull, value = make_vjp(f, 1)(X, 2.0)
    assert np.isclose(value, f(X, 2.0)) and np.isclose(pull(1.0), np.sum(X**3))
    value, tangent = make_jvp(f)(X, 2.0)(X)
    assert np.isclose(value, f(X, 2.0)) and np.isclose(tangent, 3.0 * f(X, 2.0))
    product, gradient = make_hvp(f)(X, 2.0)
    assert np.allclose(product(X), 12.0 * X * X) and np.allclose(gradient, 6.0 * X**2)
    A = np.arange(6.0).reshape(2, 3)
    assert np.allclose(make_ggnvp(lambda x: A @ x)(X)(X), A.T @ (A @ X))


def test_values_names_and_aux():
    def f(x, y=2.0):
        return x * y**2

    assert value_and_grad(f)(3.0, 4.0) == (48.0, 16.0)
    assert grad_named(f, "y")(3.0, 4.0) == 24.0
    assert multigrad_dict(f)(3.0, y=4.0) == {"x": 16.0, "y": 24.0}
    assert grad(f, (0, 1))(3.0, 4.0) == (16.0, 24.0)
    assert grad_and_aux(lambda x: (x**2, {"twice": 2.0 * x}))(3.0) == (6.0, {"twice": 6.0})
    assert grad(checkpoint(f))(3.0, 4.0) == 16.0


def test_rules():
    @primitive
    def logsumexp(x):
        top = np.max(x)
        return top + np.log(np.sum(np.exp(x - top)))

    defvjp(logsumexp, lambda ans, x: lambda g: np.full(x.shape, g) * np.exp(x - np.full(x.shape, ans)))
    defjvp(logsumexp, lambda g, ans, x: np.sum(g * np.exp(x - ans)))

    def example(y):
        return logsumexp(y**2) * 2.0

    plain = lambda y: np.log(np.sum(np.exp(y**2))) * 2.0  # noqa: E731
    assert np.allclose(grad(example)(X), grad(plain)(X))
    assert np.isclose(make_jvp(example)(X)(X)[1], make_jvp(plain)(X)(X)[1])
    check_grads(example, modes=["rev"])(X)

    @primitive
    def scaled(x, c):
        return x * c

    defvjp(scaled, lambda ans, x, c: lambda g: g * c, None)
    defjvp(scaled, "same", None)
    assert np.allclose(grad(lambda x: np.sum(scaled(x, 3.0)))(X), 3.0)
    assert np.allclose(make_jvp(lambda x: scaled(x, 3.0))(X)(X)[1], 3.0 * X)


def test_a_rule_with_defaults_and_names_that_are_taken():
    @primitive
    def product(g, ans, *, maker=2.0):
        return g * ans * maker

    in_g = lambda y, g, ans, maker=2.0: lambda t: t * ans * maker  # noqa: E731
    defvjp(product, in_g, lambda y, g, ans, maker=2.0: lambda t: t * g * maker)
    f = lambda x: np.sum(product(x, np.sin(x)) + product(x, x, maker=3.0))  # noqa: E731
    check_grads(f, order=2)(X)


def test_what_is_not_traced():
    @notrace_primitive
    def rounded(x):
        return np.round(x)

    assert np.allclose(grad(lambda x: np.sum(rounded(x) * getval(x) * x))(X), np.round(X) * X)
    assert np.allclose(grad(lambda x: np.sum(tuple_(list_(x))[1] * x))(X), [X[1], np.sum(X) + X[1], X[1]])


def test_odeint():
    """The state, the times and the arguments of a damped spring against differences."""
    pytest.importorskip("scipy")
    from s2sgrad.compat.autograd.scipy.integrate import odeint

    def spring(y, t, p):
        return np.array([y[1], -p["k"] * y[0] - p["c"] * y[1] * np.cos(t)])

    weights = np.arange(1.0, 9.0).reshape(4, 2)

    def loss(y0, t, k, c):
        return np.sum(weights * odeint(spring, y0, t, tuple_(({"k": k, "c": c},)), rtol=1e-11, atol=1e-12))

    times = np.array([0.1, 0.5, 1.2, 2.0])
    testing.check_grads(loss, (np.array([1.0, 0.5]), times, 2.0, 0.3), rtol=1e-4)


def test_flatten():
    params = {"w": [np.ones((2, 2)), (0.5, X)], "b": 2.0}
    vector, unflatten = flatten(params)
    assert vector.shape == (9,)
    back = unflatten(vector)
    assert np.array_equal(back["w"][0], params["w"][0]) and back["w"][1][0] == 0.5 and back["b"] == 2.0
    flat, unflatten, start = flatten_func(lambda p: {"w": 2.0 * p["w"]}, {"w": X})
    assert np.allclose(flat(start), 2.0 * X) and np.allclose(unflatten(start)["w"], X)


@pytest.mark.parametrize(("method", "options"), [(sgd, {}), (rmsprop, {"step_size": 0.05}), (adam, {"step_size": 0.1})])
def test_optimizers(method, options):
    seen = []
    loss = lambda p, i: np.sum((p["w"] - 3.0) ** 2) + p["b"] ** 2  # noqa: E731
    found = method(grad(loss), {"w": X, "b": 1.0}, lambda p, i, g: seen.append(i), 400, **options)
    assert np.allclose(found["w"], 3.0, atol=0.05) and abs(found["b"]) < 0.05 and seen == list(range(400))


def test_fixed_point():
    def newton(a):
        def step(x):
            return 0.5 * (x + a / x)

        return step

    def root(a):
        return fixed_point(newton, a, 1.0, lambda x, y: abs(x - y), 1e-12)

    assert np.isclose(root(2.0), np.sqrt(2.0)) and np.isclose(grad(root)(2.0), 0.5 / np.sqrt(2.0))


def test_what_has_no_derivative_is_refused():
    with pytest.raises((S2SGradError, TypeError)):
        grad(lambda x: x > 1.0)(2.0)


def test_a_loss_that_flattens_its_parameters():
    """As the neural network among autograd's examples does."""
    params = {"b": [0.5, (2.0, np.arange(3.0))], "w": np.ones((2, 2))}

    def penalty(p):
        vector, unflatten = flatten(p)
        return np.dot(vector, vector) + unflatten(vector**2)["b"][0]

    gradient = grad(penalty)(params)
    assert np.allclose(gradient["w"], 2.0) and np.isclose(gradient["b"][0], 2.0)
    assert np.isclose(gradient["b"][1][0], 4.0) and np.allclose(gradient["b"][1][1], [0.0, 2.0, 4.0])
    vector, unflatten = flatten(params)
    assert np.allclose(grad(lambda v: penalty(unflatten(v)))(vector), flatten(gradient)[0])


def test_an_optimizer_of_vectors_for_nested_parameters():
    @unflatten_optimizer
    def descent(gradient, x, callback=None, steps=50):
        for i in range(steps):
            g = gradient(x, i)
            if callback:
                callback(x, i, g)
            x = x - 0.1 * g
        return x

    seen = []
    out = descent(grad(lambda p, i: np.sum((p["w"] - 3.0) ** 2)), {"w": np.zeros(2)}, lambda p, i, g: seen.append(p["w"]))
    assert np.allclose(out["w"], 3.0, atol=1e-3) and len(seen) == 50


def test_jacobians_of_jacobians():
    def f(x):
        return np.array([np.sum(x**2), np.prod(x)])

    second = jacobian(jacobian(f))(X)
    assert second.shape == (2, 3, 3) and np.allclose(second[0], 2.0 * np.eye(3))
    assert np.allclose(second[1], hessian(np.prod)(X))


def wave(x, y, k=1.0):
    return np.sin(x) * np.exp(y * x) * k


INSIDE = {
    "grad": lambda x: grad(wave, argnum=1)(x, 0.3) + grad(lambda t: x * t * t)(x),
    "value_and_grad": lambda x: value_and_grad(lambda t: wave(x, t, 2.0))(0.3)[1],
    "grad_named": lambda x: grad_named(wave, "y")(x, 0.3),
    "grad_and_aux": lambda x: grad_and_aux(lambda t: (t * t * x, x))(x)[0],
    "elementwise_grad": lambda x: np.sum(elementwise_grad(lambda t: t * t * x)(X * x)),
    "make_vjp": lambda x: make_vjp(wave)(x, 0.3)[0](2.0) + make_vjp(wave, 1)(x, 0.3, k=x)[0](x),
    "make_jvp": lambda x: make_jvp(wave)(x, 0.3)(2.0)[1] + make_jvp(wave, 1)(x, 0.3, k=x)(x)[1],
    "make_hvp": lambda x: make_hvp(wave, 1)(x, 0.3, k=x)[0](x) * make_hvp(wave)(x, 0.3)[1],
    "make_ggnvp": lambda x: np.sum(make_ggnvp(lambda w: w * x)(X)(X * x)),
    "jacobian": lambda x: np.sum(jacobian(lambda w: w**3 * x)(X * x)),
    "hessian": lambda x: np.sum(hessian(lambda w: np.sum(w**3 * x))(X * x)),
    "hessian_vector_product": lambda x: hessian_vector_product(wave, 1)(x, 0.3, x),
    "tensor_jacobian_product": lambda x: tensor_jacobian_product(wave, 1)(x, 0.3, x),
    "jacobian_vector_product": lambda x: jacobian_vector_product(wave, 1)(x, 0.3, x),
}


@pytest.mark.sampled(one_in=7)
@pytest.mark.parametrize("name", list(INSIDE))
def test_functions_of_functions_inside_of_what_is_differentiated(name):
    f = INSIDE[name]
    assert value_and_grad(f)(0.7)[0] == pytest.approx(f(0.7), rel=1e-14)
    check_grads(f, order=1)(0.7)


def test_check_grads_differentiates_in_the_arguments_that_are_asked_for():
    check_grads(lambda n, x: x**n, 1)(3, 2.0)
    check_grads(lambda d, x: d.get("a", x) ** 2, argnum=(0, 1))({}, 2.0)
    check_grads(np.sum)(np.ones((2, 3)), axis=0, keepdims=True)
    combo_check(np.tensordot, [0, 1], order=1)([np.ones((2, 3))], [np.ones((3, 2))], axes=[1, ((1,), (0,))])
    with pytest.raises(AssertionError, match=r"\[1\]"):
        check_equivalent((X, 1.0), (X, 2.0))
    with pytest.raises(AssertionError, match="structure"):
        check_equivalent((X, 1.0), {"a": X})
    assert scalar_close(1.0, 1.0 + 1e-9) and not scalar_close(1.0, 1.1)


@pytest.mark.parametrize("f", [
    lambda x, y: np.einsum("ij,jk->ik", x, y), lambda x, y: np.broadcast_arrays(x, y)[1], lambda x, y: np.meshgrid(x, y)[0],
])  # fmt: skip
def test_functions_of_any_number_of_arguments_alone(f):
    x, y = (np.arange(4.0).reshape(2, 2), np.ones((2, 2)))
    assert np.allclose(grad(np.einsum, 2)("ij,jk->ik", x, y), np.tile(x.sum(axis=0)[:, None], (1, 2)))
    check_grads(f, (0, 1), order=1)(x, y)
    check_grads(np.gradient, order=1)(np.sin(x))


def test_functions_of_complex_numbers_are_checked_in_their_parts():
    check_grads(np.fft.fft)(X)
    check_grads(lambda x: (np.fft.fft(x), x**2))(X)
    with pytest.raises(AssertionError):
        check_grads(lambda x: np.exp(1j * x) * (1.0 + 1e-3 * np.trunc(1e7 * x)))(X)
