"""What one step of a training loop costs on top of the generated function: PYTHONPATH=. python tests/benchmarks/steps.py

Every step makes its function anew, and `grad` of it.  Microseconds a step, the best of several rounds.
"""

from __future__ import annotations

import functools
import timeit

import numpy as np

from s2sgrad import grad, vjp


def loss(w, batch):
    return np.sum((batch @ w - 1.0) ** 2)


class Model:
    def __init__(self, batch):
        self.batch = batch

    def loss(self, w):
        return loss(w, self.batch)


def nested(batch):
    def predict(w):
        return batch @ w

    def residual(w):
        return predict(w) - 1.0

    return lambda w: np.sum(residual(w) ** 2)


MAKERS = {
    "lambda over a batch": lambda batch: lambda w: loss(w, batch),
    "three nested closures": nested,
    "functools.partial": lambda batch: functools.partial(loss, batch=batch),
    "bound method": lambda batch: Model(batch).loss,
    "one function": lambda batch, f=(lambda w: w @ w): f,
}


def microseconds(f, number=200, repeat=100):
    return min(timeit.repeat(f, number=number, repeat=repeat)) / number * 1e6


def main():
    batch, w = np.ones((4, 3)), np.ones(3)
    params = [np.ones((3, 3)), np.ones(3)] * 4
    print(f"{'':28}{'a step':>10}{'of which':>10}{'overhead':>10}")
    print(f"{'':28}{'':>10}{'gradient':>10}{'':>10}")
    for name, make in MAKERS.items():
        row(name, lambda make=make: grad(make(batch))(w), grad(make(batch)), (w,))
    row("a list of eight arrays", lambda: grad(lambda p: np.sum(p[0] @ p[1]) * batch[0, 0])(params),
        grad(lambda p: np.sum(p[0] @ p[1]) * batch[0, 0]), (params,))  # fmt: skip
    df = grad(loss)
    row("a gradient made once", lambda: df(w, batch), df, (w, batch))
    print(f"{'vjp of a new lambda':28}{microseconds(lambda: vjp(lambda w: loss(w, batch), w)):10.1f}")


def row(name, step, gradient, args):
    step()
    inner = gradient.generated_for(args, {})
    lead = gradient._request.lead + args
    whole = microseconds(step)
    alone = microseconds(lambda: inner(*lead, **gradient._request.keywords))
    print(f"{name:28}{whole:10.1f}{alone:10.1f}{whole - alone:10.1f}")


if __name__ == "__main__":
    main()
