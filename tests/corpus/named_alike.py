"""Helpers whose functions, methods and containers look as if they made new memory; library objects that do make it."""

import copy
import functools
import operator
import types

import numpy as np

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4])
OTHER = np.array([1.1, 0.6, -0.8])
WEIGHTS = np.array([1.0, -0.5, 2.0])


def array(v):
    return v


def mean(v):
    return v


class Hostile:
    def array(self, v):
        return v

    def dot(self, v):
        v[0] = 9.0
        return 1.0


OBJECT = Hostile()


def zapped(y, k):
    z = array(y)
    z[0] = k
    return 1


@case(VECTOR)
def written_through_a_function_named_array(x):
    a = x * 2.0
    n = zapped(a, 5.0)
    return n * np.sum(a * a * a)


def through_mean(y):
    z = mean(y)
    z[0] = 5.0


@case(VECTOR)
def written_through_a_function_named_mean(x):
    a = x * 2.0
    through_mean(a)
    return np.sum(a * a)


def through_a_method(y):
    z = OBJECT.array(y)
    z[0] = 5.0


@case(VECTOR)
def written_through_a_method_named_array(x):
    a = x * 2.0
    through_a_method(a)
    return np.sum(a * a)


def dotted(y):
    return OBJECT.dot(y)


@case(VECTOR)
def written_by_a_method_named_dot(x):
    a = x * 2.0
    n = dotted(a)
    return n * np.sum(a * a * x)


SPACE = types.SimpleNamespace(dot=lambda v, k: v * k)


@case(VECTOR, 1.3)
def function_of_a_namespace_named_dot(x, k):
    return np.sum(SPACE.dot(x, k) * x)


def set_by_a_method(y, k):
    y.__setitem__(0, k)
    np.ndarray.fill(y[1:], 0.5)


@case(VECTOR)
def written_by_special_methods(x):
    a = x * 2.0
    set_by_a_method(a, 4.0)
    return np.sum(a * a * x)


def set_by_operators(y, k):
    operator.setitem(y, 0, k)
    np.clip(y, -0.5, 1.2, y)
    np.cumsum(y, 0, None, y)


@case(VECTOR, 0.4)
def written_by_position(x, k):
    a = x * 2.0
    set_by_operators(a, k)
    return np.sum(a * a * x)


def clipped_in_place(y):
    y.clip(-0.5, 1.2, y)
    y.cumsum(0, None, y)


@case(VECTOR)
def written_by_methods_by_position(x):
    a = x * 2.0
    clipped_in_place(a)
    return np.sum(a * a * x)


def filled_later(y):
    functools.partial(put, y)()


def put(v):
    v[0] = 4.0


@case(VECTOR)
def written_by_a_partial_that_is_called(x):
    a = x * 2.0
    filled_later(a)
    return np.sum(a * a * x)


class Box:
    def __init__(self, a):
        self.a = a

    def write(self):
        self.a[0] = 3.0


def boxed(y):
    box = Box(y)
    box.write()


@case(VECTOR)
def written_in_an_object_of_a_helper(x):
    a = x * 2.0
    boxed(a)
    return np.sum(a * a * x)


# --- shells that are new, of arrays that are not: only read, or written at their own level ---


def first_of_a_copy(parts):
    rows = list(parts)
    rows[0] = rows[0] * 2.0
    return rows


@case(VECTOR, OTHER)
def item_of_a_new_list_bound_anew(x, y):
    a, b = x * 2.0, y * x
    rows = first_of_a_copy([a, b])
    return np.sum(rows[0] * rows[1] * a * b)


def collected(y):
    table = {"a": y, "b": y * 2.0}
    rows = list(table.values())
    last = rows.pop()
    return last * sum(rows)


@case(VECTOR)
def containers_that_are_only_read(x):
    a = x * x
    total = collected(a)
    return np.sum(total * a)


def worked_on(y):
    first, second = np.zeros(3), y.copy()
    first[:2] += 1.0
    second[0] = 4.0
    rows = [first, second, copy.deepcopy(y)]
    return rows[0] * rows[1] * rows[2] * y


@case(VECTOR)
def new_arrays_written_and_put_in_a_list(x):
    a = x * 2.0
    return np.sum(worked_on(a) * a)


# --- what is new for all that is known of the object that made it ---


@case(VECTOR)
def draws_written_in_place(x):
    rng = np.random.default_rng(0)
    w = rng.random(3)
    w[0] = 2.0
    e = rng.random(3)
    w *= x
    return np.sum(w * e * x)


def noisy(rng, x):
    noise = rng.normal(size=3)
    noise[1] = 0.0
    noise *= x
    return noise


@case(VECTOR)
def draws_of_a_generator_that_a_helper_is_given(x):
    rng = np.random.default_rng(3)
    a = noisy(rng, x) + noisy(rng, x * x)
    a += rng.random(3)
    return np.sum(a * x)


@case(VECTOR)
def number_out_of_a_list(x):
    y = [x[0], x[1]]
    s = y[0]
    s += 1.0
    y[0] = 3.0 * s
    return y[0] * y[1] * s


@case(VECTOR)
def array_out_of_a_list_bound_anew(x):
    y = [x * 2.0, x * 3.0]
    s = y[0]
    s = s * 2.0
    y[0] = s * x
    return np.sum(y[0] * y[1] * s)


def product(a, b):
    return np.sum(a * b)


@case(VECTOR)
def array_passed_twice_and_written_later(x):
    a = x * 2.0
    total = product(a, a)
    a[0] = 3.0
    return total * product(x, x) + product(a, x)


# --- methods with names of those of dicts ---


class Recipe:
    """No dict: what it says of a key is its own."""

    def get(self, key, default=0.0):
        return 3.0 if key == "a" else default

    def items(self):
        return [("a", 2.0), ("b", 5.0)]

    def __contains__(self, key):
        return True

    def __getitem__(self, key):
        return 7.0


class Doubling(dict):
    """A dict that says something else of itself."""

    def get(self, key, default=None):
        return 2.0 * self[key]

    def values(self):
        return [10.0, 20.0]

    def keys(self):
        return ["a", "a", "a"]


RECIPE, DOUBLING = Recipe(), Doubling(a=1.5)


@case(1.3)
def get_of_objects_with_a_method_of_this_name(x):
    return x * RECIPE.get("a") + x * x * DOUBLING.get("a")


@case(1.3)
def views_of_objects_with_methods_of_these_names(x):
    for _, v in RECIPE.items():
        x = x * v
    return x * sum(DOUBLING.values()) * len([k for k in DOUBLING.keys()])  # noqa: C416, SIM118
