"""Derivatives of functions that are run and recorded.

y, pullback = vjp(f, (x,), {}, (0,))     ->     x becomes a handle of a new run, f runs, pullback sweeps its record
"""

from __future__ import annotations

import functools
import gc
import operator
import types
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.recorded.applying import apply, innermost, kept, lifted
from s2sgrad.recorded.callees import callee_of
from s2sgrad.recorded.careful import Marks, holds_nan
from s2sgrad.recorded.escapes import are_left, mend, recall, release
from s2sgrad.recorded.hooks import OWN_PULLS, call
from s2sgrad.recorded.identity import follow_identity
from s2sgrad.recorded.memory import given_away
from s2sgrad.recorded.operations import Kept
from s2sgrad.recorded.runs import OPEN, Lasting, Run
from s2sgrad.recorded.singular import Singular, has_singular_points
from s2sgrad.recorded.sweep import Sweep, made
from s2sgrad.recorded.values import Array, Number, bottom, handles_in, is_complex, is_handle
from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.structure import ONES, attributes_of, rebuilt, renewed
from s2sgrad.runtime.subclasses import is_otherwise, refused_subclass


def is_float(value: Any) -> bool:
    """Whether a value is a number or an array of floats, or a handle of one."""
    value = bottom(value)
    return isinstance(value, (float, complex, np.inexact)) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")


class Lifting:
    """The arguments of a call as handles: `leaves` are those that are differentiated, in order; `uncopied` are functions,
    classes and objects, which refer to what was given."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.leaves: list[Kept] = []
        self.uncopied: list[Any] = []
        self._memo: dict[int, Any] = {}  # of the constants
        self._seen: set[int] = set()
        self._held: list[Any] = []
        self._inside: set[int] = set()
        self._twice: set[int] = set()
        self._containers: list[tuple[Any, Any, list[Any]]] = []
        self._arrays: list[tuple[np.ndarray, Array]] = []
        self._integers: list[tuple[np.ndarray, np.ndarray]] = []

    def written(self) -> bool:
        """Whether an array among the arguments was written."""
        return bool(self._written())

    def _written(self) -> list[tuple[np.ndarray, Any]]:
        """The arrays among the arguments that were written, with what stood for them."""
        floats = [(x, y) for x, y in self._arrays if y.root.written]
        return floats + [(x, y) for x, y in self._integers if not np.array_equal(x, y)]

    def require_separate(self, outside: list[Any]) -> None:
        """Refuse an array that was written where another argument, or one of these arrays outside, shares its memory.  Or a
        list or dict that was changed and is one of these, for the program would see the store there, and copies do not."""
        changed = [x for x, y, then in self._containers if _differ(_items(y), then)]
        found = {id(original) for x in changed for original in _originals(x)}
        if any(id(v) in found for v in outside):
            raise Refusal(None, "an argument that is changed is referred to from outside: pass a copy of it")
        arrays = [v for v in outside if isinstance(v, np.ndarray)]
        for x, y in self._written():
            others = [other for other, copy in (*self._arrays, *self._integers) if copy is not y]
            if _any_share(x, others) or any(_any_share(original, arrays) for original in _originals(x)):
                raise Refusal(None, "an argument shares memory with one that is written: pass a copy of it")

    def gives(self, y: Any) -> bool:
        """Whether a result is, or holds, an argument or a part of one."""
        if not self._arrays and not self._containers:
            return False
        roots = {id(lifted_.root) for _, lifted_ in self._arrays}
        held = {id(container) for _, container, _ in self._containers}
        if any(type(h) is Array and id(h.root) in roots for h in handles_in(y, [])):
            return True
        return _meets(y, held)

    def changed(self) -> bool:
        """Whether a list, a dict or an object among the arguments holds something else now; refused where it stands in
        several places, of which the program knows that they are one."""
        found = [id(x) for x, y, then in self._containers if _differ(_items(y), then)]
        if not self._twice.isdisjoint(found):
            raise Refusal(None, "an argument that is changed stands twice among the arguments: pass a copy of it")
        return bool(found)

    def differentiated(self, x: Any) -> Any:
        """An argument whose floats are followed."""
        if is_float(x) and not isinstance(bottom(x), np.ndarray):
            self.run.entries.append(None)
            number = Number(x, len(self.run.entries) - 1, self.run)
            self.run.complex = self.run.complex or is_complex(x)
            self.leaves.append(Kept(x, number.node, None, True))
            return number
        return self._container(x, self.differentiated, True)

    def constant(self, x: Any) -> Any:
        """An argument whose arrays may be written."""
        return self._container(x, self.constant, False)

    def _container(self, x: Any, item: Callable[[Any], Any], active: bool) -> Any:
        if type(x) in (int, str, bool, type(None)) or type(x) is Number:
            return x
        if id(x) in self._inside:
            raise Refusal(None, "an argument refers to itself: pass one that does not")
        if not active and id(x) in self._memo:
            return self._memo[id(x)]
        if id(x) in self._seen:
            self._twice.add(id(x))  # each of its places has a gradient of its own, or none
        self._held.append(x)
        self._seen.add(id(x))
        self._inside.add(id(x))
        y = self._lifted(x, item, active)
        self._inside.discard(id(x))
        if not active:
            self._memo[id(x)] = y
        return y

    def _lifted(self, x: Any, item: Callable[[Any], Any], active: bool) -> Any:
        kind = type(x)
        if isinstance(bottom(x), np.ndarray):
            return self._array(x, active)
        if kind in (list, tuple, dict, Counter) or has(x, "_fields"):
            y = rebuilt(x, item)
        elif not active or (held := attributes_of(x)) is None:
            if active and isinstance(x, (list, tuple, dict)):
                raise Refusal(None, f"a {kind.__name__} with methods of its own is differentiated: pass its items")
            self.uncopied.append(x)
            return x
        else:
            self.uncopied.append(kind)
            follow_identity(kind)
            y = object.__new__(kind)
            for name, value in held.items():
                object.__setattr__(y, name, item(value))
        if not isinstance(y, tuple):
            self._containers.append((x, y, _items(y)))
        self.run.stands_for(y, x)
        return y

    def _array(self, x: Any, active: bool) -> Any:
        b = bottom(x)
        own = type(b) is not np.ndarray
        if own and active and b.dtype.kind in "fc" and is_otherwise(type(b)):
            raise Refusal(None, f"an argument is {refused_subclass(type(b))}")
        if (own and not active) or b.dtype.kind not in "fc":
            if type(b) is not np.ndarray or b.dtype.kind not in "iub" or not b.flags.writeable or active:
                return x
            self._integers.append((b, b.copy()))
            self.run.stands_for(self._integers[-1][1], b)
            return self._integers[-1][1]
        copied = apply(np.copy, (x,)) if is_handle(x) else np.array(x, order="K")
        y = lifted(self.run, copied, active, [])
        self._arrays.append((b, y))
        self.run.stands_for(bottom(y), b)
        self.run.complex = self.run.complex or is_complex(b)
        if active:
            self.leaves.append(Kept(y.value, -1, y.root, True))
        return y


def _originals(x: Any) -> Iterator[Any]:
    """A value that was given to a run, and what it is a copy of, if it was an argument of the runs around it."""
    yield x
    for run in reversed(OPEN.runs):
        for original, copy in run.given.values():
            if copy is x or (_both_arrays(copy, x) and np.may_share_memory(copy, x)):
                x = original
                yield x
                break


def _both_arrays(x: Any, y: Any) -> bool:
    return isinstance(x, np.ndarray) and isinstance(y, np.ndarray)


def _any_share(x: np.ndarray, others: list[np.ndarray]) -> bool:
    return any(np.may_share_memory(x, y) for y in others)


def _meets(y: Any, held: set[int]) -> bool:
    """Whether one of these objects is in a nested value."""
    if id(y) in held:
        return True
    if is_handle(y) or not isinstance(y, (list, tuple, dict)):
        return False
    return any(_meets(item, held) for item in (y.values() if isinstance(y, dict) else y))


def _differ(now: list[Any], then: list[Any]) -> bool:
    return len(now) != len(then) or any(map(operator.is_not, now, then))


def _items(y: Any) -> list[Any]:
    """What a container or an object holds."""
    if isinstance(y, dict):
        return [*y, *y.values()]
    return list(y) if isinstance(y, list) else list((attributes_of(y) or {}).values())


class Record(Lasting):
    """A run that is over: its entries, its result, and the leaves of its arguments."""

    __slots__ = ("entries", "leaves", "mixed", "result", "start", "states")

    def __init__(self, run: Run, result: Any, leaves: list[Kept], start: int = 0) -> None:
        self.entries, self.result, self.leaves, self.start = run.entries, result, leaves, start
        self.mixed, self.states = run.complex, run.states

    def pull(self, seed: Any) -> list[Any]:
        """The cotangents of the leaves, for the cotangent of the result."""
        for state in self.states:
            state.require_same()
        if OPEN.runs:  # the sweep is recorded, and nobody knows what its derivatives will meet
            return self._swept(self._singular() if has_singular_points(self.entries) else self._careful(), seed)
        bars = self._swept(Sweep(len(self.entries)), seed)
        for careful in (self._careful, self._singular):
            if not holds_nan(bars):
                break
            bars = self._swept(careful(), seed)
        return bars

    def _careful(self) -> Sweep:
        return Sweep(len(self.entries), Marks())

    def _singular(self) -> Sweep:
        return Singular(len(self.entries))

    def _swept(self, sweep: Sweep, seed: Any) -> list[Any]:
        sweep.mixed = self.mixed
        with np.errstate(all="ignore"):
            begin(sweep, self.result, seed)
            sweep.over(self.entries, self.start, len(self.entries))
        return [cotangent(sweep, leaf) for leaf in self.leaves]


def begin(sweep: Sweep, result: Any, seed: Any) -> None:
    """Give a result its cotangent; None is a zero."""
    if seed is None:
        return
    if type(result) is Kept:
        if result.followed:
            bar = made_ones(result.value) if seed is ONES else seed
            sweep.give(result, sweep.forms.fitted(bar, result.value, False), None)
    elif isinstance(result, dict):
        for key, item in result.items():
            begin(sweep, item, seed if seed is ONES else seed.get(key))
    elif isinstance(result, (list, tuple)):
        for k, item in enumerate(result):
            begin(sweep, item, seed if seed is ONES else seed[k])


def made_ones(value: Any) -> Any:
    """Ones of the shape of a value."""
    b = bottom(value)
    return made(np.ones(b.shape, b.dtype)) if isinstance(b, np.ndarray) else type(b)(1.0)


def cotangent(sweep: Sweep, leaf: Kept) -> Any:
    """The cotangent of a leaf, in memory of its own."""
    if leaf.root is None:
        bar = sweep.nodes[leaf.node]
        return _number(0.0 if bar is None else bar, bottom(leaf.value))
    if not sweep.has(leaf.root):
        return made(np.zeros(bottom(leaf.where).shape, bottom(leaf.where).dtype))
    part = sweep.part(leaf)
    if leaf.root in sweep.own and leaf.root in sweep.whole:
        return part
    return apply(np.copy, (part,)) if is_handle(part) else np.array(part)


def _number(bar: Any, x: Any) -> Any:
    if is_handle(bar):
        return bar
    return bar if type(x) is float or type(x) is complex else type(x)(bar)


class Recorded(Lasting):
    """A function that ran on handles: its value, and the linear maps of its derivative, any number of times.

    `wanted`: positions among the arguments, or names among the keywords, of those that are differentiated.  `outputs` are
    such places, too: then the value is what these arguments hold in the end.
    """

    def __init__(
        self, f: Any, args: tuple, keywords: dict[str, Any], wanted: tuple[int | str, ...],
        outputs: tuple[int | str, ...] | None = None, run: Run | None = None,
    ) -> None:  # fmt: skip
        run = Run() if run is None else run
        lifting: Any = Lifting(run)
        self.primals = [args[k] if isinstance(k, int) else keywords[k] for k in wanted]
        lifted_args: Any = dict.fromkeys([*range(len(args)), *keywords])
        for k in wanted:
            lifted_args[k] = lifting.differentiated(args[k] if isinstance(k, int) else keywords[k])
        for k in lifted_args.keys() - {*wanted}:
            lifted_args[k] = lifting.constant(args[k] if isinstance(k, int) else keywords[k])
        self._transposed: Record | None = None
        if type(f) is types.FunctionType:  # it has no text, and none is asked for again
            callee_of(f).apart = False
        if not OPEN.runs:
            recall()
        try:
            with run:
                y = call(f, *[lifted_args[k] for k in range(len(args))], **{k: lifted_args[k] for k in keywords})
                innermost(handles_in(y, []))  # a result of an earlier call is refused
            if outputs is not None:
                y = tuple([lifted_args[k] for k in outputs])
            self.record = Record(run, held(run, y), lifting.leaves)
            self.value = lowered(run, y)
            self.written = lifting.written()
            self.changed, self.gives_argument = lifting.changed(), lifting.gives(y)
            if self.written or self.changed:
                from s2sgrad.analysis.reached_codes import memory_behind

                lifting.require_separate([*memory_behind([behind(f), *bound_to(f), *lifting.uncopied])])
        finally:
            run.caches.clear()
            run.given.clear()
            y = lifted_args = lifting = None
            self.kept, self._run = are_left(run), run if are_left(run) else None
            if self.kept:
                given = (its(f, "__self__", None), *args, *keywords.values())
                mend(run, given, f, its(behind(f), "__globals__", None))
            if not OPEN.runs:
                release()

    def keeps(self) -> bool:
        """Whether a handle was kept by what the caller sees: not only by a cycle that nobody refers to."""
        run, self._run = self._run, None
        if self.kept:
            gc.collect(1)
            if run is not None and are_left(run):
                gc.collect()
        left = self.kept and run is not None and are_left(run)
        self._run = run
        return left

    def pullback(self, seed: Any = ONES) -> list[Any]:
        """The cotangents of the differentiated arguments, for one of the value."""
        ready = iter(self.record.pull(seed))
        return [structured(x, ready) for x in self.primals]

    def tangent(self, tangents: list[Any]) -> Any:
        """The tangent of the value, for those of the differentiated arguments.

        The sweep is linear in its seed: it is recorded, and swept in turn."""
        if self._transposed is None or OPEN.runs:
            self._transposed = transposed(self.record, self.pullback)
        return tangent_along(self.record, self._transposed, tangents)


def transposed(record: Record, pullback: Callable[[Any], list[Any]]) -> Record:
    """The record of a sweep, with its seed as argument."""
    run = Run()
    lifting = Lifting(run)
    seed = lifting.differentiated(seed_of(record.result))
    with run:
        bars = pullback(seed)
    return Record(run, held(run, bars), lifting.leaves)


def tangent_along(record: Record, transposed: Record, tangents: list[Any]) -> Any:
    """The tangent of a record's result along those of the arguments."""
    dots = transposed.pull(tangents)
    if any(entry is not None and entry[0] in OWN_PULLS for entry in record.entries):
        _require_linear(transposed, tangents, dots)
    return tangent_of(record.result, iter(dots))


def _require_linear(transposed: Record, tangents: list[Any], dots: list[Any]) -> None:
    """Refuse the tangent of a sweep that is not linear in its seed: a pullback of the user's clips, or rounds."""
    seeds = [np.ravel(bottom(leaf.value)) for leaf in transposed.leaves]
    ours = [np.real(seed * np.ravel(bottom(dot))) for seed, dot in zip(seeds, dots, strict=True)]
    theirs = [np.real(np.ravel(bar) * np.ravel(dot)) for bar, dot in _pairs(transposed.result, tangents)]
    terms, others = (np.concatenate([np.zeros(0), *parts]) for parts in (ours, theirs))
    if abs(np.sum(terms) - np.sum(others)) > 1e-4 * (np.sum(np.abs(terms)) + np.sum(np.abs(others))):  # not of a nan
        raise TypeError("a function with a gradient of its own has a pullback that is not linear in the cotangent, so no "
                        "tangent: use `grad` or `vjp`, and of a gradient `grad` again")  # fmt: skip


def _pairs(result: Any, tangents: Any) -> list[tuple[Any, Any]]:
    """The parts of a result with those of its tangent that are given."""
    if tangents is None:
        return []
    if isinstance(result, dict):
        return [pair for key, item in result.items() for pair in _pairs(item, tangents.get(key))]
    if isinstance(result, (list, tuple)):
        return [pair for item, tangent in zip(result, tangents, strict=True) for pair in _pairs(item, tangent)]
    return [(bottom(result.value if type(result) is Kept else result), bottom(tangents))]


def behind(f: Any) -> Any:
    """The function behind a method, a partial or a callable object."""
    while isinstance(f, functools.partial):
        f = f.func
    return its(f, "__func__", f)


def bound_to(f: Any) -> list[Any]:
    """The object of a method, and the data that partials hold."""
    held: list[Any] = []
    while isinstance(f, functools.partial):
        held += [v for v in (*f.args, *f.keywords.values()) if not callable(v)]
        f = f.func
    return [*held, *([f.__self__] if isinstance(f, types.MethodType) else ())]


def seed_of(result: Any) -> Any:
    """Ones for the parts of a result that are followed: no 0 that meets an infinite slope."""
    if type(result) is Kept:
        b = bottom(result.value)
        return np.ones(b.shape, b.dtype) if isinstance(b, np.ndarray) else type(b)(1.0)
    if isinstance(result, (list, tuple, dict)):
        return rebuilt(result, seed_of)
    return None


def tangent_of(result: Any, ready: Any) -> Any:
    """The tangent in the structure of the result; zeros for floats that do not depend on the arguments."""
    if type(result) is Kept:
        return next(ready)
    if isinstance(result, (list, tuple, dict)) and not is_handle(result):
        return rebuilt(result, lambda item: tangent_of(item, ready))
    return runtime.zeros(bottom(result))


def vjp(f: Any, args: tuple, keywords: dict[str, Any], wanted: tuple[int, ...]) -> tuple[Any, Callable[..., Any], Any]:
    """(value, pullback): the pullback gives the cotangents of the arguments at the places `wanted`, with their structure."""
    recorded = Recorded(f, args, keywords, wanted)
    return recorded.value, recorded.pullback, recorded


def held(run: Run, y: Any) -> Any:
    """A result for the record, objects included."""
    if is_handle(y):
        return kept(run, y, False)
    if (parts := attributes_of(y)) is not None:
        return {name: held(run, item) for name, item in parts.items()}
    if isinstance(y, (list, tuple, dict)):
        return rebuilt(y, lambda item: held(run, item))
    return kept(run, y, False)


def lowered(run: Run, y: Any) -> Any:
    """A result one level below the run; who gets it may write it."""
    if is_handle(y):
        return given_away(y) if y.run is run else y
    holds = isinstance(y, (list, tuple, dict)) and handles_in(y, [])
    return renewed(y, lambda item: lowered(run, item)) if holds else y


def structured(x: Any, ready: Any) -> Any:
    """The cotangents of leaves in the structure of their argument; None for what is no float."""
    if is_float(x):
        return next(ready)
    if isinstance(x, (list, tuple, dict)):
        return rebuilt(x, lambda item: structured(item, ready))
    parts = attributes_of(x)
    return None if parts is None else {name: structured(item, ready) for name, item in parts.items()}


def grad(f: Any, argnums: Any = 0) -> Callable[..., Any]:
    """The gradient of a function, recorded at each call."""

    def gradient(*args: Any, **keywords: Any) -> Any:
        numbers = (argnums,) if isinstance(argnums, int) else argnums
        _, pullback, _ = vjp(f, args, keywords, numbers)
        bars = pullback()
        return bars[0] if isinstance(argnums, int) else tuple(bars)

    return gradient
