"""Laws of tangents, for every example of every rule: those of differences, of the pullback, of structure and memory.

y_dot = J u      ->      <v, y_dot> == (<v, f(x + h u)> - <v, f(x - h u)>) / 2 h == <pullback(v), u>
"""

from __future__ import annotations

import copy
import linecache
import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate
from scipy.sparse import linalg

from s2sgrad import grad, jvp, runtime, vjp
from s2sgrad.rules.table import lookup, rules
from s2sgrad.runtime import shadows

from .dear import case
from .examples import EXAMPLES, Example
from .examples.complex_numbers import COMPLEX
from .test_complex import REFUSED
from .test_laws import (
    ROUNDS_DOWN,
    UNEXAMPLED,
    WIDENS,
    finite,
    inner,
    is_real,
    kinds,
    leaves,
    mapped,
    moved,
    pullbacks,
    random_like,
    ruling,
    run,
)
from .test_second import LEFT_OUT as NOT_TWICE
from .test_second import calling

pytestmark = pytest.mark.filterwarnings("ignore:Some rows of `p` do not sum:FutureWarning")  # of differences

NO_TANGENT = {
    runtime.add_at: "it writes its argument, in generated code alone",
    runtime.restored: "it writes its argument, in generated code alone",
    runtime.put_back: "it writes its argument, in generated code alone",
    shadows.refilled: "it writes its argument, in generated code alone",
    shadows.shadow_of: "it gives a view of its argument, in generated code alone",
    shadows.tangent_of: "it gives a view of its argument, in generated code alone",
}


def active(e: Example) -> int:
    """How many arguments carry derivatives to the result."""
    carries = e.primitive not in NO_TANGENT and any(map(is_real, leaves(run(e))))
    return len(calling(e, True)[1]) if carries else 0


ACTIVE = [active(e) for e in EXAMPLES]
CASES = [case(e, f"{k}-{e}") for k, e in enumerate(EXAMPLES) if ACTIVE[k]]
SEVERAL = [pytest.param(e, id=f"{k}-{e}") for k, e in enumerate(EXAMPLES) if ACTIVE[k] > 1]
WITH_NUMBERS = [
    pytest.param(e, id=f"{k}-{e}")
    for k, e in enumerate(EXAMPLES)
    if ACTIVE[k] > 1 and any(isinstance(a, float) for a in (*e.args, *e.keywords.values()))
]


def check(e: Example, f: Any, args: list[Any], u: list[Any]) -> Any:
    """The laws, along the direction `u`, in which None is a zero; the tangent."""
    given, written = copy.deepcopy((args, u)), copy.deepcopy((args, u))
    f(*written[0])  # `cell_at` makes an array of a number in its argument
    y, y_dot = jvp(f, tuple(args), tuple(u))
    assert repr((args, u)) in (repr(given), repr(written)), "an argument was written"
    assert same(y, run(e))

    h = 1e-2 if e.primitive in ROUNDS_DOWN else 1e-6
    ends = [f(*(a if d is None else moved(a, d, s) for a, d in zip(copy.deepcopy(args), u, strict=True))) for s in (h, -h)]
    fits(y_dot, y, ends, h)
    theirs = [leaf for leaf in leaves([y, args, u]) if isinstance(leaf, np.ndarray)]
    for leaf in leaves(y_dot):
        assert not isinstance(leaf, np.ndarray) or not any(np.shares_memory(leaf, x) for x in theirs)
    return y_dot


def same(y: Any, expected: Any) -> bool:
    return all(np.array_equal(a, b, equal_nan=is_real(a)) for a, b in zip(leaves(y), leaves(expected), strict=True))


def fits(y_dot: Any, y: Any, ends: list[Any], h: float, rtol: float = 2e-5) -> None:
    """Raise where a tangent has not the structure, the shapes, the dtypes or the numbers of the value."""
    if isinstance(y, (list, tuple, dict)):
        assert isinstance(y_dot, dict) == isinstance(y, dict) and len(y_dot) == len(y)
        for k in y if isinstance(y, dict) else range(len(y)):
            fits(y_dot[k], y[k], [end[k] for end in ends], h, rtol)
    elif is_real(y):
        assert np.shape(y_dot) == np.shape(y)
        assert not isinstance(y, np.ndarray) or np.asarray(y_dot).dtype == y.dtype
        ahead, behind = (np.asarray(finite(end, y)) for end in ends)
        np.testing.assert_allclose(finite(y_dot, y), (ahead - behind) / (2 * h), rtol=rtol, atol=rtol / 10)


@pytest.mark.sampled(one_in=40)
@pytest.mark.parametrize("e", CASES)
def test_tangent(e):
    f, args = calling(e, True)
    rng = np.random.default_rng(5)
    u = [random_like(a, rng) for a in args]
    y_dot = check(e, f, args, u)
    v = random_like(run(e), rng)
    expected, size = transposed(e, v, f, args, u)
    assert math.isclose(inner(v, y_dot), expected, rel_tol=1e-8, abs_tol=1e-9 * max(size, 1.0))


def transposed(e: Example, v: Any, f: Any, args: list[Any], u: list[Any]) -> tuple[float, float]:
    """`<pullback(v), u>`, and how large its terms are, by the rules of the primitive and of its keywords."""
    rule, y, total, size = lookup(e.primitive), run(e), 0.0, 0.0
    found = pullbacks(rule, e)[0](v, y, *e.args, **e.keywords)
    bars = [found] if len(rule.differentiable) == 1 and not rule.variadic else found
    names = [f"x{k}" for k in range(len(e.args) + len(e.keywords))]
    directions = dict(zip(f.__code__.co_varnames, u, strict=False))
    values = dict(zip(names, (*e.args, *e.keywords.values()), strict=True))
    for k, name in enumerate(names):
        if name not in directions:
            continue
        keyword = list(e.keywords)[k - len(e.args)] if k >= len(e.args) else None
        if keyword is None and (rule.variadic or k < len(rule.differentiable)):
            bar = bars[k]
        else:
            keyword = keyword or rule.positional[k]
            place = rule.differentiable.index(keyword) if keyword in rule.differentiable else None
            own = rule.keyword_rules.get(keyword)
            bar = bars[place] if place is not None else pullbacks(own, e)[0](v, y, *e.args, **e.keywords)
        if bar is None:
            continue
        if rule.tag == "elementwise":
            bar = runtime.unbroadcast(np.broadcast_to(bar, np.shape(y)), values[name])
        total += inner(bar, directions[name])
        size += abs(inner(mapped(lambda b: b, bar), directions[name]))
    return total, size


@pytest.mark.sampled(one_in=72, turn=1)
@pytest.mark.parametrize("e", SEVERAL)
def test_tangent_along_each_argument_alone(e):
    f, args = calling(e, True)
    rng = np.random.default_rng(6)
    for k in range(len(args)):
        check(e, f, args, [random_like(a, rng) if k == j else None for j, a in enumerate(args)])


@pytest.mark.sampled(one_in=18)
@pytest.mark.parametrize("e", WITH_NUMBERS)
def test_tangent_beside_numbers_of_the_text(e):
    f, args = calling(e, True, numbers=True)
    rng = np.random.default_rng(7)
    if args:
        check(e, f, args, [random_like(a, rng) for a in args])


def has_lists(e: Example) -> bool:
    return any(isinstance(a, list) for a in (*e.args, *e.keywords.values()))


@pytest.mark.skipif((np.float32(1.0) * 2.0).dtype != np.float32, reason="NumPy 1 widens numbers of float32")
@pytest.mark.sampled(one_in=72, turn=2)
@pytest.mark.parametrize("e", [c for c in CASES if c.values[0].primitive not in WIDENS and not has_lists(c.values[0])])
def test_tangent_of_float32(e):
    """With arrays of float32 the tangents of arrays of float32 are of float32."""

    def narrow(x: Any) -> Any:
        return np.float32(x) if isinstance(x, (np.ndarray, np.float64)) and x.dtype == float else x

    small = Example(e.primitive, mapped(narrow, e.args), {k: mapped(narrow, v) for k, v in e.keywords.items()})
    f, args = calling(small, True, numbers=True)
    u = [random_like(a, np.random.default_rng(5)) for a in args]
    y, y_dot = jvp(f, tuple(args), tuple(u))
    for value, tangent in zip(leaves(y), leaves(y_dot), strict=True):
        if isinstance(value, np.ndarray) and value.dtype == np.float32:
            assert tangent.dtype == value.dtype and tangent.shape == value.shape


ITERATIVE = {linalg.bicgstab, linalg.gmres, linalg.cg, linalg.bicg, linalg.cgs, linalg.minres, linalg.lgmres,
             linalg.gcrotmk, linalg.tfqmr, linalg.qmr}  # along a direction kept outside: docs/limits.md  # fmt: skip


def with_terms() -> list[Any]:
    """The first examples that bring terms of a tangent that were not seen before."""
    cases, seen = [], set()
    for c in CASES:
        (e,) = c.values
        found = set() if lookup(e.primitive).variadic else terms_of(e) - seen
        if found and e.primitive not in {*NOT_TWICE, *ITERATIVE}:
            seen |= found
            cases.append(c)
    return cases


def terms_of(e: Example) -> set[Any]:
    """The terms that the tangent of an example is made of."""
    known = kinds(lookup(e.primitive), e, True)
    return {r.chosen_terms(known, jointly) for r in ruling(e) for jointly in (False, True)} - {None}


@pytest.mark.sampled(one_in=80)
@pytest.mark.parametrize("e", with_terms())
def test_tangent_of_a_tangent(e):
    """The tangent of a tangent, against differences of the tangent, and the gradient of the tangent against it."""
    f, args = calling(e, True)
    rng = np.random.default_rng(8)
    u, w = ([random_like(a, rng) for a in args] for _ in range(2))
    given = f.__code__.co_varnames[: len(args)]
    along = defined(f"def along({', '.join(given)}):\n    return jvp(f, ({', '.join(given)},), u)[1]\n", f=f, u=tuple(u))
    y_dot, second = jvp(along, tuple(args), tuple(w))
    ends = [along(*(moved(a, d, h) for a, d in zip(copy.deepcopy(args), w, strict=True))) for h in (1e-5, -1e-5)]
    fits(second, y_dot, ends, 1e-5, 1e-4)
    if is_real(run(e)):
        v = random_like(run(e), rng)
        text = f"def weighed({', '.join(given)}):\n    return np.sum(v * along({', '.join(given)}))\n"
        gradient = grad(defined(text, v=v, along=along), tuple(range(len(args))))(*args)
        total = sum(inner(bar, d) for bar, d in zip(gradient, w, strict=True) if bar is not None)
        assert math.isclose(total, inner(v, second), rel_tol=1e-7, abs_tol=1e-8)


def defined(text: str, **names: Any) -> Any:
    """The function that a text defines, with source."""
    name = text[len("def ") : text.index("(")]
    filename = f"<{name} {len(linecache.cache)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space = {"np": np, "jvp": jvp, **names}
    exec(compile(text, filename, "exec"), space)
    return space[name]


X, U = np.array([0.3, -0.7, 1.1]), np.array([1.0, 0.5, -2.0])
CONSTANTS = [
    lambda x: integrate.cumulative_trapezoid(x, initial=0),
    lambda x: sum(list(x), 5.0),
    lambda x: math.prod([x[0], x[1]], start=2.0),
    lambda x: np.select([x > 0.5, x < -1.0], [x * x, 2.0], default=3.0),
    lambda x: np.append(x, [5.0, 6.0]),
    lambda x: np.insert(x, 1, 7.0),
    lambda x: np.pad(x, 1, constant_values=5.0),
    lambda x: np.linspace(x, 2.0, 4),
    lambda x: np.stack([x, np.arange(3), np.ones(3)]),
    lambda x: np.where(x > 0.5, x, 4.0),
    lambda x: np.interp(x, [0.0, 1.0], [1.0, 3.0], left=-3.0, right=x[0]),
    lambda x: np.trapezoid(X, x, dx=x[0]) if hasattr(np, "trapezoid") else x[0],
    lambda x: integrate.cumulative_trapezoid(X, x, dx=x[0]),
    lambda x: np.full((2, 3), x) + np.full_like(np.ones((2, 3)), x[1]),
    lambda x: np.sort([x[2], x[0]]) * np.max([x[1], x[0]]),
    lambda x: np.clip(x, 0.0, None) + np.clip(x, [[0.0]], x[2]),
]


@pytest.mark.parametrize("f", CONSTANTS)
def test_constants_have_no_share_in_a_tangent(f):
    y, y_dot = jvp(f, (X,), (U,))
    fits(y_dot, y, [f(X + h * U) for h in (1e-6, -1e-6)], 1e-6)
    v = np.cos(np.arange(np.size(y))).reshape(np.shape(y))
    assert math.isclose(np.sum(v * y_dot), np.sum(vjp(f, X)[1](v)[0] * U), rel_tol=1e-9)


def test_lists_are_joined_and_repeated():
    def joined(x):
        xs = []
        for k in range(2):
            xs.append(x * k)
        return xs + xs + [x] + [x]

    y, y_dot = jvp(joined, (X,), (U,))
    assert [a.tolist() for a in y_dot] == [(U * k).tolist() for k in (0, 1, 0, 1, 1, 1)]
    assert not any(np.shares_memory(leaf, U) for leaf in y_dot) and len(y) == 6
    np.testing.assert_allclose(jvp(lambda x: sum([x, x * x] * 2), (X,), (U,))[1], 2.0 * U + 4.0 * X * U)


def test_whole_numbers_have_no_tangent():
    for f in (
        lambda x: x.astype(int) * x,
        lambda x: np.array(x, dtype=int) * x,
        lambda x: np.asarray(x, np.int64) * x,
        lambda x: np.full(3, x[0], dtype=int) * x,
        lambda x: np.full_like(np.arange(3), x[0]) * x,
        lambda x: np.round(x) * x,
    ):
        np.testing.assert_allclose(jvp(f, (10.0 * X,), (U,))[1], f(10.0 * X) / (10.0 * X) * U)


def test_a_tangent_may_be_infinite():
    y_dot = jvp(lambda x: np.asarray_chkfinite(x) * 2.0, (X,), (np.array([np.inf, 1.0, 2.0]),))[1]
    assert y_dot.tolist() == [np.inf, 2.0, 4.0]


KINKS = [
    lambda x: np.max(x),
    lambda x: np.max(np.stack([x, x]), axis=0),
    lambda x: np.maximum(x, 1.0),
    lambda x: np.minimum(x, x[::-1]),
    lambda x: max(x[0], x[1]),
    lambda x: np.maximum.accumulate(x),
    lambda x: np.ptp(x),
    lambda x: np.median(x),
    lambda x: np.sort(x),
    lambda x: np.abs(x - 1.0),
    lambda x: np.clip(x, 1.0, 2.0),
    lambda x: np.linalg.norm(x - 1.0),
    lambda x: np.std(x),
    lambda x: np.prod(x - 1.0),
    lambda x: np.cumprod(x - 1.0),
]


@pytest.mark.parametrize("f", KINKS)
def test_ties_and_kinks_are_as_in_reverse_mode(f):
    x, u = np.ones(3), np.array([0.0, 1.0, -2.0])
    y, y_dot = jvp(f, (x,), (u,))
    v = np.cos(np.arange(np.size(y))).reshape(np.shape(y))
    assert math.isclose(np.sum(v * y_dot), np.sum(vjp(f, x)[1](v)[0] * u), rel_tol=1e-9, abs_tol=1e-12)


def test_every_rule_has_a_tangent_that_is_tested():
    complex_ones = [e for e in COMPLEX if lookup(e.primitive).complex and e.primitive not in REFUSED]  # in test_complex.py
    told = {rule for e in [*(c.values[0] for c in CASES), *complex_ones] for rule in ruling(e)}
    every = {rule for f, rule in rules().items() if f not in (*NO_TANGENT, *UNEXAMPLED)}
    every = {rule for rule in every if rule.variadic or {*rule.differentiable} - {*rule.constants} or rule.keyword_rules}
    assert not {rule.primitive for rule in every - told}
