"""What the values of a function that is only called may be, and what they may hold: places, and what is kept in them.

    z = y[1:]        z may be what y is (a view)         p = [y]        p is new, and holds what y is
    q = list(p)      q is new, and holds what p holds    q[0][0] = 1.0  writes what y is

A place is an argument, the inside of one, what a statement makes, or what lives outside.  All statements count at once,
whatever their order; what is not known may be anything.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import own_protocols
from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.ir.quote import children, nodes
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory import callees
from s2sgrad.memory.places import ANY, NONE, OUTSIDE, Place, Places, Summary, Told, lasts
from s2sgrad.primitives import spellings

_SEQUENCES = (gast.Add, gast.Mult, gast.Sub, gast.BitOr, gast.BitAnd, gast.BitXor)

_ONE = (gast.Tuple, gast.Constant, gast.UnaryOp, gast.BinOp)
"""Indices that pick one item of a list."""


class Points:
    """One function for arguments of some trust; `summary_of` tells of the functions that it calls."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, told: dict[str, Told], summary_of: Callable[..., Summary]
    ) -> None:
        self.unit, self.tree, self.summary_of = unit, tree, summary_of
        self.modules = {p: value for p, value in told.items() if isinstance(value, types.ModuleType)}
        self.trusts = {p: Trust.ARRAY if p in self.modules else trust for p, trust in told.items()}
        self.names: dict[str, Places] = {p.id: {Place("own", p.id)} for p in parameters(tree)}
        self.kept: dict[Place, Places] = {}
        self.written: Places = set()
        self.returns: Places = set()
        self.size = -1
        self.inner = 0

    def run(self) -> Summary:
        """Follow the function until nothing new comes out."""
        before = -1
        while (size := self._size()) != before:
            before = size
            self.block(self.tree.body)
        if any(isinstance(n, (gast.Yield, gast.YieldFrom, gast.Await)) for n in self._own_nodes()):
            self.returns = {Place("shell", id(self.tree)), *self.returns}
            self.keep({Place("shell", id(self.tree))}, self.everything())
        made = {p for p in self.returns if p.kind in ("new", "shell", "object", "none")}
        holds = self.reached(self.items(made)) if made else set()
        puts = {(p, q) for p, held in self.kept.items() if lasts(p) for q in self.reached(held) if q != p}
        kept_here = {q for _, q in puts}
        makes = {"kept" if p in kept_here else p.kind for p in made | holds}
        return Summary(
            frozenset(filter(lasts, self.written)), frozenset(filter(lasts, self.returns)),
            frozenset(filter(lasts, holds)), frozenset(makes),
            frozenset((p, q) for p, q in puts if lasts(q) and q != Place("in", p.key)),
        )  # fmt: skip

    def _size(self) -> int:
        sets = (*self.names.values(), *self.kept.values(), self.written, self.returns)
        return sum(map(len, sets))

    def _own_nodes(self) -> Iterable[gast.AST]:
        waiting = list(self.tree.body)
        while waiting:
            node = waiting.pop()
            yield node
            if not isinstance(node, (gast.FunctionDef, gast.Lambda)):
                waiting += children(node)

    # --- places ---

    def trust(self, place: Place) -> Trust:
        if place.kind in ("own", "in"):
            return self.trusts.get(place.key, Trust.DATA)
        if place.kind == "outside":
            return place.key
        known = {"new": Trust.ARRAY, "none": Trust.ARRAY, "shell": Trust.DATA, "drawing": Trust.DRAWING}
        return known.get(place.kind, Trust.ANY)

    def items(self, places: Iterable[Place]) -> Places:
        """What an item of these may be: of an array a view of it."""
        out: Places = set()
        for place in places:
            out |= self.kept.get(place, set())
            if place.kind in ("own", "in"):
                out |= {place, Place("in", place.key)} if self.trust(place) != Trust.ARRAY else {place}
            elif place.kind not in ("shell", "object"):
                out.add(place)
        return out

    def reached(self, places: Iterable[Place]) -> Places:
        """These, and all that they hold."""
        out: Places = set()
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            if place not in out:
                out.add(place)
                waiting += self.items((place,))
        return out

    def everything(self) -> Places:
        """All that the function is given, and all that it makes."""
        return self.reached(set().union(*self.names.values(), *self.kept.values()))

    def are_data(self, places: Iterable[Place]) -> bool:
        """Whether these are arrays and plain containers, whose methods are known."""
        return all(self.trust(p) <= Trust.DATA for p in places)

    def keep(self, owners: Iterable[Place], values: Iterable[Place]) -> None:
        """What is put in a place stays there; an array holds numbers."""
        values = set(values)
        for place in owners:
            if self.trust(place) != Trust.ARRAY:
                self.kept.setdefault(place, set()).update(values)

    def write(self, places: Iterable[Place]) -> None:
        self.written |= set(places)

    def meet(self, places: Iterable[Place]) -> None:
        """Python asks these for their operators, items or truth: those of a user's class may do anything."""
        if any(p.kind == "object" and (p.part is None or own_protocols(p.part)) for p in places):
            self.anything()

    def anything(self) -> Places:
        """What is done here is not known."""
        self.written.add(ANY)
        return {ANY}

    def shell(self, node: Any, held: Iterable[Place], part: Any = None) -> Places:
        """A new container that holds these."""
        place = Place("shell", node if isinstance(node, int) else id(node), part)
        self.keep((place,), held)
        return {place}

    def apply(self, function: gast.AST | None, *places: Places) -> Places:
        """What an argument returns that a library calls."""
        return callees.apply(self, function, *places)

    # --- statements ---

    def block(self, body: list[gast.AST]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: gast.AST) -> None:
        if isinstance(node, gast.Assign):
            value = self.value(node.value)
            for target in node.targets:
                self.bind(target, value, node.value)
        elif isinstance(node, gast.AnnAssign):
            if node.value is not None:
                self.bind(node.target, self.value(node.value), node.value)
        elif isinstance(node, gast.AugAssign):
            self.update(node.target, self.value(node.value))
        elif isinstance(node, (gast.For, gast.AsyncFor)):
            self.bind(node.target, self.iterated(self.value(node.iter)))
        elif isinstance(node, gast.Return):
            value = self.value(node.value) if node.value is not None else set()
            self.returns |= value if not self.inner else set()
        elif isinstance(node, gast.Delete):
            for target in node.targets:
                if isinstance(target, (gast.Subscript, gast.Attribute)):
                    self.write(self.value(target.value))
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            self.write((OUTSIDE,))
        elif isinstance(node, (gast.With, gast.AsyncWith)):
            for item in node.items:
                self.context(item)
        elif isinstance(node, gast.ClassDef):
            self.anything()
        elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)):
            self.names[node.name] = {ANY}
            self.function(node, node.body)
            return
        elif isinstance(node, gast.Match):
            matched = self.reached(self.value(node.subject))
            for part in (p for case in node.cases for p in nodes(case.pattern)):
                for named in (getattr(part, "name", None), getattr(part, "rest", None)):
                    if isinstance(named, str):
                        self.names.setdefault(named, set()).update(matched)
        elif isinstance(node, gast.ExceptHandler):
            if node.name is not None:
                self.names.setdefault(getattr(node.name, "id", node.name), set()).add(ANY)
        for field, part in gast.iter_fields(node):
            if field in ("body", "orelse", "finalbody", "handlers") and isinstance(part, list):
                self.block(part)
            elif field == "cases":
                for case in part:
                    self.value(case.guard) if case.guard is not None else None
                    self.block(case.body)
            elif isinstance(part, gast.expr) and (field in ("test", "exc", "cause", "msg") or isinstance(node, gast.Expr)):
                self.meet(self.value(part) if not isinstance(node, gast.Expr) else self.value(part) & set())

    def function(self, node: gast.AST, body: list[gast.AST]) -> None:
        """What a nested function does when it is called, with whatever arguments."""
        for parameter in parameters(node):
            self.names.setdefault(parameter.id, set()).add(ANY)
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self.value(default)
        self.inner += 1
        self.block(body)
        self.inner -= 1

    def context(self, item: gast.withitem) -> None:
        held = self.value(item.context_expr)
        if not callees.enters_quietly(self, item.context_expr):
            held = self.anything()
        if item.optional_vars is not None:
            self.bind(item.optional_vars, self.reached(held))

    def bind(self, target: gast.AST, value: Places, display: gast.AST | None = None) -> None:
        if isinstance(target, gast.Name):
            self.names.setdefault(target.id, set()).update(value)
        elif isinstance(target, gast.Starred):
            self.bind(target.value, self.shell(target, value))
        elif isinstance(target, (gast.Tuple, gast.List)):
            plain = isinstance(display, (gast.Tuple, gast.List)) and len(display.elts) == len(target.elts)
            plain = plain and not any(isinstance(e, gast.Starred) for e in (*display.elts, *target.elts))
            for k, part in enumerate(target.elts):
                inner = display.elts[k] if plain else None
                self.bind(part, self.value(inner) if plain else self.iterated(value), inner)
        else:
            owner = self.value(target.value)
            self.meet(owner | (self.value(target.slice) if isinstance(target, gast.Subscript) else set()))
            self.write(owner)
            self.keep(owner, value)
            if isinstance(target, gast.Attribute):
                for place in owner:
                    callees.set_(self, place, target, value)
            elif not isinstance(target.slice, _ONE):  # a slice, which takes the items
                self.keep(owner, self.items(value))

    def iterated(self, places: Places) -> Places:
        """What a loop over these, or an unpacking, gives."""
        self.meet(places)
        return self.items(places)

    def update(self, target: gast.AST, value: Places) -> None:
        """`x op= v`: of an array it writes the array, also where it is an item; a list it makes longer."""
        if isinstance(target, gast.Name):
            places = self.names.setdefault(target.id, set())
            if target.id not in self.unit.locals:
                places |= self.free(target)
        else:
            owner = self.value(target.value)
            self.write(owner)
            places = self.value(target)
            if isinstance(target, gast.Subscript) and not isinstance(target.slice, _ONE):
                self.keep(owner, self.items({p for p in value if self.trust(p) != Trust.ARRAY}))
        self.write(places)
        self.meet(places | value)
        self.keep(places, self.items(value))
        if any(self.trust(p) == Trust.ANY for p in places):
            self.keep(places, value)

    # --- expressions ---

    def value(self, node: gast.AST | None) -> Places:
        """What an expression may be."""
        if node is None or isinstance(node, gast.Constant):
            return {NONE} if node is not None and node.value is None else set()
        if isinstance(node, gast.Name):
            local = node.id in self.names or node.id in self.unit.locals
            return set(self.names.get(node.id, ())) if local else self.free(node)
        if isinstance(node, gast.Attribute):
            return self.attribute(node)
        if isinstance(node, gast.Subscript):
            return self.item(node)
        if isinstance(node, gast.Call):
            return callees.called(self, node)
        if isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Compare)):
            return self.operator(node)
        if isinstance(node, gast.NamedExpr):
            value = self.value(node.value)
            self.bind(node.target, value)
            return value
        if isinstance(node, (gast.List, gast.Tuple, gast.Set)):
            held = self.of_all(node.elts)
            self.meet(held if isinstance(node, gast.Set) else set())
            return self.shell(node, held, "keyed" if isinstance(node, gast.Set) else None)
        if isinstance(node, gast.Dict):
            unpacked = [self.items(self.value(v)) for k, v in zip(node.keys, node.values, strict=True) if k is None]
            named = [v for k, v in zip(node.keys, node.values, strict=True) if k is not None]
            self.meet(self.of_all([k for k in node.keys if k is not None]))
            return self.shell(node, self.of_all(named).union(*unpacked), "keyed")
        if isinstance(node, (gast.ListComp, gast.SetComp, gast.GeneratorExp, gast.DictComp)):
            return self.comprehension(node)
        if isinstance(node, gast.Lambda):
            self.function(node, [gast.Expr(node.body)])
            return {ANY}
        if isinstance(node, gast.IfExp):
            self.meet(self.value(node.test))
            return self.value(node.body) | self.value(node.orelse)
        if isinstance(node, gast.BoolOp):
            held = self.of_all(node.values)
            self.meet(held)
            return held
        if isinstance(node, gast.Starred):
            return self.iterated(self.value(node.value))
        if isinstance(node, gast.Slice):
            self.of_all([p for p in (node.lower, node.upper, node.step) if p is not None])
            return set()
        if isinstance(node, (gast.JoinedStr, gast.FormattedValue)):
            self.meet(self.reached(self.of_all(children(node))))
            return set()
        held = self.of_all(children(node))
        return held | {ANY} if isinstance(node, gast.expr) else held

    def of_all(self, parts: list[gast.AST]) -> Places:
        return set().union(*map(self.value, parts))

    def free(self, node: gast.AST) -> Places:
        """What a name of the surroundings stands for."""
        found = self.unit.resolve(node)
        if found is MISSING:
            return {ANY}
        return self.of_object(found)

    def of_object(self, found: Any) -> Places:
        """What an object that is there already may be."""
        trust = trust_of_object(found)
        return ({NONE} if found is None else set()) if trust is None else {Place("outside", trust)}

    def attribute(self, node: gast.Attribute) -> Places:
        found = self.unit.resolve(node)
        if found is not MISSING:
            return self.of_object(found)
        owner = self.value(node.value)
        for place in owner:
            callees.looked_up(self, place, node)
        if self.are_data(owner) and (node.attr in spellings.FLAT_ATTRIBUTES or not owner):
            return set()
        return owner | self.items(owner)

    def item(self, node: gast.Subscript) -> Places:
        owner = self.value(node.value)
        self.meet(owner | self.value(node.slice))
        lists = {p for p in owner if self.trust(p) != Trust.ARRAY}
        sliced = self.shell(node, self.items(lists)) if lists else set()
        if isinstance(node.slice, gast.Slice):
            return {p for p in owner if p.kind != "shell"} | sliced
        return self.items(owner) | (set() if isinstance(node.slice, _ONE) else sliced)

    def operator(self, node: gast.AST) -> Places:
        """Arithmetic of arrays is new; that of lists is a new list of the same items."""
        if isinstance(node, gast.Compare):
            sides = [node.left, *node.comparators]
        else:
            sides = [node.operand] if isinstance(node, gast.UnaryOp) else [node.left, node.right]
        operands = [self.value(side) for side in sides]
        self.meet(self.reached(set().union(*operands)))
        objects = {p for places in operands for p in places if self.trust(p) == Trust.ANY}
        new = {Place("new", id(node))} | self.reached(objects)
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, _SEQUENCES):
            return new
        lists = [{p for p in places if self.trust(p) != Trust.ARRAY} for places in operands]
        times = isinstance(node.op, gast.Mult)
        if not any(lists) or (not times and not all(lists)):
            return new
        if any(isinstance(side, gast.Constant) and not (times and isinstance(side.value, int)) for side in sides):
            return new
        return new | self.shell(node, self.items(lists[0] | lists[1]))

    def comprehension(self, node: gast.AST) -> Places:
        for generator in node.generators:
            self.bind(generator.target, self.iterated(self.value(generator.iter)))
            self.meet(self.of_all(generator.ifs))
        if isinstance(node, gast.DictComp):
            self.meet(self.value(node.key))
        held = self.value(node.value if isinstance(node, gast.DictComp) else node.elt)
        self.meet(held if isinstance(node, gast.SetComp) else set())
        return self.shell(node, held)
