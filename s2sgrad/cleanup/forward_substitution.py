"""A temporary that is read once goes back into the expression that reads it.

    t1 = x * y; t2 = np.sin(t1); z = t2 + x     ->     z = np.sin(x * y) + x

It is moved over no statement that binds or changes what it reads; one with effects is moved over nothing at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import gast

from s2sgrad.analysis import effects, with_regions
from s2sgrad.ir.quote import children, clone, nodes, substitute
from s2sgrad.ir.unit import Unit

_DEEPEST = 40  # Python's parser takes two hundred nested brackets
_HEADERS = {gast.If: "test", gast.For: "iter"}


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with single-use temporaries folded into their use."""
    _write_tuples_out(unit, tree)
    fold = _Fold(unit, tree)
    waiting = [tree.body]
    while waiting:
        body = waiting.pop()
        body[:] = fold.block(body)
        for statement in body:
            if isinstance(statement, (gast.If, gast.For, gast.While)):
                waiting += [statement.body, statement.orelse]
    return tree


def _write_tuples_out(unit: Unit, tree: gast.FunctionDef) -> None:
    """`t = 1, 2; np.max(x, axis=t)`, however often it is read, as `np.max(x, axis=(1, 2))`."""
    counts = Counter(b for s in effects.walk(tree.body) for b in effects.writes(s))
    fixed = {
        s.targets[0].id: s.value
        for s in effects.walk(tree.body)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and isinstance(s.value, gast.Tuple)
        if s.targets[0].id in unit.temps and counts[s.targets[0].id] == 1
        if all(isinstance(e, gast.Constant) for e in s.value.elts)
    }
    for statement in effects.walk(tree.body) if fixed else ():
        header = effects.header(statement)
        for call in (n for n in nodes(header) if isinstance(n, gast.Call)):
            call.args = [clone(fixed[a.id]) if isinstance(a, gast.Name) and a.id in fixed else a for a in call.args]
            for keyword in call.keywords:
                if isinstance(keyword.value, gast.Name) and keyword.value.id in fixed:
                    keyword.value = clone(fixed[keyword.value.id])


class _Fold:
    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.reads: dict[str, int] = {}
        self.binds: dict[str, int] = {}
        for statement in effects.walk(tree.body):
            header = statement
            if isinstance(statement, (gast.If, gast.While)):
                header = statement.test
            elif isinstance(statement, gast.For):
                header = statement.iter
            for name in effects.loads(header):
                self.reads[name.id] = self.reads.get(name.id, 0) + 1
            for name in effects.writes(statement):
                self.binds[name] = self.binds.get(name, 0) + 1

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        held: dict[str, gast.Assign] = {}  # foldable temporaries not yet read, in order
        for statement in body:
            between = with_regions.end(statement) is not None  # nothing moves into a context or out of it,
            if between or any(_sweep(s) != _sweep(statement) for s in held.values()):  # nor from one sweep to the other
                out += held.values()
                held.clear()
            if held:  # what takes an item off a list stays before what reads the list
                read = set().union(*map(effects.reads, effects.walk([statement])))
                out += [held.pop(n) for n, s in list(held.items()) if self.takes_off(s) & read]
                self.fill(statement, held, out)
                written = set().union(*map(self.unit.changed, effects.walk([statement])))
                for name in [n for n, s in held.items() if effects.reads(s) & written]:
                    out.append(held.pop(name))
            if self.is_foldable(statement):
                out += [held.pop(n) for n in list(held) if n in effects.reads(statement)]
                held[statement.targets[0].id] = statement
            else:
                if held:
                    if not self.is_quiet(statement):
                        self.release_impure(held, out)
                    read = set().union(*map(effects.reads, effects.walk([statement])))
                    out += [held.pop(n) for n in list(held) if n in read]
                out.append(statement)
        return out + list(held.values())

    def is_foldable(self, statement: gast.AST) -> bool:
        if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Name):
            return False
        name = statement.targets[0].id
        return name in self.unit.temps and self.binds.get(name) == 1 and self.reads.get(name) == 1

    def takes_off(self, statement: gast.Assign) -> set[str]:
        """The names through which the list is seen off which a temporary takes an item."""
        taken = effects.changed_by_call(statement.value)
        return self.unit.changed(statement) - {statement.targets[0].id} if taken else taken

    def is_quiet(self, statement: gast.AST) -> bool:
        """Whether a statement has no effect that an impure temporary must not be moved over."""
        return isinstance(statement, gast.Assign) and effects.is_pure(self.unit, statement.value)

    def release_impure(self, held: dict[str, gast.Assign], out: list[gast.AST]) -> None:
        for name in [n for n, s in held.items() if not effects.is_pure(self.unit, s.value)]:
            out.append(held.pop(name))

    def fill(self, statement: gast.AST, held: dict[str, gast.Assign], out: list[gast.AST]) -> None:
        """Put held temporaries into the statement that reads them, last one first."""
        if isinstance(statement, gast.While):
            return
        field = _HEADERS.get(type(statement))
        for name in reversed(list(held)):
            root = getattr(statement, field) if field else statement
            if not any(n.id == name for n in effects.loads(root)) or not self.in_order(root, name, held[name].value):
                continue
            later = list(held)[list(held).index(name) + 1 :]
            if not effects.is_pure(self.unit, held[name].value) and any(
                not effects.is_pure(self.unit, held[n].value) for n in later
            ):
                continue
            if _depth(held[name].value) > _DEEPEST:
                continue
            if getattr(held[name], "uncertain", False):
                statement.uncertain = True
            value = held.pop(name).value
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

    def in_order(self, root: gast.AST, name: str, value: gast.AST) -> bool:
        """Whether everything that has effects is still evaluated in the same order."""
        impure_value = not effects.is_pure(self.unit, value)
        for part in _evaluated(root):
            if isinstance(part, gast.Name) and part.id == name:
                return True
            if isinstance(part, gast.Call) and not effects.is_pure(self.unit, part):
                return False
            if impure_value and isinstance(part, (gast.IfExp, gast.BoolOp)):
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


def _sweep(statement: gast.AST) -> str | None:
    return getattr(getattr(statement, "origin", None), "sweep", None)


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
    for value in node.__dict__.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, gast.AST):
                yield from _evaluated(part)
    if not isinstance(node, gast.BoolOp):
        yield node
