"""Shape obligations: operations that may raise for their operands' shapes must run even if their results are unused.

a: (n,), b: (m,)      ->      `a * b` raises, and so must the gradient of np.sum(a * b), which never multiplies them

Of generated text, lines that compute derivatives are not among them: they fit where the function's own operations do.

>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(grad(defined('''
... def f(x, y):
...     for i in range(2):
...         y[i:3] += x[i] * x[i:3]
...     return np.sum(y)
... '''), "x"), "x")
>>> [float(d) for d in df(np.ones(3), np.ones(3))], "x_bar " in df.source
([4.0, 4.0, 2.0], False)
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.activity import Operations
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Kind, Number
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.sizes import Dim
from s2sgrad.errors import raised
from s2sgrad.ir import notes
from s2sgrad.source import Primal

_ANY_SHAPES = {np.outer, np.kron, np.ix_, np.meshgrid, np.interp, np.searchsorted}
_INNER = {np.matmul, np.dot}


def mark(tree: gast.FunctionDef, inference: Inference, found: Operations) -> None:
    """Note `UNCERTAIN` on each statement that may raise because of the shapes of its operands."""
    for statement in effects.walk(tree.body):
        if not _is_of_a_derivative(statement, inference.unit.primal) and not is_certain(statement, inference, found):
            notes.UNCERTAIN.put(statement)


def _is_of_a_derivative(statement: gast.AST, primal: Primal) -> bool:
    """Whether a statement was read in a line of ours whose operands fit where those of the function do."""
    function = getattr(statement, "primal", primal).function
    return raised.fits(function.__code__, getattr(statement, "lineno", 0))


def is_certain(statement: gast.AST, inference: Inference, found: Operations) -> bool:
    """Whether a statement is known not to raise because of the shapes of its operands."""
    section = effects.stored(statement)
    if section is not None:
        _require_cast(statement, section, inference)
        return _store_fits(statement, section, inference)
    if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
        target = inference.env.get(statement.target.id)
        if isinstance(target, Array) and not isinstance(statement.op, gast.MatMult):
            return _holds(inference, target, inference.kind(statement.value))
    operation = found.get(id(statement))
    return operation is None or operation.form != "rule" or _operands_fit(operation, inference)


def _store_fits(statement: gast.Assign, section: gast.Subscript, inference: Inference) -> bool:
    if isinstance(section.value, gast.Name) and isinstance(inference.env.get(section.value.id), Number):
        return False  # a number has no items
    load = gast.Subscript(section.value, section.slice, gast.Load())
    return _holds(inference, inference.kind(load), inference.kind(statement.value))


def _operands_fit(operation: Operation, inference: Inference) -> bool:
    """Whether the shapes of the operands are known to satisfy the primitive."""
    if operation.target is np.reshape:
        return _reshapes(operation.keywords.get("shape"))
    elementwise = operation.rule is not None and operation.rule.tag == "elementwise"
    operands = {gast.dump(o): o for o in operation.operands}.values() if elementwise else operation.operands  # `x * x` fits
    arrays = [k for k in map(inference.kind, operands) if isinstance(k, Array)]
    if len(arrays) < 2 or effects.is_one_of(operation.target, _ANY_SHAPES):
        return True
    shapes = [a.dims for a in arrays if a.dims is not None]
    if len(shapes) < len(arrays):
        return False
    if elementwise:
        return all(_broadcast(inference, a, b) for k, a in enumerate(shapes) for b in shapes[k + 1 :])
    if effects.is_one_of(operation.target, _INNER) and len(shapes) == 2:
        return _product_fits(operation.target, shapes[0], shapes[1], inference)
    first = shapes[0]
    return all(len(dims) == len(first) and all(map(_same, repeat(inference), dims, first)) for dims in shapes)


def _product_fits(product: Any, left: tuple[Dim, ...], right: tuple[Dim, ...], inference: Inference) -> bool:
    if not left or not right:
        return product is np.dot
    inner = right[-2] if len(right) > 1 else right[0]
    return max(len(left), len(right)) < 3 and _same(inference, left[-1], inner)


def _require_cast(statement: gast.Assign, section: gast.Subscript, inference: Inference) -> None:
    """Refuse `out=` where it would truncate, which NumPy does not allow although a store does."""
    if not notes.CASTS.of(statement):
        return
    to, value = inference.kind(section.value), inference.kind(statement.value)
    given = value.dtype if isinstance(value, Array) else getattr(value, "type", None)
    if isinstance(to, Array) and to.dtype and given and not np.can_cast(np.dtype(given), np.dtype(to.dtype), "same_kind"):
        inference.unit.refuse(statement, f"`out=` cannot hold this result in an array of {to.dtype}")


def _same(inference: Inference, m: Dim, n: Dim) -> bool:
    return m is not None and m == n and inference.symbols.is_exact(m)


def _broadcast(inference: Inference, a: tuple[Dim, ...], b: tuple[Dim, ...]) -> bool:
    return all(_same(inference, m, n) or m == 1 or n == 1 for m, n in zip(reversed(a), reversed(b), strict=False))


def _holds(inference: Inference, section: Kind | None, value: Kind | None) -> bool:
    """Whether a value is known to fit into a section."""
    if isinstance(section, Number) and isinstance(value, Array):
        return value.rank == 0
    if isinstance(value, Number) or not isinstance(value, Array) or not isinstance(section, Array):
        return True
    if section.dims is None or value.dims is None or len(value.dims) > len(section.dims):
        return False
    return all(_same(inference, m, n) or n == 1 for m, n in zip(reversed(section.dims), reversed(value.dims), strict=False))


def _reshapes(shape: gast.AST | None) -> bool:
    """Whether the shape is -1, which fits every array."""
    if isinstance(shape, gast.Tuple) and len(shape.elts) == 1:
        shape = shape.elts[0]
    return isinstance(shape, gast.Constant) and shape.value == -1
