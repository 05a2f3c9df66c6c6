"""Which object a value is: the derivative's value is that of a plain call, whatever is kept, copied or written again."""

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import grad, jvp, value_and_grad

X = np.array([0.3, 0.7, 1.1])


def same(a, b):
    return 2.0 if a is b else 1.0


def equal_sections(x):
    u = x[1:]
    w = x[1:]
    return np.sum(u * w) * (2.0 if u is w else 1.0)


def a_copy_of_the_argument(x):
    b = x.copy()
    return np.sum(b * b) * (2.0 if b is x else 1.0)


def a_copy(x):
    y = x * 2
    b = y.copy()
    return np.sum(b * b) * (2.0 if b is y else 1.0)


def a_whole_section(x):
    y = x * 2
    b = y[:]
    return np.sum(b * b) * (2.0 if b is y else 1.0)


def a_list_and_its_copy(x):
    y = x * 2
    kept = [y]
    m = list(kept)
    return np.sum(y) * (2.0 if m is kept else 1.0) * (3.0 if m[0] is kept[0] else 1.0)


def equal_products(x):
    y = x * 2
    z = x * 2
    return np.sum(y * z) * (2.0 if y is z else 1.0)


def asarray(x):
    y = x * 2
    z = np.asarray(y)
    return np.sum(y * z) * (2.0 if y is z else 1.0)


def a_name_written_through(x):
    y = x * 2
    z = y
    y += 1.0
    return np.sum(y * z) * (2.0 if y is z else 1.0)


def a_transpose_and_its_base(x):
    y = x * 2
    z = y.T
    y[0] = 3.0
    return np.sum(y * z) * (2.0 if y is z else 1.0)


def another_name_of_a_transpose(x):
    y = x * 2
    z = y.T
    w = z
    y[0] = 3.0
    return np.sum(y * z) * (2.0 if w is z else 1.0)


def one_view_in_two_lists(x):
    y = x * 2
    z = y[:2]
    kept = [z]
    m = [z]
    y[0] = 3.0
    return np.sum(y[:2] * z) * (2.0 if kept[0] is m[0] else 1.0)


def a_view_looked_for(x):
    y = x * 2
    z = y[:2]
    kept = [z]
    y[0] = 3.0
    return np.sum(y[:2] * z) * (2.0 if any(q is z for q in kept) else 1.0)


def by_a_helper(x):
    y = x * 2
    z = y[:2]
    w = z
    y[0] = 3.0
    return np.sum(y[:2] * z) * same(z, w)


def a_view_out_of_a_tuple(x):
    y = x * 2
    z = y[:2]
    w = (z, 1)
    y[0] = 3.0
    return np.sum(y[:2] * z) * same(z, w[0])


def by_number(x):
    y = x * 2
    z = y[:2]
    d = {id(z): 3.0}
    y[0] = 3.0
    return np.sum(y[:2] * z) * d.get(id(z), 1.0)


def shared_memory(x):
    y = x * 2
    z = y[:2]
    w = z
    y[0] = 3.0
    return np.sum(y[:2] * z) * (2.0 if np.shares_memory(z, w) else 1.0)


def repaired_in_place(x):
    y = x * 2
    z = np.nan_to_num(y, copy=False)
    return np.sum(y * z) * (2.0 if z is y else 1.0)


def a_reshape(x):
    y = x * 2
    r = y.reshape(1, -1)
    w = r
    y[0] = 3.0
    return np.sum(r) * (2.0 if w is r else 1.0)


def a_reshape_in_a_loop(x):
    y = x * 2
    r = y.reshape(1, -1)
    for _ in range(2):
        w = r
        y[0] = 3.0
    return np.sum(r) * (2.0 if w is r else 1.0)


ASKING = [f for f in list(globals().values()) if getattr(f, "__module__", "") == __name__ and f is not same]


@pytest.mark.records
@pytest.mark.parametrize("f", ASKING, ids=lambda f: f.__name__)
def test_the_answer_is_that_of_a_plain_call(f):
    value, gradient = value_and_grad(f)(X)
    (expected,) = central_difference(f, (X,))
    assert value == f(X) == jvp(f, (X,), (X,))[0]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X,), (X,))[1], np.sum(expected * X), rtol=1e-6)
    squared = central_difference(lambda x: np.sum(grad(f)(x) ** 2), (X,))[0]
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(f)(x) ** 2))(X), squared, rtol=1e-5, atol=1e-7)
