"""Calls that give a view or a copy, as their other arguments say; then the array, or what was made of it, is written.

def f(x):
    a = x * 1.5
    y = np.ravel(a, O)      # a copy where `O` is "F", and `a` lies row by row
    a[...] = 7.0
    return sum of y and a, weighted
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from judging import loaded

from s2sgrad import S2SGradError, jvp, value_and_grad
from s2sgrad.runtime.checks import Refusal

LAYOUTS = {"by rows": "a = x * 1.5", "by columns": "a = (x.T * 1.5).T"}
MADE = (
    "np.reshape(a, (4, 6), O)", "np.reshape(a, (4, 6), order=O)", "a.reshape(4, 6, order=O)", "np.ravel(a, O)", "a.ravel(O)",
    "a.ravel(order=O)", "np.ravel(*(a, O))", "np.ravel(a, **{'order': O})", "raveled(a, O)", "a.flatten(O)", "a.copy(O)",
    "a.T.ravel(O)", "a[:, ::2].reshape(-1)", "np.swapaxes(a, 0, 2).reshape(-1, 2)", "np.transpose(a, P)",
    "np.moveaxis(a, K, 1).reshape(-1)", "np.array(a, copy=C)", "np.array(a, D, copy=C)", "np.array(a, copy=C, order=O)",
    "np.array(a, **{'copy': C})", "a.astype(D, copy=C)", "a.astype(D, O, 'unsafe', True, C)", "np.nan_to_num(a, C)",
    "np.nan_to_num(a, copy=C)", "np.asarray(a, D)", "np.asarray(a, D, O)", "np.asanyarray(a, order=O)",
    "np.ascontiguousarray(a, D)", "np.asfortranarray(a, D)", "np.require(a, D, R)",
    "np.meshgrid(a[0, 0], a[0, 1], copy=C)[0]",
    "np.meshgrid(a[0, 0], a[0, 1], sparse=C, copy=False)[0]", "np.rot90(a, K)", "np.flip(a, K)", "np.swapaxes(a, K, 1)",
    "a[I]", "a[S]", "np.take(a, I, 0)", "np.broadcast_to(a, B)", "np.squeeze(a[:1], K)", "np.split(a, K + 1)[0]",
    "np.array_split(a, K + 1)[0]", "np.atleast_1d(a, a)[0]", "np.diagonal(a, K)", "a.view(D)", "np.real(a)", "a.T[K]",
    "a if C else a.copy()", "a.ravel() if C else a.flatten()", "flat_or_copy(a)", "[a, a * 1.0][K]",
    "{'C': a, 'F': a * 1.0}[O]", "getattr(a, N)()", "(a.ravel if C else a.flatten)()", "next(iter(a))", "np.einsum(E, a)",
    "np.multiply(a, 1.0, out=(a if C else None))", "np.clip(a, None, 9.0, out=(a if C else None))", "np.resize(a, B)",
)  # fmt: skip
WRITES = {"overwritten": "a[...] = 7.0", "scaled": "a *= 3.0", "made scaled": "y *= 2.0"}
SETTINGS = (
    {"O": "F", "C": True, "D": float, "R": "F", "K": 0, "P": (2, 0, 1), "I": [0, 1], "S": slice(None), "B": (2, 3, 4),
     "N": "flatten", "E": "ijk->kji"},
    {"O": "C", "C": False, "D": None, "R": None, "K": 1, "P": None, "I": 1, "S": slice(0, 1), "B": (1, 2, 3, 4),
     "N": "ravel", "E": "ijk->ijk"},
    {"O": "A", "C": None, "D": "float64", "R": "C", "K": 0, "P": (0, 1, 2), "I": np.array([True, False]),
     "S": (0, slice(1, 3)), "B": (2, 3, 4), "N": "copy", "E": "ijk->ij"},
    {"O": "K", "C": 0, "D": np.float64, "R": "W", "K": 0, "P": (1, 0, 2), "I": (0, 1), "S": (..., None), "B": (2, 3, 4),
     "N": "ravel", "E": "ijk"},
)  # fmt: skip
GIVEN = ("global", "parameter", "local", "constant")
X = np.linspace(0.3, 1.7, 24).reshape(2, 3, 4)
ALONG = np.cos(np.arange(24.0)).reshape(2, 3, 4)
HEAD = """
import numpy as np
O = C = D = R = K = P = I = S = B = N = E = None
def flat_or_copy(z): return z.ravel() if C else z.flatten()
def raveled(z, o): return z.ravel(o)
"""


def used(made: str) -> list[str]:
    return sorted({name for name in SETTINGS[0] if re.search(rf"\b{name}\b", made + " C" * ("flat_or" in made))})


CASES = [
    (layout, made, k, given, write)
    for layout, made, k, given, write in itertools.product(LAYOUTS, MADE, range(len(SETTINGS)), GIVEN, WRITES)
    if used(made) or (k == 0 and given == "global")
]


def program(layout: str, made: str, setting: int, given: str, write: str) -> tuple[str, list[object]]:
    """The text of a module with the function `f`, and its arguments behind `x`."""
    names, values = used(made), SETTINGS[setting]
    head = "".join(f", {name}" for name in names) if given == "parameter" else ""
    bound = "".join(f"    {name} = settings[{name!r}]\n" for name in names) if given == "local" else ""
    if given == "constant":
        made = re.sub(r"\b[OCKPEN]\b", lambda found: repr(values[found[0]]), made)
    text = (
        f"{HEAD}\ndef f(x{head}):\n    {LAYOUTS[layout]}\n{bound}    y = {made}\n    {WRITES[write]}\n"
        "    return np.sum(np.cos(np.arange(np.size(y)).reshape(np.shape(y))) * y) + np.sum(a * a)\n"
    )
    return text, [values[name] for name in names] if given == "parameter" else []


@pytest.mark.records
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(one_in=60)
@pytest.mark.parametrize(("layout", "made", "setting", "given", "write"), CASES)
def test_what_is_written(layout, made, setting, given, write):
    text, more = program(layout, made, setting, given, write)
    with loaded(text, "<copies or views>") as f:
        f.__globals__.update(SETTINGS[setting], settings=SETTINGS[setting])
        try:
            value = f(X, *more)
            slope = (f(X + 1e-6 * ALONG, *more) - f(X - 1e-6 * ALONG, *more)) / 2e-6
        except Exception:
            pytest.skip("raises")
        for forward in (False, True):
            try:
                if forward:
                    own, found = jvp(f, (X.copy(), *more), (ALONG, *[None] * len(more)))
                else:
                    own, gradient = value_and_grad(f)(X.copy(), *more)
                    found = np.sum(gradient * ALONG)
            except (S2SGradError, Refusal):
                continue
            assert own == pytest.approx(value, rel=1e-12)
            assert found == pytest.approx(slope, rel=1e-5, abs=1e-5)
