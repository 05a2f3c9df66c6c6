"""Draws from generator functions item by item: the state of each is kept in variables.

    def powers(t): while True: yield t; t = t * c        ->      t = x[0]; begun = False                        (once)
    zip(range(3), powers(x[0]), powers(x[1]))                if begun: t = t * c
                                                             begun = True; item = t                         (each time)

A loop over one generator function inlines its body (`generators`); draws from several, or in several places, come here.  If
the generator yields at one place in a loop, the statements after the `yield` run when the next item is requested; otherwise
a stage number says at which `yield` it is suspended.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     def powers(t):
...         while True:
...             yield t
...             t = t * x[0]
...     total = 0.0
...     for a, b in zip(powers(x[1]), powers(x[2])):
...         total = total + a * b
...         if total > 9.0:
...             break
...     return total
... ''', "drawing"))
def f(x):
    def powers(t):
        while True:
            yield t
            t = t * x[0]
    total = 0.0
    t_ = x[1]
    begun = False
    t_2 = x[2]
    begun_ = False
    while True:
        if begun:
            t_ = t_ * x[0]
        begun = True
        item = t_
        if begun_:
            t_2 = t_2 * x[0]
        begun_ = True
        item_ = t_2
        a, b = item, item_
        total = total + a * b
        if total > 9.0:
            break
    return total
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from s2sgrad.errors import S2SGradError
from s2sgrad.ir.exits import leaves_trip, with_exits
from s2sgrad.ir.quote import Transformer, assign, clone, constant, expression, mentioned, name, nodes, stored
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory import behaviour
from s2sgrad.normalize.check import yields
from s2sgrad.normalize.draws import Draw, NotDrawn, unless, when
from s2sgrad.source import read

_PLAIN = (gast.Assign, gast.AugAssign, gast.Expr, gast.If, gast.For, gast.While, gast.Return, gast.Break, gast.Continue,
          gast.Pass)  # fmt: skip
_LOOPS = (gast.For, gast.While)
_EXITS = {gast.Return: "returned", gast.Break: "left", gast.Continue: "then"}
_MOST = 12  # stages


def drawn(sources, call: gast.Call) -> Draw:
    """How to draw from a call of a generator function; raises NotDrawn if its text does not allow it."""
    return _Steps(sources, call).draw()


def can_be_drawn(sources, call: gast.Call) -> bool:
    """Whether `drawn` may succeed: whether the source exists, in statements that it handles."""
    try:
        tree = _definition(sources, call)
        _arguments(tree, call)
        for statement in tree.body:
            _require_plain(_Renamed(sources.unit, {}).visit(statement))
    except NotDrawn:
        return False
    return True


@dataclass
class _Exits:
    """What follows a block at its end or at `continue`, when the enclosing loop is left, and at `return`."""

    then: list[gast.AST]
    left: list[gast.AST]
    returned: list[gast.AST]
    in_loop: bool = False


class _Steps:
    """One call of a generator function, with its variables renamed."""

    def __init__(self, sources, call: gast.Call) -> None:
        self.sources, self.unit = sources, sources.unit
        tree = _definition(sources, call)
        own = {p.id for p in parameters(tree)} | stored(*tree.body)
        free = mentioned(*tree.body) - own
        nested = isinstance(call.func, gast.Name) and call.func.id in sources.yielding
        if not nested and free & self.unit.locals:
            raise NotDrawn
        self.fixed = own | (free - sources.changes.rebound if sources.changes else set())
        self.given = _arguments(tree, call)
        self.names = {n: self.unit.local(n) for n in sorted(own)}
        self.body = [_Renamed(self.unit, self.names).visit(s) for s in tree.body if not _is_text(s)]
        self.item = self.unit.local("item")
        self.setup = [assign(self.names[p], value) for p, value in self.given.items()]
        for statement in self.body:
            _require_plain(statement)

    def draw(self) -> Draw:
        where = next((k for k, s in enumerate(self.body) if _yields(s)), None)
        if where is None:
            raise NotDrawn
        for statement in self.body[:where]:
            self.require_early(statement)
            self.setup.append(statement)
        first, *rest = self.body[where:]
        self.late = stored(*self.body[where:])
        if isinstance(first, _LOOPS) and not first.orelse and not any(map(_yields, rest)):
            places = [k for k, s in enumerate(first.body) if _yields(s)]
            simple = len(places) == 1 and isinstance(first.body[places[0]], gast.Expr) and not leaves_trip(first.body)
            if simple and all(isinstance(s, gast.Assign) for s in rest):
                return self.one_place(first, places[0])
        return self.machine(self.body[where:])

    def require_early(self, statement: gast.AST) -> None:
        """Before the first `yield`, allow only what has the same result at the call and at the first request."""
        if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Name):
            raise NotDrawn
        self.require_fixed(statement.value)

    def require_fixed(self, node: gast.AST) -> None:
        read_ = mentioned(node)
        free = read_ & self.unit.locals - set(self.names.values()) - self.fixed
        looks = any(isinstance(n, (gast.Subscript, gast.Attribute)) or self.looks(n) for n in nodes(node))
        writes = self.sources.changes is None or self.sources.changes.writes
        if free or (looks and (writes or not behaviour.is_pure(self.unit, node))):
            raise NotDrawn

    def looks(self, node: gast.AST) -> bool:
        """Whether a node is a call that does more than combine its arguments."""
        return isinstance(node, gast.Call) and self.sources.called(node) not in (range, enumerate, zip, reversed)

    def head(self, loop: gast.AST, ended: list[gast.AST]) -> list[gast.AST]:
        """The statements that begin the next trip of the generator's loop, or end it."""
        if isinstance(loop, gast.While):
            endless = isinstance(loop.test, gast.Constant) and loop.test.value
            return [] if endless else [unless(clone(loop.test), *clone(ended))]
        self.require_fixed(loop.iter)
        if mentioned(loop.iter) & self.late:
            raise NotDrawn
        inner = self.sources.of(loop.iter, first=False)
        self.setup += inner.setup
        steps = with_exits(inner.steps, gast.Break, lambda _: clone(ended))
        return [*steps, gast.Assign([loop.target], clone(inner.item), None)]

    def one_place(self, loop: gast.AST, place: int) -> Draw:
        """A single `yield` in a loop: the rest of the trip runs when the next item is requested."""
        before, after = loop.body[:place], loop.body[place + 1 :]
        take = [*self.head(loop, [gast.Break()]), *before, assign(self.item, _yielded(loop.body[place]))]
        self.keep(take, after)
        if after:
            begun = self.unit.local("begun")
            self.setup.append(assign(begun, constant(False)))
            take = [when(name(begun), *after), assign(begun, constant(True)), *take]
        return self.sources.ending(Draw(self.setup, take, name(self.item)))

    def machine(self, body: list[gast.AST]) -> Draw:
        """The general case: a state machine, whose stage number says where to resume."""
        self.stage, self.over = self.unit.local("stage"), self.unit.local("over")
        self.stages: list[list[gast.AST]] = [[]]
        ended = [assign(self.over, constant(True)), gast.Break()]
        self.stages[0] = self.run(body, _Exits(ended, ended, ended), 0)
        self.keep(self.stages[0], [s for stage in self.stages[1:] for s in stage])
        self.setup += [assign(self.stage, constant(0)), assign(self.over, constant(False))]
        *others, steps = self.stages
        for k in range(len(others) - 1, -1, -1):
            steps = [gast.If(expression("s == k", s=self.stage, k=k), others[k], steps)]
        whole = gast.While(gast.UnaryOp(gast.Not(), name(self.over)), steps, [])
        return Draw(self.setup, [whole, when(name(self.over), gast.Break())], name(self.item))

    def run(self, block: list[gast.AST], exits: _Exits, here: int | None = None) -> list[gast.AST]:
        """Statements of the generator up to its next `yield`; `here`: the stage that consists of exactly these."""
        out: list[gast.AST] = []
        for k, statement in enumerate(block):
            kind, rest = type(statement), block[k + 1 :]
            if kind in _EXITS:
                return out + clone(getattr(exits, _EXITS[kind]))
            if kind is gast.Expr and _yields(statement):
                number = self.new_stage()
                self.stages[number] = self.run(clone(rest), exits)
                return [*out, assign(self.item, _yielded(statement)), *self.at(number)[:1], gast.Break()]
            if kind is gast.If and (_yields(statement) or leaves_trip([statement])):
                arms = [self.run([*arm, *clone(rest)], exits) for arm in (statement.body, statement.orelse)]
                return [*out, gast.If(statement.test, *arms)]
            if kind in _LOOPS and _yields(statement):
                number = self.new_stage() if here is None or out else here
                trips = self.loop(statement, self.run(clone(rest), exits), exits, number)
                if number == here:
                    return trips
                self.stages[number] = trips
                return [*out, *self.at(number)]
            if _yields(statement) or any(isinstance(n, gast.Return) for n in nodes(statement)):
                raise NotDrawn
            out.append(clone(statement))
        return out + clone(exits.then)

    def loop(self, loop: gast.AST, after: list[gast.AST], exits: _Exits, number: int) -> list[gast.AST]:
        """The next trip of a loop, or what follows it."""
        if loop.orelse or (exits.in_loop and isinstance(loop, gast.For)):
            raise NotDrawn
        return [*self.head(loop, after), *self.run(loop.body, _Exits(self.at(number), after, exits.returned, True))]

    def new_stage(self) -> int:
        self.stages.append([])
        if len(self.stages) > _MOST:
            raise NotDrawn
        return len(self.stages) - 1

    def at(self, number: int) -> list[gast.AST]:
        """Continue with another stage."""
        return [assign(self.stage, constant(number)), gast.Continue()]

    def keep(self, now: list[gast.AST], later: list[gast.AST]) -> None:
        """Initialize variables that may be read in a later request than the one that binds them."""
        own = stored(*now, *later) & set(self.names.values()) - stored(*self.setup)
        self.setup += [assign(n, constant(None)) for n in sorted(own) if n in _loads(later) or _is_read_first(n, now)]


def _definition(sources, call: gast.Call) -> gast.FunctionDef:
    """The definition of a generator function, nested in this function or from its module."""
    if isinstance(call.func, gast.Name) and call.func.id in sources.yielding:
        definition = sources.yielding[call.func.id]
        if definition is None:
            raise NotDrawn
        return clone(definition)
    target = sources.unit.resolve(call.func)
    if target.__globals__ is not sources.unit.primal.function.__globals__ or target.__closure__:
        raise NotDrawn
    try:
        primal = read(target)
        _, tree = Unit.of(primal)
    except S2SGradError:
        raise NotDrawn from None
    for node in nodes(tree):
        if hasattr(node, "lineno"):
            node.primal = primal
    return tree


def _arguments(tree: gast.FunctionDef, call: gast.Call) -> dict[str, gast.AST]:
    """The arguments of a call, by parameter."""
    given = tree.args
    names = [p.id for p in [*given.posonlyargs, *given.args]]
    out = dict(zip(names, call.args, strict=False))
    words = {k.arg: k.value for k in call.keywords}
    spread = any(isinstance(a, gast.Starred) for a in call.args) or None in words
    if spread or given.vararg or given.kwarg or given.kwonlyargs or len(call.args) > len(names):
        raise NotDrawn
    if words.keys() & out.keys() or words.keys() - set(names):
        raise NotDrawn
    out |= words
    for parameter, default in zip(names[len(names) - len(given.defaults) :], given.defaults, strict=True):
        if parameter not in out:
            if not isinstance(default, gast.Constant):
                raise NotDrawn
            out[parameter] = default
    if out.keys() != set(names):
        raise NotDrawn
    return {p: clone(value) for p, value in out.items()}


class _Renamed(Transformer):
    """Renames variables, and rewrites `yield from` as a loop."""

    def __init__(self, unit: Unit, names: dict[str, str]) -> None:
        self.unit, self.names = unit, names

    def visit_Name(self, node: gast.Name) -> gast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_Expr(self, statement: gast.Expr) -> gast.AST:
        self.generic_visit(statement)
        if not isinstance(statement.value, gast.YieldFrom):
            return statement
        item = self.unit.local("item")
        expression_of_item = gast.Expr(gast.Yield(name(item)))
        return gast.For(name(item, store=True), statement.value.value, [expression_of_item], [], None)


def _require_plain(statement: gast.AST) -> None:
    for part in nodes(statement):
        if isinstance(part, gast.stmt) and not isinstance(part, _PLAIN):
            raise NotDrawn
        if isinstance(part, (gast.YieldFrom, gast.Await, gast.NamedExpr, gast.Lambda, gast.GeneratorExp)):
            raise NotDrawn
        if isinstance(part, gast.stmt) and not isinstance(part, gast.Expr):
            own = [p for p in (getattr(part, "value", None), getattr(part, "test", None), getattr(part, "iter", None)) if p]
            if any(isinstance(n, gast.Yield) for n in nodes(*own)):
                raise NotDrawn


def _yielded(statement: gast.Expr) -> gast.AST:
    if not isinstance(statement.value, gast.Yield) or len([n for n in nodes(statement) if isinstance(n, gast.Yield)]) > 1:
        raise NotDrawn
    return constant(None) if statement.value.value is None else clone(statement.value.value)


def _yields(statement: gast.AST) -> bool:
    return any(isinstance(n, gast.Yield) for n in nodes(statement))


def _loads(body: list[gast.AST]) -> set[str]:
    """The names that statements read."""
    inside = list(nodes(*body))
    updated = {n.target.id for n in inside if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)}
    return updated | {n.id for n in inside if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)}


def _is_read_first(local: str, body: list[gast.AST]) -> bool:
    """Whether a block may read a name before binding it."""
    for statement in body:
        if local in _loads([statement]):
            return True
        if local in stored(statement):
            return not isinstance(statement, gast.Assign)
    return False


def _is_text(statement: gast.AST) -> bool:
    return isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Constant)


def definitions(tree: gast.FunctionDef) -> dict[str, gast.FunctionDef | None]:
    """The generator functions defined in a function, by name; None if the name may refer to something else."""
    inside = [n for n in nodes(tree) if isinstance(n, gast.FunctionDef) and n is not tree]
    by_name: dict[str, gast.FunctionDef | None] = {n.name: n for n in inside if yields(n)}
    bound = [n.name for n in inside] + [n.id for n in nodes(tree) if isinstance(n, gast.Name)
                                        and not isinstance(n.ctx, gast.Load)]  # fmt: skip
    declared = {n for s in nodes(tree) if isinstance(s, (gast.Nonlocal, gast.Global)) for n in s.names}
    for local, definition in list(by_name.items()):
        names = mentioned(definition)
        if bound.count(local) > 1 or names & declared or definition.decorator_list:
            by_name[local] = None
    return by_name
