"""Numbers: operators, `math`, results of every structure, arguments that do not matter."""

import math
from math import cos, pi

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])


@case(1.3, 0.7)
def all_operators(x, y):
    return x + y - x * y / (x + 2.0) + x**y - (-x) ** 2 + (+y)


@case(1.3, 0.7)
def floor_and_remainder(x, y):
    return x % y * x + x // y * y + np.mod(x, 0.4)


@case(1.3, 0.7)
def powers(x, y):
    return x**3 + x**-2 + x**0.5 + 2.0**x + y**0 + y**1 + x**y


@case(0.0)
def square_at_zero(x):
    return x**2 + 3.0 * x


@case(1.3, 0.7)
def math_functions(x, y):
    return math.sin(x) * math.exp(y) + math.log(x) / math.sqrt(y) + math.tanh(x * y) + math.pi * cos(x) * pi


@case(0.3, 0.7)
def more_math_functions(x, y):
    return math.atan2(x, y) + math.hypot(x, y) + math.pow(y, x) + math.log1p(x) + math.asin(x) + math.fabs(x - y)


@case(1.3, 2.7)
def rounding_of_math(x, y):
    return x * math.floor(y) + y * math.ceil(x) + x * math.trunc(y)


@case(1.3, 0.7)
def tuple_result(x, y):
    return x * y, np.sin(x), 3.0


@case(1.3, 0.7)
def list_result(x, y):
    return [x * y, x + y, x]


@case(1.3, 0.7)
def dict_result(x, y):
    total = x * y
    return {"total": total, "twice": 2.0 * total, "x": x}


@case(1.3, VECTOR)
def nested_result(x, v):
    return {"a": (x * v, [x, v[0] * v[1]]), "b": np.sum(v * v)}


@case(1.3, 0.7)
def result_with_one_value_twice(x, y):
    a = x * y
    return a, a, a * x


@case(VECTOR)
def result_is_the_argument(v):
    return v


@case(VECTOR, 0.7)
def result_beside_its_own_part(v, x):
    w = v * x
    return w, w[0], w[1:]


@case(1.3, 0.7)
def argument_that_does_not_reach_the_result(x, y):
    a = y * y
    a = x * x
    return a


@case(1.3, VECTOR)
def arguments_that_reach_nothing(x, v):
    unused = x * v
    return 2.0 * len(unused)


@case(1.3)
def constant_result(x):
    return 4.0


@case(1.3, VECTOR)
def argument_used_only_in_a_condition(x, v):
    a = v * 2.0
    if x > 0.0:
        a = a * v
    return a


@case(1.3, 0.7)
def argument_used_only_through_flat_functions(x, y):
    return np.floor(x) * y + np.sign(x) * y + np.round(x) + (x > 1.0) * y


@case(1.3, 0.7, argnums=(1,))
def gradient_in_the_second_argument(x, y):
    return x * y * y


@case(1.3, 0.7, -0.4, argnums=(2, 0))
def gradient_in_swapped_arguments(x, y, z):
    return x * y * z + z * z


@case(1.3, 3)
def integer_argument_beside_a_float(x, n):
    return x**n + n * x + x / n


@case(1.3, 0.7)
def deep_expression(x, y):
    return ((x + y) * (x - y) + (x * y + (x / y - (y - x) * (x + (y * (x + y)))))) * (x + y * (x + y * (x + y)))


@case(1.3, 0.7)
def repeated_subexpression(x, y):
    return np.sin(x * y) * np.sin(x * y) + np.exp(np.sin(x * y))


@case(np.float64(1.3), np.float64(0.7))
def numpy_numbers(x, y):
    return x * y + np.sin(x)


@case(1.3, 0.7)
def number_of_many_digits(x, y):
    return 1.2345678901234567e-05 * x + 1e2 * y + 0.1 * x * 3 - 1_000 * x


@case(1.3, 0.7)
def cancelling_terms(x, y):
    a = x - x
    b = y * 0.0 + x * 1.0
    return a * y + b + 0 * x


@case(np.array([1.5, 2.5]), "uint8")
def bytes_of_a_type_known_at_run_time_wrap(x, kind):
    n = np.array([200, 100]).astype(kind)
    with np.errstate(over="ignore"):
        return np.sum(x * (n + n)) + np.sum(x**2 * -n)


BYTES = np.array([200, 100], np.uint8)


@case(np.array([1.5, 2.5]))
def bytes_of_the_module_wrap(x):
    with np.errstate(over="ignore"):
        return np.sum(x**2 * (BYTES + BYTES)) + np.sum(x * -BYTES) * np.sum(x)


KINDS = ["uint8", "int8"]


@case(np.array([0.3, 0.5, 0.9, 1.1]))
def negative_of_unsigned_integers_beside_a_store(x):
    n = np.array([120, 3, 1, 200]).astype(KINDS[0])
    n += n
    y = x * 2.0
    y[n % 4] = x * -n
    return np.sum(y * x)
