"""Major earthquakes of each year, 1900 to 2006: a hidden Markov model, by expectation maximisation.

The expected counts of the E-step are a gradient: that of the log likelihood in the logarithms of the probabilities
(Eisner, Inside-Outside and Forward-Backward Algorithms Are Just Backprop, 2016).  The data are those of Zucchini and
MacDonald, Hidden Markov Models for Time Series (2009), who find -log L = 341.879 with two states and 328.527 with three.
"""

from pathlib import Path

import numpy as np
from scipy.special import gammaln

from s2sgrad import value_and_grad

EARTHQUAKES = Path(__file__).parent / "data" / "earthquakes.csv"


def logsumexp(a, axis):
    """Without overflow."""
    largest = np.max(a, axis=axis, keepdims=True)
    return np.squeeze(largest, axis) + np.log(np.sum(np.exp(a - largest), axis=axis))


def log_likelihood(start, transition, emission):
    """The forward algorithm; all are logarithms, `emission` of the probability of each year's number in each state."""
    forward = start + emission[0]
    for log_probability in emission[1:]:
        forward = logsumexp(forward[:, None] + transition, axis=0) + log_probability
    return logsumexp(forward, axis=0)


def fit(counts, rates, iterations=400):
    """Return minus the log likelihood and the rates of the states."""
    states = len(rates)
    start = np.log(np.full(states, 1.0 / states))
    transition = np.log(np.full((states, states), 0.2 / (states - 1)) + np.eye(states) * (0.8 - 0.2 / (states - 1)))
    expectations = value_and_grad(log_likelihood, argnums=(0, 1, 2))
    for _ in range(iterations):
        emission = counts[:, None] * np.log(rates) - rates - gammaln(counts + 1.0)[:, None]
        value, (first, moves, occupied) = expectations(start, transition, emission)
        with np.errstate(divide="ignore"):  # a state that is never the first has the probability 0
            start = np.log(first)
        transition = np.log(moves / moves.sum(axis=1, keepdims=True))
        rates = counts @ occupied / occupied.sum(axis=0)
    return -value, rates


def main():
    """Return minus the log likelihood and the rates, for two and for three states."""
    counts = np.loadtxt(EARTHQUAKES, delimiter=",", usecols=1)
    results = []
    for rates in (np.array([15.0, 25.0]), np.array([10.0, 20.0, 30.0])):
        value, rates = fit(counts, rates)
        print(f"{len(rates)} states: -log L = {value:.4f}, earthquakes a year: " + ", ".join(f"{r:.3f}" for r in rates))
        results.append((value, rates))
    print("published: 341.879 with two states, 328.527 with three")
    return results


if __name__ == "__main__":
    main()
