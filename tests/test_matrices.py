"""Jacobians, Hessians, products with them: against differences, against each other, and their structure."""

from __future__ import annotations

import copy
import linecache
import re
from dataclasses import dataclass

import numpy as np
import pytest
from corpus import CASES
from differences import leaves

from s2sgrad import (
    S2SGradError,
    Unsupported,
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    value_and_jacobian,
    vjp,
)
from s2sgrad.errors import Refused
from s2sgrad.runtime import zeros
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.structure import rebuilt

X = np.array([0.3, 0.7, 1.1])

# Of one float or one array, of which there are few numbers, and with a result that is a number or an array.
PLAIN = [
    entry for entry in CASES
    if entry.argnums == (0,) and entry.second and isinstance(entry.args[0], (float, np.ndarray))
    and 0 < np.size(entry.args[0]) <= 8
]  # fmt: skip


def mixed(x):
    return np.array([x[0] * x[1], np.sin(x[2]), x[0] ** 3, x[1]])


def bowl(x):
    return np.sum(x**2) ** 2 + np.prod(x)


def by_columns(f, x, step=1e-6):
    """The Jacobian by central differences."""
    x = np.asarray(x, float)
    columns = []
    for place in np.ndindex(x.shape):
        unit = np.zeros(x.shape)
        unit[place] = step
        columns.append((np.asarray(f(x + unit)) - np.asarray(f(x - unit))) / (2.0 * step))
    return np.moveaxis(np.array(columns), 0, -1).reshape(np.shape(columns[0]) + x.shape)


@pytest.mark.parametrize("mode", [jacfwd, jacrev, jacobian])
def test_the_modes_agree_with_differences(mode):
    square = np.arange(6.0).reshape(2, 3)
    for f, x in ((mixed, X), (bowl, X), (lambda x: np.outer(x, x) * x[0], X), (lambda m: m @ m.T, square)):
        J = mode(f)(x)
        assert J.shape == np.shape(f(x)) + np.shape(x)
        np.testing.assert_allclose(J, by_columns(f, x), rtol=1e-6, atol=1e-8)


@pytest.mark.sampled(one_in=150, turn=5)
@pytest.mark.parametrize("entry", PLAIN, ids=lambda entry: entry.name)
def test_rows_of_the_corpus_add_up_to_the_gradient(entry):
    """The sum of the rows of a Jacobian, made of columns, is the gradient."""
    if not isinstance(entry.function(*entry.fresh_args()), (float, np.ndarray)):
        return  # containers have a test of their own
    forward = jacfwd(entry.function)(*entry.fresh_args())
    given = np.ndim(entry.args[0])
    total = np.sum(forward, axis=tuple(range(np.ndim(forward) - given)))
    np.testing.assert_allclose(total, grad(entry.function)(*entry.fresh_args()), rtol=1e-8, atol=1e-8)


# Why a pullback of its own is refused, of some functions whose gradient is not; see docs/limits.md.
NO_PULLBACK = "attributes of the caller's objects|where a function is only known at run time|cannot be tried before"


@pytest.mark.sampled(one_in=120, turn=7)
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name)
def test_the_modes_agree_on_the_corpus(entry):
    """Pullbacks are called once for each row, with one record; tangents know of none."""
    function = entry.function
    try:
        rows = jacrev(function, entry.argnums)(*entry.fresh_args())
    except (Unsupported, Refused) as error:
        if re.search(NO_PULLBACK, str(error)):
            return
        assert "cannot take back" in str(error)
        function = of_copies(function, entry.args)
        rows = jacrev(function, entry.argnums)(*entry.fresh_args())
    columns = jacfwd(function, entry.argnums)(*entry.fresh_args())
    for a, b in zip(leaves(rows), leaves(columns), strict=True):
        assert np.shape(a) == np.shape(b)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def of_copies(function, args):
    """The function, given copies of the arrays that it writes."""
    names = [f"x{k}" for k in range(len(args))]
    is_array = [isinstance(a, np.ndarray) for a in args]
    copies = [f"{n}.copy()" if known else f"copy.deepcopy({n})" for n, known in zip(names, is_array, strict=True)]
    text = f"def of_copies({', '.join(names)}):\n    return function({', '.join(copies)})\n"
    file = f"<copies for {function.__name__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"function": function, "copy": copy}
    exec(compile(text, file, "exec"), space)
    return space["of_copies"]


def test_hessians_are_symmetric_and_fit_their_products():
    H = hessian(bowl)(X)
    np.testing.assert_allclose(H, by_columns(grad(bowl), X), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(H, H.T)
    v = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(hvp(bowl, (X,), (v,)), H @ v)
    np.testing.assert_allclose(hvp(bowl)((X,), (v,)), H @ v)
    np.testing.assert_allclose(jvp(grad(bowl), (X,), (v,))[1], H @ v)
    assert hessian(lambda x: x**3)(2.0) == 12.0


def test_several_arguments():
    def f(x, k, y):
        return np.sum(x * x) * y**k

    (xx, xy), (yx, yy) = hessian(f, (0, "y"))(X, 3, 2.0)
    np.testing.assert_allclose(xx, 2.0 * np.eye(3) * 8.0)
    np.testing.assert_allclose(xy, 2.0 * X * 12.0)
    np.testing.assert_allclose(xy, yx)
    assert np.isclose(yy, np.sum(X * X) * 12.0)
    x_row, y_slope = jacobian(f, (0, 2))(X, 3, 2.0)
    np.testing.assert_allclose(x_row, grad(f)(X, 3, 2.0))
    assert isinstance(y_slope, float) and np.isclose(y_slope, grad(f, 2)(X, 3, 2.0))
    bars = hvp(f, (X, 3, 2.0), (X, None, 1.0))
    np.testing.assert_allclose(bars[0], xx @ X + xy)
    assert np.isclose(bars[1], yx @ X + yy)


def test_containers_in_and_out():
    def f(p, s):
        return {"a": p["w"] @ p["v"] * s, "b": [s * s, p["v"]], "name": "text"}

    p = {"w": np.arange(6.0).reshape(2, 3), "v": X, "steps": 3}
    for mode in (jacfwd, jacrev, jacobian):
        J = mode(f, (0, 1))(p, 2.0)
        assert J["a"][0]["w"].shape == (2, 2, 3) and J["a"][0]["v"].shape == (2, 3) and J["a"][1].shape == (2,)
        assert J["a"][0]["steps"] is None and J["name"] is None
        np.testing.assert_allclose(J["a"][0]["v"], 2.0 * p["w"])
        assert J["b"][0][1] == 4.0 and J["b"][0][0]["w"].shape == (2, 3)
        np.testing.assert_allclose(J["b"][1][0]["v"], np.eye(3))
    H = hessian(lambda p: np.sum((p["w"] @ p["v"]) ** 2))(p)
    assert H["w"]["v"].shape == (2, 3, 3) and H["v"]["w"].shape == (3, 2, 3)
    np.testing.assert_allclose(H["v"]["v"], 2.0 * p["w"].T @ p["w"])


def test_linearize_runs_the_function_once(capsys):
    def f(x, y):
        print("run")
        return np.sin(x) * y

    x = X.copy()
    value, along = linearize(f, x, 2.0)
    along(x, 1.0)
    assert capsys.readouterr().out == "run\n"
    np.testing.assert_allclose(value, f(X, 2.0))
    x[:] = 0.0  # the primals may be changed
    v = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(along(v, 1.0), np.cos(X) * v * 2.0 + np.sin(X))
    np.testing.assert_allclose(along(v, None), np.cos(X) * v * 2.0)
    np.testing.assert_allclose(along(v, 1.0), jvp(f, (X, 2.0), (v, 1.0))[1])


def test_a_function_that_writes_its_argument():
    def f(u, c):
        for _ in range(3):
            u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        return u

    u = np.array([0.0, 1.0, 4.0, 9.0])
    J = jacobian(f)(u, 0.1)
    assert u.tolist() == [0.0, 1.0, 4.0, 9.0]
    np.testing.assert_allclose(J, by_columns(lambda u: f(u.copy(), 0.1), u), atol=1e-9)


def test_aux_values_and_elements():
    J, aux = jacfwd(lambda x: (x * x, {"n": 3}), has_aux=True)(X)
    np.testing.assert_allclose(J, np.diag(2.0 * X))
    assert aux == {"n": 3}
    for made in (jacrev, jacobian):
        again, aux = made(lambda x: (x * x, {"n": 3}), has_aux=True)(X)
        np.testing.assert_allclose(again, J)
        assert aux == {"n": 3}
    (value, aux), again = value_and_jacobian(lambda x: (x * x, {"n": 3}), has_aux=True)(X)
    np.testing.assert_allclose(again, J)
    assert value.tolist() == (X * X).tolist() and aux == {"n": 3}
    slopes, aux = elementwise_grad(lambda x: (np.sin(x), x), has_aux=True)(X)
    assert slopes.tolist() == np.cos(X).tolist() and aux.tolist() == X.tolist()
    product, aux = hvp(lambda x: (np.sum(x**3), "kept"), (X,), (X,), has_aux=True)
    np.testing.assert_allclose(product, 6.0 * X * X)
    assert aux == "kept"
    H, aux = hessian(lambda x: (np.sum(x**3), "kept"), has_aux=True)(X)
    np.testing.assert_allclose(H, np.diag(6.0 * X))
    assert aux == "kept"
    value, J = value_and_jacobian(mixed)(X)
    np.testing.assert_allclose(value, mixed(X))
    np.testing.assert_allclose(J, jacobian(mixed)(X))
    np.testing.assert_allclose(elementwise_grad(np.tanh)(X), 1.0 - np.tanh(X) ** 2)


def test_methods_keywords_and_empty_arrays():
    class Model:
        def __init__(self, w):
            self.w = w

        def loss(self, x, *, scale=1.0):
            return self.w * np.sum(x**2) * scale

    np.testing.assert_allclose(hessian(Model(2.0).loss)(X, scale=0.5), 2.0 * np.eye(3))
    assert jacobian(lambda x: x * 2.0)(np.zeros(0)).shape == (0, 0)
    assert jacfwd(lambda x: np.zeros(2) + np.sum(x))(np.zeros(0)).shape == (2, 0)
    assert hessian(lambda x: np.sum(x))(np.zeros(0)).shape == (0, 0)
    assert jacobian(lambda x: x)(np.ones(2, np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: hessian(mixed)(X), TypeError, "hessian needs a function that returns a number"),
        (lambda: jacobian(mixed)(3), TypeError, "pass a float"),
        (lambda: jacobian(mixed, 2)(X), TypeError, "argnums"),
        (lambda: jacobian(mixed, "z")(X), TypeError, "argnums"),
        (lambda: jacobian(3.0), TypeError, "needs a function"),
        (lambda: jacobian(jacobian(mixed, (0, 1))), TypeError, "cannot be computed"),
        (lambda: hvp(bowl, (X,), (np.ones(2),)), ValueError, r"tangents\[0\]"),
        (lambda: hvp(bowl, (X,)), TypeError, "primals and tangents"),
        (lambda: linearize(bowl, X)[1](np.ones(2)), ValueError, r"tangents\[0\]"),
        (lambda: linearize(bowl, X)[1](X, X), TypeError, "a tangent for each primal"),
    ],
)
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_results_share_no_memory():
    x = X.copy()
    J = jacobian(lambda x: x)(x)
    J[...] = 0.0
    assert x.tolist() == X.tolist() and jacobian(lambda x: x)(x).tolist() == np.eye(3).tolist()
    out = linearize(lambda x: [x, x], x)[1](X)
    assert not np.may_share_memory(out[0], out[1])
    assert all(not np.may_share_memory(leaf, x) for leaf in leaves(out))
    assert value_and_grad(bowl)(x)[0] == bowl(x)


def test_an_adjoint_that_is_a_copy_of_a_value_stays_one():
    """`v_bar = seed * u` is a new array, also where the seed is 1: the loop writes both."""

    def f(u, v):
        u = u.copy()
        for _ in range(2):
            u[1:] *= np.sin(v[1:]) + u[:-1]
            v = v + u * 0.1
        return np.sum(u * v)

    u, v = np.linspace(0.1, 1.0, 5), np.linspace(0.3, 0.9, 5)
    columns = [hvp(f, (u, v), (e, None)) for e in np.eye(5)]
    np.testing.assert_allclose(hessian(f)(u, v), columns, rtol=1e-12)


@pytest.mark.sampled(one_in=3, turn=1)
def test_matrices_are_differentiated():
    """Of a Jacobian every operator takes the Jacobian of, and of a Hessian: as one takes it of the function by hand."""

    def f(x, k):
        y = np.empty(2)
        y[0] = np.sum(x**2) * k
        y[1] = np.prod(x) * x[0]
        return y

    def first(x, k):
        return np.array([2.0 * x * k, np.array([2.0 * x[0] * x[1], x[0] ** 2])])

    x, k = np.array([0.7, 1.3]), 2.0
    for one in (jacobian, jacfwd, jacrev):
        np.testing.assert_allclose(one(f).followed(x, k), first(x, k))
        for other in (jacobian, jacfwd, jacrev):
            np.testing.assert_allclose(other(one(f))(x, k), jacobian(first)(x, k), rtol=1e-12)
    np.testing.assert_allclose(jacobian(jacobian(f), "k")(x, k), jacobian(first, "k")(x, k))
    np.testing.assert_allclose(jacobian(jacobian(jacobian(f)))(x, k), jacobian(jacobian(first))(x, k), rtol=1e-12)
    np.testing.assert_allclose(jvp(jacobian(f), (x, k), (x, 1.0))[1], jvp(first, (x, k), (x, 1.0))[1])
    np.testing.assert_allclose(grad(jacobian(f))(x, k), grad(lambda x: np.sum(first(x, k)))(x))
    third = jacobian(hessian(lambda x: np.sum(np.sin(x) * x[0])))(x)
    np.testing.assert_allclose(third, np.transpose(third, (2, 0, 1)), rtol=1e-12)
    assert np.isclose(third[1, 1, 1], -np.cos(x[1]) * x[0])
    within = grad(lambda x: np.sum(hessian(lambda z: np.sum(np.exp(z)))(x) ** 2))(x)
    np.testing.assert_allclose(within, 2.0 * np.exp(2.0 * x))
    assert jacobian(jacobian(lambda x, k=3: x**k))(2.0) == 12.0
    in_x, in_y = jacobian(jacobian(lambda x, y: x * x * y, (0, 1)))(2.0, 5.0)
    assert (in_x, in_y) == (10.0, 4.0)
    (xx, xy), (yx, yy) = jacobian(hessian(lambda x, y: x * x * x * y, (0, 1)))(2.0, 5.0)
    assert (xx, xy, yx, yy) == (30.0, 12.0, 12.0, 0.0)


@dataclass
class Line:
    slope: np.ndarray
    offset: float
    name: str = "line"


def test_matrices_in_objects():
    """In the place of each number of the value stands an object of the argument's class."""

    def at(line, x):
        return line.slope * x + line.offset**2

    line = Line(X, 3.0)
    for mode in (jacfwd, jacrev, jacobian):
        J = mode(at)(line, X)
        assert type(J) is Line and J.name is None
        np.testing.assert_allclose(J.slope, np.diag(X))
        np.testing.assert_allclose(J.offset, [6.0, 6.0, 6.0])
    H = hessian(lambda line, x: np.sum(at(line, x) ** 2))(line, X)
    assert type(H) is type(H.offset) is Line
    np.testing.assert_allclose(H.slope.slope, np.diag(2.0 * X**2))
    np.testing.assert_allclose(H.slope.offset, H.offset.slope)
    assert np.isclose(H.offset.offset, np.sum(4.0 * at(line, X) + 8.0 * 9.0))
    (bar, _) = vjp(at, line, X)[1](np.ones(3))
    assert type(bar) is Line and bar.offset == 18.0


def test_arguments_by_keyword():
    f = lambda x, k: x * k**2  # noqa: E731
    np.testing.assert_allclose(jacobian(f, "k")(X, k=X), np.diag(2.0 * X * X))
    np.testing.assert_allclose(jacrev(f, ("k", "x"))(k=X, x=X)[1], np.diag(X * X))
    np.testing.assert_allclose(hessian(lambda x, k: np.sum(f(x, k)), "k")(X, k=X), np.diag(2.0 * X))


def test_what_has_no_floats_has_no_entry():
    for mode in (jacfwd, jacrev, jacobian):
        J = mode(lambda x: {"y": x[:2], "n": 3, "name": "s"})(X)
        assert J["n"] is None and J["name"] is None and J["y"].shape == (2, 3)
    H = hessian(lambda p: p["x"] ** 2 * p["n"])({"x": 2.0, "n": 3})
    assert H == {"x": {"x": 6.0, "n": None}, "n": None}
    with pytest.raises(TypeError, match="asked for in `n`, an argument without floats"):
        jacobian(lambda n: 2.0 * n)(3)


def test_what_matrices_are_not_differentiated():
    with pytest.raises(TypeError, match="has no `has_aux`"):
        jacobian(jacobian(lambda x: x * x, debug=True))
    with pytest.raises(TypeError, match="expected a number or an array, got dict"):
        jacobian(jacobian(lambda p: p["a"] ** 2))({"a": 1.0})


@pytest.mark.sampled(one_in=200)
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name)
def test_linearize_gives_what_jvp_gives(entry):
    """Or it is refused: the transpose of a pullback that takes its record apart by two names is not followed."""

    def halves(x):
        if isinstance(x, (list, tuple, dict)):
            return rebuilt(x, halves)
        return zeros(x) + 0.5 if np.asarray(x).dtype.kind == "f" else zeros(x)

    def tangents(args):
        return tuple(halves(x) if k in entry.argnums else None for k, x in enumerate(args))

    try:
        _, expected = jvp(entry.function, entry.fresh_args(), tangents(entry.fresh_args()))
        _, along = linearize(entry.function, *entry.fresh_args())
    except (S2SGradError, Refusal):
        return
    got = along(*tangents(entry.fresh_args()))
    for a, b in zip(leaves(expected), leaves(got), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


def test_a_map_that_is_not_the_transpose_is_refused():
    """Two lists of the record are one list, which the pullback empties."""

    def first_that_fits(v):
        return next((t * t for t in v if t > 0.5), 0.0) + next((t for t in v if t > 5.0), v[0] * 3.0)

    x = np.array([0.3, 0.7, 1.1])
    try:
        _, along = linearize(first_that_fits, x)
    except Unsupported as error:
        assert "call `jvp`" in str(error)
    else:
        np.testing.assert_allclose(along(x), 3.0 * x[0] + 2.0 * x[1] ** 2)


def without_a_derivative_in_the_second(x, z):
    return np.abs(np.sum(z)) * np.sum(x**2) * x


@pytest.mark.parametrize("matrix", [jacrev, jacfwd, jacobian, lambda f: jacrev(f, debug=True)])
@pytest.mark.parametrize("z", [1.0 + 2.0j, np.complex128(1.0 + 2.0j), np.array([1.0 + 1.0j, 0.5j])])
def test_only_the_arguments_that_are_asked_for_need_a_derivative(matrix, z):
    x = np.array([1.0, 2.0, -0.5])
    wanted = abs(np.sum(z)) * (np.sum(x**2) * np.eye(3) + 2.0 * np.outer(x, x))
    np.testing.assert_allclose(matrix(without_a_derivative_in_the_second)(x, z), wanted, rtol=1e-12)
    np.testing.assert_allclose(matrix(Scaled(2.0).times)(x, z), 2.0 * wanted, rtol=1e-12)


class Scaled:
    def __init__(self, by):
        self.by = by

    def times(self, x, z):
        return self.by * without_a_derivative_in_the_second(x, z)


def test_no_derivative_is_computed_in_an_argument_that_is_not_asked_for():
    def f(x, s):
        return x * np.sum(np.sort_complex(s).real)

    x, s = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    np.testing.assert_allclose(jacrev(f)(x, s), 7.0 * np.eye(2))
    with pytest.raises(S2SGradError):
        jacrev(f, 1)(x, s)


@pytest.mark.records
def test_the_text_of_a_matrix_is_that_of_what_ran():
    def f(x):
        return x**2 * x[0]

    def number(x):
        return np.sum(x**3)

    def taken_in_turn(x):
        it = iter(x)
        return np.array([v * next(it) for v in it])

    x = np.ones(4)
    assert "def f_bwd(saved, seed):" in jacrev(f).source_for(x)
    assert "def f_jvp(x, *, x_dot):" in jacfwd(f).source_for(x)
    assert "def f_jvp(x, *, x_dot):" in jacobian(f).source_for(x)
    assert "def number_bwd(saved, seed):" in jacobian(number).source_for(x)
    assert "return 3 * (2.0 * x * x_dot)," in hessian(number).source_for(x)
    assert "seed * (6 * x * x_dot)" in hessian(number).source_for(2.0)
    assert jacrev(taken_in_turn).source_for(x).startswith("# `taken_in_turn` is recorded")
    both = jacobian(f)
    both(x), both(np.ones(1))
    assert "_jvp" in both.source
