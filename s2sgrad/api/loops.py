"""Derivatives that run as loops: what `compile=True` asks for, and what says how that went.

df = grad(f, compile=True); df(x); df.compiled_source; df.explain_compile()
"""

from __future__ import annotations

import functools
import importlib.util
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from s2sgrad.api.whole import Whole
from s2sgrad.driver.options import DEFAULT, LOOPS, PREFERRED, THREADS
from s2sgrad.errors import Unsupported
from s2sgrad.errors.raised import entry

if TYPE_CHECKING:
    from s2sgrad.driver.recipe import Compiled


def backend_for(compile_: bool, lists: bool, debug: bool, threads: bool = False) -> str:
    """The backend that the options of a gradient ask for."""
    if threads and not compile_:
        raise ValueError("threads=True is about loops: give compile=True, too")
    if compile_ and debug:
        raise ValueError("debug=True checks each value as the NumPy text runs: leave out compile=True")
    if compile_ and importlib.util.find_spec("numba") is None:
        raise Unsupported("compile=True needs numba: pip install 's2sgrad[compile]'")
    return THREADS if threads else LOOPS if compile_ else PREFERRED if lists and not debug else DEFAULT


def looped(compiled: Compiled | Whole, threads: bool = False) -> Any:
    """What runs the text of a derivative as loops, kept with its function; a recording, which has no text, as it is."""
    if isinstance(compiled, Whole):
        return compiled.function
    loops = vars(compiled.function).get("loops")
    if loops is None:
        from s2sgrad.driver.pauses import without_collection

        with without_collection():
            from s2sgrad.compiled.running import Loops

        loops = vars(compiled.function)["loops"] = Loops(compiled.function, threads)
    return loops


def runs_as_loops(compiled: Compiled | Whole) -> bool:
    """Whether the latest call of a derivative ran as loops."""
    if isinstance(compiled, Whole):
        return False
    from s2sgrad.compiled.running import Made

    return isinstance(looped(compiled).latest, Made)


def source_of(compiled: Compiled | Whole) -> str:
    """With `compile=True`, the loops that ran in the latest call, as Python; a comment that says why there are none."""
    if isinstance(compiled, Whole):
        return "# a function that is recorded as it runs has no loops\n"
    from s2sgrad.compiled.running import shown

    return shown(looped(compiled), compiled.text)


@entry
def explained(derivative: Any) -> str:
    """With `compile=True`, whether the latest call ran as loops; else the line of the text that has none, and why."""
    compiled = derivative._shown()
    if isinstance(compiled, Whole):
        return "it has no text: it is recorded as it runs, which `.source` explains"
    from s2sgrad.compiled.running import explained

    return explained(looped(compiled), compiled.text)


class CompiledFunction:
    """A function as loops: the result of `compile`.  `primal` is the function."""

    def __init__(self, function: types.FunctionType, threads: bool = False) -> None:
        from s2sgrad.compiled.running import Loops

        self.primal, self._loops = function, Loops(function, threads)
        functools.update_wrapper(self, function)

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        return self._loops(*args, **keywords)

    @property
    def compiled_source(self) -> str:
        """The loops that ran in the latest call, as Python; a comment that says why there are none."""
        from s2sgrad.compiled.running import shown

        return shown(self._loops, "")

    def explain_compile(self) -> str:
        """Whether the latest call ran as loops; else why there are none."""
        from s2sgrad.compiled.running import explained

        return explained(self._loops, "")

    def __repr__(self) -> str:
        return f"<loops of {self.primal.__qualname__}>"


@entry
def compile(function: Callable[..., Any], threads: bool = False) -> CompiledFunction:
    """A function as loops over single numbers, which numba compiles, as `grad(f, compile=True)` does its text.

    It returns what the function returns; what has no loops runs as it is.  `threads=True`: large loops over independent
    elements run in several threads.
    """
    backend_for(True, False, False)
    if not isinstance(function, types.FunctionType):
        what = type(function).__name__
        raise TypeError(f"compile takes a Python function, not a {what}; of a gradient, say grad(f, compile=True)")
    return CompiledFunction(function, bool(threads))
