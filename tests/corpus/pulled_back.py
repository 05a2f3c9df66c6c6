"""`vjp` inside of a differentiated function, and derivatives of methods, partials and functions that are arguments."""

import functools

import numpy as np

from s2sgrad import grad, hvp, linearize, value_and_grad, vjp

from .case import case

VECTOR = np.array([0.3, 0.7, 1.1])
WEIGHTS = np.array([0.2, 0.5, 0.4])


def cubes(q):
    return np.sum(q**3)


def pair(q):
    return np.array([q[0] * q[1], np.sin(q[2]) * q[0]])


def scaled(a, b, c=2.0):
    return np.sum(a * b**3) * c


class Chain:
    def __init__(self, stiffness, power=4):
        self.stiffness = stiffness
        self.power = power
        self.layers = [stiffness * 1.0, stiffness * 2.0]

    def forward(self, x):
        for layer in self.layers:
            x = np.tanh(layer * x)
        return x

    def energy(self, x):
        return np.sum(self.stiffness * self.forward(x) ** self.power)

    def force(self, x):
        return -grad(self.energy)(x)

    def __call__(self, x):
        return self.energy(x) * 2.0


CHAIN = Chain(WEIGHTS)


@case(VECTOR)
def pullback_of_a_known_function(w):
    y, pullback = vjp(cubes, w)
    (g,) = pullback(1.0)
    return y * np.sum(g * w)


@case(VECTOR)
def pullback_at_what_depends_on_the_argument(w):
    y, pullback = vjp(pair, w)
    return np.sum(y) * np.sum(pullback(w[:2] ** 2)[0] * w)


@case(VECTOR)
def pullback_of_a_closure(w):
    y, pullback = vjp(lambda q: np.sum(w * q**3), WEIGHTS)
    (g,) = pullback(1.0)
    return y * np.sum(g * w)


@case(VECTOR)
def pullback_of_two_arguments_and_a_default_called_twice(w):
    def f(a, b, k=2.0):
        return a * w * b * k

    y, pullback = vjp(f, WEIGHTS, w)
    a_bar, b_bar = pullback(np.ones(3))
    c_bar, d_bar = pullback(w)
    return np.sum(y * a_bar) + np.sum(b_bar**2) + np.sum(c_bar * d_bar)


@case(VECTOR)
def pullback_with_a_keyword(w):
    y, pullback = vjp(lambda q, s=3.0: s * q[0] * w[1], w, s=2.0)
    return np.sum(pullback(2.0)[0] * w) + y


@case(VECTOR)
def pullback_of_a_ufunc(w):
    y, pullback = vjp(np.sin, w)
    return np.sum(pullback(y)[0])


@case(VECTOR)
def jacobian_row_by_row(w):
    rows = []
    _, pullback = vjp(pair, w)
    for k in range(2):
        e = np.zeros(2)
        e[k] = 1.0
        rows.append(pullback(e)[0])
    jacobian = np.array(rows)
    return np.sum(jacobian @ jacobian.T * np.arange(4.0).reshape(2, 2))


def of_an_argument(f, w):
    y, pullback = vjp(f, w * WEIGHTS)
    value, g = value_and_grad(f)(w)
    return y * np.sum(pullback(1.0)[0] * w) + value * np.sum(grad(f)(w) * g)


@case(cubes, VECTOR)
def derivatives_of_an_argument(f, w):
    return of_an_argument(f, w)


@case([cubes, functools.partial(scaled, WEIGHTS)], VECTOR, argnums=(1,))
def derivatives_of_arguments_in_a_list(fs, w):
    total = 0.0
    for f in fs:
        total = total + np.sum(grad(f)(w) * WEIGHTS)
    return total


@case(VECTOR)
def method_that_differentiates_another(w):
    chain = Chain(w)
    q, v = WEIGHTS, np.zeros(3)
    for _ in range(3):
        v = v + 0.1 * chain.force(q)
        q = q + 0.1 * v
    return np.sum(q**2)


@case(VECTOR)
def gradient_of_a_callable_object(w):
    return np.sum(grad(Chain(w))(WEIGHTS) ** 2)


@case(VECTOR)
def value_and_gradient_of_a_method(w):
    value, g = value_and_grad(Chain(w).energy)(WEIGHTS)
    return value * np.sum(g * w)


@case(VECTOR)
def pullback_of_a_method(w):
    y, pullback = vjp(Chain(w).energy, WEIGHTS)
    return y * np.sum(pullback(1.0)[0] * w)


@case(VECTOR)
def force_of_an_object_of_the_module(w):
    return np.sum(CHAIN.force(w) * w)


@case(VECTOR)
def gradient_of_a_partial(w):
    by_lambda = functools.partial(lambda a, b: np.sum(a * b**3), w)
    by_name = functools.partial(scaled, w, c=w[0])
    _, pullback = vjp(functools.partial(scaled, w), WEIGHTS)
    return np.sum(grad(by_lambda)(WEIGHTS) * w) + np.sum(grad(by_name)(WEIGHTS) * pullback(1.0)[0])


@case(VECTOR)
def gradient_of_a_lambda_that_calls_a_method(w):
    chain = Chain(w)
    return grad(grad(lambda t: chain.energy(t * WEIGHTS)))(0.7)


@case(VECTOR)
def gradient_of_a_nested_function_with_defaults(w):
    def f(a, b=2.0):
        return np.sum(a**3 * w) * b

    return np.sum(grad(f)(WEIGHTS, 3.0) * w) + np.sum(grad(f)(WEIGHTS) ** 2) + np.sum(grad(f)(WEIGHTS, b=w[0]))


@case(VECTOR)
def attribute_bound_anew_behind_a_gradient(w):
    chain = Chain(w)
    slopes = {"energy": grad(chain.energy), "twice": grad(lambda t: chain.energy(t) * 2.0)}
    chain.stiffness = w * w
    return np.sum(slopes["energy"](WEIGHTS) + slopes["twice"](WEIGHTS))


@case(VECTOR)
def variable_bound_anew_behind_a_gradient(w):
    a = w
    slope = grad(lambda t: np.sum(a * t**2))
    a = w * w
    return np.sum(slope(WEIGHTS) * w)


@case(VECTOR)
def steps_of_conjugate_gradients_on_products_with_the_hessian(w):
    energy = lambda q: np.sum(np.sin(q) * q**2) * 2.0  # noqa: E731
    r = -grad(energy)(w)
    p, d = r.copy(), np.zeros_like(w)
    for _ in range(2):
        curved = hvp(energy, (w,), (p,))
        step = (r @ r) / (p @ curved)
        d = d + step * p
        after = r - step * curved
        p = after + (after @ after) / (r @ r) * p
        r = after
    return np.sum((w + d) ** 2)


@case(VECTOR, WEIGHTS, argnums=(0, 1))
def product_with_the_hessian_of_a_closure_in_two_arguments(w, v):
    h = lambda a, b, k: np.sum(a * b**2 * w) * k  # noqa: E731
    first, second = hvp(h, (w, v, 3), (v, w, None))
    return np.sum(first * second)


@case(VECTOR)
def product_with_the_hessian_of_a_function_in_a_list(w):
    choices = [cubes, np.sum]
    return np.sum(hvp(choices[0], (w,), (w**2,)) * w)


@case(VECTOR)
def linear_map_at_what_is_changed_later(w):
    q = w * 1.0
    y, along = linearize(lambda a, b: a * np.sin(b) * w, q, w**2)
    q[0] = 5.0
    return np.sum(along(w, q) * y) + np.sum(along(q, None))


@case(VECTOR)
def columns_of_a_linear_map_of_an_object(w):
    y, along = linearize(Chain(w), w * w)
    total = 0.0
    for k in range(3):
        e = np.zeros(3)
        e[k] = 1.0
        total += along(e) * (k + 1)
    return total * y


def ways(h, w):
    y, along = linearize(h, w)
    return np.sum(along(y) * w)


@case(VECTOR)
def linear_map_of_a_function_that_is_handed_on(w):
    return ways(np.sin, w) + ways(lambda q: q**3 * w, w)


@case(0.7, 1.3, second=False)
def pullbacks_within_functions_that_are_composed(k, t):
    def weighted(s):
        return k * s * s

    h = np.tanh
    for _ in range(2):
        pull = vjp(weighted, 0.5)[1]
        h = lambda s, h=h, pull=pull: pull(h(s))[0] + k  # noqa: E731
    return h(t)
