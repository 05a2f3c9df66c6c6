"""Lists of functions and of objects that comprehensions and loops fill."""

from __future__ import annotations

import numpy as np

from .case import case


class Layer:
    """A layer of one weight."""

    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.tanh(self.w * x)


class Net:
    """Layers that are made in a loop."""

    def __init__(self, sizes, x):
        self.layers = []
        for size in sizes:
            self.layers.append(Layer(size * x))

    def __call__(self, y):
        for layer in self.layers:
            y = layer(y)
        return y


@case(0.6)
def layers_of_a_comprehension(x):
    layers = [Layer(w) for w in (x, 2.0 * x)]
    others = [Layer(x * i) for i in range(1, 3)]
    y = x
    for layer in layers:
        y = layer(y)
    return y + others[0](x) * others[1](2.0)


@case(0.6)
def layers_appended_in_a_loop(x):
    layers = []
    for i in range(3):
        layers.append(Layer(x * i + 1.0))
    y = x
    for layer in layers:
        y = layer(y)
    return y * len(layers)


@case(0.6)
def net_that_makes_its_layers(x):
    return Net((1.0, 2.0, 3.0), x)(0.5)


@case(0.6)
def lambdas_appended_in_loops(x):
    fs = []
    scale = 1.0
    for k in (1, 2):
        for j in range(2):
            scale = scale * x
            fs.append(lambda t, k=k, j=j: t * x + k - j * scale)
    fs.append(np.sin)
    return sum(f(x) for f in fs)


@case(0.6)
def objects_appended_to_a_display(x):
    layers = [Layer(x), Layer(2.0)]
    same = layers
    same.append(Layer(x * x))
    return sum(layer(1.0) for layer in layers)


@case(np.array([0.7, 1.3, 0.4, 0.9]))
def halves_joined_and_kept(x):
    kept = []
    for _ in range(2):
        halves = np.split(x, 2)
        x = x * np.sum(np.sin(np.concatenate(halves)))
        kept.append(halves)
    return np.sum(x) + np.sum(np.stack(kept[0]) ** 2)
