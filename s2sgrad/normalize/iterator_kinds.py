"""Which iterables have no length, so that a loop draws their items one by one.

    zip(count(1), x)              indexable: `loops` walks it by index
    zip(takewhile(f, x), x)       drawn from: how far it goes is known at its end alone

>>> import gast
>>> from s2sgrad.ir.unit import Unit
>>> from s2sgrad.source import read
>>> def f(x): return itertools.takewhile(abs, map(abs, x)), zip(itertools.count(2), x), itertools.cycle(x)
>>> unit = Unit.of(read(f))[0]
>>> [(IteratorKinds(unit, set()).needs(e), IteratorKinds(unit, set()).indexable(e)) for e in read(f).tree.body[0].value.elts]
[(True, False), (False, True), (True, False)]
"""

from __future__ import annotations

import builtins
import itertools
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.user_functions import is_generator
from s2sgrad.ir.forms import is_natural
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import iterables
from s2sgrad.runtime.structure import ENDLESS

BATCHED = getattr(itertools, "batched", None)  # of Python 3.12
_TOOLS = (*iterables.DRAWN, itertools.islice, itertools.pairwise, *iterables.CHAINS)
LAZY = (*ENDLESS, builtins.iter, builtins.zip, builtins.map, builtins.filter, builtins.enumerate, builtins.reversed, *_TOOLS,
        *([BATCHED] if BATCHED else []))  # fmt: skip


@dataclass
class IteratorKinds:
    """Classifies the iterables of one function; `yielding` are its nested generator functions."""

    unit: Unit
    yielding: set[str]

    def called(self, node: gast.AST) -> Any:
        """The callee of a call; None for other expressions."""
        if not isinstance(node, gast.Call):
            return None
        target = self.unit.resolve(node.func)
        return target if isinstance(target, type) or callable(target) else self

    def is_generator(self, node: gast.AST) -> bool:
        """Whether an expression calls a user's generator function, or is a parameter that was given such a generator."""
        if self.unit.draws(node):
            return True
        if not isinstance(node, gast.Call):
            return isinstance(node, gast.Name) and node.id in self.unit.arguments.drawn_from
        nested = isinstance(node.func, gast.Name) and node.func.id in self.yielding
        return nested or is_generator(self.unit.resolve(node.func))

    def needs(self, node: gast.AST) -> bool:
        """Whether the items of an iterable must be drawn one by one, for it is infinite or has no length."""
        if self.is_generator(node) or self.composed(node):
            return True
        if isinstance(node, gast.GeneratorExp):
            return self.needs(node.generators[0].iter)
        target = self.called(node)
        if target in ENDLESS or target is builtins.iter or (target is BATCHED and target is not None):
            return True
        if target is builtins.zip and not all(map(is_plain_count, self.counts(node))):
            return True
        return target in LAZY and any(map(self.needs, self.beside(node)))

    def groups(self, node: gast.AST) -> bool:
        """Whether an expression is `zip(*[iter(e)] * n)`."""
        spread = node.args[0] if self.called(node) is builtins.zip and len(node.args) == 1 else None
        same = spread.value if isinstance(spread, gast.Starred) else None
        if not isinstance(same, gast.BinOp) or not isinstance(same.op, gast.Mult) or not isinstance(same.left, gast.List):
            return False
        return any(self.called(made) is builtins.iter for made in same.left.elts)

    def composed(self, node: gast.AST) -> bool:
        """Whether a tool iterates over the output of another that drops items, so that neither has a length."""
        target = self.called(node)
        if self.groups(node):
            return True
        if target in (builtins.zip, builtins.enumerate):
            return any(self.composed(a) or self.selects(a) for a in node.args)
        if target in (builtins.map, builtins.filter):
            return any(self.composed(a) or self.called(a) in _TOOLS for a in node.args)
        return target in _TOOLS and any(self.streams(a) or self.called(a) is builtins.reversed for a in node.args)

    def selects(self, node: gast.AST) -> bool:
        """Whether an iterable yields a selection of another."""
        if isinstance(node, gast.GeneratorExp):
            return any(g.ifs or self.streams(g.iter) for g in node.generators)
        return self.called(node) in (builtins.filter, itertools.filterfalse, *iterables.CHAINS)

    def streams(self, node: gast.AST) -> bool:
        """Whether an iterable computes its items lazily."""
        target = self.called(node)
        if target in (builtins.zip, builtins.enumerate, builtins.reversed):
            return any(map(self.streams, node.args))
        return isinstance(node, gast.GeneratorExp) or target in LAZY

    def indexable(self, node: gast.AST) -> bool:
        """Whether items exist at every index, up to the end if there is one."""
        if not isinstance(node, gast.Call) or self.composed(node):
            return not self.needs(node)
        target = self.called(node)
        if target is itertools.count:
            return is_plain_count(node)
        if target is itertools.repeat:
            return is_plain_repeat(node)
        if target is itertools.cycle:
            return len(node.args) == 1 and is_shown(node.args[0])
        if target in (builtins.zip, builtins.enumerate):
            return all(map(self.indexable, node.args[:1] if target is builtins.enumerate else node.args))
        if target is itertools.islice:
            return len(node.args) == 2 and not node.keywords and is_natural(node.args[1]) and self.indexable(node.args[0])
        return not self.needs(node)

    def has_length(self, node: gast.AST) -> bool:
        """Whether an iterable has a length, and items by index: a sequence, or a plain counter."""
        if self.called(node) is itertools.count:
            return is_plain_count(node)
        return not (isinstance(node, gast.GeneratorExp) or is_one_of(self.called(node), LAZY) or self.is_generator(node))

    def counts(self, node: gast.Call) -> list[gast.Call]:
        """The `count(..)` among the arguments of a call."""
        return [a for a in node.args if self.called(a) is itertools.count]

    def beside(self, node: gast.Call) -> list[gast.AST]:
        """The iterables of a tool; for `zip`, without integer counters beside finite ones."""
        counts = self.counts(node)
        if self.called(node) is builtins.zip and len(counts) < len(node.args):
            return [a for a in node.args if a not in counts]
        return list(node.args)


def is_plain_count(node: gast.Call) -> bool:
    """Whether a call of `count` has literal integers and counts upwards."""
    return not node.keywords and all(map(is_natural, node.args)) and (len(node.args) < 2 or node.args[1].value > 0)


def is_plain_repeat(node: gast.Call) -> bool:
    """Whether a call of `repeat` has positional arguments only."""
    return not node.keywords and len(node.args) in (1, 2) and not any(isinstance(a, gast.Starred) for a in node.args)


def is_shown(node: gast.AST) -> bool:
    """Whether an expression is a non-empty list or tuple display without stars."""
    shown = isinstance(node, (gast.List, gast.Tuple)) and bool(node.elts)
    return shown and not any(isinstance(e, gast.Starred) for e in node.elts)
