"""`stop_gradient`: a value that counts as a constant, on a tape and in compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from s2sgrad import runtime
from s2sgrad.rules import table
from s2sgrad.runtime.structure import rebuilt
from s2sgrad.tape.array import Array
from s2sgrad.tape.values import Operand

if TYPE_CHECKING:
    from s2sgrad.tape.variable import Variable

T = TypeVar("T")


@overload
def stop_gradient(input: Variable, name: str | None = ...) -> Array: ...
@overload
def stop_gradient(input: T, name: str | None = ...) -> T: ...
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same value, through which no gradient flows: for numbers, arrays, Arrays, and nested lists, tuples, dicts of them.

    It means the same in functions that `grad` compiles.  `name` is TensorFlow's and has no effect.

    >>> from s2sgrad import grad, stop_gradient
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    if isinstance(input, Operand):
        return Array.of(input._read()._value)
    if isinstance(input, (list, tuple, dict)):
        return rebuilt(input, stop_gradient)
    return runtime.stop_gradient(input)  # in compiled code the result may be written


table.flat(stop_gradient)
