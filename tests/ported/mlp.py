"""A network whose parameters are a list of (W, b) pairs; its gradient is taken anew, of a lambda, in every step."""

import numpy as np

from s2sgrad import grad


def init_random_params(sizes, rng, scale=0.3):
    """A pair for each layer."""
    return [(scale * rng.standard_normal((m, n)), scale * rng.standard_normal(n)) for m, n in zip(sizes[:-1], sizes[1:])]


def predict(params, inputs):
    """Log probabilities."""
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return outputs - np.log(np.sum(np.exp(outputs), axis=1, keepdims=True))


def predict_jax(params, x):
    """The other usual spelling: the last layer apart."""
    activations = x
    for w, b in params[:-1]:
        activations = np.maximum(np.dot(activations, w) + b, 0.0)
    final_w, final_b = params[-1]
    logits = activations @ final_w + final_b
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def loss(params, batch, predict=predict):
    """The cross-entropy."""
    inputs, targets = batch
    return -np.mean(np.sum(predict(params, inputs) * targets, axis=1))


def accuracy(params, batch):
    """The share that is right."""
    inputs, targets = batch
    return np.mean(np.argmax(predict(params, inputs), axis=1) == np.argmax(targets, axis=1))


def pinwheel(n=90):
    """Three arms of a wheel."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 3
    radius = rng.uniform(0.2, 1.5, n)
    angle = 2.1 * labels + 0.9 * radius + 0.1 * rng.standard_normal(n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), np.eye(3)[labels]


def train(epochs=15, rate=0.2, momentum=0.9):
    """The losses of the epochs and the accuracy."""
    x, y = pinwheel()
    params = init_random_params([2, 10, 8, 3], np.random.default_rng(1))
    velocity = [(np.zeros_like(W), np.zeros_like(b)) for W, b in params]
    losses = []
    for _ in range(epochs):
        for start in range(0, len(x), 30):
            batch = x[start : start + 30], y[start : start + 30]
            grads = grad(lambda p: loss(p, batch))(params)
            velocity = [(momentum * vW - rate * dW, momentum * vb - rate * db)
                        for (vW, vb), (dW, db) in zip(velocity, grads)]  # fmt: skip
            params = [(W + vW, b + vb) for (W, b), (vW, vb) in zip(params, velocity)]
        losses.append(loss(params, (x, y)))
    return losses, accuracy(params, (x, y))
