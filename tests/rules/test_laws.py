"""Laws of the rule table, checked on every example: transposed, float32 kept, closed, exampled; and kinks and ties."""

from __future__ import annotations

import ast
import builtins
import copy
import importlib
import inspect
import math
import pkgutil
import textwrap
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import s2sgrad.rules
from s2sgrad import runtime
from s2sgrad.rules.table import Rule, is_flat, lookup, rules

from .examples import EXAMPLES, Example

for _module in pkgutil.iter_modules(s2sgrad.rules.__path__):
    importlib.import_module(f"s2sgrad.rules.{_module.name}")

ROUNDS_DOWN = {np.float32}
WIDENS = {np.float64, np.float_power, np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray}
WIDENS |= {np.ndarray.astype, np.power, runtime.power_slope}  # the last two: runtime.power_slope


# --- structures ------------------------------------------------------------------------------------------------------


def leaves(x: Any) -> list[Any]:
    """The arrays and numbers in nested lists, tuples and dicts."""
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in leaves(v)]
    if isinstance(x, (list, tuple)):
        return [leaf for v in x for leaf in leaves(v)]
    return [x]


def mapped(f: Any, x: Any, *others: Any) -> Any:
    if isinstance(x, (list, tuple)):
        items = [mapped(f, *row) for row in zip(x, *others, strict=True)]
        if isinstance(x, tuple):
            return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
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


def inner(a: Any, b: Any) -> float:
    """The sum of products over all leaves; `a` may be smaller than `b` where it broadcasts, or indexed as `b` is."""
    if isinstance(b, (list, tuple)):
        return sum(inner(a[k], b[k]) for k in range(len(b)))
    if b is None or a is None:
        return 0.0
    np.broadcast_to(a, np.shape(b))  # raises where the cotangent does not fit
    return float(np.sum(np.multiply(a, b, dtype=float)))


def moved(x: Any, u: Any, h: float) -> Any:
    return mapped(lambda a, d: a if d is None else a + h * d, x, u)


# --- pullbacks -------------------------------------------------------------------------------------------------------


def bound(rule: Rule, e: Example) -> dict[str, Any]:
    """The arguments of the call under the rule's names."""
    if rule.variadic:
        return {}
    names = list(inspect.signature(rule.pullback).parameters)[2:]
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
            rank=np.ndim(value) if number or isinstance(value, np.ndarray) else None,
            known=known,
            value=value if known else None,
        )

    return {name: kind(name, value) for name, value in bound(rule, e).items()}


def pullbacks(rule: Rule, e: Example) -> list[Any]:
    """The general pullback and every refinement that applies to the example."""
    found = [rule.pullback]
    for numbers_known in (False, True):
        known = kinds(rule, e, numbers_known)
        for when, pullback in rule.refinements:
            names = inspect.signature(when).parameters
            if all(n in known for n in names) and when(**{n: known[n] for n in names}) and pullback not in found:
                found.append(pullback)
    return found


def called(rule: Rule, pullback: Any, e: Example, g: Any, y: Any) -> tuple[Any, ...]:
    bars = pullback(g, y, *e.args, **e.keywords)
    single = len(rule.differentiable) == 1 and not rule.variadic
    return (bars,) if single else bars


def run(e: Example, args: Any = None, keywords: Any = None) -> Any:
    args, keywords = copy.deepcopy((e.args if args is None else args, e.keywords if keywords is None else keywords))
    return e.primitive(*args, **keywords)


CASES = [pytest.param(e, id=f"{k}-{e}") for k, e in enumerate(EXAMPLES)]


@pytest.mark.parametrize("e", CASES)
def test_transposed(e):
    """<v, J u> by central differences is <J^T v, u>, argument by argument, for the rule and its refinements."""
    rule = lookup(e.primitive)
    rng = np.random.default_rng(5)
    y = run(e)
    v = random_like(y, rng)
    h = 1e-2 if e.primitive in ROUNDS_DOWN else 1e-6
    for pullback in pullbacks(rule, e):
        before = copy.deepcopy((e.args, e.keywords, v, y))
        bars = called(rule, pullback, e, v, y)
        assert repr(before) == repr((e.args, e.keywords, v, y)), "a rule wrote its arguments"
        for place, name, value in differentiable(rule, e):
            bar = bars[place]
            if bar is None or not given(rule, e, place, name) or not any(map(is_real, leaves(value))):
                continue
            if rule.tag == "elementwise":
                bar = runtime.unbroadcast(np.broadcast_to(bar, np.shape(y)), value)
            u = random_like(value, rng)
            results = []
            for step in (h, -h):
                x = moved(value, u, step)
                position = place if name is None else list(inspect.signature(rule.pullback).parameters)[2:].index(name)
                if position < len(e.args):
                    results.append(run(e, args=(*e.args[:position], x, *e.args[position + 1 :])))
                else:
                    results.append(run(e, keywords=e.keywords | {name: x}))
            slope = (inner(results[0], v) - inner(results[1], v)) / (2 * h)
            expected = inner(bar, u)
            assert math.isclose(slope, expected, rel_tol=2e-5, abs_tol=2e-6), (pullback, name, slope, expected)


@pytest.mark.parametrize("e", [c for c in CASES if c.values[0].primitive not in WIDENS])
def test_float32_stays(e):
    """With arrays of float32 all cotangents of arrays are float32."""

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


def test_exampled():
    shown = {lookup(e.primitive) for e in EXAMPLES}
    assert not {f for f in rules() if f not in {e.primitive for e in EXAMPLES}} and shown == set(rules().values())


def test_every_refinement_is_exampled():
    seen = {p for e in EXAMPLES for p in pullbacks(lookup(e.primitive), e)}
    for primitive, rule in rules().items():
        for _, pullback in rule.refinements:
            assert pullback in seen, (primitive, inspect.getsource(pullback))


# --- closed ----------------------------------------------------------------------------------------------------------

COMPILED_BUILTINS = {len, range, isinstance, min, abs, tuple}
ATTRIBUTES = {"T", "dtype"}
OPERATORS = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power,
    ast.MatMult: np.matmul, ast.USub: np.negative,
}  # fmt: skip


def resolved(node: ast.expr, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return names[node.id] if node.id in names else getattr(builtins, node.id)
    return getattr(resolved(node.value, names), node.attr)


def test_closed():
    """Whatever a rule calls has a rule itself, or is flat, or is a builtin that the compiler knows."""
    for primitive, rule in rules().items():
        for pullback in (rule.pullback, *(p for _, p in rule.refinements)):
            tree = ast.parse(textwrap.dedent(inspect.getsource(pullback)))
            body = ast.Module(tree.body[0].body, [])
            for node in ast.walk(body):
                if isinstance(node, ast.Call):
                    f = resolved(node.func, pullback.__globals__)
                    assert lookup(f) or is_flat(f) or f in COMPILED_BUILTINS, (primitive, ast.unparse(node))
                elif isinstance(node, (ast.BinOp, ast.UnaryOp)) and type(node.op) in OPERATORS:
                    assert lookup(OPERATORS[type(node.op)])
                elif isinstance(node, ast.Attribute):
                    root = node
                    while isinstance(root, ast.Attribute):
                        root = root.value
                    module = isinstance(root, ast.Name) and root.id in ("np", "math")
                    assert module or node.attr in ATTRIBUTES, (primitive, ast.unparse(node))


def test_plain():
    """Rules stay inside the language that the compiler reads: no comprehension, lambda, try, append, in-place store."""
    forbidden = (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.Lambda, ast.Try, ast.With, ast.AugAssign)
    for rule in rules().values():
        for pullback in (rule.pullback, *(p for _, p in rule.refinements)):
            function = ast.parse(textwrap.dedent(inspect.getsource(pullback))).body[0]
            for node in ast.walk(ast.Module(function.body, [])):
                assert not isinstance(node, forbidden), inspect.getsource(pullback)
                if isinstance(node, ast.Assign):
                    assert all(isinstance(t, (ast.Name, ast.Tuple)) for t in node.targets)


def test_no_primitive_is_flat_and_ruled():
    assert not [f for f in rules() if is_flat(f)]


# --- kinks and ties --------------------------------------------------------------------------------------------------


def pulled(primitive: Any, *args: Any, g: Any = None, **keywords: Any) -> list[Any]:
    """The distinct results of the general rule and of its refinements, for a cotangent of ones."""
    e = Example(primitive, args, keywords)
    rule, y = lookup(primitive), run(Example(primitive, args, keywords))
    g = mapped(lambda a: np.ones(np.shape(a))[()], y) if g is None else g
    return [called(rule, p, e, g, y) for p in pullbacks(rule, e)]


def zero(n: int = 3) -> np.ndarray:
    return np.zeros(n)


@pytest.mark.parametrize(
    ("primitive", "args", "keywords", "expected"),
    [
        (np.max, (np.array([1.0, 3.0, 3.0]),), {}, [[0, 0.5, 0.5]]),
        (np.min, (np.ones((2, 2)),), {"axis": 1}, [[[0.5, 0.5], [0.5, 0.5]]]),
        (np.maximum, (zero(), zero()), {}, [[0.5] * 3, [0.5] * 3]),
        (np.maximum, (0.0, 0.0), {}, [0.5, 0.5]),
        (np.minimum, (2.0, 2.0), {}, [0.5, 0.5]),
        (np.fmax, (np.array([np.nan, 1.0, 2.0]), np.array([1.0, np.nan, 2.0])), {}, [[0, 1, 0.5], [1, 0, 0.5]]),
        (np.absolute, (zero(),), {}, [[0, 0, 0]]),
        (abs, (0.0,), {}, [0]),
        (math.fabs, (0.0,), {}, [0]),
        (np.clip, (np.array([-1.0, 0.0, 1.0, 2.0]), 0.0, 1.0), {}, [[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]),
        (np.sqrt, (zero(),), {}, [[np.inf] * 3]),
        (math.sqrt, (0.0,), {}, [np.inf]),
        (np.cbrt, (zero(),), {}, [[np.inf] * 3]),
        (np.arcsin, (np.array([1.0, -1.0]),), {}, [[np.inf, np.inf]]),
        (math.acos, (1.0,), {}, [-np.inf]),
        (np.arccosh, (1.0,), {}, [np.inf]),
        (np.power, (np.array([0.0, 0.0]), np.array([2.0, 0.0])), {}, [[0, 0], [0, 0]]),
        (np.power, (0.0, 0), {}, [0, 0]),
        (math.pow, (0.0, 0.0), {}, [0, 0]),
        (np.linalg.norm, (zero(),), {}, [[0, 0, 0]]),
        (np.linalg.norm, (np.zeros((2, 2)),), {"axis": 1}, [np.zeros((2, 2))]),
        (np.std, (np.full(3, 0.1),), {}, [[0, 0, 0]]),
        (np.std, (np.full((2, 3), 0.1),), {"axis": 1}, [np.zeros((2, 3))]),
        (np.prod, (np.array([0.0, 2.0, 3.0]),), {}, [[6, 0, 0]]),
        (np.prod, (np.array([0.0, 0.0, 3.0]),), {}, [[0, 0, 0]]),
        (np.cumprod, (np.array([2.0, 0.0, 3.0]),), {}, [[1, 8, 0]]),
        (np.sinc, (zero(),), {}, [[0, 0, 0]]),
        (np.hypot, (0.0, 0.0), {}, [0, 0]),
        (np.arctan2, (0.0, 0.0), {}, [0, 0]),
        (math.hypot, (0.0, 0.0), {}, [0, 0]),
        (math.atan2, (0.0, 0.0), {}, [0, 0]),
        (np.linalg.det, (np.array([[1.0, 2.0], [2.0, 4.0]]),), {}, [[[4, -2], [-2, 1]]]),
        (np.linalg.det, (np.zeros((2, 2)),), {}, [np.zeros((2, 2))]),
        (np.median, (np.array([3.0, 1.0, 1.0, 7.0]),), {}, [[0.5, 0, 0.5, 0]]),
        (np.logaddexp, (-np.inf, -np.inf), {}, [0, 0]),
        (np.logaddexp, (-np.inf, 1.0), {}, [0, 1]),
        (np.nan_to_num, (np.array([np.nan, np.inf, 1.0]),), {}, [[0, 0, 1]]),
        (np.sort, (np.array([2.0, 1.0, 1.0]),), {}, [[1, 1, 1]]),
        (np.arctan2, (1e-200, 1e-200), {}, [5e199, -5e199]),
        (runtime.power_slope, (0.0, 2), {}, [2, 0]),
        (runtime.power_slope, (0.0, 1), {}, [0, 0]),
        (runtime.power_slope, (0.0, 0), {}, [0, 0]),
    ],
)
def test_conventions(primitive, args, keywords, expected):
    for bars in pulled(primitive, *args, **keywords):
        for bar, value in zip(bars, expected, strict=True):
            if bar is not None:
                np.testing.assert_allclose(np.broadcast_to(bar, np.shape(value)), value, rtol=1e-12, atol=1e-12)


def test_zero_cotangent_wins_over_infinite_slope():
    for primitive, x in ((np.sqrt, 0.0), (np.cbrt, 0.0), (np.arcsin, 1.0), (np.arccosh, 1.0), (math.sqrt, 0.0)):
        for (bar,) in pulled(primitive, x, g=0.0):
            assert bar == 0.0


def test_infinite_cotangent_of_a_branch_not_taken():
    for bars in pulled(np.maximum, np.array([1.0]), np.array([2.0]), g=np.array([np.inf])):
        assert bars[0] == 0.0 and bars[1] == np.inf


def test_casts_to_whole_numbers_are_constants():
    (bar,) = pulled(np.ndarray.astype, np.array([1.5, 2.5]), int, g=np.ones(2))[0]
    assert np.all(bar == 0.0)


def test_unsupported_is_refused():
    with pytest.raises(NotImplementedError, match="ord=2"):
        pulled(np.linalg.norm, np.eye(2), 2)
    with pytest.raises(NotImplementedError, match="linear_ramp"):
        pulled(np.pad, np.ones(3), 1, "linear_ramp")
