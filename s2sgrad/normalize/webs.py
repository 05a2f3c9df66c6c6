"""One name, one variable: a name that the user binds anew, independently of what it held, gets a name of its own.

A web is a set of assignments and uses connected by "this assignment reaches this use".  Webs of one name that do not
live at the same time share it again at the end (`cleanup.coalesce`).

>>> from s2sgrad.pipeline import shown
>>> print(shown('''
... def f(x):
...     x = x * x
...     for i in range(3):
...         x = x + i
...     for i in range(2):
...         x = x * i
...     return x
... ''', "webs"))
def f(x):
    x2 = x * x
    for i in range(3):
        x2 = x2 + i
    for i2 in range(2):
        x2 = x2 * i2
    result = x2
    return result
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sgrad.analysis.effects import accumulates, loads, permutes
from s2sgrad.quote import nodes
from s2sgrad.unit import Unit, parameters

_State = dict[str, frozenset[int]]


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with one name a web; `unit.bases` maps each new name to the user's."""
    webs = _Webs(unit)
    state: _State = {}
    for parameter in parameters(tree):
        webs.define(parameter, parameter.id, state)
    webs.block(tree.body, state)
    _rename(unit, webs)
    return tree


class _Webs:
    """Reaching definitions over the structured program, uses united as they are met."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.parent: list[int] = []
        self.nodes: dict[int, gast.Name] = {}  # every name node that belongs to a web, by identity
        self.web_of: dict[int, int] = {}
        self.own: dict[int, int] = {}
        self.breaks: list[list[_State]] = []
        self.settled: dict[int, tuple[_State, list[_State]]] = {}  # by loop: the state at its head, and at each `break`

    def find(self, web: int) -> int:
        while self.parent[web] != web:
            self.parent[web] = self.parent[self.parent[web]]
            web = self.parent[web]
        return web

    def unite(self, webs: Iterable[int]) -> int | None:
        first = None
        for web in webs:
            root = self.find(web)
            if first is None:
                first = root
            elif root != first:
                first, other = min(first, root), max(first, root)
                self.parent[other] = first
        return first

    def use(self, node: gast.Name, state: _State) -> None:
        web = self.unite(state.get(node.id, ()))
        if web is not None:
            self.nodes[id(node)], self.web_of[id(node)] = node, web

    def define(self, node: gast.Name, name: str, state: _State) -> int:
        if id(node) not in self.own:
            self.own[id(node)] = len(self.parent)
            self.parent.append(len(self.parent))
        web = self.own[id(node)]
        self.nodes[id(node)], self.web_of[id(node)] = node, web
        state[name] = frozenset((web,))
        return web

    def block(self, body: list[gast.AST], state: _State) -> _State | None:
        """The state after the block; None if it ends in a `break`."""
        for statement in body:
            if isinstance(statement, gast.If):
                self.uses(statement.test, state)
                arms = [self.block(arm, dict(state)) for arm in (statement.body, statement.orelse)]
                joined = _joined(arms)
                if joined is None:
                    return None
                state.clear()
                state.update(joined)
            elif isinstance(statement, (gast.For, gast.While)):
                self.loop(statement, state)
            elif isinstance(statement, gast.Break):
                self.breaks[-1].append(dict(state))
                return None
            else:
                self.simple(statement, state)
        return state

    def uses(self, node: gast.AST, state: _State) -> None:
        for name in loads(node):
            self.use(name, state)

    def simple(self, statement: gast.AST, state: _State) -> None:
        self.uses(statement, state)
        if isinstance(statement, gast.AugAssign):
            node = statement.target
            if isinstance(node, gast.Name):
                before = state.get(node.id, frozenset())
                self.unite([self.define(node, node.id, state), *before])
        elif isinstance(statement, gast.Assign):
            updated = accumulates(self.unit, statement)
            before = state.get(updated, frozenset()) if updated == getattr(statement.targets[0], "id", "") else frozenset()
            if permutes(statement):  # stays one of the same names
                old = {t.id: state.get(t.id, frozenset()) for t in statement.targets[0].elts}
                for node in statement.targets[0].elts:
                    self.unite([self.define(node, node.id, state), *old[node.id]])
                return
            for target in statement.targets:
                for node in () if isinstance(target, gast.Subscript) else nodes(target):
                    if isinstance(node, gast.Name):
                        self.unite([self.define(node, node.id, state), *before])

    def loop(self, loop: gast.For | gast.While, state: _State) -> None:
        if isinstance(loop, gast.For):
            self.uses(loop.iter, state)
        # A loop in a loop is met again with more definitions, never fewer.  What it settled to is where it goes on from:
        # to start anew each time would take twice as long for each loop around it.
        head, broken = self.settled.get(id(loop), ({}, []))
        grown = _joined([head, state])
        new = id(loop) not in self.settled or grown != head
        state.clear()
        state.update(grown)
        while new:
            self.breaks.append([])
            inner = dict(state)
            if isinstance(loop, gast.While):
                self.uses(loop.test, inner)
            else:
                self.define(loop.target, loop.target.id, inner)
            end = self.block(loop.body, inner)
            broken = self.breaks.pop()
            head = _joined([state, end])
            if head == state:
                break
            state.clear()
            state.update(head)
        self.settled[id(loop)] = dict(state), broken
        endless = isinstance(loop, gast.While) and isinstance(loop.test, gast.Constant) and bool(loop.test.value)
        after = _joined(broken if endless and broken else [state, *broken])
        state.clear()
        state.update(after)


def _joined(states: list[_State | None]) -> _State | None:
    present = [s for s in states if s is not None]
    if len(present) < 2:
        return dict(present[0]) if present else None
    out = dict(present[0])
    for other in present[1:]:
        for name, webs in other.items():
            known = out.get(name)
            if known is not webs:
                out[name] = webs if known is None else known | webs
    return out


def _rename(unit: Unit, webs: _Webs) -> None:
    names: dict[int, str] = {}
    taken: set[str] = set()
    for web, name in _first(webs):
        if web in names:
            continue
        if name not in taken:
            names[web] = name
            taken.add(name)
        else:
            stem = name if not name[-1].isdigit() else f"{name}_"
            names[web] = unit.names.numbered(stem, start=2)
            unit.locals.add(names[web])
            unit.bases[names[web]] = unit.bases.get(name, name)
            if name in unit.kinds:
                unit.kinds[names[web]] = unit.kinds[name]
            for group in (unit.temps, unit.bars):
                if name in group:
                    group.add(names[web])
    for identity, node in webs.nodes.items():
        node.id = names[webs.find(webs.web_of[identity])]


def _first(webs: _Webs) -> list[tuple[int, str]]:
    """(web, the user's name) in the order of definition."""
    return [(webs.find(own), webs.nodes[identity].id) for identity, own in webs.own.items()]
