"""Points-to analysis of a callee: the abstract locations that its values may be, and what these hold.

    z = y[1:]        z may be y (a view)                 p = [y]        p is new, and holds y
    q = list(p)      q is new, and holds what p holds    q[0][0] = 1.0  writes y

A location is an argument, the contents of one, what a statement allocates, or outside.  The analysis is flow-insensitive;
an unknown value may be any location.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import blocks, children, nodes
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory import callees
from s2sgrad.memory.heap import Heap
from s2sgrad.memory.places import ANY, CONTAINERS, NONE, OUTSIDE, TOLD, Place, Places, Summary, Told, lasts
from s2sgrad.primitives import spellings

_SEQUENCES = (gast.Add, gast.Mult, gast.Sub, gast.BitOr, gast.BitAnd, gast.BitXor)

_ONE = (gast.Tuple, gast.Constant, gast.UnaryOp, gast.BinOp)
"""Indices that pick one item of a list."""


class Points(Heap):
    """The analysis of one function for arguments of some trust; `summary_of` gives the summaries of its callees."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, told: dict[str, Told], summary_of: Callable[..., Summary]
    ) -> None:
        self.unit, self.tree, self.summary_of = unit, tree, summary_of
        bound = _bound_anywhere(tree)  # functions have no memory, so that `names` does not tell
        self.objects = {p: value for p, value in told.items() if isinstance(value, TOLD) and p not in bound}
        containers = {p for p, kind in told.items() if kind in CONTAINERS}
        trusts = {p: Trust.ARRAY if isinstance(trust, TOLD) else trust for p, trust in told.items()}
        super().__init__(trusts | dict.fromkeys(containers, Trust.DATA), containers)
        self.names: dict[str, Places] = {p.id: {Place("own", p.id)} for p in parameters(tree)}
        self.returns: Places = set()
        self.parts: list[Places] = []  # of a returned tuple; none where its parts are unknown
        self.split = True
        self.inner = 0
        self.first = True
        self.writing: list[gast.AST] = []  # the statements that write what others before them do not
        self.tangled: Places = set()  # containers in which one object may stand twice

    def run(self) -> Summary:
        """Iterate to the fixed point; the summary of the function."""
        before = -1
        while (size := self._size()) != before:
            self.first, before = before < 0, size
            self.block(self.tree.body)
        if any(isinstance(n, (gast.Yield, gast.YieldFrom, gast.Await)) for n in scoping.own_nodes(self.tree.body)):
            self.returns = {Place("shell", id(self.tree)), *self.returns}
            self.keep({Place("shell", id(self.tree))}, self.everything())
        made = {p for p in self.returns if p.kind in ("new", "shell", "object", "none")}
        holds = self.reached(self.items(made)) if made else set()
        puts = {(p, q) for p, held in self.kept.items() if lasts(p) for q in self.reached(held) if q != p}
        kept_here = {q for _, q in puts}
        makes = {"kept" if p in kept_here and p != NONE else p.kind for p in made | holds}
        return Summary(
            frozenset(filter(lasts, self.written)), frozenset(filter(lasts, self.returns)),
            frozenset(filter(lasts, holds)), frozenset(makes),
            frozenset((p, q) for p, q in puts if lasts(q) and q != Place("in", p.key)),
            not self.tangled.isdisjoint(self.reached(made)), tuple(map(self._outlasting, self._separate_parts())),
        )  # fmt: skip

    def _separate_parts(self) -> list[Places]:
        """The parts of a returned tuple, if no two of them may be, or hold, one object that is made here."""
        made = [p for part in self.parts for p in self.reached(part) if not lasts(p) and p != NONE]
        return self.parts if self.split and len(made) == len(set(made)) else []

    def _outlasting(self, part: Places) -> tuple[frozenset[Place], frozenset[Place]]:
        """The locations that a part of the result may be, and may hold, and that outlive the call."""
        made = {p for p in part if not lasts(p)}
        return frozenset(filter(lasts, part)), frozenset(filter(lasts, self.reached(self.items(made))))

    def _size(self) -> int:
        sets = (*self.names.values(), *self.kept.values(), self.written, self.returns)
        return sum(map(len, sets))

    def everything(self) -> Places:
        """All locations that the function is given or allocates."""
        return self.reached(set().union(*self.names.values(), *self.kept.values()))

    def apply(self, function: gast.AST | None, *places: Places) -> Places:
        """The result of a function argument that a library calls."""
        return callees.apply(self, function, *places)

    def keep(self, owners: Iterable[Place], values: Iterable[Place]) -> None:
        """Store values into locations; a container that another statement has stored one of them into has it twice."""
        owners, values = set(owners), set(values)
        if self.first:
            self.tangled |= {p for p in owners if self.kept.get(p, set()) & (values - {NONE})}
        super().keep(owners, values)

    # --- statements ---

    def block(self, body: list[gast.AST]) -> None:
        """Evaluate the statements of a block."""
        for statement in body:
            self.statement(statement)

    def statement(self, node: gast.AST) -> None:
        """Evaluate a statement, nested ones included."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is not None:
            before = len(self.written)
            method(node)
            if len(self.written) > before:
                self.writing.append(node)
        for body in blocks(node):
            self.block(body)

    def _Assign(self, node: gast.Assign | gast.AnnAssign) -> None:
        value = self.value(node.value)
        for target in node.targets if isinstance(node, gast.Assign) else [node.target] if node.value is not None else []:
            self.bind(target, value, node.value)

    def _AugAssign(self, node: gast.AugAssign) -> None:
        self.update(node.target, self.value(node.value))

    def _For(self, node: gast.For | gast.AsyncFor) -> None:
        self.bind(node.target, self.iterated(self.value(node.iter)))

    def _tested(self, node: gast.stmt) -> None:
        for field in ("test", "exc", "cause", "msg"):
            self.meet(self.value(getattr(node, field, None)))

    def _Return(self, node: gast.Return) -> None:
        value = self.value(node.value) if node.value is not None else set()
        if self.inner:
            return
        self.returns |= value
        parts = node.value.elts if isinstance(node.value, gast.Tuple) else []
        self.parts = self.parts or [set() for _ in parts]
        self.split &= bool(parts) and len(parts) == len(self.parts) and not any(isinstance(p, gast.Starred) for p in parts)
        for held, part in zip(self.parts, parts, strict=False):
            held |= self.value(part)

    def _Expr(self, node: gast.Expr) -> None:
        self.value(node.value)

    def _Delete(self, node: gast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, (gast.Subscript, gast.Attribute)):
                self.write(self.value(target.value))

    def _Global(self, node: gast.Global | gast.Nonlocal) -> None:
        self.write((OUTSIDE,))

    def _With(self, node: gast.With | gast.AsyncWith) -> None:
        for item in node.items:
            self.context(item)

    def _ClassDef(self, node: gast.ClassDef) -> None:
        self.anything()
        self.block(node.body)

    def _FunctionDef(self, node: gast.FunctionDef | gast.AsyncFunctionDef) -> None:
        self.names[node.name] = {ANY}
        self.function(node, node.body)

    def _Match(self, node: gast.Match) -> None:
        matched = self.reached(self.value(node.subject))
        for case in node.cases:
            self.value(case.guard)
            for part in nodes(case.pattern):
                for named in (getattr(part, "name", None), getattr(part, "rest", None)):
                    if isinstance(named, str):
                        self.names.setdefault(named, set()).update(matched)

    def _Try(self, node: gast.Try) -> None:
        for named in [h.name for h in node.handlers if h.name is not None]:
            self.names.setdefault(getattr(named, "id", named), set()).add(ANY)

    _AnnAssign, _AsyncFor, _Nonlocal, _AsyncWith, _AsyncFunctionDef = _Assign, _For, _Global, _With, _FunctionDef
    _If = _While = _Assert = _Raise = _tested

    def function(self, node: gast.AST, body: list[gast.AST]) -> None:
        """The effects of a nested function when it is called, with any arguments."""
        for parameter in parameters(node):
            self.names.setdefault(parameter.id, set()).add(ANY)
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self.value(default)
        self.inner += 1
        self.block(body)
        self.inner -= 1

    def context(self, item: gast.withitem) -> None:
        """Enter a context of a `with`."""
        held = self.value(item.context_expr)
        if not callees.enters_quietly(self, item.context_expr):
            held = self.anything()
        if item.optional_vars is not None:
            self.bind(item.optional_vars, self.reached(held))

    def bind(self, target: gast.AST, value: Places, display: gast.AST | None = None) -> None:
        """Assign to a target; `display` is the expression of the value, where its parts can be assigned one by one."""
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
            elif not isinstance(target.slice, _ONE):  # a slice, which stores the items
                self.keep(owner, self.items(value))

    def iterated(self, places: Places) -> Places:
        """The items that a loop over these, or an unpacking, yields."""
        self.meet(places)
        return self.items(places)

    def update(self, target: gast.AST, value: Places) -> None:
        """`x op= v`: on an array, also an item, it writes the array; on a list it appends."""
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
        """The locations that an expression may be."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is not None:
            return method(node)
        held = self.of_all(children(node)) if node is not None else set()
        return held | {ANY} if isinstance(node, gast.expr) else held

    def _Constant(self, node: gast.Constant) -> Places:
        return {NONE} if node.value is None else set()

    def _Name(self, node: gast.Name) -> Places:
        local = node.id in self.names or node.id in self.unit.locals
        return set(self.names.get(node.id, ())) if local else self.free(node)

    def _Call(self, node: gast.Call) -> Places:
        return callees.called(self, node)

    def _NamedExpr(self, node: gast.NamedExpr) -> Places:
        value = self.value(node.value)
        self.bind(node.target, value)
        return value

    def _List(self, node: gast.List | gast.Tuple) -> Places:
        return self.display(node, [self.value(e) for e in node.elts])

    def display(self, node: gast.AST, parts: list[Places], unpacked: Iterable[Places] = (), part: Any = None) -> Places:
        """A new container of these; it is noted if two of its places may hold one object."""
        made = self.shell(node, set().union(*parts, *unpacked), part)
        met: Places = set()
        for places in parts:
            held = self.reached(places) - {NONE}
            self.tangled |= made if met & held else set()
            met |= held
        return made

    def _Set(self, node: gast.Set) -> Places:
        held = self.of_all(node.elts)
        self.meet(held)
        return self.shell(node, held, "keyed")

    def _Dict(self, node: gast.Dict) -> Places:
        unpacked = [self.items(self.value(v)) for k, v in zip(node.keys, node.values, strict=True) if k is None]
        named = [self.value(v) for k, v in zip(node.keys, node.values, strict=True) if k is not None]
        self.meet(self.of_all([k for k in node.keys if k is not None]))
        return self.display(node, named, unpacked, "keyed")

    def _Lambda(self, node: gast.Lambda) -> Places:
        self.function(node, [gast.Expr(node.body)])
        return {ANY}

    def _IfExp(self, node: gast.IfExp) -> Places:
        self.meet(self.value(node.test))
        return self.value(node.body) | self.value(node.orelse)

    def _BoolOp(self, node: gast.BoolOp) -> Places:
        held = self.of_all(node.values)
        self.meet(held)
        return held

    def _Starred(self, node: gast.Starred) -> Places:
        return self.iterated(self.value(node.value))

    def _Slice(self, node: gast.Slice) -> Places:
        self.of_all(children(node))
        return set()

    def _JoinedStr(self, node: gast.JoinedStr | gast.FormattedValue) -> Places:
        self.meet(self.reached(self.of_all(children(node))))
        return set()

    _Tuple, _FormattedValue = _List, _JoinedStr

    def of_all(self, parts: list[gast.AST]) -> Places:
        return set().union(*map(self.value, parts))

    def free(self, node: gast.AST) -> Places:
        """What a free name stands for."""
        found = self.unit.resolve(node)
        if found is MISSING:
            return {ANY}
        return self.of_object(found)

    def of_object(self, found: Any) -> Places:
        """The location of an existing object."""
        trust = trust_of_object(found)
        return ({NONE} if found is None else set()) if trust is None else {Place("outside", trust)}

    def _Attribute(self, node: gast.Attribute) -> Places:
        found = self.unit.resolve(node)
        if found is not MISSING:
            return self.of_object(found)
        owner = self.value(node.value)
        for place in owner:
            callees.looked_up(self, place, node)
        if self.are_data(owner) and (node.attr in spellings.FLAT_ATTRIBUTES or not owner):
            return set()
        return owner | self.items(owner)

    def _Subscript(self, node: gast.Subscript) -> Places:
        owner = self.value(node.value)
        self.meet(owner | self.value(node.slice))
        lists = {p for p in owner if self.trust(p) != Trust.ARRAY}
        sliced = self.shell(node, self.items(lists)) if lists else set()
        if isinstance(node.slice, gast.Slice):
            return {p for p in owner if not self.is_container(p)} | sliced
        return self.items(owner) | (set() if isinstance(node.slice, _ONE) else sliced)

    def _operator(self, node: gast.AST) -> Places:
        """Arithmetic on arrays allocates; on lists it gives a new list of the same items."""
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
        made = self.shell(node, self.items(lists[0] | lists[1]))
        self.tangled |= made if times else set()
        return new | made

    def _comprehension(self, node: gast.AST) -> Places:
        for generator in node.generators:
            self.bind(generator.target, self.iterated(self.value(generator.iter)))
            self.meet(self.of_all(generator.ifs))
        if isinstance(node, gast.DictComp):
            self.meet(self.value(node.key))
        held = self.value(node.value if isinstance(node, gast.DictComp) else node.elt)
        self.meet(held if isinstance(node, gast.SetComp) else set())
        return self.shell(node, held)

    _BinOp = _UnaryOp = _Compare = _operator
    _ListComp = _SetComp = _GeneratorExp = _DictComp = _comprehension


def _bound_anywhere(tree: gast.FunctionDef) -> set[str]:
    """The names that a function binds, nested scopes included."""
    names = (n for n in nodes(*tree.body) if isinstance(n, gast.Name))
    return scoping.bound(tree.body) | {n.id for n in names if not isinstance(n.ctx, gast.Load)}
