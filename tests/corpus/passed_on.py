"""What programs pass on besides numbers: modules, callbacks, trees of parameters, chained iterators, loggers."""

from __future__ import annotations

import itertools
import logging
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .case import case

VECTOR = np.array([0.3, 0.5, -0.7])
LOG = logging.getLogger(__name__)


def squashed(x, xp):
    return xp.tanh(x)


@case(VECTOR)
def module_as_a_default(x, xp=np):
    if xp is np:
        x = x * 2.0
    return xp.sum(squashed(xp.cos(x), xp) * x)


@case(VECTOR, np)
def module_as_an_argument(x, xp):
    return xp.sum(xp.exp(x) * x)


@case(VECTOR)
def module_under_another_name(x):
    la = np.linalg
    return la.norm(x) * x[0]


@case(VECTOR)
def callback_that_is_none(x, callback=None):
    for k in range(3):
        x = x * 1.1 + np.sin(x)
        if callback is not None and k > 0:
            callback(k, x)
    return np.sum(x * x)


def of_a_tree(t):
    if isinstance(t, dict):
        return sum(of_a_tree(v) for v in t.values())
    if isinstance(t, (list, tuple)):
        return sum(of_a_tree(v) for v in t)
    return np.sum(t * t)


@case(VECTOR)
def recursion_by_the_type_of_its_argument(x):
    return of_a_tree({"a": x, "b": [x * 2.0, {"c": np.sin(x)}]})


@case(VECTOR)
def chained_loop(x):
    s = 0.0
    for v in itertools.chain(x[:1], x[1:]):
        s = s * 0.5 + v * v
    return s + sum(v * v for v in itertools.chain.from_iterable([[x[0]], [x[1], x[2]]]))


@case(VECTOR)
def enumerated_values_of_a_dict(x):
    d = {"a": x[0], "b": x[1] * x[2]}
    s = sum(v * v * (i + 1) for i, v in enumerate(d.values()))
    for weight, v in zip([1.0, 3.0], d.values(), strict=True):
        s = s + weight * v
    return s


@case(VECTOR)
def loop_over_a_set(x):
    s = 0.0
    for k in {0, 2}:
        s = s + x[k] ** 2
    return s * sum(x[k] for k in sorted({1, 2}))


@case(VECTOR)
def logged_on_the_way(x):
    LOG.debug("at %s", x)
    y = x * x
    LOG.info("sum %g", np.sum(y))
    return np.sum(y * x)


@dataclass(frozen=True)
class Particle:
    place: object
    speed: object
    stiffness: float = 2.0


def moved(p, dt):
    return replace(p, place=p.place + dt * p.speed, speed=p.speed - dt * p.stiffness * np.sin(p.place))


@case(VECTOR)
def replaced_in_a_frozen_dataclass(x):
    p = Particle(x, 2.0 * x)
    for _ in range(3):
        p = moved(p, 0.1)
    q = replace(p, stiffness=x[0])
    return np.sum(p.place * p.speed) * q.stiffness


class State(NamedTuple):
    place: object
    speed: object
    drag: float = 0.5


def stepped(s, dt):
    return s._replace(place=s.place + dt * s.speed, speed=s.speed - dt * (np.sin(s.place) + s.drag * s.speed))


@case(VECTOR)
def replaced_in_a_named_tuple(x):
    s = State(x, 2.0 * x)
    for _ in range(3):
        s = stepped(s, 0.1)
    t = s._replace(drag=x[0])
    return np.sum(s.place * t.speed) * t.drag


def secant(f, x0, args=(), kwargs={}, steps=30):  # noqa: B006
    p0, p1 = x0, x0 * 1.01
    q0 = f(p0, *args, **kwargs)
    for _ in range(steps):
        q1 = f(p1, *args, **kwargs)
        if q1 == q0:
            break
        p0, q0, p1 = p1, q1, p1 - q1 * (p1 - p0) / (q1 - q0)
    return p1


def cubic(t, a, b=2.0):
    return t**3 - a * b


@case(np.array([0.3, 0.7]), second=False)
def arguments_spread_by_position_and_by_name(x):
    both = (x[0], x[1]) if x[0] > 0.0 else (x[1], x[0])
    return secant(cubic, 1.0, args=both) + secant(cubic, 1.0, (x[0],), {"b": x[1]}) * secant(lambda t: t * t - x[1], 1.0)
