"""What derivatives are at singular points: the tables of docs/singular-points.md row by row, and a sweep over composites."""

from __future__ import annotations

import itertools
import linecache
import random
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from numpy.lib import NumpyVersion
from scipy import ndimage, optimize, signal, special, stats
from scipy.spatial import distance

from s2sgrad import GradientTape, S2SGradError, constant, grad, hessian, jacfwd, jacrev, jvp, value_and_grad, vjp
from s2sgrad.testing import check_grads

PAGE = Path(__file__).parent.parent / "docs" / "singular-points.md"
ROWS = [re.findall(r"(?:^| )`(.*?)`(?= \|)", line.replace("\\|", "|")) for line in PAGE.read_text().splitlines()
        if line.startswith("| `")]  # fmt: skip


LIBRARIES = (special, stats, scipy.linalg, signal, ndimage, optimize, distance)


def function_of(text, *lines):
    """The function of `x` that a text says, with source."""
    body = "".join(f"    {line}\n" for line in (*lines, f"return {text}"))
    source, name = f"def f(x):\n{body}", f"<singular {abs(hash((text, lines)))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space = {"np": np} | {m.__name__.rpartition(".")[2]: m for m in LIBRARIES}
    exec(compile(source, name, "exec"), space)
    return space["f"]


def quietly(f, *args):
    """A value, without the warnings of the function itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(*args)


def tangents(f, x):
    """The derivative of a number in each element of `x`, in forward mode."""
    if np.ndim(x) == 0:
        return jvp(f, (x,), (1.0,))[1]
    units = np.eye(np.size(x), dtype=x.dtype).reshape(np.size(x), *np.shape(x))
    return np.reshape([jvp(f, (x,), (unit,))[1] for unit in units], np.shape(x))


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} at {row[1]}")
def test_the_tables(row):
    text, x, expected = row[0], eval(row[1], {"np": np}), eval(row[2], {"np": np})
    f = function_of(text)
    for derivative in (grad(f), lambda x: tangents(f, x), lambda x: value_and_grad(f)(x)[1], jacfwd(f)):
        np.testing.assert_allclose(quietly(derivative, x), expected, rtol=1e-6, atol=1e-9)
    if len(row) > 3:
        second = eval(row[3], {"np": np})
        np.testing.assert_allclose(quietly(hessian(f), x), second, rtol=1e-6, atol=1e-9)
        columns = np.sum(np.reshape(second, (-1, *np.shape(x))), axis=0)
        np.testing.assert_allclose(quietly(grad(lambda x: np.sum(grad(f)(x))), x), columns, rtol=1e-6, atol=1e-9)


OF_EXPRESSIONS = {"abs(x) ** 2"}  # the slope of `abs` is a number there, so that a tape cannot tell
OTHERS = r"\b(special|stats|linalg|signal|ndimage|optimize|distance)\."
OF_NUMPY = [row for row in ROWS if row[0] not in OF_EXPRESSIONS
            and ("np.linalg" in row[0] or not re.search(OTHERS, row[0]))]  # fmt: skip


@pytest.mark.parametrize("row", OF_NUMPY, ids=lambda row: f"{row[0]} at {row[1]}")
def test_a_tape_gives_these_numbers_or_nan(row):
    f, x = function_of(row[0]), constant(eval(row[1], {"np": np}))
    with GradientTape(persistent=True) as outer:
        outer.watch(x)
        with GradientTape() as tape:
            tape.watch(x)
            y = quietly(f, x)
        slope = tape.gradient(y, x)
    found = [slope, outer.jacobian(slope, x, unconnected_gradients="zero")]
    for bar, text in zip(found, row[2:], strict=False):
        expected = np.broadcast_to(eval(text, {"np": np}), np.shape(bar))
        known = ~np.isnan(np.asarray(bar))
        np.testing.assert_allclose(np.asarray(bar)[known], expected[known], rtol=1e-6, atol=1e-9)


def test_the_tables_are_read():
    assert len(ROWS) > 50 and sum(len(row) == 4 for row in ROWS) > 15


def warns(row):
    """Whether a function itself warns at its point."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        function_of(row[0])(eval(row[1], {"np": np}))
    return bool(said)


QUIET = [row[0] for row in ROWS if "exp" not in row[0] and "cosh" not in row[0] and row[2] != "np.nan" and not warns(row)]


@pytest.mark.parametrize("text", QUIET)
def test_derivatives_warn_of_nothing(text):
    """Where the function itself does not: what overflows warns in the user's statement."""
    row = next(row for row in ROWS if row[0] == text)
    f, x = function_of(text), eval(row[1], {"np": np})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(f)(x)
        tangents(f, x)


# --- statements, loops, several names --------------------------------------------------------------------------------

B = np.arange(9.0).reshape(3, 3)


def norm_by_a_loop(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2
    return np.sqrt(s)


def distances_by_components(x):
    dx, dy = x[:, 0][:, None] - x[:, 0], x[:, 1][:, None] - x[:, 1]
    r = np.sqrt(dx**2 + dy**2)
    return np.sum(r * np.exp(-r) + r)


def kernel_by_statements(x):
    d = x[:, None] - x[None]
    r = np.sqrt(np.sum(d * d, axis=-1)) / 1.5
    return np.sum(np.exp(-0.5 * r**2))


def clipped_squares(x):
    D = x * 1.0
    D[D < 0] = 0
    return np.sum(np.exp(-0.5 * np.sqrt(D) ** 2))


def weighted_norm(x):
    return np.sqrt(x @ (np.array([[2.0, 1.0], [1.0, 3.0]]) @ x))


def haversine(x):
    return 2.0 * np.arcsin(np.sqrt(np.sin(x[0] / 2) ** 2 + np.cos(x[0]) * np.sin(x[1] / 2) ** 2))


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (norm_by_a_loop, np.zeros(3), np.zeros(3)),
        (distances_by_components, np.ones((2, 2)), np.zeros((2, 2))),
        (kernel_by_statements, np.ones((2, 2)), np.zeros((2, 2))),
        (clipped_squares, np.array([-1e-17, 0.0, 1.0]), np.array([0.0, -0.5, -0.5 * np.exp(-0.5)])),
        (weighted_norm, np.zeros(2), np.zeros(2)),
        (haversine, np.zeros(2), np.zeros(2)),
    ],
)
def test_statements(f, x, expected):
    np.testing.assert_allclose(grad(f)(x), expected, atol=1e-12)
    np.testing.assert_allclose(tangents(f, x), expected, atol=1e-12)
    check_grads(f, (np.abs(x) + np.random.default_rng(3).uniform(0.3, 0.6, x.shape),), order=2, modes=("fwd", "rev"))


def test_second_derivatives_of_a_kernel_at_equal_points():
    """Of `exp(-0.5 * |d| ** 2 / 1.5 ** 2)` at d = 0, in two points."""
    H = hessian(kernel_by_statements)(np.zeros((2, 1))).reshape(2, 2)
    np.testing.assert_allclose(H, np.array([[-1.0, 1.0], [1.0, -1.0]]) * 2.0 / 1.5**2, atol=1e-12)


def test_a_residue_of_rounding_in_a_tangent():
    value, tangent = jvp(clipped_squares, (np.zeros(2),), (np.array([1e-17, 0.0]),))
    assert value == 2.0 and abs(tangent) < 1e-16


def overwritten_before_a_logarithm(x):
    r = x * x
    r[1] = 0.0
    return np.sum(np.tanh(np.log(r)))


def selected_before_a_reciprocal(x):
    r = np.where(x > 0, x, 0.0)
    return np.sum(np.exp(-1.0 / r))


def stored_by_a_mask_into_infinite_ones(x):
    r = np.full(4, np.inf)
    r[x > 0] = x[x > 0]
    return np.sum(np.exp(-(r**2)))


def larger_before_a_power_of_a_logarithm(x):
    return np.sum(np.arctan(np.log(np.maximum(x, 0.0)) ** 3))


def bound_in_a_branch(x):
    total = 0.0
    for v in x:
        r = np.float64(0.0)
        if v > 0:
            r = v
        total = total + np.tanh(np.log(r))
    return total


def stored_in_a_branch(x):
    y = np.zeros(4)
    for i in range(4):
        if x[i] > 0:
            y[i] = x[i] * 2
    return np.sum(1.0 / (1.0 + 1.0 / y))


def rows_of_which_one_is_stored(x):
    r = np.zeros((2, 4))
    r[0, x > 0] = x[x > 0]
    return np.sum(np.tanh(np.log(r.T)).ravel())


def log_of(a):
    return np.log(a)


def handed_to_a_logarithm(x):
    r = np.zeros(4)
    r[x > 0] = x[x > 0]
    return np.sum(np.tanh(log_of(r) ** 2))


@pytest.mark.parametrize("f", [overwritten_before_a_logarithm, selected_before_a_reciprocal, bound_in_a_branch,
                               stored_by_a_mask_into_infinite_ones, larger_before_a_power_of_a_logarithm,
                               stored_in_a_branch, rows_of_which_one_is_stored, handed_to_a_logarithm])  # fmt: skip
def test_what_is_left_out_has_no_tangent_whatever_the_slope(f):
    x, e = np.array([0.3, -0.5, 0.7, -0.2]), np.array([1.0, 2.0, 3.0, 4.0])
    expected = quietly(along, f, x, e, 1e-6)
    for found in (quietly(grad(f), x) @ e, quietly(jvp, f, (x,), (e,))[1], quietly(jacfwd(f), x) @ e):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def root_that_moves_on(xs):
    """`r` is of an earlier `x` than the one at hand."""
    r, total = 0.0, 0.0
    for x in xs:
        if x > 1.0:
            r = np.sqrt(x)
        total = total + r**2 * x
    return total


def root_of_what_is_written(x):
    D = x * x
    r = np.sqrt(D)
    D[0] = 5.0
    return np.sum(r**2 * x)


def root_of_an_even_power(x):
    r = np.sqrt(np.sqrt(x**2))
    return r**2


@pytest.mark.parametrize("f", [root_that_moves_on, root_of_what_is_written])
def test_powers_of_other_roots(f):
    check_grads(f, (np.array([2.0, 0.5, 3.0]),), order=2, modes=("fwd", "rev"))


def test_even_powers_have_two_roots():
    check_grads(root_of_an_even_power, (-2.0,), order=1, modes=("fwd", "rev"))


def cube_of_a_root_behind_a_branch(x):
    """Nobody reads `x` behind the branch, but the derivative of `p` passes through it."""
    a = x * 1.0
    p = x * x
    if np.sum(a) > 1.0:
        p = p + a
    r = np.cbrt(a) ** 3
    return np.sum(a * p) + np.sum(r)


def test_a_tangent_is_kept_across_a_branch():
    check_grads(cube_of_a_root_behind_a_branch, (np.array([2.0, 0.5, 3.0]),), order=2, modes=("fwd", "rev"))


def distances(x, w):
    """The square of a norm that each trip computes anew, below other operations."""
    total = 0.0
    for i in range(len(x)):
        v = x[i] - w
        r = np.linalg.norm(v)
        total += 1.0 / (1.0 + 0.1 * r**2)
    return total


def test_what_a_derivative_reads_in_the_place_of_a_root_is_computed_again_before_it():
    check_grads(distances, (np.arange(6.0).reshape(3, 2) ** 0.5, np.array([0.3, -1.0])), order=2, modes=("fwd", "rev"))


# --- how a root is made, how it is squared, and which derivative is taken ---------------------------------------------

HELPERS = """import math
import numpy as np
def length(v): return np.sqrt(np.sum(v ** 2))
def of_squares(v): return np.sum(v * v)
def square(v): return v * v
def root(v): return np.sqrt(v)
def twice(v): return 2.0 * v
"""
LENGTHS = [
    "np.linalg.norm(x)", "np.sqrt(np.sum(x ** 2))", "np.sqrt(x @ x)", "np.hypot(x[0], x[1])", "(x @ x) ** 0.5", "length(x)",
    "np.sqrt(x[0] ** 2 + x[1] ** 2)", "np.sqrt(np.einsum('i,i', x, x))", "np.sqrt(np.einsum('i,i->', x, x))",
    "np.sqrt(of_squares(x))", "root(of_squares(x))", "np.linalg.norm(x, 2)", "math.hypot(x[0], x[1])",
    "np.sqrt(np.tensordot(x, x, 1))", "np.sqrt(sum([v * v for v in x]))", "math.sqrt(x[0] ** 2 + x[1] ** 2)",
    "np.sqrt(square(x[0]) + square(x[1]))", "np.sqrt(np.var(np.concatenate([x, -x])) * 2)", "abs(np.linalg.norm(x))",
    "np.std(np.concatenate([x, -x])) * math.sqrt(2.0)", "np.sqrt(np.linalg.norm(x) ** 2)", "np.sqrt(np.sum(np.abs(x) ** 2))",
    "np.sum(x ** 2) ** 0.5", "np.linalg.norm(x.reshape(1, 2))",
]  # fmt: skip
SQUARES = [
    ((), "{r} * {r}"), (("r = {r}",), "r ** 2"), (("r = {r}",), "r * r"), (("r = {r}", "y = r"), "y * r"),
    (("r = {r}", "r *= r"), "r"), (("r = {r}", "r **= 2"), "r"), (("r = {r}",), "np.square(r)"), (("r = {r}",), "square(r)"),
    (("r = {r}",), "square(r) * 2.0 - r ** 2"), (("r = 2.0 * {r}",), "r ** 2 / 4.0"),
    (("r = {r}", "s = twice(r)"), "s * r / 2"),
    (("r = {r}", "s = -r"), "-(r * s)"), (("r = {r}",), "(r / 2.0) ** 2 * 4.0"), (("r, s = {r}, 1.0",), "s * r ** 2"),
    (("r = [{r}]",), "r[0] ** 2"), (("r = {r}",), "float(r) ** 2"),
]  # fmt: skip
VECTORS = [  # squares of the roots of what is not negative, summed
    "np.sum({r} * {r})", "np.sum(np.square({r}))", "{r} @ {r}", "np.dot({r}, {r})", "np.inner({r}, {r})",
    "np.vdot({r}, {r})", "np.einsum('i,i', {r}, {r})", "np.tensordot({r}, {r}, 1)", "np.linalg.norm({r}) ** 2",
    "np.sum(square({r}))",
    "np.linalg.norm({r}) * np.linalg.norm({r})", "np.sum(square({r}) + ({r}) ** 2) / 2",
]  # fmt: skip
ROOTS = ["np.sqrt(x)", "r", "root(x)", "x ** 0.5", "np.sqrt(x * 4.0) / 2.0"]


def along_units(f, x):
    """The gradients of the tangents of a number."""
    return np.array([grad(lambda z, e=e: jvp(f, (z,), (e,))[1])(x) for e in np.eye(len(x))])


SECOND = (hessian, lambda f: jacrev(grad(f)), lambda f: lambda x: along_units(f, x))


def written(lines, text):
    """The function of `x` with these helpers."""
    source, name = (
        HELPERS + "def f(x):\n" + "".join(f"    {s}\n" for s in (*lines, f"return {text}")),
        f"<of roots {lines} {text}>",
    )
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space = {}
    exec(compile(source, name, "exec"), space)
    return space["f"]


def check_orders(f, x, first, second):
    """The first and second derivatives of a number, each in every way."""
    for derivative in (grad(f), lambda x: tangents(f, x)):
        np.testing.assert_allclose(quietly(derivative, x), first, atol=1e-9)
    for derivative in SECOND:
        np.testing.assert_allclose(quietly(derivative(f), x), second, atol=1e-9)


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("square", SQUARES, ids=lambda square: "; ".join((*square[0], square[1])))
def test_the_square_of_a_length_is_a_square(square, length):
    lines, text = square
    if text.startswith("{r}") and "for v in x" in length:
        pytest.skip("two lists are two values")
    f = written([line.format(r=length) for line in lines], text.format(r=length))
    check_orders(f, np.zeros(2), np.zeros(2), 2.0 * np.eye(2))


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("text", VECTORS)
def test_the_squares_of_roots_are_what_is_under_them(text, root):
    f = written(["r = np.sqrt(x)"], text.format(r=root))
    check_orders(f, np.array([0.0, 4.0]), np.ones(2), np.zeros((2, 2)))


LEVELS = [
    "1 / (1 + {e})", "1.0 / ({e} + 1.0)", "np.reciprocal(1 + {e})", "np.power(1 + {e}, -1.0)", "(1 + {e}) ** -2",
    "np.divide(1.0, 1 + {e})", "2 / (1 + {e}) - 1", "np.log(1 + {e})", "-np.log({e} + 1)", "np.log1p({e})", "x / (1 + {e})",
    "1 / (1 + {e}) ** 2", "np.log(1 / (1 + 2.0 * {e}) + 1)",
]  # fmt: skip


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("lines", [(), ("e = np.exp(-x)",), ("e = np.exp(-x)", "d = e")], ids=len)
def test_what_levels_off_is_flat_at_every_order(level, lines):
    """At an exponential that has overflowed: in each way the derivatives are those of the limit."""
    f = written(lines, level.format(e="d" if len(lines) > 1 else "e" if lines else "np.exp(-x)"))
    slope = -1.0 if "log(1 +" in level or "log1p" in level else 1.0 if level.startswith("-np.log") else 0.0
    for derivative in (grad(f), lambda x: tangents(f, x)):
        assert quietly(derivative, -1000.0) == slope
    for second in (hessian(f), grad(grad(f)), grad(lambda z: jvp(f, (z,), (1.0,))[1])):
        assert quietly(second, -1000.0) == 0.0


LOOP = ["x = x[0]", "s = 0.0", "for i in range(2):"]
RECORDED = {  # a level whose exponential a record holds, or that is read on a path
    "a loop": ([*LOOP, "    s = s + 0.5 * ({level})"], "np.exp(-x)"),
    "a branch in a loop": ([*LOOP, "    if x < 1e4:", "        s = s + 0.5 * ({level})"], "np.exp(-x)"),
    "a path behind": ([LOOP[0], "y = {level}", *LOOP[1:], "    if x < 1e4:", "        s = s + 0.5 * y"], "np.exp(-x)"),
    "stores over it": (["t = {level}", "for i in range(2):", "    if x[i] > 2e3:", "        t[i] = x[0]", "s = np.sum(t)"],
                       "np.exp(np.array([-1.0, 1.0]) * x)"),
}  # fmt: skip


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("level", [*LEVELS, "1 / np.cosh(x)", "1 / np.cosh(x) ** 2"])
@pytest.mark.parametrize("way", RECORDED)
@pytest.mark.parametrize("x", [-1000.0, 711.0, 724.5], ids=["overflown", "tiny", "tinier"])
def test_what_levels_off_is_flat_where_a_record_holds_the_exponential(level, way, x):
    """Also where the exponential is so small that its inverse is infinite."""
    lines, e = RECORDED[way]
    f = written([line.format(level=level.format(e=e)) for line in lines], "s")
    x = np.array([x, -x] if way == "stores over it" else [x])
    slopes = [quietly(derivative, x) for derivative in (grad(f), lambda x: tangents(f, x))]
    assert np.all(np.isfinite(slopes)) and np.allclose(slopes[0], slopes[1])
    for second in SECOND[:1] if "cosh" in level else SECOND:
        assert np.all(abs(quietly(second(f), x)) < 1e-300)


@pytest.mark.parametrize("f", [
    lambda x: np.sqrt((x[None] - 1.0) @ (x[:, None] - 1.0))[0, 0],
    lambda x: np.sum(np.sqrt(np.diag(np.outer(x - 1.0, X) @ np.outer(X, x - 1.0)))),
    lambda x: np.sum(np.sqrt(np.einsum("ij,ij->i", np.outer(x - 1.0, X), np.outer(x - 1.0, X)))),
], ids=["row by column", "diagonal", "einsum"])  # fmt: skip
def test_a_root_of_products_of_rows_is_0_or_nan(f):
    """Its slope is that of a norm, and never another number."""
    x = np.ones(3)
    assert f(x) == 0.0 and jvp(f, (x,), (x,))[1] == 0.0 and np.all(jacfwd(f)(x) == 0.0)
    with np.errstate(invalid="ignore"):
        gradients = grad(f)(x), jacrev(f)(x), vjp(f, x)[1](1.0)[0]
    for gradient in gradients:
        assert np.all((gradient == 0.0) | np.isnan(gradient))


X = np.array([0.7, 1.5, 0.4])


@pytest.mark.parametrize("text", ["np.cos(r)", "np.log(np.cosh(r))", "r * np.sin(r)", "max(r, 0.0) ** 2", "np.sum(d ** 2)"])
@pytest.mark.parametrize("length", ["np.linalg.norm(x)", "np.hypot(x[0], x[1])", "np.sqrt(x @ x)",
                                    "np.sqrt(x[0] ** 2 + x[1] ** 2)", "np.sqrt(np.sum(x ** 2))"])  # fmt: skip
def test_a_limit_that_is_not_known_is_nan(text, length):
    """Of second derivatives in what the slope of a norm is multiplied by, which are 0 / 0."""
    f = written([f"r = {length}", f"d = np.array([{length}, 0.0])"], text)
    np.testing.assert_array_equal(grad(f)(np.zeros(2)), np.zeros(2))
    assert np.all(np.isnan(np.diag(quietly(hessian(f), np.zeros(2)))))
    if "max" not in text:
        assert np.all(np.isnan(np.diag(quietly(jacrev(grad(f)), np.zeros(2)))))


def with_its_square(x):
    s = np.sum((x[:, None] - x[None]) ** 2, axis=-1)
    return np.sum(np.sqrt(s) * np.exp(-np.sqrt(s)) + s + s**2)


def with_its_fourth_power(x):
    r = np.sqrt(np.sum((x[:, None] - x[None]) ** 2, axis=-1))
    return np.sum(r**4 + r**2 * np.exp(-r))


@pytest.mark.parametrize("f", [with_its_square, with_its_fourth_power])
def test_what_a_root_is_taken_of_may_be_used_otherwise(f):
    x = np.array([[0.0, 0.0], [1.0, 0.3], [0.2, -1.0]])
    e = np.random.default_rng(5).normal(size=x.shape)
    for found in (np.sum(grad(f)(x) * e), jvp(f, (x,), (e,))[1]):
        np.testing.assert_allclose(found, along(f, x, e, 1e-6), rtol=1e-6)
    H = hessian(f)(x)
    np.testing.assert_allclose(np.tensordot(H, e, 2), along(grad(f), x, e, 1e-6), rtol=1e-5, atol=1e-6)


OPERATIONS = [
    "np.sqrt({v})", "{v} ** 2", "{v} * {u}", "{v} / w", "np.sqrt({v}) ** 3", "{v} ** 0.5", "np.square({v})",
    "({v} / w) ** 2",
    "np.linalg.norm({v}) ** 2 * {u}", "(w * {v}) ** 2", "np.sqrt(np.sum({v} ** 2)) * {u}", "{v} * np.sqrt({u})",
    "1 / (1 + np.exp(-{v}))", "np.exp(-{v})", "np.cbrt({v}) ** 3", "{v} + {u}", "np.log(1 + np.exp({v}))", "np.cbrt({v})",
    "np.sqrt({v} * {u})", "np.tanh(np.exp({v}))", "1 / (np.exp({v}) + {u} * {u})",
    "np.sqrt(np.einsum('i,i->', {v}, {v})) * {u}",
    "abs({v}) ** 2", "np.abs({v}) * np.abs({v}) * {u}", "np.sqrt({v} * {v}) ** 3", "np.std({v}) ** 2 * {u}",
    "np.hypot({v}, {u}) ** 2 * 0.5", "np.hypot({v}, w) * np.hypot({v}, w)",
    "np.linalg.norm({v}) * np.linalg.norm({v}) * {u}",
    "np.dot(np.sqrt({v}), np.sqrt({v})) * {u}", "np.linalg.norm(np.sqrt({v})) ** 2 + {u}",
    "np.einsum('i,i', np.sqrt({v}), np.sqrt({v})) * {u}",
]  # fmt: skip
IN_A_TRIP = [
    ("n = np.linalg.norm(d)", "b = b + 1.0 / (1.0 + 0.1 * n ** 2)"), ("r = np.sqrt(d * d)", "b = b + np.exp(-r ** 2)"),
    ("r = np.sqrt(d * d)", "c = r", "r *= c", "b = b + np.exp(-r)"), ("r = np.abs(d)", "r **= 2", "b = b + r * {u}"),
    ("n = np.hypot(np.sum(d), 0.5)", "m = n", "n *= m", "b = b + 1.0 / (1.0 + 0.1 * n)"),
    ("n = np.linalg.norm(d)", "b = b + 1.0 / (2.0 + (n * 0.5) ** 3)"), ("r = np.sqrt(d * {u})", "b = b + np.tanh(r ** 4)"),
]  # fmt: skip
CHANGES = ["{v}[1] = 0.7", "{v} = {v} * 1.0", "{v}[0] *= 1.5", "{v} += 0.25", "w = w * 1.1", "{v} **= 2", "w *= w",
           "{v} *= {v}"]  # fmt: skip


def program(seed):
    """The lines of a random program of roots, powers and exponentials, with branches, loops and stores between them."""
    draw, names = random.Random(seed), ["a", "b", "D"]
    lines = ["a = x * 1.0", "b = x * x + 0.5", "w = 1.3 + x[0]", "D = x * x"]

    def block(depth, length):
        for _ in range(length):
            kind, v, u = draw.random(), draw.choice(names), draw.choice(names)
            indent = "    " * depth
            if kind < 0.6:
                target = draw.choice(["p", "q", "s", "a", "b"])
                lines.append(f"{indent}{target} = {draw.choice(OPERATIONS).format(v=v, u=u)}")
                names.extend([target] * (depth == 0 and target not in names))
            elif kind < 0.8 and depth < 2:
                head = draw.choice(["for k in range(2):", f"if np.sum({v}) > {draw.choice([0.0, 2.0])}:"])
                lines.append(indent + head)
                if "for" in head and draw.random() < 0.5:  # what only this trip knows
                    inside = f"d = {v} - 0.1 * k", *(line.format(u=u) for line in draw.choice(IN_A_TRIP))
                    lines.extend(f"{indent}    {line}" for line in inside)
                block(depth + 1, draw.randint(1, 3))
            else:
                lines.append(indent + draw.choice(CHANGES).format(v=v))

    block(0, draw.randint(4, 9))
    return " + ".join(f"np.sum({n})" for n in names), lines


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("seed", range(240))
def test_random_programs(seed):
    f = function_of(*(lambda result, lines: (result, *lines))(*program(seed)))
    x, e = np.random.default_rng(seed).uniform(0.4, 1.4, 3), np.array([0.3, -0.5, 0.7])
    value = quietly(f, x.copy())
    if not np.isfinite(value) or abs(value) > 1e6:
        pytest.skip("it has no value here")
    rough, expected = (quietly(along, f, x, e, h) for h in (1e-5, 1e-6))
    if not abs(rough - expected) <= 1e-5 * max(1.0, abs(expected)):
        pytest.skip("differences do not settle")
    for found in (np.sum(grad(f)(x.copy()) * e), jvp(f, (x.copy(),), (e,))[1], np.sum(jacfwd(f)(x.copy()) * e)):
        assert abs(found - expected) <= 1e-4 * max(1.0, abs(expected))


# --- equal eigenvalues -----------------------------------------------------------------------------------------------


def projected(S):
    _, V = np.linalg.eigh(S)
    U = V[:, :2]
    return np.sum(U @ U.T * B)


def polar(A):
    u, _, vt = np.linalg.svd(A)
    return np.sum(u @ vt * B)


def squared_by_eigenvectors(S):
    w, V = np.linalg.eigh(S)
    return np.sum((V * w**2) @ V.T * B)


def cubed_eigenvalues(S):
    return np.sum(np.linalg.eigvalsh(S) ** 3)


def log_determinant(S):
    return np.sum(np.log(np.linalg.eigvalsh(S)))


Q = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
EQUAL = np.diag([1.0, 1.0, 2.0])


def along(f, x, e, h=1e-4):
    return (f(x + h * e) - f(x - h * e)) / (2 * h)


SPACES = [(projected, EQUAL), (projected, Q @ EQUAL @ Q.T), (polar, np.eye(3)), (polar, EQUAL), (cubed_eigenvalues, EQUAL)]


@pytest.mark.parametrize(("f", "x"), SPACES)
def test_functions_of_spaces(f, x):
    for seed in range(4):
        e = np.random.default_rng(seed).normal(size=(3, 3))
        e = e if f is polar else e + e.T
        expected = along(f, x, e)
        np.testing.assert_allclose(jvp(f, (x,), (e,))[1], expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(np.sum(grad(f)(x) * np.tril(e) if f is not polar else grad(f)(x) * e), expected,
                                   rtol=1e-5, atol=1e-6)  # fmt: skip


@pytest.mark.parametrize("f", [cubed_eigenvalues, log_determinant])
@pytest.mark.parametrize("x", [2.0 * np.eye(3), EQUAL, Q @ EQUAL @ Q.T])
def test_second_derivatives_of_sums_over_eigenvalues(f, x):
    H = hessian(f)(x)
    for seed in range(3):
        e = np.random.default_rng(seed).normal(size=(3, 3))
        e = np.tril(e + e.T)
        np.testing.assert_allclose(np.tensordot(H, e, 2), along(grad(f), x, e), rtol=1e-6, atol=1e-6)


def test_what_needs_values_and_vectors_is_no_wrong_number():
    for derivative in (grad(squared_by_eigenvectors), lambda S: tangents(squared_by_eigenvectors, S)):
        found = derivative(EQUAL)
        expected = np.tril(EQUAL @ (B + B.T) + (B + B.T) @ EQUAL)
        np.fill_diagonal(expected, np.diag(expected) / 2)
        assert np.all(np.isnan(found) | np.isclose(found, expected)) and np.any(np.isnan(found))
    check_grads(squared_by_eigenvectors, (np.diag([1.0, 2.0, 4.0]),), order=2, modes=("fwd", "rev"))


# --- a sweep ---------------------------------------------------------------------------------------------------------

INNER = [
    "x", "x * x", "x ** 3", "np.abs(x)", "np.sqrt(x)", "np.sqrt(x * x)", "np.exp(x)", "np.exp(-x)", "1 / (1 + np.exp(-x))",
    "1 - np.cos(x)", "np.maximum(x, 0.0)", "np.sin(x) ** 2", "x * np.sqrt(x)", "np.cbrt(x)", "x ** 4", "np.exp(x) - 1",
    "np.hypot(x, 0.0)", "np.tanh(x)", "np.where(x > 0, x, 0.0)", "np.cosh(x)", "(x - 1.0) ** 2", "np.expm1(x)",
    "np.exp(x) + 1", "x ** 1.5", "np.sqrt(x) * 2.0", "np.sqrt(x) / 3.0",
]  # fmt: skip
OUTER = [
    "u", "np.sqrt(u)", "u ** 2", "u ** 3", "np.exp(-u)", "np.exp(u)", "np.log1p(u)", "np.cos(u)", "np.sin(u)", "np.tanh(u)",
    "1 / (1 + u)", "np.arctan(u)", "np.abs(u)", "np.log(1 + np.exp(u))", "u ** 0.5", "u ** 1.5", "(1 + u) * np.exp(-u)",
    "np.exp(-u ** 2)", "1 / (u + 2.0) ** 2", "x * u", "np.sqrt(1 + u ** 2)", "np.log(u + 1.0)", "np.sqrt(u) * x",
    "2 / (1 + np.exp(-2 * u)) - 1", "np.cbrt(u)", "1 / (1 + np.exp(u))", "(u * 3.0) ** 2",
]  # fmt: skip
POINTS = [0.0, 1000.0, -1000.0, 1.0, -1.0]


def difference(f, x):
    """The derivative by differences of two widths in extended precision, on one side where the other has no value; None
    where they do not settle, or the sides differ."""
    at, slopes = np.longdouble(x), []
    for h in map(np.longdouble, (1e-5, 1e-7)):
        before, here, after = f(at - h), f(at), f(at + h)
        slopes.append(((here - before) / h, (after - here) / h))
    settled = []
    for wide, narrow in zip(*slopes, strict=True):
        near = np.isfinite(wide) and np.isfinite(narrow) and abs(wide - narrow) <= 1e-3 * max(1e-3, abs(narrow))
        settled.append(float(narrow) if near else None)
    left, right = settled
    lower, upper = f(np.float64(x - 1e-5)), f(np.float64(x + 1e-5))
    if not np.isfinite(lower) or not np.isfinite(upper):
        return right if not np.isfinite(lower) else left
    return None if None in settled or abs(left - right) > 2e-3 * max(1.0, abs(left)) else 0.5 * (left + right)


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("pair", list(itertools.product(INNER, OUTER)), ids=" in ".join)
def test_composites(pair):
    """No wrong number, in either mode; two numbers agree."""
    inner, outer = pair
    f = function_of(outer, f"u = {inner}")
    for x in POINTS:
        if not np.isfinite(quietly(f, np.float64(x))):
            continue
        try:
            found = [float(quietly(grad(f), x)), float(quietly(jvp, f, (x,), (1.0,))[1])]
        except OverflowError:  # of Python's numbers, in the function itself
            continue
        expected = quietly(difference, f, x)
        numbers = [v for v in found if not np.isnan(v)]
        if len(numbers) == 2:
            assert np.isclose(*numbers, rtol=1e-9, atol=1e-12), (x, found)
        for v in numbers if expected is not None else ():
            assert abs(v - expected) <= 1e-2 * max(1e-2, abs(expected)), (x, found, expected)


def divided_always(v, r):
    s = v + r
    return v / s + np.log(s)


def divided_in_a_branch(v, r):
    s = v + r
    gain = v / s if v > 1.0 else 0.0
    return gain + np.log(s)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_a_function_divides_by_is_not_0_where_its_gradient_divides_by_it():
    """A slope of NumPy's function is inf at 0, and raises as the function does where that divides by the same number."""
    always, branch = grad(divided_always), grad(divided_in_a_branch)
    assert always(2.0, 0.5) == pytest.approx(1.0 / 2.5 - 2.0 / 2.5**2 + 1.0 / 2.5)
    assert "np.divide" not in always.source and "np.divide" in branch.source
    assert branch(0.5, -0.5) == np.inf
    for gradient in (always, jvp_of(divided_always)):
        with pytest.raises(ZeroDivisionError):
            gradient(0.5, -0.5)


def jvp_of(f):
    return lambda v, r: jvp(f, (v, r), (1.0, 0.0))


OF_BOTH = [
    "np.sum(B * ((V * np.exp(w)) @ np.linalg.inv(V)))",  # what equal eigenvalues mix cancels
    "np.sum(B * np.linalg.solve(V.T, (V * np.exp(w)).T).T)",
    "np.sum(B * ((V * np.exp(w)) @ V.T))",
    "np.sum(np.exp(w) * (V.T @ B[0]) ** 2)",
    "np.sum(w**3) + np.sum(V[:, 2] ** 2 * B[0])",
    "w[0] * w[1] + np.sum(B * (V[:, :2] @ V[:, :2].T))",
    "np.sum(w**3)",
]


EIGEN = [*itertools.product(["np.linalg.eigh(x)", "linalg.eigh(x)"], OF_BOTH)]
if NumpyVersion(np.__version__) < "2.5.0":  # later ones give complex numbers
    EIGEN += [("map(np.real, np.linalg.eig(x))", text) for text in OF_BOTH if "V[:, 2]" not in text]  # come in any order


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize(("eigen", "text"), EIGEN)
def test_functions_of_values_and_vectors_are_right_or_nan(eigen, text):
    space = {"linalg": scipy.linalg, "B": B}
    f = function_of(text, f"w, V = {eigen}")
    f.__globals__.update(space)
    e = B + B.T
    expected = along(f, EQUAL, e)
    lower = np.tril(e) if "eigh" in eigen else e
    found = np.array([np.sum(quietly(grad(f), EQUAL) * lower), quietly(jvp, f, (EQUAL,), (e,))[1]])
    assert np.all(np.isnan(found) | np.isclose(found, expected, rtol=1e-5)), (found, expected)
    assert np.isnan(found[0]) == np.isnan(found[1])


# --- null spaces -------------------------------------------------------------------------------------------------------

NULL = {
    "svd": "np.linalg.svd(x[:1])[2][1:].T",
    "left": "np.linalg.svd(x[:, :1])[0][:, 1:]",
    "scipy": "linalg.svd(x[:1])[2][1:].T",
    "null_space": "linalg.null_space(x[:1])",
}


@pytest.mark.parametrize("basis", NULL)
def test_functions_of_null_spaces(basis):
    of_space, of_basis = (function_of(text, f"Z = {NULL[basis]}") for text in ("np.sum(Z @ Z.T * B)", "Z[:, 1] @ B[0]"))
    for f in (of_space, of_basis):
        f.__globals__.update({"linalg": scipy.linalg, "B": B})
    x = Q + 0.1 * B
    assert np.isclose(np.sum(grad(of_space)(x) * B), along(of_space, x, B), rtol=1e-6)
    with pytest.raises(S2SGradError, match="which basis"):
        grad(of_basis)(x)
    if basis != "null_space":  # forward mode drops what turns the vectors
        assert np.isclose(jvp(of_space, (x,), (B,))[1], along(of_space, x, B), rtol=1e-6)
