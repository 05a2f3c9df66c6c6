"""Calls of the user's own functions: depth, keywords, defaults, several results, loops."""

# ruff: noqa: B007

import numpy as np
import scipy.special

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])
SCALE = 1.5
WEIGHTS = np.array([0.2, 0.5, -0.3])


def square(x):
    return x * x


def damped(x, y):
    a = np.sin(x * y)
    return a / (1.0 + a * a)


def level_1(x, y):
    return level_2(x * y, y) + x


def level_2(x, y):
    a = level_3(x + y)
    return a * y


def level_3(x):
    return np.sin(level_4(x, 2.0)) * x


def level_4(x, c):
    return c * x * x


def scaled(x, scale=2.0, shift=0.0):
    return x * scale + shift


def keyword_only(x, *, scale, power=2):
    return scale * x**power


def sum_of_all(first, *rest):
    total = first
    for e in rest:
        total = total * 0.5 + e * e
    return total


def sum_and_product(x, y):
    return x + y, x * y


def named_parts(x, y):
    return {"low": x * x, "high": x * y}


def powers_in_a_list(x):
    return [x, x * x, [x**3]]


def horner(coefficients, x):
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total


def until_small(x, y):
    while x > 0.5:
        x = x * y
        if x > 50.0:
            return y
    return x


def absolute(x):
    if x < 0.0:
        return -x
    return x


def constant():
    return 2.5


def ignores_its_second(x, y):
    return x * x


def announces(x):
    print("called")
    return x * x


def layer(x, w, b=0.0):
    return np.tanh(w @ x + b)


@case(1.3, 0.7)
def call_of_a_helper(x, y):
    return square(x) * y


@case(1.3, 0.7)
def calls_to_depth_four(x, y):
    return level_1(x, y) * x


@case(1.3, 0.7)
def call_inside_a_call(x, y):
    return square(damped(square(x), y)) + damped(y, square(y))


@case(1.3, 0.7)
def helper_called_several_times(x, y):
    a = square(x)
    b = square(y)
    a = square(a * b)
    return damped(a, b) + damped(b, a) + square(x)


@case(1.3, 0.7)
def helper_called_in_a_loop(x, y):
    for i in range(4):
        x = damped(x, y) + 0.1 * i
    return x * y


@case(1.3, 0.7)
def helper_called_in_a_condition(x, y):
    a = x
    if square(x) > y:
        a = a * y
    while square(a) > 0.2:
        a = 0.7 * a * square(y)
    return a


@case(1.3, 0.7)
def helper_called_in_one_arm(x, y):
    a = damped(x, y) if x > y else square(y)
    if y > 5.0:
        a = a + square(x)
    return a * x


@case(1.3, 0.7)
def helper_with_branches(x, y):
    return absolute(x) * absolute(-y) + absolute(x - y)


@case(np.array([0.2, -0.4, 1.2]), 0.7)
def helper_with_a_loop(c, x):
    return horner(c, x) * horner((x, 2.0, c[0]), x)


@case(2.3, 0.7)
def helper_with_a_while_loop(x, y):
    return until_small(x, y) + until_small(x * x, y)


@case(1.3, 0.7)
def keyword_calls(x, y):
    return damped(y=x, x=y) + scaled(x, shift=y) * scaled(shift=x, x=y, scale=x)


@case(1.3, 0.7)
def defaults(x, y):
    return scaled(x) * scaled(y, 3.0) + scaled(x, y, x)


@case(1.3)
def default_of_the_function_itself(x, y=0.7, n=3):
    for _ in range(n):
        x = np.sin(x) * y
    return x


@case(1.3, 0.7)
def keyword_only_parameters(x, y):
    return keyword_only(x, scale=y) + keyword_only(y, power=3, scale=x)


@case(1.3, 0.7)
def keyword_only_parameter_of_the_function_itself(x, y, *, scale=2.0):
    return x * y * scale


@case(1.3, 0.7, -0.4)
def star_parameter_of_a_helper(x, y, z):
    return sum_of_all(x, y, z) * sum_of_all(y) + sum_of_all(x, x * y)


@case(1.3, 0.7, -0.4)
def star_parameter_of_the_function_itself(x, *rest):
    a, b = rest
    return x * a + b * b * len(rest)



@case(1.3, 0.7)
def several_results(x, y):
    a, b = sum_and_product(x, y)
    c, d = sum_and_product(a, b)
    return c * d


@case(1.3, 0.7)
def several_results_as_one(x, y):
    pair = sum_and_product(x, y)
    return pair[0] * pair[1] + square(pair[1])


@case(1.3, 0.7)
def several_results_with_one_unused(x, y):
    a, _ = sum_and_product(x, y)
    _, b = sum_and_product(a, y)
    return a * b


@case(1.3, 0.7)
def several_results_in_a_loop(x, y):
    for i in range(3):
        x, y = sum_and_product(np.sin(x), 0.5 * y)
    return x * y


@case(1.3, 0.7)
def results_in_a_dict(x, y):
    parts = named_parts(x, y)
    return parts["low"] * parts["high"] + y


@case(1.3)
def results_in_nested_lists(x):
    a, b, c = powers_in_a_list(x)
    return a * b + c[0] * x


@case(1.3, 0.7)
def result_passed_on(x, y):
    return sum_and_product(x * y, y)


@case(1.3, 0.7)
def helper_that_returns_a_constant(x, y):
    return x * constant() + y


@case(1.3, 0.7)
def helper_that_ignores_an_argument(x, y):
    return ignores_its_second(x, y) * ignores_its_second(y, x)


@case(1.3, 0.7)
def helper_whose_result_is_not_used(x, y):
    damped(x, y)
    announces(x)
    return x * y


@case(VECTOR, MATRIX, 0.4)
def helper_of_arrays(x, w, b):
    hidden = layer(x, w, b)
    return layer(hidden, w.T) * square(x)


@case(1.3, VECTOR)
def helper_with_numbers_and_with_arrays(x, v):
    return square(x) * np.sum(square(v)) + np.sum(damped(v, x)) * damped(x, x)


@case(1.3, VECTOR)
def global_constants(x, v):
    return x * SCALE + np.sum(v * WEIGHTS) * SCALE


@case(0.3, 0.7)
def helper_called_with_one_variable_twice(x, y):
    a = damped(x, x)
    return damped(a, a) * y


@case(np.array([0.7, 1.3, 0.4, 0.9]))
def stars_that_fill_what_a_library_requires(x):
    between = x[:2] - x[2:]
    bounds = sorted(x[:2])
    angle = np.arctan2(*map(np.sin, x[1:3]))
    return np.hypot(*between) + np.sum(np.clip(x, *bounds)) * angle + np.sum(x.reshape(*(2, 2))[0])


@case(1.5, {0: 3.0, 1: 4.0}, argnums=(0,))
def star_before_a_dict_gives_its_keys(x, table):
    return x * np.hypot(*table) + difference(*table) * x**2


def difference(a, b):
    return 10.0 * a - b


def gain_and_more(a):
    return a * 2.0, scipy.special.spence(a * a), np.sum(a)


def gains(a):
    return gain_and_more(a)


@case(np.array([0.3, 0.7, 1.1]))
def results_that_nobody_reads(x):
    k, _, s = gain_and_more(x)
    total = np.sum(k * k) * s
    for i in range(2):
        first, _, _ = gains(x * (i + 1))
        total = total + np.sum(first**3) + gain_and_more(x)[0][i]
    q = (x, scipy.special.spence(x), total)
    r = q
    return r[0] @ r[-1] if total is None else np.sum(r[0]) * r[-1]


def decayed(z, b, c):
    return b * (damped(-c * -z, z) * (-c * 1.0)) / c


@case(np.array([0.3, 0.7]), 1.6, 1.2)
def number_with_a_sign_read_in_another_number(z, b, c):
    return np.sum(decayed(z, b, c))


@case(MATRIX, VECTOR, 1)
def lengths_of_two_functions_are_different_lengths(m, v, i):
    part = m[:, i : i + 1]
    powers = powers_up_to(v[0], 3)
    total = 0.0
    for k in range(2):
        total = total + np.sum((part[k] - 1.0) * powers) ** 2
    return total


def powers_up_to(x, n):
    out = np.ones(1)
    for k in range(n):
        out = np.concatenate((out, out[-1:] * x))
    return out
