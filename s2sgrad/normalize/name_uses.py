"""How names are used in a function and in those nested in it: what is bound to them, and where they are read.

    xs = [1.0]; xs += ys; n = len(xs)      ->      `xs` is always a list, updated in place, and read only in `len(xs)`

>>> import gast
>>> uses = NameUses(gast.parse('''
... def f(ys):
...     xs, n = [1.0], 0
...     s = 0.0
...     s += ys[0]
...     t = [s]
... ''').body[0])
>>> sorted(uses.always(gast.Constant, gast.List)), sorted(uses.always(gast.Constant, updated=True)), len(uses.reads["ys"])
(['t'], ['s'], 1)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

import gast

from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import nodes, nodes_of
from s2sgrad.ir.scoping import all_bindings
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import Gives

_USING = frozenset({gast.Name, gast.AugAssign, gast.Assign})


class NameUses:
    """`bound` counts the bindings of each name; `assigned` has the values of assignments to the name alone, `updated` counts
    augmented assignments; `reads` has the nodes that read it."""

    def __init__(self, tree: gast.FunctionDef) -> None:
        self.bound, self.updated = all_bindings(tree), Counter[str]()
        self.assigned, self.reads = defaultdict[str, list[gast.AST]](list), defaultdict[str, list[gast.Name]](list)
        for node in nodes_of(tree, _USING):
            if type(node) is gast.Name:
                if type(node.ctx) is gast.Load:
                    self.reads[node.id].append(node)
            elif type(node) is gast.AugAssign:
                if isinstance(node.target, gast.Name):
                    self.updated[node.target.id] += 1
            elif (name := bound_name(node)) is not None:
                self.assigned[name].append(node.value)

    def always(self, *kinds: type, updated: bool = False, also: Callable[[gast.AST], bool] | None = None) -> set[str]:
        """The names bound only to expressions of these kinds, or for which `also` holds; with `updated` they may have
        augmented assignments."""
        alone = {n for n, v in self.assigned.items() if self.bound[n] == len(v) + (self.updated[n] if updated else 0)}
        fits = (lambda v: isinstance(v, kinds)) if also is None else (lambda v: isinstance(v, kinds) or also(v))
        return {n for n in alone if all(map(fits, self.assigned[n]))}

    def only_read_in(self, name: str, places: Iterable[int]) -> bool:
        """Whether all reads of a name are among these nodes, given by identity."""
        return all(id(node) in places for node in self.reads[name])


def keeps_its_keys(unit: Unit, tree: gast.FunctionDef, name: str) -> bool:
    """Whether a dict that has this name alone when a function begins stays as it is.  The name is only passed on by `**`,
    asked for items, or given to library functions that neither change it nor give it another name.

        n = kw.get("n", 2); return f(**kw)      ->      True
        kw.setdefault("n", 2); return f(**kw)   ->      False
    """
    return NameUses(tree).only_read_in(name, {id(part) for node in nodes(tree) for part in _asked(unit, node)})


def _asked(unit: Unit, node: gast.AST) -> list[gast.AST]:
    """The parts of a node that are only looked at if they are dicts."""
    if isinstance(node, gast.Subscript):
        return [node.value] if isinstance(node.ctx, gast.Load) else []
    if isinstance(node, gast.keyword):
        return [node.value] if node.arg is None else []
    if isinstance(node, gast.Dict):
        return spread_in(node)
    if isinstance(node, (gast.For, gast.comprehension)):
        return [node.iter]
    if isinstance(node, (gast.If, gast.While, gast.IfExp)):
        return [node.test]
    if isinstance(node, gast.Compare):
        return list(node.comparators)
    if isinstance(node, gast.UnaryOp):
        return [node.operand]
    if not isinstance(node, gast.Call):
        return []
    called = catalogue.of(unit.resolve(node.func))
    given = node.args if called.pure and called.gives in (Gives.NEW, Gives.SHELL) else []
    method = isinstance(node.func, gast.Attribute) and _asks(getattr(dict, node.func.attr, None))
    return [*given, node.func.value] if method else given


def spread_in(node: gast.Dict) -> list[gast.AST]:
    """The dicts that a display takes the items of: `{**a, "k": v}`."""
    return [value for key, value in zip(node.keys, node.values, strict=True) if key is None]


def _asks(method: object) -> bool:
    """Whether a method of dicts changes none."""
    return method is not None and not (known := catalogue.of(method)).writes and known.gives is not Gives.UNKNOWN
