"""Tools that give iterators, as generator functions: loops over them are inlined, `normalize.stepwise` makes the others.

    for v in takewhile(f, xs): ..      ->      for v in begun(f, xs): ..

Parameters called `iterator..` are those of `iterators`; those called `iterable..` may also be sequences or generators.

>>> list(running([1, 3, 2], max)), list(begun(bool, [2, 0, 3]))
([1, 3, 3], [2])
"""

from __future__ import annotations

import builtins
import itertools


def each(iterator):
    """What is left of an iterator."""
    while iterator.more():
        yield iterator.take()


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


def first(iterable, iterable_of_places):
    """`itertools.islice(iterable, stop)`, of `range(stop)`."""
    for _, item in zip(iterable_of_places, iterable):  # noqa: B905
        yield item


def sliced(iterable, iterable_of_places, start, step):
    """`itertools.islice(iterable, start, stop, step)`, of `range(stop)`, or of a counter where there is no `stop`."""
    for place, item in zip(iterable_of_places, iterable):  # noqa: B905
        if place >= start and (place - start) % step == 0:
            yield item


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


def repeated(object, iterable):
    """`itertools.repeat(object, times)`, of `range(times)`."""
    for _ in iterable:
        yield object


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


def pairs(iterable, iterator):
    """`zip` of two."""
    for item in iterable:
        if not iterator.more():
            return
        yield item, iterator.take()


def pairs_behind(iterator, iterable):
    """`zip` of two, of which the second is a generator."""
    if iterator.more():
        item = iterator.take()
        for other in iterable:
            yield item, other
            if not iterator.more():
                return
            item = iterator.take()


def equal_pairs(iterable, iterator):
    """`zip` of two, `strict`."""
    for item in iterable:
        if not iterator.more():
            raise ValueError("zip() argument 2 is shorter than argument 1")
        yield item, iterator.take()
    if iterator.more():
        raise ValueError("zip() argument 2 is longer than argument 1")


def triples(iterable, iterator, iterator_behind):
    """`zip` of three."""
    for item in iterable:
        if not iterator.more():
            return
        other = iterator.take()
        if not iterator_behind.more():
            return
        yield item, other, iterator_behind.take()


def numbered(iterable, start):
    """`enumerate`."""
    place = start - 1
    for item in iterable:
        place = place + 1
        yield place, item


DRAWN = {
    itertools.starmap: spread, itertools.filterfalse: left_out, itertools.takewhile: begun, itertools.dropwhile: behind,
    itertools.compress: picked,
}  # fmt: skip
TOOLS = {
    **DRAWN, builtins.map: mapped, builtins.filter: chosen, itertools.pairwise: neighbours,
    itertools.chain.from_iterable: flattened,
}  # fmt: skip
"""The function here for each tool that has the same parameters; those in `DRAWN` are always drawn from."""

ASKING_ON = (mapped, spread, chosen, left_out, behind, running, running_from, running_from_any, pairs, triples,
             numbered)  # fmt: skip
"""Those that ask again after the end."""
