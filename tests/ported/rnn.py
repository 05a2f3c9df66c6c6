"""A tanh recurrent network that adds bits, its parameters in a dict, taught with the true history."""

import numpy as np

from s2sgrad import value_and_grad


def init(rng, n_in=2, n_hidden=6, n_out=1):
    """Small random weights."""
    return {
        "Wxh": rng.normal(size=(n_in, n_hidden)) * 0.5,
        "Whh": rng.normal(size=(n_hidden, n_hidden)) * 0.5,
        "Why": rng.normal(size=(n_hidden, n_out)) * 0.5,
        "Wyh": rng.normal(size=(n_out, n_hidden)) * 0.5,
        "bh": np.zeros(n_hidden),
        "by": np.zeros(n_out),
    }


def rnn_cell(params, h, x, y_prev):
    """The next state, from the input and the last true output."""
    return np.tanh(x @ params["Wxh"] + h @ params["Whh"] + y_prev @ params["Wyh"] + params["bh"])


def loss(params, xs, ys):
    """The cross-entropy of the bits of the sums; `xs` is (time, batch, 2)."""
    h = np.zeros((xs.shape[1], params["Whh"].shape[0]))
    y_prev = np.zeros_like(ys[0])
    losses = []
    for x, y in zip(xs, ys):
        h = rnn_cell(params, h, x, y_prev)
        logits = h @ params["Why"] + params["by"]
        losses.append(np.mean(np.logaddexp(0.0, logits) - y * logits))
        y_prev = y
    return sum(losses) / len(losses)


def sums(rng, bits=5, batch=32):
    """Pairs of numbers and their sums, bit by bit from the lowest."""
    a, b = rng.integers(0, 2 ** (bits - 1), (2, batch))
    places = np.arange(bits)[:, None]
    xs = np.stack([(a >> places) & 1, (b >> places) & 1], axis=-1).astype(float)
    ys = (((a + b) >> places) & 1).astype(float)[..., None]
    return xs, ys


def clip_by_global_norm(grads, limit):
    """Shorten the gradient."""
    norm = np.sqrt(sum(np.sum(g ** 2) for g in grads.values()))
    return {k: g * min(1.0, limit / norm) for k, g in grads.items()}


def train(steps=400, rate=0.7):
    """The losses."""
    rng = np.random.default_rng(0)
    params = init(rng)
    losses = []
    gradient = value_and_grad(loss)
    for _ in range(steps):
        xs, ys = sums(rng)
        value, grads = gradient(params, xs, ys)
        grads = clip_by_global_norm(grads, 1.0)
        params = {k: params[k] - rate * grads[k] for k in params}
        losses.append(value)
    return losses
