"""Lengths are asked of arguments instead of values that were computed: these need not be computed for their length.

>>> import numpy as np
>>> from s2sgrad import grad
>>> def f(X, Y):
...     return np.mean(np.sum(X * Y, axis=1))
>>> print(grad(f).source_for(np.ones((3, 2)), np.ones((3, 2))).partition("\\n    # ")[2])
return np.mean(np.sum(X * Y, axis=1))
    return seed / len(X) * Y
<BLANKLINE>
"""

from __future__ import annotations

import gast
import numpy as np

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array
from s2sgrad.analysis.sizes import Dim, Size
from s2sgrad.ir.forms import whole_number
from s2sgrad.ir.quote import Transformer, expression, name
from s2sgrad.ir.unit import Unit


class WithLengths(Transformer):
    """Writes `len(x)` or `x.shape[k]`, where `x` is an argument, for `np.size(t)` and `np.size(t, axis)`."""

    def __init__(self, unit: Unit, inference: Inference) -> None:
        self.unit, self.inference = unit, inference

    def visit_Call(self, node: gast.Call) -> gast.AST:
        """The call, or the length that it asks for."""
        asked = self.unit.called(node) is np.size and isinstance(node.args[0], gast.Name) and not node.keywords
        kind = self.inference.kind(node.args[0]) if asked else None
        if not isinstance(kind, Array) or kind.dims is None:
            return self.generic_visit(node)
        rank, own = len(kind.dims), node.args[0].id in self.inference.given
        axis = whole_number(node.args[1]) if len(node.args) > 1 else 0 if rank == 1 else None
        if axis is None or not -rank <= axis < rank:
            return node
        found = None if own else self.length(kind.dims[axis])
        read = expression("x.shape[k]", x=node.args[0], k=axis % rank) if len(node.args) > 1 else node
        return read if found is None else found

    def length(self, dim: Dim) -> gast.AST | None:
        """An argument's length of this size; None where there is none."""
        if not isinstance(dim, Size) or dim.k < 0 or dim.offset or not self.inference.symbols.is_exact(dim):
            return None
        rebound = {base for name, base in self.unit.bases.items() if name != base}
        for argument in [a for a in self.inference.given if a not in rebound]:
            kind = self.inference.env.get(argument)
            if isinstance(kind, Array) and kind.dims is not None and dim in kind.dims:
                axis = kind.dims.index(dim)
                counted = gast.Call(self.unit.builtin(len), [name(argument)], [])
                return expression("x.shape[k]", x=argument, k=axis) if axis else counted
        return None
