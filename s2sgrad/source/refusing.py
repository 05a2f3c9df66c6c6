"""The reasons why the source of a function is not available, as messages."""

from __future__ import annotations

import types
from typing import Any

from s2sgrad.runtime.asking import has, its

EDITED = "the running code is not what {} says: the file was edited after it was imported; reload it"
_OR = ", or give it a gradient of its own with `custom_gradient`"
_OWN = ": give it a gradient of its own with `custom_gradient`"


class Refusal(Exception):
    """A function was not found in its file; `read` adds its name and place."""


def no_function(thing: Any) -> str:
    """The message for an object that is no Python function."""
    slots = types.WrapperDescriptorType, types.MethodDescriptorType, types.MethodWrapperType
    if isinstance(thing, (types.BuiltinFunctionType, *slots)):
        return f"{thing!r} has no Python source{_OWN}"
    if isinstance(thing, type):
        return f"{thing.__qualname__} is a class, not a function: pass a method, or a function that makes an object"
    kind = type(thing).__qualname__
    name = its(thing, "__name__", None) if not isinstance(thing, types.ModuleType) else None
    if isinstance(name, str):
        inner = f": pass {name}.__wrapped__, the function that it wraps" if has(thing, "__wrapped__") else _OWN
        return f"{name} (an object of type {kind}) has no Python source{inner}"
    return f"an object of type {kind} has no Python source: pass a function, a lambda or a method"


def no_text(shown: str, filename: str) -> str:
    """The message for a function whose file is empty or missing."""
    if filename in ("<stdin>", "<string>"):
        how = "" if filename == "<stdin>" else " (or made by exec)"
        return f"{shown} was typed into an interpreter that keeps no source{how}: put it in a file or a notebook{_OR}"
    if filename.startswith("<") and filename.endswith(">"):
        return (
            f"{shown} was compiled from a string under the name {filename}, and linecache holds no text of that name: "
            "put the function in a file or a notebook"
        )
    return f"{shown}: the file {filename} cannot be read"
