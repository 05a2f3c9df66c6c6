"""What the parts of the backward walk share: the function and its facts, the records of the forward sweep, the adjoints of
the reverse sweep, and the source statement whose adjoint is being written.

    y = x * x          ->       y_bar = ...; x_bar = y_bar * x + y_bar * x      (both at the position of `y = x * x`)
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Kind
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.flow.graph import Block
from s2sgrad.flow.lifetimes import Lifetimes
from s2sgrad.ir.quote import Place, constant, name, place_of
from s2sgrad.ir.unit import Origin, Unit
from s2sgrad.transform.adjoint_environment import Adjoints
from s2sgrad.transform.paths import Paths
from s2sgrad.transform.quotations import in_one_line
from s2sgrad.transform.records import Records


class Walk:
    """The state of the walk through one function along the `paths` from the differentiated variables."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, inference: Inference, paths: Paths) -> None:
        self.unit, self.tree, self.inference, self.paths = unit, tree, inference, paths
        self.records = Records(unit, paths.lifetimes, inference, paths.memory, paths.grown, paths.operations)
        self.adjoints = Adjoints(unit, tree, inference, paths)
        self.extra: dict[int, list[str]] = {}  # new variables, by the block that they live in
        self.targets: list[str] = []  # what the source statement binds whose adjoint is being written
        self.position: Place | None = None
        self.segment: gast.AST | None = None

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of variables."""
        return self.inference.env

    @property
    def found(self) -> dict[int, Operation]:
        """The operations, by the identity of their statements."""
        return self.paths.operations

    @property
    def lifetimes(self) -> Lifetimes:
        """The scopes of variables."""
        return self.paths.lifetimes

    def new_local(self, base: str, kind: Kind, body: Block) -> str:
        """A new variable that lives in a block."""
        made = self.unit.local(base)
        self.kinds[made] = kind
        self.extra.setdefault(id(body), []).append(made)
        return made

    def begin(self, statement: gast.AST) -> int:
        """Turn to the adjoint of a statement; where it starts in the reverse sweep."""
        self.position, self.segment = place_of(statement), statement
        return len(self.adjoints.out)

    def bound(self, statement: gast.AST) -> Block:
        """Checks that the variables which a statement reads are bound, since the statement itself may be removed."""
        if self.unit.primal.is_generated:  # generated text reads such a variable only where it is bound
            return []
        loose = sorted(n for n in self.lifetimes.unbound_reads(statement) & self.unit.locals if not self.unit.is_ours(n))
        check = [name(self.unit.helper("bound", runtime.bound)) for _ in loose]
        return [gast.Expr(gast.Call(c, [name(n), constant(n)], [])) for c, n in zip(check, loose, strict=True)]

    def emit(self, statement: gast.AST, new: Block) -> None:
        """Add statements for a statement to the reverse sweep."""
        self.tag(new, statement, False)
        self.adjoints.out += new

    def tag(self, new: Block, statement: gast.AST, comment: bool) -> None:
        """Let statements have their origin in a statement; `comment`: its text stands above them."""
        text = _comment(self.unit, statement) if comment and new else None
        place = getattr(statement, "lineno", 0), getattr(statement, "col_offset", 0)
        for made in new:
            made.origin = Origin("reverse", *place, text, getattr(statement, "primal", None))

    def tag_since(self, start: int, statement: gast.AST | None) -> None:
        """The same for all that were added since, and have none."""
        new = [s for s in self.adjoints.out[start:] if getattr(s, "origin", None) is None]
        self.tag(new, statement or self.tree, statement is not None)

    def flush(self) -> None:
        """Emit the collected contributions of the current source statement; before the first, the result's cotangent."""
        start = len(self.adjoints.out)
        self.adjoints.flush(self.targets)
        self.tag_since(start, self.segment)
        self.targets = []


def _comment(unit: Unit, statement: gast.AST) -> str | None:
    """The user's source of a statement, in one line (of a compound one: its header); None without position."""
    if not hasattr(statement, "lineno"):
        return None
    text = getattr(statement, "primal", unit.primal).text(statement)
    return (text.splitlines()[0] if text and place_of(statement) in unit.syntax.compound else in_one_line(text)) or None
