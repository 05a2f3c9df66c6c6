"""Iterators that are infinite, or have a name: loops, comprehensions and `next` draw from them item by item, as in Python.

    it = map(f, x); a = next(it)      ->      it = mapped(f, items(x)); a = following(it)
    for v in zip(it, x): ..           ->      for v in pairs(it, items(x)): ..

The functions are those of `standard.iterators`, inlined like the user's; `iterator_makers` says which.  A loop over what can
be indexed is left to `loops`.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     total = 0.0
...     it = iter(x)
...     for k, v in zip(it, x):
...         total = total + k * v * next(it)
...     return total
... ''', "drawing"))
def f(x):
    total = 0.0
    it = items(x)
    for k, v in pairs(it, items(x)):
        total = total + k * v * following(it)
    return total
"""

from __future__ import annotations

import builtins
import itertools
from typing import Any

import gast

from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.quote import (
    Transformer,
    assign,
    at,
    blocks,
    clone,
    constant,
    expression,
    mentioned,
    name,
    nodes,
    placed,
    stored,
)
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import generator_texts, iterables
from s2sgrad.normalize.absorption import Absorption
from s2sgrad.normalize.endings import inlined
from s2sgrad.normalize.generator_texts import NotDrawn
from s2sgrad.normalize.iterator_kinds import IteratorKinds
from s2sgrad.normalize.iterator_makers import Iterators
from s2sgrad.normalize.may_alias import CHANGES_BETWEEN, free
from s2sgrad.normalize.named_iterators import named, reduces
from s2sgrad.standard import iterators


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with explicit draws wherever an item is requested of an infinite or named iterator."""
    yielding = generator_texts.definitions(tree)
    for function in [n for n in nodes(tree) if isinstance(n, gast.FunctionDef)]:
        given = unit.iterators if function is tree else set[str]()
        for names in (named(IteratorKinds(unit, yielding), function), set[str]()):
            try:
                function.body = _Scope(unit, yielding, function, names | given).block(clone(function.body))
                break
            except NotDrawn:
                continue
    return tree


class _Scope(Iterators):
    """The statements of one function, rewritten; `held` are its named iterators."""

    def __init__(self, unit: Unit, yielding: dict[str, Any], function: gast.FunctionDef, held: set[str]) -> None:
        super().__init__(unit, yielding, function, held)
        self.named = held - unit.iterators
        self.absorption = Absorption(unit, function, self.names)

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        """The statements of a block, rewritten."""
        out: list[gast.AST] = []
        for statement in body:
            around, self.before = self.before, []
            replacement = self.statement(statement)
            for new in (*self.before, *replacement):
                placed(statement, new)
            out += [*self.before, *replacement]
            self.before = around
        return out

    def statement(self, statement: gast.AST) -> list[gast.AST]:
        """The statements that replace one."""
        if isinstance(statement, gast.FunctionDef):
            return [statement]  # a scope of its own
        if isinstance(statement, gast.For):
            self.keep_functions(statement)
            wanted = self.wants(statement.iter) or self.meets(statement)
            statement.iter = self.expressions(self.attempted(statement.iter) if wanted else statement.iter)
        elif isinstance(statement, (gast.If, gast.While)):
            statement.test = self.expressions(statement.test)
        else:
            target = statement.targets[0] if isinstance(statement, gast.Assign) else None
            if isinstance(target, gast.Name) and target.id in self.named:
                statement.value = self.lasting(statement.value)
                return [statement]
            if self.absorbs(statement):
                statement.value = self.calling(builtins.list, self.unpacked(statement))
            return [self.expressions(statement)]
        return [self.with_blocks(statement)]

    def absorbs(self, statement: gast.AST) -> bool:
        """Whether a statement takes all items of what must be drawn from; no section is ever assigned an iterator."""
        unpacks = iterables.unpacks(statement)
        value = statement.value if unpacks else self.absorption.taken(statement)
        if value is None or self.wants(value, listed=True):
            return value is not None
        into_section = isinstance(statement, gast.Assign) and not unpacks
        return into_section and (self.streams(value) or self.is_generator(value))

    def unpacked(self, statement: gast.AST) -> gast.AST:
        """The value of a statement, without the items that unpacking would not draw."""
        targets = statement.targets if iterables.unpacks(statement) else []
        if not targets or any(isinstance(e, gast.Starred) for e in getattr(targets[0], "elts", [])):
            return statement.value
        most = constant(len(targets[0].elts) + 1)
        return self.calling(itertools.islice, statement.value, most)

    def with_blocks(self, statement: gast.AST) -> gast.AST:
        """A statement with the blocks in it rewritten."""
        for inner in blocks(statement):
            inner[:] = self.block(inner)
        return statement

    def keep_functions(self, loop: gast.For) -> None:
        """Name the functions of `map` and `filter` before a loop whose body rebinds their names."""
        for call in nodes(loop.iter):
            if self.called(call) in (builtins.map, builtins.filter) and call.args:
                path = mentioned(call.args[0]) | {n.attr for n in nodes(call.args[0]) if isinstance(n, gast.Attribute)}
                if stored(*loop.body) & path & self.rebound:
                    self.before.append(assign(local := self.unit.local("function"), call.args[0]))
                    call.args[0] = name(local)

    def attempted(self, node: gast.AST) -> gast.AST:
        """What a loop runs over instead of an iterable, which stays if it cannot be drawn from and has no named iterator."""
        before = len(self.before)
        try:
            return at(node, self.drawn(clone(node)))[0]
        except NotDrawn:
            if mentioned(node) & self.named:
                raise
        del self.before[before:]
        if any(map(self.is_generator, nodes(node))):  # as a list, it might have no end, or run too far
            self.unit.refuse(node, "what draws from this generator beside something else cannot be followed: loop over the "
                                   "generator alone, or over a list of its values")  # fmt: skip
        return node

    def wants(self, node: gast.AST, listed: bool = False) -> bool:
        """Whether this pass draws from an iterable; `listed`: all of it is consumed, not by a loop.

        A loop over a generator function is inlined elsewhere, and `loops` handles what can be indexed.
        """
        plain = node
        while isinstance(plain, gast.GeneratorExp) and len(plain.generators) == 1:
            plain = plain.generators[0].iter
        if listed and self.called(node) is builtins.reversed:
            return True
        if self.is_generator(plain) or (not (listed and plain is node) and self.indexable(plain)):
            return False
        return self.needs(node)

    def meets(self, loop: gast.For) -> bool:
        """Whether a trip of a loop may change what later items are made of, and these would be made before."""
        over = loop.iter
        while (inner := inlined(self.unit, over)) is not None:
            over = inner
        inside = (n for n in nodes(over) if n is not over)
        listed = any(isinstance(n, gast.GeneratorExp) or is_one_of(self.called(n), iterables.COMPUTED) for n in inside)
        listed = listed or self.called(over) is itertools.pairwise
        return listed and self.names.may_change([loop.iter], loop.body)

    # --- expressions ---

    def expressions(self, node: gast.AST) -> Any:
        """The node with calls instead of draws."""
        return _Expressions(self).visit(node)


class _Expressions(Transformer):
    def __init__(self, scope: _Scope) -> None:
        self.scope, self.unit = scope, scope.unit

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node

    def comprehension(self, node: gast.AST) -> gast.AST:
        """A comprehension that draws its items."""
        for each in node.generators:
            if self.scope.wants(each.iter):
                each.iter = self.scope.attempted(each.iter)
        return self.generic_visit(node)

    visit_ListComp = visit_GeneratorExp = visit_SetComp = visit_DictComp = comprehension

    def visit_Call(self, node: gast.Call) -> gast.AST:
        target = self.unit.resolve(node.func)
        if target is builtins.next and node.args and not node.keywords:
            return self.next(node)
        if self.scope.is_followed(node.func) and not iterables.is_ours(target):
            node.args = [self.handed(a) for a in node.args]
        elif (place := self.used_up(node)) is not None:
            node.args[place] = at(node, self.scope.calling(builtins.list, node.args[place]))[0]
        elif target is dict and len(node.args) == 1 and not node.keywords and self.scope.wants(node.args[0], listed=True):
            key, value, pairs = self.unit.local("key"), self.unit.local("value"), node.args[0]
            return self.visit(at(node, expression("{k: v for k, v in pairs}", k=key, v=value, pairs=pairs))[0])
        elif reduces(self.unit, node) and self.scope.wants(node.args[1], listed=True):
            if self.scope.names.may_change(free(node.args[0])):
                self.unit.refuse(node, CHANGES_BETWEEN)
            node.args[1] = self.consumed(iterators.listed, node.args[1])
        elif is_one_of(target, iterables.DRAWS) and node.args and self.scope.wants(node.args[0], listed=True):
            of_all = iterators.OF_ALL.get(target, iterators.listed)
            node.args[0] = self.consumed(of_all, node.args[0])
            if (target in (list, any, all)) and len(node.args) == 1:
                return node.args[0]
        return self.generic_visit(node)

    def used_up(self, node: gast.Call) -> int | None:
        """Which argument is an iterator of which `extend`, or `sorted` with a key, draws all items first."""
        if self.scope.absorption.taken(node) is not None:
            return 0 if self.scope.wants(node.args[0], listed=True) else None
        target = self.unit.resolve(node.func)
        keyed = len(node.args) == 1 and any(k.arg == "key" for k in node.keywords) and self.scope.is_generator(node.args[0])
        if keyed and is_one_of(target, (builtins.max, builtins.min)):
            self.unit.refuse(node, f"`{target.__name__}` asks its key between two items of this generator, which cannot be "
                                   "followed: make a list of its values first")  # fmt: skip
        return 0 if keyed and target is builtins.sorted else None

    def consumed(self, function: Any, node: gast.AST) -> gast.AST:
        """The call of a function that consumes an iterable."""
        drawn = self.scope.attempted(node)
        return node if drawn is node else at(node, self.scope.calling(function, drawn))[0]

    def handed(self, node: gast.AST) -> gast.AST:
        """An argument of a function that is inlined: an iterator as an object."""
        if isinstance(node, gast.Call) and is_one_of(self.scope.called(node), iterables.HANDED):
            return at(node, self.scope.lasting(node))[0]
        return node

    def next(self, node: gast.Call) -> gast.AST:
        """`next(it)`, `next(it, default)`."""
        over, *default = node.args
        if self.scope.needs(over):
            function = iterators.following_or if default else iterators.following
            return at(node, self.scope.calling(function, self.scope.iterator(over), *map(self.visit, default)))[0]
        return self.generic_visit(node)
