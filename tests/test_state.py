"""A function that a second run would not leave the same runs once for its matrix, or the matrix is refused.

Each body changes what lives outside of the function, or draws: `k` is another number in the next run.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache

import numpy as np
import pytest

from s2sgrad import S2SGradError, grad, hessian, jacfwd, jacobian, jacrev, jvp, linearize

X = np.array([1.0, 2.0, 3.0])
BODIES = {
    "a dict of the module": "SEEN['k'] = SEEN.get('k', 0) + 1; k = SEEN['k']",
    "a list of the module": "KEPT.append(1.0); k = len(KEPT)",
    "a list that is used up": "k = LEFT.pop()",
    "an attribute": "BOX.n += 1; k = BOX.n",
    "a generator of numbers": "k = RNG.normal()",
    "an iterator": "k = next(FEED)",
    "a global": "global N; N = N + 1; k = N",
    "an item of an array": "ROWS[0] += 1.0; k = ROWS[0]",
    "output": "print('run'); k = 1.0",
}
MADE = """
import itertools

import numpy as np

class Box:
    n = 0

SEEN, KEPT, LEFT, BOX, N, ROWS = {}, [], [1.0, 4.0, 2.0], Box(), 0, np.zeros(2)
RNG, FEED = np.random.default_rng(0), itertools.count(2)
"""


def functions(what):
    """`f`, whose result is an array, and `total`, whose result is a number, in a module where nothing has run yet."""
    body = BODIES[what].replace("; ", "\n    ")
    source = MADE
    for name, value in (("f", "x**3 * k"), ("total", "np.sum(x**3) * k"), ("several", "[np.sum(x**3) * k, x**3 * k]")):
        source += f"\ndef {name}(x):\n    {body}\n    return {value}\n"
    source += "from s2sgrad import hessian, jacobian, linearize\n"
    source += "def inner_matrix(x):\n    return np.sum(jacobian(f)(x))\n"
    source += "def inner_hessian(x):\n    return np.sum(hessian(total)(x))\n"
    file = f"<state {what} {next(_NUMBERS)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = {"__name__": "state"}
    exec(compile(source, file, "exec"), namespace)
    return namespace


_NUMBERS = itertools.count()


def first_factor(what):
    with contextlib.redirect_stdout(io.StringIO()):
        return functions(what)["f"](X)[0]


def one_by_one(made):
    """The same matrix, where no text has all columns."""
    made._columns.at_once = lambda *_: None
    return made


MATRICES = {
    "jacfwd": (lambda n: jacfwd(n["f"])(X), lambda k: np.diag(3.0 * X**2 * k)),
    "jacobian": (lambda n: jacobian(n["f"])(X), lambda k: np.diag(3.0 * X**2 * k)),
    "jacrev": (lambda n: jacrev(n["f"])(X), lambda k: np.diag(3.0 * X**2 * k)),
    "column by column": (lambda n: one_by_one(jacfwd(n["f"]))(X), lambda k: np.diag(3.0 * X**2 * k)),
    "of several results": (lambda n: one_by_one(jacfwd(n["several"]))(X)[0], lambda k: 3.0 * X**2 * k),
    "of one number": (lambda n: jacobian(n["total"])(X), lambda k: 3.0 * X**2 * k),
    "hessian": (lambda n: hessian(n["total"])(X), lambda k: np.diag(6.0 * X * k)),
    "hessian column by column": (lambda n: one_by_one(hessian(n["total"]))(X), lambda k: np.diag(6.0 * X * k)),
    "of the gradient": (lambda n: jacfwd(grad(n["total"]))(X), lambda k: np.diag(6.0 * X * k)),
    "linearize": (lambda n: linearize(n["f"], X)[1](X), lambda k: 3.0 * X**3 * k),
    "of a matrix": (lambda n: np.einsum("iii->i", jacobian(jacobian(n["f"]))(X)), lambda k: 6.0 * X * k),
    "grad of a matrix": (lambda n: grad(n["inner_matrix"])(X), lambda k: 6.0 * X * k),
    "jvp of a matrix": (lambda n: jvp(n["inner_matrix"], (X,), (X,))[1], lambda k: np.sum(6.0 * X * X * k)),
    "grad of a hessian": (lambda n: grad(n["inner_hessian"])(X), lambda k: np.full(3, 6.0 * k)),
}


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("what", BODIES)
def test_a_matrix_runs_the_function_once_or_is_refused(what, matrix):
    run, expected = MATRICES[matrix]
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        try:
            got = run(functions(what))
        except S2SGradError as error:
            assert "<state" in str(error) and "^" in str(error)
            return
    np.testing.assert_allclose(got, expected(first_factor(what)), rtol=1e-12)
    assert shown.getvalue().count("run") <= 1


def test_most_of_them_are_not_refused():
    """In one run with all columns, or in reverse mode."""
    for what in BODIES.keys() - {"a global", "an item of an array"}:
        with contextlib.redirect_stdout(io.StringIO()):
            got = jacfwd(functions(what)["f"])(X)
        np.testing.assert_allclose(got, np.diag(3.0 * X**2 * first_factor(what)), rtol=1e-12)
