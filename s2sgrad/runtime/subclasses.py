"""Subclasses of lists, tuples, dicts, arrays and numbers with methods of their own for what Python or NumPy does with them.

class Twice(tuple): def __iter__(self): ..      ->      `for q in p` is not p[0], p[1], ..
class Level(float): def __neg__(self): ..       ->      `-p * x` is not -(p * x)
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from s2sgrad.runtime.asking import its
from s2sgrad.runtime.homes import is_of_library, package

CONTAINERS, NUMBERS = (list, tuple, dict), (float, int, complex, np.number)
_PLAIN = frozenset((*CONTAINERS, float, int, bool, complex, str, type(None), np.ndarray, np.float64))
_READ_BY = {"__getattribute__", "__getitem__", "__iter__", "__len__", "__reversed__", "__contains__", "__float__", "__abs__",
            "__round__", "__neg__", "__pos__", "__invert__", "__missing__"}  # fmt: skip
"""How an operation, a loop or a function of Python reads a list, a tuple or a dict."""
_MADE_AND_SHOWN = {"__new__", "__doc__", "__repr__", "__str__", "__format__", "__reduce__", "__reduce_ex__", "__setstate__",
                   "__array_finalize__", "__array_priority__", "__class_getitem__", "__copy__", "__deepcopy__",
                   "__getnewargs__", "__hash__", "__sizeof__"}  # fmt: skip
"""What a subclass of arrays or numbers may say itself, while all that is computed of its objects stays as it is."""
_BY_NUMPY = {"__array__", "__array_ufunc__", "__array_function__"}
_OF_NAMED_TUPLES = "<string>", collections.__file__
"""Where the methods of a named tuple are that its user did not write."""


def is_otherwise(cls: type) -> bool:
    """Whether methods of a class say how its objects, which might be taken for plain ones, are read or computed with."""
    return cls not in _PLAIN and (reads_otherwise(cls) or computes_otherwise(cls))


def plain_of(cls: type) -> str:
    """The name of the class that objects of such a class may be made plain objects of."""
    plain = (*CONTAINERS, np.ndarray, *NUMBERS)
    return next((t.__name__ for t in plain if issubclass(cls, t)), "number")


def refused_subclass(cls: type) -> str:
    """What to say of an object of such a class, after what it is called.

    >>> refused_subclass(type("Level", (float,), {"__module__": "model"}))
    'a Level, whose operators are methods of its own that cannot be followed: use a plain float'
    """
    plain = plain_of(cls)
    article = "an" if cls.__name__[0] in "AEIOUaeiou" else "a"
    is_read = issubclass(cls, (*CONTAINERS, np.ndarray))
    said = "which is read by methods of its own and" if is_read else "whose operators are methods of its own that"
    return f"{article} {cls.__name__}, {said} cannot be followed: use a plain {plain}"


def reads_otherwise(cls: type) -> bool:
    """Whether a user's class of lists, tuples or dicts has methods of its own by which Python or NumPy reads the items.

    >>> Pair = collections.namedtuple("Pair", "a b", module="model")
    >>> Twice = type("Twice", (Pair,), {"__module__": "model", "__getitem__": lambda self, k: 2.0})
    >>> reads_otherwise(Twice), reads_otherwise(Pair)
    (True, False)
    """
    if not issubclass(cls, CONTAINERS) or is_of_library(cls):
        return False
    users = _users(cls)
    reading = any(n in _READ_BY or n.startswith("__array") for k in users for n in vars(k))
    return reading or any(_overrides(users, n) for n in ("_replace", "_asdict"))


def computes_otherwise(cls: type) -> bool:
    """Whether a subclass of NumPy's array, or of a class of numbers, has methods of its own for what is computed of it.

    >>> Tagged = type("Tagged", (np.ndarray,), {"__module__": "model", "tag": None})
    >>> Doubled = type("Doubled", (Tagged,), {"__module__": "model", "sum": lambda self: 2.0})
    >>> computes_otherwise(Tagged), computes_otherwise(Doubled), computes_otherwise(np.memmap)
    (False, True, False)
    >>> Level = type("Level", (float,), {"__module__": "model", "__neg__": lambda self: 11.0})
    >>> computes_otherwise(Level), computes_otherwise(bool), computes_otherwise(np.float64)
    (True, False, False)
    """
    if issubclass(cls, np.ndarray):
        others = [k for k in cls.__mro__ if package(k.__module__) != "numpy" and k is not object]
        return any(vars(k).keys() & (vars(np.ndarray).keys() | {"__iter__"}) - _MADE_AND_SHOWN for k in others)
    if not issubclass(cls, NUMBERS) or is_of_library(cls):
        return False
    libraries, users = _of_whom(cls)
    computed = _computed_by(libraries)
    given = ((n, vars(k)[n]) for k in users for n in computed.intersection(vars(k)))
    return any(all(vars(k).get(n) is not f for k in libraries) for n, f in given)  # an `IntFlag` copies those of `Flag`


def _of_whom(cls: type) -> tuple[tuple[type, ...], list[type]]:
    """The classes of libraries that an object of a class is of, and those of the user's."""
    libraries = tuple([k for k in cls.__mro__ if is_of_library(k)])
    return libraries, [k for k in cls.__mro__ if k is not object and k not in libraries]


def _computed_by(libraries: tuple[type, ...]) -> frozenset[str]:
    """The names of what these classes of numbers compute, and by which NumPy asks."""
    known = _COMPUTED.get(libraries)
    if known is None:
        computed = {n for k in libraries if issubclass(k, NUMBERS) and k.__module__ != "enum" for n in vars(k)}
        known = _COMPUTED[libraries] = frozenset((computed | _BY_NUMPY) - _MADE_AND_SHOWN)
    return known


_COMPUTED: dict[tuple[type, ...], frozenset[str]] = {}
"""These names, once they were asked for: the classes of libraries last as long as the program."""


def converts_otherwise(cls: type) -> bool:
    """Whether NumPy, or a function of C, may ask a class of numbers for another number, or leaves the operation to it."""
    words = {"__float__", "__int__", "__index__", "__complex__", "__array_priority__", *_BY_NUMPY}
    return any(not words.isdisjoint(vars(k)) for k in _users(cls))


def plain_number(x: Any) -> Any:
    """The number that a number of a user's class is for Python's own operators.

    >>> Level = type("Level", (float,), {"__module__": "model", "__neg__": lambda self: 11.0})
    >>> type(plain_number(Level(2.0))).__name__, -plain_number(Level(2.0))
    ('float', -2.0)
    """
    plain = next(k for k in type(x).__mro__ if is_of_library(k) and "__pos__" in vars(k))
    return vars(plain)["__pos__"](x)


def makes_otherwise(cls: type) -> bool:
    """Whether a class of named tuples has a `__new__` of its own, which may give the fields other values."""
    return hasattr(cls, "_fields") and any(_overrides(_users(cls), n) for n in ("__new__", "_make"))


def _users(cls: type) -> list[type]:
    """The classes of the user's that an object of a class is of."""
    return _of_whom(cls)[1]


def _overrides(users: list[type], method: str) -> bool:
    """Whether a user's class of named tuples has a method that these have without."""
    found: list[Any] = [its(f, "__func__", f) for k in users if (f := vars(k).get(method)) is not None]
    return any(getattr(its(f, "__code__"), "co_filename", None) not in _OF_NAMED_TUPLES for f in found)
