"""What a user's subclass of `list` or `dict` inherits, as source: its objects hold a plain one.

    class Row(list): ..; Row([a, b])[0]      ->      row_items = [a, b]; row_items[0]

A method of `list` or `dict` calls no method of the subclass, so these use what is held, and nothing else of `self`.
"""

from __future__ import annotations

import collections

from s2sgrad.runtime.checks import READ_ALIKE


class List:
    """Stands for `list` among the bases of a class."""

    def __init__(self, items=None):
        self.__items = [] if items is None else list(items)

    def __len__(self):
        return len(self.__items)

    def __iter__(self):
        return iter(self.__items)

    def __contains__(self, value):
        return value in self.__items

    def __getitem__(self, place):
        return self.__items[place]

    def __setitem__(self, place, value):
        self.__items[place] = value

    def __add__(self, other):
        return self.__items + list(other)

    def __iadd__(self, other):
        for value in list(other):
            self.__items.append(value)
        return self

    def __mul__(self, times):
        return self.__items * times

    def append(self, value):
        """`list.append`."""
        self.__items.append(value)

    def extend(self, values):
        """`list.extend`."""
        for value in list(values):
            self.__items.append(value)

    def insert(self, place, value):
        """`list.insert`."""
        self.__items.insert(place, value)

    def pop(self, place=-1):
        """`list.pop`."""
        return self.__items.pop(place)

    def clear(self):
        """`list.clear`."""
        self.__items.clear()

    def copy(self):
        """`list.copy`."""
        return list(self.__items)

    def reverse(self):
        """`list.reverse`."""
        self.__items.reverse()

    def sort(self, key=None, reverse=False):
        """`list.sort`."""
        ordered = sorted(self.__items, reverse=reverse) if key is None else sorted(self.__items, key=key, reverse=reverse)
        self.__items = ordered


class Bounded(list):
    """Stands for `collections.deque` with `maxlen`, for which there is room for `items`, a list that becomes its own."""

    def __init__(self, items, maxlen):
        self._List__items = items
        self.maxlen = maxlen

    def __iadd__(self, other):
        self.extend(list(other))
        return self

    def __add__(self, other):
        return Trimmed(self._List__items + list(other), self.maxlen)

    def __mul__(self, times):
        return Trimmed(self._List__items * times, self.maxlen)

    def append(self, value):
        """`deque.append`."""
        super().append(value)
        if len(self) > self.maxlen:
            self.popleft()

    def appendleft(self, value):
        """`deque.appendleft`."""
        super().insert(0, value)
        if len(self) > self.maxlen:
            self.pop()

    def extend(self, values):
        """`deque.extend`."""
        for value in values:
            self.append(value)

    def extendleft(self, values):
        """`deque.extendleft`."""
        for value in values:
            self.appendleft(value)

    def insert(self, place, value):
        """`deque.insert`."""
        if len(self) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        super().insert(place, value)

    def popleft(self):
        """`deque.popleft`."""
        return self.pop(0)

    def rotate(self, turns=1):
        """`deque.rotate`."""
        first = -turns % max(len(self), 1)
        self._List__items = self._List__items[first:] + self._List__items[:first]

    def copy(self):
        """`deque.copy`."""
        return Bounded(list(self._List__items), self.maxlen)


class Trimmed(Bounded):
    """The same, of the last items that there is room for."""

    def __init__(self, items, maxlen):
        if maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        super().__init__(items[max(len(items) - maxlen, 0) :], maxlen)


class Dict:
    """Stands for `dict` among the bases of a class."""

    def __init__(self, given=None, **named):
        self.__held = {} if given is None else dict(given)
        self.__held.update(named)

    def __len__(self):
        return len(self.__held)

    def __iter__(self):
        return iter(self.__held)

    def __contains__(self, key):
        return key in self.__held

    def __getitem__(self, key):
        return self.__held[key]

    def __setitem__(self, key, value):
        self.__held[key] = value

    def get(self, key, value=None):
        """`dict.get`."""
        return self.__held.get(key, value)

    def keys(self):
        """`dict.keys`."""
        return self.__held.keys()

    def values(self):
        """`dict.values`."""
        return self.__held.values()

    def items(self):
        """`dict.items`."""
        return self.__held.items()

    def update(self, given):
        """`dict.update`."""
        self.__held.update(given)

    def pop(self, key):
        """`dict.pop`."""
        return self.__held.pop(key)

    def setdefault(self, key, value=None):
        """`dict.setdefault`."""
        return self.__held.setdefault(key, value)

    def clear(self):
        """`dict.clear`."""
        self.__held.clear()

    def copy(self):
        """`dict.copy`."""
        return dict(self.__held)


class DefaultDict(dict):
    """Stands for `collections.defaultdict`; the dict `held` becomes its own."""

    def __init__(self, default_factory, held):
        self._Dict__held = held
        self.default_factory = default_factory

    def __getitem__(self, key):
        if key not in self:
            self[key] = self.default_factory()
        return super().__getitem__(key)

    def copy(self):
        """`defaultdict.copy`."""
        return DefaultDict(self.default_factory, dict(self._Dict__held))


READ_ALIKE.add(DefaultDict)

OBJECTS = frozenset({collections.defaultdict, collections.deque})
"""Classes of Python's library of which such objects are made."""

STAND_INS: dict[type, type] = {list: List, dict: Dict}
