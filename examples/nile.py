"""The level of the Nile, 1871 to 1970: a Kalman filter as an ordinary loop, fitted by maximum likelihood.

The local level model of Durbin and Koopman, Time Series Analysis by State Space Methods (2001): the level
walks at random, and the measured flow is the level and noise.  They find the variances 15099 and 1469.1.
"""

from pathlib import Path

import numpy as np

from s2sgrad import value_and_grad

NILE = Path(__file__).parent / "data" / "nile.csv"


def negative_log_likelihood(p, flow):
    """Of the local level model; exp(p[0]) is the variance of the noise, exp(p[1]) that of the level's steps."""
    noise = np.exp(p[0])
    walk = np.exp(p[1])
    level = flow[0]
    variance = noise + walk
    total = 0.0
    for y in flow[1:]:
        surprise = y - level
        spread = variance + noise
        total += 0.5 * (np.log(2.0 * np.pi * spread) + surprise ** 2 / spread)
        gain = variance / spread
        level = level + gain * surprise
        variance = variance * (1.0 - gain) + walk
    return total


def main():
    """Return the two variances and the logarithm of the likelihood."""
    flow = np.loadtxt(NILE, delimiter=",", usecols=1)
    gradient = value_and_grad(negative_log_likelihood)
    p = np.log([8000.0, 8000.0])
    for step in range(301):
        value, slope = gradient(p, flow)
        if step % 60 == 0:
            print(f"step {step:>3}: noise {np.exp(p[0]):8.1f}, walk {np.exp(p[1]):7.1f}, log-likelihood {-value:.4f}")
        p = p - 0.03 * slope
    print("published: noise  15099.0, walk  1469.1")
    return float(np.exp(p[0])), float(np.exp(p[1])), -float(value)


if __name__ == "__main__":
    main()
