"""The tangent of one operation with a rule.

    y = np.sin(x)           ->      y_dot = x_dot * np.cos(x)                     elementwise: the slope times the tangent
    y = np.sum(x, axis=0)   ->      y_dot = np.sum(x_dot, axis=0)                 linear: the map itself
    y = a @ b               ->      y_dot = a_dot @ b + a @ b_dot                 bilinear: one term for each operand
    y = np.linalg.inv(a)    ->      y_dot = -(y @ a_dot @ y)                      general: a tangent in the table
    y = np.std(x)           ->      y_dot = std_pullback_bwd(x, .., x_dot)        or the transpose of its pullback

A pullback maps `g` to J^T g.  Its own pullback in `g` maps a tangent to J x_dot, for any `g`, because it is linear in it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import singular
from s2sgrad.analysis.contents import holds_no_function
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Number
from s2sgrad.analysis.number_types import is_complex, is_real
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.errors import NoRule, NoSource, Unsupported
from s2sgrad.forward.tangents import Tangents
from s2sgrad.forward.transposition import of_arrays, transposed
from s2sgrad.ir.forms import is_none, minus
from s2sgrad.ir.quote import clone, constant, mentioned, name, nodes, substitute
from s2sgrad.ir.reach import call
from s2sgrad.ir.simplify import simplified
from s2sgrad.ir.unit import Unit
from s2sgrad.rules import table
from s2sgrad.rules.singular import divides, levels_off
from s2sgrad.runtime import handed
from s2sgrad.transform import inline, keywords, listed_operands, projections, pullback_text, zeros
from s2sgrad.transform.calls import Pairs
from s2sgrad.transform.cotangents import Cotangent, total
from s2sgrad.transform.unbroadcasting import conformed, with_axes


class RuleTangent:
    """The tangent of `y = rule(operands)`; `y` is the name that holds the result, or will hold it."""

    def __init__(self, tangents: Tangents, pairs: Pairs, operation: Operation, y: gast.Name) -> None:
        self.tangents, self.pairs, self.operation, self.y = tangents, pairs, operation, y
        assert operation.rule is not None
        self.unit, self.rule, self.operands = tangents.unit, operation.rule, operation.operands
        self.wanted = [k for k, o in enumerate(self.operands) if tangents.is_present(o)]
        self.keywords = keywords.differentiated(operation, tangents.present)
        if self.rule.given is not None:
            self.keywords = [k for k, node in operation.keywords.items() if tangents.is_present(node)]

    def value(self) -> gast.AST | None:
        """The tangent of the result; None if it is zero.  NoRule where the rule does not cover these arguments."""
        if not self.wanted and not self.keywords:
            return None
        why = self.rule.refusal(self.kinds)
        if why is not None:
            self.unit.no_rule(self.operation.node, why)
        quotients = self._by_divisors()
        self.wanted = [k for k in self.wanted if k not in quotients]
        terms, jointly = self._of_operands()
        terms += [*quotients.values()]
        terms += [term for k in self.keywords if k not in jointly and (term := self._of_keyword(k)) is not None]
        if not terms:
            return None
        value = self._projected(self._total(terms))
        return self._with_result_shape(value) if self.rule.tag == "elementwise" else value

    def _projected(self, value: gast.AST) -> gast.AST:
        """The real part of what may be complex, where the result is real: of one number or array; a rule sees to others."""
        kind = self.tangents.inference.kind(self.operation.node)
        if not self.unit.derivative.complex or is_complex(kind) or is_real(self.tangents.inference.kind(value)):
            return value
        if isinstance(kind, (Number, Array)) and is_real(kind):
            return projections.real_part(self.tangents, value)
        if isinstance(kind, Container):
            return value
        return call(self.unit, "projected", runtime.projected, value, self.y)

    def _of_operands(self) -> tuple[list[gast.AST], list[str]]:
        """The terms of the operands, and the keywords in which the rule is linear jointly with them."""
        if self.rule.given is not None:
            return self._given(), self.keywords
        passing = [k for k in self.wanted if self._is_differentiable_in(k)]
        if left_out := self._left_out():
            return left_out, []
        terms = self.rule.chosen_terms(self.kinds) if passing else None
        if terms is not None:
            return self._terms(terms), []
        if self.rule.tag == "linear":
            jointly = [k for k in self.keywords if self.rule.keyword_rules[k].tag == "linear"]
            return [self._mapped()] if passing or jointly else [], jointly
        if not passing:
            return [], []
        if self.operation.target is np.where and len(self.operands) == 3:
            return [self._replaced({k: self._small(k) for k in (1, 2)})], []
        if self.rule.tag == "elementwise" and self._formula is not None:
            return self._slopes(), []
        alone = [k for k in passing if self.rule.is_linear_in(k)]
        replaced = [self._replaced({k: self.tangents.part(self.operands[k])}) for k in alone]
        others = [k for k in passing if k not in alone]
        return [
            *replaced,
            *([transposed(self.tangents, self.pairs, self.operation, self.y, self._pullback, others)] if others else []),
        ], []

    def _total(self, terms: list[gast.AST]) -> gast.AST:
        """The sum of the terms, item by item where the result may be a tuple or list."""
        if self.rule.tag == "elementwise" or isinstance(self.tangents.kinds.get(self.y.id), (Number, Array)):
            return total(terms)
        return functools.reduce(lambda a, b: call(self.unit, "add", runtime.add, a, b), terms)

    # --- the rule ---

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of the arguments, by the rule's names."""
        return pullback_text.argument_kinds(self.tangents, self.operation)

    @cached_property
    def _pullback(self) -> Callable[..., Any]:
        return self.rule.pullback if self.rule.variadic else self.rule.choose(self.kinds)

    @cached_property
    def _formula(self) -> inline.Formula | None:
        return None if self.rule.variadic else inline.formula(self._pullback)

    def _is_differentiable_in(self, k: int) -> bool:
        """Whether a derivative passes through an operand: its cotangent in the formula is not None."""
        formula = self._formula
        return formula is None or getattr(formula.cotangents[k], "value", ...) is not None

    # --- slopes and linear maps ---

    def _slopes(self) -> list[gast.AST]:
        """For each operand with a tangent, its slope times the tangent."""
        dots = {k: self.tangents.of_number(self.operands[k]) for k in self.wanted}
        formula = self._formula
        assert formula is not None
        g = formula.parameters[0]
        if len(dots) == 1 or formula.uses(g, []):
            kind = self.tangents.inference.kind
            return [term for k, dot in dots.items() for term in self._written(formula, Cotangent(dot, kind(dot)), [k])]
        own = {k: f"{g} {k}" for k in dots}  # a name that no variable has
        slopes = [substitute(e, {g: name(own[k])}) if k in own else e for k, e in enumerate(formula.cotangents)]
        more = {own[k]: dot for k, dot in dots.items()}
        shared, unused = replace(formula, cotangents=tuple(slopes)), Cotangent(constant(None), None)
        written = pullback_text.written(self.tangents, self.operation, shared, self.y, unused, self.wanted, more)
        return [written[k] for k in self.wanted if k in written]

    def _left_out(self) -> list[gast.AST]:
        """The terms of all operands, if the tangent of one may be exactly 0 where the slope is infinite: 0 there."""
        known, terms = self.tangents.left_out, []
        if known is None or self.rule.tag != "elementwise" or self._formula is None:
            return []
        spoiled = known.spoiled(self.operation, self._pullback, self.wanted)
        for k in self.wanted if spoiled else ():
            dot = self.tangents.part(self.operands[k])
            if k in spoiled:
                slopes = self._written(self._formula, Cotangent(constant(1.0), None), [k])
                terms += [zeros.kept(self.unit, dot, slope) for slope in slopes]
            else:
                terms += self._written(self._formula, Cotangent(dot, self.tangents.inference.kind(dot)), [k])
        return terms

    def _by_divisors(self) -> dict[int, gast.AST]:
        """The terms of operands that may overflow and that this divides by: 0 where the quotient is."""
        known, power = self.tangents.singular, singular.exponent(self.operation)
        own = self.operation.target is runtime.share  # its slope is 0 there as it is written
        found: dict[int, gast.AST] = {}
        if known is None:
            return found
        for k in self.wanted:
            operand = self.operands[k]
            if operand.id in known.divisors and levels_off(self.operation.target):
                (slope,) = self._written(self._formula, Cotangent(constant(1.0), None), [k])
                found[k] = call(self.unit, "times", runtime.times, simplified(clone(slope)), self.tangents.part(operand))
            elif operand.id in known.divisors and divides(self.operation.target, k, power) and not own:
                ratio = call(self.unit, "over", runtime.over, self.tangents.part(operand), operand)
                flat = call(self.unit, "times", runtime.times, self.y, ratio)
                scaled = power not in (None, -1)
                found[k] = gast.BinOp(constant(power), gast.Mult(), flat) if scaled else minus(flat)
        return found

    def _written(self, formula: inline.Formula | None, g: Cotangent, wanted: list[int]) -> list[gast.AST]:
        assert formula is not None
        written = pullback_text.written(self.tangents, self.operation, formula, self.y, g, wanted)
        return [written[k] for k in wanted if k in written]

    def _with_result_shape(self, value: gast.AST) -> gast.AST:
        """The value in the shape of the result, if an operand that it does not read may broadcast that, or a number is made
        of an array."""
        result, read = self.tangents.kinds.get(self.y.id), mentioned(value)
        moving = [self.operands[k] for k in self.wanted if self._is_differentiable_in(k)]
        moving += [self.operation.keywords[k] for k in self.keywords]
        made = isinstance(result, Number) and not all(isinstance(self.tangents.inference.kind(o), Number) for o in moving)
        idle = [o for o in self.operation.given if not any(o is m for m in moving) and getattr(o, "id", None) not in read]
        if not made and all(is_none(o) or isinstance(self.tangents.inference.kind(o), Number) for o in idle):
            return value
        kind = self.tangents.inference.kind(value)
        return conformed(self.unit, value, kind, self.y.id, result, self.tangents.inference.kind)

    def _small(self, k: int) -> gast.AST:
        return self.tangents.part(self.operands[k]) if k in self.wanted else constant(0.0)

    def _mapped(self) -> gast.AST:
        """The call, applied to tangents in all arguments in which it is linear."""
        linear = [o for k, o in enumerate(self.operands) if self._is_differentiable_in(k)]
        for keyword, node in self.operation.keywords.items():
            rule = self.rule.keyword_rules.get(keyword)
            if (rule is not None and rule.tag == "linear") or (keyword in self.rule.added and not is_none(node)):
                linear.append(node)
        return mapped(self.tangents, self.operation.node, linear)

    def _replaced(self, new: dict[int, gast.AST]) -> gast.AST:
        """The operation with some operands replaced."""
        return with_parts(self.operation.node, {id(self.operands[k]): node for k, node in new.items()})

    # --- tangents from the table ---

    def _terms(self, terms: Callable[..., Any]) -> list[gast.AST]:
        """The terms of a tangent from the table: one per operand, or one for all."""
        whole = self.rule.chosen_terms(self.kinds, jointly=True) if len(self.wanted) == len(self.operands) else None
        wanted = self.wanted if whole is None else [0]
        dots = [self.tangents.part(o) if k in self.wanted else constant(None) for k, o in enumerate(self.operands)]
        if not table.takes_lists(self.rule):
            given = enumerate(dots)
            dots = [of_arrays(self.tangents, self.operation, k, dot) if k in self.wanted else dot for k, dot in given]
        pullback: Any = whole or terms
        formula = inline.formula(pullback, 1 if whole else len(self.operands))
        operands = listed_operands.as_arrays(self.unit, self.tangents.inference, self.operation, pullback)
        return self._filled(formula, [*operands, *dots], wanted)

    def _filled(self, formula: inline.Formula | None, given: list[gast.AST], wanted: list[int]) -> list[gast.AST]:
        """The wanted terms of a formula in the result and these arguments; the assignments before them are emitted."""
        assert formula is not None
        y, *names = formula.parameters
        holes: dict[str, Any] = {n: constant(v) for n, v in self.rule.keywords.items()} | self.operation.keywords
        holes |= {y: self.y} | dict(zip(names, given, strict=False))
        before, terms = inline.write(self.unit, formula, holes, wanted, lambda division: False)
        kind = self.tangents.inference.kind
        for statement in before:
            statement.value = with_axes(self.unit, statement.value, kind)
            self.tangents.kinds[statement.targets[0].id] = kind(statement.value) or UNKNOWN
        self.tangents.out += before
        return [with_axes(self.unit, terms[k], kind) for k in wanted if k in terms]

    def _given(self) -> list[gast.AST]:
        """A user's tangents: one of all arguments jointly, or one of each; by transposition if an argument has only a
        pullback."""
        given, own = self.rule.given, self.rule.tangents or table.Tangents({}, None)
        place = dict(zip(self.rule.differentiable, self.operands, strict=False)) | self.operation.keywords
        moving = [n for n in place if self.tangents.is_present(place[n])]
        if own.whole is not None:
            dots = [self.tangents.part(node) for node in self._with_defaults().given]
            return [self._called(own.whole, [], dots)] if moving else []
        terms = []
        for n in moving:
            if (tangent := own.each.get(n)) is not None:
                terms.append(self._called(tangent, [self.tangents.part(place[n])], []))
            elif n not in own.each and given.vjps.get(n) is not None:
                terms.append(self._of_pullback(given, n, place[n]))
            elif not holds_no_function(self.kinds.get(n)):
                terms.append(self._unmoved(given, n, place[n]))
        return terms

    def _unmoved(self, given: Any, argument: str, node: gast.AST) -> gast.AST:
        """The tangent along an argument for which the user gives none, and which may be a function: zeros, checked."""
        said = constant(given.said), constant(argument)
        return call(self.unit, "unmoved", handed.unmoved, self.tangents.part(node), clone(node), clone(self.y), *said)

    def _of_pullback(self, given: Any, argument: str, node: gast.AST) -> gast.AST:
        """The transpose of the user's pullback of one argument, or NoRule."""
        try:
            pullback = _guard(self.unit, given, given.vjps[argument])
            return transposed(
                self.tangents, self.pairs, self.operation, self.y, pullback, [0], [node], self._with_defaults()
            )
        except (NoSource, NoRule, Unsupported) as error:
            why = str(error.message).partition(":")[0]
            self.unit.no_rule(self.operation.node, f"{given.said} has no tangent in `{argument}`, and none can be made of "
                              f"its pullback ({why}): give it one with `defjvp(.., argnums=\"{argument}\")`")  # fmt: skip

    def _called(self, function: Callable[..., Any], first: list[gast.AST], last: list[gast.AST]) -> gast.AST:
        """A call of a user's function with the result and all arguments, between `first` and `last`."""
        function = _guard(self.unit, self.rule.given, function)
        target = name(self.unit.helper(function.__name__, function))
        whole, named = self._with_defaults(), []
        if not last:
            named = [gast.keyword(k, clone(node)) for k, node in whole.keywords.items()]
        else:
            last = [*map(clone, whole.keywords.values()), *last]
        return gast.Call(target, [*first, self.y, *map(clone, whole.operands), *last], named)

    def _with_defaults(self) -> Operation:
        """The call of the user's function with all its arguments, defaults included."""
        given, known = self.rule.given, dict(zip(self.rule.differentiable, self.operands, strict=False))
        known |= self.operation.keywords
        for parameter in given.defaults.keys() - known.keys():
            known[parameter] = pullback_text.default(self.tangents, self.rule, parameter, self.rule.keywords[parameter])
        names = list(given.defaults)
        positional = [known[n] for n in names[: given.positional]]
        return replace(self.operation, operands=positional, keywords={n: known[n] for n in names[given.positional :]})

    # --- transposition ---

    def _of_keyword(self, keyword: str) -> gast.AST | None:
        """The term of a keyword argument."""
        node, rule = self.operation.keywords[keyword], self.rule.keyword_rules[keyword]
        pullback = rule.choose(self.kinds)
        formula = inline.formula(pullback, 1)
        terms = rule.chosen_terms(self.kinds)
        if terms is not None:
            return next(iter(self._filled(inline.formula(terms, 1), [*self.operands, self.tangents.part(node)], [0])), None)
        if rule.tag == "bilinear":
            return with_parts(self.operation.node, {id(node): self.tangents.part(node)})
        if self.rule.tag == "elementwise" and formula is not None:
            dot = self.tangents.part(node)
            return next(iter(self._written(formula, Cotangent(dot, self.tangents.inference.kind(dot)), [0])), None)
        return transposed(self.tangents, self.pairs, self.operation, self.y, pullback, [0], [node])


def _guard(unit: Unit, given: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function as a text calls it."""
    return given.in_complex.get(function, function) if unit.derivative.complex else function


def mapped(tangents: Tangents, node: gast.AST, given: list[gast.AST]) -> gast.AST:
    """An expression that is linear in `given`, of their tangents.

    t = np.add(s, 1.0)[...]      ->      t_dot = np.asarray(s_dot)[...]      a NumPy number's tangent may be a Python number
    """
    parts = {id(o): constant(0.0) if isinstance(getattr(o, "value", None), bool) else tangents.part(o) for o in given}
    part = node.func if isinstance(node, gast.Call) else node
    if isinstance(part, (gast.Attribute, gast.Subscript)) and isinstance(tangents.inference.kind(part.value), Number):
        within = [o for o in given if any(n is o for n in nodes(part.value))]
        if within:
            owner = mapped(tangents, part.value, within)
            parts[id(part.value)] = call(tangents.unit, "asarray", np.asarray, owner)
    return with_parts(node, parts)


def with_parts(node: gast.AST, new: dict[int, gast.AST]) -> Any:
    """A copy of a tree with some nodes replaced, by their identity."""
    return clone(node, lambda part: clone(new[id(part)]) if id(part) in new else None)
