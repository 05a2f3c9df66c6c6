"""Frozen distributions and factorizations that a function makes: what they are made of has derivatives in each call."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.stats import gamma, norm

from s2sgrad import S2SGradError, grad, jvp
from s2sgrad.testing import check_grads

X = np.array([0.3, 0.7, 1.2])


def at_once(x, m, s):
    return np.sum(norm(m, s).logpdf(x)) + np.sum(stats.gamma(m, scale=s).cdf(x))


def kept(x, m, s):
    rv = norm(loc=m, scale=s)
    return np.sum(rv.pdf(x)) + rv.cdf(0.4) + np.sum(rv.logsf(x)) + rv.ppf(0.2) * rv.isf(0.3)


def moments(x, m, s):
    rv = gamma(m, scale=s)
    return rv.mean() * np.sum(x) + rv.var() + rv.std() + rv.entropy()


def of_counts(x, m, s):
    return np.sum(x * stats.poisson(m).logpmf(np.arange(3))) + stats.binom(5, s / 2.0).pmf(2)


def in_a_loop(x, m, s):
    total = 0.0
    for k in range(3):
        rv = norm(m + k, s)
        total = total + rv.logpdf(x[k]) * rv.cdf(x[0])
    return total


def in_a_branch(x, m, s):
    prior = norm(0.0, s)
    if m > 0.0:
        return prior.logpdf(m) + np.sum(norm(m, 1.0).logpdf(x))
    return prior.logpdf(0.0)


def bound_anew(x, m, s):
    rv = norm(m, s)
    m = m * 3.0
    return np.sum(rv.logpdf(x)) * m


def arrays(x, m, s):
    return np.sum(norm(m * x, s + x).logpdf(x[::-1]))


def several_variables(x, m, s):
    c = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]]) * s
    rv = stats.multivariate_normal(x * m, c)
    c *= 2.0
    return rv.logpdf(x) + stats.multivariate_normal(cov=c).logpdf(x)


FUNCTIONS = [at_once, kept, moments, of_counts, in_a_loop, in_a_branch, bound_anew, arrays]


@pytest.mark.records
def test_arrays_that_are_written_behind_the_object():
    check_grads(several_variables, (X, 1.4, 0.9), order=2, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_programs(f):
    check_grads(f, (X, 1.4, 0.9), order=1 if f is moments else 2, rtol=1e-4, atol=1e-5)


def test_the_text_calls_the_distribution():
    df = grad(kept, argnums=(0, 1, 2))
    df(X, 1.4, 0.9)
    assert "norm.pdf(x, " in df.source and "norm(loc" not in df.source.partition('"""')[2].replace("# ", "")


def an_attribute(x, m, s):
    rv = norm(m, s)
    return np.sum(rv.logpdf(x)) * rv.args[0]


def of_two_kinds(x, m, s):
    rv = norm(m, s) if m > 0 else gamma(s)
    return np.sum(rv.logpdf(x))


def drawn(x, m, s):
    return np.sum(norm(m, s).rvs(3) * x)


@pytest.mark.parametrize("f", [an_attribute, of_two_kinds, drawn], ids=lambda f: f.__name__)
def test_refused(f):
    for call in (lambda: grad(f, argnums=1)(X, 1.4, 0.9), lambda: jvp(f, (X, 1.4, 0.9), (None, 1.0, None))):
        with pytest.raises(S2SGradError):
            call()


def test_a_covariance_that_was_written_to_since_is_not_read():
    c = 0.9 * np.eye(3)
    law = stats.multivariate_normal(np.zeros(3), c)
    wanted = grad(lambda x: law.logpdf(x))(X)
    np.testing.assert_allclose(wanted, -X / 0.9)
    c *= 2.0
    with pytest.raises(S2SGradError):
        grad(lambda x: law.logpdf(x))(X)
