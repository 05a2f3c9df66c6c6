"""Rules of scipy.sparse.linalg: systems and eigenvalues, in the right side and in the stored entries of the matrix.

    x = sparse.linalg.spsolve(A, b)     ->     b_bar = sparse.linalg.spsolve(A.T, x_bar); A_bar = matmul_left(-b_bar, A, x)

The iterative methods solve the transposed system by the same method and to the same tolerance; where they start from is
constant, and so are linear operators that are no matrices.  Of eigsh the values and the vectors have derivatives, these by
systems with a border (Nelson 1976), of svds the values (Giles 2008): the derivative of its vectors is nan.  A damped fit is
one with `damp` times the identity below the matrix; of many that fit exactly the shortest is meant.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from s2sgrad.rules import instances
from s2sgrad.rules.contractions import is_operator, matmul_left
from s2sgrad.rules.made import made
from s2sgrad.rules.scipy.sparse import (
    along_power,
    dense,
    in_power,
    inner,
    of_elements,
    require_complete,
    summed,
    where_stored,
    wide,
)
from s2sgrad.rules.table import (
    bilinear,
    bound_method,
    existing,
    flat,
    general,
    linear,
    of_complex_numbers,
    with_own_operators,
)
from s2sgrad.runtime import Refusal, over

COARSE = 0.1
"""A relative tolerance above which what is found is called no solution."""

# --- systems ---------------------------------------------------------------------------------------------------------


def transposed(A):
    """The transpose, by columns where the matrix is in coordinates."""
    turned = A.T
    return turned.tocsc() if getattr(turned, "format", "") == "coo" else turned


@linear(transposed)
def _(g, y, A):
    return transposed(g)


def of_matrix(g, A, x):
    """The cotangent of the matrix `A` in `A @ x`, where it is stored."""
    return matmul_left(g, A, x)


def is_matrix(w):
    """Whether a cotangent of a matrix is one, and not the zero of a constant."""
    return w is not None and len(np.shape(w)) == 2


flat(is_matrix)


@bilinear(of_matrix)
def _(w, y, g, A, x):
    return w @ x if is_matrix(w) else np.zeros_like(g), None, transposed(w) @ g if is_matrix(w) else np.zeros_like(x)


def as_preconditioner(M):
    """The transpose of what helps a method along; None, for no help, of an operator that knows none."""
    if M is None or not isinstance(M, linalg.LinearOperator):
        return None if M is None else M.T
    try:
        M.rmatvec(np.zeros(M.shape[0]))
    except NotImplementedError:
        return None
    return M.T


flat(as_preconditioner)


def as_right_side(b_bar, b):
    """The cotangent of a right side in its shape; of a sparse one, where it is stored."""
    if is_operator(b):
        return where_stored(np.reshape(dense(b_bar), np.shape(b)), b)
    return np.reshape(dense(b_bar), np.shape(b))


@linear(as_right_side)
def _(w, y, b_bar, b):
    return as_right_side(w, b_bar), None


@general(linalg.spsolve)
def spsolve(g, x, A, b, permc_spec=None, use_umfpack=True):
    no_stored_zeros(g, A)
    b_bar = linalg.spsolve(transposed(A), dense(g), permc_spec, use_umfpack)
    return of_matrix(-b_bar, A, dense(x)), as_right_side(b_bar, b)


@spsolve.forward()
def _(x, A, b, A_dot, b_dot, permc_spec=None, use_umfpack=True):
    return -linalg.spsolve(A, A_dot @ x, permc_spec, use_umfpack), linalg.spsolve(A, b_dot, permc_spec, use_umfpack)


def turned_by_rows(A):
    """The transpose, by rows."""
    return A.T.tocsr()


@linear(turned_by_rows)
def _(g, y, A):
    return transposed(g)


def triangle(M, lower, unit_diagonal):
    """The part of a cotangent that a triangular solver reads."""
    if lower:
        return sparse.tril(M, -1 if unit_diagonal else 0)
    return sparse.triu(M, 1 if unit_diagonal else 0)


@linear(triangle)
def _(w, y, M, lower, unit_diagonal):
    return triangle(w, lower, unit_diagonal), None, None


def is_lower(A, lower):
    """Whether the lower triangle is meant; Refusal for a matrix with entries in the other one, which SciPy mixes in."""
    other = sparse.triu(A, 1) if lower else sparse.tril(A, -1)
    if other.count_nonzero():
        raise Refusal(None, "`spsolve_triangular` has a derivative rule for a triangular matrix: use `scipy.sparse.tril(A)`")
    return lower


flat(is_lower)


@general(linalg.spsolve_triangular)
def spsolve_triangular(g, x, A, b, lower=True, *, unit_diagonal=False):
    b_bar = linalg.spsolve_triangular(turned_by_rows(A), g, not is_lower(A, lower), unit_diagonal=unit_diagonal)
    return triangle(of_matrix(-b_bar, A, x), lower, unit_diagonal), b_bar


@spsolve_triangular.forward()
def _(x, A, b, A_dot, b_dot, lower=True, *, unit_diagonal=False):
    in_A = triangle(A_dot, is_lower(A, lower), unit_diagonal) @ x
    return (
        -linalg.spsolve_triangular(A, in_A, lower, unit_diagonal=unit_diagonal),
        linalg.spsolve_triangular(A, b_dot, is_lower(A, lower), unit_diagonal=unit_diagonal),
    )


@general(linalg.inv)
def inv(g, Y, A):
    return of_inverse(g, Y, A)


@inv.forward()
def _(Y, A, A_dot):
    return -(Y @ A_dot @ Y)


def of_inverse(g, Y, A):
    """The cotangent of a matrix with the inverse `Y`, where it is stored."""
    no_stored_zeros(g, A)
    return -where_stored(transposed(Y) @ g @ transposed(Y), A)


def no_stored_zeros(g, A):
    """Raise Refusal for a matrix that stores zeros: where its inverse or its exponential is 0 by chance is not known."""
    return not (is_operator(g) and is_operator(A)) or require_complete(g, A, A.nnz + np.count_nonzero(A.tocsr().data == 0))


flat(no_stored_zeros)


def signs(x):
    """The signs of the stored elements."""
    return x.sign() if is_operator(x) else np.sign(x)


def largest_sum(x, axis):
    """1 where the sum of the sizes along an axis is the largest, the first where several are."""
    sums = np.asarray(abs(x).sum(axis=axis)).ravel()
    return np.expand_dims(np.arange(len(sums)) == np.argmax(sums), axis).astype(x.dtype)


flat(signs, largest_sum)


def norm_kind(ord, axis):
    """Which norm is meant: of the whole array, of sums of sizes, of rows or columns; Refusal for others."""
    if axis is None and (ord is None or ord == "fro"):
        return "whole"
    if axis is None and ord in (1, np.inf):
        return "largest"
    if axis in (0, 1, -1, -2) and ord in (None, 2):
        return "each"
    if axis in (0, 1, -1, -2) and ord == 1:
        return "sizes"
    raise Refusal(None, "a norm of a sparse array has a derivative rule for those of Frobenius, of the largest sum (1, inf) "
                        "and along one axis (None, 1, 2)")  # fmt: skip


flat(norm_kind)


def norm_slope(x, y, g, ord, axis):
    """The cotangent of an array whose norm was taken."""
    kind = norm_kind(ord, axis)
    if kind == "whole":
        return over(g, y) * x
    if kind == "largest":
        return of_elements(wide(g * largest_sum(x, 0 if ord == 1 else 1), x), signs(x))
    if kind == "each":
        return of_elements(wide(np.expand_dims(over(g, y), axis), x), x)
    return of_elements(wide(np.expand_dims(g, axis), x), signs(x))


@general(linalg.norm)
def norm(g, y, x, ord=None, axis=None):
    return norm_slope(x, y, g, ord, axis)


@norm.forward()
def _(y, x, x_dot, ord=None, axis=None):
    return norm_along(x, y, x_dot, ord, axis)


def norm_along(x, y, x_dot, ord, axis):
    """The tangent of a norm."""
    kind = norm_kind(ord, axis)
    if kind == "whole":
        return over(inner(x, x_dot), y)
    if kind == "largest":
        return inner(of_elements(wide(largest_sum(x, 0 if ord == 1 else 1), x), signs(x)), x_dot)
    if kind == "each":
        return over(summed(of_elements(x_dot, x), axis), y)
    return summed(of_elements(x_dot, signs(x)), axis)


def is_estimated(y, A):
    """Raise Refusal where an estimate is not the norm, which it is not far from."""
    if not (is_operator(A) or isinstance(A, np.ndarray)) or not np.isclose(y, np.max(abs(A).sum(axis=0)), rtol=1e-6):
        raise Refusal(None, "an estimate that is not the norm has no derivative: use `scipy.sparse.linalg.norm(A, 1)`")
    return True


flat(is_estimated)


@general(linalg.onenormest)
def onenormest(g, y, A, t=2, itmax=5):
    is_estimated(y, A)
    return norm_slope(A, y, g, 1, None)


@onenormest.forward()
def _(y, A, A_dot, t=2, itmax=5):
    return norm_along(A, y, A_dot, 1, None)


def tolerance(rtol, atol, b):
    """How far from the right side a method may stop, relative to its norm.

    >>> tolerance(1e-5, 2.0, np.array([3.0, 4.0]))
    0.4
    """
    size = float(np.linalg.norm(b))
    return max(rtol, atol / size) if size else rtol


flat(tolerance)


def converged(y, info, rtol):
    """The solution that an iterative method has found; Refusal where it, or the call with this `info`, stopped before.

    >>> converged((2.0, 0), 0, 1e-5)
    2.0
    """
    x, own = y
    if info or own:
        raise Refusal(None, "the method has stopped before it converged, and what it gives is no solution: allow more "
                            "iterations, or a larger `rtol`")  # fmt: skip
    if rtol > COARSE:
        raise Refusal(None, f"what is found with a tolerance of {rtol} is no solution, and has no derivative as one")
    return x


@linear(converged)
def _(g, x, y, info, rtol):
    return (g, 0.0), None, None


@general(linalg.cg)
def cg(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None):
    b_bar = converged(
        linalg.cg(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M)),
        y[1],
        tolerance(rtol, atol, b),
    )
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.bicg)
def bicg(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None):
    b_bar = converged(
        linalg.bicg(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M)),
        y[1],
        tolerance(rtol, atol, b),
    )
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.bicgstab)
def bicgstab(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None):
    b_bar = converged(
        linalg.bicgstab(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M)),
        y[1],
        tolerance(rtol, atol, b),
    )
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.cgs)
def cgs(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None):
    b_bar = converged(
        linalg.cgs(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M)),
        y[1],
        tolerance(rtol, atol, b),
    )
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.gmres)
def gmres(
    g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, restart=None, maxiter=None, M=None, callback=None, callback_type=None
):
    b_bar = converged(
        linalg.gmres(transposed(A), g[0], rtol=rtol, atol=atol, restart=restart, maxiter=maxiter, M=as_preconditioner(M)),
        y[1],
        tolerance(rtol, atol, b),
    )
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.minres)
def minres(g, y, A, b, x0=None, *, rtol=1e-05, shift=0.0, maxiter=None, M=None, callback=None, show=False, check=False):
    b_bar = converged(linalg.minres(A, g[0], rtol=rtol, shift=shift, maxiter=maxiter, M=M), y[1], rtol)
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.lgmres)
def lgmres(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=1000, M=None, callback=None, inner_m=30, outer_k=3):
    b_bar = converged(
        linalg.lgmres(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M)),
        y[1],
        tolerance(rtol, atol, b),
    )
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.gcrotmk)
def gcrotmk(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=1000, M=None, callback=None, m=20):
    b_bar = converged(
        linalg.gcrotmk(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M)),
        y[1],
        tolerance(rtol, atol, b),
    )
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.tfqmr)
def tfqmr(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None, show=False):
    b_bar = converged(
        linalg.tfqmr(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M)),
        y[1],
        tolerance(rtol, atol, b),
    )
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.qmr)
def qmr(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, callback=None):
    b_bar = converged(linalg.qmr(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter), y[1], tolerance(rtol, atol, b))
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


_START = """
def pullback(g, y, {operands}):
    return 0.0 * {name}

def tangent(y, {operands_with_dot}):
    return 0.0 * y[0], 0.0
"""


def does_not_move(rule, name):
    """Say that where a method starts, or what it is helped by, does not change what it converges to."""
    head, rest = (str(p) for p in _without_two(inspect.signature(rule.pullback)))
    space = {"inf": np.inf}
    text = _START.format(operands=f"{head}, {rest}", operands_with_dot=f"{head}, {name}_dot, {rest}", name=name)
    found = made(text, f"{__name__}.{rule.pullback.__name__}_{name}", space)
    rule.keyword(name)(found["pullback"]).forward()(found["tangent"])


def _without_two(signature):
    """The operands of a pullback, and its keywords, as they are written."""
    parameters = list(signature.parameters.values())[2:]
    plain = str(inspect.Signature(parameters))[1:-1]
    cut = plain.index("x0=")
    return plain[:cut].rstrip(", "), plain[cut:]


for _rule in (cg, bicg, bicgstab, cgs, gmres, minres, lgmres, gcrotmk, tfqmr, qmr):
    does_not_move(_rule, "x0")
    if _rule is not qmr:
        does_not_move(_rule, "M")

# --- least squares ---------------------------------------------------------------------------------------------------


def only_solution(g, b):
    """Raise Refusal for what lsqr and lsmr tell beside their solution, and for several right sides."""
    if any(part is not None and np.any(part) for part in g[1:]):
        raise Refusal(None, "lsqr and lsmr have a derivative in the solution alone")
    return one_right_side(b)


def one_right_side(b):
    """Raise Refusal for several right sides."""
    if len(np.shape(b)) != 1:
        raise Refusal(None, "lsqr and lsmr have a derivative for a vector as right side")
    return True


def is_wide(A, damp):
    """Whether many vectors fit exactly, of which the shortest is meant."""
    return np.shape(A)[0] < np.shape(A)[1] and not np.any(damp)


def require_matrix(A, damp):
    """Raise Refusal for what SciPy makes a matrix of, and for several numbers that damp."""
    if np.ndim(damp):
        raise Refusal(None, "lsqr and lsmr have a derivative where one number damps")
    if len(np.shape(A)) != 2:
        raise Refusal(None, "lsqr and lsmr have a derivative for a matrix of two axes")
    return True


def reached(atol, y, b):
    """The tolerance; Refusal for what lsqr or lsmr found before they converged. `y` is what they told.

    What is left, `r`, is then large, and so is what the columns share with it, `A.T @ r`.
    """
    left, shared, size = (y[3], y[7], y[5]) if len(y) == 10 else (y[3], y[4], y[5])
    if np.any(np.greater(atol, COARSE)) or (shared > 1e-3 * size * left and left > 1e-3 * np.linalg.norm(dense(b))):
        raise Refusal(None, "the method has stopped before it converged, and what it gives is no fit: allow more "
                            "iterations, a larger `conlim`, or smaller tolerances")  # fmt: skip
    return atol


flat(only_solution, one_right_side, is_wide, require_matrix, reached)


def damped(A, damp):
    """The matrix with `damp` times the identity below: its fit is the damped one.

    >>> damped(sparse.csr_array([[3.0]]), 2.0).toarray().tolist()
    [[3.0], [2.0]]
    """
    require_matrix(A, damp)
    if not damp:
        return A
    below = sparse.diags_array(np.full(np.shape(A)[1], 1.0 * damp), format="csr")
    return sparse.vstack([A, below], "csr") if is_operator(A) else np.concatenate((A, dense(below)))


def fit_bars(solver, g, A, b, x, damp, options):
    """The cotangents of the matrix, the right side and the damping of a fit `x`; `solver` finds it."""
    with_damping, rows = damped(A, damp), np.shape(A)[0]
    z = solver(transposed(with_damping), g, **options)[0]
    if is_wide(A, damp):
        normal = solver(transposed(A), x, **options)[0]
        return of_matrix(normal, A, g - transposed(A) @ z) - of_matrix(z, A, x), z, 0.0
    w = solver(with_damping, z, **options)[0]
    return of_matrix(b - A @ x, A, w) - of_matrix(z[:rows], A, x), z[:rows], -2.0 * damp * np.dot(w, x)


def fit_dot(solver, A, right_dot, damp, **options):
    """The tangent of a fit along that of the right side."""
    one_right_side(right_dot)
    with_damping = damped(A, damp)
    below = np.zeros(np.shape(with_damping)[0] - np.shape(A)[0])
    return solver(with_damping, np.concatenate((right_dot, below)), **options)[0]


def fit_dot_in_matrix(solver, A, b, x, A_dot, damp, **options):
    """The tangent of a fit `x` along that of the matrix."""
    one_right_side(b)
    require_matrix(A, damp)
    if is_wide(A, damp):
        turn = transposed(A_dot) @ solver(transposed(A), x, **options)[0]
        return solver(A, -(A_dot @ x) - A @ turn, **options)[0] + turn
    with_damping = damped(A, damp)
    below = np.zeros(np.shape(with_damping)[0] - np.shape(A)[0])
    z = solver(transposed(with_damping), transposed(A_dot) @ (b - A @ x), **options)[0]
    return solver(with_damping, z - np.concatenate((A_dot @ x, below)), **options)[0]


def fit_dot_in_damping(solver, A, x, damp, **options):
    """The tangent of a fit `x` along that of its damping."""
    with_damping = damped(A, damp)
    return solver(with_damping, solver(transposed(with_damping), -2.0 * damp * x, **options)[0], **options)[0]


@general(linalg.lsqr)
def lsqr(g, y, A, b, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, iter_lim=None, show=False, calc_var=False, x0=None):
    only_solution(g, b)
    options = {"atol": reached(atol, y, b), "btol": btol, "conlim": conlim, "iter_lim": iter_lim}
    bars = fit_bars(linalg.lsqr, g[0], A, b, y[0], damp, options)
    return bars[0], bars[1]


@lsqr.keyword("damp")
def lsqr_damp(g, y, A, b, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, iter_lim=None, show=False, calc_var=False, x0=None):
    only_solution(g, b)
    options = {"atol": reached(atol, y, b), "btol": btol, "conlim": conlim, "iter_lim": iter_lim}
    return fit_bars(linalg.lsqr, g[0], A, b, y[0], damp, options)[2]


def lsqr_result(dot, y):
    """The tangent of all that `lsqr` tells, of which that of the solution alone is known."""
    return (
        dot,
        0.0,
        0.0,
        y[3] * np.nan,
        y[4] * np.nan,
        y[5] * np.nan,
        y[6] * np.nan,
        y[7] * np.nan,
        y[8] * np.nan,
        y[9] * np.nan,
    )


@lsqr.forward()
def _(
    y, A, b, A_dot, b_dot, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, iter_lim=None, show=False, calc_var=False, x0=None
):
    in_A = fit_dot_in_matrix(
        linalg.lsqr, A, b, y[0], A_dot, damp, atol=reached(atol, y, b), btol=btol, conlim=conlim, iter_lim=iter_lim
    )
    in_b = fit_dot(linalg.lsqr, A, b_dot, damp, atol=reached(atol, y, b), btol=btol, conlim=conlim, iter_lim=iter_lim)
    return lsqr_result(in_A, y), lsqr_result(in_b, y)


@lsqr_damp.forward()
def _(y, A, b, damp_dot, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, iter_lim=None, show=False, calc_var=False, x0=None):
    slope = fit_dot_in_damping(
        linalg.lsqr, A, y[0], damp, atol=reached(atol, y, b), btol=btol, conlim=conlim, iter_lim=iter_lim
    )
    return lsqr_result(slope * damp_dot, y)


@general(linalg.lsmr)
def lsmr(g, y, A, b, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, maxiter=None, show=False, x0=None):
    only_solution(g, b)
    options = {"atol": reached(atol, y, b), "btol": btol, "conlim": conlim, "maxiter": maxiter}
    bars = fit_bars(linalg.lsmr, g[0], A, b, y[0], damp, options)
    return bars[0], bars[1]


@lsmr.keyword("damp")
def lsmr_damp(g, y, A, b, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, maxiter=None, show=False, x0=None):
    only_solution(g, b)
    options = {"atol": reached(atol, y, b), "btol": btol, "conlim": conlim, "maxiter": maxiter}
    return fit_bars(linalg.lsmr, g[0], A, b, y[0], damp, options)[2]


def lsmr_result(dot, y):
    """The tangent of all that `lsmr` tells, of which that of the solution alone is known."""
    return (dot, 0.0, 0.0, y[3] * np.nan, y[4] * np.nan, y[5] * np.nan, y[6] * np.nan, y[7] * np.nan)


@lsmr.forward()
def _(y, A, b, A_dot, b_dot, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, maxiter=None, show=False, x0=None):
    in_A = fit_dot_in_matrix(
        linalg.lsmr, A, b, y[0], A_dot, damp, atol=reached(atol, y, b), btol=btol, conlim=conlim, maxiter=maxiter
    )
    in_b = fit_dot(linalg.lsmr, A, b_dot, damp, atol=reached(atol, y, b), btol=btol, conlim=conlim, maxiter=maxiter)
    return lsmr_result(in_A, y), lsmr_result(in_b, y)


@lsmr_damp.forward()
def _(y, A, b, damp_dot, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, maxiter=None, show=False, x0=None):
    slope = fit_dot_in_damping(
        linalg.lsmr, A, y[0], damp, atol=reached(atol, y, b), btol=btol, conlim=conlim, maxiter=maxiter
    )
    return lsmr_result(slope * damp_dot, y)


# --- exponentials and powers -----------------------------------------------------------------------------------------


def expm_corner(A, E):
    """The derivative of `linalg.expm` at `A` along `E`: the corner of the exponential of a matrix of blocks.

    Higham (2008), "Functions of Matrices", (10.43).
    """
    n = np.shape(A)[0]
    corner = linalg.expm(sparse.bmat([[A, E], [None, A]], "csc"))[:n, n:]
    return corner if is_operator(A) else dense(corner)


@general(linalg.expm)
def expm(g, y, A):
    no_stored_zeros(g, A)
    return where_stored(expm_corner(transposed(A), g), A)


@expm.forward()
def _(y, A, A_dot):
    return expm_corner(A, A_dot)


@general(linalg.expm_multiply)
def expm_multiply(g, y, A, B):
    outer = np.outer(g, B) if len(np.shape(B)) == 1 else g @ np.transpose(B)
    return where_stored(expm_corner(transposed(A), outer), A), linalg.expm_multiply(transposed(A), g)


@expm_multiply.forward()
def _(y, A, B, A_dot, B_dot):
    return expm_multiply_along(A, B, A_dot), linalg.expm_multiply(A, B_dot)


def expm_multiply_along(A, B, A_dot):
    """The tangent of `linalg.expm_multiply(A, B)`."""
    blocks = sparse.bmat([[A, A_dot], [None, A]], "csc")
    return linalg.expm_multiply(blocks, np.concatenate((np.zeros_like(B), B)))[: np.shape(A)[0]]


for _power in existing(linalg, "matrix_power"):

    @general(_power)
    def matrix_power(g, y, A, power):
        return where_stored(in_power(g, A, power), A), None

    @matrix_power.forward()
    def _(y, A, power, A_dot, power_dot):
        return along_power(A_dot, A, power), None

    matrix_power.constant("power")

# --- factorizations --------------------------------------------------------------------------------------------------


@bound_method(linalg.SuperLU, "solve")
def solve(g, y, solve, rhs, trans="N"):
    return None, solve(g, other_way(trans))


def other_way(trans):
    """The `trans` of the transposed system."""
    return "T" if trans == "N" else "N"


flat(other_way)
solve.constant("solve", "what is factorized is a constant here: call `solve` alone of what is factorized, or use `spsolve`")

# --- factorizations that are made in the function --------------------------------------------------------------------


def factors(maker, A, **options):
    """A factorization, as a constant."""
    return maker(A, **options)


flat(factors)


def solved(lu, A, b, trans="N"):
    """`lu.solve(b, trans)`, of the factorization of `A`."""
    return lu.solve(b, trans)


@general(solved)
def _solved(g, x, lu, A, b, trans="N"):
    b_bar = solved(lu, A, g, other_way(trans))
    return None, of_matrix(-b_bar, A, x) if trans == "N" else of_matrix(-x, A, b_bar), b_bar


def solved_by(solve, A, b):
    """`solve(b)`, of the factorization of `A`; the transposed system is solved anew."""
    return solve(b)


@general(solved_by)
def _(g, x, solve, A, b):
    b_bar = linalg.spsolve(transposed(A), g)
    return None, of_matrix(-b_bar, A, x), b_bar


instances.write_methods(linalg.splu, {"solve": instances.Method(1, solved, make=factors, options=1)})
instances.write_methods(linalg.factorized, {"__call__": instances.Method(1, solved_by, make=factors)})

# --- eigenvalues and singular values ---------------------------------------------------------------------------------


def unless(g):
    """1, unless a cotangent is not 0.

    >>> unless(np.zeros(2)), unless(None)
    (1.0, 1.0)
    """
    if g is not None and np.any(g):
        raise Refusal(None, "vectors of svds have no derivative rule: those of np.linalg.svd and of eigsh have")
    return 1.0


def order_of(values, found):
    """Where the values of a call are among those that it finds with their vectors, which come in another order.

    >>> order_of(np.array([3.0, 2.0]), np.array([2.0, 3.0])).tolist()
    [1, 0]
    """
    return np.argsort(found)[np.argsort(np.argsort(values))]


def require_pairs(A, w, v):
    """Raise Refusal for values and vectors that a method gave before it converged; a value may be 0."""
    probe = np.cos(np.arange(len(v)))
    size = np.linalg.norm(A @ probe) / np.linalg.norm(probe)
    if np.linalg.norm(A @ v - v * w) > 1e-3 * np.linalg.norm(w) + 1e-6 * size:
        raise Refusal(None, "the method has stopped before it converged, and what it gives are no eigenvalues: allow more "
                            "iterations, or use a smaller tolerance")  # fmt: skip


flat(unless, order_of, require_pairs)


@general(linalg.eigsh)
def eigsh(g, y, A, k=6, *, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True):
    v = eigsh_vectors(y, A, k, return_eigenvectors, sigma, which, v0, ncv, maxiter, tol)
    return eigsh_bar(g, y[0], v, A) if return_eigenvectors else of_matrix(v * g, A, v)


def eigsh_along(w, v, A, A_dot, with_vectors):
    """The tangents of the values, and of the vectors where these are asked for."""
    require_pairs(A, w[0] if with_vectors else w, v)
    turned = A_dot @ v
    values_dot = np.sum(v * turned, axis=0)
    return (values_dot, -apart(A, w[0], v, turned)) if with_vectors else values_dot


def apart(A, w, v, right):
    """The solutions of `(A - w * I) @ z = right` that are orthogonal to the vectors, one for each value: by a border."""
    found: list[Any] = []
    for k in range(len(w)):
        column = v[:, k : k + 1]
        bordered = sparse.bmat([[A - w[k] * sparse.eye(len(v)), column], [column.T, None]], "csc")
        found = found + [linalg.spsolve(bordered, np.append(right[:, k], 0.0))[: len(v)]]
    return np.stack(found, axis=1)


def eigsh_bar(g, w, v, A):
    """The cotangent of a symmetric matrix of which values and vectors were found."""
    require_pairs(A, w, v)
    values_bar = of_matrix(v * g[0], A, v) if g[0] is not None else of_matrix(0.0 * v, A, v)
    if g[1] is None or not np.any(g[1]):
        return values_bar
    return values_bar - of_matrix(apart(A, w, v, g[1]), A, v)


def eigsh_vectors(y, A, k, with_vectors, sigma, which, v0, ncv, maxiter, tol):
    """The vectors of a call of eigsh, in the order of its values."""
    if with_vectors:
        return y[1]
    found = linalg.eigsh(A, k, sigma=sigma, which=which, v0=v0, ncv=ncv, maxiter=maxiter, tol=tol)
    return found[1][:, order_of(y, found[0])]


@eigsh.forward()
def _(y, A, A_dot, k=6, *, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True):
    v = eigsh_vectors(y, A, k, return_eigenvectors, sigma, which, v0, ncv, maxiter, tol)
    return eigsh_along(y, v, A, A_dot, return_eigenvectors)


@general(linalg.lobpcg)
def lobpcg(g, y, A, X, B=None, M=None, Y=None, tol=None, maxiter=None, largest=True, verbosityLevel=0):
    return eigsh_bar(g, y[0], y[1], A), None


@lobpcg.forward()
def _(y, A, X, A_dot, X_dot, B=None, M=None, Y=None, tol=None, maxiter=None, largest=True, verbosityLevel=0):
    return eigsh_along(y, y[1], A, A_dot, True), no_tangents(y)


def no_tangents(y):
    """The tangents of values and vectors along where they are looked for from."""
    return 0.0 * y[0], 0.0 * y[1]


lobpcg.refuse(
    lambda B, Y: not (B.known and B.value is None and Y.known and Y.value is None),
    "lobpcg has a derivative rule without `B` and `Y`",
)


@general(linalg.svds)
def svds(g, y, A, k=6, *, ncv=None, tol=0, which="LM", v0=None, maxiter=None, return_singular_vectors=True, solver="arpack"):
    if vectors_too(return_singular_vectors):
        return of_matrix(y[0] * (g[1] * (unless(g[0]) * unless(g[2]))), A, y[2].T)
    parts = linalg.svds(A, k, ncv=ncv, tol=tol, which=which, v0=v0, maxiter=maxiter, solver=solver)
    return of_matrix(parts[0] * g, A, parts[2].T)


def vectors_too(asked):
    """Whether the result is all three factors, and not the values alone."""
    if asked not in (True, False):
        raise Refusal(None, "svds of vectors on one side has no derivative rule: ask for both or for none")
    return asked


flat(vectors_too)


def svds_along(parts, A_dot):
    """The tangents of the factors, of which the vectors' is not known."""
    return parts[0] * np.nan, np.sum(parts[0] * (A_dot @ parts[2].T), axis=0), parts[2] * np.nan


@svds.forward()
def _(
    y, A, A_dot, k=6, *, ncv=None, tol=0, which="LM", v0=None, maxiter=None, return_singular_vectors=True, solver="arpack"
):
    parts = (
        y
        if vectors_too(return_singular_vectors)
        else linalg.svds(A, k, ncv=ncv, tol=tol, which=which, v0=v0, maxiter=maxiter)
    )
    return svds_along(parts, A_dot) if vectors_too(return_singular_vectors) else svds_along(parts, A_dot)[1]


with_own_operators(linalg.inv, linalg.expm, *existing(linalg, "matrix_power"), of_inverse, transposed, triangle, expm_corner)
flat(*existing(linalg, "spbandwidth", "is_sptriangular"))


of_complex_numbers(linalg.spsolve, linalg.expm_multiply)
