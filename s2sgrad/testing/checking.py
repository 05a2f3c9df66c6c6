"""Compares derivatives with differences, in all directions of all arguments, and locates wrong elements.

comparisons(f, (x,))      ->      [Comparison(order=1, argument="x", ours=0.31, differences=0.62, element="[2, 1]"), ..]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from s2sgrad.api import Gradient, grad, jvp, vjp
from s2sgrad.api.argnums import checked
from s2sgrad.api.arguments import has_floats
from s2sgrad.errors.cycles import cycle, refers_to_itself
from s2sgrad.errors.raised import behind_call
from s2sgrad.ir.signatures import require_fit, signature
from s2sgrad.runtime.results import NoResult, without_floats
from s2sgrad.runtime.watching import not_finite
from s2sgrad.tape import Array, GradientTape, constant
from s2sgrad.testing.containers import element, flat, inner, is_float, leaves, like_flat, mapped, paths, shifted, unfollowed
from s2sgrad.testing.differences import careful, quick

MODES = ("fwd", "rev", "vjp", "tape")
_FEW = 8  # with at most this many numbers in an argument, each is shifted separately; else all in random directions
_DIRECTIONS = 4
_EACH = 64  # at most this many are checked one by one in a wrong direction; more are bisected
_WRONG = 4  # wrong elements that are listed
_KNOWN = 1e3  # a derivative this much larger than the error of differences is significant


@dataclass(frozen=True)
class Comparison:
    """One directional derivative: `ours`, from the generated gradient or tangent, and that from central `differences`.

    `argument` is the name of the argument or, for the derivative in a single number (`alone`), the path to the leaf that
    `element` is an index of.  `trouble` says why no difference quotient is available.
    """

    order: int
    argument: str
    ours: float
    differences: float
    allowed: float
    mode: str = "rev"
    element: str = ""
    trouble: str = ""
    alone: bool = False
    below: bool = False  # both are smaller than the absolute tolerance
    known: bool = False  # ours is far above the rounding error of differences

    @property
    def agrees(self) -> bool:
        """Whether both are equal within the tolerance (nan never is)."""
        return abs(self.ours - self.differences) <= self.allowed

    @property
    def error(self) -> float:
        """The relative error."""
        apart = abs(self.ours - self.differences)
        return apart / max(abs(self.ours), abs(self.differences)) if apart else 0.0

    def __str__(self) -> str:
        ways = {"rev": "", "fwd": "forward mode, ", "vjp": "pullback, ", "tape": "tape, "}
        where = f", element {self.element}" if self.element else "" if self.alone else ", all elements in a random direction"
        head = f"{f'order {self.order}, ' * (self.order > 1)}{ways[self.mode]}argument `{self.argument}`{where}"
        what = "tangent" if self.mode == "fwd" else "gradient"
        if self.trouble:
            return f"{head}: {self.trouble}; {what} {self.ours:.10g}"
        return f"{head}: {what} {self.ours:.10g}, differences {self.differences:.10g} (relative error {self.error:.1e})"


def comparisons(
    f: Callable[..., Any],
    args: tuple,
    order: int = 1,
    argnums: int | Sequence[int] | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    modes: Sequence[str] = ("rev",),
) -> list[Comparison]:
    """All directional derivatives that `check_grads` compares; a wrong one is replaced by those of its wrong elements."""
    if not isinstance(order, int):
        raise TypeError(f"the order must be an int, 1 or more, not {order!r}")
    if order < 1:
        raise ValueError(f"the order must be 1 or more, not {order}")
    _require_fit(f, args)
    names = _names(f, args)
    if argnums is None:
        numbers = tuple(k for k, a in enumerate(args) if any(is_float(x) for x in leaves(a)) and has_floats(a))
        _require_followed(args, names, numbers)
    else:
        asked = checked(argnums)
        numbers = tuple(_position(n, names) for n in (asked if isinstance(asked, tuple) else (asked,)))
    if not numbers:
        raise ValueError("no argument holds floats: there is nothing to differentiate")
    rng = np.random.default_rng(0)
    out: list[Comparison] = []
    function: Any = f
    taped: Any = f
    for k in range(1, order + 1):
        at = _Point(function, taped, args, numbers, names, k, rng, rtol, atol, tuple(modes))
        for number in numbers:
            out += at.compared(number)
        function, taped = grad(function, argnums=numbers), _Taped(taped, numbers)
    if not out:
        raise ValueError("the arguments hold no numbers: there is nothing to compare")
    return out


def unchecked(f: Callable[..., Any], args: tuple) -> list[str]:
    """What holds floats in the arguments, and is not differentiated: it is a constant, and not among the comparisons."""
    return [shown for name, value in zip(_names(f, args), args, strict=True) for shown in unfollowed(value, name)]


def _require_followed(args: tuple, names: list[str], numbers: tuple[int, ...]) -> None:
    """Raise TypeError for an argument that holds floats, none of which can be checked."""
    for k, (value, name) in enumerate(zip(args, names, strict=True)):
        left = [*unfollowed(value, name)] if k not in numbers else []
        left += [f"`{name}`, a {type(value).__name__}"] if k not in numbers and any(map(is_float, leaves(value))) else []
        if left:
            met = cycle(value, name)
            why = f"{' and '.join(left)}, cannot be checked" if met is None else str(refers_to_itself(met))
            raise TypeError(f"{why}; `argnums` names the arguments to check")


@dataclass
class _Point:
    """A function at its arguments, weighted by a random `seed`, and its derivatives there."""

    f: Any
    taped: Any
    args: tuple
    numbers: tuple[int, ...]
    names: list[str]
    order: int
    rng: np.random.Generator
    rtol: float
    atol: float
    modes: tuple[str, ...]
    gradients: dict[str, tuple] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = getattr(behind_call(self.f), "__name__", type(self.f).__name__)
        value = self.f(*mapped(self.args))
        _require_numbers(name, value)
        _require_same(name, value, self.f(*mapped(self.args)))
        alone = flat(value).size == 1  # so that messages show the gradient itself
        draw = np.ones if alone else lambda shape: self.rng.uniform(0.5, 1.5, shape)
        self.seed = mapped(value, lambda x: _weights(x, draw))
        self.given = mapped(self.args)
        if "rev" in self.modes:
            derivative = grad(self.f, argnums=self.numbers, output_gradients=self.seed)
            self.gradients["rev"] = derivative(*self.given)
            _unchanged(self.args, self.given, "the gradient function changed its argument")
        if "vjp" in self.modes:
            bars = vjp(self.f, *self.given)[1](self.seed)
            self.gradients["vjp"] = tuple(bars[k] for k in self.numbers)
            _unchanged(self.args, self.given, "the pullback changed its argument")
        if "tape" in self.modes:
            self.gradients["tape"] = _Taped(self.taped, self.numbers, self.seed)(*self.given)
            _unchanged(self.args, self.given, "the tape changed its argument")
        self.along: Any = jvp(self.f) if "fwd" in self.modes else None
        self.exact = mapped(self.args, _doubled)
        single = any(np.finfo(np.asarray(x).dtype).bits < 64 for x in leaves((self.args, value)) if is_float(x))
        self.rtol = max(self.rtol, 1e-3) if single else self.rtol

    # --- one argument ---

    def compared(self, number: int) -> list[Comparison]:
        """The comparisons in one argument; if all are below the absolute tolerance, which then would accept anything, by the
        relative one alone."""
        found = [*self.within(number)]
        if found and all(c.below for c in found) and any(c.known for c in found):
            tolerance, self.atol = self.atol, 0.0
            found = [*self.within(number)]
            self.atol = tolerance
        return found

    def within(self, number: int) -> Iterator[Comparison]:
        """The comparisons in one argument, with the current tolerances."""
        for mode, gradients in self.gradients.items():
            _fits(self.args[number], gradients[self.numbers.index(number)], self.names[number], mode)
        sizes = mapped(self.args[number], lambda x: _size(x) if is_float(x) else x)
        row = flat(sizes)
        if row.size <= _FEW:
            for k in range(row.size):
                yield from self.in_element(number, row, k, self.modes)
            return
        for _ in range(_DIRECTIONS):
            chosen = self.rng.standard_normal(row.size) * row
            for comparison in self.in_direction(number, chosen, self.modes):
                yield from [comparison] if comparison.agrees else self.located(number, row, chosen, comparison)

    def in_element(self, number: int, row: np.ndarray, k: int, modes: Sequence[str]) -> list[Comparison]:
        """The comparisons in the direction of one number."""
        path, index = element(self.args[number], self.names[number], k)
        direction = np.zeros(row.size)
        direction[k] = row[k]
        return [
            replace(c, argument=path, element=index, alone=True, ours=c.ours / row[k], allowed=c.allowed / row[k],
                    differences=c.differences / row[k])
            for c in self.in_direction(number, direction, modes)
        ]  # fmt: skip

    def in_direction(self, number: int, row: np.ndarray, modes: Sequence[str]) -> list[Comparison]:
        """The comparisons in one direction; if simple differences disagree, more careful ones are made."""
        direction = like_flat(self.args[number], row)
        ours = {mode: self.ours(number, direction, mode) for mode in modes}
        phi = self.shifted(number, direction)
        slope = quick(phi)
        out = [self.comparison(number, mode, d, slope) for mode, d in ours.items()]
        if all(c.agrees for c in out):
            return out
        slope = careful(phi)
        return [self.comparison(number, mode, d, slope) for mode, d in ours.items()]

    def comparison(self, number: int, mode: str, ours: float, slope: Any) -> Comparison:
        """One derivative beside the slope; a doubtful slope does not matter where they agree."""
        allowed = self.atol + self.rtol * max(abs(ours), abs(slope.value)) + (0.0 if slope.trouble else slope.error)
        below, is_known = max(abs(ours), abs(slope.value)) < self.atol, abs(ours) > _KNOWN * slope.error
        result = Comparison(self.order, self.names[number], ours, slope.value, allowed, mode, below=below, known=is_known)
        return result if result.agrees else replace(result, trouble=slope.trouble)

    def ours(self, number: int, direction: Any, mode: str) -> float:
        """The directional derivative, computed in this mode."""
        if mode in self.gradients:
            return inner(self.gradients[mode][self.numbers.index(number)], direction)
        tangents = [direction if k == number else None for k in range(len(self.args))]
        arguments = mapped(self.args)  # copied, for a random generator has state
        tangent = self.along(arguments, tangents)[1]
        _unchanged(self.args, arguments, "the function of the tangent changed its argument")
        return inner(tangent, self.seed)

    def shifted(self, number: int, direction: Any) -> Callable[[float], float]:
        """The weighted value of the function along a direction in one argument."""

        def phi(t: float) -> float:
            moved = shifted(self.exact[number], direction, t)
            return inner(self.f(*mapped(self.exact[:number]), moved, *mapped(self.exact[number + 1 :])), self.seed)

        return phi

    # --- locating wrong elements ---

    def located(self, number: int, row: np.ndarray, wrong: np.ndarray, comparison: Comparison) -> Iterator[Comparison]:
        """The wrong elements in a wrong direction; the direction itself if no single element is wrong."""
        mode = (comparison.mode,)
        places = np.flatnonzero(wrong)
        while places.size > _EACH:
            halves = np.array_split(places, 2)
            inside = (h for h in halves if not self.in_direction(number, _only(wrong, h), mode)[0].agrees)
            places = next(inside, np.zeros(0, int))
        bad = [c for k in places for c in self.in_element(number, row, int(k), mode) if not c.agrees]
        yield from bad[:_WRONG] or [comparison]


def _only(row: np.ndarray, places: np.ndarray) -> np.ndarray:
    out = np.zeros_like(row)
    out[places] = row[places]
    return out


class _Taped:
    """The gradient of a function by a tape, for the sum weighted by a seed; on Arrays it is recorded itself."""

    def __init__(self, f: Any, numbers: tuple[int, ...], seed: Any = None) -> None:
        self.f, self.numbers, self.seed = f, numbers, seed

    def __call__(self, *args: Any) -> tuple:
        plain = not any(isinstance(x, Array) for x in leaves(args))
        args_ = [mapped(a, lambda x: constant(x) if is_float(x) else x) if plain else a for a in args]
        wanted = [[x for x in leaves(args_[k]) if isinstance(x, Array)] for k in self.numbers]
        with GradientTape() as tape:
            tape.watch(wanted)
            value = self.f(*args_)
        seed = None
        if self.seed is not None:
            seed = [s for s, v in zip(leaves(self.seed), leaves(value), strict=True) if isinstance(v, Array)]
        targets = [v for v in leaves(value) if isinstance(v, Array)]
        bars = iter(leaves(tape.gradient(targets, wanted, output_gradients=seed, unconnected_gradients="zero")))
        plainly: Callable[[Any], Any] = (lambda x: x.numpy()[()]) if plain else (lambda x: x)
        return tuple(mapped(args_[k], lambda x: plainly(next(bars)) if isinstance(x, Array) else x) for k in self.numbers)


# --- checks of arguments and results ---


def _require_fit(f: Any, args: tuple) -> None:
    """Raise TypeError if the arguments do not fit the signature of the function."""
    try:
        signature(f)
    except (TypeError, ValueError):  # no signature available
        return
    require_fit(f, args, {})


def _require_numbers(name: str, value: Any) -> None:
    """Raise if a value has no finite floats to compare."""
    if not any(is_float(x) for x in leaves(value)):
        raise NoResult(without_floats(value) or "no floats", name)
    wrong = not_finite(value)
    if wrong is not None:
        where = f" at {wrong[0]}" if wrong[0] else ""
        raise AssertionError(f"`{name}` is {wrong[1]}{where} at this point, where nothing can be compared: "
                             "`grad(.., debug=True)` names the line")  # fmt: skip


def _require_same(name: str, value: Any, again: Any) -> None:
    """Raise AssertionError if a second call returned another value."""
    for (path, a), (_, b) in zip(paths(value, ""), paths(again, ""), strict=False):
        if is_float(a) and not np.array_equal(a, b):
            apart = np.argwhere(np.asarray(a) != np.asarray(b))[0] if np.shape(a) == np.shape(b) else ()
            one, two = (np.asarray(x)[tuple(apart)] for x in (a, b))
            raise AssertionError(f"`{name}` is not the same function twice: called with the same arguments, it gives "
                                 f"{one:.10g} and then {two:.10g}{path and f' at {path}'}")  # fmt: skip


def _position(number: int | str, names: list[str]) -> int:
    place = names.index(number) if number in names else number
    if not isinstance(place, int) or not -len(names) <= place < len(names):
        raise TypeError(f"argnums={number!r} is none of the arguments: there are {', '.join(names)}")
    return place % len(names)


def _weights(x: Any, draw: Callable[[Any], Any]) -> Any:
    """Random weights for a leaf: for both parts of complex numbers."""
    if not is_float(x):
        return x
    weights = draw(np.shape(x)) + 1j * draw(np.shape(x)) if np.iscomplexobj(x) else draw(np.shape(x))
    return weights.astype(np.asarray(x).dtype)[()]


def _size(x: Any) -> Any:
    """The scale of each number, for the step: its absolute value, but not far below that of its array."""
    absolute = np.abs(np.asarray(x)).astype(float)
    typical = np.sqrt(np.mean(absolute**2)) if absolute.size else 1.0
    sizes = np.maximum(absolute, 0.01 * typical) if typical > 0 else np.ones_like(absolute)
    return sizes * (1 + 1j) if np.iscomplexobj(x) else sizes


def _doubled(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
        return x.astype(complex if x.dtype.kind == "c" else float)
    if isinstance(x, np.complexfloating):
        return np.complex128(x)
    return np.float64(x) if isinstance(x, np.floating) else x


def _names(f: Any, args: tuple) -> list[str]:
    """A name for each argument."""
    while isinstance(f, Gradient):
        f = f.primal
    try:
        parameters = [p for p in signature(f).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL and p.kind is not p.VAR_KEYWORD]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "argument")
    return (names + [f"{rest}[{k}]" for k in range(len(args))])[: len(args)]


def _fits(argument: Any, gradient: Any, name: str, mode: str) -> None:
    """Raise AssertionError unless the gradient has the structure, shapes and dtypes of its argument."""
    way = {"tape": "the tape's gradient", "vjp": "the cotangent"}.get(mode, "the gradient")
    own, got = list(paths(argument, name)), list(leaves(gradient))
    floats = [(path, x) for path, x in own if is_float(x)]
    got = [g for (_, a), g in zip(own, got, strict=True) if is_float(a)] if len(got) == len(own) else got
    if len(floats) != len(got):
        raise AssertionError(f"{way} in `{name}` has {len(got)} leaves, the argument {len(floats)}")
    for (path, a), g in zip(floats, got, strict=True):
        if np.shape(a) != np.shape(g):
            raise AssertionError(f"{way} in `{path}` has the shape {np.shape(g)}, the argument {np.shape(a)}")
        if np.asarray(a).dtype != np.asarray(g).dtype:
            raise AssertionError(f"{way} in `{path}` is {np.asarray(g).dtype}, the argument {np.asarray(a).dtype}")


def _unchanged(before: Any, after: Any, message: str) -> None:
    for a, b in zip(leaves(before), leaves(after), strict=True):
        if isinstance(a, np.ndarray) and not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
            raise AssertionError(message)
