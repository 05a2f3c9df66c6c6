"""Iterables without a length: loops, comprehensions and reductions draw from them item by item, as in Python.

    for v in takewhile(f, map(g, xs)): ..      ->      for v in begun(f, mapped(g, xs)): ..
    next(filter(f, xs), None)                  ->      first_of(chosen(f, xs), None)

The functions are those of `standard.generators`, inlined like the user's; `drawn_tools` says which.  A loop over what can be
indexed is left to `loops`.  An iterator that is drawn from in several places is recorded (`specialize.generators`).

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from itertools import islice, takewhile
... def f(x):
...     total = 0.0
...     for k, v in enumerate(takewhile(bool, map(abs, x))):
...         total = total + k * v
...     return total + sum(islice(takewhile(bool, x), 2))
... ''', "drawing"))
def f(x):
    total = 0.0
    for k, v in numbered(begun(bool, mapped(abs, x)), 0):
        total = total + k * v
    return total + sum(listed(first(begun(bool, x), 2)))
"""

from __future__ import annotations

import builtins
import functools
import itertools
from typing import Any

import gast

from s2sgrad import standard
from s2sgrad.analysis import protocols
from s2sgrad.analysis.effects import is_library, is_one_of
from s2sgrad.analysis.user_functions import is_plain
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
from s2sgrad.memory import behaviour
from s2sgrad.memory.interference import CHANGES_BETWEEN, Interference, free
from s2sgrad.normalize import dict_views, iterables
from s2sgrad.normalize.absorption import Absorption
from s2sgrad.normalize.check import yields
from s2sgrad.normalize.drawn_tools import DrawnTools, NotDrawn
from s2sgrad.normalize.endings import Endings, inlined
from s2sgrad.normalize.iterator_kinds import LAZY, IteratorKinds
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.libraries import is_installed
from s2sgrad.standard import generators


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with calls of generator functions wherever items must be drawn."""
    functions = [n for n in nodes(tree) if isinstance(n, gast.FunctionDef)]
    kinds = IteratorKinds(unit, {f.name for f in functions if f is not tree and yields(f)})
    for function in functions:
        function.body = _Scope(kinds, function).block(function.body)
    return tree


class _Scope:
    """The statements of one function, rewritten."""

    def __init__(self, kinds: IteratorKinds, function: gast.FunctionDef) -> None:
        self.kinds, self.unit, self.function = kinds, kinds.unit, function
        self.names = Interference(self.unit, function)
        self.tools = DrawnTools(kinds, self.names)
        self.absorption = Absorption(self.unit, function, self.names)
        self.of_loops = function.name == "__iter__"
        self.expressions = _Expressions(self).visit

    @functools.cached_property
    def endings(self) -> Endings:
        """Which iterables may have no end; asked only where one cannot be drawn from."""
        return Endings(self.unit, self.function)

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        """The statements of a block, rewritten."""
        out: list[gast.AST] = []
        for statement in body:
            around, self.tools.before = self.tools.before, []
            replacement = self.statement(statement)
            for new in (*self.tools.before, replacement):
                placed(statement, new)
            out += [*self.tools.before, replacement]
            self.tools.before = around
        return out

    def statement(self, statement: gast.AST) -> gast.AST:
        """The statement that replaces one."""
        if isinstance(statement, gast.FunctionDef):
            return statement  # a scope of its own
        if isinstance(statement, gast.For):
            self.keep_functions(statement)
            wanted = self.wants(statement.iter) or self.meets(statement)
            statement.iter = self.expressions(self.attempted(statement.iter) if wanted else statement.iter)
        elif isinstance(statement, (gast.If, gast.While)):
            statement.test = self.expressions(statement.test)
        else:
            if isinstance(statement, (gast.Return, gast.Assign)) and not iterables.unpacks(statement):
                of_loops = self.of_loops and isinstance(statement, gast.Return)
                statement.value = self.looped(statement.value) if of_loops else self.kept(statement.value)
            if self.absorbs(statement):
                statement.value = at(statement, gast.Call(self.unit.builtin(list), [self.unpacked(statement)], []))[0]
            return self.expressions(statement)
        for inner in blocks(statement):
            inner[:] = self.block(inner)
        return statement

    def absorbs(self, statement: gast.AST) -> bool:
        """Whether a statement takes all items of what must be drawn from; no section is ever assigned an iterator."""
        unpacks = iterables.unpacks(statement)
        value = statement.value if unpacks else self.absorption.taken(statement)
        if value is None or self.wants(value, listed=True):
            return value is not None
        into_section = isinstance(statement, gast.Assign) and not unpacks
        return into_section and (self.kinds.streams(value) or self.kinds.is_generator(value))

    def unpacked(self, statement: gast.AST) -> gast.AST:
        """The value of a statement, without the items that unpacking would not draw."""
        targets = statement.targets if iterables.unpacks(statement) else []
        if not targets or any(isinstance(e, gast.Starred) for e in getattr(targets[0], "elts", [])):
            return statement.value
        return self.tools.calling(itertools.islice, statement.value, constant(len(targets[0].elts) + 1))

    def keep_functions(self, loop: gast.For) -> None:
        """Name the functions of `map` and `filter` before a loop whose body rebinds their names."""
        for call in nodes(loop.iter):
            if self.kinds.called(call) in (builtins.map, builtins.filter) and call.args:
                path = mentioned(call.args[0]) | {n.attr for n in nodes(call.args[0]) if isinstance(n, gast.Attribute)}
                if stored(*loop.body) & path:
                    self.tools.before.append(assign(local := self.unit.local("function"), call.args[0]))
                    call.args[0] = name(local)

    def attempted(self, node: gast.AST) -> gast.AST:
        """What draws from an iterable, which stays as it is if nothing can."""
        before = len(self.tools.before)
        try:
            return at(node, self.tools.drawn(clone(node)))[0]
        except NotDrawn:
            del self.tools.before[before:]
        inside = [n for n in nodes(node) if n is not node and not (isinstance(n, gast.Call) and self.endings.is_source(n))]
        endless = any(map(self.endings.is_endless, inside))
        if endless or any(map(self.kinds.is_generator, nodes(node))):  # as a list, it might have no end, or run too far
            self.unit.refuse(node, "what draws from this generator beside something else cannot be followed: loop over the "
                                   "generator alone, or over a list of its values")  # fmt: skip
        return node

    def kept(self, node: gast.AST | None) -> gast.AST | None:
        """A value that is kept, returned or handed on: an iterator as a generator, which is run through once."""
        if not isinstance(node, gast.GeneratorExp) and not is_one_of(self.kinds.called(node), LAZY):
            return node
        if any(map(self.reads_late, nodes(node))) and self.names.may_change([node]):
            self.unit.refuse(node, "what this iterator reads may change before it is run through, which cannot be followed: "
                                   "make a list of it")  # fmt: skip
        drawn = self.attempted(node)
        whole = drawn is node or self.kinds.is_generator(drawn)
        return drawn if whole else at(node, self.tools.calling(generators.each, drawn))[0]

    def reads_late(self, node: gast.AST) -> bool:
        """Whether an iterable reads its items only when they are drawn, and `standard.generators` has none like it."""
        target = self.kinds.called(node)
        listed = isinstance(target, type) and protocols.is_lazy(target) and not is_one_of(target, LAZY)
        return listed or dict_views.of(self.unit, node) is not None

    def looped(self, node: gast.AST | None) -> gast.AST | None:
        """What `__iter__` returns, which loops run over: `e` for `iter(e)`."""
        made = node is not None and self.kinds.called(node) is builtins.iter
        return node.args[0] if node is not None and made and len(node.args) == 1 else self.kept(node)

    def wants(self, node: gast.AST, listed: bool = False) -> bool:
        """Whether this pass draws from an iterable; `listed`: all of it is consumed, not by a loop.

        A loop over a generator function is inlined elsewhere, and `loops` handles what can be indexed.
        """
        plain = node
        while isinstance(plain, gast.GeneratorExp) and len(plain.generators) == 1:
            plain = plain.generators[0].iter
        if listed and self.kinds.called(node) is builtins.reversed:
            return True
        if self.kinds.is_generator(plain) or (not (listed and plain is node) and self.kinds.indexable(plain)):
            return False
        return self.kinds.needs(node)

    def meets(self, loop: gast.For) -> bool:
        """Whether a trip of a loop may change what later items are made of, and these would be made before."""
        over = loop.iter
        while (inner := inlined(self.unit, over)) is not None:
            over = inner
        inside = (n for n in nodes(over) if n is not over)
        listed = any(isinstance(n, gast.GeneratorExp) or is_one_of(self.kinds.called(n), iterables.COMPUTED) for n in inside)
        listed = listed or self.kinds.called(over) is itertools.pairwise
        return listed and self.names.may_change([loop.iter], loop.body)


class _Expressions(Transformer):
    """Calls instead of draws."""

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

    def display(self, node: gast.List | gast.Tuple) -> gast.AST:
        """A display that may keep iterators."""
        if isinstance(node.ctx, gast.Load):
            node.elts = [e if isinstance(e, gast.Starred) else self.scope.kept(e) for e in node.elts]
        return self.generic_visit(node)

    visit_List = visit_Tuple = display

    def visit_Dict(self, node: gast.Dict) -> gast.AST:
        node.values = [self.scope.kept(v) for v in node.values]
        return self.generic_visit(node)

    visit_ListComp = visit_GeneratorExp = visit_SetComp = visit_DictComp = comprehension

    def visit_Call(self, node: gast.Call) -> gast.AST:
        target = self.unit.resolve(node.func)
        if target is builtins.next and node.args and not node.keywords:
            return self.next(node)
        if self.is_followed(node.func) and not iterables.is_ours(target):
            node.args = [self.scope.kept(a) for a in node.args]
        elif (place := self.used_up(node)) is not None:
            node.args[place] = at(node, gast.Call(self.unit.builtin(list), [node.args[place]], []))[0]
        elif target is dict and len(node.args) == 1 and not node.keywords and self.scope.wants(node.args[0], listed=True):
            key, value, pairs = self.unit.local("key"), self.unit.local("value"), node.args[0]
            return self.visit(at(node, expression("{k: v for k, v in pairs}", k=key, v=value, pairs=pairs))[0])
        elif reduces(self.unit, node) and self.scope.wants(node.args[1], listed=True):
            if self.scope.names.may_change(free(node.args[0])):
                self.unit.refuse(node, CHANGES_BETWEEN)
            node.args[1] = self.consumed(generators.listed, node.args[1])
        elif is_one_of(target, iterables.DRAWS) and node.args and self.scope.wants(node.args[0], listed=True):
            of_all = generators.OF_ALL.get(target, generators.listed)
            consumed = self.consumed(of_all, node.args[0])
            if consumed is not node.args[0] and target in (list, any, all) and len(node.args) == 1:
                return consumed
            node.args[0] = consumed
        return self.generic_visit(node)

    def is_followed(self, function: gast.AST) -> bool:
        """Whether a callee is a function of the user's that can be inlined."""
        target = self.unit.resolve(function)
        nested = isinstance(function, gast.Name) and function.id in self.unit.locals
        return nested or (is_plain(target) and not is_library(target) and not is_installed(target))

    def used_up(self, node: gast.Call) -> int | None:
        """Which argument is an iterator of which `extend`, or `sorted` with a key, draws all items first."""
        if self.scope.absorption.taken(node) is not None:
            return 0 if self.scope.wants(node.args[0], listed=True) else None
        target = self.unit.resolve(node.func)
        keyed = len(node.args) == 1 and any(k.arg == "key" for k in node.keywords)
        keyed = keyed and self.scope.kinds.is_generator(node.args[0])
        if keyed and is_one_of(target, (builtins.max, builtins.min)):
            self.unit.refuse(node, f"`{target.__name__}` asks its key between two items of this generator, which cannot be "
                                   "followed: make a list of its values first")  # fmt: skip
        return 0 if keyed and target is builtins.sorted else None

    def consumed(self, function: Any, node: gast.AST) -> gast.AST:
        """The call of a function that consumes an iterable."""
        drawn = self.scope.attempted(node)
        return node if drawn is node else at(node, self.scope.tools.calling(function, drawn))[0]

    def next(self, node: gast.Call) -> gast.AST:
        """`next(e)`, `next(e, default)` of an iterable that nobody else draws from."""
        over, *default = node.args
        if not isinstance(over, gast.Name) and self.scope.kinds.needs(over):
            node.args[0] = self.scope.attempted(over)
            if node.args[0] is not over or self.scope.kinds.is_generator(over):
                found = standard.first_of if default else standard.first_item
                return self.generic_visit(at(node, self.scope.tools.calling(found, *node.args))[0])
        return self.generic_visit(node)


def reduces(unit: Unit, node: gast.Call) -> bool:
    """Whether a call is a `reduce` whose items may all be drawn first: its function is pure."""
    if unit.resolve(node.func) is not functools.reduce or len(node.args) < 2 or isinstance(node.args[1], gast.Starred):
        return False
    function = node.args[0]
    if isinstance(function, gast.Lambda):
        return all(behaviour.is_pure_call(unit, n) for n in nodes(function) if isinstance(n, gast.Call))
    return catalogue.of(unit.resolve(function)).pure
