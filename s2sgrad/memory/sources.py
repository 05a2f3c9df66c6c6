"""The names whose memory the value of one expression may share, or hold.

    u[1:-1], [u], u.T      may share memory with u          u * 2.0, u[mask], u.copy()      are new

Numbers, strings and functions have no memory that could be written.
"""

from __future__ import annotations

import builtins
import copy
import types
from collections.abc import Callable, Collection, Iterable
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import contents, effects
from s2sgrad.analysis.kinds import (
    UNKNOWN,
    Array,
    Container,
    Kind,
    Known,
    Number,
    Opaque,
    Pullback,
    Set,
    Text,
    kind_of,
    operand,
)
from s2sgrad.analysis.object_arrays import may_hold_objects
from s2sgrad.analysis.protocols import is_lazy
from s2sgrad.analysis.trust import Trust, class_of_owner, is_writable, trust_of_owner
from s2sgrad.ir.forms import arguments_of, parts_of
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import mod_ref
from s2sgrad.primitives import catalogue, libraries, methods, spellings
from s2sgrad.primitives.catalogue import Gives
from s2sgrad.rules.table import Rule
from s2sgrad.runtime.asking import has, its

HANDED_OUT = "<outside>"  # memory outside that functions return
_NEW = (gast.UnaryOp, gast.Compare, gast.JoinedStr, gast.Constant)


def has_memory(kind: Kind | None) -> bool:
    """Whether a value of this kind may be, or hold, writable memory."""
    if isinstance(kind, Container) and kind.type is tuple:
        return any(map(has_memory, kind.items if kind.items is not None else (kind.element(),)))
    return not isinstance(operand(kind), (Number, Known, Text))


def sources(unit: Unit, value: gast.AST, kinds: dict[str, Kind]) -> set[str]:
    """The names whose memory the value of an expression may share or hold.

    `x[i, 1:]` and `[x]` share memory with x; `x * 2`, `x[mask]` and `x.copy()` do not.
    """
    if isinstance(value, gast.Name):
        return {value.id} if has_memory(kinds.get(value.id)) and is_writable(unit.resolve(value)) else set()
    parts = _PASSED_ON.get(type(value))
    if parts is not None:
        return _of_all(unit, parts(value), kinds)
    find = _FOUND.get(type(value))
    if find is not None:
        return find(unit, value, kinds)
    return set() if isinstance(value, _NEW) else {n.id for n in effects.loads(value) if has_memory(kinds.get(n.id))}


def _of_operation(unit: Unit, value: gast.BinOp, kinds: dict[str, Kind]) -> set[str]:
    """A concatenation of lists shares the memory of their items; arithmetic allocates."""
    sides = (value.left, value.right)
    numbers = any(isinstance(getattr(s, "value", kinds.get(getattr(s, "id", ""))), (Array, float)) for s in sides)
    lists = Container if numbers or not isinstance(value.op, (gast.Add, gast.Mult)) else (Container, Opaque)
    named = (s for s in sides if isinstance(s, gast.Name) and isinstance(kinds.get(s.id), lists))
    return set().union(*(_item_sources(unit, s, kinds) for s in named))


def _of_section(unit: Unit, value: gast.Subscript, kinds: dict[str, Kind]) -> set[str]:
    """A view shares the memory of its array; a slice of a list, that of the items."""
    owner = kind_of(value.value, kinds)
    if isinstance(owner, Array) and (is_copy(value.slice, kinds) or _is_element(value.slice, owner, kinds)):
        return set()
    if isinstance(value.slice, gast.Slice) and isinstance(owner, Container) and isinstance(value.value, gast.Name):
        return _item_sources(unit, value.value, kinds)  # a new list
    return sources(unit, value.value, kinds)


def _of_attribute(unit: Unit, value: gast.Attribute, kinds: dict[str, Kind]) -> set[str]:
    """`x.T` shares memory with x, `x.shape` does not; an attribute of what lives outside, a function too, with that."""
    found = unit.resolve(value)
    if value.attr in spellings.FLAT_ATTRIBUTES or (found is not MISSING and not is_writable(found)):
        return set()
    inside = found is MISSING and unit.resolve(value.value) is MISSING
    return sources(unit, value.value, kinds) if inside else {effects.base(value)}


def bound_sources(unit: Unit, targets: Collection[str], value: gast.AST, kinds: dict[str, Kind]) -> set[str]:
    """The names whose memory the targets of an assignment may share: none if a user's function returns only new arrays."""
    function = unit.called(value)
    if isinstance(function, types.FunctionType):
        held = {isinstance(kind, Container) for kind in map(kinds.get, targets) if isinstance(kind, (Array, Container))}
        plain = all(isinstance(a, gast.Constant) or _is_plain(a, kinds) for a in arguments_of(value))
        if len(targets) == len(held) == 1 and plain and mod_ref.returns_new(function, *held):
            return set()
    return sources(unit, value, kinds)


def _is_plain(node: gast.AST, kinds: dict[str, Kind]) -> bool:
    return isinstance(node, gast.Name) and isinstance(kinds.get(node.id), (Array, Number, Known, Text))


def _item_sources(unit: Unit, container: gast.Name, kinds: dict[str, Kind]) -> set[str]:
    """The names whose memory the items of a container may share."""
    kind = kinds[container.id]
    element = kind.element() if isinstance(kind, Container) else UNKNOWN
    return sources(unit, container, kinds) if element is not None and has_memory(element) else set()


def _of_call(unit: Unit, call: gast.Call, kinds: dict[str, Kind]) -> set[str]:
    """The result of a call: by the summary of a user's function, by the record of a library's; anything it can reach
    else."""
    target = unit.resolve(call.func)
    if target is MISSING and isinstance(call.func, gast.Attribute):
        return _of_method(unit, call, kinds)
    arguments = arguments_of(call)
    if target is MISSING:  # a function may return what it refers to
        return _of_all(unit, arguments if _is_derivative(unit, call.func, kinds) else [*arguments, call.func], kinds)
    if target in _SHALLOW and len(arguments) == 1:
        held = _of_shallow_copy(unit, target, arguments[0], kinds)
        if held is not None:
            return held
    outside = {HANDED_OUT} if mod_ref.returns_outside(unit, target, call, kinds) else set()
    declared = catalogue.of(target).sharing is not None
    returned = None if declared else mod_ref.returned_arguments(unit, target, call, kinds)
    if returned is not None:
        whole, inside, _ = returned
        items = [a for a in inside if isinstance(a, gast.Name) and isinstance(kinds.get(a.id), Container)]
        held = set().union(*(_item_sources(unit, a, kinds) for a in items))
        return outside | held | _of_all(unit, [*whole, *(a for a in inside if a not in items)], kinds)
    shared = _shared(unit, target, call, arguments)
    if catalogue.of(target).gives is Gives.SHELL and not is_lazy(target):
        lists = [part for part in shared if isinstance(part, gast.Name) and isinstance(kinds.get(part.id), Container)]
        shared = [part for part in shared if part not in lists]
        outside |= set().union(*(_item_sources(unit, part, kinds) for part in lists))
    return outside | _of_all(unit, shared, kinds)


_PASSED_ON: dict[type, Callable[[Any], list[gast.AST]]] = {  # nodes whose value is, or holds, that of one of these parts
    gast.Tuple: lambda v: v.elts, gast.List: lambda v: v.elts, gast.Set: lambda v: v.elts, gast.Dict: lambda v: v.values,
    gast.BoolOp: lambda v: v.values, gast.IfExp: lambda v: [v.body, v.orelse], gast.Starred: lambda v: [v.value],
}  # fmt: skip
_FOUND = {gast.BinOp: _of_operation, gast.Subscript: _of_section, gast.Attribute: _of_attribute, gast.Call: _of_call}


def _of_all(unit: Unit, arguments: Iterable[gast.AST], kinds: dict[str, Kind]) -> set[str]:
    return set().union(*(sources(unit, argument, kinds) for argument in arguments))


def _of_shallow_copy(unit: Unit, target: Any, arguments: gast.AST, kinds: dict[str, Kind]) -> set[str] | None:
    """The names whose memory a shallow copy of a container holds; None where the argument is not known to be one."""
    if not isinstance(arguments, gast.Name):
        return None
    kind = kinds.get(arguments.id)
    if target is builtins.set:
        return set() if isinstance(kind, Set) else None  # what can be hashed has no memory that is written
    if isinstance(kind, Container):
        keys = kind.type is dict and target in (builtins.list, builtins.tuple)  # which are hashable
        return set() if keys else _item_sources(unit, arguments, kinds)
    if target is copy.copy and isinstance(kinds.get(arguments.id), (Array, Number)):
        return set()
    outside = unit.resolve(arguments)
    items = outside.values() if isinstance(outside, dict) else outside
    fixed = isinstance(outside, (dict, list, tuple)) and not any(map(is_writable, items))
    return set() if fixed else None


def _of_method(unit: Unit, call: gast.Call, kinds: dict[str, Kind]) -> set[str]:
    """The result of a method: new memory if the record says so; else it may share that of the object and the arguments."""
    owner, method = call.func.value, call.func.attr
    if method == "copy" and isinstance(owner, gast.Name) and isinstance(kinds.get(owner.id), Container):
        return _item_sources(unit, owner, kinds)  # a shallow copy
    trust = trust_of_owner(unit, owner, kinds)
    if trust <= Trust.DATA and not _has_copy_option(call):
        cls = class_of_owner(unit, owner, kinds) or np.ndarray  # others are refused at run time
        if methods.may_be(method, cls) is Gives.NEW:
            return set()
    if trust == Trust.DRAWING and not methods.draws_items(method):
        return _of_all(unit, [k.value for k in call.keywords if k.arg == "out"], kinds)
    return _of_all(unit, [*call.args, *(k.value for k in call.keywords), owner], kinds)


def _has_copy_option(call: gast.Call) -> bool:
    """Whether a call has an option that decides whether it copies: `x.astype(t, copy=False)`."""
    return any(k.arg == "copy" for k in call.keywords) or len(call.args) > 4


def _shared(unit: Unit, target: Any, call: gast.Call, arguments: list[gast.AST]) -> list[gast.AST]:
    """The arguments whose memory the result of a known callable may share."""
    if target is np.einsum and len(call.args) > 2 and not call.keywords:
        return []  # a contraction allocates
    if target is np.array:
        return arguments if _has_copy_option(call) or may_hold_objects(unit, call) else []
    if _is_foreign(target):
        return arguments
    record = catalogue.of(target)
    lists = target is builtins.sum and len(arguments) > 1
    if not record.may_view and not any(k.arg == "copy" for k in call.keywords) and not lists:
        return []
    return arguments if record.viewed is None else arguments[record.viewed : record.viewed + 1]


def _is_derivative(unit: Unit, function: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether a function is a generated pullback or gradient, which returns new memory."""
    if isinstance(function, gast.Call):
        return (its(unit.resolve(function.func), "__module__", None) or "").startswith("s2sgrad.")
    return isinstance(function, gast.Name) and isinstance(kinds.get(function.id), Pullback)


_SHALLOW = (builtins.list, builtins.dict, builtins.tuple, builtins.set, copy.copy)


def _is_foreign(target: Any) -> bool:
    """Whether nothing is known of what a callable returns: a user's function, a generated pair, a rule."""
    if isinstance(target, type):  # an instance of a user's class or a named tuple holds its arguments
        return has(target, "_fields") or not catalogue.of(target).pure
    if isinstance(target, np.ufunc):
        return False
    if isinstance(target, Rule) or has(target, "primal"):
        return True
    if (its(target, "__module__", None) or "") == runtime.__name__:
        return False
    followed = catalogue.of(target).pure or catalogue.of(target).sharing is not None
    return not followed and not libraries.library(libraries.package_of(target)).shares_arguments


def is_copy(index: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether an index of an array is known to copy: one of its parts is an array or a list, or it is a tuple of such."""
    parts = parts_of(index)
    return any(isinstance(p, (gast.List, gast.Compare)) or _is_array(kind_of(p, kinds)) for p in parts)


def _is_array(index: Kind | None) -> bool:
    if isinstance(index, Container):
        return index.type is list or (index.type is tuple and any(map(_is_array, index.items or ())))
    return isinstance(index, Array) and index.rank != 0


def _is_element(index: gast.AST, owner: Array, kinds: dict[str, Kind]) -> bool:
    """Whether an index picks one element of an array."""
    parts = parts_of(index)
    return len(parts) == owner.rank and all(_is_number(p, kinds) for p in parts)


def _is_number(part: gast.AST, kinds: dict[str, Kind]) -> bool:
    if isinstance(part, gast.Name):
        return isinstance(kinds.get(part.id), Number)
    if isinstance(part, gast.Constant):
        return type(part.value) is int
    return isinstance(part, (gast.UnaryOp, gast.BinOp)) and _of_numbers(part, kinds)


def is_basic(index: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether an index is known to give a view (or an element): only integers, slices, None and `...`."""
    parts = parts_of(index)
    for part in parts:
        if isinstance(part, gast.Slice) or (isinstance(part, gast.Constant) and not isinstance(part.value, bool)):
            continue
        kind = kind_of(part, kinds)
        if kind is None or not contents.is_plain_index(kind):
            if not isinstance(part, (gast.UnaryOp, gast.BinOp)) or not _of_numbers(part, kinds):
                return False
    return True


def _of_numbers(node: gast.AST, kinds: dict[str, Kind]) -> bool:
    return all(isinstance(kinds.get(n.id), Number) for n in nodes(node) if isinstance(n, gast.Name))


def is_fresh(unit: Unit, node: gast.AST) -> bool:
    """Whether an array expression allocates, by its outermost operation."""
    if isinstance(node, gast.Call):
        target = unit.resolve(node.func)
        if target is MISSING:
            method = node.func.attr if isinstance(node.func, gast.Attribute) else ""
            return (method == "copy" and not node.args) or (method == "sum" and {k.arg for k in node.keywords} <= {"axis"})
        return catalogue.of(target).pure and not catalogue.of(target).may_view
    return isinstance(node, gast.BinOp) or (isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not))
