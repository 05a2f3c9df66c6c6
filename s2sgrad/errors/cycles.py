"""Arguments that refer to themselves: a derivative with their structure would have no end.

root.children = [kid]; kid.parent = root; grad(loss)(root)    ->    TypeError: `root.children[0].parent` is `root` again
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from s2sgrad.runtime.structure import attributes_of

_LEAVES = (float, int, str, np.ndarray, np.generic, type(None))


class Cycle(NamedTuple):
    """What is met again: the path that leads to it again, the first path, and whether only containers lie between."""

    again: str
    first: str
    of_containers: bool


def cycle(value: Any, name: str) -> Cycle | None:
    """Where a value refers to itself, or to what it is in, by paths from its name; None where it does not.  A cycle of
    containers alone comes first.

    >>> xs = [1.0]
    >>> xs.append(xs)
    >>> cycle({"a": xs}, "p")
    Cycle(again="p['a'][1]", first="p['a']", of_containers=True)
    """
    found: Cycle | None = None
    done: set[int] = set()
    above: dict[int, tuple[Any, str]] = {id(value): (value, name)}
    waiting = [_parts(value, name)]
    while waiting:
        step = next(waiting[-1], None)
        if step is None:
            waiting.pop()
            done.add(above.popitem()[0])
            continue
        item, path = step
        if id(item) in above:
            keys = [*above]
            between = [above[k][0] for k in keys[keys.index(id(item)) :]]
            met = Cycle(path, above[id(item)][1], all(isinstance(v, (list, tuple, dict)) for v in between))
            if met.of_containers:
                return met
            found = found or met
        elif id(item) not in done:
            above[id(item)] = item, path
            waiting.append(_parts(item, path))
    return found


def _parts(value: Any, path: str) -> Iterator[tuple[Any, str]]:
    """The parts of a container or an object that may have parts themselves, each with its path."""
    if isinstance(value, (dict, list, tuple)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if not isinstance(item, _LEAVES):
                yield item, f"{path}[{key!r}]"
    else:
        for attribute, item in (attributes_of(value) or {}).items():
            if not isinstance(item, _LEAVES):
                yield item, f"{path}.{attribute}"


def refers_to_itself(met: Cycle) -> TypeError:
    """The error for an argument with a cycle."""
    return TypeError(f"`{met.again}` is `{met.first}` again: an argument that refers to itself has no derivative of its "
                     "structure; pass what is differentiated as arguments of its own")  # fmt: skip


def explained(error: Exception, given: Sequence[Any], names: Sequence[str] = ()) -> Exception:
    """The error to raise instead, where recursion had no end because something that was given refers to itself.  `names`
    are those of parameters, by position."""
    if isinstance(error, RecursionError):
        inner = [value for value in given if isinstance(value, tuple)]  # `primals` of `jvp`
        for values in (*inner, given):
            for value, name in zip(values, itertools.chain(names, itertools.repeat("argument")), strict=False):
                if (met := cycle(value, name)) is not None:
                    return refers_to_itself(met)
    return error
