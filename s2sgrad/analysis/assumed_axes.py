"""Assumptions about the axes of arrays, made where a binding has a vague kind and believed where a check stands behind it.

    z = np.sin(x)                               z: Array('float64', (Size(0),))
    z = np.squeeze(w)                           z: an array of some axes, if those of `w` have unknown sizes
    has_axes(z, "float64", 1, "z", 7)           the second binding, too: Array('float64', (None,))

An assumption is the dtype and the rank that a name has at its earlier bindings.  Nothing rests on it but what is checked at
run time.
"""

from __future__ import annotations

import itertools

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Kind, Numeric, Unknown
from s2sgrad.ir.forms import alone
from s2sgrad.ir.quote import nested
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.checks import has_axes


class AssumedAxes:
    """The checks of one function and, where it may assume, the assumptions by name (`made`)."""

    def __init__(self, assuming: bool) -> None:
        self.assuming = assuming
        self.made: dict[str, Array] = {}
        self._checked: dict[int, Array] = {}  # by the identity of the binding

    def read(self, unit: Unit, tree: gast.FunctionDef) -> None:
        """Find the checks in a function."""
        for body in nested(tree.body):
            for binding, check in itertools.pairwise(body):
                asked = alone(check)
                if asked is None or not isinstance(binding, gast.Assign):
                    continue
                if unit.called(asked) is has_axes and effects.targets(binding) == [getattr(asked.args[0], "id", None)]:
                    self._checked[id(binding)] = Array(asked.args[1].value, (None,) * asked.args[2].value)

    def refined(self, binding: gast.Assign, x: str, kind: Kind | None, before: Kind | None) -> Kind | None:
        """The kind of the value that a statement binds to a name: a vague one gives way to a check or an assumption."""
        if not is_vague(kind):
            return kind
        known = self._checked.get(id(binding))
        if known is None and self.assuming and isinstance(before, Array) and not is_vague(before) and before.rank:
            self.made[x] = known = Array(before.dtype, (None,) * before.rank)
        return known or kind

    def unchecked(self, binding: gast.AST, kind: Kind | None) -> bool:
        """Whether a binding of a value of this kind still needs a check."""
        return is_vague(kind) and id(binding) not in self._checked


def is_vague(kind: Kind | None) -> bool:
    """Whether a value may be an array of unknown dtype or rank."""
    return type(kind) in (Unknown, Numeric) or (isinstance(kind, Array) and (kind.dtype is None or kind.dims is None))
