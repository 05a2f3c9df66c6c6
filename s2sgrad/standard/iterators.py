"""Iterators of Python's library as closures that the compiler inlines: what `next` draws from, and loops that cannot index.

    it = map(f, xs); a = next(it)      ->      it = mapped(f, items(xs)); a = following(it)

`more` says whether there is a next item, and may draw from other iterators to find out; `take`, called once after each
`more` that is true, gives it.  Parameters called `iterator..` are such objects, those called `iterable..` may also be
sequences or generators.

>>> numbers = lasting(items([-2.0, 3.0]))
>>> following(numbers), list(each(numbers)), following_or(numbers, None), list(running([1, 3, 2], max))
(-2.0, [3.0], None, [1, 3, 3])
"""

from __future__ import annotations

import builtins
import itertools

from s2sgrad import runtime


class Iterator:
    """What is drawn from."""

    def __init__(self, more, take):
        self.more, self.take = more, take

    def __iter__(self):
        return self

    def __next__(self):
        return following(self)



def following(iterator):
    """`next(iterator)`."""
    if not iterator.more():
        raise StopIteration()
    return iterator.take()


def following_or(iterator, default):
    """`next(iterator, default)`."""
    if iterator.more():
        return iterator.take()
    return default


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


OF_ALL = {builtins.any: any_of, builtins.all: all_of}


def lasting(iterator):
    """An iterator that has ended stays at its end, whatever `iterator` draws from."""
    over = False

    def more():
        nonlocal over
        over = over or not iterator.more()
        return not over

    return Iterator(more, iterator.take)


def checked_bound(bound, otherwise):
    """A bound of `itertools.islice`."""
    if bound is None:
        return otherwise
    if bound < 0:
        raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    return bound


def items(iterable):
    """`iter(iterable)` of what has items by index."""
    sequence = runtime.sequence(iterable)
    place = 0

    def more():
        return place < len(sequence)

    def take():
        nonlocal place
        item = sequence[place]
        place += 1
        return item

    return Iterator(more, take)


def backwards(iterable):
    """`reversed(iterable)`."""
    sequence = runtime.sequence(iterable)
    place = len(sequence) - 1

    def more():
        return 0 <= place < len(sequence)

    def take():
        nonlocal place
        item = sequence[place]
        place -= 1
        return item

    return Iterator(more, take)


def counted(start=0, step=1):
    """`itertools.count`."""
    count = start

    def more():
        return True

    def take():
        nonlocal count
        item = count
        count = count + step
        return item

    return Iterator(more, take)


def endlessly(object):
    """`itertools.repeat(object)`."""

    def more():
        return True

    def take():
        return object

    return Iterator(more, take)


def repeated(object, iterable):
    """`itertools.repeat(object, times)`, of `range(times)`."""
    for _ in iterable:
        yield object


def results(function, sentinel):
    """`iter(function, sentinel)`."""
    item = None

    def more():
        nonlocal item
        item = function()
        return item != sentinel

    def take():
        return item

    return Iterator(more, take)


def cycled(iterator):
    """`itertools.cycle`."""
    saved, place, fresh = [], 0, True

    def more():
        nonlocal fresh
        fresh = fresh and iterator.more()
        return fresh or len(saved) > 0

    def take():
        nonlocal place
        if fresh:
            item = iterator.take()
            saved.append(item)
        else:
            item = saved[place]
            place = (place + 1) % len(saved)
        return item

    return Iterator(more, take)


def around(iterable):
    """`itertools.cycle` of what is not written meanwhile."""
    sequence, place = list(runtime.sequence(iterable)), 0

    def more():
        return len(sequence) > 0

    def take():
        nonlocal place
        item = sequence[place]
        place = (place + 1) % len(sequence)
        return item

    return Iterator(more, take)


def total_of(total, item):
    """How `itertools.accumulate` adds."""
    return total + item


# --- tools: generator functions, of which loops are inlined and other iterators made by `normalize.stepwise` ---


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
    """`itertools.accumulate(iterable, function, initial=total)`."""
    yield total
    for item in iterable:
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


def batched(iterable, n):
    """`itertools.batched`."""
    group = []
    for item in iterable:
        group.append(item)
        if len(group) == n:
            yield tuple(group)
            group = []
    if len(group) > 0:
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


TOOLS = {
    builtins.map: mapped, builtins.filter: chosen, itertools.starmap: spread, itertools.filterfalse: left_out,
    itertools.takewhile: begun, itertools.dropwhile: behind, itertools.pairwise: neighbours,
    **({itertools.batched: batched} if hasattr(itertools, "batched") else {}),
}  # fmt: skip
"""The function here for each tool that has the same parameters."""

ASKING_ON = (mapped, spread, chosen, left_out, behind, running, running_from, pairs, triples,
             numbered)  # fmt: skip
"""Those that ask again after the end."""
