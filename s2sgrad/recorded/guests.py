"""Operands of classes that NumPy knows by their protocols alone, where they meet a handle.

x * grid       grid has `__array__`                        ->      x * np.asarray(grid), its method followed
x * series     a Series of pandas has `__array_ufunc__`    ->      refused, as in a text
x * scaling    none of both                                ->      NotImplemented: its own operators are asked
x * level      a float with a `__rmul__` of its own        ->      NotImplemented, where Python asks it first
"""

from __future__ import annotations

import array
import fractions
from typing import Any

import numpy as np

from s2sgrad.recorded.runs import refuse
from s2sgrad.recorded.values import bottom, handles_in, is_handle
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.guests import acts_as_array, is_array_of_others, refused_guest
from s2sgrad.runtime.structure import stored_in
from s2sgrad.runtime.subclasses import NUMBERS, converts_otherwise, is_otherwise, plain_number, refused_subclass

CALLED: dict[str, Any] = {}
_BUFFERS = (array.array, memoryview)
_OF_NUMBERS = -1_000_000.0
"""The `__array_priority__` of NumPy's numbers, and of objects that do not say theirs."""


def handles_stored(value: Any) -> list[Any]:
    """The handles that an object stores."""
    return handles_in(list((stored_in(value) or {}).values()), [])


def as_array(value: Any) -> Any:
    """The array that an object gives NumPy by `__array__`, which is followed."""
    return CALLED["call"](type(value).__array__, value)


def require_no_guest(value: Any) -> None:
    """Refuse an array of another library, whose functions mean something else than NumPy's."""
    if acts_as_array(type(value)) and not is_handle(value):
        refuse(Refusal(None, refused_guest(type(value))))


def operand(number_or_array: Any, other: Any, reflected: bool = False) -> Any:
    """What NumPy's operators take an operand for that is no number, array or plain list; NotImplemented where its own are
    asked.

    NumPy leaves the operation to an object whose `__array_ufunc__` is None.  It does so where `__array_priority__` is
    higher, unless it was asked after the object (`reflected`): https://numpy.org/doc/stable/reference/arrays.classes.html.
    """
    require_no_guest(other)
    cls, value = type(other), bottom(number_or_array)
    least = 0.0 if isinstance(value, np.ndarray) else _OF_NUMBERS
    if hasattr(cls, "__array_ufunc__") or (not reflected and getattr(cls, "__array_priority__", _OF_NUMBERS) > least):
        return NotImplemented
    if cls is fractions.Fraction:
        return float(other)
    if is_array_of_others(cls) and type(value) is not float:
        return as_array(other)
    if isinstance(other, _BUFFERS) and type(value) is not float:
        return np.asarray(other)
    return other if isinstance(other, (list, tuple)) else NotImplemented


def number(value: Any, other: Any, reflected: str) -> Any:
    """What an operator takes a number of the user's class for, beside a value: a plain one, whose methods no slope asks.

    NotImplemented where its own method `reflected` is asked first, as that of a subclass; refused where NumPy may convert it
    by methods of its own.
    """
    cls = type(other)
    if not isinstance(other, NUMBERS) or not is_otherwise(cls):
        return other
    base = type(value)
    if reflected and issubclass(cls, base) and getattr(cls, reflected, None) is not getattr(base, reflected, None):
        return NotImplemented
    if isinstance(value, (np.ndarray, np.generic)) and converts_otherwise(cls):
        refuse(Refusal(None, f"this is {refused_subclass(cls)}"))
    return plain_number(other)
