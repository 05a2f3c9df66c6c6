"""Library functions that are given lists and tuples of what carries derivatives: right, or an error that names the line.

np.split([x[0], x[1]], 2), np.sum([[x[0], x[1]], [x[2], x[3]]]), np.std(Row([x[0], x[1]]))
"""

from __future__ import annotations

import copy
import types

import numpy as np
import pytest
from differences import leaves
from rules.dear import case
from rules.examples import EXAMPLES
from rules.test_routes import NOT_TAPED

from recorded.judged import gradient_of
from s2sgrad.errors import S2SGradError
from s2sgrad.recorded.derivatives import Recorded
from s2sgrad.recorded.hooks import call
from s2sgrad.runtime.checks import Refusal


class Row(list):
    """A list of the user's own class."""


class Asked(list):
    """One that says itself what it holds."""

    def __iter__(self):
        return list.__iter__(self)

    def __len__(self):
        return list.__len__(self)

    def __getitem__(self, k):
        return list.__getitem__(self, k)


def nested(x, kind):
    return kind([nested(row, kind) for row in x]) if np.ndim(x) else x


FORMS = {
    "rows": lambda x: list(x),
    "tuple": lambda x: tuple(x),
    "nested": lambda x: nested(x, list),
    "nested tuples": lambda x: nested(x, tuple),
    "rows of a class": lambda x: Row(x),
    "asked": lambda x: Asked(x),
}


def is_floats(a):
    return type(a) is np.ndarray and a.dtype.kind == "f" and a.ndim > 0 and 0 < a.size < 40


def cases():
    seen, out = set(), []
    for e in EXAMPLES:
        home = getattr(e.primitive, "__module__", "") or ""
        if isinstance(e.primitive, types.MethodDescriptorType):  # it takes no list
            continue
        ours = home.startswith(("s2sgrad", "tests"))
        for k, a in enumerate(e.args):
            if not ours and is_floats(a) and (e.primitive, k) not in seen and e.primitive not in NOT_TAPED:
                seen.add((e.primitive, k))
                out.append(case(e, f"{e}-{k}", k))
    return out


def calling(e, k, form):
    """The sum of what the function gives, as a function of its argument `k`, which it is given as lists."""

    def total(x):
        args = copy.deepcopy([a for n, a in enumerate(e.args) if n != k])
        args.insert(k, form(x))
        y = call(e.primitive, *args, **copy.deepcopy(e.keywords))
        return sum(np.sum(part * part) for part in leaves(y) if part is not None)

    return total


@pytest.mark.sampled(one_in=72)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("e", "k"), cases())
def test_lists(e, k, form):
    judge(e, k, form)


def judge(e, k, form):
    """Whether a call is right, refused, or raises as the plain one does."""
    f, array = calling(e, k, FORMS[form]), calling(e, k, lambda x: x)
    x = np.array(e.args[k])
    try:
        before, raises = f(x.copy()), None
    except Exception as error:
        raises = type(error)
    try:
        recorded = Recorded(f, (x.copy(),), {}, (0,))
    except (S2SGradError, Refusal):
        return "refused"
    except Exception as error:
        assert raises is not None and isinstance(error, raises), f"{type(error).__name__}: {error}"
        return "raises"
    assert raises is None
    np.testing.assert_allclose(recorded.value, before, rtol=1e-14)  # the sums may run over another layout
    try:
        (found,) = recorded.pullback()
    except (S2SGradError, Refusal):
        return "refused"
    (expected,) = gradient_of(array, (0,))(x.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    return "right"
