"""Compares the running code with what the text compiles to."""

from __future__ import annotations

import types
from typing import Any

from s2sgrad.source.primal import GENERATED

_SIGNATURE_FLAGS = 0x04 | 0x08 | 0x20 | 0x80 | 0x200  # *args, **kwargs, generator, coroutine, async generator


def same_code(running: types.CodeType, fresh: types.CodeType) -> bool:
    """Whether a function's code equals what its text compiles to."""
    if running.co_filename.startswith(GENERATED):
        return (running.co_name, running.co_firstlineno) == (fresh.co_name, fresh.co_firstlineno)
    count = running.co_argcount + running.co_kwonlyargcount + _extra_arguments(running)
    if (
        running.co_argcount != fresh.co_argcount
        or running.co_posonlyargcount != fresh.co_posonlyargcount
        or running.co_kwonlyargcount != fresh.co_kwonlyargcount
        or (running.co_flags ^ fresh.co_flags) & _SIGNATURE_FLAGS
        or running.co_freevars != fresh.co_freevars
        or running.co_varnames[:count] != fresh.co_varnames[:count]
    ):
        return False
    if any(name.startswith("@py") for name in running.co_names + running.co_varnames):
        # pytest rewrote the asserts: it adds names of its own, and the instructions differ.
        written = {name for name in running.co_varnames + running.co_cellvars if not name.startswith("@py")}
        return written == {*fresh.co_varnames, *fresh.co_cellvars} and set(running.co_names) >= set(fresh.co_names)
    return (
        running.co_code == fresh.co_code
        and running.co_names == fresh.co_names
        and running.co_varnames == fresh.co_varnames
        and running.co_cellvars == fresh.co_cellvars
        and _same_constant(running.co_consts, fresh.co_consts)
    )


def _extra_arguments(code: types.CodeType) -> int:
    return bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)


def _same_constant(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, types.CodeType):
        return one.co_name == other.co_name and same_code(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same_constant, one, other))
    if isinstance(one, (float, complex)):
        return repr(one) == repr(other)  # distinguishes 0.0 from -0.0; nan equals nan
    return bool(one == other)
