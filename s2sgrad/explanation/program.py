"""Facts about a function from before its derivative is written, by the lines of the user's text.

    k = n + 1      ->      line 2: `k` has no derivative, it is an int
    y = x * k      ->      line 3: `y` has a derivative

They come from the compilation after the stages `kinds` (aliasing, while all of the user's names exist) and `shapes` (what
lies between the differentiated variables and the result).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator

import gast

from s2sgrad import emit, runtime, source
from s2sgrad.analysis import activity, effects
from s2sgrad.analysis.kinds import UNKNOWN, Kind
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.analysis.type_text import in_words, without_derivative
from s2sgrad.driver.compilation import Compilation
from s2sgrad.errors import raised, wording
from s2sgrad.explanation.listing import Found
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import COMPOUND
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory.aliases import ARGUMENT, OUTSIDE, Aliases
from s2sgrad.memory.writes import in_place
from s2sgrad.rules import table
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checkpoints import behind_checkpoint
from s2sgrad.source import Primal

NAMELESS = "a value"
Finder = Callable[[Primal], Found]  # the notes about a function


class Names:
    """The user's names for the variables of a function, as far as they occur in the user's text."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        primals = {
            id(p): p for p in (unit.primal, *(p for _, _, p, _ in unit.inlining.calls)) if not raised.is_hidden(p.file)
        }
        self.known = frozenset().union(*(wording.names_in(p.text(p.tree)) for p in primals.values()))

    def word(self, name: str) -> str:
        """How notes refer to a variable."""
        word = wording.meaning(name, self.known, self.unit.words, self.unit.bases)
        return NAMELESS if word is None else self.shown(name) or word

    def shown(self, name: str) -> str:
        """The user's name, or the expression that it stands for; empty for a value without one."""
        word = wording.meaning(name, self.known, self.unit.words, self.unit.bases)
        return word.strip("`") if word is not None and wording.is_quoted(word) else ""


def primal_of(unit: Unit, node: gast.AST) -> Primal:
    """The user's text that a statement comes from: the function itself, or an inlined one."""
    return getattr(node, "primal", unit.primal)


def shared_memory(c: Compilation) -> Iterator[tuple[Primal, int, str, str, str]]:
    """Notes on variables that may share memory with others when they are bound; each with its function first."""
    names = Names(c.unit)
    aliases, liveness = Aliases(c.unit, c.tree, c.kinds), Facts(c.tree).liveness
    own = {p.id for p in parameters(c.tree)}
    for statement in effects.walk(c.tree.body):
        if not hasattr(statement, "lineno") or isinstance(statement, COMPOUND):
            continue
        here = liveness.after(statement) | effects.writes(statement)
        for name in binds(statement):
            shown = names.shown(name)
            others = {n for n in aliases.memory_behind(name, statement) - {name} if n in here or n not in c.unit.locals}
            own_arguments = {ARGUMENT + p for p in others & own}  # a parameter aliases the caller's array
            others = {_outside(names, n) for n in others - own_arguments} - {"", shown}
            if shown and others:
                yield primal_of(c.unit, statement), statement.lineno, "shares", shown, f"with {', '.join(sorted(others))}"


def _outside(names: Names, name: str) -> str:
    """The user's name in the alias relation: a variable, the caller's array, or a global."""
    if name.startswith(OUTSIDE):
        return name.removeprefix(OUTSIDE)
    return names.shown(name.removeprefix(ARGUMENT))


def derivatives(c: Compilation, finder: Finder) -> None:
    """Note which variables have a derivative, and why others have none; what is written in place; what is called."""
    wrt, names, primal = c.purpose.wrt(c), Names(c.unit), c.unit.primal
    copied = set(c.unit.arguments.own_copies)
    for parameter in parameters(c.tree):
        asked = parameter.id in wrt
        shown = names.shown(parameter.id) or parameter.id
        finder(primal).add(primal.tree.lineno, "active" if asked else "constant", shown, "" if asked else "not asked for")
        _of_kind(finder(primal), primal.tree.lineno, shown, c.kinds.get(parameter.id))
    for statement in effects.walk(c.tree.body):
        if not hasattr(statement, "lineno"):
            continue
        notes, line = finder(primal_of(c.unit, statement)), statement.lineno
        operation = c.paths.operations.get(id(statement))
        for name in () if isinstance(statement, COMPOUND) else binds(statement):
            shown = "the result" if name == c.paths.result else names.shown(name)
            if name in copied:  # its first binding is the copy
                copied.discard(name)
                finder(primal).add(primal.tree.lineno, "written", shown, "in a copy, the caller's stays as it is")
            else:
                _bound(c, notes, line, name, shown, operation)
        written = in_place(c.unit, statement, c.kinds)
        if written is not None and (shown := names.shown(written)):
            notes.add(line, "written", shown, "in place")
            if written in c.paths.active and {n.id for n in effects.loads(statement.value)} & c.paths.active:
                notes.add(line, "active", shown)
        if operation is not None and operation.form == "call" and (called := _called(c, statement, operation)):
            notes.add(line, "calls", *called)
    _written_out(c, finder)


def _bound(c: Compilation, notes: Found, line: int, name: str, shown: str, operation: Operation | None) -> None:
    """Note the kind of a variable where it is bound, and whether it has a derivative."""
    _of_kind(notes, line, shown, c.kinds.get(name))
    if shown and name in c.paths.active:
        notes.add(line, "active", shown)
    elif shown and name not in c.paths.stacks:
        notes.add(line, "constant", shown, _reason(c, name, operation))


def _of_kind(notes: Found, line: int, shown: str, kind: Kind | None) -> None:
    """Note the kind of a variable, in words, where it is known."""
    if shown and kind is not None and kind != UNKNOWN:
        notes.kinds.setdefault(line, {})[shown] = in_words(kind)


def _written_out(c: Compilation, finder: Finder) -> None:
    """Note the calls that are inlined."""
    for call, name, callee, line in c.unit.inlining.calls:
        if hasattr(call, "lineno") and not callee.is_generated and not raised.is_hidden(callee.file):
            where = f"{place_in_words(callee.file, line)}, written out here"
            finder(primal_of(c.unit, call)).add(call.lineno, "calls", name, where)


def _reason(c: Compilation, name: str, operation: Operation | None) -> str:
    """Why a variable has no derivative."""
    if what := without_derivative(c.kinds.get(name)):
        return what
    if name in c.paths.varied:
        return "does not reach the result"
    if operation is not None and {n.id for n in effects.loads(operation.node)} & c.paths.varied:
        if c.unit.called(operation.node) is runtime.stop_gradient:
            return "stop_gradient"
        flat = operation.form == "flat" or getattr(operation.rule, "tag", "") == "flat"
        return f"the derivative of {_primitive(operation)} is 0" if flat else "nothing in it can be differentiated"
    return f"no derivative leads here from {', '.join(sorted(c.purpose.wrt(c)))}"


def _primitive(operation: Operation) -> str:
    return f"`{emit.expression(getattr(operation.node, 'func', operation.node))}`"


def _called(c: Compilation, statement: gast.AST, operation: Operation) -> tuple[str, str] | None:
    """The name of a callee, and how its derivative is found; None for a library function without derivative here."""
    func, target = operation.node.func, operation.target
    plain = behind_checkpoint(target)
    name = its(target if plain is None else plain, "__name__", "") or emit.expression(func)
    if target is MISSING:
        name = "a function" if isinstance(func, gast.Name) and func.id in c.unit.temps else emit.expression(func)
    active = {*binds(statement)} & c.paths.active and c.paths.varied.intersection(activity.sources(operation))
    if isinstance(target, functools.partial):
        target = MISSING
    head = None if target is MISSING else raised.head(target)
    where = "" if head is None or raised.is_hidden(head.file) else f"{place_in_words(head.file, head.line)}, "
    if not where and (target is not MISSING or not active):
        return None
    if not active:
        return name, f"{where}not differentiated"
    if target is not MISSING and (source.brings_gradient(target) or table.lookup(target) is not None):
        return name, f"{where}its own gradient is used"
    if plain is not None:
        return name, f"{where}differentiated, and for that computed again"
    return name, f"{where}{'known when it runs, and differentiated then' if target is MISSING else 'differentiated'}"


def place_in_words(file: str, line: int) -> str:
    """A place in a file."""
    return f"line {line} of {os.path.basename(file)}"
