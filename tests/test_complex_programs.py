"""Random programs with complex numbers: both modes are like differences, or the program is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from complex_programs import program
from test_complex_functions import differences

from s2sgrad import S2SGradError, grad, jvp

X, Z = np.array([0.7, -0.4, 1.1]), np.array([0.3 - 0.5j, -0.8 + 0.2j, 0.6 + 0.9j])


def made(seed, folder):
    file = folder / f"complex_{seed}.py"
    file.write_text("import numpy as np\n" + program(seed))
    space = {"__name__": "made"}
    exec(compile(file.read_text(), str(file), "exec"), space)
    return space["f"]


def judged(f):
    """Whether both modes are right (False where one is refused)."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = f(X.copy(), Z.copy())
        if not np.isfinite(value) or abs(value) > 1e6:
            return True
        wanted = [differences(f, (X, Z), place)[0] for place in range(2)]
        again = [differences(f, (X, Z), place, 3e-6)[0] for place in range(2)]
        if not all(np.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in zip(wanted, again, strict=True)):
            return True  # a kink, or the cut of a logarithm
        try:
            bars = grad(f, (0, 1))(X, Z)
            dots = np.array([0.3, -1.0, 0.8]), np.array([1j, 0.4 - 0.2j, -0.7])
            slope = jvp(f, (X, Z), dots)[1]
        except S2SGradError:
            return False
    scale = max(1.0, *(np.max(np.abs(w)) for w in wanted))
    for bar, w in zip(bars, wanted, strict=True):
        assert np.iscomplexobj(bar) == np.iscomplexobj(w)
        np.testing.assert_allclose(bar, w, rtol=1e-4, atol=1e-5 * scale)
    assert slope == pytest.approx(
        sum(np.sum(w * d).real for w, d in zip(wanted, dots, strict=True)), rel=1e-4, abs=1e-4 * scale
    )
    return True


@pytest.mark.sampled(one_in=18)
@pytest.mark.parametrize("seed", range(120))
def test_programs(seed, tmp_path):
    judged(made(seed, tmp_path))
