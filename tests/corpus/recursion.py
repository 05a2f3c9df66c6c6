"""Functions that call themselves and each other."""

import operator

import numpy as np

from s2sgrad import grad

from .case import case


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def power_by_squaring(x, n):
    if n == 0:
        return 1.0
    half = power_by_squaring(x, n // 2)
    if n % 2 == 1:
        return half * half * x
    return half * half


def fibonacci_like(x, n):
    if n < 2:
        return x * (n + 1)
    return 0.5 * fibonacci_like(x, n - 1) + np.sin(fibonacci_like(x, n - 2)) * x


def even_part(x, n):
    if n == 0:
        return x
    return np.sin(odd_part(x, n - 1)) + x


def odd_part(x, n):
    if n == 0:
        return 1.0
    return x * even_part(x, n - 1)


def midpoint_value(x, low, high, depth):
    middle = 0.5 * (low + high)
    if depth == 0:
        return np.cos(x * middle)
    left = midpoint_value(x, low, middle, depth - 1)
    return left * x + midpoint_value(x, middle, high, depth - 1)


@case(1.3, 0.7)
def recursion(x, y):
    return power(x, 4) * y + power(y, 0)


@case(1.3)
def recursion_by_squaring(x):
    return power_by_squaring(x, 11)


@case(0.8)
def recursion_with_two_calls(x):
    return fibonacci_like(x, 5)


@case(0.8)
def mutual_recursion(x):
    return even_part(x, 4) + odd_part(x, 3)


@case(0.8, -1.0, 1.0, 3)
def recursion_over_an_interval(x, low, high, depth):
    return midpoint_value(x, low, high, depth)


@case(0.8, 3)
def recursion_of_itself(x, n):
    if n == 0:
        return x
    return np.sin(recursion_of_itself(x * 1.1, n - 1)) + x


def sum_of_squares(t):
    if isinstance(t, dict):
        total = 0.0
        for k in t:
            total = total + sum_of_squares(t[k]) ** 2
        return total
    if isinstance(t, list):
        total = 1.0
        for part in t:
            total = total * sum_of_squares(part)
        return total
    return t * t


@case(0.7, -1.2)
def dicts_and_lists_walked_by_one_function(x, y):
    return sum_of_squares([x, {"k": [y, x * y], 0: {"a": y}}])


def weighted_by_keys(t):
    if isinstance(t, dict):
        total = 0.0
        for k in t:
            total = total + k * weighted_by_keys(t[k])
        return total
    return t * t * t


@case(0.7, -1.2, second="recorded")
def keys_that_are_numbers_walked_by_one_function(x, y):
    return weighted_by_keys({2: x, 3.5: {1: y, 4: x * y}})


def adaptive(g, a, b, tolerance, depth=0):
    m = (a + b) / 2
    whole = (b - a) / 6 * (g(a) + 4 * g(m) + g(b))
    halves = (b - a) / 12 * (g(a) + 4 * g((a + m) / 2) + 2 * g(m) + 4 * g((m + b) / 2) + g(b))
    if abs(halves - whole) < tolerance or depth > 5:
        return halves
    return adaptive(g, a, m, tolerance / 2, depth + 1) + adaptive(g, m, b, tolerance / 2, depth=depth + 1)


@case(1.3, 0.4)
def integral_of_a_function_by_recursion(rate, phase):
    return adaptive(lambda t: np.exp(-rate * t) * np.sin(t + phase), 0.1, 2.0, 1e-3)


def folded(combine, items, total=0.0, *, scale=1.0):
    return total if len(items) == 0 else folded(combine, items[1:], combine(total, items[0]) * scale, scale=scale)


def applied(outer, inner, n, v):
    return v if n == 0 else applied(outer, inner, n - 1, outer(inner(v)))


@case(np.array([0.7, 1.1, 0.4]))
def functions_passed_on_by_recursion(x):
    w = x[1]

    def combine(a, b):
        return a * w + b

    y = folded(combine, x)
    w = w * w
    return y + folded(combine, x, scale=2.0) + applied(lambda t: t * x[0], np.cos, 3, x[2])


def squares_of(items):
    return sum(item * item for item in items)


def squared_at_each_level(t):
    return squares_of([squared_at_each_level(e) for e in t]) if isinstance(t, list) else t


def of_nested_items(a):
    return squared_at_each_level([a[0], [a[1], a[0] * a[1]]])


@case(np.array([0.4, 0.7]), second=False)
def gradient_of_a_recursion_that_passes_its_list_on(x):
    return np.sum(grad(of_nested_items)(x) * x)


def handed_on(called, *args, **keywords):
    return called(*args, **keywords)


def handed(called, *args):
    return called(*args)


def power_by_a_helper(x, n):
    return 1.0 if n == 0 else x * handed_on(power_by_a_helper, x, n=n - 1)


def sine_by_helpers(x, n):
    return handed(operator.mul, x, handed(np.sin, x)) if n == 0 else x + handed(sine_by_helpers, x, n - 1)


@case(1.3)
def recursion_by_helpers_that_hand_on_their_arguments(x):
    return power_by_a_helper(x, 4) + sine_by_helpers(x, 2)


def product_with_rest(x, n):
    return x * rest_of_product(x, n)


def rest_of_product(x, n):
    return 1.0 if n == 0 else product_with_rest(x, n - 1)


@case(np.array([0.7, 1.3, 0.4]))
def recursion_by_two_functions_that_ends_with_a_number(x):
    return np.sum(product_with_rest(x, 3) ** 2) + np.sum(rest_of_product(x, 2) * x)
