"""Tangents of names whose aliasing is not known statically: the tangent of a view is a view of the tangent (see `mirror`).

    v = y[1:]               ->      v = y[1:]; v_dot = y_dot[1:]
    v = np.diagonal(m)      ->      v = np.diagonal(m); v_dot = tangent_of(v, m, m_dot, np.diagonal(m_dot))
    v = chosen(x, y)        ->      t, t_dot = chosen_jvp(..); v_dot = tangent_of(t, (x, y), (x_dot, y_dot), t_dot); v = t
    v *= w                  ->      v_dot[...] = ..; v *= w

These tangents exist from the first binding on, because a write through one name may be read through another.
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.kinds import Array, Container, Number
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.forward.tangents import Tangents
from s2sgrad.ir.quote import assign, constant, name, substitute
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.sources import is_fresh
from s2sgrad.memory.writes import in_place
from s2sgrad.mirror.shadows import Made, Shadow, Shadows, one_or_all, without_rule
from s2sgrad.runtime import shadows as runtime


class Mirrored:
    """The tangents of the variables `names`."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, tangents: Tangents, names: set[str]) -> None:
        self.unit, self.tree, self.tangents, self.names = unit, tree, tangents, names
        self.shadows = Shadows(unit, tree, tangents.kinds, names, tangents.dot, by_value=True)

    def begin(self) -> list[gast.AST]:
        """The initial tangents of the parameters."""
        out: list[gast.AST] = []
        for p in (p.id for p in parameters(self.tree) if p.id in self.names):
            dot = self.tangents.dot(p)
            given = p in self.tangents.present
            holds = not isinstance(self.tangents.kinds.get(p), (Array, Number))  # tangents that are 0 may be apart
            if given and (holds or self.shadows.lie_alike):
                out.append(assign(dot, call(self.unit, "laid_like", runtime.laid_like, name(dot), name(p))))
            elif not given:
                out.append(self.shadows.of_parameter(p, True))
                self.tangents.present.add(p)
        return out

    def bound(self, statement: gast.AST, x: str, y: gast.Name, value: gast.AST | None) -> gast.AST:
        """The statement for the tangent of `x`, which a statement binds to `y` or writes; `value` is None for a zero."""
        dot = self.tangents.dot(x)
        if in_place(self.unit, statement, self.tangents.kinds) is not None:
            if isinstance(self.tangents.kinds.get(x), Container):  # its arrays or slots are written
                return assign(dot, value)
            whole = gast.Subscript(name(dot), constant(Ellipsis), gast.Store())
            return gast.Assign([whole], constant(0.0) if value is None else value, None)
        shadow = self.shadows.of(x, statement.value)
        if shadow.made is Made.NEW and isinstance(self.tangents.kinds.get(x), Container):
            return assign(dot, substitute(shadow.statements[-1].value, {x: y.id}) if value is None else value)
        if shadow.made is Made.NEW:
            return assign(dot, self._new(y, value))
        *checks, last = shadow.statements
        for part in (*checks, last) if shadow.found else ():  # a value that is not bound to its name yet
            part.value.args[0] = name(y.id)
        self.tangents.out += checks
        made = last.value
        if shadow.found and shadow.made is Made.PERHAPS:
            given = [*made.args, constant(0.0) if value is None else value]
            made = call(self.unit, "tangent_of", runtime.tangent_of, *given)
        return assign(dot, made)

    def is_view_of(self, operation: Operation, targets: list[str]) -> bool:
        """Whether a target has a tangent as a view although the operation has none."""
        return not self.names.isdisjoint(targets) and without_rule(operation)

    def _new(self, y: gast.Name, value: gast.AST | None) -> gast.AST:
        """A tangent in new memory, with the memory layout of the array."""
        if value is None:
            return self.shadows.zeros(name(y.id), not self.shadows.lie_alike)
        if is_fresh(self.unit, value) and not self.shadows.lie_alike:
            return value
        return call(self.unit, "laid_like", runtime.laid_like, value, name(y.id))

    def called(self, statement: gast.Assign, x: str, y: gast.Name, dot: gast.Name) -> gast.AST:
        """The statement for the tangent of `x`, which is bound to the result of a call, `y` with the tangent `dot`."""
        shadow: Shadow = self.shadows.of(x, statement.value)
        if shadow.made is Made.NEW:
            return assign(self.tangents.dot(x), self._new(y, dot))
        given = [y, one_or_all(shadow.sources), self.shadows.bars(shadow.sources), dot]
        return assign(self.tangents.dot(x), call(self.unit, "tangent_of", runtime.tangent_of, *given))
