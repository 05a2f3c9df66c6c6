"""One record a trip: pushes of copies move where nothing writes what they copy, arrays restored as a whole are bound."""

from __future__ import annotations

import numpy as np
import pytest

from s2sgrad import grad, value_and_grad
from s2sgrad.testing import check_grads

RNG = np.random.default_rng(39)


def momentum(w, v, m, n):
    w, v = w.copy(), v.copy()
    for _ in range(n):
        slope = np.tanh(m @ w)
        v *= 0.9
        v -= 0.1 * slope
        w += v
    return np.sum(w * w * v)


def written_in_between(w, v, m, n):
    """`w` is not at the push of `v` what it is when it is recorded."""
    w, v = w.copy(), v.copy()
    for _ in range(n):
        v *= np.sin(v)
        w[0] *= v[1]
        slope = np.cos(m @ w)
        w *= slope * w
    return np.sum(w * v)


def written_by_another_name(w, v, m, n):
    w, v = w.copy(), v.copy()
    head = w[:2]
    for _ in range(n):
        slope = np.tanh(m @ v)
        v *= np.sin(v)
        head *= slope[:2]
        w *= np.cos(w) + slope
    return np.sum(w * v)


def seen_by_another_name(w, v, m, n):
    """What restores `w` restores `last`, too."""
    w, v = w.copy(), v.copy()
    last = w[-2:]
    for _ in range(n):
        slope = np.tanh(m @ v)
        v[:2] += last * last * v[1:]
        w *= np.cos(w) * slope
        v = v * slope
    return np.sum(w * v) + last @ last


def held_by_a_list(w, v, m, n):
    w, v = w.copy(), v.copy()
    both = [w, v]
    for k in range(n):
        slope = np.tanh(m @ both[k % 2])
        w *= slope * w
        v *= both[0] * slope
    return np.sum(both[0] * both[1])


def taking_turns(w, v, m, n):
    w, v = w.copy(), v.copy()
    for _ in range(n):
        slope = np.tanh(m @ w)
        v *= slope * v
        v += w * slope
        w, v = v, w
    return np.sum(w * w + v)


def an_element_that_is_not_there_at_first(w, v, m, n):
    w, v = w.copy(), v.copy()
    for k in range(n):
        slope = np.tanh(m @ v)
        total = np.sum(slope * v)
        w[k % 3] *= total * w[k % 3]
        v = v * slope * w
    return np.sum(w * v)


def left_in_the_middle(w, v, m, n):
    w, v = w.copy(), v.copy()
    for k in range(n + 5):
        slope = np.tanh(m @ w)
        w *= slope * w
        if k == n:
            break
        v *= np.cos(v) * w
    return np.sum(w * v)


def loops_in_a_loop(w, v, m, n):
    w, v = w.copy(), v.copy()
    for _ in range(2):
        v *= np.sin(v)
        for k in range(n):
            slope = np.tanh(m[k % 3] * w)
            w *= slope + w
            v[1:] = slope[1:] * v[:-1]
        w += v * v
    return np.sum(w * v)


def the_argument_itself(w, v, m, n):
    for _ in range(n):
        slope = np.tanh(m @ v)
        w *= slope * w
        v = v * np.cos(slope)
    return np.sum(w * v)


FUNCTIONS = [
    momentum, written_in_between, written_by_another_name, seen_by_another_name, held_by_a_list, taking_turns,
    an_element_that_is_not_there_at_first, left_in_the_middle, loops_in_a_loop, the_argument_itself,
]  # fmt: skip


def args():
    return RNG.uniform(0.4, 1.4, 3), RNG.uniform(0.4, 1.4, 3), RNG.uniform(0.2, 0.9, (3, 3))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients(function):
    check_grads(lambda w, v, m: function(w * 1.0, v, m, 3), args(), order=1)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_second_derivatives(function):
    check_grads(lambda w, v, m: function(w * 1.0, v, m, 2), args(), order=2)


def source(function):
    return grad(function, (0, 1, 2)).source_for(*args(), 3)


def test_copies_stand_in_one_record():
    text = source(momentum)
    assert "tape.append((w.copy(), slope))" in text
    assert "_stack" not in text


def test_an_array_that_nothing_else_sees_is_bound():
    assert "[...] =" not in source(momentum)


@pytest.mark.parametrize("function", [seen_by_another_name, written_by_another_name], ids=lambda f: f.__name__)
def test_an_array_that_another_name_sees_is_written(function):
    """Bound anew, it would leave the other name with what the forward sweep made."""
    assert "w[...] = " in source(function)


def test_the_argument_is_restored_in_place_or_copied():
    w, v, m = args()
    before = w.copy()
    value, _ = value_and_grad(the_argument_itself, (0, 1))(w, v, m, 3)
    np.testing.assert_array_equal(w, before)
    assert np.isclose(value, the_argument_itself(w, v, m, 3))


def test_a_copy_is_not_taken_of_what_is_not_there_yet():
    """The index is out of range in the last trip: as in the function, what stands before it raises first."""

    def f(w, v, n):
        w = w.copy()
        for k in range(n):
            total = np.sum(v) * v[k]
            if total < 0.5:
                raise ValueError("too small")
            w[k] *= total * w[k]
            v = v * 0.1 * np.cos(total)
        return np.sum(w * v)

    with pytest.raises(ValueError, match="too small"):
        grad(f)(np.ones(1), np.array([1.0, 0.9]), 2)
