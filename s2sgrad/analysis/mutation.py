"""What a function that is only called, not differentiated, may change: its arguments, or state outside of it.

    def keep(v): CACHE.append(v)      changes what it reaches      def helper(y): y[0] = 0.0      changes its argument

Everything that is not plainly local counts: a wrong "it changes nothing" would be a wrong gradient.
"""

from __future__ import annotations

import builtins
import functools
import types
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.errors import S2SGradError
from s2sgrad.quote import nodes
from s2sgrad.rules import spellings, table
from s2sgrad.source import read
from s2sgrad.unit import MISSING, Unit, parameters

FORBIDDEN = {builtins.exec, builtins.eval, builtins.locals, builtins.globals, builtins.vars, builtins.setattr,
             builtins.delattr}  # fmt: skip
"""Builtins through which values come and go unseen."""

_FRESH_CALLS = {
    "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "array", "copy",
    "mean", "prod", "max", "min", "std", "var", "dot", "item", "round", "list", "dict", "set", "range",
    "len", "float", "int", "arange", "linspace", "sum",
}  # fmt: skip
_FRESH = (gast.Constant, gast.List, gast.Dict, gast.Set, gast.Tuple, gast.ListComp, gast.DictComp, gast.SetComp, gast.BinOp,
          gast.Compare, gast.JoinedStr)  # fmt: skip


@dataclass(frozen=True)
class Writes:
    """The parameters that a function may change (`ANY`: all), and whether it may change anything else that outlives it."""

    arguments: frozenset[str]
    outside: bool


ANY = "*"
_NOTHING, _ANYTHING = Writes(frozenset(), False), Writes(frozenset((ANY,)), True)


def of(function: types.FunctionType) -> Writes:
    """What calling a user function may change, its own callees included."""
    return _of(function, frozenset())


def forget() -> None:
    """Look at user functions anew: what their names stand for may have changed."""
    _scanned_once.cache_clear()


def _of(function: types.FunctionType, above: frozenset[int]) -> Writes:
    if id(function) in above:
        return _NOTHING
    return _scanned(function, above | {id(function)}) if above else _scanned_once(function)


@functools.lru_cache(maxsize=1024)
def _scanned_once(function: types.FunctionType) -> Writes:
    return _scanned(function, frozenset((id(function),)))


def _scanned(function: types.FunctionType, above: frozenset[int]) -> Writes:
    try:
        unit, tree = Unit.of(read(function))
    except S2SGradError:
        return _ANYTHING
    own = _own_names(unit, tree)
    given = {p.id for p in parameters(tree)}
    arguments: set[str] = set()
    outside = False
    for node in nodes(tree):
        changed: list[gast.AST] = []
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            outside = True
        elif isinstance(node, (gast.Assign, gast.Delete)):
            changed = [t for t in node.targets for t in nodes(t) if isinstance(t, (gast.Subscript, gast.Attribute))]
        elif isinstance(node, (gast.AugAssign, gast.AnnAssign)):
            changed = [node.target] if not isinstance(node, gast.AnnAssign) or not isinstance(node.target, gast.Name) else []
        elif isinstance(node, gast.Call):
            inner = _call(unit, node, above)
            outside |= inner.outside
            changed = [*node.args, *(k.value for k in node.keywords)] if inner.arguments else []
            if isinstance(node.func, gast.Attribute) and node.func.attr in spellings.MUTATING_METHODS:
                changed.append(node.func.value)
        for part in changed:
            root = _root(part)
            if root is None or root in own or isinstance(part, gast.Constant):
                continue
            if root in given or root in unit.locals:
                arguments.add(root if root in given else ANY)
            else:
                outside = True
    return Writes(frozenset(arguments), outside)


def _call(unit: Unit, node: gast.Call, above: frozenset[int]) -> Writes:
    target = unit.resolve(node.func)
    if isinstance(target, types.FunctionType) and not effects.is_library(target):
        return _of(target, above)
    try:
        if target in FORBIDDEN:
            return _ANYTHING
        if target in spellings.MUTATORS or writes_out(node, target):
            return Writes(frozenset((ANY,)), False)
    except TypeError:
        return _ANYTHING
    known = effects.is_library(target) or isinstance(node.func, gast.Attribute)
    return _NOTHING if known else _ANYTHING


def writes_out(node: gast.Call, target: Any) -> bool:
    """Whether a call passes `out=`, by keyword or by position."""
    if isinstance(target, types.FunctionType) and not effects.is_library(target):
        return False  # what a user calls `out` is looked at where it is called
    count = getattr(target, "nin", None)
    return any(k.arg == "out" for k in node.keywords) or (isinstance(count, int) and len(node.args) > count)


def _own_names(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """Local names that only ever hold values made in the function."""
    made: dict[str, bool] = {p.id: False for p in parameters(tree)}
    for node in nodes(tree):
        if isinstance(node, gast.Assign):
            for target in node.targets:
                if isinstance(target, gast.Name):
                    made[target.id] = made.get(target.id, True) and _is_made(unit, node.value)
                elif isinstance(target, (gast.Tuple, gast.List)):
                    fresh = isinstance(node.value, gast.Tuple) and all(_is_made(unit, e) for e in node.value.elts)
                    for name in (n.id for n in nodes(target) if isinstance(n, gast.Name)):
                        made[name] = made.get(name, True) and fresh
        elif isinstance(node, (gast.For, gast.NamedExpr)):
            made.update({n.id: False for n in nodes(node.target) if isinstance(n, gast.Name)})
        elif isinstance(node, gast.withitem) and node.optional_vars is not None:
            made.update({n.id: False for n in nodes(node.optional_vars) if isinstance(n, gast.Name)})
        elif isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name is not None:
            made[node.name] = False
    return {name for name, fresh in made.items() if fresh}


def _is_made(unit: Unit, value: gast.AST) -> bool:
    """Whether an expression gives a value that nothing else refers to, or that cannot be changed."""
    if isinstance(value, gast.Call):
        target = unit.resolve(value.func)
        rule = None if target is MISSING else table.lookup(target)
        if (rule is not None and rule.tag == "elementwise") or getattr(target, "__module__", "") == "math":
            return True
        name = value.func.attr if isinstance(value.func, gast.Attribute) else getattr(value.func, "id", "")
        return name in _FRESH_CALLS
    return isinstance(value, _FRESH)


def _root(node: gast.AST) -> str | None:
    while isinstance(node, (gast.Subscript, gast.Attribute, gast.Starred)):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None
