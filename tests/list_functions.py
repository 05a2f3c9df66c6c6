"""The list of functions with a derivative, made from the table of rules.

python tests/list_functions.py        writes docs/functions.md anew
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
import types
from collections import defaultdict
from typing import Any

from scipy import interpolate, linalg, signal, stats

from s2sgrad.api import whole
from s2sgrad.ir import relatives
from s2sgrad.rules.scipy import differences, laws
from s2sgrad.rules.table import Rule, flats, given_before, rules

assert whole
FILE = pathlib.Path(__file__).parent.parent / "docs" / "functions.md"
POINTS = FILE.parent / "singular-points.md"
HEAD = """# Functions with a derivative

Written by `tests/list_functions.py` from the table of rules. Every function here works in both modes. A function that is not
here is refused where it carries a derivative (`NoRule`). The error names the nearest relative, and the lines that give the
function a rule ([your-own-rules.md](your-own-rules.md)).

- *in*: the arguments that may carry a derivative; in brackets those with a default. Any other argument is a constant.
- *orders*: empty where the function works at every order; 1 where its slope is a difference, or is not differentiated again.
- *at*: "see" where [singular-points.md](singular-points.md) says what the derivative is at kinks, ties or zeros.
- *complex*: whether complex numbers may be differentiated ([complex.md](complex.md)).
- *not*: which calls are refused, and what to do instead.

A function that is handed over (`f`, `func`, `fun`, ..) carries the derivatives of what it closes over: those of solvers,
integrals and expectations. Which of them take complex numbers is in [complex.md](complex.md).

Operators and methods of arrays follow the functions: `x @ y` is `np.matmul(x, y)`. Of what a class or a frozen distribution
makes, the calls have rules: `CubicSpline(x, y)(t)`, `norm(m, s).logpdf(x)`, `splu(A).solve(b)`. What is missing is in
`tests/coverage.txt`, and of SciPy in `tests/coverage_scipy.txt`.
"""


CALLED = (types.FunctionType, types.MethodType)
HOMES = {"np": "numpy", "scipy": "scipy", "distance": "scipy.spatial.distance"}
HOMES |= {name: f"scipy.{name}" for name in ("special", "stats", "linalg", "ndimage", "interpolate", "signal", "optimize")}
SINGULAR = {
    f"{HOMES[first]}.{rest}" for first, rest in re.findall(rf"\b({'|'.join(HOMES)})\.([\w.]*\w)", POINTS.read_text())
}
ONCE = (
    stats.zipf.pmf,
    stats.zipf.logpmf,
    interpolate.pchip_interpolate,
    signal.impulse,
    linalg.cholesky_banded,
    signal.lp2bp_zpk,
    signal.lp2bs_zpk,
)


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def given(rule: Rule) -> str:
    if rule.given is not None:  # a solver
        spec = rule.given
        moving = [name for name, vjp in spec.vjps.items() if vjp is not None and vjp.__name__ != "unmoved_vjp"]
        return ", ".join(name if spec.defaults.get(name) is inspect.Parameter.empty else f"[{name}]" for name in moving)
    names = ["*args"] if rule.variadic else [n for n in rule.differentiable if n not in rule.constants]
    return ", ".join([*names, *(f"[{n}]" for n in rule.keyword_rules)])


def once(rule: Rule) -> bool:
    """Whether a rule is not differentiated again: its slope is a difference."""
    moments = isinstance(getattr(rule.primitive, "__self__", None), stats.rv_continuous)
    moments = moments and rule.primitive.__name__ in laws.MOMENTS
    return rule.pullback.__module__ == differences.__name__ or moments or rule.primitive in ONCE


def row(name: str, rule: Rule, module: str) -> str:
    refused = dict.fromkeys(why for _, why in rule.refusals)
    refused |= {} if rule.given is not None else dict.fromkeys(rule.constants.values())
    orders, at = "1" if once(rule) else "", "see" if f"{module}.{name}" in SINGULAR else ""
    parts = [f"`{name}`", given(rule), orders, at, "yes" if rule.complex else "", "; ".join(refused)]
    return "| " + " | ".join(map(cell, parts)) + " |"


def by_module(primitives: Any) -> dict[str, list[tuple[str, Any]]]:
    found = defaultdict(list)
    for primitive in primitives:
        name = relatives.full_name(primitive)
        if name:
            module = next(m for m in sorted(relatives.MODULES, key=len, reverse=True) if name.startswith(m + "."))
            found[module].append((name.removeprefix(module + "."), primitive))
    return {module: sorted(found[module], key=lambda pair: pair[0]) for module in relatives.MODULES if module in found}


def solvers(module: str) -> dict[Any, Rule]:
    """The public functions of a module that are handed functions, and the expectations of its distributions."""
    found = [value for name, value in vars(importlib.import_module(module)).items() if not name.startswith("_")]
    found += [value.expect for value in found if isinstance(value, (stats.rv_continuous, stats.rv_discrete))]
    each = {value: given_before(value) for value in found if callable(value) and isinstance(value, CALLED)}
    return {value: rule for value, rule in each.items() if rule is not None}


def text() -> str:
    for module in relatives.MODULES:
        importlib.import_module(module)
    table = {**rules()}
    for module in relatives.MODULES:
        table |= solvers(module) if module.startswith("scipy") else {}
    lines, constant = [HEAD], by_module(flats())
    for module, own in by_module(table).items():
        lines += [f"## {module}", "", "| function | in | orders | at | complex | not |", "|---|---|---|---|---|---|"]
        lines += [row(name, table[primitive], module) for name, primitive in own if given(table[primitive])]
        if flat := constant.pop(module, None):
            lines += [
                "",
                "Constant between jumps, so that the derivative is 0: " + ", ".join(f"`{n}`" for n, _ in flat) + ".",
            ]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    FILE.write_text(text())
