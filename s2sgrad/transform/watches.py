"""Checks for nan and inf after each statement of a finished text, for `debug=True`.

    y = np.log(x)           y = np.log(x)
    x_bar = y_bar / x  ->   watch(y, '`y`')
                            x_bar = y_bar / x
                            watch_derivative(x_bar, 'the gradient in `x`')

A value restored from a record has been checked when it was computed.
"""

from __future__ import annotations

import re

import gast

from s2sgrad import emit
from s2sgrad.analysis.kinds import UNKNOWN, Number
from s2sgrad.analysis.type_text import without_derivative
from s2sgrad.errors import wording
from s2sgrad.ir.forms import alone, appended_to, parts_of, popped
from s2sgrad.ir.quote import clone, constant, loaded, nodes
from s2sgrad.ir.quote import name as name_
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit, is_derived
from s2sgrad.runtime import watching

_INDEX = (gast.Name, gast.Constant, gast.UnaryOp, gast.BinOp, gast.operator, gast.unaryop, gast.expr_context)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with a check of the results of each statement."""
    _Watches(unit).block(tree.body)
    return tree


class _Watches:
    """Inserts the checks into one function."""

    def __init__(self, unit: Unit) -> None:
        self.unit, self.known = unit, unit.known
        self.records = {*unit.derivative.records, *(unit.bases.get(record, record) for record in unit.derivative.records)}
        self.calls = {name for name, of in unit.derivative.records.items() if name == of}  # the records of calls
        self.floats = {unit.bases.get(n, n) for n, kind in unit.kinds.items() if not without_derivative(kind or UNKNOWN)}

    def block(self, body: list[gast.AST]) -> None:
        """Insert the checks into a block and those inside it."""
        out: list[gast.AST] = []
        for statement in body:
            for field in ("body", "orelse", "finalbody"):
                self.block(getattr(statement, field, []))
            out.append(statement)
            for value, name in self.made(statement):
                word = self.word(name)
                derived = is_derived(statement) or (self.unit.primal.is_generated and not wording.is_quoted(word))
                base, word = "watch_derivative" if derived else "watch", self.with_section(word, value)
                looked = gast.Expr(call(self.unit, base, getattr(watching, base), value, word))
                if hasattr(statement, "origin"):
                    looked.origin = statement.origin
                out.append(looked)
        body[:] = out

    def made(self, statement: gast.AST) -> list[tuple[gast.AST, str]]:
        """The results of a statement that may contain floats, as expressions, each with the variable that holds it."""
        owner = appended_to(alone(statement))
        if isinstance(owner, gast.Name) and owner.id not in self.records:
            last = gast.Subscript(name_(owner.id), constant(-1), gast.Load())
            return [(last, owner.id)] if owner.id in self.unit.locals else []
        if isinstance(statement, gast.AugAssign):
            targets = [statement.target]
        elif isinstance(statement, gast.Assign):
            mentioned = {popped(n) or getattr(n, "id", None) for n in nodes(statement.value)}
            back = mentioned & (self.records - self.calls)
            given = parts_of(statement.value)
            moved = all(isinstance(part, (gast.Name, gast.Constant)) for part in given)
            targets = [] if back or moved else statement.targets
        else:
            targets = []
        parts = [e for t in targets for e in (t.elts if isinstance(t, gast.Tuple) else [t])]
        return [(self.read(part), _root(part)) for part in parts if self.may_be_float(part)]

    def may_be_float(self, target: gast.AST) -> bool:
        """Whether a target is part of a variable that may contain floats."""
        root = _root(target)
        return bool(root) and root not in self.records and self.unit.bases.get(root, root) in self.floats

    def read(self, target: gast.AST) -> gast.AST:
        """The variable that was written, or only the element where it is one, since a loop may write many."""
        if not isinstance(target, gast.Subscript) or not isinstance(target.value, gast.Name):
            return name_(_root(target))
        index = list(nodes(*parts_of(target.slice)))
        numbers = all(isinstance(self.unit.kinds.get(n.id), Number) for n in index if isinstance(n, gast.Name))
        if not numbers or not all(isinstance(n, _INDEX) for n in index):
            return name_(_root(target))
        return loaded(target)

    def with_section(self, word: str, value: gast.AST) -> gast.AST:
        """The name of a value of which only an element is checked: "`y`" as f"`y[{i}]`"."""
        if not isinstance(value, gast.Subscript) or not word.endswith("`"):
            return constant(word)
        index = clone(value.slice)
        for node in nodes(index):
            if isinstance(node, gast.Name):
                node.id = f"{{{node.id}}}"
        shown = ", ".join(map(emit.expression, parts_of(index)))
        parts = re.split(r"\{(\w+)\}", f"{word[:-1]}[{shown}]`")
        if len(parts) == 1:
            return constant(parts[0])
        filled = [gast.FormattedValue(name_(p), -1, None) if k % 2 else constant(p) for k, p in enumerate(parts)]
        return gast.JoinedStr(filled)

    def word(self, name: str) -> str:
        """The name of a variable for messages."""
        word = self.unit.word(name, self.known)
        return "a value" if word == wording.ANOTHER else word


def _root(target: gast.AST) -> str:
    while isinstance(target, (gast.Subscript, gast.Attribute, gast.Starred)):
        target = target.value
    return getattr(target, "id", "")
