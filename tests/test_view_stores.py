"""Stores through every view of NumPy, by every way to store: both Jacobians are right, or refused."""

from __future__ import annotations

import itertools
import linecache

import numpy as np
import pytest

from s2sgrad import S2SGradError, jacfwd, jacrev
from s2sgrad.runtime.checks import Refusal

VIEWS = [
    "np.flip(y)", "np.flip(np.flip(y))", "np.flip(y, 0)", "np.flip(y, axis=1)", "np.fliplr(y)", "np.flipud(y)",
    "np.rot90(y)",
    "np.rot90(y, 2)", "y.T", "np.transpose(y)", "y.transpose()", "np.swapaxes(y, 0, 1)", "y.swapaxes(0, 1)",
    "np.moveaxis(y, 0, 1)", "np.rollaxis(y, 1)", "np.expand_dims(y, 0)", "y[None]", "np.atleast_2d(y)", "np.atleast_3d(y)",
    "np.squeeze(y[None])", "y.squeeze()", "np.reshape(y, (2, 4))", "y.reshape(-1)", "y.ravel()", "np.ravel(y)", "y.view()",
    "np.asarray(y)", "np.ascontiguousarray(y)", "np.require(y)", "np.split(y, 2)[0]", "np.array_split(y, 3, axis=1)[0]",
    "np.hsplit(y, 2)[1]", "np.vsplit(y, 2)[1]", "y.real", "np.real(y)", "y[...]", "y[:, ::-1]", "np.flip(y.T)[:, 1:]",
    "np.lib.stride_tricks.sliding_window_view(y, 2, axis=0, writeable=True)",
]  # fmt: skip
STORES = ["z[...] = c", "z.fill(c)", "z += c * y[0, 0]", "z[0] = x[0, 1] * c", "np.multiply(z, c, out=z)", "z[...] *= 0.0"]
X = np.array([[0.3, 0.6], [0.9, -1.2], [1.5, 1.8], [-2.1, 2.4]])


def program(view, store):
    text = f"def f(x, c):\n    y = x * x\n    z = {view}\n    {store}\n    return y * 1.0\n"
    file = f"<stored through {view}: {store}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {"np": np}
    exec(compile(text, file, "exec"), space)
    return space["f"]


@pytest.mark.records
@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize(("view", "store"), list(itertools.product(VIEWS, STORES)))
def test_both_jacobians_of_a_store_through_a_view(view, store):
    f = program(view, store)
    columns = []
    for k in np.ndindex(X.shape):
        unit = np.zeros_like(X)
        unit[k] = 1e-6
        columns.append((f(X + unit, 0.7) - f(X - unit, 0.7)) / 2e-6)
    expected = np.moveaxis(np.array(columns), 0, -1).reshape(X.shape + X.shape)
    for matrix in (jacfwd, jacrev):
        try:
            found = matrix(f)(X, 0.7)
        except (S2SGradError, Refusal):
            assert "sliding_window_view" in view, "this can be followed"
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
