"""Calls and loops as other people's programs have them: dicts of parameters, columns, combinations, random draws."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from .case import case

FULL = {"w": np.full((3, 2), 0.5), "b": np.ones(2)}
SETTINGS = {"rate": 0.5, "steps": 2}


def linear(x, w, b=1.0, *, scale=1.0):
    return x @ w * scale + b


def feed_forward(x, fc, proj):
    return linear(np.tanh(linear(x, **fc)), **proj)


def block(x, mlp, gain):
    return x + feed_forward(x * gain, **mlp)


def halves(p):
    yield p[:2]
    yield p[2]


def outer_parts(p):
    return p[:2], p[1:]


@case(np.full((4, 3), 0.3), FULL)
def parameters_by_their_names(x, params):
    return np.sum(linear(x, **params) ** 2)


@case(np.full((4, 3), 0.3), {"fc": {"w": np.full((3, 2), 0.5), "scale": 3.0}})
def parameters_that_leave_defaults(x, params):
    return np.sum(linear(x, **params["fc"]) ** 2)


@case(
    np.full((2, 3), 0.1),
    [
        {
            "mlp": {
                "fc": {"w": np.full((3, 4), 0.1), "b": np.ones(4)},
                "proj": {"w": np.full((4, 3), 0.2), "b": np.ones(3)},
            },
            "gain": 2.0,
        }
    ]
    * 2,
    argnums=(0,),
)
def blocks_of_parameters(x, blocks):
    for each in blocks:
        x = block(x, **each)
    return np.sum(x**2)


@case(0.6)
def parameters_of_a_nested_function(x):
    def inner(a, b=1.0, c=2.0):
        return a * b + c

    given = {"b": x}
    return inner(x, **given)


@case(0.6)
def settings_with_one_more(x):
    settings = dict(SETTINGS, momentum=x * 2.0)
    return settings["momentum"] * settings["rate"]


@case(0.6)
def columns_of_pairs(x):
    pairs = [(x, x * 2.0), (x * x, 1.0)]
    xs, ys = zip(*pairs, strict=False)
    return sum(a * b for a, b in zip(xs, ys, strict=True))


@case(np.array([0.3, 0.5, 0.7]))
def loop_over_columns(p):
    total = 0.0
    for a, b in zip(*outer_parts(p)):  # noqa: B905
        total += a * b
    return total


@case(0.6)
def mapped_and_unpacked(x):
    a, b = map(lambda v: v * 2.0, (x, x + 1.0))  # noqa: C417
    return a * b


@case(np.array([0.3, 0.5, 0.7]))
def generator_unpacked(p):
    first, last = halves(p)
    return np.sum(first) * last


@case(0.6)
def neighbours_by_get(x):
    table = {}
    for k in range(3):
        table[k] = x * k + table.get(k - 1, 0.5)
    return table[2] * table[1]


@case(np.array([0.3, 0.5, 0.7]))
def quadrature_over_a_product(x):
    total = 0.0
    for xi, eta in product((-0.5, 0.5), repeat=2):
        total += np.sin(x[0] * xi + x[1] * eta) * x[2]
    return total


@case(np.array([0.3, 0.5, 0.7]))
def pairs_of_atoms(x):
    energy = 0.0
    for i, j in combinations(range(3), 2):
        energy += 1.0 / (1.0 + (x[i] - x[j]) ** 2)
    return energy


@case(0.6)
def noise_that_is_carried_on(theta):
    rng = np.random.default_rng(0)
    x = rng.normal(size=3)
    for _ in range(3):
        x = theta * np.sin(x) + 0.1 * rng.standard_normal(3)
    return np.sum(x)


class Descent:
    """Keeps its parameters in a dict."""

    def __init__(self, params, rate):
        self.params, self.rate = params, rate

    def step(self, slopes):
        for k in self.params:
            self.params[k] = self.params[k] - self.rate * slopes[k]


@case(0.3)
def dict_in_an_attribute_walked(rate):
    descent = Descent({"w": 1.0, "b": 0.5}, rate)
    for _ in range(3):
        descent.step({k: 2.0 * v for k, v in descent.params.items()})
    return descent.params["w"] * descent.params["b"]


@case(np.array([0.3, 0.5]), np.array([[0.5, 0.1], [0.2, 0.4]]), 0, second=True)
def recurrence_of_no_steps(h, W, steps):
    for _ in range(steps):
        h = np.tanh(W @ h)
    return np.sum(h * h) + np.sum(W)


@case(np.array([0.3, 0.5]), np.array([[0.5, 0.1], [0.2, 0.4]]), 3, second=True)
def recurrence_with_a_matrix_of_weights(h, W, steps):
    for _ in range(steps):
        h = np.tanh(W @ h) + 0.1 * h @ W
    return np.sum(h * h)


@case(np.arange(12.0).reshape(4, 3) / 10.0)
def products_of_columns_with_later_ones(C):
    S = np.zeros((3, 3))
    for i in range(3):
        S[i, i:] = C[:, i] @ C[:, i:]
    return np.sum(np.sin(S))


@case(np.full((4, 3), 0.3), np.full(3, 0.2))
def rows_summed_and_not(W, x):
    b = np.sum(W, axis=0, keepdims=True) @ x
    return np.sum(np.cos(b)) + np.sum(W @ x)


@case(np.array([0.3, 0.5]))
def store_through_a_transposed_block(x):
    T = np.ones((2, 3, 4)) * x[0]
    v = T.transpose((2, 0, 1))
    v[0] = x[1] * x[0]
    return np.sum(T * T)


@case(np.array([0.3, 0.5]))
def store_through_a_shape_in_brackets(x):
    y = np.ones(4) * x[0]
    v = y.reshape((2, 2))
    v[0] = x[1] * x[0]
    return np.sum(y * y)


@case(np.array([0.3, 0.5, 0.9]), np.array([0.2, 0.7, 0.1]))
def arguments_made_arrays_together(x, y):
    x, y = list(map(np.asanyarray, (x, y)))
    steps = np.diff(x) * y[2]
    u, v = tuple(np.atleast_2d(w) for w in (x, y))
    return np.sum(steps * y[1:]) + np.sum(u @ v.T) * y[2]


@case(np.array([0.3, 0.5]))
def matrix_unpacked_and_filled(x):
    a, b, c, d = np.outer(x, x + 1.0).flat
    m = np.zeros((2, 3))
    m += np.array([a, b, c, d, x[0], a * d], ndmin=2).reshape(2, 3)
    m.T.flat[1] = x[1] * b
    m.flat[[2, -2]] *= a
    return np.sum(m[0] * m[1])
