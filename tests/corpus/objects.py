"""Objects that are bound anew, passed on, kept in lists and dicts; containers within objects."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import numpy as np

from .case import case
from .classes import Base, Complex, Counter, Mangled, Shifted, Squashed, Vector

VECTOR = np.array([0.3, -0.7, 1.1])


@case(1.3)
def object_in_a_loop_of_its_own(x):
    total = 0.0
    for k in range(3):
        c = Counter(x * k)
        c.step(x)
        total += c.value
    return total


@case(1.3)
def object_passed_to_a_function(x):
    def doubled(counter, by):
        counter.step(by)
        return counter.value * 2.0

    c = Counter(x)
    return doubled(c, x) * doubled(c, 3.0) + c.calls


@case(1.3, 0.7)
def attributes_in_branches_and_loops(x, y):
    c = Counter(x)
    if x > y:
        c.value = c.value * y
    else:
        c.calls += 10
    while c.value < 5.0:
        c.step(1.5 + y)
    return c.value + c.calls * x


@case(1.3)
def class_attribute_and_its_own(x):
    b = Base(x)
    b.factor = b.factor * x
    other = Base(2.0)
    return b.factor * other.factor + b.w


@case(1.3)
def isinstance_of_an_object(x):
    s = Shifted(x, 2.0)
    if isinstance(s, Base):
        return s.b * x * s.w
    return 0.0


@case(VECTOR)
def array_attribute_is_rebound(v):
    c = Counter(v)
    c.step(v[0])
    c.value = c.value + c.value @ v
    return np.sum(c.value * v)


@case(VECTOR)
def method_writes_a_fresh_array(v):
    c = Counter(v * 1.0)
    w = c.value
    w[0] = v[1] * v[2]
    return np.sum(c.value * v)


@case(0.3, 0.4)
def object_bound_anew_in_a_loop(a, b):
    z, c = Complex(0.0), Complex(a, b)
    for _ in range(4):
        z = z * z + c
    return z.squared_modulus


@case(0.3, 0.4)
def object_bound_anew_until_it_is_large(a, b):
    z, c = Complex(0.0), Complex(a, b)
    n = 0
    while z.squared_modulus < 0.5 and n < 30:
        z = z * z + c
        n += 1
    return (z * z.conjugate()).re * n


@case(0.3, 0.4)
def object_bound_in_both_branches(a, b):
    z = Complex(a, b)
    if a < b:
        w = z * z
    else:
        w = z + z
    return w.squared_modulus


@case(1.3)
def particle_and_velocity_as_vectors(x):
    p, v = Vector(x, 1.0), Vector(0.5, -x)
    for _ in range(3):
        v = v - p * 0.1
        p = p + v * 0.1
    return p @ p + v.norm()


@case(0.3, 0.4)
def two_objects_change_places(a, b):
    z, w = Complex(a, b), Complex(b, 1.0)
    for _ in range(3):
        z, w = w, z * w
    return z.squared_modulus + w.re


@case(0.3, 0.4)
def previous_and_present_object(a, b):
    previous, present = Complex(1.0), Complex(a, b)
    for _ in range(4):
        following = present * Complex(a) + previous
        previous = present
        present = following
    return present.squared_modulus + previous.re


@case(0.3, 0.4)
def best_of_several_objects(a, b):
    best = Complex(a, b)
    for k in range(3):
        z = Complex(a * k, b)
        if z.squared_modulus > best.squared_modulus:
            best = z
    return best.re * best.im


@case(0.3, 0.4)
def closure_over_an_object_that_is_bound_anew(a, b):
    z = Complex(a, b)
    f = lambda: z.re  # noqa: E731
    t = f()
    z = z * z
    return t * f()


@case(1.3)
def sum_of_objects(x):
    total = Vector(0.0, 0.0)
    for v in [Vector(x, 1.0), Vector(x * x, 2.0)]:
        total = total + v
    return total.x * total.y


@case(1.3)
def objects_in_a_list(x):
    h = 1.0
    for layer in [Base(x), Shifted(2.0, x), Squashed(0.1, x * x)]:
        h = np.sin(layer.act(h))
    return h


@case(1.3)
def objects_in_a_dict(x):
    d = {"a": Base(x), "b": Base(2.0)}
    d["a"].w = x * x
    return d["a"].act(x) * d["b"].act(1.0)


@case(1.3)
def method_calls_inside_of_operators(x):
    s = Shifted(x, 2.0)
    return s.act(x) * s.scale(2.0) + Base(x).act(x) / s.b - Mangled(x).twice()


class Stack:
    def __init__(self):
        self.items = []

    def push(self, v):
        self.items.append(v)
        return self

    def pop(self):
        return self.items.pop()

    def __len__(self):
        return len(self.items)

    def __getitem__(self, k):
        return self.items[k]

    def __setitem__(self, k, v):
        self.items[k] = v


@case(1.3)
def stack_with_items(x):
    s = Stack()
    for k in range(4):
        s.push(x * k)
    a = s.pop()
    s[0] = a * x
    s.push(s[0]).push(2.0)
    return s[0] * s[2] * len(s) + s[3]


@dataclass
class Record:
    parts: list = field(default_factory=list)
    total: float = 0.0

    def add(self, v):
        self.parts.append(v)
        self.total += v
        return self


@case(1.3)
def lists_of_two_records_are_two(x):
    a = Record()
    a.add(x).add(x * x)
    b = Record()
    b.add(2.0)
    return a.parts[1] * a.total + b.total * len(b.parts)


class Lazy:
    def __init__(self, x):
        self.x = x
        self._square = None

    @property
    def square(self):
        if self._square is None:
            self._square = np.sin(self.x) * self.x
        return self._square


@case(1.3)
def property_computed_once(x):
    c = Lazy(x)
    return c.square * c.square + c.x


@case(1.3)
def comparison_of_objects_by_their_parts(x):
    a, b = Vector(x, 1.0), Vector(2.0, x)
    return a.x * b.y if a.x < b.x else b.x


class Holder:
    def __init__(self, value):
        self.value = value


@case(VECTOR)
def section_of_an_array_attribute_is_updated(v):
    h = Holder(v * 1.0)
    h.value[1:] *= h.value[:-1]
    h.value[0] = v[2]
    return np.sum(h.value**2)


@case(1.3)
def two_objects_with_one_list(x):
    items = [x]
    a, b = Holder(items), Holder(items)
    a.value.append(x * x)
    return b.value[1] * len(b.value)


@case(1.3)
def two_objects_with_one_object(x):
    inner = Holder(x)
    a, b = Holder(inner), Holder(inner)
    a.value.value = a.value.value * x
    return b.value.value * inner.value


@case(1.3)
def closure_reads_an_attribute_when_called(x):
    h = Holder(x)
    f = lambda: h.value  # noqa: E731
    h.value = h.value * x
    y = f()
    h.value = h.value * x
    return y * f()


class Shown:
    def __init__(self, value):
        self.value = value

    def checked(self):
        assert self.value > 0.0, f"the value is {self.value}"
        return self.value * self.value


@case(1.3)
def attributes_in_assertions(x):
    shown = Shown(x)
    assert -1.0 < x < shown.checked() + 1.0
    return shown.checked() * shown.value


class Gain:
    def __init__(self, samples, factor):
        self.samples = samples
        self.factor = factor

    def grow(self, by):
        self.factor += by
        return self.factor


@case(VECTOR)
def attribute_updated_in_place_by_what_changes_the_object(x):
    samples = x * 2.0
    gain = Gain(samples, 1.5)
    gain.samples *= gain.grow(0.5) * x
    return np.sum(samples * samples)


@case(VECTOR)
def array_updated_by_a_closure_that_binds_it_anew(x):
    w = x * 1.5
    first = w

    def scaled(k):
        nonlocal w
        w = w * k
        return w

    w += scaled(3.0)
    return np.sum(w * x) + np.sum(first * first)


def handed_on(v):
    return v


class Handing:
    def __init__(self, samples, factor):
        self.samples = handed_on(samples)
        self.factor = handed_on(factor)

    def grow(self, by):
        self.factor += by
        return self.factor


@case(VECTOR)
def attribute_updated_in_place_of_what_was_handed_on(x):
    samples = handed_on(x * 2.0)
    gain = handed_on(Handing(samples, 1.5))
    gain.samples *= gain.grow(0.5) * x
    return np.sum(samples * samples)


class Weighed:
    def __init__(self, w):
        self.w = w

    def __add__(self, other):
        return Weighed(self.w + (other.w if isinstance(other, (Weighed, Base)) else other))

    def weights(self, n):
        for k in range(n):
            yield self.w * k


@case(1.3)
def operator_that_asks_what_the_other_side_is(x):
    return (Weighed(x) + Weighed(2.0) + 3.0).w * x


@case(1.3)
def object_asked_whether_it_is_none(x):
    o = Weighed(x)
    return (0.0 if o is None else o.w) * (x if o is not None and x > 0.0 else 2.0)


@case(1.3)
def values_of_a_generator_method_summed(x):
    return sum(Weighed(x).weights(4)) * x


@case(1.3)
def object_bound_in_an_expression(x):
    return (o := Weighed(x)).w * o.w


@case(1.3)
def length_of_a_list_of_functions(x):
    return len([lambda t: t * x, np.sin]) * x


class Body:
    def __init__(self, place, speed=0.0):
        self.place, self.speed = place, speed

    def kick(self, force):
        self.speed += force * 0.1

    def drift(self):
        self.place += self.speed * 0.1

    def __call__(self, t):
        return np.tanh(self.place * t)


@case(np.array([0.7, -0.4, 1.3, 0.9]))
def one_name_for_one_after_the_other(x):
    bodies = [Body(x[k], x[k + 1]) for k in range(3)]
    for _ in range(3):
        for b in bodies:
            b.kick(-b.place)
        for b in bodies:
            b.drift()
    return sum([0.5 * b.speed ** 2 + b.place ** 3 for b in bodies])


@case(np.array([0.7, -0.4, 1.3, 0.9]))
def pairs_by_index(x):
    bodies = [Body(v) for v in (x[0], x[1], x[2])]
    n = len(bodies)
    for i in range(n):
        for j in range(i + 1, n):
            distance = bodies[j].place - bodies[i].place
            bodies[i].kick(distance * x[3])
            bodies[j].kick(-distance)
    for b in reversed(bodies[1:]):
        b.drift()
    return sum([b.place * (k + 1) for k, b in enumerate(bodies)]) + bodies[-1].speed ** 2


@case(np.array([0.7, -0.4, 1.3, 0.9]))
def left_when_enough(x):
    bodies = [Body(x[k]) for k in range(4)]
    total = 0.0
    for b in bodies:
        if b.place < -0.2:
            continue
        total += b.place ** 2
        b.place = b.place * x[3]
        if total > 1.5:
            break
        total *= 1.1
    for b in bodies:
        total += b.place * x[0]
    return total


@case(np.array([0.7, -0.4, 1.3, 0.9]))
def functions_that_read_the_last_one(x):
    bodies = [Body(x[k]) for k in range(3)]
    fs = []
    for b in bodies:
        fs.append(lambda t: b(t))
    return fs[0](x[3]) + 2.0 * fs[1](x[1])


@case(np.array([0.7, -0.4, 1.3, 0.9]))
def defaults_of_each_trip(x):
    bodies = [Body(x[k]) for k in range(3)]
    fs = []
    for b in bodies:
        twice = b.place * 2.0
        fs.append(lambda t, twice=twice: twice * t)
    return fs[0](x[3]) + 2.0 * fs[1](x[1])


class Offset:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Offset(self.a + other.a, self.b + other.b)

    def __radd__(self, other):
        return self if other == 0 else self + other

    def __rmul__(self, by):
        return Offset(by * self.a, by * self.b)

    def __lt__(self, other):
        return self.a * self.b < other.a * other.b


@case(np.array([0.3, -0.7, 1.1, 0.4]))
def sums_and_extremes_of_objects(x):
    held = [Offset(x[k], x[k + 1]) for k in range(3)]
    total, mean = sum(held), 0.5 * sum(held[1:], start=held[0])
    doubled = sum((2.0 * v for v in held), Offset(0.0, 1.0))
    return total.a * mean.b + doubled.a * doubled.b + min(held).a * max(held).b + sum([v.a for v in held])


class Shelf:
    def __init__(self, a):
        self.held = [a]

    def __getitem__(self, k):
        return self.held[k]

    def __setitem__(self, k, a):
        self.held[k] = a

    @property
    def first(self):
        return self.held[0]

    @first.setter
    def first(self, a):
        self.held[0] = a


@case(VECTOR)
def update_through_a_method_and_a_property(x):
    y, z = x * 2.0, x * x
    Shelf(y)[0] *= x[1]
    shelf = Shelf(z)
    shelf[0] += y
    shelf.first *= x[0]
    return np.sum(y * z) + shelf.first[1]


@case(VECTOR)
def updates_through_methods_of_several_objects(x):
    y = x * 2.0
    shelves = [Shelf(y) for _ in range(2)]
    shelves[1][0] *= x[1]
    shelves[0].first *= x[0]
    return np.sum(y * x) * shelves[1].first[0]


class Square:
    def __init__(self, c):
        self.c = c

    def __call__(self, t):
        return self.c * t * t


class Both:
    def __init__(self, first, then, c):
        self.first, self.then, self.c = first, then, c

    def __call__(self, t):
        return self.then(self.first(t))


@case(VECTOR)
def called_object_that_calls_another_of_its_class(x):
    steps = [Square(x[0])]
    steps.append(Both(steps[0], steps[0], 2.0))
    steps.append(Both(steps[0], steps[1], 3.0))
    return steps[2](x[1])


class StatesItself:
    def __init__(self, value):
        self.value = value

    def __getstate__(self):
        return {"value": 2.0 * self.value}


@case(VECTOR)
def copy_of_an_object_that_says_itself_what_its_state_is(x):
    return copy.copy(StatesItself(x[0])).value * x[1]
