"""Which primitives may return a view: a result that shares memory with an argument.

    np.ravel(x), x.T, np.asarray(x)   may share memory with x        np.sin(x), np.sum(x), np.array(x)   never do

Only what is known to return new memory is taken to: functions with a rule, and those that are listed here as new.  A method
is known by its name where it is known to be one of an array, a text or a plain container.

>>> may_view(np.sin), may_view(np.unique), may_view(np.ravel), may_view(np.frombuffer)
(False, False, True, True)
"""

from __future__ import annotations

import builtins
import copy
import types
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules import builtin_functions, einsum, spellings, table

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
    np.linalg.matrix_power, np.asarray_chkfinite, np.diff, np.polyder, np.polyint, np.histogram, np.ndarray,
    builtins.list, builtins.tuple, builtins.dict, builtins.max, builtins.min, builtins.next, builtins.iter, builtins.zip,
    builtins.sorted, builtins.reversed, builtins.enumerate, builtins.getattr, builtins.map, builtins.filter, builtins.set,
    runtime.unbroadcast, runtime.unreduce, runtime.spreading, runtime.require_array, runtime.sequence, runtime.add,
    runtime.add_at, runtime.restored, runtime.seed_like,
    copy.copy, runtime.as_dict, runtime.with_fields, runtime.pop, runtime.call, runtime.vjp, runtime.push,
    *table.existing(np, "unstack", "matrix_transpose"), *table.existing(np.linalg, "diagonal", "matrix_transpose"),
}  # fmt: skip

_NEW = {
    np.angle, np.array2string, np.array_repr, np.array_str, np.bartlett, np.base_repr, np.binary_repr, np.blackman,
    np.einsum_path, np.format_float_positional, np.format_float_scientific, np.fromstring, np.hamming, np.hanning, np.i0,
    np.intersect1d, np.kaiser, np.packbits, np.poly, np.polyadd, np.polydiv, np.polymul, np.polysub, np.roots, np.setdiff1d,
    np.setxor1d, np.sort_complex, np.typename, np.union1d, np.unique, np.unpackbits, np.linalg.cond, np.linalg.eig,
    np.linalg.eigvals, np.linalg.tensorinv, np.linalg.tensorsolve, np.fft.fft, np.fft.fftfreq, np.fft.hfft, np.fft.ifft,
    np.fft.ihfft, np.fft.irfft, np.fft.rfft, np.fft.rfftfreq,
    *table.existing(np, "row_stack", "isdtype", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
}  # fmt: skip
"""Functions without a rule that compute, and return new memory."""

_VIEWING = {np.from_dlpack, np.frombuffer, np.asmatrix, np.histogram2d, np.histogram_bin_edges, np.fft.fftn, np.fft.ifftn,
            np.fft.fft2, np.fft.ifft2, np.fft.rfftn, np.fft.irfftn, np.fft.rfft2, np.fft.irfft2}  # fmt: skip
"""Functions without a rule that compute, and may return memory of an argument."""

VIEW_METHODS = {"transpose": np.transpose, "swapaxes": np.swapaxes, "squeeze": np.squeeze, "reshape": np.reshape,
                "ravel": np.ravel}  # fmt: skip
"""Methods that return views, and the functions that they stand for."""

COPYING_METHODS = {
    "copy", "flatten", "astype", "sum", "mean", "prod", "max", "min", "std", "var", "cumsum", "cumprod", "argmax", "argmin",
    "argsort", "all", "any", "round", "clip", "dot", "repeat", "take", "trace", "nonzero",
    "searchsorted", "tolist", "item", "tobytes", "ptp", "compress", "choose", "is_integer", "format", "join",
}  # fmt: skip
"""Methods of arrays (and texts) that return new memory."""

NEW_METHODS = COPYING_METHODS - {"copy"} | {n for n in dir(str) if n[0] != "_"} | {
    "argpartition", "count", "index", "as_integer_ratio", "bit_length", "hex", "isdisjoint", "issubset", "issuperset",
}  # fmt: skip
"""Methods of arrays, numbers, texts and plain containers that return what nothing else refers to."""

OWN_METHODS = {*VIEW_METHODS, "view", "diagonal", "conj", "conjugate", "getfield", "__array__"}
"""Methods of arrays that may return a view."""

SHELL_METHODS = {"copy", "values", "keys", "items", "union", "difference", "intersection", "symmetric_difference",
                 "_replace", "_asdict"}
"""Methods of containers that return another one, of the same items."""

ITEM_METHODS = {"get", "__getitem__"}

WRITING_METHODS = spellings.MUTATING_METHODS - {"assign", "assign_add", "assign_sub", "apply_gradients", "at", "shuffle"} | {
    "extendleft", "rotate", "move_to_end", "difference_update", "intersection_update", "symmetric_difference_update",
    "__setitem__", "__delitem__", "__ior__", "__iand__", "__ixor__",
    *(f"__i{word}__" for word in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")),
}  # fmt: skip
"""Methods of arrays and plain containers that write what they belong to."""


def may_view(function: Any) -> bool:
    """Whether the result of a function of NumPy, of Python or of our runtime may share memory with an argument."""
    if (getattr(function, "__module__", None) or "").startswith("s2sgrad.rules."):
        rule = table.lookup(function)
        return rule is None or rule.tag != "elementwise"
    if isinstance(function, type) and issubclass(function, np.generic):
        return True  # `np.float64(x)` of an array
    try:
        if any(function in some for some in (ALWAYS, CONTIGUOUS, _SOMETIMES, _VIEWING)):
            return True
    except TypeError:
        return True
    return not (is_known(function) or function in spellings.PURE_BUILTINS or _is_ours(function))


def is_known(function: Any) -> bool:
    """Whether a function of a library only computes: it has a rule, or is listed, or is elementwise."""
    if isinstance(function, np.ufunc) or getattr(function, "__module__", None) == "math":
        return isinstance(function, (np.ufunc, types.BuiltinFunctionType))
    try:
        known = table.lookup(function) is not None or table.is_flat(function) or function in ALWAYS or function in CONTIGUOUS
        sometimes = function in _SOMETIMES and (getattr(function, "__module__", None) or "").startswith("numpy")
        return known or sometimes or function in _NEW or function in _VIEWING
    except TypeError:
        return False


def _is_ours(function: Any) -> bool:
    return getattr(function, "__module__", None) == runtime.__name__


def viewed(function: Any) -> int | None:
    """Which argument the result of such a function may share memory with; None: any of them."""
    if function is runtime.seed_like:
        return 1
    module = getattr(function, "__module__", None) or ""
    several = function in (runtime.add, runtime.call, runtime.vjp, np.broadcast_arrays, np.meshgrid, np.einsum)
    several |= function in (np.atleast_1d, np.atleast_2d, np.atleast_3d, np.ndarray, np.histogram)
    several |= function in _VIEWING
    several |= function in (builtin_functions.preceded, einsum.replaced, einsum.contracted, runtime.with_fields)
    return 0 if module.split(".")[0] in ("numpy", runtime.__name__.split(".")[0]) and not several else None


def _reads_what_it_wrote() -> bool:
    v = np.arange(4.0)
    v[[3, 1]] = v[2:]
    return bool(v[1] != 3.0)


STORES_ITEM_BY_ITEM = _reads_what_it_wrote()
"""Whether a store by an index array reads a view of the same memory while it writes it, as NumPy 1.26 and 2.0 do."""
