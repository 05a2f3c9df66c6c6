"""Names of the user's that a generator of code might have wanted for itself."""

# ruff: noqa: B007

import math

import numpy as np
import numpy as np_

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
push = 2.0
x_stack_ = 3.0


def pop(x):
    return x * x


def t2(x_bar, seed):
    return x_bar * seed


@case(1.3, 0.7)
def called_seed(seed, x):
    return seed * x * x


@case(1.3, 0.7)
def called_bar(x, x_bar):
    x_bar_ = x * x_bar
    y_bar = x_bar_ * x
    return y_bar * x_bar


@case(1.3, 0.7)
def called_stack(x, x_stack):
    for i in range(3):
        x = np.sin(x) * x_stack + x_stack_
    return x


@case(1.3, 0.7)
def called_temporaries(t1, t):
    t0 = t1 * t
    t2_ = np.sin(t0 * t1) * np.cos(t0 + t)
    return t2_ + t2(t0, t1)


@case(1.3, 0.7)
def called_pop_and_push(x, y):
    a = pop(x) * push
    append = a * y
    for i in range(3):
        append = np.sin(append) * pop(y)
    return append


@case(1.3, 0.7)
def called_result(result, value):
    result = result * value
    saved = result * result
    return saved + result


@case(1.3, 0.7)
def called_np(x, np_):
    return np.sin(x) * np_


@case(1.3, 0.7)
def numpy_shadowed_by_a_local(x, y):
    a = np_.sin(x) * y
    zeros = a * y
    return zeros * a


@case(1.3, 0.7)
def called_trips(x, trips):
    i = 0
    while x < 20.0:
        x = x + trips * x
        i += 1
    trips_stack = x * i
    return trips_stack


@case(1.3, 0.7)
def called_done(x, y):
    done = x * y
    returned = done
    for i in range(5):
        broke = done * y
        if broke < 0.2:
            break
        done = broke
    else:
        returned = y
    return returned * done


@case(1.3, 0.7)
def called_like_builtins(sum, len):
    max = sum * len
    range_ = max * sum
    return range_


@case(1.3, 0.7)
def called_with_underscores(_x, __y):
    _ = _x * __y
    __ = _ * _x
    return __


@case(1.3, 0.7)
def called_like_gradient_variables(g, grad):
    w_bar = g * grad
    x_dot = w_bar * g
    unbroadcast = x_dot * grad
    return unbroadcast


@case(1.3, 0.7)
def letters_outside_ascii(α, β):
    Δ = α * β
    return Δ * α + math.sin(Δ)


@case(1.3, 0.7)
def capital_and_lower_case(X, x):
    Y = X * x
    y = Y * X
    return Y * y


@case(VECTOR)
def one_name_for_everything(x):
    x = x * x
    x = x.sum()
    for _ in range(2):
        x = x * 0.5 + math.sin(x)
    x = (x, x * x)
    x = x[0] * x[1]
    return x
