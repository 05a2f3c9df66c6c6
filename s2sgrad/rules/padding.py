"""The rule of np.pad: its copies are added up where they were taken from.

    y = np.pad(x, 1)                    ->  x_bar = unpad(y_bar, x, 1)                      a section of y_bar
    y = np.pad(x, 1, mode="wrap")       ->  x_bar = untake(y_bar, x, padded_places(x, 1, "wrap"))

Where the margin is no copy ("mean", "linear_ramp", reflection about the edge), the padding of every axis is a matrix.
"""

from __future__ import annotations

import numpy as np

from s2sgrad.rules.selections import numbered, untake
from s2sgrad.rules.table import flat, general, linear
from s2sgrad.runtime import Refusal

COPIES = ("edge", "wrap", "reflect", "symmetric", "maximum", "minimum")
MATRICES = ("mean", "linear_ramp", "reflect", "symmetric")


def unpad(g, x, pad_width):
    """The transpose of `np.pad(x, pad_width)`: `g` without its margin.

    >>> unpad(np.arange(5.0), np.zeros(3), 1)
    array([1., 2., 3.])
    """
    return g[tuple(slice(low, low + n) for (low, _), n in zip(widths(x, pad_width), np.shape(x), strict=True))]


def widths(x, pad_width):
    """The width of the margin before and after, axis by axis."""
    if isinstance(pad_width, dict):
        own = [pad_width[k] if k in pad_width else pad_width.get(k - np.ndim(x), 0) for k in range(np.ndim(x))]
        pairs = [np.broadcast_to(width, 2) for width in own]
    else:
        pairs = [*np.broadcast_to(pad_width, (np.ndim(x), 2))]
    return [(int(low), int(high)) for low, high in pairs]


@linear(unpad)
def _(w, y, g, x, pad_width=None):
    return np.pad(w, pad_width), None


def padded_places(x, pad_width, mode, stat_length=()):
    """The places of `x` that `np.pad` copies to every place of its result."""
    keywords = {"stat_length": stat_length} if stat_length else {}
    if mode not in ("maximum", "minimum"):
        return np.pad(numbered(x), pad_width, mode=mode)
    order = np.argsort(x, axis=None, kind="stable")  # the largest has the largest rank: that of a copy tells its place
    ranks = np.reshape(np.argsort(order), np.shape(x))
    return order[np.pad(ranks, pad_width, mode=mode, **keywords)]


def padding_matrices(x, pad_width, mode, stat_length=(), reflect_type="even"):
    """The matrix of the padding of every axis: np.pad is linear along each, and does one after the other."""
    keywords = {"reflect_type": reflect_type} if mode in ("reflect", "symmetric") else {}
    out = []
    for k, pair in enumerate(widths(x, pad_width)):
        if stat_length:
            n = np.broadcast_to(stat_length, (np.ndim(x), 2))[k]
            keywords["stat_length"] = ((int(n[0]), int(n[1])), (1, 1))
        eye = np.eye(np.shape(x)[k], dtype=np.result_type(x))
        out.append(np.pad(eye, (pair, (0, 0)), mode=mode, **keywords))
    return out


def is_copy(mode, reflect_type):
    """Whether the margin consists of copies."""
    if mode not in COPIES + MATRICES + ("constant",):
        raise Refusal(None, f"np.pad with mode={mode!r} has no derivative rule; use constant, edge, wrap, ...")
    return mode in COPIES and reflect_type == "even"


flat(padded_places, padding_matrices, is_copy)


@general(np.pad)
def pad(g, y, array, pad_width=None, mode="constant", *, constant_values=0.0, stat_length=(), reflect_type="even"):
    if mode == "constant":
        return unpad(g, array, pad_width)
    if is_copy(mode, reflect_type):
        return untake(g, array, padded_places(array, pad_width, mode, stat_length))
    matrices = padding_matrices(array, pad_width, mode, stat_length, reflect_type)
    for k in range(len(matrices)):  # each turns its axis to the front; after all of them the axes stand as before
        g = np.tensordot(g, matrices[k], ((0,), (0,)))
    return g


@pad.refined(lambda mode: mode.known and mode.value == "constant")
def _(g, y, array, pad_width=None, mode="constant", *, constant_values=0.0, stat_length=(), reflect_type="even"):
    return unpad(g, array, pad_width)


@pad.refined(
    lambda mode, stat_length, reflect_type: mode.known and mode.value in COPIES and stat_length.known
    and not stat_length.value and reflect_type.known and reflect_type.value == "even"
)  # fmt: skip
def _(g, y, array, pad_width=None, mode="constant", *, constant_values=0.0, stat_length=(), reflect_type="even"):
    return untake(g, array, padded_places(array, pad_width, mode))


@pad.forward(lambda mode: mode.known and mode.value == "constant")
def _(y, array, array_dot, pad_width=None, mode="constant", *, constant_values=0.0, stat_length=(), reflect_type="even"):
    return np.pad(array_dot, pad_width)


@pad.forward(
    lambda mode, stat_length, reflect_type: mode.known and mode.value in ("edge", "wrap", "reflect", "symmetric")
    and reflect_type.known and reflect_type.value == "even"
)  # fmt: skip
def _(y, array, array_dot, pad_width=None, mode="constant", *, constant_values=0.0, stat_length=(), reflect_type="even"):
    return np.pad(array_dot, pad_width, mode=mode)


pad.refuse(
    lambda mode: mode.known and mode.value not in (*COPIES, *MATRICES, "constant"),
    "`np.pad` in this mode has no derivative rule: use constant, edge, wrap, reflect, symmetric, maximum, mean, ...",
)
