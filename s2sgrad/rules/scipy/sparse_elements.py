"""Rules of scipy.sparse for what is done to each stored entry: functions that are 0 at 0, `A.data`, largest elements.

    B = A.sqrt()      ->      A_bar = of_elements(B_bar, entrywise(A, "sqrt", 1))       slopes, where `A` is stored

What is not stored stays 0, and has no derivative, as it has none as a number of the array.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from s2sgrad.rules.contractions import is_operator, is_small
from s2sgrad.rules.made import made as written
from s2sgrad.rules.scipy.sparse import at_places, methods, of_elements, pattern, read
from s2sgrad.rules.scipy.sparse_places import back, coordinates
from s2sgrad.rules.table import attribute_of_operators, flat, general, linear, operates, with_own_operators
from s2sgrad.runtime import Refusal

_DEGREE = np.pi / 180
# the first and the second derivative of each
DERIVATIVES: dict[str, tuple[Any, Any]] = {
    "sqrt": (lambda x: 0.5 / np.sqrt(x), lambda x: -0.25 / (x * np.sqrt(x))),
    "sin": (np.cos, lambda x: -np.sin(x)),
    "tan": (lambda x: 1 / np.cos(x) ** 2, lambda x: 2 * np.tan(x) / np.cos(x) ** 2),
    "sinh": (np.cosh, np.sinh),
    "tanh": (lambda x: 1 - np.tanh(x) ** 2, lambda x: -2 * np.tanh(x) * (1 - np.tanh(x) ** 2)),
    "arcsin": (lambda x: (1 - x * x) ** -0.5, lambda x: x * (1 - x * x) ** -1.5),
    "arctan": (lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2),
    "arcsinh": (lambda x: (1 + x * x) ** -0.5, lambda x: -x * (1 + x * x) ** -1.5),
    "arctanh": (lambda x: 1 / (1 - x * x), lambda x: 2 * x / (1 - x * x) ** 2),
    "expm1": (np.exp, np.exp),
    "log1p": (lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2),
    "deg2rad": (lambda x: np.full_like(x, _DEGREE), np.zeros_like),
    "rad2deg": (lambda x: np.full_like(x, 1 / _DEGREE), np.zeros_like),
    "abs": (np.sign, np.zeros_like),
}


def entrywise(A, name, order):
    """The derivative of this order of a function, at each stored entry."""
    if order >= 3:
        raise Refusal(None, f"`{name}` of a sparse array has derivatives of two orders: write it as `np.{name}` of the data")
    if is_small(A):
        with np.errstate(all="ignore"):
            slopes = DERIVATIVES[name][order - 1](A.toarray())
        return np.where(np.isfinite(slopes) | (pattern(A).toarray() > 0), slopes, 0.0)
    c = A.tocsr(copy=True)
    c.sum_duplicates()
    c.data = DERIVATIVES[name][order - 1](c.data)
    return c


@general(entrywise)
def _(g, y, A, name, order):
    return of_elements(g, entrywise(A, name, order + 1)), None, None


_TEXT = """
def {name}_of(A):
    return A.{name}()

def pullback(g, y, self):
    return of_elements(g, entrywise(self, "{name}", 1))

def tangent(y, self, self_dot):
    return of_elements(self_dot, entrywise(self, "{name}", 1))
"""
for _name in DERIVATIVES:
    _own = "__abs__" if _name == "abs" else _name
    _found = written(_TEXT.format(name=_name).replace(f"A.{_name}()", f"A.{_own}()"), f"{__name__}.of_{_name}",
                     {"of_elements": of_elements, "entrywise": entrywise})  # fmt: skip
    _function = _found[f"{_name}_of"]
    _methods = methods(_own)
    general(*_methods, _function)(_found["pullback"]).forward()(_found["tangent"])
    operates(getattr(np, _name), _function)
    with_own_operators(*_methods, _function)
operates(builtins.abs, _found["abs_of"])
flat(*methods("sign", "rint", "floor", "ceil", "trunc"))
with_own_operators(*methods("sign", "rint", "floor", "ceil", "trunc"))

# --- the data --------------------------------------------------------------------------------------------------------


def data_of(A):
    """`A.data` of a sparse array that stores a place once."""
    return A.data


def stored_once(A):
    """The places of `A.data`; Refusal for an array whose data are not its entries, one by one."""
    if A.format not in ("csr", "csc", "coo"):
        raise Refusal(None, f"`data` of a {A.format} array has no derivative rule: use `A.tocsr().data`")
    c = A.tocoo()
    where = (c.row, c.col)
    if len(np.unique(c.row * np.int64(c.shape[1]) + c.col)) != len(c.row):
        raise Refusal(None, "`data` of a sparse array that stores a place twice has no derivative rule: call "
                            "`A.sum_duplicates()` before")  # fmt: skip
    return where


flat(stored_once)


@general(data_of)
def _data_of(g, y, A):
    return at_places(g, stored_once(A), A)


@_data_of.forward()
def _(y, A, A_dot):
    return read_all(A_dot, stored_once(A))


def read_all(A_dot, where):
    """The elements of a tangent at these places; Refusal where it has others, which came to be 0 by chance."""
    found = read(A_dot, *where)
    if np.count_nonzero(found) < np.count_nonzero(A_dot.toarray() if is_small(A_dot) else A_dot.tocsr().data):
        raise Refusal(None, "an element of a sparse array is 0 by chance and not stored: its derivative is not in the data")
    return found


@linear(read_all)
def _(g, y, A_dot, where):
    return at_places(g, where, A_dot), None


attribute_of_operators("data", data_of)

# --- the largest and the smallest ------------------------------------------------------------------------------------


def chosen(A, y, axis):
    """The numbers of the entries that are the largest, the first where several are; 0 where an element is not stored."""
    if axis is not None or is_operator(y):
        raise Refusal(None, "the largest element of a sparse array has a derivative rule without `axis`: use "
                            "`np.max(A.toarray(), axis=..)`")  # fmt: skip
    here = np.flatnonzero(read(A, *coordinates(A)) == y)
    return np.array(here[0] + 1 if len(here) else 0)


flat(chosen)


@general(*methods("max"), *methods("min"))
def extreme(g, y, self, axis=None):
    return back(g, chosen(self, y, axis), self)


@extreme.forward()
def _(y, self, self_dot, axis=None):
    return element(self_dot, chosen(self, y, axis), self)


def element(w, number, like):
    """The element of this number of an array."""
    return np.append(0.0, read(w, *coordinates(like)))[number]


@linear(element)
def _(g, y, w, number, like):
    return back(g, number, like), None, None
