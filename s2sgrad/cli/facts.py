"""Facts about a function before its derivative is written, beside the lines of its normal form (`--facts`).

y[0] = x[1]      ->      # writes y, v; reads x (line 1), y (line 2); live behind it: v
                         y[0] = x[1]
"""

from __future__ import annotations

import gast

from s2sgrad import emit
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import UNKNOWN
from s2sgrad.analysis.type_text import in_words
from s2sgrad.api import Gradient
from s2sgrad.api.forward import Along
from s2sgrad.driver.attempts import compiling
from s2sgrad.driver.emitted import LATER
from s2sgrad.driver.entry import Entry
from s2sgrad.driver.program import Program
from s2sgrad.explanation import differentiated
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import binds
from s2sgrad.ir.unit import Origin, Unit, parameters
from s2sgrad.memory.aliases import ARGUMENT, OUTSIDE, Aliases
from s2sgrad.memory.writes import in_place
from s2sgrad.source import read


def facts(derivative: Gradient | Along, arguments: tuple | None) -> str:
    """The normal form of the differentiated function, with callees that write their arguments inlined. For each statement
    what it binds, writes and reads, with the lines of reaching definitions, and which names are live after it."""
    function, kinds, request = differentiated(derivative, arguments)
    purpose = Entry(function, kinds, request.wrt(), request.options, LATER)
    with compiling():
        c = Program().known(read(function), purpose.kinds, purpose)
        return _Beside(c.unit, c.tree, c.kinds).text()


class _Beside:
    """Prints facts beside the statements of a function."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, kinds: dict) -> None:
        self.unit, self.tree, self.kinds = unit, tree, kinds
        self.facts, self.aliases = Facts(tree), Aliases(unit, tree, kinds)

    def text(self) -> str:
        """The text of the function, with the facts about each statement in a comment before it."""
        notes = [self.note(statement) for statement in effects.walk(self.tree.body)]
        for k, (statement, note) in enumerate(zip(effects.walk(self.tree.body), notes, strict=True)):
            statement.origin = Origin(None, k, 0, note or None)
        heads = [f"# {p.id}: {in_words(self.kinds.get(p.id, UNKNOWN))}\n" for p in parameters(self.tree)]
        return "".join(heads) + emit.function(self.tree)

    def note(self, statement: gast.AST) -> str:
        """The facts about one statement."""
        bound, base = binds(statement), in_place(self.unit, statement, self.kinds)
        written = set() if base is None else {base, *self.aliases.memory_of(base, statement)}
        parts = [
            ("binds", [f"{n} ({in_words(self.kinds.get(n, UNKNOWN))}{self.sharing(n, statement)})" for n in bound]),
            ("writes", self.seen(written, statement)),
            ("reads", [f"{n}{self.lines(n, statement)}" for n in sorted(effects.reads(statement) & self.unit.locals)]),
            ("live behind it:", sorted(self.facts.liveness.after(statement) & self.unit.locals)),
        ]
        return "; ".join(f"{what} {', '.join(names)}" for what, names in parts if names)

    def seen(self, names: set[str], statement: gast.AST) -> list[str]:
        """The names among these that are bound here or live after a statement, and the caller's arrays."""
        here = self.facts.liveness.after(statement) | effects.writes(statement)
        shown = {n for n in names if n in here or n not in self.unit.locals}
        return sorted(n.replace(ARGUMENT, "the caller's ").removeprefix(OUTSIDE) for n in shown)

    def sharing(self, name: str, statement: gast.AST) -> str:
        """A note on the visible names that may alias `name` at this statement; empty if there are none."""
        others = self.seen(self.aliases.memory_behind(name, statement) - {name}, statement)
        return f", may share memory with {', '.join(others)}" if others else ""

    def lines(self, name: str, statement: gast.AST) -> str:
        """The lines of the definitions of a name that reach a statement."""
        points = (self.facts.reaching.definitions[k].point for k in self.facts.reaching.reach(name, statement))
        makers = (self.facts.graph.points[point].statement or self.unit.primal.tree for point in points)
        lines = sorted({self.unit.place(maker).line for maker in makers})
        return f" (line {', '.join(map(str, lines))})" if lines else ""
