"""Functions at the edges of what is followed: against differences, in both modes, and with the value of a plain call."""

import bisect
import collections
from functools import partial

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

from s2sgrad import (
    S2SGradError,
    custom_gradient,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    value_and_grad,
    vjp,
)
from s2sgrad.runtime.checks import Refusal

X = np.array([0.7, 1.5, 0.4])
SYMMETRIC = np.array([[2.0, 0.3], [0.3, 1.0]])
LABELS = np.array([0, 1, 2])
CLASSES = LABELS.max() + 1
NOTHING = None


def listed(a):
    return [a.ravel()]


class Slotted:
    __slots__ = ("a",)

    def _cdf(self, x):
        return x * x

    def total(self, x):
        good = listed(x)
        return np.sum(self._cdf(*good))


def starred_method(x):
    return Slotted().total(x)


def impedance(x):
    R, L, C = x
    Z = R + 2j * L + 1 / (2j * C)
    return abs(Z)


def view_of_a_copy(x):
    y = x * x
    v = y.flat[1:]
    y[2:] *= x[1]
    return np.sum(v * v)


def scaled(a, b, c=1.0):
    return a * b * c


def starred_tuple(x):
    args = (x[1], 3.0)
    good = (x[0], *args)
    return scaled(*good)


def one_of_several(f, args, k, **kw):
    return lambda x: f(*args[:k], x, *args[k + 1 :], **kw)


def starred_slices(x):
    return one_of_several(scaled, (2.0, 3.0), 1, c=7.0)(x[0])


def wrapped(f):
    def w(*a, **k):
        return f(*a, **k)

    return w


def through_a_wrapper(x):
    return wrapped(scaled)(x[0], x[1], c=x[2])


def mapped_partial(x):
    return sum(map(partial(scaled, x[0]), [1.0, 2.0]))


def by_a_numpy_integer(x):
    return x[0] / CLASSES


def listed_numbers(x):
    return sum(v * v for v in x.tolist())


def named_values(x):
    S = SYMMETRIC * x[0]
    return np.sum(np.linalg.eigh(S).eigenvalues ** 2) + np.sum(np.linalg.svd(S).S) + np.linalg.slogdet(S).logabsdet


def four_rows(x):
    a, b, c, d = np.atleast_2d(x, 2.0 * x, X, SYMMETRIC)
    return np.sum(a * b) + np.sum(a * c) * d[0, 0]


def between(x):
    return x[0] * bisect.bisect([0.1, 0.5, 0.9], x[0])


def other_branch(x):
    return np.sum(x + NOTHING if NOTHING else x)


class Base:
    def size(self, x):
        return np.sum(x * x)


class Derived(Base):
    def size(self, x):
        return super().size(x) ** 2


def unbound_super(x):
    return Derived.size(Derived(), x)


def partitioned(x):
    y = x * 1.0
    y.partition(1)
    return y[0] * 2.0 + y[2]


@custom_gradient
def times(a, b):
    return a * b, lambda g: (g * b, g * a)


def rule_by_keywords(x):
    return times(a=x[0], b=x[1])


def gain(a):
    return a * a, scipy.special.itstruve0(a)


def dropped(x):
    K, _ = gain(x[0])
    return K


def of_a_number(x):
    s = np.sum(x)
    taken = np.take(s, 0, axis=0) + np.sum(np.repeat(s, 2, axis=0)) + np.max(s, axis=0)
    return np.prod(s, axis=0) + np.sum(np.cumprod(s, axis=0)) + taken


def trapezoids(x):
    places = np.array([[0.0, 1.0, 2.5], [0.0, 2.0, 3.0]])
    return np.sum(np.trapezoid(x, x=places)) + np.sum(np.trapezoid(np.ones((2, 3)), x=x))


def differences_before(x):
    return np.sum(np.diff(x, prepend=x[0]) ** 2) + np.sum(np.diff(x, append=x) ** 3)


def of_numbers(x):
    s = np.sum(x)
    return np.sum(np.convolve(s, 2.0)) + np.sum(scipy.linalg.expm(s)) + np.sum(scipy.linalg.solve(s, x[0]))


class Answering:
    def __init__(self):
        self.w = 2.0

    def __getattr__(self, name):
        raise AttributeError(name)

    def _pdf(self, y, z):
        return self.w * y * z

    def total(self, x):
        both = dict(zip("yz", (listed(x)[0], listed(3.0 * x)[0]), strict=True))
        return np.sum(self._pdf(**both))


def keywords_of_an_answering_object(x):
    return Answering().total(x)


def container_for_a_kept_method(x):
    square = Slotted()._cdf
    return np.sum(square(listed(x)[0]))


def captured_by_a_lambda(x):
    good = listed(x)
    call = lambda: SLOTTED["it"]._cdf(*good)  # noqa: E731
    return np.sum(call())


SLOTTED = {"it": Slotted()}


class Holding:
    def __init__(self, x):
        self.x = x

    def _half(self):
        return self.x * self.x

    def total(self):
        half = getattr(self, "_" + "half")
        return np.sum(half())


def held_by_self(x):
    return Holding(x).total()


class Wrapping:
    def __init__(self, f):
        self.f = f

    def __call__(self, *args, **keywords):
        return self.f(*args, **keywords)


WRAPPED = Wrapping(wrapped(scaled))


def through_a_wrapping_object(x):
    return WRAPPED(x[0], x[1], c=x[2])


def starred_array(x):
    return scaled(*x) + np.hypot(*x[:2])


def starred_to_a_length_of_the_run(x):
    last = [x[0]]
    while last[-1] > 0.5 and len(last) < 2:
        last.append(x[2])
    return scaled(*last)


def rule_by_keywords_in_another_order(x):
    return times(b=x[0] ** 2, a=x[1]) * times(x[2], b=x[0]) + times(**{"b": x[1], "a": x[2]})


def dropped_in_a_loop(x):
    total = 0.0
    for v in x:
        kept, *_ = gain(v)
        total += kept
    return total


class Leaving:
    def gain(self, a):
        self.last = scipy.special.itstruve0(a)
        return a * a


def dropped_in_an_attribute(x):
    return Leaving().gain(x[0]) * x[1]


class Twice(Derived):
    def size(self, x):
        return super(Twice, self).size(x) + super().size(2.0 * x)  # noqa: UP008


def super_twice(x):
    return Twice.size(Twice(), x)


def inserted_in_order(x):
    kept = []
    for v in x:
        bisect.insort(kept, v)
    return 2.0 * kept[0] + kept[1] ** 2


def between_its_own(x):
    kept = sorted(x)
    return kept[bisect.bisect_right(kept, 0.6)] ** 2


def drawn(x):
    rng, old = np.random.default_rng(0), np.random.RandomState(1)
    return np.sum(rng.normal(x[0], x[1], 3) ** 2) + np.sum(old.normal(loc=x, scale=x[1]) ** 2)


class Acting:
    def __init__(self):
        self.w = 2.0

    def act(self, x):
        return np.sum(np.tanh(self.w * x) * x)


ACT = Acting().act
ACTS = [ACT, partial(Acting().act)]


def method_of_the_module(x):
    return ACT(x) + ACTS[0](x * x) * ACTS[1](x)


def counted(x):
    c = collections.Counter()
    c["a"] += x[0] * x[1]
    c["b"] += x[0]
    c["a"] += 1
    return c["a"] ** 2 + c["b"] + c["nothing"]


def first_of_one(x):
    return np.asarray(x[:1] * x[1:2]).flatten().item() * np.atleast_1d(x[2] ** 2).ravel().tolist()[0]


def of_one_number(s):
    return np.asarray(s * s).flatten().item()


def constant_of_complex_numbers(x):
    return np.sum(x * np.abs(np.exp(-1j * np.arange(3.0))))


def copies_of_places(x):
    y = np.outer(x, x)
    v, w, u = y.flat[[1, 5]], y.T.flat[2:7], y.T.ravel()
    y[1:] *= x[1]
    return np.sum(v * v) + np.sum(w**3) + np.sum(u * u)


def plots(x, shown=False):
    if shown:
        from matplotlib import pyplot

        axes = lambda: pyplot.gca()  # noqa: E731
        axes().plot(x)
    return np.sum(x * x) * without_parameters()


def without_parameters():
    return 3.0


def of_a_number_along_axes(x):
    s, t = np.sum(x * x), np.asarray(np.sum(x))
    total = 0.0
    for reduce in (np.sum, np.prod, np.max, np.min, np.nansum, np.nanmax, np.ptp, np.cumsum):
        total += np.sum(reduce(s, axis=0)) * np.sum(reduce(t, axis=-1))
    return total + np.sum(np.sum(s, axis=0, keepdims=True)) + np.max(s * t, axis=0, initial=0.0, where=True)


def products_of_numbers(x):
    narrow = np.sum(np.convolve(x, 2.0, "same") ** 2) + np.sum(np.convolve(x[0], x) ** 2)
    return narrow + np.sum(scipy.linalg.solve(x[0], [x[1]])) + np.sum(scipy.linalg.expm(x[0]))


def trapezoids_that_broadcast(x):
    return np.sum(np.trapezoid(X, x=np.outer([0.5, 2.0], x)) ** 2) + np.sum(np.trapezoid(np.outer(x, X), x=x, axis=0) ** 2)


def differences_of_rows(x):
    return np.sum(np.diff(np.outer(x, x), prepend=x[0], axis=0) ** 2) + np.sum(np.diff(x, 2, prepend=x[:2], append=x) ** 3)


SHORT, SINGLE, YES = np.uint8(2), np.float32(2.5), np.bool_(True)


class Sized:
    n, half = np.int64(3), np.float32(0.5)

    def total(self, x):
        return np.sum(x**self.n) * self.half / SHORT


def by_numpy_numbers(x):
    return Sized().total(x) * SINGLE + x[0] * YES - np.sum(x - SHORT) ** SHORT


def several_rows(x):
    rows, columns = np.atleast_1d(x[0], x)[1], np.atleast_3d(x, x * x)[1]
    r = np.linalg.eigh(SYMMETRIC * x[0] + x[1] * np.eye(2))
    return np.sum(rows * columns[0, :, 0]) + np.sum(r.eigenvalues**3) + np.sum(np.abs(r.eigenvectors) ** 3) + np.sum(
        np.linalg.qr(SYMMETRIC * x[0]).R ** 2)  # fmt: skip


def lists_for_matrices(x):
    L = [[x[0] + 2.0, x[1]], [x[1], x[2] + 3.0]]
    of_lu = np.sum(scipy.linalg.lu_factor(L)[0] ** 2) + np.sum(scipy.linalg.lu(L)[1] ** 2)
    balanced = np.sum(scipy.linalg.matrix_balance(L)[0] ** 2)
    of_bands = np.sum(scipy.linalg.solveh_banded([[2.0, 0.1], [0.1, 3.0]], [x[0], x[1]]) ** 2)
    return of_bands + np.sum(scipy.linalg.pinv(L) ** 2) + of_lu + balanced + np.linalg.inv(L)[0, 1]


def lists_for_columns_and_rows(x):
    pair = [x[0] + 2.0, x[1]], [x[0] + 2.0, x[2]]
    banded = np.sum(scipy.linalg.eig_banded([[x[0] + 2.0, x[1]], [x[1], x[2] + 3.0]])[0] ** 3)
    banded += np.sum(scipy.linalg.eig_banded(([x[1], x[2]], [x[0] + 2.0, 3.0]))[0] ** 3)
    banded += np.sum(scipy.linalg.lu(([x[0] + 2.0, x[1]], [x[1], x[2] + 3.0]))[2] ** 2)
    solved = np.sum(scipy.linalg.solve_toeplitz(([x[0] + 2.0, x[1]], [3.0, x[2]]), np.array([1.0, 2.0])) ** 2)
    return banded + solved + np.sum(scipy.linalg.matmul_toeplitz(pair, np.array([1.0, 2.0])) ** 2)


def lists_for_zeros_and_times(x):
    zeros = scipy.signal.bilinear_zpk([x[0], x[1]], [x[1], x[2]], 2.0, 2.0)[0]
    return np.sum(zeros.real**2) + np.sum(scipy.signal.chirp([x[0], x[1]], 2.0, 1.0, 1.0))


def lists_for_formulas(x):
    rows = [[x[0] + 2.0, x[1]], [x[1], x[2] + 3.0]]
    turned, stretched = scipy.linalg.polar(rows)
    solved = scipy.linalg.lstsq([[x[0], 1.0], [1.0, x[1]], [2.0, x[2]]], [x[0], x[1], x[2]])[0]
    spaces = scipy.linalg.orth([[x[0], x[1], 1.0], [2.0, x[2], 0.3]]) * np.ones((2, 2))
    factors = scipy.linalg.qr(rows)[1], scipy.linalg.funm([[x[0] + 2.0, x[1]], [0.3, x[2]]], np.sinc)
    return np.sum(turned[0] + stretched) + np.sum(solved**2) + spaces[0, 0] + sum(np.sum(f**2) for f in factors)


def lists_cut_at_places(x):
    rows = [[x[0], x[1], 0.2], [x[1], 0.1, x[0]]]
    parts = np.split(rows, LABELS, 1)  # NumPy cuts the last at the number of rows
    return np.sum(parts[2] ** 2) + 3.0 * np.sum(np.split(rows, np.array([1]))[1] * x[2])


def rows_for_matrices(x):
    squares = np.linalg.norm([x[:2], x[1:3]]) + np.linalg.det([x[:2], x[1:]])
    return squares + np.sum(np.linalg.inv([[q + 2.0, q * i] for i, q in enumerate(x[:2])])) + np.mean([x[:2], x[1:]])


def lists_taken_off(x):
    y = x * 1.0
    np.subtract.at(y, [0, 2, 0], [x[1], 2.0, x[2]])
    limited = np.outer(x, x).clip([x[0], x[1], 0.1], 2.0) * np.arange(9.0).reshape(3, 3)
    paired = np.maximum.outer([x[0], x[1]], [[x[2], 0.7], [0.3, x[0] * 2.0]])
    return np.sum(y**2) + np.nanmean(x, where=[1, 0, 1]) + np.sum(limited) + np.sum(paired**2)


FOLLOWED = [
    starred_method, impedance, view_of_a_copy, starred_tuple, starred_slices, through_a_wrapper,
    by_a_numpy_integer, listed_numbers, named_values, four_rows, between, other_branch, unbound_super, partitioned,
    rule_by_keywords, dropped, of_a_number, trapezoids, differences_before, of_numbers, container_for_a_kept_method,
    through_a_wrapping_object, starred_array, starred_to_a_length_of_the_run, rule_by_keywords_in_another_order,
    dropped_in_a_loop, dropped_in_an_attribute, super_twice, between_its_own, drawn, method_of_the_module, counted,
    first_of_one,
    constant_of_complex_numbers, copies_of_places, plots, of_a_number_along_axes, products_of_numbers,
    trapezoids_that_broadcast, differences_of_rows, by_numpy_numbers, several_rows, lists_for_matrices,
    lists_for_columns_and_rows, lists_for_zeros_and_times, lists_for_formulas, lists_cut_at_places,
    rows_for_matrices, lists_taken_off,
    *(pytest.param(f, marks=pytest.mark.records, id=f.__name__) for f in (
        mapped_partial, keywords_of_an_answering_object, captured_by_a_lambda, held_by_self, inserted_in_order)),
]  # fmt: skip


@pytest.mark.parametrize("f", FOLLOWED, ids=lambda f: f.__name__)
def test_followed(f):
    step = 1e-6
    wanted = np.array([(f(X + d) - f(X - d)) / (2.0 * step) for d in step * np.eye(len(X))])
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X,), (X,))[1], wanted @ X, rtol=1e-6, atol=1e-8)
    assert jvp(f, (X,), (X,))[0] == vjp(f, X)[0] == value
    for other in (vjp(f, X)[1](1.0)[0], jacfwd(f)(X), jacrev(f)(X)):
        np.testing.assert_allclose(other, gradient, rtol=1e-10, atol=1e-10)


@pytest.mark.sampled(one_in=3)
@pytest.mark.records
@pytest.mark.parametrize("f", FOLLOWED, ids=lambda f: f.__name__)
def test_followed_at_second_order(f):
    step, gradient = 1e-5, grad(f)
    wanted = np.array([(gradient(X + d) - gradient(X - d)) / (2.0 * step) for d in step * np.eye(len(X))])
    np.testing.assert_allclose(hessian(f)(X), wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(f)(x) * X))(X), wanted.T @ X, rtol=1e-5, atol=1e-5)


def test_a_tangent_of_a_number_is_a_number():
    for s in (1.3, np.array([1.3])):
        (value, tangent), slope = jvp(of_one_number, (s,), (s * 0.0 + 1.0,)), grad(of_one_number)(s)
        assert np.shape(value) == np.shape(tangent) == () and value == of_one_number(s)
        assert tangent == 2.6 and np.shape(slope) == np.shape(s) and np.all(slope == 2.6)


class Model:
    pass


def test_an_argument_that_refers_to_itself_is_refused():
    o = Model()
    o.w, o.me = X, o
    with pytest.raises(TypeError, match=r"`o\.me` is `o` again"):
        grad(lambda o: np.sum(o.w**2))(o)


def test_an_array_in_two_places_has_a_gradient_in_each():
    m = Model()
    m.W = m.enc = X
    gradient = grad(lambda m: np.sum(m.W**2) + np.sum(m.enc))(m)
    np.testing.assert_array_equal(gradient["W"], 2.0 * X)
    np.testing.assert_array_equal(gradient["enc"], np.ones(3))


class Rate:
    def __init__(self, k):
        self.k = k

    def __call__(self, s):
        return -self.k * s


@custom_gradient
def midpoint(rate, state):
    return state + 0.1 * rate(state), lambda g: (None, g)


def kept_object(k):
    return midpoint(Rate(k), 2.0)


def kept_partial(k):
    return midpoint(partial(scaled, -k), 2.0)


def kept_method(k):
    return midpoint(Rate(k).__call__, 2.0)


@pytest.mark.parametrize("f", [kept_object, kept_partial, kept_method], ids=lambda f: f.__name__)
def test_what_a_rule_gives_no_gradient_for_is_refused(f):
    with pytest.raises((S2SGradError, Refusal)):
        grad(f)(1.0)
    with pytest.raises((S2SGradError, Refusal)):
        jvp(f, (1.0,), (1.0,))


def field(x):
    Z = np.zeros(3, [("U", float), ("V", float)])
    Z["U"] = x
    return np.sum(Z["U"] ** 2)


def test_fields_are_refused_for_what_they_are():
    with pytest.raises(S2SGradError, match="`Z` is a structured array"):
        grad(field)(X)


FIELDS = np.array([(1.0, 3.0), (2.0, 4.0)], [("U", float), ("V", float)])


@pytest.mark.parametrize("held", [lambda z: z, lambda z: [z], lambda z: {"z": z}], ids=["alone", "list", "dict"])
@pytest.mark.parametrize("fields", [FIELDS, FIELDS.view(np.recarray), FIELDS[0]], ids=["array", "recarray", "record"])
def test_a_structured_array_has_no_gradient_of_zeros(fields, held):
    def f(z, k):
        z = z[0] if isinstance(z, list) else z["z"] if isinstance(z, dict) else z
        return k * np.sum(z["U"] * z["V"])

    for derivative in (grad(f), lambda z, k: vjp(f, z, k), jacrev(f), jacfwd(f), jacobian(f), hessian(f)):
        with pytest.raises((TypeError, S2SGradError), match="structured array"):
            derivative(held(fields), 2.0)
    wanted = np.sum(fields["U"] * fields["V"])
    assert grad(f, 1)(held(fields), 2.0) == jvp(f, (held(fields), 2.0), (None, 1.0))[1] == wanted


@pytest.mark.parametrize("held", [collections.UserDict(a=3.0), collections.ChainMap({"a": 3.0})])
def test_an_item_of_an_object_that_is_no_dict_is_refused(held):
    def f(d, x):
        return d["a"] ** 2 * x

    with pytest.raises(TypeError, match=f"a {type(held).__name__}, are not followed: pass a plain dict"):
        vjp(f, held, 2.0)[1](1.0)
    assert grad(f, 1)(held, 2.0) == 9.0


def test_a_store_through_the_transpose_has_its_column():
    def stored(q):
        y = q * 1.0
        y.T[0] *= 3.0
        return np.sum(y**2)

    wanted = np.diag([18.0, 2.0, 18.0, 2.0])
    np.testing.assert_array_equal(hessian(stored)(np.ones((2, 2))).reshape(4, 4), wanted)


@pytest.mark.parametrize("f", [
    lambda x: np.sum(np.polyadd([[2.0, 0.1], [0.1, 3.0]], x[:2])),
    lambda x: np.sum(np.polysub([x[0], x[1]], ROWS)),
    lambda x: np.sum(np.polyval([[2.0, 0.1], [0.1, 3.0]], x[:2])),
], ids=["polyadd", "polysub", "polyval"])  # fmt: skip
def test_polynomials_whose_coefficients_are_rows_are_refused(f):
    with pytest.raises((S2SGradError, Refusal), match=r"coefficients (that )?are arrays"):
        grad(f)(X)


ROWS = [[2.0, 0.1], [0.1, 3.0]]


@pytest.mark.records
def test_distances_written_into_an_array_of_the_users():
    ndimage = pytest.importorskip("scipy.ndimage")

    def written(v):
        y = v.copy()
        ndimage.distance_transform_edt(y, distances=y)
        return np.sum(y * v)

    def read(v):
        y = np.zeros(3)
        ndimage.distance_transform_edt(np.array([1, 0, 1]), distances=y)
        return np.sum(y * v)

    with pytest.raises(S2SGradError, match="write into"):
        grad(written)(np.array([0.3, 0.7, 0.8]))
    np.testing.assert_array_equal(grad(read)(np.ones(3)), [1.0, 0.0, 1.0])
