"""Iterators of Python's library as closures that the compiler inlines: what `next` draws from, and loops that cannot index.

    it = map(f, xs); a = next(it)      ->      it = mapped(f, items(xs)); a = following(it)

`more` says whether there is a next item, and may draw from other iterators to find out; `take`, called once after each
`more` that is true, gives it.  Parameters called `iterator..` are such objects, those called `iterable..` may also be
sequences or generators.

>>> numbers = lasting(items([-2.0, 3.0]))
>>> following(numbers), listed(numbers), following_or(numbers, None)
(-2.0, [3.0], None)
"""

from __future__ import annotations

import builtins

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
