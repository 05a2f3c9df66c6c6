"""Names of the user's that a generator of code might have wanted for itself."""

# ruff: noqa: B007

import math

import numpy as np
import numpy as np_
import numpy as seed

from s2sgrad import grad

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


# --- names of Python's own, and of what the text needs -----------------------------------------------------------------


def min(x):
    return x * 0.5


def sorted(items):
    items["b"] = 2.0 * items["a"]
    return items["a"]


def zeros(x):
    return np_.tanh(x) * 3.0


@case(VECTOR)
def local_called_reversed(x):
    reversed = x * 2.0
    total = 0.0
    for k in range(3):
        total += reversed[k] ** 3
    return total


@case(1.3)
def gradient_of_one_with_a_local_called_reversed(x):
    def inner(t):
        reversed = t * 2.0
        range, len = 0.0, reversed
        for k in (1.0, 2.0, 3.0):
            range += reversed**3 * k * len
        return range

    return grad(inner)(x) * x


@case(VECTOR, 0.7)
def function_called_min(x, y):
    parts = np_.hstack((x * y, x))
    return parts[1] * min(y) + parts[4]


@case(1.3)
def dict_changed_by_a_function_called_sorted(x):
    items = {"a": x, "b": x * x}
    pairs = [v * x for v in items.values()]
    first = sorted(items)
    return sum(v * first for v in items.values()) + pairs[1]


@case(VECTOR)
def function_called_zeros_beside_ours(x):
    unused = x * 2.0
    for k in range(3):
        x[k] = zeros(x)[k] * 2.0
    return x * x + 0.0 * unused[0]


@case(1.3, 0.7)
def nested_function_called_like_a_global(x, y):
    total = x

    def outer(copy):
        def VECTOR(take):
            nonlocal total
            total = total * take + copy

        VECTOR(x)
        VECTOR(y)

    outer(2.0)
    outer(y)
    return total


@case(1.3)
def parameters_of_lambdas_called_like_builtins(x):
    shifted = lambda len: len * x + 1.0  # noqa: E731
    scaled = lambda sum, range: sum * range  # noqa: E731
    return scaled(shifted(x), float(len([x, x])))


@case(VECTOR)
def item_called_range_in_a_comprehension(x):
    squares = [range * range for range in x]
    total = 0.0
    for k in range(len(squares)):
        total += squares[k] * x[k]
    return total


class Sum:
    def __init__(self, seed):
        self.seed = seed

    def sum(self, sum):
        return sum * self.seed

    def len(self, x):
        return len([x, self.sum(x)]) * x

    def grad(self, x):
        return grad(self.sum)(x) * self.len(x)


@case(1.3)
def methods_called_like_what_they_use(x):
    held = Sum(x)
    return held.len(x) * held.sum(2.0) + held.grad(x * x)


@case(1.3)
def module_called_seed(x):
    return seeded(x) * seed.cos(x)


def seeded(x):
    return seed.sin(x) * x


@case(1.3)
def result(x):
    """One that calls itself by the name that we would have for what it returns."""
    if x > 10.0:
        return np_.sin(x)
    doubled = result(2.0 * x)
    return doubled * x
