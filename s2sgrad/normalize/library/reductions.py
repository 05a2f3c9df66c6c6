"""Functions that reduce an iterable to one value, or collect it in a container.

    max(rows, key=f)                        ->      largest(rows, f)
    next((v for v in x if v > 0), 0.0)      ->      first_of([v for v in x if v > 0], 0.0)
    list(zip(xs, ys))                       ->      [(x, y) for x, y in zip(xs, ys)]

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(scores, xs):
...     best = max(scores, key=scores.get)
...     first = next((v for v in xs if v > 0), 0.0)
...     return best, first, list(enumerate(xs))
... ''', "library_desugaring"))
def f(scores, xs):
    best = largest(list(scores), lambda k: scores.get(k))
    first = first_of([v for v in xs if v > 0], 0.0)
    return best, first, [(item, item_) for item, item_ in enumerate(xs)]
"""

from __future__ import annotations

import builtins
import functools
import heapq
import math

import gast

from s2sgrad import standard
from s2sgrad.normalize.iterables import STATISTICS
from s2sgrad.normalize.library.table import LibraryCall, desugars, rows


@desugars(max, min)
def _extreme(call: LibraryCall) -> gast.AST | None:
    """`max(.., key=f)` of one iterable, or of the arguments; `max(xs, default=v)`."""
    if "default" in call.words and len(call.args) == 1 and call.words.keys() <= {"key", "default"}:
        which = standard.largest_or if call.target is max else standard.smallest_or
        return call.calling(which, [call.listed(call.args[0])], call.words)
    if call.words.keys() != {"key"}:
        return None
    items = call.args[0] if len(call.args) == 1 else gast.List(call.args, gast.Load())
    key = call.words["key"]
    if isinstance(items, gast.Name) and isinstance(key, gast.Attribute) and key.attr == "get":
        if isinstance(key.value, gast.Name) and key.value.id == items.id:  # the key of the largest value
            key = call.written("lambda k: d.get(k)", d=key.value)
            items = call.written("list(d)", list=call.unit.builtin(list), d=items)
    call.require_free(key, items)
    one = standard.largest if call.target is max else standard.smallest
    return call.calling(one, [call.listed(items), key])


@desugars(sorted)
def _sorted(call: LibraryCall) -> gast.AST | None:
    if isinstance(call.words.get("key", gast.Constant(None, None)), gast.Constant):
        return None
    return call.calling(standard.ordered, [call.listed(call.args[0]), call.words.pop("key")], call.words)


@desugars(heapq.nsmallest, heapq.nlargest)
def _extremes(call: LibraryCall) -> gast.AST | None:
    """A slice of the sorted list."""
    if len(call.args) not in (2, 3):
        return None
    count, items, key = (*call.args, call.words.get("key"))[:3]
    reverse = gast.Constant(call.target is heapq.nlargest, None)
    if key is not None and not isinstance(key, gast.Constant):
        order = call.calling(standard.ordered, [call.listed(items), key, reverse])
    else:
        order = call.written("sorted(s, reverse=r)", sorted=call.unit.builtin(sorted), s=call.listed(items), r=reverse)
    return call.written("s[:max(n, 0)]", s=order, n=count, max=call.unit.builtin(max))


@desugars(builtins.next)
def _next(call: LibraryCall) -> gast.AST | None:
    if not 1 <= len(call.args) <= 2 or not isinstance(call.args[0], gast.GeneratorExp):
        return None
    found = standard.first_of if call.args[1:] else standard.first_item
    return call.calling(found, [call.listed(call.args[0]), *call.args[1:]])


@desugars(list, tuple, takes=1)
def _container(call: LibraryCall) -> gast.AST | None:
    generator = rows(call.unit, call.args[0]) or call.args[0]
    if isinstance(generator, gast.GeneratorExp):
        call.args[0] = call.listed(generator)
        return call.args[0] if call.target is list else None
    return None


@desugars(sum)
def _sum(call: LibraryCall) -> None:
    """With a start value; `sum(generator)` becomes a loop in `comprehensions`."""
    if len(call.args) == 2 and isinstance(call.args[0], gast.GeneratorExp):
        call.args[0] = call.listed(call.args[0])


@desugars(math.prod, math.fsum, *STATISTICS)
def _of_list(call: LibraryCall) -> None:
    call.node.args = [call.listed(a) for a in call.args]


@desugars(functools.reduce, spread=True)
def _reduce(call: LibraryCall) -> None:
    for items in call.args[1:2]:
        call.require_free(call.args[0], items)
    call.node.args = [call.listed(a) if isinstance(a, gast.GeneratorExp) else a for a in call.args]
