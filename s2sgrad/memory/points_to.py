"""Points-to analysis of a callee: the abstract locations that its values may be, and what these hold.

    z = y[1:]        z may be y (a view)                 p = [y]        p is new, and holds y
    q = list(p)      q is new, and holds what p holds    q[0][0] = 1.0  writes y

A location is an argument, the contents of one, what a statement allocates, or outside.  The analysis is flow-insensitive;
an unknown value may be any location.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import blocks, children, nodes
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory import callees, container_calls
from s2sgrad.memory.arguments import meet_all
from s2sgrad.memory.closures import Closures, outward
from s2sgrad.memory.heap import Heap
from s2sgrad.memory.places import ANY, CONTAINERS, NONE, NUMBERS, OUTSIDE, TOLD, Place, Places, Summary, Told, lasts
from s2sgrad.primitives import spellings

_SEQUENCES = (gast.Add, gast.Mult, gast.Sub, gast.BitOr, gast.BitAnd, gast.BitXor)

_ONE = (gast.Tuple, gast.Constant, gast.UnaryOp, gast.BinOp)
"""Indices that pick one item of a list."""


STATEMENTS: dict[type, Callable[[Points, Any], None]] = {}
EXPRESSIONS: dict[type, Callable[[Points, Any], Places]] = {}


def statement(*kinds: type) -> Callable[[Callable[[Points, Any], None]], Callable[[Points, Any], None]]:
    """Decorate the effect of statements of these classes, apart from the blocks in them."""

    def noted(effect: Callable[[Points, Any], None]) -> Callable[[Points, Any], None]:
        STATEMENTS.update(dict.fromkeys(kinds, effect))
        return effect

    return noted


def expression(*kinds: type) -> Callable[[Callable[[Points, Any], Places]], Callable[[Points, Any], Places]]:
    """Decorate the locations that expressions of these classes may be."""

    def noted(places: Callable[[Points, Any], Places]) -> Callable[[Points, Any], Places]:
        EXPRESSIONS.update(dict.fromkeys(kinds, places))
        return places

    return noted


@dataclasses.dataclass
class _Result:
    """What a function returns: the locations, and those of the parts of a tuple, if it always returns one of as many."""

    places: Places = dataclasses.field(default_factory=set)
    parts: list[Places] = dataclasses.field(default_factory=list)
    split: bool = True


class Points(Heap):
    """The analysis of one function for arguments of some trust; `summary_of` gives the summaries of its callees."""

    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, told: dict[str, Told], summary_of: Callable[..., Summary]
    ) -> None:
        self.unit, self.tree, self.summary_of = unit, tree, summary_of
        bound = _bound_anywhere(tree)  # functions have no memory, so that `names` does not tell
        known = {p for p, value in told.items() if isinstance(value, TOLD) or value is NUMBERS}
        self.objects = {p: told[p] for p in known - bound}
        self.named = scoping.named(tree)
        containers = {p for p, kind in told.items() if kind in CONTAINERS}
        trusts = {p: Trust.ARRAY if p in known else trust for p, trust in told.items()}
        super().__init__(trusts | dict.fromkeys(containers, Trust.DATA), containers)
        self.names: dict[str, Places] = {p.id: {Place("own", p.id)} for p in parameters(tree)}
        self.result = _Result()
        self.closures = Closures(self)
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
            self.result.places = {Place("shell", id(self.tree)), *self.result.places}
            self.keep({Place("shell", id(self.tree))}, self.everything())
        made = {p for p in self.result.places if p.kind in ("new", "shell", "object", "none")}
        holds = self.reached(self.items(made)) if made else set()
        puts = {(p, q) for p, held in self.kept.items() if lasts(p) for q in outward(self, self.reached(held)) if q != p}
        kept_here = {q for _, q in puts}
        makes = {"kept" if p in kept_here and p != NONE else p.kind for p in made | holds}
        return Summary(
            frozenset(filter(lasts, self.written)), frozenset(filter(lasts, self.result.places)),
            frozenset(filter(lasts, holds)), frozenset(makes),
            frozenset((p, q) for p, q in puts if lasts(q) and q != Place("in", p.key)),
            not self.tangled.isdisjoint(self.reached(made)),
            tuple(_outlasting(self, part) for part in _separate_parts(self)),
        )  # fmt: skip

    def _size(self) -> int:
        sets = (*self.names.values(), *self.kept.values(), self.written, self.result.places)
        return sum(map(len, sets)) + self.closures.size()

    def everything(self) -> Places:
        """All locations that the function is given or allocates."""
        return self.reached(set().union(*self.names.values(), *self.kept.values()))

    def written_by(self, body: list[gast.AST]) -> Places:
        """The locations that some of the statements write, once `run` has found what there is."""
        whole, self.written = self.written, set()
        self.block(body)
        found, self.written = self.written, whole | self.written
        return found

    def apply(self, function: gast.AST | None, *places: Places) -> Places:
        """The result of a function argument that a library calls."""
        return callees.apply(self, function, *places)

    def keep(self, owners: Iterable[Place], values: Iterable[Place]) -> None:
        """Store values into locations; a container that another statement has stored one of them into has it twice."""
        owners, values = set(owners), set(values)
        if self.first:
            self.tangled |= {p for p in owners if self.kept.get(p, set()) & (values - {NONE})}
        super().keep(owners, values)

    def block(self, body: list[gast.AST]) -> None:
        """Evaluate the statements of a block."""
        for statement in body:
            self.statement(statement)

    def statement(self, node: gast.AST) -> None:
        """Evaluate a statement, nested ones included."""
        effect = STATEMENTS.get(type(node))
        if effect is not None:
            before = len(self.written)
            effect(self, node)
            if len(self.written) > before:
                self.writing.append(node)
        for body in blocks(node):
            self.block(body)

    def bind(self, target: gast.AST, value: Places, display: gast.AST | None = None) -> None:
        """Assign to a target; `display` is the expression of the value, where its parts can be assigned one by one."""
        if isinstance(target, gast.Name):
            self.names.setdefault(target.id, set()).update(value)
        elif isinstance(target, gast.Starred):
            self.bind(target.value, self.shell(target, value))
        elif isinstance(target, (gast.Tuple, gast.List)):
            parts = display.elts if isinstance(display, (gast.Tuple, gast.List)) else ()
            plain = display is not None and len(parts) == len(target.elts)
            plain = plain and not any(isinstance(e, gast.Starred) for e in (*parts, *target.elts))
            for k, part in enumerate(target.elts):
                inner = parts[k] if plain else None
                self.bind(part, self.value(inner) if plain else self.iterated(value), inner)
        else:
            owner = _owner(self, target)
            self.meet(owner | (self.value(target.slice) if isinstance(target, gast.Subscript) else set()))
            self.write(owner)
            self.keep(owner, value)
            if isinstance(target, gast.Attribute):
                for place in owner:
                    callees.set_(self, place, target, value)
            elif _may_be_slice(self, target.slice):  # which stores the items
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
                places |= _free(self, target)
        else:
            owner = _owner(self, target)
            self.write(owner)
            places = self.value(target)
            if isinstance(target, gast.Subscript) and _may_be_slice(self, target.slice):
                self.keep(owner, self.items({p for p in value if self.trust(p) != Trust.ARRAY}))
        self.write(places)
        self.meet(places | value)
        self.keep(places, self.items(value))
        if any(self.trust(p) == Trust.ANY for p in places):
            self.keep(places, value)

    def value(self, node: gast.AST | None) -> Places:
        """The locations that an expression may be."""
        places = EXPRESSIONS.get(type(node))
        if places is not None:
            return places(self, node)
        held = self.of_all(children(node)) if node is not None else set()
        return held | {ANY} if isinstance(node, gast.expr) else held

    def display(self, node: gast.AST, parts: list[Places], unpacked: Iterable[Places] = (), part: Any = None) -> Places:
        """A new container of these; it is noted if two of its places may hold one object."""
        made = self.shell(node, set().union(*parts, *unpacked), part)
        met: Places = set()
        for places in parts:
            held = self.reached(places) - {NONE}
            self.tangled |= made if met & held else set()
            met |= held
        return made

    def of_all(self, parts: list[gast.AST]) -> Places:
        """The locations that some expressions may be."""
        return set().union(*map(self.value, parts))

    def of_object(self, found: Any) -> Places:
        """The location of an existing object."""
        trust = trust_of_object(found)
        return ({NONE} if found is None else set()) if trust is None else {Place("outside", trust)}


def _owner(points: Points, target: gast.Attribute | gast.Subscript) -> Places:
    """The locations that a store writes; an attribute of a class, a module or a function lives outside."""
    owner = points.value(target.value)
    if not isinstance(target, gast.Attribute):
        return owner
    of_class = points.unit.called(target.value) is type or getattr(target.value, "attr", "") == "__class__"
    return owner if owner and not of_class else owner | {OUTSIDE}


def _may_be_slice(points: Points, index: gast.AST) -> bool:
    """Whether an index may be a slice: what is in a container from outside is not."""
    if isinstance(index, _ONE):
        return False
    places = points.value(index)
    unknown = any(p.kind in ("own", "in") or points.trust(p) == Trust.ANY for p in places)
    return isinstance(index, gast.Slice) or unknown or any(p.part == container_calls.SLICE for p in places)


def _separate_parts(points: Points) -> list[Places]:
    """The parts of a returned tuple, if no two of them may be, or hold, one object that is made here."""
    made = [p for part in points.result.parts for p in points.reached(part) if not lasts(p) and p != NONE]
    return points.result.parts if points.result.split and len(made) == len(set(made)) else []


def _outlasting(points: Points, part: Places) -> tuple[frozenset[Place], frozenset[Place]]:
    """The locations that a part of the result may be, and may hold, and that outlive the call."""
    made = {p for p in part if not lasts(p)}
    return frozenset(filter(lasts, part)), frozenset(filter(lasts, points.reached(points.items(made))))


# --- statements ---


@statement(gast.Assign, gast.AnnAssign)
def _assign(points: Points, node: gast.Assign | gast.AnnAssign) -> None:
    value = points.value(node.value)
    for target in node.targets if isinstance(node, gast.Assign) else [node.target] if node.value is not None else []:
        points.bind(target, value, node.value)


@statement(gast.AugAssign)
def _aug_assign(points: Points, node: gast.AugAssign) -> None:
    points.update(node.target, points.value(node.value))


@statement(gast.For, gast.AsyncFor)
def _for(points: Points, node: gast.For | gast.AsyncFor) -> None:
    points.bind(node.target, points.iterated(points.value(node.iter)))


@statement(gast.Assert, gast.If, gast.Raise, gast.While)
def _tested(points: Points, node: gast.stmt) -> None:
    for field in ("test", "exc", "cause", "msg"):
        points.meet(points.value(getattr(node, field, None)))


@statement(gast.Return)
def _return(points: Points, node: gast.Return) -> None:
    value = points.value(node.value) if node.value is not None else set()
    if points.closures.give(value):
        return
    result, parts = points.result, node.value.elts if isinstance(node.value, gast.Tuple) else []
    result.places |= outward(points, value)
    result.parts = result.parts or [set() for _ in parts]
    result.split &= bool(parts) and len(parts) == len(result.parts) and not any(isinstance(p, gast.Starred) for p in parts)
    for held, part in zip(result.parts, parts, strict=False):
        held |= outward(points, points.value(part))


@statement(gast.Expr)
def _expr(points: Points, node: gast.Expr) -> None:
    points.value(node.value)


@statement(gast.Delete)
def _delete(points: Points, node: gast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, (gast.Subscript, gast.Attribute)):
            points.write(points.value(target.value))


@statement(gast.Global, gast.Nonlocal)
def _global(points: Points, node: gast.Global | gast.Nonlocal) -> None:
    points.write((OUTSIDE,))


@statement(gast.With, gast.AsyncWith)
def _with(points: Points, node: gast.With | gast.AsyncWith) -> None:
    for item in node.items:
        _enter(points, item)


@statement(gast.ClassDef)
def _class_def(points: Points, node: gast.ClassDef) -> None:
    points.anything()
    points.block(node.body)


@statement(gast.FunctionDef, gast.AsyncFunctionDef)
def _function_def(points: Points, node: gast.FunctionDef | gast.AsyncFunctionDef) -> None:
    made = {ANY} if node.decorator_list or isinstance(node, gast.AsyncFunctionDef) else set()
    points.names.setdefault(node.name, set()).update(made | points.closures.made(node, node.name))


@statement(gast.Match)
def _match(points: Points, node: gast.Match) -> None:
    matched = points.reached(points.value(node.subject))
    for case in node.cases:
        points.value(case.guard)
        for part in nodes(case.pattern):
            for named in (getattr(part, "name", None), getattr(part, "rest", None)):
                if isinstance(named, str):
                    points.names.setdefault(named, set()).update(matched)


@statement(gast.Try)
def _try(points: Points, node: gast.Try) -> None:
    for named in [h.name for h in node.handlers if h.name is not None]:
        points.names.setdefault(getattr(named, "id", named), set()).add(ANY)


def _enter(points: Points, item: gast.withitem) -> None:
    """Enter a context of a `with`."""
    held = points.value(item.context_expr)
    if not callees.enters_quietly(points, item.context_expr):
        held = points.anything()
    if item.optional_vars is not None:
        points.bind(item.optional_vars, points.reached(held))


# --- expressions ---


@expression(gast.Constant)
def _constant(points: Points, node: gast.Constant) -> Places:
    return {NONE} if node.value is None else set()


@expression(gast.Name)
def _name(points: Points, node: gast.Name) -> Places:
    local = node.id in points.names or node.id in points.unit.locals
    return set(points.names.get(node.id, ())) if local else _free(points, node)


@expression(gast.Call)
def _call(points: Points, node: gast.Call) -> Places:
    return callees.called(points, node)


@expression(gast.NamedExpr)
def _named_expr(points: Points, node: gast.NamedExpr) -> Places:
    value = points.value(node.value)
    points.bind(node.target, value)
    return value


@expression(gast.List, gast.Tuple)
def _list(points: Points, node: gast.List | gast.Tuple) -> Places:
    return points.display(node, [points.value(e) for e in node.elts])


@expression(gast.Set)
def _set(points: Points, node: gast.Set) -> Places:
    held = points.of_all(node.elts)
    points.meet(held)
    return points.shell(node, held, "keyed")


@expression(gast.Dict)
def _dict(points: Points, node: gast.Dict) -> Places:
    unpacked = [points.items(points.value(v)) for k, v in zip(node.keys, node.values, strict=True) if k is None]
    named = [points.value(v) for k, v in zip(node.keys, node.values, strict=True) if k is not None]
    points.meet(points.of_all([k for k in node.keys if k is not None]))
    return points.display(node, named, unpacked, "keyed")


@expression(gast.Lambda)
def _lambda(points: Points, node: gast.Lambda) -> Places:
    return points.closures.made(node)


@expression(gast.Yield, gast.YieldFrom)
def _yield(points: Points, node: gast.Yield | gast.YieldFrom) -> Places:
    value = points.value(node.value)
    points.closures.give(value if isinstance(node, gast.Yield) else points.iterated(value))
    return value | {ANY}


@expression(gast.IfExp)
def _if_exp(points: Points, node: gast.IfExp) -> Places:
    points.meet(points.value(node.test))
    return points.value(node.body) | points.value(node.orelse)


@expression(gast.BoolOp)
def _bool_op(points: Points, node: gast.BoolOp) -> Places:
    held = points.of_all(node.values)
    points.meet(held)
    return held


@expression(gast.Starred)
def _starred(points: Points, node: gast.Starred) -> Places:
    return points.iterated(points.value(node.value))


@expression(gast.Slice)
def _slice(points: Points, node: gast.Slice) -> Places:
    points.of_all(children(node))
    return set()


@expression(gast.JoinedStr, gast.FormattedValue)
def _joined_str(points: Points, node: gast.JoinedStr | gast.FormattedValue) -> Places:
    meet_all(points, points.of_all(children(node)))
    return set()


@expression(gast.Attribute)
def _attribute(points: Points, node: gast.Attribute) -> Places:
    found = points.unit.resolve(node)
    if found is not MISSING:
        return points.of_object(found)
    owner = points.value(node.value)
    for place in owner:
        callees.looked_up(points, place, node)
    if points.are_data(owner) and (node.attr in spellings.FLAT_ATTRIBUTES or not owner):
        return set()
    return owner | points.items(owner)


@expression(gast.Subscript)
def _subscript(points: Points, node: gast.Subscript) -> Places:
    owner = points.value(node.value)
    points.meet(owner | points.value(node.slice))
    lists = {p for p in owner if points.trust(p) != Trust.ARRAY}
    sliced = points.shell(node, points.items(lists)) if lists else set()
    if isinstance(node.slice, gast.Slice):
        return {p for p in owner if not points.is_container(p)} | sliced
    return points.items(owner) | (sliced if _may_be_slice(points, node.slice) else set())


@expression(gast.BinOp, gast.Compare, gast.UnaryOp)
def _operator(points: Points, node: gast.AST) -> Places:
    """Arithmetic on arrays allocates; on lists it gives a new list of the same items."""
    sides = [side for side in children(node) if isinstance(side, gast.expr)]
    operands = [points.value(side) for side in sides]
    meet_all(points, set().union(*operands))
    objects = {p for places in operands for p in places if points.trust(p) == Trust.ANY}
    new = {Place("new", id(node))} | points.reached(objects)
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, _SEQUENCES):
        return new
    made = _joined(points, node, sides, operands)
    return made if made and all(container_calls.are_containers(points, places) for places in operands) else new | made


def _joined(points: Points, node: gast.BinOp, sides: list[gast.AST], operands: list[Places]) -> Places:
    """The list that an operator on two lists, or a list and a number, makes."""
    lists = [{p for p in places if points.trust(p) != Trust.ARRAY} for places in operands]
    times = isinstance(node.op, gast.Mult)
    if not any(lists) or (not times and not all(lists)):
        return set()
    if any(isinstance(side, gast.Constant) and not (times and isinstance(side.value, int)) for side in sides):
        return set()
    made = points.shell(node, points.items(lists[0] | lists[1]))
    points.tangled |= made if times else set()
    return made


@expression(gast.DictComp, gast.GeneratorExp, gast.ListComp, gast.SetComp)
def _comprehension(points: Points, node: gast.AST) -> Places:
    for generator in node.generators:
        points.bind(generator.target, points.iterated(points.value(generator.iter)))
        points.meet(points.of_all(generator.ifs))
    if isinstance(node, gast.DictComp):
        points.meet(points.value(node.key))
    held = points.value(node.value if isinstance(node, gast.DictComp) else node.elt)
    points.meet(held if isinstance(node, gast.SetComp) else set())
    return points.shell(node, held)


def _free(points: Points, node: gast.AST) -> Places:
    """What a free name stands for."""
    found = points.unit.resolve(node)
    if found is MISSING:
        return {ANY}
    return points.of_object(found)


def _bound_anywhere(tree: gast.FunctionDef) -> set[str]:
    """The names that a function binds, nested scopes included."""
    names = (n for n in nodes(*tree.body) if isinstance(n, gast.Name))
    return scoping.bound(tree.body) | {n.id for n in names if not isinstance(n.ctx, gast.Load)}
