"""check_grads finds what is wrong and accepts what is right."""

import numpy as np
import pytest

from s2sgrad.testing import check_grads, comparisons

VECTOR = np.array([0.5, -1.5, 2.0])


def energy(x, k):
    return 0.5 * k * np.sum(x ** 2)


def nested(parameters, x):
    hidden = np.tanh(x @ parameters["w"] + parameters["pair"][0])
    return {"loss": np.sum(hidden * parameters["pair"][1]), "hidden": hidden}


def rounded(x):
    return np.sum(np.floor(x) * x)


def powers(x, n):
    return x ** n, n


def shifts(first, *rest):
    return first * rest[0] + rest[1]


def test_right_to_second_order():
    check_grads(energy, (VECTOR, 3.0), order=2)


def test_third_order():
    check_grads(lambda x: np.sum(np.sin(x)), (VECTOR,), order=3)


def test_containers():
    rng = np.random.default_rng(0)
    parameters = {"w": rng.standard_normal((4, 3)), "pair": (np.zeros(3), rng.standard_normal(3))}
    check_grads(nested, (parameters, rng.standard_normal((5, 4))))


def test_wrong_is_reported():
    with pytest.raises(AssertionError, match=r"order 1, argument `x`: .* but the differences give"):
        check_grads(rounded, (np.array([1.0, 2.5]),))


def test_integers_are_constants():
    assert {c.argument for c in comparisons(powers, (1.5, 3))} == {"x"}


def test_argnums():
    assert {c.argument for c in comparisons(energy, (VECTOR, 3.0), argnums=1)} == {"k"}
    assert {c.argument for c in comparisons(energy, (VECTOR, 3.0), argnums=(0, 1))} == {"x", "k"}


def test_variadic_arguments_have_names():
    assert [c.argument for c in comparisons(shifts, (1.5, 2.0, 3.0))] == ["first", "rest[0]", "rest[1]"]


def test_single_precision():
    check_grads(energy, (VECTOR.astype(np.float32), np.float32(3.0)))


def test_many_numbers_in_random_directions():
    found = comparisons(energy, (np.linspace(-1.0, 1.0, 50), 3.0))
    assert [c.argument for c in found].count("x") == 4


def test_arguments_are_not_changed():
    x = VECTOR.copy()
    check_grads(energy, (x, 3.0))
    np.testing.assert_array_equal(x, VECTOR)


def test_curried():
    check_grads(energy, modes=["rev"], order=2)(VECTOR, 3.0)
    with pytest.raises(AssertionError):
        check_grads(rounded)(np.array([1.0, 2.5]))


def test_nothing_to_differentiate():
    with pytest.raises(ValueError, match="nothing to differentiate"):
        check_grads(powers, (2, 3))
    with pytest.raises(ValueError, match="order"):
        check_grads(powers, (2.0, 3), order=0)


def test_large_and_small_numbers():
    check_grads(energy, (np.array([1e6, 1e-3]), 2e-4))


def test_nan_is_wrong():
    with pytest.raises(AssertionError):
        check_grads(lambda x: x * np.nan, (1.0,))


def test_both_modes():
    check_grads(lambda p, y: [p["w"] * np.sin(y), {"a": p["b"] @ p["w"]}],
                ({"w": VECTOR, "b": np.outer(VECTOR, VECTOR), "n": 3}, 2.0), order=2, modes=("fwd", "rev"))  # fmt: skip
    check_grads(np.tanh, (np.ones(20),), order=2, modes="fwd")
    with pytest.raises(AssertionError, match="order 1, forward mode, argument `x`"):
        check_grads(lambda x: np.floor(x) * x, (2.0,), modes="fwd")
    with pytest.raises(ValueError, match="there is no mode"):
        check_grads(np.tanh, (1.0,), modes=("both",))
