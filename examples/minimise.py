"""`scipy.optimize` with generated derivatives: Rosenbrock's valley in 20 dimensions, and NIST's table Misra1a.

`value_and_grad(f)` returns what `minimize(.., jac=True)` wants: the value and the gradient, in one sweep.  `hvp(f)` gives
the products with the Hessian that Newton's method with conjugate gradients asks for, `jacobian(f)` the matrix that
`least_squares` asks for.
"""

from pathlib import Path

import numpy as np
from scipy.optimize import least_squares, minimize

from s2sgrad import hvp, jacobian, value_and_grad

CERTIFIED = np.array([2.3894212918e02, 5.5015643181e-04])
MISRA1A = Path(__file__).parent / "data" / "misra1a.csv"


def rosenbrock(x):
    """The curved valley; its floor is at ones."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def negative_log_likelihood(p, pressure, volume):
    """Of volume = b0 (1 - exp(-b1 pressure)) + normal noise; `p` holds the logarithms of b0, b1 and the deviation."""
    model = np.exp(p[0]) * (1.0 - np.exp(-np.exp(p[1]) * pressure))
    residual = (volume - model) / np.exp(p[2])
    return 0.5 * np.sum(residual ** 2) + len(volume) * p[2]


def residuals(p, pressure, volume):
    """Of volume = b0 (1 - exp(-b1 pressure)); `p` holds the logarithms of b0 and b1."""
    return np.exp(p[0]) * (1.0 - np.exp(-np.exp(p[1]) * pressure)) - volume


def main():
    """Return the distance from Rosenbrock's minimum, and the relative distance from the certified parameters."""
    valley = minimize(value_and_grad(rosenbrock), np.tile([-1.2, 1.0], 10), jac=True, method="BFGS", options={"gtol": 1e-8})
    distance = float(np.max(np.abs(valley.x - 1.0)))
    print(f"Rosenbrock, 20 dimensions: {valley.nit} steps, {distance:.0e} from the minimum")

    product = hvp(rosenbrock)
    newton = minimize(value_and_grad(rosenbrock), np.tile([-1.2, 1.0], 10), jac=True, method="Newton-CG",
                      hessp=lambda x, v: product((x,), (v,)), options={"xtol": 1e-10})  # fmt: skip
    distance = max(distance, float(np.max(np.abs(newton.x - 1.0))))
    print(f"with products with the Hessian: {newton.nit} steps of Newton's, {newton.nhev} products")

    pressure, volume = np.loadtxt(MISRA1A, delimiter=",", unpack=True)
    start = np.log([250.0, 5e-4, 1.0])
    fit = minimize(value_and_grad(negative_log_likelihood), start, args=(pressure, volume), jac=True, method="BFGS",
                   options={"gtol": 1e-7})  # fmt: skip
    b = np.exp(fit.x[:2])
    error = float(np.max(np.abs(b / CERTIFIED - 1.0)))
    print(f"Misra1a, maximum likelihood: {fit.nit} steps, b = {b[0]:.5f}, {b[1]:.8e}; noise {np.exp(fit.x[2]):.5f}")
    squares = least_squares(residuals, start[:2], jac=jacobian(residuals), args=(pressure, volume), xtol=1e-15)
    error = max(error, float(np.max(np.abs(np.exp(squares.x) / CERTIFIED - 1.0))))
    print(f"Misra1a, least squares: {squares.nfev} steps, b = {np.exp(squares.x[0]):.5f}, {np.exp(squares.x[1]):.8e}")
    print(f"certified by NIST:                     b = {CERTIFIED[0]:.5f}, {CERTIFIED[1]:.8e}")
    return distance, error


if __name__ == "__main__":
    main()
