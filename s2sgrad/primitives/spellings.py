"""One primitive, many spellings: operators, array methods and attributes, mapped to the functions that have rules.

x @ y, x.dot(y), x.T   ->   np.matmul(x, y), np.dot(x, y), np.transpose(x)
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.rules import builtin_functions, scalar_math
from s2sgrad.rules.table import existing

OPERATORS: dict[str, tuple[Any, Callable[..., Any]]] = {
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
"""Operator node -> the primitive with the rule, and the function that Python runs."""

METHODS = {
    name: getattr(np, name)
    for name in [
        "sum", "mean", "prod", "max", "min", "std", "var", "cumsum", "cumprod", "argmax", "argmin", "argsort",
        "argpartition",
        "all", "any", "round", "clip", "dot", "ravel", "reshape", "transpose", "swapaxes", "squeeze",
        "repeat", "take", "trace", "diagonal", "copy", "nonzero", "searchsorted", "ptp", "choose",
    ]
    if hasattr(np.ndarray, name)  # NumPy 2 has no `x.ptp()`
} | {"conj": np.conj, "conjugate": np.conj, "flatten": np.ravel, "item": builtins.float, "astype": np.ndarray.astype,
      "view": np.ndarray.view, "tolist": np.ndarray.tolist}  # fmt: skip
"""Array method -> the function whose rule applies."""

OF_ONE = {builtins.max: builtin_functions.largest, builtins.min: builtin_functions.smallest}
"""Builtins with another meaning for a single argument -> the function whose rule then applies."""

OF_MANY = {builtins.max: builtin_functions.largest_of, builtins.min: builtin_functions.smallest_of,
           math.hypot: scalar_math.hypot_of}  # fmt: skip
"""Functions whose rule is for two arguments -> the function whose rule applies to more."""

VARIADIC = {"reshape": "shape", "transpose": "axes"}
"""Methods that take a shape or a permutation as separate arguments -> the keyword for these."""

ATTRIBUTES = {"T": np.transpose, "real": np.real, "imag": np.imag, "flat": None}
ATTRIBUTES |= dict.fromkeys(["mT"], *existing(np, "matrix_transpose"))
"""Array attribute -> the function whose rule applies (None: refused where it matters)."""

IMAG = "imag"
PARTS = "real", IMAG
"""Array attributes that are views of an array of complex numbers."""

COUNTS = {"ndim", "size"}
"""Attributes that are Python integers, whatever has them."""

FLAT_ATTRIBUTES = {"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "flags"}
"""Array attributes without derivative."""

OF_LAYOUT = {"strides", "flags"}
"""Those of them that say how the memory of an array is laid out."""

RESULTS = {"out", "output"}
"""Keywords of libraries for an array that receives the result."""


def overwrites(argument: str) -> bool:
    """Whether a keyword of a library function allows it to overwrite an argument, or gives it an array to write."""
    return argument in ("inplace", "output", "distances") or argument.startswith("overwrite")


def is_off(argument: str, value: object) -> bool:
    """Whether this is the value of such a keyword that allows nothing: false, None, or a text that says what is given.

    >>> is_off("inplace", False), is_off("output", "sos"), is_off("overwrite_a", "sos"), is_off("inplace", True)
    (True, True, False, False)
    """
    if isinstance(value, str):
        return argument == "output"
    return value is None or (isinstance(value, (bool, int)) and not value)
