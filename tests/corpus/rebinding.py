"""One name for values of different types and shapes, and names that exist on some paths only."""

# ruff: noqa: B007, F821, F841

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])


@case(MATRIX)
def matrix_then_vector_then_number(x):
    x = np.sin(x)
    x = x.sum(axis=0)
    x = x @ x
    return x * x


@case(0.7, VECTOR)
def number_then_array(x, v):
    a = x * x
    b = a * 2.0
    a = a * v
    a = a + b
    return a


@case(VECTOR, 3)
def integer_then_array(v, n):
    a = n + 1
    b = a * v[0]
    a = v * a
    return np.sum(a * a) * b


@case(VECTOR)
def array_then_integer(v):
    a = v * v
    b = np.sum(a)
    a = len(a)
    return a * b


@case(0.7)
def integer_that_becomes_a_float_in_a_loop(x):
    a = 1
    for i in range(3):
        a = a * x + i
    return a


@case(VECTOR, 0.7)
def number_that_becomes_an_array_in_a_loop(v, x):
    a = x
    for i in range(3):
        a = np.sin(a) * v + i
    return a


@case(VECTOR, 0.7)
def number_that_becomes_an_array_in_a_branch(v, x):
    a = x
    if x > 0.0:
        a = v * x
    b = a * a
    return np.sum(b) + np.sum(a)


@case(MATRIX)
def shape_that_changes_in_each_trip(m):
    a = m
    for i in range(2):
        a = np.sum(np.sin(a), axis=0)
    return a * a


@case(VECTOR)
def shrinking_array(v):
    total = 0.0
    while len(v) > 1:
        v = v[1:] * v[:-1]
        total = total + np.sum(v)
    return total * v[0]


@case(0.7, VECTOR)
def growing_array(x, v):
    for i in range(3):
        v = np.concatenate([v, np.array([x * v[i]])])
    return v * v


@case(0.7, 1.3)
def tuple_then_number(x, y):
    a = (x, y * x)
    b = a[0] * a[1]
    a = b * b
    return a + x


@case(0.7, 1.3)
def defined_in_both_arms(x, y):
    if x > y:
        a = x
        b = y * y
    else:
        b = x
        a = y * x
    return a * b + b


@case(0.7, VECTOR)
def defined_in_both_arms_with_different_kinds(x, v):
    if x > 1.0:
        a = x
    else:
        a = v * x
    return a * 2.0 + v


@case(0.7, 1.3, 2)
def defined_in_one_arm_and_used_in_one_arm(x, y, n):
    if n > 1:
        extra = x * y
    a = x
    for i in range(3):
        a = a * y
    if n > 1:
        a = a + extra * extra
    return a


@case(0.7, 1.3)
def defined_in_the_first_trip_only(x, y):
    a = x
    for i in range(4):
        if i == 0:
            first = a * y
        else:
            a = np.sin(a) + first
    return a * first


@case(0.7, 1.3)
def defined_in_a_trip_and_used_in_the_next(x, y):
    a = x
    for i in range(4):
        if i > 0:
            a = a + before * y
        before = a * 0.5 * x
    return a


@case(0.7, 1.3)
def argument_rebound(x, y):
    x = x * y
    y = np.sin(y)
    for _ in range(2):
        y = y * x
    return x + y


@case(0.7, 1.3)
def argument_rebound_to_a_constant(x, y):
    a = x * y
    x = 2.0
    y = 3
    return a * x * y


@case(0.7, 1.3)
def copies_of_a_changing_variable(x, y):
    a = x
    for i in range(3):
        b = a
        a = a * y + 0.3 * b * b
        c = b
    return a * b * c


@case(VECTOR, 0.7)
def array_rebound_to_its_view(v, x):
    a = v * x
    a = a[::-1]
    b = a[1:]
    a = a[:2] * b
    return a * b


@case(0.7, 1.3)
def string_then_number(x, y):
    a = "label"
    b = len(a) * x
    a = b * y
    return a
