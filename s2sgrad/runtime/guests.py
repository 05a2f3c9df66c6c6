"""Arrays of other libraries: a pandas Series, a dask array.  NumPy takes them for arrays, but their operators, methods and
items mean something else than an array's: they align labels, or divide by n - 1.  And objects with operators of their own.

    a * s      ->      no_guest(s, "s", 7); a * s      raises for a Series, which `s.to_numpy()` is not
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sgrad.runtime.checks import Refusal, no_subclass_itself

_OPERATING = ("__array_ufunc__", "__array_function__")
_PROTOCOLS = (*_OPERATING, "__array__", "__array_interface__", "__array_struct__")


_SPECIAL = vars(float).keys() | {n for n in vars(np.ndarray) if "matmul" in n}
_OPERATORS = frozenset(n for n in _SPECIAL if {f"__r{n[2:]}", n.replace("__r", "__")} & _SPECIAL - {n})
_FEW = frozenset((float, int, np.float64, np.ndarray))
_PLAIN, _WITH_RULES = ("array", "builtins", "collections", "numbers", "fractions", "decimal"), ("numpy", "scipy")


def is_array_of_others(cls: type) -> bool:
    """Whether NumPy takes objects of a class for arrays, though they are none of its own.

    >>> Series = type("Series", (), {"__module__": "pandas", "__array__": lambda self: np.ones(3)})
    >>> is_array_of_others(Series), is_array_of_others(np.ndarray)
    (True, False)
    """
    return _has(cls, _PROTOCOLS)


def acts_as_array(cls: type) -> bool:
    """Whether objects of a class stand for arrays in what NumPy does, so that they are not seen as objects with attributes.
    One that NumPy can only make an array of, by `__array__`, is seen as one."""
    return _has(cls, _OPERATING)


def _has(cls: type, protocols: tuple[str, ...]) -> bool:
    if issubclass(cls, (np.ndarray, np.generic)) or _home(cls) == "s2sgrad":
        return False
    return any(getattr(cls, protocol, None) is not None for protocol in protocols)


def has_operators(cls: type) -> bool:
    """Whether a class of the user's says what operators do with its objects, which are no numbers and no arrays.

    >>> Scaling = type("Scaling", (), {"__module__": "model", "__rmul__": lambda self, other: 3.0 * other})
    >>> has_operators(Scaling), has_operators(float), has_operators(np.ndarray), has_operators(list)
    (True, False, False, False)
    """
    if issubclass(cls, (np.ndarray, np.generic)) or _home(cls) in ("s2sgrad", *_WITH_RULES):
        return False
    own = (vars(k) for k in cls.__mro__ if k.__module__ not in _PLAIN)
    return any(not _OPERATORS.isdisjoint(members) for members in own)


def is_sparse(cls: type) -> bool:
    """Whether objects of a class of SciPy's have operators, and are no arrays."""
    return _home(cls) in _WITH_RULES and hasattr(cls, "__matmul__") and not hasattr(cls, "__array_ufunc__")


def _home(cls: type) -> str:
    return (cls.__module__ or "").partition(".")[0]


def no_guest(x: Any, name: str, line: int, sparse: bool = False) -> None:
    """Check that an operand is no array of another library, and no object with operators, nor holds one; TypeError if so.
    `sparse`: it may be a sparse array.

    >>> no_guest(type("Series", (), {"__module__": "pandas", "__array__": lambda self: np.ones(3)})(), "s", 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: `s` is a Series, whose operators and methods are not those of NumPy's arrays: ...
    """
    cls = type(x)
    if cls in _FEW:
        return
    no_subclass_itself(x, name, line)
    if is_array_of_others(cls) or has_operators(cls) or (not sparse and is_sparse(cls)):
        raise Refusal(line, refused_guest(cls, name and f"`{name}`"))
    if isinstance(x, (list, tuple, dict)):
        for item in x.values() if isinstance(x, dict) else x:
            no_guest(item, name, line, sparse)


def no_matrix(x: Any, name: str, line: int) -> None:
    """Check that a sum of a sparse array is an array; TypeError for a matrix, whose `*` is no product of elements.

    >>> no_matrix(np.ones((2, 1)).view(np.matrix), "s", 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: `s` is a matrix, the sum of a sparse matrix along an axis: write ...
    """
    if isinstance(x, np.matrix):
        shown = f"`{name}`" if name else "this"
        raise Refusal(line, f"{shown} is a matrix, the sum of a sparse matrix along an axis: write "
                            "`np.asarray(A.sum(axis=1)).ravel()`, or use a sparse array (`csr_array`)")  # fmt: skip


def refused_guest(cls: type, what: str = "") -> str:
    """The message about such an array where a derivative meets it; `what` it is for the user, in backquotes if it is a name.

    >>> refused_guest(type("Series", (), {}), "`s`").partition(": ")[2]
    'write `np.asarray(s)`'
    """
    article = "an" if cls.__name__[0] in "AEIOUaeiou" else "a"
    shown = f"{what or 'this'} is {article} {cls.__name__}"
    if not is_array_of_others(cls) and (is_sparse(cls) or has_operators(cls)):
        way = "write `@` for a product, or `toarray()`" if is_sparse(cls) else "call a method that gives an array"
        return f"{shown}, whose operators are not those of NumPy's arrays: {way}"
    return f"{shown}, whose operators and methods are not those of NumPy's arrays: {_way(cls, what)}"


def _way(cls: type, what: str) -> str:
    name = what.strip("`") if what[:1] == "`" else ""
    if _home(cls) == "dask":
        shown = name or ".."
        return f"sum over its blocks with `s2sgrad.parallel.partition_sum(f, {shown})`, or write `np.asarray({shown})`"
    if hasattr(cls, "to_numpy"):
        return f"write `{name}.to_numpy()`"
    return f"write `np.asarray({name or '..'})`"
