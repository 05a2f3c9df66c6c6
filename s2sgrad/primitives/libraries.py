"""Which package a callable, class or module belongs to, and what is known of whole packages.

>>> import math, numpy as np
>>> package_of(np.linalg.norm), is_numeric(np.sum), is_numeric(math.sin), is_installed(math), is_installed(package_of)
('numpy', True, False, True, True)
"""

from __future__ import annotations

import functools
import math
import sys
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sgrad.runtime.asking import its
from s2sgrad.runtime.homes import ARRAYS as ARRAYS
from s2sgrad.runtime.homes import NUMERIC, OURS
from s2sgrad.runtime.homes import STANDARD as STANDARD
from s2sgrad.runtime.homes import is_installed_package as is_installed_package
from s2sgrad.runtime.homes import package as package

OF_DRAWING = ("numpy", "random")
"""The packages of `DRAWING`."""

if TYPE_CHECKING:
    DRAWING: tuple[type, ...]
    """Classes whose instances draw random numbers: their methods return new memory, except for items that they choose."""

FOLLOWED = (STANDARD, f"{OURS}.compat.autograd.followed", f"{OURS}.compat.autograd.misc.flatten")
"""Those, what functions of functions are read as, and what returns functions."""


def __getattr__(name: str) -> Any:
    """`DRAWING`, for which NumPy imports what many programs do without."""
    if name != "DRAWING":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import random

    found = np.random.Generator, np.random.RandomState, random.Random
    globals()[name] = found
    return found


@dataclass(frozen=True)
class Library:
    """What holds for the functions of a package, unless a function's own record says more."""

    computes: bool = False  # they write no memory but what their records say
    by_record: bool = False  # they are known by their records, and their source is not read
    shares_arguments: bool = False  # their results alias nothing but their arguments
    quiet_managers: bool = False  # its context managers change none of their arguments
    quiet_import: bool = False  # importing it has no effects
    constant: bool = False  # its objects do not change while the program runs


_NOTHING = Library()
_LIBRARIES = {
    "numpy": Library(computes=True, shares_arguments=True, by_record=True, quiet_managers=True, quiet_import=True,
                     constant=True),
    "scipy": Library(computes=True, by_record=True, quiet_import=True, constant=True),
    "math": Library(computes=True, shares_arguments=True, by_record=True, quiet_import=True, constant=True),
    "builtins": Library(computes=True, shares_arguments=True, by_record=True, quiet_managers=True, constant=True),
    OURS: Library(constant=True),
    "operator": Library(computes=True, shares_arguments=True, by_record=True, quiet_import=True),
    **dict.fromkeys(("functools", "itertools"), Library(computes=True, by_record=True, quiet_import=True)),
    **dict.fromkeys(("time", "random", "copy"), Library(computes=True, by_record=True)),
    **dict.fromkeys(("logging", "warnings"), Library(computes=True, by_record=True, quiet_managers=True)),
    **dict.fromkeys(("contextlib", "tempfile", "io", "_io", "threading", "_thread"), Library(quiet_managers=True)),
    "cmath": Library(computes=True, quiet_import=True),
    **dict.fromkeys(
        ("statistics", "_statistics", "json", "heapq", "_heapq", "bisect", "_bisect", "fractions", "decimal", "numbers",
         "_operator", "_functools", "collections", "_collections", "dataclasses", "enum", "types", "typing", "datetime",
         "re", "string", "textwrap", "_warnings", "pprint", "reprlib", "pickle", "_pickle"),
        Library(computes=True),
    ),
}  # fmt: skip


def package_of(thing: Any) -> str:
    """The top package that defines a callable or class, or that a module belongs to; "" if unknown."""
    home = its(thing, "__name__" if isinstance(thing, type(sys)) else "__module__", None)
    return package(home) if isinstance(home, str) else ""


def library(package: str) -> Library:
    """What is known of a package."""
    return _LIBRARIES.get(package, _NOTHING)


def is_numeric(thing: Any) -> bool:
    """Whether a callable is NumPy's, SciPy's or ours, and so takes arrays and never iterates over items."""
    return package_of(thing) in NUMERIC


def is_of_math(thing: Any) -> bool:
    """Whether something is a function of `math`."""
    return isinstance(thing, types.BuiltinFunctionType) and thing.__module__ == math.__name__


def is_installed(thing: Any) -> bool:
    """Whether something belongs to Python, NumPy, SciPy or us, and so does not change while a program runs."""
    return is_installed_package(package_of(thing))


def is_fixed(function: Any) -> bool:
    """The same for a function, which a `partial` is of."""
    return is_installed(function.func if isinstance(function, functools.partial) else function)
