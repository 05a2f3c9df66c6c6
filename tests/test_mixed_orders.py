"""Third and fourth derivatives by every mix of the modes, through loops, stores, calls, closures, lists and branches.

What is expected is exact: the function is run on numbers `a + b e1 + c e2 + d e1 e2 + ..` with `ek * ek = 0`, one `ek` for
each derivative; the factor of `e1 e2 ..` is the derivative along all directions.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from s2sgrad import grad, jvp

X = np.array([0.4, 0.9, -0.3])
DIRECTIONS = [np.array(v) for v in ([0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [-0.6, 0.2, 0.3], [0.4, 0.4, -0.1])]


class Jet:
    """A number with its derivatives along several directions; `parts[m]` is the factor of the product of those `ek` whose
    bits are in `m`."""

    def __init__(self, parts):
        self.parts = parts

    def __add__(self, other):
        more = other.parts if isinstance(other, Jet) else [other] + [0.0] * (len(self.parts) - 1)
        return Jet([a + b for a, b in zip(self.parts, more, strict=True)])

    def __mul__(self, other):
        if not isinstance(other, Jet):
            return Jet([a * other for a in self.parts])
        out = [0.0] * len(self.parts)
        for (i, a), (j, b) in itertools.product(enumerate(self.parts), enumerate(other.parts)):
            if not i & j:
                out[i | j] += a * b
        return Jet(out)

    def __pow__(self, n):
        return self if n == 1 else self * self ** (n - 1)

    def __gt__(self, other):
        return self.parts[0] > other

    __radd__, __rmul__ = __add__, __mul__


def expected(f, order):
    x = np.empty(X.shape, object)
    for i, value in enumerate(X):
        parts = [float(value)] + [0.0] * (2**order - 1)
        for k in range(order):
            parts[1 << k] = float(DIRECTIONS[k][i])
        x[i] = Jet(parts)
    return f(x).parts[-1]


def along(f, k):
    v = DIRECTIONS[k]
    return lambda x: jvp(f, (x,), (v,))[1]


def back(f, k):
    v, gradient = DIRECTIONS[k], grad(f)
    return lambda x: np.sum(gradient(x) * v)


# --- the programs ----------------------------------------------------------------------------------------------------


def loop(x, c=0.7):
    u = x * 1.0
    for _ in range(3):
        u = u * x + c * u
    return np.sum(u**2)


def elements_in_a_loop(x, c=0.7):
    s = 1.0
    for i in range(3):
        s = s * x[i] + c * s * s
    return s * s


def branches_in_a_loop(x, c=0.7):
    u = x * c
    for i in range(3):
        if u[i] > 0:
            u = u * u + x
        else:
            u = u * x
    return np.sum(u * u)


def stores(x, c=0.7):
    u = x * x
    u[1:] *= c * x[:-1]
    u[0] = u[1] * u[2]
    return np.sum(u**2)


def stores_in_a_loop(x, c=0.7):
    u = x * x
    for i in range(1, 3):
        u[i] = u[i] * u[i - 1] + c * x[i]
    return np.sum(u**2)


def scaled(u, c):
    return u * u * c + u


def calls(x, c=0.7):
    return np.sum(scaled(scaled(x, c), x[0]) * x)


def calls_in_a_loop(x, c=0.7):
    u = x * 1.0
    for _ in range(2):
        u = scaled(u, c)
    return np.sum(u * x)


def step(u, c):
    v = u.copy()
    v[1:] *= c * u[:-1]
    return v


def calls_that_store(x, c=0.7):
    return np.sum(step(step(x, c), c) ** 2)


def calls_that_store_in_a_loop(x, c=0.7):
    u = x * 1.0
    for _ in range(3):
        u = step(u, c) + u
    return np.sum(u * u)


def closure(x, c=0.7):
    k = lambda t: c * t * t * x  # noqa: E731
    return np.sum(k(k(x)))


def swap(x, c=0.7):
    u, un = x * 1.0, x * c
    for _ in range(2):
        un[1:] = u[1:] * u[:-1]
        u, un = un, u
    return np.sum(u * u)


def growing_list(x, c=0.7):
    ys = [x[0]]
    for i in range(1, 3):
        ys.append(ys[-1] * x[i] + c * ys[-1] * ys[-1])
    return ys[-1] * ys[1]


def bound_anew_and_written(x, c=0.7):
    u = x * 1.0
    for _ in range(2):
        u = u * x
        u[0] += c * u[1] * u[2]
    return np.sum(u * u)


def view_chosen_by_a_branch(x, c=0.7):
    y, z = x * c, x * x
    v = y[1:] if x[0] > 0 else z[1:]
    v[0] = x[0] * x[2]
    v[1] *= x[1] * v[0]
    return np.sum(y * z * y)


def two_names_of_one_array(x, c=0.7):
    u = x * c
    v = u
    v *= u
    u = v
    return np.sum(u * u * u)


@dataclass
class State:
    q: np.ndarray
    p: np.ndarray


def kick(s, dt):
    s.p += dt * s.q * s.q
    s.q += dt * s.p


def attributes_updated_by_a_callee(x, c=0.7):
    s = State(x * 1.0, x * x)
    for _ in range(2):
        kick(s, c)
    return np.sum(s.q * s.q * s.p)


def all_of_it(x, c=0.7):
    k = lambda t: c * t * t  # noqa: E731
    u = x * 1.0
    for _ in range(3):
        u = step(u, c) + k(u)
        if u[0] > 0:
            u[0] += x[1] ** 2
    return np.sum(u**4)


PROGRAMS = [loop, elements_in_a_loop, branches_in_a_loop, stores, stores_in_a_loop, calls, calls_in_a_loop, calls_that_store,
            calls_that_store_in_a_loop, closure, swap, growing_list, bound_anew_and_written, view_chosen_by_a_branch,
            two_names_of_one_array, attributes_updated_by_a_callee, all_of_it]  # fmt: skip


def check(f, modes):
    derivative = f
    for k, mode in enumerate(modes):
        derivative = {"f": along, "r": back}[mode](derivative, k)
    np.testing.assert_allclose(derivative(X), expected(f, len(modes)), rtol=1e-9)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("modes", ["".join(m) for k in (1, 2) for m in itertools.product("fr", repeat=k)])
def test_up_to_the_second_order(modes):
    check(all_of_it, modes)


@pytest.mark.dear
@pytest.mark.sampled(one_in=20)
@pytest.mark.parametrize("modes", ["".join(m) for m in itertools.product("fr", repeat=3)])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_third_order(f, modes):
    check(f, modes)


FOURTH = [*PROGRAMS[:-1], pytest.param(all_of_it, marks=pytest.mark.records)]  # of which some orders are recorded


@pytest.mark.dear
@pytest.mark.sampled(one_in=480, turn=160)
@pytest.mark.parametrize("modes", ["".join(m) for m in itertools.product("fr", repeat=4)])
@pytest.mark.parametrize("f", FOURTH, ids=lambda f: f.__name__)
def test_fourth_order(f, modes):
    check(f, modes)
