"""Objects that a function makes: attributes, methods, properties, inheritance, operators, and objects within objects."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6], [0.7, 0.9, -0.3]])


class Counter:
    def __init__(self, value):
        self.value = value
        self.calls = 0

    def step(self, factor):
        self.calls += 1
        self.value = self.value * factor
        return self.value


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def __rmul__(self, factor):
        return Vector(factor * self.x, factor * self.y)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __getitem__(self, k):
        return self.x if k == 0 else self.y

    def __len__(self):
        return 2

    def norm(self):
        return math.hypot(self.x, self.y)


class Complex:
    def __init__(self, re, im=0.0):
        self.re = re
        self.im = im

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def conjugate(self):
        return Complex(self.re, -self.im)

    @property
    def squared_modulus(self):
        return self.re**2 + self.im**2


class Quaternion:
    def __init__(self, w, x, y, z):
        self.w, self.x, self.y, self.z = w, x, y, z

    def __mul__(self, q):
        return Quaternion(
            self.w * q.w - self.x * q.x - self.y * q.y - self.z * q.z,
            self.w * q.x + self.x * q.w + self.y * q.z - self.z * q.y,
            self.w * q.y - self.x * q.z + self.y * q.w + self.z * q.x,
            self.w * q.z + self.x * q.y - self.y * q.x + self.z * q.w,
        )

    def inverse(self):
        n = self.w**2 + self.x**2 + self.y**2 + self.z**2
        return Quaternion(self.w / n, -self.x / n, -self.y / n, -self.z / n)


class Dual:
    """A number and its derivative."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other):
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    def __pow__(self, n):
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)

    def sin(self):
        return Dual(np.sin(self.value), np.cos(self.value) * self.slope)


class Base:
    factor = 2.0

    def __init__(self, w):
        self.w = w

    def act(self, v):
        scaled = self.scale(v)
        return scaled * self.factor

    def scale(self, v):
        return v * self.w


class Shifted(Base):
    factor = 3.0

    def __init__(self, w, b):
        super().__init__(w)
        self.b = b

    def scale(self, v):
        scaled = super().scale(v)
        return scaled + self.b


class Squashed(Shifted):
    def act(self, v):
        return np.tanh(super().act(v))


class Thermometer:
    def __init__(self, celsius):
        self._celsius = celsius
        self.changes = 0

    @property
    def celsius(self):
        return self._celsius

    @celsius.setter
    def celsius(self, value):
        self.changes += 1
        self._celsius = value * 0.5

    @property
    def fahrenheit(self):
        return self._celsius * 1.8 + 32.0


@dataclass
class Layer:
    w: np.ndarray
    b: float = 0.0

    def __call__(self, h):
        return np.tanh(self.w @ h + self.b)


@dataclass
class Network:
    first: Layer
    second: Layer
    name: str = "network"
    scale: float = 2.0

    def forward(self, x):
        h = self.first(x)
        return self.scale * np.sum(self.second(h))


@dataclass(frozen=True)
class Settings:
    rate: float
    decay: float = 1.5

    def with_rate(self, rate):
        return Settings(rate, self.decay)


@dataclass
class Total:
    weight: float
    parts: list = field(default_factory=list)

    def __post_init__(self):
        self.whole = self.weight * 2.0

    def add(self, v):
        self.whole += v
        return self


class Mangled:
    def __init__(self, value):
        self.__value = value

    def twice(self):
        return self.__value * 2.0


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a
        self.b = a * a


class Node:
    def __init__(self, value, next_node=None):
        self.value = value
        self.next_node = next_node


@case(1.3)
def counter_that_counts(x):
    c = Counter(x)
    a = c.step(2.0)
    b = c.step(x)
    return a * b * c.calls + c.value


@case(1.3)
def two_objects_of_one_class(x):
    c, d = Counter(x), Counter(x * x)
    for k in range(3):
        c.step(1.0 + k)
        d.step(c.value)
    return c.value * d.value / (1 + d.calls)


@case(1.3)
def two_names_of_one_object(x):
    c = Counter(x)
    d = c
    d.step(x)
    return c.value * d.calls


@case(1.3)
def bound_method_in_a_variable(x):
    c = Counter(x)
    step = c.step
    a = step(2.0)
    b = step(x)
    return a * b + c.calls


@case(1.3)
def vectors_with_operators(x):
    a, b = Vector(x, 1.0), Vector(2.0, x * x)
    c = a + b * x - 2.0 * a
    d = -c
    product = c @ d
    length = c.norm()
    return product * length + c[0] * d[1] * len(c)


@case(0.3, 0.4)
def complex_numbers(a, b):
    z, c = Complex(a, b), Complex(b, 1.0)
    w = z * z + c
    u = w * w.conjugate() + z
    return u.squared_modulus


@case(0.3, 0.4)
def chain_of_methods_and_operators(a, b):
    return (Complex(a, b) * Complex(b, a).conjugate() + Complex(1.0)).conjugate().squared_modulus


@case(0.8, 0.3)
def vector_turned_by_a_quaternion(a, b):
    q = Quaternion(np.cos(a), np.sin(a), 0.0, b)
    v = Quaternion(0.0, a, b, 1.0)
    turned = q * v * q.inverse()
    return turned.x * turned.y + turned.z * turned.w


@case(1.3)
def dual_numbers(x):
    d = Dual(x, 1.0)
    e = d * d * Dual(3.0) + (d * Dual(2.0)).sin() + d**3
    return e.slope


@case(1.3)
def inheritance_and_super(x):
    base, shifted = Base(x), Shifted(x, 2.0)
    a = base.act(x)
    b = shifted.act(x)
    return a * b


@case(0.3)
def inheritance_of_three_levels(x):
    s = Squashed(x, x * x)
    y = s.act(0.7)
    return y * s.w + s.factor


@case(1.3)
def properties_with_a_setter(x):
    t = Thermometer(x)
    t.celsius = x * x
    t.celsius = t.celsius * t.fahrenheit
    return t.fahrenheit * t.celsius * t.changes


@case(VECTOR, MATRIX, 0.4)
def dataclasses_in_a_dataclass(x, w, b):
    network = Network(Layer(w), second=Layer(w.T, b))
    network.scale = network.scale * b
    y = network.forward(x)
    return y + network.first.w[0, 0] * network.second.b


@case(1.3)
def leaves_of_a_dataclass(x):
    p = Total(x)
    q = p
    q.weight = p.weight * 2.0
    p.add(x).add(q.weight)
    return p.whole * q.weight


@case(1.3)
def mangled_attribute(x):
    m = Mangled(x)
    twice = m.twice()
    return twice * x


@case(1.3)
def slots(x):
    s = Slotted(x)
    return s.a * s.b


@case(1.3)
def linked_nodes(x):
    n = Node(x, Node(x * x, Node(2.0)))
    n.next_node.value = n.next_node.value * n.value
    return n.value * n.next_node.value + n.next_node.next_node.value * x


class RunningSum:
    """A sum that is updated in place, and compared by what it has come to."""

    def __init__(self, value):
        self.value = value

    def __iadd__(self, other):
        self.value = self.value + other * other
        return self

    def __lt__(self, other):
        return self.value < other.value


@case(VECTOR)
def object_updated_by_its_own_operator(x):
    total = RunningSum(x[0])
    total += x[2] * x[0]
    return total.value * x[1]


@case(VECTOR)
def objects_compared_by_their_own_method(x):
    return x[0] * x[2] if RunningSum(x[0]) < RunningSum(x[1]) else x[1] ** 3


class Quantity:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Quantity(self.value + (other.value if isinstance(other, Quantity) else other))

    def __mul__(self, other):
        if isinstance(other, (int, float)):
            return Quantity(self.value * other)
        return Quantity(self.value * other.value)

    def __sub__(self, other):
        if not isinstance(other, Quantity):
            other = Quantity(other)
        return Quantity(self.value - other.value)

    __radd__ = __add__

    def __rmul__(self, other):
        return self * other


@case(VECTOR)
def operators_of_objects_and_numbers_on_either_side(x):
    quantities = [Quantity(v) for v in x]
    total = sum(quantities) - 0.5
    for quantity in quantities:
        total = 0.9 * total + quantity * quantity - x[1]
    return (total * quantities[0] + 2.0).value
