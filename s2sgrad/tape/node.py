"""`differentiable`: a call of a function is one record on a tape, with the generated adjoint as its pullback.

    y = f(x)    ->    y, saved = f_fwd(x)       one record, whatever f does; x_bar = f_bwd(saved, y_bar)

Where the sweep itself is recorded, the pullback is a node again: a function `(x, y_bar) -> x_bar` that calls both halves and
is compiled when it is differentiated.  So derivatives of any order work in the same way.  A function that has no text is
recorded as it runs: its pullback sweeps that record, and is a function that is recorded in turn.
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
from s2sgrad.api.whole import is_lost, renewed
from s2sgrad.errors import S2SGradError
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.recorded.pairs import pulled, require_unwritten
from s2sgrad.recorded.patterns import Kept
from s2sgrad.runtime.records import refilled
from s2sgrad.runtime.structure import rebuilt
from s2sgrad.source import stands_for
from s2sgrad.tape import surroundings
from s2sgrad.tape.array import Array, arrays, note, wrapped
from s2sgrad.tape.contents import Copy, split, write_back
from s2sgrad.tape.lifting import UNKNOWN_TO_COPIES, NotLifted, Reads, lifted, made_from
from s2sgrad.tape.recording import STATE, tracked
from s2sgrad.tape.values import Operand, fresh

_count = itertools.count(1)


class Node:
    """The record of a call of a compiled function."""

    __slots__ = ("again", "bwd", "fwd", "places", "plain", "read", "saved")

    def __init__(self, fwd: Any, bwd: Any, places: tuple, saved: Any, plain: list, data: list) -> None:
        self.fwd, self.bwd, self.places, self.saved, self.plain = fwd, bwd, places, saved, plain
        self.read = surroundings.unchanged(surroundings.data_of(bwd))
        self.again = surroundings.unchanged(data)

    def pull(self, sweep: Any, operands: list, g: Any) -> None:
        """Call the generated adjoint; if the sweep is recorded, as a node of its own."""
        surroundings.require_unchanged(self.read, self.bwd)
        if sweep.nested:
            surroundings.require_unchanged(self.again, self.bwd)
            arguments, found = _with_seed(sweep, operands, self.plain, g)
            out = run(_both(self.fwd, self.bwd, len(self.plain)), arguments, found)
        else:
            out = self.bwd(refilled(self.saved, self.bwd), g)
        for place, bar in zip(self.places, (out,) if len(self.places) == 1 else out, strict=True):
            _share(sweep, operands[place], bar)


def _with_seed(sweep: Any, operands: Any, plain: list[Any], g: Any) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """The arguments of a pullback as pairs (recorded, plain), and the Arrays in them."""
    recorded = [sweep.forms.value(a) for a in operands]
    found = [a for r in recorded for a in arrays(r)]
    seed = split(g, found)
    return [*zip(recorded, plain, strict=True), seed], found


def _share(sweep: Any, operand: Any, bar: Any) -> None:
    """Give the followed Arrays in an argument their cotangents; those of a dict may lack some."""
    if bar is None:
        return
    if type(operand) is Kept:
        if operand.followed:
            sweep.give(operand, sweep.forms.fitted(bar, operand.value, True), None)
    elif isinstance(operand, dict):
        for key, item in operand.items():
            _share(sweep, item, bar.get(key))
    elif isinstance(operand, (list, tuple)):
        for item, part in zip(operand, bar, strict=True):
            _share(sweep, item, part)


@functools.lru_cache(maxsize=512)
def _maker(fwd: types.CodeType, bwd: types.CodeType, count: int) -> Any:
    """The factory of a pullback as a function of the arguments and the cotangent."""
    names = ", ".join(f"a{k}" for k in range(count))
    text = f"def make(fwd, bwd):\n    def pullback({names}, y_bar):\n        y, saved = fwd({names})\n"
    text += "        return bwd(saved, y_bar)\n    return pullback\n"
    return made_from(text, f"<pullback {bwd.co_name} {next(_count)}>", {}, "make")


def _both(fwd: Any, bwd: Any, count: int) -> types.FunctionType:
    """The pullback as a function of the arguments and the cotangent."""
    both: types.FunctionType = _maker(fwd.__code__, bwd.__code__, count)(fwd, bwd)
    return both


def _holds(recorded: Any, followed: set[int]) -> bool:
    return recorded.uid in followed if type(recorded) is Array else any(a.uid in followed for a in arrays(recorded))


def _explain(error: AttributeError) -> None:
    """Add a note if an attribute was read that Variables have and their plain values lack."""
    if error.name in UNKNOWN_TO_COPIES:
        error.add_note(
            "a `differentiable` function sees the plain values of Arrays and Variables among its arguments: "
            "assign outside of it"
        )


class Unaware(Exception):
    """A compiled function used a followed value that is not one of its arguments."""


def run(function: types.FunctionType, arguments: list[tuple[Any, Any]], found: list[Any]) -> Any:
    """Call a function as one node; the arguments are pairs (recorded, plain), and `found` lists the Arrays in them."""
    followed = {a.uid for a in found if tracked(a.uid)}
    plain = [p for _, p in arguments]
    wanted = tuple(k for k, (recorded, _) in enumerate(arguments) if _holds(recorded, followed))
    pair = dynamic.pair_or_refusal(function, tuple(plain), wanted)
    if isinstance(pair, S2SGradError):
        return _run_recorded(function, arguments, found, wanted, pair)
    fwd, bwd, places = pair
    y, saved = _aware(fwd, *plain)
    theirs = [p for recorded, p in arguments if not isinstance(recorded, (Operand, int, float, str))]
    theirs += [d for d in pullbacks.bound_to(function) if d]
    data = surroundings.data_of(fwd)
    if theirs or data:
        saved = pullbacks.apart(saved, [theirs, surroundings.arrays_in(data)])
    copies = [_record_copy(*a) for a in arguments]
    data += surroundings.objects_among(fwd, copies)
    result = wrapped(fresh(y))
    operands = [recorded for recorded, _ in arguments]
    note(Node(fwd, bwd, places, saved, copies, data), operands, found, result)
    return result


def _aware(call: Callable[..., Any], *args: Any) -> Any:
    """`call(*args)`; Unaware where it uses a followed value that is not one of its arguments."""
    before, STATE.inside = STATE.inside, []
    try:
        y = call(*args)
    except TypeError:
        if STATE.inside:
            raise Unaware from None
        raise
    except AttributeError as error:
        _explain(error)
        raise
    finally:
        unaware, STATE.inside = STATE.inside, before
    if unaware:
        raise Unaware
    return y


class _Recorded:
    """The record of a call of a function that is recorded as it runs, in the arguments at these places."""

    __slots__ = ("error", "function", "places", "plain", "recorded")

    def __init__(self, function: Any, plain: list[Any], places: tuple[int, ...], error: S2SGradError) -> None:
        self.function, self.plain, self.places, self.error = function, plain, places, error
        self.recorded = _aware(self._run)

    def _run(self) -> Recorded:
        try:
            recorded = Recorded(self.function, tuple(self.plain), {}, self.places)
            require_unwritten(recorded, self.function.__name__)
        except Exception as found:
            if is_lost(found):
                raise renewed(self.error) from None
            raise
        return recorded

    def pull(self, sweep: Any, operands: list, g: Any) -> None:
        """Sweep the record; if that sweep is recorded, the function runs again."""
        if not sweep.nested:
            bars = self.recorded.pullback(g)
        else:
            again = functools.partial(pulled, self.function, self.places, self.recorded.value)
            again.__name__ = self.function.__name__  # type: ignore[attr-defined]
            arguments, found = _with_seed(sweep, operands, self.plain, g)
            out = _run_recorded(again, arguments, found, (*self.places, len(self.plain)), self.error)
            bars = [out] if len(self.places) == 1 else out
        for place, bar in zip(self.places, bars, strict=True):
            _share(sweep, operands[place], bar)


def _run_recorded(
    function: Any, arguments: list[tuple[Any, Any]], found: list[Any], places: tuple[int, ...], error: S2SGradError
) -> Any:
    """Call a function as one node that is recorded as it runs."""
    node = _Recorded(function, [_record_copy(*a) for a in arguments], places, error)
    result = wrapped(fresh(node.recorded.value))
    note(node, [recorded for recorded, _ in arguments], found, result)
    return result


def _record_copy(recorded: Any, plain: Any) -> Any:
    """A plain argument, copied for the record because the user may write it before a second derivative."""
    if isinstance(recorded, Operand):
        return plain
    if isinstance(plain, np.ndarray):
        return fresh(plain)
    if type(plain) in (list, dict) or isinstance(plain, tuple):
        return rebuilt(plain, lambda item: _record_copy(None, item))
    return plain


class _Callee:
    """The function behind a `differentiable`, with what is known about how it can be compiled."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.reads: Reads | None = None
        self.by_operation = False
        self.indirect = False  # whether it reads Variables by name, or objects with them are arguments

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if not STATE.tapes or STATE.inside is not None:
            return self._unrecorded(args, keywords)
        operands: list[Any] = []
        arguments = [split(a, operands) for a in args]
        named = {k: split(v, operands) for k, v in keywords.items()}
        unsupported: S2SGradError | None = None
        if not self.by_operation:
            reads_before = self.reads
            try:
                return self._node((args, keywords), arguments, named, operands)
            except NotLifted:
                pass
            except Unaware:  # its names may now lead to new Variables
                self.by_operation = self.reads is not reads_before
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
        self, arguments: list[tuple[Any, Any]], named: dict[str, tuple[Any, Any]]
    ) -> tuple[Any, tuple, dict[str, Any], dict[str, tuple[Any, Any]]]:
        """For a gradient: the generated function, its leading arguments, its bound keywords, and the remaining keywords."""
        gradient: Any = self.f
        given = {k: p for k, (_, p) in named.items()}
        function, lead, bound = gradient.taken_apart_for(tuple(p for _, p in arguments), given)
        if any(any(arrays(recorded)) for k, (recorded, _) in named.items() if k not in bound or k == "seed"):
            raise NotLifted
        return function, lead, bound, {k: v for k, v in named.items() if k in bound}

    def _node(
        self,
        original: tuple[tuple, dict[str, Any]],
        arguments: list[tuple[Any, Any]],
        named: dict[str, tuple[Any, Any]],
        operands: list[Any],
    ) -> Any:
        """Call the function as one node; NotLifted, Unaware or S2SGradError where that is not possible."""
        if hasattr(self.f, "taken_apart_for"):  # a gradient: its generated function
            function, lead, bound, named = self._of_gradient(arguments, named)
        else:
            function, lead, bound = library.plain(self.f)
        named = {**{k: split(v, operands) for k, v in bound.items()}, **named}
        arguments = [*(split(v, operands) for v in lead), *arguments]
        if self.reads is None or self.reads.function is not function or not self.reads.hold():
            self.reads = Reads(function)
        inside = any(list(arrays(recorded)) and not isinstance(recorded, Operand) for recorded, _ in arguments)
        self.indirect = inside or bool(self.reads.roots)
        if self.reads.roots or named:
            arguments, named = _positional(function, arguments, named, operands)
        if self.reads.roots or named:
            roots = [split(v, operands) for v in self.reads.roots.values()]
            function = lifted(self.reads, len(arguments), tuple(named))
            arguments = [*roots, *arguments, *named.values()]
        if not any(tracked(a.uid) for a in operands):  # no tape follows an argument
            return self._unrecorded(*original)
        return run(function, arguments, operands)

    def _unrecorded(self, args: tuple, keywords: dict[str, Any]) -> Any:
        """Call with plain values; writes into the caller's lists, dicts and objects are copied back."""
        operands: list[Any] = []
        copies: list[Copy] = []
        plain = [split(a, operands, copies)[1] for a in args]
        named = {k: split(v, operands, copies)[1] for k, v in keywords.items()}
        try:
            y = self.f(*plain, **named)
        except AttributeError as error:
            _explain(error)
            raise
        finally:
            write_back(copies)
        return wrapped(fresh(y)) if operands else y


def _positional(
    function: types.FunctionType, arguments: list[tuple[Any, Any]], named: dict[str, tuple[Any, Any]], operands: list[Any]
) -> tuple[list[tuple[Any, Any]], dict[str, tuple[Any, Any]]]:
    """The arguments, with defaults, as far as possible by position; and those that are keyword-only."""
    signature = inspect.Signature.from_callable(function, follow_wrapped=False)
    bound = signature.bind(*arguments, **named)
    for name, parameter in signature.parameters.items():
        if name not in bound.arguments and parameter.default is not parameter.empty:
            bound.arguments[name] = split(parameter.default, operands)
    ordered = {n: bound.arguments[n] for n in signature.parameters if n in bound.arguments}
    given = inspect.BoundArguments(signature, ordered)
    return list(given.args), dict(given.kwargs)


def differentiable(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as a single operation on a tape: its value is computed by compiled code, its pullback is the generated adjoint.

    A call costs the tape one record, `f` may write arrays in place, and library functions without NumPy's protocols (those
    of SciPy) work.  Arrays and Variables may be arguments like ndarrays, also in nested lists, tuples and dicts and as
    attributes of objects; `f` itself sees ndarrays, and what it writes into lists, dicts and objects persists.  Variables
    that `f` or a callee reads by name (globals, closures, objects with Variables as attributes) get gradients as well; where
    they cannot be determined, `f` runs operation by operation.  Without a tape, `f` is called directly.

    After the call, its arguments, and the data that it reads by name, may be written.  A gradient that a tape records is
    recomputed from them: then arrays, lists, dicts and tuples among the arguments may still be written, but other data must
    not change before `gradient`, which otherwise raises RuntimeError.  Raises Unsupported, NoRule or NoSource, with the
    place in the file, where `f` can neither be compiled nor be recorded as it runs.

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

    stands_for(decorated, "differentiated", f)  # for the compiler, which unwraps it
    return decorated
