"""The adjoint of one operation, and the adjoint variables while the program is walked backwards.

Contributions are collected while a source statement is treated and written once, as one expression a variable:

    z = x * y + x       ->      y_bar = z_bar * x; x_bar = z_bar * y + z_bar

An absent adjoint is a zero that is never written.  `+=` is used on numbers and on arrays that this function made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import (
    UNKNOWN,
    Array,
    Container,
    Kind,
    Known,
    Number,
    constant_kind,
    is_python_number,
    surely_not_one,
)
from s2sgrad.analysis.operations import Operation
from s2sgrad.analysis.memory import is_fresh
from s2sgrad.cleanup.algebra import simplified
from s2sgrad.quote import assign, clone, constant, name, nodes
from s2sgrad.transform import inline, stores
from s2sgrad.transform.cotangents import Bar, Cotangent, accumulate, index_value, total
from s2sgrad.transform.inline import call
from s2sgrad.transform.shapes import conformed, relation
from s2sgrad.unit import Unit

_SHAPE_ONLY = {"size", "shape", "ndim", "full_like", "zeros_like", "ones_like"}


class Adjoints:
    """The adjoint variables, and the statements that compute them in the order in which the reverse sweep runs."""

    def __init__(self, unit: Unit, inference: Inference, active: set[str], stacks: set[str]) -> None:
        self.unit, self.inference = unit, inference
        self.kinds = inference.env
        self.active = active
        self.stacks = stacks
        self.present: dict[str, Bar] = {}
        self.pending: dict[str, list[Cotangent]] = {}
        self.names: dict[str, str] = {}
        self.out: list[gast.AST] = []
        self.storing: stores.Store | None = None
        self.alike: dict[str, str] = {}

    # --- adjoint variables ---

    def bar(self, x: str) -> str:
        """The name of the adjoint of `x`."""
        if x not in self.names:
            self.names[x] = self.unit.local(f"{x}_bar")
            if x in self.unit.temps:
                self.unit.temps.add(self.names[x])
            self.kinds[self.names[x]] = self.kinds.get(x, UNKNOWN)
            self.unit.bars.add(self.names[x])
            self.unit.bases[self.names[x]] = f"{self.unit.bases.get(x, x)}_bar"
        return self.names[x]

    def zero(self, x: str, bound: bool = True) -> gast.AST:
        """A zero of the shape of `x`; where `x` may be unbound it holds None."""
        kind = self.kinds.get(x)
        if isinstance(kind, Number):
            return constant(0.0)
        if isinstance(kind, Array) and bound:
            return call(self.unit, "zeros_like", np.zeros_like, name(x))
        return call(self.unit, "zeros", runtime.zeros, name(x))

    def start(self, x: str, bound: bool = True) -> None:
        """Write a zero where the adjoint of `x` is absent."""
        self.out.append(assign(self.bar(x), self.zero(x, bound)))
        self.present[x] = Bar(self.bar(x), own=not isinstance(self.kinds.get(x), Number), exact=True)

    def make_own(self, x: str) -> None:
        """Copy the adjoint of `x` unless this function made it."""
        bar = self.present[x]
        if not bar.own:
            self.out.append(assign(bar.name, call(self.unit, "own", runtime.own, name(bar.name))))
            bar.own = True

    # --- contributions ---

    def contribute(self, x: gast.AST, cotangent: Cotangent) -> None:
        """Add to the adjoint of an operand, when the statement has been treated."""
        if not isinstance(x, gast.Name) or x.id not in self.active:
            return
        if cotangent.mask is not None:
            if x.id in self.unit.temps:
                self.pending.setdefault(x.id, []).append(cotangent)
                return
            cotangent = self.selected(cotangent)
        if cotangent.index is None and not cotangent.full and not isinstance(self.kinds.get(x.id), Container):
            how = relation(cotangent.kind, self.kinds.get(x.id))
            if how == "same":
                cotangent.full = True
            elif how != "under" or x.id not in self.unit.temps:
                cotangent = self.spread(cotangent, x.id)
        self.pending.setdefault(x.id, []).append(cotangent)

    def spread(self, cotangent: Cotangent, x: str) -> Cotangent:
        """The contribution, of exactly the shape of `x`; a mask is applied before anything is summed."""
        summed = relation(cotangent.kind, self.kinds.get(x)) not in ("same", "under")
        if summed:
            cotangent = self.selected(cotangent)
        value = conformed(self.unit, cotangent.value, cotangent.kind, self.alike.get(x, x), self.kinds.get(x))
        return Cotangent(value, self.kinds.get(x), mask=cotangent.mask)

    def selected(self, cotangent: Cotangent) -> Cotangent:
        """The contribution with its mask applied."""
        if cotangent.mask is None:
            return cotangent
        condition, branch = cotangent.mask
        sides = (cotangent.value, constant(0.0)) if branch else (constant(0.0), cotangent.value)
        value = call(self.unit, "where", np.where, clone(condition), *sides)
        return Cotangent(value, self.inference.kind(value), full=False)

    def settled(self, cotangent: Cotangent, x: str) -> Cotangent:
        """The contribution with its mask applied, and summed where the mask is larger than `x`."""
        if cotangent.mask is None:
            return cotangent
        cotangent = self.selected(cotangent)
        how = relation(cotangent.kind, self.kinds.get(x))
        if how == "under":
            return cotangent
        return replace(cotangent, full=True) if how == "same" else self.spread(cotangent, x)

    def take(self, y: str) -> Cotangent | None:
        """The adjoint of a target, which its own assignment consumes; None if it is zero."""
        if y in self.pending and y in self.unit.temps:
            given = self.pending.pop(y)
            if y in self.present:
                given.insert(0, self._held(y))
                del self.present[y]
            if any(c.index is not None for c in given) or not all(c.numeric for c in given[1:]):
                given = [self.settled(c, y) for c in given]
                self.write(y, given)
                return self._held(y, consume=True)
            if len(given) == 1:
                return given[0]
            given = [self.settled(c, y) for c in given]
            value = total([c.value for c in given])
            return Cotangent(value, self.inference.kind(value), any(c.full for c in given), None, given[0].numeric)
        return self._held(y, consume=True) if y in self.present else None

    def _held(self, y: str, consume: bool = False) -> Cotangent:
        bar = self.present.pop(y) if consume else self.present[y]
        kind = self.kinds.get(y, UNKNOWN)
        return Cotangent(name(bar.name), kind, True, None, isinstance(kind, (Number, Array)), None, consume and bar.own)

    def flush(self, targets: list[str] = ()) -> None:
        """Write the collected contributions; those to the statement's own targets last, for the others read them."""
        self.pending = {x: [self.settled(c, x) for c in given] for x, given in self.pending.items()}
        if self.storing is not None:
            stores.finish(self)
            return
        late = [x for x in self.pending if x in targets]
        for x in [x for x in self.pending if x not in late] + late:
            self.write(x, self.pending[x], late=x in late)
        self.pending.clear()

    def write(self, x: str, given: list[Cotangent], late: bool = False) -> None:
        """Add contributions to the adjoint of `x`; `late`: their values may read it."""
        whole = [c for c in given if c.index is None]
        sections = [c for c in given if c.index is not None]
        kind = self.kinds.get(x, UNKNOWN)
        bar = self.bar(x)
        if late and sections:  # their values may read the old adjoint
            sections = [replace(c, value=self.named(c, anew=True).value) for c in sections]
        if whole:
            whole = [c if c.full or not isinstance(kind, Array) else self.spread(c, x) for c in whole]
            self._write_whole(x, bar, whole, kind)
        if not sections:
            return
        if x in self.present:
            self.make_own(x)
        else:
            self.start(x)
        for section in sections:
            self._write_section(bar, kind, section)

    def _write_whole(self, x: str, bar: str, whole: list[Cotangent], kind: Kind) -> None:
        numeric = isinstance(kind, (Number, Array)) or all(c.numeric for c in whole)
        held = self.present.get(x)
        if x in self.stacks:  # the cotangent of a whole list, to be taken apart in place
            self.out.append(assign(bar, call(self.unit, "own", runtime.own, whole[0].value)))
            return
        if numeric:
            value = total([c.value for c in whole])
        else:
            value = whole[0].value
            for c in whole[1:]:
                value = call(self.unit, "add", runtime.add, value, c.value)
        value = simplified(clone(value))  # `z_bar * 1.0` would look like new memory
        fresh = isinstance(kind, Array) and (is_fresh(self.unit, value) or (len(whole) == 1 and whole[0].own))
        if held is None and not fresh and stores.reads_section(self, value):
            value, fresh = stores.detached(self, value, kind), isinstance(kind, Array)
        if held is None:
            self.out.append(assign(bar, value))
            self.present[x] = Bar(bar, fresh and kind.rank != 0, self._is_exact(value, kind))
        elif isinstance(kind, Number) or (isinstance(kind, Array) and held.own):
            self.out.append(accumulate(name(bar, store=True), value))
        elif numeric:
            self.out.append(assign(bar, total([name(bar), value])))
            exact = held.exact and self._is_exact(value, kind)
            self.present[x] = Bar(bar, isinstance(kind, Array) and kind.rank != 0, exact)
        else:
            self.out.append(assign(bar, call(self.unit, "add", runtime.add, name(bar), value)))
            self.present[x] = Bar(bar)

    def _is_exact(self, value: gast.AST, kind: Kind) -> bool:
        found = self.inference.kind(value)  # a NumPy seed would widen float32
        return isinstance(kind, Array) and isinstance(found, Array) and found.dtype == kind.dtype == "float64"

    def _write_section(self, bar: str, kind: Kind, section: Cotangent) -> None:
        if isinstance(kind, Array) and kind.rank != 0 and self.is_basic(section.index):
            target = gast.Subscript(name(bar), clone(section.index), gast.Store())
            self.out.append(accumulate(target, section.value))
        else:
            index = index_value(section.index, self.unit.builtin(slice))
            self.out.append(assign(bar, call(self.unit, "add_at", runtime.add_at, name(bar), index, section.value)))

    def is_basic(self, index: gast.AST) -> bool:
        """Whether no position can occur twice in the index."""
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        for part in parts:
            kind = None if isinstance(part, gast.Slice) else self.inference.kind(part)
            if isinstance(part, gast.Slice) or isinstance(kind, Number):
                continue
            if isinstance(kind, Known) and (kind.value is None or kind.value is Ellipsis):
                continue
            if not (isinstance(kind, Array) and kind.dtype == "bool"):
                return False
        return True

    # --- operations ---

    def operation(self, operation: Operation, y: gast.AST, g: Cotangent) -> None:
        """Contribute to the operands of `y = operation`, given the cotangent of `y`, a name or a tuple of names."""
        if operation.form != "rule" and isinstance(y, gast.Name):
            g = self.settled(g, y.id)
        if operation.form == "atom":
            self.contribute(operation.node, g)
        elif operation.form == "rule":
            self._rule(operation, y, g)
        elif operation.form == "item":
            self.contribute(operation.operands[0], Cotangent(g.value, g.kind, True, operation.node.slice, g.numeric))
        elif operation.form == "display":
            self._display(operation, g)

    def _display(self, operation: Operation, g: Cotangent) -> None:
        keys = operation.node.keys if isinstance(operation.node, gast.Dict) else None
        if sum(isinstance(o, gast.Name) and o.id in self.active for o in operation.operands) > 1:
            g = self.named(g)
        for k, operand in enumerate(operation.operands):
            if isinstance(g.value, (gast.Tuple, gast.List)) and keys is None and len(g.value.elts) > k:
                part: gast.AST = clone(g.value.elts[k])
            else:
                place = constant(k) if keys is None else clone(keys[k])
                part = gast.Subscript(clone(g.value), place, gast.Load())
            kind = self.kinds.get(operand.id) if isinstance(operand, gast.Name) else None
            self.contribute(operand, Cotangent(part, kind, True, None, isinstance(kind, (Number, Array))))

    def named(self, g: Cotangent, anew: bool = False) -> Cotangent:
        """The cotangent behind a name, so that it may be mentioned twice; `anew`: a name that stays when others change."""
        if isinstance(g.value, gast.Constant) or (isinstance(g.value, gast.Name) and not anew):
            return g
        holder = self.unit.temp()
        self.kinds[holder] = g.kind or UNKNOWN
        value = g.value if is_fresh(self.unit, g.value) else stores.hold(self, holder, g.value, g.kind)
        self.out.append(assign(holder, value))
        return Cotangent(name(holder), g.kind, g.full, None, g.numeric)

    def held_apart(self, g: Cotangent) -> Cotangent:
        """The contribution, not touched by what the store in progress will change."""
        if not stores.reads_section(self, g.value):
            return g
        return replace(self.named(g, anew=True), index=g.index, mask=g.mask, full=g.full)

    def _rule(self, operation: Operation, y: gast.AST, g: Cotangent) -> None:
        rule = operation.rule
        wanted = [
            k for k, o in enumerate(operation.operands) if isinstance(o, gast.Name) and o.id in self.active
        ]
        if not wanted:
            return
        if g.mask is not None and (rule.tag != "elementwise" or operation.target is np.where):
            g = self.settled(g, y.id)
        if operation.target is np.where and self._is_selection(operation, wanted):
            self._selection(operation, g, wanted)
            return
        if not g.full and (rule.tag != "elementwise" or not self._same_shapes(operation, wanted, y)):
            g = self.spread(g, y.id)
        pullback = rule.pullback if rule.variadic else rule.choose(self._argument_kinds(operation))
        formula = None if rule.variadic else inline.formula(pullback)
        if formula is None:
            self._called_rule(operation, pullback, y, self.named(g), wanted)
            return
        g_name, y_name, *names = formula.parameters
        if formula.uses(g_name, wanted) > 1 or (formula.prelude and stores.reads_section(self, g.value)):
            g = replace(self.named(g), mask=g.mask)
        holes: dict[str, gast.AST] = {g_name: g.value, y_name: y}
        holes |= {n: constant(v) for n, v in rule.keywords.items()} | operation.keywords
        holes |= dict(zip(names, operation.operands, strict=False))
        before, cotangents = inline.write(self.unit, formula, holes, wanted, self._divides(operation))
        cotangents = {k: self.shapes_of_variables(value) for k, value in cotangents.items()}
        for statement in before:
            self.kinds[statement.targets[0].id] = self.inference.kind(statement.value) or UNKNOWN
            self.out.append(statement)
        if rule.tag == "elementwise":
            full = g.full and self._one_shape(operation)
        else:  # a base pullback gives the shape of its argument; a refined one may leave it to broadcasting
            full = pullback is rule.pullback
        for k, value in cotangents.items():
            numeric = not isinstance(self.kinds.get(operation.operands[k].id), Container)
            self.contribute(
                operation.operands[k],
                Cotangent(value, self.inference.kind(value), full, None, numeric, g.mask, g.own and value is g.value),
            )

    def wants_result(self, operation: Operation) -> bool:
        """Whether the adjoint of an operation reads its result."""
        if operation.form != "rule" or operation.rule.variadic:
            return False
        formula = inline.formula(operation.rule.choose(self._argument_kinds(operation)))
        wanted = [k for k, o in enumerate(operation.operands) if isinstance(o, gast.Name) and o.id in self.active]
        return formula is not None and bool(formula.uses(formula.parameters[1], wanted))

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
            if isinstance(part, gast.Call) and isinstance(part.func, gast.Attribute) and part.func.attr in _SHAPE_ONLY:
                if part.args and isinstance(part.args[0], gast.Name) and part.args[0].id in self.alike:
                    part.args[0] = name(self.alike[part.args[0].id])
        return node

    def note_alike(self, target: str, operation: Operation) -> None:
        """Remember that a temporary has the shape of an operand of its elementwise operation."""
        if target not in self.unit.temps or operation.rule is None or operation.rule.tag != "elementwise":
            return
        kind = self.kinds.get(target)
        for operand in operation.operands:
            if isinstance(operand, gast.Name) and operand.id in self.unit.locals and isinstance(kind, Array):
                other = self.kinds.get(operand.id)
                if relation(kind, other) == "same" and getattr(other, "dtype", None) == kind.dtype:
                    self.alike[target] = self.alike.get(operand.id, operand.id)
                    return

    def _same_shapes(self, operation: Operation, wanted: list[int], y: gast.AST) -> bool:
        """Whether each operand has the shape of the result, so that a cotangent left small serves them as well."""
        result = self.kinds.get(y.id)
        return all(relation(result, self.inference.kind(operation.operands[k])) == "same" for k in wanted)

    def _one_shape(self, operation: Operation) -> bool:
        """Whether all operands but one are numbers, so that the result has the shape of that one."""
        kinds = [self.inference.kind(o) for o in operation.operands]
        return sum(not isinstance(k, Number) for k in kinds) == 1 and not any(
            isinstance(k, Number) and isinstance(o, gast.Name) and o.id in self.active
            for k, o in zip(kinds, operation.operands, strict=True)
        )

    def _argument_kinds(self, operation: Operation) -> dict[str, Kind]:
        rule = operation.rule
        kinds = {n: constant_kind(v) for n, v in rule.keywords.items()}
        for parameter, node in [*zip(rule.differentiable, operation.operands, strict=False), *operation.keywords.items()]:
            kinds[parameter] = self.inference.kind(node) or UNKNOWN
        return kinds

    def _called_rule(
        self, operation: Operation, pullback: Callable, y: gast.AST, g: Cotangent, wanted: list[int]
    ) -> None:
        target = name(self.unit.helper(f"{pullback.__name__}_pullback", pullback))
        keywords = [gast.keyword(k, clone(v)) for k, v in operation.keywords.items()]
        value: gast.AST = gast.Call(target, [g.value, y, *map(clone, operation.operands)], keywords)
        several = operation.rule.variadic or len(operation.rule.differentiable) > 1
        if several:
            holder = self.unit.temp()
            self.kinds[holder] = UNKNOWN
            self.out.append(assign(holder, value))
        for k in wanted:
            part = gast.Subscript(name(holder), constant(k), gast.Load()) if several else value
            self.contribute(operation.operands[k], Cotangent(part, self.kinds.get(operation.operands[k].id)))

    def _divides(self, operation: Operation) -> Callable[[gast.BinOp], bool]:
        """Divisions by a possible zero: an operator would have raised in the primal, a NumPy function does not."""
        is_operator = isinstance(operation.node, (gast.BinOp, gast.UnaryOp))
        module = getattr(operation.target, "__module__", None)
        if is_operator or module == "math":
            return lambda division: False
        return lambda division: not self._is_not_zero(division.right) and all(
            is_python_number(self.inference.kind(side)) for side in (division.left, division.right)
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
