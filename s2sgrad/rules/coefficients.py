"""Rules of polynomials as arrays of coefficients: polyadd, polysub, polymul, polydiv, poly.

    y = np.polymul(a, b)     ->      a_bar = np.correlate(y_bar, b, "valid")
    q, r = np.polydiv(u, v)  ->      from u = q * v + r: what q owes is divided backwards

The results have lost their leading zeros, whose cotangents are 0.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.table import flat, general, linear, with_sizes_of_their_own
from s2sgrad.runtime import Refusal

ONE = "a polynomial whose coefficients are arrays has no derivative rule: NumPy broadcasts them; take one row at a time"


def are_arrays(kind):
    """Whether the coefficients are arrays themselves."""
    items = getattr(kind, "items", None) or ()
    return (kind.rank or 0) > 1 or any(item.rank or hasattr(item, "items") for item in items)


def length(a):
    """How many coefficients a polynomial has, checked: a number is one."""
    if np.ndim(a) > 1:
        raise Refusal(None, ONE)
    return np.size(a)


flat(length)


def trailing(g, a):
    """The cotangent of the last coefficients of a sum, as many as `a` has; the leading ones may have gone."""
    size, _ = length(a), length(g)  # of rows, either is refused
    g = np.ravel(g)
    g = g[max(np.size(g) - size, 0) :]
    return np.reshape(np.pad(g, (size - np.size(g), 0)), np.shape(a))


@linear(trailing)
def _(w, y, g, a):
    return trailing(w, g), None


@linear(np.polyadd)
def polyadd(g, y, a1, a2):
    return trailing(g, a1), trailing(g, a2)


@linear(np.polysub)
def polysub(g, y, a1, a2):
    return trailing(g, a1), trailing(-g, a2)


for _rule in (polyadd, polysub):
    _rule.refuse(lambda a1, a2: are_arrays(a1) or are_arrays(a2), ONE)


def length_of_product(a, b):
    """A row as long as the product."""
    return np.zeros(np.size(a) + np.size(b) - 1)


flat(length_of_product)


@general(np.polymul)
def polymul(g, y, a1, a2):
    g = trailing(g, length_of_product(a1, a2))
    a1_bar, a2_bar = np.correlate(g, np.ravel(a2), "valid"), np.correlate(g, np.ravel(a1), "valid")
    return np.reshape(a1_bar[: np.size(a1)], np.shape(a1)), np.reshape(a2_bar[: np.size(a2)], np.shape(a2))


@polymul.forward()
def _(y, a1, a2, a1_dot, a2_dot):
    return (
        trailing(np.convolve(np.ravel(a1_dot), np.ravel(a2)), y),
        trailing(np.convolve(np.ravel(a1), np.ravel(a2_dot)), y),
    )


def of_degree(u, v):
    """How many coefficients the quotient has, checked."""
    if length(u) < length(v):
        raise Refusal(None, "`np.polydiv` by a polynomial of a higher degree has no derivative rule: it gives 0")
    return np.size(u) - np.size(v) + 1


flat(of_degree)


def divided_back(x, v):
    """The transpose of the division of as many leading coefficients by `v`."""
    return np.polydiv(np.pad(x[::-1], (0, np.size(v) - 1)), v)[0][::-1]


@general(np.polydiv)
def polydiv(g, y, u, v):
    m, shapes = of_degree(u, v), (np.shape(u), np.shape(v))
    u, v = np.ravel(u), np.ravel(v)  # numbers are polynomials, too
    rest = trailing(g[1], u)
    owed = trailing(g[0], np.zeros_like(u[:m])) - np.correlate(rest, v, "valid")
    u_bar = rest + np.pad(divided_back(owed, v), (0, np.size(v) - 1))
    return np.reshape(u_bar, shapes[0]), np.reshape(-np.correlate(u_bar, y[0], "valid"), shapes[1])


def divided_along(y, u_dot, v):
    """The tangents of the quotient and of the remainder."""
    dots = np.polydiv(np.ravel(u_dot), np.ravel(v))
    return trailing(dots[0], y[0]), trailing(dots[1], y[1])


@polydiv.forward()
def _(y, u, v, u_dot, v_dot):
    return divided_along(y, u_dot, v), divided_along(y, -np.convolve(y[0], np.ravel(v_dot)), v)


def one_row(z):
    """The roots of a polynomial, checked: NumPy takes a matrix for its eigenvalues."""
    if np.ndim(z) != 1:
        raise Refusal(None, "`np.poly` of a matrix has no derivative rule; use np.poly(np.linalg.eigvals(a))")


flat(one_row)


@general(np.poly)
def poly(g, y, seq_of_zeros):
    one_row(seq_of_zeros)
    bar = np.zeros_like(seq_of_zeros[:0])
    for k in range(np.size(seq_of_zeros)):
        bar = np.append(bar, -np.sum(g[1:] * np.poly(np.delete(seq_of_zeros, k))))
    return bar


with_sizes_of_their_own(np.polydiv)
