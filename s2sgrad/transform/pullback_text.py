"""A pullback as text: its formula applied to the operands of one call, or a call of it.

sin(g, y, x) = g * np.cos(x)      at y = np.sin(a[i])      ->      y_bar * np.cos(a[i])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import gast
import numpy as np

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Known, Number
from s2sgrad.analysis.number_types import is_python_number, is_real
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.sizes import surely_not_one
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.ir.quote import clone, constant, name, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import catalogue, libraries
from s2sgrad.rules.table import Rule
from s2sgrad.transform import inline, lengths, listed_operands
from s2sgrad.transform.cotangents import Cotangent
from s2sgrad.transform.saved_predicates import Decisions
from s2sgrad.transform.settling import Settling
from s2sgrad.transform.unbroadcasting import axes_of, with_axes


class Derivatives(Protocol):
    """What is asked of the adjoint environment, and in forward mode of the tangents."""

    unit: Unit
    inference: Inference
    out: list[gast.AST]
    decisions: Decisions
    settling: Settling

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of variables."""

    @property
    def active(self) -> set[str]:
        """The variables with derivatives."""


def argument_kinds(adjoints: Derivatives, operation: Operation) -> dict[str, Any]:
    """The kinds of the arguments of a call, by the names in its rule; constant axes are constants."""
    rule = operation.rule
    assert rule is not None
    kinds: dict[str, Any] = {n: constant_kind(v) for n, v in rule.keywords.items()}
    for parameter, node in [*zip(rule.differentiable, operation.operands, strict=False), *operation.keywords.items()]:
        kinds[parameter] = adjoints.inference.kind(node) or UNKNOWN
    if adjoints.unit.derivative.complex:
        kinds["complex"] = may_be_complex(adjoints, operation)
    tuples = {n: axes_of(kinds[n]) for n in operation.keywords if isinstance(kinds[n], Container)}
    return kinds | {n: Known(axes) for n, axes in tuples.items() if axes is not None}


def may_be_complex(adjoints: Derivatives, operation: Operation) -> bool:
    """Whether an argument or the result of an operation may be complex."""
    given = [*operation.operands, *operation.keywords.values(), operation.node]
    return not all(is_real(adjoints.inference.kind(node)) for node in given)


def wants_result(adjoints: Derivatives, operation: Operation) -> bool:
    """Whether the adjoint of an operation reads its result."""
    if operation.rule is None or operation.rule.variadic:
        return False
    formula = inline.formula(operation.rule.choose(argument_kinds(adjoints, operation)))
    wanted = [k for k, o in enumerate(operation.operands) if isinstance(o, gast.Name) and o.id in adjoints.active]
    return formula is not None and bool(formula.uses(formula.parameters[1], wanted))


def written(
    adjoints: Derivatives,
    operation: Operation,
    formula: inline.Formula,
    y: gast.AST,
    g: Cotangent,
    wanted: list[int],
    more: dict[str, gast.AST] | None = None,
) -> dict[int, gast.AST]:
    """The wanted cotangents of a formula by operand position; the assignments before them are emitted.

    `more`: replacements for further names of the formula.
    """
    g_name, y_name, *names = formula.parameters
    holes: dict[str, gast.AST] = {g_name: g.value, y_name: y} | (more or {})
    rule = operation.rule
    assert rule is not None
    holes |= {n: default(adjoints, rule, n, v) for n, v in rule.keywords.items()} | operation.keywords
    given = listed_operands.as_arrays(adjoints.unit, adjoints.inference, operation, formula.pullback)
    holes |= dict(zip(names, given, strict=False))
    before, cotangents = inline.write(adjoints.unit, formula, holes, wanted, _divides(adjoints, operation))
    kind = adjoints.inference.kind
    for statement in before:
        statement.value = with_axes(adjoints.unit, statement.value, kind)
        adjoints.kinds[statement.targets[0].id] = kind(statement.value) or UNKNOWN
        adjoints.out.append(statement)
    read = {k: adjoints.decisions.read_off(_shapes_of_variables(adjoints, v)) for k, v in cotangents.items()}
    return {k: with_axes(adjoints.unit, v, kind) for k, v in read.items()}


def default(adjoints: Derivatives, rule: Rule, parameter: str, value: Any) -> gast.AST:
    """A default as an expression; in a user's rule it need not be a constant."""
    plain = rule.given is None or value is None or isinstance(value, (bool, int, float, str))
    return constant(value) if plain else name(adjoints.unit.helper(parameter, value))


def called(adjoints: Derivatives, operation: Operation, pullback: Callable, y: gast.AST, g: Cotangent) -> gast.AST:
    """The call of a pullback that is not expanded."""
    target = name(adjoints.unit.helper(f"{pullback.__name__}_pullback", pullback))
    given = [gast.keyword(k, clone(v)) for k, v in operation.keywords.items()]
    operands = listed_operands.as_arrays(adjoints.unit, adjoints.inference, operation, pullback)
    return gast.Call(target, [g.value, y, *map(clone, operands)], given)


def _shapes_of_variables(adjoints: Derivatives, node: gast.AST) -> gast.AST:
    """Where only the shape of a temporary is read, read that of a variable of the same shape instead."""
    for part in nodes(node):
        if isinstance(part, gast.Call) and catalogue.of(adjoints.unit.resolve(part.func)).asks_shape:
            known = {**adjoints.settling.alike, **adjoints.settling.of_shape}
            if part.args and isinstance(part.args[0], gast.Name) and part.args[0].id in known:
                part.args[0] = name(known[part.args[0].id])
    return lengths.WithLengths(adjoints.unit, adjoints.inference).visit(node)


def _divides(adjoints: Derivatives, operation: Operation) -> Callable[[gast.BinOp], bool]:
    """Selects divisions by a possible zero: an operator would have raised in the primal, a NumPy function does not."""
    is_operator = isinstance(operation.node, (gast.BinOp, gast.UnaryOp))
    if is_operator or libraries.is_of_math(operation.target):
        return lambda division: False
    return lambda division: (
        not _is_not_zero(adjoints, division.right)
        and all(is_python_number(adjoints.inference.kind(side)) for side in (division.left, division.right))
    )


def _constant(adjoints: Derivatives, node: gast.AST) -> Any:
    """The value of a constant, a constant global, or a function of `math` of these (`math.sqrt(math.pi)`); None for
    others."""
    if isinstance(node, gast.Constant):
        return node.value
    found = adjoints.unit.resolve(node.func if isinstance(node, gast.Call) else node)
    if isinstance(node, gast.Call) and libraries.is_of_math(found) and not node.keywords:
        given = [_constant(adjoints, a) for a in node.args]
        return None if None in given else found(*given)
    return found if isinstance(found, float) else None


def _is_not_zero(adjoints: Derivatives, node: gast.AST) -> bool:
    """Whether a divisor is a nonzero constant, the size of an array that is not empty, or a divisor of the function's."""
    if isinstance(node, gast.Name) and node.id in adjoints.unit.derivative.nonzero:
        return True
    known = _constant(adjoints, node)
    if known is not None:
        return bool(known)
    length = adjoints.inference.kind(node)
    if isinstance(length, Number) and surely_not_one(length.size):
        return length.size != 0
    if adjoints.unit.called(node) is np.size and node.args:
        kind = adjoints.inference.kind(node.args[0])
        dims = kind.dims if isinstance(kind, Array) else None
        return dims is not None and all(d == 1 or (surely_not_one(d) and d != 0) for d in dims)
    return False
