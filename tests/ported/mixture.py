"""A mixture of normal distributions: the negative log likelihood, with the components in comprehensions."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from s2sgrad import value_and_grad


def init_params(components, dim, rng):
    """A dict of arrays, one row a component."""
    return {
        "log proportions": 0.1 * rng.standard_normal(components),
        "means": rng.standard_normal((components, dim)),
        "lower triangles": np.zeros((components, dim, dim)) + np.eye(dim),
    }


def log_normalize(x):
    """Log probabilities."""
    return x - logsumexp(x)


def mvn_logpdf(x, mean, chol):
    """The precision is chol chol^T."""
    z = (x - mean) @ chol
    sign, logdet = np.linalg.slogdet(chol)
    return -0.5 * np.sum(z ** 2, axis=1) + logdet - 0.5 * len(mean) * np.log(2 * np.pi)


def log_likelihood(params, data):
    """Of all rows."""
    log_weights = log_normalize(params["log proportions"])
    cluster_lls = [
        log_weight + mvn_logpdf(data, mean, chol)
        for log_weight, mean, chol in zip(log_weights, params["means"], params["lower triangles"])
    ]
    return np.sum(logsumexp(np.vstack(cluster_lls), axis=0))


def nll_of_list(theta, x):
    """In one dimension: a list of (logit, mean, log deviation), and generator expressions."""
    total = np.log(sum(np.exp(logit) for logit, _, _ in theta))
    terms = [
        logit - total - 0.5 * ((x - mu) / np.exp(s)) ** 2 - s - 0.5 * np.log(2 * np.pi) for logit, mu, s in theta
    ]
    best = np.max(np.array(terms), axis=0)
    return -np.sum(best + np.log(sum(np.exp(t - best) for t in terms)))


def flatten(params):
    """One array, and the way back."""
    shapes = {k: np.shape(p) for k, p in params.items()}

    def unflatten(flat):
        out, start = {}, 0
        for k, shape in shapes.items():
            size = int(np.prod(shape))
            out[k] = flat[start : start + size].reshape(shape)
            start += size
        return out

    return np.concatenate([np.ravel(p) for p in params.values()]), unflatten


def clusters(n=60):
    """Three of them."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [3.0, 3.0], [-3.0, 3.0]])
    return np.concatenate([c + 0.5 * rng.standard_normal((n, 2)) for c in centres]), centres


def fit():
    """The value and the sorted means."""
    data, _ = clusters()
    start, unflatten = flatten(init_params(3, 2, np.random.default_rng(3)))

    def objective(flat):
        return -log_likelihood(unflatten(flat), data)

    result = minimize(value_and_grad(objective), start, jac=True, method="BFGS", options={"gtol": 1e-3})
    params = unflatten(result.x)
    order = np.argsort(params["means"][:, 0])
    return result, params["means"][order]
