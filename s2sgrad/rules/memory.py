"""Which primitives may return a view: a result that shares memory with an argument.

    np.ravel(x), x.T, np.asarray(x)   may share memory with x        np.sin(x), np.sum(x), np.array(x)   never do
"""

from __future__ import annotations

import builtins
import copy
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules import builtin_functions, einsum, table

ALWAYS = {np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.flip, np.fliplr, np.flipud, np.rot90, np.expand_dims,
          np.squeeze}  # fmt: skip
"""Functions whose result, of an array, is always a view of it that can be written."""

CONTIGUOUS = {np.reshape, np.ravel}
"""Functions whose result is surely a view where the array is contiguous."""

_SOMETIMES = {
    np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.atleast_1d, np.atleast_2d, np.atleast_3d,
    np.broadcast_to, np.broadcast_arrays, np.diagonal, np.diag, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit,
    np.real, np.imag, np.nan_to_num, np.einsum, np.require, np.lib.stride_tricks.as_strided, np.meshgrid, np.ndarray.astype,
    np.lib.stride_tricks.sliding_window_view, np.trim_zeros, np.ix_, np.real_if_close, np.ndarray.view,
    np.linalg.matrix_power, np.asarray_chkfinite, np.diff, np.polyder,
    np.polyint,
    builtins.list, builtins.tuple, builtins.dict, builtins.max, builtins.min, builtins.next, builtins.iter, builtins.zip,
    builtins.sorted, builtins.reversed, builtins.enumerate, builtins.getattr, builtins.map, builtins.filter, builtins.set,
    runtime.unbroadcast, runtime.unreduce, runtime.spreading, runtime.require_array, runtime.sequence, runtime.add,
    runtime.add_at, runtime.restored, runtime.seed_like,
    copy.copy, runtime.as_dict, runtime.with_fields, runtime.pop, runtime.call, runtime.vjp, runtime.push,
    *table.existing(np, "unstack", "matrix_transpose"), *table.existing(np.linalg, "diagonal", "matrix_transpose"),
}  # fmt: skip

VIEW_METHODS = {"transpose": np.transpose, "swapaxes": np.swapaxes, "squeeze": np.squeeze, "reshape": np.reshape,
                "ravel": np.ravel}  # fmt: skip
"""Methods that return views, and the functions that they stand for."""

COPYING_METHODS = {
    "copy", "flatten", "astype", "sum", "mean", "prod", "max", "min", "std", "var", "cumsum", "cumprod", "argmax", "argmin",
    "argsort", "all", "any", "round", "clip", "dot", "repeat", "take", "trace", "nonzero",
    "searchsorted", "tolist", "item", "tobytes", "ptp", "compress", "choose", "is_integer", "format", "join",
}  # fmt: skip
"""Methods of arrays (and texts) that return new memory."""


def may_view(function: Any) -> bool:
    """Whether the result of a function of NumPy, of Python or of our runtime may share memory with an argument."""
    if (getattr(function, "__module__", None) or "").startswith("s2sgrad.rules."):
        rule = table.lookup(function)
        return rule is None or rule.tag != "elementwise"
    if isinstance(function, type) and issubclass(function, np.generic):
        return True  # `np.float64(x)` of an array
    try:
        return function in ALWAYS or function in CONTIGUOUS or function in _SOMETIMES
    except TypeError:
        return True


def viewed(function: Any) -> int | None:
    """Which argument the result of such a function may share memory with; None: any of them."""
    if function is runtime.seed_like:
        return 1
    module = getattr(function, "__module__", None) or ""
    several = function in (runtime.add, runtime.call, runtime.vjp, np.broadcast_arrays, np.meshgrid, np.einsum)
    several |= function in (np.atleast_1d, np.atleast_2d, np.atleast_3d)
    several |= function in (builtin_functions.preceded, einsum.replaced, einsum.contracted, runtime.with_fields)
    return 0 if module.split(".")[0] in ("numpy", runtime.__name__.split(".")[0]) and not several else None
