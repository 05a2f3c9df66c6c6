"""The adjoint of one operation with a rule: which pullback, with which cotangent, and the contributions to the operands.

    y = a * b      ->      a_bar += y_bar * b; b_bar += y_bar * a

The cotangent is first brought to the form that the rule needs.  It is broadcast to the shape of the result if operands have
other shapes, and its mask is applied if the operation is not elementwise.  It is bound to a name if it is read more than
once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number, is_numeric, operand
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.ir.quote import assign, clone, constant, name
from s2sgrad.ir.simplify import same, simplified
from s2sgrad.primitives import catalogue, libraries
from s2sgrad.rules import table
from s2sgrad.transform import inline, keywords, pullback_text, stores, zeros
from s2sgrad.transform.adjoint_environment import Adjoints
from s2sgrad.transform.cotangents import Cotangent
from s2sgrad.transform.unbroadcasting import in_full, relation

Cotangents = dict[int, gast.AST]  # by operand position


class RuleAdjoint:
    """One operation `y = rule(operands)` and the cotangent `g` of `y`."""

    def __init__(self, adjoints: Adjoints, operation: Operation, y: gast.AST, g: Cotangent) -> None:
        self.adjoints, self.operation, self.y, self.g = adjoints, operation, y, g
        assert operation.rule is not None
        self.unit, self.rule, self.operands = adjoints.unit, operation.rule, operation.operands
        self.wanted = [k for k, o in enumerate(self.operands) if isinstance(o, gast.Name) and o.id in adjoints.active]
        self.keywords = keywords.differentiated(operation, adjoints.active)

    def run(self) -> None:
        """Contribute to the active operands and keywords; NoRule where the rule does not cover these arguments."""
        if not self.wanted and not self.keywords:
            return
        if self.operation.target is np.where and self._is_selection():
            self._select()
            return
        self._prepare()
        if self.keywords:
            self.g = self.adjoints.named(self.adjoints.isolated(self.g))
            keywords.contribute(self.adjoints, self.operation, self.keywords, self.y, self.g)
        why = self.rule.refusal(self.kinds)
        if why is not None:
            self.unit.no_rule(self.operation.node, why)
        if not self.wanted:
            return
        if self.formula is None:
            self._call()
        else:
            self._contribute(self._joint(self._cotangents()))

    @cached_property
    def kinds(self) -> dict[str, Any]:
        """The kinds of the arguments, by the rule's names."""
        return pullback_text.argument_kinds(self.adjoints, self.operation)

    @cached_property
    def pullback(self) -> Callable:
        """The pullback for these kinds."""
        return self.rule.pullback if self.rule.variadic else self.rule.choose(self.kinds)

    @cached_property
    def formula(self) -> inline.Formula | None:
        """The pullback as expressions; None where it must be called."""
        return None if self.rule.variadic else inline.formula(self.pullback)

    @property
    def is_elementwise(self) -> bool:
        """Whether the rule leaves unbroadcasting to the compiler."""
        return self.rule.tag == "elementwise"

    # --- the cotangent of the result ---

    def _prepare(self) -> None:
        """Bring the cotangent of the result to the form that the rule needs."""
        if self.g.mask is not None and (not self.is_elementwise or self.operation.target is np.where or self.keywords):
            self.g = self.adjoints.settling.settled(self.g, self.y.id)
        if not self.g.full and not (self.is_elementwise and not self.keywords and self._serves_unbroadcast()):
            self.g = self.adjoints.settling.spread(self.g, self.y.id)

    def _serves_unbroadcast(self) -> bool:
        """Whether a cotangent that was not broadcast serves each operand: no sum is needed, or the product has full
        shape."""
        if self._same_shapes():
            return True
        formula = inline.formula(self.rule.choose(self.kinds))
        if self.g.mask is not None or formula is None or formula.prelude:
            return False
        result = self.adjoints.kinds.get(self.y.id)
        small = replace(self.g, value=clone(self.g.value))
        values = pullback_text.written(self.adjoints, self.operation, formula, self.y, small, self.wanted)
        return all(relation(self.adjoints.inference.kind(value), result) == "same" for value in values.values())

    def _same_shapes(self) -> bool:
        """Whether each operand has the shape of the result."""
        inference, result = self.adjoints.inference, self.adjoints.kinds.get(self.y.id)
        operands = [inference.kind(self.operands[k]) for k in self.wanted]
        dims = [d for kind in (result, *operands) if isinstance(kind, Array) for d in kind.dims or ()]
        if not all(map(inference.symbols.is_exact, dims)):  # one of them may have been broadcast
            return False
        return all(relation(result, kind) == "same" for kind in operands)

    # --- `np.where` ---

    def _is_selection(self) -> bool:
        """Whether a branch of `np.where` is a temporary, whose derivative may not be finite."""
        names = [self.operands[k].id for k in self.wanted]
        return len(self.operands) == 3 and bool(names) and any(n in self.unit.temps for n in names)

    def _select(self) -> None:
        """Contribute the cotangent to each branch of `np.where` with a mask."""
        g = self.g if self.g.mask is None else self.adjoints.settling.settled(self.g, self.y.id)
        if not g.full and not self._same_shapes():
            g = self.adjoints.settling.spread(g, self.y.id)
        if len(self.wanted) > 1:
            g = self.adjoints.named(g)
        for k in self.wanted:
            part = Cotangent(g.value, g.kind, False, mask=(self.operands[0], k == 1))
            self.adjoints.contribute(self.operands[k], part)

    # --- a pullback that is called ---

    def _call(self) -> None:
        """Contribute the results of a call of the pullback."""
        g = self.adjoints.named(self.adjoints.isolated(self.g))
        apart = all(_is_slope(self, k) for k in self.wanted)
        given = replace(g, value=constant(1.0)) if apart else g
        value = pullback_text.called(self.adjoints, self.operation, self.pullback, self.y, given)
        several = self.rule.variadic or len(self.rule.differentiable) > 1
        if several:
            holder = self.unit.temp()
            self.adjoints.kinds[holder] = UNKNOWN
            self.adjoints.out.append(assign(holder, value))
        idle = self._idle(g)
        for k in self.wanted:
            part = gast.Subscript(name(holder), constant(k), gast.Load()) if several else value
            part = zeros.product(self.unit, part, g.value) if apart else part
            kind = self.adjoints.kinds.get(self.operands[k].id)
            numeric = not isinstance(kind, Container) and not table.is_structured(self.rule, k)
            self.adjoints.contribute(self.operands[k], Cotangent(part, kind, numeric=numeric, idle=idle))

    # --- a pullback that is expanded ---

    def _cotangents(self) -> Cotangents:
        """The cotangents of the wanted operands; one that is deliberately 0 is selected, never multiplied."""
        formula = self.formula
        assert formula is not None
        spoiled, beside = self._spoiled(), self._beside_selected()
        guarded = self._guarded([k for k in self.wanted if k not in beside])
        if guarded and self.y.id in self.adjoints.paths.singular.rooted:
            beside += sorted(guarded)
            spoiled -= guarded
        else:
            spoiled |= guarded
        if spoiled or beside:
            self.g = replace(self.adjoints.named(self.g, of=self.y.id), mask=self.g.mask)
        if formula.uses(formula.parameters[0], self.wanted) > 1 or (
            formula.prelude and stores.reads_section(self.adjoints, self.g.value)
        ):
            held = self.adjoints.isolated(self.g) if formula.prelude else self.g
            self.g = replace(self.adjoints.named(held, of=self.y.id), mask=self.g.mask)
        out = self._written(self.g, [k for k in self.wanted if k not in spoiled])
        if spoiled:
            slopes = self._written(replace(self.g, value=constant(1.0)), sorted(spoiled))
            out |= {k: zeros.kept(self.unit, self.g.value, slope) for k, slope in slopes.items()}
            out = dict(sorted(out.items()))
        if beside:
            slopes = self._written(replace(self.g, value=constant(1.0)), beside)
            out |= {k: zeros.product(self.unit, slope, self.g.value) for k, slope in slopes.items()}
        return out

    def _written(self, g: Cotangent, wanted: list[int]) -> Cotangents:
        """The cotangents of some operands, by the formula."""
        assert self.formula is not None
        return pullback_text.written(self.adjoints, self.operation, self.formula, self.y, g, wanted)

    def _spoiled(self) -> set[int]:
        """The operands whose cotangents would be nan where `g` is 0 because its value is unused there."""
        if not self.g.idle or not self.is_elementwise:
            return set()
        if self.unit.derivative.complex and not zeros.multiplies(self.operation.target, self.pullback, len(self.operands)):
            return set()
        spoiled = zeros.spoiled(self.operation, self.pullback, self.adjoints.inference, self.g.idle)
        return set(spoiled.intersection(self.wanted))

    def _beside_selected(self) -> list[int]:
        """The other operands of a product or quotient with a value that a mask sets to 0."""
        node = self.operation.node
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, (gast.Mult, gast.Div)):
            return []
        made = [isinstance(o, gast.Name) and o.id in self.adjoints.exclusions.selected_values for o in self.operands]
        return [k for k in self.wanted if made[1 - k] and (k == 1 or isinstance(node.op, gast.Mult))]

    def _guarded(self, wanted: list[int]) -> set[int]:
        """The operands whose slopes may be 0 where the cotangent is infinite, or infinite where it is 0 (`Singular`)."""
        known, formula = self.adjoints.paths.singular, self.formula
        if (
            known is None
            or formula is None
            or not isinstance(self.y, gast.Name)
            or self.y.id not in known.rooted | known.divisors
        ):
            return set()
        if self.y.id not in known.rooted and not known.may_overflow(self.operation):
            return set()
        factors = [k for k in wanted if _is_slope(self, k) or _has_factor(formula.cotangents[k], formula.parameters[0])]
        slopes = self._written(replace(self.g, value=constant(1.0)), factors) if factors else {}
        return {k for k, slope in slopes.items() if not isinstance(simplified(clone(slope)), gast.Constant)}

    def _joint(self, cotangents: Cotangents) -> Cotangents:
        """Names for all cotangents, bound by one call of the rule's joint pullback, if there is one for these
        expressions."""
        rule, adjoints = self.rule, self.adjoints
        if rule.joint is None or self.pullback is not rule.pullback or len(cotangents) != len(rule.differentiable):
            return cotangents
        joint = inline.formula(rule.joint, 1)
        assert joint is not None
        adjoints.decisions.discard()
        call = pullback_text.written(adjoints, self.operation, joint, self.y, self.g, [0])[0]
        names = {k: self.unit.temp() for k in cotangents}
        adjoints.kinds.update({names[k]: adjoints.inference.kind(value) or UNKNOWN for k, value in cotangents.items()})
        target = gast.Tuple([name(n, store=True) for n in names.values()], gast.Store())
        adjoints.out.append(gast.Assign([target], call, None))
        return {k: name(n) for k, n in names.items()}

    def _contribute(self, cotangents: Cotangents) -> None:
        """Contribute the cotangents to the operands, with what is known about their shapes and memory."""
        g, full, idle = self.g, self._is_full(), self._idle(self.g)
        alone = len(cotangents) == 1 and isinstance(g.value, gast.Name)
        for k, value in cotangents.items():
            value = simplified(clone(value))  # which may no longer be new memory
            mask = self._mask_of(value, k)
            if mask is not None:
                value = value.args[1]
                part = Cotangent(value, self.adjoints.inference.kind(value), False, mask=(mask, True))
                self.adjoints.contribute(self.operands[k], part)
                continue
            kind = self.adjoints.inference.kind(value)
            if self.is_elementwise and g.full:
                kind = self._broadcast_kind(kind)
                shaped = _of_its_shape(self.operation, self.operands, self.adjoints.inference) or self.y
                value = in_full(self.unit, self.adjoints.inference, value, kind, self.operands[k], shaped)
            own = g.own and alone and same(value, g.value)
            self.adjoints.contribute(
                self.operands[k], Cotangent(value, kind, full, None, self._is_numeric(k, value), g.mask, own, idle)
            )

    def _mask_of(self, value: gast.AST, k: int) -> gast.AST | None:
        """The mask with which a reduction excludes elements of a temporary, as for a branch of `np.where`."""
        computed = isinstance(self.operands[k], gast.Name) and self.operands[k].id in self.unit.temps
        mask = self.operation.keywords.get(self.rule.mask)
        if mask is None or not computed or self.unit.called(value) is not np.where:
            return None
        return value.args[0] if same(value.args[0], mask) and same(value.args[2], constant(0.0)) else None

    def _is_full(self) -> bool:
        """Whether the cotangents have the shapes of the operands; a refined pullback may leave that to broadcasting."""
        return self.g.full and self._one_shape() if self.is_elementwise else self.pullback in self.rule.exact

    def _one_shape(self) -> bool:
        """Whether all operands except one are numbers, so that the result has the shape of that one."""
        if any(k in self.rule.keyword_rules for k in self.operation.keywords):
            return False
        kinds = [self.adjoints.inference.kind(o) for o in self.operands]
        numbers = [isinstance(k, Number) for k in kinds]
        one = numbers.count(False) == 1 and not any(numbers[k] for k in self.wanted)
        return one and not _may_repeat(self.operation.node, kinds)

    def _broadcast_kind(self, kind: Kind | None) -> Kind | None:
        """The kind of a full cotangent times a slope, whose operands are broadcast to the result."""
        result = self.adjoints.kinds.get(self.y.id)
        if not isinstance(kind, Array) or not isinstance(result, Array) or result.dims is None:
            return kind
        return kind if kind.dims is not None and None not in kind.dims else Array(kind.dtype, result.dims)

    def _is_numeric(self, k: int, value: gast.AST) -> bool:
        """Whether neither an operand nor its cotangent is a container, or None; rules of NumPy and SciPy return arrays, but
        those of functions that join the arrays of a list."""
        given = self.adjoints.kinds.get(self.operands[k].id)
        package = libraries.package_of(self.operation.target)
        passes_structures = not self.is_elementwise and (
            self.rule.given is not None or (bool(package) and package not in libraries.ARRAYS)
        )
        if isinstance(given, (Array, Number)):
            return True
        joined = isinstance(value, gast.Call) and catalogue.of(self.unit.called(value)).several
        joined = joined or table.is_structured(self.rule, k)
        may_be_none = k in catalogue.of(self.operation.target).optional
        return not (isinstance(given, Container) or passes_structures or joined or may_be_none)

    def _idle(self, g: Cotangent) -> int:
        """The level of the operands' cotangents: 0 where that of the result is, or where the operation ignores its
        operands."""
        own = table.passes_over(self.operation.target, self.operation.keywords)
        if own and self.adjoints.exclusions.any_picked(getattr(self.operation.node, "args", [])):
            own = table.VALUES
        return max(own, g.idle if self.rule.tag in ("elementwise", "linear") else 0)


def _is_slope(adjoint: RuleAdjoint, k: int) -> bool:
    """Whether a root is taken of the result, which is a number: the cotangent of an operand is a slope times that."""
    kinds, y = adjoint.adjoints.kinds, getattr(adjoint.y, "id", "")
    if adjoint.rule.tag == "linear" or not isinstance(kinds.get(adjoint.operands[k].id), (Number, Array)):
        return False
    kind = kinds.get(y)
    of_number = isinstance(kind, Number) or (isinstance(kind, Array) and kind.dims == ())
    return of_number and y in adjoint.adjoints.paths.singular.rooted


_NO_COUNTS = (float, np.inexact)  # by which no list is repeated


def _of_its_shape(operation: Operation, operands: Sequence[gast.AST], inference: Inference) -> gast.Name | None:
    """The operand that has the shape of an elementwise result: the one that is an array, if the others are numbers."""
    kinds = [inference.kind(o) for o in operands]
    arrays = [o for o, kind in zip(operands, kinds, strict=True) if not isinstance(kind, Number)]
    one = len(arrays) == 1 and isinstance(arrays[0], gast.Name) and not operation.keywords
    return arrays[0] if one and not _may_repeat(operation.node, kinds) else None


def _may_repeat(node: gast.AST, kinds: list[Kind | None]) -> bool:
    """Whether a product of a number and a value of unknown kind may be a list or tuple, repeated."""
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Mult) or all(map(is_numeric, kinds)):
        return False
    numbers = [k for k in map(operand, kinds) if isinstance(k, Number)]
    return any(k.type is None or not issubclass(k.type, _NO_COUNTS) for k in numbers)


def _has_factor(node: gast.AST, factor: str) -> bool:
    """Whether an expression is a product with a variable, or a quotient of one."""
    if isinstance(node, gast.Name):
        return bool(node.id == factor)
    if isinstance(node, gast.UnaryOp):
        return _has_factor(node.operand, factor)
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, (gast.Mult, gast.Div)):
        return False
    return _has_factor(node.left, factor) or (isinstance(node.op, gast.Mult) and _has_factor(node.right, factor))
