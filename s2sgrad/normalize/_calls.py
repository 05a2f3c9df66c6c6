"""Helpers of the passes over calls: the text of a callee, the class that a method may belong to, literals.

xp.sort(x)   ->   callee: "xp.sort"
"""

from __future__ import annotations

import types
from collections import Counter, deque
from typing import Any

import gast

from s2sgrad.analysis.libraries import is_ours
from s2sgrad.analysis.plain_classes import Opened, attributes_of, is_plain_class
from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.ir.quote import at, clone, nodes, statements_in
from s2sgrad.ir.scoping import all_bindings
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.primitives.catalogue import is_named
from s2sgrad.runtime.asking import its


def callee(node: gast.AST) -> str:
    """The name of what is called, as far as it has one: `x.sort`, `np.add.at`."""
    if isinstance(node, gast.Name):
        return str(node.id)
    if isinstance(node, gast.Attribute):
        return f"{callee(node.value)}.{node.attr}"
    return f"{callee(node.value)}[..]" if isinstance(node, gast.Subscript) else ".."


def may_be_array(unit: Unit, node: gast.AST) -> bool:
    """Whether an expression may be an array or a builtin container, whose methods are known by name."""
    if isinstance(node, gast.Name) and node.id in unit.definitions.receivers:
        return False
    while isinstance(node, (gast.Attribute, gast.Subscript)):
        node = node.value
    if not isinstance(node, gast.Name) or node.id in unit.locals:
        return not isinstance(node, gast.Name) or node.id not in unit.arguments.opaque
    value = unit.resolve(node)
    return value is MISSING or trust_of_object(value) != Trust.ANY or attributes_of(value) is not None


def may_have_method(unit: Unit, method: gast.AST, cls: type) -> bool:
    """Whether `x.method` may be the method of `cls`, a class of Python's or NumPy's.  Decided by the class of `x` where that
    is known, and otherwise by the name, if `x` may be an array or a builtin container."""
    if not isinstance(method, gast.Attribute) or unit.resolve(method) is not MISSING:
        return False
    if isinstance(method.value, gast.Dict):
        return cls is dict
    if (made := unit.definitions.receivers.get(getattr(method.value, "id", ""))) is not None:
        return cls is dict and issubclass(made, cls) and _code(made, method.attr) is _code(cls, method.attr)
    owner_class = _class_of(unit, method.value)
    if owner_class is not None and _code(owner_class, method.attr) is not _code(cls, method.attr):
        return False
    return may_be_array(unit, method.value)


def _class_of(unit: Unit, node: gast.AST) -> type | None:
    """The class of a free name's value, or of an argument that is an object; None if unknown."""
    value = unit.resolve(node)
    if value is not MISSING:
        return type(value)
    opened = _opened(unit, node)
    return None if opened is None else opened.cls


def note_receivers(unit: Unit, tree: gast.FunctionDef, owner: type | None = None) -> None:
    """Find the names that are bound to new objects alone, and the object of a method of the class `owner`."""
    bound = all_bindings(tree)
    first = next(iter(parameters(tree)), None)
    if owner is not None and first is not None and bound[first.id] == 1:
        unit.definitions.receivers[first.id] = owner
    made = [(s.targets[0].id, unit.called(s.value)) for s in statements_in(tree.body)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)]  # fmt: skip
    for local, times in Counter(local for local, cls in made if is_plain_class(cls)).items():
        classes = {cls for n, cls in made if n == local}
        if times == bound[local] and len(classes) == 1:
            unit.definitions.receivers[local] = classes.pop()


def _opened(unit: Unit, node: gast.AST) -> Opened | None:
    """What is known of an argument that is an object, or of an attribute of one."""
    if isinstance(node, gast.Attribute):
        owner = _opened(unit, node.value)
        return None if owner is None else owner.parts.get(node.attr)
    return unit.arguments.opened.get(node.id) if isinstance(node, gast.Name) else None


def _code(cls: type, method: str) -> Any:
    """The code that a method runs: each named tuple class has its own functions, with shared code."""
    function = getattr(cls, method, None)
    return its(function, "__code__", function)


def is_literal(node: gast.AST) -> bool:
    """Whether an argument is a constant."""
    return isinstance(node.operand if isinstance(node, gast.UnaryOp) else node, gast.Constant)


def walruses(node: gast.AST) -> set[str]:
    """The names that `:=` binds in an expression."""
    return {n.target.id for n in nodes(node) if isinstance(n, gast.NamedExpr)}


def holds_loops(node: gast.AST) -> bool:
    """Whether an expression contains a comprehension, which becomes a loop before the statement."""
    return any(isinstance(n, (gast.ListComp, gast.DictComp, gast.GeneratorExp)) for n in nodes(node))


def pops(node: gast.AST) -> bool:
    """Whether an expression removes or adds an item of a container, so that it must be evaluated exactly once."""
    methods = (n.func.attr for n in nodes(node) if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute))
    return any(is_named(method, list.append, list.pop, dict.pop, dict.setdefault, deque.popleft) for method in methods)


def calls_user(unit: Unit, value: gast.AST) -> bool:
    """Whether an expression calls a user's function, which may write its arguments."""
    target = unit.called(value)
    return isinstance(target, (types.FunctionType, types.MethodType)) and not is_ours(target)


def linked(node: gast.Compare, left: gast.AST, middle: gast.AST) -> gast.BoolOp:
    """`a < b < f(c)` as `a < b and b < f(c)`: the call is skipped if the first comparison fails."""
    first = gast.Compare(left, node.ops[:1], [middle])
    return at(node, gast.BoolOp(gast.And(), [first, gast.Compare(clone(middle), node.ops[1:], node.comparators[1:])]))[0]
