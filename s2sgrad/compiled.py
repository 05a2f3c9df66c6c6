"""A compiled gradient: the function, its text, and the names it was specialised on."""

from __future__ import annotations

import contextlib
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2sgrad import load
from s2sgrad.analysis import effects, mutation
from s2sgrad.analysis.kinds import Kind, kinds_of
from s2sgrad.options import Options
from s2sgrad.pipeline import Observer
from s2sgrad.program import Program
from s2sgrad.source import Binding
from s2sgrad.transform import written_globals

_LOCK = threading.RLock()  # one compilation at a time; running compiled functions takes no lock
_RECURSION = 20_000  # nested branches of a long `elif` chain; Python-to-Python calls take no C stack


@dataclass(eq=False)
class Compiled:
    """`function(*args, seed=...)` and its `text`; right while `holds()`."""

    function: types.FunctionType
    text: str
    seed: str
    scalar: bool
    guards: tuple[Callable[[], bool], ...]
    written: tuple[str, ...] = ()  # parameters whose arrays the user's function writes
    outside: Callable[[], dict[str, Any]] = dict  # arrays that the text reads from outside

    def holds(self) -> bool:
        """Whether every name that the text was specialised on still stands for what it stood for."""
        return all(guard() for guard in self.guards)

    def also(self, other: Compiled) -> Compiled:
        """The same, right only while `other` holds too."""
        return replace(self, guards=self.guards + other.guards)


def compile_gradient(
    function: types.FunctionType,
    kinds: dict[str, Kind],
    wrt: tuple[str, ...],
    options: Options,
    observer: Observer | None = None,
) -> Compiled:
    """Compile the gradient of `function` in the parameters `wrt` for arguments of these kinds.

    The observer is shown the function and its adjoint after every pass (and those of the functions that it calls).
    """
    with compiling():
        program = Program(observer)
        entry = program.gradient(function, kinds, wrt, options)
        written_globals.check(program.units)
        generated, text = load.load(program, entry)
    (seed,) = entry.defaults
    return Compiled(
        generated, text, seed, entry.defaults[seed] is not None, guards_of(program), program.written, _outside(program)
    )


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Quiet, and with room for trees nested as deeply as Python's own parser takes them."""
    with _LOCK:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, _RECURSION))
        effects.forget()
        mutation.forget()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            sys.setrecursionlimit(before)
            effects.forget()  # they hold the functions that they looked at
            mutation.forget()


def guards_of(program: Program) -> tuple[Callable[[], bool], ...]:
    """What must hold for the text of a program to be right: its free names stand for what they stood for."""
    guards: list[Callable[[], bool]] = list(program.guards)
    seen: set[tuple[int, str, bool]] = set()
    for unit in program.units:
        function = unit.primal.function
        space = id(function.__globals__ if function.__closure__ is None else function)
        for name, binding in unit.bindings.items():
            strict = name in unit.captured
            if (space, name, strict) not in seen:
                seen.add((space, name, strict))
                guards.append(binding.holds if strict else _guard(unit.primal, name, binding))
    return tuple(guards)


def _outside(program: Program) -> Callable[[], dict[str, Any]]:
    """Looks up the arrays that a program reads under names from outside."""
    arrays = [
        (unit.primal, name)
        for unit in program.units
        for name, binding in unit.bindings.items()
        if isinstance(binding.value, np.ndarray)
    ]
    return lambda: {n: b.value for primal, n in arrays if (b := primal.lookup(n)) is not None}


def _guard(primal: Any, name: str, binding: Binding) -> Callable[[], bool]:
    """Functions and modules by identity; data by kind, for the text reads it anew at every call."""
    value = binding.value
    if not isinstance(value, (float, int, complex, np.generic, np.ndarray)):
        return binding.holds
    (kind,) = kinds_of([value])

    def same_kind() -> bool:
        now = primal.lookup(name)
        return now is not None and (now.value is value or kinds_of([now.value])[0] == kind)

    return same_kind
