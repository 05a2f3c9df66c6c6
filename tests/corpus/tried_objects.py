"""Methods, constructors and properties of objects that the function makes, called in `try`."""

from __future__ import annotations

import contextlib
import dataclasses
import math

import numpy as np

from .case import case

FOUR = np.array([0.4, 0.9, 0.2, 0.7])
SIGNS = np.array([0.4, -0.9, 0.2, 1.3])


class Dry(ValueError):
    """Raised by a tank."""


class Tank:
    def __init__(self, level):
        if level < 0.0:
            raise ValueError("negative")
        self.level = level
        self.log = []
        self.marks = np.array([level, 0.5, 1.0])

    def drain(self, v):
        if v > self.level:
            raise Dry("empty")
        self.level -= v
        return self.level * v

    def filled(self, v):
        self.level = 0.8 * self.level + v
        self.log.append(self.level)
        self.marks[int(3.0 * v)] = self.level * v
        return math.sqrt(0.5 - v) * self.level

    @property
    def rate(self):
        if self.level < 0.5:
            raise ArithmeticError("slow")
        return self.level * self.level

    @rate.setter
    def rate(self, v):
        if v > 0.6:
            raise ValueError("fast")
        self.level = v * 1.5

    @classmethod
    def twice(cls, level):
        return cls(level + level)

    def __call__(self, v):
        self.level *= 0.9
        return math.log(v) * self.level

    def emptied(self, x):
        total = 0.0
        for v in x:
            try:
                total += self.drain(v)
            except Dry:
                self.level += 0.1
                continue
            finally:
                total *= 0.9
        return total


@dataclasses.dataclass
class Pair:
    a: float
    b: float = 0.5

    def __post_init__(self):
        if self.a > 0.8:
            raise ValueError("wide")
        self.a *= self.b


class Chained:
    def __init__(self, tank, behind=None):
        self.tank, self.behind = tank, behind

    def drain(self, v):
        self.tank.level *= 1.1
        return self.tank.drain(v)


@case(FOUR)
def method_that_raises_in_a_loop(x):
    t = Tank(x[0] * 3.0)
    total = 0.0
    for v in x:
        try:
            total += t.drain(v)
        except ValueError:
            total += v * v
    return total


@case(FOUR)
def method_that_raises_when_it_has_written(x):
    t = Tank(x[0])
    total = 0.0
    for v in x:
        try:
            total += t.filled(v) * v
        except (ValueError, IndexError):
            total += t.level * len(t.log)
    return total + sum(t.log) + np.sum(t.marks * t.marks)


@case(SIGNS)
def constructor_that_raises(x):
    total = 0.0
    for v in x:
        try:
            t = Tank.twice(v) if v > 0.3 else Tank(v)
        except ValueError:
            t = Tank(-0.5 * v)
        total += t.level * v
    return total


@case(SIGNS)
def constructor_of_a_dataclass_that_raises(x):
    total = 0.0
    for v in x:
        with contextlib.suppress(ValueError):
            total += Pair(v, b=x[0]).a * v
    return total


@case(FOUR)
def property_that_raises_when_it_is_read_or_set(x):
    t = Tank(x[0] + 0.2)
    total = 0.0
    for v in x:
        try:
            total += t.rate
            t.rate = v
        except ArithmeticError:
            t.level += v
        except ValueError:
            total += t.level * v
    return total + t.level


@case(SIGNS)
def called_object_that_raises(x):
    t = Tank(x[0])
    total = 0.0
    for v in x:
        try:
            if t(v) > -1.0 and v < 1.0:
                total += t.level
        except ValueError:
            total += v * t.level
    return total


@case(FOUR)
def linked_objects_that_raise(x):
    tanks = [Tank(v) for v in x]
    chain = None
    for t in tanks:
        chain = Chained(t, chain)
    total, k = 0.0, 0
    while chain is not None:
        try:
            total += chain.drain(x[k]) * x[0]
        except Dry:
            total += chain.tank.level
            chain.tank.level = x[k]
        else:
            total *= 1.1
        k, chain = k + 1, chain.behind
    return total + sum([t.level for t in tanks])


@case(np.array([0.37, 0.93, 0.21, 0.68]))
def method_with_an_attempt_of_its_own(x):
    t = Tank(x[0] + 0.5)
    y = t.emptied(x)
    try:
        y += t.emptied(x) * t.drain(x[3])
    except Dry as error:
        print(f"failed: {error}")
        y += t.level
    return y


def drained(tank, v):
    try:
        y = tank.drain(v)
    except Dry:
        tank.level += v
        return v * 2.0
    else:
        tank.level *= 1.1
    return y


@case(FOUR)
def helper_that_tries_a_method(x):
    tank, others = Tank(x[0]), {"a": Tank(x[1]), "b": Tank(x[2])}
    total = drained(tank, x[2]) + drained(others["a"], x[3]) * others["a"].level
    for v in x:
        total += drained(others["b"], v)
    return total + tank.level + others["b"].level


class Steps:
    def __init__(self, a):
        self.a, self.b, self.near = a, a * a, [0.1, 0.2]

    def step(self, v):
        self.a, self.near[0] = self.near[0] + v, self.a
        if v > 0.8:
            raise Dry("far")
        self.b *= self.a
        return self.b + v


@case(FOUR)
def items_made_by_a_method_that_raises(x):
    s, total = Steps(x[0]), 0.0
    for k in range(3):
        try:
            total += sum(s.step(v) * x[k] for v in x[k:])
            ys = [s.step(v) for v in x if v < 0.6]
        except Dry:
            ys = [s.near[0], s.a]
        total += sum(ys) * x[3]
    return total + s.b
