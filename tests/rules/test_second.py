"""Every rule compiled: the gradient of a function that calls the primitive, and the gradient of that, against differences.

def f(x0, x1):
    y = primitive(x0, x1, axis=0)
    return y * y
"""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from scipy import interpolate, signal, special, stats
from scipy.signal import windows

from s2sgrad import runtime
from s2sgrad.analysis.primitive_calls import Operation
from s2sgrad.rules import linalg
from s2sgrad.rules.scipy import differences, laws, resampling, rotations
from s2sgrad.rules.table import existing, lookup, rules
from s2sgrad.runtime import shadows
from s2sgrad.testing import check_grads

from .dear import case
from .examples import EXAMPLES, Example
from .test_laws import is_real, leaves, pullbacks, ruling, run

pytestmark = pytest.mark.filterwarnings("ignore:Some rows of `p` do not sum:FutureWarning")  # of differences

KEYWORDS = hasattr(Operation, "given")  # whether the compiler asks for the rules of keywords
LEFT_OUT = {
    scipy.linalg.cholesky_banded,  # counts of a loop, which the gradient of the gradient refuses
    windows.kaiser_bessel_derived,  # its squares add up to a constant
    signal.impulse,  # a store into what may be shared, which the gradient of the gradient refuses
    runtime.add_at,  # writes its argument
    runtime.restored,  # writes its argument
    shadows.shadow_of,  # gives a view of its last argument, which generated code alone writes
    shadows.put,  # the same in its derivative
    shadows.tangent_of,  # the same in its tangent
    shadows.refilled,  # writes its argument
    shadows.add_into,  # writes its argument
    runtime.seed_like,  # checks the shape of one
    stats.uniform.logpdf,  # flat in x
    stats.zipf.logpmf,  # by the zeta function, whose slope in the exponent is a difference
    stats.zipf.pmf,
    *(
        f for name, f in vars(differences).items() if "_in_" in name or name in ("zeta_slope", "zetac_slope")
    ),  # differences have none
    *(special.mathieu_a, special.mathieu_b, special.pro_cv, special.obl_cv, special.zeta, special.zetac),  # have such
    *(special.nctdtr, special.nctdtrit, special.nctdtridf, special.nctdtrinc, special.ncfdtr, special.ncfdtri),
    *(special.chndtr, special.chndtrix, special.chndtrinc, special.chndtridf),
    *existing(stats, "zscore", "gzscore"),  # the sum of their squares is constant
    interpolate.pchip_interpolate,  # has none in its data
    stats.ks_1samp,  # the density of the distribution of the statistic has none
    stats.kstest,
    resampling.slopes,  # the third derivative of an image in its coordinates
    resampling.unsloped,  # the same
    *(
        f
        for f in rules()
        if getattr(f, "__name__", "") in (*laws.MOMENTS, "stats")
        and isinstance(getattr(f, "__self__", None), stats.rv_continuous)
    ),
    laws.moment_slope,  # is a difference, as those before have
    linalg.cofactors,  # the third derivative of a determinant needs a regular matrix
    *(rotations.of_rotvec, rotations.of_quat, rotations.of_euler),  # columns of length 1, as the next
    *(scipy.linalg.null_space, scipy.linalg.orth),  # columns of length 1: the sum of their squares is constant
}
if not KEYWORDS:
    LEFT_OUT |= {np.cross}  # its result on small samples has another rank


def told_apart(e: Example, pullback: Any) -> Any:
    """What tells a pullback from others: of those that are made of facts about a distribution, all but its name, where the
    facts are seen in others of it."""
    law = getattr(getattr(e.primitive, "__self__", None), "name", "")
    made = pullback.__module__.endswith(f".{law}")
    if made and e.primitive.__name__ not in ("logpdf", "cdf"):
        return pullback.__name__.removeprefix(law), pullback.__code__.co_argcount
    return e.primitive, pullback


@functools.cache
def shown() -> list[Any]:
    """The first examples that bring a pullback, or two of them, not seen before."""
    cases, seen = [], set()
    for e in EXAMPLES:
        found = {told_apart(e, p) for rule in ruling(e) for p in pullbacks(rule, e)} - seen
        if not found or e.primitive in LEFT_OUT:
            continue
        if any(is_real(leaf) for leaf in leaves(list(e.args))) and any(is_real(leaf) for leaf in leaves(run(e))):
            seen |= found
            cases.append(case(e, str(e)))
    return cases


def squares(value: Any, text: str) -> str:
    """The source of all leaves of `value`, squared, but for infinite ones."""
    if isinstance(value, (list, tuple)):
        return "(" + "".join(f"{squares(item, f'{text}[{k}]')}, " for k, item in enumerate(value)) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {squares(item, f'{text}[{key!r}]')}" for key, item in value.items()) + "}"
    return "0.0" if value is None or (is_real(value) and np.any(np.isinf(value))) else f"{text} * {text}"


def calling(e: Example, whole: bool = False, numbers: bool = False) -> tuple[Callable[..., Any], list[Any]]:
    """A function with source that calls the primitive, and its arguments: those that carry derivatives.

    It returns the squares of the result, or the `whole` of it; `numbers`: those are constants of its text.
    """
    rule, space, given, values = lookup(e.primitive), {"primitive": e.primitive}, [], []
    names = list(inspect.signature(rule.pullback).parameters)[2:]
    for k, value in enumerate([*e.args, *e.keywords.values()]):
        keyword = list(e.keywords)[k - len(e.args)] if k >= len(e.args) else None
        with_rule = {*rule.differentiable, *(rule.keyword_rules if KEYWORDS else ())} - rule.constants.keys()
        wanted = rule.variadic or (keyword or names[k]) in with_rule
        text = f"x{k}"
        written = numbers and isinstance(value, float) and np.isfinite(value)
        if wanted and not written and any(is_real(leaf) for leaf in leaves(value)):
            values.append((text, value))
        elif (
            written
            or value is None
            or isinstance(value, (bool, int, str))
            or (isinstance(value, tuple) and not any(isinstance(leaf, np.ndarray) for leaf in leaves(value)))
        ):
            text = repr(float(value) if written else value)
        else:
            space[text] = value
        given.append(f"{keyword}={text}" if keyword else text)
    text = f"def f({', '.join(name for name, _ in values)}):\n    y = primitive({', '.join(given)})\n"
    text += f"    return {'y' if whole else squares(run(e), 'y')}\n"
    filename = f"<{'value' if whole else 'squares'} of {e}{' of numbers' if numbers else ''}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), space)
    return space["f"], [value for _, value in values]


@pytest.mark.sampled(one_in=60)
@pytest.mark.parametrize("e", shown())
def test_twice(e):
    f, args = calling(e)
    check_grads(f, args, order=2, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(one_in=3)
def test_einsum_three_times():
    a, b, c = (np.linspace(0.1, 0.9, 4).reshape(2, 2) * k for k in (1.0, -0.7, 0.4))
    check_grads(lambda x, y, z: np.einsum("ij,jk,kl->il", x * x, y, z), (a, b, c), order=3, rtol=1e-4, atol=1e-4)


def stores(x):
    d = {"a": x}
    d["b"] = np.reshape(x * x * x, (2, 2))
    d["a"] = d["b"].T * 2.0
    return np.sum(d["a"] * d["b"])


def test_stores_into_a_dict():
    check_grads(stores, (np.linspace(0.3, 0.9, 4),), order=2, rtol=1e-4, atol=1e-5)
