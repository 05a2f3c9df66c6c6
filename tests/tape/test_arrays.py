"""Arrays: NumPy's functions on them, what is plain, and what would drop a gradient."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
from scipy import special

from s2sgrad import Array, GradientTape, NoRule, Variable, constant, custom_gradient, stop_gradient


@pytest.fixture
def followed():
    x = constant([1.0, 2.0, 3.0])
    with GradientTape() as t:
        t.watch(x)
        yield x


def slope(f, x):
    """The gradient of f at a plain x."""
    x = constant(x)
    with GradientTape() as t:
        t.watch(x)
        y = f(x)
    return np.asarray(t.gradient(y, x))


# --- Array in, Array out ---------------------------------------------------------------------------------------------


def test_array_in_array_out():
    x = constant([1.0, 2.0])
    for y in (x + 1, 1 + x, np.ones(2) * x, [1.0, 2.0] - x, np.float64(2.0) * x, np.sin(x), x.sum(), x[0], x.T, x @ x):
        assert isinstance(y, Array)


def test_plain_in_plain_out():
    assert type(np.sin(np.ones(2))) is np.ndarray


def test_bools_and_ints_are_plain():
    x = constant([1.0, 2.0])
    assert type(x > 1.0) is np.ndarray and (x > 1.0).tolist() == [False, True]
    assert isinstance(np.argmax(x), np.integer) and x.argmax() == 1
    assert x.shape == (2,) and x.ndim == 1 and x.size == 2 and x.dtype == float


def test_an_array_copies_its_input():
    a = np.ones(2)
    x = constant(a)
    a[0] = 5.0
    assert x.numpy().tolist() == [1.0, 1.0]
    x.numpy()[0] = 7.0
    np.asarray(x)[0] = 7.0
    assert x.numpy().tolist() == [1.0, 1.0]


def test_a_record_keeps_its_own_copy_of_an_ndarray():
    a, x = np.array([2.0, 3.0]), constant([1.0, 1.0])
    with GradientTape() as t:
        t.watch(x)
        y = x * a
        a[:] = 0.0
    assert t.gradient(y, x).numpy().tolist() == [2.0, 3.0]


def test_a_result_that_is_a_view_of_an_ndarray_is_a_copy():
    a, x = np.zeros((1, 2)), constant([1.0, 1.0])
    out = np.broadcast_arrays(x, a)[1]
    a[:] = 5.0
    assert out.numpy().tolist() == [[0.0, 0.0]]


def test_gradients_become_ndarrays_when_no_tape_records():
    g = constant([1.0, 2.0])
    assert type(np.asarray(g)) is np.ndarray and float(g[0]) == 1.0 and [float(v) for v in g] == [1.0, 2.0]
    np.testing.assert_allclose(g, [1.0, 2.0])


# --- leaks -----------------------------------------------------------------------------------------------------------


def test_np_asarray_of_a_followed_array(followed):
    for leak in (np.asarray, np.array, lambda x: np.array([x, x]), list_to_array, lambda x: x.tolist(), np.float64):
        with pytest.raises(TypeError, match="follows"):
            leak(followed)
    assert type(followed.numpy()) is np.ndarray  # the way out


def list_to_array(x):
    return np.asarray([x[0], x[1]])


def test_float_of_a_followed_array_warns(followed):
    for into in (float, int, lambda v: v.item(), math.sin):
        with pytest.warns(UserWarning, match="constant"):
            into(followed[0])


def test_float_is_free_otherwise():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(constant(2.0)) == 2.0 and math.sqrt(constant(4.0)) == 2.0


def test_an_item_of_a_plain_array_cannot_hold_a_followed_array(followed):
    plain = np.zeros(3)
    with pytest.raises(TypeError):
        plain[:] = followed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an error all the same
        with pytest.raises((TypeError, ValueError)) as raised:
            plain[0] = followed[0]
        assert "cannot hold" in str(raised.value.__cause__ or raised.value)
    plain[0] = constant(1.0)  # nobody follows it
    plain[0] = 0.0
    with pytest.raises(TypeError):
        plain[:2] = followed[:2]
    assert plain.tolist() == [0.0, 0.0, 0.0]


def test_augmented_assignment_to_an_ndarray(followed):
    plain = np.zeros(3)
    with pytest.raises(TypeError, match="y = y \\+ x"):
        plain += followed


@pytest.mark.parametrize("write", [
    lambda x, out: np.add(x, x, out=out),
    lambda x, out: np.add(x, x, out),
    lambda x, out: np.sum(x, out=out),
    lambda x, out: np.sum(x, None, None, out),
    lambda x, out: x.sum(out=out),
    lambda x, out: np.add.at(out, [0], x[0]),
    lambda x, out: np.copyto(out, x),
])  # fmt: skip
def test_out(followed, write):
    with pytest.raises(TypeError):
        write(followed, np.zeros(3))


def test_augmented_assignment_rebinds():
    x = constant(3.0)
    with GradientTape() as t:
        t.watch(x)
        y = x
        y += x
        loss = 0.0
        loss += y
    assert x.numpy() == 3.0 and t.gradient(loss, x).numpy() == 2.0


def test_item_assignment_says_what_to_do():
    x = constant([1.0])
    with pytest.raises(TypeError, match="differentiable"):
        x[0] = 2.0
    with pytest.raises(TypeError, match="differentiable"):
        x.sort()
    with pytest.raises(TypeError, match="differentiable"):
        x.fill(0.0)


def test_a_c_function_warns(followed):
    with pytest.warns(UserWarning):
        assert math.exp(followed[0] * 0.0) == 1.0


def test_library_code_without_the_protocols_raises(followed):
    with pytest.raises(TypeError):
        special.logsumexp(followed)


def test_a_function_without_a_rule_is_an_error_on_the_path_alone():
    x = constant([2.0, 3.0])
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y, z = special.itstruve0(x), np.sum(x)
    assert t.gradient(z, x).numpy().tolist() == [1.0, 1.0]
    with pytest.raises(LookupError, match="itstruve0") as raised:
        t.gradient(y, x)
    assert isinstance(raised.value, NoRule)
    assert "special.itstruve0(x)" in str(raised.value) and "test_arrays.py" in str(raised.value)


def test_a_keyword_without_a_rule_is_an_error():
    x = constant([1.0, 2.0])
    with GradientTape() as t:
        t.watch(x)
        y = np.sum(x, dtype=np.float32)
    with pytest.raises(LookupError, match="dtype") as raised:
        t.gradient(y, x)
    assert _marked(raised.value) == "np.sum(x, dtype=np.float32)"


def test_complex_values_on_the_way():
    x = constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        y = np.real(np.exp(1j * x)) + (x * 3j).imag
    np.testing.assert_allclose(t.gradient(y, x), 3.0 - np.sin(2.0))
    with GradientTape() as t:
        t.watch(x)
        y = np.exp(1j * x)
    with pytest.raises(TypeError, match="complex numbers, which have no gradient"):
        t.gradient(y, x)


def _marked(error):
    """The construct under the caret."""
    place = error.place
    assert place.file == __file__ and place.shown() in str(error)
    return place.text[place.column : place.end_column]


@pytest.mark.parametrize("f", [special.itstruve0, lambda x: special.itstruve0(x.copy()).sum()])
def test_what_has_no_rule_is_no_silent_zero(f):
    x = constant([1.0, 2.5])
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = f(x)
        stopped = np.sum(stop_gradient(f(x)) * x)
        asked = np.sum(x * x) if np.all(f(x) < 9.0) else None
    for ask in (t.gradient, t.jacobian):
        with pytest.raises(NoRule, match="has no derivative rule"):
            ask(y, x)
        with pytest.raises(NoRule, match="has no derivative rule"):
            ask(y, {"x": x}, unconnected_gradients="zero")
    np.testing.assert_allclose(t.gradient(stopped, x), f(x.numpy()) * np.ones(2))
    np.testing.assert_allclose(t.gradient(asked, x), [2.0, 5.0])


def test_what_is_flat_by_nature_stays_flat():
    x = constant([1.2, 2.5, -0.5])
    with GradientTape() as t:
        t.watch(x)
        y = np.sum(np.floor(x) * x) + np.sum(np.sign(x) * (x > 0.0)) + x[np.argmax(x)] + (x // 0.7)[0] + np.round(x)[1]
    np.testing.assert_allclose(t.gradient(y, x), [1.0, 2.0 + 1.0, -1.0])


def test_a_step_has_a_derivative_in_its_middle_value():
    x, h = constant([0.0, 1.0, 0.0]), constant([0.5, 0.5, 2.0])
    with GradientTape() as t:
        t.watch([x, h])
        y = np.heaviside(x, h) * 3.0
    x_bar, h_bar = t.gradient(y, [x, h])
    assert x_bar is None or not x_bar.numpy().any()
    np.testing.assert_array_equal(h_bar, [3.0, 0.0, 3.0])


def test_what_fails_in_the_gradient_names_the_line_that_was_differentiated():
    @custom_gradient
    def failing(x):
        def pullback(g):
            raise ValueError("not this one")

        return x * 2.0, pullback

    x = constant(1.0)
    with GradientTape() as t:
        t.watch(x)
        y = 3.0 * failing(x)
    with pytest.raises(ValueError, match="not this one") as raised:
        t.gradient(y, x)
    assert f'{__file__}", line ' in raised.value.__notes__[0] and "y = 3.0 * failing(x)" in raised.value.__notes__[0]


# --- what users write ------------------------------------------------------------------------------------------------

M = np.array([[2.0, 1.0], [0.5, 3.0]])
V = np.array([1.0, 2.0, 3.0])
ONES = np.ones(2)


@pytest.mark.parametrize(("f", "x", "expected"), [
    (lambda x: x.T @ x, V, 2 * V),
    (lambda x: np.sum(np.linalg.solve(x, np.ones(2))), M, -np.outer(ONES @ np.linalg.inv(M), np.linalg.inv(M) @ ONES)),
    (lambda x: np.sum(np.where(x > 1.5, x * x, 0.0)), V, [0.0, 4.0, 6.0]),
    (lambda x: np.sum(x[1:] * x[:-1]), V, [2.0, 4.0, 2.0]),
    (lambda x: np.sum(x[[0, 0, 2]] * np.array([1.0, 2.0, 3.0])), V, [3.0, 0.0, 3.0]),
    (lambda x: np.sum(x[x > 1.5]), V, [0.0, 1.0, 1.0]),
    (lambda x: x[-1] * x[..., 0], V, [3.0, 0.0, 1.0]),
    (lambda x: np.einsum("i,i", x, x), V, 2 * V),
    (lambda x: np.sum(np.concatenate([x, 2 * x])), V, [3.0, 3.0, 3.0]),
    (lambda x: np.sum(np.stack([x, x, np.ones(3)])), V, [2.0, 2.0, 2.0]),
    (lambda x: np.sum(special.gammaln(x)), V, special.digamma(V)),
    (lambda x: sum(v * v for v in x), V, 2 * V),
    (lambda x: max(x[0], x[2]), V, [0.0, 0.0, 1.0]),
    (lambda x: np.sum(np.ones(3) @ np.diag(x)), V, [1.0, 1.0, 1.0]),
    (lambda x: np.sum(2.0**x), V, np.log(2.0) * 2.0**V),
    (lambda x: np.sum(abs(-x) + +x), V, [2.0, 2.0, 2.0]),
    (lambda x: np.sum(x.reshape(3, 1) * x.reshape((1, 3))), V, [12.0, 12.0, 12.0]),
    (lambda x: np.sum(divmod(x, 2.0)[1]), V, [1.0, 1.0, 1.0]),
    (lambda x: x.mean() + x.max() + x.std(ddof=1) * 0.0, V, [1 / 3, 1 / 3, 4 / 3]),
    (lambda x: [1.0, 2.0, 3.0] @ x + np.sum(np.multiply([x[0], x[1], 2.0], x)), V, [3.0, 6.0, 5.0]),
    (lambda x: np.linalg.norm(x), V, V / np.linalg.norm(V)),
    (lambda x: np.add.reduce(x) + np.sum(np.multiply.outer(x, V)), V, [7.0, 7.0, 7.0]),
    (lambda x: np.sum(np.split(x, [1])[1]), V, [0.0, 1.0, 1.0]),
    (lambda x: np.sum(np.clip(x, 1.5, 2.5)), V, [0.0, 1.0, 0.0]),
    (lambda x: x.astype(np.float32).sum() + x.copy().sum() + x.flatten()[0], V, [3.0, 2.0, 2.0]),
    (lambda x: np.sum(np.average(x, weights=x)), V, [(2 * v * 6 - 14) / 36 for v in V]),
])  # fmt: skip
def test_users_write(f, x, expected):
    np.testing.assert_allclose(slope(f, x), expected, rtol=1e-6)


@pytest.mark.parametrize(("f", "expected"), [
    (lambda x: np.where(x > 0, np.log(x), 0.0), [0.0, 1.0, 0.25]),
    (lambda x: np.where(x > 0, np.sqrt(x) / x, 2 * x), [2.0, -0.5, -0.0625]),
    (lambda x: np.where(x > 0, np.where(x > 2, np.log(x), 1 / x), x * x), [0.0, -1.0, 0.25]),
    (lambda x: np.where(x[0] > 0, 1 / x[0], x), [1.0, 1.0, 1.0]),
    (lambda x: np.where(x > 0, np.log(x) * np.ones((2, 1)), x), [1.0, 2.0, 0.5]),
])  # fmt: skip
def test_a_branch_that_is_not_taken_contributes_zero(f, expected):
    """However steep it is there; in the second derivative too."""
    x = constant([0.0, 1.0, 4.0])
    with GradientTape() as outer:
        outer.watch(x)
        with np.errstate(all="ignore"), GradientTape() as t:
            t.watch(x)
            y = f(x) if f(x).ndim == 1 else f(x)[0] + f(x)[1] - np.where(x > 0, 0.0, x)
        g = t.gradient(y, x)
        s = np.sum(g)
    np.testing.assert_allclose(g, expected)
    assert np.isfinite(outer.gradient(s, x).numpy()).all()


@pytest.mark.parametrize("size", [3, 1 << 16])
@pytest.mark.parametrize("f", [
    lambda x: np.where(x < 0, np.log(x), 2.0),
    lambda x: np.where(x[0] < 0, 1.0 / x, 2.0),
    lambda x: np.where(x > 0, 2.0, np.sqrt(x)[::2].sum()),
])  # fmt: skip
def test_a_branch_that_is_never_taken_is_connected(f, size):
    """The gradient is zeros and not None, which would mean that there is no path."""
    x = constant(np.linspace(1.0, 2.0, size))
    with np.errstate(all="ignore"), GradientTape(persistent=True) as t:
        t.watch(x)
        y = f(x)
    np.testing.assert_array_equal(t.gradient(y, x), np.zeros(size))


def test_looking():
    x, v = constant([1.0, 2.5]), Variable(np.float32(2.0), name="v")
    assert repr(x) == "Array([1. , 2.5])" and str(x) == "[1.  2.5]" and len(x) == 2
    assert repr(v) == "Variable(2.0, dtype=float32)" and f"{v:.3f}" == "2.000" and f"{x[1]}" == "2.5"
    assert repr(constant(3)) == "Array(3)"
    assert 2.5 in x and 7.0 not in x and bool(constant(1.0)) and not constant(0.0)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError, match="0-d"):
        list(constant(1.0))
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = x.nothing_such
    assert {"sum", "T", "shape", "numpy"} <= set(dir(x)) and not hasattr(x, "nothing")


def test_comparing_and_hashing():
    x = constant([1.0, 2.0])
    assert (x == x).all() and (x != 1.0).tolist() == [False, True]
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    assert (x == "a") is False and (x != "a") is True


def test_copies_keep_the_identity_and_pickles_the_value():
    x = constant([1.0, 2.0])
    with GradientTape() as t:
        t.watch(x)
        y = np.sum(copy.deepcopy({"x": x})["x"] ** 2)
    assert t.gradient(y, x).numpy().tolist() == [2.0, 4.0]
    assert pickle.loads(pickle.dumps(x)).numpy().tolist() == [1.0, 2.0]


def test_matrices_and_masked_arrays_are_refused():
    x = constant([1.0, 2.0])
    with pytest.raises(TypeError, match="ndarray"):
        x + np.ma.array([1.0, 2.0], mask=[True, False])


def test_only_numbers():
    for value in ("text", [object()], None):
        with pytest.raises(TypeError):
            constant(value)
    with pytest.raises(TypeError):
        constant(1.0) + "a"


def test_as_an_index_and_in_a_range():
    n = constant(2)
    assert [10, 20, 30][n] == 30 and list(range(n)) == [0, 1]
    with pytest.raises(TypeError):
        [1, 2][constant(1.0)]


@pytest.mark.parametrize("x", [constant([1.0, 2.0]), Variable([1.0, 2.0])])
def test_the_plain_value_is_given_by_numpy_alone(x):
    """An attribute would be a way out without a word."""
    for name in ("value", "data", "flat", "base", "__array_interface__"):
        with pytest.raises(AttributeError, match="numpy"):
            getattr(x, name)


def test_arrays_of_objects_would_lose_the_gradient(followed):
    twice = np.frompyfunc(lambda a: a * 2, 1, 1)
    with pytest.raises(TypeError, match="follows"):
        twice(followed)
    assert twice(constant([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_stores_of_every_kind_are_errors(followed):
    def stored(index, value):
        plain = np.zeros(3)
        plain[index] = value

    for index, value in [
        (0, followed[0]),
        (slice(0, 2), followed[0]),
        ([0, 1], followed[1]),
        (np.array([True, False, True]), followed[0]),
        (slice(None), [followed[0], 1.0, 2.0]),
        (..., followed),
    ]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises((TypeError, ValueError)):
                stored(index, value)
