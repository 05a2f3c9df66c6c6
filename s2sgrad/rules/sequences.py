"""Rules of operators on lists and tuples, and of what the reverse sweep does to dicts: it puts overwritten entries back.

c = a + b                   ->      a_bar = c_bar[:len(a)]; b_bar = c_bar[len(a):]
c = a * n                   ->      a_bar = folded(c_bar, a, n)
c = copy.deepcopy(a)        ->      a_bar = c_bar
old = held(d, k)            ->      d_bar = alone(old_bar, d, k)
d = put_back(d, k, old)     ->      old_bar = entry(d_bar, k); d_bar = without(d_bar, d, k)
b = lacking(a, k)           ->      a_bar = completed(b_bar, a, k)
b = moved(a, k)             ->      a_bar = b_bar
"""

from __future__ import annotations

import copy
import operator

from s2sgrad import runtime
from s2sgrad.rules.builtin_functions import placed
from s2sgrad.rules.helpers import fit
from s2sgrad.rules.table import flat, linear
from s2sgrad.runtime.structure import lacking, moved, place_of


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


@linear(copy.copy)
def copied(g, y, x):
    return g


@linear(copy.deepcopy)
def deeply_copied(g, y, x, memo=None):
    return g


@linear(operator.concat)
def concat(g, y, a, b):
    return g[: len(a)], g[len(a) :]


@linear(runtime.repeated)
def repeated(g, y, xs, n):
    return folded(g, xs, n), None


repeated.constant("n", "what a list is multiplied by may be an array, which cannot be seen: write np.array(..) of the list")


def without(g, d, key):
    """The cotangent of the dict `d` with a zero for one of its entries, also where `g` has none.

    >>> without({"a": 2.0, "b": 3.0}, {"a": 5.0, "b": 7.0}, "b"), without({}, {"b": (5.0, 7.0)}, "b"), without({}, {}, "b")
    ({'a': 2.0, 'b': 0.0}, {'b': (0.0, 0.0)}, {'b': 0.0})
    """
    return {**g, key: runtime.zeros(d.get(key, 0.0))}


def entry(g, key):
    """The cotangent of one entry of a dict; None where there is none.

    >>> entry({"a": 2.0}, "a"), entry({"a": 2.0}, "b")
    (2.0, None)
    """
    return g.get(key)


def alone(g, d, key):
    """The cotangent of the dict `d` of which only one entry is looked at; `g` may be None, a zero.

    >>> alone(2.0, {"a": 5.0, "b": 7.0}, "b"), alone(None, {"a": 5.0}, "a"), alone(2.0, {"a": 5.0}, "b")
    ({'a': 0.0, 'b': 2.0}, {'a': 0.0}, {'a': 0.0})
    """
    return placed(g, key, d) if key in d else runtime.zeros(d)


@linear(without)
def _(w, y, g, d, key):
    return fit(without(w, g, key), g), None, None


@linear(entry)
def _(w, y, g, key):
    return alone(w, g, key), None


@linear(alone)
def _(w, y, g, d, key):
    return entry(w, key), None, None


@linear(runtime.put_back)
def put_back(g, y, d, key, old):
    return without(g, d, key), None, entry(g, key)


@linear(runtime.held)
def held(g, y, d, key, copied=True):
    return alone(g, d, key), None


def completed(g, xs, key):
    """The cotangent of a list or a dict of which one item was left out.

    >>> completed([2.0, 3.0], [5.0, 6.0, 7.0], -2), completed({"b": 2.0}, {"a": 5.0, "b": 7.0}, "a")
    ([2.0, 0.0, 3.0], {'a': 0.0, 'b': 2.0})
    """
    if isinstance(xs, dict):
        return {k: runtime.zeros(x) if k == key else g.get(k, runtime.zeros(x)) for k, x in xs.items()}
    place = range(len(xs))[key]
    return [*g[:place], runtime.zeros(xs[place]), *g[place:]]


@linear(lacking)
def _(g, y, xs, key):
    return completed(g, xs, key), None


@linear(completed)
def _(w, y, g, xs, key):
    return lacking(w, key), None, None


@linear(moved)
def _(g, y, d, key):
    return fit(g, d), None


flat(runtime.keys_of, place_of)
