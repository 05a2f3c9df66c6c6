"""Neural networks as they are written without a framework: convolutions, pooling, normalization, recurrent cells."""

import numpy as np

from .case import kernel

# --- layers ------------------------------------------------------------------------------------------------------------


def relu(x):
    return np.maximum(x, 0.0)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def conv2d(image, weights):
    """Images (N, H, W, channels) with weights (K, K, channels, features), without padding."""
    size = weights.shape[0]
    n, height, width = image.shape[0], image.shape[1] - size + 1, image.shape[2] - size + 1
    out = np.empty((n, height, width, weights.shape[3]), dtype=image.dtype)
    for i in range(height):
        for j in range(width):
            patch = image[:, i : i + size, j : j + size, :, np.newaxis]
            out[:, i, j, :] = np.sum(patch * weights[np.newaxis], axis=(1, 2, 3))
    return out


def maxpool2d(x):
    """The largest of every two by two pixels."""
    out = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]), dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


def batchnorm2d(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std**2 + eps)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


# --- networks ----------------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (rng.normal(size=(2, 5, 6, 2)), rng.normal(size=(3, 3, 2, 2)), rng.normal(size=2)),
    bench=lambda rng: (rng.normal(size=(4, 20, 20, 3)), rng.normal(size=(3, 3, 3, 8)), rng.normal(size=8)),
    argnums=("image", "weights", "bias"),
)
def conv2d_bias(image, weights, bias):
    return conv2d(image, weights) + bias


@kernel(
    args=lambda rng: (rng.permutation(64).reshape(2, 4, 4, 2) / 32.0,),
    bench=lambda rng: (rng.permutation(262144).reshape(4, 64, 64, 16) / 131072.0,),
    argnums=("x",),
)
def max_pooling(x):
    return maxpool2d(x * x + x)


@kernel(
    args=lambda rng: (rng.normal(size=(4, 3, 3, 2)), rng.uniform(0.5, 1.5, 2), rng.normal(size=2), np.zeros(2), np.ones(2)),
    bench=lambda rng: (
        rng.normal(size=(32, 32, 32, 8)), rng.uniform(0.5, 1.5, 8), rng.normal(size=8), np.zeros(8), np.ones(8)
    ),
    argnums=("x", "gain", "shift", "running_mean", "running_var"),
    outputs=("x", "running_mean", "running_var"),
)  # fmt: skip
def batch_norm_with_running_statistics(x, gain, shift, running_mean, running_var):
    for c in range(x.shape[-1]):
        mean, var = x[..., c].mean(), x[..., c].var()
        running_mean[c] = 0.9 * running_mean[c] + 0.1 * mean
        running_var[c] *= 0.9
        running_var[c] += 0.1 * var
        x[..., c] -= mean
        x[..., c] *= gain[c] / np.sqrt(var + 1e-5)
        x[..., c] += shift[c]


@kernel(
    args=lambda rng: (rng.normal(size=(2, 3, 4, 4)),),
    bench=lambda rng: (rng.normal(size=(8, 10, 80, 80)),),
    argnums=("x",),
)
def softmax_in_place(x):
    out = x.copy()
    out -= np.max(out, axis=-1, keepdims=True)
    np.exp(out, out=out)
    out /= np.sum(out, axis=-1, keepdims=True)
    return out


@kernel(
    args=lambda rng: tuple(rng.normal(size=s) for s in ((3, 4), (4, 5), 5, (5, 4), 4, (4, 3), 3)),
    bench=lambda rng: tuple(0.1 * rng.normal(size=s) for s in ((99, 300), (300, 200), 200, (200, 150), 150, (150, 10), 10)),
    argnums=("x", "w1", "b1", "w2", "b2", "w3", "b3"),
)
def mlp(x, w1, b1, w2, b2, w3, b3):
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return softmax(x @ w3 + b3)


@kernel(
    args=lambda rng: (
        rng.normal(size=(2, 10, 10, 1)), rng.normal(size=(3, 3, 1, 2)), rng.normal(size=2),
        0.3 * rng.normal(size=(3, 3, 2, 2)), rng.uniform(0.5, 1.0, 2), rng.normal(size=(2, 4)), rng.normal(size=4),
    ),
    bench=lambda rng: (
        rng.normal(size=(4, 22, 22, 1)), rng.normal(size=(3, 3, 1, 4)), rng.normal(size=4),
        0.3 * rng.normal(size=(3, 3, 4, 8)), rng.normal(size=8), 0.2 * rng.normal(size=(128, 10)), rng.normal(size=10),
    ),
    argnums=("image", "conv1", "bias1", "conv2", "bias2", "dense", "bias3"),
)  # fmt: skip
def lenet(image, conv1, bias1, conv2, bias2, dense, bias3):
    x = relu(conv2d(image, conv1) + bias1)
    x = maxpool2d(x)
    x = relu(conv2d(x, conv2) + bias2)
    x = maxpool2d(x)
    x = np.reshape(x, (image.shape[0], dense.shape[0]))
    return softmax(x @ dense + bias3)


@kernel(
    args=lambda rng: (
        rng.normal(size=(3, 4, 4, 2)), rng.normal(size=(1, 1, 2, 2)), rng.normal(size=(3, 3, 2, 2)),
        rng.normal(size=(1, 1, 2, 2)),
    ),
    bench=lambda rng: (
        rng.normal(size=(4, 14, 14, 8)), rng.normal(size=(1, 1, 8, 4)), rng.normal(size=(3, 3, 4, 4)),
        rng.normal(size=(1, 1, 4, 8)),
    ),
    argnums=("image", "conv1", "conv2", "conv3"),
)  # fmt: skip
def resnet_block(image, conv1, conv2, conv3):
    x = conv2d(image, conv1)
    x = relu(batchnorm2d(x))
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, x.shape[3]))
    padded[:, 1:-1, 1:-1, :] = x
    x = conv2d(padded, conv2)
    x = relu(batchnorm2d(x, eps=1e-3))
    x = batchnorm2d(conv2d(x, conv3))
    x += image
    return relu(x)


@kernel(
    args=lambda rng: (
        rng.normal(size=(4, 3)), rng.normal(size=(8, 3)), rng.normal(size=(8, 2)), rng.normal(size=8),
        0.3 * np.ones(2), np.zeros(2),
    ),
    bench=lambda rng: (
        rng.normal(size=(100, 30)), 0.3 * rng.normal(size=(160, 30)), 0.3 * rng.normal(size=(160, 40)), rng.normal(size=160),
        np.zeros(40), np.zeros(40),
    ),
    argnums=("xs", "W", "U", "bias", "h0", "c0"),
)  # fmt: skip
def lstm(xs, W, U, bias, h0, c0):
    steps, size = len(xs), len(h0)
    hs = np.zeros((steps + 1, size))
    cs = np.zeros((steps + 1, size))
    gates = np.empty(4 * size)
    hs[0], cs[0] = h0, c0
    for t in range(steps):
        gates[:] = W @ xs[t] + U @ hs[t] + bias
        gates[: 3 * size] = sigmoid(gates[: 3 * size])
        gates[3 * size :] = np.tanh(gates[3 * size :])
        enter, forget, leave, fresh = np.split(gates, 4)
        cs[t + 1] = forget * cs[t] + enter * fresh
        hs[t + 1] = leave * np.tanh(cs[t + 1])
    return hs[1:], cs[-1]


@kernel(
    args=lambda rng: (rng.normal(size=(5, 4)), *(0.7 * rng.normal(size=(4, 4)) for _ in range(3)), 2),
    bench=lambda rng: (rng.normal(size=(200, 64)), *(0.2 * rng.normal(size=(64, 64)) for _ in range(3)), 4),
    argnums=("x", "Wq", "Wk", "Wv"),
)
def causal_attention(x, Wq, Wk, Wv, heads):
    length, width = x.shape
    size = width // heads
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    out = np.zeros((length, width))
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        scores = q[:, part] @ k[:, part].T / np.sqrt(size)
        scores[np.triu_indices(length, 1)] = -1e9
        scores -= scores.max(axis=1, keepdims=True)
        weights = np.exp(scores)
        weights /= weights.sum(axis=1, keepdims=True)
        out[:, part] = weights @ v[:, part]
    return out


@kernel(
    args=lambda rng: (rng.normal(size=(6, 3)), np.array([0, 2, 4, 1, 2, 0, 5]), np.array([0, 3, 4, 7])),
    bench=lambda rng: (rng.normal(size=(500, 32)), rng.integers(0, 500, 4000), np.arange(0, 4001, 10)),
    argnums=("table",),
)
def embedding_bags(table, words, starts):
    bags = np.zeros((len(starts) - 1, table.shape[1]))
    for b in range(len(bags)):
        for w in words[starts[b] : starts[b + 1]]:
            bags[b] += table[w]
        bags[b] /= np.sqrt(1.0 + np.sum(bags[b] ** 2))
    return bags


# --- training ----------------------------------------------------------------------------------------------------------


@kernel(
    args=lambda rng: (
        rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=(3, 2)), rng.normal(size=2), 0.1, 0.5, 3
    ),
    bench=lambda rng: (
        rng.normal(size=(400, 50)), rng.normal(size=400), 0.2 * rng.normal(size=(50, 40)), rng.normal(size=40), 0.02, 0.5, 20
    ),
    argnums=("x", "y", "W", "v", "rate", "inertia"),
    outputs=("W", "v"),
)  # fmt: skip
def training_with_momentum(x, y, W, v, rate, inertia, steps):
    W_speed, v_speed = np.zeros_like(W), np.zeros_like(v)
    n = len(y)
    for _ in range(steps):
        h = np.tanh(x @ W)
        error = (h @ v - y) / n
        v_slope = h.T @ error
        W_slope = x.T @ (np.outer(error, v) * (1.0 - h * h))
        W_speed *= inertia
        W_speed -= rate * W_slope
        v_speed *= inertia
        v_speed -= rate * v_slope
        W += W_speed
        v += v_speed


@kernel(
    args=lambda rng: (rng.normal(size=4), rng.normal(size=(5, 4)), rng.normal(size=5), 0.1, 3),
    bench=lambda rng: (rng.normal(size=100), rng.normal(size=(300, 100)) / 10.0, rng.normal(size=300), 0.1, 120),
    argnums=("w", "X", "y", "rate"),
)
def adam(w, X, y, rate, steps):
    w = w.copy()
    first = np.zeros(w.shape)
    second = np.zeros(w.shape)
    losses = np.zeros(steps)
    for t in range(1, steps + 1):
        error = X @ w - y
        losses[t - 1] = error @ error / (2 * len(y))
        slope = X.T @ error / len(y)
        first += 0.1 * (slope - first)
        second += 0.05 * (slope**2 - second)
        w -= rate * (first / (1.0 - 0.9**t)) / (np.sqrt(second / (1.0 - 0.95**t)) + 1e-3)
    return w, losses
