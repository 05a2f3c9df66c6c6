"""A hidden Markov model: expectation maximisation with the gradient as E-step, and gradient ascent.

The expected counts are the derivative of the log likelihood in the logarithms of the parameters
(see Eisner, Inside-Outside and Forward-Backward Algorithms Are Just Backprop, 2016).
"""

import numpy as np

from s2sgrad import grad, value_and_grad


def logsumexp(a, axis=None, keepdims=False):
    """Without overflow."""
    m = np.max(a, axis=axis, keepdims=True)
    out = np.log(np.sum(np.exp(a - m), axis=axis, keepdims=True)) + m
    return out if keepdims else np.squeeze(out, axis=axis)


def log_normalize(a):
    """Rows of log probabilities."""
    return a - logsumexp(a, axis=-1, keepdims=True)


def log_partition(natural_params, observations):
    """The forward algorithm in logarithms; the parameters need not be normalised."""
    log_pi, log_A, log_B = natural_params
    log_alpha = log_pi + log_B[:, observations[0]]
    for y in observations[1:]:
        log_alpha = logsumexp(log_alpha[:, None] + log_A, axis=0) + log_B[:, y]
    return logsumexp(log_alpha)


def log_likelihood(params, sequences):
    """Of several sequences."""
    log_pi, log_A, log_B = (log_normalize(p) for p in params)
    return sum([log_partition((log_pi, log_A, log_B), y) for y in sequences])


def em_step(params, sequences):
    """One step; also the log likelihood before it."""
    value, counts = 0.0, None
    for y in sequences:
        v, expected = value_and_grad(log_partition)(params, y)
        value += v
        counts = expected if counts is None else tuple(a + b for a, b in zip(counts, expected))
    return value, tuple(np.log(c / c.sum(axis=-1, keepdims=True)) for c in counts)


def random_params(states, symbols, rng):
    """Normalised."""
    return tuple(log_normalize(rng.standard_normal(s)) for s in ((states,), (states, states), (states, symbols)))


def sample(params, length, rng):
    """A sequence of symbols."""
    pi, A, B = (np.exp(p) for p in params)
    state = rng.choice(len(pi), p=pi)
    out = []
    for _ in range(length):
        state = rng.choice(len(pi), p=A[state])
        out.append(rng.choice(B.shape[1], p=B[state]))
    return np.array(out)


def em(iterations=15):
    """The log likelihoods of the iterations."""
    rng = np.random.default_rng(1)
    truth = random_params(2, 4, rng)
    sequences = [sample(truth, 30, rng) for _ in range(4)]
    params = random_params(2, 4, rng)
    values = []
    for _ in range(iterations):
        value, params = em_step(params, sequences)
        values.append(value)
    return values


def ascend(steps=15, rate=0.01):
    """The log likelihoods along gradient ascent."""
    rng = np.random.default_rng(1)
    truth = random_params(2, 4, rng)
    sequences = [sample(truth, 30, rng) for _ in range(4)]
    params = random_params(2, 4, rng)
    gradient = grad(log_likelihood)
    values = [log_likelihood(params, sequences)]
    for _ in range(steps):
        params = tuple(p + rate * g for p, g in zip(params, gradient(params, sequences)))
        values.append(log_likelihood(params, sequences))
    return values
