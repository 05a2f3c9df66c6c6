"""A function under `checkpoint`, called on the differentiated path: its adjoint begins with its forward sweep.

y = checkpoint(layer)(x)      ->      y = layer(x)      ...      x_bar = layer_bwd(x, y_bar)

Of the call, only the arguments are kept.
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.cleanup import deadcode
from s2sgrad.driver.compilation import Compilation
from s2sgrad.driver.emitted import marked
from s2sgrad.driver.pair import Callee
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import assign, clone, name


class Recomputed(Callee):
    """The pair of a function that records nothing."""

    again = True

    def sweeps(self, c: Compilation) -> tuple[list[gast.AST], list[gast.AST], gast.AST]:
        """The function that computes the value alone; and both sweeps as the adjoint, which restores the arguments first."""
        forward, reverse, value = super().sweeps(c)
        bound = sorted(effects.written(forward) & set(self.parameters))
        fresh = {p: c.unit.local(p) for p in bound}
        c.unit.kinds.update({fresh[p]: c.unit.kinds.get(p) for p in bound})
        heads = marked([assign(fresh[p], name(p)) for p in bound], "forward")
        computing = self._function([*clone(forward), *marked([gast.Return(value)], "forward")])
        scoping.rename(fresh, *computing.body)  # the parameters keep their names
        *computing, returned = deadcode.run(c.unit, computing).body
        return [*heads, *computing], deadcode.run(c.unit, self._function([*forward, *reverse])).body, returned.value

    def _function(self, body: list[gast.AST]) -> gast.FunctionDef:
        return gast.FunctionDef("", self.arguments, body, [], None, None, [])
