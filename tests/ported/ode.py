"""Rates of an ordinary differential equation fitted through a Runge-Kutta loop."""

import numpy as np

from s2sgrad import value_and_grad


def rk4(f, y0, ts):
    """The states at the times `ts` of y' = f(y, t)."""
    ys = [y0]
    y = y0
    for t0, t1 in zip(ts[:-1], ts[1:]):
        h = t1 - t0
        k1 = f(y, t0)
        k2 = f(y + 0.5 * h * k1, t0 + 0.5 * h)
        k3 = f(y + 0.5 * h * k2, t0 + 0.5 * h)
        k4 = f(y + h * k3, t1)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        ys.append(y)
    return np.stack(ys)


def solve(log_rates, y0, ts):
    """Predators and prey (Lotka and Volterra)."""
    a, b, c, d = np.exp(log_rates)

    def rhs(y, t):
        prey, predators = y
        return np.array([prey * (a - b * predators), predators * (d * prey - c)])

    return rk4(rhs, y0, ts)


def loss(params, ts, observed):
    """The mean squared error of the logarithms; the start is fitted too."""
    y = solve(params["log_rates"], np.exp(params["log_y0"]), ts)
    return np.mean((np.log(y) - np.log(observed)) ** 2)


def neural_loss(params, y0, ts, observed):
    """The right-hand side is a small network (a neural differential equation)."""

    def dynamics(y, t):
        (W1, b1), (W2, b2) = params
        return np.tanh(y ** 3 @ W1 + b1) @ W2 + b2

    return np.mean(np.abs(rk4(dynamics, y0, ts) - observed))


def spiral(n=20):
    """What the network learns: a damped spiral."""
    A = np.array([[-0.1, 2.0], [-2.0, -0.1]])
    ts = np.linspace(0.0, 1.5, n)
    y0 = np.array([2.0, 0.0])
    return y0, ts, rk4(lambda y, t: (y ** 3) @ A, y0, ts)


def fit(steps=150):
    """The losses and the rates (they should be 1, 0.5, 1.5 and 0.4)."""
    ts = np.linspace(0.0, 8.0, 41)
    truth = np.log([1.0, 0.5, 1.5, 0.4])
    observed = solve(truth, np.array([3.0, 1.5]), ts)
    params = {"log_rates": np.log([0.9, 0.6, 1.3, 0.5]), "log_y0": np.log([2.5, 1.2])}
    m = {k: np.zeros_like(p) for k, p in params.items()}
    v = {k: np.zeros_like(p) for k, p in params.items()}
    losses = []
    gradient = value_and_grad(loss)
    for i in range(steps):
        value, g = gradient(params, ts, observed)
        losses.append(value)
        for k in params:
            m[k] = 0.9 * m[k] + 0.1 * g[k]
            v[k] = 0.99 * v[k] + 0.01 * g[k] ** 2
            step = (m[k] / (1 - 0.9 ** (i + 1))) / (np.sqrt(v[k] / (1 - 0.99 ** (i + 1))) + 1e-8)
            params[k] = params[k] - 0.03 * 0.98 ** i * step
    return losses, np.exp(params["log_rates"])
