"""Functions that bring their own gradient, and functions that are computed again instead of recorded.

    @custom_gradient                                     y = log1pexp(x)  is one record; its pullback is `pullback`
    def log1pexp(x):
        e = np.exp(x)
        return np.log(1 + e), lambda g: g * (1 - 1 / (1 + e))
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from s2sgrad.tape.algebra import Algebra
from s2sgrad.tape.array import Array, arrays, wrapped
from s2sgrad.tape.gradient_tape import GradientTape
from s2sgrad.tape.primitives import cotangent
from s2sgrad.tape.recording import STATE, Tape
from s2sgrad.tape.values import Operand, fresh, leaves, opened, unwrapped


class _Own:
    """A recorded call with a pullback that the user wrote."""

    def __init__(self, name: str, pullback: Callable[..., Any], args: list[Any], variables: list[Any], result: Any) -> None:
        self.name, self.pullback, self.args, self.variables, self.result = name, pullback, args, variables, result
        self.outputs = tuple(a.uid for a in arrays(result))

    def pull(self, bars: dict[int, Any], live: frozenset[int], on: Algebra) -> list[tuple[int, Any]]:
        """What the user's pullback gives, for the operands in `live`."""
        g = cotangent(self.result, bars, on)
        given = [g] if not isinstance(self.result, tuple) else list(g)
        given = [wrapped(item) for item in given]
        if self.variables:
            grads, more = self.pullback(*given, variables=[v for v, _ in self.variables])
            more = [more] if isinstance(more, Operand) else list(more)
        else:
            grads, more = self.pullback(*given), []
        grads = list(grads) if isinstance(grads, (list, tuple)) else [grads]
        operands = [*self.args, *(read for _, read in self.variables)]
        if len(grads) != len(self.args) or len(more) != len(self.variables):
            raise ValueError(
                f"the pullback of `{self.name}` returned {len(grads)} gradients for {len(self.args)} arguments"
                + (f" and {len(more)} for {len(self.variables)} variables" if self.variables else "")
                + ": return one for each, None where there is none"
            )
        out: list[tuple[int, Any]] = []
        for operand, bar in zip(operands, [*grads, *more], strict=True):
            if bar is None:
                continue
            for leaf, part in zip(leaves(operand), leaves(bar), strict=True):
                if isinstance(leaf, Operand) and leaf.uid in live and part is not None:
                    out.append((leaf.uid, on.fitted(on.value(part), leaf, True)))
        return out


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the gradient that it brings: `f(*args)` returns its value and a pullback.

    The pullback takes one cotangent for every value (f may return a tuple of values) and returns one for every argument
    of `f`, None where there is none.  Where `f` reads trainable Variables, it takes `variables=None` too, and returns
    `(for the arguments, for the variables)`.  A pullback written with NumPy functions on Arrays can itself be
    differentiated.  Keywords are passed on to `f` and are constants.

    Raises TypeError where `f` does not return a pair, or reads Variables and its pullback takes no `variables`; ValueError
    where the pullback returns another number of gradients.

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

    @functools.wraps(f)
    def decorated(*args: Any, **keywords: Any) -> Any:
        found: list[Any] = []
        given = [opened(a, found)[0] for a in args]
        if not found and not STATE.tapes:
            return unwrapped_pair(f, args, keywords)[0]
        listening = Tape()
        STATE.tapes.append(listening)
        try:
            value, pullback = unwrapped_pair(f, tuple(given), keywords)
        finally:
            STATE.tapes[:] = [tape for tape in STATE.tapes if tape is not listening]
        variables = [(v, v._read()) for _, v in sorted(listening.watched.items()) if v.trainable]
        if variables and "variables" not in _parameters(pullback):
            shown = ", ".join(v.name or "Variable" for v, _ in variables)
            raise TypeError(
                f"`{f.__name__}` reads trainable Variables ({shown}), so its pullback must take `variables=None` "
                "and return their gradients too: (for the arguments, for the variables)"
            )
        plain = unwrapped(value)
        if not found and not variables:
            return value
        result = wrapped(fresh(plain))
        record = _Own(f.__name__, pullback, given, variables, result)
        uids = [a.uid for a in found] + [read.uid for _, read in variables]
        for tape in STATE.tapes:
            tape.add(record, uids)
        return result

    decorated.custom_gradient = f  # type: ignore[attr-defined]
    return decorated


def unwrapped_pair(f: Callable[..., Any], args: tuple, keywords: dict[str, Any]) -> tuple[Any, Callable[..., Any]]:
    """The value and the pullback that `f` returns."""
    pair = f(*args, **keywords)
    if not isinstance(pair, tuple) or len(pair) != 2 or not callable(pair[1]):
        raise TypeError(f"`{f.__name__}` must return its value and a function, the pullback: return y, pullback")
    return pair


def _parameters(pullback: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(pullback).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return {*parameters, "variables"}
    return set(parameters)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of which a tape records the arguments alone: it is computed again when its gradient is asked for.

    It costs the time of a second run and saves the memory of what lies in between.  `f` takes and returns Arrays (or
    tuples of them) and may read Variables.

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
        tapes, listening = STATE.tapes, Tape()
        STATE.tapes = [listening]
        try:
            value = f(*args, **keywords)
        finally:
            STATE.tapes = tapes
        reads = [(v, v._read()) for _, v in sorted(listening.watched.items())]

        @custom_gradient
        def once(*given: Any) -> tuple[Any, Callable[..., Any]]:
            def pullback(*bars: Any) -> list[Any]:
                now = [v._now for v, _ in reads]
                inputs = [Array.of(leaf.value) if not STATE.tapes and isinstance(leaf, Operand) else leaf for leaf in given]
                operands = inputs[: len(args)]
                held = inputs[len(args) :]
                try:
                    for (v, _), then in zip(reads, held, strict=True):
                        v._now = then  # the values that it was computed with
                    with GradientTape() as tape:
                        tape.watch([leaf for leaf in leaves([operands, held]) if _is_float(leaf)])
                        again = f(*operands, **keywords)
                finally:
                    for (v, _), value_now in zip(reads, now, strict=True):
                        v._now = value_now
                weights = bars[0] if len(bars) == 1 else list(bars)
                return list(tape.gradient(again, [*operands, *held], weights))

            return value, pullback

        arguments = [a if isinstance(a, (Operand, list, tuple, dict)) else wrapped(a) for a in args]
        return once(*arguments, *(read for _, read in reads))

    return decorated


def _is_float(leaf: Any) -> bool:
    return isinstance(leaf, Operand) and leaf.value.dtype.kind in "fc"
