"""A text runs on arrays of another library that follow NumPy's protocols, as CuPy's do, and never converts them.

The stand-in refuses to become a NumPy array; `grad(f)` itself takes NumPy's arrays alone.
"""

from __future__ import annotations

import operator

import numpy as np
import pytest

from s2sgrad import grad


def bare(value):
    """The NumPy arrays in a value."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(bare, value))
    return value.held if isinstance(value, Foreign) else value


def foreign(value):
    """The same with arrays of the stand-in."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(foreign, value))
    return Foreign(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value


class Foreign:
    """An array elsewhere: functions of NumPy are handed on, what is no array of its own is refused."""

    def __init__(self, held):
        self.held = held

    def __array__(self, *args, **keywords):
        raise TypeError("implicit conversion to a NumPy array")

    def __array_ufunc__(self, function, method, *args, **keywords):
        return foreign(getattr(function, method)(*bare(args), **{k: bare(v) for k, v in keywords.items()}))

    def __array_function__(self, function, types, args, keywords):
        return foreign(function(*bare(args), **{k: bare(v) for k, v in keywords.items()}))

    def __getattr__(self, name):
        value = getattr(self.held, name)
        return (lambda *args, **kw: foreign(value(*bare(args), **kw))) if callable(value) else foreign(value)

    def __getitem__(self, index):
        return foreign(self.held[bare(index)])

    def __setitem__(self, index, value):
        self.held[bare(index)] = bare(value)

    def __bool__(self):
        return bool(self.held)

    def __len__(self):
        return len(self.held)

    def __iter__(self):
        return map(foreign, self.held)


def _set(name, run):
    setattr(Foreign, f"__{name}__", lambda a, *others: foreign(run(a.held, *bare(others))))


def _set_update(name, run):
    def update(a, b):
        a.held = run(a.held, bare(b))
        return a

    setattr(Foreign, f"__i{name}__", update)


def _operators():
    for name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "abs", "invert"):
        _set(name, getattr(operator, name))
    for name in ("add", "sub", "mul", "truediv", "pow", "matmul"):
        run = getattr(operator, name)
        _set(name, run)
        _set(f"r{name}", lambda a, b, run=run: run(b, a))
    for name in ("add", "sub", "mul", "truediv"):
        _set_update(name, getattr(operator, f"i{name}"))


_operators()
V, M = np.linspace(-0.7, 0.9, 6), np.linspace(0.3, 1.9, 18).reshape(3, 6)


def chain(x, y):
    return np.sum(np.tanh(x * y) + x**2 / (1.0 + y * y))


def layer(w, x):
    return np.mean((np.tanh(x @ w) - 1.0) ** 2)


def stores(x):
    y = np.zeros_like(x)
    for _ in range(3):
        y[1:-1] = 0.5 * (x[2:] + x[:-2])
        x = x + y
    return np.sum(y * y)


def choices(x):
    return np.sum(np.where(x > 0, x, 0.1 * x)) + np.sum(np.maximum(x, 0.2)) + np.sum(np.clip(x, -0.3, 0.4) * x)


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def shapes(x):
    return np.sum(x.reshape(2, -1)[1] * np.ravel(x.T)[:9]) + np.sum(np.concatenate([x, x * x])[2:4])


PROGRAMS = [(chain, (V, V + 0.1)), (chain, (M, V)), (layer, (V, M)), (layer, (M.T, M)), (stores, (V,)), (choices, (V,)),
            (softmax, (M,)), (shapes, (M,))]  # fmt: skip


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_texts_run_on_them(function, args):
    df = grad(function, tuple(range(len(args))), lists=False)
    expected = df(*args)
    text = df.generated_for(args, {})
    for ours, theirs in zip(text(*foreign(args)), expected, strict=True):
        assert isinstance(ours, Foreign)
        np.testing.assert_allclose(ours.held, theirs, rtol=1e-14, atol=1e-14)


def slopes(x):
    return np.sum(np.sqrt(x * x + 1.0) / (1.0 + np.abs(x))) + np.mean(x**2)


def masks(x):
    return np.sum(np.where(x > 0, x, 0.1 * x) * np.maximum(x, 0.2)) + np.sum(np.clip(x, -0.3, 0.4) * x)


BLOCKS = [*PROGRAMS[:5], (masks, (M,)), (slopes, (M,))]


@pytest.mark.filterwarnings("ignore:The `numpy.size` function")
@pytest.mark.parametrize(("function", "args"), BLOCKS, ids=lambda v: getattr(v, "__name__", ""))
def test_texts_run_on_blocks_of_arrays(function, args):
    """Nothing is computed but what a branch asks for."""
    blocks = pytest.importorskip("dask.array")
    df = grad(function, tuple(range(len(args))), lists=False)
    expected = df(*args)
    text = df.generated_for(args, {})
    for ours, theirs in zip(text(*(blocks.from_array(a, chunks=2) for a in args)), expected, strict=True):
        assert isinstance(ours, blocks.Array)
        np.testing.assert_allclose(ours.compute(), theirs, rtol=1e-13, atol=1e-13)


def test_blocks_of_arrays_are_refused_as_arguments_and_where_ties_are_sought():
    blocks = pytest.importorskip("dask.array")
    x = blocks.from_array(M, chunks=2)
    with pytest.raises(TypeError, match=r"sum over its blocks"):
        grad(slopes)(x)
    df = grad(softmax, lists=False)
    df(M)
    with pytest.raises(TypeError):
        df.generated_for((M,), {})(x)


def test_they_are_refused_as_arguments():
    with pytest.raises(TypeError, match=r"write `np.asarray\(x\)`"):
        grad(chain, (0, 1))(*foreign((V, V)))
