"""How calls meet parameters: defaults, keywords, `*` and `**` on both sides, partial functions, plain decorators."""

import functools

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6]])


def affine(t, scale=2.0, shift=0.0):
    return t * scale + shift


def sum_of_squares(*values, weight=1.0):
    total = 0.0
    for v in values:
        total = total + v * v
    return total * weight


def with_options(t, **options):
    return t * options["scale"] + options.get("shift", 0.0)


def hands_on(f, *args, **kwargs):
    return f(*args, **kwargs) * 2.0


def positional_only(a, b, /, c, *, d=1.0):
    return a * b + c * d


def doubled(f):
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


def keeping_its_name(f):
    @functools.wraps(f)
    def wrapper(t):
        return f(t) * t

    return wrapper


@doubled
def decorated_square(t):
    return t * t


@keeping_its_name
def decorated_sine(t):
    return np.sin(t)


def pair(t):
    return t, t * t


half = functools.partial(affine, scale=0.5)


@case(1.3, 0.7)
def starred_tuple(x, y):
    args = (x, y)
    return affine(*args) * affine(*args, 3.0)


@case(1.3, 0.7)
def starred_in_the_middle(x, y):
    rest = [y, x * y]
    return sum_of_squares(x, *rest, 2.0, weight=y)


@case(1.3, 0.7)
def keywords_from_a_dict(x, y):
    options = {"scale": y, "shift": x}
    return with_options(x, **options) * affine(y, **options)


@case(1.3, 0.7)
def keywords_and_a_dict_together(x, y):
    more = {"shift": x * y}
    return with_options(x, scale=2.0, **more) + affine(x, **more, scale=y)


@case(1.3, 0.7)
def positional_only_parameters(x, y):
    return positional_only(x, y, x) + positional_only(y, y, c=x, d=x)


@case(1.3, 0.7)
def partial_in_a_variable(x, y):
    f = functools.partial(affine, scale=x)
    g = functools.partial(f, shift=y)
    return f(y) * g(x) + g(2.0)


@case(1.3)
def decorated_with_wraps(x):
    return decorated_sine(x) * decorated_sine(2.0)


@case(1.3)
def recursion_with_an_accumulator(x):
    def p(n, acc=1.0):
        if n == 0:
            return acc
        return p(n - 1, acc * x + n)

    return p(4)


@case(1.3)
def recursion_over_a_tree(x):
    tree = (x, (x * x, None, None), (2.0, (x, None, None), None))

    def weight(t):
        if t is None:
            return 0.0
        v, left, right = t
        return v * v + weight(left) * x + weight(right)

    return weight(tree)


@case(VECTOR, MATRIX)
def starred_arrays(v, m):
    rows = (m[0], m[1])
    return sum_of_squares(*rows) @ v


@case(1.3)
def function_with_a_parameter_named_like_itself(x):
    def f(f):
        return f * f * x

    return f(x) + f(2.0)


@case(1.3)
def argument_is_bound_anew_in_the_callee(x):
    def f(v):
        v = v * 2.0
        v += x
        return v

    return f(x) * x + f(f(x))


@case(1.3)
def default_that_is_none(x):
    def f(v, scale=None):
        if scale is None:
            scale = v
        return v * scale

    return f(x) * f(x, 2.0) + f(2.0, scale=x)


@case(1.3)
def function_without_arguments(x):
    def value():
        return x * x

    def nothing():
        pass

    nothing()
    return value() * value() if nothing() is None else x


class Weighing:
    def __init__(self, first, *rest, by=2.0):
        self.first, self.rest = first * by, rest

    @classmethod
    def of(cls, *values):
        return cls(*values, by=0.5)

    def weighed(self, *values):
        return self.first * sum(values) + len(self.rest) * sum(self.rest)


class Reversed(Weighing):
    def __init__(self, *values):
        super().__init__(*values[::-1])


@case(VECTOR)
def array_behind_a_star_for_classes_and_methods(x):
    p, q, r = Weighing(*x), Weighing.of(*x[1:]), Reversed(*[v * v for v in x])
    return p.weighed(*x) * q.weighed(x[0], *x) + r.weighed(*(v for v in x if v > 0.0))


def sloped(a, b=2.0, c=3.0, act=None):
    return a * b - c if act is None else act(a * b - c)


def with_a_default(a, v, **options):
    options.setdefault("b", v)
    options["c"] = options["c"] * v
    return sloped(a, **options)


def with_another_function(a, **options):
    act = options.pop("act")
    options["act"] = np.sin
    return act(sloped(a, **options))


def filled_by_another(a, v, **options):
    fill(options, v)
    return sloped(a, **options)


def fill(options, v):
    options["b"] = v


@case(VECTOR)
def keywords_that_a_wrapper_changes(x):
    changed = with_a_default(x[0], x[1], c=x[2]) * filled_by_another(x[2], x[0], b=x[1])
    return changed + with_another_function(x[0], b=x[1], act=np.tanh)


@case(VECTOR)
def keywords_from_dicts_in_dicts(x):
    base = {"b": x[1], "c": x[2]}
    more = {**base, "act": np.tanh}
    base_again = {"c": x[0] * 2.0, **base}
    return sloped(x[0], **more) * sloped(x[1], **{**base, "b": x[0]}) + sloped(x[2], **base_again)


@case(VECTOR)
def partial_that_keeps_a_dict_as_it_was(x):
    options = {"b": x[1], "c": x[0]}
    first = functools.partial(sloped, **options)
    options["b"] = x[2]
    options.pop("c")
    second = functools.partial(sloped, c=x[1], **options)
    options["b"] = 0.0
    return first(x[0]) * second(x[2]) + first(x[1])
