"""Reads of an array that use only its shape: `x.shape`, `np.zeros_like(x)`, `len(x)`.

y = np.sin(x)  ...  y_bar = np.zeros_like(y); n = len(y)      ->      the contents of y need not be recorded
                    m = np.shape(y[i:])                       ->      nor for this
"""

from __future__ import annotations

from collections.abc import Iterator

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.quote import nodes_of
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import spellings
from s2sgrad.rules import helpers

_SHAPES_OF = {np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.shape, np.size, np.ndim, len, runtime.zeros,
              runtime.like, runtime.seed_like, runtime.unbroadcast, runtime.unreduce, runtime.spreading, runtime.lasting,
              runtime.contiguous, helpers.fit}  # fmt: skip
_ASKING = frozenset({gast.Attribute, gast.Call})


def shape_reads(unit: Unit, node: gast.AST) -> Iterator[gast.Name]:
    """The occurrences of variables in an expression that read only the shape."""
    for part in nodes_of(node, _ASKING):
        if isinstance(part, gast.Attribute) and isinstance(part.value, gast.Name):
            if part.attr in spellings.FLAT_ATTRIBUTES:
                yield part.value
        elif isinstance(part, gast.Call):
            target = unit.resolve(part.func)
            if effects.is_one_of(target, _SHAPES_OF):
                place = 1 if target in (runtime.unbroadcast, runtime.unreduce, runtime.spreading, helpers.fit) else 0
                asked = part.args[place : place + 1]
                for one in asked[0].elts if asked and isinstance(asked[0], gast.Tuple) else asked:
                    one = one.value if _is_section(one) else one
                    if isinstance(one, gast.Name) and _has_shape(unit.kinds.get(one.id)):
                        yield one


def _is_section(node: gast.AST) -> bool:
    """Whether this is `x[i:j]`, whose shape is told by that of `x` and by the bounds."""
    return isinstance(node, gast.Subscript) and all(isinstance(part, gast.Slice) for part in parts_of(node.slice))


def _has_shape(kind: Kind | None) -> bool:
    """Whether a value has a shape apart from its contents; the structure of a list is part of its contents."""
    if isinstance(kind, Container) and kind.type is tuple and kind.items is not None:
        return all(map(_has_shape, kind.items))
    return isinstance(kind, (Array, Number))
