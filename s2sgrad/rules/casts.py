"""Rules of copies and casts: array, asarray, astype, copy, float64.

y = np.asarray(x)                ->  x_bar = y_bar
y = x.astype(dtype)              ->  x_bar = through_cast(y_bar, y)          0 where the cast is to whole numbers
"""

from __future__ import annotations

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules.table import existing, linear


def through_cast(g, y):
    """The cotangent `g` of the result `y` of a cast: 0 where the cast was to whole numbers, which are constants; Refusal
    where it was to objects."""
    kind = y.dtype.kind if hasattr(y, "dtype") else "f" if isinstance(y, float) else "i"
    if kind == "O":
        raise runtime.Refusal(None, "an array of objects is made of numbers here: leave `object` out")
    return g if kind in "fc" else np.zeros(np.shape(g))


@linear(through_cast)
def _(w, r, g, y):
    return through_cast(w, y), None


def not_cast(dtype):
    return dtype.known and dtype.value in (None, float, np.float64, np.float32)


def cast(dtype):
    return not not_cast(dtype)


@linear(np.array)
def array(g, y, x, dtype=None, *, copy=None, order=None):
    return through_cast(g, y)


@array.forward(cast)
def _(y, x, x_dot, dtype=None, *, copy=None, order=None):
    return through_cast(np.asarray(x_dot, dtype=dtype), y)


@array.refined(not_cast)
def _(g, y, x, dtype=None, *, copy=None, order=None):
    return g


@linear(np.asarray, np.asanyarray)
def asarray(g, y, x, dtype=None, order=None, *, copy=None):
    return through_cast(g, y)


@asarray.forward(cast)
def _(y, x, x_dot, dtype=None, order=None, *, copy=None):
    return through_cast(np.asarray(x_dot, dtype=dtype), y)


@asarray.refined(not_cast)
def _(g, y, x, dtype=None, order=None, *, copy=None):
    return g


@linear(np.frombuffer)  # of an array of doubles; of any other its sizes do not fit
def frombuffer(g, y, buffer):
    return np.reshape(g, np.shape(buffer))


@frombuffer.forward()
def _(y, buffer, buffer_dot):
    return np.ravel(buffer_dot)


@linear(np.asarray_chkfinite)  # a tangent may be infinite
def asarray_chkfinite(g, y, a, dtype=None, order=None):
    return through_cast(g, y)


@asarray_chkfinite.forward(cast)
def _(y, a, a_dot, dtype=None, order=None):
    return through_cast(np.asarray(a_dot, dtype=dtype), y)


@asarray_chkfinite.forward(not_cast)
def _(y, a, a_dot, dtype=None, order=None):
    return np.asarray(a_dot, dtype=dtype)


@asarray_chkfinite.refined(not_cast)
def _(g, y, a, dtype=None, order=None):
    return g


@linear(np.require)
def require(g, y, a, dtype=None, requirements=None):
    return through_cast(g, y)


@require.forward(cast)
def _(y, a, a_dot, dtype=None, requirements=None):
    return through_cast(np.asarray(a_dot, dtype=dtype), y)


@require.forward(not_cast)
def _(y, a, a_dot, dtype=None, requirements=None):
    return np.asarray(a_dot, dtype=dtype)


@require.refined(not_cast)
def _(g, y, a, dtype=None, requirements=None):
    return g


@linear(np.ascontiguousarray, np.asfortranarray)
def ascontiguousarray(g, y, x, dtype=None):
    return np.reshape(through_cast(g, y), np.shape(x))  # NumPy makes a line of a number


@ascontiguousarray.forward(cast)
def _(y, x, x_dot, dtype=None):
    return through_cast(np.asarray(x_dot, dtype=dtype), y)


@ascontiguousarray.refined(lambda operand, dtype: operand.rank and not_cast(dtype))
def _(g, y, x, dtype=None):
    return g


@linear(np.copy)
def copy(g, y, a, order="K"):
    return g


@linear(np.ndarray.astype)
def astype(g, y, x, dtype=None, order="K", *, copy=True):
    return through_cast(g, y)


@astype.forward(cast)
def _(y, x, x_dot, dtype=None, order="K", *, copy=True):
    return through_cast(np.asarray(x_dot, dtype=dtype), y)


@astype.refined(not_cast)
def _(g, y, x, dtype=None, order="K", *, copy=True):
    return g


@linear(*existing(np, "astype"))
def astype_of(g, y, x, dtype=None, *, copy=True, device=None):
    return through_cast(g, y)


@astype_of.forward(cast)
def _(y, x, x_dot, dtype=None, *, copy=True, device=None):
    return through_cast(np.asarray(x_dot, dtype=dtype), y)


@astype_of.refined(not_cast)
def _(g, y, x, dtype=None, *, copy=True, device=None):
    return g


def viewed(x_dot, x, dtype):
    """The tangent of `x` as its memory is seen: as complex numbers, or as their parts."""
    return np.ascontiguousarray(runtime.wide(runtime.projected(x_dot, x), x)).view(dtype)


def unviewed(g, x, y):
    """The transpose: the cotangent of `x`, of that of `y = x.view(y.dtype)`.

    >>> unviewed(np.array([1.0, 2.0]), np.array([3j]), np.array([0.0, 3.0]))
    array([1.-2.j])
    """
    if np.iscomplexobj(x) == np.iscomplexobj(y):
        return g
    bar = np.ascontiguousarray(runtime.wide(runtime.projected(g, y), y))
    return np.conj(np.conj(bar).view(x.dtype))


@linear(viewed)
def _(w, y, x_dot, x, dtype):
    return unviewed(w, x, y), None, None


@linear(unviewed)
def _(w, x_bar, g, x, y):
    return viewed(w, x, y.dtype), None, None


def is_as_it_is(dtype):
    return dtype.known and dtype.value is None


@linear(np.ndarray.view)
def view(g, y, x, dtype=None):
    return unviewed(g, x, y)


@view.forward(lambda dtype: not is_as_it_is(dtype))
def _(y, x, x_dot, dtype=None):
    return viewed(x_dot, x, dtype)


@view.refined(is_as_it_is)
def _(g, y, x, dtype=None):
    return g


def sees_numbers(x, dtype):
    """Whether the memory of `x` is seen as floats, or as complex numbers made of them."""
    if is_as_it_is(dtype):
        return True
    own = getattr(x, "dtype", None)
    try:
        types = [np.dtype(given) for given in (dtype.value, own)] if dtype.known and own else []
    except TypeError:
        return False
    return len({np.empty(0, t).real.dtype for t in types if t.kind in "fc"}) == 1 and all(t.kind in "fc" for t in types)


view.refuse(lambda x, dtype: not sees_numbers(x, dtype), "a view of the bits of an array has no derivative rule")


@linear(np.float64, np.float32)
def float64(g, y, x):
    return g
