"""What methods of arrays, numbers, strings, builtin containers and random generators write and return.

    x.ravel()   may alias x        ys.append(v)   writes ys        d.items()   returns what d holds

Where the class of an object is unknown, a method may be that of any of these classes (`may_be`).

>>> from s2sgrad.primitives.record import of
>>> of(np.ndarray.ravel).gives, of(list.append).writes, of(dict.items).gives, of(np.random.Generator.shuffle).writes
(<Gives.CONTIGUOUS: 3>, (0,), <Gives.ROWS: 6>, (1,))
>>> may_be("sum"), may_be("copy"), may_be("frobnicate")
(<Gives.NEW: 1>, <Gives.SHELL: 5>, <Gives.UNKNOWN: 0>)
"""

from __future__ import annotations

import collections

import numpy as np

from s2sgrad.primitives.libraries import DRAWING
from s2sgrad.primitives.record import Gives, know, know_methods, methods_named, of
from s2sgrad.primitives.sharing import ROUNDED

_IN_PLACE = (
    "__iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __imatmul__ __iand__ __ior__ __ixor__ "
    "__ilshift__ __irshift__"
)
_ITEMS = "__setitem__ __delitem__"

# --- of arrays ---

know_methods(
    np.ndarray, f"sort fill put partition resize itemset setflags setfield byteswap {_ITEMS} {_IN_PLACE}", writes=(0,)
)
know_methods(np.ndarray, _IN_PLACE, gives=Gives.OPERATOR)
know_methods(
    np.ndarray,
    "sum mean prod max min std var cumsum cumprod argmax argmin argsort argpartition all any clip dot repeat copy "
    "flatten astype take trace nonzero searchsorted tolist item tobytes ptp compress choose",
    gives=Gives.NEW, computes=True,
)  # fmt: skip
know_methods(np.ndarray, "round", gives=ROUNDED, computes=True)
know_methods(np.ndarray, "transpose swapaxes squeeze", gives=Gives.VIEW, computes=True)
know_methods(np.ndarray, "reshape ravel", gives=Gives.CONTIGUOUS, computes=True)
know_methods(np.ndarray, "view diagonal conj conjugate getfield __array__", gives=Gives.MAYBE, computes=True)
know_methods(np.ndarray, "__getitem__", gives=Gives.ITEM)
know_methods(np.ndarray, "argmax argmin argsort argpartition all any nonzero searchsorted tobytes", flat=True)

# --- of numbers and texts ---

know_methods(float, "is_integer as_integer_ratio hex", gives=Gives.NEW)
know_methods(float, "is_integer", flat=True)
know_methods(int, "bit_length as_integer_ratio", gives=Gives.NEW)
know_methods(bytes, "hex count index", gives=Gives.NEW)
know_methods(bytes, "count index", computes=True)
know_methods(str, " ".join(name for name in vars(str) if name[0] != "_"), gives=Gives.NEW)
know_methods(
    str,
    "capitalize casefold count encode endswith expandtabs find index isalnum isalpha isascii isdecimal isdigit islower "
    "isnumeric isspace istitle isupper lower lstrip partition removeprefix removesuffix replace rfind rindex rpartition "
    "rsplit rstrip split splitlines startswith strip swapcase title upper zfill",
    computes=True,
)  # fmt: skip

# --- of containers ---

know_methods(list, f"append extend insert pop remove clear sort reverse {_ITEMS} {_IN_PLACE}", writes=(0,))
know_methods(list, "append extend insert pop remove clear", resizes=True)
know_methods(list, "append pop", stack=True)
know_methods(list, "append extend", grows=True)
know_methods(dict, f"update pop popitem setdefault clear {_ITEMS} {_IN_PLACE}", writes=(0,))
know_methods(dict, "update pop popitem setdefault clear", resizes=True)
know_methods(
    set,
    f"add discard remove pop clear update difference_update intersection_update symmetric_difference_update {_IN_PLACE}",
    writes=(0,),
)
know_methods(set, "add discard remove pop clear update", resizes=True)
know_methods(set, "add", grows=True)
know_methods(
    collections.deque,
    f"append appendleft extend extendleft insert pop popleft remove clear reverse rotate {_ITEMS} {_IN_PLACE}",
    writes=(0,),
)
know_methods(collections.deque, "append appendleft extend extendleft insert pop popleft remove clear", resizes=True)
know_methods(collections.OrderedDict, "move_to_end pop popitem setdefault update clear", writes=(0,))
know_methods(collections.Counter, "update", writes=(0,))

know_methods(list, "copy", gives=Gives.SHELL, computes=True)
know_methods(collections.deque, "copy", gives=Gives.SHELL, computes=True)
know_methods(dict, "copy", gives=Gives.SHELL, computes=True)
know_methods(dict, "keys values", gives=Gives.SHELL)
know_methods(dict, "items", gives=Gives.ROWS)
know_methods(set, "copy", gives=Gives.SHELL, computes=True)
know_methods(set, "union difference intersection symmetric_difference", gives=Gives.SHELL)
know_methods(frozenset, "copy", gives=Gives.SHELL, computes=True)
know_methods(frozenset, "union difference intersection symmetric_difference", gives=Gives.SHELL)
know_methods(collections.namedtuple("_Fields", "field"), "_replace _asdict", gives=Gives.SHELL)
know_methods(dict, "get __getitem__", gives=Gives.ITEM)
know_methods(list, "__getitem__", gives=Gives.ITEM)
know_methods(tuple, "__getitem__", gives=Gives.ITEM)
for _cls in (list, tuple, collections.deque):
    know_methods(_cls, "count index", gives=Gives.NEW, computes=True)
for _set in (set, frozenset):
    know_methods(_set, "isdisjoint issubset issuperset", gives=Gives.NEW)

# --- of random generators ---

for _generator in DRAWING:
    know_methods(_generator, "shuffle", writes=(1,))
    know_methods(_generator, "choice choices sample", chooses=True)

know(np.ufunc.at, writes=(1,))


def may_be(name: str, cls: type | None = None) -> Gives:
    """What a method of this name returns for an object of a class; None: an array, number, string or builtin container, and
    of several answers the one with most aliasing.

    >>> may_be("copy", np.ndarray), may_be("copy", list)
    (<Gives.NEW: 1>, <Gives.SHELL: 5>)
    """
    answers = {of(getattr(cls, name, None)).gives} if cls is not None else {m.gives for m in methods_named(name)}
    if len(answers) == 1:
        return answers.pop()
    for gives in (Gives.UNKNOWN, Gives.ROWS, Gives.SHELL, Gives.ITEM, Gives.MAYBE):
        if gives in answers:
            return gives
    return Gives.UNKNOWN


def only_compute(name: str) -> bool:
    """Whether every method of this name is pure: no effects, and a result that depends on object and arguments alone."""
    return bool(methods_named(name)) and all(record.computes for record in methods_named(name))


def draws_items(name: str) -> bool:
    """Whether a method of this name of a random generator chooses among the items of its argument."""
    return any(of(getattr(cls, name, None)).chooses for cls in DRAWING)
