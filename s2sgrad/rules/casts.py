"""Rules of copies and casts: array, asarray, astype, copy, float64.

y = np.asarray(x)                ->  x_bar = y_bar
y = x.astype(dtype)              ->  x_bar = through_cast(y_bar, y)          0 where the cast is to whole numbers
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.table import linear


def through_cast(g, y):
    """The cotangent `g` of the result `y` of a cast: 0 where the cast was to whole numbers, which are constants."""
    kind = y.dtype.kind if hasattr(y, "dtype") else "f" if isinstance(y, float) else "i"
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


@linear(np.ndarray.view)  # as another type it is another array
def view(g, y, x):
    return g


@linear(np.float64, np.float32)
def float64(g, y, x):
    return g
