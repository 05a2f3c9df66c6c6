"""The rule of np.einsum: each operand's cotangent is again a sum over the others and the result's cotangent.

    z = np.einsum("ij,j->i", a, v)   ->  a_bar = einsum_back(z_bar, "ij,j->i", 0, a, v)     # "j,i->ij" of v, z_bar
                                         v_bar = einsum_back(z_bar, "ij,j->i", 1, a, v)     # "ij,i->j" of a, z_bar

Implicit results, repeated indices, ellipses and axes of size 1 are included.
"""

from __future__ import annotations

import string

import numpy as np

from s2sgrad.rules.table import general
from s2sgrad.runtime import unbroadcast


def _letters(subscripts, operands):
    """The index letters of every operand and of the result, with ellipses spelled out."""
    terms, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = terms.split(",")
    named = "".join(terms).replace("...", "")
    spare = [c for c in string.ascii_letters if c not in named]
    ranks = [np.ndim(x) - len(t.replace("...", "")) if "..." in t else 0 for t, x in zip(terms, operands, strict=True)]
    longest = "".join(spare[: max(ranks)])
    terms = [t.replace("...", longest[len(longest) - n :]) for t, n in zip(terms, ranks, strict=True)]
    if not arrow:
        result = "..." + "".join(sorted(c for c in set(named) if named.count(c) == 1))
    return terms, result.replace("...", longest)


def einsum_back(g, subscripts, k, *operands):
    """The cotangent of the k-th operand of `np.einsum(subscripts, *operands)`, of which only the shape is used.

    >>> einsum_back(2.0, "i,i", 0, np.zeros(2), np.array([3.0, 4.0]))
    array([6., 8.])
    """
    terms, result = _letters(subscripts, operands)
    target, shape = terms[k], np.shape(operands[k])
    others = [x for j, x in enumerate(operands) if j != k]
    inputs = [t for j, t in enumerate(terms) if j != k] + [result]
    unique = "".join(dict.fromkeys(target))
    present = "".join(c for c in unique if any(c in t for t in inputs))
    bar = np.einsum(",".join(inputs) + "->" + present, *others, g)
    absent = tuple(place for place, c in enumerate(unique) if c not in present)
    bar = unbroadcast(np.expand_dims(bar, absent), np.empty([shape[target.index(c)] for c in unique]))
    if len(unique) == len(target):
        return bar
    out = np.zeros(shape, np.result_type(bar))
    np.einsum(f"{target}->{unique}", out)[...] = bar  # a view of the diagonal
    return out


@general(einsum_back)
def einsum_back_(w, x_bar, g, subscripts, k, *operands):
    replaced = (*operands[:k], w, *operands[k + 1 :])
    bars = (np.einsum(subscripts, *replaced), None, None)
    for j in range(len(operands)):
        bars = (*bars, 0.0 if j == k else einsum_back(g, subscripts, j, *replaced))
    return bars


@general(np.einsum)
def einsum(g, y, subscripts, *operands, optimize=False):
    bars = (None,)
    for k in range(len(operands)):
        bars = (*bars, einsum_back(g, subscripts, k, *operands))
    return bars
