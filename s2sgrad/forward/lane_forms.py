"""Expressions over tangents with lanes: a leading axis that indexes several runs.

    c * x_dot               ->   c * x_dot                       x_dot[i, 1:]         ->   x_dot[:, i, 1:]
    np.sum(x_dot, axis=0)   ->   np.sum(x_dot, axis=1)           A @ x_dot            ->   x_dot @ A.T
    s_dot * x               ->   s_dot[:, np.newaxis] * x        np.stack([s_dot])    ->   np.stack([s_dot], axis=1)

The form depends on ranks.  If a rank, an axis or a function is unknown, NoLanes is raised and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis.effects import is_one_of
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Kind, Known, Number, Slicing
from s2sgrad.analysis.primitive_calls import Operation, classify
from s2sgrad.errors import S2SGradError
from s2sgrad.forward.rule_tangent import with_parts
from s2sgrad.ir import notes
from s2sgrad.ir.forms import everything, index_of, is_none, parts_of
from s2sgrad.ir.quote import clone, constant, expression, mentioned, name
from s2sgrad.ir.reach import call, numpy_function
from s2sgrad.ir.unit import Unit
from s2sgrad.memory.sources import sources
from s2sgrad.primitives import catalogue
from s2sgrad.runtime import lanes as of_lanes
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.copies import copied
from s2sgrad.runtime.traits import traits
from s2sgrad.transform.unbroadcasting import axes_of


class NoLanes(S2SGradError):
    """A tangent has no form with lanes; never shown to a user, because columns are then computed one by one."""


class NoForm(NoLanes):
    """A call that a registered form does not cover."""


class Forms:
    """Rewrites expressions in which the names `carrying` are tangents with lanes; `stores`: some of these are written in
    place.
    """

    def __init__(self, unit: Unit, inference: Inference, carrying: set[str], stores: bool = False) -> None:
        self.unit, self.inference, self.carrying, self.stores = unit, inference, carrying, stores
        self.counted = ""  # the name of the number of lanes, if the text needs it

    # --- queries ---

    def reads(self, node: gast.AST) -> bool:
        """Whether an expression reads a value with lanes."""
        return not self.carrying.isdisjoint(mentioned(node))

    def kind(self, node: gast.AST) -> Kind:
        """The kind of an expression, without lanes."""
        if (given := notes.KIND_OF.of(node)) is not None:
            return self.inference.env.get(given, UNKNOWN)
        return self.inference.kind(node) or UNKNOWN

    def rank(self, node: gast.AST) -> int:
        """The rank of an expression, without lanes."""
        rank = self.kind(node).rank
        if rank is None:
            raise NoLanes(f"the rank of {gast.dump(node)[:80]} is not known")
        return rank

    def items_rank(self, node: gast.AST) -> int | None:
        """The common rank of the items of a list or tuple; None if there is none, or it is unknown."""
        kind = self.kind(node)
        element = kind.element() if isinstance(kind, Container) and kind.type in (list, tuple) else None
        return None if element is None else element.rank

    def count(self) -> gast.Name:
        """The number of lanes."""
        self.counted = self.counted or self.unit.local("lanes")
        return name(self.counted)

    def shape(self, shape: gast.AST) -> gast.Tuple:
        """A shape with the number of lanes prepended."""
        if isinstance(shape, gast.Tuple):
            return gast.Tuple([self.count(), *map(clone, shape.elts)], gast.Load())
        kind = self.kind(shape)
        if isinstance(kind, Number):
            return gast.Tuple([self.count(), clone(shape)], gast.Load())
        if not isinstance(kind, Container):
            raise NoLanes("a shape is not known to be a number or a tuple")
        return gast.Tuple([self.count(), gast.Starred(clone(shape), gast.Load())], gast.Load())

    # --- expressions ---

    def carried(self, node: gast.AST) -> gast.AST:
        """An expression with lanes; a zero is broadcast over them."""
        if self.reads(node) or (isinstance(node, (gast.Tuple, gast.List, gast.Dict))):
            return self.lifted(node)
        if is_none(node):
            return node
        if isinstance(node, gast.Constant) and node.value == 0.0:
            return call(self.unit, "zeros", np.zeros, self.count())
        target = self.unit.called(node)
        if target is np.zeros_like and len(node.args) == 1 and not node.keywords:
            shape = gast.Attribute(clone(node.args[0]), "shape", gast.Load())
            if not isinstance(self.kind(node.args[0]), Array):
                raise NoLanes("zeros of what is no array")
            return with_keyword(node, "shape", gast.Tuple([self.count(), gast.Starred(shape, gast.Load())], gast.Load()))
        if target in (runtime.own, copied):
            return with_parts(node, {id(node.args[0]): self.carried(node.args[0])})
        if target is runtime.zeros:
            return call(self.unit, "zero_lanes", of_lanes.zero_lanes, clone(node.args[0]), self.count())
        raise NoLanes(f"a tangent without lanes: {gast.dump(node)[:80]}")

    def lifted(self, node: gast.AST) -> gast.AST:
        """An expression that reads values with lanes, rewritten with lanes."""
        if isinstance(node, gast.Name):
            return node
        if isinstance(node, gast.Subscript):
            return self.item(node)
        if isinstance(node, (gast.Tuple, gast.List)):
            return type(node)([self.carried(e) for e in node.elts], node.ctx)
        if isinstance(node, gast.Dict):
            return gast.Dict(node.keys, [self.carried(v) for v in node.values])
        if isinstance(node, gast.IfExp) and not self.reads(node.test):
            return gast.IfExp(node.test, self.carried(node.body), self.carried(node.orelse))
        operation = classify(self.unit, node, self.inference.env)
        if operation.form == "display":
            return with_parts(node, {id(o): self.carried(o) for o in operation.operands})
        if operation.form in ("pop", "shrink"):
            return node
        if operation.form != "rule":
            return self.of_call(node)
        if not any(map(self.reads, operation.keywords.values())):
            write = WRITERS.get(operation.target) if is_one_of(operation.target, WRITERS) else None
            if write is not None:
                try:
                    return self.as_new(node, write(self, operation))
                except NoForm:
                    return self.by_lane(operation)
            if operation.rule is not None and operation.rule.tag == "elementwise" and _is_of_arrays(operation.target):
                return self.elementwise(operation)
        return self.by_lane(operation)

    def as_new(self, node: gast.AST, made: gast.AST) -> gast.AST:
        """A form with lanes, copied where it may be a view and the expression without lanes, as `x.flatten()`, is none."""
        kinds = self.inference.env
        if not self.stores or isinstance(made, gast.Name) or sources(self.unit, node, kinds):
            return made
        return expression("x.copy()", x=made) if sources(self.unit, made, kinds) else made

    def by_lane(self, operation: Operation, is_new: bool = False) -> gast.AST:
        """A call without a registered form and with one operand that has lanes: lane by lane; `is_new`: without lanes it
        would give new memory."""
        node, target = operation.node, operation.target
        given = node.args if isinstance(node, gast.Call) else []
        if isinstance(node, gast.Call) and self.unit.called(node) is target:
            function, keywords = node.func, node.keywords
        else:
            function = call(self.unit, its(target, "__name__", "f"), target).func
            given = operation.operands
            keywords = [gast.keyword(k, v) for k, v in operation.keywords.items()]
        carrying = [k for k, a in enumerate(given) if self.reads(a)]
        home = (its(target, "__module__", None) or "").partition(".")[0]
        known = home in ("numpy", "scipy", "s2sgrad") or isinstance(target, np.ufunc)
        known = known and its(target, "__module__", None) != runtime.__name__  # these may write their arguments
        if len(carrying) != 1 or not known or any(self.reads(k.value) for k in keywords):
            raise NoLanes(f"{its(target, '__name__', target)} has no form with lanes")
        place = carrying[0]
        self._require_new_memory(target, given[place], is_new)
        out = call(self.unit, "by_lane", of_lanes.by_lane, clone(function),
                   *(self.carried(a) if k == place else clone(a) for k, a in enumerate(given)))  # fmt: skip
        out.keywords = [gast.keyword("place", constant(place)), *map(clone, keywords)]
        return out

    def _require_new_memory(self, target: Any, operand: gast.AST, is_new: bool) -> None:
        """Refuse where results without lanes may be no new memory, or where lanes cannot be counted."""
        if self.stores and not is_new and catalogue.of(target).may_view:
            raise NoLanes("a view that is no view with lanes")
        kind = self.kind(operand)
        if isinstance(kind, Container) and not kind.items:
            raise NoLanes("a list that may be empty")

    def either(self, node: gast.AST) -> gast.AST:
        """An expression, with lanes if it reads values with lanes."""
        return self.lifted(node) if self.reads(node) else clone(node)

    def elementwise(self, operation: Operation) -> gast.AST:
        """Each operand gets the axes of the result, after that of the lanes."""
        rank = max(map(self.rank, operation.given))
        new = {id(o): self.expanded(o, rank) for o in operation.operands if self.reads(o)}
        return with_parts(operation.node, new)

    def expanded(self, node: gast.AST, rank: int) -> gast.AST:
        """`x_dot` as `x_dot[:, np.newaxis]` where it must broadcast to one more axis; an operand without lanes unchanged."""
        if not self.reads(node):
            return node
        missing = rank - self.rank(node)
        if missing < 0:
            raise NoLanes("a tangent of higher rank than what it belongs to")
        if not missing:
            return self.lifted(node)
        new = [numpy_function(self.unit, "newaxis") for _ in range(missing)]
        return gast.Subscript(self.lifted(node), index_of([everything(), *new]), gast.Load())

    def item(self, node: gast.Subscript) -> gast.Subscript:
        """`x_dot[i]` as `x_dot[:, i]`; for a list `x_dot[i]`."""
        if self.reads(node.slice):
            raise NoLanes("an index carries lanes")
        owner, kind = self.lifted(node.value), self.kind(node.value)
        if isinstance(kind, Container):
            return gast.Subscript(owner, clone(node.slice), node.ctx)
        if not isinstance(kind, (Array, Number)):
            raise NoLanes("an item of a value of unknown kind")
        parts = list(map(clone, parts_of(node.slice)))
        self._require_order(parts)
        only = self.kind(parts[0]) if len(parts) == 1 else None
        if isinstance(only, Container) and only.type is tuple:
            parts = [gast.Starred(parts[0], gast.Load())]
        return gast.Subscript(owner, index_of([everything(), *parts]), node.ctx)

    def _require_order(self, parts: list[gast.AST]) -> None:
        """Require that the axes of the result are in the order of the parts: index arrays must be adjacent."""
        arrays: list[int] = []
        places: list[int] = []
        for k, part in enumerate(parts):
            kind = self.kind(part)
            if isinstance(part, gast.Slice) or isinstance(kind, Slicing) or _is_axis(kind):
                continue
            if isinstance(kind, Container) and kind.type is tuple and len(parts) == 1:
                items = [kind.item] if kind.items is None else kind.items
                if not all(isinstance(item, (Number, Array)) for item in items):
                    raise NoLanes("an index whose parts are not known")
            elif isinstance(kind, Array) or (isinstance(kind, Container) and kind.type is list):
                arrays.append(k)
            elif not isinstance(kind, Number):
                raise NoLanes("an index of unknown kind")
            places.append(k)
        if arrays and places[-1] - places[0] != len(places) - 1:
            raise NoLanes("index arrays on both sides of a section")

    def of_call(self, node: gast.AST) -> gast.AST:
        """A call of an adjoint, which is linear in its last argument, or of a function in the rules: lane by lane."""
        target = self.unit.called(node)
        if target is runtime.zeros or target is np.zeros_like:
            return node
        if (its(target, "__module__", None) or "").startswith("s2sgrad.rules."):
            return self.by_lane(classify(self.unit, node, self.inference.env))
        plain = isinstance(node, gast.Call) and not node.keywords and not any(map(self.reads, node.args[:-1]))
        if not plain or traits(target).same_signature:
            raise NoLanes(f"a call without a form with lanes: {its(target, '__name__', gast.dump(node)[:60])}")
        *record, dots = node.args
        return call(self.unit, "by_lane", of_lanes.by_lane, node.func, *record, self.carried(dots))

    # --- parts of calls ---

    def axes(self, operation: Operation, keyword: str = "axis") -> tuple[int, ...] | int | None:
        """The axis or axes passed to a call; None if there are none."""
        node = operation.keywords.get(keyword)
        if node is None or is_none(node):
            return None
        axes = axes_of(self.kind(node))
        if axes is None:
            raise NoLanes("an axis that is not known")
        return axes[0] if isinstance(self.kind(node), Number) else axes

    def with_axis(self, operation: Operation, axis: Any, keyword: str = "axis") -> gast.AST:
        """The call on operands with lanes, along this axis."""
        new = {id(o): self.carried(o) for o in operation.operands}
        given = operation.keywords.get(keyword)
        if given is not None:
            return with_parts(operation.node, {**new, id(given): axis_node(axis)})
        return with_keyword(with_parts(operation.node, new), keyword, axis_node(axis))


def with_lanes(kind: Kind) -> Kind:
    """The kind of a tangent with lanes.

    >>> with_lanes(Number(float)), with_lanes(Array("float64", (3,)))
    (Array(None, (None,)), Array('float64', (None, 3)))
    """
    if isinstance(kind, Number):
        return Array(None, (None,))
    if isinstance(kind, Array):
        return Array(kind.dtype, None if kind.dims is None else (None, *kind.dims))
    if isinstance(kind, Container):
        items = None if kind.items is None else tuple(map(with_lanes, kind.items))
        return replace(kind, items=items, item=None if kind.item is None else with_lanes(kind.item))
    return kind


def with_keyword(node: gast.Call, keyword: str, value: gast.AST) -> gast.Call:
    """A call with one more keyword."""
    made = gast.Call(node.func, node.args, [*node.keywords, gast.keyword(keyword, value)])
    notes.OF_FIRST.put(made, notes.OF_FIRST.of(node))
    return made


def behind(axis: Any) -> Any:
    """The same axis or axes, counted after that of the lanes.

    >>> behind(0), behind((1, -1)), behind(-2)
    (1, (2, -1), -2)
    """
    return tuple(map(behind, axis)) if isinstance(axis, tuple) else axis + 1 if axis >= 0 else axis


def axis_node(axis: Any) -> gast.AST:
    """An axis, or a tuple of axes, as an expression."""
    return gast.Tuple([constant(k) for k in axis], gast.Load()) if isinstance(axis, tuple) else constant(axis)


def _is_axis(kind: Kind) -> bool:
    return isinstance(kind, Known) and (kind.value is None or kind.value is Ellipsis)


def _is_of_arrays(target: Any) -> bool:
    """Whether an elementwise function takes arrays: one of NumPy's, an operator, or one of ours."""
    home = its(target, "__module__", None) or ""
    return isinstance(target, np.ufunc) or home.partition(".")[0] in ("numpy", "s2sgrad")


# --- forms of single functions: `lane_functions` and `lane_helpers` register them ---

Writer = Callable[[Forms, Operation], gast.AST]
WRITERS: dict[Any, Writer] = {}


def form(*targets: Any) -> Callable[[Writer], Writer]:
    """Register the form of calls of these functions."""

    def register(write: Writer) -> Writer:
        WRITERS.update(dict.fromkeys(targets, write))
        return write

    return register


def only(operation: Operation, *keywords: str) -> None:
    """Raise NoForm for keywords that a form does not support, unless they are None."""
    for k, node in operation.keywords.items():
        if k not in keywords and not is_none(node):
            raise NoForm(f"{its(operation.target, '__name__', '')} with {k}")


def same(forms: Forms, operation: Operation) -> gast.AST:
    """The same call, on operands with lanes."""
    return with_parts(operation.node, {id(o): forms.lifted(o) for o in operation.operands})
