"""A function with its adjoint: runs the reverse sweep, and joins both sweeps as the purpose needs them.

def f(x): y = x * x; return y      ->      def f(x, *, seed): y = x * x; x_bar = seed * x + x * seed; ...
"""

from __future__ import annotations

import gast

from s2sgrad.analysis.activity import sources
from s2sgrad.analysis.complex_kinds import loosened
from s2sgrad.analysis.kinds import UNKNOWN, Kind, Number
from s2sgrad.analysis.number_types import is_real
from s2sgrad.analysis.primitive_calls import is_known_late
from s2sgrad.driver.compilation import Compilation, Purpose
from s2sgrad.ir.quote import clone, constant
from s2sgrad.ir.unit import parameters
from s2sgrad.transform import escape_copies
from s2sgrad.transform.calls import LATE
from s2sgrad.transform.reverse import Reverse


class Differentiated(Purpose):
    """What the gradient of an entry and the pair of a callee have in common; `seed` names the cotangent of the result;
    `inner`: the function is called by a differentiated one."""

    differentiates = True
    inner = False

    def __init__(self) -> None:
        self.seed = ""

    def sweep(self, c: Compilation, seed: str, idle: int = 0) -> gast.FunctionDef:
        """Build the adjoint (`self.walk`, `self.swept`); the forward sweep as a function with the seed as keyword."""
        self.seed = c.unit.local(seed)
        c.unit.derivative.floating.add(self.seed)
        c.unit.derivative.seeds.add(self.seed)
        self.arguments, self.parameters = c.tree.args, [p.id for p in parameters(c.tree)]
        self.walk = Reverse(c.unit, c.tree, c.inference, c.callees, c.paths, self.seed, idle, self.inner)
        result = c.kinds.get(self.walk.paths.result, UNKNOWN)
        double = is_real(result) or not c.unit.derivative.complex
        c.kinds[self.seed] = Number(None, double=double) if isinstance(result, Number) else loosened(c.unit, result)
        self.swept = self.walk.run()
        c.unit.kinds = self.swept.kinds
        escape_copies.attributes(c.unit, self.swept.forward, self.walk.records, c.kinds)
        arguments = clone(c.tree.args)
        arguments.kwonlyargs = [*arguments.kwonlyargs, gast.Name(self.seed, gast.Param(), None, None)]
        arguments.kw_defaults = [*arguments.kw_defaults, constant(None)]
        return gast.FunctionDef(c.tree.name, arguments, list(self.swept.forward), [], None, None, [])

    def kind(self, name: str) -> Kind:
        """The kind of a variable after the sweep."""
        return self.swept.kinds.get(name, UNKNOWN)


def follows_own_rules(c: Compilation) -> bool:
    """Whether a derivative may be what the user says that it is: of an operation with the user's rule, or of a callable that
    is known only at run time."""
    for operation in c.paths.operations.values():
        own = operation.rule is not None and operation.rule.given is not None
        late = operation.form == "call" and (is_known_late(operation.target) or operation.target in LATE)
        if (own or late) and not c.paths.varied.isdisjoint(sources(operation)):
            return True
    return False
