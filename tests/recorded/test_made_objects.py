"""Objects of libraries that are made of what carries derivatives, and kept in containers, attributes and results."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.interpolate import CubicSpline, PPoly
from scipy.stats import gamma, norm

from s2sgrad import S2SGradError, grad, jvp, value_and_grad
from s2sgrad.testing import check_grads

X = np.array([0.3, 0.7, 1.2])


def made_elsewhere(x, m, s):
    rv = norm(m, s)
    return _density(rv, x) + _given(m).logpdf(x[0])


def _density(rv, x):
    return np.sum(rv.logpdf(x))


def _given(m):
    return stats.t(4.0, loc=m)


def in_a_list(x, m, s):
    laws = [norm(m, s), gamma(s), *(stats.cauchy(k * m) for k in range(2))]
    return sum(np.sum(law.logpdf(x)) for law in laws) * laws[0].mean()


def in_a_dict(x, m, s):
    laws = {"count": stats.poisson(s), "value": stats.beta(m, s)}
    return laws["count"].logpmf(2) + laws["value"].cdf(0.3) * laws["value"].median()


class Model:
    def __init__(self, m, s):
        self.prior = norm(m, s)
        self.error = stats.multivariate_normal(np.zeros(3), s * np.eye(3))

    def density(self, x):
        return self.prior.logpdf(x[0]) + self.error.logpdf(x)


def in_an_attribute(x, m, s):
    return Model(m, s).density(x * s)


def splines(x, m, s):
    parts = {"up": CubicSpline([0.0, 1.0, 2.0, 3.0], [m, s, x[0], x[1]]), "at": [PPoly([[m], [s]], [0.0, 2.0])]}
    slope = parts["up"].derivative()
    return parts["up"](x[2]) * slope(m) + parts["at"][0](s) + parts["up"].integrate(0.0, s) + slope.derivative()(0.3)


def estimates(x, m, s):
    laws = [stats.gaussian_kde(x * m), stats.gaussian_kde(x[1:])]
    return sum(law(s)[0] * law.logpdf(m)[0] for law in laws)


HELD = [made_elsewhere, in_a_list, in_a_dict, in_an_attribute, splines, estimates]


@pytest.mark.parametrize("f", HELD, ids=lambda f: f.__name__)
def test_objects_that_are_kept(f):
    check_grads(f, (X, 1.4, 0.9), order=2, rtol=1e-4, atol=1e-5)


def of_copies(x, m, s):
    c = np.eye(3) * s
    laws = [stats.multivariate_normal(x, c)]
    c *= 2.0
    return laws[0].logpdf(x * m)


def test_an_object_has_copies_of_its_arrays_where_the_library_copies():
    check_grads(of_copies, (X, 1.4, 0.9), order=1)


def in_its_options(x, m, s):
    laws = [CubicSpline([0.0, m, 2.0, 3.0], [m, s, 0.1, 0.2])]
    return laws[0](0.3)


def an_unknown_method(x, m, s):
    laws = [CubicSpline([0.0, 1.0, 2.0, 3.0], [m, s, 0.1, 0.2])]
    return laws[0].roots()[0] + sum(law.moment(2) for law in [norm(m)])


@pytest.mark.parametrize("f", [in_its_options, an_unknown_method], ids=lambda f: f.__name__)
def test_what_is_not_known_of_an_object_is_refused(f):
    for call in (lambda: grad(f, argnums=1)(X, 1.4, 0.9), lambda: jvp(f, (X, 1.4, 0.9), (None, 1.0, None))):
        with pytest.raises(S2SGradError):
            call()


def derived_after_a_write(x):
    y = x * x
    made = [CubicSpline([0.0, 1.0, 2.0], y)]
    y[1] = 7.0
    return made[0].derivative()(1.3) + made[0](0.4)


def test_a_derivative_of_a_spline_is_that_of_the_data_as_they_were():
    check_grads(derived_after_a_write, (X,), order=1)
    assert value_and_grad(derived_after_a_write)(X)[0] == pytest.approx(derived_after_a_write(X), rel=1e-14)
