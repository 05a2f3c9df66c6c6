"""Names and expressions in the text of a run: constants, imported objects, views of arrays.

np.array([1.0, 2.0])      a constant            x[2:, 0]      a view, told by where it lies in the memory of `x`
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import keyword
import sys
import types
from typing import Any

import gast
import numpy as np

from s2sgrad import source
from s2sgrad.runtime.asking import its

_LARGEST = 200  # items of a constant array


class NotShown(Exception):
    """What the text of a run cannot say."""


class Names:
    """Names of the text, each used once, and the imports at its top.  `space` has the objects behind them."""

    def __init__(self, reserved: set[str]) -> None:
        self.taken = {"np", *reserved}
        self.space: dict[str, Any] = {"np": np}
        self.imports: list[str] = ["import numpy as np"]
        self.definitions: list[str] = []
        self.copied: dict[str, Any] = {}

    def new(self, wish: str) -> str:
        """A name that nothing has."""
        wish = wish if wish.isidentifier() and not keyword.iskeyword(wish) and not wish.startswith("__") else "t"
        name, count = wish, 1
        while name in self.taken or hasattr(builtins, name) or f"{name}_bar" in self.taken:
            count += 1
            name = f"{wish}_{count}"
        self.taken |= {name, f"{name}_bar"}
        return name

    def of_object(self, value: Any, wish: str = "") -> str:
        """An expression for a function or a module, which is imported."""
        own: str = its(value, "__name__", wish)
        for module, spelled in ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft")):
            if value is module:
                return spelled
            if getattr(module, own, None) is value:
                return f"{spelled}.{own}"
        if getattr(builtins, own, None) is value and own not in self.taken:
            return own
        name = wish or own
        if self.space.get(name) is not value:
            while name in self.taken:
                name += "_"
            self._import(value, own, name)
        return name

    def of_rule(self, pullback: Any, wish: str) -> str:
        """The name of a pullback, which is copied with what it reads."""
        name = f"{wish}_{len(self.definitions) + 1}" if wish in self.taken else wish
        tree = source.read(pullback).fresh_tree()
        tree.decorator_list, tree.name = [], name
        text = ast.unparse(gast.gast_to_ast(tree))
        code = next(c for c in compile(text, "<rule>", "exec").co_consts if isinstance(c, types.CodeType))
        for read in _globals_of(code):
            if read in pullback.__globals__:
                value = pullback.__globals__[read]
                if isinstance(value, (int, float)) or self.of_object(value, read) != read:
                    raise NotShown(read)
        known = next((n for n, t in self.copied.items() if t is pullback), None)
        if known is not None:
            return known
        self.copied[name] = pullback
        self.taken.add(name)
        self.definitions += ["", "", *text.splitlines()]
        exec(text, self.space)
        return name

    def _import(self, value: Any, own: str, name: str) -> None:
        if isinstance(value, types.ModuleType):
            line = f"import {own}" if own == name else f"import {own} as {name}"
        else:
            home = its(value, "__module__", None) or type(value).__module__
            if getattr(sys.modules.get(home), own, None) is not value:
                raise NotShown(own)
            line = f"from {home} import {own}" + ("" if own == name else f" as {name}")
        self.imports.append(line)
        self.taken.add(name)
        self.space[name] = value


def _globals_of(code: types.CodeType) -> set[str]:
    """The names that a function reads from outside."""
    out = set(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            out |= _globals_of(inner)
    return out


def constant(value: Any) -> str:
    """A constant as an expression.

    >>> constant(np.float64(0.5)), constant(-2), constant((1, None)), constant(np.ones((2, 2)))
    ('0.5', '(-2)', '(1, None)', 'np.ones((2, 2))')
    """
    if isinstance(value, (float, np.float64)):
        if not np.isfinite(value):
            return "np.nan" if value != value else "np.inf" if value > 0 else "(-np.inf)"
        return repr(float(value)) if value >= 0.0 else f"({float(value)!r})"
    if type(value) is int:
        return repr(value) if value >= 0 else f"({value!r})"
    if value is None or type(value) in (bool, str, type(...)):
        return "..." if value is ... else repr(value)
    if isinstance(value, slice):
        return f"slice({constant(value.start)}, {constant(value.stop)}, {constant(value.step)})"
    if type(value) is tuple:
        return f"({', '.join(map(constant, value))}{',' if len(value) == 1 else ''})"
    if type(value) is list:
        return f"[{', '.join(map(constant, value))}]"
    if isinstance(value, type) and value in (float, int, bool):
        return value.__name__
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "fiub" and value.size <= _LARGEST:
        return _array(value)
    raise NotShown("a constant")


def _array(value: Any) -> str:
    if isinstance(value, np.generic):
        return f"np.{type(value).__name__}({constant(value.item())})"
    usual = value.dtype in (float, np.dtype(int), bool)
    dtype = "" if usual else f", dtype=np.{value.dtype.name}"
    for number, word in ((0.0, "zeros"), (1.0, "ones")):
        if value.size > 1 and value.dtype.kind == "f" and np.all(value == number):
            return f"np.{word}({value.shape if value.ndim != 1 else value.size}{dtype})"
    if not value.size:
        return f"np.zeros({value.shape}, dtype=np.{value.dtype.name})"
    return f"np.array({constant(value.tolist())}{dtype})"


def index_text(index: Any) -> str:
    """An index between brackets.

    >>> index_text((slice(1, None), 0)), index_text(slice(None, None, 2)), index_text(...)
    ('1:, 0', '::2', '...')
    """
    if isinstance(index, tuple) and index:
        return ", ".join(map(index_text, index)) + ("," if len(index) == 1 else "")
    if isinstance(index, slice):
        start, stop, step = ("" if k is None else str(k) for k in (index.start, index.stop, index.step))
        return f"{start}:{stop}" + (f":{step}" if step else "")
    return str(index) if type(index) is int else constant(index)


def view_text(name: str, owner: np.ndarray, where: np.ndarray, offset: int) -> str:
    """The expression for a part of an array."""
    if where is owner:
        return name
    order = np.empty(owner.size, int)  # of each place in the memory: the item of the owner that is there
    size = owner.itemsize
    logical = np.arange(owner.size).reshape(owner.shape)
    here = np.ndarray(owner.shape, int, order, 0, tuple(s // size * order.itemsize for s in owner.strides))
    here[...] = logical
    strides = tuple(s // size * order.itemsize for s in where.strides)
    wanted = np.array(np.ndarray(where.shape, int, order, offset * order.itemsize, strides)) if where.size else None
    if wanted is None:
        raise NotShown("a view of nothing")
    for text in _candidates(owner, wanted):
        with contextlib.suppress(ValueError, IndexError):  # no such shape
            if np.array_equal(eval(f"x{text}", {"x": logical}), wanted):
                return name + text
    raise NotShown("a view")


def _candidates(owner: np.ndarray, wanted: np.ndarray) -> list[str]:
    out = []
    places = np.unravel_index(wanted, owner.shape) if owner.ndim else ()
    index: list[Any] = []
    for axis, n in zip(places, owner.shape, strict=True):
        along = np.unique(axis)
        if len(along) == 1:
            index.append(int(along[0]))
            continue
        step = int(along[1] - along[0])
        whole = step == 1 and along[0] == 0 and len(along) == n
        stop = int(along[-1]) + 1
        bounds = int(along[0]) or None, None if stop == n else stop, step if step > 1 else None
        index.append(slice(None) if whole else slice(*bounds))
    while index and index[-1] == slice(None):
        index.pop()
    picked = f"[{index_text(tuple(index) if len(index) > 1 else index[0])}]" if index else ""
    shape = wanted.shape if wanted.ndim != 1 else wanted.size
    out += [picked, f"{picked}.T", ".T" + picked, f"{picked}[::-1]", f".reshape({shape})", f"{picked}.reshape({shape})"]
    return [*out, f".T.reshape({shape})"]
