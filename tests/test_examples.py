"""The examples run, on real data, and reach what is known."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal, poisson

from s2sgrad import GradientTape
from s2sgrad.cli import demo
from s2sgrad.testing import check_grads

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def example(name):
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested():
    known = {
        "adversarial",
        "calibration",
        "digits",
        "earthquakes",
        "implicit",
        "minimise",
        "nile",
        "partitions",
        "pelts",
        "throw",
    }
    assert {p.stem for p in EXAMPLES.glob("*.py")} == known


def test_digits():
    assert example("digits").main() > 0.95


def test_minimise():
    distance, error = example("minimise").main()
    assert distance < 1e-6
    assert error < 1e-6


def test_implicit():
    implicit = example("implicit")
    root, fixed, layer, equation = implicit.main()
    assert root < 1e-8 and fixed < 1e-12 and layer < 1e-6 and equation < 1e-9
    check_grads(implicit.volume, (1.5, 1.2), order=2)
    check_grads(lambda y, w: np.sum(implicit.smoothed(y, w) ** 3), (np.array([0.0, 1.0, 0.3]), 0.5), modes=("rev",))


def test_partitions():
    likeliest, by_steps = example("partitions").main(backend="serial")
    assert likeliest < 0.06 and by_steps < 0.15


def test_throw():
    throw = example("throw")
    assert throw.main() < 1e-3
    check_grads(throw.landing, (np.array([30.0, 0.5]),), rtol=1e-4)


def test_nile():
    nile = example("nile")
    noise, walk, likelihood = nile.main()
    assert noise == pytest.approx(15099.0, rel=1e-3)  # as Durbin and Koopman (2001) publish them
    assert walk == pytest.approx(1469.1, rel=1e-3)
    flow = np.loadtxt(nile.NILE, delimiter=",", usecols=1)
    steps = len(flow) - 1  # the year-to-year changes are normal: the same likelihood without a filter
    covariance = (walk + 2.0 * noise) * np.eye(steps) - noise * (np.eye(steps, k=1) + np.eye(steps, k=-1))
    direct = multivariate_normal(np.zeros(steps), covariance).logpdf(np.diff(flow))
    assert likelihood == pytest.approx(direct, abs=1e-6)
    check_grads(nile.negative_log_likelihood, (np.log([15099.0, 1469.1]), flow[:5]), order=2)


@pytest.mark.dear
def test_earthquakes():
    earthquakes = example("earthquakes")
    counts = np.loadtxt(earthquakes.EARTHQUAKES, delimiter=",", usecols=1)
    assert -np.sum(poisson(counts.mean()).logpmf(counts)) == pytest.approx(391.9189, abs=1e-4)  # proves the data
    (two, _), (three, rates) = earthquakes.main()
    assert two == pytest.approx(341.8787, abs=1e-3)  # as Zucchini and MacDonald (2009) publish them
    assert three == pytest.approx(328.5275, abs=1e-3)
    np.testing.assert_allclose(rates, [13.134, 19.713, 29.710], atol=2e-3)
    rng = np.random.default_rng(0)
    check_grads(earthquakes.log_likelihood, tuple(rng.standard_normal(s) for s in (2, (2, 2), (4, 2))), order=2)


def test_pelts():
    pelts = example("pelts")
    birth, eaten, death, fed, deviation = pelts.main()
    assert abs(birth - 0.55) < 0.03  # half a standard deviation of what Carpenter (2018) publishes
    assert abs(eaten - 0.028) < 0.002
    assert abs(death - 0.80) < 0.045
    assert abs(fed - 0.024) < 0.002
    assert 0.2 < deviation < 0.3
    p = np.log([0.5, 0.02, 0.9, 0.03, 30.0, 4.0, 0.5])
    check_grads(pelts.negative_log_likelihood, (p, np.array([[30.0, 4.0], [47.2, 6.1], [70.2, 9.8]])), order=2)


def test_calibration():
    calibration = example("calibration")
    x, y = np.loadtxt(calibration.NORRIS, delimiter=",", unpack=True)
    slope, offset = np.polyfit(x, y, 1)
    deviation = np.sqrt(np.sum((y - slope * x - offset) ** 2) / (len(x) - 2))
    certified = 1.00211681802045, -0.262323073774029, 0.884796396144373  # by NIST: proves the data
    assert (slope, offset, deviation) == pytest.approx(certified, rel=1e-8)
    assert calibration.main() == pytest.approx(certified[:2], rel=1e-6)


def test_adversarial():
    adversarial = example("adversarial")
    flow = np.loadtxt(adversarial.NILE, delimiter=",", usecols=1)
    mean, spread = adversarial.main()
    assert mean == pytest.approx(flow.mean(), abs=10.0)
    assert spread == pytest.approx(flow.std(), abs=8.0)


def test_adversarial_prepares_outside_of_both_blocks():
    adversarial = example("adversarial")
    prepare, discriminator = adversarial.Preparation(), adversarial.Discriminator()
    discriminator.weights.assign([0.1, 0.2, 0.3])
    with GradientTape() as t:
        inside = adversarial.surprise(discriminator((np.ones(3) - prepare.centre) / 200.0), True)
    assert t.gradient(inside, prepare.centre) is not None  # inside the block it would be trained
    real = prepare(np.array([900.0, 1000.0]))
    with GradientTape() as t:
        outside = adversarial.surprise(discriminator(real), True)
    assert t.gradient(outside, prepare.centre) is None


def test_demo(capsys):
    fitted = demo.main()
    np.testing.assert_allclose(fitted, demo.CERTIFIED, rtol=1e-7)
    printed = capsys.readouterr().out
    assert "def loss_value_and_grad(b, x, y, *, seed=1.0):" in printed
    assert "WRONG" not in printed and "What next" in printed.splitlines()[-8]
    assert printed.count("   ok\n") == 7
    assert max(map(len, printed.splitlines())) <= 80


def test_certified_loss_proves_the_data():
    x, y = demo.measurements()
    assert x.size == 37
    assert demo.loss(demo.CERTIFIED, x, y) == pytest.approx(demo.CERTIFIED_LOSS, rel=1e-9)
