"""Broadcasting is decided here, and nowhere else: bring a cotangent to the shape of its variable.

e: (2, 3), x: (3,)  ->  np.sum(e, axis=0)      e: number, x: (3,)  ->  kept small, spread where it must be
e: unknown          ->  unbroadcast(e, x)
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.kinds import Array, Dim, Kind, Number, same_size
from s2sgrad.quote import constant, name
from s2sgrad.transform.inline import call
from s2sgrad.unit import Unit


def relation(e: Kind | None, x: Kind | None) -> str:
    """How the shape of a cotangent compares with its variable's: same, under (broadcasts to it), over, or unknown."""
    if isinstance(x, Number):
        if isinstance(e, Number):
            return "same"
        return "over" if isinstance(e, Array) and e.dims is not None else "unknown"
    if not isinstance(x, Array) or x.dims is None or e is None or e.rank is None:
        return "unknown"
    dims: tuple[Dim, ...] = e.dims if isinstance(e, Array) else ()
    lead = len(dims) - len(x.dims)
    smaller, larger = lead < 0, lead > 0
    dims = (1,) * -lead + dims
    for m, n in zip(dims[max(lead, 0) :], x.dims, strict=True):
        if same_size(m, n) or m == n == 1:
            continue
        if m == 1:
            smaller = True
        elif n == 1 and m is not None:
            larger = True
        else:
            return "unknown"
    if smaller and larger:
        return "unknown"
    return "under" if smaller else "over" if larger else "same"


def conformed(unit: Unit, e: gast.AST, kind: Kind | None, x: str, x_kind: Kind | None) -> gast.AST:
    """The cotangent `e`, of exactly the shape of the variable `x`."""
    how = relation(kind, x_kind)
    if how == "same":
        return e
    if how == "under":
        if isinstance(kind, Number):
            return call(unit, "full_like", np.full_like, name(x), e)
        shape = call(unit, "shape", np.shape, name(x))
        return call(unit, "broadcast_to", np.broadcast_to, e, shape)
    if how == "over":
        reduced = _reduced(unit, e, kind, x_kind)
        if reduced is not None:
            return reduced
    return call(unit, "unbroadcast", runtime.unbroadcast, e, name(x))


def _reduced(unit: Unit, e: gast.AST, kind: Kind, x_kind: Kind) -> gast.AST | None:
    """`np.sum(e)`, `np.sum(e, axis=0)`, `np.sum(e, axis=1, keepdims=True)`: what one call can do."""
    if isinstance(x_kind, Number):
        return call(unit, "sum", np.sum, e)
    lead = len(kind.dims) - len(x_kind.dims)
    stretched = [k + lead for k, n in enumerate(x_kind.dims) if n == 1 and kind.dims[k + lead] != 1]
    if lead and stretched:
        return None
    axes = list(range(lead)) or stretched
    axis: gast.AST = constant(axes[0]) if len(axes) == 1 else gast.Tuple([constant(k) for k in axes], gast.Load())
    out = call(unit, "sum", np.sum, e)
    out.keywords.append(gast.keyword("axis", axis))
    if not lead:
        out.keywords.append(gast.keyword("keepdims", constant(True)))
    return out
