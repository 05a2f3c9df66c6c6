"""Rules of scipy.sparse.linalg: systems and eigenvalues, in the right side and in the stored entries of the matrix.

    x = sparse.linalg.spsolve(A, b)     ->     b_bar = sparse.linalg.spsolve(A.T, x_bar); A_bar = matmul_left(-b_bar, A, x)

The iterative methods solve the transposed system by the same method and to the same tolerance; where they start from is
constant, and so are linear operators that are no matrices.  Of eigsh and svds the values have derivatives (Giles 2008); the
derivative of the vectors needs all the others: it is nan.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import linalg

from s2sgrad.rules import instances
from s2sgrad.rules.contractions import matmul_left
from s2sgrad.rules.scipy.sparse import of_elements, ones_like
from s2sgrad.rules.table import bilinear, bound_method, existing, flat, general, linear, with_own_operators
from s2sgrad.runtime import Refusal, over

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
    return None if M is None else M.T


flat(as_preconditioner)


@general(linalg.spsolve)
def spsolve(g, x, A, b, permc_spec=None, use_umfpack=True):
    b_bar = linalg.spsolve(transposed(A), g, permc_spec, use_umfpack)
    return of_matrix(-b_bar, A, x), np.reshape(b_bar, np.shape(b))


@general(linalg.spsolve_triangular)
def spsolve_triangular(g, x, A, b, lower=True, *, unit_diagonal=False):
    return None, linalg.spsolve_triangular(transposed(A), g, not lower, unit_diagonal=unit_diagonal)


spsolve_triangular.constant("A", "the matrix of `spsolve_triangular` is a constant here: use `spsolve`")


@general(linalg.inv)
def inv(g, Y, A):
    return of_inverse(g, Y, A)


@inv.forward()
def _(Y, A, A_dot):
    return -(Y @ A_dot @ Y)


def of_inverse(g, Y, A):
    """The cotangent of a matrix with the inverse `Y`, where it is stored."""
    return -of_elements(transposed(Y) @ g @ transposed(Y), ones_like(A))


@general(linalg.norm)
def norm(g, y, x, ord=None, axis=None):
    return over(g, y) * x


norm.refuse(
    lambda ord, axis: not (ord.known and ord.value in (None, "fro") and axis.known and axis.value is None),
    "a norm of a sparse array has a derivative rule for that of Frobenius: leave out `ord` and `axis`",
)


@general(linalg.cg)
def cg(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None):
    b_bar = linalg.cg(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M))[0]
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.bicg)
def bicg(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None):
    b_bar = linalg.bicg(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M))[0]
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.bicgstab)
def bicgstab(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None):
    b_bar = linalg.bicgstab(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M))[0]
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.cgs)
def cgs(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None):
    b_bar = linalg.cgs(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M))[0]
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.gmres)
def gmres(
    g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, restart=None, maxiter=None, M=None, callback=None, callback_type=None
):
    b_bar = linalg.gmres(
        transposed(A), g[0], rtol=rtol, atol=atol, restart=restart, maxiter=maxiter, M=as_preconditioner(M)
    )[0]
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.minres)
def minres(g, y, A, b, x0=None, *, rtol=1e-05, shift=0.0, maxiter=None, M=None, callback=None, show=False, check=False):
    b_bar = linalg.minres(A, g[0], rtol=rtol, shift=shift, maxiter=maxiter, M=M)[0]
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.lgmres)
def lgmres(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=1000, M=None, callback=None, inner_m=30, outer_k=3):
    b_bar = linalg.lgmres(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M))[0]
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.gcrotmk)
def gcrotmk(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=1000, M=None, callback=None, m=20):
    b_bar = linalg.gcrotmk(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M))[0]
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.tfqmr)
def tfqmr(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None, show=False):
    b_bar = linalg.tfqmr(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter, M=as_preconditioner(M))[0]
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


@general(linalg.qmr)
def qmr(g, y, A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, callback=None):
    b_bar = linalg.qmr(transposed(A), g[0], rtol=rtol, atol=atol, maxiter=maxiter)[0]
    return of_matrix(-b_bar, A, y[0]), np.reshape(b_bar, np.shape(b))


def only_solution(g, A, b, damp):
    """Raise Refusal for what lsqr and lsmr tell beside their solution, and for another fit than `fitted` takes."""
    if any(part is not None and np.any(part) for part in g[1:]):
        raise Refusal(None, "lsqr and lsmr have a derivative in the solution alone")
    return fitted(A, b, damp)


def fitted(A, b, damp):
    """The damping, which is 0; Refusal for another one, for a matrix with fewer rows than columns, whose fit is one of many,
    and for several right sides."""
    if np.any(damp):
        raise Refusal(None, "lsqr and lsmr have a derivative without `damp` alone")
    if len(np.shape(A)) != 2 or np.shape(A)[0] < np.shape(A)[1] or len(np.shape(b)) != 1:
        raise Refusal(None, "lsqr and lsmr have a derivative for a vector and a matrix of at least as many rows as columns")
    return 0.0


flat(only_solution, fitted)


def fitted_bars(rest, z, w, A, x):
    """The cotangent of the matrix of a fit with the residuals `rest`, where z is A @ w and A.T @ z the cotangent of x."""
    return of_matrix(rest, A, w) - of_matrix(z, A, x)


@general(linalg.lsqr)
def lsqr(g, y, A, b, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, iter_lim=None, show=False, calc_var=False, x0=None):
    only_solution(g, A, b, damp)
    z = linalg.lsqr(transposed(A), g[0], 0.0, atol, btol, conlim, iter_lim)[0]
    w = linalg.lsqr(A, z, 0.0, atol, btol, conlim, iter_lim)[0]
    return fitted_bars(b - A @ y[0], z, w, A, y[0]), z


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
    damp = fitted(A, b, damp)
    z = linalg.lsqr(transposed(A), transposed(A_dot) @ (b - A @ y[0]), damp, atol, btol, conlim, iter_lim)[0]
    in_A = linalg.lsqr(A, z - A_dot @ y[0], damp, atol, btol, conlim, iter_lim)[0]
    in_b = linalg.lsqr(A, b_dot, damp, atol, btol, conlim, iter_lim)[0]
    return lsqr_result(in_A, y), lsqr_result(in_b, y)


@general(linalg.lsmr)
def lsmr(g, y, A, b, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, maxiter=None, show=False, x0=None):
    only_solution(g, A, b, damp)
    z = linalg.lsmr(transposed(A), g[0], 0.0, atol, btol, conlim, maxiter)[0]
    w = linalg.lsmr(A, z, 0.0, atol, btol, conlim, maxiter)[0]
    return fitted_bars(b - A @ y[0], z, w, A, y[0]), z


def lsmr_result(dot, y):
    """The tangent of all that `lsmr` tells, of which that of the solution alone is known."""
    return (dot, 0.0, 0.0, y[3] * np.nan, y[4] * np.nan, y[5] * np.nan, y[6] * np.nan, y[7] * np.nan)


@lsmr.forward()
def _(y, A, b, A_dot, b_dot, damp=0.0, atol=1e-06, btol=1e-06, conlim=1e8, maxiter=None, show=False, x0=None):
    damp = fitted(A, b, damp)
    z = linalg.lsmr(transposed(A), transposed(A_dot) @ (b - A @ y[0]), damp, atol, btol, conlim, maxiter)[0]
    in_A = linalg.lsmr(A, z - A_dot @ y[0], damp, atol, btol, conlim, maxiter)[0]
    in_b = linalg.lsmr(A, b_dot, damp, atol, btol, conlim, maxiter)[0]
    return lsmr_result(in_A, y), lsmr_result(in_b, y)


@general(linalg.expm_multiply)
def expm_multiply(g, y, A, B):
    return None, linalg.expm_multiply(transposed(A), g)


expm_multiply.constant("A")


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


def solved(lu, A, b):
    """`lu.solve(b)`, of the factorization of `A`."""
    return lu.solve(b)


def solved_with(lu, A, b):
    """The solution of the transposed system."""
    return lu.solve(b, "T")


@general(solved)
def _(g, x, lu, A, b):
    b_bar = solved_with(lu, A, g)
    return None, of_matrix(-b_bar, A, x), b_bar


@general(solved_with)
def _(g, x, lu, A, b):
    b_bar = solved(lu, A, g)
    return None, of_matrix(-x, A, b_bar), b_bar


instances.write_methods(linalg.splu, {"solve": instances.Method(1, solved, make=factors)})

# --- eigenvalues and singular values ---------------------------------------------------------------------------------


def unless(g):
    """1, unless a cotangent is not 0.

    >>> unless(np.zeros(2)), unless(None)
    (1.0, 1.0)
    """
    if g is not None and np.any(g):
        raise Refusal(None, "vectors of eigsh and svds have no derivative rule: those of np.linalg.eigh and svd have")
    return 1.0


def order_of(values, found):
    """Where the values of a call are among those that it finds with their vectors, which come in another order.

    >>> order_of(np.array([3.0, 2.0]), np.array([2.0, 3.0])).tolist()
    [1, 0]
    """
    return np.argsort(found)[np.argsort(np.argsort(values))]


flat(unless, order_of)


@general(linalg.eigsh)
def eigsh(g, y, A, k=6, *, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True):
    v = eigsh_vectors(y, A, k, return_eigenvectors, sigma=sigma, which=which, v0=v0, ncv=ncv, maxiter=maxiter, tol=tol)
    return of_matrix(v * (g[0] * unless(g[1]) if return_eigenvectors else g), A, v)


def eigsh_along(v, A_dot, with_vectors):
    """The tangents of the values, and of the vectors where these are asked for, which are not known."""
    values_dot = np.sum(v * (A_dot @ v), axis=0)
    return (values_dot, v * np.nan) if with_vectors else values_dot


def eigsh_vectors(y, A, k, with_vectors, **options):
    """The vectors of a call of eigsh, in the order of its values."""
    if with_vectors:
        return y[1]
    found = linalg.eigsh(A, k, **options)
    return found[1][:, order_of(y, found[0])]


@eigsh.forward()
def _(y, A, A_dot, k=6, *, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True):
    v = eigsh_vectors(y, A, k, return_eigenvectors, sigma=sigma, which=which, v0=v0, ncv=ncv, maxiter=maxiter, tol=tol)
    return eigsh_along(v, A_dot, return_eigenvectors)


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


with_own_operators(linalg.inv, of_inverse, transposed)
flat(*existing(linalg, "spbandwidth", "is_sptriangular"))
