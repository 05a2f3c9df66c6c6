"""The boundary to derivative rules that the user wrote: they can neither write nor alias the cotangents around them.

    def square_vjp(g, y, x): g *= 2.0 * x; return g     ->     ValueError: `g` is only lent, and would be written here

>>> fitted([1.0, 2.0], np.zeros(3), "the vjp of `f`", "x")
Traceback (most recent call last):
ValueError: the vjp of `f` returned a list for an argument `x` of shape (3,): return one of the shape of the argument
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.runtime.asking import has
from s2sgrad.runtime.checks import NOT_COMPLEX, ComplexValue, holds_complex
from s2sgrad.runtime.handed import Ungiven, ungiven
from s2sgrad.runtime.results import described
from s2sgrad.runtime.structure import rebuilt

_HOLDS = (list, tuple, dict)


def lent(value: Any) -> Any:
    """A read-only version of a value: views of arrays, copies of containers."""
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    return rebuilt(value, lent) if _is_container(value) else value


def new(value: Any) -> Any:
    """A deep copy: a rule may return one of its arguments, or a buffer that it reuses."""
    if isinstance(value, np.ndarray):
        return value.copy("K")  # products of the same layout round alike
    return rebuilt(value, new) if _is_container(value) else value


def _is_container(value: Any) -> bool:
    """Whether this is a plain container or a named tuple."""
    return type(value) in _HOLDS or (isinstance(value, tuple) and has(value, "_fields"))


def called(said: str, rule: Callable[..., Any], *given: Any, **keywords: Any) -> Any:
    """The result of a rule that is called with read-only arguments; where it writes them, a note on the error says so."""
    try:
        return rule(*map(lent, given), **{k: lent(v) for k, v in keywords.items()})
    except ValueError as error:
        if "read-only" in str(error):
            error.add_note(f"{said} writes an array that it is only lent: write a copy of it")
        raise


def require_real(y: Any, said: str) -> None:
    """Raise ComplexValue where a function with a rule of its own gives complex numbers to a text for real ones.

    >>> require_real(1j, "`f`")
    Traceback (most recent call last):
    s2sgrad.runtime.checks.ComplexValue: `f` gives complex numbers: complex numbers that arise in a derivative of real ...
    """
    if holds_complex(y):
        raise ComplexValue(None, f"{said} gives complex numbers: {NOT_COMPLEX}")


def fitted(bar: Any, x: Any, said: str, argument: str = "", tangent: bool = False) -> Any:
    """The cotangent that a rule returned for the argument `x`, with the structure and shape of `x`; None is a zero.

    `tangent`: `bar` is the tangent of the result `x` instead.

    Raises ValueError that names the rule and the argument where `bar` does not fit.

    >>> fitted(2.0, np.zeros(2), "the vjp of `f`"), fitted((None, 1), (3.0, 4.0), "the vjp of `f`")
    (array([2., 2.]), (0.0, 1.0))
    """
    if bar is None:
        return ungiven(x, said, argument)
    if hasattr(type(x), "zero_cotangent"):
        x = ungiven(x, said, argument)
    if isinstance(x, Ungiven):
        x = bar if isinstance(bar, Ungiven) else x.zero
    if isinstance(x, _HOLDS):
        same = isinstance(bar, dict) == isinstance(x, dict) and isinstance(bar, _HOLDS)
        if not same or len(bar) != len(x) or (isinstance(x, dict) and bar.keys() != x.keys()):
            place = "the result, " if tangent else f"the argument `{argument}`, " if argument else ""
            raise ValueError(f"{said} returned {described(bar)} for {place}{described(x)} of {len(x)}")
        return rebuilt(x, lambda part, b: fitted(b, part, said, argument, tangent), bar)
    if not isinstance(x, (np.ndarray, np.generic, int, float)) and not has(x, "__array__"):
        return bar
    shape = np.shape(x)
    what = _misfit(bar, x, "tangent" if tangent else "gradient")
    if what:
        place = "a result" if tangent else f"an argument `{argument}`" if argument else "an argument"
        raise ValueError(f"{said} returned {what} for {place} of shape {shape}{_way(bar, shape, tangent)}")
    return _of_floats(bar, shape)


def _misfit(bar: Any, x: Any, noun: str) -> str:
    """A description of `bar` for an error where it does not fit a number or an array of the shape of `x`; else empty."""
    number = hasattr(bar, "dtype") or isinstance(bar, (int, float, complex))
    kind = (getattr(bar, "dtype", None) or np.result_type(bar)).kind if number else "O"
    if kind not in "fiubc":
        return described(bar)
    if kind == "c" and np.result_type(x).kind != "c":
        return "complex numbers"
    try:
        fits = np.broadcast_shapes(np.shape(bar), np.shape(x)) == np.shape(x)
    except ValueError:
        fits = False
    return "" if fits else f"a {noun} of shape {np.shape(bar)}"


def _way(bar: Any, shape: tuple[int, ...], tangent: bool) -> str:
    """What to do about a gradient or a tangent of another shape than it should have.

    >>> _way(np.ones((5, 3)), (3,), False)
    ': sum it over the axes along which the argument was broadcast'
    """
    if np.shape(bar) == shape:
        return ""
    try:
        wider = np.broadcast_shapes(np.shape(bar), shape) == np.shape(bar)
    except ValueError:
        wider = False
    if wider and not tangent:
        return ": sum it over the axes along which the argument was broadcast"
    return f": return one of the shape of the {'result' if tangent else 'argument'}"


def _of_floats(bar: Any, shape: tuple[int, ...]) -> Any:
    """`bar` as a float or an array of floats of this shape."""
    if not isinstance(bar, (np.ndarray, np.generic, int, float, complex)):  # an Array, which the tape broadcasts
        return bar
    if np.shape(bar) != shape:
        return np.array(np.broadcast_to(bar, shape), dtype=complex if np.iscomplexobj(bar) else float)
    if isinstance(bar, (np.ndarray, np.generic)):
        return bar if bar.dtype.kind in "fc" else bar.astype(float)
    return float(bar) if not isinstance(bar, complex) else bar
