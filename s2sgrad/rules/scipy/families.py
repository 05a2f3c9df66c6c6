"""More continuous distributions of scipy.stats, each from the formula of its logarithmic density.

    family("powernorm", "log(c) - z ** 2 / 2.0 + (c - 1.0) * log_ndtr(-z)", level="c * log_ndtr(-z)")

    y = powernorm.logpdf(x, c, m, k)   ->   z = (x - m) / k;  c_bar = y_bar * (1 / c + log_ndtr(-z))
    y = powernorm.cdf(x, c, m, k)      ->   c_bar = y_bar * k * pdf * (slope of the level in c) / (that in z)

`formulas` differentiates the texts, and `laws` makes the rules.  What is constant may be left out of a density.  The *level*
is a function of the probability alone: z moves so that it stays as it is (the implicit function theorem).  A shift that is
known is given in its place, a text for each shape.  Without a formula calls are refused in a shape, by its name.

The densities are those of Johnson, Kotz and Balakrishnan (1994, 1995), "Continuous Univariate Distributions", under SciPy's
names; levels are logarithms of probabilities where that keeps the tails.
"""

from __future__ import annotations

from scipy import stats

from s2sgrad.rules.made import made
from s2sgrad.rules.scipy import formulas
from s2sgrad.rules.scipy.continuous import invgauss_shift_in_mu
from s2sgrad.rules.scipy.laws import law
from s2sgrad.rules.scipy.quantiles import beta_shift, gamma_shift, vonmises_shift
from s2sgrad.runtime import product

_USED = (beta_shift, gamma_shift, product, vonmises_shift, invgauss_shift_in_mu)
SPACE = formulas.SPACE | {"stats": stats, **{f.__name__: f for f in _USED}}


def family(
    name: str, density: str = "", level: str = "", shifts: tuple[str, ...] = (),
    score: str = "", slopes: tuple[str, ...] = (),
) -> None:  # fmt: skip
    """Enter the rules of a distribution, if SciPy has it: from its logarithmic density, "" where none is known, and its
    level, or its shifts.  `score` and `slopes` are those of the density in z and the shapes where it is no formula; a shape
    that is called z is z_."""
    distribution = getattr(stats, name, None)
    if distribution is None:
        return
    shapes = tuple((distribution.shapes or "").replace(",", " ").split())
    shapes = tuple("z_" if shape == "z" else shape for shape in shapes)
    facts = {"score": score or formulas.known_slope(density, "z", ("z", *shapes))}
    for k, shape in enumerate(shapes):
        facts[f"in_{shape}"] = slopes[k] if slopes else formulas.known_slope(density, shape, ("z", *shapes))
        if level:
            in_z, in_shape = (formulas.known_slope(level, of, ("z", *shapes)) for of in ("z", shape))
            facts[f"shift_in_{shape}"] = f"-over({in_shape}, {in_z})"
        elif shifts:
            facts[f"shift_in_{shape}"] = shifts[k]
    head = ", ".join(("z", *shapes))
    text = "\n\n".join(f"def {name}_{fact}({head}):\n    return {formula}\n" for fact, formula in facts.items() if formula)
    space = made(text, f"{__name__}.facts_of_{name}", SPACE)
    of = {fact: space.get(f"{name}_{fact}") for fact in facts}
    law(
        distribution,
        of["score"],
        tuple(of[f"in_{shape}"] for shape in shapes),
        tuple(of.get(f"shift_in_{shape}") for shape in shapes),
    )


# --- without shapes --------------------------------------------------------------------------------------------------

family("anglit", "log(np.cos(2.0 * z))")
family("arcsine", "-0.5 * log(z) - 0.5 * log(1.0 - z)")
family("cosine", "2.0 * log(np.cos(0.5 * z))")
family("gibrat", "-log(z) - 0.5 * log(z) ** 2")
family("hypsecant", "z + special.log_expit(-2.0 * z)")
family("levy", "-1.5 * log(z) - 0.5 / z")
family("levy_l", "-1.5 * log(-z) + 0.5 / z")
family("moyal", "-0.5 * (z + exp(-z))")
family("semicircular", "0.5 * log(1.0 - z ** 2)")
family("wald", "-1.5 * log(z) - 0.5 * (z - 1.0) ** 2 / z")

# --- powers and exponentials of simple variables ---------------------------------------------------------------------

family("bradford", "log(c) - log(1.0 + c * z) - log(special.log1p(c))", "log(special.log1p(c * z)) - log(special.log1p(c))")
family(
    "burr", "log(c) + log(d) - (c + 1.0) * log(z) + (d + 1.0) * special.log_expit(c * log(z))",
    "d * special.log_expit(c * log(z))",
)  # fmt: skip
family(
    "burr12", "log(c) + log(d) + (c - 1.0) * log(z) + (d + 1.0) * special.log_expit(-c * log(z))",
    "d * special.log_expit(-c * log(z))",
)  # fmt: skip
family("dweibull", "log(c) + (c - 1.0) * log(np.abs(z)) - power(np.abs(z), c)", shifts=("-product(z, log(np.abs(z))) / c",))
family("exponpow", "log(b) + (b - 1.0) * log(z) + power(z, b) - exp(power(z, b))", shifts=("-product(z, log(z)) / b",))
family(
    "exponweib", "log(a) + log(c) + (a - 1.0) * log_rest(power(z, c)) - power(z, c) + (c - 1.0) * log(z)",
    "a * log_rest(power(z, c))",
)  # fmt: skip
family("fisk", "log(c) - (c + 1.0) * log(z) + 2.0 * special.log_expit(c * log(z))", shifts=("-product(z, log(z)) / c",))
family("genlogistic", "log(c) - z + (c + 1.0) * special.log_expit(z)", "c * special.log_expit(z)")
family("gompertz", "log(c) + z - c * special.expm1(z)", "c * special.expm1(z)")
family(
    "genexpon", "log(a - b * special.expm1(-c * z)) - (a + b) * z - b * special.expm1(-c * z) / c",
    "-(a + b) * z - b * special.expm1(-c * z) / c",
)  # fmt: skip
family("invweibull", "log(c) - (c + 1.0) * log(z) - power(z, -c)", shifts=("-product(z, log(z)) / c",))
family(
    "kappa3", "log(a) + (1.0 / a + 1.0) * (special.log_expit(log(a) - a * log(z)) - log(a))",
    "special.log_expit(a * log(z) - log(a)) / a",
)  # fmt: skip
family(
    "mielke", "log(k) + (k - 1.0) * log(z) + (1.0 + k / s) * special.log_expit(-s * log(z))",
    "k / s * special.log_expit(s * log(z))",
)  # fmt: skip
family("loglaplace", "log(c) - log(z) - c * np.abs(log(z))", shifts=("-product(z, log(z)) / c",))
for _name in ("loguniform", "reciprocal"):
    family(_name, "-log(z) - log(log(b) - log(a))", "(log(z) - log(a)) / (log(b) - log(a))")
family("truncexpon", "-z - log_rest(b)", "log_rest(z) - log_rest(b)")
family("truncpareto", "log(b) - (b + 1.0) * log(z) - log_rest(b * log(c))", "log_rest(b * log(z)) - log_rest(b * log(c))")
family(
    "truncweibull_min",
    "log(c) + (c - 1.0) * log(z) - power(z, c) + power(a, c) - log_rest(power(b, c) - power(a, c))",
    "log_rest(power(z, c) - power(a, c)) - log_rest(power(b, c) - power(a, c))",
)
family(
    "laplace_asymmetric", "where(z < 0.0, z / kappa, -kappa * z) - log(kappa + 1.0 / kappa)",
    "where(z < 0.0, z / kappa + 2.0 * log(kappa), -kappa * z) - special.log1p(kappa ** 2)",
)  # fmt: skip
family(
    "trapezoid",
    "where(z < c, log(z) - log(c), where(z > d, log(1.0 - z) - log(1.0 - d), 0.0)) - log(1.0 + d - c)",
    "where(z > d, log(1.0 + d - c) + log(1.0 - d) - 2.0 * log(1.0 - z),"
    " where(z < c, z ** 2 / c, 2.0 * z - c) / (1.0 + d - c))",
)

# --- generalized extreme values --------------------------------------------------------------------------------------

family("genextreme", "(1.0 - c) * log_growth(-z, c) - exp(log_growth(-z, c))", "log_growth(-z, c)")
family("genpareto", "-(c + 1.0) * log_growth(z, c)", "log_growth(z, c)")
family("genhalflogistic", "(1.0 - c) * log_growth(-z, c) + 2.0 * special.log_expit(-log_growth(-z, c))", "log_growth(-z, c)")
family(
    "kappa4", "(1.0 - k) * log_growth(-z, k) + (1.0 - h) * log_growth(-exp(log_growth(-z, k)), h)",
    "log_growth(-exp(log_growth(-z, k)), h)",
)  # fmt: skip

# --- of the normal, and of Cauchy's distribution ---------------------------------------------------------------------

family(
    "alpha", "-2.0 * log(z) - special.log_ndtr(a) - 0.5 * (a - 1.0 / z) ** 2",
    "special.log_ndtr(a - 1.0 / z) - special.log_ndtr(a)",
)  # fmt: skip
_tail = "log(m / beta / (m - 1.0) * exp(-0.5 * beta ** 2) + 2.5066282746310002 * special.ndtr({}))"
_power = "(m / beta - beta - z)"
family(
    "crystalball",
    f"where(z > -beta, -0.5 * z ** 2, m * log(m / beta) - 0.5 * beta ** 2 - m * log({_power})) - {_tail.format('beta')}",
    "where(z > -beta, log(m / beta / (m - 1.0) * exp(-0.5 * beta ** 2) + 2.5066282746310002 * (special.ndtr(z)"
    f" - special.ndtr(-beta))), m * log(m / beta) - 0.5 * beta ** 2 - (m - 1.0) * log({_power}) - log(m - 1.0))"
    f" - {_tail.format('beta')}",
)
family(
    "exponnorm", "0.5 / K ** 2 - z / K - log(K) + special.log_ndtr(z - 1.0 / K)",  # its probability is ndtr(z) - K * density
    shifts=(f"1.0 + K * ({formulas.slope('0.5 / K ** 2 - z / K - log(K) + special.log_ndtr(z - 1.0 / K)', 'K', 'zK')})",),
)  # fmt: skip
family(
    "fatiguelife", "log(z + 1.0) - (z - 1.0) ** 2 / (2.0 * z * c ** 2) - log(c) - 1.5 * log(z)", "np.sinh(0.5 * log(z)) / c"
)
family("foldnorm", "-0.5 * (z - c) ** 2 - special.log_expit(2.0 * c * z)", shifts=("np.tanh(c * z)",))
family("foldcauchy", "log(1.0 / (1.0 + (z - c) ** 2) + 1.0 / (1.0 + (z + c) ** 2))", "np.arctan(z - c) + np.arctan(z + c)")
family("johnsonsb", "log(b) - log(z) - log(1.0 - z) - 0.5 * (a + b * (log(z) - log(1.0 - z))) ** 2",
       "a + b * (log(z) - log(1.0 - z))")  # fmt: skip
family("johnsonsu", "log(b) - 0.5 * log(1.0 + z ** 2) - 0.5 * (a + b * np.arcsinh(z)) ** 2", "a + b * np.arcsinh(z)")
family(
    "powerlognorm", "log(c) - log(z) - log(s) - 0.5 * (log(z) / s) ** 2 + (c - 1.0) * special.log_ndtr(-log(z) / s)",
    "c * special.log_ndtr(-log(z) / s)",
)  # fmt: skip
family("powernorm", "log(c) - 0.5 * z ** 2 + (c - 1.0) * special.log_ndtr(-z)", "c * special.log_ndtr(-z)")
family("recipinvgauss", "-0.5 * log(z) - (1.0 - mu * z) ** 2 / (2.0 * z * mu ** 2)",
       shifts=("-z * z * invgauss_shift_in_mu(1.0 / z, mu)",))  # fmt: skip
family("rice", "log(z) - 0.5 * (z ** 2 + b ** 2) + log_i0(z * b)", shifts=("log_i0_in_x(z * b)",))
family(
    "skewcauchy", "-log(1.0 + (z / (1.0 + a * np.sign(z))) ** 2)",
    "(1.0 + a * np.sign(z)) * np.arctan(z / (1.0 + a * np.sign(z))) - 1.5707963267948966 * a",
)  # fmt: skip

# --- of gamma and beta variables -------------------------------------------------------------------------------------

_argus = "log_gammainc(1.5, 0.5 * chi ** 2{})"
family(
    "argus", f"3.0 * log(chi) - {_argus.format('')} + log(z) + 0.5 * log(1.0 - z ** 2) - 0.5 * chi ** 2 * (1.0 - z ** 2)",
    f"{_argus.format(' * (1.0 - z ** 2)')} - {_argus.format('')}",
)  # fmt: skip
family(
    "betaprime", "(a - 1.0) * log(z) - (a + b) * special.log1p(z) - special.betaln(a, b)",
    shifts=("product(z, beta_shift(log(z), a, b))", "-product(z, beta_shift(-log(z), b, a))"),
)  # fmt: skip
family(
    "dgamma", "(a - 1.0) * log(np.abs(z)) - np.abs(z) - special.gammaln(a)",
    shifts=("product(z, gamma_shift(log(np.abs(z)), a))",),
)  # fmt: skip
family(
    "gengamma", "log(np.abs(c)) + (c * a - 1.0) * log(z) - power(z, c) - special.gammaln(a)",
    shifts=("product(z, gamma_shift(c * log(z), a)) / c", "-product(z, log(z)) / c"),
)  # fmt: skip
for _name in ("gennorm", "halfgennorm"):
    family(
        _name, "log(beta) - special.gammaln(1.0 / beta) - power(np.abs(z), beta)",
        shifts=("-product(z, log(np.abs(z)) + gamma_shift(beta * log(np.abs(z)), 1.0 / beta) / beta ** 2) / beta",),
    )  # fmt: skip
family(
    "jf_skew_t",
    "(a + 0.5) * special.log_expit(2.0 * np.arcsinh(z / np.sqrt(a + b))) - special.betaln(a, b) - 0.5 * log(a + b)"
    " + (b + 0.5) * special.log_expit(-2.0 * np.arcsinh(z / np.sqrt(a + b)))",
    shifts=(
        "0.5 * (z / (a + b) + np.sqrt(a + b + z ** 2) * beta_shift(2.0 * np.arcsinh(z / np.sqrt(a + b)), a, b))",
        "0.5 * (z / (a + b) - np.sqrt(a + b + z ** 2) * beta_shift(-2.0 * np.arcsinh(z / np.sqrt(a + b)), b, a))",
    ),
)
family(
    "nakagami", "nu * log(nu) - special.gammaln(nu) + (2.0 * nu - 1.0) * log(z) - nu * z ** 2",
    shifts=("0.5 * product(z, gamma_shift(log(nu * z ** 2), nu) - 1.0 / nu)",),
)  # fmt: skip
family("pearson3", score="-(0.5 * skew + z) / (1.0 + 0.5 * skew * z)")
family(
    "rdist", "(0.5 * c - 1.0) * log(1.0 - z ** 2) + (1.0 - c) * log(2.0) - special.betaln(0.5 * c, 0.5 * c)",
    shifts=("0.25 * (1.0 - z ** 2) * (beta_shift(log((1.0 + z) / (1.0 - z)), 0.5 * c, 0.5 * c)"
            " - beta_shift(log((1.0 - z) / (1.0 + z)), 0.5 * c, 0.5 * c))",),
)  # fmt: skip
family("vonmises_line", "kappa * np.cos(z) - log_i0(kappa)", shifts=("vonmises_shift(z, kappa)",))
family(
    "wrapcauchy",
    "log(1.0 - c ** 2) - log(1.0 + c ** 2 - 2.0 * c * np.cos(z))",
    shifts=("-2.0 * np.sin(z) / (1.0 - c ** 2)",),
)

# --- probabilities whose slopes in shapes have no formula ------------------------------------------------------------

family(
    "dpareto_lognorm",
    "log(a) + log(b) - log(a + b) - log(z) - 0.5 * ((log(z) - u) / s) ** 2 + {0} - special.log_expit({0} - {1})".format(
        *(f"(special.log_ndtr({x}) + 0.5 * ({x}) ** 2)" for x in ("(log(z) - u) / s - a * s", "(u - log(z)) / s - b * s"))
    ),
)
family("rel_breitwigner", "0.5 * log(1.0 + 1.0 / rho ** 2) - 0.5 * log(1.0 + np.sqrt(1.0 + 1.0 / rho ** 2))"
       " - log(1.0 + ((z - rho) * (z + rho) / rho) ** 2)")  # fmt: skip
family("genhyperbolic", "0.5 * p * log(a ** 2 - b ** 2) - (p - 0.5) * log(a) - log_kv(p, np.sqrt(a ** 2 - b ** 2)) + b * z"
       " + log_kv(p - 0.5, a * np.sqrt(1.0 + z ** 2)) + 0.5 * (p - 0.5) * log(1.0 + z ** 2)")  # fmt: skip
family("geninvgauss", "(p - 1.0) * log(z) - 0.5 * b * (z + 1.0 / z) - log_kv(p, b)")
family(
    "norminvgauss",
    "log(a) + np.sqrt(a ** 2 - b ** 2) + b * z + log_kv(1.0, a * np.sqrt(1.0 + z ** 2)) - 0.5 * log(1.0 + z ** 2)",
)
family("gausshyper", "(a - 1.0) * log(z) + (b - 1.0) * log(1.0 - z) - c * log(1.0 + z_ * z) - special.betaln(a, b)"
       " - log(special.hyp2f1(c, a, a + b, -z_))")  # fmt: skip
family("irwinhall", score="where(n > 1, over(stats.irwinhall.pdf(z, np.maximum(n - 1, 1))"
       " - stats.irwinhall.pdf(z - 1.0, np.maximum(n - 1, 1)), stats.irwinhall.pdf(z, n)), 0.0)")  # fmt: skip
for _name in ("ksone", "kstwo", "kstwobign", "landau", "studentized_range"):
    family(_name)

# --- noncentral ones: mixtures, the slope in `nc` leads to the next member (the same, chapters 29 to 31)

_next = "exp(stats.ncx2.logpdf(z, df + 2.0, nc) - stats.ncx2.logpdf(z, df, nc))"
family(
    "ncx2",
    score=f"over(0.5 * df - 1.0 + 0.5 * nc * {_next}, z) - 0.5",
    slopes=("", f"0.5 * {_next} - 0.5"),
    shifts=("", _next),
)
_next = "z * dfn / (dfn + 2.0), dfn + 2.0, dfd, nc)"
_more = f"over(dfn / (dfn + 2.0) * stats.ncf.pdf({_next}, stats.ncf.pdf(z, dfn, dfd, nc))"
family(
    "ncf",
    score=f"over(0.5 * dfn - 1.0 + 0.5 * nc * {_more} / (1.0 + dfn * z / dfd), z)"
    " - 0.5 * (dfn + dfd) * dfn / (dfd + dfn * z)",
    slopes=("", "", f"0.5 * {_more} - 0.5"),
    shifts=(
        "",
        "",
        f"0.5 * over(where(stats.ncf.cdf(z, dfn, dfd, nc) < 0.5, stats.ncf.cdf(z, dfn, dfd, nc) - stats.ncf.cdf({_next},"
        f" stats.ncf.sf({_next} - stats.ncf.sf(z, dfn, dfd, nc)), stats.ncf.pdf(z, dfn, dfd, nc))",
    ),
)
_next = (
    "exp(stats.nct.logpdf(z * np.sqrt(1.0 + 1.0 / df), df + 1.0, nc) - stats.nct.logpdf(z, df, nc)"
    " + 0.5 * log((df + 1.0) / df) - 0.5 * log(0.5 * df) + special.gammaln(0.5 * df + 0.5) - special.gammaln(0.5 * df))"
)
family(
    "nct", score=f"nc * {_next} - z * (df + 1.0 + z * nc * {_next}) / (df + z ** 2)",
    slopes=("", f"z * {_next} - nc"), shifts=("", f"((df + z ** 2) * {_next} - z * nc) / df"),
)  # fmt: skip

# --- from its quantiles ----------------------------------------------------------------------------------------------

_p, _q, _f = (f"stats.tukeylambda.{method}(z, lam)" for method in ("cdf", "sf", "pdf"))
_bend = f"(lam - 1.0) * (power({_p}, lam - 2.0) - power({_q}, lam - 2.0)) * {_f}"
_shift = " - ".join(f"log({p}) ** 2 * exprel_slope(lam * log({p}))" for p in (_p, _q))
_grown = " + ".join(f"power({p}, lam - 1.0) * log({p})" for p in (_p, _q))
family("tukeylambda", score=f"-{_bend} * {_f}", slopes=(f"{_f} * ({_bend} * ({_shift}) - ({_grown}))",), shifts=(_shift,))
