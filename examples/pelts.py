"""Snowshoe hares and lynxes in Canada, 1900 to 1920: the rates of an ordinary differential equation, fitted through a loop.

The equations are those of Lotka and Volterra, the data the pelts (in thousands) that the Hudson's Bay Company collected.
Carpenter, Predator-Prey Population Dynamics: the Lotka-Volterra model in Stan (2018), finds the means 0.55, 0.028, 0.80 and
0.024 of the rates, with standard deviations of 0.06, 0.004, 0.09 and 0.004.
"""

from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from s2sgrad import value_and_grad

PELTS = Path(__file__).parent / "data" / "pelts.csv"
STEPS = 5  # a year


def runge_kutta(change, y, years):
    """The states at the starts of the years, of y' = change(y)."""
    h = 1.0 / STEPS
    states = [y]
    for _ in range((years - 1) * STEPS):
        k1 = change(y)
        k2 = change(y + 0.5 * h * k1)
        k3 = change(y + 0.5 * h * k2)
        k4 = change(y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
        states.append(y)
    return np.stack(states)[::STEPS]


def populations(p, years):
    """Hares and lynxes; `p` holds logarithms of four rates and of the start."""
    birth, eaten, death, fed = np.exp(p[:4])

    def change(y):
        hares, lynxes = y
        return np.array([(birth - eaten * lynxes) * hares, (fed * hares - death) * lynxes])

    return runge_kutta(change, np.exp(p[4:6]), years)


def negative_log_likelihood(p, pelts):
    """The logarithms of the pelts are normal around the model's; exp(p[6]) is their deviation."""
    residual = (np.log(pelts) - np.log(populations(p, len(pelts)))) / np.exp(p[6])
    return 0.5 * np.sum(residual ** 2) + pelts.size * p[6]


def main():
    """Return the four rates and the deviation."""
    pelts = np.loadtxt(PELTS, delimiter=",", usecols=(1, 2))
    start = np.log([0.5, 0.02, 0.9, 0.03, 30.0, 4.0, 0.5])
    fit = minimize(value_and_grad(negative_log_likelihood), start, args=(pelts,), jac=True, method="BFGS")
    birth, eaten, death, fed, hares, lynxes, deviation = np.exp(fit.x)
    print(f"{fit.nit} steps: hares are born at {birth:.3f} and eaten at {eaten:.4f} a lynx,")
    print(f"lynxes die at {death:.3f} and grow at {fed:.4f} a hare; 1900: {hares:.1f} and {lynxes:.1f} (thousands)")
    print("published: 0.55, 0.028, 0.80, 0.024")
    return birth, eaten, death, fed, deviation


if __name__ == "__main__":
    main()
