"""Lanes: all columns of a Jacobian at once, with a leading axis added to each tangent that indexes the runs.

    y = x[0] * w                       y = x[0] * w
    y_dot = x_dot[0] * w         ->    y_dot = x_dot[:, 0][:, np.newaxis] * w

Primal statements, loops and branches stay unchanged: no decision depends on a tangent.  Kinds decide how each statement is
rewritten; broadcasting cannot, since it would treat lanes like any other axis.
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Number
from s2sgrad.flow.graph import Block
from s2sgrad.forward import lane_functions, lane_helpers  # noqa: F401  # they register forms of calls
from s2sgrad.forward.lane_forms import Forms, NoLanes, with_lanes
from s2sgrad.forward.tangents import Tangents
from s2sgrad.ir.quote import HEADER, assign, at, blocks, calls_in, expression, loaded, mentioned, name, stored
from s2sgrad.ir.reach import numpy_function
from s2sgrad.ir.unit import sweep_of
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import Gives


class Lanes:
    """Adds lanes to the `tangents` of one function with the parameters `given`; `lent`: a caller may write what they share
    memory with."""

    def __init__(self, tangents: Tangents, given: list[str], written: set[str], lie_alike: bool, lent: bool) -> None:
        if lie_alike:  # an array with lanes has another memory layout
            raise NoLanes("how an array lies in memory decides what is a view of it")
        self.unit, self.given = tangents.unit, given
        self.carrying = {*tangents.names.values()}
        self.written = {tangents.names[x] for x in written if x in tangents.names}
        self.lent = lent
        self.forms = Forms(self.unit, tangents.inference, self.carrying, stores=bool(self.written) or lent)

    def run(self, body: Block, tangent: gast.AST) -> tuple[Block, gast.AST]:
        """The body without its `return`, and the tangent of the value, with lanes."""
        while self._mark_computed(body):
            pass
        out = self._block(body)
        value = self.forms.carried(tangent)
        if self.forms.counted:
            counted = at(out[0] if out else tangent, assign(self.forms.counted, self._count()))
            for statement in counted:
                statement.origin = next((s.origin for s in effects.walk(out) if sweep_of(s) == "tangent"), None)
            out = [*counted, *out]
            self.forms.inference.env[self.forms.counted] = Number(int)
        kinds = self.forms.inference.env
        kinds.update({n: with_lanes(kinds[n]) for n in self.carrying if n in kinds})
        return out, value

    def _mark_computed(self, body: Block) -> bool:
        """Mark the temporaries computed from values with lanes; whether there were new ones."""
        computed = [s for s in effects.walk(body) if sweep_of(s) == "tangent" and isinstance(s, gast.Assign)]
        new = {n for s in computed if self.forms.reads(s.value) for n in stored(*s.targets)} - self.carrying
        self.carrying |= new
        return bool(new)

    def _count(self) -> gast.AST:
        """`len(x_dot)` for a parameter with an array as tangent, or for the first array in the tangent of one."""
        node: gast.AST = name(self.given[0])
        kind = self.forms.kind(node)
        while isinstance(kind, Container):
            items, keys = kind.items or (), kind.keys or ()
            places = [k for k, item in enumerate(items) if isinstance(item, (Array, Number, Container))]
            if not places:
                raise NoLanes("how many lanes there are is not known")
            key = keys[places[0]] if kind.type is dict else places[0]
            node, kind = gast.Subscript(node, gast.Constant(key, None), gast.Load()), items[places[0]]
        if not isinstance(kind, (Array, Number)):
            raise NoLanes("how many lanes there are is not known")
        return gast.Call(self.unit.builtin(len), [node], [])

    # --- statements ---

    def _block(self, body: Block) -> Block:
        return [self._statement(s) for s in body]

    def _statement(self, statement: gast.AST) -> gast.AST:
        if isinstance(statement, tuple(HEADER)):
            if self.forms.reads(getattr(statement, HEADER[type(statement)])):
                raise NoLanes("a decision by a tangent")
            for block in blocks(statement):
                block[:] = self._block(block)
            return statement
        if not any(n in self.carrying for n in mentioned(statement)):
            return statement
        if isinstance(statement, gast.Expr):
            return at(statement, gast.Expr(self._expression(statement.value)))[0]
        if isinstance(statement, gast.AugAssign):
            return self._updated(statement)
        if not isinstance(statement, gast.Assign):
            raise NoLanes(f"a statement of unknown form: {type(statement).__name__}")
        return at(statement, self._assigned(statement))[0]

    def _expression(self, node: gast.AST) -> gast.AST:
        """`s_dot.append(x_dot)` or `push(s_dot, x_dot)`."""
        if not isinstance(node, gast.Call) or node.keywords or len(node.args) > 2:
            raise NoLanes("an expression that stands alone")
        if isinstance(node.func, gast.Attribute) and node.func.attr == "append" and len(node.args) == 1:
            return gast.Call(node.func, [self.forms.carried(node.args[0])], [])
        if self.unit.called(node) is runtime.push:
            return gast.Call(node.func, [node.args[0], self.forms.carried(node.args[1])], [])
        if isinstance(node.func, gast.Attribute) and node.func.attr == "pop" and not node.args:
            return node
        raise NoLanes("an expression that stands alone")

    def _updated(self, statement: gast.AugAssign) -> gast.AST:
        """`y_dot += e`; for a number `y_dot = y_dot + e`, because its other names must keep their value."""
        target, forms = statement.target, self.forms
        rank = forms.rank(loaded(target))
        value = forms.expanded(statement.value, rank)
        if isinstance(target, gast.Name) and isinstance(forms.kind(target), Number):
            new = gast.BinOp(name(target.id), statement.op, value)
            return at(statement, assign(target.id, new))[0]
        where = self._section(target) if isinstance(target, gast.Subscript) else target
        return at(statement, gast.AugAssign(where, statement.op, value))[0]

    def _assigned(self, statement: gast.Assign) -> gast.Assign:
        (target,), value = statement.targets, statement.value
        if isinstance(target, gast.Subscript):
            return gast.Assign([self._section(target)], self._stored(target, value), None)
        if isinstance(target, gast.Tuple):
            return gast.Assign([target], self._unpacked(value), None)
        return assign(target.id, self._apart(value))

    def _section(self, target: gast.Subscript) -> gast.Subscript:
        """The section to be written: of a name, or of what always gives a view of it, with lanes as well."""
        section = self.forms.item(target)
        if effects.base(section) != effects.base(target):
            raise NoLanes("a store through a view of something else")
        if not all(catalogue.of(self.unit.called(c)).gives is Gives.VIEW for c in calls_in(section.value)):
            raise NoLanes("a store through what may be no view with lanes")
        return section

    def _stored(self, target: gast.Subscript, value: gast.AST) -> gast.AST:
        """The value to store, with the axes of the section."""
        forms = self.forms
        if isinstance(forms.kind(target.value), Container) and not isinstance(target.slice, gast.Slice):
            return self._apart(value)
        if isinstance(forms.kind(target.value), Container):
            return forms.carried(value)
        if not forms.reads(value):
            return value
        return forms.expanded(value, forms.rank(loaded(target)))

    def _unpacked(self, value: gast.AST) -> gast.AST:
        """The value to unpack: a call that returns value and tangent, or the items of a tangent."""
        forms = self.forms
        called = self.unit.called(value)
        dots = getattr(called, "dots", None)
        if dots:
            taken = {*dots.values()}
            given = [gast.keyword(k.arg, forms.carried(k.value)) if k.arg in taken else k for k in value.keywords]
            if any(map(forms.reads, value.args)):
                raise NoLanes("a tangent among the arguments")
            return gast.Call(value.func, value.args, given)
        if isinstance(value, gast.Tuple):
            return gast.Tuple([self._apart(e) for e in value.elts], gast.Load())
        kind = forms.kind(value)
        if isinstance(kind, Array) and kind.rank:
            items = forms.lifted(value)
            if kind.rank == 1 and self._may_change(value):  # numbers, which are no views
                items = expression("x.copy()", x=items)
            return expression("np.moveaxis(x, 1, 0)", x=items, np=numpy_function(self.unit, "moveaxis").value)
        if not isinstance(kind, Container):
            raise NoLanes("the items of a value of unknown kind")
        return forms.carried(value)

    def _apart(self, value: gast.AST) -> gast.AST:
        """The value with lanes; copied if it is an element of an array that may be written: without lanes it is a number."""
        new = self.forms.carried(value)
        if not isinstance(value, gast.Subscript) or not isinstance(self.forms.kind(value), Number):
            return new
        return expression("x.copy()", x=new) if self._may_change(value) else new

    def _may_change(self, value: gast.AST) -> bool:
        """Whether the memory of a value may be written later, here or by a caller."""
        return self.lent or effects.base(value) in self.written
