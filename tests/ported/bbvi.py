"""Black-box variational inference: a normal fitted to any log density, with random draws inside the objective."""

import numpy as np

from s2sgrad import grad


def black_box_variational_inference(logprob, dim, num_samples, seed=0):
    """The objective (minus the lower bound, with fresh draws each time), its gradient, and the reading of parameters."""
    rng = np.random.default_rng(seed)

    def unpack_params(params):
        mean, log_std = params[:dim], params[dim:]
        return mean, log_std

    def gaussian_entropy(log_std):
        return 0.5 * dim * (1.0 + np.log(2 * np.pi)) + np.sum(log_std)

    def variational_objective(params, t):
        """Stochastic estimate of minus the lower bound (reparametrised draws)."""
        mean, log_std = unpack_params(params)
        samples = rng.standard_normal((num_samples, dim)) * np.exp(log_std) + mean
        lower_bound = gaussian_entropy(log_std) + np.mean(logprob(samples, t))
        return -lower_bound

    gradient = grad(variational_objective)
    return variational_objective, gradient, unpack_params, rng


def normal_logpdf(x, mean, std):
    """Of a normal distribution."""
    return -0.5 * ((x - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)


def log_funnel(x, t):
    """A funnel: the second number is the log of the deviation of the first."""
    mu, log_sigma = x[:, 0], x[:, 1]
    return normal_logpdf(log_sigma, 0.0, 1.35) + normal_logpdf(mu, 0.0, np.exp(log_sigma))


def log_normal_target(x, t):
    """Two independent normals: what the fit must find exactly."""
    return normal_logpdf(x[:, 0], 1.0, 0.5) + normal_logpdf(x[:, 1], -2.0, 1.5)


def fit(target=log_normal_target, steps=400, num_samples=40):
    """The mean and the deviations; plain Adam."""
    _, gradient, unpack_params, _ = black_box_variational_inference(target, 2, num_samples)
    params = np.zeros(4)
    m = np.zeros(4)
    v = np.zeros(4)
    for t in range(steps):
        g = gradient(params, t)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g ** 2
        rate = 0.05 if t < steps // 2 else 0.01
        params = params - rate * (m / (1 - 0.9 ** (t + 1))) / (np.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-8)
    mean, log_std = unpack_params(params)
    return mean, np.exp(log_std)
