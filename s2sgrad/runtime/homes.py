"""Where classes and functions come from: the package that a module is of, and whether it was installed with Python.

>>> package("numpy.linalg"), is_installed_package("json"), is_installed_package("model"), is_installed_package("__main__")
('numpy', True, False, False)
"""

from __future__ import annotations

import sys

OURS = __name__.partition(".")[0]
STANDARD = f"{OURS}.standard"
"""Our functions and classes that are compiled like the user's."""

ARRAYS = frozenset(("numpy", "scipy"))
"""Packages whose functions return arrays."""

NUMERIC = ARRAYS | {OURS}


def package(module: str | None) -> str:
    """The top package of a module, by its full name."""
    return (module or "").partition(".")[0]


def is_installed_package(package: str) -> bool:
    """Whether a package is Python's, NumPy's, SciPy's or ours, and so does not change while a program runs."""
    return package != "__main__" and (package in sys.stdlib_module_names or package in NUMERIC)


def is_of_library(cls: type) -> bool:
    """Whether a class is of such a package, and is not compiled like the user's."""
    module = cls.__module__ or ""
    known = _OF_LIBRARIES.get(module)
    if known is None:
        found = is_installed_package(package(module)) and not module.startswith(STANDARD)
        known = _OF_LIBRARIES[module] = found
    return known and cls is not object


_OF_LIBRARIES: dict[str, bool] = {}
"""Whether the classes of a module are of such a package, once that was asked."""
