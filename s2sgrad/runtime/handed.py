"""The functions that a derivative rule is handed, and what these close over.

    y = midpoint(rate, 2.0)      ->      k_bar = midpoint_pullback(1.0)[0][0]      of   rate = closure(rate_, (k,))

A rule that gives None for an argument says that the result does not change with it.  Of a function it says that of the code
alone: what the function closes over has a derivative all the same.  Its cotangent is `Ungiven`, which nobody can read.
A rule may give a gradient instead, with the structure of what the function closes over.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.structure import attributes_of, float_type, rebuilt

_CONTAINERS = (list, tuple, dict)


class Ungiven:
    """The cotangent of what a function closes over, for which a rule gave None; Refusal where any part of it is read.

    `zero` is the structure that a gradient would have, `names` are those of its parts.
    """

    __slots__ = ("argument", "names", "said", "zero")

    def __init__(self, zero: Any, names: dict[Any, str], said: str, argument: str) -> None:
        self.zero, self.names, self.said, self.argument = zero, names, said, argument

    def __getitem__(self, key: Any) -> NoReturn:
        self.refuse(key)

    def __iter__(self) -> NoReturn:
        self.refuse()

    def __len__(self) -> NoReturn:
        self.refuse()

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self.refuse()

    def __add__(self, other: Any) -> Ungiven:
        return self

    __radd__ = __add__

    def refuse(self, key: Any = None) -> NoReturn:
        """Raise Refusal for the part at this place, or for all of them."""
        parts = self.zero if isinstance(self.zero, dict) else dict(enumerate(self.zero))
        held = [key] if key in self.names else [k for k, zero in parts.items() if has_numbers(zero)]
        names = " and ".join(f"`{self.names[k]}`" for k in held if k in self.names) or "what it closes over"
        one = len(held) < 2
        what = f"its argument `{self.argument}`" if self.argument else "an argument"
        raise Refusal(None, f"{self.said} gives no gradient of {names}, which {what} closes over and which "
                            f"{'is' if one else 'are'} differentiated: pass {'it' if one else 'them'} as "
                            f"{'an argument' if one else 'arguments'} of {'its' if one else 'their'} own, or let the rule "
                            "return a gradient for what the function closes over")  # fmt: skip


def ungiven(x: Any, said: str, argument: str = "") -> Any:
    """The cotangent of the argument `x` for which a rule gives None: zeros, but for functions in it that close over numbers.

    >>> ungiven((2.0, [np.ones(2)], "name"), "`f`")
    (0.0, [array([0., 0.])], None)
    """
    if isinstance(x, _CONTAINERS):
        return rebuilt(x, lambda part: ungiven(part, said, argument))
    zero = _zero_of_held(x, lambda part: ungiven(part, said, argument))
    if zero is not None:
        return Ungiven(zero, _names(x), said, argument) if callable(x) and has_numbers(zero) else zero
    if isinstance(x, Ungiven):
        return x
    if not isinstance(x, (np.ndarray, np.generic, int, float, complex)) and not has(x, "__array__"):
        return None
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, float_type(x.dtype))
    if np.iscomplexobj(x):
        return 0j
    return np.zeros(np.shape(x)) if np.ndim(x) else 0.0


def _zero_of_held(x: Any, zeros: Callable[[Any], Any]) -> Any:
    """The zero cotangent of what a function or an object holds; None for anything else."""
    if hasattr(type(x), "zero_cotangent"):
        return x.zero_cotangent(zeros)
    if isinstance(x, types.MethodType):
        return None
    held = attributes_of(x)
    return None if held is None else {k: zeros(v) for k, v in held.items() if v is not x}


def _names(x: Any) -> dict[Any, str]:
    """The names of what a function or an object holds, by their places."""
    if has(x, "holds"):
        code = its(x.function, "__code__", None)
        return {} if code is None else dict(enumerate(code.co_varnames[: min(len(x.holds), code.co_argcount)]))
    return {k: k for k in attributes_of(x) or ()}


def has_numbers(cotangent: Any) -> bool:
    """Whether a cotangent has a leaf that is not None."""
    parts = cotangent.values() if isinstance(cotangent, dict) else cotangent
    return any(map(has_numbers, parts)) if isinstance(cotangent, _CONTAINERS) else cotangent is not None


def is_zero(cotangent: Any) -> bool:
    """Whether all leaves of a cotangent or a tangent are 0 or None."""
    if isinstance(cotangent, _CONTAINERS):
        return all(map(is_zero, cotangent.values() if isinstance(cotangent, dict) else cotangent))
    return cotangent is None or isinstance(cotangent, Ungiven) or not np.any(cotangent)


def require_given(bar: Any, zero: Any, dot: Any) -> None:
    """Check that a rule that returned `bar` for an argument, whose zero cotangent is `zero`, gives a tangent along `dot`.

    >>> require_given(None, (0.0, None), (1.0, None))
    """
    if isinstance(zero, Ungiven):
        if bar is not None:
            require_given(bar, zero.zero, dot)
        elif not is_zero(dot):
            zero.refuse(next((k for k, part in _parts(dot).items() if not is_zero(part)), None))
    elif isinstance(zero, _CONTAINERS) and isinstance(dot, _CONTAINERS):
        bars, dots = _parts(bar), _parts(dot)
        for k, part in _parts(zero).items():
            require_given(bars.get(k), part, dots.get(k))


def require_still(dot: Any, x: Any, said: str, argument: str) -> Any:
    """The tangent of the argument `x`, for a rule that gives none for what functions in `x` close over; Refusal where these
    have one.

    >>> require_still(1.0, 2.0, "`f`", "x")
    1.0
    """
    require_given(None, ungiven(x, said, argument), dot)
    return dot


def unmoved(dot: Any, x: Any, y: Any, said: str, argument: str) -> Any:
    """The tangent of the result `y` along that of an argument `x` with which it does not change, as a rule says: zeros;
    Refusal where functions in `x` close over what has a tangent."""
    require_given(None, ungiven(x, said, argument), dot)
    return ungiven(y, said)


def ungiven_alike(dot: Any, bar: Any) -> Any:
    """The tangent `dot` of a cotangent: where a rule gives none, there is no tangent of it.

    >>> ungiven_alike((None, 1.0), (2.0, 3.0))
    (None, 1.0)
    """
    if isinstance(bar, _CONTAINERS) and isinstance(dot, _CONTAINERS):
        return rebuilt(bar, lambda b, d: ungiven_alike(d, b), dot)
    return bar if isinstance(bar, Ungiven) else dot


def _parts(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, (list, tuple)) else {}
