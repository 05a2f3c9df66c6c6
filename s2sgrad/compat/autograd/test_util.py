"""Autograd's `test_util`: `check_grads(f, order=2)(x)`, and the same for all combinations of arguments.

>>> import numpy as np
>>> check_grads(lambda x: x ** 2, modes=["fwd", "rev"], order=2)(3.0)
>>> combo_check(np.sum, (0,))([np.ones(3), np.ones((2, 3))], axis=[None, 0], keepdims=[True, False])
>>> check_equivalent((1.0, [2.0]), (1.0, [3.0]))
Traceback (most recent call last):
AssertionError: [1][0] is 2.0, and 3.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from s2sgrad import testing
from s2sgrad.testing.containers import paths

__all__ = ["check_equivalent", "check_grads", "combo_check", "scalar_close"]

_CLOSE = 1e-6


def parts(y: Any) -> Any:
    """The real and the imaginary parts of complex numbers."""
    return [(np.real(v), np.imag(v)) for v in y] if isinstance(y, (list, tuple)) else (np.real(y), np.imag(y))


def in_parts(f: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function of `count` arguments as one that gives the real and the imaginary parts; calls of few have no star."""
    few: dict[int, Callable[..., Any]] = {
        1: lambda x: parts(f(x)),
        2: lambda x, y: parts(f(x, y)),
        3: lambda x, y, z: parts(f(x, y, z)),
    }
    return few.get(count, lambda *args: parts(f(*args)))


def has_complex(y: Any) -> bool:
    """Whether a value is complex, or a list or a tuple that holds complex numbers."""
    return any(map(np.iscomplexobj, y)) if isinstance(y, (list, tuple)) else np.iscomplexobj(y)


def check_grads(
    f: Callable[..., Any], argnum: int | Sequence[int] = 0, modes: Sequence[str] = ("fwd", "rev"), order: int = 2
) -> Callable[..., None]:
    """A function of the arguments that compares derivatives with differences and raises AssertionError where they differ.

    `argnum`: the argument, or arguments, that are differentiated; keywords are passed on.
    """
    asked = (argnum,) if isinstance(argnum, int) else tuple(argnum)

    def check(*args: Any, **keywords: Any) -> None:
        argnums = [k for k in asked if len(asked) == 1 or not (isinstance(args[k], (dict, list, tuple)) and not args[k])]
        checked = partial(f, **keywords) if keywords else f
        checked = in_parts(checked, len(args)) if has_complex(checked(*args)) else checked
        testing.check_grads(checked, args, order, modes, tuple(argnums))

    return check


def combo_check(
    f: Callable[..., Any],
    argnum: int | Sequence[int] = 0,
    modes: Sequence[str] = ("fwd", "rev"),
    order: int = 2,
) -> Callable[..., None]:
    """A function of lists, one for each argument and keyword: `check_grads` for each combination of their items."""
    check = check_grads(f, argnum, modes, order)

    def check_all(*args: Iterable[Any], **keywords: Iterable[Any]) -> None:
        words = [[(word, value) for value in values] for word, values in keywords.items()]
        for given in product(*args):
            for named in product(*words):
                check(*given, **dict(named))

    return check_all


def check_equivalent(x: Any, y: Any) -> None:
    """Raise AssertionError unless both have the same structure, and arrays and numbers of the same shape that are close."""
    ours, theirs = dict(paths(x, "")), dict(paths(y, ""))
    if ours.keys() != theirs.keys():
        raise AssertionError(f"these differ in structure: {x!r} and {y!r}")
    for path, a in ours.items():
        b = theirs[path]
        if np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=_CLOSE, atol=_CLOSE):
            raise AssertionError(f"{path or 'the value'} is {a!r}, and {b!r}")


def scalar_close(a: float, b: float) -> bool:
    """Whether two numbers are equal up to rounding."""
    return bool(abs(a - b) < _CLOSE or abs(a - b) < _CLOSE * abs(a + b))
