"""The pair of a function that is recorded, for texts that call it, and the pairs of these halves for second derivatives.

    y, f_pullback = vjp(f, x)   ->   y, saved = fwd(x): f runs on handles, saved is its record; bwd(saved, y_bar): the sweep

Where such a text is differentiated, `fwd` is recorded in a run of its own, and the sweep of `bwd` goes on in that run.  What
is left of the cotangents then is the cotangent of `saved`.  Its tangent is the direction of the arguments: the run has all
that the cotangents depend on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.errors.raised import in_a_text
from s2sgrad.recorded.derivatives import (
    Lifting,
    Record,
    Recorded,
    begin,
    cotangent,
    held,
    lowered,
    structured,
    tangent_along,
    transposed,
)
from s2sgrad.recorded.runs import Lasting, Run
from s2sgrad.recorded.sweep import Sweep
from s2sgrad.recorded.values import is_handle, plain
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal, holds_complex, holds_complex_inside
from s2sgrad.runtime.structure import leaves, renewed

Halves = tuple[Callable[..., Any], Callable[..., Any]]


class Saved(Lasting):
    """The record of a recorded callee; `run`: that in which it was itself recorded."""

    __slots__ = ("recorded", "run")

    def __init__(self, recorded: Recorded, run: Run | None = None) -> None:
        self.recorded, self.run = recorded, run

    def zero_cotangent(self, zeros: Any) -> None:
        """None: a cotangent of a record is a dict."""
        return None


class Direction(Lasting):
    """The tangent of a `Saved`: the arguments of its run, and their tangents."""

    __slots__ = ("dots", "leaves", "primals")

    def __init__(self, leaves: list[Any], primals: list[Any], dots: list[Any]) -> None:
        self.leaves, self.primals, self.dots = leaves, primals, dots

    def of(self, run: Run, y: Any) -> Any:
        """The tangent of what depends on these arguments in a run."""
        record = Record(run, held(run, y), self.leaves)

        def pullback(seed: Any) -> list[Any]:
            ready = iter(record.pull(seed))
            return [structured(x, ready) for x in self.primals]

        return tangent_along(record, transposed(record, pullback), self.dots)

    def and_of(self, lifting: Lifting, primal: Any, dot: Any) -> Direction:
        """The same, and that of a further argument of the run."""
        return Direction([*self.leaves, *lifting.leaves], [*self.primals, primal], [*self.dots, dot])


class Half:
    """One half of the pair of a recorded function."""

    def __init__(self, of: Callable[..., Any], places: tuple[int, ...], instead: Callable[[Exception], Exception]) -> None:
        self.of, self.places, self.instead = of, places, instead
        self.__name__ = its(of, "__name__", type(of).__name__)

    def pair(self, primals: tuple, keywords: dict[str, Any]) -> tuple[Any, Any, tuple, tuple, dict[str, Any]]:
        """(fwd, bwd, places, nothing that is bound, keywords): the pair of this half."""
        return *self.halves(), self.places if isinstance(self, Forth) else (0, 1), (), keywords

    def halves(self) -> Halves:
        """(the same, recorded; its adjoint)."""
        raise NotImplementedError


class Forth(Half):
    """`fwd(*args, **keywords) -> (y, saved)`."""

    def __call__(self, *args: Any, **keywords: Any) -> tuple[Any, Saved]:
        y, saved = self.of_copies(*args, **keywords)
        require_unwritten(saved.recorded, self.__name__)
        return y, saved

    def of_copies(self, *args: Any, **keywords: Any) -> tuple[Any, Saved]:
        """The same where no caller looks at the arguments again: the function may write them, which are copies."""
        try:
            recorded = Recorded(self.of, args, keywords, self.places)
        except Exception as error:
            found = self.instead(error)
            if found is error:
                raise
            raise found from None
        return of_its_own(recorded.value), Saved(recorded)

    def _in_a_run(self, args: tuple, keywords: dict[str, Any]) -> tuple[Run, Any, Lifting, Recorded]:
        """(a run, in which the recording is recorded; the value in it; the arguments in it; the recording)."""
        run = Run()
        lifting = Lifting(run)
        given = [lifting.differentiated(a) if k in self.places else a for k, a in enumerate(args)]
        with run:
            recorded = Recorded(self.of, tuple(given), keywords, self.places)
        require_unwritten(recorded, self.__name__)
        return run, recorded.value, lifting, recorded

    def along(self, args: tuple, dots: tuple, keywords: dict[str, Any]) -> tuple[Any, Any]:
        """(the same, its tangent)."""
        run, y, lifting, recorded = self._in_a_run(args, keywords)
        direction = Direction(lifting.leaves, [args[k] for k in self.places], [dots[k] for k in self.places])
        return (of_its_own(lowered(run, y)), Saved(recorded, run)), (direction.of(run, y), direction)

    def halves(self) -> Halves:
        """(the same, recorded; its adjoint)."""

        def fwd(*args: Any, **keywords: Any) -> tuple[Any, Any]:
            run, y, lifting, recorded = self._in_a_run(args, keywords)
            saved = run, held(run, y), lifting.leaves, args, len(run.entries)
            return (of_its_own(lowered(run, y)), Saved(recorded, run)), saved

        def bwd(saved: Any, bars: Any) -> Any:
            run, y, leaves, args, end = saved
            y_bar, saved_bar = bars
            sweep = Sweep(len(run.entries))
            enter(sweep, saved_bar)
            begin(sweep, y, y_bar)
            sweep.over(run.entries, 0, end)
            ready = iter([cotangent(sweep, leaf) for leaf in leaves])
            out = tuple(structured(args[k], ready) for k in self.places)
            return out[0] if len(out) == 1 else out

        return fwd, bwd


class Back(Half):
    """`bwd(saved, y_bar) -> cotangents`."""

    def __call__(self, saved: Saved, y_bar: Any) -> Any:
        out = saved.recorded.pullback(y_bar)
        return out[0] if len(out) == 1 else tuple(out)

    def transpose(self, saved: Saved) -> Callable[[Any], Any]:
        """The tangent of the value along those of the arguments: the transpose of the pullback."""
        single = len(self.places) == 1
        return lambda bars: saved.recorded.tangent([bars] if single else list(bars))

    def _in_the_run(self, saved: Saved, y_bar: Any) -> tuple[Run, Any, Lifting]:
        """(the run of the other half, the cotangents in it, the cotangent of the result in it)."""
        run = saved.run
        if run is None:
            raise Refusal(None, f"the pullback of `{self.__name__}`, which is recorded, is differentiated alone")
        lifting = Lifting(run)
        seed = lifting.differentiated(y_bar)
        with run:
            out = saved.recorded.pullback(seed)
        return run, out[0] if len(out) == 1 else tuple(out), lifting

    def along(self, saved: Saved, y_bar: Any, direction: Direction | None, y_bar_dot: Any) -> tuple[Any, Any]:
        """(the same, its tangent): along that of the record, and of the cotangent of the result."""
        if direction is None:
            return self(saved, y_bar), self(saved, y_bar_dot)
        run, out, lifting = self._in_the_run(saved, y_bar)
        return lowered(run, out), direction.and_of(lifting, y_bar, y_bar_dot).of(run, out)

    def halves(self) -> Halves:
        """(the same, recorded in the run of the other half; its adjoint)."""

        def fwd(saved: Saved, y_bar: Any) -> tuple[Any, Any]:
            first = 0 if saved.run is None else len(saved.run.entries)
            run, result, lifting = self._in_the_run(saved, y_bar)
            record = run, held(run, result), lifting.leaves, y_bar, first, len(run.entries)
            return lowered(run, result), record

        def bwd(saved: Any, bars: Any) -> Any:
            run, out, leaves, y_bar, first, end = saved
            sweep = Sweep(len(run.entries))
            begin(sweep, out, bars)
            sweep.over(run.entries, first, end)
            ready = iter([cotangent(sweep, leaf) for leaf in leaves])
            seed_bar = structured(y_bar, ready)
            return left(sweep), seed_bar

        return fwd, bwd


def pair(f: Callable[..., Any], places: tuple[int, ...], instead: Callable[[Exception], Exception]) -> Halves:
    """(fwd, bwd) of a function that is recorded, in the arguments at these places; `instead`: the error to raise where the
    recording raises one."""
    return Forth(f, places, instead), Back(f, places, instead)


def pulled(f: Callable[..., Any], places: tuple[int, ...], value: Any, *args: Any) -> Any:
    """The cotangents of the arguments at these places, the last of `args` being that of the result: another run of the
    function, whose value must be the same."""
    *given, y_bar = args
    recorded = Recorded(f, tuple(given), {}, places)
    now, then = (list(map(np.asarray, leaves(plain(v)))) for v in (recorded.value, value))
    if len(now) != len(then) or not all(a.tobytes() == b.tobytes() for a, b in zip(now, then, strict=True)):
        raise RuntimeError(f"what `{f.__name__}` reads or draws was changed after the call whose gradient is asked for: "
                           "pass it as an argument, or change it later")  # fmt: skip
    bars = recorded.pullback(y_bar)
    return bars[0] if len(bars) == 1 else tuple(bars)


def left(sweep: Sweep) -> dict[Any, Any]:
    """What is left of the cotangents: of numbers by node, of arrays by root."""
    for root in list(sweep.whole):
        sweep.flat(root)
    return {k: bar for k, bar in enumerate(sweep.nodes) if bar is not None} | sweep.bars


def enter(sweep: Sweep, bars: dict[Any, Any] | None) -> None:
    """Begin with cotangents that another sweep left."""
    for key, bar in (bars or {}).items():
        if isinstance(key, int):
            sweep.nodes[key] = bar
        else:
            sweep.bars[key] = bar.copy()


def of_its_own(value: Any) -> Any:
    """A value that others may write, apart from the record."""
    if isinstance(value, np.ndarray) and not is_handle(value):
        return value.copy()
    if is_handle(value) or not isinstance(value, (list, tuple, dict)):
        return value
    return renewed(value, of_its_own)


def require_unwritten(recorded: Recorded, name: str) -> None:
    """Refuse a callee that writes an array that its caller holds."""
    if recorded.written or recorded.changed:
        raise Refusal(
            None,
            f"`{name}`, which is recorded, changes an argument: its caller would not see that; change a copy, and return it",
        )
    if recorded.gives_argument:
        raise Refusal(
            None, f"`{name}`, which is recorded, returns what it was given: return a copy, which its caller may write"
        )
    turns = holds_complex(plain(recorded.value)) and not holds_complex_inside(plain(recorded.primals))
    if turns and in_a_text():
        raise Refusal(
            None,
            f"`{name}`, which is recorded, makes complex numbers of real ones, for which its caller's text is not: return "
            "the real and the imaginary parts",
        )
    if recorded.keeps():
        raise Refusal(
            None,
            f"`{name}`, which is recorded, keeps a value that carries a derivative in what its caller holds: return it",
        )
