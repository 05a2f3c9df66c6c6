"""The kinds of existing values: arguments, constants in the text, objects of the module.

    kinds_of((x, y)), x of shape (3, 4), y of shape (4,)      ->      equal sizes get one symbol

>>> kinds_of((np.zeros((3, 4)), np.zeros(4), 1))
(Array('float64', (Size(0, 0), Size(1, 0))), Array('float64', (Size(1, 0),)), Number(int, False, None))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from s2sgrad.analysis.kinds import (
    DRAWING,
    OPAQUE,
    STRUCTURED,
    UNKNOWN,
    Array,
    Assignable,
    Container,
    Foreign,
    Instance,
    Kind,
    Known,
    Number,
    Opaque,
    Plain,
    Text,
)
from s2sgrad.analysis.module_functions import is_function_of_module
from s2sgrad.analysis.plain_classes import (
    DEEPEST,
    LONGEST,
    Opened,
    assigning,
    attributes_of,
    draws,
    hides_methods,
    leads_back,
    runs_nothing,
)
from s2sgrad.analysis.sizes import Size
from s2sgrad.runtime.asking import has
from s2sgrad.runtime.guests import has_operators, is_array_of_others
from s2sgrad.runtime.subclasses import computes_otherwise, is_otherwise, reads_otherwise


@dataclass(frozen=True)
class Guest(Opaque):
    """An array of another library: a Series, a dask array; or a list or number whose class has methods of its own."""

    cls: type = object


def kinds_of(values: Iterable[Any]) -> tuple[Kind, ...]:
    """The kinds of run-time values; sizes are numbered in order of first appearance.  Functions of libraries are known."""
    sizes: dict[int, int] = {}
    return tuple(Known(v) if is_function_of_module(v) else _kind_of(v, sizes) for v in values)


def kinds_by_name(arguments: dict[str, Any], given: set[str]) -> dict[str, Kind]:
    """The kinds of arguments by parameter; of the parameters that are not `given`, functions are known."""
    kinds = dict(zip(arguments, kinds_of(arguments.values()), strict=True))
    return kinds | {p: Known(v) for p, v in arguments.items() if p not in given and isinstance(v, _FUNCTIONS)}


_FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum))


def _kind_of(v: Any, sizes: dict[int, int], above: tuple[Any, ...] = ()) -> Kind:
    """The kind of one value; `above`: the objects that hold it, the outermost first."""
    if isinstance(v, (float, int, complex, np.generic)) and not isinstance(v, (np.str_, np.bytes_)):
        if is_otherwise(type(v)):
            return Guest(False, type(v))
        return STRUCTURED if isinstance(v, np.void) else Number(type(v))
    if isinstance(v, np.ndarray):
        return _array(v, sizes)
    if v is None or isinstance(v, ModuleType):
        return Known(v)
    if isinstance(v, str):
        return Text()
    return _container(v, sizes, above) or _object(v, sizes, above)


def _array(v: np.ndarray, sizes: dict[int, int]) -> Kind:
    if type(v) is not np.ndarray:
        if isinstance(v, (np.matrix, np.ma.MaskedArray)) or computes_otherwise(type(v)):
            plain = "x.filled(0.0)" if isinstance(v, np.ma.MaskedArray) else "np.asarray(x)"
            raise TypeError(f"operators of a {type(v).__name__} mean something else than an array's: pass `{plain}`")
        return _object(v, sizes, ())
    if v.dtype.names is not None and not v.dtype.hasobject:
        return STRUCTURED
    if v.dtype.kind not in "fiubc":
        return OPAQUE if v.dtype.hasobject else UNKNOWN
    return Array(v.dtype.name, tuple(n if n < 2 else Size(sizes.setdefault(n, len(sizes))) for n in v.shape))


def _container(v: Any, sizes: dict[int, int], above: tuple[Any, ...]) -> Kind | None:
    """The kind of a built-in list, tuple or dict, or of a named tuple; None for anything else."""
    if leads_back(v, above):
        return None
    if reads_otherwise(type(v)):
        return Guest(False, type(v))
    fields = getattr(type(v), "_fields", None)
    if isinstance(v, tuple) and fields is not None:
        if has_operators(type(v)):
            return Guest(False, type(v))
        if hides_methods(type(v)):
            return OPAQUE
        return Container(tuple, tuple(_kind_of(item, sizes, above) for item in v), tuple(fields))
    if type(v) in (list, tuple):
        whole = Container(type(v), tuple(_kind_of(item, sizes, above) for item in v))
        return whole if len(v) <= LONGEST else Container(type(v), None, None, whole.element())
    if type(v) is dict and all(isinstance(k, (str, int)) for k in v) and len(v) <= LONGEST:
        return Container(dict, tuple(_kind_of(item, sizes, above) for item in v.values()), tuple(v))
    return None


def _object(v: Any, sizes: dict[int, int], above: tuple[Any, ...]) -> Kind:
    if methods := assigning(type(v)):
        return Assignable(methods=methods)
    found = _instance(v, sizes, above)
    if isinstance(found, Opaque) and (has_operators(type(v)) or is_array_of_others(type(v))):
        return Guest(found.quiet, type(v))
    operators = has(v, "__matmul__") and not has(v, "__array_ufunc__")
    return Foreign(found.quiet) if operators and isinstance(found, Opaque) else found


def _instance(v: Any, sizes: dict[int, int], above: tuple[Any, ...]) -> Kind:
    if isinstance(v, (np.ufunc, BuiltinFunctionType)) or (isinstance(v, FunctionType) and v.__closure__ is None):
        return Plain() if above else Opaque(quiet=True)
    if draws(v):
        return DRAWING
    held = attributes_of(v) if len(above) < DEEPEST else None
    if held is None or len(held) > LONGEST:
        return Opaque(quiet=runs_nothing(type(v)))
    return Instance(type(v), tuple(held), tuple(_kind_of(item, sizes, (*above, v)) for item in held.values()))


def opened(kind: Kind | None) -> Opened | None:
    """The parts of an argument of this kind, where plain instances are among them; None otherwise."""
    if isinstance(kind, Instance):
        return Opened(kind.cls, {n: opened(item) for n, item in zip(kind.names, kind.items, strict=True)})
    if isinstance(kind, Container) and kind.items is not None:
        places: Iterable[Any] = range(len(kind.items)) if kind.type is not dict else kind.keys or ()
        parts = {p: opened(item) for p, item in zip(places, kind.items, strict=True)}
        return Opened(None, parts) if any(part is not None for part in parts.values()) else None
    return None


def module_of(kind: Kind | None) -> Any:
    """The module that an argument of this kind is, or the function that is its default; None for any other kind."""
    return kind.value if isinstance(kind, Known) and isinstance(kind.value, (ModuleType, *_FUNCTIONS)) else None


def constant_kind(value: Any) -> Kind:
    """The kind of a constant in the text, or of a default."""
    if is_otherwise(type(value)):
        return Guest(False, type(value))
    if isinstance(value, (float, int, complex, np.generic)):
        return Number(type(value), True, value)
    return Known(value)
