"""Forward substitution: a temporary that is read once is replaced by its expression.

    t1 = x * y; t2 = np.sin(t1); z = t2 + x     ->     z = np.sin(x * y) + x

The expression moves across no statement that binds or changes its operands; one with side effects moves across nothing, but
for a call that may only raise, which moves across a record:

    t1 = g(u); records.append(u.copy()); u[...] = t1     ->     records.append(u.copy()); u[...] = g(u)

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x):
...     return np.sin(2.0 * x)
... ''', "forward_substitution", 2.0))
-     t1_2 = 2.0 * x
-     x_bar = seed * np.cos(t1_2) * 2.0
+     x_bar = seed * np.cos(2.0 * x) * 2.0
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import gast

from s2sgrad.analysis import effects, with_regions
from s2sgrad.flow.counts import read_counts, write_counts
from s2sgrad.ir import notes
from s2sgrad.ir.exits import leaves
from s2sgrad.ir.forms import bound_name, bound_to_constants, number
from s2sgrad.ir.quote import HEADER, PARTS, Transformer, children, clone, nested, nodes
from s2sgrad.ir.unit import Unit, sweep_of
from s2sgrad.memory import behaviour, mod_ref

_DEEPEST = 40  # Python's parser allows two hundred nested brackets


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Substitute the single-use temporaries, and those that stand for a number."""
    _write_numbers(unit, tree)
    fold = _Fold(unit, tree)
    if fold.tuples:
        _Tuples(fold.tuples).visit(tree)
        unit.rewritten(*effects.walk(tree.body))
    for body in nested(tree.body):
        body[:] = fold.block(body)
    return tree


def _write_numbers(unit: Unit, tree: gast.FunctionDef) -> None:
    """Write numbers in place of temporaries that stand for them, in loops too."""
    writes = write_counts(tree.body)
    bound = {bound_name(s): s for s in effects.walk(tree.body) if bound_name(s) in unit.temps}
    numbers = {n: s.value for n, s in bound.items() if n and writes[n] == 1 and number(s.value) is not None}
    if not numbers:
        return
    _Numbers(numbers).visit(tree)
    gone = {id(bound[n]) for n in numbers}
    for body in nested(tree.body):
        body[:] = [s for s in body if id(s) not in gone]
    unit.rewritten(*effects.walk(tree.body))


class _Numbers(Transformer):
    """Replaces names of numbers."""

    def __init__(self, known: dict[str, gast.Constant]) -> None:
        self.known = known

    def visit_Name(self, node: gast.Name) -> gast.AST:
        read = isinstance(node.ctx, gast.Load) and node.id in self.known
        return clone(self.known[node.id]) if read else node


class _Tuples(Transformer):
    """Replaces names of constant tuples in arguments of calls, however often they are read: `t = 1, 2; np.max(x, axis=t)`
    becomes `np.max(x, axis=(1, 2))`.
    """

    def __init__(self, known: dict[str, gast.Tuple]) -> None:
        self.known = known

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        node.args = [self._written_out(a) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self._written_out(keyword.value)
        return node

    def _written_out(self, node: gast.AST) -> gast.AST:
        return clone(self.known[node.id]) if isinstance(node, gast.Name) and node.id in self.known else node


def _is_of_the_same(derived: gast.AST, plain: gast.AST) -> bool:
    """Whether two statements stand for one of the user's, in whichever sweep."""
    first, second = getattr(derived, "origin", None), getattr(plain, "origin", None)
    if first is None or second is None:
        return False
    return (first.line, first.column, first.primal) == (second.line, second.column, second.primal)


@dataclass(eq=False, slots=True)
class _Waiting:
    """A temporary that waits for its read, with facts about it."""

    statement: gast.Assign
    reads: set[str]
    is_pure: bool
    taken: set[str]  # the aliases of the list from which it pops an item


class _Fold:
    """Substitutes the temporaries of one function."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.reads, self.writes = read_counts(tree.body), write_counts(tree.body)
        tuples = {bound_to_constants(statement): statement for statement in effects.walk(tree.body)}
        self.tuples = {n: s.value for n, s in tuples.items() if n in unit.temps and self.writes[n] == 1}

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        """A block after substitution."""
        out: list[gast.AST] = []
        held: dict[str, _Waiting] = {}  # in textual order

        forward: int | None = None  # where in `out` the reverse statements begin that are being read

        def release(let_go: Callable[[str, _Waiting], bool]) -> None:
            nonlocal forward
            for statement in [held.pop(n).statement for n, h in list(held.items()) if let_go(n, h)]:
                if forward is not None and sweep_of(statement) == "forward":  # what is not substituted stays in its sweep
                    out.insert(forward, statement)
                    forward += 1
                else:
                    out.append(statement)

        for k, statement in enumerate(body):
            if held and with_regions.end(statement) is not None:  # nothing moves across the ends of a context,
                release(lambda n, h: True)
            backwards = sweep_of(statement) == "reverse"
            if any((sweep_of(h.statement) == "reverse") != backwards for h in held.values()):  # nor between sweeps, but
                release(lambda n, h: not (h.is_pure and _is_of_the_same(statement, h.statement)))  # for one statement
            if backwards != (forward is not None):
                forward = len(out) if backwards else None
            read: set[str] = set()
            if held:
                inside = [*effects.walk([statement])]
                read = read.union(*map(effects.reads, inside))
                release(lambda n, h: bool(h.taken & read))  # a pop stays before reads of the list
                self.fill(statement, held, read)
                written = set().union(*map(self.unit.changed, inside))
                release(lambda n, h: bool(h.reads & written))
                release(_read_behind(statement, body[k + 1 :]))
            if self.is_foldable(statement):
                release(lambda n, h: n in read)
                held[statement.targets[0].id] = self.hold(statement)
            else:
                release(self.held_up_by(statement, held))
                release(lambda n, h: n in read)
                out.append(statement)
        last = [out.pop()] if out and isinstance(out[-1], _LEAVING) else []
        release(lambda n, h: True)  # read behind the block, or tuples that were substituted
        return [*out, *last]

    def is_foldable(self, statement: gast.AST) -> bool:
        """Whether a statement is the only definition of a temporary that is read once."""
        name = bound_name(statement)
        return name in self.unit.temps and self.writes[name] == self.reads[name] == 1

    def hold(self, statement: gast.Assign) -> _Waiting:
        """Hold a temporary back until its read."""
        taken = effects.changed_by_call(statement.value)
        if taken:
            taken = self.unit.changed(statement) - {statement.targets[0].id}
        return _Waiting(statement, effects.reads(statement), behaviour.is_pure(self.unit, statement.value), taken)

    def is_quiet(self, statement: gast.AST) -> bool:
        """Whether an impure expression may move across a statement."""
        return isinstance(statement, gast.Assign) and behaviour.is_pure(self.unit, statement.value)

    def held_up_by(self, statement: gast.AST, held: dict[str, _Waiting]) -> Callable[[str, _Waiting], bool]:
        """Whether a temporary must not move across a statement because of its side effects."""
        if not held or self.is_quiet(statement):
            return lambda n, h: False
        records = self.is_record(statement)
        return lambda n, h: not (h.is_pure or (records and self.changes_nothing(h.statement.value)))

    def is_record(self, statement: gast.AST) -> bool:
        """Whether a statement pushes what has no side effects on a list of this function's."""
        grown = effects.changed_by_call(getattr(statement, "value", None))
        known = self.unit.memory.stacks if self.unit.memory is not None else set()
        return bool(grown) and grown <= known and behaviour.is_local(self.unit, statement, grown)

    def changes_nothing(self, value: gast.AST) -> bool:
        """Whether an expression has no effect but that it may raise, and that it changes memory which it allocates."""
        found = [behaviour.of_call(self.unit, n) for n in nodes(value) if isinstance(n, gast.Call)]
        writes = (mod_ref.of(f) for one in found for f in one.runs)
        return all(one.effect < behaviour.Effect.ANYTHING and one.runs for one in found if one.effect) and not any(
            w.arguments or w.outside for w in writes
        )

    def fill(self, statement: gast.AST, held: dict[str, _Waiting], read: set[str]) -> None:
        """Substitute waiting temporaries into a statement that reads them, last first."""
        if isinstance(statement, gast.While):
            return
        wanted = [n for n in held if n in read]
        for name in reversed(wanted):
            path, one = _path_to(statement, name), held[name]
            if not path or not self.in_order(path, one.is_pure):
                continue
            later = list(held)[list(held).index(name) + 1 :]
            if not one.is_pure and not all(held[n].is_pure for n in later):
                continue
            if _depth(one.statement.value) > _DEEPEST:
                continue
            if notes.UNCERTAIN.of(one.statement):
                notes.UNCERTAIN.put(statement)
            self.unit.rewritten(statement)
            holder, field, place = path[-1]
            if place is None:
                setattr(holder, field, held.pop(name).statement.value)
            else:
                getattr(holder, field)[place] = held.pop(name).statement.value

    def in_order(self, path: _Path, is_pure: bool) -> bool:
        """Whether side effects keep their order if the value is evaluated in place of its name."""
        for holder, field, place in path:
            if not is_pure and isinstance(holder, _CHOICES):
                return False
            child = getattr(holder, field) if place is None else getattr(holder, field)[place]
            if not all(self.may_be_passed(part, is_pure) for part in _evaluated_before(holder, child)):
                return False
        return True

    def may_be_passed(self, node: gast.AST, is_pure: bool) -> bool:
        """Whether an expression may be evaluated before a value instead of after it."""
        waiting = [node]
        while waiting:
            part = waiting.pop()
            if isinstance(part, gast.Call) and not behaviour.is_pure(self.unit, part):
                return False
            if not is_pure and isinstance(part, _CHOICES):
                return False
            if not isinstance(part, _CLOSED) and not (is_pure and isinstance(part, gast.Call)):
                waiting += children(part)
        return True


def _read_behind(statement: gast.AST, rest: list[gast.AST]) -> Callable[[str, _Waiting], bool]:
    """Whether a temporary is read behind the loop that a statement may leave, and so must be bound before it."""
    if not leaves([statement], gast.Break):
        return lambda n, h: False
    here = {part.id for part in nodes(*rest) if isinstance(part, gast.Name)}
    return lambda n, h: n not in here


_CLOSED = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_CHOICES = (gast.IfExp, gast.BoolOp)
_LEAVING = (gast.Return, gast.Raise, gast.Break, gast.Continue)
_Path = list[tuple[gast.AST, str, int | None]]  # from the statement down: the parent, its field, the index in that


def _path_to(statement: gast.AST, name: str) -> _Path:
    """The path to the only occurrence of a name in what a statement evaluates; empty where it must not be replaced."""
    field = HEADER.get(type(statement))
    around: dict[int, tuple[gast.AST, str, int | None]] = {}
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, gast.Name) and node.id == name and isinstance(node.ctx, gast.Load):
            path: _Path = []
            while node is not statement:
                path.append(around[id(node)])
                node = path[-1][0]
            path.reverse()
            stored = len(path) > 1 and path[0][1] in ("target", "targets") and path[1][1:] == ("value", None)
            return [] if stored and len(path) == 2 else path  # the target of a store keeps its name
        if isinstance(node, _CLOSED):  # evaluated later, or repeatedly
            continue
        for part in PARTS[type(node)] or () if node is not statement or field is None else (field,):
            value = getattr(node, part, None)
            for place, child in enumerate(value) if isinstance(value, list) else ((None, value),):
                if isinstance(child, gast.AST):
                    around[id(child)] = node, part, place
                    waiting.append(child)
    return []


def _evaluated_before(holder: gast.AST, child: gast.AST) -> Iterator[gast.AST]:
    """The parts of an expression or a statement that Python evaluates before `child`."""
    parts = [holder.value, holder.targets[0]] if isinstance(holder, gast.Assign) else children(holder)
    return itertools.takewhile(lambda part: part is not child, parts)


def _depth(node: gast.AST) -> int:
    """The nesting depth of the text of an expression; `a + b + c` does not nest."""
    if isinstance(node, gast.BinOp):
        return max(_depth(node.left), 1 + _depth(node.right))
    if isinstance(node, gast.Name):
        return 1
    return max((1 + _depth(part) for part in children(node)), default=0)
