"""Rules of scipy.linalg: solving, inverse, determinant, exponential.  `cholesky.py` and `blocks.py` have the others.

    y = linalg.solve_triangular(a, b)   ->  b_bar = linalg.solve_triangular(a, y_bar, trans=1)
                                            a_bar = -np.triu(np.outer(b_bar, y))

Where SciPy reads one triangle of a matrix, the cotangent lies in that triangle.  The formulas are those of Giles (2008),
"Collected matrix derivative results".  Keywords that overwrite an argument are refused.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2sgrad.rules.linalg import adjoint, cofactors, filled, hermitian, one_matrix
from s2sgrad.rules.linalg import folded as folded_hermitian
from s2sgrad.rules.linalg import lower as half_lower
from s2sgrad.rules.table import flat, general, of_complex_numbers
from s2sgrad.runtime import Refusal, unbroadcast

HERMITIAN = ("her", "hermitian", "pos", "positive definite")
SYMMETRIC = ("sym", "symmetric", *HERMITIAN)
GENERAL = (None, "gen", "general")


def turned(m):
    """The transposes of matrices."""
    return np.swapaxes(m, -1, -2)


def is_vector(a, b):
    """Whether the right side of a system with the matrix `a` is a vector."""
    if np.ndim(b) == 1 and np.ndim(a) > 2:
        raise Refusal(None, "solving with a stack of matrices and a vector has no derivative rule; use b[:, None]")
    return np.ndim(b) == 1


def of_rank(rank, *arrays):
    """Raise for arrays of any other number of axes: for stacks of matrices, or for numbers."""
    for a in arrays:
        if np.ndim(a) != rank:
            raise Refusal(None, f"with {np.ndim(a)} axes instead of {rank} this has no derivative rule: take each alone")
    return True


def of_matrices(*arrays):
    """Raise for numbers and vectors, of which SciPy makes matrices."""
    for a in arrays:
        if np.ndim(a) < 2:
            raise Refusal(None, "a function of matrices has no derivative rule for numbers: pass matrices of one")
    return True


flat(is_vector, of_rank, of_matrices)


def outer(u, v, vector):
    """`u @ v.T` of matrices, of vectors where `vector` is true."""
    if vector:
        return np.expand_dims(u, -1) * np.expand_dims(v, -2)
    return u @ turned(v)


def triangle(m, lower, k=0):
    """The lower or the upper triangle, `k` off the diagonal."""
    return np.tril(m, -k) if lower else np.triu(m, k)


def folded(m, lower):
    """The cotangent of the one triangle that is read of a symmetric matrix with the cotangent `m`."""
    bar = half_lower(m + turned(m))
    return bar if lower else turned(bar)


# --- solving ---------------------------------------------------------------------------------------------------------


def assumption(assume_a):
    """`assume_a`, checked to be one that has a rule."""
    if assume_a not in GENERAL and assume_a not in SYMMETRIC:
        raise Refusal(None, f"scipy.linalg.solve with assume_a={assume_a!r} has no derivative rule; use 'gen'")
    return assume_a


def is_symmetric(assume_a):
    return assume_a in SYMMETRIC


def is_hermitian(assume_a):
    return assume_a in HERMITIAN


def other_way(trans):
    """The `trans` of the transposed system."""
    return 1 if trans in (0, "N") else 0


def conjugates(trans):
    """Whether the system of the conjugate transpose is solved."""
    return trans in (2, "C")


flat(assumption, is_symmetric, is_hermitian, other_way, conjugates)


def is_of_one(a, b):
    """Whether a system has one unknown, and right sides of any size."""
    return np.size(a) == 1 or np.ndim(b) < 1


flat(is_of_one)


def each_times(y, factors):
    """The solutions `y` of systems of one, each times its factor.

    >>> each_times(np.ones((2, 3)), np.array([[[2.0]], [[5.0]]])).tolist()
    [[2.0, 2.0, 2.0], [5.0, 5.0, 5.0]]
    """
    return np.reshape(np.reshape(y, (np.size(factors), -1)) * np.reshape(factors, (-1, 1)), np.shape(y))


def of_each(products, a):
    """The sums of `products` over the solutions of each system of one, in the shape of the matrices `a`."""
    return np.reshape(np.sum(np.reshape(products, (np.size(a), -1)), axis=1), np.shape(a))


@general(linalg.solve)
def solve(g, y, a, b, lower=False, *, check_finite=True, assume_a=None, transposed=False):
    if is_of_one(a, b):
        return np.divide(-of_each(g * y, a), a), unbroadcast(each_times(g, np.divide(1.0, a)), b)
    vector = is_vector(a, b)
    if is_hermitian(assumption(assume_a)):
        b_bar = np.conj(linalg.solve(a, np.conj(g), lower=lower, assume_a=assume_a))
        a_bar = folded_hermitian(np.conj(-outer(b_bar, y, vector)), "L" if lower else "U")
        return unbroadcast(a_bar, a), unbroadcast(b_bar, b)
    if is_symmetric(assume_a):
        b_bar = linalg.solve(a, g, lower=lower, assume_a=assume_a)
        return unbroadcast(folded(-outer(b_bar, y, vector), lower), a), unbroadcast(b_bar, b)
    b_bar = linalg.solve(a, g) if transposed else linalg.solve(turned(a), g)
    a_bar = outer(y, b_bar, vector) if transposed else outer(b_bar, y, vector)
    return unbroadcast(-a_bar, a), unbroadcast(b_bar, b)


def plain(assume_a, transposed):
    known = assume_a.known and transposed.known
    return known and assume_a.value in GENERAL and not transposed.value


def plain_matrix(a, assume_a, transposed):
    """A matrix that is not known to be a single number, for which SciPy divides right sides of any size."""
    return a.rank == 2 and 1 not in (getattr(a, "dims", None) or ()) and plain(assume_a, transposed)


@solve.refined(lambda a, b, assume_a, transposed: b.rank == 1 and plain_matrix(a, assume_a, transposed))
def _(g, y, a, b, lower=False, *, check_finite=True, assume_a=None, transposed=False):
    b_bar = linalg.solve(a.T, g)
    return -np.outer(b_bar, y), b_bar


@solve.refined(lambda a, b, assume_a, transposed: b.rank == 2 and plain_matrix(a, assume_a, transposed))
def _(g, y, a, b, lower=False, *, check_finite=True, assume_a=None, transposed=False):
    b_bar = linalg.solve(a.T, g)
    return -(b_bar @ y.T), b_bar


@solve.forward(lambda a, b, assume_a, transposed: b.rank in (1, 2) and plain_matrix(a, assume_a, transposed))
def _(y, a, b, a_dot, b_dot, lower=False, *, check_finite=True, assume_a=None, transposed=False):
    return -linalg.solve(a, a_dot @ y), linalg.solve(a, b_dot)


@solve.forward_jointly(lambda a, b, assume_a, transposed: b.rank in (1, 2) and plain_matrix(a, assume_a, transposed))
def _(y, a, b, a_dot, b_dot, lower=False, *, check_finite=True, assume_a=None, transposed=False):
    return linalg.solve(a, b_dot - a_dot @ y)


def solved(a, b, lower, assume_a, transposed):
    if is_symmetric(assumption(assume_a)):
        return linalg.solve(a, b, lower=lower, assume_a=assume_a)
    return linalg.solve(turned(a), b) if transposed else linalg.solve(a, b)


def change_along(y, a, b, a_dot, lower, assume_a, transposed):
    """What the tangent of the matrix does to the solution: `a_dot @ y`."""
    if is_hermitian(assume_a):
        change = hermitian(a_dot, lower)
    else:
        change = filled(a_dot, lower) if is_symmetric(assume_a) else turned(a_dot) if transposed else a_dot
    side = np.expand_dims(y, -1) if is_vector(a, b) else y
    return np.reshape(change @ side, np.shape(y))


def along_matrix(y, a, b, a_dot, lower, assume_a, transposed):
    """What the tangent of the matrix adds to that of the solution."""
    if is_of_one(a, b):
        return -each_times(y, np.divide(a_dot, a))
    return -solved(a, change_along(y, a, b, a_dot, lower, assume_a, transposed), lower, assume_a, transposed)


def along_right_side(y, a, b, b_dot, lower, assume_a, transposed):
    """What the tangent of the right side adds to that of the solution."""
    if is_of_one(a, b):
        return each_times(y * 0.0 + b_dot, np.divide(1.0, a))
    return solved(a, b_dot, lower, assume_a, transposed)


@solve.forward(lambda a, b, assume_a, transposed: b.rank not in (1, 2) or not plain_matrix(a, assume_a, transposed))
def _(y, a, b, a_dot, b_dot, lower=False, *, check_finite=True, assume_a=None, transposed=False):
    along_side = along_right_side(y, a, b, b_dot, lower, assume_a, transposed)
    return along_matrix(y, a, b, a_dot, lower, assume_a, transposed), along_side


solve.refuse(
    lambda assume_a: assume_a.known and assume_a.value not in GENERAL and assume_a.value not in SYMMETRIC,
    "`scipy.linalg.solve` with this assume_a has no derivative rule: use 'gen' or 'pos'",
)


@general(linalg.solve_triangular)
def solve_triangular(g, y, a, b, trans=0, lower=False, unit_diagonal=False, *, check_finite=True):
    vector, back = is_vector(a, b), other_way(trans)
    if conjugates(trans):
        b_bar = np.conj(linalg.solve_triangular(a, np.conj(g), lower=lower, unit_diagonal=unit_diagonal))
        a_bar = np.conj(outer(y, b_bar, vector))
    else:
        b_bar = linalg.solve_triangular(a, g, trans=back, lower=lower, unit_diagonal=unit_diagonal)
        a_bar = outer(b_bar, y, vector) if back else outer(y, b_bar, vector)
    return unbroadcast(-triangle(a_bar, lower, 1 if unit_diagonal else 0), a), unbroadcast(b_bar, b)


def usual(trans, unit_diagonal):
    known = trans.known and unit_diagonal.known
    return known and trans.value in (0, "N") and not unit_diagonal.value


@solve_triangular.refined(
    lambda a, b, trans, unit_diagonal, lower: (a.rank, b.rank) == (2, 1)
    and usual(trans, unit_diagonal) and lower.known and bool(lower.value)
)  # fmt: skip
def _(g, y, a, b, trans=0, lower=False, unit_diagonal=False, *, check_finite=True):
    b_bar = linalg.solve_triangular(a, g, trans=1, lower=True)
    return -np.tril(np.outer(b_bar, y)), b_bar


@solve_triangular.refined(
    lambda a, b, trans, unit_diagonal, lower: (a.rank, b.rank) == (2, 2)
    and usual(trans, unit_diagonal) and lower.known and bool(lower.value)
)  # fmt: skip
def _(g, y, a, b, trans=0, lower=False, unit_diagonal=False, *, check_finite=True):
    b_bar = linalg.solve_triangular(a, g, trans=1, lower=True)
    return -np.tril(b_bar @ y.T), b_bar


def of_one(a, b, trans, unit_diagonal, lower):
    """One matrix, of which the upper or the lower triangle is known to be read."""
    return a.rank == 2 and b.rank in (1, 2) and usual(trans, unit_diagonal) and lower.known


def of_lower(a, b, trans, unit_diagonal, lower):
    return of_one(a, b, trans, unit_diagonal, lower) and bool(lower.value)


@solve_triangular.forward(of_one)
def _(y, a, b, a_dot, b_dot, trans=0, lower=False, unit_diagonal=False, *, check_finite=True):
    return -linalg.solve_triangular(a, np.triu(a_dot) @ y), linalg.solve_triangular(a, b_dot)


@solve_triangular.forward_jointly(of_one)
def _(y, a, b, a_dot, b_dot, trans=0, lower=False, unit_diagonal=False, *, check_finite=True):
    return linalg.solve_triangular(a, b_dot - np.triu(a_dot) @ y)


@solve_triangular.forward(of_lower)
def _(y, a, b, a_dot, b_dot, trans=0, lower=False, unit_diagonal=False, *, check_finite=True):
    return -linalg.solve_triangular(a, np.tril(a_dot) @ y, lower=True), linalg.solve_triangular(a, b_dot, lower=True)


@solve_triangular.forward_jointly(of_lower)
def _(y, a, b, a_dot, b_dot, trans=0, lower=False, unit_diagonal=False, *, check_finite=True):
    return linalg.solve_triangular(a, b_dot - np.tril(a_dot) @ y, lower=True)


def solved_along(y, a, b, a_dot, trans, lower, unit_diagonal):
    """What the tangent of the matrix adds to that of the solution."""
    change = triangle(a_dot, lower, 1 if unit_diagonal else 0)
    change = adjoint(change) if conjugates(trans) else turned(change) if other_way(trans) == 0 else change
    side = np.expand_dims(y, -1) if is_vector(a, b) else y
    return -linalg.solve_triangular(a, np.reshape(change @ side, np.shape(y)), trans, lower, unit_diagonal)


@solve_triangular.forward(lambda trans, unit_diagonal, lower: not (usual(trans, unit_diagonal) and lower.known))
def _(y, a, b, a_dot, b_dot, trans=0, lower=False, unit_diagonal=False, *, check_finite=True):
    along_side = linalg.solve_triangular(a, b_dot, trans, lower, unit_diagonal)
    return solved_along(y, a, b, a_dot, trans, lower, unit_diagonal), along_side


# --- inverse, determinant, exponential -------------------------------------------------------------------------------


@general(linalg.inv)
def inv(g, y, a, *, check_finite=True):
    return -(turned(y) @ g @ turned(y))


@inv.refined(one_matrix)
def _(g, y, a, *, check_finite=True):
    return -(y.T @ g @ y.T)


@inv.forward()
def _(y, a, a_dot, *, check_finite=True):
    return -(y @ a_dot @ y)


@general(linalg.det)
def det(g, y, a, *, check_finite=True):
    return np.expand_dims(g, (-2, -1)) * cofactors(a)


@det.refined(one_matrix)
def _(g, y, a, *, check_finite=True):
    return g * cofactors(a)


@det.forward()
def _(y, a, a_dot, *, check_finite=True):
    return np.sum(cofactors(a) * a_dot, axis=(-2, -1))


@det.forward(one_matrix)
def _(y, a, a_dot, *, check_finite=True):
    return np.sum(cofactors(a) * a_dot)


of_complex_numbers(linalg.solve, linalg.solve_triangular, linalg.inv, linalg.det)

# --- matrices of whole numbers ---------------------------------------------------------------------------------------

flat(linalg.dft, linalg.hadamard, linalg.helmert, linalg.hilbert, linalg.invhilbert, linalg.pascal, linalg.invpascal)
