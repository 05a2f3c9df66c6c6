"""Guards against silently lost gradients: values that leave the tape, and writes to Arrays.

    np.asarray(x), plain[0] = x, np.add(x, x, out=plain)   TypeError        float(x), math.sin(x)   a warning

An Array that no tape follows is not restricted.
"""

from __future__ import annotations

import dis
import sys
import warnings
from typing import Any

import numpy as np

from s2sgrad.ir.signatures import by_position
from s2sgrad.primitives import catalogue
from s2sgrad.recorded.values import is_handle
from s2sgrad.tape.recording import STATE, tracked

WAY = "compute with NumPy functions on it, put the code into a `differentiable` function, or take `.numpy()`, a constant"
STORE = (
    "an Array is never written: put the code into a `differentiable` function, where in-place writes work, "
    "or build a new Array"
)
_STORES = {dis.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in dis.opmap}


def require_free(x: Any) -> None:
    """Raise TypeError if a tape follows the Array `x`, which is about to be converted to an ndarray."""
    if tracked(x.uid):
        _report(x)
        raise TypeError(
            f"a tape follows this Array, and as an ndarray it would lose its gradient: {WAY} (of several: np.stack)"
        )


def require_none_followed(operands: list[Any]) -> None:
    """Raise TypeError if a tape follows an Array that was stored in an array of Python objects."""
    for x in operands:
        require_free(x)


def require_seen(y: Any, operands: list[Any]) -> None:
    """Raise TypeError if a tape follows an operand, and does not see the result: an array of Python objects, or what a
    function that is recorded computes, in which Variables are constants."""
    if is_handle(y) or (isinstance(y, np.ndarray) and y.dtype.hasobject):
        require_none_followed(operands)


def leaving(x: Any, into: str) -> Any:
    """The value of the Array `x`, which is converted to a Python number; warns if a tape follows it."""
    if tracked(x.uid):
        _report(x)
        frame = sys._getframe(2)
        if frame.f_code.co_code[frame.f_lasti] in _STORES:  # `plain[0] = x` calls float(x); NumPy chains this error
            raise TypeError(f"an item of an ndarray cannot hold an Array that a tape follows: {WAY}")
        warnings.warn(f"{into} of an Array that a tape follows is a constant: {WAY}", stacklevel=3)
    return x._value


def _report(x: Any) -> None:
    """Report to the running compiled function that it used a followed value that is not an argument."""
    if STATE.inside is not None:
        STATE.inside.append(x)


def require_no_write(primitive: Any, args: tuple, keywords: dict[str, Any]) -> None:
    """Raise TypeError if a function that NumPy dispatches writes one of its arguments."""
    out = keywords.get("out")
    if out is not None and any(o is not None for o in (out if isinstance(out, tuple) else (out,))):
        raise TypeError(
            f"`out=` cannot hold an Array, nor can `y += x` write one into an ndarray: write `y = y + x`, or {WAY}"
        )
    if catalogue.of(primitive).writes or catalogue.of_bound(primitive).writes:
        raise TypeError(f"`{primitive.__name__}` writes its argument, and {STORE}")
    if len(args) > 1 and "out" in by_position(primitive):
        place = by_position(primitive).index("out")
        if len(args) > place and args[place] is not None:
            raise TypeError(f"`out` of `{primitive.__name__}` cannot hold an Array: leave it out")
