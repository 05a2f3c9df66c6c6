"""Linear regression on a tape: the slope and the offset are Variables that helper functions read as globals.

Real measurements: ozone monitors calibrated against NIST's (the reference data set "Norris").
"""

from pathlib import Path

import numpy as np

from s2sgrad import GradientTape, Variable

NORRIS = Path(__file__).parent / "data" / "norris.csv"
SCALE = 1000.0

m = Variable(0.0, name="slope")
b = Variable(0.0, name="offset")


def predict(x):
    return m * x + b


def squared_error(y_pred, y_true):
    return np.mean((y_pred - y_true) ** 2)


def main():
    """Return the slope and the offset."""
    x, y = np.loadtxt(NORRIS, delimiter=",", unpack=True) / SCALE
    m.assign(0.0)
    b.assign(0.0)
    for step in range(501):
        with GradientTape() as t:
            loss = squared_error(predict(x), y)
        gradients = t.gradient(loss, [m, b])
        m.assign_sub(gradients[0] * 0.8)
        b.assign_sub(gradients[1] * 0.8)
        if step % 100 == 0:
            print(f"step {step:>3}: loss {loss:.3e}, y = {m:.6f} x {b.numpy() * SCALE:+.6f}")
    print("certified:               y = 1.002117 x -0.262323")
    return float(m), float(b) * SCALE


if __name__ == "__main__":
    main()
