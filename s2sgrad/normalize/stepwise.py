"""Generator functions as functions that make an iterator: what stands between two `yield`s runs when an item is requested.

    def powers(t): while True: yield t; t = t * c      ->      def powers(t): begun = False; def more(): ..; def take(): ..

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
...     it = powers(x[1])
...     return next(it) * next(it)
... ''', "drawing"))
def f(x):
    def powers(t):
        while True:
            yield t
            t = t * x[0]
    def powers_(t_):
        begun = False
        def more():
            nonlocal begun, t_
            if begun:
                t_ = t_ * x[0]
            begun = True
            return True
        def take():
            return t_
        return Iterator(more, take)
    it = powers_(x[1])
    return following(it) * following(it)
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from s2sgrad import runtime
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir import notes, scoping
from s2sgrad.ir.exits import leaves_trip
from s2sgrad.ir.forms import bound_name, opposite
from s2sgrad.ir.quote import (
    assign,
    branch,
    clone,
    constant,
    empty_arguments,
    expression,
    mentioned,
    name,
    nodes,
    rewritten,
    statements,
    stored,
)
from s2sgrad.ir.unit import parameters
from s2sgrad.memory import behaviour
from s2sgrad.normalize import iterables
from s2sgrad.normalize.generator_texts import Delegated, NotDrawn, require_plain, text_of
from s2sgrad.standard import generators, iterators

_LOOPS = (gast.For, gast.While)
_EXITS = {gast.Return: "returned", gast.Break: "left", gast.Continue: "then"}
_MOST = 12  # stages


def made(sources, call: gast.AST) -> gast.Call:
    """The call that makes an iterator of a call of a generator function, whose maker is defined before the statement; raises
    NotDrawn if its text does not allow it."""
    if not isinstance(call, gast.Call) or sources.unit.draws(call):
        raise NotDrawn  # given to the function, or of an object
    maker = _Maker(sources, call)
    sources.before.append(maker.written())
    made_iterator = gast.Call(name(maker.name), call.args, call.keywords)
    goes_on = maker.goes_on or mentioned(call) & sources.held
    wraps = sources.lasts and goes_on and not maker.is_machine and not maker.asks_on
    return sources.calling(iterators.lasting, made_iterator) if wraps else made_iterator


@dataclass
class _Exits:
    """What follows a block at its end or at `continue`, when the enclosing loop is left, and at `return`."""

    then: list[gast.AST]
    left: list[gast.AST]
    returned: list[gast.AST]
    in_loop: bool = False


class _Maker:
    """The function that makes iterators instead of a generator function."""

    def __init__(self, sources, call: gast.Call) -> None:
        self.sources, self.unit = sources, sources.unit
        self.tree = tree = text_of(sources, call)
        given = tree.args
        if any(d is not None and not isinstance(d, gast.Constant) for d in (*given.defaults, *given.kw_defaults)):
            raise NotDrawn
        self.name = self.unit.local(tree.name)
        self.passed = [*call.args, *(k.value for k in call.keywords)]
        self.own = {p.id for p in parameters(tree)} | stored(*tree.body)
        free = mentioned(*tree.body) - self.own
        nested = isinstance(call.func, gast.Name) and call.func.id in sources.yielding
        if not nested and free & self.unit.locals:
            raise NotDrawn
        self.fixed = free - sources.rebound
        ours = getattr(sources.called(call), "__module__", None) == generators.__name__
        renamed = {n: self.unit.local(n) for n in sorted(self.own)}  # the names of iterators may be the same
        for parameter in parameters(tree):
            notes.KEYWORD.put(parameter, parameter.id)
        self.given = {new for old, new in renamed.items() if ours and old.startswith(("iterable", "iterator"))}  # iterators
        if not ours:
            self.given = {renamed[p] for p in self.made_iterators(call)}
        self.own = set(renamed.values())
        self.fixed |= self.own
        scoping.rename(renamed, *tree.body, *parameters(tree))
        self.body = [Delegated(self.unit).visit(s) for s in tree.body if not _is_text(s)]
        self.setup: list[gast.AST] = []
        self.goes_on = self.is_machine = False  # asking again after its end would run statements again
        self.asks_on = is_one_of(sources.called(call), generators.ASKING_ON)
        for statement in self.body:
            require_plain(statement)

    def made_iterators(self, call: gast.Call) -> list[str]:
        """The parameters that receive generator expressions and tools, which are made iterators of."""
        sources, out = self.sources, []
        for k, (parameter, given) in enumerate(zip(parameters(self.tree), call.args, strict=False)):
            if isinstance(given, gast.GeneratorExp) or is_one_of(sources.called(given), iterables.LAZY):
                call.args[k] = sources.iterator(given)
                out.append(parameter.id)
        return out

    def written(self) -> gast.FunctionDef:
        """The maker: variables, and the functions that say whether there is an item and take it."""
        where = next((k for k, s in enumerate(self.body) if _yields(s)), None)
        if where is None:
            raise NotDrawn
        for statement in self.body[:where]:
            self.require_early(statement)
            self.setup.append(statement)
        self.late = stored(*self.body[where:])
        ready, item = self.steps(self.body[where:])
        more, take = self.unit.local("more"), self.unit.local("take")
        outer = sorted(stored(*ready) & (stored(*self.setup) | {p.id for p in parameters(self.tree)}))
        ready = [*([gast.Nonlocal(outer)] if outer else []), *ready]
        functions = [gast.FunctionDef(n, empty_arguments(), body, [], None, None, [])
                     for n, body in ((more, ready), (take, [gast.Return(item)]))]  # fmt: skip
        maker = name(self.unit.helper(iterators.Iterator.__name__, iterators.Iterator))
        result = gast.Return(gast.Call(maker, [name(more), name(take)], []))
        return gast.FunctionDef(self.name, self.tree.args, [*self.setup, *functions, result], [], None, None, [])

    def steps(self, body: list[gast.AST]) -> tuple[list[gast.AST], gast.AST]:
        """The statements that say whether there is an item, and the item."""
        first, *rest = body
        if isinstance(first, _LOOPS) and not first.orelse and not any(map(_yields, rest)):
            places = [k for k, s in enumerate(first.body) if _yields(s)]
            simple = len(places) == 1 and isinstance(first.body[places[0]], gast.Expr) and not leaves_trip(first.body)
            if simple and all(isinstance(s, gast.Assign) for s in rest):
                return self.one_place(first, places[0])
        return self.machine(body)

    def require_early(self, statement: gast.AST) -> None:
        """Before the first `yield`, allow only what has the same result at the call and at the first request."""
        if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Name):
            raise NotDrawn
        self.require_fixed(statement.value)

    def require_fixed(self, node: gast.AST) -> None:
        free = mentioned(node) & self.unit.locals - self.fixed
        looks = any(isinstance(n, (gast.Subscript, gast.Attribute)) or self.looks(n) for n in nodes(node))
        if free or (looks and not behaviour.is_pure(self.unit, node)):
            raise NotDrawn
        if looks and self.sources.names.may_change([*self.passed, node]):
            raise NotDrawn

    def looks(self, node: gast.AST) -> bool:
        """Whether a node is a call that does more than combine its arguments."""
        return isinstance(node, gast.Call) and self.sources.called(node) not in (range, enumerate, zip, reversed)

    def head(self, loop: gast.AST, ended: list[gast.AST]) -> list[gast.AST]:
        """The statements that begin the next trip of the generator's loop, or end it."""
        if isinstance(loop, gast.While):
            endless = isinstance(loop.test, gast.Constant) and loop.test.value
            return [] if endless else [branch(opposite(clone(loop.test)), clone(ended))]
        self.require_fixed(loop.iter)
        if mentioned(loop.iter) & self.late:
            raise NotDrawn
        around, held = self.sources.before, self.sources.held
        self.sources.before, self.sources.held = self.setup, held | self.given
        source = self.sources.source(loop.iter)
        self.sources.before, self.sources.held = around, held
        asked = statements("if not xs.more():\n    ended\nxs.take()", xs=source, ended=clone(ended))
        return [asked[0], gast.Assign([loop.target], asked[1].value, None)]

    def one_place(self, loop: gast.AST, place: int) -> tuple[list[gast.AST], gast.AST]:
        """A single `yield` in a loop: the rest of the trip runs when the next item is requested."""
        before, after = loop.body[:place], loop.body[place + 1 :]
        item = _yielded(loop.body[place])
        endless = isinstance(loop, gast.While) and isinstance(loop.test, gast.Constant) and loop.test.value
        self.goes_on = not endless and (bool(after) or isinstance(loop, gast.While))
        ready = [*self.head(loop, [gast.Return(constant(False))]), *before]
        self.keep(ready, [*after, gast.Expr(item)])
        if after:
            begun = self.unit.local("begun")
            self.setup.append(assign(begun, constant(False)))
            ready = [branch(name(begun), after), assign(begun, constant(True)), *ready]
        return [*ready, gast.Return(constant(True))], item

    def machine(self, body: list[gast.AST]) -> tuple[list[gast.AST], gast.AST]:
        """The general case: a state machine, whose stage number says where to resume."""
        self.stage, self.over, self.item = (self.unit.local(n) for n in ("stage", "over", "item"))
        self.stages: list[list[gast.AST]] = [[]]
        ended = [assign(self.over, constant(True)), gast.Break()]
        self.stages[0] = self.run(body, _Exits(ended, ended, ended), 0)
        self.keep(self.stages[0], [s for stage in self.stages[1:] for s in stage])
        self.is_machine = True
        begin = [assign(self.over, constant(False))]
        self.setup += [assign(self.item, constant(None)), *([] if self.asks_on else begin)]
        *others, steps = self.stages
        if others:
            self.setup.append(assign(self.stage, constant(0)))
        else:
            steps = rewritten(steps, lambda s: [] if bound_name(s) == self.stage else [s])
        for k in range(len(others) - 1, -1, -1):
            steps = [gast.If(expression("s == k", s=self.stage, k=k), others[k], steps)]
        goes_on = gast.UnaryOp(gast.Not(), name(self.over))
        whole = gast.While(goes_on, steps, [])
        return [*(begin if self.asks_on else ()), whole, gast.Return(clone(goes_on))], name(self.item)

    def run(self, block: list[gast.AST], exits: _Exits, here: int | None = None) -> list[gast.AST]:
        """Statements of the generator up to its next `yield`; `here`: the stage that consists of exactly these."""
        out: list[gast.AST] = []
        for k, statement in enumerate(block):
            kind, rest = type(statement), block[k + 1 :]
            if kind in _EXITS:
                return out + clone(getattr(exits, _EXITS[kind]))
            if kind is gast.Expr and _yields(statement):
                going_on = exits.then[:1] if not rest and isinstance(exits.then[-1], gast.Continue) else None
                if going_on is None:
                    number = self.new_stage()
                    self.stages[number] = self.run(clone(rest), exits)
                    going_on = self.at(number)[:1]
                return [*out, assign(self.item, _yielded(statement)), *clone(going_on), gast.Break()]
            if kind is gast.If and (_yields(statement) or leaves_trip([statement])):
                arms = [self.run([*arm, *clone(rest)], exits) for arm in (statement.body, statement.orelse)]
                return [*out, gast.If(statement.test, *arms)]
            if kind in _LOOPS and _yields(statement):
                return self.entered(statement, out, rest, exits, here)
            if _yields(statement) or any(isinstance(n, gast.Return) for n in nodes(statement)):
                raise NotDrawn
            out.append(clone(statement))
        return out + clone(exits.then)

    def entered(
        self, loop: gast.AST, out: list[gast.AST], rest: list[gast.AST], exits: _Exits, here: int | None
    ) -> list[gast.AST]:  # fmt: skip
        """The statements up to a loop, whose trips are a stage; `rest` follows it."""
        if isinstance(loop, gast.For) and exits.in_loop:
            *first, loop = self.by_index(loop)
            out = [*out, *first]
        number = self.new_stage() if here is None or out else here
        trips = self.loop(loop, self.run(clone(rest), exits), exits, number)
        if number == here:
            return trips
        self.stages[number] = trips
        return [*out, *self.at(number)]

    def loop(self, loop: gast.AST, after: list[gast.AST], exits: _Exits, number: int) -> list[gast.AST]:
        """The next trip of a loop, or what follows it."""
        if loop.orelse:
            raise NotDrawn
        return [*self.head(loop, after), *self.run(loop.body, _Exits(self.at(number), after, exits.returned, True))]

    def by_index(self, loop: gast.For) -> list[gast.AST]:
        """A loop inside another as one by index: which trip is next is kept in a variable."""
        if self.sources.streams(loop.iter) or self.sources.needs(loop.iter):
            raise NotDrawn
        items, place = self.unit.local("items"), self.unit.local("place")
        self.own |= {items, place}
        helper = self.unit.helper(runtime.sequence.__name__, runtime.sequence)
        text = "items = f(xs)\nk = 0\nitem = items[k]\nk = k + 1"
        first, begin, next_, advance = statements(text, items=items, k=place, xs=loop.iter, f=helper, item="")
        next_.targets = [loop.target]
        goes_on = expression("k < len(items)", k=place, items=items, len=self.unit.builtin(len))
        return [first, begin, gast.While(goes_on, [next_, advance, *loop.body], loop.orelse)]

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
        own = stored(*now, *later) & self.own - stored(*self.setup) - {p.id for p in parameters(self.tree)}
        self.setup += [assign(n, constant(None)) for n in sorted(own & _loads([*now, *later]))]


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


def _is_text(statement: gast.AST) -> bool:
    return isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Constant)
