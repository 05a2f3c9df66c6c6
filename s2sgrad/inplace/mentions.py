"""How often the functions of a program name each of the user's functions.

    def f(x): return g(x) + g(h(x))      ->      g: 2, h: 1

>>> from s2sgrad.driver.pipeline import defined
>>> f = defined('''
... def h(x): return x * x
... def g(x): return h(x) + h(x)
... def f(x): return g(x) + g(h(x))
... ''')
>>> sorted((g.__name__, count) for g, count in of(f).items())
[('g', 2), ('h', 3)]
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Iterator

import gast

from s2sgrad import source
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.quote import nodes
from s2sgrad.source import look_up

_MANY = 200  # functions of a program that are read


def of(entry: types.FunctionType) -> Counter[types.FunctionType]:
    """The number of times that each function is named, `entry` being where the program begins; empty where the program has
    too many functions to be read."""
    counts: Counter[types.FunctionType] = Counter()
    waiting, seen = [entry], {entry}
    while waiting and len(seen) < _MANY:
        for found in _named(waiting.pop()):
            counts[found] += 1
            if found not in seen:
                seen.add(found)
                waiting.append(found)
    return counts if not waiting else Counter()


def _named(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """The user's functions that a function names, once for each time."""
    try:
        tree = source.read(function).tree
    except S2SGradError:
        return
    for node in nodes(tree):
        binding = look_up(function, node.id) if isinstance(node, gast.Name) else None
        if binding is not None and is_plain(binding.value):
            yield binding.value
