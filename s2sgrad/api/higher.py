"""The derivatives of `vjp` itself, and of pullbacks: callees known only at run time, differentiated to any order.

    y, pullback = vjp(f, x)    ->    (y, pullback), saved = forward(f, x)     with f's own `fwd` differentiated in turn

The value of `forward` at one level is the value of the level below, with the record of its adjoint.  It is made from the
value of the level below for f's `fwd`, which returns f's value and record:

    level 0 of fwd:  (y, record), inner     ->      level 1 of f:  (y, Pullback(bwd, record)), (inner, lead)
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from s2sgrad import pullbacks, runtime
from s2sgrad.api.arguments import has_floats
from s2sgrad.api.converted import again
from s2sgrad.errors import Unsupported
from s2sgrad.rules.picking import picked
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.closures import Closure
from s2sgrad.source import defined

Along = Callable[[Any, tuple, tuple, dict[str, Any]], tuple[Any, Any]]  # of function, primals, tangents, keywords
JVP = (runtime.jvp, pullbacks.jvp, pullbacks.jvp_again)


def options_of(called: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options for a call of one of these."""
    return {**options, "again": True} if called is pullbacks.jvp_again else options


def pair_again(f: Any, args: tuple, options: dict[str, Any]) -> tuple[Any, tuple[Any, Any, tuple, tuple, dict[str, Any]]]:
    """A callable that computes `f`, and its pair, to be differentiated again."""
    f, owners = again(f, args)
    fwd, bwd, places, receiver, keywords = runtime.hook("derivative")(f, args[owners:], options, True)
    if owners:  # the first argument is the receiver of the method
        places, receiver = tuple(k + owners for k in places), ()
    return f, (fwd, bwd, places, receiver, keywords)


@dataclass(frozen=True)
class Forward:
    """`vjp` (level 0: `runtime.vjp`), and its forward sweeps at the levels above.

    `of` is the `vjp` that was called: the user's own pullbacks check their seeds; those of closures hide the captures, whose
    number is the first argument.
    """

    level: int
    of: Callable[..., Any]

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if self.level == 0:
            return self.of(*arguments, **options)
        below, args, keywords, make, lead = self._taken_apart(arguments, options, runtime.hook("pair_in_turn"))
        return _lifted(below(*args, **keywords), self.level - 1, make, lead)

    def along(self, arguments: tuple, dots: tuple, options: dict[str, Any], along: Along) -> tuple[Any, Any]:
        """The value and its tangent; the tangent of a pullback is that of its record."""
        if self.level == 0:
            return along(self.of, arguments, dots, options)
        below, args, keywords, make, lead = self._taken_apart(arguments, options)
        first = len(arguments) - len(args) + 1 + abs(lead)  # arguments before those of the function
        receiver_dots = dots[first - 1] if lead < 0 else None
        value, tangent = along(below, args, (None, *(receiver_dots or (None,) * abs(lead)), *dots[first:]), keywords)
        return (
            _lifted(value, self.level - 1, make, lead),
            _lifted(tangent, self.level - 1, lambda y, record: record, None),
        )

    def _taken_apart(
        self, arguments: tuple, options: dict[str, Any], in_turn: Callable[..., Any] | None = None
    ) -> tuple[Forward, tuple, dict[str, Any], Callable[[Any, Any], Any], int]:
        """The level below; its arguments; what makes a pullback from a value and its record; and the number of arguments
        that the function has before the given ones, negative if these carry derivatives.  `in_turn`: which pair has one in
        turn."""
        hidden = arguments[0] if self.of is pullbacks.vjp_of_closure else 0
        f, *args = arguments[1:] if self.of is pullbacks.vjp_of_closure else arguments
        if f is runtime.call and options:
            by_place, options = runtime.by_name(tuple(args), options)
            args = [*by_place]
        f, (fwd, bwd, places, receiver, keywords) = pair_again(f, tuple(args), options)
        if in_turn is not None:
            fwd, bwd, places = in_turn(f, (fwd, bwd, places), receiver, tuple(args), keywords)

        def made(y: Any, record: Any) -> Any:
            pullback = runtime.Pullback(bwd, record, places, tuple(runtime.zeros(a) for a in args))
            if self.of is not runtime.vjp:
                pullbacks.require_result(f, y, pullback)
                pullback.like = runtime.zeros(y)
            return pullbacks.closed(hidden, pullback) if self.of is pullbacks.vjp_of_closure else pullback

        lead = -len(receiver) if holds_data(f) else len(receiver)
        return Forward(self.level - 1, runtime.vjp), (fwd, *receiver, *args), keywords, made, lead

    def pair(self, arguments: tuple, options: dict[str, Any]) -> tuple[Any, Any, tuple, tuple, dict[str, Any]]:
        """The result of `pair_for` for this function."""
        first = 2 if self.of is pullbacks.vjp_of_closure else 0 if holds_data(arguments[0]) else 1
        backward = backward_of(self.level + 1, False)
        return Forward(self.level + 1, self.of), backward, tuple(range(first, len(arguments))), (), options


def _lifted(value: Any, level: int, make: Callable[[Any, Any], Any], lead: int | None) -> Any:
    """The value of a level from that of the level below: `made` makes the pullback from the value and record of `fwd`."""
    if level:
        return _lifted(value[0], level - 1, make, lead), (value[1], lead)
    (y, record), inner = value
    return (y, make(y, record)), (inner, lead)


@functools.cache
def backward_of(level: int, of_call: bool, /) -> types.FunctionType:
    """The adjoint of the forward sweep at a level of `Forward`, or of `Call`: a function with source, so that it can be
    differentiated in turn.  For level 3:

        def vjp_backward_3(saved, bars):
            saved, lead_3 = saved
            saved, lead_2 = saved
            inner, lead_1 = saved
            out = inner((((bars[0][0], bars[0][1][0]), bars[1][0][0])))
            ..

    The record of a level contains that of the level below, for f's `fwd`, and the number of leading arguments, which is
    negative if these carry derivatives.
    """
    name = f"{'call' if of_call else 'vjp'}_backward_{level}"
    lines, value = [f"def {name}(saved, bars):"], "bars" + "[0]" * (level - 1)
    if of_call:
        lines += ["    saved, places, hidden = saved"]
        lines += ["    if places is None:", f"        value_bar = {value}", "    else:",
                  f"        value_bar = picked(operator.concat({value}, hidden), places)"]  # fmt: skip
        value = "value_bar"
    leads = range(1, level + (not of_call))
    lines += [f"    saved, lead_{k} = saved" for k in reversed(leads)]
    for k in range(1, level):
        value = f"({value}, bars{'[0]' * (level - 1 - k)}[1]{'[0]' * k})"
    lines += [f"    out = saved({value})"]
    for k in leads:
        lines += [f"    out = operator.concat((out[:-lead_{k}],), out[-lead_{k}:]) if lead_{k} < 0 else out[lead_{k}:]"]
    if of_call:
        lines += ["    if places is None:", "        out = operator.concat((out[:hidden],), out[hidden:])"]
    lines += ["    return out[0] if len(out) == 1 else out"]
    space = {"__name__": __name__, "operator": operator, "picked": picked}
    return defined("\n".join(lines) + "\n", name, f"<s2sgrad {name}>", space)


def __getattr__(name: str) -> types.FunctionType:
    """The adjoints by name, for unpickling in other processes."""
    of, _, level = name.partition("_backward_")
    if of not in ("vjp", "call") or not level.isdecimal():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return backward_of(int(level), of == "call")


@dataclass(frozen=True)
class Call:
    """`pullback(y_bar)` (level 0: `runtime.call`), with its `bwd` differentiated in turn; or a call of a function with
    captures, if it is a `Closure`, or without."""

    level: int

    def __call__(self, pullback: Any, *args: Any) -> Any:
        if self.level == 0:
            return runtime.call(pullback, *args)
        if isinstance(pullback, runtime.Pullback):
            args = pullback.bwd, runtime.refilled(pullback.saved, pullback.bwd), pullback.cotangent(args)
        elif isinstance(pullback, Closure):
            args = pullback.function, *pullback.called_with(args)
        elif not is_constant(pullback) or its(pullback, "__closure__", None) or _has_receiver(pullback):
            what = type(pullback).__name__
            raise TypeError(f"a {what} that carries derivatives cannot be called yet: pass its data as arguments")
        else:
            args = pullback, *args
        value = Forward(self.level - 1, runtime.vjp)(*args)
        return self._lifted(pullback, value, self.level - 1)

    def along(self, arguments: tuple, dots: tuple, along: Along) -> tuple[Any, Any]:
        """The value and its tangent, along those of a pullback's record and of its cotangent."""
        pullback, *bars = arguments
        below = Forward(self.level - 1, runtime.vjp)
        if isinstance(pullback, runtime.Pullback):
            record, record_dot = (d if d is None else runtime.refilled(d, pullback.bwd) for d in (pullback.saved, dots[0]))
            bar = pullback.cotangent(tuple(bars))
            value, tangent = along(below, (pullback.bwd, record, bar), (None, record_dot, *dots[1:]), {})
        elif isinstance(pullback, Closure):
            primals, tangents = taken_apart(pullback, dots[0], arguments[1:], dots[1:])
            value, tangent = along(below, (pullback.function, *primals), (None, *tangents), {})
        elif dots[0] is None:
            value, tangent = along(below, arguments, dots, {})
        else:
            raise TypeError(f"a {type(pullback).__name__} that carries derivatives cannot be called yet: pass its data as "
                            "arguments")  # fmt: skip
        return tuple(self._lifted(pullback, part, self.level - 1) for part in (value, tangent))

    def _lifted(self, pullback: Any, value: Any, level: int) -> Any:
        """The value of a level from that of the level below: the cotangents of all arguments that the user sees."""
        below, inner = value
        places, shown = None, 0
        hidden: tuple | int = 0
        if isinstance(pullback, runtime.Pullback):
            places, shown = pullback.places, len(pullback.rest) - getattr(pullback, "hidden", 0)
            hidden = pullback.rest[shown:]
        kept = inner, places, len(pullback.holds) if isinstance(pullback, Closure) else hidden
        if level:
            return self._lifted(pullback, below, level - 1), kept
        return below if places is None else runtime.spread(pullback, below)[:shown], kept

    def pair(self, arguments: tuple, options: dict[str, Any]) -> tuple[Any, Any, tuple, tuple, dict[str, Any]]:
        """The result of `pair_for` for this function."""
        return Call(self.level + 1), backward_of(self.level + 1, True), tuple(range(len(arguments))), (), options


def is_constant(value: Any) -> bool:
    """Whether a value of unknown kind carries no derivative; a container may, though its class makes it callable."""
    if isinstance(value, (Closure, runtime.Pullback, list, tuple, dict)):
        return not has_floats(value)
    return callable(value) or isinstance(value, types.ModuleType)


def holds_data(f: Any) -> bool:
    """Whether a function is a closure that carries derivatives itself."""
    return isinstance(f, Closure) and not is_constant(f)


def require_constant(f: Any, called: str) -> None:
    """Refuse a function that carries derivatives where it would be treated as a constant."""
    if holds_data(f):
        raise Unsupported(f"`{called}` of a function that is only known at run time and closes over differentiated values "
                          "is not followed: pass these to it as arguments")  # fmt: skip


def taken_apart(f: Closure, held_dot: Any, primals: tuple, tangents: tuple) -> tuple[tuple, tuple]:
    """The arguments of the function behind a closure, and their tangents: None for zeros."""
    return f.called_with(primals), (*(held_dot or (None,) * len(f.holds)), *tangents)


def of_closures(primals: tuple, tangents: tuple) -> tuple[tuple, tuple]:
    """The arguments of `jvp` of `call(f, ..)`, `f` a closure, and their tangents: those of the function behind it."""
    (_, (f, *args), dots), (_, args_dots, dots_dots) = primals, tangents
    along = [(None,) * (len(args) + 1) if given is None else given for given in (dots, args_dots, dots_dots)]
    values, taken = f.called_with(tuple(args)), [taken_apart(f, of[0], tuple(args), tuple(of[1:]))[1] for of in along]
    return (f.function, values, taken[0]), (None, *taken[1:])


def _has_receiver(f: Any) -> bool:
    return not isinstance(its(f, "__self__", None), (types.ModuleType, type(None)))
