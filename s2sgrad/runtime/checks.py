"""Run-time checks in generated code of what was unknown at compile time: they pass, or raise with the user's line.

t = a[i]; a[i] = a[j]; use(t)      ->      scalar(t, "t", 2): an element keeps its value, a row would change with `a`
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.subclasses import is_otherwise, refused_subclass


class Refusal(TypeError):
    """A failed check, at a line of the user's source; None: at the line of the generated statement that raised it."""

    def __init__(self, line: int | None, message: str) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.message, self.line = message, line


def require_array(x: Any) -> Any:
    """`x`, checked to be a number or an array, so that its attributes and methods are those of NumPy."""
    if isinstance(x, (np.ndarray, np.generic, float, int, complex)) or has(x, "__array_ufunc__"):
        return x
    raise Refusal(None, f"expected a number or an array, got {type(x).__name__}")


def rebinds(x: Any, name: str, line: int) -> None:
    """Check that `x += e` rebinds `x`; TypeError for a value that it would change in place.

    >>> rebinds(np.ones(2), "x", 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: `x` is an array that other names may see, and an augmented assignment would ...
    """
    if has(x, "__iadd__") or has(x, "__ior__"):
        what = "an array" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"
        called = f"`{name}`" if name else "this"
        raise Refusal(
            line,
            f"{called} is {what} that other names may see, and an augmented assignment would change it for them; "
            f"write `{name or 'x'} = {name or 'x'} + ...`",
        )


def contiguous(x: Any, line: int) -> None:
    """Check that `x.ravel()` and `x.reshape(..)` are views of `x`; TypeError where NumPy may have to copy.

    >>> contiguous(np.ones((2, 2))[:, ::2], 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: ravel or reshape may copy an array that is not contiguous, and a ...
    """
    if not (isinstance(x, np.ndarray) and x.flags.c_contiguous):
        raise Refusal(
            line,
            "ravel or reshape may copy an array that is not contiguous, and a write through it would be lost: "
            "pass a contiguous array, or copy it first",
        )


def resizes(x: Any) -> None:
    """Marks a place where a list with a single name is rebound instead of changed by a method (see `containers`)."""


def replaces(x: Any, method: str, line: int) -> None:
    """Check that a method such as `x.update(..)` is that of a plain list or dict, which generated code replicates; TypeError
    if it is not.

    >>> replaces(collections.Counter(), "update", 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: `update` of a Counter is not that of a dict: store into a dict, item by item
    """
    reads = _READERS.get(method)
    if reads is not None:
        if not reads(type(x)):
            raise Refusal(line, f"`{method}` of a {type(x).__name__} is not that of a dict: pass a dict")
    elif not isinstance(x, (list, dict)) or has_methods_of_its_own(x):
        kind, way = ("list", "make a new list") if isinstance(x, list) else ("dict", "store into a dict, item by item")
        raise Refusal(line, f"`{method}` of a {type(x).__name__} is not that of a {kind}: {way}")


def _gets_items(cls: type) -> bool:
    """Whether `x.get(k, v)` on this class is equivalent to `x[k] if k in x else v`."""
    plain = dict.get, type(vars(type)).get, Mapping.get, collections.ChainMap.get, collections.UserDict.get
    own = getattr(cls, "get", None)
    return any(own is one for one in plain) and not is_special(cls, frozenset({"__contains__", "__getitem__"}))


_READERS = {"get": _gets_items}
"""Methods that only read, each with a predicate: whether on this class they behave as the generated code does."""

READ_ALIKE: set[type] = {list, dict, collections.OrderedDict, collections.defaultdict}
"""Lists and dicts that are read as the built-in ones are."""

_OTHERS = {"__init__", "__new__", "__doc__", "__repr__", "__hash__", "__getattribute__", "__class_getitem__"}


def has_methods_of_its_own(x: Any) -> bool:
    """Whether this list or dict is of a subclass that overrides list or dict methods."""
    return is_special(type(x))


def is_special(cls: type, methods: frozenset[str] | None = None) -> bool:
    """Whether a subclass of list or dict overrides methods of its base; with `methods`, whether it overrides these."""
    plain = next((t for t in (list, dict) if issubclass(cls, t)), None)
    if plain is None or cls in READ_ALIKE:
        return False
    own = (c for c in cls.__mro__ if c not in READ_ALIKE | {object})
    return any(vars(c).keys() & (methods or vars(plain).keys() - _OTHERS) for c in own)


class Outcome(int):
    """The number of the matching `except` clause, counted from 1, and its exception; 0: no exception was raised."""

    error: BaseException | None = None


def raised(tried: Callable[[], Any], *kinds: Any) -> int:
    """The number, counted from 1, of the first of these exception types that `tried()` raises; 0 where it raises none."""
    try:
        tried()
    except Refusal:
        raise
    except BaseException as error:
        for k, kind in enumerate(kinds, 1):
            if isinstance(error, kind):
                outcome = Outcome(k)
                outcome.error = error.with_traceback(None)
                return outcome
        raise
    return 0


def caught(which: int) -> Any:
    """The exception that was raised, if any."""
    return getattr(which, "error", None)


def once(rows: Any, place: Any, line: int) -> None:
    """Check that `rows[place]`, which is about to be written, is in the container only once; TypeError if not.

    >>> once([[1.0]] * 2, 0, 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: a list that is written is in a list more than once: make a new one for each place
    """
    row = rows[place]
    held = rows.values() if isinstance(rows, dict) else rows
    if isinstance(row, (list, dict, np.ndarray)) and sum(_is_one_memory(other, row) for other in held) > 1:
        what, where = ("an array" if isinstance(x, np.ndarray) else f"a {type(x).__name__}" for x in (row, rows))
        raise Refusal(line, f"{what} that is written is in {where} more than once: make a new one for each place")


def as_long(section: Any, items: list[Any] | tuple[Any, ...], line: int) -> None:
    """Check that a list or tuple has the size of the section that it is stored into; TypeError where it would be broadcast,
    or where a list would change its length.

    >>> as_long(np.zeros(3), [1.0], 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: what is stored here is smaller than its place: write np.array(..) of it
    """
    if isinstance(section, list) and len(section) != len(items):
        raise Refusal(line, "a list whose kind is not known changes its length here: build a new one")
    if not isinstance(section, list) and np.shape(section) != np.shape(items):
        raise Refusal(line, "what is stored here is smaller than its place: write np.array(..) of it")


def separate(x: Any, line: int) -> None:
    """Check that no two entries of a list or dict, at any depth, are the same list or share memory; TypeError if they do.

    >>> u = np.ones(3)
    >>> separate([u, {"tail": u[1:]}], 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: what is written is in a list more than once: make a new one for each place
    """
    met: list[Any] = []

    def visit(item: Any) -> bool:
        """Whether this value is disjoint from all that were visited before."""
        if isinstance(item, (list, dict, np.ndarray)):
            if any(_is_one_memory(item, other) for other in met):
                return False
            met.append(item)
        inner = item.values() if isinstance(item, dict) else item if isinstance(item, (list, tuple)) else ()
        return all(map(visit, inner))

    if not visit(x):
        raise Refusal(line, f"what is written is in a {type(x).__name__} more than once: make a new one for each place")


def _is_one_memory(x: Any, y: Any) -> bool:
    """Whether these are the same list or dict, or arrays that share memory."""
    arrays = isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
    effort: Any = 1000  # which the types of NumPy before 2.5 refuse
    return x is y or (arrays and np.may_share_memory(x, y, max_work=effort))


def apart(line: int | None, u: np.ndarray, *others: Any) -> None:
    """Check that no other argument is, or contains, an alias of the array `u`, which the call writes; TypeError if one does.

    >>> u = np.ones(3)
    >>> apart(7, u, 2.0, [u[1:]])
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: an argument shares memory with one that is written: pass a copy of it
    """
    for item in others:
        if isinstance(item, (list, tuple, dict)):
            apart(line, u, *(item.values() if isinstance(item, dict) else item))
        elif _is_one_memory(u, item):
            raise Refusal(line, "an argument shares memory with one that is written: pass a copy of it")


CHANGES = "what a loop runs over changes in it, which cannot be followed: loop over a copy of it"


def lasts(x: Any, n: int, line: int) -> None:
    """Check that `x`, which a loop runs over, still has the `n` items that it had when the loop began; of a dict as Python
    does, which walks a list to its new end."""
    if len(x) != n:
        raise RuntimeError("dictionary changed size during iteration") if isinstance(x, dict) else Refusal(line, CHANGES)


def unpackable(x: Any, n: int) -> None:
    """Check that `x` unpacks into `n` names; ValueError as Python raises it."""
    if len(x) != n:
        few = f"not enough values to unpack (expected {n}, got {len(x)})"
        raise ValueError(few if len(x) < n else f"too many values to unpack (expected {n})")


def spreads(x: Any, least: int, most: int) -> None:
    """Check that `f(*x)` passes as many arguments as `f` takes; TypeError as Python raises it."""
    if not least <= len(x) <= most:
        raise TypeError(f"from {least} to {most} positional arguments are taken, but {len(x)} were given")


def no_subclass(x: Any, name: str, line: int | None) -> None:
    """Check that a value is, and holds, plain objects; TypeError for lists, arrays or numbers of a user's class that says by
    methods of its own how they are read.

    >>> no_subclass(type("Level", (float,), {"__module__": "model", "__neg__": lambda self: 11.0})(2.0), "p", 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: `p` is a Level, whose operators are methods of its own that ...
    """
    left, seen = [x], set()
    while left:
        value = left.pop()
        no_subclass_itself(value, name, line)
        if type(value) in (list, tuple, dict) and id(value) not in seen:
            seen.add(id(value))
            left += value.values() if type(value) is dict else value


def no_subclass_itself(x: Any, name: str, line: int | None) -> None:
    """The same for the value itself, whatever it holds."""
    if is_otherwise(type(x)):
        shown = f"`{name}`" if name else "this"
        raise Refusal(line, f"{shown} is {refused_subclass(type(x))}")


def only_these(d: Any, words: tuple[str, ...], called: str) -> None:
    """Check that the keys of `d` in `f(**d)` are parameters that have no argument yet; TypeError as Python raises it.
    Refusal where `d` is read by methods of its own."""
    no_subclass(d, "", None)
    for key in d if isinstance(d, dict) else d.keys():  # as Python asks
        if key not in words:
            raise TypeError(f"{called}() got an unexpected keyword argument {key!r}")


def has_keys(d: Any, words: tuple[str, ...]) -> None:
    """Check that `d` in `f(**d)` has these keys, as it had before the function ran; TypeError if not."""
    if tuple(d if isinstance(d, dict) else d.keys()) != words:
        raise Refusal(None, "the keys of this dict are others here than when the function was called, which cannot be "
                            "followed in `f(**d)`: name the keywords")  # fmt: skip


def fills(items: Any, d: Any, words: tuple[str, ...], needed: int, called: str) -> None:
    """Check that `f(*items, **d)` fills the parameters `words`, of which the first `needed` have no default; TypeError as
    Python raises it."""
    no_subclass(items, "", None)
    only_these(d, words, called)
    if len(items) > len(words):
        raise TypeError(f"{called}() takes at most {len(words)} further positional arguments but {len(items)} were given")
    for k, word in enumerate(words):
        if word in d and k < len(items):
            raise TypeError(f"{called}() got multiple values for argument {word!r}")
        if word not in d and len(items) <= k < needed:
            raise TypeError(f"{called}() missing a required argument: {word!r}")


def scalar(x: Any, name: str, line: int) -> None:
    """Check that `a[i]` is an element, not a view or a row that changes with `a`; TypeError for an array, list or dict."""
    if isinstance(x, (np.ndarray, list, dict)):
        called = f"`{name}`" if name else "this"
        raise Refusal(line, f"{called} is a view of an array that is written while it is used: write `.copy()` behind it")


def has_axes(x: Any, dtype: str, rank: int, name: str, line: int) -> None:
    """Check that `x` is an array of this dtype with so many axes; TypeError if not.

    >>> has_axes(np.squeeze(np.ones((1, 1))), "float64", 1, "x", 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: `x` is no array of float64 with 1 axis here, and what another name ...
    """
    if not isinstance(x, np.ndarray) or x.dtype != dtype or x.ndim != rank:
        called, axes = f"`{name}`" if name else "this", f"{rank} axis" if rank == 1 else f"{rank} axes"
        raise Refusal(line, f"{called} is no array of {dtype} with {axes} here, and what another name stands for may be "
                            "written through it: copy it first")  # fmt: skip


def number(x: Any, name: str, line: int) -> None:
    """Check that the result of a function that was looked up at run time is immutable, so that it cannot alias the arguments
    or state of that function; TypeError for anything else."""
    if not isinstance(x, (float, int, np.generic, str, type(None))):
        called = f"`{name}`" if name else "what a function gives here that is known at run time alone"
        raise Refusal(line, f"{called} may share memory with what is written while it is used: copy it first")


def as_number(x: Any, name: str, line: int) -> Any:
    """The result of an unknown function; TypeError if it is not a real number.

    >>> as_number(np.ones(2), "y", 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: `y` is no number, and may share memory with what is written while it is used: ...
    """
    if not isinstance(x, (float, int, np.floating, np.integer, np.bool_)):
        called = f"`{name}`" if name else "what a function gives here that is known at run time alone"
        raise Refusal(line, f"{called} is no number, and may share memory with what is written while it is used: copy it "
                            "first")  # fmt: skip
    return x


def real(x: Any, name: str, line: int) -> None:
    """Check that a differentiated value is not complex, nor any item of it; TypeError if it is.

    >>> real([1.0, np.ones(2) * 1j], "y", 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.ComplexValue: line 7: `y` is complex, and complex numbers that arise in a derivative of ...
    """
    if holds_complex(x):
        called = f"`{name}`" if name else "this"
        raise ComplexValue(line, f"{called} is complex, and {NOT_COMPLEX}")


def keeps_floats(x: Any, name: str, line: int) -> None:
    """Check that an array keeps what is stored into it: TypeError for whole numbers, and for objects.

    >>> keeps_floats(np.zeros(3, int), "b", 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: `b` is an array of int64, which does not keep the numbers that are stored ...
    """
    if isinstance(x, np.ndarray) and x.dtype.kind not in "fc":
        raise Refusal(
            line,
            f"`{name}` is an array of {x.dtype}, which does not keep the numbers that are stored into it: make it of "
            "floats, or store constants",
        )


class ComplexValue(Refusal):
    """A complex number where the text is for real ones."""


NOT_COMPLEX = "complex numbers that arise in a derivative of real ones are not followed here: begin with `x + 0j` for `x`"


def holds_complex(x: Any) -> bool:
    """Whether a value is a complex number or array, or a list, tuple or dict that holds one."""
    if isinstance(x, (list, tuple, dict)):
        return any(map(holds_complex, x.values() if isinstance(x, dict) else x))
    return isinstance(x, complex) or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind == "c")


def shuffled(x: Any, generator: Any, line: int) -> None:
    """Check that `x` is an array and `generator` is one of NumPy's (None: `np.random`); TypeError if not."""
    if not isinstance(x, np.ndarray) or not isinstance(generator, (np.random.Generator, np.random.RandomState, type(None))):
        raise Refusal(line, "what is shuffled here is no array, or not shuffled by NumPy, which cannot be followed: build a "
                            "new one in the order that you draw")  # fmt: skip


def require_instance(x: Any, classes: tuple[type, ...], attribute: str, line: int) -> None:
    """Check that a value of which a method is asked is of one of these classes, whose method the text has.

    >>> require_instance((1, 2), (tuple,), "norm", 7)
    """
    if not isinstance(x, classes):
        called = type(x).__name__
        if not hasattr(type(x), attribute):
            raise AttributeError(f"{called!r} object has no attribute {attribute!r}")
        raise Refusal(line, f"`{attribute}` is asked of a {called} here, and that of `{classes[0].__name__}` is followed: "
                            "use two names")  # fmt: skip


def asked_whole(x: Any, method: str, line: int, is_sequence: bool = False) -> None:
    """Check that `x * o` calls the reflected method of `o` once, not once per element of an array `x`.  Nor never, where `x`
    is a number of NumPy's, which makes an array of a sequence. TypeError if not.

    >>> asked_whole(np.ones(2), "Scale.__rmul__", 7)
    Traceback (most recent call last):
    s2sgrad.runtime.checks.Refusal: line 7: NumPy calls `Scale.__rmul__` once for each element of the array ...
    """
    if isinstance(x, np.ndarray):
        raise Refusal(
            line,
            f"NumPy calls `{method}` once for each element of the array on its left: write `__array_ufunc__ = None` "
            "in the class",
        )
    if is_sequence and isinstance(x, np.generic):
        raise Refusal(line, f"a number of NumPy's makes an array of the object, and does not call `{method}`: write "
                            "`float(x)`, or `__array_ufunc__ = None` in the class")  # fmt: skip


def bound(x: Any, name: str) -> None:
    """Raise UnboundLocalError for a variable that is unbound in the user's function (it holds a placeholder here)."""
    if x is None or _is_unset(x):
        raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")


_UNSET: dict[int, np.ndarray] = {}


def unset(rank: int) -> np.ndarray:
    """The placeholder of an unbound array variable with this many axes, which `bound` recognizes.

    >>> unset(2).shape, unset(2) is unset(2)
    ((0, 0), True)
    """
    return _UNSET.setdefault(rank, np.zeros((0,) * rank))


def _is_unset(x: Any) -> bool:
    if isinstance(x, (list, tuple, dict)):
        return any(map(_is_unset, x.values() if isinstance(x, dict) else x))
    return isinstance(x, np.ndarray) and x is _UNSET.get(x.ndim)


def poison(x: Any) -> None:
    """Fill an array that is dead with nan: for tests of the compiler, never in code for users."""
    if isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.flags.writeable:
        x[...] = np.nan


def tangent_fits(x: Any, t: Any, k: int) -> None:
    """Raise ValueError unless the k-th tangent of a `jvp` has the structure and the shape of its primal.

    >>> tangent_fits((np.ones(2), 1.0), (np.ones(3), 1.0), 0)
    Traceback (most recent call last):
    ValueError: tangents[0] must have the shape of its primal, (2,), not (3,)
    """
    if isinstance(x, (list, tuple, dict)):
        keys = isinstance(x, dict) and isinstance(t, dict) and x.keys() != t.keys()
        if type(t) is not type(x) or len(t) != len(x) or keys:
            raise ValueError(f"tangents[{k}] must have the structure of its primal, a {type(x).__name__} of {len(x)}")
        for key in x if isinstance(x, dict) else range(len(x)):
            tangent_fits(x[key], t[key], k)
    elif isinstance(x, (float, int, np.ndarray, np.generic)) and np.shape(x) != np.shape(t):
        raise ValueError(f"tangents[{k}] must have the shape of its primal, {np.shape(x)}, not {np.shape(t)}")


def holds_complex_inside(x: Any, met: set[int] | None = None) -> bool:
    """The same, of objects too, with what they hold.

    >>> holds_complex_inside([1.0, {"a": 2j}]), holds_complex_inside(np.ones(2))
    (True, False)
    """
    if isinstance(x, (np.ndarray, np.generic, float, int, str, complex)) or x is None:
        return holds_complex(x)
    met = set() if met is None else met
    if id(x) in met or len(met) > _MOST_INSIDE:
        return len(met) > _MOST_INSIDE  # unknown: complex numbers may be among them
    met.add(id(x))
    if isinstance(x, (list, tuple, dict)):
        parts = x.values() if isinstance(x, dict) else x
    else:
        parts = (vars(x) if has(x, "__dict__") else {}).values() if not callable(x) else ()
        parts = [*parts, *(its(x, n) for k in type(x).__mro__ for n in _slots(k) if has(x, n))]
    return any(holds_complex_inside(part, met) for part in parts)


_MOST_INSIDE = 100_000


def _slots(cls: type) -> tuple[str, ...]:
    names = vars(cls).get("__slots__", ())
    return (names,) if isinstance(names, str) else tuple(n for n in names if n not in ("__dict__", "__weakref__"))
