"""Type inference: the kinds of all variables by a forward dataflow, one kind per web, from the arguments to a fixed point.

x: Array('float64', (Size(0),));  y = np.sum(x * 2.0)   ->   y: Number(float64)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sgrad import pullbacks, runtime
from s2sgrad.analysis import array_members, call_results, drawn, effects, grids, sampled_shapes
from s2sgrad.analysis.assumed_axes import AssumedAxes
from s2sgrad.analysis.container_items import (
    Slice,
    displayed_names,
    item_of_container,
    may_be_one,
    require_followed,
    stored_kind,
    with_grown_item,
)
from s2sgrad.analysis.kinds import (
    DRAWING,
    OPAQUE,
    PULLBACK,
    UNKNOWN,
    Array,
    Container,
    Drawing,
    Foreign,
    Instance,
    Kind,
    Known,
    Number,
    Numeric,
    Opaque,
    Structured,
    Text,
    all_are,
    argument,
    complete,
    is_none,
    is_numeric,
    join,
    operand,
)
from s2sgrad.analysis.results import item_of, memo, named_tuple, sizes_known
from s2sgrad.analysis.symbolic_shapes import Symbols, without_symbols
from s2sgrad.analysis.value_kinds import constant_kind
from s2sgrad.analysis.visits import Visits
from s2sgrad.ir.forms import appended_to, arguments_of, popped
from s2sgrad.ir.quote import name
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import catalogue, libraries, spellings
from s2sgrad.rules import table
from s2sgrad.runtime import item_slots
from s2sgrad.runtime.asking import has

CallKind = Callable[[Any, list[Kind], dict[str, Kind]], Kind | None]
Objects = Callable[[Unit, list[gast.AST], dict[str, Kind]], Any]  # `memory.one_object`
Outside = Callable[[Any], Kind]
_INT, _BOOL = Number(int), Number(bool)
_ROUNDS = 50
VJP = (runtime.vjp, pullbacks.vjp, pullbacks.vjp_of_closure)


_FORMS: dict[type, Callable[[Inference, Any], Kind | None]] = {}


def _form(of: type) -> Callable[[Callable[[Inference, Any], Kind | None]], Callable[[Inference, Any], Kind | None]]:
    """Decorate the function that gives the kinds of expressions of a class."""

    def noted(kind: Callable[[Inference, Any], Kind | None]) -> Callable[[Inference, Any], Kind | None]:
        _FORMS[of] = kind
        return kind

    return noted


class Inference:
    """Kinds of expressions over an environment of variables' kinds."""

    def __init__(
        self,
        unit: Unit,
        env: dict[str, Kind],
        call_kind: CallKind,
        objects: Objects,
        outside: Outside,
        assuming: bool = False,
    ) -> None:
        self.unit, self.objects, self.outside = unit, objects, outside
        self.given, self.env = dict(env), env
        self.axes = AssumedAxes(assuming)
        self.call_kind = call_kind
        self.pairs: set[str] = set()  # names bound to a value and its pullback
        self.symbols = Symbols(unit, None, env.get)
        self.body: list[gast.AST] = []
        self.same: Any = None  # which names may be one object; made when it is first asked for
        self.displayed: set[str] = set()
        self.visits = Visits()

    def assuming_axes(self, unchanged: bool) -> Inference:
        """Another one of the same function, which assumes ranks (see `AssumedAxes`); `unchanged`: of the same text."""
        out = Inference(self.unit, dict(self.given), self.call_kind, self.objects, self.outside, True)
        if unchanged:  # which names may be one object is told by the text and what is given
            out.same, out.displayed = self.same, self.displayed
        return out

    def run(self, tree: gast.FunctionDef) -> dict[str, Kind]:
        """Complete the environment, which holds the kinds of the parameters; a name that is never bound gets no entry."""
        self.symbols.tree, self.body = tree, tree.body
        self.axes.read(self.unit, tree)
        for _ in range(_ROUNDS):
            if not self.changes(tree.body):
                return self.env
        return dict.fromkeys(self.env, UNKNOWN)

    def changes(self, body: list[gast.AST]) -> bool:
        """Process all statements once; whether the environment has changed."""
        changed = False
        for statement in effects.walk(body):
            if not self.visits.are_due(statement):
                continue
            if isinstance(statement, gast.Assign):
                kind = self.kind(statement.value)
                changed |= self.changed_inside(statement.value)
                for target in statement.targets:
                    if isinstance(target, gast.Name):
                        self.symbols.note(target.id, statement.value)
                        if target.id not in self.pairs and self.pulls_back(statement.value):
                            self.pairs.add(target.id)
                            self.visits.changed(target.id)
                        before = self.env.get(target.id)
                        changed |= self.meet(target.id, self.axes.refined(statement, target.id, kind, before))
                    elif isinstance(target, gast.Subscript):
                        changed |= self.put(target, kind)
                    else:
                        changed |= self.unpack(target, kind, self.pulls_back(statement.value))
            elif isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name):
                before = self.env.get(statement.target.id)
                if not isinstance(operand(before), Array):
                    value = gast.BinOp(name(statement.target.id), statement.op, statement.value)
                    changed |= self.meet(statement.target.id, self.kind(value))
            elif isinstance(statement, gast.For):
                changed |= self.meet(statement.target.id, _INT)
            elif isinstance(statement, gast.Expr):
                changed |= self.appended(statement.value) or self.changed_inside(statement.value)
        return changed

    def unpack(self, target: gast.Tuple, kind: Kind | None, pulls_back: bool = False) -> bool:
        """Bind the names of a tuple, which a finished text may nest."""
        changed = False
        for k, part in enumerate(target.elts):
            item = PULLBACK if k == 1 and pulls_back else item_of(kind, k, len(target.elts))
            changed |= self.meet(part.id, item) if isinstance(part, gast.Name) else self.unpack(part, item)
        return changed

    def pulls_back(self, value: gast.AST) -> bool:
        """Whether an expression gives a value and its pullback."""
        if isinstance(value, gast.Name):
            return value.id in self.pairs
        return isinstance(value, gast.Call) and effects.is_one_of(self.unit.resolve(value.func), VJP)

    def appended(self, node: gast.AST) -> bool:
        """Join the kind of x into the elements of a list for `s.append(x)` and `push(s, x)`."""
        if not isinstance(node, gast.Call) or node.keywords:
            return False
        owner = appended_to(node)
        if owner is None and len(node.args) == 2 and self.unit.resolve(node.func) is runtime.push:
            owner = node.args[0]
        if not isinstance(owner, gast.Name) or not isinstance(self.env.get(owner.id), Container):
            return False
        kind = self.kind(node.args[-1])
        return kind is not None and self.grow(owner, lambda _: Container(list, None, None, kind), True)

    def changed_inside(self, node: gast.AST) -> bool:
        """Join the kinds of what an expression leaves in a list: after `s.pop()`, no item is known by its place; a slot to
        which a name is bound becomes an array.
        """
        if self.unit.called(node) is item_slots.cell_at and isinstance(node.args[0], gast.Name):
            kind = self.kind(node)
            if kind is None or not isinstance(self.env.get(node.args[0].id), Container):
                return False
            return self.grow(node.args[0], lambda held: stored_kind(held, node.args[1], kind), False)
        held = self.env.get(popped(node) or "")
        if not isinstance(held, Container) or not held.items:
            return self.written_by_library(node)
        return self.grow(node.func.value, lambda kind: Container(list, None, None, kind.element()), False)

    def written_by_library(self, node: gast.AST) -> bool:
        """Anything may be in a list or dict that a function of a library writes, `list.append(s, x)`."""
        function = self.unit.called(node)
        if function is MISSING or libraries.package_of(function) == libraries.OURS:
            return False
        changed = False
        for k in catalogue.of(function).writes:
            written = node.args[k] if k < len(node.args) else None
            if isinstance(written, gast.Name) and isinstance(self.env.get(written.id), Container):
                changed |= self.grow(written, lambda held: Container(held.type, None, None, UNKNOWN), True)
        return changed

    def put(self, target: gast.Subscript, kind: Kind | None) -> bool:
        """Join the kind of x into a list or dict for `c[k] = x`, nested containers included; an array keeps its kind."""
        owner = self.kind(target.value)
        if not isinstance(owner, Container) or kind is None:
            return False
        if isinstance(target.value, gast.Name):
            return self.grow(target.value, lambda held: stored_kind(held, target.slice, kind), owner.type is dict)
        return self.put(target.value, stored_kind(owner, target.slice, kind))

    def grow(self, owner: gast.Name, after: Callable[[Container], Container], empty: bool) -> bool:
        """A list or dict has other items: under all of its names, and in all that it may stand in.  What the text writes out
        is inferred again from the names in it.  `empty`: it may have had no items.
        """
        if self.same is None:
            self.same = self.objects(self.unit, self.body, self.env)
            self.displayed = displayed_names(self.body)
        before, changed = self.env[owner.id], False
        named, around = self.same.named(owner.id), self.same.around(owner.id) - self.displayed
        self.visits.depends_on(named | around)
        for local in sorted(named):
            held = self.env.get(local)
            if may_be_one(held, before, empty):
                changed |= self.meet(local, after(held))
        for local in sorted(around):
            changed |= self.meet(local, with_grown_item(self.env.get(local), before, self.env[owner.id], empty))
        return changed

    def meet(self, name: str, kind: Kind | None) -> bool:
        """Join a kind into that of a variable; whether it has changed."""
        before = self.env.get(name)
        after = join(before, self.symbols.believed(name, kind))
        if after is None or after == before:
            return False
        self.env[name] = after
        self.visits.changed(name)
        return True

    def kind(self, node: gast.AST) -> Kind | None:
        """The kind of an expression, nested or flat; None while an operand has none."""
        if isinstance(node, gast.Constant):
            return constant_kind(node.value)
        if isinstance(node, gast.Name):
            return self.name(node)
        form = _FORMS.get(type(node))
        return UNKNOWN if form is None else form(self, node)

    def name(self, node: gast.Name) -> Kind | None:
        """The kind of a variable, or of the object that a free name refers to."""
        if node.id in self.unit.locals:
            return self.env.get(node.id)
        value = self.unit.resolve(node)
        return UNKNOWN if value is MISSING else self.outside(value)

    def all(self, nodes: list[gast.AST]) -> list[Kind] | None:
        """The kinds of several expressions; None while one has none."""
        return complete([self.kind(n) for n in nodes])

    def index(self, node: gast.AST) -> Kind | None:
        """The kind of an index; None while a part of it has none."""
        if isinstance(node, gast.Slice):
            bounds = complete(Known(None) if p is None else self.kind(p) for p in (node.lower, node.upper, node.step))
            return None if bounds is None else Slice(tuple(bounds))
        if isinstance(node, gast.Tuple):
            parts = complete(self.index(e) for e in node.elts)
            return None if parts is None else Container(tuple, tuple(parts))
        return self.kind(node)


# --- expressions; None is the kind of an expression without a value so far (bottom) ---


@_form(gast.BinOp)
def _bin_op(inference: Inference, node: gast.BinOp) -> Kind | None:
    return _operator(inference, node, [node.left, node.right])


@_form(gast.UnaryOp)
def _unary_op(inference: Inference, node: gast.UnaryOp) -> Kind | None:
    if isinstance(node.op, gast.Not):
        return _BOOL
    return _operator(inference, node, [node.operand])


def _own_operator(name: str, primitive: Any, kinds: list[Kind]) -> Kind | None:
    """The kind of what an operator of sparse arrays gives; None for other operators."""
    foreign = [isinstance(k, Foreign) for k in kinds]
    if primitive is np.sum and any(foreign):
        return UNKNOWN
    if not any(foreign) or not ((name and all(foreign)) or table.own_operator(primitive) is not None):
        return None
    if name in ("Add", "Sub") and any(isinstance(k, Array) for k in kinds):
        return UNKNOWN
    known = name not in ("", "Mult") or not any(isinstance(k, Array) for k in kinds)  # `S * x` of a matrix is `S @ x`
    return Foreign() if known else UNKNOWN


def _is_outside(unit: Unit, node: gast.AST) -> bool:
    """Whether an operand is a sparse array that is bound outside of the function."""
    value = unit.resolve(node) if isinstance(node, (gast.Name, gast.Attribute)) else MISSING
    return has(value, "__matmul__") and not has(value, "__array_ufunc__") and not isinstance(value, type)


def _repeated(kinds: list[Kind]) -> Kind | None:
    """The kind of a repeated list or tuple of unknown length; None for other products."""
    listed = [k for k in kinds if isinstance(k, Container) and k.type in (list, tuple)]
    if len(listed) != 1 or not any(isinstance(k, Number) for k in kinds) or listed[0].items is not None:
        return None
    return Container(listed[0].type, None, None, listed[0].element())


def _operator(inference: Inference, node: gast.AST, operands: list[gast.AST]) -> Kind | None:
    kinds = inference.all(operands)
    if kinds is None:
        return None
    kinds, name = list(map(operand, kinds)), type(node.op).__name__
    kinds = [Foreign() if _is_outside(inference.unit, o) else k for o, k in zip(operands, kinds, strict=True)]
    if any(map(is_none, kinds)) and all(is_none(k) or is_numeric(k) for k in kinds):
        return None  # it raises
    primitive, run = spellings.OPERATORS[name]
    if (own := _own_operator(name, primitive, kinds)) is not None:
        return own
    if name == "MatMult":
        return memo(name, kinds, lambda: sampled_shapes.matmul(run, kinds))
    if name == "Add" and all_are(kinds, Container) and kinds[0].type is kinds[1].type:
        first, second = kinds
        if first.items is not None and second.items is not None:
            return Container(first.type, first.items + second.items)
        return Container(first.type, None, None, join(first.element(), second.element()))
    if name == "Mult" and (repeated := _repeated(kinds)) is not None:
        return repeated
    if any(isinstance(k, (Container, Text)) for k in kinds):
        return memo(name, kinds, lambda: sampled_shapes.by_example(run, kinds, sizes_known(kinds)))
    return memo(name, kinds, lambda: sampled_shapes.elementwise(run, kinds))


@_form(gast.Compare)
def _compare(inference: Inference, node: gast.Compare) -> Kind | None:
    kinds = inference.all([node.left, *node.comparators])
    if kinds is None:
        return None
    if len(kinds) > 2 or isinstance(node.ops[0], (gast.Is, gast.IsNot, gast.In, gast.NotIn)):
        return _BOOL
    if all(isinstance(operand(k), Number) for k in kinds):
        return _BOOL
    if not any(isinstance(k, (Array, Numeric)) for k in kinds):
        return UNKNOWN
    return memo("<", kinds, lambda: sampled_shapes.elementwise(np.less, kinds))


@_form(gast.BoolOp)
def _bool_op(inference: Inference, node: gast.BoolOp) -> Kind | None:
    kinds = inference.all(node.values)
    out = None
    for kind in kinds or ():
        out = join(out, kind)
    return out


@_form(gast.JoinedStr)
def _joined_str(inference: Inference, node: gast.JoinedStr) -> Kind:
    return Text()


@_form(gast.IfExp)
def _if_exp(inference: Inference, node: gast.IfExp) -> Kind | None:
    return join(inference.kind(node.body), inference.kind(node.orelse))


@_form(gast.Tuple)
def _tuple_display(inference: Inference, node: gast.Tuple) -> Kind | None:
    kind = _display(inference, node.elts, tuple)
    if not isinstance(kind, Container) or kind.items is None:
        return kind
    items = tuple(map(inference.symbols.counted, node.elts, kind.items))
    return kind if all(map(operator.is_, items, kind.items)) else replace(kind, items=items)


@_form(gast.List)
def _list_display(inference: Inference, node: gast.List) -> Kind | None:
    return _display(inference, node.elts, list)


def _display(inference: Inference, nodes: list[gast.AST], type_: type, keys: tuple[Any, ...] | None = None) -> Kind | None:
    if any(isinstance(n, gast.Starred) for n in nodes):
        return Container(type_, None)
    kinds = inference.all(nodes)
    return None if kinds is None else Container(type_, tuple(kinds), keys)


@_form(gast.Dict)
def _dict_display(inference: Inference, node: gast.Dict) -> Kind | None:
    if not all(isinstance(k, gast.Constant) for k in node.keys):
        return Container(dict, None)
    return _display(inference, node.values, dict, tuple(k.value for k in node.keys))


def _of_object(owner: Kind, method: str) -> Kind:
    """What a method of an object gives: anything, or a value, where sparse arrays have a rule for it."""
    own = table.method_of_operators(method) if isinstance(owner, Foreign) else None
    return OPAQUE if own is None else Foreign() if table.has_own_operators(own) else UNKNOWN


@_form(gast.Attribute)
def _attribute(inference: Inference, node: gast.Attribute) -> Kind | None:
    value = inference.unit.resolve(node)
    if value is not MISSING:
        return inference.outside(value)
    owner = operand(inference.kind(node.value))
    if isinstance(owner, Instance) and node.attr in owner.names:
        return owner.items[owner.names.index(node.attr)]
    if isinstance(owner, Container) and owner.type is tuple and owner.items and owner.keys and node.attr in owner.keys:
        return owner.items[owner.keys.index(node.attr)]
    if isinstance(owner, Foreign) and spellings.ATTRIBUTES.get(node.attr) is np.transpose:
        return owner
    if isinstance(owner, Foreign) and node.attr in table.attributes_of_operators():
        return UNKNOWN
    if isinstance(owner, (Opaque, Instance)):
        return OPAQUE
    if isinstance(owner, (Array, Number)):
        return array_members.attribute(owner, node.attr)
    return None if owner is None else _INT if node.attr in spellings.COUNTS else UNKNOWN


@_form(gast.Subscript)
def _subscript(inference: Inference, node: gast.Subscript) -> Kind | None:
    owner = operand(inference.kind(node.value))
    index = inference.index(node.slice)
    if owner is None or index is None or is_none(owner):
        return None
    if isinstance(owner, Container):
        return item_of_container(owner, operand(index))
    if isinstance(owner, Numeric):  # no number has sections
        owner = Array(owner.dtype, None)
    if isinstance(owner, Foreign) and table.own_operator(operator.getitem) is not None:
        return _of_operators(index)
    if isinstance(owner, Opaque) and grids.is_grid(maker := inference.unit.resolve(node.value)):
        return inference.symbols.spanned(node, grids.kind(maker, index))
    if not isinstance(owner, Array):
        return OPAQUE if isinstance(owner, Opaque) else array_members.item(owner, index)
    return _section(inference, node, owner, index)


def _of_operators(index: Kind) -> Kind:
    """The kind of an item of a sparse array: one, where whole rows or columns are asked for."""
    parts = index.items if isinstance(index, Container) and index.type is tuple and index.items else (index,)
    row = isinstance(index, Array) or (isinstance(index, Container) and index.type is list)
    row = row or (isinstance(index, Number) and index.type is int)
    whole = any(isinstance(p, Slice) for p in parts) or row
    return Foreign() if whole else UNKNOWN


def _section(inference: Inference, node: gast.Subscript, owner: Array, index: Kind) -> Kind | None:
    """The kind of an element or a section of an array."""
    parts = list(index.items) if isinstance(index, Container) and index.type is tuple and index.items else [index]
    flat: list[Kind] = []
    for part in parts:
        flat += map(argument, part.parts if isinstance(part, Slice) else [part])
    shape = tuple(len(p.parts) if isinstance(p, Slice) else 0 for p in parts)
    single = not (isinstance(index, Container) and index.type is tuple)
    run = sampled_shapes.section(shape, single)
    slices = [p for p in parts if isinstance(p, Known) and isinstance(p.value, slice)]
    bounds = [b for p in parts if isinstance(p, Slice) for b in p.parts]
    known = sampled_shapes.tells_section(owner, [*bounds, *slices])
    found = memo(("item", shape, single), [owner, *flat], lambda: sampled_shapes.by_example(run, [owner, *flat], known))
    found = Numeric(owner.dtype) if found is UNKNOWN and owner.dtype == "float64" else found
    return inference.symbols.sections(node, owner, parts, found)


@_form(gast.Call)
def _call(inference: Inference, node: gast.Call) -> Kind | None:
    target = inference.unit.resolve(node.func)
    if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        return UNKNOWN
    kinds = inference.all(arguments_of(node))
    if kinds is None:
        return None
    names = [k.arg for k in node.keywords]
    known_function = inference.env.get(node.func.id) if isinstance(node.func, gast.Name) else None
    if target is MISSING and isinstance(known_function, Known):  # a variable whose value is a known function
        target = known_function.value
    local = isinstance(node.func, gast.Name) and node.func.id in inference.unit.locals
    if target is MISSING and local and known_function is None:
        return None  # not bound so far
    if target is MISSING:
        return _method(inference, node, list(map(argument, kinds)), names)
    kinds = call_results.taken(target, kinds)
    kinds = _lengths(inference, node, target, kinds)
    require_followed(inference.unit, node, target, kinds)
    known = call_results.exact(target, kinds, names)
    if known is not None:
        return known
    if isinstance(target, Hashable) and (own := _own_operator("", target, kinds)) is not None:
        return own
    positional, named = kinds[: len(node.args)], dict(zip(names, kinds[len(node.args) :], strict=True))
    if isinstance(target, type) and hasattr(target, "_fields"):
        return named_tuple(target, positional, named)
    if catalogue.of(target).pure:
        return call_results.by_example(target, kinds, names)
    if target is np.random.default_rng or effects.is_one_of(target, libraries.DRAWING):
        return DRAWING
    draw = drawn.of_function(target, kinds, names)
    if draw is not None:
        return draw
    named = {n: without_symbols(k) for n, k in named.items()}
    return inference.call_kind(target, list(map(without_symbols, positional)), named)


def _lengths(inference: Inference, node: gast.Call, target: Any, kinds: list[Kind]) -> list[Kind]:
    """The kinds of the arguments, the first with the length that it is of an array that is made: `np.zeros(n - k + 1)`."""
    if not node.args or not effects.is_one_of(target, call_results.SHAPED):
        return kinds
    return [inference.symbols.counted(node.args[0], kinds[0]), *kinds[1:]]


def _method(inference: Inference, node: gast.Call, kinds: list[Kind], names: list[str]) -> Kind | None:
    if not isinstance(node.func, gast.Attribute):
        return UNKNOWN
    owner = operand(inference.kind(node.func.value))
    if owner is None or is_none(owner):
        return None
    method = node.func.attr
    if isinstance(owner, Drawing):
        return drawn.of_method(method, kinds, names)
    if isinstance(owner, (Opaque, Instance)):
        return _of_object(owner, method)
    if isinstance(owner, Container):
        copied = method == "copy" and owner.type in (list, dict)
        return owner if copied else owner.element() if method == "pop" and owner.type is list and not kinds else UNKNOWN
    followed = method in spellings.METHODS or catalogue.of(getattr(np.ndarray, method, None)).flat
    if followed and isinstance(owner, (Array, Number, Numeric, Structured)):
        return array_members.method(owner, method, kinds, names)
    return UNKNOWN
