"""Statements of the text of a run, made shorter: what nobody reads goes, values without a name stand where they are read.

t = x * w                                   y = np.sin(x * w)
y = np.sin(t)                       ->
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass, field

_WIDEST = 100
_BACK = "# backwards"


@dataclass
class Statement:
    """A line of the text; `binds`: the name that it binds afresh, `place`: the entry that it belongs to, `back`: of the
    sweep; `nameless`: its value has no name of the user's."""

    text: str
    binds: str | None
    place: int
    back: bool = False
    nameless: bool = False
    reads: dict[str, int] = field(default_factory=dict)
    writes: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.note()

    def note(self) -> None:
        """Work out which names are read, how often, and which are changed."""
        tree = ast.parse(self.text).body[0]
        targets = tree.targets if isinstance(tree, ast.Assign) else [tree.target] if isinstance(tree, ast.AugAssign) else []
        self.writes = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        self.reads = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and (isinstance(node.ctx, ast.Load) or self.binds is None):
                self.reads[node.id] = self.reads.get(node.id, 0) + 1


def living(statements: list[Statement], needed: set[str]) -> list[Statement]:
    """The statements without those whose value nobody reads."""
    kept: list[Statement] = []
    for s in reversed(statements):
        if s.binds is None or s.binds in needed:
            needed |= s.reads.keys()
            kept.append(s)
    return kept[::-1]


def folded(statements: list[Statement], result: Statement) -> list[Statement]:
    """The statements with nameless values put where they are read once."""
    out = [*statements, result]
    for s in statements:
        if s.binds is not None and (s.nameless or _is_alias(s)):
            _fold(s, out)
    return out[:-1]


def _is_alias(s: Statement) -> bool:
    return s.text.partition(" = ")[2].isidentifier()


def _fold(s: Statement, out: list[Statement]) -> None:
    """Put the value of a statement where it is read, if nothing that it is made of changes before."""
    if s.binds is None or any(s.binds in other.writes for other in out if other is not s):
        return
    begin = next(k for k, other in enumerate(out) if other is s)
    readers = [k for k, other in enumerate(out) if s.binds in other.reads]
    if not readers or (not _is_alias(s) and sum(out[k].reads[s.binds] for k in readers) > 1):
        return
    changed = set().union(*(out[k].writes for k in range(begin + 1, readers[-1])))
    texts = [_with(out[k].text, s.binds, s.text.partition(" = ")[2]) for k in readers]
    if changed & s.reads.keys() or max(map(len, texts)) > _WIDEST:
        return
    for k, text in zip(readers, texts, strict=True):
        out[k].text = text
        out[k].note()
    del out[begin]


def _with(text: str, name: str, value: str) -> str:
    """The statement with an expression in the place of a name."""
    expression = ast.parse(value, mode="eval").body

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return expression if node.id == name else node

    return ast.unparse(Put().visit(ast.parse(text)))


def body(statements: list[Statement], lines: dict[int, tuple[int, str]]) -> list[str]:
    """The lines, with those of the user's quoted above them."""
    out: list[str] = []
    for (back, line), group in itertools.groupby(statements, lambda s: (s.back, lines.get(s.place))):
        if back and _BACK not in out:
            out += ["", _BACK] if out else [_BACK]
        if line is not None and line[1]:
            out.append(f"# line {line[0]}: {line[1]}")
        out += [s.text for s in group]
    return out
