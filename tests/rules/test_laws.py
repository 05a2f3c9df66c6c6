"""Laws of the rule table, checked on every example: transposed, of full shapes, float32 kept; closed, exampled."""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import importlib
import inspect
import math
import pkgutil
import statistics
import sys
import textwrap
import types
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, linalg, ndimage, signal, special, stats
from scipy.spatial import distance

import s2sgrad.rules
from s2sgrad import jvp, runtime, vjp
from s2sgrad.api import library
from s2sgrad.errors import Refused
from s2sgrad.ir.signatures import Parameters
from s2sgrad.rules import polynomials, scalar_math
from s2sgrad.rules.binding import parameters_of
from s2sgrad.rules.scipy import grids, laws, signal_filters, spline_texts
from s2sgrad.rules.table import Rule, changes_owner, has_own_operators, is_flat, lookup, rules
from s2sgrad.runtime import closures, keywords
from s2sgrad.transform.inline import formula

from . import test_families
from .dear import case
from .examples import EXAMPLES, Example
from .examples.complex_numbers import COMPLEX
from .variants import variants

pytestmark = pytest.mark.filterwarnings("ignore:Some rows of `p` do not sum:FutureWarning")  # of differences

for _module in pkgutil.iter_modules(s2sgrad.rules.__path__):
    importlib.import_module(f"s2sgrad.rules.{_module.name}")

ROUNDS_DOWN = {np.float32}
WIDENS = {np.float64, np.float_power, np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray}
WIDENS |= {np.ndarray.astype}
WIDENS |= {np.frombuffer, np.roots}  # doubles alone
WIDENS |= {math.fsum, math.dist, scalar_math.hypot_of_all, np.polyval, polynomials.unpolyder, polynomials.unpolyint}
WIDENS |= {statistics.fmean, statistics.pstdev, statistics.stdev}  # they give Python's floats
WIDENS |= {special.gammainc, special.gammaincc, special.betainc, special.betaincc, special.betaincinv, linalg.norm}
WIDENS |= {special.betainccinv, special.hyp2f1, special.pbdv}  # these and those before: parts are of Python floats alone
WIDENS |= {special.bdtr, special.bdtrc, special.bdtri, special.pdtr, special.pdtrc}  # counts
WIDENS |= {special.mathieu_cem, special.mathieu_sem, special.mathieu_modcem1, special.mathieu_modcem2}
WIDENS |= {special.mathieu_modsem1, special.mathieu_modsem2, special.spence}
WIDENS |= {f for f in vars(special).values() if getattr(f, "__name__", "")[:4] in ("pro_", "obl_")}  # SciPy's may not end
WIDENS |= {distance.euclidean, distance.seuclidean}  # give Python's floats
WIDENS |= {special.spherical_kn, stats.chisquare, stats.bartlett}  # SciPy computes in doubles
WIDENS |= {
    stats.pearsonr,
    stats.ttest_1samp,
    stats.ttest_rel,
    stats.ttest_ind,
}  # their second part is a function of Python floats
_LAWS = [law for law in vars(stats).values() if isinstance(law, stats.rv_continuous)]
WIDENS |= {getattr(law, name) for law in _LAWS for name in laws.MOMENTS}
WIDENS |= {linalg.logm, stats.obrientransform}  # SciPy warns of float32, or raises


# --- structures ------------------------------------------------------------------------------------------------------


def leaves(x: Any) -> list[Any]:
    """The arrays and numbers in nested lists, tuples and dicts."""
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in leaves(v)]
    if isinstance(x, (list, tuple)):
        return [leaf for v in x for leaf in leaves(v)]
    return [x]


def mapped(f: Any, x: Any, *others: Any) -> Any:
    if isinstance(x, dict):
        assert all(o.keys() == x.keys() for o in others)
        return {k: mapped(f, x[k], *(o[k] for o in others)) for k in x}
    if isinstance(x, (list, tuple)):
        items = [mapped(f, *row) for row in zip(x, *others, strict=True)]
        if isinstance(x, tuple):
            if not hasattr(x, "_fields"):
                return tuple(items)
            made = tuple.__new__(type(x), items)
            getattr(made, "__dict__", {}).update(getattr(x, "__dict__", {}))  # SciPy's have more than their fields
            return made
        return items
    return f(x, *others)


def is_real(x: Any) -> bool:
    return isinstance(x, (float, np.floating)) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")


def random_like(x: Any, rng: np.random.Generator) -> Any:
    def leaf(a: Any) -> Any:
        if not is_real(a):
            return None
        return np.asarray(rng.normal(size=np.shape(a)), np.asarray(a).dtype)[()]

    return mapped(leaf, x)


def finite(x: Any, y: Any) -> Any:
    """`x` with 0 where `y` is infinite, as an end of a support is: differences of infinities say nothing."""
    return mapped(lambda a, b: np.where(np.isinf(b), 0.0, a)[()] if is_real(b) else a, x, y)


def inner(a: Any, b: Any) -> float:
    """The sum of products over all leaves; `a` may be smaller than `b` where it broadcasts, or indexed as `b` is."""
    if isinstance(b, (list, tuple)):
        return sum(inner(a[k], b[k]) for k in range(len(b)))
    if isinstance(b, dict):
        return sum(inner(a[k], b[k]) for k in b)
    if b is None or a is None:
        return 0.0
    np.broadcast_to(a, np.shape(b))  # raises where the cotangent does not fit
    return float(np.sum(np.multiply(a, b, dtype=float)))


def moved(x: Any, u: Any, h: float) -> Any:
    return mapped(lambda a, d: a if d is None else np.asarray(a + h * d) if isinstance(a, np.ndarray) else a + h * d, x, u)


# --- pullbacks -------------------------------------------------------------------------------------------------------


@functools.cache
def parameters(pullback: Any) -> list[str]:
    """The names of the parameters of a pullback."""
    return list(inspect.signature(pullback).parameters)


def bound(rule: Rule, e: Example) -> dict[str, Any]:
    """The arguments of the call under the rule's names."""
    if rule.variadic:
        return {}
    names = parameters(rule.pullback)[2:]
    return rule.keywords | dict(zip(names, e.args, strict=False)) | e.keywords


def differentiable(rule: Rule, e: Example) -> list[tuple[int, str | None, Any]]:
    """Place among the pullback's results, keyword (None: positional) and value of the arguments with a cotangent."""
    if rule.variadic:
        return [(k, None, a) for k, a in enumerate(e.args)]
    values = bound(rule, e)
    return [(k, name, values[name]) for k, name in enumerate(rule.differentiable)]


def given(rule: Rule, e: Example, place: int, name: str | None) -> bool:
    """Whether the call gives the argument, and does not leave it to its default."""
    return place < len(e.args) or name in e.keywords


def kinds(rule: Rule, e: Example, numbers_known: bool) -> dict[str, Any]:
    """What a compiler that knows all ranks and constants would say."""
    defaulted = set(rule.keywords)

    def kind(name: str, value: Any) -> Any:
        number = isinstance(value, (int, float))
        known = name in defaulted or value is None or isinstance(value, str) or (number and numbers_known)
        return SimpleNamespace(
            **({"items": items_of(value)} if isinstance(value, (list, tuple, dict)) else {}),
            rank=np.ndim(value) if number or isinstance(value, np.ndarray) else None,
            dims=np.shape(value) if number or isinstance(value, np.ndarray) else None,
            known=known,
            value=value if known else None,
            may_be_python=not isinstance(value, (np.ndarray, np.generic)),
        )

    return {name: kind(name, value) for name, value in bound(rule, e).items()}


def items_of(value: Any) -> tuple[Any, ...]:
    """What a compiler says of the items of a container: how many axes they have."""
    items = value.values() if isinstance(value, dict) else value
    return tuple(SimpleNamespace(rank=None if isinstance(v, (list, tuple, dict)) else np.ndim(v)) for v in items)


def pullbacks(rule: Rule, e: Example, complex: bool = False) -> list[Any]:
    """The general pullback, unless it does not treat the example, and every refinement that applies to it."""
    instead = [when for when in rule.exceptions if rule.holds(when, kinds(rule, e, True))]
    first = max([k for k, (when, _) in enumerate(rule.refinements) if when in instead], default=0)
    found = [] if instead else [rule.pullback]
    for numbers_known in (False, True):
        known = kinds(rule, e, numbers_known) | {"complex": complex}
        for when, pullback in rule.refinements[first:]:
            if rule.holds(when, known) and pullback not in found:
                found.append(pullback)
    return [*found, rule.joint] if rule.joint is not None and rule.pullback in found else found


def all_pullbacks(rule: Rule) -> list[Any]:
    own = [rule.pullback, *(p for _, p in rule.refinements), *([rule.joint] if rule.joint is not None else [])]
    return own + [p for keyword in rule.keyword_rules.values() for p in all_pullbacks(keyword)]


def all_terms(rule: Rule) -> list[Any]:
    """The terms of its tangents."""
    keywords = [terms for keyword in rule.keyword_rules.values() for terms in all_terms(keyword)]
    return [terms for _, terms in (*rule.terms, *rule.joint_terms)] + keywords


def called(rule: Rule, pullback: Any, e: Example, g: Any, y: Any) -> tuple[Any, ...]:
    bars = pullback(g, y, *e.args, **e.keywords)
    single = len(rule.differentiable) == 1 and not rule.variadic
    return (bars,) if single else bars


def run(e: Example, args: Any = None, keywords: Any = None) -> Any:
    args, keywords = copy.deepcopy((e.args if args is None else args, e.keywords if keywords is None else keywords))
    return e.primitive(*args, **keywords)


def spelled_out(e: Example, *values: Any) -> str:
    """The arguments of an example, and what the objects among them hold, and further values."""
    return repr((e.args, [getattr(a, "__dict__", None) for a in e.args], e.keywords, *values))


CASES = [case(e, f"{k}-{e}") for k, e in enumerate(EXAMPLES)]


def test_examples_are_called_alike_in_each_process():
    """Processes that share a run must collect the same tests: no name holds the address of an object."""
    assert not [str(e) for e in EXAMPLES if "0x" in str(e)]


def given_to(e: Example, name: str) -> bool:
    """Whether an example gives an argument with a default."""
    return name in e.keywords or list(inspect.signature(lookup(e.primitive).pullback).parameters)[2:].index(name) < len(
        e.args
    )


GIVEN = [[name for name in lookup(e.primitive).keyword_rules if given_to(e, name)] for e in EXAMPLES]
FIRST = {(e.primitive, *names): k for k, (e, names) in reversed([*enumerate(zip(EXAMPLES, GIVEN, strict=True))])}


@pytest.mark.parametrize(
    "e",
    [
        pytest.param(e, id=c.id) if FIRST[e.primitive, *names] == k else c
        for k, (c, e, names) in enumerate(zip(CASES, EXAMPLES, GIVEN, strict=True))
    ],
)
def test_pullbacks(e):
    is_transposed(e)
    for name in lookup(e.primitive).keyword_rules:
        if given_to(e, name):
            keyword_is_transposed(e, name)
    gives_full_shapes(e)
    if (np.float32(1.0) * 2.0).dtype == np.float32:  # NumPy 1 widens numbers of float32
        stays_float32(e)


def is_transposed(e: Example) -> None:
    """<v, J u> by central differences is <J^T v, u>, argument by argument, for the rule and its refinements."""
    rule = lookup(e.primitive)
    rng = np.random.default_rng(5)
    y = run(e)
    v = random_like(y, rng)
    h = 1e-2 if e.primitive in ROUNDS_DOWN else 1e-6
    for pullback in pullbacks(rule, e):
        before = spelled_out(e, v, y)
        bars = called(rule, pullback, e, v, y)
        assert before == spelled_out(e, v, y), "a rule wrote its arguments"
        for place, name, value in differentiable(rule, e):
            bar = bars[place]
            if bar is None or not given(rule, e, place, name) or not any(map(is_real, leaves(value))):
                continue
            if rule.tag == "elementwise":
                bar = runtime.unbroadcast(np.broadcast_to(bar, np.shape(y)), value)
            if isinstance(value, float) and isinstance(bar, np.ndarray) and pullback is rule.choose(kinds(rule, e, True)):
                # it may be added to in place, as a number may
                assert not any(np.shares_memory(bar, x) for x in leaves((v, y, list(e.args))) if isinstance(x, np.ndarray))
            if not (any(map(np.iscomplexobj, leaves((y, list(e.args), list(e.keywords.values())))))):
                assert not any(map(np.iscomplexobj, leaves(bar))), "a cotangent of real numbers is complex"
            u = random_like(value, rng)
            slope, expected = slope_along(e, rule, name, place, value, u, v, h), inner(bar, u)
            assert math.isclose(slope, expected, rel_tol=2e-5, abs_tol=2e-6), (pullback, name, slope, expected)


def gives_full_shapes(e: Example) -> None:
    """A base pullback that is not elementwise gives cotangents of its arguments' shapes: the compiler relies on it."""
    rule = lookup(e.primitive)
    if rule.tag == "elementwise" or rule.variadic:
        return
    y = run(e)
    bars = called(rule, rule.pullback, e, random_like(y, np.random.default_rng(1)), y)
    for place, name, value in differentiable(rule, e):
        bar = bars[place] if name is None else None
        if bar is not None:
            assert fits(bar, value)


def fits(bar: Any, value: Any) -> bool:
    """Whether a cotangent has the shapes of its argument, and the entries of a dict."""
    if isinstance(value, dict):
        return bar.keys() == value.keys() and all(fits(bar[k], value[k]) for k in value)
    return not isinstance(value, (np.ndarray, float)) or np.shape(bar) == np.shape(value)


def stays_float32(e: Example) -> None:
    """With arrays of float32 all cotangents of arrays are float32."""
    if e.primitive in WIDENS:
        return

    def narrow(x: Any) -> Any:
        return np.float32(x) if isinstance(x, (np.ndarray, np.float64)) and x.dtype == float else x

    small = Example(e.primitive, mapped(narrow, e.args), {k: mapped(narrow, v) for k, v in e.keywords.items()})
    rule = lookup(e.primitive)
    y = run(small)
    if any(isinstance(leaf, (np.ndarray, np.float64)) and leaf.dtype == float for leaf in leaves(y)):
        return  # NumPy widens
    g = random_like(y, np.random.default_rng(5))
    for pullback in pullbacks(rule, small):
        bars = called(rule, pullback, small, g, y)
        for place, _, value in differentiable(rule, small):
            bar = bars[place]
            if bar is None or isinstance(value, list):
                continue
            for b, x in zip(leaves(bar), leaves(value), strict=True):
                if isinstance(x, np.ndarray) and x.dtype == np.float32 and hasattr(b, "dtype"):
                    assert b.dtype == np.float32, (pullback, b.dtype)


def slope_along(e: Example, rule: Rule, name: str | None, place: int | None, value: Any, u: Any, v: Any, h: float) -> float:
    """<v, J u> by central differences, for one argument."""
    results = []
    for step in (h, -h):
        x = moved(value, u, step)
        position = place if name is None else list(inspect.signature(rule.pullback).parameters)[2:].index(name)
        if name in e.keywords:
            results.append(run(e, keywords=e.keywords | {name: x}))
        else:
            results.append(run(e, args=(*e.args[:position], x, *e.args[position + 1 :])))
    ahead, behind = (finite(y, y) for y in results)
    return (inner(ahead, v) - inner(behind, v)) / (2 * h)


# --- other arguments -------------------------------------------------------------------------------------------------


def of_library(primitive: Any) -> bool:
    return not str(getattr(primitive, "__module__", "")).startswith("s2sgrad")


def takes_no_others(primitive: Any) -> bool:
    """Whether SciPy looks for a quantile number by number, which takes seconds for all variants of an example; or reads
    beyond the end of an array of another shape."""
    if primitive in (ndimage.affine_transform, interpolate.splev, signal.sepfir2d):
        return True
    law = getattr(primitive, "__self__", None)
    return isinstance(law, stats.rv_continuous) and type(law)._ppf is stats.rv_continuous._ppf


def says_nothing(e: Example) -> bool:
    """Whether NumPy spreads the width of one interval over many; or SciPy reads beyond a single sample that it mirrors."""
    if "trapezoid" in str(e):
        return np.ndim(bound(lookup(e.primitive), e).get("x")) == 1
    return e.keywords.get("mode") == "mirror" and np.shape(e.args[0] if e.args else ()) == (1,)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(one_in=80)
@pytest.mark.parametrize(
    "e", [c for c in CASES if of_library(c.values[0].primitive) and not takes_no_others(c.values[0].primitive)]
)
def test_laws_with_other_arguments(e):
    """Numbers, axes of size 1, other axes, masks: a primitive that takes them has a cotangent and a tangent of them."""
    with np.errstate(all="ignore"):
        for other in variants(e):
            if says_nothing(other):
                continue
            try:
                is_like_differences(other)
            except (runtime.Refusal, Refused, np.linalg.LinAlgError):  # refused when it runs, or singular
                continue
            except Exception as error:
                error.add_note(f"{other} of {[np.shape(a) for a in other.args]}")
                raise


def of_what_is_determined(e: Example, v: Any) -> Any:
    """A cotangent that asks for nothing which is free: not for one basis of a null space of two or more dimensions."""
    if e.primitive in (np.linalg.svd, linalg.svd) and isinstance(v, tuple):
        k = np.shape(v[1])[-1]
        for rest in (np.swapaxes(v[0], -1, -2)[..., k:, :], v[2][..., k:, :]):
            if np.shape(rest)[-2] > 1:
                rest[...] = 0.0
    return v


def is_like_differences(e: Example) -> None:
    """The cotangents have the shapes of their arguments, the tangent that of the result, and the numbers of differences."""
    rule, y, rng = lookup(e.primitive), run(e), np.random.default_rng(5)
    if not rule.variadic and rule.refusal(kinds(rule, e, True)):
        return
    v = of_what_is_determined(e, random_like(y, rng))
    moving = [(place, name, value) for place, name, value in differentiable(rule, e) if given(rule, e, place, name)]
    for pullback in pullbacks(rule, e):
        bars = called(rule, pullback, e, v, y)
        exact = pullback in rule.exact and not rule.variadic and rule.tag != "elementwise"
        for place, name, value in moving:
            bar = bars[place]
            if bar is None or not any(map(is_real, leaves(value))):
                continue
            assert not exact or fits(bar, value), (pullback, name, np.shape(bar))
            if rule.tag == "elementwise":
                bar = np.broadcast_to(bar, np.shape(y))
            if isinstance(value, (float, np.ndarray)):  # what the compiler does where it does not know better
                bar = runtime.unbroadcast(bar, value)
            u = random_like(value, rng)
            slopes = [slope_along(e, rule, name, place, value, u, v, h) for h in (1e-6, 3e-6)]
            if math.isclose(*slopes, rel_tol=1e-4, abs_tol=1e-5):  # else there is a kink, or a pole
                assert math.isclose(slopes[0], inner(bar, u), rel_tol=1e-4, abs_tol=1e-5), (pullback, name)
    if isinstance(y, (float, np.ndarray)) and all(isinstance(value, (float, np.ndarray)) for _, _, value in moving):
        for numbers_known in (False, True):
            tangent_is_like_differences(e, rule, y, moving, kinds(rule, e, numbers_known) if moving else {})


def tangent_is_like_differences(e: Example, rule: Rule, y: Any, moving: list[Any], known: dict[str, Any]) -> None:
    terms, rng = None if rule.variadic else rule.chosen_terms(known), np.random.default_rng(6)
    if terms is None or len(moving) < len(rule.differentiable):
        return
    values = [value for _, _, value in moving]
    keywords = {k: value for k, value in bound(rule, e).items() if k not in rule.differentiable}
    for k, (place, name, value) in enumerate(moving):
        u = random_like(value, rng)
        if u is None:
            continue
        dots = [u if k == j else runtime.zeros(other) for j, other in enumerate(values)]
        found = terms(y, *values, *dots, **keywords)
        dot = found[k] if len(values) > 1 else found
        if dot is not None:
            dot = np.broadcast_to(dot, np.shape(y)) if rule.tag == "elementwise" else dot
            assert np.shape(dot) == np.shape(y), (terms, name)
            v = random_like(y, rng)
            slopes = [slope_along(e, rule, name, place, value, u, v, h) for h in (1e-6, 3e-6)]
            if math.isclose(*slopes, rel_tol=1e-4, abs_tol=1e-5):
                assert math.isclose(slopes[0], inner(dot, v), rel_tol=1e-4, abs_tol=1e-5), (terms, name)


def keyword_is_transposed(e: Example, name: str) -> None:
    """The same law for the arguments with a default that have a rule of their own."""
    rule, y, rng = lookup(e.primitive), run(e), np.random.default_rng(5)
    v, value = finite(random_like(y, rng), y), bound(rule, e)[name]
    if any(map(is_real, leaves(value))):
        u = random_like(value, rng)
        slope = slope_along(e, rule, name, None, value, u, v, 1e-6)
        for pullback in pullbacks(rule.keyword_rules[name], e):
            bar = pullback(v, y, *e.args, **e.keywords)
            if rule.tag == "elementwise":
                bar = runtime.unbroadcast(np.broadcast_to(bar, np.shape(y)), value)
            assert np.shape(bar) in (np.shape(value), ())
            assert math.isclose(slope, inner(bar, u), rel_tol=2e-5, abs_tol=2e-6), (pullback, name, slope)


def test_every_keyword_is_exampled():
    shown = {(lookup(e.primitive), name) for e, names in zip(EXAMPLES, GIVEN, strict=True) for name in names}
    shown |= {
        (lookup(e.primitive), name) for e in COMPLEX for name in lookup(e.primitive).keyword_rules if given_to(e, name)
    }
    assert shown == {(rule, name) for f, rule in rules().items() if f not in UNEXAMPLED for name in rule.keyword_rules}


def mathematics(rule: Rule) -> list[str]:
    """The formulas above a rule: lines of the docstring of its module, or of the one that made it from a text."""
    module = rule.pullback.__module__
    while not (said := getattr(sys.modules.get(module), "__doc__", None)):
        module = module.rpartition(".")[0]
    return [line for line in said.splitlines() if "->" in line]


def test_every_rule_has_its_mathematics():
    assert not {rule.primitive for rule in rules().values() if rule.given is None and not mathematics(rule)}


def of_sparse_arrays(f: Any) -> bool:
    """Whether a function makes sparse arrays, or has a derivative in their stored entries alone."""
    ours = str(getattr(f, "__module__", "")).startswith("s2sgrad.rules.scipy.sparse")
    theirs = str(getattr(f, "__module__", "")).startswith("scipy.sparse.")
    return ours or has_own_operators(f) or (theirs and f not in {e.primitive for e in EXAMPLES})


UNEXAMPLED = {closures.closure, keywords.held}  # of functions, which test_function_programs.py differentiates
UNEXAMPLED |= {special.nctdtridf}  # has an end, which small changes of the examples reach
UNEXAMPLED |= {special.fdtridfd}  # SciPy gives few digits
UNEXAMPLED |= {np.bartlett, np.blackman, np.hamming, np.hanning}  # refused but of constants
UNEXAMPLED |= {ndimage.distance_transform_bf, ndimage.distance_transform_cdt}  # flat in images, which are no floats
UNEXAMPLED |= {signal.correlation_lags}  # the same
UNEXAMPLED |= {special.ncfdtrinc, special.ncfdtridfn, special.ncfdtridfd}  # SciPy gives four digits of them
UNEXAMPLED |= {f for f in rules() if of_sparse_arrays(f)}  # they are in test_scipy_sparse.py
UNEXAMPLED |= {
    interpolate.splder,
    interpolate.splantider,
    interpolate.splint,
    spline_texts.end,
    spline_texts.value,
    spline_texts.of_ends,
    spline_texts.along_ends,
    spline_texts.derived,
}  # in knots too, which are constants: test_scipy.py
UNEXAMPLED |= {grids.located, grids.located_bar, grids.located_along}  # of tuples and lists: test_scipy.py
UNEXAMPLED |= {interpolate.insert}  # leaves behind its coefficients what was in memory: test_scipy.py
UNEXAMPLED |= {signal.freqz_sos, signal.sosfreqz, signal.sosfilt, signal.sosfiltfilt, signal_filters.unsosfiltfilt}
# these take no sections with another a[0] than 1: test_scipy.py
UNEXAMPLED |= {stats.linregress}  # makes a tuple with more attributes than items, which test_scipy.py reads
UNEXAMPLED |= {f for f in rules() if changes_owner(f)}  # draws, which are in test_draws.py
UNEXAMPLED |= {f for f in rules() if getattr(getattr(f, "__self__", None), "name", "") in test_families.SHAPES}
UNEXAMPLED |= {f for law in _LAWS for f in (law.interval, law.stats)} - {e.primitive for e in EXAMPLES}  # those of a few are


def test_exampled():
    examples = [*EXAMPLES, *COMPLEX]
    shown = {lookup(e.primitive) for e in examples}
    left = {f: rule for f, rule in rules().items() if f not in UNEXAMPLED}
    assert not {f for f in left if f not in {e.primitive for e in examples}} and shown == set(left.values())


def test_every_refinement_is_exampled():
    seen = {p for e in [*EXAMPLES, *COMPLEX] for rule in ruling(e) for p in pullbacks(rule, e)}
    seen |= {p for e in [*EXAMPLES, *COMPLEX] for rule in ruling(e) if rule.complex for p in pullbacks(rule, e, True)}
    for primitive, rule in rules().items():
        if primitive in UNEXAMPLED:
            continue
        taken = parameters_of(primitive) or ("kwargs",)  # `upper` of np.linalg.cholesky came with NumPy 2
        lost = {*rule.keywords} - {*taken} if "kwargs" not in taken else set()
        beyond = {p for when, p in rule.refinements if lost & {*inspect.signature(when).parameters}}
        for pullback in all_pullbacks(rule):
            assert pullback in seen or pullback in beyond, (primitive, inspect.getsource(pullback))


def ruling(e: Example) -> list[Rule]:
    """The rules of an example: of the primitive, and of its keywords that carry derivatives."""
    return [lookup(e.primitive), *lookup(e.primitive).keyword_rules.values()]


# --- closed ----------------------------------------------------------------------------------------------------------

COMPILED_BUILTINS = {len, range, isinstance, min, abs, tuple, bool, vjp, jvp}
ATTRIBUTES = {"T", "dtype"}
MODULES = ("np", "math", "runtime", "shadows", "item_slots",
           "special", "linalg", "distance", "spatial", "signal", "transforms", "stats", "integrate", "interpolate",
           "ndimage", "sparse", "optimize")  # fmt: skip
OPERATORS = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power,
    ast.MatMult: np.matmul, ast.USub: np.negative,
}  # fmt: skip


def resolved(node: ast.expr, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return names[node.id] if node.id in names else getattr(builtins, node.id)
    return getattr(resolved(node.value, names), node.attr)


def is_ours(f: Any) -> bool:
    """A plain function beside the rules, which the compiler differentiates from its source."""
    return inspect.isfunction(f) and f.__module__.startswith("s2sgrad.rules.") and not lookup(f) and not is_flat(f)


@functools.cache
def text_of(function: Any) -> ast.Module:
    """The statements of a function."""
    return ast.Module(ast.parse(textwrap.dedent(inspect.getsource(function))).body[0].body, [])


def written(function: Any, seen: set[Any]) -> None:
    """What a function calls has a rule, or is flat, or is a builtin that the compiler knows, or is such a function."""
    seen.add(function)
    own = inspect.signature(function).parameters
    for node in ast.walk(text_of(function)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in own:
            continue  # the object that a rule of `__call__` is about, called again
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            continue  # the pullback that `vjp` gives
        if isinstance(node, ast.Call):
            f = resolved(node.func, function.__globals__)
            if is_ours(f) and f not in seen:
                written(f, seen)
            assert lookup(f) or is_flat(f) or f in COMPILED_BUILTINS or f in seen, (function, ast.unparse(node))
        elif isinstance(node, (ast.BinOp, ast.UnaryOp)) and type(node.op) in OPERATORS:
            assert lookup(OPERATORS[type(node.op)])
        elif isinstance(node, ast.Attribute):
            root = node
            while isinstance(root, ast.Attribute):
                root = root.value
            module = isinstance(root, ast.Name) and root.id in MODULES
            assert module or node.attr in ATTRIBUTES, (function, ast.unparse(node))


def test_closed():
    for rule in rules().values():
        for function in (*all_pullbacks(rule), *all_terms(rule)):
            written(function, set())


def test_plain():
    """Rules stay inside the language that the compiler reads: no comprehension, lambda, try, in-place store."""
    forbidden = (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.Lambda, ast.Try, ast.With, ast.AugAssign, ast.Starred)
    functions: set[Any] = set()
    for rule in rules().values():
        for function in (*all_pullbacks(rule), *all_terms(rule)):
            written(function, functions)
    for f in functions:
        for node in ast.walk(text_of(f)):
            assert not isinstance(node, forbidden), inspect.getsource(f)
            if isinstance(node, ast.Assign):
                assert all(isinstance(t, (ast.Name, ast.Tuple)) for t in node.targets)


def test_elementwise_rules_are_formulas():
    """The compiler sums over broadcast axes what it writes out, and not what it calls."""
    assert not [f for f, rule in rules().items() if rule.tag == "elementwise" and formula(rule.pullback) is None]


def test_no_primitive_is_flat_and_ruled():
    assert not [f for f in rules() if is_flat(f)]


def hands_on(primitive) -> bool:
    """Whether a function's own text takes any arguments, and hands them on."""
    own = Parameters.of(primitive.__code__) if isinstance(primitive, types.FunctionType) else None
    return own is not None and own.names == (own.variadic, own.keyworded)


def test_a_function_alone_is_called_as_the_examples_call_it():
    """`grad(np.pad)` differentiates a function with source that passes its arguments on: none of them under another name,
    and no default that the function would take for a value."""
    known = 0
    handing_on = [c for k, c in enumerate(CASES) if k % 5 and hands_on(c.values[0].primitive)]
    for e in [c.values[0] for c in [*CASES[::5], *handing_on[::3]] if of_library(c.values[0].primitive)]:
        alone = library.spelled_out(e.primitive)
        try:
            inspect.signature(alone).bind(*e.args, **e.keywords)
        except TypeError:
            continue
        known += 1
        for a, b in zip(leaves(alone(*copy.deepcopy(e.args), **e.keywords)), leaves(run(e)), strict=True):
            assert np.array_equal(a, b, equal_nan=is_real(b)), e
    assert known > 200
