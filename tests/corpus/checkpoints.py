"""Calls and loops that are run again in the reverse sweep: `checkpoint` and `checkpointed`."""

import numpy as np

from s2sgrad import checkpoint, checkpointed

from .case import case

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6])
OTHER = np.array([1.1, 0.6, -0.8, 0.5, 1.3])
WEIGHTS = np.array([1.0, -0.5, 2.0, 0.3, 1.7])


@checkpoint
def layer(w, h):
    a = np.sin(h) * w
    return np.tanh(a) * np.exp(0.1 * a)


@case(VECTOR, OTHER)
def layers_that_are_run_again(w, h):
    for _ in range(3):
        h = layer(w, h)
    return np.sum(WEIGHTS * h)


@case(VECTOR, OTHER)
def layer_whose_argument_is_written_afterwards(w, h):
    u = h * w
    y = layer(w, u)
    u[0] = 2.0 * y[1]
    return np.sum(WEIGHTS * y * u)


@case(VECTOR, 0.3)
def lambda_that_is_run_again(x, k):
    again = checkpoint(lambda t: np.sin(t) * k * x)
    return np.sum(WEIGHTS * again(again(x)))


@case(VECTOR, 0.1, 7)
def states_of_a_stencil(u, c, n):
    for _ in checkpointed(range(n), slots=3):
        u[1:-1] += c * u[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(WEIGHTS * u * u)


@case(VECTOR, 0.1, 7)
def states_of_two_arrays_that_trade_names(u, c, n):
    v = 0.5 * u
    for _ in checkpointed(range(n), slots=2):
        v[1:-1] = c * (u[2:] - u[1:-1] * v[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(WEIGHTS * u * v)


@case(VECTOR, OTHER)
def states_of_pairs_left_early(u, v):
    total = 1.0
    for k, (a, b) in checkpointed(enumerate(zip(u, v, strict=True)), slots=2):
        total = total * np.sin(a + b * k) + a
        if total > 1.2:
            break
        u = u * np.cos(v) + total
    return total * np.sum(WEIGHTS * u)


@case(VECTOR, 4)
def states_in_a_loop_with_states(u, n):
    for i in checkpointed(range(n), slots=2):
        for j in checkpointed(range(i), slots=1):
            u = np.sin(u) * u[j] + 0.5 * u
        u = 0.9 * u
    return np.sum(WEIGHTS * u)


@case(VECTOR, 5)
def states_beside_a_list_that_grows(u, n):
    sums = []
    for k in checkpointed(range(n), slots=2):
        u = np.sin(u) * WEIGHTS
        if k % 2 == 0:
            sums.append(np.sum(u * u))
    return sum(sums) * sums[0]


def applied(f, u):
    return np.sin(f(u)) * u


@case(VECTOR)
def checkpoint_that_is_given_a_lambda(x):
    return np.sum(WEIGHTS * checkpoint(applied)(lambda u: u * x[0], x))


@case(VECTOR)
def pops_of_which_nobody_reads_the_item(x):
    s, total = [], 0.0
    for j in range(10):
        s.append(x[j % 5] * x[j % 5])
    for _ in checkpointed(range(5), slots=1):
        s.pop()
        u = s.pop()
        total = total + u * u
    return total
