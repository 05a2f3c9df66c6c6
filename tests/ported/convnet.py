"""A convolutional network of layer objects; parameters come in as a list of dicts, the objects are built in the loss."""

import numpy as np

from s2sgrad import value_and_grad


class Conv2D:
    """Cross-correlation of (image, channel, row, column) with (filter, channel, row, column)."""

    def __init__(self, params):
        self.kernel = params["kernel"]
        self.bias = params["bias"]

    def __call__(self, x):
        rows, cols = self.kernel.shape[2:]
        height, width = x.shape[2] - rows + 1, x.shape[3] - cols + 1
        out = self.bias[None, :, None, None]
        for i in range(rows):
            for j in range(cols):
                patch = x[:, :, i : i + height, j : j + width]
                out = out + np.einsum("nchw,fc->nfhw", patch, self.kernel[:, :, i, j])
        return out


class MaxPool:
    """The largest of each square."""

    def __init__(self, size=2):
        self.size = size

    def __call__(self, x):
        n, c, h, w = x.shape
        s = self.size
        x = x[:, :, : h // s * s, : w // s * s].reshape(n, c, h // s, s, w // s, s)
        return x.max(axis=(3, 5))


class ReLU:
    """Negative numbers to 0."""

    def __call__(self, x):
        return np.maximum(x, 0.0)


class Flatten:
    """A row for each image."""

    def __call__(self, x):
        return x.reshape(x.shape[0], -1)


class Dense:
    """An affine map."""

    def __init__(self, params):
        self.W = params["W"]
        self.b = params["b"]

    def __call__(self, x):
        return x @ self.W + self.b


def init(rng):
    """For images of 8 x 8."""
    return [
        {"kernel": 0.3 * rng.standard_normal((4, 1, 3, 3)), "bias": np.zeros(4)},
        {"W": 0.2 * rng.standard_normal((36, 3)), "b": np.zeros(3)},
    ]


def log_softmax(z):
    """Rows of log probabilities."""
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


def by_name(params, x):
    """The network, layer by layer."""
    conv, dense = Conv2D(params[0]), Dense(params[1])
    pool, relu, flatten = MaxPool(2), ReLU(), Flatten()
    return log_softmax(dense(flatten(pool(relu(conv(x))))))


def by_list(params, x):
    """The same as a list of layers."""
    layers = [Conv2D(params[0]), ReLU(), MaxPool(), Flatten(), Dense(params[1]), log_softmax]
    for layer in layers:
        x = layer(x)
    return x


class Sequential:
    """Layers one after the other."""

    def __init__(self, *layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def by_sequential(params, x):
    """The same as an object that holds layers."""
    net = Sequential(Conv2D(params[0]), ReLU(), MaxPool(2), Flatten(), Dense(params[1]))
    return log_softmax(net(x))


def loss(params, x, labels, predict=by_name):
    """The mean cross-entropy."""
    return -np.mean(predict(params, x)[np.arange(len(labels)), labels])


def stripes(rng, n=48):
    """Noisy images: rows, columns or chequers."""
    labels = np.arange(n) % 3
    i, j = np.indices((8, 8))
    patterns = np.stack([i % 2, j % 2, (i + j) % 2]).astype(float)
    return (patterns[labels] + 0.3 * rng.standard_normal((n, 8, 8)))[:, None], labels


def train(predict, steps=30, rate=0.2):
    """The losses, and the share that is read rightly."""
    rng = np.random.default_rng(0)
    params = init(rng)
    x, labels = stripes(rng)
    losses = []
    step = value_and_grad(lambda p: loss(p, x, labels, predict))
    for _ in range(steps):
        value, grads = step(params)
        params = [{k: p[k] - rate * g[k] for k in p} for p, g in zip(params, grads)]
        losses.append(value)
    return losses, np.mean(predict(params, x).argmax(axis=1) == labels)
