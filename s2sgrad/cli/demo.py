"""`s2sgrad demo`: fits a model to real measurements with a generated gradient, and compares with NIST's certified result."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

import numpy as np

from s2sgrad.api import value_and_grad
from s2sgrad.testing import comparisons

START = np.array([1000.0, 1000.0, 400.0, 40.0, 0.7, 0.3, 0.03])  # NIST's second starting point
CERTIFIED = np.array([1.2881396800e03, 1.4910792535e03, 5.8323836877e02, 7.5416644291e01,
                      9.6629502864e-01, 3.9797285797e-01, 4.9727297349e-02])  # fmt: skip
CERTIFIED_LOSS = 5.6427082397e03

NEXT = {
    "from s2sgrad import grad; grad(loss)(x)": "the gradient",
    "s2sgrad show model.py:loss": "its text",
    "s2sgrad show model.py:loss --html loss.html": "both, side by side",
    's2sgrad check model.py:loss --args "3.0"': "is it right?",
    "help(s2sgrad)": "all that can be called",
    "docs/start.md, docs/tutorial.md": "five minutes; a fit",
}


def loss(b: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
    """Sum of squared residuals of a ratio of two cubics."""
    top = b[0] + x * (b[1] + x * (b[2] + x * b[3]))
    bottom = 1.0 + x * (b[4] + x * (b[5] + x * b[6]))
    r = y - top / bottom
    return np.sum(r**2)


def measurements() -> tuple[np.ndarray, np.ndarray]:
    """NIST's table `Thurber`: the logarithm of the density, and the electron mobility."""
    with (resources.files("s2sgrad.cli") / "data" / "thurber.csv").open(encoding="utf-8") as lines:
        x, y = np.loadtxt(lines, delimiter=",", unpack=True)
    return x, y


def descend(
    value_and_slope: Callable[[Any], tuple[float, np.ndarray]], x: np.ndarray, steps: int = 400
) -> Iterator[tuple[np.ndarray, float]]:
    """Minimise by BFGS (Broyden, Fletcher, Goldfarb, Shanno): yields every point and its value."""
    value, slope = value_and_slope(x)
    inverse = np.eye(x.size) / np.linalg.norm(slope)
    yield x, value
    for _ in range(steps):
        direction = -inverse @ slope
        length = 1.0
        while True:
            new_x = x + length * direction
            new_value, new_slope = value_and_slope(new_x)
            if new_value <= value + 1e-4 * length * (slope @ direction):
                break
            length *= 0.5
            if length < 1e-12:
                return
        s, d = new_x - x, new_slope - slope
        if s @ d > 1e-12 * np.linalg.norm(s) * np.linalg.norm(d):
            shrink = np.eye(x.size) - np.outer(s, d) / (s @ d)
            inverse = shrink @ inverse @ shrink.T + np.outer(s, s) / (s @ d)
        stalled = value - new_value <= 1e-13 * value
        x, value, slope = new_x, new_value, new_slope
        yield x, value
        if stalled:
            return


def main() -> np.ndarray:
    """Fit, and print what happens; return the fitted parameters."""
    x, y = measurements()
    gradient = value_and_grad(loss)
    _title("The function")
    print(inspect.getsource(loss).rstrip())
    _title("Its gradient, written by s2sgrad")
    print(gradient.source_for(START, x, y).strip())

    _title("Is it right?  Against central differences")
    for number, comparison in enumerate(comparisons(loss, (START, x, y), argnums=0)):
        print(f"  b[{number}]   relative error {comparison.error:.0e}   {'ok' if comparison.agrees else 'WRONG'}")

    _title(f"Fitted to {x.size} measurements of electron mobility (NIST StRD, R. Thurber)")
    path = list(descend(lambda p: _scaled(gradient, p, x, y), np.ones(START.size)))
    shown = [k for k in (0, 1, 2, 5, 10, 15, 20, 30, 40, 50, 60) if k < len(path) - 1] + [len(path) - 1]
    top = np.log10(path[0][1] / 5000.0)
    for k in shown:
        bar = "#" * max(1, round(44 * np.log10(path[k][1] / 5000.0) / top))
        print(f"  step {k:>3}   loss {path[k][1]:>14.6f}   {bar}")

    fitted: np.ndarray = START * path[-1][0]
    _title("The result, and the values that NIST certifies")
    print(f"  {'':4}   {'s2sgrad':>16}   {'certified':>16}   relative difference")
    for k, (ours, theirs) in enumerate(zip(fitted, CERTIFIED, strict=True)):
        print(f"  b[{k}]   {ours:>16.9f}   {theirs:>16.9f}   {abs(ours / theirs - 1.0):.0e}")
    print(f"  loss   {path[-1][1]:>16.7f}   {CERTIFIED_LOSS:>16.7f}   {abs(path[-1][1] / CERTIFIED_LOSS - 1.0):.0e}")

    _title("What next, with a function of your own, `loss` in model.py")
    for command, result in NEXT.items():
        print(f"  {command:44} {result}")
    return fitted


def _scaled(gradient: Callable[..., Any], p: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """The loss and its gradient with parameters in units of their start, so that all are of one magnitude."""
    value, slope = gradient(START * p, x, y)
    return float(value), slope * START


def _title(text: str) -> None:
    print(f"\n--- {text} {'-' * (74 - len(text))}\n")
