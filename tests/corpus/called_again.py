"""Nested functions and methods of several statements that are called at more than one place."""

import numpy as np

from .case import case

P, Y = np.array([1.0, 0.2, 0.1]), np.array([1.0, -0.4])


class Oscillator:
    def __init__(self, stiffness, damping):
        self.stiffness, self.damping = stiffness, damping

    def slope(self, y):
        x, v = y[0], y[1]
        force = -self.stiffness * x
        force = force - self.damping * v
        return np.array([v, force])

    def step(self, y, h):
        first = self.slope(y)
        middle = y + 0.5 * h * first
        return y + h * self.slope(middle)


@case(P, Y)
def closure_called_four_times(p, y):
    def slope(y):
        x, v = y[0], y[1]
        force = -p[0] * x - p[1] * v
        force = force - p[2] * x**3
        return np.array([v, force])

    for _ in range(3):
        k1 = slope(y)
        k2 = slope(y + 0.05 * k1)
        k3 = slope(y + 0.05 * k2)
        k4 = slope(y + 0.1 * k3)
        y = y + (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 60.0
    return y @ y


@case(1.3, Y)
def method_of_two_objects(k, y):
    hard, soft = Oscillator(k, 0.1), Oscillator(0.5, k * k)
    for _ in range(2):
        y = hard.step(y, 0.1)
        y = soft.step(y, 0.2)
    return y @ y


@case(Y, 1.5)
def closure_with_a_capture_that_is_bound_anew(y, w):
    def mixed(a):
        b = a * w
        c = np.sin(b) + a
        d = c * c
        return b * c + d

    z = mixed(y)
    w = w * 2.0
    z = z + mixed(z)
    return np.sum(z)


@case(Y)
def closure_that_writes_its_argument(y):
    a = y * 2.0

    def grow(u):
        u[0] = u[0] * u[1]
        u[1] = u[1] + u[0]
        return u[0]

    first = grow(a)
    second = grow(a)
    return first * second + a[1]


@case(Y)
def closure_that_writes_a_capture(y):
    a = y * 2.0

    def grow(k):
        s = a[0] * k
        a[1] = a[1] * s
        a[0] = s + a[1]
        return s

    return grow(2.0) + grow(3.0) * a[0]


@case(Y, 0.3)
def closure_that_may_return_its_argument(y, limit):
    def limited(u, n):
        for _ in range(n):
            u = np.tanh(u)
            u = u * (1.0 + limit)
        return u

    a = y * 3.0
    b = limited(a, 0)
    b[0] = b[0] * 5.0
    c = limited(a, 2)
    c[1] = c[1] * 2.0
    return a @ b + c @ c


@case(0.8, 1.7)
def closure_with_an_early_return(x, y):
    def clipped(t):
        u = t * x
        if u > 1.0:
            v = np.sqrt(u)
            return v * y
        return u

    return clipped(0.5) + clipped(2.0) * clipped(3.0)


@case(1.2, 0.7)
def closure_with_a_nonlocal_total(x, y):
    total = x

    def add(v):
        nonlocal total
        u = v * y
        total = total + u * u
        return u

    a = add(2.0)
    b = add(x)
    return a * b * total


@case(1.2, True, argnums=(0,))
def closure_with_a_capture_bound_in_a_branch(x, given):
    if given:
        w = x * x

    def weighed(t):
        if given:
            t = t * w
        u = np.sin(t)
        return u * x

    return weighed(1.0) + weighed(2.0)


@case(Y)
def closure_that_returns_two_arrays(y):
    def split(u):
        low = u * 0.5
        high = np.exp(u) - low
        high = high * low
        return low, high

    a, b = split(y)
    c, d = split(a + b)
    return np.sum(a * d - b * c)


@case(Y)
def closure_of_a_closure_called_twice(y):
    def inner(u):
        v = np.sin(u)
        w = v * u
        return v + w

    def outer(u):
        a = inner(u)
        b = inner(a * 0.5)
        return a - b * y[0]

    return np.sum(outer(y) * outer(y * 2.0))


@case(Y)
def closure_whose_state_is_a_list(y):
    seen = []

    def noted(u):
        v = u * u
        seen.append(v)
        w = v + len(seen)
        return w * u

    return np.sum(noted(y) + noted(y * 0.5)) + np.sum(seen[0] * seen[1])


@case(P)
def closure_over_a_dict_of_lists(p):
    held = {"a": [p * 2.0, p + 1.0]}

    def used(k):
        u = held["a"][0] * k
        v = np.cos(u) * held["a"][1]
        return np.sum(v * u)

    return used(1.0) * used(2.0)


@case(P)
def closure_that_updates_in_place_what_is_passed(p):
    a = p * 1.0

    def halved(u):
        u[:] = u * 0.5
        v = u * u
        return np.sum(v + p)

    return halved(a) + 3.0 * halved(a) + a[0]


@case(Y)
def closure_whose_result_is_passed_and_read_later(y):
    s = 0.9

    def g(u):
        nonlocal s
        p = u
        p = p + y
        s = s * 1.1
        s = s + p[0]
        if u[0] > 0.49:
            return u * p
        return p

    a = g(y)
    b = g(a)
    b = g(b * 0.5)
    return np.sum(a * y + b * b) + s


@case(Y)
def items_updated_in_what_is_called_again(x):
    def bent(t):
        d = {"u": t * 1.0}
        a = d["u"]
        d["u"] += 1.5 * t
        b = np.sin(a)
        return np.sum(a * a + a * b)

    y = bent(x)
    y = y + bent(2.0 * x)
    return y + bent(3.0 * x)
