"""The adjoint of one operation: what it contributes to the adjoints of its operands.

y = np.sin(x) * z       ->      z_bar = y_bar * np.sin(x); x_bar = y_bar * z * np.cos(x)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gast
import numpy as np

from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Known, Number, constant_kind, is_python_number
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.sizes import surely_not_one
from s2sgrad.ir.quote import assign, clone, constant, name, nodes
from s2sgrad.ir.simplify import same, simplified
from s2sgrad.primitives import catalogue
from s2sgrad.rules import table
from s2sgrad.transform import inline, keywords, stores, zeros
from s2sgrad.transform.adjoint_environment import Bars
from s2sgrad.transform.cotangents import Cotangent
from s2sgrad.transform.unbroadcasting import axes_of, relation, with_axes


class Adjoints(Bars):
    """The adjoint variables, and the operations that contribute to them."""

    def operation(self, operation: Operation, y: gast.AST, g: Cotangent) -> None:
        """Contribute to the operands of `y = operation`, given the cotangent of `y`, a name or a tuple of names."""
        if operation.form != "rule" and isinstance(y, gast.Name):
            g = self.settled(g, y.id)
        if operation.form == "atom":
            self.contribute(operation.node, g)
        elif operation.form == "rule":
            self._rule(operation, y, g)
        elif operation.form == "item":
            item = Cotangent(g.value, g.kind, True, operation.node.slice, g.numeric, idle=g.idle)
            self.contribute(operation.operands[0], item)
        elif operation.form == "display":
            self._display(operation, g)

    def _display(self, operation: Operation, g: Cotangent) -> None:
        keys = operation.node.keys if isinstance(operation.node, gast.Dict) else None  # of a named tuple by place
        if sum(isinstance(o, gast.Name) and o.id in self.active for o in operation.operands) > 1:
            g = self.named(self.held_apart(g))
        for k, operand in enumerate(operation.operands):
            if isinstance(g.value, (gast.Tuple, gast.List)) and keys is None and len(g.value.elts) > k:
                part: gast.AST = clone(g.value.elts[k])
            else:
                place = constant(k) if keys is None else clone(keys[k])
                part = gast.Subscript(clone(g.value), place, gast.Load())
            kind = self.kinds.get(operand.id) if isinstance(operand, gast.Name) else None
            numeric = isinstance(kind, (Number, Array))
            self.contribute(operand, Cotangent(part, kind, True, None, numeric, idle=g.idle))

    def _rule(self, operation: Operation, y: gast.AST, g: Cotangent) -> None:
        rule = operation.rule
        wanted = [k for k, o in enumerate(operation.operands) if isinstance(o, gast.Name) and o.id in self.active]
        also = keywords.differentiated(operation, self.active)
        if not wanted and not also:
            return
        if g.mask is not None and (rule.tag != "elementwise" or operation.target is np.where or also):
            g = self.settled(g, y.id)
        if operation.target is np.where and self._is_selection(operation, wanted):
            if not g.full and not self._same_shapes(operation, wanted, y):
                g = self.spread(g, y.id)
            self._selection(operation, g, wanted)
            return
        if not g.full and not (rule.tag == "elementwise" and not also and self._fills(operation, g, y, wanted)):
            g = self.spread(g, y.id)
        if also:
            g = self.named(self.held_apart(g))
            keywords.contribute(self, operation, also, y, g)
        kinds = self.argument_kinds(operation)
        why = rule.refusal(kinds)
        if why is not None:
            self.unit.no_rule(operation.node, why)
        if not wanted:
            return
        pullback = rule.pullback if rule.variadic else rule.choose(kinds)
        formula = None if rule.variadic else inline.formula(pullback)
        if formula is None:
            self._called_rule(operation, pullback, y, self.named(self.held_apart(g)), wanted)
            return
        spoiled = self._spoiled(operation, pullback, g).intersection(wanted)
        beside = self._beside_selected(operation, wanted)
        if spoiled or beside:
            g = replace(self.named(g), mask=g.mask)
        if formula.uses(formula.parameters[0], wanted) > 1 or (formula.prelude and stores.reads_section(self, g.value)):
            g = replace(self.named(self.held_apart(g) if formula.prelude else g), mask=g.mask)
        cotangents = self.written(operation, formula, y, g, [k for k in wanted if k not in spoiled])
        if spoiled:
            slopes = self.written(operation, formula, y, replace(g, value=constant(1.0)), sorted(spoiled))
            cotangents |= {k: zeros.kept(self.unit, g.value, slope) for k, slope in slopes.items()}
            cotangents = dict(sorted(cotangents.items()))
        if beside:
            slopes = self.written(operation, formula, y, replace(g, value=constant(1.0)), beside)
            cotangents |= {k: zeros.product(self.unit, slope, g.value) for k, slope in slopes.items()}
        if rule.tag == "elementwise":
            full = g.full and self._one_shape(operation)
        else:  # a refined pullback may leave the shape of its argument to broadcasting
            full = pullback in rule.exact
        if rule.joint is not None and pullback is rule.pullback and len(cotangents) == len(rule.differentiable):
            cotangents = self._at_once(operation, y, g, cotangents)
        alone = len(cotangents) == 1 and isinstance(g.value, gast.Name)
        idle = self._idle(operation, g)
        for k, value in cotangents.items():
            value = simplified(clone(value))  # which may be no new memory any more
            own = g.own and alone and same(value, g.value)
            given = self.kinds.get(operation.operands[k].id)
            passed = _passes_structures(operation) and not isinstance(given, (Array, Number))
            numeric = not (passed or isinstance(given, Container))
            kind = self.inference.kind(value)
            if rule.tag == "elementwise" and g.full:
                kind = self._of_result(kind, y)
            self.contribute(operation.operands[k], Cotangent(value, kind, full, None, numeric, g.mask, own, idle))

    def _spoiled(self, operation: Operation, pullback: Callable, g: Cotangent) -> frozenset[int]:
        """The operands whose cotangents would be nan where `g` is 0 because its value is not used there."""
        if not g.idle or operation.rule.tag != "elementwise":
            return frozenset()
        return zeros.spoiled(operation, pullback, self.inference, g.idle)

    def _beside_selected(self, operation: Operation, wanted: list[int]) -> list[int]:
        """The factors of a product, or of a quotient, with a value that a mask makes 0."""
        if not isinstance(operation.node, gast.BinOp) or not isinstance(operation.node.op, (gast.Mult, gast.Div)):
            return []
        made = [isinstance(o, gast.Name) and o.id in self.selected_values for o in operation.operands]
        return [k for k in wanted if made[1 - k] and (k == 1 or isinstance(operation.node.op, gast.Mult))]

    def _idle(self, operation: Operation, g: Cotangent) -> int:
        """Whether cotangents are 0 where that of the result is 0, or where the operation leaves its operands out."""
        own = table.passes_over(operation.target)
        if own and self.are_picked(getattr(operation.node, "args", [])):
            own = table.VALUES
        return max(own, g.idle if operation.rule.tag in ("elementwise", "linear") else 0)

    def _at_once(
        self, operation: Operation, y: gast.AST, g: Cotangent, cotangents: dict[int, gast.AST]
    ) -> dict[int, gast.AST]:
        """The names of all cotangents, from one call that gives what these expressions would."""
        formula = inline.formula(operation.rule.joint, 1)
        self.decisions.discard()
        call = self.written(operation, formula, y, g, [0])[0]
        names = {k: self.unit.temp() for k in cotangents}
        self.kinds |= {names[k]: self.inference.kind(value) or UNKNOWN for k, value in cotangents.items()}
        target = gast.Tuple([name(n, store=True) for n in names.values()], gast.Store())
        self.out.append(gast.Assign([target], call, None))
        return {k: name(n) for k, n in names.items()}

    def _of_result(self, kind: Kind | None, y: gast.AST) -> Kind | None:
        """The kind of a full cotangent times a slope: the operands that the slope reads were stretched to the result."""
        result = self.kinds.get(y.id)
        if not isinstance(kind, Array) or not isinstance(result, Array) or result.dims is None:
            return kind
        return kind if kind.dims is not None and None not in kind.dims else Array(kind.dtype, result.dims)

    def wants_result(self, operation: Operation) -> bool:
        """Whether the adjoint of an operation reads its result."""
        if operation.form != "rule" or operation.rule.variadic:
            return False
        formula = inline.formula(operation.rule.choose(self.argument_kinds(operation)))
        wanted = [k for k, o in enumerate(operation.operands) if isinstance(o, gast.Name) and o.id in self.active]
        return formula is not None and bool(formula.uses(formula.parameters[1], wanted))

    def written(
        self, operation: Operation, formula: inline.Formula, y: gast.AST, g: Cotangent, wanted: list[int]
    ) -> dict[int, gast.AST]:
        """The wanted cotangents of a formula; the assignments before them are written."""
        g_name, y_name, *names = formula.parameters
        holes: dict[str, gast.AST] = {g_name: g.value, y_name: y}
        holes |= {n: constant(v) for n, v in operation.rule.keywords.items()} | operation.keywords
        holes |= dict(zip(names, operation.operands, strict=False))
        before, cotangents = inline.write(self.unit, formula, holes, wanted, self._divides(operation))
        for statement in before:
            statement.value = with_axes(self.unit, statement.value, self.inference.kind)
            self.kinds[statement.targets[0].id] = self.inference.kind(statement.value) or UNKNOWN
            self.out.append(statement)
        found = {k: self.decisions.read_off(self.shapes_of_variables(v)) for k, v in cotangents.items()}
        return {k: with_axes(self.unit, v, self.inference.kind) for k, v in found.items()}

    def call_of(self, operation: Operation, pullback: Callable, y: gast.AST, g: Cotangent) -> gast.AST:
        """The call of a pullback that is not written out."""
        target = name(self.unit.helper(f"{pullback.__name__}_pullback", pullback))
        given = [gast.keyword(k, clone(v)) for k, v in operation.keywords.items()]
        return gast.Call(target, [g.value, y, *map(clone, operation.operands)], given)

    def _is_selection(self, operation: Operation, wanted: list[int]) -> bool:
        """Whether a branch of `np.where` was computed in place, and may have a derivative that is not finite."""
        names = [operation.operands[k].id for k in wanted]
        return len(operation.operands) == 3 and bool(wanted) and any(n in self.unit.temps for n in names)

    def _selection(self, operation: Operation, g: Cotangent, wanted: list[int]) -> None:
        if len(wanted) > 1:
            g = self.named(g)
        for k in wanted:
            part = Cotangent(g.value, g.kind, False, mask=(operation.operands[0], k == 1))
            self.contribute(operation.operands[k], part)

    def shapes_of_variables(self, node: gast.AST) -> gast.AST:
        """Only the shape of a temporary is asked for: ask a variable of the same shape instead."""
        for part in nodes(node):
            if isinstance(part, gast.Call) and catalogue.of(self.unit.resolve(part.func)).asks_shape:
                if part.args and isinstance(part.args[0], gast.Name) and part.args[0].id in self.alike:
                    part.args[0] = name(self.alike[part.args[0].id])
        return node

    def note_alike(self, target: str, operation: Operation) -> None:
        """Remember that a temporary has the shape of an operand of its elementwise operation."""
        if target not in self.unit.temps or operation.rule is None or operation.rule.tag != "elementwise":
            return
        kind = self.kinds.get(target)
        dims = kind.dims if isinstance(kind, Array) and kind.dims is not None else ()
        if not all(map(self.inference.symbols.is_exact, dims)):
            return
        for operand in operation.operands:
            if isinstance(operand, gast.Name) and operand.id in self.unit.locals and isinstance(kind, Array):
                other = self.kinds.get(operand.id)
                if relation(kind, other) == "same" and getattr(other, "dtype", None) == kind.dtype:
                    self.alike[target] = self.alike.get(operand.id, operand.id)
                    return

    def _fills(self, operation: Operation, g: Cotangent, y: gast.AST, wanted: list[int]) -> bool:
        """Whether a cotangent left small serves every operand: it need not be summed there, or is of full shape by then."""
        if self._same_shapes(operation, wanted, y):
            return True
        formula = inline.formula(operation.rule.choose(self.argument_kinds(operation)))
        if g.mask is not None or formula is None or formula.prelude:
            return False
        result = self.kinds.get(y.id)
        values = self.written(operation, formula, y, replace(g, value=clone(g.value)), wanted)
        return all(relation(self.inference.kind(value), result) == "same" for value in values.values())

    def _same_shapes(self, operation: Operation, wanted: list[int], y: gast.AST) -> bool:
        """Whether each operand has the shape of the result, so that a cotangent left small serves them as well."""
        result = self.kinds.get(y.id)
        dims = result.dims if isinstance(result, Array) and result.dims is not None else ()
        if not all(map(self.inference.symbols.is_exact, dims)):  # one of them may have been stretched
            return False
        return all(relation(result, self.inference.kind(operation.operands[k])) == "same" for k in wanted)

    def _one_shape(self, operation: Operation) -> bool:
        """Whether all operands but one are numbers, so that the result has the shape of that one."""
        if any(k in operation.rule.keyword_rules for k in operation.keywords):
            return False
        kinds = [self.inference.kind(o) for o in operation.operands]
        return sum(not isinstance(k, Number) for k in kinds) == 1 and not any(
            isinstance(k, Number) and isinstance(o, gast.Name) and o.id in self.active
            for k, o in zip(kinds, operation.operands, strict=True)
        )

    def argument_kinds(self, operation: Operation) -> dict[str, Kind]:
        rule = operation.rule
        kinds = {n: constant_kind(v) for n, v in rule.keywords.items()}
        for parameter, node in [*zip(rule.differentiable, operation.operands, strict=False), *operation.keywords.items()]:
            kinds[parameter] = self.inference.kind(node) or UNKNOWN
        tuples = {n: axes_of(kinds[n]) for n in operation.keywords if isinstance(kinds[n], Container)}
        return kinds | {n: Known(axes) for n, axes in tuples.items() if axes is not None}

    def _called_rule(self, operation: Operation, pullback: Callable, y: gast.AST, g: Cotangent, wanted: list[int]) -> None:
        value = self.call_of(operation, pullback, y, g)
        several = operation.rule.variadic or len(operation.rule.differentiable) > 1
        if several:
            holder = self.unit.temp()
            self.kinds[holder] = UNKNOWN
            self.out.append(assign(holder, value))
        for k in wanted:
            part = gast.Subscript(name(holder), constant(k), gast.Load()) if several else value
            kind = self.kinds.get(operation.operands[k].id)
            numeric = not isinstance(kind, Container)
            self.contribute(operation.operands[k], Cotangent(part, kind, numeric=numeric, idle=self._idle(operation, g)))

    def _divides(self, operation: Operation) -> Callable[[gast.BinOp], bool]:
        """Divisions by a possible zero: an operator would have raised in the primal, a NumPy function does not."""
        is_operator = isinstance(operation.node, (gast.BinOp, gast.UnaryOp))
        module = getattr(operation.target, "__module__", None)
        if is_operator or module == "math":
            return lambda division: False
        return lambda division: (
            not self._is_not_zero(division.right)
            and all(is_python_number(self.inference.kind(side)) for side in (division.left, division.right))
        )

    def _is_not_zero(self, node: gast.AST) -> bool:
        """Whether a divisor is a constant, or the number of elements of an array that has some."""
        if isinstance(node, gast.Constant):
            return bool(node.value)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "size" and node.args:
            kind = self.inference.kind(node.args[0])
            known = isinstance(kind, Array) and kind.dims is not None
            return known and all(d == 1 or (surely_not_one(d) and d != 0) for d in kind.dims)
        return False


def _passes_structures(operation: Operation) -> bool:
    """Whether what an operation is given may be a list, a tuple or a dict, and its cotangent too, though nothing is known
    of it: rules of NumPy and SciPy give arrays."""
    module = getattr(operation.target, "__module__", None) or ""
    return operation.rule.tag != "elementwise" and module.partition(".")[0] not in ("numpy", "scipy", "")
