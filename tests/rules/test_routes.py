"""Three routes to one gradient, for every example of every rule: compiled, taped, and by central differences.

f(x0, x1) = the sum of the squares of primitive(x0, x1)
grad(f)(x0, x1)   ==   tape.gradient(f(x0, x1), [x0, x1])   ==   (f(x + h u) - f(x - h u)) / 2 h along u
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
from differences import assert_value
from scipy import interpolate

from s2sgrad import GradientTape, constant, runtime, value_and_grad
from s2sgrad.rules.scipy import estimates
from s2sgrad.runtime import shadows
from s2sgrad.tape.array import apply, arrays

from .dear import case
from .examples import EXAMPLES, Example
from .test_laws import ROUNDS_DOWN, inner, is_real, leaves, mapped, moved, random_like, run
from .test_second import LEFT_OUT as NOT_TWICE
from .test_second import calling, shown

pytestmark = pytest.mark.filterwarnings("ignore:Some rows of `p` do not sum:FutureWarning")  # of differences

NOT_TAPED = {
    runtime.add_at: "it writes its argument, in generated code alone: an Array is never written",
    runtime.restored: "it writes its argument, in generated code alone: an Array is never written",
    shadows.shadow_of: "it gives a view of its argument, in generated code alone",
    shadows.refilled: "it writes its argument, in generated code alone: an Array is never written",
    shadows.add_into: "it writes its argument, in generated code alone: an Array is never written",
}
NOT_TAPED |= dict.fromkeys(
    (interpolate.PPoly.__call__, interpolate.BSpline.__call__, interpolate.UnivariateSpline.__call__, np.poly1d.__call__,
     np.polynomial.Polynomial.__call__),
    "calls of objects of a library are not taped",
)  # fmt: skip
NOT_TAPED_TWICE = dict.fromkeys(
    (interpolate.RectBivariateSpline.ev, interpolate.RectBivariateSpline.__call__),
    "their derivatives call the surface, an object of a library, which an outer tape refuses",
)
NOT_COMPILED = {
    runtime.seed_like: "it checks its argument's shape, which a square of the result does not keep",
    shadows.tangent_of: "it may give a view of its argument, in generated code alone",
    runtime.put_back: "it gives a dict another structure, in generated code alone",
}


def real(e: Example) -> bool:
    """Whether something real goes in and comes out; what is infinite is left out of the sum of squares."""
    finite = any(is_real(leaf) and not np.any(np.isinf(leaf)) for leaf in leaves(run(e)))
    return finite and any(is_real(leaf) for leaf in leaves(list(e.args)))


def total(y: Any) -> Any:
    """The sum of the squares of all real leaves, but for infinities."""
    parts = list(arrays(y)) if any(True for _ in arrays(y)) else [leaf for leaf in leaves(y) if is_real(leaf)]
    return sum(np.sum(part * part) for part in parts if not np.any(np.isinf(np.asarray(plain(part)))))


def differentiated(e: Example) -> tuple[Any, list[Any]]:
    """The primitive as a function of the arguments that carry derivatives, and these."""
    f, values = calling(e)
    ready = iter(range(len(values)))
    slots: list[int | None] = []
    for k in range(len(e.args) + len(e.keywords)):
        mine = f"x{k}" in f.__code__.co_varnames[: f.__code__.co_argcount]
        slots.append(next(ready) if mine else None)

    def primitive(*args: Any) -> Any:
        given = [
            copy.deepcopy(value) if slot is None else args[slot]
            for slot, value in zip(slots, [*e.args, *e.keywords.values()], strict=True)
        ]
        return apply(e.primitive, tuple(given[: len(e.args)]), dict(zip(e.keywords, given[len(e.args) :], strict=True)))

    return primitive, values


def followed(t: GradientTape, values: list[Any]) -> list[Any]:
    """The arguments with their real leaves as Arrays that the tape follows."""
    made = [mapped(lambda v: constant(v) if is_real(v) else v, value) for value in copy.deepcopy(values)]
    t.watch(list(arrays(made)))
    return made


def gradients(t: GradientTape, y: Any, made: list[Any]) -> list[Any]:
    return [None if g is None else g for g in t.gradient(y, list(arrays(made)), unconnected_gradients="zero")]


def flat_leaves(value: Any) -> list[Any]:
    return [leaf for leaf in leaves(value) if is_real(leaf)]


CASES = [case(e, f"{k}-{e}") for k, e in enumerate(EXAMPLES) if real(e) and e.primitive not in NOT_TAPED]


@pytest.mark.sampled(one_in=30, turn=1)
@pytest.mark.parametrize("e", CASES)
def test_three_routes(e):
    primitive, values = differentiated(e)
    t = GradientTape()
    with t:
        made = followed(t, values)
        y = total(primitive(*made))
    taped = [np.asarray(g) for g in gradients(t, y, made)]

    rng = np.random.default_rng(3)
    u = [random_like(value, rng) for value in values]
    h = 1e-2 if e.primitive in ROUNDS_DOWN else 1e-6
    ahead, behind = (total(plain(primitive(*[moved(v, d, s) for v, d in zip(values, u, strict=True)]))) for s in (h, -h))
    slope = (ahead - behind) / (2 * h)
    directions = [d for d in leaves(u) if d is not None]
    along = sum(inner(g, d) for g, d in zip(taped, directions, strict=True))
    size = max(abs(float(ahead)), 1.0)
    assert math.isclose(slope, along, rel_tol=2e-5, abs_tol=2e-6 * size), (slope, along)

    if e.primitive not in NOT_COMPILED and all(map(is_number, leaves(run(e)))):  # else its squares are no program
        f, args = calling(e)
        value, compiled = value_and_grad(f, argnums=tuple(range(len(args))))(*copy.deepcopy(args))
        assert_value(value, f(*copy.deepcopy(args)))
        for a, g in zip([leaf for c, v in zip(compiled, args, strict=True) for leaf in chosen(c, v)], taped, strict=True):
            np.testing.assert_allclose(0.0 if a is None else a, g, rtol=1e-8, atol=1e-10 * size)


def is_number(v: Any) -> bool:
    return isinstance(v, (int, float, np.number, np.ndarray))


def plain(y: Any) -> Any:
    return mapped(lambda v: v.numpy() if hasattr(v, "numpy") else v, y)


def chosen(gradient: Any, value: Any) -> list[Any]:
    """The leaves of a gradient where the argument has real ones."""
    return [g for g, v in zip(leaves(gradient), leaves(value), strict=True) if is_real(v)]


def is_taped_twice(e: Example) -> bool:
    """Whether the second derivative is a matter of seconds: that of a restated estimate is compiled for minutes."""
    estimate = getattr(e.primitive, "__name__", "") in vars(estimates)
    return real(e) and not estimate and e.primitive not in {*NOT_TWICE, *NOT_TAPED, *NOT_TAPED_TWICE}


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("e", [c for c in shown() if is_taped_twice(c.values[0])])
def test_taped_twice(e):
    """The derivative of <gradient, u>, by nested tapes, against central differences of the gradient of one tape."""
    primitive, values = differentiated(e)
    rng = np.random.default_rng(4)
    u = [d for d in leaves([random_like(value, rng) for value in values]) if d is not None]
    w = [random_like(value, rng) for value in values]

    def slope(made: list[Any], t: GradientTape) -> Any:
        with t:
            t.watch(list(arrays(made)))
            y = total(primitive(*made))
        return sum(np.sum(g * d) for g, d in zip(gradients(t, y, made), u, strict=True))

    outer = GradientTape()
    with outer:
        made = followed(outer, values)
        s = slope(made, GradientTape())
    second = [np.asarray(g) for g in gradients(outer, s, made)]
    h = 1e-2 if e.primitive in ROUNDS_DOWN else 1e-5
    ends = []
    for step in (h, -h):
        t = GradientTape()
        ends.append(float(slope(followed(t, [moved(v, d, step) for v, d in zip(values, w, strict=True)]), t)))
    differences = (ends[0] - ends[1]) / (2 * h)
    along = sum(inner(g, d) for g, d in zip(second, [d for d in leaves(w) if d is not None], strict=True))
    assert math.isclose(differences, along, rel_tol=2e-4, abs_tol=2e-5 * max(abs(ends[0]), 1.0)), (differences, along)


def test_what_is_left_out_is_in_the_table():
    primitives = {e.primitive for e in EXAMPLES}
    assert set(NOT_COMPILED) | set(NOT_TAPED) | set(NOT_TAPED_TWICE) <= primitives


@pytest.mark.parametrize("f", NOT_TAPED_TWICE)
def test_what_is_not_taped_twice_is_refused(f):
    primitive, values = differentiated(next(e for e in EXAMPLES if e.primitive is f))
    outer, t = GradientTape(), GradientTape()
    with outer:
        made = followed(outer, values)
        with t:
            t.watch(list(arrays(made)))
            y = total(primitive(*made))
        with pytest.raises(TypeError, match="put the code into a `differentiable` function"):
            gradients(t, y, made)
