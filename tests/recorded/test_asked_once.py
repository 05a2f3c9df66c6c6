"""How often the compiler is asked for what has no text: once for each function, until something that it calls is another."""

from __future__ import annotations

import gc
import sys
import weakref

import numpy as np

from s2sgrad import grad, hessian


class Node:
    """A number that remembers what it was computed from."""

    def __init__(self, value, made_from=()):
        self.value, self.made_from = value, list(made_from)

    def __mul__(self, other):
        return Node(self.value * other.value, [self, other])


def squared(x):
    first = Node(x[0])
    both = [first, first * first]
    return (both[0] * both[1]).value


def of_squared(x):
    return squared(x) * x[1]


def asked(compilations, derivative):
    """How many gradients are compiled at the first call, and at the next two."""
    counts = []
    for _ in range(3):
        before = len(compilations)
        derivative()
        counts.append(len(compilations) - before)
    return counts[0], sum(counts[1:])


def test_what_has_no_text_is_compiled_once_for_all_its_gradients(compilations):
    x = np.array([2.0, 3.0])
    np.testing.assert_allclose(grad(of_squared)(x), [36.0, 8.0])
    np.testing.assert_allclose(hessian(of_squared)(x), [[36.0, 12.0], [12.0, 0.0]])
    compilations.clear()
    assert asked(compilations, lambda: grad(of_squared)(3.0 * x)) == (0, 0)
    assert asked(compilations, lambda: hessian(of_squared)(3.0 * x)) == (0, 0)
    first, more = asked(compilations, lambda: grad(lambda y: 2.0 * squared(y))(x))
    assert first > 0 and more == 0
    first, more = asked(compilations, lambda: grad(squared)(list(x)))  # arguments of another kind
    assert first > 0 and more == 0


def test_it_is_compiled_again_where_what_it_calls_is_another(compilations, monkeypatch):
    x = np.array([2.0, 3.0])
    grad(of_squared)(x)
    made = len(compilations)
    monkeypatch.setattr(sys.modules[__name__], "squared", lambda x: x[0] * x[0])
    again = grad(of_squared)
    np.testing.assert_allclose(again(x), [12.0, 4.0])
    assert len(compilations) > made and "Recorded" not in again.source
    monkeypatch.undo()
    other = grad(of_squared)
    np.testing.assert_allclose(other(x), [36.0, 8.0])
    assert "Recorded" in other.source


def test_what_has_no_text_is_not_kept_alive():
    def made():
        rows = [1.0]

        def inner(x):
            first = Node(x[0] * rows[0])
            return [first, first * first][1].value

        return inner

    f = made()
    assert grad(f)(np.array([2.0]))[0] == 4.0
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None
