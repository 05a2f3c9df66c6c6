"""A text prints the imports of the modules that it reads, so that it runs where it is pasted beside the user's function."""

from __future__ import annotations

import math

import numpy as np
import numpy.linalg as la
from numpy import fft

from s2sgrad import grad, jvp


def mixed(x, A):
    spread = fft.irfft(fft.rfft(x))
    return np.sum(la.solve(A, spread)) * math.exp(x[0])


def test_a_pasted_text_runs():
    args = np.array([0.3, 0.8]), np.array([[2.0, 0.5], [0.1, 1.0]])
    df = grad(mixed, (0, 1))
    text = df.source_for(*args)
    assert [line for line in text.splitlines() if line.startswith(("import numpy", "from numpy"))] == [
        "import numpy as np", "import numpy.linalg as la", "from numpy import fft",
    ]  # fmt: skip
    space: dict = {}
    exec(text, space)
    for pasted, own in zip(space["mixed_grad"](*args), df(*args), strict=True):
        np.testing.assert_array_equal(pasted, own)


def test_what_a_text_does_not_read_is_not_imported():
    assert "import" not in grad(lambda x: x * 2.0 + np.size(x)).source_for(1.0)
    assert jvp(lambda x: np.sin(x)).source_for(1.0).count("import numpy as np") == 1
