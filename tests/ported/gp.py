"""Gaussian-process regression: the kernel is a function that is passed, the hyperparameters one flat array."""

import numpy as np
from scipy.optimize import minimize

from s2sgrad import value_and_grad


def rbf(kernel_params, x, xp):
    """The squared-exponential kernel; the first parameter is the log of the scale, the others of the lengths."""
    output_scale = np.exp(kernel_params[0])
    lengthscales = np.exp(kernel_params[1:])
    diffs = np.expand_dims(x / lengthscales, 1) - np.expand_dims(xp / lengthscales, 0)
    return output_scale * np.exp(-0.5 * np.sum(diffs ** 2, axis=2))


def matern32(kernel_params, x, xp):
    """Matern's kernel of order 3/2."""
    output_scale, lengthscale = np.exp(kernel_params)
    sq = np.sum((x[:, None, :] - xp[None, :, :]) ** 2, axis=-1)
    r = np.sqrt(3.0 * sq + 1e-12) / lengthscale
    return output_scale * (1.0 + r) * np.exp(-r)


def make_gp(kernel):
    """Functions of a process with this kernel."""

    def unpack(params):
        mean = params[0]
        noise = np.exp(params[1]) + 1e-6
        return mean, noise, params[2:]

    def predict(params, x, y, xstar):
        mean, noise, kernel_params = unpack(params)
        cov_f_f = kernel(kernel_params, xstar, xstar)
        cov_y_f = kernel(kernel_params, x, xstar)
        cov_y_y = kernel(kernel_params, x, x) + noise * np.eye(len(y))
        pred_mean = mean + np.linalg.solve(cov_y_y, cov_y_f).T @ (y - mean)
        pred_cov = cov_f_f - np.linalg.solve(cov_y_y, cov_y_f).T @ cov_y_f
        return pred_mean, pred_cov

    def log_marginal_likelihood(params, x, y):
        mean, noise, kernel_params = unpack(params)
        K = kernel(kernel_params, x, x) + noise * np.eye(len(y))
        L = np.linalg.cholesky(K)
        alpha = np.linalg.solve(L.T, np.linalg.solve(L, y - mean))
        return -0.5 * (y - mean) @ alpha - np.sum(np.log(np.diag(L))) - 0.5 * len(y) * np.log(2 * np.pi)

    return predict, log_marginal_likelihood


def by_slogdet(x, y, kernel=rbf):
    """The same objective in the other spelling, a closure over the data."""

    def objective(params):
        K = kernel(params[2:], x, x) + (np.exp(params[1]) + 1e-6) * np.eye(len(x))
        r = y - params[0]
        sign, logdet = np.linalg.slogdet(K)
        return -0.5 * (r @ np.linalg.solve(K, r) + logdet + len(x) * np.log(2 * np.pi))

    return objective


def data(n=25):
    """A noisy sine."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, n))[:, None]
    y = np.sin(2.0 * x[:, 0]) + 0.7 + 0.1 * rng.standard_normal(n)
    return x, y


def fit(kernel=rbf):
    """The fitted hyperparameters, the log marginal likelihood and the error of the prediction."""
    x, y = data()
    predict, log_marginal_likelihood = make_gp(kernel)
    objective = value_and_grad(lambda params: -log_marginal_likelihood(params, x, y))
    start = np.zeros(4)
    result = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-5})
    xstar = np.linspace(-2.5, 2.5, 40)[:, None]
    mean, cov = predict(result.x, x, y, xstar)
    return result, np.max(np.abs(mean - np.sin(2.0 * xstar[:, 0]) - 0.7))
