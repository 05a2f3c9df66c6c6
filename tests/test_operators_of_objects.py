"""Objects with operators of their own that meet a derivative, out of lists and of what is unknown: right, or refused.

b = scalings.pop(); np.sum(x * b)      ->      `b` says what `x * b` is, and no rule of NumPy's does
"""

from __future__ import annotations

import array
import collections
import fractions

import numpy as np
import pytest

from s2sgrad import S2SGradError, grad, jvp
from s2sgrad.source import defined

sparse = pytest.importorskip("scipy.sparse")

pytestmark = pytest.mark.records

X = np.array([1.3, 2.1])
A = np.array([[1.0, 2.0], [3.0, 4.0]])


class Squaring:
    __array_ufunc__ = None

    def __mul__(self, other):
        return 3.0 * other

    def __rmul__(self, other):
        return 3.0 * other * other

    __rmatmul__ = __rmul__

    def itself(self):
        return self


class ByRows:
    __array_ufunc__ = None

    def __init__(self, rows):
        self.rows = rows

    def __mul__(self, other):
        return self.rows @ other

    def __rmul__(self, other):
        return other @ self.rows

    __rmatmul__ = __rmul__

    def itself(self):
        return self


class Box(list):
    def first(self):
        return self[0]

    def __neg__(self):
        return self[0]


MAKERS = {
    "an object": Squaring,
    "an object that holds an array": lambda: ByRows(A),
    "a sparse matrix": lambda: sparse.csr_matrix(A),
    "a sparse array": lambda: sparse.csr_array(A),
    "an array": lambda: A,
    "a number": lambda: 2.5,
}
OUT_OF = {
    "an item": (list, "b = s[0]"),
    "popped": (list, "b = s.pop()"),
    "of a dict": (list, "b = {'m': s[0]}.get('m')"),
    "of a deque": (list, "b = collections.deque(s).popleft()"),
    "of a list that is chosen by the run": (list, "b = [1.0, s[0]][int(x[0])]"),
    "in a loop": (list, "b = 1.0\n    for b in s: pass"),
    "of a method": (Box, "b = s.first()"),
    "of an operator": (Box, "b = -s"),
    "of the outside": (list, "HELD[:] = s\n    b = HELD[0]"),
    "of an attribute": (list, "OUTSIDE.held = s\n    b = OUTSIDE.held.pop()"),
}
USES = ("x * b", "b * x", "x @ b")


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("way", OUT_OF)
@pytest.mark.parametrize("made", MAKERS)
def test_the_operators_of_an_object_are_its_own(made, way, use):
    container, bound = OUT_OF[way]
    names = {"np": np, "collections": collections, "HELD": [], "OUTSIDE": type("Outside", (), {})()}
    f = defined(f"def f(x, s):\n    {bound}\n    return np.sum(np.ravel({use}) ** 2)\n", "f", f"<{made} {way} {use}>", names)

    def given():
        return container([MAKERS[made]()])

    try:
        if not isinstance(f(X, given()), float):
            pytest.skip("the operator gives no array")
        slopes = [(f(X + step, given()) - f(X - step, given())) / 2e-6 for step in 1e-6 * np.eye(2)]
    except (TypeError, ValueError):
        pytest.skip("the object has no such operator")
    for found in (lambda: grad(f)(X, given()), lambda: [jvp(f, (X, given()), (e, None))[1] for e in np.eye(2)]):
        try:
            gradient = found()
        except S2SGradError:
            assert made not in ("an array", "a number") or way in ("of the outside", "of an attribute")
            continue
        np.testing.assert_allclose(gradient, slopes, rtol=1e-5)


LINEAR = {"rows": ByRows(A)}
PRODUCTS = {"sparse": sparse.csr_matrix(A)}


def test_what_is_refused_says_what_to_write():
    with pytest.raises(S2SGradError, match="is a ByRows, whose operators are not those of NumPy's arrays: call a method"):
        grad(lambda x: np.sum(x * LINEAR["rows"]))(X)
    with pytest.raises(S2SGradError, match=r"is a csr_matrix, .* write `@`"):
        grad(lambda x: np.sum((PRODUCTS["sparse"] * x) ** 2))(X)
    np.testing.assert_allclose(grad(lambda x: np.sum((PRODUCTS["sparse"] @ x) ** 2))(X), 2.0 * A.T @ A @ X)


PLAIN = [2.5, True, np.float32(2.0), np.ones(2), fractions.Fraction(1, 2), array.array("d", [1.0, 2.0]), [1.0, 2.0], (1, 2)]


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: type(value).__name__)
def test_what_numpy_takes_for_a_number_or_an_array_is_one(value):
    gradient = grad(lambda x, s: np.sum(x * s.first()))(X, Box([value]))
    np.testing.assert_allclose(gradient, np.ones(2) * np.asarray(value, float))
