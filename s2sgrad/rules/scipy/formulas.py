"""The slopes of a formula that is given as a text: of densities, which are many, and alike.

    slope("c * log(z) + exp(z)", "z", "cz")     ->     "c * over(1.0, z) + exp(z)"

A formula has numbers, names, the four operations, powers whose exponents are numbers, and the functions of `SLOPES`.  Those
of the support alone are silent outside of it; so is `over`, which stands for a quotient.  Where no formula is known for the
slope of a function in an argument, there is none of the whole (`Unknown`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import special

from s2sgrad.rules.scipy.differences import zeta_slope
from s2sgrad.rules.scipy.quantiles import log
from s2sgrad.rules.table import flat
from s2sgrad.runtime import over

# --- the functions of formulas ---------------------------------------------------------------------------------------


def exp(x):
    """The exponential, in silence."""
    return special.inv_boxcox(x, 0.0)


def power(x, y):
    """`x ** y`, in silence: for bases that are at least 0."""
    return exp(special.xlogy(y, x))


def whole(n):
    """The order that SciPy computes with: it cuts off the fractions of orders, degrees and counts.

    >>> float(whole(2.5)), float(whole(-0.7))
    (2.0, -0.0)
    """
    return np.trunc(n)


flat(whole)


def exprel_slope(x):
    """The slope of `special.exprel`; far from 0, where its series may never end, nothing cancels.

    >>> float(exprel_slope(0.0)), float(exprel_slope(-np.inf))
    (0.5, 0.0)
    """
    is_near = np.abs(x) < 20.0
    far = np.where(is_near, 20.0, x)
    near = 0.5 * special.hyp1f1(2.0, 3.0, np.where(is_near, x, 0.0))
    return np.where(is_near, near, np.exp(far) * ((1.0 - 1.0 / far) / far) + 1.0 / (far * far))


def mills(u):
    """The density of the normal distribution divided by its probability, at u.

    >>> float(mills(-1e6)) == 1e6 + 1e-6
    True
    """
    return math.sqrt(2.0 / math.pi) / special.erfcx(-u / math.sqrt(2.0))


def normal(u):
    """The density of the normal distribution."""
    return exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)


def log_rest(t):
    """The logarithm of 1 - exp(-t)."""
    return np.where(np.less(t, 0.7), log(-special.expm1(-t)), special.log1p(-exp(-t)))[()]


def log_growth(z, c):
    """log(1 + c * z) / c, which is z where c is 0."""
    return z * special.hyp2f1(1.0, 1.0, 2.0, -c * z)


def log_growth_in_c(z, c):
    return -0.5 * z * z * special.hyp2f1(2.0, 2.0, 3.0, -c * z)


def log_gammainc(a, x):
    """The logarithm of `special.gammainc`."""
    return log(special.gammainc(a, x))


def log_gammainc_in_x(a, x):
    return over(exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a)), special.gammainc(a, x))


def log_kv(v, x):
    """The logarithm of `special.kv`."""
    return log(special.kve(v, x)) - x


def log_kv_in_x(v, x):  # DLMF 10.29.2
    return -over(special.kve(v - 1.0, x), special.kve(v, x)) - over(v, x)


def log_i0(x):
    """The logarithm of `special.i0`, for numbers that are at least 0."""
    return log(special.i0e(x)) + x


def log_i0_in_x(x):
    return over(special.i1e(x), special.i0e(x))


def log_iv(v, x):
    """The logarithm of `special.iv`, for numbers that are at least 0."""
    return log(special.ive(v, x)) + x


def log_iv_in_x(v, x):  # DLMF 10.29.2
    return over(special.ive(v + 1.0, x), special.ive(v, x)) + over(v, x)


def log_zeta(x):
    """The logarithm of Riemann's zeta function."""
    return log(special.zeta(x, 1.0))


def log_zeta_in_x(x):
    return over(zeta_slope(x, 1.0), special.zeta(x, 1.0))


def where(condition, x, y):
    """`np.where`, of numbers a number."""
    return np.where(condition, x, y)[()]


# The slope of each function in each argument, of which the texts stand in for {0} and {1}; "" where no formula is known.
SLOPES = {
    "log": ("over(1.0, {0})",),
    "exp": ("exp({0})",),
    "special.expm1": ("exp({0})",),
    "special.log1p": ("over(1.0, 1.0 + {0})",),
    "power": ("{1} * power({0}, {1} - 1.0)", "special.xlogy(power({0}, {1}), {0})"),
    "special.log_expit": ("special.expit(-{0})",),
    "log_rest": ("over(1.0, special.expm1({0}))",),
    "log_growth": ("over(1.0, 1.0 + {0} * {1})", "log_growth_in_c({0}, {1})"),
    "special.ndtr": ("normal({0})",),
    "special.log_ndtr": ("mills({0})",),
    "special.gammaln": ("special.digamma({0})",),
    "special.betaln": (
        "(special.digamma({0}) - special.digamma({0} + {1}))",
        "(special.digamma({1}) - special.digamma({0} + {1}))",
    ),
    "special.hyp2f1": ("", "", "", "{0} * {1} / {2} * special.hyp2f1({0} + 1.0, {1} + 1.0, {2} + 1.0, {3})"),
    "log_gammainc": ("", "log_gammainc_in_x({0}, {1})"),
    "log_kv": ("", "log_kv_in_x({0}, {1})"),
    "log_i0": ("log_i0_in_x({0})",),
    "log_iv": ("", "log_iv_in_x({0}, {1})"),
    "log_zeta": ("log_zeta_in_x({0})",),
    "np.abs": ("np.sign({0})",),
    "np.cos": ("-np.sin({0})",),
    "np.sin": ("np.cos({0})",),
    "np.sinh": ("np.cosh({0})",),
    "np.arctan": ("1.0 / (1.0 + ({0}) ** 2)",),
    "np.arcsinh": ("1.0 / np.sqrt(1.0 + ({0}) ** 2)",),
    "np.sqrt": ("over(0.5, np.sqrt({0}))",),
    "np.sign": ("0.0",),
}
SPACE = {f.__name__: f for f in vars().copy().values() if getattr(f, "__module__", "") == __name__}
SPACE |= {"log": log, "over": over, "zeta_slope": zeta_slope, "special": special, "np": np}

# --- their slopes ------------------------------------------------------------------------------------------------------


class Unknown(Exception):
    """No formula is known for a slope."""


@dataclass(frozen=True)
class Term:
    """The text of a part of a formula, and that of its slope, "" where it is 0."""

    text: str
    slope: str = ""

    def filled(self, text: str, own: str, *others: tuple[str, Any]) -> Term:
        """A text, and the sum of the slopes in its parts, each of which is a text with {} for the slope of the part."""
        slopes = [times(outer, term_of(part).slope) for outer, part in ((own, self), *others) if term_of(part).slope]
        return Term(f"({text})", f"({' + '.join(slopes)})" if slopes else "")

    def __neg__(self) -> Term:
        return self.filled(f"-{self.text}", "-{}")

    def __add__(self, other: Any) -> Term:
        return self.filled(f"{self.text} + {term_of(other).text}", "{}", ("{}", other))

    def __sub__(self, other: Any) -> Term:
        return self + -term_of(other)

    def __mul__(self, other: Any) -> Term:
        return self.filled(
            f"{self.text} * {term_of(other).text}", f"{{}} * {term_of(other).text}", (f"{self.text} * {{}}", other)
        )

    def __truediv__(self, other: Any) -> Term:
        below = term_of(other).text
        return self.filled(
            f"{self.text} / {below}", f"over({{}}, {below})", (f"-over({self.text} * {{}}, {below} ** 2)", other)
        )

    def __pow__(self, n: int) -> Term:
        return self.filled(f"{self.text} ** {n}", f"{float(n)} * {self.text} ** {n - 1} * {{}}")

    def __radd__(self, other: float) -> Term:
        return term_of(other) + self

    def __rsub__(self, other: float) -> Term:
        return term_of(other) - self

    def __rmul__(self, other: float) -> Term:
        return term_of(other) * self

    def __rtruediv__(self, other: float) -> Term:
        return term_of(other) / self

    def __lt__(self, other: Any) -> Term:
        return Term(f"({self.text} < {term_of(other).text})")

    def __gt__(self, other: Any) -> Term:
        return Term(f"({self.text} > {term_of(other).text})")


def times(text: str, slope: str) -> str:
    """A text with a slope in the place of {}, of which a factor of 1 is left out.

    >>> times("{} * c", "1.0"), times("-{}", "1.0"), times("{} * c", "(a * b)")
    ('c', '-1.0', '(a * b) * c')
    """
    if slope == "1.0":
        text = text.removeprefix("{} * ").removesuffix(" * {}")
    return text.replace("{}", slope)


def term_of(x: Any) -> Term:
    return x if isinstance(x, Term) else Term(repr(x))


def of_terms(function: str, slopes: tuple[str, ...]) -> Callable[..., Term]:
    """A function of terms: it writes its call, and its slope from those in its arguments."""

    def written(*args: Any) -> Term:
        terms = [term_of(arg) for arg in args]
        texts = [term.text for term in terms]
        found = []
        for term, slope in zip(terms, slopes, strict=True):
            if term.slope and not slope:
                raise Unknown
            if term.slope and slope != "0.0":
                found.append(times(f"{slope.format(*texts)} * {{}}", term.slope))
        return Term(f"{function}({', '.join(texts)})", f"({' + '.join(found)})" if found else "")

    return written


def where_of_terms(condition: Any, x: Any, y: Any) -> Term:
    terms = [term_of(x), term_of(y)]
    slope = f"where({condition.text}, {terms[0].slope or 0.0}, {terms[1].slope or 0.0})"
    return Term(f"where({condition.text}, {terms[0].text}, {terms[1].text})", slope if any(t.slope for t in terms) else "")


_OF_TERMS: dict[str, Any] = {f: of_terms(f, slopes) for f, slopes in SLOPES.items()} | {"where": where_of_terms}
for _module in ("np", "special"):
    _own = {f.split(".")[1]: written for f, written in _OF_TERMS.items() if f.startswith(f"{_module}.")}
    _OF_TERMS[_module] = SimpleNamespace(**_own)


def slope(formula: str, name: str, names: Iterable[str]) -> str:
    """The slope of a formula in one of its names.

    >>> slope("special.log_expit(c * log(z))", "c", "cz"), slope("3.0 * c", "z", "cz")
    ('(special.expit(-(c * log(z))) * (log(z)))', '0.0')
    """
    terms = {other: Term(other, "1.0" if other == name else "") for other in names}
    return term_of(eval(formula, _OF_TERMS | terms)).slope or "0.0"


def known_slope(formula: str, name: str, names: Iterable[str]) -> str:
    """The slope of a formula in one of its names, "" where none is known, or no formula.

    >>> known_slope("log_kv(p, z)", "p", "pz")
    ''
    """
    try:
        return slope(formula, name, names) if formula else ""
    except Unknown:
        return ""
