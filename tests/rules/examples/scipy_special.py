"""scipy.special."""

from __future__ import annotations

import numpy as np
from scipy import special

from s2sgrad.rules.scipy import transformations

from .base import between, example, normal

# --- gamma and beta functions ----------------------------------------------------------------------------------------

for _f in (special.gammaln, special.loggamma, special.gamma, special.rgamma, special.digamma):
    example(_f, between(0.4, 3.0, 2, 3))
    example(_f, 0.7)
for _f in (special.gammaln, special.gamma, special.digamma, special.rgamma):
    example(_f, -1.6)
for _n in (0, 1, 2):
    example(special.polygamma, _n, between(0.4, 3.0, 3))
example(special.polygamma, 1, 0.7)
example(special.zeta, 2.0, between(0.4, 3.0, 3))
example(special.zeta, 3.0, 0.7)
example(special.zeta, between(1.4, 3.0, 3))
for _d in (1, 2, 4):
    example(special.multigammaln, between(2.4, 4.0, 3), _d)
example(special.multigammaln, 2.7, 3)
for _f in (special.beta, special.betaln):
    example(_f, between(0.4, 3.0, 3), between(0.4, 3.0, 2, 3))
    example(_f, between(0.4, 3.0, 2, 1), 0.7)
    example(_f, 1.6, 0.7)
example(special.binom, between(3.0, 5.0, 3), between(0.4, 2.0, 2, 3))
example(special.binom, 4.3, 1.7)

# --- error functions -------------------------------------------------------------------------------------------------

_ANYWHERE = (special.erf, special.erfc, special.erfcx, special.erfi, special.dawsn, special.ndtr, special.log_ndtr)
_ANYWHERE += (special.expit, special.log_expit, special.exp2, special.expm1, special.cbrt)
for _f in _ANYWHERE:
    example(_f, normal(2, 3))
    example(_f, 0.7)
for _f in (special.erfinv, special.ndtri, special.logit):
    example(_f, between(0.2, 0.8, 2, 3))
    example(_f, 0.7)
example(special.log1p, normal(3) ** 2)
example(special.erfinv, -0.4)
example(special.erfcinv, between(0.3, 1.7, 3))
example(special.log_ndtr, np.array([-30.0, -3.0]))
example(special.log_expit, np.array([-40.0, 30.0]))

# --- entropies and sums of exponentials ------------------------------------------------------------------------------

for _f in (special.xlogy, special.xlog1py, special.rel_entr, special.kl_div):
    example(_f, between(0.4, 2.0, 2, 1), between(0.4, 2.0, 3))
    example(_f, 0.7, 1.6)
example(special.xlogy, normal(3), between(0.4, 2.0, 3))
example(special.entr, between(0.4, 2.0, 3))
example(special.entr, 0.7)
for _keywords in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}):
    example(special.logsumexp, normal(2, 3), **_keywords)
    example(special.logsumexp, normal(2, 3), b=between(0.4, 2.0, 2, 3), **_keywords)
example(special.logsumexp, normal(3), b=between(0.4, 2.0, 2, 3))
example(special.logsumexp, [0.3, 0.7, -0.2])
example(special.softmax, [0.3, 0.7, -0.2])
example(special.log_softmax, [0.3, 0.7, -0.2])
for _f in (special.logsumexp, special.softmax, special.log_softmax):
    example(_f, [normal(3), normal(3)])
example(special.logsumexp, normal(2, 3), 1, between(0.4, 2.0, 3))
for _f in (special.softmax, special.log_softmax):
    example(_f, normal(3))
    example(_f, normal(2, 3))
    example(_f, normal(2, 3), axis=0)
    example(_f, normal(2, 3, 2), axis=(0, 1))

# --- Bessel functions and their kin ----------------------------------------------------------------------------------

for _f in (special.j0, special.j1, special.y0, special.y1, special.i0, special.i1, special.i0e, special.i1e, special.k0,
           special.k1, special.k0e, special.k1e, special.exp1, special.expi, special.exprel):  # fmt: skip
    example(_f, between(0.4, 3.0, 2, 3))
    example(_f, 0.7)
for _f in (special.j1, special.i1, special.exprel):
    example(_f, np.array([0.0, 1e-5, -0.7]))
for _f in (special.jv, special.yv, special.iv, special.ive, special.kv, special.kve):
    example(_f, 2.0, between(0.4, 3.0, 2, 3))
    example(_f, between(0.4, 2.0, 2, 1), between(0.4, 3.0, 3))
    example(_f, 0.7, 1.3)
example(special.yn, 2, between(0.4, 3.0, 3))
for _n in (0, 1, 3):
    example(special.expn, _n, between(0.4, 3.0, 3))
example(special.hyp1f1, 1.3, 2.4, normal(3))


# --- elliptic integrals ----------------------------------------------------------------------------------------------

for _f in (special.ellipk, special.ellipe, special.ellipkm1):
    example(_f, between(0.1, 0.9, 2, 3))
    example(_f, 0.4)
for _f in (special.ellipk, special.ellipe):
    example(_f, -1.3)
    example(_f, 1e-12)
for _f in (special.ellipkinc, special.ellipeinc):
    example(_f, between(0.1, 1.4, 3), 0.4)
    example(_f, between(0.1, 1.4, 2, 1), between(-0.9, 0.9, 3))


# --- powers and transformations of data; angles in degrees; losses ---------------------------------------------------

for _f in (special.exp10, special.cosm1, special.sindg, special.cosdg, special.tandg, special.cotdg):
    example(_f, between(0.2, 0.9, 2, 3))
    example(_f, 0.7)
example(special.radian, 3.0, between(0.4, 3.0, 3), between(0.4, 3.0, 2, 1))
example(transformations.bounded_log, between(0.4, 3.0, 3))
for _f in (special.powm1, special.boxcox, special.boxcox1p, special.inv_boxcox, special.inv_boxcox1p):
    example(_f, between(0.4, 3.0, 2, 3), 1.3)
    example(_f, between(0.4, 3.0, 2, 1), between(0.2, 0.9, 3))
    example(_f, 0.7, 0.4)
for _f in (special.boxcox, special.boxcox1p):
    example(_f, between(0.4, 3.0, 3), 0.0)
for _f in (special.huber, special.pseudo_huber):
    example(_f, 1.3, normal(2, 3))
    example(_f, between(0.4, 2.0, 2, 1), normal(3))
    example(_f, 0.7, 2.4)

# --- orthogonal polynomials ------------------------------------------------------------------------------------------

for _f in (special.eval_legendre, special.eval_chebyt, special.eval_chebyu, special.eval_laguerre, special.eval_hermite,
           special.eval_hermitenorm):  # fmt: skip
    for _n in (0, 1, 4):
        example(_f, _n, between(0.1, 0.9, 3))
    example(_f, np.array([[1], [3]]), between(-0.9, 0.9, 3))
    example(_f, 2, 0.3)
for _n in (0, 3):
    example(special.eval_gegenbauer, _n, 0.7, between(0.1, 0.9, 3))
    example(special.eval_genlaguerre, _n, 0.7, between(0.1, 0.9, 3))
    example(special.eval_jacobi, _n, 0.7, 1.3, between(0.1, 0.9, 3))

# --- spherical functions and counts ----------------------------------------------------------------------------------

for _f in (special.spherical_jn, special.spherical_yn, special.spherical_in, special.spherical_kn):
    example(_f, 2, between(0.4, 3.0, 2, 3))
    example(_f, np.array([0, 1, 3]), between(0.4, 3.0, 3), True)
    example(_f, 0, 0.7)
for _f in (special.jvp, special.yvp, special.ivp, special.kvp):
    example(_f, 2, between(0.4, 3.0, 2, 3))
    example(_f, 1.3, 0.7, 2)
example(special.comb, between(3.0, 5.0, 3), between(0.4, 2.0, 2, 3))
example(special.comb, 4.3, 1.7)
example(special.perm, between(3.0, 5.0, 3), between(0.4, 2.0, 2, 3))
example(special.factorial, between(0.4, 3.0, 2, 3))
example(special.factorial, 2.3)
