"""Rules of operators on lists and tuples: `a + b` puts them together, `a * n` repeats them.

    c = a + b      ->      a_bar = c_bar[:len(a)]; b_bar = c_bar[len(a):]
"""

from __future__ import annotations

import operator

from s2sgrad import runtime
from s2sgrad.rules.table import flat, general, linear


def folded(g, xs, n):
    """The cotangent of `xs` in `xs * n`.

    >>> folded([1.0, 2.0, 30.0, 40.0], [0.0, 0.0], 2)
    [31.0, 42.0]
    """
    size = len(xs)
    out = list(g[:size]) if n > 0 else [runtime.zeros(x) for x in xs]
    for k in range(1, max(n, 1)):
        out = [runtime.add(a, b) for a, b in zip(out, g[k * size : (k + 1) * size], strict=True)]
    return tuple(out) if isinstance(xs, tuple) else out


@linear(folded)
def _(w, y, g, xs, n):
    return runtime.repeated(w, n), None, None


@general(operator.concat)
def concat(g, y, a, b):
    return g[: len(a)], g[len(a) :]


@general(runtime.repeated)
def repeated(g, y, xs, n):
    return folded(g, xs, n), None


def without(g, key):
    """The cotangent of a dict with a zero for one of its entries."""
    return {**g, key: 0.0}


def entry(g, key):
    """The cotangent of one entry of a dict; None where there is none."""
    return g.get(key)


def alone(g, d, key):
    """The cotangent of a dict of which only one entry is looked at."""
    return {key: g} if key in d else {}


@linear(without)
def _(w, y, g, key):
    return without(w, key), None


@linear(entry)
def _(w, y, g, key):
    return {key: w} if key in g else {}, None


@linear(alone)
def _(w, y, g, d, key):
    return w.get(key), None, None


@general(runtime.put_back)
def put_back(g, y, d, key, old):
    return without(g, key), None, entry(g, key)


@linear(runtime.held)
def held(g, y, d, key):
    return alone(g, d, key), None


flat(runtime.keys_of)
