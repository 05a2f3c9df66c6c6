"""Implicit calls of user code: properties, and the methods behind operators, items, truth tests and conversions to text.

    feed.next, -feed, feed[0], 3 in feed, f"{feed}", len(feed), [*feed]      ->      each may run a method of `feed`'s class

An unknown object may run anything; arrays, numbers, strings and built-in containers of them run nothing.  Operations that
iterate over their operands advance those that may be iterators.
"""

from __future__ import annotations

import types
from typing import Any

import gast
import numpy as np

from s2sgrad.analysis import reached
from s2sgrad.analysis.kinds import Container, Drawing, Instance, Kind, Known, Opaque, Unknown
from s2sgrad.analysis.plain_classes import has_protocols, makes_objects, reads_own, runs_nothing
from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.quote import children
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import catalogue, libraries
from s2sgrad.rules import table
from s2sgrad.runtime.asking import has

_SILENT = (isinstance, issubclass, type, callable, id, range, slice)
"""Builtins that run no method of their arguments."""

_VALUES = (gast.Constant, gast.BinOp, gast.UnaryOp, gast.Compare, gast.JoinedStr, gast.FormattedValue, gast.Lambda)


# --- implicit calls ----------------------------------------------------------------------------------------------------


def acts(unit: Unit, node: gast.AST) -> bool:
    """Whether a node other than a call may run a user's method, or advance an iterator."""
    if isinstance(node, gast.Attribute):
        return isinstance(node.ctx, gast.Load) and _attribute_acts(unit, node)
    if isinstance(node, gast.Subscript):
        item = isinstance(node.ctx, gast.Load) and may_act(unit, node.value, False)
        return item or may_act(unit, node.slice, False)
    if isinstance(node, gast.Compare):
        return _comparison_acts(unit, node)
    if isinstance(node, (gast.Starred, gast.comprehension, gast.For)):
        over = node.value if isinstance(node, gast.Starred) else node.iter
        return may_be_iterator(unit, over) or may_act(unit, over, False)
    if isinstance(node, gast.FormattedValue):
        return may_act(unit, node.value)
    if isinstance(node, (gast.Set, gast.Dict)):
        hashed = node.elts if isinstance(node, gast.Set) else [key for key in node.keys if key is not None]
        return any(may_act(unit, key) for key in hashed)
    return any(may_act(unit, part, False) for part in _operands(node))


def _comparison_acts(unit: Unit, node: gast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    if all(isinstance(op, (gast.Is, gast.IsNot)) for op in node.ops):
        return False
    contains = any(isinstance(op, (gast.In, gast.NotIn)) for op in node.ops)
    return any(may_act(unit, side) or (contains and may_be_iterator(unit, side)) for side in sides)


def _operands(node: gast.AST) -> list[gast.AST]:
    """The operands of an operator, and expressions that are tested for truth."""
    if isinstance(node, gast.BinOp):
        return [node.left, node.right]
    if isinstance(node, gast.UnaryOp):
        return [node.operand]
    if isinstance(node, gast.BoolOp):
        return [*node.values[:-1]]
    return [node.test] if hasattr(node, "test") else []


def call_acts(unit: Unit, target: Any, call: gast.Call) -> bool:
    """Whether a call without side effects of its own may run a method of an argument, or consume it."""
    if any(target is silent for silent in _SILENT):
        return False
    given = arguments_of(call)
    runs = _iterates(target)
    return any(may_act(unit, part) or (runs and may_be_iterator(unit, part)) for part in given)


def _iterates(target: Any) -> bool:
    """Whether a function may iterate over its arguments.  NumPy's functions expect arrays."""
    record = catalogue.of(target)
    if record.iterates:
        return True
    if target is MISSING or record.computes or isinstance(target, np.ufunc) or libraries.is_numeric(target):
        return False
    return record.rule is None or record.rule.tag != "elementwise"


def may_act(unit: Unit, node: gast.AST, deep: bool = True) -> bool:
    """Whether the value of an operand may be an object with protocols of its own, or (`deep`) contain one."""
    if isinstance(node, (gast.Constant, gast.Lambda)):
        return False
    if not deep and isinstance(node, (gast.BinOp, gast.UnaryOp)):
        return False  # if its operands do, the operator node itself is reported
    found = unit.resolve(node)
    if found is not MISSING:
        return _object_acts(found, deep)
    kind = _kind(unit, node)
    if kind is not None:
        return kind_acts(kind, deep)
    if isinstance(node, gast.Name):
        return node.id in unit.arguments.opaque
    if isinstance(node, (gast.Attribute, gast.Subscript)):
        return may_act(unit, node.value)
    if isinstance(node, gast.Call):
        return _returns_object(unit, node)
    return any(may_act(unit, part, deep) for part in children(node))


def _returns_object(unit: Unit, call: gast.Call) -> bool:
    """Whether a nested call may return an object of a user's class."""
    target = unit.resolve(call.func)
    if target is MISSING:
        return isinstance(call.func, gast.Attribute) and may_act(unit, call.func.value)
    if isinstance(target, type):
        return makes_objects(target)
    return _is_user_function(target) and (reached.objects(target) or any(may_act(unit, part) for part in call.args))


def _is_user_function(target: Any) -> bool:
    own = isinstance(target, types.FunctionType) and not libraries.is_numeric(target)
    return own and table.lookup(target) is None and not has(target, "primal")


def kind_acts(kind: Kind | None, deep: bool = True) -> bool:
    """Whether a value of this kind may run user code; only an `Opaque` kind counts as an object."""
    if isinstance(kind, Container):
        items = kind.items if kind.items is not None else (kind.item,)
        return deep and any(kind_acts(item) for item in items)
    if isinstance(kind, Known):
        return _object_acts(kind.value, deep)
    if isinstance(kind, Instance):
        return has_protocols(kind.cls)
    return isinstance(kind, Opaque) and not isinstance(kind, Drawing) and (deep or not kind.quiet)


def _object_acts(found: Any, deep: bool) -> bool:
    if isinstance(found, (types.ModuleType, type)) or (trust_of_object(found) or Trust.DATA) <= Trust.DRAWING:
        return False
    if isinstance(found, np.ndarray):
        return deep or type(found) is not np.ndarray
    return not runs_nothing(type(found)) or (deep and has(found, "__iter__"))


def _attribute_acts(unit: Unit, node: gast.Attribute) -> bool:
    if unit.resolve(node) is not MISSING:
        return False
    found = unit.resolve(node.value)
    if found is not MISSING:
        return not isinstance(found, (types.ModuleType, type)) and reads_own(type(found), node.attr)
    kind = _kind(unit, node.value)
    return reads_own(kind.cls, node.attr) if isinstance(kind, Instance) else may_act(unit, node.value, False)


def _kind(unit: Unit, node: gast.AST) -> Kind | None:
    """The kind of a name, of an attribute of a plain instance or of an item of a container; None where it is unknown."""
    if isinstance(node, gast.Name):
        return unit.kinds.get(node.id) if node.id in unit.locals else None
    owner = _kind(unit, node.value) if isinstance(node, (gast.Attribute, gast.Subscript)) else None
    if isinstance(owner, Instance) and isinstance(node, gast.Attribute) and node.attr in owner.names:
        return owner.items[owner.names.index(node.attr)]
    if isinstance(owner, Container) and isinstance(node, gast.Subscript):
        return owner.at(node.slice.value if isinstance(node.slice, gast.Constant) else None)
    return None


# --- iterators ---------------------------------------------------------------------------------------------------------


def may_be_iterator(unit: Unit, node: gast.AST) -> bool:
    """Whether a value may be, contain or read from an iterator; a local name without a kind may be one."""
    if isinstance(node, _VALUES):
        return False
    if isinstance(node, gast.Name):
        if node.id in unit.locals:
            kind = unit.kinds.get(node.id)
            return kind is None or isinstance(kind, Unknown)
        return _is_iterator(unit.resolve(node))
    if isinstance(node, gast.Call):
        return _returns_iterator(unit, node)
    return any(may_be_iterator(unit, part) for part in children(node))


def _is_iterator(found: Any) -> bool:
    return found is not MISSING and hasattr(type(found), "__next__")


def is_lazy(target: Any) -> bool:
    """Whether a built-in callable returns an iterator that reads its arguments lazily."""
    return target is iter or (isinstance(target, type) and hasattr(target, "__next__"))


def _returns_iterator(unit: Unit, call: gast.Call) -> bool:
    """Whether a call may return an iterator that draws from one of its arguments."""
    target = unit.resolve(call.func)
    if target is MISSING:
        return not isinstance(call.func, gast.Attribute) or may_act(unit, call.func.value)
    return (is_lazy(target) or _is_user_function(target)) and any(may_be_iterator(unit, part) for part in call.args)
