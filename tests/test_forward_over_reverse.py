"""Gradients of gradients: a tangent of the gradient, the same as its gradient; where it is not, the latter."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest
from corpus import CASES, by_name
from differences import copied, leaves
from judging import loaded
from kernels import KERNELS, kernel_of
from knot_programs import knot_program
from test_singular_points import ROWS, function_of, quietly

from s2sgrad import (
    S2SGradError,
    custom_gradient,
    defvjp,
    grad,
    hessian,
    hvp,
    jacrev,
    jvp,
    primitive,
    stop_gradient,
    value_and_grad,
)
from s2sgrad.driver.options import Options

SECOND = [(entry, number) for entry in CASES if entry.second is True for number in entry.argnums]
X, Y = np.array([0.3, 1.7, 2.4]), np.array([1.3, 0.2, 2.6])
SEED = np.array([1.0, 10.0, 100.0])


def same(left, right, rtol=1e-9):
    """Equal numbers in one structure, and of one dtype."""
    left, right = list(leaves(left)), list(leaves(right))
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(1.0, float(np.max(np.abs(b), initial=0.0))))


def both_ways(f, argnums, args):
    """The second gradient in each mode; the order of forward mode is taken wherever it may be."""
    out = []
    for mode in ("fwd", "rev"):
        with contextlib.redirect_stdout(io.StringIO()):
            out.append(grad(grad(f, **argnums), argnums["argnums"], mode=mode)(*args()))
    return out


@pytest.mark.sampled(one_in=120)
@pytest.mark.parametrize(("entry", "number"), SECOND, ids=[f"{entry.name}-{number}" for entry, number in SECOND])
def test_both_ways_are_the_same(entry, number):
    try:
        forward, reverse = both_ways(entry.function, {"argnums": number}, entry.fresh_args)
    except S2SGradError as error:
        assert "derivatives that you specify" in str(error)
        return
    same(forward, reverse)


@pytest.mark.parametrize("name", ["axis_of_a_number_or_an_array", "list_of_an_array_or_a_number"])
def test_a_seed_is_bound_that_is_read_behind_its_copy(name):
    """`part_dot = x_dot` is not all that `x_dot` is for: a loop reads it again."""
    entry = by_name(name)
    same(*both_ways(entry.function, {"argnums": 0}, entry.fresh_args))


@pytest.mark.sampled(one_in=72)
@pytest.mark.parametrize("name", [entry.name for entry in KERNELS])
def test_both_ways_are_the_same_for_kernels(name):
    entry = kernel_of(name)
    same(*both_ways(entry.function, entry.options, entry.args))


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("row", [row for row in ROWS if len(row) > 3], ids=lambda row: f"{row[0]} at {row[1]}")
def test_both_ways_are_the_same_at_singular_points(row):
    f, x = function_of(row[0]), eval(row[1], {"np": np})
    expected = np.sum(np.reshape(eval(row[3], {"np": np}), (-1, *np.shape(x))), axis=0)
    for mode in ("fwd", "rev"):
        np.testing.assert_allclose(quietly(grad(grad(f), mode=mode), x), expected, rtol=1e-6, atol=1e-9)


def test_mixed_derivatives_commute():
    def f(x, y):
        return np.sum(np.sin(x * np.roll(y, 1)) * x)

    for first, last in [(0, 0), (0, 1), (1, 0), ((0, 1), 1), (0, (1, 0)), ((1, 0), (0, 1))]:
        seed = (SEED, 2.0 * SEED) if isinstance(first, tuple) else SEED
        ways = [grad(grad(f, first), last, mode=mode)(X, Y, seed=seed) for mode in ("fwd", "rev")]
        same(*ways)
    same(grad(grad(f))(X, Y, seed=SEED), hvp(f, (X, Y), (SEED, None)))
    with pytest.raises(ValueError, match="shape"):
        grad(grad(f))(X, Y, seed=np.ones(2))


def test_orders_three_and_four_are_tangents_of_tangents():
    def f(x):
        return np.sum(np.sin(x) * x) * 2.0

    third, fourth = f, f
    for order in range(4):
        fourth = grad(fourth)
        third = fourth if order == 2 else third
    np.testing.assert_allclose(third(X), 2.0 * (-3.0 * np.sin(X) - X * np.cos(X)))
    np.testing.assert_allclose(fourth(X), 2.0 * (-4.0 * np.cos(X) + X * np.sin(X)))
    assert "x_bar_dot_dot" in third.source and "reverse sweep" not in fourth.source


def test_the_value_beside_it():
    def f(x):
        return np.sum(x**3)

    value, second = value_and_grad(grad(f))(X, seed=SEED)
    np.testing.assert_allclose(value, 3.0 * X**2)
    np.testing.assert_allclose(second, 6.0 * X * SEED)
    value, second = value_and_grad(grad(lambda x, y: np.sum(x * y**2)), 1)(X, Y)
    np.testing.assert_allclose(value, Y**2)
    np.testing.assert_allclose(second, 2.0 * Y)


def test_what_a_linear_function_does_is_not_computed():
    def f(A, x, n):
        for _ in range(n):
            x = A @ x
        return np.sum(x)

    second = grad(grad(f, "x"), "x")
    np.testing.assert_array_equal(second(np.eye(3), X, 4), np.zeros(3))
    assert "for" not in second.source.partition('"""')[2].partition('"""')[2]
    for name in ("jacobi_2d",):
        kernel = kernel_of(name)
        second = grad(grad(kernel.function, **kernel.options), kernel.argnums)
        second(*kernel.args())
        assert "for " not in second.source.rpartition('"""')[2], name


@pytest.mark.parametrize("argnums", [0, "b", (0, "b"), (0,), ("a", "p"), "p"])
def test_a_hessian_by_rows(argnums):
    def f(a, b, p):
        return np.sum(a**3) * b + np.sum(np.sin(a)) * p["k"] ** 2 * b

    args = X, 3.0, {"k": 2.0}
    same(hessian(f, argnums)(*args), jacrev(grad(f, argnums), argnums)(*args))


def test_the_hessian_of_a_linear_function_is_zeros():
    def f(A, x, n):
        for _ in range(n):
            x = A @ x
        return np.sum(x)

    matrix, product = hessian(f, "x"), hvp(f)
    np.testing.assert_array_equal(matrix(np.eye(3), X, 4), np.zeros((3, 3)))
    np.testing.assert_array_equal(product((np.eye(3), X, 4), (None, X, None)), np.zeros(3))
    for text in (matrix.source, product.source):
        assert "for " not in text.rpartition('"""')[2]
    for d in (hessian(f, ("A", "x")), hessian(lambda A, x, n: f(A, x, n) + np.sum(A), ("x", "A"))):
        (first, mixed), (again, second) = d(np.eye(3), X, 2)
        assert mixed.shape + again.shape == (3,) * 6 if first.ndim == 2 else first.ndim == 4
        np.testing.assert_array_equal(second if first.ndim == 4 else first, np.zeros((3, 3)))


def test_tangents_of_gradients_of_other_forms():
    def f(x, *rest):
        return x**2 + rest[0] * rest[1]

    assert jvp(grad(f, ("x", 1, 2)), (1.0, 2.0, 3.0), (1.0, 0.0, 1.0))[1] == (2.0, 1.0, 0.0)
    assert jvp(grad(f, (1,), unconnected_gradients="none"), (1.0, 2.0, 3.0), (None, 1.0, None))[1] == (0.0,)
    value, tangent = jvp(value_and_grad(lambda x: x * 3.0), (2.0,), (1.0,))
    assert value == (6.0, 3.0) and tangent == (3.0, 0.0)


def test_names_say_the_order():
    def f(x, y):
        h = np.tanh(x * y)
        return np.sum(h**2)

    second = grad(grad(f), 1)
    second(X, Y)
    assert "return y_bar_dot" in second.source and "h_bar_dot = " in second.source
    assert "along that of x, which is `seed_`" in second.source


def test_float32_and_numbers_keep_their_types():
    assert grad(grad(lambda x: np.sum(x**3)))(X.astype(np.float32)).dtype == np.float32
    for x in (2.0, np.float64(2.0), np.float32(2.0), np.array(2.0)):
        ways = both_ways(lambda x: x**3 * 2.0, {"argnums": 0}, lambda x=x: (x,))
        same(*ways)
        assert np.shape(ways[0]) == () and ways[0] == 24.0


@custom_gradient
def rolled(x):
    """A function whose gradient is what no derivative is."""
    return np.sum(x * x), lambda g: g * np.roll(x, 1)


@custom_gradient
def clipped(x):
    return x, lambda g: np.clip(g, -1.0, 1.0)


def told(x):
    return np.sum(x * x)


told = defvjp(primitive(told), lambda g, y, x: g * np.roll(x, 1))


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: rolled(x), [10.0, 100.0, 1.0]),
        (lambda x: told(x), [10.0, 100.0, 1.0]),
        (lambda x: np.sum(clipped(x) ** 3), [1.0, 0.0, 0.0]),
        (lambda x: (lambda g: g(x))(rolled), [10.0, 100.0, 1.0]),
    ],
)
def test_where_the_user_says_what_a_derivative_is_the_order_is_kept(f, expected):
    np.testing.assert_allclose(grad(grad(f))(X, seed=SEED), expected)
    with pytest.raises(S2SGradError, match="derivatives that you specify"):
        grad(grad(f), mode="fwd")(X)


def test_a_function_given_at_run_time_may_have_such_a_derivative():
    def f(x, g):
        return g(x) * 1.0

    for g in (rolled, lambda x: np.sum(x**2)):
        ways = [grad(grad(f), mode=mode)(X, g, seed=SEED) for mode in (None, "rev")]
        same(*ways)


def test_stopped_gradients_stay_stopped_in_both():
    def f(x, y):
        return np.sum(x * stop_gradient(np.roll(x, 1) ** 2) * y) + np.sum(x**2 * stop_gradient(y) * np.roll(y, 1))

    for first, last in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        same(*(grad(grad(f, first), last, mode=mode)(X, Y, seed=SEED) for mode in ("fwd", "rev")))


def test_what_a_record_shares_its_tangent_shares():
    """An array and a view of it in one record, of which a tangent may be zero at first."""
    entry = by_name("pair_of_an_array_and_a_view_of_it")
    x = entry.fresh_args()
    direction = np.linspace(0.5, 1.5, 5)
    same(hvp(entry.function, x, (direction,)), grad(grad(entry.function), mode="rev")(*x, seed=direction))


def test_modes_are_named_as_those_of_check_grads():
    with pytest.raises(ValueError, match="mode must be 'fwd' or 'rev'"):
        grad(np.sin, mode="forward")
    assert Options(mode="fwd").needs_text


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("seed", [9100, 9101, 9102, 9107, 9110, 9121, 9129])
def test_knots_in_records_are_the_same_both_ways(seed):
    """Adjoints of callees write what they unpack from records, through several names."""
    program = knot_program(seed)
    number = program.argnums[program.seed % len(program.argnums)]
    with loaded(program.source, f"<knot {seed}>") as f:
        same(*both_ways(f, {"argnums": number}, lambda: copied(program.args)))


def squared(x):
    return x * x


def test_callees_return_the_tangents_alone_where_nobody_reads_their_values():
    def f(x, y):
        return squared(np.sin(x)) * squared(y)

    second = grad(grad(f))
    np.testing.assert_allclose(second(0.7, 2.0), grad(grad(f), mode="rev")(0.7, 2.0))
    assert (
        '"""Value of `squared_bwd`, and its tangent along that of x."""' in second.source
    )  # which sin(x) is multiplied with
    second = grad(grad(lambda x, y: squared(x) * squared(y)))
    assert second(0.7, 2.0) == 8.0
    assert '"""Tangent of `squared_bwd` along that of x."""' in second.source
    value, tangent = jvp(f, (0.7, 2.0), (1.0, None))
    assert value == f(0.7, 2.0) and tangent == grad(f)(0.7, 2.0)
