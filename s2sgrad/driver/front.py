"""Whether a text is right for the arguments of a call, as one function that is written for it.

    grad(loss)(x)      ->      def front(args):
                                   if len(args) != 1:
                                       return None
                                   (x0,) = args
                                   return compiled if type(x0) is t0 and .. and space0.get("np") is v3 and .. else None

The conditions are those that `Compiled.holds` checks, and the types and shapes of the arguments those of the quick key: what
is not text here is called.  Where it returns None, the text is looked up.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sgrad.analysis.call_keys import NUMBERS, shapes_of
from s2sgrad.driver.conditions import Bind

if TYPE_CHECKING:
    from s2sgrad.driver.recipe import Compiled

Front = Callable[[tuple], Any]
_MOST = 64  # of one request


def of_key(fronts: dict[Hashable, tuple[Compiled, Front]], key: Hashable, compiled: Compiled, args: tuple) -> Front:
    """The function for arguments with this quick key, written once."""
    found = fronts.get(key)
    if found is None or found[0] is not compiled:
        if len(fronts) >= _MOST:
            fronts.clear()
        found = fronts[key] = compiled, written(compiled, args)
    return found[1]


def written(compiled: Compiled, args: tuple) -> Front:
    """The function for arguments of the types and shapes of these."""
    values: dict[str, Any] = {"compiled": compiled, "shapes_of": shapes_of}

    def bind(value: Any) -> str:
        name = f"v{len(values)}"
        values[name] = value
        return name

    tests = [test for k, a in enumerate(args) for test in _of_argument(f"x{k}", a, bind)] + compiled.tests(bind)
    names = "".join(f"x{k}, " for k in range(len(args)))
    unpack = f"    ({names}) = args\n" if args else ""
    text = f"def front(args):\n    if len(args) != {len(args)}:\n        return None\n{unpack}"
    exec(_code(f"{text}    return compiled if {' and '.join(tests)} else None\n"), values)
    front: Front = values["front"]
    return front


@functools.lru_cache(maxsize=256)
def _code(text: str) -> types.CodeType:
    return compile(text, __file__, "exec")


def _of_argument(name: str, value: Any, bind: Bind) -> list[str]:
    """What holds of arguments with the same quick key."""
    kind = type(value)
    if kind is np.ndarray:
        shape, dtype = bind(value.shape), bind(value.dtype)
        return [f"type({name}) is {bind(kind)}", f"{name}.shape == {shape}", f"{name}.dtype is {dtype}"]
    if kind in NUMBERS or value is None or kind is str:
        return [f"type({name}) is {bind(kind)}"]
    return [f"shapes_of(({name},)) == {bind(shapes_of((value,)))}"]
