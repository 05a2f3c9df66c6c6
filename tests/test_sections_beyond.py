"""Sections that reach beyond their axes: one may be a single element, which is broadcast.  No number is wrong."""

import itertools

import numpy as np
import pytest

from s2sgrad import grad


def up_to_a_length(x, y, c):
    n = len(x)
    return np.sum(x[:n] * 2.0 + c * y[:n])


def up_to_a_length_twice(x, y, c):
    n = len(x)
    w = np.tanh(y[:n])
    v = w * w
    t = np.sin(x) + v
    return np.mean(t) + np.mean(v)


def between_numbers(x, y, c):
    v = y[4:6] * c
    t = x[4:6] * 2.0 + v
    return np.mean(t) + np.mean(v)


def from_the_end(x, y, c):
    v = y[-3:-1] * c
    t = x[-3:-1] * 2.0 + v
    return np.mean(t) + np.mean(v)


def of_selections(x, y, c):
    s = slice(0, 3)
    return np.sum((x[x > 0.0])[s] + (y[y > 0.0])[s] * c)


def of_selections_twice(x, y, c):
    v = (y[y > 0.0])[:3] * c
    t = (x[x > 0.0])[:3] * 2.0 + v
    return np.sum(t) + np.sum(v)


def by_one_object(x, y, c):
    a, b = x, y
    if c > 0.1:
        a, b = x * 2.0, y * 3.0
    s = slice(0, int(c * 10))
    v = b[s] * c
    t = a[s] + v
    return np.sum(t) + np.sum(v)


def updated(x, y, c):
    s = slice(0, 3)
    w = np.zeros(3)
    w[s] = x[s] + y[s]
    w[s] += y[s] * c
    return np.sum(w)


SIZES = [n for n in itertools.product((0, 1, 2, 3, 5, 6), repeat=2) if n != (0, 0)]
FUNCTIONS = (
    up_to_a_length,
    up_to_a_length_twice,
    between_numbers,
    from_the_end,
    of_selections,
    of_selections_twice,
    by_one_object,
    updated,
)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_number_is_wrong(f):
    rng = np.random.default_rng(0)
    df, right = grad(f, ("x", "y")), 0
    for n, m in SIZES:
        x, y = rng.random(n) + 0.1, rng.random(m) + 0.1
        try:
            value = f(x, y, 0.3)
        except ValueError:  # the sections do not fit
            continue
        if not np.isfinite(value):
            continue
        try:
            x_bar, y_bar = df(x, y, 0.3)
        except ValueError as error:
            assert "broadcast" in str(error)
            continue
        right += 1
        for bar, given, moved in ((x_bar, x, lambda d: f(x + d, y, 0.3)), (y_bar, y, lambda d: f(x, y + d, 0.3))):
            steps = 1e-6 * np.eye(len(given))
            expected = np.array([(moved(d) - moved(-d)) / 2e-6 for d in steps])
            assert bar.shape == given.shape
            np.testing.assert_allclose(bar, expected.reshape(given.shape), rtol=1e-6, atol=1e-8)
    assert right > 1


def test_the_length_of_one_element_is_not_that_of_a_bound():
    df = grad(up_to_a_length_twice, "y")
    x, y = np.array([0.2, 0.4, 0.6]), np.array([0.5])
    slope = 4.0 * np.tanh(0.5) * (1.0 - np.tanh(0.5) ** 2)  # of v, in two means
    np.testing.assert_allclose(df(x, y, 0.3), [slope])


def test_a_row_and_a_column_have_no_inner_product():
    def product(x, y, u, v, c):
        scaled = np.sin(c) * np.outer(x, y)[-3:-1, -3:-1]
        return np.sum(scaled * np.outer(u, v)[-3:-1, -3:-1]) + np.sum(scaled)

    rng, df = np.random.default_rng(0), grad(product, "c")
    vectors = [rng.random(4) + 0.1 for _ in range(4)]
    np.testing.assert_allclose(df(*vectors, 0.3), product(*vectors, 0.3 + np.pi / 2))
    np.testing.assert_allclose(grad(df, "c")(*vectors, 0.3), -product(*vectors, 0.3))
    for sizes in ((2, 3, 3, 2), (3, 2, 2, 3), (2, 2, 3, 3)):
        with pytest.raises(ValueError, match="shape"):
            df(*(rng.random(n) for n in sizes), 0.3)


def test_the_shape_of_a_sum_with_a_number_is_asked_of_the_array():
    """Its contents need not be what they were."""

    def shifted(x, c, k):
        best = np.sin(x)
        for _ in range(3):
            best[k:] = np.maximum(best[k:], best[:-k] + c)
        return np.sum(best**2)

    df, x = grad(shifted, ("x", "c")), np.linspace(0.0, 2.0, 7)
    x_bar, c_bar = df(x, 0.1, 2)
    assert "best[:minus_k])" in df.source and "_old" not in df.source
    steps = 1e-6 * np.eye(7)
    np.testing.assert_allclose(c_bar, (shifted(x, 0.1 + 1e-6, 2) - shifted(x, 0.1 - 1e-6, 2)) / 2e-6, rtol=1e-7)
    np.testing.assert_allclose(
        x_bar, [(shifted(x + d, 0.1, 2) - shifted(x - d, 0.1, 2)) / 2e-6 for d in steps], rtol=1e-7, atol=1e-9
    )


def added_to_a_section(x, y, c):
    return np.sum((y[1:4] + c) * x[1:4])


def added_and_kept(x, y, c):
    w = y[1:4] + c
    return np.sum(np.sin(w) * x[1:4]) + np.sum(w * w)


def subtracted_behind_a_bound(x, y, c):
    n = len(y) - 1
    return np.sum(x[1 : n + 1] * (c - y[1 : n + 1]))


@pytest.mark.parametrize("f", [added_to_a_section, added_and_kept, subtracted_behind_a_bound], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_number_added_to_what_is_cut_short(f):
    rng, df, right = np.random.default_rng(0), grad(f, "c"), 0
    for n, m in SIZES:
        x, y = rng.random(n) + 0.1, rng.random(m) + 0.1
        try:
            slope = (f(x, y, 0.3 + 1e-6) - f(x, y, 0.3 - 1e-6)) / 2e-6
        except ValueError:  # the sections do not fit
            continue
        try:
            c_bar = df(x, y, 0.3)
        except ValueError as error:
            assert "broadcast" in str(error)
            continue
        np.testing.assert_allclose(c_bar, slope, rtol=1e-6, atol=1e-8)
        right += 1
    assert right > 10
