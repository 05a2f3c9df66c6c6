"""A character-level LSTM with its parameters in a dict, taught with the true history (teacher forcing)."""

import numpy as np

from s2sgrad import grad

TEXT = "the cat sat on the mat and the rat ran at the cat. "
ALPHABET = sorted(set(TEXT))


def one_hot(text):
    """An array of (time, character)."""
    return np.eye(len(ALPHABET))[[ALPHABET.index(c) for c in text]]


def init_params(hidden, letters, rng, scale=0.2):
    """The initial state and the weights of the four gates and of the output."""

    def weights(rows, cols):
        return scale * rng.standard_normal((rows, cols))

    rows = letters + hidden + 1
    return {
        "h0": scale * rng.standard_normal(hidden),
        "c0": scale * rng.standard_normal(hidden),
        "change": weights(rows, hidden),
        "forget": weights(rows, hidden),
        "ingate": weights(rows, hidden),
        "outgate": weights(rows, hidden),
        "predict": weights(hidden + 1, letters),
    }


def sigmoid(x):
    """Without overflow."""
    return 0.5 * (np.tanh(x / 2.0) + 1.0)


def affine(weights, *inputs):
    """The inputs side by side, and a one for the bias, times the weights."""
    columns = np.hstack(inputs + (np.ones((inputs[0].shape[0], 1)),))
    return columns @ weights


def lstm_predict(params, inputs):
    """The logarithms of the probabilities of each next character; `inputs` is (time, sequence, character)."""

    def step(x, h, c):
        change = np.tanh(affine(params["change"], x, h))
        forget = sigmoid(affine(params["forget"], x, h))
        ingate = sigmoid(affine(params["ingate"], x, h))
        outgate = sigmoid(affine(params["outgate"], x, h))
        c = c * forget + ingate * change
        h = outgate * np.tanh(c)
        return h, c

    def output(h):
        scores = affine(params["predict"], h)
        return scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))

    sequences = inputs.shape[1]
    h = np.tile(params["h0"], (sequences, 1))
    c = np.tile(params["c0"], (sequences, 1))
    outputs = [output(h)]
    for x in inputs:
        h, c = step(x, h, c)
        outputs.append(output(h))
    return outputs


def loss(params, inputs):
    """Nats a character."""
    log_probabilities = lstm_predict(params, inputs)
    total = 0.0
    time, sequences, _ = inputs.shape
    for t in range(time):
        total -= np.sum(log_probabilities[t] * inputs[t])
    return total / (time * sequences)


def adam(gradient, params, steps, rate=0.03, b1=0.9, b2=0.999, eps=1e-8):
    """The parameters after some steps; `gradient(params, step)`."""
    m = {k: np.zeros_like(v) for k, v in params.items()}
    v = {k: np.zeros_like(v) for k, v in params.items()}
    for i in range(steps):
        g = gradient(params, i)
        m = {k: b1 * m[k] + (1 - b1) * g[k] for k in params}
        v = {k: b2 * v[k] + (1 - b2) * g[k] ** 2 for k in params}
        params = {
            k: p - rate * (m[k] / (1 - b1 ** (i + 1))) / (np.sqrt(v[k] / (1 - b2 ** (i + 1))) + eps)
            for k, p in params.items()
        }
    return params


def windows(length, stride=3):
    """Overlapping pieces of the text, as (time, sequence, character)."""
    pieces = [TEXT[k : k + length] for k in range(0, len(TEXT) - length, stride)]
    return np.stack([one_hot(p) for p in pieces], axis=1)


def train(steps=40):
    """The loss before and after."""
    inputs = windows(8)
    params = init_params(12, len(ALPHABET), np.random.default_rng(0))

    def training_loss(params, i):
        return loss(params, inputs)

    before = training_loss(params, 0)
    params = adam(grad(training_loss), params, steps)
    return before, training_loss(params, steps)
