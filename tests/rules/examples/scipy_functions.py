"""The functions of scipy.special that are integrals, probabilities, inverses, or solve differential equations."""

from __future__ import annotations

import numpy as np
from scipy import special

from s2sgrad.rules.scipy import differences, elliptic
from s2sgrad.rules.table import existing

from .base import example, younger

X, Q = np.array([[0.31], [2.1]]), np.array([0.15, 0.52, 0.83])
A, B = np.array([2.3]), np.array([[1.4], [0.8]])

# --- incomplete gamma and beta functions, their probabilities and inverses -----------------------------------------------

for _f in (special.gammainc, special.gammaincc):
    example(_f, A, X)
    example(_f, 2.3, 0.7)
for _f in (special.gammaincinv, special.gammainccinv, special.chdtri):
    example(_f, A, Q)
for _f in (special.chdtr, special.chdtrc):
    example(_f, A, X)
example(special.chdtriv, Q, 2.1 * A)
for _f in (special.gdtr, special.gdtrc):
    example(_f, A, B, Q)
example(special.gdtrix, A, B, Q)
example(special.gdtria, Q, B, A)
example(special.gdtrib, B, Q, A)
for _f in (special.pdtr, special.pdtrc, special.pdtri):
    example(_f, 2, Q)
example(special.pdtrik, Q + 0.1, 3.3 * A)
for _f in (special.betainc, special.betaincc, special.betaincinv, special.betainccinv):
    example(_f, A, B, Q)
    example(_f, 2.3, 0.7, 0.4)
example(special.btdtria, Q, B, np.array([0.6]))
example(special.btdtrib, B, Q, np.array([0.6]))
for _f in (special.fdtr, special.fdtrc, special.fdtri):
    example(_f, A, 3.0 * B, Q)
example(special.stdtr, A, X - 1.0)
example(special.stdtrit, A, Q)
example(special.stdtridf, np.array([0.8, 0.83]), np.array([1.1]))
for _f in (special.bdtr, special.bdtrc, special.bdtri, special.nbdtr, special.nbdtrc, special.nbdtri):
    example(_f, 2, 5, Q)
for _f in (special.bdtrik, special.nbdtrik):
    example(_f, Q, 3.0 * A, np.array([0.4]))
for _f in (special.bdtrin, special.nbdtrin):
    example(_f, A, Q, np.array([0.4]))
example(special.chndtr, X, A, B)
example(special.chndtrix, Q, A, B)
example(special.chndtrinc, A, 1.1 * A, np.array([0.3, 0.4]))
example(special.chndtridf, np.array([1.3, 3.1]), np.array([0.3]), np.array([0.7]))
example(special.ndtri_exp, -X)
example(special.nrdtrimn, Q, 1.3 * A, X)
example(special.nrdtrisd, X, Q + 0.06, A)

# --- slopes by differences -----------------------------------------------------------------------------------------------

for _f in (special.mathieu_a, special.mathieu_b):
    example(_f, 2, Q)
for _f in (special.pro_cv, special.obl_cv):
    example(_f, 1, 3, Q)
example(special.zeta, 1.2 + X, A)
example(special.zetac, 1.2 + X)
for _f in (special.nctdtr, special.nctdtrit):
    example(_f, A, B, Q)
example(special.nctdtrinc, A, Q, np.array([0.9]))
for _f in (special.ncfdtr, special.ncfdtri):
    example(_f, A, 3.0 * B, np.array([0.7]), Q)
SLOPES = [(differences.mathieu_a_in_q, 2, Q), (differences.mathieu_b_in_q, 2, Q), (differences.pro_cv_in_c, 1, 3, Q)]
SLOPES += [(differences.obl_cv_in_c, 1, 3, Q), (differences.zeta_slope, 2.1, 1.3), (differences.chndtr_in_df, Q, A, B)]
for _f in (differences.nctdtr_in_df, differences.nctdtr_in_nc, differences.nctdtr_in_t):
    SLOPES.append((_f, A, B, Q))
for _f in (differences.ncfdtr_in_dfn, differences.ncfdtr_in_dfd, differences.ncfdtr_in_nc, differences.ncfdtr_in_f):
    SLOPES.append((_f, A, B, A, Q))
SLOPES.append((differences.zetac_slope, 2.1))
for _slope in SLOPES:
    example(*_slope)

# --- integrals -----------------------------------------------------------------------------------------------------------

for _f in (special.sici, special.shichi, special.fresnel, special.spence, special.itj0y0, special.iti0k0, special.it2j0y0,
           special.it2i0k0, special.it2struve0, special.itmodstruve0, special.itairy, special.kolmogorov,
           special.airy, special.airye, special.ber, special.bei, special.ker, special.kei, special.berp, special.beip,
           special.kerp, special.keip, special.wrightomega, younger(special, "softplus")):  # fmt: skip
    example(_f, X)
    example(_f, 0.7)
example(special.airy, -X)
example(special.spence, np.array([1.0, 30.0]))
example(special.kolmogi, Q)
example(special.smirnov, 5, Q)
example(special.smirnovi, 5, Q)
example(special.diric, X, 4)
example(special.diric, 0.0, 3)
example(special.voigt_profile, X - 1.0, B, Q)
example(special.owens_t, X - 1.0, Q)
example(special.besselpoly, X, 1.3, 0.7)
example(special.agm, X, A)
example(special.agm, 1.3, 1.3)

# --- with their slopes ---------------------------------------------------------------------------------------------------

for _f in (special.pbdv, special.pbvv, special.pbwa):
    example(_f, 0.7, X)
for _f in (special.pbdv_seq, special.pbvv_seq):
    example(_f, 3.7, 0.6)
    example(_f, 0, 0.6)
for _f in (special.riccati_jn, special.riccati_yn):
    example(_f, 3, 0.6)
for _f in existing(special, "legendre_p", "legendre_p_all"):
    example(_f, 3, Q)
    example(_f, 3, 0.7)
    example(_f, 3, 0.4, diff_n=1)
for _f in existing(special, "assoc_legendre_p", "assoc_legendre_p_all", "sph_legendre_p", "sph_legendre_p_all"):
    example(_f, 3, 2, Q)
    example(_f, 3, 2, 0.7)
    example(_f, 3, 2, 0.4, diff_n=1)
for _f in (special.mathieu_cem, special.mathieu_sem):
    example(_f, 2, 0.7, 30.0 * X)
for _f in (special.mathieu_modcem1, special.mathieu_modcem2, special.mathieu_modsem1, special.mathieu_modsem2):
    example(_f, 2, 0.7, X)
for _f in (special.pro_ang1, special.obl_ang1, special.obl_rad1):
    example(_f, 1, 3, 0.7, Q)
for _f, _value in ((special.pro_ang1_cv, special.pro_cv), (special.obl_ang1_cv, special.obl_cv)):
    example(_f, 1, 3, 0.7, float(_value(1, 3, 0.7)), Q)
example(special.pro_rad1_cv, 1, 2, 1.7, float(special.pro_cv(1, 2, 1.7)), 1.8 + Q)
example(special.obl_rad1_cv, 1, 3, 0.7, float(special.obl_cv(1, 3, 0.7)), Q)
example(special.pro_rad2, 0, 1, 2.4, 1.2 + Q)
example(special.pro_rad2_cv, 0, 1, 2.4, float(special.pro_cv(0, 1, 2.4)), 1.2 + Q)
for _value in ((), (float(special.obl_cv(1, 3, 2.4)),)):
    example(special.obl_rad2_cv if _value else special.obl_rad2, 1, 3, 2.4, *_value, 1.7 + Q)
example(special.pro_rad1, 1, 2, 1.7, 1.8 + Q)

# --- Bessel functions and hypergeometric functions -------------------------------------------------------------------------

for _f in (special.jve, special.yve, special.struve, special.modstruve, special.hyp0f1):
    example(_f, 0.7, X)
example(special.kn, 2, X)
example(special.hyp2f1, 0.4, 1.3, 2.2, Q)
for _f in (special.hyperu, special.wright_bessel, *existing(special, "log_wright_bessel")):
    example(_f, 0.4, 1.3, X)

# --- elliptic integrals, polynomials, transformations ----------------------------------------------------------------------

for _f in (special.ellipkinc, special.ellipeinc):
    example(_f, np.array([[-0.4], [4.0]]), Q)
    example(_f, 0.7, 0.4)
    example(_f, np.array([0.4, 2.0]), np.array([0.0, -1.3]))
for _k, _n in ((1, 1), (1, 3), (2, 5)):
    example(elliptic.legendre, _k, _n, np.array([[-0.4], [4.0]]), Q)
    example(elliptic.legendre, _k, _n, 0.5 * np.pi, 0.4)
    example(elliptic.complete, _k, _n, Q)
example(elliptic.carlson, 1.5, 0.5, 0.5, 1.0, Q, A, B, 0.6)
example(elliptic.carlson, 0.5, 0.0, 2.5, 0.0, Q, A, B, 0.6, Q > 0.5)
example(special.ellipj, X, Q)
example(special.elliprf, Q, A, B)
example(special.elliprc, Q, A)
for _f in (special.elliprd, special.elliprg, special.elliprf):
    example(_f, Q, A, B)
    example(_f, Q, A, Q)
    example(_f, A, Q, 1.0001 * Q)
    example(_f, Q, Q, Q)
example(special.elliprc, Q, Q)
example(special.elliprj, Q, A, B, Q)
example(special.elliprj, Q, A, B, 1.001 * A)
example(special.elliprj, Q, Q, Q, Q)
example(special.elliprj, Q, A, B, np.array([0.6]))
for _f in (special.eval_chebyc, special.eval_chebys, special.eval_sh_chebyt, special.eval_sh_chebyu,
           special.eval_sh_legendre):  # fmt: skip
    for _n in (0, 1, 4):
        example(_f, _n, Q)
example(special.eval_sh_jacobi, 3, 2.3, 1.1, Q)
example(special.lpmv, 1, 3, Q)
example(special.lpmv, 2, 2.7, Q)
for _f in (special.inv_boxcox, special.inv_boxcox1p, special.tklmbda):
    example(_f, X - 0.2, np.array([0.4, 0.3]))
example(special.poch, X, Q)
