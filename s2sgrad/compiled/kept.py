"""Calls of library functions that have no loops: NumPy computes them, between the loops.

    y = np.unwrap(x)      ->      a0 = as_array(np.unwrap(x), 'float64', 1)

Only pure functions, whose results are new memory.  What type a result has, the kinds say; it is checked, and sizes are read
from it.  A result of another type raises, and the text runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from s2sgrad.analysis import array_members, call_results, libraries
from s2sgrad.analysis.kinds import Array, Container, Kind, Known, Number
from s2sgrad.analysis.sizes import Size
from s2sgrad.compiled import elementwise, scalars
from s2sgrad.compiled.lowering import Lowering
from s2sgrad.compiled.values import (
    BOOL,
    FLOAT,
    INT,
    ONE,
    SINGLE,
    Extent,
    Items,
    Object,
    Scalar,
    Unfit,
    is_array,
    mapped,
    whole,
)
from s2sgrad.compiled.writer import Again
from s2sgrad.errors import S2SGradError
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.record import Gives
from s2sgrad.runtime.asking import its

_DTYPES = (FLOAT, SINGLE, INT, BOOL)
_TYPES = {FLOAT: (float, np.float64), INT: (int, np.int64), BOOL: (bool, np.bool_)}
_NUMBERS = {float: "float", np.float64: FLOAT, int: "int", np.int64: INT, bool: "bool", np.bool_: "bool_"}


def lowered_or_kept(
    self: Lowering, target: Any, arguments: list[Any], keywords: dict[str, Any], lower: Callable[[], Any]
) -> Any:
    """The value of a call, by its loops; where it has none, and may be kept, as NumPy computes it."""
    key = _key(target, arguments, keywords)
    if key in self.found.kept:
        try:
            return _kept(self, target, arguments, keywords)
        except Unfit:
            raise Unfit(self.found.kept[key]) from None
    try:
        return lower()
    except (Unfit, S2SGradError) as why:
        if not _may_be_kept(target):
            raise
        self.found.kept[key] = str(why).partition("\n")[0]
        raise Again from None


def _key(target: Any, arguments: list[Any], keywords: dict[str, Any]) -> Hashable:
    return id(target), *map(_said, arguments), *((n, _said(v)) for n, v in sorted(keywords.items()))


def _said(value: Any) -> Hashable:
    """What a call of these arguments has in common with others that have loops, or none."""
    if isinstance(value, Items):
        return tuple(map(_said, value.items))
    if isinstance(value, Object):
        return str(value.value)
    if isinstance(value, Scalar):
        return value.text if not value.reads and value.affine is not None and value.affine.base is None else value.dtype
    return (value.dtype, value.rank) if is_array(value) else "other"


def _may_be_kept(target: Any) -> bool:
    """Whether a call has no effects, and its result is new memory, or may be."""
    what = catalogue.of(target)
    if what.writes or what.effect or what.is_given or _spelling(target) is None:
        return False
    return (what.pure and what.gives is Gives.NEW) or libraries.is_ours(target)


def _spelling(target: Any) -> tuple[str, str] | None:
    """The module of a function, and its name in it."""
    name = its(target, "__name__", None) or ""
    home = its(target, "__module__", None) or ""
    if name and getattr(np.ndarray, name, None) is target:
        return "", name
    for module in (home, "numpy", "scipy.special"):
        if name and getattr(sys.modules.get(module), name, None) is target:
            return module, name
    return None


def _kept(self: Lowering, target: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    spelling = _spelling(target)
    assert spelling is not None
    module, name = spelling
    values = [mapped(partial(_certain, self), v) for v in [*arguments, *keywords.values()]]
    sizes: dict[str, int] = {}
    kinds, names = [_kind(self, v, sizes) for v in values], [*keywords]
    kind: Kind | None
    if module:
        kind = call_results.exact(target, kinds, names) or call_results.by_example(target, kinds, names)
    else:
        kind = array_members.method(kinds[0], name, kinds[1:], names) if isinstance(kinds[0], Array) else None
    expected = _expected(kind)
    if isinstance(expected, list) and libraries.is_ours(target):
        raise Unfit("a tuple of what may be the same array")
    texts = [_text(self, v) for v in values]
    texts = [*texts[: len(arguments)], *(f"{n}={t}" for n, t in zip(names, texts[len(arguments) :], strict=True))]
    function = f"{texts.pop(0)}.{name}" if not module else _function(self, module, name)
    call = f"{function}({', '.join(texts)})"
    if libraries.is_ours(target):  # it may return one of its arguments
        call = f"np.array({call})" if expected[1] else call
    self.outside.kept.add((self.line, name))
    if isinstance(expected, list):
        parts = [_result(self, *e) for e in expected]
        said = ", ".join(f"({dtype!r}, {len(ones)})" for dtype, ones in expected)
        self.writer.line(f"({', '.join(n for n, _ in parts)},) = as_items({call}, {said})")
        return Items(tuple(_measured(self, v, n) for n, v in parts))
    own, value = _result(self, *expected)
    dtype, rank = expected[0], len(expected[1])
    self.writer.line(f"{own} = as_array({call}, {dtype!r}, {rank})" if rank else f"{own} = as_number({call}, {dtype!r})")
    return _measured(self, value, own)


def _certain(self: Lowering, part: Any) -> Any:
    """A value of which the type is certain: integers and truth values that are NumPy's at times are to be Python's, and
    floats NumPy's."""
    if not isinstance(part, Scalar):
        return part
    if part.own and part.dtype in (INT, BOOL):
        self.writer.line(f"of_numpy(not ({self.writer.asked(part.own)}))")
        return replace(part, own="", weak=True)
    if part.own and not part.weak:
        self.writer.line(f"of_numpy({self.writer.asked(part.own)})")
        part = replace(part, own="", python=False)
    return elementwise.certain(self.writer, part)


def _function(self: Lowering, module: str, name: str) -> str:
    """How to write a function of a module."""
    if module.partition(".")[0] == "numpy" and "._" not in module:
        return f"np{module.removeprefix('numpy')}.{name}"
    for own, (home, called) in self.outside.imports.items():
        if (home, called) == (module, name):
            return own
    own = self.writer.fresh(f"{name}_")
    self.outside.imports[own] = (module, name)
    return own


def _kind(self: Lowering, value: Any, sizes: dict[str, int]) -> Kind:
    """The kind of a value; `sizes`: the number of each size that has a name."""
    if isinstance(value, Items) and value.type is dict:
        raise Unfit("a dict that is handed to a library")
    if isinstance(value, Items):
        return Container(value.type, tuple(_kind(self, v, sizes) for v in value.items))
    if isinstance(value, Object) and (value.value is None or isinstance(value.value, str)):
        return Known(value.value)
    if is_array(value):
        extents = map(self.writer.canonical, value.extents)
        dims = (e.offset if e.base is None else Size(sizes.setdefault(e.base, len(sizes)), e.offset) for e in extents)
        return Array(value.dtype, tuple(dims))
    if not isinstance(value, Scalar) or value.dtype not in _TYPES:
        raise Unfit("an argument of this type")
    type_ = _TYPES[value.dtype][0 if value.python else 1]
    if value.affine is not None and value.affine.base is None:
        return Number(int, True, value.affine.offset)
    return Number(type_, True, value.text == "True") if value.text in ("True", "False") else Number(type_)


def _text(self: Lowering, value: Any) -> str:
    """An argument as Python, or numba's way back to it, hands it over."""
    if isinstance(value, Items):
        texts = ", ".join(_text(self, v) for v in value.items)
        return f"[{texts}]" if value.type is list else f"({texts},)"
    if isinstance(value, Object):
        return repr(value.value)
    if is_array(value):
        memory: str = self.writer.in_memory(value).root
        return memory
    value = self.writer.settled(value)
    return f"np.float64({value.text})" if value.dtype == FLOAT and not value.weak else value.text


def _expected(kind: Kind | None) -> Any:
    """The dtype of a result, or the type of a number, and which axes have length 1; a list of these for a tuple."""
    if isinstance(kind, Container) and kind.type is tuple and kind.items:
        return [_expected(k) for k in kind.items if not isinstance(k, Container)] if _are_flat(kind) else _unknown()
    if isinstance(kind, Array) and kind.dtype in _DTYPES and kind.rank:
        return kind.dtype, tuple(n == 1 for n in kind.dims or ())
    if isinstance(kind, Number):
        type_ = _NUMBERS.get(kind.type or object) or (FLOAT if kind.double else None)
        return (type_, ()) if type_ is not None else _unknown()
    return _unknown()


def _are_flat(kind: Container) -> bool:
    return not any(isinstance(k, Container) for k in kind.items or ())


def _unknown() -> Any:
    raise Unfit("a result of unknown type")


def _result(self: Lowering, dtype: str, ones: tuple[bool, ...]) -> tuple[str, Any]:
    """A name for a result, and what it stands for; the sizes are not known yet."""
    if not ones:
        name, type_ = self.writer.fresh("t"), scalars.NUMBERS[dtype][0]
        python, dtype = type_ in (float, int, bool), scalars.NUMBERS[dtype][1]
        return name, Scalar(name, dtype, python, affine=Extent(name) if dtype == INT else None, weak=python)
    name = self.writer.fresh("a")
    return name, whole(name, tuple(ONE if one else Extent("?") for one in ones), dtype)


def _measured(self: Lowering, value: Any, name: str) -> Any:
    """A result, with the sizes that it has."""
    if isinstance(value, Scalar):
        return value
    extents = []
    for axis, extent in enumerate(value.extents):
        if extent == ONE:
            self.writer.line(f"same({name}.shape[{axis}], 1)")
        else:
            length = self.writer.fresh("n")
            extent = Extent(length)
            self.writer.line(f"{extent} = {name}.shape[{axis}]")
            self.writer.lengths.add(length)
        extents.append(extent)
    return whole(name, tuple(extents), value.dtype)
