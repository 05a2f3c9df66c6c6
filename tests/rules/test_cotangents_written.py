"""Every rule where what its pullback gives is written afterwards: its parts share no memory that counts, with each other or
with what it was given.

def f(x0, x1):
    a0, a1 = x0 * 1.0, x1 * 1.0
    r0, r1 = a0[0, 0], a1[0]             # the sweep adds to these items of `a0_bar` and `a1_bar` last
    y = primitive(a0, a1)
    return y, r0, r1                     # so the cotangent of `y` is the caller's own
"""

from __future__ import annotations

import copy
import inspect
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sgrad import S2SGradError, vjp
from s2sgrad.api.whole import strict
from s2sgrad.ir.signatures import by_position
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.rules.table import lookup
from s2sgrad.runtime.checks import Refusal

from .examples import Example
from .test_laws import is_real, leaves, run
from .test_routes import NOT_COMPILED, NOT_TAPED, ROUNDS_DOWN
from .test_second import shown

pytestmark = pytest.mark.filterwarnings("ignore:Some rows of `p` do not sum:FutureWarning")  # of differences
LEFT_OUT = {*NOT_TAPED, *NOT_COMPILED, *ROUNDS_DOWN}


def is_written(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype == float and value.ndim > 0 and value.size > 0


def program(
    e: Example, by_place: bool = False, overwritten: bool = False
) -> tuple[Callable[..., Any], list[np.ndarray]] | None:
    """The function above of the arrays in the arguments, and these; None where there are none.

    `by_place`: keywords are given by position where they may be, and those with a rule carry a derivative, too.
    `overwritten`: what the call was given is overwritten behind it.
    """
    rule, space, arrays, given = lookup(e.primitive), {"primitive": e.primitive}, [], []
    names = list(inspect.signature(rule.pullback).parameters)[2:]

    def named(value: Any) -> str:
        if is_written(value):
            arrays.append(value)
            return f"a{len(arrays) - 1}"
        if type(value) in (list, tuple) and value and all(map(is_written, value)):
            items = "".join(f"{named(item)}, " for item in value)
            return f"[{items}]" if type(value) is list else f"({items})"
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        space[f"c{len(space)}"] = value
        return f"c{len(space) - 1}"

    places = dict(enumerate(by_position(e.primitive)))
    plain = by_place and all(places.get(len(e.args) + k) == keyword for k, keyword in enumerate(e.keywords))
    for k, value in enumerate([*e.args, *e.keywords.values()]):
        name = list(e.keywords)[k - len(e.args)] if k >= len(e.args) else "" if rule.variadic else names[k]
        with_rule = {*rule.differentiable, *(rule.keyword_rules if by_place else ())} - rule.constants.keys()
        carries = rule.variadic or name in with_rule
        space[f"c{k}_"] = value
        given.append((f"{name}=" if k >= len(e.args) and not plain else "") + (named(value) if carries else f"c{k}_"))
    if not arrays:
        return None
    lines = [f"def f({', '.join(f'x{k}' for k in range(len(arrays)))}):"]
    lines += [f"    a{k} = x{k} * 1.0" for k in range(len(arrays))]
    lines += [f"    r{k} = a{k}[{', '.join('0' * x.ndim)}]" for k, x in enumerate(arrays)]
    lines += [f"    y = primitive({', '.join(given)})"]
    lines += [f"    a{k}[...] = 7.0" for k in range(len(arrays)) if overwritten]
    lines += [f"    return y, {', '.join(f'r{k}' for k in range(len(arrays)))}"]
    filename = f"<items read before {e}, {by_place}, {overwritten}>"
    linecache.cache[filename] = (0, None, [f"{line}\n" for line in lines], filename)
    exec(compile("\n".join(lines), filename, "exec"), space)
    return space["f"], arrays


def result(f: Callable[..., Any], args: list[np.ndarray]) -> Any:
    return f(*copy.deepcopy(args))[0]


def pulled_text(f: Any, args: list[np.ndarray], seed: Any) -> list[Any]:
    with strict():
        return list(vjp(f, *copy.deepcopy(args))[1](seed))


def pulled_record(f: Any, args: list[np.ndarray], seed: Any) -> list[Any]:
    recorded = Recorded(f, tuple(copy.deepcopy(args)), {}, tuple(range(len(args))))
    bars = recorded.pullback(seed)
    along = [np.cos(np.arange(1.0, 1.0 + x.size)).reshape(x.shape) for x in args]
    tangents, seeds = leaves(recorded.tangent(along)), leaves(seed)
    slope = sum(np.sum(t * s) for t, s in zip(tangents, seeds, strict=True) if s is not None)
    np.testing.assert_allclose(slope, sum(np.sum(b * a) for b, a in zip(bars, along, strict=True)), rtol=1e-7, atol=1e-7)
    return bars


def seeded(y: Any, rng: np.random.Generator) -> Any:
    """A cotangent of a result."""
    if isinstance(y, dict):
        return {k: seeded(item, rng) for k, item in y.items()}
    if isinstance(y, (list, tuple)):
        return tuple(seeded(item, rng) for item in y) if isinstance(y, tuple) else [seeded(item, rng) for item in y]
    if is_real(y):
        return np.asarray(rng.normal(size=np.shape(y)))[()]
    return np.zeros(np.shape(y))[()] if isinstance(y, (int, np.ndarray, np.generic)) else None


CASES = [c for c in shown() if c.values[0].primitive not in LEFT_OUT and program(c.values[0])]


@pytest.mark.records
@pytest.mark.sampled(one_in=36)
@pytest.mark.parametrize("pulled", [pulled_text, pulled_record])
@pytest.mark.parametrize("e", CASES)
def test_cotangents_may_be_written(e, pulled):
    f, args = program(e)
    seed = seeded(run(e), np.random.default_rng(0))
    try:
        with np.errstate(all="ignore"):
            before = copy.deepcopy(seed)
            alone = pulled(f, args, (seed, *[0.0] * len(args)))
            found = pulled(f, args, (seed, *np.arange(1.0, 1.0 + len(args))))
    except (S2SGradError, Refusal):
        pytest.skip("refused")
    for k, (a, b) in enumerate(zip(found, alone, strict=True)):
        b = np.array(b)
        b[(0,) * b.ndim] += 1.0 + k
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    for a, b in zip(leaves(seed), leaves(before), strict=True):
        np.testing.assert_array_equal(a, b)


def shares_memory(e: Example) -> bool:
    """Whether what a call gives is a view of what it was given, which is overwritten with it."""
    f, args = program(e, True, True)
    return not same(result(f, args), run(e))


def same(a: Any, b: Any) -> bool:
    pairs = zip(leaves(a), leaves(b), strict=True)
    return all(np.array_equal(x, y, equal_nan=np.asarray(x).dtype.kind in "fc") for x, y in pairs)


@pytest.mark.records
@pytest.mark.sampled(one_in=36)
@pytest.mark.parametrize("pulled", [pulled_text, pulled_record])
@pytest.mark.parametrize("e", CASES)
def test_operands_may_be_overwritten(e, pulled):
    if shares_memory(e):
        pytest.skip("a view")
    (f, args), (g, _) = program(e, True, True), program(e, True)
    seed = seeded(run(e), np.random.default_rng(0))
    zeros = [0.0] * len(args)
    try:
        with np.errstate(all="ignore"):
            expected = pulled(g, args, (seed, *zeros))
            found = pulled(f, args, (seed, *zeros))
    except (S2SGradError, Refusal):
        pytest.skip("refused")
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
