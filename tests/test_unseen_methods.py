"""Methods that run unseen, and iterators that are used up: what nobody reads stays, and nothing runs twice.

Every program is given new objects at each call; its gradient is compared with central differences.
"""

# ruff: noqa: B007, C416, F841, RUF059  (statements whose values nobody reads)
from __future__ import annotations

import collections
import functools
import math
import statistics
from types import SimpleNamespace

import numpy as np
import pytest
from corpus.named_alike import Doubling, Recipe

from s2sgrad import S2SGradError, grad

PROGRAMS = []
AT = np.array([0.5, 0.7, 1.1])


def program(*makers, refused=False):
    """Enter a function with what makes its arguments behind the first; `refused` if there is no derivative of it."""

    def enter(function):
        marks = () if refused else (pytest.mark.records,)
        PROGRAMS.append(pytest.param(function, makers, refused, id=function.__name__, marks=marks))
        return function

    return enter


class Feed(list):
    @property
    def following(self):
        return self.pop(0)

    def __neg__(self):
        return self.pop(0)

    def __matmul__(self, other):
        return self.pop(0)

    def __float__(self):
        return float(self.pop(0))

    def __abs__(self):
        return self.pop(0)

    def __contains__(self, value):
        return bool(self.pop(0))

    def __format__(self, how):
        return str(self.pop(0))

    def __eq__(self, other):
        return bool(self.pop(0))

    __hash__ = None


class Counting:
    """Computes attributes that it does not have."""

    def __init__(self):
        self.__dict__["log"] = [0.0]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.log.append(1.0)
        return float(len(self.log))


def feed():
    return Feed([10.0, 20.0, 30.0])


def items():
    return iter([10.0, 20.0, 30.0])


# --- methods of operators, properties, questions -----------------------------------------------------------------------


@program(feed)
def property_read_twice(x, feed):
    a = feed.following
    b = feed.following
    return x * b


@program(feed)
def negated_twice(x, feed):
    a = -feed
    b = -feed
    return x * b


@program(feed)
def multiplied_twice(x, feed):
    a = feed @ feed
    b = feed @ feed
    return x * b


def read_next(feed):
    return feed.following


@program(feed)
def property_read_in_a_function(x, feed):
    a = read_next(feed)
    b = read_next(feed)
    return x * b


@program(feed)
def converted_twice(x, feed):
    a = float(feed)
    b = float(feed)
    return x * b


@program(feed)
def size_of_an_object(x, feed):
    a = abs(feed)
    b = abs(feed)
    return x * b


@program(feed)
def question_that_takes_an_item(x, feed):
    a = 3.0 in feed
    return x * (1.0 + sum(feed))


@program(feed)
def text_that_takes_an_item(x, feed):
    a = f"{feed}"
    return x * (1.0 + sum(feed))


@program(feed)
def comparison_that_takes_an_item(x, feed):
    a = feed == 3.0
    return x * (1.0 + sum(feed))


@program(lambda: collections.defaultdict(list))
def item_that_a_dict_makes(x, d):
    a = d["new"]
    return x * len(d)


# --- iterators ---------------------------------------------------------------------------------------------------------


def collected(it):
    return [v for v in it]


def counted(it):
    n = 0
    for v in it:
        n = n + 1
    return n


def asked(it):
    return 10.0 in it


def first_of(it):
    a, b, c = it
    return a


def summed(it):
    return math.fsum(it)


@program(items)
def iterator_collected_in_a_function(x, it):
    a = collected(it)
    return x * (1.0 + sum(it))


@program(items)
def iterator_counted_in_a_function(x, it):
    a = counted(it)
    return x * (1.0 + sum(it))


@program(items)
def iterator_asked_in_a_function(x, it):
    a = asked(it)
    return x * (1.0 + sum(it))


@program(items)
def iterator_unpacked_in_a_function(x, it):
    a = first_of(it)
    return x * (1.0 + sum(it))


@program(items)
def iterator_summed_in_a_function(x, it):
    a = summed(it)
    return x * (1.0 + sum(it))


@program(items)
def product_of_an_iterator(x, it):
    a = math.prod(it)
    return x * (1.0 + sum(it))


@program(items)
def set_of_an_iterator(x, it):
    a = {*it}
    return x * (1.0 + sum(it))


@program(items)
def tuple_of_an_iterator(x, it):
    a = (*it,)
    return x * (1.0 + sum(it))


@program(items)
def iterator_spread_into_a_call(x, it):
    a = max(*it)
    return x * (1.0 + sum(it))


@program(items)
def array_from_an_iterator(x, it):
    a = np.fromiter(it, float)
    return x * (1.0 + sum(it))


@program(items)
def deviation_of_an_iterator(x, it):
    a = statistics.median(it)
    return x * (1.0 + sum(it))


# --- methods with names of those of dicts ----------------------------------------------------------------------------


def doubling():
    return Doubling(a=1.5)


@program(Recipe)
def get_of_an_object(x, recipe):
    return x * recipe.get("a", 0.0)


@program(Recipe)
def items_of_an_object(x, recipe):
    for _, v in recipe.items():
        x = x * v
    return x


@program(doubling)
def get_of_a_dict_with_its_own(x, table):
    return x * table.get("a", 0.0)


@program(doubling)
def values_of_a_dict_with_its_own(x, table):
    return x * sum(table.values())


# --- functions that a library made of the user's ---------------------------------------------------------------------


@functools.singledispatch
def doubled(y):
    return 1


@doubled.register(np.ndarray)
def _(y):
    y[0] = 5.0
    return 1


@program(refused=True)
def written_by_the_function_for_its_type(x):
    y = x * 2.0
    n = doubled(y)
    return np.sum(y * y * y)


@pytest.mark.parametrize("f, makers, refused", PROGRAMS)
def test_right_or_refused(f, makers, refused):
    if refused:
        with pytest.raises(S2SGradError, match=r"(?s)File .*\^"):
            grad(f)(AT)
        return

    def total(x):
        return float(np.sum(f(x, *(make() for make in makers))))

    found = grad(f)(AT.copy(), *(make() for make in makers))
    steps = 1e-6 * np.eye(3)
    assert found == pytest.approx([(total(AT + s) - total(AT - s)) / 2e-6 for s in steps], rel=1e-6)


def plain(x, o):
    a = o.scale
    b = o.scale
    return x * b


def test_plain_attributes_that_nobody_reads_are_left_out():
    text = grad(plain).source_for(AT, SimpleNamespace(scale=2.0))
    assert text.count("o.scale") == 1


def test_computed_attributes_stay():
    assert grad(plain).source_for(AT, Counting()).count("o.scale") == 2


def weighted(x, tables):
    total = x * 0.0
    for table in tables:
        total = total + x * table.get("a", 1.0)
    return total


def test_get_of_a_dict_that_is_not_known_is_checked():
    assert "replaces" not in grad(weighted).source_for(AT, [{"a": 2.0}])
    assert grad(weighted)(AT, [{"a": 2.0}, {}]) == pytest.approx(3.0)
    with pytest.raises(S2SGradError, match="`get` of a Doubling is not that of a dict"):
        grad(weighted)(AT, [doubling()])
    assert grad(weighted)(AT, [collections.Counter(a=3), collections.OrderedDict(a=2.0)]) == pytest.approx(5.0)
