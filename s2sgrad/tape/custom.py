"""Functions with a gradient of their own, and functions that are recomputed instead of recorded.

@custom_gradient                                     y = log1pexp(x)  is one record, with the returned pullback
def log1pexp(x):
    e = np.exp(x)
    return np.log(1 + e), lambda g: g * (1 - 1 / (1 + e))
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from s2sgrad.api.brought import argument, pair_of, require_some, taking
from s2sgrad.ir.signatures import placed, signature
from s2sgrad.recorded.patterns import Kept
from s2sgrad.runtime.results import described
from s2sgrad.runtime.structure import filled, leaves, rebuilt
from s2sgrad.source import is_method_of, stands_for
from s2sgrad.tape.array import Array, apply, arrays, note, wrapped
from s2sgrad.tape.gradient_tape import GradientTape
from s2sgrad.tape.handed import require_none_held
from s2sgrad.tape.recording import STATE, Tape, tracked
from s2sgrad.tape.values import Operand, beside, fresh, opened, unwrapped


class _Own:
    """The record of a call whose pullback the user wrote."""

    def __init__(self, f: Callable[..., Any], own: int, pullback: Callable[..., Any], variables: list[Any]) -> None:
        self.f, self.own, self.name = f, own, f.__name__
        self.pullback, self.variables = pullback, variables

    def pull(self, sweep: Any, operands: list[Any], g: Any) -> None:
        """Give the operands the cotangents that the user's pullback returns."""
        cotangents = [wrapped(item) for item in (g if isinstance(g, tuple) else [g])]
        named = {"variables": self.variables} if self.variables else {}
        with taking(self.name, self.pullback, cotangents, **named):
            grads = self.pullback(*cotangents, **named)
        grads, more = grads if self.variables else (grads, [])
        more = [more] if isinstance(more, Operand) else list(more)
        require_some(self.name, grads)
        grads = list(grads) if isinstance(grads, (list, tuple)) else [grads]
        count = len(operands) - len(self.variables)
        if len(grads) != count or len(more) != len(self.variables):
            raise ValueError(
                f"the pullback of `{self.name}` returned {len(grads)} gradients for {count} arguments"
                + (f" and {len(more)} for {len(self.variables)} variables" if self.variables else "")
                + ": return one for each, None where there is none"
            )
        for k, (operand, bar) in enumerate(zip(operands, [*grads, *more], strict=True)):
            if bar is None:
                continue
            try:
                parts = beside(operand, bar)
            except ValueError as error:
                raise ValueError(f"the pullback of `{self.name}` returned another structure: {error}") from None
            for leaf, part in zip(leaves(operand), parts, strict=True):
                if type(leaf) is Kept and leaf.followed and part is not None:
                    self._check(k, part, leaf.value, k < count)
                    part = part if sweep.nested else unwrapped(part)
                    sweep.give(leaf, sweep.forms.fitted(part, leaf.value, True), None)

    def _check(self, k: int, bar: Any, x: Any, given: bool) -> None:
        """Check that the k-th cotangent broadcasts with its operand, which was given or is a Variable."""
        shape = x.shape
        if not _is_numeric(bar):
            self._refuse(k, described(bar), f"of shape {shape}", given)
        try:
            np.broadcast_shapes(np.shape(bar), shape)
        except ValueError:
            self._refuse(k, f"a gradient of shape {np.shape(bar)}", f"of shape {shape}", given)
        if np.result_type(unwrapped(bar)).kind == "c" and x.dtype.kind != "c":
            self._refuse(k, "complex numbers", "of real ones", given)

    def _refuse(self, k: int, what: str, how: str, given: bool) -> NoReturn:
        """Raise ValueError for the k-th cotangent of the pullback."""
        place = f"an argument `{argument(self.f, self.own + k)}`" if given else "a Variable"
        raise ValueError(f"the pullback of `{self.name}` returned {what} for {place} {how}") from None


def _is_followed(value: Any) -> bool:
    return any(tracked(a.uid) for a in arrays(opened(value, [])[0]))


def _require_constant(keywords: dict[str, Any]) -> None:
    """Refuse keywords that a tape follows."""
    for name, value in keywords.items():
        if _is_followed(value):
            raise TypeError(
                f"keywords of a custom_gradient function are constants, but a tape follows `{name}`: pass it by position"
            )


def _require_taken(f: Callable[..., Any], pullback: Callable[..., Any], variables: list[Any]) -> None:
    """Refuse a pullback without the parameter `variables` if its function reads trainable Variables."""
    if variables and "variables" not in _parameters(pullback):
        shown = ", ".join(v.name or "Variable" for v in variables)
        raise TypeError(
            f"`{f.__name__}` reads trainable Variables ({shown}), so its pullback must take `variables=None` "
            "and return their gradients too: (for the arguments, for the variables)"
        )


P = ParamSpec("P")
R = TypeVar("R")


def custom_gradient(f: Callable[P, tuple[R, Callable[..., Any]]]) -> Callable[P, R]:
    """A function that brings its own gradient: `f(*args)` returns its value and a pullback.

    The pullback takes one cotangent for each value (f may return a tuple of values) and returns one for each argument of
    `f` (for a method: without `self`), None where there is none.  If `f` reads trainable Variables, the pullback also takes
    `variables=None`, and returns `(for the arguments, for the variables)`.  A pullback that uses NumPy functions on Arrays
    can itself be differentiated.  What is followed is handed on by position; parameters for keywords only are constants, and
    so are Arrays that `f` reads by name.  A function among the arguments may close over what is differentiated only if the
    pullback gives a gradient for that (on a tape, not at all).

    Raises TypeError where `f` does not return a pair, where `f` reads Variables but its pullback has no `variables`, and for
    a keyword that a tape follows.  Raises ValueError for a wrong number of gradients, or wrong shapes.

    >>> import numpy as np
    >>> from s2sgrad import GradientTape, constant, custom_gradient
    >>> @custom_gradient
    ... def log1pexp(x):
    ...     e = np.exp(x)
    ...     return np.log(1 + e), lambda g: g * (1 - 1 / (1 + e))
    >>> x = constant(100.0)
    >>> with GradientTape() as t:
    ...     t.watch(x)
    ...     y = log1pexp(x)
    >>> t.gradient(y, x)
    Array(1.0)
    """

    if not callable(f):
        raise TypeError(f"custom_gradient needs a function that returns its value and its pullback, not {f!r}")

    @functools.wraps(f)
    def decorated(*args: Any, **keywords: Any) -> Any:
        operands: list[Any] = []
        if any(map(_is_followed, keywords.values())):
            by_place, keywords = placed(f, args, keywords, lambda p: p.default)
            args = tuple(by_place)
        arguments = [opened(a, operands)[0] for a in args]
        _require_constant(keywords)
        require_none_held(f.__name__, args, keywords)
        if not operands and not STATE.tapes:
            return pair_of(f, args, keywords, lends=True, of_complex=True)[0]
        listening = Tape()
        STATE.tapes.append(listening)
        try:
            value, pullback = pair_of(f, tuple(arguments), keywords)
        finally:
            STATE.tapes[:] = [tape for tape in STATE.tapes if tape is not listening]
        variables = [(v, v._read()) for _, v in sorted(listening.watched.items()) if v.trainable]
        _require_taken(f, pullback, [v for v, _ in variables])
        plain = unwrapped(value)
        if not operands and not variables:
            return value
        result = wrapped(fresh(plain))
        own = 1 if args and is_method_of(decorated, args[0]) else 0  # the pullback returns nothing for `self`
        record = _Own(f, own, pullback, [v for v, _ in variables])
        reads = [read for _, read in variables]
        note(record, [*arguments[own:], *reads], [*operands, *reads], result)
        return result

    stands_for(decorated, "custom_gradient", f)
    return decorated


custom_gradient.gives_rule = True  # type: ignore[attr-defined]


def _parameters(pullback: Callable[..., Any]) -> set[str]:
    """The names of the parameters, with "variables" if there are arbitrary keywords."""
    parameters = signature(pullback).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return {*parameters, "variables"}
    return set(parameters)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of which a tape records only the arguments: it is recomputed when its gradient is needed.

    This costs the time of a second run and saves the memory of the intermediate values.  `f` takes and returns Arrays, also
    in nested lists, tuples and dicts, and may read Variables and other Arrays.  The second run sees the arguments and
    Variables with their values at the first run, and its assignments to Variables are dropped; ndarrays that `f` reads by
    name must be unchanged.

    >>> import numpy as np
    >>> from s2sgrad import GradientTape, constant, recompute_grad
    >>> x = constant(2.0)
    >>> with GradientTape() as t:
    ...     t.watch(x)
    ...     y = recompute_grad(lambda x: np.sin(x) ** 2)(x)
    >>> round(t.gradient(y, x).item(), 6)
    -0.756802
    """

    @functools.wraps(f)
    def decorated(*args: Any, **keywords: Any) -> Any:
        call = rebuilt((args, keywords), _snapshot)
        value, followed, journal = _first_run(f, call)
        given = [leaf for leaf in leaves(call) if isinstance(leaf, Operand)]
        for v, then in journal:
            for tape in STATE.tapes:
                tape.read(v, then)

        @custom_gradient
        def once(*_: Any) -> tuple[Any, Callable[..., Any]]:
            def pullback(*bars: Any) -> list[Any]:
                copies = [_copy(leaf) for leaf in given]
                ready = iter(copies)
                operands, named = filled(call, (next(ready) if isinstance(leaf, Operand) else leaf for leaf in leaves(call)))
                variable_values = [then for _, then in journal]
                before = STATE.instead
                with GradientTape() as tape:
                    tape.watch([leaf for leaf in [*copies, *followed, *variable_values] if _is_float(leaf)])
                    STATE.instead = {v.uid: then for v, then in journal}
                    try:
                        again = f(*operands, **named)
                    finally:
                        STATE.instead = before
                weights = bars[0] if len(bars) == 1 else list(bars)
                return list(tape.gradient(again, [*copies, *followed, *variable_values], weights))

            return value, pullback

        return once(*given, *followed, *(then for _, then in journal))

    stands_for(decorated, "differentiated", f)  # for the compiler, which unwraps it
    return decorated


class _Around:
    """The set of uids that the surrounding tapes follow."""

    def __init__(self, tapes: list[Tape]) -> None:
        self.tapes = tapes

    def __contains__(self, uid: int) -> bool:
        return any(tape.follows(uid) for tape in self.tapes)


class _Met(Tape):
    """A tape that records nothing, but collects the operands that the surrounding tapes follow."""

    def __init__(self, around: list[Tape]) -> None:
        super().__init__()
        self.live = _Around(around)  # type: ignore[assignment]
        self.found: dict[int, Array] = {}

    def follows(self, uid: int) -> bool:
        """Whether a surrounding tape follows this value."""
        return uid in self.live

    def read(self, variable: Any, value: Any) -> None:
        """Nothing: the journal has the Variables."""

    def add(self, operands: list[Any], made: list[Any], entry: Any) -> None:
        """Collect the operands that are followed."""
        self.found |= {a.uid: a for a in operands if self.follows(a.uid)}


def _first_run(f: Callable[..., Any], call: Any) -> tuple[Any, list[Array], list[tuple[Any, Array]]]:
    """Run `f`: (value, followed Arrays that are not arguments, the Variables that it reads with their initial values)."""
    tapes, before = STATE.tapes, STATE.journal
    listening = _Met(tapes)
    STATE.tapes, STATE.journal = [listening], {}
    try:
        args, keywords = call
        value = f(*args, **keywords)
    finally:
        STATE.tapes, journal, STATE.journal = tapes, STATE.journal, before
    if before is not None:
        for uid, pair in journal.items():
            before.setdefault(uid, pair)
    known = {leaf.uid for leaf in leaves(call) if isinstance(leaf, Operand)} | {then.uid for _, then in journal.values()}
    return value, [a for uid, a in listening.found.items() if uid not in known], list(journal.values())


def _snapshot(v: Any) -> Any:
    """A snapshot of an argument: Variables are read, ndarrays copied."""
    if isinstance(v, Operand):
        return v._read()
    return rebuilt(v, _snapshot) if isinstance(v, (list, tuple, dict)) else fresh(v)


def _copy(x: Any) -> Any:
    """A new Array of the same value, so that an argument that is passed twice gets two cotangents."""
    return apply(np.positive, (x,)) if STATE.tapes and _is_float(x) else Array.of(x._value)


def _is_numeric(bar: Any) -> bool:
    return isinstance(bar, (Operand, np.ndarray, np.generic, int, float))


def _is_float(leaf: Any) -> bool:
    return isinstance(leaf, Operand) and leaf._value.dtype.kind in "fc"
