"""A temporary that is read once goes back into the expression that reads it.

    t1 = x * y; t2 = np.sin(t1); z = t2 + x     ->     z = np.sin(x * y) + x

It is moved over no statement that binds or changes what it reads; one with effects is moved over nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import gast

from s2sgrad.analysis import effects, with_regions
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import HEADER, Transformer, children, clone, nested, substitute
from s2sgrad.ir.unit import Unit, sweep_of

_DEEPEST = 40  # Python's parser takes two hundred nested brackets


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with single-use temporaries folded into their use."""
    fold = _Fold(unit, tree)
    if fold.tuples:
        _Tuples(fold.tuples).visit(tree)
    for body in nested(tree.body):
        body[:] = fold.block(body)
    return tree


class _Tuples(Transformer):
    """Tuples of constants in the place of their names, where calls are given them, however often they are read:
    `t = 1, 2; np.max(x, axis=t)` as `np.max(x, axis=(1, 2))`."""

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


def _constant_tuple(statement: gast.AST) -> str:
    """The name that a statement binds to a tuple of constants; "" where it does not."""
    value = getattr(statement, "value", None)
    constant = isinstance(value, gast.Tuple) and all(isinstance(e, gast.Constant) for e in value.elts)
    return (bound_name(statement) if constant else None) or ""


@dataclass(eq=False, slots=True)
class _Held:
    """A temporary that is not yet read, and what is known of it: it does not change any more."""

    statement: gast.Assign
    reads: set[str]
    is_pure: bool
    taken: set[str]  # the names through which the list is seen off which it takes an item


class _Fold:
    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.reads: dict[str, int] = {}
        self.binds: dict[str, int] = {}
        tuples: dict[str, gast.AST] = {}
        for statement in effects.walk(tree.body):
            for name in effects.loads(effects.header(statement)):
                self.reads[name.id] = self.reads.get(name.id, 0) + 1
            for name in effects.writes(statement):
                self.binds[name] = self.binds.get(name, 0) + 1
            tuples[_constant_tuple(statement)] = statement
        self.tuples = {n: s.value for n, s in tuples.items() if n in unit.temps and self.binds[n] == 1}

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        held: dict[str, _Held] = {}  # in order

        def release(let_go: Callable[[str, _Held], bool]) -> None:
            out.extend(held.pop(n).statement for n, h in list(held.items()) if let_go(n, h))

        for statement in body:
            if held and with_regions.end(statement) is not None:  # nothing moves into a context or out of it,
                release(lambda n, h: True)
            backwards = sweep_of(statement) == "reverse"
            if any((sweep_of(h.statement) == "reverse") != backwards for h in held.values()):  # nor to the other sweep
                release(lambda n, h: True)
            read: set[str] = set()
            if held:
                inside = [*effects.walk([statement])]
                read = read.union(*map(effects.reads, inside))
                release(lambda n, h: h.taken & read)  # which stays before what reads the list
                self.fill(statement, held, read)
                written = set().union(*map(self.unit.changed, inside))
                release(lambda n, h: h.reads & written)
            if self.is_foldable(statement):
                release(lambda n, h: n in read)
                held[statement.targets[0].id] = self.hold(statement)
            else:
                if held and not self.is_quiet(statement):
                    release(lambda n, h: not h.is_pure)
                release(lambda n, h: n in read)
                out.append(statement)
        unread = [h.statement for h in held.values()]  # of tuples that are written out where they were read
        last = len(out) - (bool(out) and isinstance(out[-1], gast.Return))
        return [*out[:last], *unread, *out[last:]]

    def is_foldable(self, statement: gast.AST) -> bool:
        name = bound_name(statement)
        return name in self.unit.temps and self.binds.get(name) == 1 and self.reads.get(name) == 1

    def hold(self, statement: gast.Assign) -> _Held:
        taken = effects.changed_by_call(statement.value)
        if taken:
            taken = self.unit.changed(statement) - {statement.targets[0].id}
        return _Held(statement, effects.reads(statement), effects.is_pure(self.unit, statement.value), taken)

    def is_quiet(self, statement: gast.AST) -> bool:
        """Whether a statement has no effect that an impure temporary must not be moved over."""
        return isinstance(statement, gast.Assign) and effects.is_pure(self.unit, statement.value)

    def fill(self, statement: gast.AST, held: dict[str, _Held], read: set[str]) -> None:
        """Put held temporaries into the statement that reads them, last one first."""
        if isinstance(statement, gast.While):
            return
        field = HEADER.get(type(statement))
        wanted = [n for n in held if n in read]
        for name in reversed(wanted):
            root, one = getattr(statement, field) if field else statement, held[name]
            if not any(n.id == name for n in effects.loads(root)) or not self.in_order(root, name, one.is_pure):
                continue
            later = list(held)[list(held).index(name) + 1 :]
            if not one.is_pure and not all(held[n].is_pure for n in later):
                continue
            if _depth(one.statement.value) > _DEEPEST:
                continue
            if getattr(one.statement, "uncertain", False):
                statement.uncertain = True
            value = held.pop(name).statement.value
            if field:
                setattr(statement, field, substitute(root, {name: value}))
            else:
                for key, part in statement.__dict__.items():
                    if key in ("value", "test", "exc", "msg") and isinstance(part, gast.AST):
                        statement.__dict__[key] = substitute(part, {name: value})
                    elif key == "target" and isinstance(part, gast.Subscript):
                        _fill_target(part, {name: value})
                    elif key == "targets" and isinstance(part[0], gast.Subscript):
                        _fill_target(part[0], {name: value})

    def in_order(self, root: gast.AST, name: str, is_pure: bool) -> bool:
        """Whether everything that has effects is still evaluated in the same order with a value in the place of its name."""
        for part in _evaluated(root):
            if isinstance(part, gast.Name) and part.id == name:
                return True
            if isinstance(part, gast.Call) and not effects.is_pure(self.unit, part):
                return False
            if not is_pure and isinstance(part, (gast.IfExp, gast.BoolOp)):
                return False
        return False


def _fill_target(target: gast.Subscript, values: dict[str, gast.AST]) -> None:
    """Put values into a section: its index, and what the view that it is one of is made with."""
    target.slice = substitute(target.slice, values)
    if not isinstance(target.value, gast.Name):
        target.value = substitute(target.value, values)


def _depth(node: gast.AST) -> int:
    """How deeply the text of an expression nests; `a + b + c` does not."""
    if isinstance(node, gast.BinOp):
        return max(_depth(node.left), 1 + _depth(node.right))
    if isinstance(node, gast.Name):
        return 1
    return max((1 + _depth(part) for part in children(node)), default=0)


def _evaluated(node: gast.AST) -> Iterator[gast.AST]:
    """The parts of an expression in the order in which Python evaluates them."""
    if isinstance(node, (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)):
        return
    if isinstance(node, gast.IfExp):
        yield node
        for part in (node.test, node.body, node.orelse):
            yield from _evaluated(part)
        return
    if isinstance(node, gast.BoolOp):
        yield node
    if isinstance(node, gast.Assign):
        yield from _evaluated(node.value)
        if isinstance(node.targets[0], gast.Subscript):
            yield from _evaluated(node.targets[0])
        return
    for part in children(node):
        yield from _evaluated(part)
    if not isinstance(node, gast.BoolOp):
        yield node
