"""Attributes of the caller's objects that the function writes: of arguments, of globals, of what a cell holds."""

from __future__ import annotations

import numpy as np

from .case import case

XS = np.arange(6.0).reshape(3, 2) / 5.0


class Cell:
    """A recurrent cell that keeps its state."""

    gain = 1.0

    def __init__(self, u, h):
        self.u = u
        self.h = h
        self.calls = 0

    def reset(self):
        self.h = np.zeros(2)
        self.calls = 0

    def __call__(self, x):
        self.h = np.tanh(self.u @ self.h + x)
        self.calls += 1
        return self.h


class Layer:
    """A layer that keeps what it computed."""

    def __init__(self, w):
        self.w = w
        self.out = None

    def forward(self, x):
        self.out = np.tanh(self.w * x)
        return self.out * x


class Net:
    """Layers of layers."""

    def __init__(self, *widths):
        self.layers = [Layer(w) for w in widths]
        self.norm = 0.0

    def __call__(self, x):
        for layer in self.layers:
            x = layer.forward(x)
            self.norm = self.norm * 0.0 + x * x
        return x


CELL = Cell(np.array([[0.1, 0.2], [0.3, 0.4]]), np.zeros(2))
NET = Net(0.3, 0.5)


@case(XS)
def state_of_a_global_object(xs):
    CELL.reset()
    total = 0.0
    for x in xs:
        total = total + np.sum(CELL(x))
    return total * CELL.calls


@case(XS[0])
def attribute_of_a_global_written_here(x):
    CELL.h = x * x
    CELL.h = CELL.h * x
    return np.sum(CELL.h)


@case(0.7)
def layers_of_a_global_net(x):
    return NET(x) + NET.norm * NET.layers[0].out


@case(0.7, Net(0.4, 0.9), argnums=(0,))
def layers_of_an_argument(x, net):
    y = net(x)
    return y * net.layers[1].out + net.norm


@case(0.7, 0.4)
def attribute_in_one_branch(x, y):
    CELL.calls = 2.0
    if x > y:
        CELL.calls = x * y
    return CELL.calls * x


@case(0.7)
def attribute_of_the_class_at_first(x):
    CELL.gain = 2.0 * x if x > 5.0 else x
    CELL.gain = CELL.gain * x
    return CELL.gain


def make(w):
    layer, other = Layer(w), Layer(w)

    @case(0.6)
    def object_in_a_cell_that_is_written(x):
        return layer.forward(x) + layer.out * x

    @case(0.6)
    def updated_in_a_loop(x):
        other.w = 0.5
        for _ in range(3):
            other.w += x
            other.w *= 1.1
        return other.w * x


make(0.4)


@case(0.6, np.array([0.5, -0.2]))
def kept_in_an_object_and_written_before(x, v):
    u = v * x
    u[0] = u[1] * u[0]
    CELL.h = u
    return np.sum(u * u)


class Doubling:
    def __call__(self, u):
        u[0] = u[0] * 2.0


DOUBLED = Doubling()


@case(np.array([0.5, -0.2]))
def callable_object_that_writes_its_argument(x):
    u = x * 1.0
    DOUBLED(u)
    return u[0] * u[1]


class State:
    """A state that its method changes."""

    def __init__(self, h):
        self.h = h

    def step(self, x):
        self.h = self.h * 0.5 + x
        return self.h * x


STATE = State(0.3)


@case(0.6)
def attribute_read_before_a_method_writes_it(x):
    STATE.h = 0.3
    product = STATE.h * STATE.step(x)
    values = [STATE.h, STATE.step(x), STATE.h]
    named = {"a": STATE.h, "b": STATE.step(x)}
    return product + values[0] * 2.0 + values[1] * 3.0 + values[2] * 5.0 + named["a"] * named["b"]


@case(0.6)
def updated_by_what_its_method_returns(x):
    STATE.h = 0.3
    STATE.h += STATE.step(x)
    if STATE.h < STATE.step(x) < STATE.step(9.0 * x):
        return STATE.h * x
    return STATE.h


@case(0.6)
def attributes_of_a_local_object_in_a_tuple(x):
    state = State(x)
    values = (state.h, state.step(x), state.h)
    return values[0] + 3.0 * values[1] + 5.0 * values[2] + sum([state.h, state.step(x), state.h * x])


@case(np.array([[2.0, 0.3], [-0.4, 1.5]]))
def named_results_of_decompositions(m):
    spectrum = np.linalg.eigh(m + m.T)
    values = spectrum.eigenvalues * spectrum[0] + np.linalg.svd(m).S
    return values * np.linalg.slogdet(m).logabsdet + np.sum(spectrum.eigenvectors[:, 0] ** 2 * m)


@case(np.array([[2.0, 0.3], [-0.4, 1.5]]))
def named_and_unpacked_results(m):
    factors = np.linalg.qr(m)
    q, r = factors
    u, s, vh = np.linalg.svd(m)
    return factors.R @ q + r * factors.Q + u * s @ vh + np.linalg.slogdet(m).sign * m
