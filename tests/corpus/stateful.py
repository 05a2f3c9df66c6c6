"""Objects whose methods change them: counters, oscillators, optimizers, and functions in their attributes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .case import case


class Method:
    def __init__(self, f: Callable, df: Callable):
        self.f, self.df = f, df

    def step(self, x):
        value = self.f(x)
        slope = self.df(x)
        return x - value / slope


class Oscillator:
    def __init__(self, stiffness, damping=0.1):
        self.stiffness, self.damping = stiffness, damping
        self.q, self.p = 1.0, 0.0

    def force(self):
        return -self.stiffness * self.q - self.damping * self.p

    def step(self, h):
        f = self.force()
        self.p += h * f
        self.q += h * self.p

    def run(self, n, h):
        for _ in range(n):
            self.step(h)
        return self.q


class Cached:
    def __init__(self, x):
        self.x = x
        self.asked = 0

    @property
    def square(self):
        self.asked += 1
        return self.x * self.x


class Adam:
    def __init__(self, rate):
        self.rate, self.m, self.v, self.t = rate, 0.0, 0.0, 0

    def update(self, p, g):
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * g
        self.v = 0.99 * self.v + 0.01 * g * g
        m = self.m / (1.0 - 0.9**self.t)
        v = self.v / (1.0 - 0.99**self.t)
        return p - self.rate * m / (np.sqrt(v) + 0.1)


@case(1.3)
def functions_in_attributes(a):
    newton = Method(lambda t: t * t - a, lambda t: 2.0 * t)
    x = 1.0
    for _ in range(3):
        x = newton.step(x)
    return x


@case(4.0, 0.2)
def oscillator_with_state(k, c):
    o = Oscillator(k, damping=c)
    q = o.run(5, 0.1)
    return q * o.p


@case(1.3)
def property_that_changes_state(x):
    c = Cached(x)
    a = c.square
    b = c.square
    return a * b * c.asked + c.x


@case(0.7)
def optimizer_with_state(rate):
    adam = Adam(rate)
    p = 0.5
    for _ in range(3):
        p = adam.update(p, 2.0 * (p - 2.0))
    return p * p


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def act(self, x, power=2):
        return self.factor * x**power


act = Scale(1.7).act
ACTS = {"act": act, "bound": [act]}


@case(0.8)
def method_of_an_object_kept_under_a_name(x):
    total = act(x) + sum(map(act, [x, x * x]))
    return total * ACTS["act"](x) + ACTS["bound"][0](x, 3)
