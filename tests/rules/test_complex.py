"""Laws of the rule table for complex numbers: what is listed is right for them, and everything else is refused.

`dL = Re(z_bar * dz)`, by differences in a direction of both parts, on every example whose floats are made complex.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import linecache
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from scipy import interpolate

import s2sgrad.rules
from s2sgrad import NoRule, grad, jvp, runtime
from s2sgrad.api.whole import strict
from s2sgrad.errors import Refused
from s2sgrad.rules import casts, spectra
from s2sgrad.rules.scipy import grids, interpolators
from s2sgrad.rules.scipy.univariate import Fitted
from s2sgrad.rules.table import lookup, makes_complex, rules

from .examples import EXAMPLES, Example
from .examples.complex_numbers import COMPLEX
from .test_laws import called, kinds, leaves, mapped, of_library

assert s2sgrad.rules.complex_numbers
STEP = 1e-6
REFUSED = {np.poly1d.__call__, np.ndarray.view}  # in forward mode; as a type that is an argument
TURNING = {
    np.linalg.eig,
    np.linalg.eigh,
    scipy.linalg.eig,
    scipy.linalg.eigh,
    np.linalg.svd,
    scipy.linalg.svd,
    scipy.linalg.schur,
}  # with free phases: tests/complex_functions.py has what does not depend on them
BY_TYPE = {np.ndarray.view, casts.viewed}
REAL = {
    spectra.spectral: {0},
    **{interpolators.at: {2}, interpolators.spread: {3}, interpolators.gathered: {3}, interpolators.integral: {2, 3}},
    **{interpolators.integral_along: {3, 4}, interpolators.integral_bar: {3, 4}},
    **{grids.on_grid: {0}, grids.taken: {1, 2}, grids.spread: {2, 3}, interpolate.interpn: {0, 2}},
    interpolate.RegularGridInterpolator.__call__: {0, 1},
}  # places that take no complex numbers


def letter(a: Any) -> str:
    return np.asarray(a).dtype.kind if isinstance(a, (np.ndarray, np.generic, float, complex)) else "O"


def holds(x: Any, letters: str) -> bool:
    return any(letter(leaf) in letters for leaf in leaves(x))


def turned(x: Any, rng: np.random.Generator) -> Any:
    """The value with an imaginary part for each float."""

    def leaf(a: Any) -> Any:
        made = a + 1j * rng.uniform(-0.3, 0.3, np.shape(a)) if letter(a) == "f" else a
        return complex(made) if type(a) is float else made

    return mapped(leaf, x)


def directions(x: Any, rng: np.random.Generator) -> Any:
    def leaf(a: Any) -> Any:
        if letter(a) not in "fc":
            return None
        part = rng.normal(size=np.shape(a))
        return (part + 1j * rng.normal(size=np.shape(a)) if letter(a) == "c" else part)[()]

    return mapped(leaf, x)


def product(a: Any, b: Any) -> float:
    """Re(a * b), summed over all leaves."""
    if isinstance(b, (list, tuple, dict)):
        return sum(product(a[k], b[k]) for k in (b if isinstance(b, dict) else range(len(b))))
    if a is None or b is None:
        return 0.0
    np.broadcast_to(a, np.shape(b))
    return float(np.sum(np.real(np.multiply(a, b))))


def along(x: Any, u: Any, step: float) -> Any:
    return mapped(lambda a, d: a if d is None else a + step * d, x, u)


def versions(e: Example) -> list[Example]:
    """The example with complex arguments: all of them, and each alone."""
    rng = np.random.default_rng(3)
    with_floats = [k for k, a in enumerate(e.args) if plain(a) and holds(a, "f") and k not in REAL.get(e.primitive, ())]
    sets = [with_floats, *([k] for k in with_floats)] if len(with_floats) > 1 else [with_floats]
    return [Example(e.primitive, tuple(turned(a, rng) if k in chosen else a for k, a in enumerate(e.args)), e.keywords)
            for chosen in sets if chosen]  # fmt: skip


def without_phases(e: Example, y: Any, v: Any) -> Any:
    """The cotangent without what depends on the phases of eigenvectors or singular vectors, which are free."""

    def settled(u: Any, u_bar: Any, turn: Any) -> Any:
        return u_bar - np.conj(u) * 1j * turn / np.sum(np.abs(u) ** 2, axis=-2, keepdims=True)

    def turn_of(u: Any, u_bar: Any) -> Any:
        return np.imag(np.sum(u * u_bar, axis=-2, keepdims=True))

    if e.primitive in (np.linalg.eigh, scipy.linalg.eigh, np.linalg.eig, scipy.linalg.eig) and isinstance(y, tuple):
        return v[0], settled(y[1], v[1], turn_of(y[1], v[1]))
    if e.primitive in (spectra.frame, spectra.unmixed_frame):
        return settled(y, v, turn_of(y, v))
    if e.primitive in (np.linalg.svd, scipy.linalg.svd, spectra.frames) and isinstance(y, tuple):
        (u, v_h), (u_bar, bar_h), k = (y[0], y[-1]), (v[0], v[-1]), min(np.shape(e.args[0])[-2:])
        u, u_bar, w, w_bar = (
            u[..., :k],
            u_bar[..., :k],
            np.swapaxes(v_h[..., :k, :], -1, -2),
            np.swapaxes(bar_h[..., :k, :], -1, -2),
        )
        turn = 0.5 * (turn_of(u, u_bar) - turn_of(w, w_bar))  # a pair turns against each other, for `w` is conjugated
        first, last = np.zeros_like(v[0]), np.zeros_like(v[-1])
        first[..., :k], last[..., :k, :] = settled(u, u_bar, turn), np.swapaxes(settled(w, w_bar, -turn), -1, -2)
        return (first, *v[1:-1], last)
    return v


def plain(a: Any) -> bool:
    return isinstance(a, (np.ndarray, np.generic, float, list, tuple, dict))


def result(e: Example) -> Any:
    """What the example gives; None where it takes no complex numbers, or gives nothing finite."""
    try:
        y = e.primitive(*copy.deepcopy(e.args), **copy.deepcopy(e.keywords))
    except Exception:
        return None
    return y if all(np.all(np.isfinite(leaf)) for leaf in leaves(y) if letter(leaf) in "fc") else None


def real_parts(e: Example) -> Example:
    """The same call of real numbers alone."""
    args = mapped(lambda a: np.real(a) if letter(a) == "c" else a, e.args)
    return Example(e.primitive, args, e.keywords)


def known(rule: Any, e: Example, numbers: bool) -> dict[str, Any]:
    return kinds(rule, e, numbers) | {"complex": True}


JUMPING = {scipy.linalg.schur}  # the phases of its vectors are not continuous: tests/complex_functions.py has it
CALLS = [e for real in EXAMPLES if lookup(real.primitive).complex and real.primitive not in JUMPING for e in versions(real)]
CALLS = [e for e in CALLS if not any(isinstance(a, Fitted) for a in e.args)]  # FITPACK drops imaginary parts: refused
CALLS += COMPLEX


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("e", CALLS, ids=str)
def test_pullbacks_of_complex_numbers(e):
    rule, rng = lookup(e.primitive), np.random.default_rng(5)
    with np.errstate(all="ignore"):
        y = result(e)
        if y is None or (not rule.variadic and rule.refusal(known(rule, e, True))):
            return
        v = directions(y, rng)
        v = without_phases(e, y, v)
        for numbers in (False, True):
            pullback = rule.pullback if rule.variadic else rule.choose(known(rule, e, numbers))
            bars = called(rule, pullback, e, v, y)
            for place, value in enumerate(e.args):
                if place < len(bars) and bars[place] is not None and plain(value) and holds(value, "fc"):
                    agrees(e, rule, place, bars[place], y, v, rng)


def agrees(e: Example, rule: Any, place: int, bar: Any, y: Any, v: Any, rng: np.random.Generator) -> None:
    value = e.args[place]
    u = directions(value, rng)
    ends = []
    for step in (STEP, -STEP):
        args = [along(a, u, step) if k == place else copy.deepcopy(a) for k, a in enumerate(e.args)]
        ends.append(e.primitive(*args, **copy.deepcopy(e.keywords)))
    slope = (product(ends[0], v) - product(ends[1], v)) / (2 * STEP)
    if rule.tag == "elementwise":
        bar = runtime.unbroadcast(np.broadcast_to(bar, np.shape(y)), value)
    assert product(bar, u) == pytest.approx(slope, rel=1e-4, abs=1e-5), (place, rule.pullback)


def test_what_is_not_listed_is_refused():
    for primitive, rule in rules().items():
        assert rule.complex or rule.given is not None or rule.refusal({"complex": True}), primitive


@pytest.mark.filterwarnings("ignore")
def test_what_makes_complex_numbers_of_real_ones_says_so():
    for e in [*EXAMPLES, *COMPLEX, *map(real_parts, COMPLEX)]:
        if not holds([*e.args, *e.keywords.values()], "c"):
            y = result(e)
            rule = lookup(e.primitive)
            told = makes_complex(rule) or rule.may_turn_complex or e.primitive in BY_TYPE
            assert y is None or not holds(y, "c") or told, e


def applied(e: Example) -> tuple[Any, tuple, list[int]]:
    """A function with the call of the example, its arguments, and those that carry derivatives."""
    rule = lookup(e.primitive)
    given = e.args if rule.variadic else e.args[: len(rule.differentiable)]
    still = [k for k, parameter in enumerate(rule.differentiable) if parameter in rule.constants]
    moving = [k for k, a in enumerate(given) if (plain(a) or isinstance(a, complex)) and holds(a, "fc") and k not in still]
    names = [f"a{k}" for k in range(len(e.args))]
    text = (
        f"def f({', '.join(names)}):\n    return primitive({', '.join([*names, '**keywords'] if e.keywords else names)})\n"
    )
    space = {"primitive": e.primitive, "keywords": e.keywords}
    filename = f"<complex {abs(hash((str(e), id(e))))}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), space)
    return space["f"], e.args, moving


@functools.cache
def shown() -> list[Any]:
    """Examples with complex arguments: a few, of arrays alone, for each primitive of a library, those of complex rules."""
    found: dict[Any, list[Example]] = {}
    for e in [e for real in EXAMPLES if of_library(real.primitive) for e in versions(real)[:1]]:
        if of_library(e.primitive) and inspect.isroutine(e.primitive) | isinstance(e.primitive, np.ufunc) and not e.keywords:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                examples = found.setdefault(e.primitive, [])
                if len(examples) < 3 and (y := result(e)) is not None and holds(y, "fc"):
                    examples.append(e)
    return [pytest.param(e, id=str(e)) for e in [*itertools.chain(*found.values()), *COMPLEX]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(one_in=30)
@pytest.mark.parametrize("e", shown())
def test_tangents_are_like_differences_or_refused(e):
    f, args, moving = applied(e)
    rng = np.random.default_rng(7)
    if not moving or e.primitive in TURNING:
        return
    dots = tuple(directions(a, rng) if k in moving else None for k, a in enumerate(args))
    try:
        with strict():
            _, y_dot = jvp(f, copy.deepcopy(args), dots)
    except (NoRule, s2sgrad.Unsupported, Refused):
        assert not lookup(e.primitive).complex or e.primitive in REFUSED
        return
    ends = [f(*(along(a, u, h) if u is not None else a for a, u in zip(args, dots, strict=True))) for h in (STEP, -STEP)]
    for found, first, second in zip(leaves(y_dot), leaves(ends[0]), leaves(ends[1]), strict=True):
        if letter(first) in "fc":
            np.testing.assert_allclose(found, (np.asarray(first) - second) / (2 * STEP), rtol=1e-4, atol=1e-5)


def weighed(y: Any) -> str:
    """A real number made of a result, as text in `y` and `w`."""
    if isinstance(y, (tuple, list)):
        return " + ".join(f"np.sum(np.real(w[{k}] * y[{k}]))" for k, part in enumerate(y) if letter(part) in "fc")
    return "np.sum(np.real(w * y))"


def a_number_of(e: Example, y: Any) -> Any:
    """A real function of the arguments of an example."""
    names = [f"a{k}" for k in range(len(e.args))]
    given = ", ".join([*names, "**keywords"] if e.keywords else names)
    text = f"def f({', '.join(names)}):\n    y = primitive({given})\n    return {weighed(y)}\n"
    filename = f"<second {abs(hash((str(e), id(e))))}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space = {"primitive": e.primitive, "keywords": e.keywords, "np": np}
    space["w"] = without_phases(e, y, directions(y, np.random.default_rng(11)))
    exec(compile(text, filename, "exec"), space)
    return space["f"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(one_in=50)
@pytest.mark.parametrize("e", shown())
def test_gradients_have_tangents_like_differences(e):
    y, moving = result(e), applied(e)[2]
    flat = isinstance(y, (tuple, list)) and any(isinstance(part, (tuple, list, dict)) for part in y)
    if not lookup(e.primitive).complex or e.primitive in TURNING or not moving or flat or isinstance(y, dict):
        return
    f, rng = a_number_of(e, y), np.random.default_rng(7)
    dots = tuple(directions(a, rng) if k in moving else None for k, a in enumerate(e.args))
    try:
        with strict():
            g = grad(f, moving[0])
            found = jvp(g, copy.deepcopy(e.args), dots)[1]
    except (NoRule, s2sgrad.Unsupported, Refused, TypeError):
        return
    step = 1e-5
    ends = [g(*(along(a, u, h) if u is not None else a for a, u in zip(e.args, dots, strict=True))) for h in (step, -step)]
    for a, first, last in zip(leaves(found), leaves(ends[0]), leaves(ends[1]), strict=True):
        if letter(first) in "fc":
            np.testing.assert_allclose(a, (np.asarray(first) - last) / (2 * step), rtol=1e-3, atol=1e-3)
