"""The rule of np.einsum: each operand's cotangent is again a sum over the others and the result's cotangent.

    z = np.einsum("ij,j->i", a, v)   ->  a_bar = einsum_back(z_bar, "ij,j->i", 0, (a, v))    # "j,i->ij" of v, z_bar
                                         v_bar = einsum_back(z_bar, "ij,j->i", 1, (a, v))    # "ij,i->j" of a, z_bar

Implicit results, repeated indices, ellipses and axes of size 1 are included.  A product of a chain of matrices is one of
these sums too.
"""

from __future__ import annotations

import string

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules.builtin_functions import preceded
from s2sgrad.rules.table import bilinear, flat, general, linear
from s2sgrad.runtime import Refusal, unbroadcast


def _letters(subscripts, operands):
    """The index letters of every operand and of the result, with ellipses spelled out."""
    if not isinstance(subscripts, str):
        raise Refusal(None, "np.einsum with axis numbers that are not in the text cannot be differentiated: give the "
                            "subscripts as a text, as in np.einsum('ij,j->i', a, v)")  # fmt: skip
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    named = "".join(terms).replace("...", "")
    spare = [c for c in string.ascii_letters if c not in named]
    ranks = [np.ndim(x) - len(t.replace("...", "")) if "..." in t else 0 for t, x in zip(terms, operands, strict=True)]
    longest = "".join(spare[: max(ranks)])
    terms = [t.replace("...", longest[len(longest) - n :]) for t, n in zip(terms, ranks, strict=True)]
    if not arrow:
        result = "..." + "".join(sorted(c for c in set(named) if named.count(c) == 1))
    return terms, result.replace("...", longest)


def contracted(subscripts, operands, optimize=False):
    """`np.einsum` of operands in a tuple or a list."""
    return np.einsum(subscripts, *operands, optimize=optimize)


def einsum_back(g, subscripts, k, operands, optimize=False):
    """The cotangent of the k-th operand of `np.einsum(subscripts, *operands)`, of which only the shape is used.

    >>> einsum_back(2.0, "i,i", 0, (np.zeros(2), np.array([3.0, 4.0])))
    array([6., 8.])
    """
    terms, result = _letters(subscripts, operands)
    target, shape = terms[k], np.shape(operands[k])
    others = [x for j, x in enumerate(operands) if j != k]
    inputs = [t for j, t in enumerate(terms) if j != k] + [result]
    unique = "".join(dict.fromkeys(target))
    present = "".join(c for c in unique if any(c in t for t in inputs))
    bar = np.einsum(",".join(inputs) + "->" + present, *others, g, optimize=optimize)
    absent = tuple(place for place, c in enumerate(unique) if c not in present)
    bar = unbroadcast(np.expand_dims(bar, absent), np.empty([shape[target.index(c)] for c in unique]))
    if len(unique) == len(target):
        return bar
    out = np.zeros(shape, np.result_type(bar))
    np.einsum(f"{target}->{unique}", out)[...] = bar  # a view of the diagonal
    return out


def replaced(xs, k, x):
    """The sequence `xs` with `x` at the k-th place, as a list.

    >>> replaced((1.0, 2.0), 1, 5.0)
    [1.0, 5.0]
    """
    return [x if j == k else item for j, item in enumerate(xs)]


@linear(replaced)
def _(w, ys, xs, k, x):
    return replaced(w, k, np.zeros_like(xs[k])), None, w[k]


def einsum_bars(g, subscripts, operands, optimize=False):
    """The cotangents of all operands of `np.einsum(subscripts, *operands)`, a list."""
    return [einsum_back(g, subscripts, k, operands, optimize) for k in range(len(operands))]


@general(contracted)
def contracted_(g, y, subscripts, operands, optimize=False):
    return None, einsum_bars(g, subscripts, operands, optimize)


@contracted_.forward()
def _(y, subscripts, operands, subscripts_dot, operands_dot, optimize=False):
    return None, changed(operands_dot, subscripts, operands, optimize)


def changed(ws, subscripts, operands, optimize=False):
    """How the sum changes when its operands change by `ws`: it is linear in each, so that each takes its place in turn."""
    total = 0.0
    for k in range(len(operands)):
        total = total + contracted(subscripts, replaced(operands, k, ws[k]), optimize)
    return total


def bars_back(ws, g, subscripts, operands, optimize=False):
    """The cotangents of the operands in `einsum_bars`, given those of its results."""
    total = runtime.zeros(operands)
    for k in range(len(operands)):
        bars = einsum_bars(g, subscripts, replaced(operands, k, ws[k]), optimize)
        total = runtime.add(total, replaced(bars, k, np.zeros_like(ws[k])))
    return total


@general(einsum_bars)
def _(w, bars, g, subscripts, operands, optimize=False):
    g_bar = changed(w, subscripts, operands, optimize)
    return g_bar, None, bars_back(w, g, subscripts, operands, optimize)


@bilinear(np.einsum)
def einsum(g, y, subscripts, *operands, optimize=False):
    return preceded(None, einsum_bars(g, subscripts, operands, optimize))


einsum.refuse(
    lambda subscripts: subscripts.rank is not None,
    "`np.einsum` with axis numbers that are not in the text has no derivative rule: give the subscripts as a text, as in "
    "np.einsum('ij,j->i', a, v)",
)


def chain(arrays):
    """The subscripts of the product of all the matrices; the first and the last may be vectors.

    >>> chain([np.zeros((2, 3)), np.zeros((3, 4)), np.zeros(4)])
    'ab,bc,c->a'
    """
    letters = string.ascii_letters
    terms = [letters[k : k + 2] for k in range(len(arrays))]
    if np.ndim(arrays[0]) == 1:
        terms[0] = terms[0][1]
    if np.ndim(arrays[-1]) == 1:
        terms[-1] = terms[-1][0]
    ends = terms[0][:-1] + terms[-1][1:]
    return ",".join(terms) + "->" + ends


flat(chain)


@general(np.linalg.multi_dot)
def multi_dot(g, y, arrays):
    return einsum_bars(g, chain(arrays), arrays, True)


@multi_dot.forward()
def _(y, arrays, arrays_dot):
    return changed(arrays_dot, chain(arrays), arrays, True)
