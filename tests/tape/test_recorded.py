"""Functions that have no text: on a tape a call is one record, too, of a run on handles."""

import numpy as np
import pytest
from differences import central_difference

from s2sgrad import GradientTape, Unsupported, Variable, constant, differentiable

pytestmark = pytest.mark.records

STEPS = {"square": lambda v: v * v, "sine": np.sin, "half": lambda v: 0.5 * v}
RATES = np.array([1.0, 2.0])
gain = Variable(0.7)


def stepped(x, names=("square", "sine", "half")):
    """The steps of an iterator in a list, one by one: how far the body of `try` gets is known to the run alone."""
    kept = [iter(names)]
    while True:
        try:
            name = next(kept[0])
        except StopIteration:
            return x
        x = STEPS[name](x)


@differentiable
def summed(x):
    return np.sum(stepped(x) * np.array([1.0, 3.0]))


@differentiable
def gained(x):
    return np.sum(stepped(x) * gain)


@differentiable
def rated(x):
    return np.sum(stepped(x) * RATES)


@differentiable
def parted(params, *, scale):
    y = stepped(params["layers"][0][0]) * params["layers"][1][0]
    return {"y": np.sum(y) * scale, "parts": (y, 3)}


@differentiable
def writing(x, into):
    into[0] = 2.0
    return np.sum(stepped(x) * into)


X = np.array([0.3, 0.8])


def plain(x):
    return np.sum(0.5 * np.sin(x * x) * np.array([1.0, 3.0]))


def slope(x):
    return np.cos(x * x) * x * np.array([1.0, 3.0])


def test_a_call_is_one_record():
    x = constant(X)
    with GradientTape() as t:
        t.watch(x)
        y = summed(x)
        assert len(t._tape.entries) == 1
    np.testing.assert_allclose(y, plain(X))
    g = t.gradient(y, x)
    np.testing.assert_allclose(g, slope(X))
    np.testing.assert_allclose(g, central_difference(plain, (X,))[0], rtol=1e-6)


def test_derivatives_of_any_order():
    x = constant(X)
    with GradientTape() as third:
        third.watch(x)
        with GradientTape() as outer:
            outer.watch(x)
            with GradientTape() as t:
                t.watch(x)
                y = summed(x)
            g = t.gradient(y, x)
            s = np.sum(np.sin(g))
        h = outer.gradient(s, x)
        u = np.sum(h * h)
    np.testing.assert_allclose(h, central_difference(lambda x: np.sum(np.sin(slope(x))), (X,))[0], rtol=1e-6)

    def curved(x):
        return central_difference(lambda x: np.sum(np.sin(slope(x))), (x,), step=1e-4)[0]

    expected = central_difference(lambda x: np.sum(curved(x) ** 2), (X,), step=1e-3)[0]
    np.testing.assert_allclose(third.gradient(u, x), expected, rtol=1e-3)


def test_a_variable_that_it_reads_by_name():
    x = constant(X)
    with GradientTape() as t:
        t.watch(x)
        y = gained(x)
        assert len(t._tape.entries) == 1
    g, gain_bar = t.gradient(y, [x, gain])
    np.testing.assert_allclose(g, 0.7 * np.cos(X * X) * X)
    np.testing.assert_allclose(gain_bar, np.sum(0.5 * np.sin(X * X)))


def test_structures_and_keywords():
    x, w, s = constant(X), Variable([2.0, 3.0]), constant(1.5)
    with GradientTape(persistent=True) as t:
        t.watch([x, s])
        out = parted({"layers": [(x,), (w,)]}, scale=s)
        total = out["y"] + np.sum(out["parts"][0])
    assert out["parts"][1] == 3
    x_bar, w_bar, s_bar = t.gradient(total, [x, w, s])
    np.testing.assert_allclose(x_bar, 2.5 * np.cos(X * X) * X * [2.0, 3.0])
    np.testing.assert_allclose(w_bar, 2.5 * 0.5 * np.sin(X * X))
    np.testing.assert_allclose(s_bar, np.sum(0.5 * np.sin(X * X) * [2.0, 3.0]))
    np.testing.assert_allclose(t.jacobian(out["parts"][0], w), np.diag(0.5 * np.sin(X * X)))


def test_data_that_it_reads_may_change_unless_it_runs_again():
    x = constant(X)
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape(persistent=True) as t:
            t.watch(x)
            y = rated(x)
        RATES[:] = 5.0
        try:
            with outer.stop_recording():
                g = t.gradient(y, x)
            np.testing.assert_allclose(g, np.cos(X * X) * X * [1.0, 2.0])
            with pytest.raises(RuntimeError, match="changed"):
                t.gradient(y, x)
        finally:
            RATES[:] = [1.0, 2.0]


def test_an_array_that_it_writes():
    x, into = constant(X), np.ones(2)
    with GradientTape() as t:
        t.watch(x)
        with pytest.raises(Unsupported, match="try"):
            writing(x, into)
    assert into.tolist() == [1.0, 1.0]
