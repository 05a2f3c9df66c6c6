"""Objects of which only the running program tells which one a name stands for."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from .case import case

VECTOR = np.array([0.31, 0.7, 0.2, 0.9, 0.5])


class Particle:
    def __init__(self, place, speed, mass=1.0):
        self.place, self.speed, self.mass = place, speed, mass

    def push(self, force, step):
        self.speed = self.speed + force / self.mass * step
        self.place += self.speed * step


@case(VECTOR)
def particles_that_attract_each_other(x):
    particles = [Particle(v, 0.0, 1.0 + 0.1 * k) for k, v in enumerate(x)]
    for _ in range(2):
        for a in particles:
            force = 0.0
            for b in particles:
                if a is not b:
                    force += b.place - a.place
            a.push(force, 0.05)
    return sum(p.place * p.speed for p in particles)


@case(VECTOR)
def arrays_in_objects_written_in_place(x):
    particles = []
    for k in range(4):
        particles.append(Particle(x[k : k + 2] * 1.0, np.zeros(2)))
    for _ in range(2):
        for p in particles:
            for q in particles:
                p.speed += 0.1 * (q.place - p.place)
        for p in particles:
            p.place += 0.1 * p.speed
            p.place[1] *= 0.9
    return sum([np.sum(p.place**2) for p in particles])


class Link:
    def __init__(self, value, following=None):
        self.value, self.following = value, following


@case(VECTOR)
def linked_list(x):
    head = None
    for v in x:
        head = Link(v * v, head)
    total = 0.0
    while head:
        total = total * 0.5 + head.value
        head = head.following
    return total


@case(VECTOR)
def ring_whose_members_write_each_other(x):
    cells = [Link(v) for v in x]
    for k in range(len(cells)):
        cells[k].following = cells[(k + 1) % len(cells)]
    c = cells[0]
    for _ in range(7):
        c.following.value = c.following.value + 0.1 * c.value
        c = c.following
    return sum([c.value * (k + 1) for k, c in enumerate(cells)])


class Square:
    def __init__(self, a):
        self.a = a

    def area(self):
        return self.a**2


class Disc:
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r**2

    @property
    def a(self):
        return 2.0 * self.r


@case(VECTOR)
def shapes_that_answer_by_their_class(x):
    shapes = []
    for k, v in enumerate(x):
        if k % 2:
            shapes.append(Square(v))
        else:
            shapes.append(Disc(v))
    discs = [s.r for s in shapes if isinstance(s, Disc)]
    return sum(s.area() for s in shapes) * sum(discs) + sum([s.r for s in shapes if type(s) is not Square])


@case(VECTOR)
def shapes_chosen_by_an_expression(x):
    total = 0.0
    for k, v in enumerate(x):
        s = Square(v) if k % 2 else Disc(v)
        t = (v > 0.4 and s) or Disc(2.0 * v)
        total += s.area() * (Disc(v) if v > 0.6 else Square(v)).area() + t.area()
    return total


@dataclass
class Event:
    amount: float
    rate: float = 0.5


@case(VECTOR)
def events_in_a_queue(x):
    queue = []
    for k, v in enumerate(x):
        heapq.heappush(queue, (k * 3 % 5, Event(v)))
    total = 0.0
    while queue:
        when, event = heapq.heappop(queue)
        total = total * event.rate + event.amount
        if when < 3 and event.rate > 0.3:
            event.rate *= 0.5
            heapq.heappush(queue, (when + 5, event))
    return total


def made(x):
    return [Link(v) if v > 0.4 else Square(v) for v in x]


@case(VECTOR)
def objects_that_a_function_returns(x):
    things = made(x)
    return sum([t.value * 2.0 if isinstance(t, Link) else t.area() for t in things])


@case(VECTOR)
def class_of_the_function_itself(x):
    @dataclass
    class Cell:
        u: float
        beside: list

        def flow(self):
            return 0.5 * self.u + 0.5 * self.beside[0].u

    cells = [Cell(v, []) for v in x]
    for k, c in enumerate(cells):
        c.beside.append(cells[k - 1])
    for _ in range(2):
        for c, u in zip(cells, [c.flow() for c in cells], strict=True):
            c.u = u
    return sum(c.u**2 for c in cells)


@case(VECTOR)
def best_and_last_of_two_objects(x):
    a, b = Particle(x[0], x[1]), Particle(x[2], x[3])
    best = a
    if b.place > a.place:
        best = b
    best.push(1.0, 0.1)
    a, b = b, a
    a.place *= x[4]
    return a.place + 2.0 * b.place * best.speed


class Branch:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right

    def total(self, weight):
        total = weight * self.value
        if self.left:
            total = total + 2.0 * self.left.total(weight=weight * weight)
        if self.right:
            total = total * self.right.total(weight)
        return total

    def visit(self, found):
        found.append(self.value)
        if self.left is not None:
            self.left.visit(found)
        if self.right is not None:
            self.right.visit(found)


@case(np.array([0.5, 0.7, 1.1, 0.3]), second=False)
def method_of_a_tree_that_calls_itself(x):
    tree = Branch(x[0], Branch(x[1]), Branch(x[2], Branch(x[3])))
    tree.left.value = tree.left.value * tree.right.value
    return tree.total(x[3])


@case(np.array([0.5, 0.7, 1.1, 0.3]))
def method_of_a_tree_that_calls_itself_and_fills_a_list(x):
    tree = Branch(x[0], Branch(x[1]), Branch(x[2], Branch(x[3])))
    found = []
    tree.visit(found)
    return sum(v * v * (k + 1) for k, v in enumerate(found))


class Plate:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2

    def __call__(self, x):
        return self.side * x


class RoundPlate(Plate):
    def area(self):
        return 3.0 * self.side**2


class HalfPlate(Plate):
    def area(self):
        return 0.5 * self.side**2

    def __call__(self, x):
        return self.side + x


@case(VECTOR)
def methods_of_all_classes_that_a_list_holds(x):
    shapes = []
    for v in x:
        shapes.append(Plate(v) if v > 0.4 else RoundPlate(v))
    shapes.append(HalfPlate(x[0]))
    total = 0.0
    for shape in shapes:
        total += shape.area()
    one = shapes[0] if x[1] > 0.0 else shapes[-1]
    return total * one.area()


@case(VECTOR)
def methods_of_some_of_the_classes(x):
    shapes = [Plate(v) for v in x]
    round_ones = [RoundPlate(v) for v in x]
    total = 0.0
    for k in range(len(x)):
        one = shapes[k] if x[k] > 0.4 else round_ones[k]
        total += one.area() * shapes[k].area() + round_ones[k](x[0])
    return total + HalfPlate(x[1])(total)


@case(VECTOR)
def objects_of_two_classes_that_are_called(x):
    layers = [Plate(x[0]), HalfPlate(x[1]), Plate(x[2]), RoundPlate(x[3])]
    h = x[4]
    for layer in layers:
        h = layer(h)
    return h * h


class Bead:
    def __init__(self, v, w=0.5, after=None):
        self.v, self.w, self.after = v, w, after


def weight_from(bead, depth):
    if bead is None or depth > 4:
        return 0.0
    return np.sin(bead.v) * bead.w + 0.5 * weight_from(bead.after, depth + 1)


@case(VECTOR)
def recursion_whose_record_holds_a_list_that_shrinks(x):
    beads = [Bead(v) for v in x]
    by_number = {0: beads[0], 1: Bead(x[2])}
    s = x[1]
    s += weight_from(by_number[1], 0) * 0.1
    return s + sum([b.v * b.w for b in beads]) + by_number[1].v


class Wave:
    def __init__(self, v, w):
        self.v, self.w = v, w

    def __call__(self, t):
        return math.sin(self.v * t) + self.w


@case(VECTOR)
def functions_of_objects_called_while_two_attributes_change(x):
    waves = [Wave(v, v * 0.5) for v in x]
    functions = []
    one = waves[1] if x[0] > 0.1 else waves[2]
    s = 0.0
    for k in range(3):
        wave = waves[k]
        wave.v, wave.w = wave.w, wave.v * 2.0
        functions.append(lambda t: wave(t) * 0.5)
        functions.append(lambda t: one(t) * 0.5)
        for function in functions:
            s += function(x[3])
        wave.w = s * 0.3
    return s + sum([w.v * w.v for w in waves])


class Value:
    """A number that records how it was made."""

    def __init__(self, data, before=()):
        self.data, self.grad, self.before, self.back = data, 0.0, before, Leaf()

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other))
        out.back = Added(self, other, out)
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))
        out.back = Multiplied(self, other, out)
        return out

    def tanh(self):
        return Value(np.tanh(self.data), (self,))

    def backward(self):
        order, visited = [], set()

        def visit(v):
            if v not in visited:
                visited.add(v)
                for child in v.before:
                    visit(child)
                order.append(v)

        visit(self)
        self.grad = 1.0
        for v in reversed(order):
            v.back()


class Leaf:
    def __init__(self):
        self.none = 0.0

    def __call__(self):
        pass


class Added:
    def __init__(self, a, b, out):
        self.a, self.b, self.out = a, b, out

    def __call__(self):
        self.a.grad += self.out.grad
        self.b.grad += self.out.grad


class Multiplied(Added):
    def __call__(self):
        self.a.grad += self.b.data * self.out.grad
        self.b.grad += self.a.data * self.out.grad


@case(np.array([0.3, -0.7, 1.1]))
def values_that_record_how_they_were_made(x):
    a, b, c = Value(x[0]), Value(x[1]), Value(x[2])
    d = (a * b + c) * a
    d.backward()
    return a.grad * b.grad + c.grad * d.data + a.tanh().data


@case(VECTOR, second=False)
def tree_built_in_one_expression(x):
    def total(node):
        if node is None:
            return 0.0
        return node.value + np.sin(total(node.left)) * node.value + total(node.right)

    return total(Branch(x[0], Branch(x[1], None, None), Branch(x[2], None, Branch(x[1] * x[2], None, None))))


class Labelled:
    def __init__(self, parts):
        self.parts = parts


@case(VECTOR, second=False)
def array_updated_in_a_dict_of_one_of_two_objects(x):
    first = Labelled({"row": x[0] * x, "table": np.outer(x, x)})
    both = [first, Labelled({"row": np.outer(x, x), "table": x[0] * x}), first]
    named = {"a": both[0], "b": both[1]}
    row, i = both[0].parts["row"], 0
    list(named.values())[i % 2].parts["table"][i] = row[0]
    both[-1].parts["row"] *= 0.5
    return np.sum(row) + sum([np.sum(q.parts["row"] ** 2) + np.sum(q.parts["table"]) for q in both])


class Summed:
    """Objects with operators, and with slots, that refer to the ones that they were made of."""

    __slots__ = ("of", "value")

    def __init__(self, value, of=()):
        self.value = value
        self.of = [*of]

    def __add__(self, other):
        return Summed(self.value + other.value, (self, other))

    def __mul__(self, other):
        return Summed(self.value * other.value, (self, other))


@case(np.array([0.7, 1.3, 0.4]))
def objects_with_slots_and_operators_in_lists(x):
    a, b = Summed(x[0]), Summed(x[1])
    made = [a * b + a, b * b]
    return made[0].value * made[1].of[0].value + sum(part.value for part in made[0].of) * x[2]
