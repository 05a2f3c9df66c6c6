"""Gradients of the validation loss in hyperparameters, through an inner loop of gradient descent."""

import numpy as np

from s2sgrad import grad


def training_loss(w, log_penalty, x, y):
    """Ridge regression."""
    return np.mean((x @ w - y) ** 2) + np.sum(np.exp(log_penalty) * w ** 2)


def validation_loss(w, x, y):
    """Without the penalty."""
    return np.mean((x @ w - y) ** 2)


def hyper_objective(hyper, w0, train, valid, steps=20):
    """The validation loss after training with these hyperparameters."""
    log_penalty, log_rate = hyper["log_penalty"], hyper["log_rate"]
    gradient = grad(training_loss)
    x, y = train
    w = w0
    for _ in range(steps):
        w = w - np.exp(log_rate) * gradient(w, log_penalty, x, y)
    return validation_loss(w, *valid)


def maml_objective(w, tasks, rate=0.1):
    """Model-agnostic meta-learning (Finn, Abbeel and Levine, 2017): the loss after one step on each task."""

    def after_one_step(train, valid):
        fast = w - rate * grad(lambda v: validation_loss(v, *train))(w)
        return validation_loss(fast, *valid)

    return sum(after_one_step(train, valid) for train, valid in tasks) / len(tasks)


def learned_schedule(log_rates, momentum, w, x, y):
    """One rate for each step, and momentum."""
    velocity = np.zeros_like(w)
    dloss = grad(lambda v: np.mean(np.logaddexp(0.0, -y * (x @ v))))
    for log_rate in log_rates:
        velocity = momentum * velocity - np.exp(log_rate) * dloss(w)
        w = w + velocity
    return np.mean(np.logaddexp(0.0, -y * (x @ w)))


def data(seed=0, n=30, dim=5):
    """Two halves of a regression; only two of the columns matter."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, dim))
    y = x[:, 0] - 2.0 * x[:, 1] + 0.3 * rng.standard_normal(n)
    half = n // 2
    return (x[:half], y[:half]), (x[half:], y[half:])


def tune(steps=25):
    """The validation losses while the penalty and the rate are tuned."""
    train, valid = data()
    hyper = {"log_penalty": np.zeros(5), "log_rate": np.log(0.02)}
    values = []
    for _ in range(steps):
        values.append(hyper_objective(hyper, np.zeros(5), train, valid))
        g = grad(hyper_objective)(hyper, np.zeros(5), train, valid)
        hyper = {k: hyper[k] - 0.3 * g[k] for k in hyper}
    return values, hyper
