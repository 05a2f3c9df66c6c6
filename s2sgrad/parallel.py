"""Value and gradient of a sum over parts of the data, on many processes or machines.

    loss(w, X) + loss(w, ..)      ->      total = partition_sum(loss, parts); value, w_bar = total(w)

The parts are computed where they are, and added up as a tree: no process holds all of them.  Dask or joblib run the tasks.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from s2sgrad import runtime
from s2sgrad.api import value_and_grad
from s2sgrad.api.argnums import Asked
from s2sgrad.errors.raised import trimmed
from s2sgrad.runtime.asking import has
from s2sgrad.runtime.structure import attributes_of, rebuilt, with_attributes

Backend = Literal["dask", "joblib", "serial"]
Sum = tuple[Any, Any]  # value and gradient

_FAN = 4  # sums that one task of the tree adds up
_TRIES = 3  # of a step in which a process is lost


class PartFailed(RuntimeError):
    """A part of the data for which value or gradient could not be computed: which one, and the user's line."""


class PartitionSum:
    """The sum over parts, as a function of the parameters: `total(w)` returns its value and its gradient.

    `len` counts the parts; an index, a slice or a list of indices selects some, for a step on a batch of them.
    """

    def __init__(self, function: Any, parts: list[Any], read: Any, backend: Backend, workers: int | None) -> None:
        self._function, self._parts, self._read = function, parts, read
        self._backend, self._workers = backend, workers
        self._numbers = list(range(len(parts)))

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, chosen: Any) -> PartitionSum:
        picked = np.atleast_1d(np.arange(len(self))[chosen])
        some = PartitionSum(self._function, [self._parts[k] for k in picked], self._read, self._backend, self._workers)
        some._numbers = [self._numbers[k] for k in picked]
        return some

    @trimmed
    def __call__(self, /, *args: Any) -> Sum:
        """The value and the gradient, summed over the parts; `args` are the parameters of the function before the part."""
        if not self._parts:
            raise ValueError("partition_sum has no parts to sum over")
        parts = [(number, shown(part), part) for number, part in zip(self._numbers, self._parts, strict=True)]
        if self._backend == "serial":
            return _of_parts(self._function, self._read, args, parts)
        tried = 0
        while True:
            try:
                return (_by_dask if self._backend == "dask" else _by_joblib)(self, args, parts)
            except BrokenExecutor:  # a process was lost, and with it what it had summed: the step is computed again
                tried += 1
                if tried == _TRIES:
                    raise

    def __repr__(self) -> str:
        return f"<sum of {self._function!r} over {len(self)} parts>"


def partition_sum(
    function: Callable[..., Any],
    parts: Any,
    argnums: Asked = 0,
    *,
    read: Callable[[Any], Any] | None = None,
    backend: Backend | None = None,
    workers: int | None = None,
) -> PartitionSum:
    """Value and gradient of the sum of `function(*parameters, part)` over all parts, as a function of the parameters.

    `parts` are a list or another iterable: of arrays, names of files, delayed values of Dask.  They may be a bag, a
    dataframe or an array (of blocks of rows) of Dask, or a tuple of such arrays with blocks of the same rows.  `read`
    makes of each part what the function gets, on the worker: `np.load`, say.  A tuple is passed as several arguments.

    `backend` is "dask" for Dask's parts, else "joblib", and "serial" where that is not installed.  Dask's own settings or
    `Client` choose the workers of "dask"; `workers` is the number of joblib's processes, all cores by default.

    A part that fails raises `PartFailed` with its number, its name if it is a file, and the line of the function.  A worker
    that is lost costs time, and no part.

    >>> total = partition_sum(lambda w, x: np.sum((w * x) ** 2), [np.ones(2), np.ones(3)], backend="serial")
    >>> value, w_bar = total(2.0)
    >>> float(value), float(w_bar), len(total), float(total[1:](2.0)[0])
    (20.0, 20.0, 2, 12.0)
    """
    found = _listed(parts)
    of_dask = any(_is_of_dask(piece) for part in found for piece in (part if isinstance(part, tuple) else (part,)))
    if of_dask and backend not in (None, "dask"):
        raise ValueError(f"these parts are Dask's, which backend={backend!r} cannot compute: leave `backend` out")
    if backend not in (None, "dask", "joblib", "serial"):
        raise ValueError(f'backend={backend!r} is none of "dask", "joblib" and "serial"')
    if backend is None:
        backend = "dask" if of_dask else "joblib" if importlib.util.find_spec("joblib") else "serial"
    if read is None and _is_frame(parts):
        read = _to_numpy
    return PartitionSum(value_and_grad(function, argnums), found, read, backend, workers)


# --- parts ---


def _listed(parts: Any) -> list[Any]:
    """The parts of a collection, in order."""
    if isinstance(parts, tuple) and parts and all(hasattr(part, "to_delayed") for part in parts):
        columns = [_listed(part) for part in parts]
        if len(set(map(len, columns))) > 1:
            raise ValueError(f"the arrays have {', '.join(str(len(c)) for c in columns)} blocks: rechunk them alike")
        return list(zip(*columns, strict=True))
    if not hasattr(parts, "to_delayed"):
        return list(parts)
    delayed = parts.to_delayed()
    if isinstance(delayed, np.ndarray):
        if delayed.size != len(delayed):
            raise ValueError("the blocks of this array split its rows: rechunk it along the first axis alone, "
                             "`x.rechunk({k: -1 for k in range(1, x.ndim)})`")  # fmt: skip
        delayed = delayed.ravel()
    return list(delayed)


def _is_of_dask(part: Any) -> bool:
    return hasattr(part, "__dask_graph__")


def _is_frame(parts: Any) -> bool:
    """Whether the parts are dataframes, of which the function gets the array."""
    return hasattr(parts, "to_delayed") and hasattr(parts, "map_partitions") and hasattr(parts, "columns")


def _to_numpy(frame: Any) -> Any:
    return frame.to_numpy()


def shown(part: Any) -> str:
    """The name of a part, if it is a file's; else nothing.

    >>> shown("rows-3.npy"), shown(3.0)
    ("'rows-3.npy'", '')
    """
    return repr(os.fspath(part)) if isinstance(part, (str, os.PathLike)) else ""


# --- on a worker ---


def _of_part(function: Any, read: Any, args: tuple, number: int, name: str, part: Any) -> Sum:
    """Value and gradient for one part."""
    try:
        part = part if read is None else read(part)
        return function(*args, *(part if isinstance(part, tuple) else (part,)))  # type: ignore[no-any-return]
    except Exception as error:
        said = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
        raise PartFailed(f"part {number}{f', {name},' * bool(name)} failed: {said}") from None


def _of_parts(function: Any, read: Any, args: tuple, parts: Sequence[tuple[int, str, Any]]) -> Sum:
    return _added(_of_part(function, read, args, *part) for part in parts)


def _added(sums: Iterable[Sum]) -> Sum:
    """The sum of sums, in pairs: the order does not depend on who is done first, and few sums are held at once."""
    held: list[tuple[int, Sum]] = []
    for each in sums:
        size = 1
        while held and held[-1][0] == size:
            each = _plus(held.pop()[1], each)
            size *= 2
        held.append((size, each))
    return functools.reduce(lambda right, left: _plus(left[1], right), held[-2::-1], held[-1][1])


def _plus(a: Sum, b: Sum) -> Sum:
    return a[0] + b[0], _plus_gradient(a[1], b[1])


def _plus_gradient(a: Any, b: Any) -> Any:
    """The sum of two gradients, in the parameters of one function."""
    if has(a, "__dataclass_fields__"):
        held, other = attributes_of(a) or {}, attributes_of(b) or {}
        return with_attributes(a, {n: _plus_gradient(v, other[n]) for n, v in held.items()})
    if isinstance(a, (list, tuple, dict)):
        return rebuilt(a, _plus_gradient, b)
    return runtime.add(a, b)


class _Sent:
    """Function and reader on their way to a worker, which unpickles them once and so compiles once."""

    def __init__(self, function: Any, read: Any) -> None:
        try:
            import cloudpickle as pickler  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            pickler = pickle
        self.data = pickler.dumps((function, read))
        self.digest = hashlib.sha256(self.data).hexdigest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sent) and other.digest == self.digest


@dataclass
class _Parameters:
    """The parameters of a step, which Dask does not look into."""

    args: tuple


@functools.lru_cache(maxsize=32)
def _arrived(sent: _Sent) -> tuple[Any, Any]:
    return pickle.loads(sent.data)  # type: ignore[no-any-return]


def _part_there(sent: _Sent, parameters: _Parameters, number: int, name: str, *part: Any) -> Sum:
    return _of_part(*_arrived(sent), parameters.args, number, name, part if len(part) > 1 else part[0])


def _parts_there(sent: _Sent, args: tuple, parts: Sequence[tuple[int, str, Any]]) -> Sum:
    return _of_parts(*_arrived(sent), args, parts)


# --- who runs it ---


def _by_joblib(total: PartitionSum, args: tuple, parts: list[tuple[int, str, Any]]) -> Sum:
    """Each process sums a stretch of the parts."""
    import joblib  # type: ignore[import-untyped, unused-ignore]

    workers = min(total._workers or joblib.effective_n_jobs(-1), len(parts))
    sent = _Sent(total._function, total._read)
    stretches = [parts[len(parts) * k // workers : len(parts) * (k + 1) // workers] for k in range(workers)]
    return _added(joblib.Parallel(n_jobs=workers)(joblib.delayed(_parts_there)(sent, args, each) for each in stretches))


def _by_dask(total: PartitionSum, args: tuple, parts: list[tuple[int, str, Any]]) -> Sum:
    """A task for each part, and a tree of tasks that add up; function and parameters are each one node of the graph."""
    from dask.delayed import delayed  # type: ignore[import-untyped, unused-ignore]

    sent = delayed(_Sent(total._function, total._read), traverse=False)
    parameters = delayed(_Parameters(args), traverse=False)
    sums = [delayed(_part_there)(sent, parameters, number, name, *_pieces(part)) for number, name, part in parts]
    while len(sums) > 1:
        sums = [delayed(_added)(sums[k : k + _FAN]) for k in range(0, len(sums), _FAN)]
    out: Sum = sums[0].compute()
    return out


def _pieces(part: Any) -> Iterator[Any]:
    """A tuple of delayed values as several arguments, for Dask to compute."""
    yield from part if isinstance(part, tuple) else (part,)
