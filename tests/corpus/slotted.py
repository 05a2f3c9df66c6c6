"""Objects that keep their attributes in slots: made in the function, kept in lists, written, copied, inherited."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from .case import case


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def area(self):
        return self.x * np.sin(self.y)


class Solid(Point):
    __slots__ = ("z",)

    def __init__(self, x, y, z):
        super().__init__(x, y)
        self.z = z

    def area(self):
        return super().area() * self.z


class Named(Point):  # slots of the base, and a dict
    def __init__(self, x, y):
        super().__init__(x, y)
        self.scale = 2.0

    def area(self):
        return super().area() * self.scale


@dataclass(slots=True)
class Rate:
    k: float
    of: float = 0.5

    def at(self, t):
        return np.exp(-self.k * t) * self.of


@dataclass(slots=True, frozen=True)
class Fixed:
    k: float

    def at(self, t):
        return self.k * t * t


HELD = Solid(0.7, 1.1, 0.4)
RATES = [Rate(0.3), Rate(0.6, 1.5)]


@case(0.8)
def slotted_object_is_made(x):
    return Point(x, x * x).area() + Solid(x, 0.5, x).area() * Named(x, 2.0 * x).area()


@case(0.8)
def slotted_objects_in_a_list(x):
    points = [Solid(x * k, x + k, 0.5) for k in range(3)]
    points.append(Solid(0.2, x, x))
    return sum(p.area() for p in points)


@case(0.8)
def slot_is_written(x):
    p = Point(x, 0.5)
    p.x = p.x * x
    p.y += x
    q = copy.copy(p)
    q.x = 3.0 * q.x
    return p.area() + q.area()


@case(0.8)
def dataclasses_with_slots(x):
    r, f = Rate(x), Fixed(x)
    r.k *= 1.5
    return r.at(x) + f.at(r.of) * f.k


@case(0.8)
def slotted_objects_from_outside(x):
    return HELD.area() * x + HELD.x * x * x + sum(r.at(x) for r in RATES)


@case(np.array([0.4, 0.8]), Point(0.3, np.array([0.2, 0.9])), argnums=(0,))
def slotted_object_as_an_argument(x, p):
    return np.sum(x * p.area() * p.y)
