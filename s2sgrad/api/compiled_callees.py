"""Callees of recorded functions that have a text: one entry, whose adjoint is the compiled pullback.

    y = mlp(W, h)   ->   y, saved = mlp_fwd(W, h), one entry whatever `mlp` does; the sweep: mlp_bwd(saved, y_bar)

Only a function that may run again, that writes nothing its caller holds and returns none of it, and that reads by name only
functions and numbers.  Where the sweep is itself followed, its adjoint is a callee in turn, of `W`, `h` and `y_bar`,
recorded until that has cost as much as its text, too.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import itertools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad.analysis.asked_objects import asks
from s2sgrad.analysis.call_keys import shapes_of
from s2sgrad.analysis.libraries import is_library, is_ours
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.api import dynamic
from s2sgrad.driver.attempts import GENERATING, runs_again
from s2sgrad.errors import S2SGradError
from s2sgrad.primitives import libraries
from s2sgrad.recorded import callees
from s2sgrad.recorded.applying import apply, innermost, kept_array, lifted, owner_of, placed
from s2sgrad.recorded.callees import COMPILED, RECORD, Callee, callee_of
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.recorded.honest import bottoms
from s2sgrad.recorded.hooks import call
from s2sgrad.recorded.operations import Kept
from s2sgrad.recorded.patterns import kept_number
from s2sgrad.recorded.runs import OPEN, Lasting, Run, below
from s2sgrad.recorded.values import FLOATS, Array, Number, bottom, handles_in, is_complex
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.records import refilled
from s2sgrad.runtime.structure import rebuilt
from s2sgrad.runtime.watching import is_noting
from s2sgrad.source import defined

_CONTAINERS = (list, tuple, dict)
_NUMBERS = FLOATS | {int, bool, str, type(None)}
_MOST = 4096  # texts, by functions and shapes, while a run is open
_ADJOINT = "<adjoint "
_count = itertools.count(1)


def entered(callee: Callee, f: Any, copy: Callable[..., Any], args: tuple, keywords: dict[str, Any]) -> Any:
    """The value of a call, as one entry; `RECORD` where it is to be recorded like its caller, by the `copy`."""
    if keywords:
        args = _by_position(f, args, keywords)
    taken = _taken(args)
    if taken is None or is_noting():
        return RECORD
    run, values, wanted = taken
    text = _text(callee, f, copy, values, wanted, run)
    if text is None:
        return RECORD
    saved = None
    if run.level and handles_in(values, []):  # the business of the runs around this one
        with below(run):
            y = call(f, *values)
    else:
        try:
            y, saved = _plainly(text.fwd, *values)
        except Exception:  # it is raised again by the recording
            return RECORD
    return _entry(callee, text, run, args, values, y, saved)


def _by_position(f: Any, args: tuple, keywords: dict[str, Any]) -> tuple:
    """The arguments by position; with what is refused where some are not."""
    names = f.__code__.co_varnames[len(args) : min(len(args) + len(keywords), f.__code__.co_argcount)]
    return (*args, *[keywords[name] for name in names]) if set(names) == set(keywords) else (keywords, ...)


def _taken(args: tuple) -> tuple[Run, tuple, tuple[int, ...]] | None:
    """(the run that records a call, its arguments one level below, which of them are followed); None where one of them is
    no number, no array and no container of such, or none is followed."""
    run: Run | None = None
    values, wanted = [], []
    for k, a in enumerate(args):
        kind = type(a)
        if kind is Number or kind is Array:
            if a.run is not run:
                if run is not None or not a.run.open:
                    return _taken_among(args)
                run = a.run
            values.append(a.value)
            if kind is Number or a.root.active:
                wanted.append(k)
        elif kind in _NUMBERS:
            values.append(a)
        elif _is_plain(a):
            if kind in _CONTAINERS and handles_in(a, []):
                return _taken_among(args)
            values.append(_own(a, None))
        else:
            return None
    return (run, tuple(values), tuple(wanted)) if wanted and run is not None else None


def _taken_among(args: tuple) -> tuple[Run, tuple, tuple[int, ...]] | None:
    """The same, with handles in containers, or of several runs."""
    run = innermost(handles_in(args, []))
    if run is None or not all(map(_is_plain, args)):
        return None
    wanted = tuple([k for k, a in enumerate(args) if _is_followed(run, a)])
    return (run, tuple([_own(a, run) for a in args]), wanted) if wanted else None


def _is_plain(a: Any) -> bool:
    """Whether a value is a number, an array, or a container of them; arrays that lie in pieces have no copy like them."""
    kind = type(a)
    if kind is Number or kind is Array or kind in _NUMBERS:
        return True
    if kind is np.ndarray:
        return a.dtype.kind in "fiub" and (a.flags.c_contiguous or a.flags.f_contiguous)
    if kind in _CONTAINERS:
        return all(map(_is_plain, a.values() if kind is dict else a))
    return False


def _is_followed(run: Run, a: Any) -> bool:
    kind = type(a)
    if kind is Number or kind is Array:
        return a.run is run and (kind is Number or a.root.active)
    return kind in _CONTAINERS and any(_is_followed(run, item) for item in (a.values() if kind is dict else a))


def _own(a: Any, run: Run | None) -> Any:
    """An argument one level below a run; containers and arrays that others may write are new."""
    kind = type(a)
    if kind is Number or kind is Array:
        return a.value if a.run is run else a
    if kind is np.ndarray:
        return a.copy(order="K") if a.flags.writeable else a
    return rebuilt(a, lambda item: _own(item, run)) if kind in _CONTAINERS else a


# --- texts -------------------------------------------------------------------------------------------------------------


class _Text(Lasting):
    """The pair of a function, for arguments of these kinds; `data`: what reads the numbers that it finds by name;
    `copy`: what is recorded in its place; `is_adjoint`: nobody else holds what it gives."""

    __slots__ = ("adjoint", "bwd", "compiled", "copy", "data", "function", "fwd", "is_adjoint", "places")

    def __init__(
        self, f: Any, copy: Any, compiled: Any, fwd: Any, bwd: Any, places: tuple, data: list[Callable[[], Any]]
    ) -> None:
        self.function, self.copy, self.compiled, self.fwd, self.bwd = f, copy, compiled, fwd, bwd
        self.places, self.data = places, data
        self.adjoint: Any = None  # the same as a function, where that is followed
        self.is_adjoint = f.__code__.co_filename.startswith(_ADJOINT)


def _text(
    callee: Callee, f: Any, copy: Callable[..., Any], values: tuple, wanted: tuple[int, ...], run: Run
) -> _Text | None:
    """The text for a call with these values; None where there is none, or none yet."""
    if run.level:
        values = bottoms(values)
    shapes = shapes_of(values)
    text: _Text | None = OPEN.texts.get((f, shapes, wanted))
    if text is not None and text.compiled.holds():
        return text
    if shapes is None or (callee.apart is None and callee.saved < callees.PRICE):
        return None
    if callee.apart is None:
        callee.apart = _is_apart(f)
    if not callee.apart or not callee.pays((wanted, kinds_of(values))):
        return None
    text = _compiled(f, copy, values, wanted)
    if text is None:
        callee.apart = False
    elif len(OPEN.texts) < _MOST:
        OPEN.texts[f, shapes, wanted] = text
    return text


def _is_apart(f: Any) -> bool:
    """Whether a function of the user's may be called by its text as far as its own text tells."""
    if is_library(f) or is_ours(f) or f.__defaults__ or f.__kwdefaults__ or f.__code__.co_flags & GENERATING:
        return False
    return runs_again(f)


def _compiled(f: Any, copy: Callable[..., Any], values: tuple, wanted: tuple[int, ...]) -> _Text | None:
    """The text for arguments like these; None where it is refused, or reads more by name than functions and numbers."""
    try:
        compiled, fwd, bwd, places = dynamic.held_pair(f, values, wanted)
    except (S2SGradError, TypeError):
        return None
    data = _data(fwd, bwd)
    if data is None or any(isinstance(place, tuple) for place in places):
        return None
    return _Text(f, copy, compiled, fwd, bwd, places, data)


# --- what a text reads by name -------------------------------------------------------------------------------------------


def _data(*functions: Any) -> list[Callable[[], Any]] | None:
    """What reads the numbers that functions, and those that they call, find by free names; None where they find more, or
    ask which object a value is: they are given copies."""
    out: list[Callable[[], Any]] = []
    seen: set[int] = set()
    todo = list(functions)
    while todo:
        f = todo.pop()
        if id(f) in seen:
            continue
        seen.add(id(f))
        held = (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())
        if asks(f.__code__) or any(type(v) not in _NUMBERS for v in held):
            return None
        names, imported = _names(f.__code__)
        if not all(m in sys.modules and libraries.is_installed(sys.modules[m]) for m in imported):
            return None
        for read in _free(f, names):
            value = read()
            if type(value) in _NUMBERS or isinstance(value, (np.dtype, bytes)):
                out.append(read)
            elif isinstance(value, types.FunctionType):
                if not is_ours(value) and not is_library(value):
                    todo.append(value)
            elif not _is_fixed(value):
                return None
    return out


def _is_fixed(value: Any) -> bool:
    """Whether nobody changes what an object is or holds."""
    if isinstance(value, (types.ModuleType, type)):
        return libraries.is_installed(value) or its(value, "__module__", "") == "builtins"
    return isinstance(value, (types.BuiltinFunctionType, np.ufunc, type(np.sum), type(...)))


def _free(f: types.FunctionType, names: tuple[str, ...]) -> Iterator[Callable[[], Any]]:
    """What reads the values of the free names of a function, as far as they are there."""
    yield from (functools.partial(f.__globals__.get, name) for name in names if name in f.__globals__)
    for cell in f.__closure__ or ():
        with contextlib.suppress(ValueError):
            cell.cell_contents  # noqa: B018  it is empty
            yield functools.partial(getattr, cell, "cell_contents")


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The globals that a code object reads, and the modules that it imports."""
    found: list[str] = []
    imported: list[str] = []
    codes = [code]
    while codes:
        code = codes.pop()
        codes += (c for c in code.co_consts if isinstance(c, types.CodeType))
        found += (i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
        imported += (i.argval for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME")
    return tuple(dict.fromkeys(found)), tuple(imported)


# --- entries -----------------------------------------------------------------------------------------------------------


def _entry(callee: Callee, text: _Text, run: Run, args: tuple, values: tuple, y: Any, saved: Any) -> Any:
    """The value of a call by a text, with its entry; `RECORD` where its result is of a kind that no text should give."""
    borrowed: list[tuple[Kept, Any]] = []  # snapshots of arrays, and what the text was called with
    record = tuple([_snapshot(run, a, borrowed) for a in args])
    read = [data() for data in text.data]
    if type(y) in FLOATS or type(y) is Number:
        value = Number(y, len(run.entries), run)
        run.complex = run.complex or is_complex(y)
        run.entries.append((_pull, text, saved, values, record, None, borrowed, read))
        return value
    if text.is_adjoint and not _is_apart_from(run, values, y):
        y = _copied(y)
    if not (_is_plain(y) and (text.is_adjoint or _is_apart_from(run, values, y))):
        callee.apart = False
        return RECORD
    made: list[Any] = []
    value = lifted(run, y, True, made, text.function)
    if made:
        place = placed(run, made)
        run.entries[place] = _pull, text, saved, values, record, _outcome(run, value, borrowed), borrowed, read
    return value


def _snapshot(run: Run, a: Any, borrowed: list[tuple[Kept, Any]]) -> Any:
    """An operand for the record: the place of a number, what is known of an array, None of anything else."""
    kind = type(a)
    if kind is Number:
        return a.node if a.run is run else None
    if kind is Array:
        if a.run is not run:
            return None
        kept = kept_array(a, True)
        borrowed.append((kept, a.value))
        return kept
    return rebuilt(a, lambda item: _snapshot(run, item, borrowed)) if kind in _CONTAINERS else None


def _outcome(run: Run, value: Any, borrowed: list[tuple[Kept, Any]]) -> Any:
    """A result for the record."""
    kind = type(value)
    if kind is Number and value.run is run:
        return kept_number(value)
    return (
        rebuilt(value, lambda item: _outcome(run, item, borrowed))
        if kind in _CONTAINERS
        else (_snapshot(run, value, borrowed) if kind is Array else value)
    )


def _plainly(f: Any, *args: Any) -> Any:
    """A call that no run has to do with."""
    around, OPEN.runs = OPEN.runs, []
    try:
        return f(*args)
    finally:
        OPEN.runs = around


def _is_apart_from(run: Run, values: tuple, y: Any) -> bool:
    """Whether the arrays and containers of a result are new to a run, each but once in it, and nothing of the arguments."""
    mine = _identities(y, [])
    return len({*mine}) == len(mine) and run.roots.keys().isdisjoint(mine) and {*_identities(values, [])}.isdisjoint(mine)


def _identities(y: Any, found: list[int]) -> list[int]:
    """The identities of the memories and of the containers in a value that may be written."""
    b = bottom(y)
    if isinstance(b, np.ndarray):
        found.append(id(owner_of(b)))
    elif isinstance(b, _CONTAINERS):
        if not isinstance(b, tuple):
            found.append(id(b))
        for item in b.values() if isinstance(b, dict) else b:
            _identities(item, found)
    return found


def _copied(y: Any) -> Any:
    """A result in memory of its own."""
    b = bottom(y)
    return rebuilt(y, _copied) if isinstance(b, _CONTAINERS) else apply(np.copy, (y,)) if isinstance(b, np.ndarray) else y


def _pull(sweep: Any, place: int, entry: tuple) -> None:
    """The adjoint of a call by a text."""
    _, text, saved, values, operands, result, borrowed, read = entry
    if result is None:
        arrived, sweep.nodes[place] = sweep.nodes[place], None
    else:
        arrived = _arrived(sweep, result)
    if arrived is None:
        return
    if any(data() is not then for data, then in zip(text.data, read, strict=True)):
        name = text.function.__name__
        raise Refusal(None, f"a number that `{name}` reads by name was changed after the call: pass it as an argument")
    written = any(kept.value is not then for kept, then in borrowed)
    if written:
        values = tuple(map(_now, operands, values))
    if sweep.nested and (saved is None or handles_in(arrived, [])):
        whole = _is_whole(result, arrived)
        bars = (_again if whole else _recorded)(text, values, _filled(sweep, result, arrived) if whole else arrived)
    else:
        try:
            if written:
                _, saved = _plainly(text.fwd, *values)
            bars = _plainly(text.bwd, refilled(saved, text.bwd), _filled(sweep, result, arrived))
        except (S2SGradError, Refusal):  # the record may do without what has no derivative here
            bars = _recorded(text, values, arrived)
    for k, bar in zip(text.places, bars if len(text.places) > 1 else (bars,), strict=True):
        _share(sweep, operands[k], bar)


def _arrived(sweep: Any, result: Any) -> Any:
    """The cotangent of a result with its structure; None for the parts where none has arrived."""
    if type(result) is Kept:
        return sweep.take(result)[0]
    if type(result) not in _CONTAINERS:
        return None
    parts = rebuilt(result, functools.partial(_arrived, sweep))
    return parts if any(part is not None for part in (parts.values() if type(parts) is dict else parts)) else None


def _filled(sweep: Any, result: Any, arrived: Any) -> Any:
    """The same, with zeros for these parts."""
    if result is None or (arrived is not None and type(result) not in _CONTAINERS):
        return arrived
    if type(result) in _CONTAINERS:
        missing = rebuilt(result, lambda _: None) if arrived is None else arrived
        return rebuilt(result, functools.partial(_filled, sweep), missing)
    return sweep.forms.zeros(result.value if type(result) is Kept else result)


def _is_whole(result: Any, arrived: Any) -> bool:
    """Whether a cotangent has arrived at each number and array of a result."""
    if type(result) is Kept or result is None:
        return arrived is not None
    if type(result) not in _CONTAINERS:
        return True
    keys = result if type(result) is dict else range(len(result))
    return arrived is not None and all(_is_whole(result[k], arrived[k]) for k in keys)


def _now(operand: Any, value: Any) -> Any:
    """What an operand held when the function was called."""
    kind = type(operand)
    if kind is Kept:
        return operand.value
    return rebuilt(operand, _now, value) if kind in _CONTAINERS else value


def _share(sweep: Any, operand: Any, bar: Any) -> None:
    """Give the handles in an operand their parts of its cotangent."""
    kind = type(operand)
    if bar is None or operand is None:
        return
    if kind is int:
        if type(bar) not in FLOATS and np.ndim(bottom(bar)):
            bar = apply(np.sum, (bar,))
        old = sweep.nodes[operand]
        sweep.nodes[operand] = bar if old is None else old + bar
    elif kind is Kept:
        if operand.followed:
            sweep.give(operand, sweep.forms.fitted(bar, operand.value, True), None)
    else:
        for k in operand if kind is dict else range(len(operand)):
            _share(sweep, operand[k], bar[k])


# --- where the sweep is followed -----------------------------------------------------------------------------------------


def _again(text: _Text, values: tuple, arrived: Any) -> Any:
    """The cotangents of the arguments, as the runs that are open follow them."""
    if text.adjoint is None:
        fwd, bwd = text.fwd, text.bwd
        text.adjoint = _adjoint(fwd.__code__, bwd.__code__, fwd.__module__)(fwd, bwd)
    callee = callee_of(text.adjoint)
    callee.apart = callee.apart is not False
    return callee.called(text.adjoint, lambda *args: _recorded(text, args[:-1], args[-1]), (*values, arrived), {})


def _recorded(text: _Text, values: tuple, arrived: Any) -> Any:
    """The cotangents, by a recording of the function that is swept at once."""
    bars = Recorded(text.copy, values, {}, text.places).pullback(arrived)
    return bars[0] if len(bars) == 1 else tuple(bars)


@functools.lru_cache(maxsize=512)
def _adjoint(fwd: types.CodeType, bwd: types.CodeType, home: str) -> Any:
    """What makes the adjoint of a text a function of the arguments and the cotangent."""
    names = "".join(f"a{k}, " for k in range(fwd.co_argcount))
    lines = f"def make(fwd, bwd):\n    def adjoint({names}y_bar):\n        y, saved = fwd({names})\n"
    lines += "        return bwd(saved, y_bar)\n    return adjoint\n"
    return defined(lines, "make", f"{_ADJOINT}{bwd.co_name} {next(_count)}>", {"__name__": home})


COMPILED.append(entered)
