"""An argument that is written, and that something else among the arguments refers to: no number is given, for a gradient
writes a copy, which the other does not see.  Of a copy of the argument there is a number."""

import functools
import itertools

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import S2SGradError, grad, hessian, hvp, jvp
from s2sgrad.recorded import derivatives
from s2sgrad.runtime.checks import Refusal

X, E = np.array([0.7, 1.3]), np.array([1.0, 0.0])
LIST, FLOATS, INTEGERS = [9.0], np.array([9.0, 1.0]), np.array([9, 1])


class Holder:
    def __init__(self, held):
        self.held = held

    def scaled(self, v):
        return v * self.held[0]

    def __call__(self, v):
        return v * self.held[0]


class Runner:
    def __init__(self, run):
        self.run, self.factor = run, 2.0

    def applied(self, v):
        return self.run(v) * self.factor


class OfClass:
    floats = FLOATS

    def applied(self, v):
        return v * self.floats[0]


class ByName:
    def applied(self, v):
        return v * FLOATS[0]


def by_name(v):
    return v * FLOATS[0]


def closure(held):
    def scaled(v):
        return v * held[0]

    return scaled


def around(g):
    return lambda v: g(v)


def first_of(held, v, power=1):
    return v**power * held[0]


def first_of_first(held, v):
    return v * held[0][0]


def applied(g, v):
    return g(v)


def with_default(held):
    return lambda v, held=held: v * held[0]


REFERENCES = {
    "by name": lambda held: by_name if held is FLOATS else closure(held),
    "closure": closure,
    "around a closure": lambda held: around(closure(held)),
    "partial": lambda held: functools.partial(first_of, held, power=1),
    "partial of a list": lambda held: functools.partial(first_of_first, [held]),
    "partial of a closure": lambda held: functools.partial(applied, closure(held)),
    "method": lambda held: Holder(held).scaled,
    "callable object": Holder,
    "default": with_default,
}


def called(x, g, acc):
    acc[0] = x[0] * x[0]
    return g(x[1]) * acc[0]


def of_a_list(x, g, acc):
    acc[0] = x[0] * x[0]
    return g[0](x[1]) * acc[0]


def of_a_dict(x, g, acc):
    acc[0] = x[0] * x[0]
    return g["g"](x[1]) * acc[0]


def of_a_loop(x, g, acc):
    acc[0] = x[0] * x[0]
    s = 0.0
    for each in g:
        s = s + each(x[1])
    return s * acc[0]


def of_an_attribute(x, g, acc):
    acc[0] = x[0] * x[0]
    return g.run(x[1]) * acc[0]


def of_a_method(x, g, acc):
    acc[0] = x[0] * x[0]
    return g.applied(x[1]) * acc[0]


def of_data(x, g, acc):
    acc[0] = x[0] * x[0]
    return g.held[0] * x[1] * acc[0]


PROGRAMS = {
    called: lambda g: g,
    of_a_list: lambda g: [g],
    of_a_dict: lambda g: {"g": g},
    of_a_loop: lambda g: (g, g),
    of_an_attribute: Runner,
    of_a_method: Runner,
}


def total(f):
    return lambda x, g, acc: np.sum(grad(f)(x, g, acc))


WAYS = {
    "grad": lambda f, g, acc: grad(f)(X, g, acc),
    "strict": lambda f, g, acc: grad(f, strict=True)(X, g, acc),
    "jvp": lambda f, g, acc: jvp(f, (X, g, acc), (E, None, None)),
    "hvp": lambda f, g, acc: hvp(f, (X, g, acc), (E, None, None)),
    "hessian": lambda f, g, acc: hessian(f)(X, g, acc),
    "jvp of grad": lambda f, g, acc: jvp(grad(f), (X, g, acc), (E, None, None)),
    "grad of grad": lambda f, g, acc: grad(total(f))(X, g, acc),
    "grad of grad, held": lambda f, g, acc: grad(lambda x: np.sum(grad(f)(x, g, acc)))(X),
    "recorded": lambda f, g, acc: derivatives.vjp(f, (X, g, acc), {}, (0,)),
    "recorded grad": lambda f, g, acc: derivatives.vjp(total(f), (X, g, acc), {}, (0,)),
}
ERRORS = (S2SGradError, Refusal, ValueError)


def require_no_number(f, g, acc, ways=WAYS):
    before = list(acc)
    for way in ways:
        with pytest.raises(ERRORS):
            WAYS[way](f, g, acc)
            pytest.fail(f"{way} gave a number")
        assert list(acc) == before


@pytest.mark.sampled(one_in=27)
@pytest.mark.parametrize(
    "reference, program", [*itertools.product(REFERENCES, PROGRAMS)], ids=lambda v: getattr(v, "__name__", v)
)
def test_no_number_where_a_function_refers_to_what_is_written(reference, program):
    k = list(REFERENCES).index(reference) + list(PROGRAMS).index(program)
    held = (LIST, FLOATS, INTEGERS)[k % 3]
    require_no_number(program, PROGRAMS[program](REFERENCES[reference](held)), held)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("held", (LIST, FLOATS, INTEGERS), ids=("list", "floats", "integers"))
def test_no_number_where_an_object_refers_to_what_is_written(held):
    require_no_number(of_data, Holder(held), held)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("cls", (OfClass, ByName))
def test_no_number_where_a_class_refers_to_what_is_written(cls):
    require_no_number(of_a_method, cls(), FLOATS)


class Scaled:
    def __init__(self, held):
        self.held = held

    def total(self, x, acc):
        acc[0] = x[0] * x[0]
        return self.held[0] * x[1] * acc[0]


def total_of(held, x, acc):
    acc[0] = x[0] * x[0]
    return held[0] * x[1] * acc[0]


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("held", (LIST, FLOATS, INTEGERS), ids=("list", "floats", "integers"))
@pytest.mark.parametrize("bound", (lambda held: Scaled(held).total, lambda held: functools.partial(total_of, held)))
def test_no_number_where_what_is_bound_refers_to_what_is_written(bound, held):
    for way in (grad, lambda f: lambda *args: derivatives.vjp(f, args, {}, (0,))):
        with pytest.raises(ERRORS):
            way(bound(held))(X, held)


@pytest.mark.parametrize("reference", REFERENCES)
def test_of_a_copy_there_is_a_number(reference):
    """What something else refers to may be read; the copy is written."""
    g = REFERENCES[reference](FLOATS)
    (slope,) = central_difference(lambda x: called(x, g, FLOATS.copy()), (X,))
    np.testing.assert_allclose(grad(called)(X, g, FLOATS.copy()), slope, rtol=1e-6)
    _, tangent = jvp(called, (X, g, FLOATS.copy()), (E, None, None))
    np.testing.assert_allclose(tangent, slope @ E, rtol=1e-6)
    np.testing.assert_allclose(grad(total(called))(X, g, FLOATS.copy()), [18.0 * np.sum(X), 18.0 * X[0]])


def times(held, by):
    return held[0] * by


GIVEN = np.array([1.0, 2.0])
HOLDING = [functools.partial(times, GIVEN)]


HOLDER, PAIR = HOLDING[0], (GIVEN, 1.0)


class Box:
    shared = GIVEN

    def __init__(self, kept):
        self.kept = kept


BOX = Box(GIVEN)


def of_a_list_outside(x):
    x[0] = 2.0 * x[1]
    return np.sum(x) * HOLDING[0](1.0)


def of_a_partial_outside(x):
    x[0] = 2.0 * x[1]
    return np.sum(x) * HOLDER(1.0)


def of_a_tuple_outside(x):
    x[0] = 2.0 * x[1]
    return np.sum(x) * PAIR[0][0]


def of_an_object_outside(x):
    x[0] = 2.0 * x[1]
    return np.sum(x) * BOX.kept[0]


def of_a_class_outside(x):
    x[0] = 2.0 * x[1]
    return np.sum(x) * Box.shared[0]


OUTSIDE = (of_a_list_outside, of_a_partial_outside, of_a_tuple_outside, of_an_object_outside, of_a_class_outside)


@pytest.mark.parametrize("f", OUTSIDE)
@pytest.mark.parametrize("way", (grad, lambda f: lambda x: jvp(f, (x,), (np.ones(2),))), ids=("grad", "jvp"))
def test_no_number_where_what_is_outside_refers_to_the_argument(way, f):
    with pytest.raises(ERRORS):
        way(f)(GIVEN)
    assert np.isfinite(np.sum(way(f)(GIVEN.copy())))


def slopes(f):
    """A function inside which a gradient is taken, at the array that it is given."""
    return lambda x: np.sum(x * grad(f)(x))


NESTED = {
    "grad": lambda g, x: grad(g)(x),
    "jvp": lambda g, x: jvp(g, (x,), (E,)),
    "recorded": lambda g, x: derivatives.vjp(g, (x,), {}, (0,)),
    "recorded tangent": lambda g, x: derivatives.Recorded(g, (x,), {}, (0,)).tangent([E]),
}


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("f", OUTSIDE)
@pytest.mark.parametrize("way", NESTED)
def test_no_number_where_what_is_outside_of_a_nested_gradient_refers_to_the_argument(way, f):
    for g in (slopes(f), lambda x: np.sum(x * jvp(f, (x,), (E,))[1])):
        with pytest.raises(ERRORS):
            NESTED[way](g, GIVEN)
            pytest.fail(f"{way} gave a number")
    assert GIVEN.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("f", OUTSIDE)
def test_of_a_copy_a_nested_gradient_is_a_number(f):
    """`f` is `3 x[1]`, times a 1 that is outside."""
    g = slopes(f)
    for x in (GIVEN.copy(), np.array([0.5, 1.5])):
        np.testing.assert_allclose(g(x), 3.0 * x[1])
        np.testing.assert_allclose(grad(g)(x), [0.0, 3.0])
        np.testing.assert_allclose(jvp(g, (x,), (np.ones(2),))[1], 3.0)
