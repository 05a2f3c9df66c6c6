"""`grad`, `jacobian` and their kin inside of a differentiated function: no level is confused with another."""

# ruff: noqa: E731

import numpy as np

from s2sgrad import elementwise_grad, grad, hessian, jacobian, jacrev, jvp, value_and_grad, value_and_jacobian

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[1.5, -0.2, 0.3], [-0.2, 1.2, 0.1], [0.3, 0.1, 0.9]])


def cube(x):
    return x * x * x


def energy(p, q=1.0):
    return 0.5 * p * p + np.cos(q * p)


slope_of_cube = grad(cube)


@case(1.0)
def outer_variable_is_no_inner_one(x):
    return x * grad(lambda y: x + y)(1.0)


@case(1.5)
def three_levels_of_gradients(x):
    def m(y):
        return y * grad(lambda z: x * y * z * z)(x)

    return x * grad(m)(x)


@case(1.1)
def same_name_inside_and_outside(x):
    return x * grad(lambda x: x * x * x)(x) / 3.0


@case(1.3)
def gradient_of_a_function_of_the_module(x):
    return grad(cube)(x) * x + slope_of_cube(x * x)


@case(1.3)
def gradient_of_a_gradient_inside(x):
    return grad(grad(cube))(x) * grad(cube)(x)


@case(1.3)
def third_derivative_inside(x):
    f = lambda t: np.sin(x * t) * t
    return grad(grad(grad(f)))(x) * x


@case(1.3, 0.7)
def inner_gradient_in_the_second_argument(x, y):
    f = lambda a, b: a * a * b * b * x
    return grad(f, 1)(x, y) + grad(f, argnums=0)(y, x)


@case(1.3, 0.7)
def inner_gradient_in_both_arguments(x, y):
    def f(a, b):
        return np.sin(a * b) * x

    a_bar, b_bar = grad(f, (0, 1))(x, y)
    return a_bar * b_bar + y


@case(1.3)
def value_and_gradient_inside(x):
    value, slope = value_and_grad(lambda t: np.exp(t * x) * t)(x)
    return value * slope


@case(0.7)
def descent_along_an_inner_gradient(rate):
    f = lambda p: (p - 2.0) ** 2 + 0.1 * p**4
    p = 0.5
    for _ in range(3):
        p = p - 0.1 * rate * grad(f)(p)
    return f(p)


@case(0.7)
def gradient_descent_on_a_loss_that_depends_on_the_argument(weight):
    p = 1.0
    for _ in range(3):
        p = p - 0.2 * grad(lambda t: weight * t * t + np.sin(t))(p)
    return p * p + weight


@case(VECTOR, MATRIX)
def gradient_of_a_quadratic_form_inside(v, a):
    q = lambda u: u @ a @ u
    g = grad(q)(v)
    return g @ g


@case(VECTOR)
def hessian_times_a_vector_inside(v):
    f = lambda u: np.sum(u**4) + u[0] * u[1] * u[2]
    h = grad(lambda u: np.sum(grad(f)(u) * v))(v)
    return np.sum(h)


@case(0.8, 0.3)
def leapfrog_with_a_gradient_as_force(p, q):
    for _ in range(2):
        p = p - 0.05 * grad(energy)(q)
        q = q + 0.1 * p
        p = p - 0.05 * grad(energy)(q, p)
    return p * q


@case(1.3)
def newton_step_by_two_gradients(a):
    f = lambda t: (t * t - a) ** 2 + t
    t = 0.9
    for _ in range(2):
        t = t - 0.1 * grad(f)(t) / (1.0 + grad(grad(f))(t) ** 2)
    return t


@case(1.3)
def gradient_of_a_function_with_a_loop(x):
    def f(t):
        for k in range(3):
            t = np.sin(t) * x + k
        return t

    return grad(f)(x) * x


@case(1.3)
def gradient_of_a_function_with_branches(x):
    def f(t):
        if t > 1.0:
            return t * t * x
        return x / t

    return grad(f)(x) * grad(f)(0.5)


@case(1.3)
def gradient_of_a_nested_function_that_calls_another(x):
    def g(t):
        return t * t * x

    def f(t):
        return g(t) * g(x) + t

    return grad(f)(2.0 * x)


@case(1.3)
def gradient_kept_in_a_variable(x):
    f = lambda t: t**3 * x
    df = grad(f)
    ddf = grad(df)
    return df(x) * ddf(2.0) + df(1.0)


@case(1.3)
def gradient_function_passed_on(x):
    def at_two(f):
        return f(2.0) * x

    return at_two(grad(lambda t: t * t * x)) + at_two(np.sin)


@case(1.3)
def gradient_at_a_point_rebound_between(x):
    w = x
    f = lambda t: w * t * t
    a = grad(f)(x)
    w = w * w
    return a * grad(f)(x)


@case(1.3, 0.7)
def penalty_on_the_input_gradient(w, x):
    model = lambda t: np.tanh(w * t) * w
    value, slope = value_and_grad(model)(x)
    return (value - 1.0) ** 2 + 0.1 * slope**2


@case(1.3)
def lagrangian_by_gradients(x):
    def lagrangian(q, v):
        return 0.5 * v * v * x - np.cos(q)

    q, v = x, 0.5
    force = grad(lagrangian, 0)(q, v)
    mass = grad(grad(lagrangian, 1), 1)(q, v)
    return force / mass


def solve(residual, guess):
    for _ in range(3):
        guess = guess - residual(guess) / grad(residual)(guess)
    return guess


@case(1.7)
def newton_by_a_function_of_functions(a):
    return solve(lambda t: t * t * t - a, 1.0)


def derivative_along(f, n):
    for _ in range(n):
        f = grad(f)
    return f


def tangent(f, a):
    return lambda t: f(a) + grad(f)(a) * (t - a)


@case(1.3)
def linearized_function(x):
    line = tangent(lambda t: np.exp(t) * x, x)
    return line(2.0) * line(x + 0.1)


@case(VECTOR)
def gradient_with_a_seed_inside(v):
    f = lambda u: u * u * v
    return np.sum(grad(f)(v, seed=np.array([1.0, 0.0, 2.0])) * v)


@case(1.3)
def gradient_with_a_seed_that_depends_on_the_argument(x):
    return grad(lambda t: t * t * x)(x, seed=x * x)


@case(1.3)
def gradient_of_a_recursive_function(x):
    def power(t, n):
        return x if n == 0 else t * power(t, n - 1)

    return grad(power)(x, 3)


def columns_of(f, x):
    columns = []
    for k in range(3):
        columns.append(jvp(f, (x,), (np.eye(3)[k],))[1])
    return np.stack(columns)


@case(VECTOR)
def columns_of_a_function_that_is_handed_over(v):
    return np.sum(columns_of(cube, v) * v)


@case(VECTOR, 0.7)
def matrices_of_functions_that_close_over_an_argument(v, w):
    def scaled(t):
        return t * t * v * w

    rows = jacobian(scaled)(v) @ v + jacrev(lambda t: np.outer(v, t) @ t)(w * v) @ v
    return rows @ hessian(lambda t: np.sum(t * t * t * v))(v) @ v


def product_of_powers(x, k):
    return x * x * k


def sum_of_cubes(x):
    return np.sum(x * x * x)


hessian_of_cubes = hessian(sum_of_cubes)


@case(VECTOR)
def matrices_in_two_arguments(v):
    first, second = jacobian(product_of_powers, (0, 1))(v, v * v)
    (_, cross), _ = hessian(lambda x, k: np.sum(x * x * k * v), (0, 1))(v, 2.0 * v)
    return v @ first @ second @ cross @ v


@case(VECTOR)
def a_matrix_that_was_made_before(v):
    y, of_product = value_and_jacobian(product_of_powers, "k")(v, k=2.0 * v)
    return np.sum(np.linalg.solve(hessian_of_cubes(v) + np.eye(3) * 9.0, y) + of_product @ v)


@case(VECTOR)
def derivatives_at_each_element(v):
    return v @ elementwise_grad(lambda t: np.sin(t) * v)(v * v)


def softplus_overwritten(x):
    t = np.log1p(np.exp(np.array([2.0, 1.5, -900.0]) * x))
    for i in range(3):
        if x[i] < 0.0:
            t[i] = x[0]
    return np.sum(x[::-1] * t)


@case(np.array([-0.4, 0.7, 0.805]))
def gradient_of_a_softplus_of_a_large_negative_value(x):
    return np.sum(grad(softplus_overwritten)(x))
