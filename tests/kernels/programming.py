"""Dynamic programming: tables that are filled with the best of some choices.  Points keep away from ties."""

import numpy as np

from .case import kernel


@kernel(
    args=lambda rng: (rng.uniform(0.5, 9.5, (5, 5)),),
    bench=lambda rng: (rng.uniform(0.5, 9.5, (120, 120)),),
    argnums=("path",),
    outputs=("path",),
)
def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, path[:, k, np.newaxis] + path[np.newaxis, k, :])


@kernel(
    args=lambda rng: (rng.uniform(0.2, 1.2, (6, 6)), rng.uniform(0.5, 0.8, 6), rng.uniform(0.0, 0.1, 6)),
    bench=lambda rng: (rng.uniform(0.2, 1.2, (24, 24)), rng.uniform(0.5, 0.8, 24), rng.uniform(0.0, 0.1, 24)),
    argnums=("bond", "single", "cut"),
)
def folding(bond, single, cut):
    """The best pairing of a sequence, as for ribonucleic acids: a bond, or two parts."""
    n = len(single)
    table = np.zeros((n, n))
    for i in range(n - 1, -1, -1):
        table[i, i] = single[i]
        for j in range(i + 1, n):
            inside = table[i + 1, j - 1] if j > i + 1 else 0.0
            table[i, j] = max(single[i] * single[j], bond[i, j] + 0.9 * inside)
            for k in range(i, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j] - cut[k] * (j - i))
    return table[0, n - 1]


@kernel(
    args=lambda rng: (rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=(3, 5))),
    bench=lambda rng: (rng.normal(size=15), rng.normal(size=(15, 15)), rng.normal(size=(15, 150))),
    argnums=("prior", "transition", "emission"),
)
def viterbi(prior, transition, emission):
    states, length = emission.shape
    score = np.full((length, states), -np.inf)
    back = np.zeros((length, states), dtype=int)
    score[0] = prior + emission[:, 0]
    for t in range(1, length):
        for s in range(states):
            candidates = score[t - 1] + transition[:, s]
            back[t, s] = np.argmax(candidates)
            score[t, s] = candidates[back[t, s]] + emission[s, t]
    best = np.zeros(length, dtype=int)
    best[-1] = np.argmax(score[-1])
    for t in range(length - 1, 0, -1):
        best[t - 1] = back[t, best[t]]
    along = np.zeros(length)
    for t in range(length):
        along[t] = emission[best[t], t]
    return np.max(score[-1]), along


@kernel(
    args=lambda rng: (rng.uniform(0.2, 1.8, (4, 5)), 0.43, 0.57),
    bench=lambda rng: (rng.uniform(0.2, 1.8, (60, 60)), 0.43, 0.57),
    argnums=("substitution", "insertion", "deletion"),
)
def edit_distance(substitution, insertion, deletion):
    m, n = substitution.shape
    previous = np.arange(n + 1) * insertion
    current = np.empty(n + 1)
    for i in range(m):
        current[0] = (i + 1) * deletion
        for j in range(n):
            current[j + 1] = min(previous[j] + substitution[i, j], previous[j + 1] + deletion, current[j] + insertion)
        previous, current = current, previous
    return previous[n]


@kernel(
    args=lambda rng: (np.cumsum(rng.uniform(0.3, 1.0, 5)), np.cumsum(rng.uniform(0.3, 1.0, 4))),
    bench=lambda rng: (np.cumsum(rng.uniform(0.3, 1.0, 60)), np.cumsum(rng.uniform(0.3, 1.0, 50))),
    argnums=("a", "b"),
)
def time_warping(a, b):
    cost = np.zeros((len(a) + 1, len(b) + 1))
    cost[0, 1:] = cost[1:, 0] = np.inf
    for i, x in enumerate(a, start=1):
        for j, y in enumerate(b, start=1):
            cost[i, j] = (x - y) ** 2
            cost[i, j] += min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[1:, 1:]


@kernel(
    args=lambda rng: (rng.uniform(0.0, 1.0, (4, 6)),),
    bench=lambda rng: (rng.uniform(0.0, 1.0, (400, 500)),),
    argnums=("energy",),
)
def seam(energy):
    """The cheapest way from the top of an image to its bottom, a whole row at a time."""
    total = energy.copy()
    for i in range(1, total.shape[0]):
        above = total[i - 1]
        best = above.copy()
        best[1:] = np.minimum(best[1:], above[:-1])
        best[:-1] = np.minimum(best[:-1], above[1:])
        total[i] += best
    return np.min(total[-1])


@kernel(
    args=lambda rng: (rng.uniform(0.5, 2.0, 5), np.array([2, 3, 4, 1, 3]), 8),
    bench=lambda rng: (rng.uniform(0.5, 2.0, 500), rng.integers(1, 60, 500), 2000),
    argnums=("worth",),
)
def knapsack(worth, weights, capacity):
    best = np.zeros(capacity + 1)
    for value, weight in zip(worth, weights):  # noqa: B905
        best[weight:] = np.maximum(best[weight:], best[:-weight] + value)
    return best


@kernel(
    args=lambda rng: (rng.uniform(1.0, 4.0, 6),),
    bench=lambda rng: (rng.uniform(1.0, 4.0, 24),),
    argnums=("sizes",),
)
def order_of_products(sizes):
    """The cheapest order in which to multiply a chain of matrices."""
    n = len(sizes) - 1
    cost = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = np.inf
            for k in range(i, j):
                here = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if here < cost[i, j]:
                    cost[i, j] = here
    return cost[0, n - 1]


@kernel(
    args=lambda rng: (1.0, 1.05, 0.05, 0.3, 0.25, 6),
    bench=lambda rng: (1.0, 1.05, 0.05, 0.3, 0.005, 250),
    argnums=("spot", "strike", "rate", "sigma"),
)
def american_put(spot, strike, rate, sigma, dt, steps):
    up = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
    discount = np.exp(-rate * dt)
    prices = spot * up ** np.arange(-steps, steps + 1.0, 2.0)
    values = np.maximum(strike - prices, 0.0)
    for n in range(steps, 0, -1):
        prices[:n] = prices[:n] * up
        values[:n] = discount * (p * values[1 : n + 1] + (1.0 - p) * values[:n])
        values[:n] = np.maximum(values[:n], strike - prices[:n])
    return values[0]


@kernel(
    args=lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)),
    bench=lambda rng: (rng.normal(size=(80, 10)), rng.normal(size=(10, 10)), rng.normal(size=10)),
    argnums=("emission", "transition", "start"),
)
def forward_backward(emission, transition, start):
    """Log-probabilities of the states of a hidden Markov model: sums in place of the best."""
    length, states = emission.shape
    alpha = np.zeros((length, states))
    beta = np.zeros((length, states))
    alpha[0] = start + emission[0]
    for t in range(1, length):
        for s in range(states):
            terms = alpha[t - 1] + transition[:, s]
            top = terms.max()
            alpha[t, s] = top + np.log(np.sum(np.exp(terms - top))) + emission[t, s]
        alpha[t] -= alpha[t].mean()
    for t in range(length - 2, -1, -1):
        terms = transition + emission[t + 1] + beta[t + 1]
        beta[t] = np.log(np.exp(terms).sum(axis=1))
        beta[t] -= beta[t].mean()
    joint = alpha + beta
    joint -= np.log(np.sum(np.exp(joint), axis=1, keepdims=True))
    return joint
