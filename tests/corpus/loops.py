"""`for` over `range`, nested loops, and what may happen to targets and bounds."""

# ruff: noqa: B007, B020

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])


@case(1.3, 0.7, 4)
def range_of_one(x, y, n):
    for i in range(n):
        x = np.sin(x) * y + i
    return x


@case(1.3, 0.7, 1, 5)
def range_of_two(x, y, start, stop):
    a = 0.0
    for i in range(start, stop):
        a = a * x + y / i
    return a


@case(1.3, 0.7)
def range_of_three(x, y):
    a = x
    for i in range(1, 8, 3):
        a = a * y + i * x
    return a


@case(1.3, 0.7, 5)
def range_with_a_negative_step(x, y, n):
    a = x
    for i in range(n, 0, -2):
        a = np.cos(a * y) + i
    return a * x


@case(1.3, 0.7, -1)
def range_with_a_step_from_outside(x, y, step):
    a = x
    for i in range(3 * step, -3 * step, -step):
        a = 0.5 * a * y + x * i
    return a


@case(1.3, 0.7, 0)
def range_that_is_empty(x, y, n):
    a = x * y
    for i in range(n):
        a = a * a
    for i in range(5, 2):
        a = a * x
    for i in range(2, 5, -1):
        a = a * y
    return a


@case(1.3, 0.7, 3)
def linear_loop(x, y, n):
    a = x
    for _ in range(n):
        a = 2.0 * a + y
    return a


@case(1.3, 0.7)
def sum_that_starts_at_an_integer(x, y):
    total = 0
    for i in range(4):
        total = total + x * i
        total += y
    return total * total


@case(1.3)
def product_that_starts_at_an_integer(x):
    product = 1
    for i in range(1, 4):
        product *= x + i
    return product


@case(1.3, 0.7)
def loop_variable_after_the_loop(x, y):
    a = x
    for i in range(4):
        a = a * y
    return a * i + i


@case(1.3, 0.7, 3)
def bound_changed_inside_the_loop(x, y, n):
    a = x
    for i in range(n):
        a = np.sin(a) + y
        n = n + 2
    return a * n


@case(1.3, 0.7)
def target_reassigned_in_the_body(x, y):
    a = x
    for i in range(4):
        i = i * i + 1
        a = a * y + i * x
    return a * i


@case(1.3, 0.7)
def target_that_was_the_accumulator(x, y):
    a = x
    i = 7
    for i in range(i - 4):
        a = a * y + i
    return a


@case(1.3, 0.7)
def nested_loops(x, y):
    a = x
    for i in range(3):
        for j in range(2):
            a = np.sin(a * y) + i * j * x
    return a


@case(1.3, 0.7)
def nested_loops_with_bounds_of_the_outer_one(x, y):
    a = x
    for i in range(4):
        for j in range(i, 3):
            a = 0.5 * a * y + j
        a = a + x * i
    return a


@case(1.3, 0.7)
def inner_accumulator_born_in_each_trip(x, y):
    a = x
    for i in range(3):
        b = 0.0
        for j in range(3):
            b = b * y + a * j
        a = np.tanh(b + i) * x
    return a


@case(1.3, 0.7)
def three_nested_loops(x, y):
    a = x
    for i in range(2):
        for j in range(2):
            for k in range(2):
                a = np.cos(a) * y + 0.1 * (i + 2 * j + 4 * k)
            a = a * x
    return a


@case(1.3, 0.7)
def branch_inside_a_loop(x, y):
    a = x
    for i in range(5):
        if i % 2 == 0:
            a = a * y
        elif a > 1.0:
            a = a - x
        else:
            a = a * a + x
    return a


@case(1.3, 0.7)
def variable_from_the_trip_before(x, y):
    last = x
    a = y
    for i in range(4):
        new = np.sin(a) + last * y
        last = a
        a = new
    return a * last


@case(1.3, 0.7)
def fibonacci_with_swap(x, y):
    a, b = x, y
    for i in range(5):
        a, b = b, 0.5 * (a + b) * a
    return a + b


@case(1.3, 0.7)
def body_that_defines_for_the_code_after(x, y):
    for i in range(3):
        b = x * y + i
        x = b * 0.5
    return b * x


@case(VECTOR, 0.7)
def array_accumulated_in_a_loop(v, x):
    a = np.zeros(3)
    for i in range(3):
        a += v * x**i
        a *= 0.5
    return np.sum(a * a)


@case(VECTOR)
def loop_by_index(v):
    a = 0.0
    for i in range(len(v)):
        a = a + v[i] * v[-1 - i]
    return a


@case(MATRIX)
def double_loop_by_shape(m):
    a = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            a = a + m[i, j] * m[i, j - 1] * (i + 1)
    return a
