"""Checks for users and for us: gradients against central differences.

>>> import numpy as np
>>> def energy(x, k):
...     return 0.5 * k * np.sum(x ** 2)
>>> check_grads(energy, (np.array([1.0, 2.0]), 3.0), order=2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sgrad.api import Gradient, grad, jvp
from s2sgrad.api.argnums import checked
from s2sgrad.errors.raised import entry
from s2sgrad.ir.signatures import signature

_STEP = 1e-4  # relative; two steps are extrapolated, so that the error of the differences is of fourth order
_FEW = 8  # up to so many numbers in an argument, each is shifted by itself; beyond, all in random directions
_DIRECTIONS = 4


@dataclass(frozen=True)
class Comparison:
    """One directional derivative: `ours`, from the generated gradient or tangent, beside that from central `differences`."""

    order: int
    argument: str
    ours: float
    differences: float
    allowed: float
    mode: str = "rev"

    @property
    def agrees(self) -> bool:
        """Whether the two are equal within the tolerance (a nan never is)."""
        return abs(self.ours - self.differences) <= self.allowed

    @property
    def error(self) -> float:
        """The relative error."""
        apart = abs(self.ours - self.differences)
        return apart / max(abs(self.ours), abs(self.differences)) if apart else 0.0


@entry
def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any] | None = None,
    order: int = 1,
    modes: Sequence[str] = ("rev",),
    argnums: int | Sequence[int] | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> Any:
    """Compare the gradient of `f` at `args` with central differences; raise AssertionError where they differ.

    With `modes=("fwd", "rev")` the tangent of `jvp` is compared, too: of the function, at order 2 of its gradient.
    Arguments and results may be nested tuples, lists and dicts.  With `order=2` the gradient of `<gradient, v>` is
    compared too, for a random `v`.  `argnums`: the positions to look at, by default every argument that holds floats.
    Structure, shapes and dtypes are compared as well, and that no argument is changed.

    >>> check_grads(np.tanh, (np.linspace(-1.0, 1.0, 5),), order=2)
    >>> check_grads(lambda x: np.floor(x) * x, (2.0,))
    Traceback (most recent call last):
    AssertionError: the gradient of `<lambda>` is not what central differences give:
      order 1, argument `x`: 4.547..., but the differences give 26532.5... (relative error 1.0e+00)
      File ...

    Without `args` it returns the check itself, to be called with the arguments: `check_grads(f, order=2)(x, y)`.
    """
    if not callable(f):
        raise TypeError(f"check_grads needs a function, not {type(f).__name__}")
    if args is None:
        return lambda *given: check_grads(f, given, order, modes, argnums, rtol, atol)
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    unknown = [m for m in modes if m not in ("fwd", "rev")]
    if unknown or not modes:
        raise ValueError(f"there is no mode {unknown[0] if unknown else None!r}: modes=('fwd', 'rev')")
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"args is a tuple of the arguments, (x, y), not {type(args).__name__}")
    wrong = [c for c in comparisons(f, tuple(args), order, argnums, rtol, atol, modes) if not c.agrees]
    if wrong:
        lines = [
            f"  order {c.order}, {'forward mode, ' if c.mode == 'fwd' else ''}argument `{c.argument}`: {c.ours:.10g}, "
            f"but the differences give {c.differences:.10g} (relative error {c.error:.1e})"
            for c in wrong
        ]
        name = getattr(f, "__name__", repr(f))
        raise AssertionError("\n".join([f"the gradient of `{name}` is not what central differences give:", *lines]))
    return None


def comparisons(
    f: Callable[..., Any],
    args: tuple,
    order: int = 1,
    argnums: int | Sequence[int] | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    modes: Sequence[str] = ("rev",),
) -> list[Comparison]:
    """Every directional derivative that `check_grads` looks at, the good ones too."""
    if not isinstance(order, int):
        raise TypeError(f"the order must be an int, 1 or more, not {order!r}")
    if order < 1:
        raise ValueError(f"the order must be 1 or more, not {order}")
    _require_fit(f, args)
    if argnums is None:
        numbers = tuple(k for k, a in enumerate(args) if any(_is_float(x) for x in leaves(a)))
    else:
        asked = checked(argnums)
        names = _names(f, args)
        numbers = tuple(_position(n, names) for n in (asked if isinstance(asked, tuple) else (asked,)))
    if not numbers:
        raise ValueError("no argument holds floats: there is nothing to differentiate")
    out = []
    rng = np.random.default_rng(0)
    function: Any = f
    for k in range(1, order + 1):
        out += _compared(function, args, numbers, k, _names(f, args), rng, rtol, atol, modes)
        function = grad(function, argnums=numbers)
    return out


def _require_fit(f: Any, args: tuple) -> None:
    """Raise TypeError where the arguments do not fit the function."""
    try:
        parameters = signature(f)
    except (TypeError, ValueError):  # it does not say what it takes
        return
    try:
        parameters.bind(*args)
    except TypeError as error:
        raise TypeError(f"{getattr(f, '__name__', repr(f))}(): {error}") from None


def _position(number: int | str, names: list[str]) -> int:
    place = names.index(number) if number in names else number
    if not isinstance(place, int) or not -len(names) <= place < len(names):
        raise TypeError(f"argnums={number!r} is none of the arguments: there are {', '.join(names)}")
    return place % len(names)


def _compared(
    f: Any, args: tuple, numbers: tuple[int, ...], order: int, names: list[str], rng: Any, rtol: float, atol: float,
    modes: Sequence[str],
) -> Iterator[Comparison]:  # fmt: skip
    value = f(*mapped(args))
    seed = mapped(value, lambda x: rng.uniform(0.5, 1.5, np.shape(x)).astype(np.asarray(x).dtype)[()] if _is_float(x) else x)
    given = mapped(args)
    gradients = grad(f, argnums=numbers, output_gradients=seed)(*given) if "rev" in modes else (None,) * len(numbers)
    _same(args, given, "the gradient function changed its argument")
    along = jvp(f) if "fwd" in modes else None
    exact = mapped(args, lambda x: np.float64(x) if isinstance(x, np.floating) else _doubled(x))
    single = any(np.asarray(x).dtype.itemsize < 8 for x in leaves((args, value)) if _is_float(x))
    rtol = max(rtol, 1e-3) if single else rtol
    for number, gradient in zip(numbers, gradients, strict=True):
        if gradient is not None:
            _fits(args[number], gradient, names[number])
        for direction in _directions(args[number], rng):
            found = {} if gradient is None else {"rev": inner(gradient, direction)}
            if along is not None:
                tangents = [direction if k == number else None for k in range(len(args))]
                found["fwd"] = inner(along(given, tangents)[1], seed)
                _same(args, given, "the function of the tangent changed its argument")
            points = []
            for t in (-_STEP, -_STEP / 2, _STEP / 2, _STEP):
                moved = shifted(exact[number], direction, t)
                points.append(inner(f(*mapped(exact[:number]), moved, *mapped(exact[number + 1 :])), seed))
            coarse, fine = (points[3] - points[0]) / (2 * _STEP), (points[2] - points[1]) / _STEP
            differences = (4.0 * fine - coarse) / 3.0
            noise = 20.0 * np.finfo(float).eps * max(abs(p) for p in points) / _STEP
            for mode, ours in found.items():
                allowed = atol + rtol * max(abs(ours), abs(differences)) + noise
                yield Comparison(order, names[number], ours, differences, allowed, mode)


def _directions(argument: Any, rng: Any) -> Iterator[Any]:
    """Shifts of an argument, in units of its own size: one number at a time where they are few, else all at random."""
    sizes = mapped(argument, lambda x: _size(x) if _is_float(x) else x)
    count = sum(np.size(x) for x in leaves(argument) if _is_float(x))
    for k in range(count if count <= _FEW else _DIRECTIONS):
        if count > _FEW:
            yield mapped(sizes, lambda s: rng.standard_normal(np.shape(s)) * s if _is_float(s) else s)
            continue
        before = 0
        chosen = []
        for size in leaves(sizes):
            if not _is_float(size):
                chosen.append(size)
                continue
            one = np.zeros(np.size(size))
            if before <= k < before + one.size:
                one[k - before] = np.ravel(size)[k - before]
            before += one.size
            chosen.append(one.reshape(np.shape(size)))
        ready = iter(chosen)
        yield mapped(sizes, lambda _, ready=ready: next(ready))


def _size(x: Any) -> Any:
    """How large each number is, for the step: its absolute value, but not far below that of its array."""
    absolute = np.abs(np.asarray(x, float))
    typical = np.sqrt(np.mean(absolute**2)) if absolute.size else 1.0
    return np.maximum(absolute, 0.01 * typical) if typical > 0 else np.ones_like(absolute)


def _doubled(x: Any) -> Any:
    return x.astype(float) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x


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


def _fits(argument: Any, gradient: Any, name: str) -> None:
    """The gradient has the structure, shapes and dtypes of its argument."""
    own, got = list(leaves(argument)), list(leaves(gradient))
    floats = [x for x in own if _is_float(x)]
    got = [g for a, g in zip(own, got, strict=True) if _is_float(a)] if len(got) == len(own) else got
    if len(floats) != len(got):
        raise AssertionError(f"the gradient in `{name}` has {len(got)} leaves, the argument {len(floats)}")
    for a, g in zip(floats, got, strict=True):
        if np.shape(a) != np.shape(g):
            raise AssertionError(f"the gradient in `{name}` has the shape {np.shape(g)}, the argument {np.shape(a)}")
        if np.asarray(a).dtype != np.asarray(g).dtype:
            raise AssertionError(f"the gradient in `{name}` is {np.asarray(g).dtype}, the argument {np.asarray(a).dtype}")


def _same(before: Any, after: Any, message: str) -> None:
    for a, b in zip(leaves(before), leaves(after), strict=True):
        if isinstance(a, np.ndarray) and not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
            raise AssertionError(message)


# --- nested containers ---


def _is_float(x: Any) -> bool:
    return isinstance(x, (float, np.floating)) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")


def leaves(value: Any) -> Iterator[Any]:
    """What lies inside nested tuples, lists and dicts, in order.

    >>> list(leaves({"a": 1.0, "b": (2.0, [3.0, None])}))
    [1.0, 2.0, 3.0, None]
    """
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def mapped(value: Any, change: Callable[[Any], Any] = lambda x: x.copy() if isinstance(x, np.ndarray) else x) -> Any:
    """The same structure with every leaf changed; by default a deep copy.

    >>> mapped({"a": (1.0, 2.0)}, lambda x: -x)
    {'a': (-1.0, -2.0)}
    """
    if isinstance(value, dict):
        return type(value)((k, mapped(v, change)) for k, v in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(v, change) for v in value))
    if isinstance(value, (tuple, list)):
        return type(value)([mapped(v, change) for v in value])
    return change(value)


def shifted(value: Any, direction: Any, step: float) -> Any:
    """`value + step * direction`, leaf by leaf; leaves that are no floats stay."""
    ahead = leaves(direction)

    def moved(x: Any) -> Any:
        d = next(ahead)
        if not _is_float(x):
            return x
        return x + step * d if isinstance(x, np.ndarray) else float(x + step * d)

    return mapped(value, moved)


def inner(left: Any, right: Any) -> float:
    """The inner product of two values of one structure.

    >>> inner((1.0, [2.0]), (3.0, [4.0]))
    11.0
    """
    pairs = zip(leaves(left), leaves(right), strict=True)
    return float(sum(np.sum(np.multiply(a, b, dtype=float)) for a, b in pairs if _is_float(a) or _is_float(b)))
