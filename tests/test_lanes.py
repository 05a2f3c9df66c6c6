"""All columns at once: a run with lanes gives what as many runs give one after the other, bit by bit or nearly so.

Over the whole corpus, the kernels, and the gradients of both.  What has no text with lanes is counted, and is not many.
"""

from __future__ import annotations

import contextlib
import io
import linecache

import numpy as np
import pytest
from corpus import CASES, by_name
from differences import leaves
from kernels import KERNELS
from test_forward import tangent_like

from s2sgrad import grad, hessian, jacfwd, jacobian
from s2sgrad.api import columns
from s2sgrad.api.fitting import tangent_of
from s2sgrad.api.forward import Jvp
from s2sgrad.api.gradient import differentiated
from s2sgrad.driver.options import DEFAULT, Options
from s2sgrad.forward.lane_forms import NoLanes
from s2sgrad.runtime.lanes import stacked, stacked_alike

LANES = 3


@pytest.fixture(autouse=True)
def quiet():
    """What the programs print is not for us."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def at_once(function, fresh_args, places, **options):
    """Some tangents, and what one run with lanes gives for them: None where there is no text with lanes."""
    rng = np.random.default_rng(3)
    args = fresh_args()
    dots = [tuple(tangent_of(args[p], tangent_like(args[p], rng), "") for p in places) for _ in range(LANES)]
    along = Jvp(function, lanes=True, **options).along(places)
    try:
        return dots, along.along(fresh_args(), tuple(stacked([list(d) for d in dots])), {})
    except NoLanes:
        return dots, None


def assert_at_once(function, fresh_args, places, **options):
    """One run with lanes gives the value, and the tangents, of several runs; False where there is no text with lanes."""
    dots, found = at_once(function, fresh_args, places, **options)
    if found is None:
        return False
    value, tangent = found
    along = Jvp(function, **options).along(places)
    outs = [along.along(fresh_args(), d, {}) for d in dots]
    for a, b in zip(leaves(value), leaves(outs[0][0]), strict=True):
        assert np.array_equal(a, b)
    for a, b in zip(leaves(tangent), leaves(stacked([o[1] for o in outs])), strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=1e-10, atol=1e-10)
    return True


def gradient(function, places, **options):
    return differentiated(function, places, Options(value=True, several=True, backend=DEFAULT, **options), None)


@pytest.mark.sampled(one_in=200, turn=4)
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name)
def test_columns_of_the_corpus(entry):
    assert_at_once(entry.function, entry.fresh_args, entry.argnums)


@pytest.mark.sampled(one_in=300, turn=5)
@pytest.mark.parametrize("entry", [e for e in CASES if e.second is True], ids=lambda entry: entry.name)
def test_columns_of_gradients_of_the_corpus(entry):
    places = entry.argnums[:1]
    assert_at_once(gradient(entry.function, places), entry.fresh_args, places)


@pytest.mark.sampled(one_in=16, turn=1)
@pytest.mark.parametrize("entry", KERNELS, ids=lambda entry: entry.name)
def test_columns_of_a_kernel(entry):
    assert_at_once(entry.function, entry.args, entry.places, outputs=entry.outputs or None)


@pytest.mark.sampled(one_in=48, turn=2)
@pytest.mark.parametrize("entry", KERNELS, ids=lambda entry: entry.name)
def test_columns_of_the_gradient_of_a_kernel(entry):
    places = entry.places[:1]
    assert_at_once(gradient(entry.function, places, outputs=entry.outputs or None), entry.args, places)


def test_most_programs_have_a_text_with_lanes():
    some = CASES[::40]
    found = [at_once(e.function, e.fresh_args, e.argnums)[1] for e in some]
    assert sum(one is not None for one in found) >= 0.7 * len(some)


# --- forms, each with the rank or the alias that a wrong one would miss ----------------------------------------------

A = np.arange(6.0).reshape(2, 3) / 3.0 + 0.1
V = np.array([0.3, 0.7, 1.1])
S = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.8]])


def number_beside_matrix(x):
    return x[0] * A + np.sum(x) * V


def vector_beside_matrix(x):
    return A * x + np.outer(x, x)[:2] * V


def products(x):
    return A @ x, x @ S, (S * x) @ S, x @ x, S @ (S * x[:, None]), np.dot(S, x), np.inner(x, V), np.outer(V, x)


def reductions(x):
    y = S * x
    return y.sum(), np.sum(y, axis=0), y.sum(axis=-1), np.mean(y, axis=(0, 1)), np.sum(y, axis=1, keepdims=True) * y


def shapes(x):
    y = S * x
    return (
        y.T, y.ravel(), y.reshape(9, 1), y.reshape(-1), np.transpose(y[None], (1, 0, 2)), np.broadcast_to(x, (2, 3)),
        np.expand_dims(x, 1), np.swapaxes(y, 0, 1), np.squeeze(y[None], 0), np.diag(x), np.diag(y), np.tile(x, 2),
        np.moveaxis(y[None], 0, -1), np.moveaxis(y[None], (1, 2), (2, 0)), np.squeeze(y[:, None], axis=1),
        np.diag(y, -1), y[..., None].squeeze(-1),
    )  # fmt: skip


def indices(x):
    y, k, mask = S * x, np.array([2, 0]), np.array([True, False, True])
    beside = y[k, 1], y[:, k], y[mask], y[..., 0], y[None, k]
    return y[0], y[:, 1], y[k], beside, y[-1, ::-1], y[k][:, None, k], y[0, :, None]


def indices_in_a_tuple(x):
    y, k = S * x, np.nonzero(S > 0.25)
    place = (1, 2)
    rows = np.ix_([0, 2], [1, 2])
    z = np.zeros((3, 3))
    z[k] = y[k] * 2.0
    z[place] = x[0]
    return y[k], y[place], y[np.triu_indices(3)], y[rows], z, [x[0], 1.0] + [x[1] * x]


def index_arrays_around_a_section(x):
    y = (S * x)[:, None, :] * V[:2, None]
    return y[np.array([0, 2]), :, np.array([1, 2])], y[0, :, np.array([1, 2])]


def joins(x):
    return (
        np.concatenate([x, 2.0 * x]), np.stack([x, V * x]), np.stack([x, x], axis=-1), np.hstack([x, x]),
        np.vstack([x, x]), np.column_stack([x, x]), np.array([x[0], 2.0, x[1] * x[2]]), np.append(x, 1.0 * x),
        np.array([[x[0], x[1]], [1.0, x[2]]]), np.concatenate([S * x, S], axis=1),
    )  # fmt: skip


def stores(x):
    y = np.zeros((2, 3))
    y[0] = x
    y[:, 1] = x[0]
    y[1, 2] += x[1]
    first = y[0, 0]
    y[0, 0] = 7.0
    y *= x
    return y * first


def number_that_is_kept(x):
    s = x[0] * 2.0
    t = s
    kept = [s]
    s += x[1]
    s *= 3.0
    return s, t, kept[0]


def element_that_is_updated(x):
    s = x[0]
    s += x[1]
    t = x[2]
    t *= s
    y = x * 1.0
    for k in range(3):
        u = y[k]
        u += t
        y[0] = u * y[0]
    return s, t, u, y, np.dot(s, x), np.dot(x[:1], t), x * s


def exchanged(x):
    a, b = x[0], x[1]
    for _ in range(2):
        a, b = b, a + b
    kept = [a, b]
    kept[0] = kept[0] * 2.0
    a *= 3.0
    u, v, w = x
    return a, b, kept, u * w + v


def numbers_taken_before_a_store(x):
    y = x * 2.0
    a, b, c = y
    y[0] = 7.0 * b
    s = max(a, c)
    s += b
    t = min(a, c)
    t *= s
    return a, y, s, t, [max(0.5, b), a]


def loop_with_a_stack(x):
    s, kept = 0.0, []
    for k in range(3):
        s = s + x[k] * x[k]
        kept.append(s)
    while kept:
        s = s * kept.pop()
    return s


def branches(x):
    if x[0] > 0.0:
        y = np.zeros(3)
    else:
        y = x * 2.0
    y = y + np.where(x > 0.5, x * x, 0.0)
    return np.maximum(y, x)


def scans(x):
    moved = np.roll(x, 1), np.flip(x), np.repeat(x, 2), np.take(x, [0, 2]), np.sort(x)
    return np.cumsum(x), np.diff(x), moved, np.prod(x), np.std(x)


def solved(x):
    return np.linalg.solve(S, x), np.linalg.inv(S * x), np.linalg.norm(x), np.linalg.det(S * x), np.einsum("ij,j->i", A, x)


FORMS = [number_beside_matrix, indices_in_a_tuple, vector_beside_matrix, products, reductions, shapes, indices,
         joins, stores, number_that_is_kept, element_that_is_updated, exchanged, numbers_taken_before_a_store,
         loop_with_a_stack, branches, scans, solved]  # fmt: skip


@pytest.mark.parametrize("function", FORMS)
def test_form(function):
    assert assert_at_once(function, lambda: (V.copy(),), (0,))
    assert assert_at_once(lambda x: function(x * 2.0), lambda: (V.copy(),), (0,))


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("function", FORMS)
def test_gradient_of_form(function):
    assert_at_once(gradient(function, (0,)), lambda: (V.copy(),), (0,))


@pytest.mark.parametrize("function", FORMS)
def test_matrix_of_form(function):
    looped = jacfwd(function)
    looped._columns.run = looped._columns._one_by_one
    for a, b in zip(leaves(jacobian(function)(V)), leaves(looped(V)), strict=True):
        assert a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_products_of_small_types_keep_their_order(seed):
    """`x**3` in a product, bracketed in some way, of arrays that wrap around, round or are masks."""
    rng = np.random.default_rng(seed)
    types = ("uint8", "int16", "float32", "float64", "bool")
    factors = [rng.integers(60, 250, 3).astype(rng.choice(types)) for _ in range(4)]
    parts = [*"abcd", "x**3"]
    while len(parts) > 1:
        a, b = (parts.pop(rng.integers(len(parts))) for _ in range(2))
        parts.append(f"({a} * {b})")
    text = f"def f(x, a, b, c, d): return np.sum({parts[0]})\n"
    linecache.cache[f"<product {seed}>"] = (len(text), None, [text], f"<product {seed}>")
    namespace = {"np": np}
    exec(compile(text, f"<product {seed}>", "exec"), namespace)
    looped, made = hessian(namespace["f"]), hessian(namespace["f"])
    looped._columns.run = looped._columns._one_by_one
    np.testing.assert_allclose(made(V, *factors), looped(V, *factors), rtol=1e-6)


def test_what_has_no_text_with_lanes_is_computed_column_by_column():
    made = jacfwd(index_arrays_around_a_section)
    got = made(V)
    assert made._columns.latest is made._columns.one
    assert got[0].shape == (2, 2, 3)


# --- blocks, structures ----------------------------------------------------------------------------------------------


def test_blocks_bound_the_memory(monkeypatch):
    x = np.linspace(0.1, 1.0, 20)
    f = lambda x: np.cumsum(np.sin(x)) * x[0]  # noqa: E731
    whole = jacfwd(f)(x)
    monkeypatch.setattr(columns, "_MOST", 20 * 8 * 7)
    blocks = [*columns._blocks((x,), x.size)]
    assert len(blocks) == 3 and blocks[-1][1] == 20 and all(b - a <= 7 for a, b in blocks)
    assert np.array_equal(jacfwd(f)(x), whole)


def test_a_number_is_added_to_each_element_of_an_array_in_a_list():
    def f(x):
        m = [np.zeros(LANES), np.ones(LANES)]
        m[0][1] = x[0]
        m[1][0] = m[0][1] * x[1]
        return np.sum(m[0]) * np.sum(m[1])

    looped = hessian(f)
    looped._columns.run = looped._columns._one_by_one
    assert np.allclose(hessian(f)(V), looped(V))
    assert_at_once(gradient(f, (0,)), lambda: (V.copy(),), (0,))


def test_what_shares_memory_shares_it_in_every_lane():
    f = by_name("records_of_one_array_twice").function
    x, c = np.array([-0.4, 0.3, 1.0]), -0.7
    made = hessian(f)
    assert np.allclose(made(x, c), jacobian(grad(f))(x, c), rtol=1e-13)
    assert made._columns.latest is made._columns.many and "by_lane(laid_like" in made.source
    a = np.arange(6.0).reshape(2, 3)
    rows = [(a, a[1], a.T[1:], [a], None, 2.0), (2.0 * a, 2.0 * a[1], 2.0 * a.T[1:], [2.0 * a], None, 3.0)]
    whole, row, columns_, (again,), nothing, numbers = stacked_alike(rows)
    assert np.array_equal(whole, [a, 2.0 * a]) and nothing is None and np.array_equal(numbers, [2.0, 3.0])
    for part in (row, columns_, again):
        part += 1.0
    expected = a + 1.0
    expected[1] += 1.0
    expected[:, 1:] += 1.0
    assert np.array_equal(whole[0], expected) and not np.shares_memory(whole[0], whole[1])


def test_structures():
    f = lambda p, s: {"a": p["w"] * s, "b": [np.sum(p["w"]) * p["c"], "text"]}  # noqa: E731
    args = ({"w": V, "c": 2.0, "n": 3}, 0.5)
    made = jacfwd(f, (0, 1))
    got = made(*args)
    assert made._columns.latest is made._columns.many
    looped = jacfwd(f, (0, 1))
    looped._columns.run = looped._columns._one_by_one
    for a, b in zip(leaves(got), leaves(looped(*args)), strict=True):
        assert np.array_equal(a, b)


def test_hessian_at_once():
    def rosenbrock(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    made = hessian(rosenbrock)
    got = made(V)
    assert made._columns.latest is made._columns.many
    assert np.allclose(got, got.T)
    looped = hessian(rosenbrock)
    looped._columns.run = looped._columns._one_by_one
    assert np.allclose(got, looped(V), rtol=1e-13)
    assert "x_dot[:, 1:]" in made.source


def test_errors_are_those_of_one_column():
    def f(x):
        return x @ np.ones(2)

    with pytest.raises(ValueError, match="matmul"):
        jacfwd(f)(V)
