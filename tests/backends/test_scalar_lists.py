"""Loops over single elements run on lists: the same numbers to the last bit, and NumPy's own warnings and errors."""

from __future__ import annotations

import copy
import linecache
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import kernel_of

from s2sgrad import grad, value_and_grad, vjp
from s2sgrad.testing import check_grads

X = np.array([1.0, 2.0, 0.0, 4.0, 5.0])


def leaves(value):
    return value if isinstance(value, tuple) else (value,)


def assert_alike(one, other):
    assert len(leaves(one)) == len(leaves(other))
    for a, b in zip(leaves(one), leaves(other), strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert np.array_equal(a, b, equal_nan=True)


def on_lists(df):
    return df._latest.backend.name == "scalar_lists"


# --- which loops -------------------------------------------------------------------------------------------------------


def running_mean(x, alpha):
    mean = np.empty_like(x)
    mean[0] = x[0]
    for i in range(1, len(x)):
        mean[i] = mean[i - 1] + alpha * (x[i] - mean[i - 1])
    return mean


def swapped_rows(a, insertion):
    previous, current = np.arange(a.shape[1] + 1) * insertion, np.zeros(a.shape[1] + 1)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            current[j + 1] = min(previous[j] + a[i, j], previous[j + 1] + insertion, current[j])
        previous, current = current, previous
    return previous[-1]


def sparse_product(starts, columns, values, x):
    y = np.zeros(len(starts) - 1)
    for row in range(len(y)):
        for place in range(starts[row], starts[row + 1]):
            y[row] += values[place] * x[columns[place]]
    return y


def unpacked_rows(x, rows):
    for a, b in rows:
        state = 0.0
        for i in range(len(x)):
            state = a * state + b * x[i]
            x[i] = state
    return x


CASES = {
    "running_mean": (running_mean, (X, 0.3), (0, 1)),
    "swapped_rows": (swapped_rows, (np.arange(12.0).reshape(3, 4) % 5, 0.4), (0, 1)),
    "sparse_product": (sparse_product, (np.array([0, 2, 3]), np.array([1, 0, 1]), np.array([2.0, 3.0, 4.0]), X[:2]), (2, 3)),
    "unpacked_rows": (unpacked_rows, (X, np.array([[0.5, 0.2], [0.1, 0.3]])), (0, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_loop_runs_on_lists(name):
    f, args, argnums = CASES[name]
    df = grad(f, argnums=argnums)
    got = df(*args)
    assert on_lists(df)
    assert ".tolist()" in df.source
    plain = grad(f, argnums=argnums, lists=False)
    assert_alike(got, plain(*args))
    assert "list" not in plain.source.replace("lists", "")


OF_ELEMENTS = (
    "hanging_rope", "epidemic", "thomas", "gesummv", "ranks_of_a_sparse_graph", "folding", "edit_distance", "time_warping",
    "order_of_products", "exponential_moving_average", "products_of_the_others", "biquad_cascade", "volatility_likelihood",
    "seidel_2d",
)  # fmt: skip


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", OF_ELEMENTS)
def test_lists_change_no_bit(name):
    entry = kernel_of(name)
    df = grad(entry.function, **entry.options)
    got = df(*entry.args())
    assert on_lists(df)
    assert_alike(got, df.by_default()(*entry.args()))


def few_of_many(x):
    total = 0.0
    for i in range(3):
        total += x[i] ** 2
    return total


def rows_too(m):
    total = 0.0
    for i in range(m.shape[0]):
        total += m[i] @ m[i] + m[i, 0]
    return total


def through_a_view(x):
    y = x.copy()
    later = y[1:]
    for i in range(len(x) - 1):
        y[i] = later[i] * x[i]
    return np.sum(y * y)


def in_single_precision(x):
    y = np.zeros(len(x), dtype=np.float32)
    for i in range(len(x)):
        y[i] = x[i] * x[i] / 3.0
    return np.sum(y)


def asks_for_the_dtype(x):
    total = 0.0
    for i in range(len(x)):
        if x[i].dtype == np.float64:
            total += x[i] ** 2
    return total


def sum_of_comparisons(x):
    total = 0.0
    for i in range(len(x)):
        total += ((x[i] > 1.0) + (x[i] < 10.0)) * x[i] ** 2
    return total


def complex_power(x):
    total = 0.0
    for i in range(len(x)):
        total += (x[i] - 3.0) ** 0.5
    return total


def whole_numbers_that_wrap(x, k):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * ((k[i] * 6364136223846793005 + 1) % 7)
    return total


@pytest.mark.parametrize(
    "f", [few_of_many, through_a_view, in_single_precision, asks_for_the_dtype, sum_of_comparisons, complex_power],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_these_elements_stay_numpys(f):
    df = value_and_grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        got, plain = df(X), df.by_default()(X)
    assert_alike(got, plain)
    forward, _, _ = df.source.partition("# reverse sweep")
    assert "# forward sweep" in forward
    assert "tolist" not in forward


def test_rows_of_a_matrix_stay_arrays():
    df = grad(rows_too)
    df(np.ones((3, 2)))
    assert not on_lists(df)


def test_whole_numbers_wrap_as_numpys_do():
    k = np.array([4, 3, 2, 1, 0]) * 10**17
    df = grad(whole_numbers_that_wrap)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert_alike(df(X, k), df.by_default()(X, k))


def read_once(x, it):
    c = sum(it)
    y = 0.0
    for i in range(len(x)):
        y = y * y * 0.1 + 1.0 / (1.0 + 1.0 / x[i])
    return y * c


def half_precision(x, g):
    b = np.zeros(len(x))
    for i in range(len(x)):
        b[i] = (np.sqrt(abs(x[i] > 1.5)) + g[i]) * x[i]
    for i in range(1, len(x)):
        b[i] = b[i] + b[i - 1] * b[i - 1]
    return np.sum(b)


def weights_in_a_list(x, place, weights):
    w = weights[place]
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = w * x[i]
    return np.sum(y * y)


def rounded_before_it_is_compared(x, c):
    s = 0.0
    for i in range(len(x)):
        if c[i] == x[i]:
            s += 2.0 * x[i]
    return s


def negated_whole_numbers(x, k):
    s = 1.0
    for i in range(len(x)):
        s = s * 0.5 + x[i] * -k[i] * s
    return s


def asks_numpy_to_raise(x):
    s = 1.0
    with np.errstate(over="raise"):
        for i in range(len(x)):
            s *= x[i] * 1e200
    return s


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (read_once, lambda: (X, iter([1.0, 2.0]))),
        (half_precision, lambda: (X, X * 0.3)),
        (weights_in_a_list, lambda: (X, 0, [np.float32(0.1), 0.2])),
        (rounded_before_it_is_compared, lambda: (np.array([2.0**53, 1.0]), np.array([2**53 + 1, 1]))),
        (negated_whole_numbers, lambda: (X[:2], np.array([-(2**63), 1]))),
    ],
)
def test_what_would_differ_in_silence(f, args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert_alike(value_and_grad(f)(*args()), value_and_grad(f, lists=False)(*args()))


def compounded(x):
    total = x.copy()
    for i in range(1, len(x)):
        total[i] = total[i - 1] * x[i]
    return total


def raises_on_overflow(x):
    with np.errstate(over="raise"):
        return compounded(x * 1e200)


def on_both_ways(x):
    first = raises_on_overflow(x)
    return np.sum(first + compounded(x))


def test_numpy_raises_in_what_is_called_where_it_is_asked_to():
    for f in (on_both_ways, value_and_grad(on_both_ways)):
        with pytest.raises(FloatingPointError):
            f(X)


def test_an_error_that_the_function_asks_for():
    with pytest.raises(FloatingPointError):
        grad(asks_numpy_to_raise)(X[1:])


def of_a_long_signal(w, x):
    total, start = 0.0, 0
    while start + len(w) < len(x):
        s = 0.0
        for k in range(len(w)):
            s += w[k] * x[start + k]
        total += s * s
        start += 1
    return total


def every_third(x):
    total = 0.0
    for i in range(0, len(x), 3):
        total += x[i] ** 2
    return total


def until_it_is_enough(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2
        if total > 3.0:
            break
    return total


def band(m):
    total = 0.0
    for i in range(m.shape[0]):
        for j in range(max(0, i - 1), min(m.shape[1], i + 2)):
            total += m[i, j] * m[i, i]
    return total


@pytest.mark.parametrize(
    ("f", "args"),
    [(of_a_long_signal, (np.ones(2), X)), (every_third, (X,)), (until_it_is_enough, (X,)), (band, (np.ones((4, 4)),))],
)
def test_no_list_of_a_long_array_for_a_few_elements(f, args):
    df = grad(f, argnums=len(args) - 1)
    df(*args)
    assert "x_list" not in df.source
    assert "m_list" not in df.source


# --- numbers that NumPy's functions give ---------------------------------------------------------------------------------


def pendulum(a, x, v, n):
    for _ in range(n):
        v = v - 0.1 * (a * np.sin(x) + 0.2 * v)
        x = x + 0.1 * v
    return x * v


def with_an_inverse(a, x, v, n):
    for _ in range(n):
        v = v - 0.1 * (a / np.sin(x) + 0.2 * v)
        x = x + 0.1 * v
    return x * v


def with_an_attribute(a, x, v, n):
    for _ in range(n):
        s = np.sin(x)
        v = v - 0.1 * (a * s + 0.2 * v) * s.ndim
        x = x + 0.1 * v
    return x * v


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("kind", [float, np.float64])
@pytest.mark.parametrize("f", [pendulum, with_an_inverse, with_an_attribute])
def test_numbers_of_functions_change_no_bit(f, kind, n):
    args = kind(0.7), kind(0.3), kind(-0.2), n
    df = value_and_grad(f, argnums=(0, 1, 2))
    value, slopes = df(*args)
    other, others = df.by_default()(*args)
    assert type(value) is type(other)
    assert np.array_equal(value, other)
    assert np.array_equal(slopes, others)
    check_grads(f, args, argnums=(0, 1, 2))


def test_numbers_of_functions_become_pythons_where_it_pays():
    df = grad(pendulum, argnums=(0, 1, 2))
    df(0.7, 0.3, -0.2, 3)
    assert "float(np.sin(x))" in df.source
    df = grad(with_an_attribute, argnums=(0, 1, 2))
    df(0.7, 0.3, -0.2, 3)
    assert "float(np.sin(x))" not in df.source


def test_a_division_by_a_number_of_a_function_that_is_zero():
    df = grad(with_an_inverse, argnums=1)
    with np.errstate(all="ignore"):
        got, plain = df(0.7, 0.0, -0.2, 2), df.by_default()(0.7, 0.0, -0.2, 2)
    assert np.array_equal(got, plain, equal_nan=True)


# --- where Python's numbers raise --------------------------------------------------------------------------------------


def reciprocals(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = 1.0 / x[i]
    return np.sum(y)


def large_squares(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = (x[i] * 1e200) ** 2
    return np.sum(y)


def beyond_the_end(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i + 1] ** 2
    return np.sum(y)


def remainder_of_zero(x, k):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * (10 // k[i])
    return total


@pytest.mark.parametrize(
    ("f", "args"), [(reciprocals, (X,)), (large_squares, (X,)), (remainder_of_zero, (X, np.array([4, 3, 2, 1, 0])))]
)
def test_numpys_warnings_and_numbers(f, args):
    df = value_and_grad(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = df(*args)
    assert on_lists(df)
    with warnings.catch_warnings(record=True) as plain:
        warnings.simplefilter("always")
        assert_alike(got, df.by_default()(*args))
    assert [str(w.message) for w in caught] == [str(w.message) for w in plain]


def test_numpys_own_error():
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        grad(beyond_the_end)(X)


def test_a_function_that_does_more_than_compute_runs_once_and_by_default():
    def prints(x):
        total = 0.0
        for i in range(len(x)):
            total += 1.0 / (x[i] + 1.0)
        print(end="")
        return total

    df = grad(prints)
    df(X)
    assert not on_lists(df)


# --- what the caller sees ------------------------------------------------------------------------------------------------


def largest_squared(x):
    largest = x[0]
    for i in range(1, len(x)):
        largest = max(largest, x[i])
    return largest * largest


def test_the_value_has_numpys_type():
    value, _ = value_and_grad(largest_squared)(X)
    assert type(value) is type(largest_squared(X))


def test_the_callers_arrays_stay_as_they_are():
    x = X.copy()
    rows = np.array([[0.5, 0.2], [0.1, 0.3]])
    grad(unpacked_rows)(x, rows)
    assert np.array_equal(x, X)


def buffers_only_swapped(x, y):
    n = len(x)
    b, t = np.zeros(n), np.zeros(n)
    for i in range(1, n):
        y, b = b, y
        t[i] = x[i] + (y[n - 1 - i] + b[0])
    return np.sum(x * y) + np.sum(b**2) + np.sum(t**2)


def parts_only_swapped(x, y):
    for i in range(1, len(x)):
        x, y = y, x
        x[0] + y[i]
    return x, y


@pytest.mark.parametrize("n", [4, 5])
def test_the_callers_arrays_stay_as_they_are_where_buffers_are_swapped(n):
    args = np.linspace(0.5, 1.5, n), np.linspace(-1.0, 0.3, n)
    df = grad(buffers_only_swapped, argnums=(0, 1))
    got = df(*(handed := [a.copy() for a in args]))
    assert all(map(np.array_equal, handed, args))
    assert_alike(got, df.by_default()(*args))
    pullback = vjp(parts_only_swapped, *args)[1]
    seeds = np.arange(1.0, n + 1.0), np.arange(2.0, n + 2.0)
    out = pullback(handed := tuple(s.copy() for s in seeds))
    assert all(map(np.array_equal, handed, seeds))
    assert_alike(out, seeds if n % 2 else seeds[::-1])


def cubes(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 3
    return total


def test_second_order():
    def slope(x, v):
        return grad(cubes)(x) @ v

    v = np.arange(5.0)
    assert np.allclose(grad(slope)(X, v), 6.0 * X * v)
    assert np.allclose(grad(grad(cubes))(X), 6.0 * X)
    args = X, 0.3
    slopes = [grad(grad(running_mean, argnums=1), argnums=1, lists=lists) for lists in (True, False)]
    assert np.allclose(*(slope(*args) for slope in slopes))
    assert on_lists(slopes[0])


@pytest.mark.parametrize("x", [np.zeros(0), X[::-1], X[::2], np.zeros((2, 5))[1]], ids=["empty", "reversed", "step", "row"])
def test_any_layout(x):
    df = grad(cubes)
    assert_alike(df(x), df.by_default()(x))


# --- random programs -----------------------------------------------------------------------------------------------------

VECTORS = ("x", "y", "b")
PLACES = ("i", "i", "0", "-1", "n - 1 - i", "k[i]")


@st.composite
def expressions(draw, depth=2, inner=False):
    if depth == 0 or draw(st.booleans()):
        atoms = [f"{v}[{p}]" for v in VECTORS for p in PLACES] + ["a", "s", "0.5", "2"]
        return draw(st.sampled_from(atoms + (["m[i, j]", "t[i, j]"] * 6 if inner else [])))
    one, other = draw(expressions(depth - 1, inner)), draw(expressions(depth - 1, inner))
    forms = ("({} + {})", "({} - {})", "({} * {})", "min({}, {})", "max({}, {})", "({}) / (2.5 + ({}) ** 2)",
             "({} * ({} > 0.3))", "-({}) + np.sin({})", "abs({}) * np.tanh({})", "({0} if {1} > 0.2 else 0.5)")  # fmt: skip
    return draw(st.sampled_from(forms)).format(one, other)


@st.composite
def bodies(draw, indent, inner=False, size=3):
    lines = []
    for _ in range(draw(st.integers(1, size))):
        value = draw(expressions(2, inner))
        stores = [f"b[{draw(st.sampled_from(PLACES))}]", "y[i]", *(["t[i, j]"] if inner else [])]
        target, op = draw(st.sampled_from(stores)), draw(st.sampled_from(("=", "+=", "-=", "*=")))
        store = f"{target} {op} 0.3 * {value}"
        branch = f"if {value} > 0.1:\n{indent}    {store}"
        lines.append(draw(st.sampled_from((store, f"s += 0.1 * {value}", "y, b = b, y", branch))))
    return "".join(f"{indent}{line}\n" for line in lines)


@st.composite
def programs(draw):
    head = "def f(x, y, m, k, a):\n    n, s = len(x), 0.0\n"
    head += f"    b = {draw(st.sampled_from(('np.zeros(n)', 'x.copy()', 'x * y', 'np.ones_like(x)')))}\n"
    head += f"    t = {draw(st.sampled_from(('np.zeros(m.shape)', 'm.copy()')))}\n"
    ranges = ("range(n)", "range(1, n)", "range(n - 1, 0, -1)", "reversed(range(len(x)))")
    for _ in range(draw(st.integers(1, 2))):
        head += f"    for i in {draw(st.sampled_from(ranges))}:\n" + draw(bodies("        "))
        if draw(st.booleans()):
            head += "        for j in range(m.shape[1]):\n" + draw(bodies("            ", True))
    return head + "    return np.sum(x * y) + np.sum(b**2) + np.sum(t**2) + s\n"


@pytest.mark.dear
@settings(max_examples=10, deadline=None)
@given(programs(), st.integers(0, 1000))
def test_random_loops(text, seed):
    filename = f"<lists {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space = {"np": np, "math": math}
    exec(compile(text, filename, "exec"), space)
    rng = np.random.default_rng(seed)
    args = rng.normal(size=4), rng.normal(size=4), rng.normal(size=(4, 3)), rng.integers(0, 4, 4), 0.7
    df = grad(space["f"], argnums=("x", "y", "m", "a"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        got = df(*(handed := tuple(copy.copy(a) for a in args)))
        assert_alike(handed, args)
        assert_alike(got, df.by_default()(*args))
