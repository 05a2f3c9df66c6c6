"""Bayesian logistic regression by Hamiltonian Monte Carlo."""

import numpy as np

from s2sgrad import grad


def log_prior(w):
    """Standard normal, but for constants."""
    return -0.5 * w @ w


def log_likelihood(w, x, y):
    """Of labels 0 and 1."""
    logits = x @ w
    return np.sum(y * logits - np.logaddexp(0.0, logits))


def leapfrog(q, p, dUdq, path_len, step_size):
    """The end of a path of the dynamics."""
    q, p = np.copy(q), np.copy(p)
    p -= step_size * dUdq(q) / 2
    for _ in range(int(path_len / step_size) - 1):
        q += step_size * p
        p -= step_size * dUdq(q)
    q += step_size * p
    p -= step_size * dUdq(q) / 2
    return q, -p


def hmc(n_samples, U, start, rng, path_len=0.6, step_size=0.1):
    """Samples of exp(-U), and the share of the proposals that were accepted."""
    dUdq = grad(U)
    samples = [start]
    accepted = 0
    for _ in range(n_samples):
        p0 = rng.standard_normal(start.shape)
        q_new, p_new = leapfrog(samples[-1], p0, dUdq, path_len=path_len, step_size=step_size)
        start_H = U(samples[-1]) + 0.5 * np.sum(p0 ** 2)
        new_H = U(q_new) + 0.5 * np.sum(p_new ** 2)
        if np.log(rng.random()) < start_H - new_H:
            samples.append(q_new)
            accepted += 1
        else:
            samples.append(np.copy(samples[-1]))
    return np.array(samples[1:]), accepted / n_samples


def data(n=150):
    """Points and labels from known weights."""
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(n), rng.standard_normal((n, 2))])
    w = np.array([-0.5, 2.0, -1.0])
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-x @ w))).astype(float)
    return x, y


def potential(x, y):
    """Minus the log posterior, as a closure."""
    return lambda w: -(log_prior(w) + log_likelihood(w, x, y))


def sample(n=400):
    """The samples and the acceptance."""
    x, y = data()
    return hmc(n, lambda w: -log_prior(w) - log_likelihood(w, x, y), np.zeros(3), np.random.default_rng(1))


def energy_after(step_size, q, p, U, steps=5):
    """The error of the energy after some steps, as a function of the step: grad(lambda ..) inside what is differentiated."""
    force = grad(lambda z: -U(z))
    before = U(q) + 0.5 * p @ p
    for _ in range(steps):
        p = p + 0.5 * step_size * force(q)
        q = q + step_size * p
        p = p + 0.5 * step_size * force(q)
    return U(q) + 0.5 * p @ p - before
