"""Which functions of `standard` stand for Python's iterators: objects to draw from, or generators to loop over.

    it = map(f, xs)                 ->      it = mapped_(f, items(xs))            `iterator`: a maker of closures
    for v in map(f, it): ..         ->      for v in mapped(f, it): ..            `drawn`: a generator function, inlined

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from itertools import takewhile
... def f(x):
...     it = iter(x)
...     return [v for v in takewhile(lambda v: v < 2.0, it)], next(it)
... ''', "drawing"))
def f(x):
    it = items(x)
    return [v for v in begun(lambda v_: v_ < 2.0, it)], following(it)
"""

from __future__ import annotations

import builtins
import functools
import itertools
import sys
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad import standard
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.forms import is_natural, is_none
from s2sgrad.ir.quote import assign, clone, constant, empty_arguments, name, nodes, stored
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import iterables, stepwise
from s2sgrad.normalize.generator_texts import NotDrawn
from s2sgrad.normalize.iterator_kinds import BATCHED, LAZY, IteratorKinds, is_shown
from s2sgrad.normalize.may_alias import MayAlias
from s2sgrad.normalize.named_iterators import rebound
from s2sgrad.standard import generators, iterators


class Iterators(IteratorKinds):
    """Makes the iterators of one function; `before` has the statements that must precede."""

    def __init__(self, unit: Unit, yielding: dict[str, Any], function: gast.FunctionDef, held: set[str]) -> None:
        super().__init__(unit, yielding, held)
        self.function, self.names = function, MayAlias(unit, function)
        self.before: list[gast.AST] = []
        self.lasts = False  # what is made may be asked again after its end

    @functools.cached_property
    def rebound(self) -> frozenset[str]:
        """The names and attributes that the function binds more than once."""
        return rebound(self.function)

    def drawn(self, node: gast.AST) -> gast.AST:
        """What a loop runs over that draws from an iterable: a call of a generator function."""
        tool = self.tool(node)
        return self.calling(generators.each, self.iterator(node)) if tool is None else self.drawing_from(tool, self.given)

    def given(self, node: gast.AST) -> gast.AST:
        """What such a function draws from: a sequence, a generator or an iterator."""
        if self.is_ours(node):
            return self.drawing_from(node, self.given)
        if self.is_data(node):
            return node
        tool = self.tool(node)
        return self.iterator(node) if tool is None else self.drawing_from(tool, self.given)

    def source(self, node: gast.AST) -> gast.Name:
        """The variable for an iterator."""
        made = self.iterator(node)
        if isinstance(made, gast.Name):
            return made
        local = self.unit.local("other")
        self.before.append(assign(local, made))
        return name(local)

    def iterator(self, node: gast.AST) -> gast.AST:
        """The call of `standard.iterators` that makes an iterator, or its name."""
        if isinstance(node, gast.Name) and node.id in self.held:
            return node
        if isinstance(node, (gast.Starred, gast.NamedExpr)):
            raise NotDrawn
        target = self.called(node)
        if self.is_generator(node):
            return stepwise.made(self, self.drawing_from(node, self.iterator) if self.is_ours(node) else node)
        try:
            if (tool := self.tool(node)) is not None:
                made = self.iterator(tool)
            elif (source := self.is_known(node, _SOURCES)) is not None:
                made = source(self, node)
            elif target in LAZY:
                raise NotDrawn  # with stars, or keywords
            else:
                made = self.calling(iterators.items, node)
        except (TypeError, ValueError, IndexError):
            raise NotDrawn from None
        if target is builtins.iter and len(node.args) == 2:
            may_go_on = True
        else:
            by_index = isinstance(made, gast.Call) and self.called(made) in (iterators.items, iterators.backwards)
            may_go_on = by_index and self.names.may_change([node])
        return self.calling(iterators.lasting, made) if self.lasts and may_go_on else made

    def is_ours(self, node: gast.AST) -> bool:
        """Whether a node calls a generator function of `standard.generators`."""
        return self.is_generator(node) and getattr(self.called(node), "__module__", None) == generators.__name__

    def lasting(self, node: gast.AST) -> gast.AST:
        """An iterator that may be asked again after its end."""
        self.lasts = True
        made = self.iterator(node)
        self.lasts = False
        return made

    def is_data(self, node: gast.AST) -> bool:
        """Whether an iterable is a sequence or a generator, and no iterator."""
        lazy = isinstance(node, gast.GeneratorExp) or is_one_of(self.called(node), LAZY)
        return not lazy and (self.is_generator(node) or not self.needs(node))

    def is_known(self, node: gast.AST, table: dict[Any, Any]) -> Any:
        """The entry of a table for the callee of a call without stars; None if there is none."""
        target = self.called(node)
        if target is None or not is_one_of(target, table):
            return None
        starred = any(isinstance(a, gast.Starred) for a in node.args) or None in {k.arg for k in node.keywords}
        return None if starred else table[target]

    def tool(self, node: gast.AST) -> gast.Call | None:
        """A call of the function that stands for a tool or a generator expression; None for other expressions."""
        if isinstance(node, gast.GeneratorExp):
            return self.expression(node)
        if self.called(node) is itertools.chain and any(isinstance(a, gast.Starred) for a in node.args):
            return self.calling(generators.flattened, self.chained_parts(node))
        if (grouped := self.groups(node)) is not None:
            return self.calling(generators.grouped, *grouped, constant(False))
        tool = self.is_known(node, _TOOLS)
        try:
            return None if tool is None else tool(self, node)
        except (TypeError, ValueError, IndexError):
            raise NotDrawn from None

    def drawing_from(self, call: gast.Call, how: Callable[[gast.AST], gast.AST]) -> gast.Call:
        """A call of such a function, with `how` for what it draws from."""
        parameters = signature(self.unit.resolve(call.func)).parameters
        for k, parameter in enumerate(parameters):
            if parameter.startswith(("iterable", "iterator")):
                call.args[k] = self.iterator(call.args[k]) if parameter.startswith("iterator") else how(call.args[k])
        return call

    def of_same(self, node: gast.Call) -> gast.Call:
        """A tool with a counterpart that takes the same arguments."""
        function = generators.TOOLS[self.called(node)]
        return self.calling(function, *self.arguments(node, function))

    def zipped(self, node: gast.Call) -> gast.Call:
        """`zip`."""
        parts, strict = node.args, [k.value for k in node.keywords if getattr(k.value, "value", True)]
        if strict and isinstance(strict[0], gast.Constant) and len(parts) == 2:
            return self.calling(generators.equal_pairs, *parts)
        if strict or len(parts) < 2:
            raise NotDrawn
        if len(parts) == 2 and self.is_generator(parts[1]) and not (self.lasts or self.is_generator(parts[0])):
            return self.calling(generators.pairs_behind, *parts)
        if len(parts) < 4:
            return self.calling(generators.pairs if len(parts) == 2 else generators.triples, *parts)
        halves = [gast.Call(node.func, half, []) for half in (parts[:2], parts[2:])]
        joins = name(self.unit.helper(standard.joined_rows.__name__, standard.joined_rows))
        return self.calling(generators.spread, joins, self.calling(generators.pairs, *halves))

    def numbered(self, node: gast.Call) -> gast.Call:
        """`enumerate`."""
        return self.calling(generators.numbered, *self.arguments(node, enumerate_))

    def mapped(self, node: gast.Call) -> gast.Call:
        """`map`."""
        function, *over = node.args
        if len(over) == 1:
            return self.calling(generators.mapped, function, *over)
        return self.calling(generators.spread, function, gast.Call(self.unit.builtin(zip), over, []))

    def filtered(self, node: gast.Call) -> gast.Call:
        """`filter`."""
        function, over = node.args
        return self.calling(generators.chosen, self.unit.builtin(bool) if is_none(function) else function, over)

    def sliced(self, node: gast.Call) -> gast.Call:
        """`itertools.islice`."""
        over, *bounds = node.args
        start, stop, step = iterables.slice_bounds(bounds)
        if any(isinstance(b, (gast.Constant, gast.UnaryOp)) and not is_natural(b) and not is_none(b) for b in bounds):
            raise NotDrawn  # Python raises
        places = gast.Call(name(self.unit.helper("count", itertools.count)), [], [])
        if not is_none(stop):
            places = gast.Call(self.unit.builtin(range), [self.bound(stop, sys.maxsize)], [])
        if len(bounds) == 1:
            return self.calling(generators.first, over, places)
        return self.calling(generators.sliced, over, places, self.bound(start, 0), self.bound(step, 1))

    def bound(self, node: gast.AST, otherwise: int) -> gast.AST:
        """A bound of a slice, checked; `otherwise`: what None stands for."""
        if isinstance(node, gast.Constant):
            return constant(otherwise) if is_none(node) else node
        return self.calling(iterators.checked_bound, node, constant(otherwise))

    def accumulated(self, node: gast.Call) -> gast.Call:
        """`itertools.accumulate`."""
        function, arguments = iterables.accumulation(self.unit, *node.args, **{k.arg: k.value for k in node.keywords})
        return self.calling(function, *arguments)

    def chained(self, node: gast.Call) -> gast.Call:
        """`itertools.chain`."""
        first, *others = node.args
        if not others:
            others = [gast.Tuple([], gast.Load())]
        for part in reversed(others[1:]):
            others = [*others[:-2], gast.Call(clone(node.func), [others[-2], part], [])]
        return self.calling(generators.chained, first, *others)

    def chained_parts(self, node: gast.Call) -> gast.AST:
        """What `itertools.chain` with stars runs over: a display of its arguments, or what is spread, if it stays."""
        only = node.args[0].value if len(node.args) == 1 else None
        stays = isinstance(only, gast.Name) and only.id not in self.held and not self.names.may_change([only])
        return only if stays or isinstance(only, (gast.List, gast.Tuple)) else gast.Tuple(node.args, gast.Load())

    def batched(self, node: gast.Call) -> gast.Call:
        """`itertools.batched`."""
        return self.calling(generators.grouped, *self.arguments(node, batched_), constant(True))

    def cycled(self, node: gast.Call) -> gast.AST:
        """`itertools.cycle`."""
        (over,) = node.args
        if not self.needs(over) and (is_shown(over) or not self.names.may_change([over])):
            return self.calling(iterators.around, over)
        return self.calling(iterators.cycled, self.iterator(over))

    def counted(self, node: gast.Call) -> gast.AST:
        """`itertools.count`."""
        return self.calling(iterators.counted, *self.arguments(node, iterators.counted))

    def repeated(self, node: gast.Call) -> gast.AST:
        """`itertools.repeat`."""
        value, times = self.arguments(node, repeat_)
        if is_none(times):
            return self.calling(iterators.endlessly, value)
        places = gast.Call(self.unit.builtin(range), [times], [])
        return self.iterator(self.calling(generators.repeated, value, places))

    def begun(self, node: gast.Call) -> gast.AST:
        """`iter`."""
        if len(node.args) == 1:
            return self.iterator(node.args[0])
        function, sentinel = node.args
        return self.calling(iterators.results, function, sentinel)

    def backwards(self, node: gast.Call) -> gast.AST:
        """`reversed`."""
        (over,) = node.args
        return self.calling(iterators.backwards, over)

    def expression(self, node: gast.GeneratorExp) -> gast.Call:
        """`(e for v in a if c)`, by functions of an item."""
        if len(node.generators) > 1 or any(isinstance(n, gast.NamedExpr) for n in nodes(node)):
            raise NotDrawn
        node = self.renamed(node)
        (each,) = node.generators
        over = each.iter
        if each.ifs:
            test = each.ifs[0] if len(each.ifs) == 1 else gast.BoolOp(gast.And(), each.ifs)
            over = self.calling(generators.chosen, self.of_item(each.target, test), over)
        return self.calling(generators.mapped, self.of_item(each.target, node.elt), over)

    def of_item(self, target: gast.AST, value: gast.AST) -> gast.Name:
        """A function that computes a value from an item."""
        item, local, parameters = self.unit.local("item"), self.unit.local("computed"), empty_arguments()
        parameters.args = [gast.Name(item, gast.Param(), None, None)]
        body = [gast.Assign([clone(target)], name(item), None), gast.Return(value)]
        self.before.append(gast.FunctionDef(local, parameters, body, [], None, None, []))
        return name(local)

    def renamed(self, node: gast.GeneratorExp) -> gast.GeneratorExp:
        """A generator expression whose variables have names of their own."""
        (each,) = node.generators
        names = {n: self.unit.local(n) for n in sorted(stored(each.target))}
        rename(names, each.target, node.elt, *each.ifs)
        return node

    def arguments(self, node: gast.Call, function: Any) -> list[gast.AST]:
        """The arguments of a call in the order of the parameters of a function; those left out by their defaults."""
        bound = signature(function).bind(*node.args, **{k.arg: k.value for k in node.keywords})
        bound.apply_defaults()
        return [v if isinstance(v, gast.AST) else constant(v) for v in bound.arguments.values()]

    def calling(self, function: Any, *arguments: gast.AST, words: Any = ()) -> gast.Call:
        """A call of a function from outside."""
        called = self.unit.builtin(function) if function is builtins.list else name(
            self.unit.helper(function.__name__, function))  # fmt: skip
        return gast.Call(called, list(arguments), list(words))


def enumerate_(iterable, start=0):
    """The parameters of `enumerate`."""


def batched_(iterable, n):
    """The parameters of `itertools.batched` that are followed."""


def repeat_(object, times=None):
    """The parameters of `itertools.repeat`."""


_TOOLS = {
    **dict.fromkeys(generators.TOOLS, Iterators.of_same),
    builtins.map: Iterators.mapped, builtins.filter: Iterators.filtered, builtins.zip: Iterators.zipped,
    builtins.enumerate: Iterators.numbered, itertools.islice: Iterators.sliced,
    itertools.accumulate: Iterators.accumulated, itertools.chain: Iterators.chained,
    **({BATCHED: Iterators.batched} if BATCHED else {}),
}  # fmt: skip
_SOURCES = {
    itertools.cycle: Iterators.cycled,
    itertools.count: Iterators.counted, itertools.repeat: Iterators.repeated, builtins.iter: Iterators.begun,
    builtins.reversed: Iterators.backwards,
}  # fmt: skip
