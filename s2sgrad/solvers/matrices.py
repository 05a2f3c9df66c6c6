"""Functions of matrices, given functions of numbers: in the matrix, and in what the function closes over.

    y = linalg.funm(A, f)      ->      w, v = np.linalg.eig(A);  y = (v * f(w)) @ inv(v)

That text is differentiated (Higham 2008, "Functions of Matrices", definition 1.2): `f` at the eigenvalues, which are complex
numbers in general.  Equal eigenvalues have no such derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sgrad.api import jvp, vjp
from s2sgrad.rules.table import flat
from s2sgrad.runtime import Refusal
from s2sgrad.solvers.handed import enter


def by_eigenvalues(a, f):
    """The function of a matrix."""
    w, v = np.linalg.eig(np.add(a, 0j))
    return (v * f(w)) @ np.linalg.inv(v)


def real_part(a, f):
    """The same, where SciPy takes what remains of an imaginary part for rounding."""
    return np.real(by_eigenvalues(a, f))


def require_apart(y: Any, a: Any) -> None:
    """Refuse eigenvalues that are equal up to their errors, of which the vectors do not move as the matrix does."""
    require_vectors(y, a, 300.0)
    w = np.linalg.eigvals(a)
    gaps = np.abs(w[:, None] - w) + np.where(np.eye(len(w), dtype=bool), np.inf, 0.0)
    if np.min(gaps, initial=np.inf) < 1e-5 * np.max(np.abs(w), initial=0.0):
        raise Refusal(None, "linalg.funm has no derivative at equal eigenvalues: take expm, logm, sqrtm or a polynomial")


def require_vectors(y: Any, a: Any, limit: float = 1e4) -> None:
    """Refuse two results, and matrices whose eigenvectors are nearly dependent.

    Errors grow with the condition of the vectors: by its square in the function, by its third power in the matrix."""
    if isinstance(y, tuple):
        raise Refusal(None, "linalg.funm has no derivative with disp=False: leave it out")
    if not np.linalg.cond(np.linalg.eig(a)[1]) < limit:
        raise Refusal(
            None, "linalg.funm has no derivative where the matrix has too few eigenvectors: take expm, logm or sqrtm"
        )


flat(require_apart, require_vectors)


def in_matrix(g, y, A, func, disp):
    require_apart(y, A)
    return vjp(by_eigenvalues if np.iscomplexobj(y) else real_part, A, func)[1](g)[0]


def in_function(g, y, A, func, disp):
    require_vectors(y, A)
    return vjp(by_eigenvalues if np.iscomplexobj(y) else real_part, A, func)[1](g)[1]


def along_matrix(t, y, A, func, disp):
    require_apart(y, A)
    return jvp(by_eigenvalues if np.iscomplexobj(y) else real_part, (A, func), (t, None))[1]


def along_function(t, y, A, func, disp):
    require_vectors(y, A)
    return jvp(by_eigenvalues if np.iscomplexobj(y) else real_part, (A, func), (None, t))[1]


enter(linalg.funm, {"A": in_matrix, "func": in_function}, {"A": along_matrix, "func": along_function}, ())
