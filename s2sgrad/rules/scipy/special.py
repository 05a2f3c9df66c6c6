"""Rules of scipy.special: the gamma and beta families, error functions, logistic functions, entropies, sums of exponentials.

    y = special.gammaln(x)       ->  x_bar = y_bar * special.digamma(x)
    y = special.logsumexp(a)     ->  a_bar = y_bar * exp_difference(a, y)

"DLMF" is the Digital Library of Mathematical Functions of NIST.  Numbers in the formulas are Python floats, so that
float32 stays float32.  Functions of SciPy do not warn: what the slopes say at poles is inf or nan in silence.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from s2sgrad.rules import elementwise as numpy_rules
from s2sgrad.rules.elementwise import exp_difference
from s2sgrad.rules.reductions import along, is_container, reduced_axes, whole, whole_dropped
from s2sgrad.rules.scipy.reflected import digammas, sinpi, times_digamma, times_digammas
from s2sgrad.rules.table import elementwise, general, of_complex_numbers
from s2sgrad.runtime import over, unbroadcast, unreduce

numpy_rules.exp2.also(special.exp2)
numpy_rules.expm1.also(special.expm1)
numpy_rules.log1p.also(special.log1p)
numpy_rules.cbrt.also(special.cbrt)

# --- gamma and beta functions ----------------------------------------------------------------------------------------


@elementwise(special.gammaln, special.loggamma)
def gammaln(g, y, x):  # DLMF 5.2.2
    return g * special.digamma(x)


@elementwise(special.gamma)
def gamma(g, y, x):
    return g * y * special.digamma(x)


@elementwise(special.rgamma)
def rgamma(g, y, x):
    return -g * times_digamma(y, x, special.gamma(np.where(x < 0.5, 1.0 - x, 1.0)))


@elementwise(special.digamma)
def digamma(g, y, x):  # DLMF 5.15.1; special.polygamma widens float32
    return g * special.zeta(2.0, x)


digamma.also(special.psi)


@elementwise(special.polygamma)
def polygamma(g, y, n, x):
    return None, g * special.polygamma(n + 1, x)


polygamma.constant("n")


def multidigamma(a, d):
    """The slope of `special.multigammaln`, a sum of `d` terms.

    >>> bool(multidigamma(2.5, 1) == special.digamma(2.5))
    True
    """
    total = np.zeros_like(a)
    for j in range(d):
        total = total + special.digamma(a - 0.5 * j)
    return total


@elementwise(special.multigammaln)
def multigammaln(g, y, a, d):  # DLMF 35.3.4
    return g * multidigamma(a, d), None


multigammaln.constant("d")


@elementwise(special.beta)
def beta(g, y, a, b):  # DLMF 5.12.1
    return g * beta_slope(y, a, b), g * beta_slope(y, b, a)


def beta_slope(y, a, b):
    """The slope of `special.beta` in `a`, also where `a + b` is a pole, and the function 0."""
    at_zero = over(special.beta(a, np.where(np.equal(y, 0.0), 1.0 - a - b, 1.0)), sinpi(b))
    return times_digammas(
        y, a, a + b, -b, math.pi * np.where(np.equal(y, 0.0), at_zero, over(y, np.where(a + b < 0.5, sinpi(a + b), 1.0)))
    )


@elementwise(special.betaln)
def betaln(g, y, a, b):
    return -g * digammas(a, b), -g * digammas(b, a)


@elementwise(special.binom)
def binom(g, y, n, k):  # DLMF 1.2.6 by gamma functions
    return g * binom_in_n(y, n, k), g * binom_in_k(y, n, k)


def binom_in_n(y, n, k):
    """The slope of `special.binom`, also where `n - k` is a negative whole number, and the function 0."""
    return times_digammas(y, n + 1.0, n - k + 1.0, k, special.beta(n + 1.0, np.where(k - n > 0.5, k - n, 1.0)))


def binom_in_k(y, n, k):
    """The slope in `k`, also where `k` or `n - k` is a negative whole number."""
    in_rest = times_digamma(y, n - k + 1.0, special.beta(n + 1.0, np.where(k - n > 0.5, k - n, 1.0)))
    return in_rest - times_digamma(y, k + 1.0, special.beta(n + 1.0, np.where(k < -0.5, -k, 1.0)))


# --- error functions and the normal distribution ---------------------------------------------------------------------


@elementwise(special.erf)
def erf(g, y, x):  # DLMF 7.2.1
    return g * (2.0 / math.sqrt(math.pi)) * np.exp(-x * x)


@elementwise(special.erfc)
def erfc(g, y, x):
    return -g * (2.0 / math.sqrt(math.pi)) * np.exp(-x * x)


@elementwise(special.erfcx)
def erfcx(g, y, x):  # DLMF 7.10.2
    return g * (2.0 * x * y - 2.0 / math.sqrt(math.pi))


@elementwise(special.erfi)
def erfi(g, y, x):
    return g * (2.0 / math.sqrt(math.pi)) * np.exp(x * x)


@elementwise(special.dawsn)
def dawsn(g, y, x):  # DLMF 7.10.3
    return g * (1.0 - 2.0 * x * y)


@elementwise(special.erfinv)
def erfinv(g, y, x):
    return over(g * (0.5 * math.sqrt(math.pi)), np.exp(-y * y))


@elementwise(special.erfcinv)
def erfcinv(g, y, x):
    return -over(g * (0.5 * math.sqrt(math.pi)), np.exp(-y * y))


@elementwise(special.ndtr)
def ndtr(g, y, x):
    return g / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * x * x)


@elementwise(special.log_ndtr)
def log_ndtr(g, y, x):
    return g / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * x * x - y)


@elementwise(special.ndtri)
def ndtri(g, y, p):
    return over(g * math.sqrt(2.0 * math.pi), np.exp(-0.5 * y * y))


# --- logistic functions ----------------------------------------------------------------------------------------------


@elementwise(special.expit)
def expit(g, y, x):
    return g * y * (1.0 - y)


@elementwise(special.logit)
def logit(g, y, p):
    return over(g, p * (1.0 - p))


@elementwise(special.log_expit)
def log_expit(g, y, x):
    return g * special.expit(-x)


# --- entropies -------------------------------------------------------------------------------------------------------
# special.xlogy(g, e) is g * log(e), but 0 where g is 0: it neither warns nor makes nan of 0 * log(0).


@elementwise(special.xlogy)
def xlogy(g, z, x, y):
    return special.xlogy(g, y), over(g * x, y)


@elementwise(special.xlog1py)
def xlog1py(g, z, x, y):
    return special.xlog1py(g, y), over(g * x, 1.0 + y)


@elementwise(special.entr)
def entr(g, y, x):
    return -(special.xlogy(g, x) + g)


@elementwise(special.rel_entr)
def rel_entr(g, z, x, y):
    ratio = over(x, y)
    return special.xlogy(g, ratio) + g, -g * ratio


@elementwise(special.kl_div)
def kl_div(g, z, x, y):
    ratio = over(x, y)
    return special.xlogy(g, ratio), g * (1.0 - ratio)


# --- sums of exponentials --------------------------------------------------------------------------------------------


@general(special.logsumexp)
def logsumexp(g, y, a, axis=None, b=None, keepdims=False):
    if b is None:
        return unreduce(g, a, axis, keepdims) * exp_difference(a, unreduce(y, a, axis, keepdims))
    a_full = a + np.zeros_like(b)
    part = exp_difference(a_full, unreduce(y, a_full, axis, keepdims))
    return unbroadcast(unreduce(g, a_full, axis, keepdims) * part * b, a)


@logsumexp.keyword("b")
def logsumexp_b(g, y, a, axis=None, b=None, keepdims=False):
    a_full = a + np.zeros_like(b)
    part = exp_difference(a_full, unreduce(y, a_full, axis, keepdims))
    return unbroadcast(unreduce(g, a_full, axis, keepdims) * part, b)


def alone(b):
    return b.known and b.value is None


@logsumexp.refined(lambda operand, axis, b, keepdims: alone(b) and along(operand, axis, keepdims))
def _(g, y, a, axis=None, b=None, keepdims=False):
    return np.expand_dims(g, axis) * exp_difference(a, np.expand_dims(y, axis))


@logsumexp.refined(lambda operand, axis, b: alone(b) and whole(operand, axis))
def _(g, y, a, axis=None, b=None, keepdims=False):
    return g * exp_difference(a, y)


@logsumexp.instead(lambda operand, b: is_container(operand) and alone(b))
def _(g, y, a, axis=None, b=None, keepdims=False):
    return unreduce(g, a, axis, keepdims) * exp_difference(np.array(a), unreduce(y, a, axis, keepdims))


@logsumexp.forward(lambda operand, b: alone(b) and not is_container(operand))
def _(y, a, a_dot, axis=None, b=None, keepdims=False):
    parts = exp_difference(a, unreduce(y, a, axis, keepdims)) * a_dot
    return np.reshape(np.sum(parts, axis=reduced_axes(a, axis)), np.shape(y))


@logsumexp.forward(lambda operand, b: not alone(b) and not is_container(operand))
def _(y, a, a_dot, axis=None, b=None, keepdims=False):
    a_full = a + np.zeros_like(b)
    part = exp_difference(a_full, unreduce(y, a_full, axis, keepdims)) * b
    return np.sum(part * a_dot, axis=axis, keepdims=keepdims)


@logsumexp_b.forward(lambda operand: not is_container(operand))
def _(y, a, b_dot, axis=None, b=None, keepdims=False):
    a_full = a + np.zeros_like(b)
    part = exp_difference(a_full, unreduce(y, a_full, axis, keepdims))
    return np.sum(part * b_dot, axis=axis, keepdims=keepdims)


@logsumexp.forward(lambda operand, axis, b, keepdims: alone(b) and along(operand, axis, keepdims))
def _(y, a, a_dot, axis=None, b=None, keepdims=False):
    return np.sum(exp_difference(a, np.expand_dims(y, axis)) * a_dot, axis=axis)


@logsumexp.forward(lambda operand, axis, b, keepdims: alone(b) and whole_dropped(operand, axis, keepdims))
def _(y, a, a_dot, axis=None, b=None, keepdims=False):
    return np.sum(exp_difference(a, y) * a_dot)


@general(special.softmax)
def softmax(g, y, x, axis=None):
    return y * (g - np.sum(g * y, axis=axis, keepdims=True))


@softmax.forward()
def _(y, x, x_dot, axis=None):
    return y * (x_dot - np.sum(y * x_dot, axis=axis, keepdims=True))


@general(special.log_softmax)
def log_softmax(g, y, x, axis=None):
    return g - np.exp(y) * np.sum(g, axis=axis, keepdims=True)


@log_softmax.forward()
def _(y, x, x_dot, axis=None):
    return x_dot - np.sum(np.exp(y) * x_dot, axis=axis, keepdims=True)


logsumexp.refuse(
    lambda operand, b: is_container(operand) and not alone(b),
    "`logsumexp` of a list with weights has no derivative rule: pass an array",
)

of_complex_numbers(
    special.erf, special.erfc, special.erfcx, special.erfi, special.dawsn, special.gamma,
    special.rgamma, special.loggamma, special.ndtr, special.log_ndtr, special.xlogy, special.xlog1py, special.logsumexp,
    special.softmax, special.log_softmax, exp_difference,
)  # fmt: skip
