"""Rules of numpy.polynomial: values, derivatives, integrals, products, quotients, roots and fits of series in six bases.

    y = polyval(x, c)       ->      x_bar = y_bar * polyval(x, polyder(c)); c_bar = y_bar @ polyvander(x, len(c) - 1)
    d = chebder(c)          ->      c_bar = chebder(np.eye(len(c))).T @ d_bar
    p = legmul(a, b)        ->      a_bar = sums of p_bar and b with the products of the basis
    q, r = legdiv(u, v)     ->      from u = q v + r: dq and dr are the quotient and the rest of du - q dv
    r = hermroots(c)        ->      c_bar = -(r_bar / hermval(r, hermder(c))) @ hermvander(r, len(c) - 1)
    c = chebfit(x, y, 3)    ->      y_bar = pinv(chebvander(x, 3)).T @ c_bar

What is linear in the coefficients is the matrix of what it makes of the unit vectors.  NumPy drops zeros at the end of sums
and products: they have the cotangent 0.  Coefficients are those of one series; arrays of several are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils

from s2sgrad.rules.made import made
from s2sgrad.rules.reductions import is_container
from s2sgrad.rules.table import flat, general, linear, may_turn_complex, with_sizes_of_their_own


def fitted(g, n):
    """A series with `n` coefficients: further ones are dropped, missing ones are 0.

    >>> fitted(np.ones(2), 3), fitted(np.ones(2), 1)
    (array([1., 1., 0.]), array([1.]))
    """
    if np.shape(g)[0] >= n:
        return g[:n]
    return np.concatenate((g, np.zeros((n - np.shape(g)[0],) + np.shape(g)[1:], np.result_type(g))))


@linear(fitted)
def _(w, y, g, n):
    return fitted(w, np.shape(g)[0]), None


def matrix(function, n, g, *arguments):
    """The matrix of a function that is linear in `n` coefficients, of the type of `g`."""
    columns = [function(unit, *arguments) for unit in np.eye(n, dtype=np.result_type(g))]
    return np.stack([fitted(column, max(map(len, columns))) for column in columns], axis=1)


def products(multiply, m, n, g):
    """The coefficients of the products of the first members of a basis, by the result, the first and the second factor."""
    out = np.zeros((m + n - 1, m, n), np.result_type(g))
    for i in range(m):
        for j in range(n):
            p = multiply(np.eye(m)[i], np.eye(n)[j])
            out[: len(p), i, j] = p
    return out


flat(matrix, products)

# {p} is the prefix of the functions of a basis
TEXT = """
def {p}val(g, y, x, c, tensor=True):
    places = np.ravel(x)
    c_bar = np.ravel(g) @ {p}vander_of(places, np.size(c) - 1)
    return g * {p}val_of(x, {p}der_of(c)), c_bar


def {p}val_tangents(y, x, c, x_dot, c_dot, tensor=True):
    return x_dot * {p}val_of(x, {p}der_of(c)), {p}val_of(x, c_dot)


def {p}vander(g, v, x, deg):
    slope = {p}vander_of(x, max(deg - 1, 0)) @ matrix({p}der_of, deg + 1, x)
    return np.reshape(np.sum(g * slope, axis=-1), np.shape(x)), None


def {p}vander_tangents(v, x, deg, x_dot, deg_dot):
    slope = {p}vander_of(x, max(deg - 1, 0)) @ matrix({p}der_of, deg + 1, x)
    return np.expand_dims(x_dot, -1) * slope, None


def {p}der(g, y, c, m=1, scl=1):
    return g @ matrix({p}der_of, np.shape(c)[0], g, m, scl)


def {p}der_tangents(y, c, c_dot, m=1, scl=1):
    return {p}der_of(c_dot, m, scl)


def {p}int(g, y, c, m=1, k=0, lbnd=0, scl=1):
    return g @ matrix({p}int_of, np.shape(c)[0], g, m, [0] * m, lbnd, scl)


def {p}int_tangents(y, c, c_dot, m=1, k=0, lbnd=0, scl=1):
    return {p}int_of(c_dot, m, [0] * m, lbnd, scl)


def {p}add(g, y, c1, c2):
    return np.reshape(fitted(g, np.size(c1)), np.shape(c1))[()], np.reshape(fitted(g, np.size(c2)), np.shape(c2))[()]


def {p}add_tangents(y, c1, c2, c1_dot, c2_dot):
    return fitted(np.ravel(c1_dot), np.shape(y)[0]), fitted(np.ravel(c2_dot), np.shape(y)[0])


def {p}sub(g, y, c1, c2):
    return np.reshape(fitted(g, np.size(c1)), np.shape(c1))[()], -np.reshape(fitted(g, np.size(c2)), np.shape(c2))


def {p}sub_tangents(y, c1, c2, c1_dot, c2_dot):
    return fitted(np.ravel(c1_dot), np.shape(y)[0]), -fitted(np.ravel(c2_dot), np.shape(y)[0])


def {p}mul(g, y, c1, c2):
    table = products({p}mul_of, np.size(c1), np.size(c2), y)[: np.shape(y)[0]]
    c1_bar = np.reshape(np.einsum("kij,k,j->i", table, g, np.ravel(c2)), np.shape(c1))
    return c1_bar, np.reshape(np.einsum("kij,k,i->j", table, g, np.ravel(c1)), np.shape(c2))


def {p}mul_tangents(y, c1, c2, c1_dot, c2_dot):
    table = products({p}mul_of, np.size(c1), np.size(c2), y)[: np.shape(y)[0]]
    along = np.einsum("kij,i,j->k", table, np.ravel(c1_dot), np.ravel(c2))
    return along, np.einsum("kij,i,j->k", table, np.ravel(c1), np.ravel(c2_dot))


def {p}multiples(c1, c2):
    table = products({p}mul_of, np.size(c1) - np.size(c2) + 1, np.size(c2), c2)
    return np.einsum("kij,j->ki", table, np.ravel(c2)), table


def {p}div(g, y, c1, c2):
    if np.size(c1) < np.size(c2):
        return np.reshape(fitted(g[1], np.size(c1)), np.shape(c1)), np.zeros_like(c2)
    whole, table = {p}multiples(c1, c2)
    n = np.size(c2) - 1
    rest = fitted(g[1], n)
    owed = np.linalg.solve(whole[n:].T, fitted(g[0], np.size(c1) - n) - rest @ whole[:n])
    owed = np.concatenate((rest, owed))
    return np.reshape(owed, np.shape(c1)), -np.reshape(np.einsum("kij,k,i->j", table, owed, y[0]), np.shape(c2))


def {p}divided(y, w, c1, c2):
    if np.size(c1) < np.size(c2):
        return np.zeros_like(y[0]), fitted(w, np.size(y[1]))
    whole, n = {p}multiples(c1, c2)[0], np.size(c2) - 1
    quotient = np.linalg.solve(whole[n:], w[n:])
    return fitted(quotient, np.size(y[0])), fitted(w[:n] - whole[:n] @ quotient, np.size(y[1]))


def {p}div_tangents(y, c1, c2, c1_dot, c2_dot):
    table = products({p}mul_of, np.size(y[0]), np.size(c2), y[0])
    owed = fitted(np.einsum("kij,i,j->k", table, y[0], np.ravel(c2_dot)), np.size(c1))
    return {p}divided(y, np.ravel(c1_dot), c1, c2), {p}divided(y, -owed, c1, c2)


def {p}roots(g, r, c):
    return -(g / {p}val_of(r, {p}der_of(c))) @ {p}vander_of(r, np.size(c) - 1)


def {p}roots_tangents(r, c, c_dot):
    return -({p}vander_of(r, np.size(c) - 1) @ c_dot) / {p}val_of(r, {p}der_of(c))


def {p}fromroots(g, y, roots):
    bar = np.zeros_like(roots[:0])
    for k in range(np.size(roots)):
        bar = np.append(bar, -np.sum(fitted(g, np.size(roots)) * {p}fromroots_of(np.delete(roots, k))))
    return bar


def {p}mulx(g, y, c):
    return fitted(g, np.shape(c)[0] + 1) @ matrix({p}mulx_of, np.shape(c)[0], g)


def {p}mulx_tangents(y, c, c_dot):
    return fitted({p}mulx_of(c_dot), np.shape(y)[0])


def {p}pow(g, y, c, pow, maxpower=None):
    less = {p}pow_of(c, max(pow - 1, 0))
    table = products({p}mul_of, np.shape(less)[0], np.shape(c)[0], y)[: np.shape(y)[0]]
    return pow * np.einsum("kij,k,i->j", table, fitted(g, np.shape(table)[0]), less), None


def {p}fit(g, c, x, y, deg):
    v = {p}vander_of(x, deg)
    inverse = np.linalg.pinv(v)
    back = inverse.T @ g
    residual = y - v @ c
    v_bar = np.outer(residual, inverse @ back) - np.outer(back, c)
    slope = {p}vander_of(x, max(deg - 1, 0)) @ matrix({p}der_of, deg + 1, x)
    return np.sum(v_bar * slope, axis=-1), back, None
"""


@general(polyutils.mapdomain)
def mapdomain(g, y, x, old, new):
    u = (x - old[0]) / (old[1] - old[0])
    scale = (new[1] - new[0]) / (old[1] - old[0])
    old_bar = scale * np.array([np.sum(g * (u - 1.0)), -np.sum(g * u)])
    return g * scale, old_bar, np.array([np.sum(g * (1.0 - u)), np.sum(g * u)])


@mapdomain.forward()
def _(y, x, old, new, x_dot, old_dot, new_dot):
    u = (x - old[0]) / (old[1] - old[0])
    scale = (new[1] - new[0]) / (old[1] - old[0])
    return x_dot * scale, scale * ((u - 1.0) * old_dot[0] - u * old_dot[1]), (1.0 - u) * new_dot[0] + u * new_dot[1]


ONE = "a polynomial with several series of coefficients has no derivative rule: loop over the series"


def several(c):
    """Whether coefficients may be those of several series, or are no array."""
    return is_container(c) or getattr(c, "rank", None) not in (None, 1)


def several_of_two(c):
    """The same of a function of two polynomials, of which one may be a number."""
    return several(c) and getattr(c, "rank", None) != 0


def enter(module, prefix):
    """Enter the rules of a basis."""
    names = ("val", "vander", "der", "int", "add", "sub", "mul", "mulx", "div", "pow", "fit", "roots", "fromroots")
    functions: dict[str, Any] = {name: getattr(module, prefix + name) for name in names}
    space: dict[str, Any] = {"np": np, "fitted": fitted, "matrix": matrix, "products": products}
    space |= {f"{prefix}{name}_of": f for name, f in functions.items()}
    space = made(TEXT.format(p=prefix), f"{__name__}.{prefix}", space)
    for name, function in functions.items():
        linearly = name in ("add", "sub", "mulx", "der")
        rule = (linear if linearly else general)(function)(space[prefix + name])
        if f"{prefix}{name}_tangents" in space:
            rule.forward()(space[f"{prefix}{name}_tangents"])
        if name in ("val", "der", "int", "mulx", "pow", "roots"):
            rule.refuse(lambda c: several(c), ONE)
        elif name in ("add", "sub", "mul", "div"):
            rule.refuse(lambda c1, c2: several_of_two(c1) or several_of_two(c2), ONE)
        elif name == "fit":
            rule.refuse(lambda y: several(y), ONE)
            rule.constant("deg")
        if name == "vander":
            rule.constant("deg")
        if name == "pow":
            rule.constant("pow")
        if name == "roots":
            may_turn_complex(function)
        if name in ("div", "roots"):
            with_sizes_of_their_own(function)


for _module, _prefix in ((polynomial, "poly"), (chebyshev, "cheb"), (legendre, "leg"), (laguerre, "lag"),
                         (hermite, "herm"), (hermite_e, "herme")):  # fmt: skip
    enter(_module, _prefix)
