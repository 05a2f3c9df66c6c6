"""`has_aux=True`: a function returns its loss and what goes with it; the loss is differentiated, the rest comes as it is."""

from __future__ import annotations

import functools
import inspect

import numpy as np
import pytest

from s2sgrad import Unsupported, grad, value_and_grad
from s2sgrad.testing import check_grads

W, X = np.array([1.0, 2.0]), np.arange(6.0).reshape(3, 2)
W_BAR = np.array([48.0, 64.0])


def loss(w, x):
    p = x @ w
    return np.mean(p**2), {"prediction": p, "n": len(x), "name": "mean square"}


def test_the_loss_alone_is_differentiated():
    gradient, aux = grad(loss, has_aux=True)(W, X)
    np.testing.assert_allclose(gradient, W_BAR)
    assert list(aux) == ["prediction", "n", "name"] and aux["n"] == 3 and aux["name"] == "mean square"
    np.testing.assert_allclose(aux["prediction"], X @ W)


def test_the_value_comes_beside_it():
    (value, aux), gradient = value_and_grad(loss, has_aux=True)(W, X)
    assert value == loss(W, X)[0] and aux["n"] == 3
    np.testing.assert_allclose(gradient, W_BAR)


def test_without_it_everything_counts():
    assert grad(lambda x: (x * x, 3.0 * x))(2.0) == 7.0
    assert grad(lambda x: (x * x, 3.0 * x), has_aux=True)(2.0) == (4.0, 6.0)


def test_the_text_is_that_of_the_loss_alone():
    with_aux = grad(lambda w, x: (np.mean((x @ w) ** 2), {"n": len(x)}), has_aux=True).source_for(W, X)
    alone = grad(lambda w, x: np.mean((x @ w) ** 2)).source_for(W, X)
    ours, theirs = (
        [s.strip() for s in text.splitlines() if s.startswith("    ") and "#" not in s] for text in (with_aux, alone)
    )
    assert theirs[-1].startswith("return ")
    assert ours[-1] == f"{theirs[-1]}, t1"


def test_several_arguments_and_a_seed():
    gradients, aux = grad(loss, argnums=("w", "x"), has_aux=True)(W, X)
    assert [g.shape for g in gradients] == [(2,), (3, 2)] and aux["n"] == 3
    np.testing.assert_allclose(grad(loss, has_aux=True)(W, X, seed=2.0)[0], 2.0 * W_BAR)


def branches(x):
    if x > 0:
        return x * x, "positive"
    for k in range(3):
        if x > -k:
            return x * k, {"k": k}
    pair = x * 3.0, [x]
    return pair


@pytest.mark.parametrize(("x", "expected"), [(2.0, (4.0, "positive")), (-1.5, (2.0, {"k": 2})), (-5.0, (3.0, [-5.0]))])
def test_every_path_returns_its_own(x, expected):
    assert grad(branches, has_aux=True)(x) == expected


def test_a_pair_of_another_function():
    def passed_on(x):
        return branches(x)

    assert grad(passed_on, has_aux=True)(2.0) == (4.0, "positive")
    assert grad(lambda f, x: f(x), 1, has_aux=True)(branches, 2.0) == (4.0, "positive")
    assert grad(lambda x: [x * x, None], has_aux=True)(2.0) == (4.0, None)


def three(x):
    return x, x, x


def sometimes(x):
    return (x, x) if x > 0 else x


@pytest.mark.parametrize(
    ("f", "x", "what"),
    [
        (lambda x: x * x, 2.0, "a float"),
        (lambda x: x * x, np.ones(2), "an array of float64"),
        (lambda x: None, 2.0, "None"),
        (lambda x: {"loss": x, "aux": x}, 2.0, "a dict"),
        (three, 2.0, "a tuple of 3"),
        (sometimes, -2.0, "a float"),
        (lambda x: abs(x), 2.0, "a float"),
    ],
)
@pytest.mark.parametrize("way", [grad, value_and_grad])
def test_what_is_no_pair_is_refused(f, x, what, way):
    with pytest.raises(TypeError, match=rf"has_aux=True `{f.__name__}` must return \(value, aux\), .* returns {what}"):
        way(f, has_aux=True)(x)


def test_the_first_of_the_pair_must_have_a_derivative():
    with pytest.raises(TypeError, match="returns an int, which has no derivative"):
        grad(lambda x: (int(x), x), has_aux=True)(2.0)


class Model:
    def __init__(self):
        self.k = 3.0

    @value_and_grad(has_aux=True)
    def energy(self, x):
        return self.k * x * x, self


def test_methods_partials_and_decorators():
    model = Model()
    (value, aux), gradient = model.energy(2.0)
    assert (value, gradient) == (12.0, 12.0) and aux is model
    np.testing.assert_allclose(grad(functools.partial(loss, x=X), has_aux=True)(W)[0], W_BAR)

    @grad(has_aux=True)
    def decorated(x):
        return np.sum(x**3), x

    x = np.ones(2)
    gradient, aux = decorated(x)
    np.testing.assert_allclose(gradient, [3.0, 3.0])
    assert aux is x
    assert "has_aux" in inspect.signature(grad).parameters


def test_anything_may_go_with_it():
    def f(x):
        return np.sum(x * x), (np.linalg.eig(np.outer(x, x)), np.exp(1j * x), {1, 2}, str(x), open, np)

    gradient, aux = grad(f, has_aux=True)(np.ones(2))
    np.testing.assert_allclose(gradient, [2.0, 2.0])
    assert aux[0].eigenvalues.shape == (2,) and aux[2:] == ({1, 2}, "[1. 1.]", open, np)
    np.testing.assert_allclose(aux[1], np.exp(1j * np.ones(2)))


def test_an_object_that_is_made_here_is_refused():
    class Info:
        def __init__(self, x):
            self.x = x

    with pytest.raises(Unsupported, match="made here is returned"):
        grad(lambda x: (x * x, Info(x)), has_aux=True)(2.0)


def test_what_goes_with_it_is_not_undone():
    def f(x):
        y = x * 2.0
        for k in range(1, len(x)):
            y[k] = y[k] * y[k - 1]
        z = y.copy()
        y *= x
        return np.sum(y), {"z": z, "y": y}

    x = np.array([0.5, 1.5, 2.5])
    value, expected = f(x)
    (again, aux), _ = value_and_grad(f, has_aux=True)(x)
    assert value == again
    for name in "zy":
        np.testing.assert_array_equal(aux[name], expected[name])
    check_grads(lambda x: f(x)[0], (x,))
    np.testing.assert_allclose(grad(f, has_aux=True)(x)[0], grad(lambda x: f(x)[0])(x))


def test_it_may_be_used_inside_of_a_differentiated_function():
    def outer(w):
        (value, aux), gradient = value_and_grad(loss, has_aux=True)(w, X)
        return value * np.sum(gradient) + np.sum(aux["prediction"])

    check_grads(outer, (W,), order=2)


def test_second_order():
    cubed = grad(lambda x: (x**3, "aux"), has_aux=True)
    assert grad(cubed, has_aux=True)(2.0) == (12.0, "aux")
    assert value_and_grad(cubed, has_aux=True)(2.0) == ((12.0, "aux"), 12.0)
    with pytest.raises(TypeError, match="has_aux=True here, too"):
        grad(cubed)
    with pytest.raises(TypeError, match=r"grad.*has_aux=True"):
        grad(value_and_grad(lambda x: (x**3, "aux"), has_aux=True), has_aux=True)


def test_it_is_about_what_is_returned():
    with pytest.raises(ValueError, match=r"has_aux.*outputs"):
        grad(loss, has_aux=True, outputs="w")
