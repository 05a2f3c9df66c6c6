"""Bindings made by imports inside a function, as far as they are known before it runs.

    def f(x): import numpy as np; ...      ->      np: the module

Compilation must not run a user's module: one that is not imported yet is unknown, except for libraries with rules.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Iterator
from typing import TypeAlias

import gast

from s2sgrad.ir.quote import nodes, statements_in
from s2sgrad.primitives.libraries import library, package
from s2sgrad.source import Binding

Import: TypeAlias = "gast.Import | gast.ImportFrom"


def statements(body: list[gast.AST]) -> list[Import]:
    """The imports in a function, except those in nested functions."""
    return [s for s in statements_in(body) if isinstance(s, (gast.Import, gast.ImportFrom))]


def bound_name(statement: Import, alias: gast.alias) -> str:
    """The name that one clause of an import binds."""
    bound: str = alias.asname or (alias.name.split(".")[0] if isinstance(statement, gast.Import) else alias.name)
    return bound


def binding(statement: Import, alias: gast.alias, function: types.FunctionType) -> Binding | None:
    """What one clause of an import binds its name to, and its origin; None if that is not known yet."""
    if isinstance(statement, gast.Import):
        found = _module(alias.name)
        if found is None:
            return None
        full = alias.name if alias.asname else alias.name.split(".")[0]
        return _of_module(full)
    module = source(statement, function)
    if module is None:
        return None
    if alias.name in vars(module):
        return Binding(vars(module)[alias.name], "global", alias.name, None, vars(module))
    return _of_module(f"{module.__name__}.{alias.name}")


def source(statement: gast.ImportFrom, function: types.FunctionType) -> types.ModuleType | None:
    """The module from which names are imported; None if it is not imported yet."""
    name = statement.module or ""
    if statement.level:
        package = function.__globals__.get("__package__") or ""
        try:
            name = importlib.util.resolve_name("." * statement.level + name, package)
        except ImportError:
            return None
    return _module(name)


def _of_module(name: str) -> Binding | None:
    module = _module(name)
    return None if module is None else Binding(module, "global", name, None, sys.modules)


def _module(name: str) -> types.ModuleType | None:
    module = sys.modules.get(name)
    if module is None and library(package(name)).quiet_import:
        try:
            module = importlib.import_module(name)
        except ImportError:
            return None
    return module if isinstance(module, types.ModuleType) else None


def is_code(value: object) -> bool:
    """Whether a value is code: a module, a function, a class."""
    return isinstance(value, types.ModuleType) or callable(value)


def bindings(tree: gast.FunctionDef, function: types.FunctionType) -> dict[str, Binding]:
    """The names that imports bind to one module, function or class each, and that have no other binding."""
    found: dict[str, Binding | None] = {}
    for statement in statements(tree.body):
        for alias in statement.names:
            name, made = bound_name(statement, alias), binding(statement, alias, function)
            known = found.get(name, made)
            same = made is not None and known is not None and known.value is made.value and is_code(made.value)
            found[name] = made if same else None
    others = _otherwise_bound(tree) if found else set()
    return {name: made for name, made in found.items() if made is not None and name not in others}


def looked_up(tree: gast.FunctionDef, function: types.FunctionType) -> Iterator[tuple[types.ModuleType, str, object]]:
    """The lookups of `from .. import ..` inside a function: the module, the name, and its present value."""
    for statement in statements(tree.body):
        module = source(statement, function) if isinstance(statement, gast.ImportFrom) else None
        if module is None:
            continue
        for alias in statement.names:
            if alias.name in vars(module):
                yield module, alias.name, vars(module)[alias.name]


def _otherwise_bound(tree: gast.FunctionDef) -> set[str]:
    out: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            out.add(node.id)
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            out |= set(node.names)
        elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)) and node is not tree:
            out.add(node.name)
        elif isinstance(node, (gast.MatchAs, gast.MatchStar, gast.MatchMapping)):
            out |= {n for n in (getattr(node, "name", None), getattr(node, "rest", None)) if isinstance(n, str)}
    return out
