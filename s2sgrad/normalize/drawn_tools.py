"""Which generator function of `standard.generators` stands for a tool whose result has no length.

    takewhile(f, map(g, xs))      ->      begun(f, mapped(g, xs))
    zip(takewhile(f, xs), ys)     ->      pairs(begun(f, xs), ys)

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from itertools import count, islice, takewhile
... def f(x):
...     return [v for v in takewhile(bool, map(abs, x))], sum(islice(count(x[0]), 3))
... ''', "drawing"))
def f(x):
    return [v for v in begun(bool, mapped(abs, x))], sum(listed(first(counted(x[0], 1), 3)))
"""

from __future__ import annotations

import builtins
import itertools
import sys
from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.forms import is_natural, is_none
from s2sgrad.ir.quote import clone, constant, empty_arguments, expression, name, nodes, stored
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.signatures import signature
from s2sgrad.memory.interference import Interference
from s2sgrad.normalize import iterables
from s2sgrad.normalize.iterator_kinds import BATCHED, LAZY, IteratorKinds, is_plain_count, is_shown
from s2sgrad.standard import generators


class NotDrawn(Exception):
    """No generator function stands for this."""


class DrawnTools:
    """Writes the calls of one function; `before` has the statements that must precede."""

    def __init__(self, kinds: IteratorKinds, names: Interference) -> None:
        self.kinds, self.unit, self.names = kinds, kinds.unit, names
        self.before: list[gast.AST] = []

    def drawn(self, node: gast.AST) -> gast.AST:
        """What a loop runs over that draws from an iterable: a call of a generator function, or what has items as it is."""
        kinds = self.kinds
        if isinstance(node, gast.GeneratorExp):
            return self.filled(self.expression(node))
        target = kinds.called(node)
        if not is_one_of(target, LAZY):
            return node
        if target is itertools.chain and any(isinstance(a, gast.Starred) for a in node.args):
            return self.filled(self.calling(generators.flattened, self.chained_parts(node)))
        if (grouped := kinds.groups(node)) is not None:
            return self.filled(self.calling(generators.grouped, *grouped, constant(False)))
        if any(isinstance(a, gast.Starred) for a in node.args) or None in {k.arg for k in node.keywords}:
            raise NotDrawn
        try:
            return self.filled(_TOOLS[target](self, node))
        except (TypeError, ValueError, LookupError):
            raise NotDrawn from None

    def filled(self, made: gast.AST) -> gast.AST:
        """A call of a generator function, with calls of others for what it draws from."""
        if not isinstance(made, gast.Call) or not iterables.is_ours(self.unit.resolve(made.func)):
            return made
        for k, parameter in enumerate(signature(self.unit.resolve(made.func)).parameters):
            if parameter.startswith("iterable"):
                made.args[k] = self.drawn(made.args[k])
            elif parameter.startswith("sequence"):
                made.args[k] = self.sequence(made.args[k])
        return made

    def sequence(self, node: gast.AST) -> gast.AST:
        """What has a length, and an item at each index."""
        if self.kinds.called(node) is itertools.count and is_plain_count(node):
            first, step = [a.value for a in node.args] + [0, 1][len(node.args) :]
            return gast.Call(self.unit.builtin(range), [constant(first), constant(sys.maxsize // 2), constant(step)], [])
        if not self.kinds.has_length(node):
            raise NotDrawn
        return self.calling(runtime.sequence, node)

    def of_same(self, node: gast.Call) -> gast.Call:
        """A tool with a counterpart that takes the same arguments."""
        function = generators.TOOLS[self.kinds.called(node)]
        return self.calling(function, *self.arguments(node, function))

    def zipped(self, node: gast.Call) -> gast.Call:
        """`zip` of two or three, of which the first or the last may have no length."""
        if any(getattr(k.value, "value", True) for k in node.keywords):
            raise NotDrawn
        function = _ZIPPED[len(node.args), self.kinds.has_length(node.args[-1])]
        return self.calling(function, *node.args)

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
        if len(bounds) == 1:
            return self.calling(generators.first, over, self.bound(stop, sys.maxsize))
        return self.calling(
            generators.sliced, over, self.bound(start, 0), self.bound(stop, sys.maxsize), self.bound(step, 1)
        )

    def bound(self, node: gast.AST, otherwise: int) -> gast.AST:
        """A bound of a slice, checked; `otherwise`: what None stands for."""
        if isinstance(node, gast.Constant):
            return constant(otherwise) if is_none(node) else node
        return self.calling(generators.checked_bound, node, constant(otherwise))

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
        stays = isinstance(only, gast.Name) and not self.names.may_change([only])
        return only if stays or isinstance(only, (gast.List, gast.Tuple)) else gast.Tuple(node.args, gast.Load())

    def batched(self, node: gast.Call) -> gast.Call:
        """`itertools.batched`."""
        return self.calling(generators.grouped, *self.arguments(node, batched_), constant(True))

    def cycled(self, node: gast.Call) -> gast.AST:
        """`itertools.cycle` of what stays as it is."""
        (over,) = node.args
        if not is_shown(over) and self.names.may_change([over]):
            raise NotDrawn
        return self.calling(generators.around, over)

    def counted(self, node: gast.Call) -> gast.AST:
        """`itertools.count`."""
        return self.calling(generators.counted, *self.arguments(node, generators.counted))

    def repeated(self, node: gast.Call) -> gast.AST:
        """`itertools.repeat`."""
        value, times = self.arguments(node, repeat_)
        return (
            self.calling(generators.endlessly, value) if is_none(times) else self.calling(generators.repeated, value, times)
        )

    def begun(self, node: gast.Call) -> gast.AST:
        """`iter`."""
        (over,) = node.args
        return self.drawn(over)

    def backwards(self, node: gast.Call) -> gast.AST:
        """`reversed` of what stays as it is."""
        (over,) = node.args
        if self.names.may_change([over]) or not self.kinds.has_length(over):
            raise NotDrawn
        return expression("xs[::-1]", xs=self.calling(runtime.sequence, over))

    def expression(self, node: gast.GeneratorExp) -> gast.Call:
        """`(e for v in a if c)`, by functions of an item."""
        if len(node.generators) > 1 or any(isinstance(n, gast.NamedExpr) for n in nodes(node)):
            raise NotDrawn
        (each,) = node.generators
        names = {n: self.unit.local(n) for n in sorted(stored(each.target))}
        rename(names, each.target, node.elt, *each.ifs)
        over = each.iter
        if each.ifs:
            test = each.ifs[0] if len(each.ifs) == 1 else gast.BoolOp(gast.And(), each.ifs)
            over = self.calling(generators.chosen, self.of_item(each.target, test), self.drawn(over))
        return self.calling(generators.mapped, self.of_item(each.target, node.elt), over)

    def of_item(self, target: gast.AST, value: gast.AST) -> gast.Name:
        """A function that computes a value from an item."""
        item, local, parameters = self.unit.local("item"), self.unit.local("computed"), empty_arguments()
        parameters.args = [gast.Name(item, gast.Param(), None, None)]
        body = [gast.Assign([clone(target)], name(item), None), gast.Return(value)]
        self.before.append(gast.FunctionDef(local, parameters, body, [], None, None, []))
        return name(local)

    def arguments(self, node: gast.Call, function: Any) -> list[gast.AST]:
        """The arguments of a call in the order of the parameters of a function; those left out by their defaults."""
        bound = signature(function).bind(*node.args, **{k.arg: k.value for k in node.keywords})
        bound.apply_defaults()
        return [v if isinstance(v, gast.AST) else constant(v) for v in bound.arguments.values()]

    def calling(self, function: Any, *arguments: gast.AST) -> gast.Call:
        """A call of a function from outside."""
        return gast.Call(name(self.unit.helper(function.__name__, function)), list(arguments), [])


def enumerate_(iterable: Any, start: Any = 0) -> None:
    """The parameters of `enumerate`."""


def batched_(iterable: Any, n: Any) -> None:
    """The parameters of `itertools.batched` that are followed."""


def repeat_(object: Any, times: Any = None) -> None:
    """The parameters of `itertools.repeat`."""


_ZIPPED = {(2, True): generators.pairs, (2, False): generators.pairs_behind,
           (3, True): generators.triples, (3, False): generators.triples_behind}  # fmt: skip
"""By how many they are, and whether the last has a length."""
_TOOLS = {
    **dict.fromkeys(generators.TOOLS, DrawnTools.of_same),
    builtins.map: DrawnTools.mapped, builtins.filter: DrawnTools.filtered, builtins.zip: DrawnTools.zipped,
    builtins.enumerate: DrawnTools.numbered, itertools.islice: DrawnTools.sliced,
    itertools.accumulate: DrawnTools.accumulated, itertools.chain: DrawnTools.chained,
    **({BATCHED: DrawnTools.batched} if BATCHED else {}),
    itertools.cycle: DrawnTools.cycled, itertools.count: DrawnTools.counted, itertools.repeat: DrawnTools.repeated,
    builtins.iter: DrawnTools.begun, builtins.reversed: DrawnTools.backwards,
}  # fmt: skip
