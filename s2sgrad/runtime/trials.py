"""Dry runs of the statements in a `try`, on copies: they raise the same exceptions and change nothing.

    try: x[i] = v      ->      which = raised(lambda: stored(v, x, i), ..); if which == 0: x[i] = v
"""

from __future__ import annotations

import collections
import copy
import operator
import types
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from s2sgrad.runtime import hook
from s2sgrad.runtime.checks import Outcome, Refusal, raised

_CONTAINERS = (dict, set, collections.deque, collections.defaultdict, collections.OrderedDict, collections.Counter)
_IN_PLACE = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv,
    "%=": operator.imod, "**=": operator.ipow, "@=": operator.imatmul, "&=": operator.iand, "|=": operator.ior,
    "^=": operator.ixor, "<<=": operator.ilshift, ">>=": operator.irshift,
}  # fmt: skip


class _Queue(list):
    """A list that may also stand in for a deque, and accepts its methods."""

    appendleft = extendleft = list.append

    def popleft(self) -> Any:
        """As of a deque."""
        return self.pop(0)

    def rotate(self, turns: int = 1) -> None:
        """As of a deque; only the argument is checked."""
        operator.index(turns)


_STAND_INS = {list: _Queue, dict: collections.OrderedDict}


def passed_on(which: int, handlers: int) -> int:
    """The `except` clause of the enclosing `try` that matches, where the inner one has `handlers` clauses; 0: none does.

    >>> passed_on(3, 2), passed_on(2, 2)
    (1, 0)
    """
    outer = Outcome(max(which - handlers, 0))
    outer.error = getattr(which, "error", None)
    return outer


def outcome(called: Callable[[], Any], *kinds: Any, told: bool = False) -> tuple[int, Any]:
    """(which, value): the number of the first of these exception types that `called()` raises, or 0 and its value.

    >>> outcome(lambda: {}["a"], ValueError, KeyError), outcome(lambda: 2.0, ValueError)
    ((2, None), (0, 2.0))
    """
    values: list[Any] = []
    which = raised(lambda: values.append(called()), *kinds)
    return which, None if which else values[0]


def caught(which: int) -> Any:
    """The exception that was raised, if any."""
    return getattr(which, "error", None)


def throw(error: Any) -> NoReturn:
    """`raise error`."""
    raise error


def scratch(x: Any) -> Any:
    """A copy of an array or a container, for a dry run that changes it; immutable values are returned unchanged.

    >>> ys = [1.0]
    >>> scratch(ys).append(2.0)
    >>> ys
    [1.0]
    """
    if isinstance(x, np.ndarray):
        return x.copy()
    if type(x) in _STAND_INS:
        return _STAND_INS[type(x)](x)
    if type(x) in _CONTAINERS:
        return copy.copy(x)
    if x is None or isinstance(x, (np.generic, float, int, complex, str, bytes, tuple, range)):
        return x
    raise Refusal(None, f"a {type(x).__name__} is changed in `try`, which cannot be followed: change it outside of `try`")


def repeatable(f: Any) -> Any:
    """A function, checked to do the same in a second run, and nothing else besides computing.

    >>> repeatable(np.sin)
    <ufunc 'sin'>
    """
    if not hook("only_computes")(f):
        called = f.__name__ if isinstance(f, types.FunctionType) else type(f).__name__
        raise Refusal(None, f"`{called}` may do something besides computing, which cannot be tried before it is done: take "
                            "this out of `try`")  # fmt: skip
    return f


def updated(x: Any, symbol: str, value: Any) -> Any:
    """The value of `x` after `x += value` (with this operator), or its exception; `x` itself is not changed.

    >>> updated(np.ones(2), "*=", 3.0)
    array([3., 3.])
    """
    return _IN_PLACE[symbol](scratch(x), value)


def stored(value: Any, x: Any, index: Any) -> None:
    """Raise what `x[index] = value` would raise.

    >>> x = np.zeros(2)
    >>> stored([1.0, 2.0], x, slice(1)), x
    Traceback (most recent call last):
    ValueError: could not broadcast input array from shape (2,) into shape (1,)
    """
    if isinstance(x, np.ndarray):
        x = np.empty_like(x) if x.flags.writeable else x  # a read-only array raises
        x[index] = value
    elif type(x) is list and isinstance(index, (int, np.integer)):
        x[index]
    elif isinstance(x, dict):
        hash(index)
    else:
        scratch(x)[index] = value


def attempted(function: Callable[..., Any], arguments: tuple[Any, ...], written: tuple[int, ...], line: int) -> None:
    """Raise what `function(*arguments)` would raise, where it writes the arguments at the indices `written`; TypeError if it
    raises after it has written one."""
    given = list(arguments)
    for k in written:
        given[k] = copy.deepcopy(given[k])
        given[k] = _STAND_INS.get(type(given[k]), lambda x: x)(given[k])
    try:
        function(*given)
    except Exception:
        if not all(_same(given[k], arguments[k]) for k in written):
            called = getattr(function, "__name__", "a function")
            raise Refusal(
                line,
                f"`{called}` raises in `try` when it has written its argument, which cannot be followed: let it look first, "
                "and write then",
            ) from None
        raise


def _same(left: Any, right: Any) -> bool:
    """Whether two values are identical bit by bit; stand-ins count as what they stand for."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and left.dtype != object:
        return left.shape == right.shape and left.tobytes() == right.tobytes()
    if isinstance(right, tuple(_STAND_INS)) and isinstance(left, _STAND_INS.get(type(right), type(right))):
        left = type(right)(left)
    if type(left) is type(right) and isinstance(left, (list, tuple, collections.deque)):
        return len(left) == len(right) and all(map(_same, left, right))
    if type(left) is type(right) and isinstance(left, dict):
        return list(left) == list(right) and all(_same(left[k], right[k]) for k in left)
    try:
        return type(left) is type(right) and bool(left == right)
    except ValueError:
        return False
