"""What the passes over calls share: the text of a callee, whose method it may be, literals.

    xp.sort(x)   ->   callee: "xp.sort"
"""

from __future__ import annotations

import types
from collections import deque
from typing import Any

import gast

from s2sgrad.analysis.libraries import is_ours
from s2sgrad.analysis.plain_classes import Opened, attributes_of
from s2sgrad.analysis.trust import Trust, trust_of_object
from s2sgrad.ir.quote import at, clone, nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives.catalogue import is_named


def callee(node: gast.AST) -> str:
    """What is called, as far as it has a name: `x.sort`, `np.add.at`."""
    if isinstance(node, gast.Name):
        return node.id
    if isinstance(node, gast.Attribute):
        return f"{callee(node.value)}.{node.attr}"
    return f"{callee(node.value)}[..]" if isinstance(node, gast.Subscript) else ".."


def may_be_array(unit: Unit, node: gast.AST) -> bool:
    """Whether an expression may be an array or a plain container, whose methods are known by their names."""
    while isinstance(node, (gast.Attribute, gast.Subscript)):
        node = node.value
    if not isinstance(node, gast.Name) or node.id in unit.locals:
        return not isinstance(node, gast.Name) or node.id not in unit.opaque
    found = unit.resolve(node)
    return found is MISSING or trust_of_object(found) != Trust.ANY or attributes_of(found) is not None


def may_have_method(unit: Unit, method: gast.AST, cls: type) -> bool:
    """Whether `x.method` may be that of a class of Python's or NumPy's: where it is known what `x` is, whether it is; of
    anything else that may be an array or a plain container its name tells."""
    if not isinstance(method, gast.Attribute) or unit.resolve(method) is not MISSING:
        return False
    if isinstance(method.value, gast.Dict):
        return cls is dict
    known = _class_of(unit, method.value)
    if known is not None and _code(known, method.attr) is not _code(cls, method.attr):
        return False
    return may_be_array(unit, method.value)


def _class_of(unit: Unit, node: gast.AST) -> type | None:
    """The class of what a free name, or an argument that is an object, stands for; None where it is not known."""
    found = unit.resolve(node)
    if found is not MISSING:
        return type(found)
    opened = _opened(unit, node)
    return None if opened is None else opened.cls


def _opened(unit: Unit, node: gast.AST) -> Opened | None:
    """What is known of an argument that is an object, or of an attribute of one."""
    if isinstance(node, gast.Attribute):
        owner = _opened(unit, node.value)
        return None if owner is None else owner.parts.get(node.attr)
    return unit.opened.get(node.id) if isinstance(node, gast.Name) else None


def _code(cls: type, method: str) -> Any:
    """What a method runs: every named tuple has functions of its own, of the same code."""
    function = getattr(cls, method, None)
    return getattr(function, "__code__", function)


def is_literal(node: gast.AST) -> bool:
    """Whether an argument is one of Python's constants."""
    return isinstance(node.operand if isinstance(node, gast.UnaryOp) else node, gast.Constant)


def walruses(node: gast.AST) -> set[str]:
    """The names that `:=` binds in an expression."""
    return {n.target.id for n in nodes(node) if isinstance(n, gast.NamedExpr)}


def holds_loops(node: gast.AST) -> bool:
    """Whether a comprehension is part of the expression: it becomes a loop before it."""
    return any(isinstance(n, (gast.ListComp, gast.DictComp, gast.GeneratorExp)) for n in nodes(node))


def pops(node: gast.AST) -> bool:
    """Whether the expression changes a container, which happens once and is differentiated."""
    methods = (n.func.attr for n in nodes(node) if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute))
    return any(is_named(method, list.pop, dict.pop, dict.setdefault, deque.popleft) for method in methods)


def calls_user(unit: Unit, value: gast.AST) -> bool:
    """Whether an expression calls a function of the user's, which may write what it is given."""
    target = unit.called(value)
    return isinstance(target, (types.FunctionType, types.MethodType)) and not is_ours(target)


def linked(node: gast.Compare, left: gast.AST, middle: gast.AST) -> gast.BoolOp:
    """`a < b < f(c)` as `a < b and b < f(c)`: the call is not reached where the first link fails."""
    first = gast.Compare(left, node.ops[:1], [middle])
    return at(node, gast.BoolOp(gast.And(), [first, gast.Compare(clone(middle), node.ops[1:], node.comparators[1:])]))[0]
