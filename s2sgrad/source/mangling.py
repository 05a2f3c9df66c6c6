"""Writes out private names of a class: `__rate` in the body of `class Model` is `_Model__rate`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import gast

# The fields with identifiers that Python mangles.  Keywords of calls and attributes in class patterns are not mangled.
_IDENTIFIERS = {
    "Name": ("id",),
    "Attribute": ("attr",),
    "FunctionDef": ("name",),
    "AsyncFunctionDef": ("name",),
    "ClassDef": ("name",),
    "Global": ("names",),
    "Nonlocal": ("names",),
    "MatchAs": ("name",),
    "MatchStar": ("name",),
    "MatchMapping": ("rest",),
    "TypeVar": ("name",),
    "ParamSpec": ("name",),
    "TypeVarTuple": ("name",),
}


def scoped_children(node: Any, class_name: str | None) -> Iterator[tuple[Any, str | None]]:
    """The children of a node, each with the class whose private names apply there."""
    for name, value in ast.iter_fields(node):
        # Only the body of a class is inside it: bases and decorators are not.
        inner = node.name if name == "body" and isinstance(node, (ast.ClassDef, gast.ClassDef)) else class_name
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST):
                yield child, inner


def mangle(tree: gast.FunctionDef, class_name: str) -> None:
    """Write out the private names of a class, in place; the name of the function itself is kept."""
    todo: list[tuple[Any, str | None]] = list(scoped_children(tree, class_name))
    while todo:
        node, inside = todo.pop()
        todo.extend(scoped_children(node, inside))
        kind = type(node).__name__
        fields = _IDENTIFIERS.get(kind, ())
        if kind == "alias":
            fields = ("asname",) if node.asname else ("name",)
        for name in fields:
            value = getattr(node, name)
            if isinstance(value, list):
                setattr(node, name, [_mangled(item, inside) for item in value])
            elif isinstance(value, str):
                setattr(node, name, _mangled(value, inside))


def _mangled(name: str, class_name: str | None) -> str:
    bare = (class_name or "").lstrip("_")
    if not bare or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    return f"_{bare}{name}"
