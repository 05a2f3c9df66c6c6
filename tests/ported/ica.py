"""Independent component analysis by the natural gradient of the likelihood.

The objective of Bell and Sejnowski (1995), the step of Amari, Cichocki and Yang (1996): the gradient times W^T W.
"""

import numpy as np

from s2sgrad import grad


def log_density(u):
    """Of the sources: 1 / (pi cosh u)."""
    return -(np.logaddexp(u, -u) - np.log(2.0)) - np.log(np.pi)


def make_ica_funs(x):
    """The objective of an unmixing matrix for these observations, and its natural gradient."""

    def log_likelihood(W):
        sign, logdet = np.linalg.slogdet(W)
        sources = np.dot(x, W.T)
        return logdet + np.mean(np.sum(log_density(sources), axis=1))

    euclidean = grad(log_likelihood)

    def natural_gradient(W):
        return euclidean(W) @ W.T @ W

    return log_likelihood, natural_gradient


def flat_objective(packed, x):
    """The same of one flat array, by the determinant, as for an optimiser of vectors."""
    n = x.shape[1]
    W = packed.reshape((n, n))
    return -np.log(np.abs(np.linalg.det(W))) - log_density(x @ W.T).sum() / len(x)


def mixed(n=2000):
    """Observations of heavy-tailed sources, and the mixing matrix."""
    rng = np.random.default_rng(0)
    sources = rng.laplace(size=(n, 3))
    A = np.array([[1.0, 0.5, -0.3], [0.2, 1.0, 0.4], [-0.5, 0.3, 1.0]])
    return sources @ A.T, A


def unmix(steps=80, rate=0.3):
    """The likelihoods, and the product of what was found with the mixing matrix: nearly one number in each row."""
    x, A = mixed()
    log_likelihood, natural_gradient = make_ica_funs(x)
    W = np.eye(3)
    values = [log_likelihood(W)]
    for _ in range(steps):
        W = W + rate * natural_gradient(W)
        values.append(log_likelihood(W))
    return values, W @ A
