"""What classes have beside methods: attributes that are counted up, fields that a factory makes, methods of named tuples."""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from .case import case

VECTOR = np.array([0.7, 1.3, 0.4, 0.9, 1.1])


class Counted:
    """Objects that are counted, and numbered."""

    count = 0
    unit = 0.5

    def __init__(self, w):
        self.w = w
        Counted.count += 1
        self.number = Counted.count

    def weighed(self, t):
        return self.w * t * self.count + self.number

    @classmethod
    def skip(cls):
        cls.count = cls.count + 2
        return cls.count


@case(VECTOR)
def attribute_of_a_class_counted_up_between_reads(x):
    Counted.count = 0
    first = Counted(x[0])
    early = first.weighed(x[1])
    second = Counted(x[2])
    late = first.weighed(x[1]) + second.weighed(x[2])
    k = Counted.skip()
    return early * late + first.weighed(x[4]) * k + (Counted.count > 3) * x[1] + Counted.unit * x[2]


class Numbered:
    made = 0

    def __init__(self, w):
        self.w = w
        type(self).made += 1
        self.n = self.__class__.made


class NumberedAgain(Numbered):
    pass


@case(VECTOR)
def class_of_the_object_counts(x):
    Numbered.made, NumberedAgain.made = 0, 4
    total = sum([Numbered(v).w ** 2 * Numbered.made for v in x])
    return total + NumberedAgain(x[0]).w * NumberedAgain(x[1]).n * Numbered.made


class Settings:
    scale = 2.0


def scaled(t):
    return t * Settings.scale


@case(VECTOR)
def class_attribute_changed_for_a_call(x):
    before = Settings.scale
    Settings.scale = 3.0
    y = scaled(x[0])
    Settings.scale = before
    return y + scaled(x[1]) ** 2


class Depth:
    """A context that counts how deep it is."""

    depth = 0

    def __enter__(self):
        Depth.depth += 1
        return self

    def __exit__(self, *_):
        Depth.depth -= 1


@case(VECTOR)
def nested_contexts_count_their_depth(x):
    with Depth():
        y = x * Depth.depth
        with Depth():
            y = y * y * Depth.depth
    return np.sum(y) * (Depth.depth + 1)


@dataclass
class Body:
    mass: float
    place: np.ndarray
    speed: np.ndarray = field(default_factory=lambda: np.zeros(2))
    pulls: list = field(default_factory=lambda: [0.0, 1.0])
    energy: float = field(init=False)

    def __post_init__(self):
        self.energy = 0.5 * self.mass * np.sum(self.place**2)


@case(VECTOR)
def fields_that_factories_make(x):
    bodies = [Body(1.0 + x[k] ** 2, x[k : k + 2]) for k in range(3)]
    for body in bodies:
        body.speed = body.speed + 0.1 * body.place
        body.pulls[0] = body.pulls[1] * body.energy
    return sum([np.sum(b.speed) * b.pulls[0] for b in bodies])


@dataclass
class Held:
    body: Body
    kept: Counted = field(default_factory=lambda: Counted(2.0))


@case(VECTOR)
def field_whose_factory_makes_an_object(x):
    held = Held(Body(x[0], x[1:3]))
    held.body.pulls.append(x[3] * held.kept.w)
    return sum(held.body.pulls) * held.body.energy


class Base:
    def __init__(self, w):
        self.w = w

    def run(self, t):
        return self.w * t


class Bounded(Base):
    def run(self, t):
        return np.tanh(super().run(t))


class Amplified(Bounded):
    def __init__(self, w, s):
        super().__init__(w)
        self.s = s

    def run(self, t):
        return self.s * super().run(t) + super(Bounded, self).run(t)


@case(VECTOR)
def super_beyond_the_next_class(x):
    h = x[4]
    for layer in [Base(x[0]), Bounded(x[1]), Amplified(x[2], x[3])]:
        h = layer.run(h)
    return h


class State(NamedTuple):
    place: float
    speed: float
    time: float = 0.0

    def step(self, dt, k):
        return self._replace(place=self.place + dt * self.speed, speed=self.speed - dt * k * self.place, time=self.time + dt)

    @property
    def energy(self):
        return 0.5 * self.speed**2 + 0.5 * self.place**2

    @classmethod
    def at_rest(cls, place):
        return cls(place, 0.0)


@case(VECTOR)
def methods_of_a_named_tuple_in_a_loop(x):
    s = State(x[0], x[1])
    for _ in range(4):
        s = s.step(0.1, x[2])
    return s.energy + s.time * State.at_rest(x[3]).step(0.2, x[4]).energy


def energies(states):
    return sum([s.energy for s in states.values()])


@case(VECTOR)
def named_tuples_asked_in_another_function(x):
    states = {"a": State(x[0], x[1]), "b": State.at_rest(x[2])}
    states["c"] = states["a"].step(0.5, x[3])
    return energies(states)


Point = namedtuple("Point", "a b c", defaults=[2.0])


@case(VECTOR)
def star_that_fills_the_fields(x):
    points = [Point(*x[1:4]), Point(*(x[:2] * 2.0)), Point(a=x[4], b=x[0])]
    return sum([math.sqrt(p.a * p.a + p.b * p.c) for p in points])


class Mode(IntEnum):
    PLAIN = 1
    STIFF = 3


class Solver:
    def __init__(self, mode=Mode.PLAIN, start=0.0):
        self.mode, self.start = mode, start

    def run(self, t):
        return self.start * t if self.mode == Mode.STIFF else self.start + t * self.mode


@case(VECTOR)
def enumeration_of_whole_numbers_as_a_factor(x):
    return Solver(Mode.STIFF, x[0]).run(x[1]) + Solver(start=x[2]).run(x[3]) * Mode.STIFF.value


class Scope:
    """A name, and what it stands for; other names are in the scope around it."""

    def __init__(self, word, value, around=None):
        self.word, self.value, self.around = word, value, around

    def get(self, word):
        scope = self
        while scope is not None:
            if word == scope.word:
                return scope.value
            scope = scope.around
        raise KeyError(word)

    def update(self, value):
        self.value = value * 0.5


@case(VECTOR)
def methods_named_like_those_of_a_dict(x):
    outer = Scope("a", x[0])
    inner = Scope("b", x[1], outer)
    outer.update(inner.get("a") * x[2])
    return inner.get("a") + inner.get("b") * outer.get("a")


@case(VECTOR)
def methods_of_a_local_class_read_variables_as_they_are(x):
    k = x[0]

    class Scaled:
        unit = 2.0

        def __init__(self, v):
            self.v = v * k

        def value(self):
            return self.v * k * len(names) + self.unit

        def __add__(self, other):
            return Scaled(self.v + other.value())

    names = ["one"]
    scaled = [Scaled(v) for v in x]
    first = sum([s.value() for s in scaled])
    k = x[2] * x[3]
    names.append("two")
    return first * (scaled[0] + scaled[1]).value()


class Visited:
    visits = 0

    def __init__(self, v):
        self.v = v
        Visited.visits += 1


@case(VECTOR)
def attribute_of_a_class_read_by_objects_in_a_list(x):
    Visited.visits = 0
    total, objects = 0.0, []
    for v in x:
        objects.append(Visited(v))
    while Visited.visits < 7:
        Visited.visits += 1
        total += x[Visited.visits - 6] * Visited.visits
    for o in objects:
        total += o.v**2 * o.visits
        Visited.visits += 1
    return total


class Scaled:
    def __init__(self, value):
        self.value = value

    @classmethod
    def twice(cls, value):
        return cls(2.0 * value)

    def times(self, factor):
        return Scaled(self.value * factor)


def made_by_a_class_method(value):
    return Scaled.twice(value)


def made_by_a_method(value):
    scaled = made_by_a_class_method(value)
    return scaled.times(value)


@case(VECTOR)
def helpers_return_what_methods_make(x):
    return made_by_a_class_method(x[0]).value * made_by_a_method(x[1]).value


class Measured:
    def __init__(self, v):
        self.v, self.count = v, 0

    @functools.cached_property
    def square(self):
        self.count += 1
        return self.v * self.v


@case(VECTOR)
def cached_property_is_computed_once(x):
    p, s = Measured(x[0]), 0.0
    first = p.square
    for v in x:
        p.v = p.v * v
        s = s * v + p.square
    return s * first * p.v * p.count


@case(VECTOR)
def cached_property_that_a_branch_computes(x):
    p = Measured(x[1])
    s = p.square if x[0] > 0.5 else 1.0
    p.v = x[2]
    return s * p.square * p.count


@case(VECTOR, second=False)
def cached_properties_of_objects_in_a_list(x):
    parts, s = [Measured(v) for v in x], 0.0
    for p in parts[1:]:
        s += p.square
    parts[2].square = x[0] * x[3]
    for p in parts:
        p.v = p.v * x[0]
    return s * sum([p.square * p.v for p in parts])


class Drawn:
    shown = 0

    @classmethod
    def made(*args):
        return args[0]()

    @staticmethod
    def size():
        return 3.0

    def show(self):
        self.shown += 1


def shown_size():
    figure = Drawn.made()
    figure.show()
    return figure.size()


@case(VECTOR, None)
def methods_without_a_named_parameter(x, plot):
    if plot is not None:
        return np.sum(x) * shown_size()
    return np.sum(x * x)


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def force(self, x):
        return self.stiffness * x


class Stiffening(Spring):
    def __init__(self, stiffness, more):
        super().__init__(stiffness)
        self.more = more

    def force(self, x):
        return super().force(x) + self.more * x**3


STIFFENING = Stiffening(0.6, 1.2)


@case(VECTOR)
def methods_that_ask_for_their_base_class_are_called_by_their_class(x):
    made = Stiffening(x[0], x[1])
    return Stiffening.force(made, x[2]) + Spring.force(made, x[1]) + Stiffening.force(STIFFENING, x[0])


class Shared:
    scale = 1.0

    def __init__(self, v):
        self.v = v

    @classmethod
    def set(cls, value):
        cls.scale = value

    def put(self, value):
        self.__class__.scale = value


SHARED = Shared(0.5)


def set_on_the_class(value):
    Shared.scale = 1.0 * value


def set_by_an_object(found, value):
    type(found).scale = value * value


def set_on_a_function(value):
    set_on_the_class.last = 2.0 * value


@case(VECTOR)
def attribute_of_a_class_that_helpers_write(x):
    set_on_the_class(x[0])
    total = Shared.scale * x[1]
    set_by_an_object(SHARED, x[2])
    total += SHARED.scale * x[3]
    Shared.set(x[4])
    total += Shared(x[1]).scale * x[2]
    SHARED.put(x[0])
    return total * Shared.scale


@case(VECTOR)
def attribute_of_a_function_that_a_helper_writes(x):
    set_on_a_function(x[0])
    return set_on_the_class.last * x[1]
