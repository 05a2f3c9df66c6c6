"""`try` with `except`."""

from __future__ import annotations

import math

import numpy as np

from .case import case

MATRIX = np.array([[2.0, 0.3], [0.3, 1.0]])
VECTOR = np.array([1.0, 2.0])


def solved(matrix, y):
    try:
        lower = np.linalg.cholesky(matrix)
        return np.sum(np.linalg.solve(lower, y) ** 2)
    except np.linalg.LinAlgError:
        return np.sum(y**3)


@case(MATRIX, VECTOR, argnums=(1,))
def factor_that_exists(matrix, y):
    return solved(matrix, y)


@case(-MATRIX, VECTOR, argnums=(1,))
def factor_that_does_not_exist(matrix, y):
    return solved(matrix, y)


@case(0.6)
def logarithm_of_a_negative_number(x):
    try:
        y = math.log(x - 1.0)
    except ValueError:
        y = x * 3.0
    return y * x


@case(0.65)
def attempts_in_a_loop_with_else(x):
    total = 0.0
    for k in range(4):
        try:
            y = math.sqrt(x - 0.2 * k)
        except (ValueError, ZeroDivisionError) as error:  # noqa: F841
            y = x * k
        else:
            total += x
        total = total + y
    return total


def square_of_a_small_number(v):
    if v > 1.0:
        raise ValueError("large")
    return v * v


@case(0.6)
def helper_that_raises(x):
    try:
        a = square_of_a_small_number(x)
        b = square_of_a_small_number(3.0 * a)
    except KeyError:
        return x
    except ValueError:
        return x * 5.0
    return a * b


@case(0.6)
def helper_that_does_not_raise(x):
    try:
        a = square_of_a_small_number(x)
        b = square_of_a_small_number(2.0 * a)
    except ValueError:
        return x * 5.0
    return a * b


@case(0.6)
def attempt_in_a_nested_function(x):
    def logarithm(t):
        try:
            return math.log(t)
        except Exception:
            return t * t * x

    return logarithm(x) + logarithm(x - 1.0)


@case(0.6)
def key_that_is_missing(x):
    try:
        return {"a": x}["b"]
    except KeyError:
        return x * x


@case(0.6)
def finally_behind_an_exception(x):
    y = x
    try:
        y = math.log(x - 1.0)
    except ValueError:
        y += 2.0 * x
    finally:
        print("done")
    return y * x


@case(0.6)
def names_of_a_body_that_succeeds(x):
    try:
        a = x * x
        b = math.log(a)
    except ValueError:
        return x * 3.0
    return a * b
