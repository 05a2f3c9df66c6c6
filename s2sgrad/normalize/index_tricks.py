"""`np.r_[..]` and `np.c_[..]` become calls of functions with rules.

    np.r_[a, 0.0, b]      ->      np.concatenate((np.atleast_1d(a), np.atleast_1d(0.0), np.atleast_1d(b)))

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     return np.c_[x, 2.0 * x]
... ''', "flatten"))
def f(x):
    t1 = 2.0 * x
    t2 = x, t1
    result = columns(t2)
    return result

Slices (`np.r_[0:1:5j]`) make grids, which are refused where they depend on a differentiated value.
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad import standard
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.quote import at, clone
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit


def joined(unit: Unit, node: gast.Subscript) -> gast.Call | None:
    """The call for an index of `np.r_` or `np.c_`; None for any other index."""
    trick = unit.resolve(node.value)
    if trick is not np.r_ and trick is not np.c_:
        return None
    parts = parts_of(node.slice)
    grids = [isinstance(p, gast.Slice) for p in parts]
    if all(grids) or any(isinstance(p, gast.Starred) or isinstance(getattr(p, "value", None), str) for p in parts):
        return None
    parts = [gast.Subscript(clone(node.value), p, gast.Load()) if g else p for p, g in zip(parts, grids, strict=True)]
    if trick is np.c_:
        parts_joined = call(unit, "columns", standard.columns, gast.Tuple(parts, gast.Load()))
    else:
        pieces = [call(unit, "atleast_1d", np.atleast_1d, p) for p in parts]
        parts_joined = call(unit, "concatenate", np.concatenate, gast.Tuple(pieces, gast.Load()))
    return at(node, parts_joined)[0]
