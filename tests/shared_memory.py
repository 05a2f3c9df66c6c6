"""Ways to make a view of an array, and ways to write one: each of them in a few programs, which are right or refused.

`VIEWS` are expressions of a vector `y` or a matrix `m` that may share its memory; each is tried where the array is written
while the view lives, where the view is written while the array lives, and in a loop that does both.  `WRITES` are statements
that write `y`: before it is read, through a view of it, and in a loop.
"""

from __future__ import annotations

import numpy as np

_VECTORS = """
    y|y[:]|y[1:]|y[:-1]|y[::2]|y[::-1]|y[1:3]|y[...]|y[None]|y[:, None]|y[None, :]|y[slice(1, 4)]|y[1:4:2]|y[-3:]|y[k:]
    y[k:k + 2]|y.T|y.real|y.view()|y.ravel()|y.reshape(-1)|y.reshape(4, 1)|y.reshape((2, 2))|y.squeeze()|y.flatten()
    y.copy()|y.transpose()|y.swapaxes(0, 0)|y.astype(float)|y.astype(float, copy=False)|y.conj()|y.conjugate()
    y.reshape(2, -1)|y.view(np.ndarray)|y.__getitem__(slice(1, 3))|y.clip(-9.0, 9.0)|y.take([0, 1])|y[[0, 2]]
    y[np.array([1, 3])]|y[y > 0.0]|y * 1.0|np.ravel(y)|np.reshape(y, (2, 2))|np.reshape(y, -1)|np.squeeze(y)
    np.transpose(y)|np.flip(y)|np.flipud(y)|np.asarray(y)|np.asanyarray(y)|np.atleast_1d(y)|np.atleast_2d(y)
    np.atleast_3d(y)|np.ascontiguousarray(y)|np.asfortranarray(y)|np.require(y)|np.real(y)
    np.array(y, copy=False if OLD else None)|np.array(y)|np.copy(y)|np.expand_dims(y, 0)|np.expand_dims(y, 1)
    np.split(y, 2)[0]|np.split(y, 2)[1]|np.array_split(y, 3)[0]|np.array_split(y, 3)[2]|np.hsplit(y, 2)[1]
    np.split(y, [1])[1]|np.nan_to_num(y, copy=False)|np.nan_to_num(y)|np.broadcast_arrays(y, y)[0]
    np.broadcast_to(y, (2, 4))|np.real_if_close(y)|np.frombuffer(y)|np.ndarray((4,), buffer=y)
    np.lib.stride_tricks.as_strided(y, (3,), (8,))|np.asarray_chkfinite(y)|np.lib.stride_tricks.sliding_window_view(y, 2)
    np.moveaxis(y, 0, 0)|np.diag(np.outer(y, y))|np.conj(y)|np.positive(y)|np.trim_zeros(y)|np.asarray(y, dtype=float)
    np.float64(y)|np.array(y, ndmin=2, copy=False if OLD else None)|np.rollaxis(y, 0)|np.resize(y, 4)|np.roll(y, 1)
    np.sort(y)|np.take(y, [0, 1, 2])|np.where(y > 0.0, y, y)|np.concatenate([y])|np.stack([y])|np.hstack([y])
    np.vstack([y])|np.meshgrid(y, copy=False)[0]|np.einsum('i->i', y)|np.diff(y, 0)|np.delete(y, 0)|np.append(y, [])
    [y][0]|(y,)[0]|{'a': y}['a']|[y, x][0]|[x, y][1]|(y, 1.0)[0]|[y[1:]][0]|[y, y][1]|list((y,))[0]|tuple([y])[0]
    dict(a=y)['a']|[[y]][0][0]|[y][:][0]|[y].copy()[0]|next(iter([y]))|max([y], key=len)|[v for v in [y]][0]
    list(zip([y]))[0][0]|[y].pop()|y if x[0] > 0.0 else x|y if x[0] < 0.0 else y[:]|y if x[0] > 0.0 else y * 1.0
    x if x[0] < 0.0 else y[1:]|(y or x) if False else y|same(y)|tail(y)|kept(y)[0]|chosen(y, x)|(lambda v: v)(y)
    (lambda v: v[1:])(y)|Box(y).a|Pair(y, x).left|functools.reduce(first, [y, x])|first(y, x)|copied(y)|reversed_(y)
    operator.getitem(y, slice(1, 3))|operator.itemgetter(0)([y])|copy.copy(y)|copy.copy([y])[0]
"""
_MATRICES = """
    m[0]|m[-1]|m[k]|m[:, 0]|m[:, k]|m[1:, 1:]|m[::2, ::-1]|m[...]|m[..., 0]|m[0, :]|m[None, 0]|m[0][1:]|m[1:][0]|m.T
    m.T[0]|m.T.T|m.ravel()|m.reshape(-1)|m.reshape(16)|m.reshape(2, 8)|m.T.ravel()|m.T.reshape(-1)|m.swapaxes(0, 1)
    m.transpose()|m.transpose(1, 0)|m.diagonal()|m.diagonal(1)|np.diagonal(m)|np.diag(m)|np.diagonal(m, 1)|np.fliplr(m)
    np.flipud(m)|np.flip(m)|np.flip(m, 0)|np.rot90(m)|np.rot90(m, 2)|np.swapaxes(m, 0, 1)|np.moveaxis(m, 0, 1)
    np.rollaxis(m, 1)|np.ravel(m)|np.ravel(m, 'F')|m.ravel('F')|np.ravel(m.T)|np.split(m, 2)[0]|np.split(m, 2, axis=1)[1]
    np.vsplit(m, 2)[1]|np.hsplit(m, 2)[0]|np.array_split(m, 3)[1]|np.squeeze(m[:, :1])|np.atleast_3d(m)
    np.einsum('ii->i', m)|np.einsum('ij->ji', m)|np.einsum('ij->i', m)|m.flatten()|m[[0, 1]]|m[m > 0.0]|m[:, [0, 1]]
    m.mT if hasattr(m, 'mT') else m.T|np.tril(m)|np.triu(m)|m @ m|m.sum(axis=0)|np.trace(m) * m[0]|list(m)[0]
    [r for r in m][1]|np.asfortranarray(m)|np.ascontiguousarray(m.T)|np.broadcast_to(m[0], (4, 4))
    np.require(m, requirements='F')|np.reshape(m, (8, 2))|np.reshape(m, -1, order='F')|m.reshape(4, 2, 2)[1]
    np.expand_dims(m, 0)[0]|m.T.copy()|np.matrix_transpose(m)
"""


def _listed(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split("|") if part.strip()]


VIEWS = [("y", e) for e in _listed(_VECTORS)] + [("m", e) for e in _listed(_MATRICES)]

_WRITTEN = """
    y[0] = e|y[1:] = e|y[:] = x|y[...] = e|y[::2] = e|y[k] = e|y[k:] = x[k:]|y[-1] = e|y[[0, 2]] = e|y[[0, 0]] = x[:2]
    y[y > 0.5] = e|y[np.array([1, 3])] = x[:2]|y[0], y[1] = y[1], y[0]|y[:2], y[2:] = y[2:].copy(), x[:2]|y[1:] = y[:-1]
    y[:] = y[::-1]|y[:-1] = y[1:] * e|y += e|y -= x|y *= e|y /= 2.0|y **= 2|y += y|y *= y|y += y[::-1]|y -= y[0]|y[0] += e
    y[1:] += x[1:]|y[1:] *= e|y[k] *= e|y[::2] /= 2.0|y[[0, 2]] += e|y[y > 0.5] *= e|y[1:] += y[:-1]|y[:] *= y
    y[0] -= y[1] * e|y[-1] += y[0]|y[np.argsort(y)] += e|y[1:][0] = e|y[1:][1:] *= e|y.fill(e)|y.sort()|y.put(0, e)
    y.put([0, 1], x[:2])|y.itemset(0, 1.0) if OLD else None|y.partition(2)|y.__setitem__(0, e)|y.__imul__(e)
    np.copyto(y, x)|np.copyto(y, e)|np.put(y, [0], e)|np.put(y, [0, 2], x[:2])|np.place(y, y > 0.5, [e])
    np.putmask(y, y > 0.5, x)|np.add(y, x, out=y)|np.multiply(y, e, out=y)|np.sin(y, out=y)|np.exp(y, y)
    np.negative(y, out=y)|np.subtract(x, y, out=y)|np.sin(x, y)|np.maximum(y, 0.3, out=y)|np.minimum(y, x, out=y)
    np.clip(y, 0.1, 1.2, out=y)|y.clip(0.1, 1.2, out=y)|np.cumsum(y, out=y)|y.cumsum(out=y)|np.cumprod(x, out=y)
    np.dot(np.eye(4), x, out=y)|np.matmul(np.eye(4), x, out=y)|np.add(x, e, out=y[:])|np.add(x[1:], e, out=y[1:])
    np.add.at(y, [0, 0, 1], e)|np.add.at(y, [0, 1], x[:2])|np.subtract.at(y, 0, e)|np.multiply.at(y, [0], e)
    np.add.at(y[1:], [0], e)|np.fill_diagonal(y.reshape(2, 2), e)|np.take(x, [0, 1, 2, 3], out=y)
    np.power(y, 2, out=y)|np.square(y, out=y)|np.add(y, x, y, where=y > 0.5)|np.add(y, x, out=y, where=y > 0.5)
    np.divide(y, 2.0, out=(y,))|np.add.reduce(np.ones((2, 4)) * x, out=y)|np.nan_to_num(y, copy=False)
    np.mean(np.ones((2, 4)) * x, axis=0, out=y)|np.sum(np.ones((2, 4)) * x, 0, out=y)|np.sqrt(np.abs(x), out=y)
    operator.setitem(y, 0, e)|operator.imul(y, e)|operator.iadd(y, x)|np.ndarray.fill(y, e)|np.ndarray.sort(y)
    np.ndarray.__setitem__(y, 0, e)|put(y, e)|scale(y, e)|scale(y[1:], e)|scale(y.reshape(2, 2)[0], e)
    exchange(y[:2], y[2:])|both(y, y, e)|Writer(y).put(e)|twice(put, y, e)|(lambda v: put(v, e))(y)
    list(map(lambda v: put(v, e), [y]))|[put(v, e) for v in (y, y)]|descend(y, e)|first(y, x).fill(e)
    same(y)[0].fill(e) if False else put(same(y), e)|y.flat[0] = e|y.flat[:] = x|y.flat = x|y.real[0] = e|y.T[0] = e
    y.view()[0] = e|y.ravel()[1] = e|y.reshape(2, 2)[0] = e|y.reshape(2, 2)[0, 1] = e|y.reshape(2, 2)[:, 0] *= e
    y.reshape(2, 2).T.flat[1] = e|y.reshape(2, 2).T.flat[1:] *= e
    np.ravel(y)[2] = e|np.asarray(y)[0] = e|np.split(y, 2)[0][:] = e|np.flip(y)[0] = e|y[::-1][0] = e|y[1:3][::-1][0] = e
    np.frombuffer(y)[0] = 0.5|np.asarray(y)[:] *= e|np.atleast_2d(y)[0, 1] = e|np.squeeze(y)[1] = e
    np.expand_dims(y, 0)[0, 1] = e|y[None][0, 1] = e|y[:, None][1] = e
    np.lib.stride_tricks.as_strided(y, (2,), (8,))[0] = e|np.real(y)[0] = e|np.transpose(y)[0] = e
    np.moveaxis(y, 0, 0)[0] = e|[y][0][0] = e|(y,)[0][1] = e|{'a': y}['a'][0] = e|[y, x][0][1:] *= e
    for v in [y]: v[0] = e|for v in (y[:2], y[2:]): v *= e|for v in y.reshape(2, 2): v[0] = e
    for j, v in enumerate(y): y[j] = v * e|for v in np.nditer(y, op_flags=['readwrite']): v[...] = v * 2
    for v, w in zip([y], [x]): v += w|y[:], t = x, e|with np.errstate(all='ignore'): y /= 2.0|y[0] = y[1] = e
    y[int(2.0)] = e|y[True] = e|y[:1] = e|y[()] = e|y[0:0] = e|y[k - 1] = e|y[-k:] = e|y[len(y) - 1] = e
    y[k] = y[k - 1] = e|y[0] = (t := e)|y[0] = max(e, 0.3)|y[0] = np.sum(y)|y[0] = y @ x|y[:] = np.sort(y)
    y[:] = [e, e, e, e]|y[:2] = (e, e)|y[:] = 2|np.random.default_rng(0).shuffle(y)|np.random.default_rng(0).random(out=y)
    y.resize(4, refcheck=False)|y.setflags(write=True)|y.shape = (4,)|Box(y).a.fill(e)|Box(y).a[0] = e
    Pair(y, x).left[0] = e|copy.copy([y])[0][0] = e|[y].pop()[0] = e|next(iter([y]))[0] = e|max([y], key=len)[0] = e
"""
WRITES = _listed(_WRITTEN)

HEAD = """import collections
import copy
import functools
import operator

import numpy as np

OLD = np.lib.NumpyVersion(np.__version__) < "2.0.0"
Pair = collections.namedtuple("Pair", "left right")


class Box:
    def __init__(self, a):
        self.a = a


class Writer:
    def __init__(self, a):
        self.a = a

    def put(self, e):
        self.a[0] = e


def same(v):
    return v


def tail(v):
    return v[1:]


def kept(v):
    return [v, v * 2.0]


def chosen(v, w):
    return v if w[0] > 0.0 else w


def first(v, w):
    return v


def copied(v):
    return v.copy()


def reversed_(v):
    return v[::-1]


def put(v, e):
    v[0] = e


def scale(v, e):
    v *= e


def exchange(a, b):
    t = a.copy()
    a[:] = b
    b[:] = t


def both(a, b, e):
    a[0] = b[1] * e
    b[2] *= a[0]


def twice(f, v, e):
    f(v, e)
    f(v, e)


def descend(v, e):
    if len(v) > 1:
        v[0] *= e
        descend(v[1:], e)
"""
_ARRAY = {"y": "y = x * 1.5", "m": "m = np.outer(x, x) + np.arange(16.0).reshape(4, 4)"}
_SOME = {"y": ("y[1] = x[2] * x[0]", "np.sum(y * y)"), "m": ("m[1] = x * x[0]", "np.sum(m * m)")}


def of_view(k: int, how: str) -> str:
    """The program of a view (by its place in `VIEWS`): the array is written ("base"), the view, or both in a "loop"."""
    owner, view = VIEWS[k]
    written, read = _SOME[owner]
    lines = ["k = 1", _ARRAY[owner]]
    if how == "base":
        lines += [f"v = {view}", written, f"return np.sum(v * v) + {read}"]
    elif how == "view":
        lines += [f"v = {view}", "v[...] = v * x[1]", f"return {read} + np.sum(v)"]
    else:
        lines += ["total = 0.0", "for k in range(1, 3):", f"    v = {view}", f"    {written}", "    v[...] = v * x[k]",
                  "    total = total + np.sum(v * v)", f"return total + {read}"]  # fmt: skip
    return _program(lines)


def of_write(k: int, how: str) -> str:
    """The program of a statement that writes `y`: read before and after ("plain"), seen through a "view", in a "loop"."""
    lines = ["k, e = 1, x[1] * x[2]", _ARRAY["y"]]
    if how == "plain":
        lines += ["t = np.sum(y * y)", WRITES[k], "return t + np.sum(y * y * x)"]
    elif how == "view":
        lines += ["w = y[1:]", WRITES[k], "w[0] *= x[3]", "return np.sum(w * w) + np.sum(y * y * x)"]
    else:
        lines += ["total = 0.0", "for k in range(1, 3):", f"    {WRITES[k]}", "    total = total + np.sum(y * y)",
                  "return total + np.sum(y * x)"]  # fmt: skip
    return _program(lines)


def _program(lines: list[str]) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"{HEAD}\n\ndef f(x):\n{body}\n"


ARGUMENT = np.array([0.7, 1.2, 0.4, 0.9])
