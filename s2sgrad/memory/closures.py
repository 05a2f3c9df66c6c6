"""Nested functions, for `points_to`: what they may return and write where they are called.

def step(v): ys[0] = v; return ys       step(x)   writes ys, may be ys
g = lambda t: t                         g(x)      may be x; handed on, its parameters may be anything
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import gast

from s2sgrad.ir import scoping
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import parameters
from s2sgrad.memory.arguments import Arguments, Points
from s2sgrad.memory.places import ANY, Place, Places


@dataclasses.dataclass
class _Closure:
    """A nested function: what it returns, or yields, and what it writes; `direct`: it is only called by its name."""

    node: gast.AST
    direct: bool
    returns: Places = dataclasses.field(default_factory=set)
    written: Places = dataclasses.field(default_factory=set)

    def pass_to(self, points: Points, places: Places, *parameter: str) -> None:
        """One of its parameters, by default each, may be these."""
        for name in parameter or (p.id for p in parameters(self.node)):
            points.names.setdefault(name, set()).update(places)


class Closures:
    """The nested functions of one function, by the identity of what defines them."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.known: dict[int, _Closure] = {}
        self.around: list[_Closure] = []  # those in whose text the analysis is
        self.direct = _directly_called(points.tree)

    def size(self) -> int:
        """How much is known."""
        return sum(len(c.returns) + len(c.written) for c in self.known.values())

    def made(self, node: gast.AST, own: str | None = None) -> Places:
        """The location of a nested function, which holds what it mentions, but for its `own` name; what it writes counts
        where it is called, or handed on."""
        points = self.points
        closure = self.known.setdefault(id(node), _Closure(node, id(node) in self.direct))
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            closure.pass_to(points, points.value(default))
        if not closure.direct:
            closure.pass_to(points, {ANY})
        written, points.written = points.written, closure.written
        self.around.append(closure)
        if isinstance(node, gast.Lambda):
            closure.returns |= points.value(node.body)
        else:
            points.block(node.body)
        self.around.pop()
        points.written = written
        if not closure.direct:
            points.write(closure.written)  # into the set of what is around, which stays the same object
        place = Place("closure", id(node))
        mentioned = (n.id for n in nodes(node) if isinstance(n, gast.Name) and n.id != own)
        points.keep({place}, set().union(*(points.names.get(n, ()) for n in mentioned)))
        return {place}

    def give(self, places: Places) -> bool:
        """Return or yield these from the nested function in whose text the analysis is; whether it is in one."""
        if self.around:
            self.around[-1].returns |= places
        return bool(self.around)

    def called(self, functions: Places, args: Arguments, node: gast.AST) -> Places:
        """The result of calling one of these."""
        out: Places = set()
        for closure in (self.known[place.key] for place in functions):
            given = closure.node.args
            by_position = given.posonlyargs + given.args
            for parameter, held in zip(by_position, args.places, strict=False):
                closure.pass_to(self.points, held, parameter.id)
            others = args.named or args.unpacked or given.vararg or given.kwonlyargs or given.kwarg
            if others or len(args.places) > len(by_position):
                closure.pass_to(self.points, {ANY})
            self.points.write(closure.written)
            out |= self.points.shell(node, closure.returns) if _yields(closure.node) else closure.returns
        return out


def are_closures(places: Places) -> bool:
    """Whether a value is known to be a nested function."""
    return bool(places) and all(place.kind == "closure" for place in places)


def outward(points: Points, places: Iterable[Place]) -> Places:
    """Locations that leave the function: there, a nested function may be anything."""
    places = set(places)
    return places | {ANY} if any(p.kind == "closure" for p in points.reached(places)) else places


def _yields(node: gast.AST) -> bool:
    """Whether a nested function is a generator function."""
    body = [] if isinstance(node, gast.Lambda) else node.body
    return any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in scoping.own_nodes(body))


def _directly_called(tree: gast.FunctionDef) -> set[int]:
    """The nested functions, by identity, that have one name, which is only called."""
    defined: dict[str, list[gast.AST]] = {}
    for node in nodes(*tree.body):
        if isinstance(node, gast.FunctionDef) and not node.decorator_list:
            defined.setdefault(node.name, []).append(node)
        elif isinstance(node, gast.Assign) and isinstance(node.value, gast.Lambda):
            defined.setdefault(getattr(node.targets[0], "id", ""), []).append(node.value)
    if not defined:
        return set()
    bound, called = scoping.all_bindings(tree), {id(n.func) for n in nodes(tree) if isinstance(n, gast.Call)}
    read = (n for n in nodes(tree) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load) and id(n) not in called)
    handed = {n.id for n in read}
    return {id(found[0]) for name, found in defined.items() if len(found) == bound[name] == 1 and name not in handed}
