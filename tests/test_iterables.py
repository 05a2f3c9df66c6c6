"""Each tool that gives an iterable, in each place that takes one."""

import itertools

import numpy as np
import pytest
from differences import central_difference
from judging import loaded

from s2sgrad import grad, jacfwd

MODULE = """
import collections
import functools
import operator
from itertools import *

import numpy as np

def square(t):
    return t * t

def flat(parts):
    for part in parts:
        yield from part

def squares(items):
    for item in items:
        yield item * item

def fold(items):
    s = 0.0
    for v in items:
        s = s * 0.9 + v
    return s

def f(x):
    xs, s = [x[0], x[1] * x[2], x[2]], 0.0
    PLACE
    return s + 0.1 * x[0]
"""
ITERABLES = (
    "xs", "x", "map(square, xs)", "filter(lambda t: t > 0.4, xs)", "(v * v for v in x)", "(v * v for v in x if v > 0.4)",
    "chain(x, xs)", "chain.from_iterable([x, xs])", "chain(*[x, xs])", "accumulate(x)", "accumulate(xs, operator.mul)",
    "accumulate(x, initial=x[0])", "takewhile(lambda t: t < 0.9, x)", "dropwhile(lambda t: t < 0.4, xs)",
    "compress(x, [1, 0, 1])", "islice(x, 1, None)", "islice(cycle(x), 5)", "reversed(x)", "sorted(xs)", "repeat(x[1], 3)",
    "starmap(operator.mul, zip(x, xs))", "filterfalse(lambda t: t > 1.0, x)", "squares(x)", "flat([x, xs])",
    "flat((v, v * v) for v in x)", "squares(map(square, x))", "{'a': x[0], 'b': x[1] * x[2]}.values()",
    "(a * b for a, b in product(x, xs))", "(a * b for a, b in combinations(x, 2))",
    "(b - a * a for a, b in pairwise(x))", "(a * b for a, b in zip_longest(x, xs[:2], fillvalue=0.5))",
    "(k * v for k, v in enumerate(x))", "(a * b for a, b, c in zip(x, xs, count()))", "(a * b for a in x for b in xs)",
    "(sum(g) for k, g in groupby(xs, key=lambda t: t > 0.4))", "iter(xs)", "(a * b for a, b in zip(*[iter(x)] * 2))",
    "x.flat", "map(operator.mul, x, xs)", "map(lambda p: p[0] * p[1], zip(x, xs))",
)  # fmt: skip
PLACES = (
    "for v in {}: s = s * 0.9 + v * v",
    "for v in {}:\n        s = s + v * v\n        if s > 1.0: break",
    "for v, w in zip({}, x): s = s + v * w",
    "for w, v in zip(x, {}): s = s * 0.9 + v * w",
    "for k, v in enumerate({}): s = s + v * k",
    "s = sum([v * v for v in {}])",
    "s = sum(v * v for v in {})",
    "s = sum({})",
    "ys = list({}); s = ys[0] * ys[-1] + len(ys)",
    "for v in map(square, {}): s = s * 0.9 + v",
    "for v in filter(lambda t: t > 0.2, {}): s = s * 0.9 + v * v",
    "for v in chain({}, xs): s = s * 0.9 + v * v",
    "for v in accumulate({}): s = s * 0.9 + v * v",
    "s = fold({})",
    "for v in squares({}): s = s * 0.9 + v",
    "it = {}\n    for v in it: s = s * 0.9 + v",
    "s = max({}, key=lambda t: t * t)",
    "s = functools.reduce(lambda a, b: a * 0.9 + b, {})",
    "s = np.sum(np.array(list({})) ** 2)",
    "s = x[0] * (2.0 if any(v > 0.9 for v in {}) else 3.0)",
    "for a, b in pairwise({}): s = s + a * b",
    "it = iter({}); s = next(it) * next(it, 0.5)\n    for v in it: s = s + v * v",
    "it = iter({})\n    while (v := next(it, None)) is not None: s = s * 0.9 + v * v",
    "a, *rest = {}; s = a * a + sum(rest)",
    "ys = [x[1]]; ys.extend({}); s = ys[-1] * ys[0] + len(ys)",
    "ys = [x[1], x[0]]; ys[1:2] = {}; s = ys[-1] * ys[1] + len(ys)",
    "ys = [x[1], x[0]]; ys += {}; s = ys[-1] * ys[1] + len(ys)",
    "d = dict(enumerate({})); s = d[0] * d[1] if 1 in d else d[0]",
    "ys = sorted({}, key=lambda t: -t); s = ys[0] - 2.0 * ys[-1]",
)  # fmt: skip
TEXTS = {  # what has an item at each index, or computes its items in one loop
    "xs", "x", "sorted(xs)", "{'a': x[0], 'b': x[1] * x[2]}.values()", "map(square, xs)", "(v * v for v in x)",
    "reversed(x)", "(a * b for a, b in product(x, xs))", "(a * b for a, b in combinations(x, 2))",
    "(a * b for a, b in zip_longest(x, xs[:2], fillvalue=0.5))", "(k * v for k, v in enumerate(x))",
    "(a * b for a in x for b in xs)", "map(operator.mul, x, xs)", "map(lambda p: p[0] * p[1], zip(x, xs))",
}  # fmt: skip
HANDED_ON = {  # `next`, names, functions, `accumulate`, two at a time, a list that may hold what it draws from
    "for v in chain({}, xs): s = s * 0.9 + v * v",
    "for v in accumulate({}): s = s * 0.9 + v * v",
    "s = fold({})",
    "for v in squares({}): s = s * 0.9 + v",
    "it = {}\n    for v in it: s = s * 0.9 + v",
    "for a, b in pairwise({}): s = s + a * b",
    "it = iter({}); s = next(it) * next(it, 0.5)\n    for v in it: s = s + v * v",
    "it = iter({})\n    while (v := next(it, None)) is not None: s = s * 0.9 + v * v",
}  # fmt: skip
X = np.array([0.31, 0.72, 1.13])


@pytest.mark.records
@pytest.mark.sampled(one_in=72)
@pytest.mark.parametrize(("iterable", "place"), [*itertools.product(ITERABLES, PLACES)])
def test_items_are_taken_as_they_come(iterable, place):
    """And by a text, those that are listed, where a loop or a function takes them at once."""
    text = MODULE.replace("PLACE", place.replace("{}", iterable))
    with loaded(text, "<iterable>") as f:
        try:
            f(X)
        except (TypeError, ValueError):
            return  # `x += iterator` of what is no list, arrays that are no keys
        gradient = grad(f)
        np.testing.assert_allclose(gradient(X), central_difference(f, (X,), 0)[0], rtol=1e-5, atol=1e-7)
        assert iterable not in TEXTS or place in HANDED_ON or "Recorded" not in gradient.source


GENERATORS = (
    "for v in x: yield v * v",
    "for v in x:\n        w = v * v\n        yield w * w",
    "for v in x:\n        if v > 0.4: yield v * v",
    "k = 0\n    while k < len(x):\n        yield x[k] ** 2\n        k += 1",
    "for v in x:\n        for w in x: yield v * w",
    "while True: yield x[1] * x[2]",
    "yield x[1] ** 2\n    yield x[2] ** 2",
)
DRAWN = (
    "next(G)", "next(G, 0.5)", "next(v for v in G)", "next(v for v in G if v > 0.1)", "next(filter(None, G))",
    "next(map(np.sin, G))", "next(dropwhile(lambda v: v < 0.01, G))", "next(islice(G, 1, None))", "next(enumerate(G))[1]",
    "next(zip(G, x))[0]", "next(chain(G, x))", "next(accumulate(G))", "sum(islice(G, 2))",
)  # fmt: skip


@pytest.mark.records
@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize(("body", "drawn"), [*itertools.product(GENERATORS, DRAWN)])
def test_what_a_generator_function_gives_first(body, drawn):
    """In both modes: a loop that is left at its first item has bound what is read behind it."""
    text = f"import numpy as np\nfrom itertools import *\ndef gen(x):\n    {body}\ndef f(x):\n    return {drawn}\n"
    with loaded(text.replace("G", "gen(x)"), "<first item>") as f:
        want = central_difference(f, (X,), 0)[0]
        for derivative in (grad(f), jacfwd(f)):
            np.testing.assert_allclose(derivative(X), want, rtol=1e-5, atol=1e-7)
