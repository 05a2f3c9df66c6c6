"""What a user's subclass of `list` or `dict` inherits, as source: its objects hold a plain one.

    class Row(list): ..; Row([a, b])[0]      ->      row_items = [a, b]; row_items[0]

A method of `list` or `dict` calls no method of the subclass, so these use what is held, and nothing else of `self`.
"""

from __future__ import annotations


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


STAND_INS: dict[type, type] = {list: List, dict: Dict}
