"""A compiled function: which loops are right for the arguments of a call, and the text where there are none.

    run = Loops(loss_grad); run(x)      ->      the loops for arrays like `x`; if they raise, `loss_grad(x)`, which decides

A lowered function writes nothing that its caller can see, so the text may always run after it.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import types
from collections.abc import Hashable
from typing import Any

import numpy as np

from s2sgrad.compiled import entry, native
from s2sgrad.compiled.lowered import Lowered, flat_arguments, lower, rebuilt
from s2sgrad.compiled.lowering import is_small
from s2sgrad.compiled.values import Unfit
from s2sgrad.driver.conditions import Bind
from s2sgrad.driver.pauses import without_collection
from s2sgrad.driver.program import Program
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.lookups import Lookups, member_of, noted
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING
from s2sgrad.primitives import libraries
from s2sgrad.runtime.asking import its
from s2sgrad.source import look_up

_NUMBERS = (bool, int, float, np.float64, np.float32, np.int64, np.bool_)
_SILENT = {"ignore", "warn", "print", "log"}  # what NumPy may do at a division by zero, and loops need not
_PATIENCE = 5  # so many calls in a row may raise in the loops, before the text runs at once
_SLOW = 1.0  # seconds, after which it is said that something is being compiled


_one_by_one = threading.Lock()  # not every library of threads may be entered by two threads at once


class Loops:
    """A function of the text, by its loops where they fit.  `made`: by the types of the arguments, the loops or why there
    are none."""

    def __init__(self, function: types.FunctionType, threads: bool = False) -> None:
        self.function, self.threads = function, threads
        self.made: dict[Hashable, Made | str] = {}
        self.latest: Made | str = "it was not called yet"
        self.returned = 0  # how often loops raised, and the text ran
        self._entry: entry.Entry = entry.nowhere
        self._unequal: set[Hashable] = set()  # types of arguments whose sizes were equal at first, and are not always
        self._parameters = [*signature(function).parameters.values()]
        self._names = [p.name for p in self._parameters]
        self._positional = [p.name for p in self._parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
        self._plain = not any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in self._parameters)
        self._lock = threading.Lock()

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if not keywords:
            try:
                if (out := self._entry(args)) is not entry.NOT_HERE:
                    return out
            except Exception:  # the loops raise it again, where it is counted
                pass
        values = self._values(args, keywords)
        if values is None or not _SILENT.issuperset(np.geterr().values()):
            return self.function(*args, **keywords)
        key = tuple(map(_type, values))
        made = self.made.get(key)
        if made is None or (isinstance(made, Made) and not made.holds()):
            made = self._make(key, values)
        self.latest = made
        if isinstance(made, Made):
            try:
                out = made.run(values)
                made.raised = 0
                self._entry = entry.nowhere if keywords else made.entry(self, args)
                return out
            except Exception as error:
                self._note(key, made, error, values)
        return self.function(*args, **keywords)

    def _note(self, key: Hashable, made: Made, error: Exception, values: list[Any]) -> None:
        """Count that loops raised; those that raise again and again, where the text does not, are given up."""
        self.returned += 1
        self._entry = entry.nowhere
        if not made.fits(values):
            self._unequal.add(key)
            self.made.pop(key, None)
            return
        made.raised += 1
        if made.raised >= _PATIENCE:
            self.made[key] = f"its loops raise for such arguments ({type(error).__name__}: {error})"

    def takes_by_place(self, args: tuple) -> bool:
        """Whether arguments are all that stand for parameters by their place; the rest have defaults."""
        named = self.function.__kwdefaults__ or {}
        return self._plain and len(args) == len(self._positional) and len(named) == len(self._names) - len(args)

    def _values(self, args: tuple, keywords: dict[str, Any]) -> list[Any] | None:
        """The values of the parameters in their order; None where a call does not fit them."""
        positional, named = self._positional, self.function.__kwdefaults__ or {}
        if not keywords and self.takes_by_place(args):
            return [*args, *[named[n] for n in self._names[len(args) :]]]
        if not self._plain or len(args) > len(positional):
            return None
        given = {**named, **keywords}
        rest = positional[len(args) :]
        if rest:
            defaults = self.function.__defaults__ or ()
            given = {**dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True)), **given}
        if len(given) + len(args) - sum(n in given for n in positional[: len(args)]) != len(self._names):
            return None
        if any(n in keywords for n in positional[: len(args)]):
            return None
        try:
            return [*args, *[given[n] for n in self._names[len(args) :]]]
        except KeyError:
            return None

    def _make(self, key: Hashable, values: list[Any]) -> Made | str:
        with self._lock, without_collection():
            made = self.made.get(key)
            if made is None or (isinstance(made, Made) and not made.holds()):
                arguments = dict(zip((p.name for p in self._parameters), values, strict=True))
                try:
                    made = Made(self.function, arguments, self.threads, key not in self._unequal)
                except (Unfit, S2SGradError) as why:
                    made = str(why)
                except Exception as why:  # of numba
                    made = f"numba says: {str(why).strip().splitlines()[0] if str(why).strip() else type(why).__name__}"
                self.made[key] = made
        return made


class Made:
    """Loops that are compiled for arguments of certain types."""

    def __init__(self, function: types.FunctionType, arguments: dict[str, Any], threads: bool, equal: bool = True) -> None:
        with noted() as lookups:
            self.lowered = lower(Program(), function, arguments, threads, equal)
        sizes = _sizes([*arguments.values()])
        self._equal = [sizes.index(n) for n in sizes] if equal else None
        self._turn = _one_by_one if native.runs_in_threads(self.lowered.text) else contextlib.nullcontext()
        self._assumed = _Assumed(function, lookups, self.lowered)
        given = self._given([*arguments.values()])
        begun = time.perf_counter()
        teller = threading.Timer(_SLOW, _tell, (self.lowered.name,))
        teller.daemon = True
        teller.start()
        try:
            self._function = native.native(self.lowered.text, self.lowered.name, tuple(given))
        finally:
            teller.cancel()
        self._types = [*map(_type, given)]
        self._entry: entry.Entry | None = None
        self.raised = 0  # how many of the latest calls raised
        self.seconds = time.perf_counter() - begun

    def holds(self) -> bool:
        """Whether all that the loops were written for is as it was."""
        return self._assumed.holds()

    def entry(self, loops: Loops, args: tuple) -> entry.Entry:
        """The quick way into the loops, for a call with arguments like these."""
        if self._entry is None:
            self._entry = entry.nowhere
            if loops.takes_by_place(args) and self._turn is not _one_by_one:
                function, tests, lowered = loops.function, self._assumed.tests, self.lowered
                self._entry = entry.written(function, args, tests, lowered, _loops=self._function, _made=self, _all=loops)
        return self._entry

    def fits(self, values: list[Any]) -> bool:
        """Whether the sizes that the loops take to be equal are equal in other arguments."""
        sizes = _sizes(values)
        return self._equal is None or (
            len(sizes) == len(self._equal) and all(n == sizes[k] for n, k in zip(sizes, self._equal, strict=True))
        )

    def run(self, values: list[Any]) -> Any:
        """The result; raises where the text may not."""
        given = self._given(values)
        if self.lowered.outside and [*map(_type, given)] != self._types:
            raise Unfit("what it reads under free names is of another type")
        with self._turn:
            values = self._function(*given)
        return rebuilt(iter(values), self.lowered.result)

    def _given(self, values: list[Any]) -> list[Any]:
        """The arguments of the loops: arrays in order, and what is read under free names."""
        if self.lowered.outside:
            values = [*values, *map(_outside, self.lowered.outside)]
        return [_in_order(v) for v in flat_arguments(values)]


def _sizes(values: list[Any]) -> list[int]:
    """The lengths of all axes of arguments."""
    return [n for v in flat_arguments(values) for n in np.shape(v)]


def _outside(read: tuple[types.FunctionType, str]) -> Any:
    """What a function reads under a free name."""
    binding = look_up(*read)
    assert binding is not None, read
    return binding.value


class _Assumed:
    """What loops were written for: names, attributes, methods, defaults and code."""

    def __init__(self, function: types.FunctionType, lookups: Lookups, lowered: Lowered) -> None:
        self._defaults = lowered.defaults
        data = {(id(function), name) for function, name in lowered.outside}
        bound = [(f, n, b) for key, (f, n, b) in lookups.names.items() if b is not None and key not in data]
        self._cells = [(_cell(f, n), b.value) for f, n, b in bound if b.where == "cell"]
        self._names = [
            (f.__globals__, n, MISSING if b.where == "builtin" else b.value) for f, n, b in bound if b.where != "cell"
        ]
        self._attributes = [(o, n, v) for o, n, v in lookups.attributes.values() if not libraries.is_installed(o)]
        self._members = [(c, n, v) for c, n, v in lookups.members.values() if not libraries.is_installed(c)]
        self._ask_objects([b.value for _, _, b in bound], [function, *(f for f, _, _ in lowered.defaults)])

    def _ask_objects(self, objects: list[Any], functions: list[Any]) -> None:
        """Note which objects have no attribute of a method's name, and the code of functions and methods."""
        self._owners = [
            (o, type(o), n) for o in objects for c, n, _ in self._members if isinstance(o, c) and n not in _own(o)
        ]
        called = [*functions, *objects, *(v for _, _, v in self._members)]
        self._codes = [(f, f.__code__) for f in called if isinstance(f, types.FunctionType)]

    def holds(self) -> bool:
        """Whether all that the loops were written for is as it was."""
        for home, name, value in self._names:
            if home.get(name, MISSING) is not value:
                return False
        for cell, value in self._cells:
            if cell.cell_contents is not value:
                return False
        for function, defaults, named in self._defaults:
            now = function.__kwdefaults__ or {}
            if function.__defaults__ is not defaults or now.keys() != named.keys():
                return False
            if any(now[name] is not value for name, value in named.items()):
                return False
        if any(member_of(cls, name) is not value for cls, name, value in self._members):
            return False
        if any(type(owner) is not cls or name in _own(owner) for owner, cls, name in self._owners):
            return False
        if any(function.__code__ is not code for function, code in self._codes):
            return False
        return all(getattr(owner, name, None) is value for owner, name, value in self._attributes)

    def tests(self, bind: Bind) -> list[str]:
        """Expressions that all hold where `holds()` does, and where NumPy may do what it did at a division by zero."""
        tests = [f"{bind(np.geterr)}() == {bind(np.geterr())}"]
        if self._defaults or self._members or self._owners or self._attributes:
            return [*tests, f"{bind(self.holds)}()"]
        tests += [f"{bind(home)}.get({name!r}, {bind(MISSING)}) is {bind(value)}" for home, name, value in self._names]
        tests += [f"{bind(cell)}.cell_contents is {bind(value)}" for cell, value in self._cells]
        return tests + [f"{bind(f)}.__code__ is {bind(code)}" for f, code in self._codes]


def _own(owner: Any) -> dict[str, Any]:
    """The attributes that an object has itself."""
    held: dict[str, Any] = its(owner, "__dict__", {})
    return held


def _cell(function: types.FunctionType, name: str) -> types.CellType:
    return (function.__closure__ or ())[function.__code__.co_freevars.index(name)]


def _tell(name: str) -> None:
    print(f"s2sgrad: compiling `{name}`, once for arguments of these types ..", file=sys.stderr, flush=True)


def _type(value: Any) -> Any:
    """What loops are compiled for: the type of a number; of an array the dtype, and which axes have length 1."""
    if type(value) is np.ndarray:
        return value.dtype, tuple(n == 1 for n in value.shape)
    if type(value) in (tuple, list):
        return type(value), tuple(map(_type, value))
    if type(value) is dict:
        return dict, tuple((key, _type(item)) for key, item in value.items())
    if value is None or type(value) in _NUMBERS:
        return type(value) if type(value) is not int or is_small(value) else "large"
    if isinstance(value, (str, types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
        return value  # it is known when the loops are written
    return type(value)


def _in_order(value: Any) -> Any:
    """An array that lies in memory in order, and that numba takes as one that may be written; a number as it is."""
    if type(value) is not np.ndarray:
        return value
    flags = value.flags
    return value if flags.c_contiguous and flags.writeable and flags.aligned else np.array(value, order="C")


def explained(loops: Loops, text: str) -> str:
    """What became of a function: its loops, or the line that has none, and why."""
    made = loops.latest
    name = loops.function.__name__
    if isinstance(made, Made):
        again = f"; {loops.returned} calls raised in the loops and ran as NumPy text" if loops.returned else ""
        kept = [f"\n    line {k} stays NumPy: `{what}`" for k, what in made.lowered.kept]
        return f"`{name}` is compiled, in {made.seconds:.2f} s{again}{''.join(kept)}"
    lines, reasons = text.splitlines(), []
    for reason in made.splitlines():
        line, _, why = reason.removeprefix("line ").partition(": ")
        known = line.isdigit() and 0 < int(line) <= len(lines)
        reasons.append(f"line {line} has no loops yet: {why}\n    {lines[int(line) - 1].strip()}" if known else reason)
    return f"`{name}` runs as NumPy text: " + "\n".join(reasons)


def shown(loops: Loops, text: str) -> str:
    """The loops of the latest call; a comment where there are none."""
    if isinstance(loops.latest, Made):
        return loops.latest.lowered.shown
    return "".join(f"# {line}\n" for line in explained(loops, text).splitlines())
