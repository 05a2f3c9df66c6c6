"""Forms with lanes for NumPy's functions: axes are numbered from the second on.

np.sum(x_dot)               ->   np.sum(x_dot, axis=1)                  np.concatenate(xs_dot)   ->   .. axis=1
np.reshape(x_dot, (2, -1))  ->   np.reshape(x_dot, (lanes, 2, -1))      A @ x_dot, a vector      ->   x_dot @ A.T
"""

from __future__ import annotations

import builtins
import copy
import operator
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.kinds import Array, Container, Number
from s2sgrad.analysis.number_types import is_real
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.forward.lane_forms import Forms, NoForm, axis_node, behind, form, only, same, with_keyword
from s2sgrad.forward.rule_tangent import with_parts
from s2sgrad.ir.forms import is_none
from s2sgrad.ir.quote import clone, constant, expression
from s2sgrad.ir.reach import call, numpy_function
from s2sgrad.runtime import lanes as of_lanes
from s2sgrad.runtime import structure
from s2sgrad.runtime.copies import copied
from s2sgrad.transform.unbroadcasting import axes_of


@form(np.copy, np.ndarray.astype, runtime.own, copied, structure.kept)
def _same(forms: Forms, operation: Operation) -> gast.AST:
    return same(forms, operation)


@form(np.ascontiguousarray)
def _contiguous(forms: Forms, operation: Operation) -> gast.AST:
    if forms.kind(operation.operands[0]).rank == 0:
        raise NoForm("a number that becomes an array")
    return same(forms, operation)


@form(builtins.float, np.float64, np.float32)
def _number(forms: Forms, operation: Operation) -> gast.AST:
    if forms.rank(operation.operands[0]):
        raise NoForm("a number that is made of an array")
    return forms.lifted(operation.operands[0])


@form(copy.copy, builtins.list, builtins.tuple, builtins.dict)
def _container(forms: Forms, operation: Operation) -> gast.AST:
    if not isinstance(forms.kind(operation.operands[0]), Container):
        raise NoForm("a container of the rows of an array")
    return same(forms, operation)


@form(operator.concat)
def _one_list(forms: Forms, operation: Operation) -> gast.AST:
    return with_parts(operation.node, {id(o): forms.carried(o) for o in operation.operands})


@form(np.sum, np.mean, np.flip)
def _over_all(forms: Forms, operation: Operation) -> gast.AST:
    """Along the given axes, by default along all."""
    only(operation, "axis", "keepdims", "dtype")
    operand, axis = operation.operands[0], forms.axes(operation)
    rank = forms.rank(operand)
    if not rank:
        return forms.lifted(operand)
    if axis is not None:
        return forms.with_axis(operation, behind(axis))
    return forms.with_axis(operation, 1 if rank == 1 else tuple(range(1, rank + 1)))


@form(np.cumsum, np.roll, np.take, np.repeat, np.append, np.diff)
def _along_one(forms: Forms, operation: Operation) -> gast.AST:
    """Along one axis; by default along the only one."""
    only(operation, "axis", "n", "dtype", "shift", "indices", "repeats")
    axis = forms.axes(operation)
    if forms.kind(operation.operands[0]).rank == 0:
        raise NoForm("an axis of a number")
    if axis is None and operation.target is not np.diff and {*map(forms.rank, operation.operands)} != {1}:
        raise NoForm("what is flattened")
    if axis is None:
        axis = -1
    return forms.with_axis(operation, behind(axis))


@form(np.expand_dims)
def _expanded(forms: Forms, operation: Operation) -> gast.AST:
    axis = forms.axes(operation)
    if axis is None:
        axis = axes_of(forms.kind(operation.given[1])) if len(operation.given) > 1 else None
        axis = axis[0] if axis is not None and len(axis) == 1 else axis
    if axis is None:
        raise NoForm("an axis that is not known")
    operand = operation.operands[0]
    return call(forms.unit, "expand_dims", np.expand_dims, forms.lifted(operand), axis_node(behind(axis)))


@form(np.transpose)
def _transposed(forms: Forms, operation: Operation) -> gast.AST:
    operand, given = operation.operands[0], forms.axes(operation, "axes")
    rank = forms.rank(operand)
    axes = (given,) if isinstance(given, int) else given
    if rank < 2:
        return forms.lifted(operand)
    order = (0, *((a % rank) + 1 for a in (reversed(range(rank)) if axes is None else axes)))
    return call(forms.unit, "transpose", np.transpose, forms.lifted(operand), axis_node(order))


@form(np.swapaxes, np.moveaxis)
def _axes_moved(forms: Forms, operation: Operation) -> gast.AST:
    words = ("axis1", "axis2") if operation.target is np.swapaxes else ("source", "destination")
    only(operation, *words)
    axes = [forms.axes(operation, word) for word in words]
    if None in axes:
        raise NoForm("an axis that is not known")
    places = [axis_node(behind(axis)) for axis in axes]
    return call(forms.unit, operation.target.__name__, operation.target, forms.lifted(operation.operands[0]), *places)


@form(np.diag)
def _diagonal(forms: Forms, operation: Operation) -> gast.AST:
    """Of a matrix a view of its diagonal, of a vector a new matrix."""
    operand = operation.operands[0]
    if forms.rank(operand) == 1:
        return forms.by_lane(operation, is_new=True)
    offset = operation.keywords.get("k", constant(0))
    return call(forms.unit, "diagonal", np.diagonal, forms.lifted(operand), clone(offset), constant(1), constant(2))


@form(np.squeeze)
def _squeezed(forms: Forms, operation: Operation) -> gast.AST:
    only(operation, "axis")
    operand, axis = operation.operands[0], forms.axes(operation)
    if axis is None:
        dims = getattr(forms.kind(operand), "dims", None)
        if dims is None or not all(isinstance(d, int) for d in dims):
            raise NoForm("axes that are not known")
        axis = tuple(k for k, d in enumerate(dims) if d == 1)
    return call(forms.unit, "squeeze", np.squeeze, forms.lifted(operand), axis_node(behind(axis)))


@form(np.reshape)
def _reshaped(forms: Forms, operation: Operation) -> gast.AST:
    shape = next((operation.keywords[k] for k in ("shape", "newshape") if k in operation.keywords), None)
    order = operation.keywords.get("order")
    if shape is None or (order is not None and getattr(order, "value", None) != "C"):
        raise NoForm("a shape that is not known")
    return call(forms.unit, "reshape", np.reshape, forms.lifted(operation.operands[0]), forms.shape(shape))


@form(np.ravel)
def _raveled(forms: Forms, operation: Operation) -> gast.AST:
    only(operation)
    flat = gast.Tuple([forms.count(), constant(-1)], gast.Load())
    return call(forms.unit, "reshape", np.reshape, forms.lifted(operation.operands[0]), flat)


@form(np.broadcast_to)
def _broadcast(forms: Forms, operation: Operation) -> gast.AST:
    value = forms.expanded(operation.operands[0], forms.rank(operation.node))
    shape = operation.keywords.get("shape") or operation.given[1]
    return call(forms.unit, "broadcast_to", np.broadcast_to, value, forms.shape(shape))


@form(np.full_like)
def _full_like(forms: Forms, operation: Operation) -> gast.AST:
    like, value = operation.node.args[:2]
    only(operation, "a", "prototype")
    if forms.reads(like) or len(operation.node.args) > 2 or operation.node.keywords:
        raise NoForm("the shape of a tangent")
    shape = gast.Attribute(clone(like), "shape", gast.Load())
    new = gast.Call(operation.node.func, [like, forms.expanded(value, forms.rank(like))], [])
    return with_keyword(new, "shape", gast.Tuple([forms.count(), gast.Starred(shape, gast.Load())], gast.Load()))


@form(np.array, np.asarray)
def _array(forms: Forms, operation: Operation) -> gast.AST:
    operand = operation.operands[0]
    if isinstance(forms.kind(operand), (Array, Number)):
        return same(forms, operation)
    only(operation)
    return _stacked(forms, operand)


def _stacked(forms: Forms, node: gast.AST) -> gast.AST:
    """The array made from a list of arrays of one rank."""
    kind = forms.kind(node)
    if isinstance(kind, (Array, Number)):
        return forms.carried(node)
    if isinstance(node, (gast.List, gast.Tuple)) and node.elts:
        items: gast.AST = type(node)([_stacked(forms, e) for e in node.elts], gast.Load())
    else:
        if forms.items_rank(node) is None:
            raise NoForm("an array of a list whose items are not known")
        return call(forms.unit, "array_lanes", of_lanes.array_lanes, forms.lifted(node), forms.count())
    return call(forms.unit, "stack", np.stack, items, axis=1)


@form(np.concatenate, np.stack)
def _joined(forms: Forms, operation: Operation) -> gast.AST:
    only(operation, "axis")
    if forms.items_rank(operation.operands[0]) is None:
        raise NoForm("parts of unknown rank")
    axis = operation.keywords.get("axis")
    if axis is not None and is_none(axis):
        raise NoForm("what is flattened")
    return forms.with_axis(operation, behind(forms.axes(operation) or 0))


@form(np.hstack, np.vstack, np.column_stack)
def _joined_by_rank(forms: Forms, operation: Operation) -> gast.AST:
    rank, target = forms.items_rank(operation.operands[0]), operation.target
    if not rank:
        raise NoForm("parts of unknown rank")
    join = np.stack if rank == 1 and target is not np.hstack else np.concatenate
    axis = {np.hstack: 1 if rank == 1 else 2, np.vstack: 1, np.column_stack: 2}[target]
    return call(forms.unit, join.__name__, join, forms.carried(operation.operands[0]), axis=axis)


@form(np.where)
def _where(forms: Forms, operation: Operation) -> gast.AST:
    if forms.reads(operation.operands[0]):
        raise NoForm("a condition that carries lanes")
    return forms.elementwise(operation)


@form(builtins.sum)
def _sum_of(forms: Forms, operation: Operation) -> gast.AST:
    xs = operation.operands[0]
    if isinstance(forms.kind(xs), Array):
        return call(forms.unit, "sum", np.sum, forms.lifted(xs), axis=1)
    if forms.items_rank(xs) is None or len(operation.given) > 1:
        raise NoForm("a sum of items of unknown rank")
    return with_parts(operation.node, {id(xs): forms.carried(xs)})


@form(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft)
def _transform(forms: Forms, operation: Operation) -> gast.AST:
    """Along one axis, by default the last."""
    axis: Any = forms.axes(operation)
    return same(forms, operation) if axis is None or axis < 0 else forms.with_axis(operation, behind(axis))


@form(np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2)
def _transform_of_planes(forms: Forms, operation: Operation) -> gast.AST:
    axes = forms.axes(operation, "axes")
    return same(forms, operation) if axes is None else forms.with_axis(operation, behind(axes), "axes")


@form(np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn)
def _transform_of_all(forms: Forms, operation: Operation) -> gast.AST:
    axes = forms.axes(operation, "axes")
    if axes is None and not is_none(operation.keywords.get("s", constant(None))):
        raise NoForm("a transform of as many axes as sizes are given")
    return forms.with_axis(operation, behind(axes or tuple(range(forms.rank(operation.operands[0])))), "axes")


# --- products ---


@form(np.matmul, np.dot)
def _product(forms: Forms, operation: Operation) -> gast.AST:
    """By the ranks of both: `x_dot @ A.T` for `A @ x_dot` if `x` is a vector; otherwise unchanged."""
    left, right = operation.operands
    p, q = forms.rank(left), forms.rank(right)
    if forms.reads(left) and forms.reads(right):
        raise NoForm("a product of tangents")
    if not p or not q:
        return gast.BinOp(forms.expanded(left, max(p, q)), gast.Mult(), forms.expanded(right, max(p, q)))
    if max(p, q) > 2:
        raise NoForm("a product of more than matrices")
    if forms.reads(right) and q == 1:
        other = clone(left) if p == 1 else expression("A.T", A=left)
        return gast.BinOp(forms.lifted(right), gast.MatMult(), other)
    return gast.BinOp(forms.either(left), gast.MatMult(), forms.either(right))


@form(np.vdot)
def _of_conjugates(forms: Forms, operation: Operation) -> gast.AST:
    left, right = operation.operands
    if not is_real(forms.kind(left)):
        left = call(forms.unit, "conj", np.conjugate, left)
    return _inner(forms, replace(operation, operands=[left, right]))


@form(np.inner)
def _inner(forms: Forms, operation: Operation) -> gast.AST:
    if [*map(forms.rank, operation.operands)] != [1, 1]:
        raise NoForm("an inner product of more than vectors")
    return _product(forms, operation)


@form(np.outer)
def _outer(forms: Forms, operation: Operation) -> gast.AST:
    left, right = operation.operands
    if [forms.rank(left), forms.rank(right)] != [1, 1] or (forms.reads(left) and forms.reads(right)):
        raise NoForm("an outer product of more than vectors")
    if forms.reads(left):
        return expression("x[:, :, np.newaxis] * y", x=forms.lifted(left), y=right, np=_np(forms))
    return expression("x[:, np.newaxis] * y[:, np.newaxis]", x=left, y=forms.lifted(right), np=_np(forms))


def _np(forms: Forms) -> gast.AST:
    return numpy_function(forms.unit, "newaxis").value


@form(np.einsum)
def _einsum(forms: Forms, operation: Operation) -> gast.AST:
    """One more letter, for the operand with lanes and for the result."""
    text, *operands = operation.node.args
    written = getattr(text, "value", None)
    if not isinstance(written, str) or "->" not in written or "." in written or operation.keywords:
        raise NoForm("a contraction that is not written out")
    before, after = written.replace(" ", "").split("->")
    parts = before.split(",")
    carrying = [k for k, o in enumerate(operands) if forms.reads(o)]
    if len(carrying) != 1 or len(parts) != len(operands):
        raise NoForm("a contraction of several tangents")
    new = next(letter for letter in "zyxwvuts" if letter not in written)
    parts[carrying[0]] = new + parts[carrying[0]]
    given = [forms.either(o) for o in operands]
    return gast.Call(operation.node.func, [constant(f"{','.join(parts)}->{new}{after}"), *given], [])
