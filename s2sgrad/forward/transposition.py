"""Tangents by transposition: a pullback is linear in the cotangent, and its own pullback in that is the tangent.

y = f(x), f_pullback(g, y, x)      ->      y_dot = f_pullback_bwd(x_dot), the adjoint of `g`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.kinds import UNKNOWN, Container, Kind
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.symbolic_shapes import without_symbols
from s2sgrad.forward.tangents import Tangents
from s2sgrad.ir import notes
from s2sgrad.ir.quote import assign, clone, constant, mentioned, name
from s2sgrad.ir.reach import call
from s2sgrad.transform import listed_operands, pullback_text
from s2sgrad.transform.calls import Pair, Pairs
from s2sgrad.transform.cotangents import Cotangent


def transposed(
    tangents: Tangents, pairs: Pairs, operation: Operation, y: gast.Name, pullback: Callable, wanted: list[int],
    operands: list[gast.AST] | None = None, whole: Operation | None = None,
) -> gast.AST:  # fmt: skip
    """`J x_dot` for `y = operation`, by the pullback of its pullback in the cotangent; of `operands` if these are not those
    of the operation, and `whole`: of the call with all its arguments."""
    unit, rule = tangents.unit, operation.rule
    assert rule is not None
    several = operands is None and (rule.variadic or len(rule.differentiable) > 1)
    g = unit.temp()
    tangents.kinds[g] = without_symbols(tangents.kinds.get(y.id)) or UNKNOWN
    value = pullback_text.called(tangents, whole or operation, pullback, y, Cotangent(name(g), None))
    kinds: dict[str, Any] = {}
    arguments = pairs.arguments(unit, pullback, value)
    for parameter, node in arguments.items():
        several_ = isinstance(node, list)
        kinds[parameter] = [_kind(tangents, n) for n in node] if several_ else _kind(tangents, node)
    first = next(iter(arguments))
    with unit.calling(operation.node):
        pair = pairs.pair(pullback, kinds, {first})
    seeds = _seeds(tangents, operation, wanted, operands, whole is None)
    seed = gast.Tuple(seeds, gast.Load()) if several else seeds[0]
    tangents.out.append(assign(g, tangents.zero(y.id)))
    if whole is not None and _is_constant(pair):  # a user's pullback runs anyway
        tangents.out.append(gast.Expr(clone(value)))
    if pair.needs is None:
        saved = unit.temp()
        tangents.kinds[saved] = UNKNOWN
        fwd = gast.Call(name(unit.helper(pair.fwd.name, pair.fwd)), value.args, value.keywords)
        target = gast.Tuple([name(unit.temp(), store=True), name(saved, store=True)], gast.Store())
        tangents.out.append(assign(target, fwd))
        record = [name(saved)]
    else:
        record = [clone(arguments[n]) for n in pair.needs]
    out = gast.Call(name(unit.helper(pair.bwd.name, pair.bwd)), [*record, seed], [])
    notes.KIND_OF.put(out, y.id)
    return out


def _seeds(
    tangents: Tangents, operation: Operation, wanted: list[int], operands: list[gast.AST] | None, alone: bool
) -> list[gast.AST]:
    """The tangents of the operands, and zeros for what is not wanted.  The pullback of a keyword `alone` returns an array,
    also for `weights=[a, b]`."""
    given = operation.operands if operands is None else operands
    seeds = [tangents.part(o) if k in wanted else _zero(tangents, o) for k, o in enumerate(given)]
    if operands is None:
        return [of_arrays(tangents, operation, k, seed) for k, seed in enumerate(seeds)]
    return [_as_array(tangents, seed, o) if alone else seed for seed, o in zip(seeds, given, strict=True)]


def of_arrays(tangents: Tangents, operation: Operation, k: int, seed: gast.AST) -> gast.AST:
    """The tangent of an operand, converted to an array if that is a list that stands for one.

    linalg.solve_toeplitz(([a, b], [a, c]), y)      ->      the tangents of a column and a row: two arrays
    """
    operand = operation.operands[k]
    if listed_operands.stands_for_array(tangents.inference, operation, k):
        return _as_array(tangents, seed, operand)
    kind = tangents.inference.kind(operand)
    rows = (kind.items or ()) if isinstance(kind, Container) and listed_operands.is_pair(operation, k, kind) else ()
    listed = [isinstance(row, Container) and listed_operands.is_of_numbers(row) for row in rows]
    if not any(listed):
        return seed
    is_tuple = isinstance(seed, gast.Tuple)
    parts = seed.elts if is_tuple else [gast.Subscript(clone(seed), constant(n), gast.Load()) for n in range(len(rows))]
    arrays = [call(tangents.unit, "array", np.array, p) if is_list else p for p, is_list in zip(parts, listed, strict=True)]
    return gast.Tuple(arrays, gast.Load())


def _as_array(tangents: Tangents, seed: gast.AST, operand: gast.AST) -> gast.AST:
    """The tangent of an operand, converted to an array if that is a list or a tuple."""
    listed = isinstance(tangents.inference.kind(operand), Container)
    return call(tangents.unit, "array", np.array, seed) if listed else seed


def _zero(tangents: Tangents, operand: gast.AST) -> gast.AST:
    """A zero for the tangent of an operand of any kind."""
    if isinstance(operand, gast.Name) and operand.id in tangents.unit.locals:
        return tangents.zero(operand.id)
    if isinstance(tangents.inference.kind(operand), Container):
        return tangents.part(operand)
    return call(tangents.unit, "zeros", runtime.zeros, clone(operand))


def _kind(tangents: Tangents, node: gast.AST) -> Kind:
    return without_symbols(tangents.inference.kind(node)) or UNKNOWN


def _is_constant(pair: Pair) -> bool:
    """Whether the adjoint of a pullback ignores its seed, because the result of the pullback ignores the cotangent."""
    tree = pair.bwd.tree
    return tree is not None and tree.args.args[-1].id not in mentioned(*tree.body)
