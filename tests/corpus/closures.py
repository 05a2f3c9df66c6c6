"""Lambdas and nested functions: what they close over, when they read it, where they are kept and by whom they are called."""

# ruff: noqa: B008, E731

import functools

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6], [0.7, 0.9, -0.3]])


def apply_twice(f, x):
    return f(f(x))


def compose(*functions):
    def composed(x):
        for f in functions:
            x = f(x)
        return x

    return composed


def pair_composed(f, g):
    return lambda t: f(g(t))


def scaled_by(k):
    def scaled(t):
        return k * t

    return scaled


def newton(f, df, x, steps=3):
    for _ in range(steps):
        x = x - f(x) / df(x)
    return x


def integrate(f, low, high, n=8):
    h = (high - low) / n
    total = 0.0
    for k in range(n):
        total += f(low + (k + 0.5) * h)
    return total * h


def runge_kutta(rhs, y, t, h):
    k1 = rhs(t, y)
    k2 = rhs(t + 0.5 * h, y + 0.5 * h * k1)
    k3 = rhs(t + 0.5 * h, y + 0.5 * h * k2)
    k4 = rhs(t + h, y + h * k3)
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@case(1.5)
def variable_rebound_between_two_calls(x):
    w = x
    f = lambda t: w * t
    y = f(2.0)
    w = w * w
    return y + f(3.0)


@case(1.5)
def lambda_in_a_list_sees_the_rebinding(x):
    w = x
    fs = [lambda t: w * t]
    y = fs[0](2.0)
    w = w * w
    return y + fs[0](3.0)


@case(1.3)
def nonlocal_total(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v * x

    add(2.0)
    add(x)
    return total


@case(1.3, 0.7)
def two_functions_share_a_nonlocal(x, y):
    state = x

    def grow():
        nonlocal state
        state = state * y

    def shift(by):
        nonlocal state
        state += by
        return state

    grow()
    a = shift(x)
    grow()
    return a * state + shift(y)


@case(1.3)
def nonlocal_in_a_loop(x):
    count, total = 0, 0.0

    def step(v):
        nonlocal count, total
        count += 1
        total = total * 0.5 + np.sin(v) * count

    for k in range(4):
        step(x * k)
    return total * count


@case(1.3)
def nonlocal_two_levels_up(x):
    total = x

    def outer(k):
        def inner(v):
            nonlocal total
            total = total * v + k

        inner(x)
        inner(k)

    outer(2.0)
    outer(x)
    return total


@case(1.3)
def default_keeps_the_old_value(x):
    w = x * x
    f = lambda t, w=w: w * t
    w = 10.0 * w
    return f(x) + f(x, w)


@case(1.3)
def default_is_an_expression(x):
    def f(t, scale=np.sin(x), shift=x * 2.0):
        return t * scale + shift

    x = x * 3.0
    return f(x) + f(x, shift=1.0)


@case(1.2)
def recursion_of_a_nested_function(x):
    def p(n):
        return 1.0 if n == 0 else x * p(n - 1)

    return p(5)


@case(0.9)
def curried_lambdas(x):
    c = lambda a: lambda b: lambda d: a * b * d * a
    return c(x)(x)(x) * c(2.0)(x)(3.0)


@case(1.3)
def lambda_called_where_it_stands(x):
    return (lambda a, b=2.0: a * b + x)(x * x) * (lambda: x)()


@case(1.3)
def lambda_with_a_conditional(x):
    relu = lambda t: t if t > 0.0 else 0.1 * t
    return relu(x) * relu(-x) + relu(x - 5.0)


@case(1.3, 0.7)
def nested_function_with_several_returns(x, y):
    def piecewise(t):
        if t < 0.0:
            return t * x
        if t < 1.0:
            return t * t * y
        return np.log(t)

    return piecewise(-y) + piecewise(y) * piecewise(x + 1.0)


@case(1.3)
def nested_function_with_a_loop_and_an_exit(x):
    def first_above(limit):
        v = x
        for _ in range(20):
            v = v * 1.3
            if v > limit:
                return v * v
        return 0.0

    return first_above(2.0) + first_above(4.0) * x


@case(1.3, 0.7)
def nested_function_with_two_results(x, y):
    def polar(a, b):
        r = np.sqrt(a * a + b * b)
        return r, np.arctan2(b, a)

    r, phi = polar(x, y)
    s, psi = polar(r, phi)
    return r * phi + s * psi


@case(1.3)
def function_passed_to_a_function(x):
    return apply_twice(lambda t: t * x + 1.0, x) + apply_twice(np.sin, x)


@case(1.3)
def function_made_by_a_function(x):
    double, grow = scaled_by(2.0), scaled_by(x)
    return double(x) * grow(x) + scaled_by(x * x)(3.0)


@case(0.7)
def composition_of_two(x):
    h = pair_composed(np.sin, lambda t: t * x)
    return h(x) + pair_composed(h, np.exp)(0.3 * x)


@case(1.3)
def newton_with_closures(a):
    return newton(lambda t: t * t - a, lambda t: 2.0 * t, 1.0)


@case(0.4, 1.7)
def integral_of_a_closure(a, b):
    return integrate(lambda t: np.exp(-a * t) * np.cos(b * t), 0.0, b)


@case(0.8, 0.3)
def runge_kutta_with_a_closure(k, y):
    def rhs(t, y):
        return -k * y + np.sin(t) * y * y

    for step in range(3):
        y = runge_kutta(rhs, y, 0.1 * step, 0.1)
    return y


@case(VECTOR, MATRIX, 0.4)
def layers_as_closures(x, w, b):
    def layer(h, scale=1.0):
        return np.tanh(scale * (w @ h) + b)

    return np.sum(layer(layer(x, scale=0.5)) * x)


@case(1.3)
def partial_of_a_lambda(x):
    f = functools.partial(lambda a, b, c: a * b + c, x, c=x * x)
    return f(2.0) * f(x) + f(b=x, c=1.0)


@case(1.3)
def partial_of_a_partial(x):
    def f(a, b, c, d):
        return a * b * b + c * d

    g = functools.partial(f, x)
    h = functools.partial(g, 2.0, d=x)
    return h(x) + h(c=3.0) + g(x, x, 1.0)


@case(1.3, 0.7)
def keyword_only_and_rest_of_a_nested_function(x, y):
    def weighted(*values, scale=1.0, **options):
        total = 0.0
        for v in values:
            total = total + v * v
        return total * scale + options.get("shift", 0.0)

    return weighted(x, y) * weighted(x, scale=y) + weighted(y, x, shift=x * y)


@case(1.3)
def partial_with_keywords_over_written(x):
    def k(a, *, b=1.0, **kw):
        return a * b * kw.get("c", 1.0)

    return functools.partial(k, b=2.0)(x, b=x, c=x)
