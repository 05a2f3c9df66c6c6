"""Iterators that are infinite, or have a name: loops, comprehensions and `next` draw from them item by item, as in Python.

    it = iter(x); a = next(it); for v in it: ..    ->    k = 0; a = x[k]; k += 1; while k < len(x): v = x[k]; k += 1; ..

A loop over what can be indexed is left to `loops`, a loop over a generator function to `generators`.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     total = 0.0
...     it = iter(x)
...     for v in it:
...         total = total + v * next(it)
...     return total
... ''', "drawing"))
def f(x):
    total = 0.0
    t1 = sequence(x)
    place = 0
    def next_it():
        nonlocal place
        if not place < len(t1):
            raise StopIteration()
        item = t1[place]
        place = place + 1
        return item
    while place < len(t1):
        item_ = t1[place]
        place = place + 1
        v = item_
        total = total + v * next_it()
    return total
"""

from __future__ import annotations

import builtins
import itertools
from collections import Counter
from typing import Any

import gast

from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.exits import leaves, with_exits
from s2sgrad.ir.forms import opposite
from s2sgrad.ir.quote import (
    Transformer,
    assign,
    at,
    blocks,
    clone,
    constant,
    empty_arguments,
    expression,
    mentioned,
    name,
    nodes,
    placed,
    stored,
)
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import iterables, stepwise
from s2sgrad.normalize.drawn_tools import Drawer
from s2sgrad.normalize.draws import Draw, NotDrawn, is_true
from s2sgrad.normalize.named_iterators import Changes, named, reduces, takes_the_rest


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with explicit draws wherever an item is requested of an infinite or named iterator."""
    yielding = stepwise.definitions(tree)
    for function in [n for n in nodes(tree) if isinstance(n, gast.FunctionDef)]:
        drawer = Drawer(unit, yielding)
        named_draws = named(drawer, function)
        for names in (named_draws, {}):
            try:
                function.body = _Scope(drawer, function, names).block(clone(function.body))
                break
            except NotDrawn:
                continue
    return tree


class _Scope:
    """The statements of one function, rewritten; `named` has the values of its named iterators."""

    def __init__(self, drawer: Drawer, function: gast.FunctionDef, named: dict[str, gast.AST]) -> None:
        self.unit, self.named = drawer.unit, named
        self.changes, self.state = Changes(drawer.unit, function), set[str]()
        self.drawer = Drawer(drawer.unit, drawer.yielding, changes=self.changes)
        inside = list(nodes(function)) if named else []
        mentions = Counter(n.id for n in inside if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))
        self.often = {n for n, times in mentions.items() if times > 1}
        asked = [n for n in inside if self.unit.called(n) is builtins.next]
        self.asked = {(n.args[0].id, len(n.args)) for n in asked if n.args and isinstance(n.args[0], gast.Name)}
        self.next: dict[tuple[str, int], str] = {}
        # indexable sources come before any iterator has a name
        self.drawer.held = {local: Draw([], [], name(local)) for local in named}

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        """The statements of a block, rewritten."""
        out: list[gast.AST] = []
        for statement in body:
            before: list[gast.AST] = []
            replacement = self.statement(statement, before)
            for new in (*before, *replacement):
                placed(statement, new)
            out += [*before, *replacement]
        return out

    def statement(self, statement: gast.AST, before: list[gast.AST]) -> list[gast.AST]:
        """The statements that replace one; those that must precede it are appended to `before`."""
        if isinstance(statement, gast.FunctionDef):
            return [statement]  # a scope of its own
        if isinstance(statement, gast.For):
            before += self.drawer.bound_before(statement)
            if self.wants(statement.iter) or self.meets(statement):
                return self.attempted(statement, lambda: self.loop(clone(statement)))
            statement.iter = self.expressions(statement.iter, before)
        elif isinstance(statement, (gast.If, gast.While)):
            statement.test = self.expressions(statement.test, before)
        else:
            target = statement.targets[0] if isinstance(statement, gast.Assign) else None
            if isinstance(target, gast.Name) and target.id in self.named:
                return self.begin(target.id, statement.value)
            if takes_the_rest(statement) and any(getattr(n, "id", "") in self.named for n in nodes(statement.value)):
                statement.value = at(statement, gast.Call(self.unit.builtin(list), [statement.value], []))[0]
            return [self.expressions(statement, before)]
        for inner in blocks(statement):
            inner[:] = self.block(inner)
        return [statement]

    def attempted(self, statement: gast.For, rewrite: Any) -> list[gast.AST]:
        """The rewritten loop; unchanged if it cannot be rewritten and no iterator has a name."""
        generators = sum(map(self.drawer.is_generator, nodes(statement.iter)))
        if generators:  # its body would be inlined into itself
            generators += any(self.drawer.is_generator(n) for n in nodes(*statement.body))
        for self.drawer.stepwise in (False, True)[:: -1 if generators > 1 else 1]:
            try:
                return rewrite()
            except NotDrawn:
                if not generators:
                    break
            finally:
                self.drawer.stepwise = False
        if self.named:
            raise NotDrawn
        self.require_ended(statement.iter)
        for inner in blocks(statement):
            inner[:] = self.block(inner)
        return [statement]

    def require_ended(self, node: gast.AST, listed: bool = False) -> None:
        """Refuse a tool that draws from a generator function and cannot be rewritten: as a list, the generator may be
        infinite or run too far.  In a `zip`, `generators` decides."""
        if self.drawer.is_generator(node):
            if listed:
                self.unit.refuse(node, "what draws from this generator beside something else cannot be followed: loop over "
                                       "the generator alone, or over a list of its values")  # fmt: skip
            return
        target = self.drawer.called(node)
        beside = target in (builtins.zip, builtins.enumerate)
        inner: list[gast.AST] = list(node.args) if isinstance(node, gast.Call) else []
        if isinstance(node, (gast.GeneratorExp, gast.ListComp)):
            inner = [each.iter for each in node.generators]
        for part in inner:
            zips = not beside and self.drawer.called(part) in (builtins.zip, builtins.enumerate)
            plain = zips or self.drawer.is_generator(part)
            asks = is_one_of(target, iterables.DRAWS)
            self.require_ended(part, listed if plain or asks else True)

    def wants(self, node: gast.AST, listed: bool = False) -> bool:
        """Whether this pass draws from an iterable; `listed`: all of it is consumed, not by a loop.

        A loop over a generator function is inlined elsewhere, and `loops` handles what can be indexed.
        """
        plain = node
        while isinstance(plain, gast.GeneratorExp) and len(plain.generators) == 1:
            plain = plain.generators[0].iter
        if listed and self.drawer.called(node) is builtins.reversed:
            return True
        if self.drawer.is_generator(plain) or (not (listed and plain is node) and self.drawer.indexable(plain)):
            return False
        return self.drawer.needs(node)

    def meets(self, loop: gast.For) -> bool:
        """Whether a loop over `pairwise(xs)` mentions `xs` in its body."""
        pairs = [n for n in nodes(loop.iter) if self.drawer.called(n) is itertools.pairwise]
        return bool(mentioned(*pairs) & mentioned(*loop.body))

    # --- named iterators ---

    def begin(self, local: str, value: gast.AST) -> list[gast.AST]:
        """`it = iter(x)`: its state, and the functions that `next` calls."""
        self.drawer.resumable = True
        self.drawer.resized = (local in self.often or (local, 2) in self.asked) and self.changes.resizes
        draw = self.drawn(value, first=False)  # other draws may come first
        self.drawer.resumable = self.drawer.resized = False
        if self.drawer.generator is not None:
            raise NotDrawn
        self.drawer.held[local] = draw
        self.state |= stored(*draw.setup)
        setup = list(draw.setup)
        for count in (1, 2):
            if (local, count) in self.asked:
                function = self.unit.local(f"next_{local}" if count == 1 else f"next_{local}_or")
                self.next[local, count] = function
                setup.append(self.drawing(function, draw, count == 2))
        return setup

    def drawing(self, function: str, draw: Draw, otherwise: bool) -> gast.FunctionDef:
        """A function that returns the next item."""
        parameters = empty_arguments()
        ended: gast.AST = gast.Raise(gast.Call(self.unit.builtin(StopIteration), [], []), None)
        if otherwise:
            default = self.unit.local("default")
            parameters.args = [gast.Name(default, gast.Param(), None, None)]
            ended = gast.Return(name(default))
        steps = [*with_exits(draw.steps, gast.Break, lambda _: [clone(ended)]), gast.Return(clone(draw.item))]
        return self.function(function, parameters, steps)

    def function(self, function: str, given: gast.AST, body: list[gast.AST]) -> gast.FunctionDef:
        """A nested function with this body, which declares the iterator state that it changes as nonlocal."""
        outer = sorted(stored(*body) & self.state)
        return gast.FunctionDef(function, given, [*([gast.Nonlocal(outer)] if outer else []), *body], [], None, None, [])

    # --- loops ---

    def drawn(self, node: gast.AST, first: bool = True) -> Draw:
        self.drawer.generator = None
        return self.drawer.of(node, first)

    def loop(self, loop: gast.For) -> list[gast.AST]:
        """The statements of a loop that draws its items."""
        draw = self.drawn(loop.iter)
        generator = self.drawer.generator
        orelse = self.block(loop.orelse)
        head = [*clone(draw.take), gast.Assign([loop.target], clone(draw.item), None)]
        if generator is not None:
            if orelse:
                raise NotDrawn
            return self.pushed(loop, draw, generator)
        body = self.block(loop.body)
        may_end = leaves(draw.take, gast.Break)
        if draw.ready is not None and not is_true(draw.ready) and not (orelse and may_end):
            return [*draw.setup, gast.While(clone(draw.ready), [*head, *body], orelse)]
        if not orelse:
            steps = [*draw.steps, head[-1]]
            return [*draw.setup, gast.While(constant(True), [*steps, *body], [])]
        ended = self.unit.local("ended")
        steps = with_exits(draw.steps, gast.Break, lambda _: [assign(ended, constant(True)), gast.Break()])
        whole = gast.While(constant(True), [*steps, head[-1], *body], [])
        return [*draw.setup, assign(ended, constant(False)), whole, gast.If(name(ended), orelse, [])]

    def pushed(self, loop: gast.For, draw: Draw, generator: Any) -> list[gast.AST]:
        """A loop over a generator function: draws that precede the generator come before the loop and at the end of each
        trip, draws that follow it at the start of the body."""
        steps = draw.steps
        marks = {id(s): s.value.id for s in steps if isinstance(s, gast.Expr) and isinstance(s.value, gast.Name)}
        where = [k for k, s in enumerate(steps) if marks.get(id(s)) == generator.mark.value.id]
        if len(where) != 1:
            raise NotDrawn
        before, after = steps[: where[0]], steps[where[0] + 1 :]
        body = self.block(loop.body)
        body = [*after, gast.Assign([loop.target], clone(draw.item), None), *body]
        if before:
            body = [*with_exits(body, gast.Continue, lambda _: [*clone(before), gast.Continue()]), *clone(before)]
        whole: list[gast.AST] = [gast.For(name(generator.value, store=True), clone(generator.call), body, [], None)]
        for statement in reversed(before):
            if isinstance(statement, gast.If) and isinstance(statement.body[-1], gast.Break) and not statement.orelse:
                if len(statement.body) > 1:
                    raise NotDrawn
                whole = [gast.If(opposite(clone(statement.test)), whole, [])]
            elif isinstance(statement, gast.Assign):
                whole = [clone(statement), *whole]
            else:
                raise NotDrawn
        return [*draw.setup, *whole]

    # --- expressions ---

    def expressions(self, node: gast.AST, before: list[gast.AST]) -> Any:
        """The node with calls instead of draws; the functions are defined in `before`."""
        return _Expressions(self, before).visit(node)


class _Expressions(Transformer):
    def __init__(self, scope: _Scope, before: list[gast.AST]) -> None:
        self.scope, self.before, self.unit = scope, before, scope.unit
        self.inner: Counter[str] = Counter()  # variables of enclosing comprehensions

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node

    def comprehension(self, node: gast.AST) -> gast.AST:
        """A comprehension, moved before the statement as a loop if it draws from such an iterator."""
        if isinstance(node, gast.ListComp) and self.scope.wants(node.generators[0].iter):
            replacement = self.hoisted(node, self.appending(node.generators, node.elt))
            if replacement is not None:
                return replacement
        own = [n.id for g in node.generators for n in nodes(g.target) if isinstance(n, gast.Name)]
        self.inner.update(own)
        self.generic_visit(node)
        self.inner.subtract(own)
        return node

    visit_ListComp = visit_GeneratorExp = visit_SetComp = visit_DictComp = comprehension

    def visit_Call(self, node: gast.Call) -> gast.AST:
        target = self.unit.resolve(node.func)
        if target is builtins.next and node.args and not node.keywords:
            return self.next(node)
        if reduces(self.unit, node) and self.scope.wants(node.args[1], listed=True):
            node.args[1] = at(node, gast.Call(self.unit.builtin(list), [node.args[1]], []))[0]
        draws = target is not builtins.next and is_one_of(target, iterables.DRAWS)
        if draws and node.args and self.scope.wants(node.args[0], listed=True):
            over = node.args[0]
            item = self.unit.local("item")
            if target in (any, all):
                test = name(item) if target is any else gast.UnaryOp(gast.Not(), name(item))
                leave = [gast.If(test, [gast.Return(constant(target is any))], [])]
                body = [gast.For(name(item, store=True), over, leave, [], None), gast.Return(constant(target is all))]
            else:
                body = self.appending([gast.comprehension(name(item, store=True), over, [], 0)], name(item))
            replacement = self.hoisted(node, body)
            if replacement is not None:
                node.args[0] = replacement
                return replacement if target in (list, any, all) and len(node.args) == 1 else self.generic_visit(node)
        return self.generic_visit(node)

    def next(self, node: gast.Call) -> gast.AST:
        """`next(it)`, `next(it, default)`."""
        over, *default = node.args
        if isinstance(over, gast.Name) and over.id in self.scope.named:
            function = self.scope.next.get((over.id, len(node.args)))
            if function is None or len(default) > 1:
                raise NotDrawn
            default = [self.visit(d) for d in default]
            return at(node, gast.Call(at(node, name(function))[0], default, []))[0]
        simple = not any(isinstance(n, gast.Call) for n in nodes(*default))  # the default is evaluated last
        if self.scope.drawer.needs(over) and simple:
            item = self.unit.local("item")
            leave = gast.Return(name(item))
            ended: gast.AST = gast.Raise(gast.Call(self.unit.builtin(StopIteration), [], []), None)
            ended = gast.Return(clone(default[0])) if default else ended
            replacement = self.hoisted(node, [gast.For(name(item, store=True), over, [leave], [], None), ended])
            if replacement is not None:
                return replacement
        return self.generic_visit(node)

    def appending(self, generators: list[gast.AST], value: gast.AST) -> list[gast.AST]:
        """The statements of a list comprehension."""
        items = self.unit.local("items")
        body: list[gast.AST] = [gast.Expr(expression("xs.append(v)", xs=items, v=value))]
        for each in reversed(generators):
            for test in reversed(each.ifs):
                body = [gast.If(clone(test), body, [])]
            body = [gast.For(clone(each.target), clone(each.iter), body, [], None)]
        return [assign(items, gast.List([], gast.Load())), *body, gast.Return(name(items))]

    def hoisted(self, node: gast.AST, body: list[gast.AST]) -> gast.AST | None:
        """A call of a function made of these statements; None if it would not see the variables that it reads."""
        names = mentioned(*body)
        around = any(self.inner[n] > 0 for n in names)
        if around or any(isinstance(n, gast.NamedExpr) for n in nodes(*body)):
            if names & self.scope.named.keys():
                raise NotDrawn
            self.scope.require_ended(node)
            return None
        try:
            rewritten = self.scope.block([placed(node, s) for s in body])
        except NotDrawn:
            if names & self.scope.named.keys():
                raise
            self.scope.require_ended(node)
            return None
        function = self.unit.local("drawn")
        self.before.append(self.scope.function(function, empty_arguments(), rewritten))
        return at(node, gast.Call(at(node, name(function))[0], [], []))[0]
