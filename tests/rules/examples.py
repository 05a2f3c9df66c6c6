"""At least one call of every primitive in the rule table: what the laws are checked on.

    Example(np.sum, (x,), {"axis": 1})

Arguments stay away from kinks and ties; those have tests of their own.  The same arrays come out at every import.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules import (
    builtin_functions,
    choices,
    contractions,
    einsum,
    elementwise,
    helpers,
    joins,
    linalg,
    scans,
    selections,
    shapes,
)
from s2sgrad.rules import reductions as _reductions


@dataclass(frozen=True)
class Example:
    """A call of `primitive`."""

    primitive: Callable[..., Any]
    args: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        name = getattr(self.primitive, "__name__", "?")
        shapes = ", ".join(_describe(a) for a in self.args)
        return f"{name}({shapes}{''.join(f', {k}={v}' for k, v in self.keywords.items())})"


def _describe(a: Any) -> str:
    if isinstance(a, np.ndarray):
        return f"{a.dtype.char}{list(a.shape)}"
    if isinstance(a, (list, tuple)):
        return "[" + ", ".join(map(_describe, a)) + "]"
    return repr(a)


_random = np.random.default_rng(20)


def normal(*shape: int) -> np.ndarray:
    """Numbers of both signs, none near 0, no two alike."""
    x = _random.normal(size=shape)
    return x + 0.2 * np.sign(x)


def between(low: float, high: float, *shape: int) -> np.ndarray:
    return _random.uniform(low, high, size=shape)


def regular(*shape: int) -> np.ndarray:
    """A regular matrix, or a stack of them."""
    return 0.3 * normal(*shape) + 2.0 * np.eye(shape[-1])


def positive_definite(*shape: int) -> np.ndarray:
    m = normal(*shape)
    return m @ np.swapaxes(m, -1, -2) + np.eye(shape[-1])


EXAMPLES: list[Example] = []


def example(primitive: Callable[..., Any], *args: Any, **keywords: Any) -> None:
    EXAMPLES.append(Example(primitive, args, keywords))


# --- elementwise, one argument ---------------------------------------------------------------------------------------

_ANYWHERE = (np.negative, np.positive, np.exp, np.exp2, np.expm1, np.cbrt, np.square, np.reciprocal, np.sin, np.cos)
_ANYWHERE += (np.tan, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.rad2deg, np.degrees, np.deg2rad, np.radians)
_ANYWHERE += (np.sinc, np.absolute, np.fabs, np.nan_to_num, np.real, np.conjugate, elementwise.sinc_slope, abs)
for _f in _ANYWHERE:
    example(_f, normal(2, 3))
    example(_f, 0.7)
for _f in (np.log, np.log2, np.log10, np.sqrt, np.log1p):
    example(_f, between(0.3, 2.0, 3))
    example(_f, 0.7)
for _f in (np.arcsin, np.arccos, np.arctanh):
    example(_f, between(-0.8, 0.8, 2, 3))
    example(_f, 0.7)
example(np.arccosh, between(1.3, 3.0, 3))
example(np.arccosh, 1.7)
example(np.sinc, np.array([0.0, 1e-6, 1.0, 30.0]))
for _n in (1, 2, 3, 4):
    example(elementwise.sinc_slope, np.array([-30.0, -2.0, -0.9, -1e-6, 0.0, 0.3, 1.0, 1.6]), n=_n)
example(np.nan_to_num, normal(3), nan=1.0, posinf=2.0, neginf=-2.0)

# --- elementwise, several arguments ----------------------------------------------------------------------------------

_PAIRS = (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp)
_PAIRS += (np.logaddexp2, np.hypot, np.arctan2, np.remainder, np.fmod, np.copysign, elementwise.exp_difference)
_PAIRS += (runtime.over, helpers.times)
for _f in _PAIRS:
    example(_f, normal(3), normal(3))
    example(_f, normal(2, 3), normal(3))
    example(_f, normal(2, 1), normal(3))
    example(_f, normal(2, 3), 0.7)
    example(_f, 1.6, normal(3))
    example(_f, 1.6, 0.7)
    example(_f, 0.7, 1.6)
for _f in (np.power, np.float_power, runtime.power_slope, helpers.power_or_zero):
    example(_f, between(0.4, 2.0, 3), normal(2, 3))
    example(_f, normal(3), 3)
    example(_f, normal(3), -1)
    example(_f, 1.4, 0.7)
    example(_f, between(0.4, 2.0, 3), 2.5)
example(runtime.log_or_zero, between(0.3, 2.0, 3))
example(np.ldexp, normal(3), 4)
example(np.ldexp, normal(3), np.array([1, -2, 0]))
example(np.clip, normal(3, 4), -0.8, 0.9)
example(np.clip, normal(3, 4), between(-0.9, -0.5, 4), between(0.5, 0.9, 3, 1))
example(np.clip, normal(3), None, 0.5)
example(np.clip, 1.3, 0.2, 0.9)
example(np.clip, 0.1, 0.2, 0.9)
example(np.clip, 0.5, 0.2, 0.9)
example(np.where, np.array([True, False, True]), normal(2, 3), 0.7)
example(np.where, np.array([[True], [False]]), normal(3), normal(2, 3))
example(np.where, True, 0.3, 0.7)
example(np.where, False, 0.3, 0.7)

# --- the math module -------------------------------------------------------------------------------------------------

for _f in (math.exp, math.exp2, math.expm1, math.log, math.log2, math.log10, math.log1p, math.sqrt, math.cbrt):
    example(_f, 0.7)
for _f in (math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh, math.tanh):
    example(_f, -0.7)
for _f in (math.asinh, math.atanh, math.degrees, math.radians, math.erf, math.erfc, math.fabs, float):
    example(_f, -0.7)
for _f in (math.atan2, math.hypot, math.copysign, math.fmod, math.remainder):
    example(_f, -1.7, 0.7)
example(math.acosh, 1.7)
example(math.log, 3.0, 2.5)
example(math.log, 3.0, 2)
example(math.pow, 1.7, 0.7)
example(math.pow, -1.7, 3)
example(math.ldexp, 0.7, 3)

# --- reductions ------------------------------------------------------------------------------------------------------

_AXES = ({}, {"axis": 1}, {"axis": -1, "keepdims": True}, {"axis": (0, 2)}, {"axis": (0, -1), "keepdims": True})
_AXES += ({"axis": 0, "keepdims": False}, {"axis": None, "keepdims": True})
_REDUCTIONS = (np.sum, np.mean, np.prod, np.max, np.min, np.nanmax, np.nanmin, np.ptp, np.median, np.nansum)
for _f in (*_REDUCTIONS, np.var, np.std):
    for _keywords in _AXES:
        example(_f, normal(2, 3, 4), **_keywords)
    example(_f, normal(5))
    example(_f, normal(3, 4), axis=0)
for _f in (np.var, np.std):
    example(_f, normal(5), ddof=1)
    example(_f, normal(3, 4), axis=0, ddof=1, keepdims=True)
example(np.nansum, np.array([[1.0, np.nan], [2.0, 3.0]]), axis=0)
for _f in (np.sum, np.mean, np.prod):
    example(_f, 0.7)
example(np.prod, np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 1.5]]), axis=1)
example(np.prod, np.array([0.0, 2.0, 3.0]))
for _f in (np.cumsum, np.cumprod, scans.products_before):
    example(_f, normal(4))
    example(_f, normal(2, 3))
    example(_f, normal(2, 3), axis=0)
    example(_f, normal(2, 3, 2), axis=-2)
    example(_f, np.array([1.5, 0.0, 2.0, 0.0, 3.0]))
example(scans.products_before, normal(2, 3, 2), axis=(0, 2), reverse=True)
example(scans.carried, normal(4), normal(4))
example(scans.carried, normal(2, 3, 2), normal(2, 3, 2), axis=(0, 2), reverse=True)
example(scans.carried, np.array([0.0, 1.5, 0.0, 2.0]), normal(4))
for _f in (np.diff, scans.undiff):
    example(_f, normal(5))
    example(_f, normal(5, 2), n=2, axis=0)
for _f in (scans.add_neighbours, scans.spread_pairs):
    example(_f, normal(5))
    example(_f, normal(3, 4, 2), axis=1)
example(np.trapezoid, normal(5))
example(np.trapezoid, normal(5), dx=0.3)
example(np.trapezoid, normal(5), np.sort(normal(5)))
example(np.trapezoid, normal(3, 4), np.sort(normal(3)), axis=0)
example(np.trapezoid, normal(3, 4), np.sort(normal(3, 4)), axis=1)
example(scans.lined, normal(3), (2, 3, 4), 1)
example(scans.lined, normal(2, 3), (2, 3), 1)
example(np.average, normal(2, 3), axis=1)
example(np.average, normal(2, 3), axis=1, weights=between(0.5, 1.5, 3))
example(np.average, normal(2, 3), weights=between(0.5, 1.5, 2, 3))
example(_reductions.centered, normal(4))
example(_reductions.centered, normal(2, 3, 4), axis=(0, 2))

# --- shapes ----------------------------------------------------------------------------------------------------------

example(np.reshape, normal(2, 3), (3, 2))
example(np.reshape, normal(2, 3), -1)
for _f in (np.ravel, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.squeeze, np.copy):
    example(_f, normal(2, 1, 3))
    example(_f, normal(3))
    example(_f, 0.7)
example(np.squeeze, normal(2, 1, 3), axis=1)
example(np.expand_dims, normal(2, 3), 1)
example(np.expand_dims, normal(2, 3), axis=(0, -1))
example(np.transpose, normal(2, 3, 4))
example(np.transpose, normal(2, 3, 4), (1, -1, 0))
example(np.matrix_transpose, normal(2, 3, 4))
example(np.linalg.matrix_transpose, normal(2, 3))
example(np.swapaxes, normal(2, 3, 4), 0, -1)
example(np.moveaxis, normal(2, 3, 4), 0, -1)
example(np.moveaxis, normal(2, 3, 4), (0, 1), (2, 0))
example(np.broadcast_to, normal(3, 1), (2, 3, 4))
example(np.broadcast_to, 0.7, (2,))
example(np.roll, normal(2, 3), 2)
example(np.roll, normal(2, 3), -1, axis=1)
example(np.roll, normal(2, 3), (1, 2), axis=(0, 1))
example(np.flip, normal(2, 3))
example(np.flip, normal(2, 3), axis=0)
example(np.flipud, normal(2, 3))
example(np.fliplr, normal(2, 3))
example(np.rot90, normal(2, 3))
example(np.rot90, normal(2, 3, 4), 3, (0, 2))
for _f in (np.triu, np.tril):
    example(_f, normal(3, 3))
    example(_f, normal(2, 3, 4), 1)
for _f in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray):
    example(_f, normal(2, 3))
    example(_f, normal(3), dtype=float)
    example(_f, [0.3, 0.7])
example(np.array, [normal(2), normal(2)])
example(np.array, [normal(2), normal(2)], dtype="float64")
example(np.ndarray.astype, normal(3), float)
example(np.ndarray.astype, normal(3), "float64")
example(np.ndarray.astype, normal(3), int)
example(np.float64, 0.7)
example(np.float32, np.float32(0.7))
example(shapes.through_cast, normal(3), normal(3))
example(np.full, (2, 3), 0.7)
example(np.full, (2, 3), normal(3))
example(np.full, (2, 3), 0.7, dtype=float)
example(np.full_like, normal(2, 3), 0.7)
example(np.full_like, normal(2, 3), normal(2, 1))
example(np.linspace, 0.3, 1.2)
example(np.linspace, 0.3, 1.2, 5, endpoint=False)
example(np.linspace, normal(2, 1), normal(3), num=4)
example(np.arange, 4.5)
example(np.arange, 0.3, 4.0)
example(np.arange, 0.3, 4.0, 0.7)

# --- joins -----------------------------------------------------------------------------------------------------------

example(np.concatenate, [normal(2, 3), normal(1, 3)])
example(np.concatenate, (normal(2, 3), normal(2, 1)), axis=-1)
example(np.concatenate, [normal(2, 3), normal(2)], axis=None)
example(np.concatenate, normal(2, 3, 2), axis=1)
example(np.stack, [normal(3), normal(3)])
example(np.stack, [normal(2, 3), normal(2, 3)], axis=1)
example(np.stack, [normal(2, 3), normal(2, 3)], axis=-1)
example(np.vstack, [normal(3), normal(2, 3)])
example(np.vstack, [0.3, 0.7])
example(np.hstack, [normal(3), 0.7])
example(np.hstack, [normal(2, 3), normal(2, 1)])
example(np.dstack, [normal(2, 3), normal(2, 3)])
example(np.dstack, [normal(3), normal(3)])
example(np.column_stack, [normal(3), normal(3, 2)])
example(np.append, normal(3), 0.7)
example(np.append, normal(2, 3), normal(1, 3), axis=0)
example(np.split, normal(6, 2), 3)
example(np.split, normal(2, 6), [1, 3], axis=1)
example(np.array_split, normal(5), 3)
example(np.hsplit, normal(2, 4), 2)
example(np.hsplit, normal(4), 2)
example(np.vsplit, normal(4, 2), 2)
example(joins.split_like, normal(3, 3), [normal(2, 3), normal(1, 3)])
example(joins.split_like, normal(8), [normal(2, 3), normal(2)], axis=None)
example(joins.join_like, [normal(2, 3), normal(1, 3)], normal(3, 3))
example(joins.join_like, [normal(2, 3), normal(2)], normal(8), axis=None)

# --- selections ------------------------------------------------------------------------------------------------------

_k = np.array([[0, 2], [2, 2]])
example(np.take, normal(3), [0, 2, 0])
example(np.take, normal(2, 3), _k)
example(np.take, normal(2, 3, 2), _k, axis=1)
example(np.take, normal(2, 3), 1, axis=-1)
example(selections.untake, normal(2, 2, 2, 2), normal(2, 3, 2), _k, axis=1)
example(selections.untake, normal(2, 2), normal(2, 3), _k)
example(np.take_along_axis, normal(2, 3), np.array([[0, 0], [2, 1]]), axis=1)
example(np.take_along_axis, normal(1, 3), np.array([[0, 0], [2, 1]]), axis=1)
example(np.take_along_axis, normal(5), np.array([0, 0, 4]), axis=None)
example(selections.untake_along_axis, normal(2, 2), normal(2, 3), np.array([[0, 0], [2, 1]]), 1)
example(np.sort, normal(2, 5))
example(np.sort, normal(4, 2), axis=0)
example(np.sort, normal(2, 3), axis=None)
example(np.diag, normal(3))
example(np.diag, normal(3), 1)
example(np.diag, normal(3, 4), -1)
example(np.diagonal, normal(3, 4))
example(np.diagonal, normal(3, 2, 4), 1, 0, 2)
example(np.trace, normal(3, 4))
example(np.trace, normal(3, 2, 4), -1, axis1=0, axis2=2)
example(selections.undiagonal, normal(3), normal(3, 4))
example(selections.undiagonal, normal(2, 1), normal(3, 2, 4), 1, 0, 2)
example(np.tile, normal(2, 3), 2)
example(np.tile, normal(3), (2, 2))
example(np.tile, normal(2, 1, 3), (2, 1))
example(selections.untile, normal(4, 3), normal(2, 3), (2, 1))
example(np.repeat, normal(2, 3), 2)
example(np.repeat, normal(2, 3), 2, axis=1)
example(np.repeat, normal(2, 3), 2, axis=-1)
example(np.repeat, normal(2, 3), [1, 0, 2], axis=1)
example(selections.unrepeat, normal(2, 6), normal(2, 3), 2, axis=1)
example(np.pad, normal(2, 3), 1)
example(np.pad, normal(2, 3), ((1, 0), (0, 2)))
for _mode in ("edge", "wrap", "reflect", "symmetric"):
    example(np.pad, normal(3, 4), ((1, 0), (2, 2)), mode=_mode)
example(selections.unpad, normal(4, 5), normal(2, 3), 1)
example(selections.unpad, normal(4, 5), normal(2, 3), 1, mode="edge")
example(np.meshgrid, normal(2), normal(3))
example(np.meshgrid, normal(2), normal(3), normal(4), indexing="ij")
example(np.meshgrid, normal(2), normal(3), normal(4))

# --- products of arrays ----------------------------------------------------------------------------------------------

_MATMUL = (((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)))
_MATMUL += (((5, 1, 2, 3), (6, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)))
for _x, _y in _MATMUL:
    _z = np.shape(np.matmul(np.zeros(_x), np.zeros(_y)))
    example(np.matmul, normal(*_x), normal(*_y))
    example(contractions.matmul_left, normal(*_z), normal(*_x), normal(*_y))
    example(contractions.matmul_right, normal(*_z), normal(*_x), normal(*_y))
example(np.linalg.matmul, normal(2, 3), normal(3, 4))
for _x, _y in (*_MATMUL[:5], ((2, 3), (5, 3, 4)), ((2,), ()), ((), (2, 3)), ((5, 2, 3), (4, 3, 2))):
    example(np.dot, normal(*_x), normal(*_y))
example(np.dot, 0.3, 0.7)
for _x, _y in (((3,), (3,)), ((2, 3), (4, 3)), ((5, 2, 3), (3,)), ((), (3,)), ((2, 3), (4, 5, 3))):
    example(np.inner, normal(*_x), normal(*_y))
example(np.inner, 0.3, 0.7)
for _f in (np.tensordot, np.linalg.tensordot):
    example(_f, normal(2, 3, 4), normal(3, 4, 5))
    example(_f, normal(2, 3, 4), normal(5, 4, 2), axes=([0, 2], [2, 1]))
    example(_f, normal(2, 3), normal(4, 3), axes=(1, 1))
    example(_f, normal(2, 3), normal(4), axes=0)
_ordered = ((0, 2), (2, 1))
example(contractions.tensordot_left, normal(3, 5), normal(2, 3, 4), normal(5, 4, 2), _ordered)
example(contractions.tensordot_right, normal(3, 5), normal(2, 3, 4), normal(5, 4, 2), _ordered)
example(np.vdot, normal(2, 3), normal(2, 3))
example(np.outer, normal(2), normal(3))
example(np.outer, normal(2, 2), normal(3, 1))
example(np.linalg.outer, normal(2), normal(3))

_EINSUM = {
    "ij,jk->ik": ((2, 3), (3, 4)), "ij,jk": ((2, 3), (3, 4)), "i,i": ((3,), (3,)), "ii": ((3, 3),), "ii->i": ((3, 3),),
    "ij->": ((2, 3),), "ij->j": ((2, 3),), "ij,j->i": ((2, 3), (3,)), "...ij,...jk": ((5, 2, 3), (3, 4)),
    "...i,...i->...": ((2, 3), (5, 1, 3)), "ij,kl->jk": ((2, 3), (4, 5)), "i,j,k->ik": ((2,), (3,), (4,)),
    "iij,j->i": ((3, 3, 2), (2,)), "b...,b->...": ((2, 3, 4), (2,)), "ij, jk -> ki": ((2, 3), (3, 4)), ",i": ((), (3,)),
}  # fmt: skip
for _text, _shapes in _EINSUM.items():
    _operands = [normal(*_s) for _s in _shapes]
    example(np.einsum, _text, *_operands)
    for _n in range(len(_operands)):
        example(einsum.einsum_back, normal(*np.shape(np.einsum(_text, *_operands))), _text, _n, *_operands)
example(np.einsum, "ij,jk,kl", normal(2, 3), normal(3, 4), normal(4, 2), optimize=True)

# --- np.linalg -------------------------------------------------------------------------------------------------------

_singular = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, -1.0, 2.0]])
for _f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet, linalg.cofactors):
    example(_f, regular(3, 3))
    example(_f, regular(2, 3, 3))
    example(_f, regular(1, 1))
for _f in (np.linalg.det, linalg.cofactors):
    example(_f, _singular)
    example(_f, np.outer([1.0, 2.0, 3.0], [1.0, 0.5, -1.0]))
example(linalg.cofactors_slope, normal(3, 3), regular(3, 3))
example(linalg.cofactors_slope, normal(2, 4, 4), regular(2, 4, 4))
example(np.linalg.solve, regular(3, 3), normal(3))
example(np.linalg.solve, regular(3, 3), normal(3, 2))
example(np.linalg.solve, regular(2, 3, 3), normal(3, 2))
example(np.linalg.solve, regular(3, 3), normal(2, 3, 2))
example(np.linalg.solve, regular(2, 3, 3), normal(3))
example(np.linalg.cholesky, positive_definite(3, 3))
example(np.linalg.cholesky, positive_definite(2, 3, 3))
example(linalg.lower, normal(3, 3))
for _n in (0, 1, 3, -2):
    example(np.linalg.matrix_power, regular(3, 3), _n)
for _keywords in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}, {"ord": "fro"}, {"ord": 1, "axis": 1}):
    example(np.linalg.norm, normal(2, 3), **_keywords)
for _ord in (2, 1, 3, 2.5, np.inf, -np.inf):
    example(np.linalg.norm, normal(4), ord=_ord)
    example(np.linalg.norm, normal(2, 3), ord=_ord, axis=-1, keepdims=True)
example(np.linalg.norm, normal(2, 3, 4), axis=(0, 2))
example(np.linalg.norm, normal(2, 3, 4))

# --- helpers of the runtime ------------------------------------------------------------------------------------------

for _f in (runtime.unbroadcast, helpers.fit):
    example(_f, normal(2, 3), normal(3))
    example(_f, normal(2, 3), normal(2, 1))
    example(_f, normal(3), normal(2, 3))
    example(_f, normal(2, 3), 0.7)
    example(_f, 0.3, normal(3))
example(helpers.fit, [0.3, normal(2)], [0.7, normal(2)])
example(runtime.unreduce, normal(2), normal(2, 3), axis=1)
example(runtime.unreduce, 0.7, normal(2, 3))
example(runtime.unreduce, normal(1, 3, 1), normal(2, 3, 4), axis=(0, 2), keepdims=True)
example(runtime.add, normal(2, 3), normal(3))
example(runtime.add, 0.3, 0.7)
example(runtime.add, [0.3, normal(2)], [0.7, normal(2)])
example(runtime.add, None, normal(2))
example(runtime.add_at, normal(3), 1, 0.7)
example(runtime.add_at, normal(3), [0, 0, 2], normal(3))
example(runtime.add_at, normal(3, 2), slice(0, 2), normal(2))
example(runtime.add_at, [0.3, normal(2)], 1, normal(2))
example(runtime.own, normal(3))
example(runtime.own, (0.3, normal(2)))
example(runtime.like, normal(2, 3), normal(3))
example(runtime.like, normal(2, 3), normal(2, 3))
example(runtime.seed_like, normal(3), normal(3))
example(runtime.seed_like, normal(3), None)
example(runtime.require_array, normal(3))
example(runtime.sequence, normal(3))
_ = choices  # imported for its rules

# --- Python's own functions on numbers and containers ---------------------------------------------------------------

example(builtins.pow, 0.3, 2)
example(builtins.pow, 0.3, 0.7)
example(builtins.sum, [0.3, 0.7, -0.4])
example(builtins.sum, normal(4))
example(builtins.sum, normal(3, 2))
example(builtins.list, normal(3))
example(builtins.tuple, [0.3, 0.7])
example(builtins.max, 0.3, 0.7)
example(builtins.min, 0.3, 0.7)
example(builtin_functions.largest, [0.3, 0.7, 0.1])
example(builtin_functions.largest, normal(4))
example(builtin_functions.smallest, (0.3, 0.7, 0.1))
example(builtin_functions.spread, 0.4, [0.3, 0.7])
example(builtin_functions.spread, 0.4, normal(3))
example(builtin_functions.regroup, [0.4, 0.5], normal(2))
example(builtin_functions.sum_of, [0.4, 0.5], 0.3)
example(builtin_functions.placed, 0.4, 1, normal(3))
