"""A hanging chain of springs: parameters in a dataclass, the equilibrium by minimising the energy."""

from dataclasses import dataclass, field

import numpy as np

from s2sgrad import grad, value_and_grad


@dataclass
class Chain:
    """The springs and weights."""

    stiffness: np.ndarray
    mass: np.ndarray
    rest: float = 1.0
    gravity: float = 9.81
    ends: tuple = ((0.0, 0.0), (4.0, 0.0))
    name: str = field(default="chain")


@dataclass(frozen=True)
class Valley:
    """The two numbers of Rosenbrock's function."""

    a: float = 1.0
    b: float = 100.0

    def __call__(self, x):
        return sum((self.a - x[:-1]) ** 2 + self.b * (x[1:] - x[:-1] ** 2) ** 2)


def energy(x, chain):
    """Of springs between all neighbours, and of the weights."""
    left, right = chain.ends
    points = np.vstack([np.array(left), x, np.array(right)])
    lengths = np.sqrt(np.sum(np.diff(points, axis=0) ** 2, axis=1))
    elastic = 0.5 * np.sum(chain.stiffness * (lengths - chain.rest) ** 2)
    return elastic + np.sum(chain.mass * chain.gravity * x[:, 1])


def energy_of_parameters(stiffness, mass, rest, x):
    """The dataclass made inside."""
    chain = Chain(stiffness, mass=mass, rest=rest)
    return energy(x, chain)


@dataclass
class State:
    """Position and speed."""

    q: np.ndarray
    v: np.ndarray

    def step(self, force, dt):
        """Symplectic Euler."""
        v = self.v + dt * force(self.q)
        return State(self.q + dt * v, v)


def travelled(k, q0, steps=20, dt=0.05):
    """Where an oscillator is, as a function of its stiffness."""
    state = State(q0, np.zeros_like(q0))
    for _ in range(steps):
        state = state.step(lambda q: -k * q, dt)
    return np.sum(state.q ** 2)


def hang(steps=150, rate=0.005, momentum=0.8):
    """The energies on the way down, the largest force that is left, and the points."""
    chain = Chain(stiffness=np.full(5, 50.0), mass=np.full(4, 0.5))
    x = np.column_stack([np.arange(1.0, 5.0) * 0.8, np.zeros(4)])
    v = np.zeros_like(x)
    values = []
    for _ in range(steps):
        value, g = value_and_grad(energy)(x, chain)
        values.append(value)
        v = momentum * v - rate * g
        x = x + v
    return values, np.abs(grad(energy)(x, chain)).max(), x
