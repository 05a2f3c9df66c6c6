"""Iterators whose next item only the run knows: what draws from one is recorded.

    for v in takewhile(f, map(g, xs)): ..      ->      refused, and recorded
    it = iter(x); fold(v * c for v in x)       ->      refused, and recorded
    sum(reversed(x))                           ->      sum(sequence(x)[::-1])

What stays has an item at each index, or computes its items in the trips of one loop over them (`loops`,
`library_desugaring`).  A generator function of the user's is written out in the loop over it (`specialize.generators`).

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     return sum(reversed(x)) + sum(map(abs, x))
... ''', "drawing"))
def f(x):
    return sum(sequence(x)[::-1]) + sum(map(abs, x))
"""

from __future__ import annotations

import builtins
import functools
import itertools

import gast

from s2sgrad import runtime
from s2sgrad.analysis.effects import is_library, is_one_of
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.ir.quote import Transformer, at, expression, mentioned, nodes, stored
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.interference import Interference
from s2sgrad.normalize import iterables
from s2sgrad.normalize.absorption import Absorption
from s2sgrad.normalize.check import yields
from s2sgrad.normalize.iterator_kinds import LAZY, IteratorKinds
from s2sgrad.primitives.libraries import is_installed


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree, if no iterator in it has to be drawn from as the program runs; else raises Unsupported."""
    functions = [n for n in nodes(tree) if isinstance(n, gast.FunctionDef)]
    kinds = IteratorKinds(unit, {f.name for f in functions if f is not tree and yields(f)})
    for function in functions:
        scope = _Function(kinds, function)
        function.body = [scope.visit(statement) for statement in function.body]
    return tree


class _Draws:
    """What draws from iterators in one function."""

    def __init__(self, kinds: IteratorKinds, function: gast.FunctionDef) -> None:
        self.kinds, self.unit = kinds, kinds.unit
        self.names = Interference(self.unit, function)
        self.absorption = Absorption(self.unit, function, self.names)

    def is_followed(self, function: gast.AST) -> bool:
        """Whether a callee is a function of the user's that can be inlined."""
        target = self.unit.resolve(function)
        nested = isinstance(function, gast.Name) and function.id in self.unit.locals
        return nested or (is_plain(target) and not is_library(target) and not is_installed(target))

    def wants(self, node: gast.AST, listed: bool = False) -> bool:
        """Whether items must be drawn one by one, elsewhere than in a loop over a generator function, which is inlined;
        `listed`: all are consumed, not by a loop."""
        plain = node
        while isinstance(plain, gast.GeneratorExp) and len(plain.generators) == 1:
            plain = plain.generators[0].iter
        if self.kinds.is_generator(plain) or (not (listed and plain is node) and self.kinds.indexable(plain)):
            return False
        return self.kinds.needs(node)

    def meets(self, loop: gast.For) -> bool:
        """Whether a trip of a loop may change what later items are made of, and these would be made before."""
        over = loop.iter
        while (inner := iterables.inlined(self.unit, over)) is not None:
            over = inner
        inside = (n for n in nodes(over) if n is not over)
        listed = any(isinstance(n, gast.GeneratorExp) or is_one_of(self.kinds.called(n), iterables.COMPUTED) for n in inside)
        listed = listed or self.kinds.called(over) is itertools.pairwise
        return listed and self.names.may_change([loop.iter], loop.body)

    def rebinds(self, loop: gast.For) -> bool:
        """Whether the body of a loop binds anew what `map` or `filter` calls."""
        called = [n.args[0] for n in nodes(loop.iter) if iterables.mapped(self.unit, n)]
        path = mentioned(*called) | {n.attr for n in nodes(*called) if isinstance(n, gast.Attribute)}
        return bool(stored(*loop.body) & path)

    def consumed(self, node: gast.AST) -> gast.AST:
        """What is consumed at once, and not by a loop."""
        if self.kinds.called(node) is builtins.reversed and len(node.args) == 1:
            (over,) = node.args
            if self.names.may_change([over]) or not self.kinds.has_length(over):
                self.refuse(node)
            sequence = self.unit.helper("sequence", runtime.sequence)
            return at(node, expression("f(xs)[::-1]", f=sequence, xs=over))[0]
        if self.wants(node, listed=True):
            self.require_none(node)
        return node

    def absorbed(self, node: gast.AST) -> gast.AST:
        """What a list takes all items of."""
        settled = self.consumed(node)
        return self.as_list(settled) if settled is not node else node

    def as_list(self, node: gast.AST) -> gast.AST:
        """`list(e)`."""
        return at(node, gast.Call(self.unit.builtin(list), [node], []))[0]

    def require_none(self, node: gast.AST | None) -> None:
        """Refuse an iterator: one that is drawn from, kept, returned or handed on."""
        if isinstance(node, gast.GeneratorExp) or is_one_of(self.kinds.called(node), LAZY):
            self.refuse(node)

    def refuse(self, node: gast.AST) -> None:
        """Refuse an iterator."""
        self.unit.refuse(node, iterables.DRAWN_FROM)


class _Function(Transformer):
    """The statements of one function."""

    def __init__(self, kinds: IteratorKinds, function: gast.FunctionDef) -> None:
        self.kinds, self.unit, self.draws = kinds, kinds.unit, _Draws(kinds, function)
        self.of_loops = function.name == "__iter__"

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        return node  # a scope of its own

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node

    def visit_For(self, loop: gast.For) -> gast.AST:
        if self.draws.wants(loop.iter) or self.draws.meets(loop) or self.draws.rebinds(loop):
            self.draws.require_none(loop.iter)
        return self.generic_visit(loop)

    def visit_Return(self, statement: gast.Return) -> gast.AST:
        value = statement.value
        if self.of_loops and self.kinds.called(value) is builtins.iter and len(value.args) == 1:
            statement.value = value.args[0]  # `__iter__`, for loops
        else:
            self.draws.require_none(value)
        return self.generic_visit(statement)

    def visit_Assign(self, statement: gast.Assign) -> gast.AST:
        if iterables.unpacks(statement):
            statement.value = self.draws.consumed(statement.value)
        elif (taken := self.draws.absorption.taken(statement)) is not None:
            statement.value = self.draws.absorbed(taken)
            generated = self.kinds.streams(taken) or self.kinds.is_generator(taken)
            if generated and statement.value is taken:  # no section is ever assigned an iterator
                statement.value = self.draws.as_list(taken)
        else:
            self.draws.require_none(statement.value)
        return self.generic_visit(statement)

    def visit_AugAssign(self, statement: gast.AugAssign) -> gast.AST:
        if (taken := self.draws.absorption.taken(statement)) is not None:
            statement.value = self.draws.absorbed(taken)
        return self.generic_visit(statement)

    def comprehension(self, node: gast.AST) -> gast.AST:
        """A comprehension over what stays."""
        for each in node.generators:
            if self.draws.wants(each.iter):
                self.draws.require_none(each.iter)
        return self.generic_visit(node)

    visit_ListComp = visit_GeneratorExp = visit_SetComp = visit_DictComp = comprehension

    def display(self, node: gast.List | gast.Tuple) -> gast.AST:
        """A display, which keeps what is in it."""
        if isinstance(node.ctx, gast.Load):
            for e in node.elts:
                self.draws.require_none(e)
        return self.generic_visit(node)

    visit_List = visit_Tuple = display

    def visit_Dict(self, node: gast.Dict) -> gast.AST:
        for value in node.values:
            self.draws.require_none(value)
        return self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        target = self.unit.resolve(node.func)
        if self.draws.is_followed(node.func):
            for argument in (*node.args, *(k.value for k in node.keywords)):
                self.draws.require_none(argument)
        elif (taken := self.draws.absorption.taken(node)) is not None:
            node.args[0] = self.draws.absorbed(taken)
        elif target is functools.reduce and len(node.args) > 1:
            node.args[1] = self.draws.consumed(node.args[1])
        elif is_one_of(target, iterables.DRAWS) and node.args:
            node.args[0] = self.draws.consumed(node.args[0])
            keyed = self.kinds.is_generator(node.args[0]) and any(k.arg == "key" for k in node.keywords)
            if keyed and target in (builtins.max, builtins.min, builtins.sorted):
                self.draws.refuse(node.args[0])  # the key is asked between two items
        return self.generic_visit(node)
