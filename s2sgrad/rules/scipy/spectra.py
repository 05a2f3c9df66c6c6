"""Rules of scipy.linalg: eigenvalues of symmetric and Hermitian matrices, also beside a second matrix; singular values.

    w, v = linalg.eigh(a, b)     ->     a_bar = v @ (diag(w_bar) + turned) @ v^H, folded to the triangle that is read
                                        b_bar = -v @ (diag(w_bar * w) + turned * (w_i + w_j) / 2 + alike / 2) @ v^H, likewise

`a @ v = b @ v * w` and `v^H @ b @ v = 1` give all, with `k = v^H @ v_bar`.  `turned` is the skew part of `k` by `w_j - w_i`,
`alike` its other part.  `b_bar` comes from `w_j / (w_j - w_i) = 1 / 2 + (w_i + w_j) / 2 / (w_j - w_i)`.  Giles (2008),
"Collected matrix derivative results", for one matrix.  For two, de Leeuw (2007), "Derivatives of generalized eigen systems".

Of some eigenvalues the others take part in the derivative of the vectors.  What turns vectors of equal values is nan where
the values are used as well, as it is for `np.linalg.eigh`.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.linalg import adjoint, folded, hermitian
from s2sgrad.rules.spectra import (
    SPANS,
    asked,
    frames,
    mixing,
    on_diagonal,
    per_gap,
    rounding,
    sizes,
    spectral,
    svd_along,
    svd_bar,
    svdvals_along,
)
from s2sgrad.rules.table import flat, general, of_complex_numbers
from s2sgrad.runtime import unbroadcast

# --- eigenvalues -----------------------------------------------------------------------------------------------------


def skew_per_gap(k, w, mixed):
    """The skew part of `k` by the gaps of the eigenvalues `w`; between equal ones 0, or nan where they are `mixed`."""
    return per_gap(0.5 * (k - adjoint(k)), np.expand_dims(w, -2) - np.expand_dims(w, -1), rounding(w), mixed)


def first(w, by_index, by_value):
    """The place of the first eigenvalue of a subset among all of them; 0, which SciPy takes for a subset, asks for all.

    >>> first(np.array([1.0, 2.0, 5.0]), None, (1.0, 9.0)), first(np.array([1.0, 2.0, 5.0]), (2, 2), None)
    (1, 2)
    """
    if by_value:
        return int(np.sum(w <= by_value[0]))
    return int(by_index[0]) if by_index else 0


flat(first)


def completed(y, a, b, lower, by_index, by_value):
    """All eigenvalues and eigenvectors, those of the result among them, and the place where those begin."""
    if by_index is None and by_value is None:
        return y[0], y[1], 0
    every = linalg.eigh(a, b, lower=lower)
    start = first(every[0], by_index, by_value)
    stop = start + np.shape(y[0])[-1]
    v = np.concatenate((every[1][..., :start], y[1], every[1][..., stop:]), axis=-1)
    return every[0], v, start


def widened(g, start, like):
    """The cotangent of some columns as that of all, which are `like` these: zeros for the others."""
    stop = start + np.shape(g)[-1]
    return np.concatenate((np.zeros_like(like[..., :start]), g, np.zeros_like(like[..., stop:])), axis=-1)


def cores(g, y, a, b, lower, by_index, by_value, free):
    """The eigenvectors, the eigenvalues, and of the cotangents in their frame: `diag(w_bar) + turned`, and `alike`."""
    w, v, start = completed(y, a, b, lower, by_index, by_value)
    w_bar, v_bar = widened(g[0], start, w), widened(g[1], start, v)
    k = adjoint(v) @ np.conj(v_bar)
    turned = skew_per_gap(k, w, asked(sizes(v_bar), free))
    return v, w, np.where(on_diagonal(a), np.expand_dims(w_bar, -1), turned), 0.5 * (k + adjoint(k))


def of_values(g, w, a, b, lower, by_index, by_value):
    """The eigenvectors of some eigenvalues `w`."""
    every = linalg.eigh(a, b, lower=lower)
    if by_index is None and by_value is None:
        return every[1]
    start = first(every[0], by_index, by_value)
    return every[1][..., start : start + np.shape(w)[-1]]


def values_bar(g, w, a, b, lower, by_index, by_value):
    """The cotangent of the matrix, given that of eigenvalues."""
    v = of_values(g, w, a, b, lower, by_index, by_value)
    return unbroadcast(folded((v * np.expand_dims(g, -2)) @ adjoint(v), "L" if lower else "U"), a)


def values_bar_of_second(g, w, a, b, lower, by_index, by_value):
    """The cotangent of the second matrix, given that of eigenvalues."""
    v = of_values(g, w, a, b, lower, by_index, by_value)
    return unbroadcast(folded(-(v * np.expand_dims(g * w, -2)) @ adjoint(v), "L" if lower else "U"), b)


def eigh_bar(g, y, a, b, lower, by_index, by_value, free):
    v, _, core, _ = cores(g, y, a, b, lower, by_index, by_value, free)
    return unbroadcast(folded(v @ core @ adjoint(v), "L" if lower else "U"), a)


def eigh_bar_of_second(g, y, a, b, lower, by_index, by_value, free):
    v, w, core, alike = cores(g, y, a, b, lower, by_index, by_value, free)
    halves = 0.5 * (np.expand_dims(w, -2) + np.expand_dims(w, -1))
    return unbroadcast(folded(-(v @ (core * halves + 0.5 * alike) @ adjoint(v)), "L" if lower else "U"), b)


@general(linalg.eigh)
def eigh(g, y, a, b=None, *, lower=True, eigvals_only=False, type=1, check_finite=True, subset_by_index=None,
         subset_by_value=None, driver=None):  # fmt: skip
    if eigvals_only:
        return values_bar(g, y, a, b, lower, subset_by_index, subset_by_value)
    return eigh_bar(g, y, a, b, lower, subset_by_index, subset_by_value, False)


@eigh.keyword("b")
def eigh_b(g, y, a, b=None, *, lower=True, eigvals_only=False, type=1, check_finite=True, subset_by_index=None,
           subset_by_value=None, driver=None):  # fmt: skip
    if eigvals_only:
        return values_bar_of_second(g, y, a, b, lower, subset_by_index, subset_by_value)
    return eigh_bar_of_second(g, y, a, b, lower, subset_by_index, subset_by_value, False)


@general()
def spans_of_eigh(g, y, a, b=None, *, lower=True, eigvals_only=False, type=1, check_finite=True, subset_by_index=None,
                  subset_by_value=None, driver=None):  # fmt: skip
    """The cotangent of a matrix of which only the eigenvectors are used."""
    return eigh_bar(g, y, a, b, lower, subset_by_index, subset_by_value, True)


@spans_of_eigh.keyword("b")
def spans_of_eigh_b(g, y, a, b=None, *, lower=True, eigvals_only=False, type=1, check_finite=True, subset_by_index=None,
                    subset_by_value=None, driver=None):  # fmt: skip
    return eigh_bar_of_second(g, y, a, b, lower, subset_by_index, subset_by_value, True)


def along(y, core, a, b, lower, by_index, by_value, free):
    """The tangents of the eigenvalues and eigenvectors in the result, given the matrix's in the frame of all vectors."""
    w, v, start = completed(y, a, b, lower, by_index, by_value)
    stop = start + np.shape(y[0])[-1]
    turned = per_gap(core, np.expand_dims(w, -2) - np.expand_dims(w, -1), rounding(w), mixing(core, free))
    return np.real(np.diagonal(core, 0, -2, -1))[..., start:stop], (v @ turned)[..., start:stop]


def eigh_along(y, a, a_dot, b, lower, by_index, by_value, free):
    v = completed(y, a, b, lower, by_index, by_value)[1]
    return along(y, adjoint(v) @ hermitian(a_dot, lower) @ v, a, b, lower, by_index, by_value, free)


def eigh_along_second(y, a, b_dot, b, lower, by_index, by_value, free):
    """The tangents in the second matrix, in which the vectors stay orthonormal: half of the change is theirs, also among
    vectors of one eigenvalue."""
    w, v, start = completed(y, a, b, lower, by_index, by_value)
    core = adjoint(v) @ hermitian(b_dot, lower) @ v
    halves = 0.5 * (np.expand_dims(w, -2) + np.expand_dims(w, -1))
    dots = along(y, -core * halves, a, b, lower, by_index, by_value, free)
    return dots[0], dots[1] - 0.5 * (v @ core)[..., start : start + np.shape(y[0])[-1]]


def with_vectors(y, a, b, lower, eigvals_only, by_index, by_value):
    """The result with the vectors, which may not have been asked for."""
    return (y, of_values(y, y, a, b, lower, by_index, by_value)) if eigvals_only else y


@eigh.forward()
def _(y, a, a_dot, b=None, *, lower=True, eigvals_only=False, type=1, check_finite=True, subset_by_index=None,
      subset_by_value=None, driver=None):  # fmt: skip
    parts = with_vectors(y, a, b, lower, eigvals_only, subset_by_index, subset_by_value)
    dots = eigh_along(parts, a, a_dot, b, lower, subset_by_index, subset_by_value, eigvals_only)
    return dots[0] if eigvals_only else dots


@eigh_b.forward()
def _(y, a, b_dot, b=None, *, lower=True, eigvals_only=False, type=1, check_finite=True, subset_by_index=None,
      subset_by_value=None, driver=None):  # fmt: skip
    parts = with_vectors(y, a, b, lower, eigvals_only, subset_by_index, subset_by_value)
    dots = eigh_along_second(parts, a, b_dot, b, lower, subset_by_index, subset_by_value, eigvals_only)
    return dots[0] if eigvals_only else dots


@spans_of_eigh.forward()
def _(y, a, a_dot, b=None, *, lower=True, eigvals_only=False, type=1, check_finite=True, subset_by_index=None,
      subset_by_value=None, driver=None):  # fmt: skip
    return eigh_along(y, a, a_dot, b, lower, subset_by_index, subset_by_value, True)


@spans_of_eigh_b.forward()
def _(y, a, b_dot, b=None, *, lower=True, eigvals_only=False, type=1, check_finite=True, subset_by_index=None,
      subset_by_value=None, driver=None):  # fmt: skip
    return eigh_along_second(y, a, b_dot, b, lower, subset_by_index, subset_by_value, True)


@general(linalg.eigvalsh)
def eigvalsh(g, y, a, b=None, *, lower=True, type=1, check_finite=True, subset_by_index=None, subset_by_value=None,
             driver=None):  # fmt: skip
    return values_bar(g, y, a, b, lower, subset_by_index, subset_by_value)


@eigvalsh.keyword("b")
def eigvalsh_b(g, y, a, b=None, *, lower=True, type=1, check_finite=True, subset_by_index=None, subset_by_value=None,
               driver=None):  # fmt: skip
    return values_bar_of_second(g, y, a, b, lower, subset_by_index, subset_by_value)


def is_none(k):
    return k.known and k.value is None


@eigvalsh.refined(
    lambda complex, b, subset_by_index, subset_by_value: not complex and is_none(b)
    and is_none(subset_by_index) and is_none(subset_by_value)
)  # fmt: skip
def _(g, y, a, b=None, *, lower=True, type=1, check_finite=True, subset_by_index=None, subset_by_value=None, driver=None):
    return spectral(g, a, "L" if lower else "U")


for _rule in (eigh, spans_of_eigh, eigvalsh):
    _rule.refuse(
        lambda type: not (type.known and type.value == 1),
        "eigenvalues of type 2 and 3 have no derivative rule: pass the matrices for which they are of type 1",
    )

# --- singular values -------------------------------------------------------------------------------------------------


@general(linalg.svdvals)
def svdvals(g, s, a, *, check_finite=True):
    sides = frames(a)
    return np.conj((sides[0] * np.expand_dims(g, -2)) @ sides[1])


@svdvals.forward()
def _(s, a, a_dot, *, check_finite=True):
    return svdvals_along(a, a_dot)


@general(linalg.svd)
def svd(g, y, a, full_matrices=True, compute_uv=True, *, check_finite=True, lapack_driver="gesdd"):
    if not compute_uv:
        sides = frames(a)
        return np.conj((sides[0] * np.expand_dims(g, -2)) @ sides[1])
    return svd_bar(g, y, full_matrices, False)


@general()
def spans_of_svd(g, y, a, full_matrices=True, compute_uv=True, *, check_finite=True, lapack_driver="gesdd"):
    """The cotangent of a matrix of which only the singular vectors are used."""
    return svd_bar(g, y, full_matrices, True)


@svd.forward()
def _(y, a, a_dot, full_matrices=True, compute_uv=True, *, check_finite=True, lapack_driver="gesdd"):
    return svd_along(y, a_dot, full_matrices, False) if compute_uv else svdvals_along(a, a_dot)


@svd.forward(lambda compute_uv: compute_uv.known and bool(compute_uv.value))
def _(y, a, a_dot, full_matrices=True, compute_uv=True, *, check_finite=True, lapack_driver="gesdd"):
    return svd_along(y, a_dot, full_matrices, False)


@spans_of_svd.forward()
def _(y, a, a_dot, full_matrices=True, compute_uv=True, *, check_finite=True, lapack_driver="gesdd"):
    return svd_along(y, a_dot, full_matrices, True)


SPANS[linalg.eigh] = spans_of_eigh, 0
SPANS[linalg.svd] = spans_of_svd, 1
of_complex_numbers(linalg.eigh, linalg.eigvalsh, linalg.svdvals, linalg.svd)
