"""One primitive, many spellings: operators, array methods and attributes, mapped to the functions that have rules.

    x @ y, x.dot(y), x.T   ->   np.matmul(x, y), np.dot(x, y), np.transpose(x)
"""

from __future__ import annotations

import bisect
import builtins
import heapq
import math
import operator
import random

import numpy as np

from s2sgrad.rules import builtin_functions, scalar_math
from s2sgrad.rules.table import existing

OPERATORS = {
    "Add": (np.add, operator.add),
    "Sub": (np.subtract, operator.sub),
    "Mult": (np.multiply, operator.mul),
    "Div": (np.divide, operator.truediv),
    "Pow": (np.power, operator.pow),
    "Mod": (np.remainder, operator.mod),
    "FloorDiv": (np.floor_divide, operator.floordiv),
    "MatMult": (np.matmul, operator.matmul),
    "LShift": (np.left_shift, operator.lshift),
    "RShift": (np.right_shift, operator.rshift),
    "BitOr": (np.bitwise_or, operator.or_),
    "BitXor": (np.bitwise_xor, operator.xor),
    "BitAnd": (np.bitwise_and, operator.and_),
    "USub": (np.negative, operator.neg),
    "UAdd": (np.positive, operator.pos),
    "Invert": (np.invert, operator.invert),
}
"""Operator node -> the primitive that has the rule, and the function that Python runs."""

METHODS = {
    name: getattr(np, name)
    for name in [
        "sum", "mean", "prod", "max", "min", "std", "var", "cumsum", "cumprod", "argmax", "argmin", "argsort",
        "all", "any", "round", "clip", "dot", "ravel", "reshape", "transpose", "swapaxes", "squeeze",
        "repeat", "take", "trace", "diagonal", "copy", "nonzero", "searchsorted", "ptp",
    ]
    if hasattr(np.ndarray, name)  # NumPy 2 has no `x.ptp()`
} | {"conj": np.conj, "conjugate": np.conj, "flatten": np.ravel, "item": builtins.float, "astype": np.ndarray.astype}
"""Method of an array -> the function whose rule it has."""

OF_ONE = {builtins.max: builtin_functions.largest, builtins.min: builtin_functions.smallest}
"""Builtins that mean something else with a single argument, and the function whose rule they have then."""

OF_MANY = {builtins.max: builtin_functions.largest_of, builtins.min: builtin_functions.smallest_of,
           math.hypot: scalar_math.hypot_of}  # fmt: skip
"""Functions with a rule for two arguments, and those whose rule they have with more."""

VARIADIC = {"reshape": "shape", "transpose": "axes"}
"""Methods that take a shape or a permutation as separate arguments, and the keyword that they stand for."""

ATTRIBUTES = {"T": np.transpose, "real": np.real, "flat": None}
ATTRIBUTES |= dict.fromkeys(["mT"], *existing(np, "matrix_transpose"))
"""Attribute of an array -> the function whose rule it has (None: refused where it matters)."""

FLAT_ATTRIBUTES = {"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "flags"}
"""Attributes of an array without derivative."""

FLAT_METHODS = {
    "argmax", "argmin", "argsort", "argpartition", "all", "any", "nonzero", "searchsorted", "tobytes", "is_integer",
}  # fmt: skip

MUTATORS = {
    np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis, np.random.shuffle,
    heapq.heappush, heapq.heappop, heapq.heapify, heapq.heappushpop, heapq.heapreplace, bisect.insort_left,
    bisect.insort_right, random.shuffle, operator.setitem, operator.delitem,
}  # fmt: skip
"""Functions of NumPy and of Python's library that write an argument."""

MUTATING_METHODS = {
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem", "add",
    "discard", "fill", "put", "partition", "resize", "itemset", "setflags", "setfield", "byteswap", "at",
    "appendleft", "popleft", "shuffle", "assign", "assign_add", "assign_sub", "apply_gradients",
}  # fmt: skip
"""Methods that write the object they belong to."""

RESULTS = {"out", "output"}
"""Names of arguments of libraries that a result is written into."""

PURE_BUILTINS = {
    len, range, float, int, bool, abs, min, max, sum, round, isinstance, issubclass, type, str, repr, tuple, list, dict,
    set, frozenset, sorted, enumerate, zip, reversed, any, all, divmod, pow, complex, ord, chr, slice, hasattr,
    callable, hash, format,
}  # fmt: skip
"""Builtins without effects that return what depends on their arguments alone."""

USING_UP = {any, all, sum, min, max, sorted, list, tuple, set, frozenset, dict, np.fromiter}
"""Functions that run through what they are given; of an iterator nothing is left then."""


def overwrites(argument: str) -> bool:
    """Whether an option of a function of a library lets it write what it is given."""
    return argument == "inplace" or argument.startswith("overwrite")
