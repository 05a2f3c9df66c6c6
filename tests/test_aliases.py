"""Arguments that share memory, that cannot be written, that are empty or strided: right, or refused at the user's line."""

from __future__ import annotations

import inspect
import re
import sys
import traceback

import numpy as np
import pytest
from differences import central_difference, leaves, leaves_sum

from s2sgrad import S2SGradError, grad, value_and_grad

REFUSALS = (S2SGradError, ValueError, TypeError)
VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6, 1.1])
SQUARE = np.array([[0.5, -1.2, 0.8], [1.4, 0.3, -0.6], [0.7, 1.6, -0.4]])
FIELD = 0.9 + 0.6 * np.sin(1.7 * np.arange(24.0)).reshape(4, 6)
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7, -1.1])
TABLE = np.cos(np.arange(9.0)).reshape(3, 3)


def shows_a_line_of(error, function) -> bool:
    """Does the error name, in its message or in its traceback, a line of the function or of a helper of it?"""
    shown = "".join(traceback.format_exception(error))
    named = {int(number) for number in re.findall(rf'File "{re.escape(__file__)}", line (\d+)', shown)}
    users = [function, *(HELPERS[name] for name in function.__code__.co_names if name in HELPERS)]
    return any(named & set(lines_of(user)) for user in users)


def lines_of(function) -> range:
    lines, first = inspect.getsourcelines(function)
    return range(first, first + len(lines))


def right_or_refused(function, make, base, must_work=False):
    """Check the gradient of `function(*make(base))` in the memory `base`, which the arguments may share."""

    def of_the_memory(memory):
        return function(*make(memory))

    (expected,) = central_difference(of_the_memory, (base,))
    memory = base.copy()
    args = make(memory)
    try:
        value, gradient = value_and_grad(function, tuple(range(len(args))))(*args)
    except REFUSALS as error:
        assert not must_work, error
        assert shows_a_line_of(error, function), error
        assert np.array_equal(memory, base)
        return
    assert np.array_equal(memory, base)
    for got, wanted in zip(leaves(value), leaves(of_the_memory(base.copy())), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    total = np.zeros_like(base)
    for place, part in zip(leaves(make(total)), leaves(gradient), strict=True):
        assert np.shape(part) == np.shape(place)
        place += part
    np.testing.assert_allclose(total, expected, rtol=1e-5, atol=1e-6)


# --- arguments that share memory -------------------------------------------------------------------------------------


def first_written(a, b):
    a *= b
    a[0] = b[0] * a[1] * b[1]
    return np.sum(WEIGHTS[: len(a)] * a * b)


def second_written(a, b):
    s = np.sum(a * a)
    b[1:] *= a[:-1]
    return np.sum(WEIGHTS[: len(a)] * a * b) * s


def both_written(a, b):
    for i in range(len(a) - 1):
        a[i] = b[i + 1] * a[i]
        b[i] += a[i] * a[i + 1]
    return a, np.sum(b * b)


def written_by_a_helper(a, b):
    absorb(a, b)
    return np.sum(WEIGHTS[: len(a)] * a * b)


def absorb(a, b):
    a[1:] *= b[:-1]
    a[0] = np.sum(b) * a[1]


def written_through_out(a, b):
    np.multiply(a, b[::-1], out=a)
    return np.sum(WEIGHTS[: len(a)] * a * b * b)


def written_through_a_view(a, b):
    v = a[::2]
    v *= b[: len(v)]
    return np.sum(v * v) + np.sum(WEIGHTS[: len(a)] * a * b)


HELPERS = {"absorb": absorb}
WRITERS = [first_written, second_written, both_written, written_by_a_helper, written_through_out, written_through_a_view]
SHARED = {
    "the same array": lambda x: (x, x),
    "an array and a view of all of it": lambda x: (x, x[:]),
    "sections that overlap": lambda x: (x[:-1], x[1:]),
    "sections that overlap, the other way": lambda x: (x[2:], x[:-2]),
    "an array and its reverse": lambda x: (x, x[::-1]),
    "elements in turn": lambda x: (x[::2], x[1::2]),
}
DISJOINT = {
    "halves": lambda x: (x[:3], x[3:]),
    "halves reversed": lambda x: (x[2::-1], x[:2:-1]),
    "rows": lambda x: tuple(x.reshape(2, 3)),
}

every_writer = pytest.mark.parametrize("function", WRITERS, ids=lambda function: function.__name__)


@every_writer
@pytest.mark.parametrize("make", SHARED.values(), ids=SHARED)
def test_shared_memory_is_right_or_refused(function, make):
    right_or_refused(function, make, VECTOR)


@every_writer
@pytest.mark.parametrize("make", DISJOINT.values(), ids=DISJOINT)
def test_disjoint_parts_of_one_array_are_no_aliases(function, make):
    right_or_refused(function, make, VECTOR, must_work=True)


def only_read(a, b):
    t = a * b
    t[0] *= a[1]
    return np.sum(WEIGHTS * t * t * a)


@pytest.mark.parametrize("name", ["the same array", "an array and a view of all of it", "an array and its reverse"])
def test_shared_memory_that_is_only_read_works(name):
    right_or_refused(only_read, SHARED[name], VECTOR, must_work=True)


def row_scales_matrix(m, v):
    m *= v
    m[0] = v * v * m[1]
    return np.sum(TABLE * m * m) + np.sum(v)


def matrix_scales_row(m, v):
    v *= m[1]
    m[2] = v * m[0]
    return np.sum(TABLE * m * v)


MATRIX_AND_ROW = {
    "a row": lambda m: (m, m[0]),
    "another row": lambda m: (m, m[2]),
    "a column": lambda m: (m, m[:, 1]),
    "the diagonal": lambda m: (m, np.einsum("ii->i", m)),
    "a row reversed": lambda m: (m, m[1, ::-1]),
}


@pytest.mark.parametrize("function", [row_scales_matrix, matrix_scales_row], ids=lambda function: function.__name__)
@pytest.mark.parametrize("make", MATRIX_AND_ROW.values(), ids=MATRIX_AND_ROW)
def test_matrix_and_a_part_of_it(function, make):
    right_or_refused(function, make, SQUARE)


def matrix_product_in_place(a, b):
    a @= b
    a[0] *= b[:, 1]
    return np.sum(TABLE * a * b)


@pytest.mark.parametrize("make", [lambda m: (m, m), lambda m: (m, m.T)], ids=["the same", "the transpose"])
def test_matrix_product_with_itself(make):
    right_or_refused(matrix_product_in_place, make, SQUARE)


def three_arrays(a, b, c):
    a[1:] *= c[:-1]
    c[0] = b[0] * a[1]
    return np.sum(WEIGHTS[:4] * a * b * c)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: (x[:4], x[1:5], x[2:]),
        lambda x: (x[:4], x[2:], x[:4]),
        lambda x: (x[2:], x[:4], x[:4]),
    ],
    ids=["a chain", "the first and the last", "the second and the last"],
)
def test_three_arguments(make):
    right_or_refused(three_arrays, make, VECTOR)


def test_shared_memory_by_keyword():
    x = VECTOR.copy()
    (expected,) = central_difference(lambda x: first_written(x, x), (x,))
    try:
        gradient = grad(first_written, ("a", "b"))(b=x, a=x)
    except REFUSALS as error:
        assert shows_a_line_of(error, first_written)
    else:
        np.testing.assert_allclose(sum(gradient), expected, rtol=1e-5, atol=1e-6)
    assert np.array_equal(x, VECTOR)


def pair_written(pair):
    pair[0][1:] *= pair[1][:-1]
    return np.sum(WEIGHTS * pair[0] * pair[1])


def table_written(table):
    table["w"] *= table["b"]
    return np.sum(WEIGHTS * table["w"] * table["b"] ** 2)


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (pair_written, lambda x: ([x, x],)),
        (pair_written, lambda x: ((x, x[::-1]),)),
        (table_written, lambda x: ({"w": x, "b": x},)),
    ],
    ids=["list", "tuple", "dict"],
)
def test_shared_memory_inside_a_container(function, make):
    right_or_refused(function, make, VECTOR)


OUTSIDE = VECTOR.copy()


def reads_an_array_from_outside(x):
    x *= x
    x[0] = OUTSIDE[1] * x[2]
    return np.sum(OUTSIDE * x)


def writes_an_array_from_outside(x):
    OUTSIDE[:2] = x[:2] * x[2:4]
    return np.sum(OUTSIDE * x)


@pytest.fixture
def outside():
    """The array from outside, put back afterwards."""
    before = OUTSIDE.copy()
    yield OUTSIDE
    OUTSIDE[:] = before


def test_argument_that_is_an_array_from_outside(outside):
    value = reads_an_array_from_outside(outside)
    outside[:] = VECTOR
    try:
        got, _ = value_and_grad(reads_an_array_from_outside)(outside)
    except REFUSALS as error:
        assert shows_a_line_of(error, reads_an_array_from_outside)
    else:
        np.testing.assert_allclose(got, value)
    assert np.array_equal(outside, VECTOR)


def test_array_from_outside_is_read_as_it_is(outside):
    right_or_refused(reads_an_array_from_outside, lambda x: (x,), VECTOR, must_work=True)


def test_array_from_outside_that_is_written(outside):
    right_or_refused(writes_an_array_from_outside, lambda x: (x,), VECTOR)


def sums_into_a_default(x, total=np.zeros(6)):  # noqa: B008
    total += x * x
    return np.sum(total * x)


def test_default_that_is_written():
    default = sums_into_a_default.__defaults__[0]
    (expected,) = central_difference(lambda x: sums_into_a_default(x, np.zeros(6)), (VECTOR,))
    try:
        gradient = grad(sums_into_a_default)(VECTOR.copy())
    except REFUSALS as error:
        assert shows_a_line_of(error, sums_into_a_default)
    else:
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    finally:
        default[:] = 0.0


# --- what comes out shares nothing with what went in -----------------------------------------------------------------


def writes_and_returns(x, y):
    x[1:] *= y[:-1]
    y[0] = x[1] * x[2]
    return x, y[1:], x[::-1], y


def returns_them_as_they_are(x, y):
    return x, y


def adds_them(x, y):
    return np.sum(x + y)


def ignores_one(x, y):
    x[0] = 2.0
    return x * 3.0


@pytest.mark.parametrize(
    "function", [writes_and_returns, returns_them_as_they_are, adds_them, ignores_one], ids=lambda f: f.__name__
)
def test_results_share_no_memory(function):
    x, y = VECTOR.copy(), WEIGHTS.copy()
    value, gradient = value_and_grad(function, (0, 1))(x, y)
    assert np.array_equal(x, VECTOR) and np.array_equal(y, WEIGHTS)
    written = [leaf for leaf in leaves(value) if isinstance(leaf, np.ndarray)]
    for i, part in enumerate(gradient):
        assert part.flags.writeable and part.shape == (6,)
        for other in (x, y, *written, *gradient[:i]):
            assert not np.may_share_memory(part, other)
    if function is not returns_them_as_they_are:
        assert not any(np.may_share_memory(leaf, argument) for leaf in written for argument in (x, y))
    expected = central_difference(function, (VECTOR, WEIGHTS))
    for part, wanted in zip(gradient, expected, strict=True):
        np.testing.assert_allclose(part, wanted, rtol=1e-5, atol=1e-6)


def test_value_of_results_that_alias_one_another():
    value, _ = value_and_grad(writes_and_returns)(VECTOR.copy(), WEIGHTS.copy())
    for got, wanted in zip(value, writes_and_returns(VECTOR.copy(), WEIGHTS.copy()), strict=True):
        np.testing.assert_array_equal(got, wanted)


def scans(x):
    for i in range(1, len(x)):
        x[i] = x[i] * x[i - 1] + 0.1
    return x


def test_seed_is_not_written():
    seed, x = WEIGHTS.copy(), VECTOR.copy()
    gradient = grad(scans)(x, seed=seed)
    (expected,) = central_difference(lambda x: WEIGHTS * scans(x), (VECTOR,))
    assert np.array_equal(seed, WEIGHTS) and np.array_equal(x, VECTOR)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    assert not np.may_share_memory(gradient, seed)


def test_seed_that_is_the_argument():
    x = VECTOR.copy()
    gradient = grad(scans)(x, seed=x)
    (expected,) = central_difference(lambda x: VECTOR * scans(x), (VECTOR,))
    assert np.array_equal(x, VECTOR)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_seed_that_cannot_be_written():
    seed = np.broadcast_to(2.0, 6)
    gradient = grad(scans)(VECTOR.copy(), seed=seed)
    np.testing.assert_allclose(gradient, 2.0 * grad(scans)(VECTOR.copy()))
    assert gradient.flags.writeable


def test_calls_leave_nothing_behind():
    df = grad(scans)
    first = df(VECTOR.copy())
    kept = first.copy()
    df(WEIGHTS.copy())
    first[:] = 0.0
    np.testing.assert_array_equal(df(VECTOR.copy()), kept)
    value, _ = value_and_grad(scans)(VECTOR.copy())
    value[:] = 0.0
    np.testing.assert_array_equal(df(VECTOR.copy()), kept)


# --- arguments that cannot be written --------------------------------------------------------------------------------


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def buffer_of_its_own(x):
    y = x.copy()
    y[1:] *= x[:-1]
    return np.sum(WEIGHTS * y * y)


@pytest.mark.parametrize("x", [frozen(VECTOR), np.broadcast_to(0.7, 6)], ids=["read-only", "broadcast"])
def test_read_only_argument_that_is_read(x):
    (expected,) = central_difference(buffer_of_its_own, (np.array(x),))
    gradient = grad(buffer_of_its_own)(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    assert gradient.flags.writeable and not x.flags.writeable


@pytest.mark.parametrize("x", [frozen(VECTOR), np.broadcast_to(0.7, 6)], ids=["read-only", "broadcast"])
def test_read_only_argument_that_is_written(x):
    before = x.copy()
    (expected,) = central_difference(scans, (before,))
    try:
        gradient = grad(scans)(x)
    except (S2SGradError, ValueError) as error:
        assert isinstance(error, ValueError) or shows_a_line_of(error, scans)
    else:
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    assert np.array_equal(x, before) and not x.flags.writeable


def broadcast_written(x):
    table = np.broadcast_to(x, (2, 6))
    table[0] *= 2.0
    return np.sum(table * x)


def diagonal_written(x):
    table = np.outer(x, x)
    np.diagonal(table)[1:] = x[:-1]
    return np.sum(table)


@pytest.mark.parametrize("function", [broadcast_written, diagonal_written], ids=lambda function: function.__name__)
def test_view_that_cannot_be_written(function):
    with pytest.raises(ValueError, match="read-only"):
        function(VECTOR.copy())
    x = VECTOR.copy()
    with pytest.raises((ValueError, S2SGradError)):
        grad(function)(x)
    assert np.array_equal(x, VECTOR)


# --- other kinds of arguments ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x",
    [
        np.array([0.7, -1.2, 0.4], dtype=object),
        np.array([1, 2, 3]),
        np.array([True, False, True]),
        np.array([0.7 + 1j, 0.2, 0.4]),
        np.array(["a", "b", "c"]),
        [0.7, -1.2, 0.4],
    ],
    ids=["objects", "integers", "booleans", "complex", "strings", "list"],
)
def test_argument_of_a_kind_without_a_derivative(x):
    before = list(x)
    try:
        gradient = grad(scans)(x)
    except REFUSALS as error:
        assert shows_a_line_of(error, scans) or "`x`" in str(error) or "'x'" in str(error), error
    else:
        (expected,) = central_difference(scans, (np.array([0.7, -1.2, 0.4]),))
        np.testing.assert_allclose(np.array(gradient, dtype=float), expected, rtol=1e-5, atol=1e-6)
        assert before == [0.7, -1.2, 0.4]
    assert list(x) == before


def truncated_by_a_slot(n, x):
    n[0] = x[0] * 3.7
    n[1:] = x[1:3] * n[0] * 2.0
    return np.sum(n * x[3:] * x[3:])


def truncated_by_a_local(n, x):
    counts = np.zeros(6, dtype=int)
    counts[:] = x * 3.0 + n[0]
    return np.sum(counts * x * x)


def truncated_by_a_mask(n, x):
    n[x[:3] > 0.0] = x[0] * 5.0
    n[n > 2] *= 2
    return np.sum(n * x[:3] ** 2)


@pytest.mark.parametrize(
    "function", [truncated_by_a_slot, truncated_by_a_local, truncated_by_a_mask], ids=lambda function: function.__name__
)
def test_integer_array_that_is_written_with_floats(function):
    n = np.array([3, 1, 4])
    (expected,) = central_difference(function, (n, VECTOR), (1,))
    try:
        value, gradient = value_and_grad(function, 1)(n, VECTOR.copy())
    except REFUSALS as error:
        assert shows_a_line_of(error, function)
    else:
        np.testing.assert_allclose(value, function(n.copy(), VECTOR))
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    assert n.tolist() == [3, 1, 4] and n.dtype.kind == "i"


def boolean_slot(m, x):
    m[0] = x[0] * x[1]
    x[m] *= x[0]
    return np.sum(m * x * x)


def test_boolean_array_that_is_written_with_floats():
    mask = np.array([False, True, True, False, False, True])
    (expected,) = central_difference(boolean_slot, (mask, VECTOR), (1,))
    before = mask.copy()
    try:
        gradient = grad(boolean_slot, 1)(mask, VECTOR.copy())
    except REFUSALS as error:
        assert shows_a_line_of(error, boolean_slot)
    else:
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    assert np.array_equal(mask, before)


def mixed_precision(x, y):
    x[1:] *= y[:-1]
    y[0] = x[1] * x[2]
    x += y
    return np.sum(WEIGHTS * x * y)


def rounded_by_a_local(x, y):
    t = np.zeros(6, dtype=np.float32)
    t[:] = x * y
    t[1:] *= x[:-1]
    t -= y
    return np.sum(WEIGHTS * t * x)


@pytest.mark.parametrize("function", [mixed_precision, rounded_by_a_local], ids=lambda function: function.__name__)
@pytest.mark.parametrize("kinds", ["dd", "fd", "df", "ff"])
def test_single_precision(function, kinds):
    def in_double(x, y):
        return function(x, y) if function is mixed_precision else np.sum(WEIGHTS * x * product_in_double(x, y))

    def product_in_double(x, y):
        t = x * y
        t[1:] *= x[:-1]
        return t - y

    args = [array.astype(kind) for array, kind in zip((VECTOR, 1.0 / WEIGHTS), kinds, strict=True)]
    before = [arg.copy() for arg in args]
    expected = central_difference(in_double, [arg.astype(float) for arg in args])
    gradient = grad(function, (0, 1))(*args)
    for arg, old, part, wanted in zip(args, before, gradient, expected, strict=True):
        assert np.array_equal(arg, old) and arg.dtype == old.dtype == part.dtype
        np.testing.assert_allclose(part, wanted, rtol=1e-4, atol=1e-5)


# --- sizes and dimensions --------------------------------------------------------------------------------------------


def stores_of_all_kinds(x):
    x[1:] *= x[:-1]
    x[x > 0.5] **= 2
    x[...] = x * 0.5 + x[::-1] * x
    for i in range(len(x)):
        x[i] *= 2.0
    y = np.zeros_like(x)
    y[::-1] = x
    return np.sum(y * y * x)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (1,), (1, 1), (2, 0, 2)])
def test_empty_and_tiny_arguments(shape):
    x = np.full(shape, 0.7)
    (expected,) = central_difference(stores_of_all_kinds, (x,))
    value, gradient = value_and_grad(stores_of_all_kinds)(x)
    assert gradient.shape == shape and np.all(x == 0.7)
    np.testing.assert_allclose(value, stores_of_all_kinds(np.full(shape, 0.7)))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def in_place_if_an_array(x):
    y = x
    x += 1.0
    x *= y
    return x * y + y


@pytest.mark.parametrize(
    ("x", "expected"),
    [(0.7, 1.0 + 2 * 0.7 + 3 * 0.7**2), (np.float64(0.7), 1.0 + 2 * 0.7 + 3 * 0.7**2)]
    + [(np.array(0.7), 4 * 1.7**3 + 2 * 1.7), (np.array([0.7]), [4 * 1.7**3 + 2 * 1.7])],
    ids=["float", "float64", "without dimensions", "one element"],
)
def test_augmented_assignment_follows_the_kind_of_the_argument(x, expected):
    df = grad(in_place_if_an_array)
    df(0.3), df(np.array(0.3)), df(np.array([0.3]))
    gradient = df(x)
    assert np.shape(gradient) == np.shape(x) and np.all(np.asarray(x) == 0.7)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)


def without_dimensions(x, y):
    x[...] = x * y
    x[()] *= x
    y -= x * y
    z = x.reshape(1)
    z[0] += y * y
    return x * y


def test_arrays_without_dimensions():
    right_or_refused(without_dimensions, lambda m: (m[0, ...], m[1, ...]), np.array([0.7, 1.3]), must_work=True)


def element_or_row(x):
    t = x[0]
    x[0] = x[1] * 2.0
    x[1] = t
    t *= 3.0
    return np.sum(x * x) + np.sum(t * x[0])


def test_element_is_a_number_and_a_row_is_a_view():
    df = grad(element_or_row)
    for x in (VECTOR[:3], SQUARE, VECTOR[:2], FIELD):
        (expected,) = central_difference(element_or_row, (x,))
        np.testing.assert_allclose(df(x.copy()), expected, rtol=1e-5, atol=1e-6)


# --- strides ---------------------------------------------------------------------------------------------------------


def rows_and_columns(m):
    m[0] *= m[1]
    m[:, 1] = m[:, 0] * m[:, 1]
    v = m[1:, ::2]
    v *= v
    return np.sum(m * m * np.cos(np.arange(m.size)).reshape(m.shape))


def ravel_that_may_be_a_copy(m):
    v = m.ravel()
    v *= v
    v[1] = m[0, 0] * v[0]
    return np.sum(m * m) + np.sum(v * np.cos(np.arange(v.size)))


def reshape_that_may_be_a_copy(m):
    v = m.reshape(-1)
    m[0] *= m[1]
    v[:2] *= v[2:4]
    return np.sum(m * m) + np.sum(v * v * np.cos(np.arange(v.size)))


def conversion_that_may_be_a_copy(m):
    v = np.ascontiguousarray(m)
    v[0] *= v[1]
    m[1] -= v[0] * m[0]
    return np.sum(m * m * v)


def buffer_in_the_same_order(m):
    t = np.zeros_like(m)
    v = t.ravel()
    v[:2] = m[0, :2]
    t[1] = m[1] * m[0]
    return np.sum(t * t * m) + np.sum(v * v)


STRIDES = {
    "contiguous": lambda m: (m,),
    "every other column": lambda m: (m[:, ::2],),
    "every other row": lambda m: (m[::2],),
    "transposed": lambda m: (m.T,),
    "rows reversed": lambda m: (m[::-1],),
    "columns reversed": lambda m: (m[:, ::-1],),
    "both reversed, with a step": lambda m: (m[::-1, ::-2],),
    "inner section": lambda m: (m[1:, 1:-1],),
    "transposed section": lambda m: (m[::2, 1:].T,),
}


@pytest.mark.parametrize("make", STRIDES.values(), ids=STRIDES)
def test_strided_arguments(make):
    right_or_refused(rows_and_columns, make, FIELD, must_work=True)


@pytest.mark.parametrize("make", STRIDES.values(), ids=STRIDES)
@pytest.mark.parametrize(
    "function",
    [ravel_that_may_be_a_copy, reshape_that_may_be_a_copy, conversion_that_may_be_a_copy, buffer_in_the_same_order],
    ids=lambda function: function.__name__,
)
def test_view_or_copy_by_the_strides_of_the_argument(function, make):
    right_or_refused(function, make, FIELD)


def test_view_or_copy_is_decided_in_each_call():
    df = value_and_grad(ravel_that_may_be_a_copy)
    for make in (*STRIDES.values(), *STRIDES.values()):
        (m,) = make(FIELD.copy())
        (twin,) = make(FIELD.copy())
        try:
            value, _ = df(m)
        except REFUSALS as error:
            assert shows_a_line_of(error, ravel_that_may_be_a_copy)
        else:
            np.testing.assert_allclose(value, ravel_that_may_be_a_copy(twin))


# --- errors of NumPy -------------------------------------------------------------------------------------------------


def slice_of_another_length(x, y):
    x[0] = 2.0 * y[0]
    x[:2] = y[:3]
    return np.sum(x)


def array_into_a_slot(x, y):
    x[1] *= y[0]
    x[0] = y
    return np.sum(x)


def index_out_of_bounds(x, y):
    for i in range(5, 8):
        x[i] = x[i - 1] * y[0]
    return np.sum(x)


def index_out_of_bounds_in_an_array(x, y):
    x[[0, 1]] *= y[:2]
    x[[0, 9]] = y[:2]
    return np.sum(x)


def too_many_indices(x, y):
    x[0, 1] = y[0]
    return np.sum(x)


def mask_of_another_length(x, y):
    x *= y
    x[y[:3] > 0.0] = 1.0
    return np.sum(x)


def mask_with_another_number_of_values(x, y):
    x[x > 0.0] = y[:2]
    return np.sum(x)


def operand_larger_than_the_array(x, y):
    x *= 2.0
    x += np.outer(y, y)
    return np.sum(x)


def section_with_another_operand(x, y):
    x[1:3] *= y[:3]
    return np.sum(x)


def matrix_product_of_another_shape(x, y):
    x @= np.outer(y[:3], y)
    return np.sum(x)


def out_of_another_shape(x, y):
    x[0] = y[1]
    np.multiply(x, y, out=x[:3])
    return np.sum(x)


def integers_augmented_with_floats(x, y):
    n = np.arange(6)
    n += x * y
    return np.sum(n * x)


def copied_from_another_shape(x, y):
    np.copyto(x[:2], y[:3])
    return np.sum(x)


def put_out_of_bounds(x, y):
    np.put(x, [1, 9], y[:2])
    return np.sum(x)


def rows_that_do_not_match_the_names(x, y):
    m = x.reshape(2, 3)
    a, b, c = m
    a *= b
    return np.sum(a * c)


def error_in_a_helper(x, y):
    x[0] = 3.0 * y[0]
    absorb(x, y[:3])
    return np.sum(x)


def store_into_a_number(x, y):
    s = x[0]
    s[0] = y[0]
    return np.sum(x)


BREAKING = [
    slice_of_another_length,
    array_into_a_slot,
    index_out_of_bounds,
    index_out_of_bounds_in_an_array,
    too_many_indices,
    mask_of_another_length,
    mask_with_another_number_of_values,
    operand_larger_than_the_array,
    section_with_another_operand,
    matrix_product_of_another_shape,
    out_of_another_shape,
    integers_augmented_with_floats,
    copied_from_another_shape,
    put_out_of_bounds,
    rows_that_do_not_match_the_names,
    error_in_a_helper,
    store_into_a_number,
]


@pytest.mark.parametrize("function", BREAKING, ids=lambda function: function.__name__)
def test_exception_of_numpy_comes_out_and_arguments_stay(function):
    with pytest.raises((ValueError, IndexError, TypeError)) as plain:
        function(VECTOR.copy(), WEIGHTS.copy())
    x, y = VECTOR.copy(), WEIGHTS.copy()
    with pytest.raises((plain.type, S2SGradError)):  # what NumPy never takes may be refused before it runs
        grad(function, (0, 1))(x, y)
    assert np.array_equal(x, VECTOR) and np.array_equal(y, WEIGHTS)


def up_to(x, n):
    s = 0.0
    for i in range(n):
        x[i] = x[i] * x[i - 1]
        s = s + x[i] * x[0]
    return s


def test_next_call_after_an_exception_is_right():
    df = grad(up_to)
    expected = df(VECTOR.copy(), 5)
    for n in (7, 9):
        x = VECTOR.copy()
        with pytest.raises(IndexError):
            df(x, n)
        assert np.array_equal(x, VECTOR)
        np.testing.assert_array_equal(df(VECTOR.copy(), 5), expected)


def test_exception_of_the_second_call_in_a_chain():
    x = SQUARE.copy()
    df = grad(lambda m: np.sum(row_scales_matrix(m, m[0] * m[1])))
    expected = df(x)
    with pytest.raises(ValueError):
        df(FIELD.reshape(6, 4).copy())
    np.testing.assert_array_equal(df(x), expected)
    assert np.array_equal(x, SQUARE)


def test_this_file_measures_what_it_says():
    """A gradient of the first argument alone, and the one of the arguments made separate, are noticed."""
    for separate in ((1.0, 0.0), (1.0, 1.0)):
        parts = central_difference(first_written, (VECTOR, VECTOR.copy()))
        total = sum(weight * part for weight, part in zip(separate, parts, strict=True))
        (expected,) = central_difference(lambda x: first_written(x, x), (VECTOR,))
        assert np.max(np.abs(total - expected)) > 0.1
    x = VECTOR.copy()
    assert abs(leaves_sum(first_written(x, x)) - leaves_sum(first_written(VECTOR.copy(), VECTOR))) > 0.1
    assert sys.modules[__name__].__file__ == __file__
