"""Objects that refer to each other: a random program whose second derivative was wrong, and lists of one another."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from judging import loaded

from s2sgrad import grad, jvp
from s2sgrad.analysis.plain_classes import opened_of
from s2sgrad.analysis.value_kinds import kinds_of


@pytest.mark.dear
@pytest.mark.records
def test_second_derivative_beside_records_of_a_recursion():
    """What an adjoint returns may alias its record."""
    x, d, step = np.array([0.9, 0.7, 0.5, 1.1, 0.8]), np.array([0.3, -0.5, 0.7, 0.2, 0.9]), 1e-5
    text = (pathlib.Path(__file__).parent / "graph_program.txt").read_text(encoding="utf-8")
    with loaded(text, "<graph program>") as f:
        df = grad(f)
        second = grad(lambda x: np.sum(df(x) * d))(x)
        slopes = [np.sum((df(x + step * e) - df(x - step * e)) * d) / (2.0 * step) for e in np.eye(5)]
    np.testing.assert_allclose(second, slopes, rtol=1e-4, atol=1e-4)


# --- lists of each other ------------------------------------------------------------------------------------------------


class Particle:
    def __init__(self, x):
        self.x, self.others = x, []

    def energy(self, p):
        return p * sum((self.x - other.x) ** 2 * p for other in self.others)


def particles(n):
    out = [Particle(1.0 + k) for k in range(n)]
    for p in out:
        p.others = [other for other in out if other is not p]
    return out


def size(kind):
    return 1 + sum(map(size, getattr(kind, "items", None) or ()))


def parts(opened):
    return 1 + sum(parts(part) for part in opened.parts.values() if part is not None)


@pytest.mark.parametrize("measured", [lambda p: size(kinds_of([p])[0]), lambda p: parts(opened_of(p))])
def test_what_objects_that_hold_each_other_are_taken_for_grows_with_their_number(measured):
    three, five, nine = (measured(particles(n)[0]) for n in (3, 5, 9))
    assert five < nine and nine - five == 2 * (five - three)


@pytest.mark.parametrize("argument", [False, True])
def test_objects_that_hold_each_other(argument):
    every = particles(12)
    first = every[0]

    def of_all(p):
        return sum(q.energy(p) for q in every)

    def of_first(p):
        return first.energy(p)

    if argument:
        assert grad(Particle.energy, 1)(first, 2.0) == 4.0 * sum(k * k for k in range(12))
        assert jvp(Particle.energy, (first, 2.0), (None, 1.0))[1] == 4.0 * sum(k * k for k in range(12))
    else:
        assert grad(of_first)(2.0) == 4.0 * sum(k * k for k in range(12))
        assert grad(of_all)(2.0) == 4.0 * sum((i - k) ** 2 for i in range(12) for k in range(12))
