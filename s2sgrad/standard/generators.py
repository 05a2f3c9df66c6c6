"""Tools that give iterators, as generator functions: the loop over one is inlined.

    for v in takewhile(f, xs): ..      ->      for v in begun(f, xs): ..

Parameters called `iterable..` may be generators; those called `sequence..` have a length and an item at each index.

>>> list(running([1, 3, 2], max)), list(begun(bool, [2, 0, 3]))
([1, 3, 3], [2])
"""

from __future__ import annotations

import builtins
import itertools
from typing import Any


def each(iterable):
    """`iter(iterable)`."""
    for item in iterable:  # noqa: UP028
        yield item


def mapped(function, iterable):
    """`map` of one iterable."""
    for item in iterable:
        yield function(item)


def spread(function, iterable):
    """`itertools.starmap`."""
    for item in iterable:
        yield function(*item)


def chosen(function, iterable):
    """`filter`."""
    for item in iterable:
        if function(item):
            yield item


def left_out(function, iterable):
    """`itertools.filterfalse`."""
    for item in iterable:
        if not function(item):
            yield item


def begun(predicate, iterable):
    """`itertools.takewhile`."""
    for item in iterable:
        if not predicate(item):
            return
        yield item


def behind(predicate, iterable):
    """`itertools.dropwhile`."""
    dropping = True
    for item in iterable:
        dropping = dropping and bool(predicate(item))
        if not dropping:
            yield item


def picked(iterable, iterable_of_selectors):
    """`itertools.compress`."""
    for item, selected in zip(iterable, iterable_of_selectors):  # noqa: B905
        if selected:
            yield item


def first(iterable, stop):
    """`itertools.islice(iterable, stop)`."""
    place = 0
    if stop > 0:
        for item in iterable:
            yield item
            place = place + 1
            if place >= stop:
                return


def sliced(iterable, start, stop, step):
    """`itertools.islice(iterable, start, stop, step)`."""
    place = 0
    if stop > 0:
        for item in iterable:
            if place >= start and (place - start) % step == 0:
                yield item
            place = place + 1
            if place >= stop:
                return


def checked_bound(bound, otherwise):
    """A bound of `itertools.islice`."""
    if bound is None:
        return otherwise
    if bound < 0:
        raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    return bound


def running(iterable, function):
    """`itertools.accumulate`."""
    total = None
    started = False
    for item in iterable:
        if started:
            total = function(total, item)
        else:
            total = item
        started = True
        yield total


def running_from(total, iterable, function):
    """`itertools.accumulate(iterable, function, initial=total)` from what is not None."""
    yield total
    for item in iterable:
        total = function(total, item)
        yield total


def running_from_any(total, iterable, function):
    """The same from what may be None: then there is no initial value."""
    if total is not None:
        yield total
    for item in iterable:
        if total is None:
            total = item
        else:
            total = function(total, item)
        yield total


def neighbours(iterable):
    """`itertools.pairwise`."""
    before = None
    started = False
    for item in iterable:
        if started:
            yield before, item
        before = item
        started = True


def chained(iterable, iterable_behind):
    """`itertools.chain` of two iterables."""
    for item in iterable:
        yield item
    for item in iterable_behind:
        yield item


def flattened(iterable):
    """`itertools.chain.from_iterable`."""
    for part in iterable:
        yield from part


def repeated(object, times):
    """`itertools.repeat(object, times)`."""
    for _ in range(times):
        yield object


def endlessly(object):
    """`itertools.repeat(object)`."""
    while True:
        yield object


def counted(start=0, step=1):
    """`itertools.count`."""
    count = start
    while True:
        yield count
        count = count + step


def around(sequence):
    """`itertools.cycle` of what is not written meanwhile."""
    items, place = list(sequence), 0
    while len(items) > 0:
        yield items[place]
        place = (place + 1) % len(items)


def grouped(iterable, n, rest):
    """`itertools.batched`; without `rest`, `zip(*[iter(iterable)] * n)`."""
    group = []
    for item in iterable:
        group.append(item)
        if len(group) == n:
            yield tuple(group)
            group = []
    if rest and len(group) > 0:
        yield tuple(group)


def pairs(iterable, sequence):
    """`zip` of two, of which the first has no length."""
    place = 0
    for item in iterable:
        if place >= len(sequence):
            return
        yield item, sequence[place]
        place = place + 1


def pairs_behind(sequence, iterable):
    """`zip` of two, of which the second has no length."""
    place = 0
    if len(sequence) > 0:
        for item in iterable:
            yield sequence[place], item
            place = place + 1
            if place >= len(sequence):
                return


def triples(iterable, sequence_second, sequence_third):
    """`zip` of three, of which the first has no length."""
    place = 0
    for item in iterable:
        if place >= min(len(sequence_second), len(sequence_third)):
            return
        yield item, sequence_second[place], sequence_third[place]
        place = place + 1


def triples_behind(sequence, sequence_second, iterable):
    """`zip` of three, of which the last has no length."""
    place, most = 0, min(len(sequence), len(sequence_second))
    if most > 0:
        for item in iterable:
            yield sequence[place], sequence_second[place], item
            place = place + 1
            if place >= most:
                return


def numbered(iterable, start):
    """`enumerate`."""
    place = start - 1
    for item in iterable:
        place = place + 1
        yield place, item


def listed(iterable):
    """`list(iterable)`."""
    out = []
    for item in iterable:
        out.append(item)
    return out


def any_of(iterable):
    """`any(iterable)`."""
    for item in iterable:  # noqa: SIM110
        if item:
            return True
    return False


def all_of(iterable):
    """`all(iterable)`."""
    for item in iterable:  # noqa: SIM110
        if not item:
            return False
    return True


DRAWN = {
    itertools.starmap: spread, itertools.filterfalse: left_out, itertools.takewhile: begun, itertools.dropwhile: behind,
    itertools.compress: picked,
}  # fmt: skip
TOOLS: dict[Any, Any] = {
    **DRAWN, builtins.map: mapped, builtins.filter: chosen, itertools.pairwise: neighbours,
    itertools.chain.from_iterable: flattened,
}  # fmt: skip
"""The function here for each tool that has the same parameters; those in `DRAWN` are always drawn from."""

OF_ALL = {builtins.any: any_of, builtins.all: all_of}
