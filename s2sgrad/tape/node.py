"""`differentiable`: a compiled function is one record of a tape, and its pullback the generated adjoint.

    y = f(x)    ->    y, saved = f_fwd(x)       one record, whatever f does; x_bar = f_bwd(saved, y_bar)

Where the sweep itself is recorded, the pullback is such a function too, `(x, y_bar) -> x_bar`, written as a call of both
halves and compiled when it is differentiated: derivatives of any order are the same step again.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad import pullbacks
from s2sgrad.api import dynamic, library
from s2sgrad.errors import S2SGradError
from s2sgrad.runtime.records import refilled
from s2sgrad.runtime.structure import rebuilt
from s2sgrad.source import stands_for
from s2sgrad.tape import surroundings
from s2sgrad.tape.algebra import Algebra
from s2sgrad.tape.array import arrays, note, wrapped
from s2sgrad.tape.contents import Copy, split, write_back
from s2sgrad.tape.lifting import UNKNOWN_TO_COPIES, NotLifted, Reads, lifted, made_from
from s2sgrad.tape.places import caller
from s2sgrad.tape.primitives import cotangent
from s2sgrad.tape.recording import STATE, tracked
from s2sgrad.tape.values import Operand, fresh, kept

_count = itertools.count(1)


class Node:
    """A recorded call of a compiled function."""

    __slots__ = ("again", "bwd", "fwd", "operands", "outputs", "places", "plain", "read", "result", "saved", "where")

    def __init__(
        self, fwd: Any, bwd: Any, places: tuple, saved: Any, operands: list, plain: list, result: Any, data: list
    ) -> None:
        self.fwd, self.bwd, self.places, self.saved = fwd, bwd, places, saved
        self.operands, self.plain, self.result = operands, plain, result
        self.outputs = tuple(a.uid for a in arrays(result))
        self.where = caller()
        self.read = surroundings.unchanged(surroundings.data_of(bwd))
        self.again = surroundings.unchanged(data)

    def pull(self, bars: dict[int, Any], live: frozenset[int], on: Algebra) -> list[tuple[int, Any]]:
        """The generated adjoint, called; where the sweep is recorded, as a node of its own."""
        g = cotangent(self.result, bars, on)
        surroundings.require_unchanged(self.read, self.bwd)
        if on.recorded:
            surroundings.require_unchanged(self.again, self.bwd)
            found: list[Any] = []
            seed = split(g, found)
            arguments = [*zip(self.operands, self.plain, strict=True), seed]
            operands = [a for recorded in self.operands for a in _operands(recorded)]
            out = run(_both(self.fwd, self.bwd, len(self.plain)), arguments, [*operands, *found])
        else:
            out = self.bwd(refilled(self.saved, self.bwd), g)
        contributions: list[tuple[int, Any]] = []
        for place, bar in zip(self.places, (out,) if len(self.places) == 1 else out, strict=True):
            _shared(self.operands[place], bar, live, on, contributions)
        return contributions


def _operands(recorded: Any) -> list[Any]:
    if isinstance(recorded, Operand):
        return [recorded]
    if isinstance(recorded, (list, tuple, dict)):
        return [a for item in (recorded.values() if isinstance(recorded, dict) else recorded) for a in _operands(item)]
    return []


def _shared(recorded: Any, bar: Any, live: frozenset[int], on: Algebra, out: list[tuple[int, Any]]) -> None:
    if bar is None:
        return
    if isinstance(recorded, Operand):
        if recorded.uid in live:
            out.append((recorded.uid, on.fitted(bar, recorded, True)))
    elif isinstance(recorded, dict):
        for key, item in recorded.items():
            _shared(item, bar.get(key), live, on, out)
    elif isinstance(recorded, (list, tuple)):
        for item, part in zip(recorded, bar, strict=True):
            _shared(item, part, live, on, out)


@functools.lru_cache(maxsize=512)
def _maker(fwd: types.CodeType, bwd: types.CodeType, count: int) -> Any:
    given = ", ".join(f"a{k}" for k in range(count))
    text = f"def make(fwd, bwd):\n    def pullback({given}, y_bar):\n        y, saved = fwd({given})\n"
    text += "        return bwd(saved, y_bar)\n    return pullback\n"
    return made_from(text, f"<pullback {bwd.co_name} {next(_count)}>", {}, "make")


def _both(fwd: Any, bwd: Any, count: int) -> types.FunctionType:
    """The pullback as a function of the arguments and of the cotangent."""
    return _maker(fwd.__code__, bwd.__code__, count)(fwd, bwd)


def _explain(error: AttributeError) -> None:
    """An argument was asked for what a Variable alone has."""
    if error.name in UNKNOWN_TO_COPIES:
        error.add_note(
            "a `differentiable` function sees the plain values of Arrays and Variables among its arguments: "
            "assign outside of it"
        )


class Unaware(Exception):
    """A compiled function met a followed value that is none of its arguments."""


def run(function: types.FunctionType, arguments: list[tuple[Any, Any]], found: list[Any]) -> Any:
    """Call a function of (recorded, plain) arguments, of which `found` are the Arrays, as one node."""
    followed = {a.uid for a in found if tracked(a.uid)}
    plain = [p for _, p in arguments]
    wanted = tuple(
        k for k, (recorded, _) in enumerate(arguments) if any(a.uid in followed for a in _operands(recorded))
    )
    fwd, bwd, places = dynamic.pair_in(function, tuple(plain), wanted)
    before, STATE.inside = STATE.inside, []
    try:
        y, saved = fwd(*plain)
    except TypeError:
        if STATE.inside:
            raise Unaware from None
        raise
    except AttributeError as error:
        _explain(error)
        raise
    finally:
        met, STATE.inside = STATE.inside, before
    if met:
        raise Unaware
    theirs = [p for recorded, p in arguments if not isinstance(recorded, (Operand, int, float, str))]
    theirs += [d for d in pullbacks.bound_to(function) if d]
    data = surroundings.data_of(fwd)
    if theirs or data:
        saved = pullbacks.apart(saved, [theirs, surroundings.arrays_in(data)])
    held = [_held(*a) for a in arguments]
    data += surroundings.objects_among(fwd, held)
    result = wrapped(fresh(y))
    operands = [recorded for recorded, _ in arguments]
    node = Node(fwd, bwd, places, saved, operands, held, result, data)
    note(node, STATE.tapes, [a.uid for a in found])
    return result


def _held(recorded: Any, plain: Any) -> Any:
    """A plain argument as the record keeps it for a second derivative: the user may write an ndarray."""
    if isinstance(recorded, Operand):
        return plain
    if isinstance(plain, np.ndarray):
        return kept(plain)
    if type(plain) in (list, dict) or isinstance(plain, tuple):
        return rebuilt(plain, lambda item: _held(None, item))
    return plain


class _Callee:
    """A function that `differentiable` was called with, and how it was written last."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.reads: Reads | None = None
        self.by_operation = False
        self.indirect = False  # whether it reads Variables by name, or gets objects that hold them

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if not STATE.tapes or STATE.inside is not None:
            return self._unrecorded(args, keywords)
        found: list[Any] = []
        given = [split(a, found) for a in args]
        named = {k: split(v, found) for k, v in keywords.items()}
        unsupported: S2SGradError | None = None
        if not self.by_operation:
            known = self.reads
            try:
                return self._node((args, keywords), given, named, found)
            except NotLifted:
                pass
            except Unaware:  # its names may lead to Variables that were not there before
                self.by_operation = self.reads is not known
                self.reads = None
                if not self.by_operation:
                    return self(*args, **keywords)
            except S2SGradError as error:
                if not self.indirect:
                    raise
                unsupported = error
        try:
            return self.f(*args, **keywords)
        except TypeError as error:
            why = f" ({unsupported.message})" if unsupported is not None else ""
            error.add_note(
                f"`{getattr(self.f, '__name__', self.f)}` reads Variables by name that could not become arguments of its "
                f"compiled form{why}, so it runs operation by operation, without in-place writes: pass the Variables as "
                "arguments"
            )
            raise

    def _of_gradient(
        self, given: list[tuple[Any, Any]], named: dict[str, tuple[Any, Any]]
    ) -> tuple[Any, tuple, dict[str, Any], dict[str, tuple[Any, Any]]]:
        """The function that computes a gradient, what leads its arguments and is bound, and which words it is given."""
        function, lead, bound = self.f.taken_apart_for(tuple(p for _, p in given), {k: p for k, (_, p) in named.items()})
        if any(_operands(recorded) for k, (recorded, _) in named.items() if k not in bound or k == "seed"):
            raise NotLifted
        return function, lead, bound, {k: v for k, v in named.items() if k in bound}

    def _node(
        self,
        original: tuple[tuple, dict[str, Any]],
        given: list[tuple[Any, Any]],
        named: dict[str, tuple[Any, Any]],
        found: list[Any],
    ) -> Any:
        if hasattr(self.f, "taken_apart_for"):  # a gradient: its generated function
            function, lead, bound, named = self._of_gradient(given, named)
        else:
            function, lead, bound = library.plain(self.f)
        named = {**{k: split(v, found) for k, v in bound.items()}, **named}
        given = [*(split(v, found) for v in lead), *given]
        if self.reads is None or self.reads.function is not function or not self.reads.hold():
            self.reads = Reads(function)
        inside = any(_operands(recorded) and not isinstance(recorded, Operand) for recorded, _ in given)
        self.indirect = inside or bool(self.reads.roots)
        if self.reads.roots or named:
            given, named = _positional(function, given, named, found)
        if self.reads.roots or named:
            roots = [split(v, found) for v in self.reads.roots.values()]
            function = lifted(self.reads, len(given), tuple(named))
            given = [*roots, *given, *named.values()]
        if not any(tracked(a.uid) for a in found):  # there is nothing to record
            return self._unrecorded(*original)
        return run(function, given, found)

    def _unrecorded(self, args: tuple, keywords: dict[str, Any]) -> Any:
        """Called with plain values; what it writes into lists, dicts and objects of the caller is there afterwards."""
        found: list[Any] = []
        copies: list[Copy] = []
        plain = [split(a, found, copies)[1] for a in args]
        named = {k: split(v, found, copies)[1] for k, v in keywords.items()}
        try:
            y = self.f(*plain, **named)
        except AttributeError as error:
            _explain(error)
            raise
        finally:
            write_back(copies)
        return wrapped(fresh(y)) if found else y


def _positional(
    function: types.FunctionType, given: list[tuple[Any, Any]], named: dict[str, tuple[Any, Any]], found: list[Any]
) -> tuple[list[tuple[Any, Any]], dict[str, tuple[Any, Any]]]:
    """The arguments by position as far as they go, with their defaults; those that go by name alone."""
    signature = inspect.Signature.from_callable(function, follow_wrapped=False)
    bound = signature.bind(*given, **named)
    for name, parameter in signature.parameters.items():
        if name not in bound.arguments and parameter.default is not parameter.empty:
            bound.arguments[name] = split(parameter.default, found)
    ordered = {n: bound.arguments[n] for n in signature.parameters if n in bound.arguments}
    ordered = inspect.BoundArguments(signature, ordered)
    return list(ordered.args), dict(ordered.kwargs)


def differentiable(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, as one operation of a tape: its value, computed by compiled code, with the generated adjoint as its pullback.

    What `f` does inside costs the tape one record, arrays may be written in place, and library functions without NumPy's
    protocols (those of SciPy) work.  Arrays and Variables are arguments like ndarrays, in nested lists, tuples and dicts and
    as attributes of objects too; `f` itself sees ndarrays, and what it writes into lists, dicts and objects stays there.
    Variables that `f`, or a function that it calls, reads by name
    (globals, closures, objects with Variables as attributes) get their gradients as well.  Where those cannot be found
    out, `f` runs operation by operation.  Without a tape, `f` is called as it is.

    What `f` was called with, and what it reads by name, may be written after the call.  A gradient that a tape records
    is computed from them again: then arrays, lists, dicts and tuples among the arguments may, and other data must stay as it
    is until `gradient`, which raises RuntimeError otherwise.  Raises Unsupported, NoRule or NoSource, with the place in the
    file, where `f` cannot be compiled.

    >>> import numpy as np
    >>> from s2sgrad import GradientTape, constant, differentiable
    >>> @differentiable
    ... def cumulated(x):
    ...     y = np.zeros(len(x))
    ...     for k in range(len(x)):
    ...         y[k] = y[k - 1] + x[k] ** 2
    ...     return y
    >>> x = constant([1.0, 2.0, 3.0])
    >>> with GradientTape() as t:
    ...     t.watch(x)
    ...     y = cumulated(x)
    >>> t.gradient(y, x)
    Array([6., 8., 6.])
    """
    if not callable(f):
        raise TypeError(f"differentiable needs a function, not {type(f).__name__}")
    callee = _Callee(f)

    @functools.wraps(f, updated=())
    def decorated(*args: Any, **keywords: Any) -> Any:
        return callee(*args, **keywords)

    stands_for(decorated, "differentiated", f)  # the compiler looks through
    return decorated
