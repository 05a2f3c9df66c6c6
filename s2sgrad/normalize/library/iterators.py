"""Tools that return iterators become generator expressions, or functions of `s2sgrad.standard` that return lists.

    map(f, xs), filter(f, xs)        ->      (f(v) for v in xs), (v for v in xs if f(v))
    itertools.chain(x, y)            ->      [v for part in (x, y) for v in part]

A list replaces an iterator only where that is consumed at once and then dropped.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from itertools import chain, pairwise
... def f(x, y, z):
...     a = [s * t for s, t in pairwise(x)]
...     b = sum(map(np.sin, filter(None, z)))
...     return a, b, [v for v in chain(x, y)]
... ''', "library_desugaring"))
def f(x, y, z):
    a = [s * t for s, t in pairwise(x)]
    b = sum(np.sin(item) for item in z if item)
    return a, b, [v for v in [item_2 for part in (x, y) for item_2 in part]]
"""

from __future__ import annotations

import builtins
import functools
import itertools
import sys

import gast

from s2sgrad import standard
from s2sgrad.ir.forms import is_natural, is_none, whole_number
from s2sgrad.ir.quote import constant, name, placed
from s2sgrad.normalize import iterables
from s2sgrad.normalize.library.table import LibraryCall, desugars, of_found
from s2sgrad.runtime import checks


def _lasts(call: LibraryCall, node: gast.AST) -> bool:
    """Whether an expression makes the same function each time: a name, a lambda, or a `partial` over such and constants."""
    if isinstance(node, gast.Call):
        given = [a for a in [*node.args, *(k.value for k in node.keywords)] if not isinstance(a, gast.Constant)]
        return call.resolve(node) is functools.partial and all(_lasts(call, a) for a in given)
    return isinstance(node, (gast.Name, gast.Attribute, gast.Lambda))


@desugars(map)
def _map(call: LibraryCall) -> gast.AST | None:
    if len(call.args) < 2 or call.words:
        return None
    function, *over = call.args
    _require_lasting(call, function)
    items = [call.unit.local("item") for _ in over]
    item = of_found(call.unit, placed(call.node, gast.Call(function, [name(i) for i in items], [])))
    if len(over) == 1:
        return call.written("(e for v in xs)", e=item, v=items[0], xs=over[0])
    stored = gast.Tuple([name(i, store=True) for i in items], gast.Store())
    each = gast.comprehension(stored, gast.Call(call.unit.builtin(zip), over, []), [], 0)
    return placed(call.node, gast.GeneratorExp(item, [each]))


def _require_lasting(call: LibraryCall, function: gast.AST) -> None:
    """Refuse a function that an expression makes: a generator expression would make it anew for each item."""
    if not _lasts(call, function):
        call.unit.refuse(function, "this function is made once for all items, which cannot be followed: give it a name")


@desugars(filter, takes=2)
def _filter(call: LibraryCall) -> gast.AST | None:
    function, over = call.args
    if is_none(function):
        return call.written("(v for v in xs if v)", v=call.unit.local("item"), xs=over)
    _require_lasting(call, function)
    return call.written("(v for v in xs if f(v))", v=call.unit.local("item"), xs=over, f=function)


@desugars(enumerate, zip, spread=True)
def _side_by_side(call: LibraryCall) -> None:
    """`zip` and `enumerate`: their arguments are made indexable."""
    if call.target is builtins.zip and not call.words and not call.is_spread:
        call.node.args = [_counted(call, a) for a in call.args]
    call.node.args = [
        call.listed(a) if isinstance(a, gast.GeneratorExp) and not call.scope.changes([a]) else a for a in call.node.args
    ]


def _counted(call: LibraryCall, node: gast.AST) -> gast.AST:
    """`itertools.count(a, b)` beside a finite iterable, as `range(a, huge, b)`."""
    if call.resolve(node) is not itertools.count or node.keywords:
        return node
    if not all(map(is_natural, node.args)):
        return node
    first, *step = [a.value for a in node.args] or [0]
    bounds = [constant(first), constant(sys.maxsize // 2), *map(constant, step or [1])]
    return placed(node, gast.Call(call.unit.builtin(range), bounds, []))


@desugars(itertools.chain, itertools.chain.from_iterable, spread=True)
def _chain(call: LibraryCall) -> gast.AST | None:
    spread = len(call.args) == 1 and isinstance(call.args[0], gast.Starred)
    if call.words or (call.is_spread and not spread):
        return None
    parts = call.args[0].value if spread else call.args[0] if call.target is not itertools.chain else gast.Tuple(
        call.args, gast.Load())  # fmt: skip
    if not call.at_once:
        return None
    if id(call.node) in call.scope.looped and call.scope.changes([parts]):
        call.unit.refuse(call.node, checks.CHANGES)
    part, item = call.unit.local("part"), call.unit.local("item")
    return call.written("[v for xs in parts for v in xs]", v=item, xs=part, parts=parts)


@desugars(itertools.pairwise, itertools.islice, itertools.zip_longest)
def _indexed(call: LibraryCall) -> gast.AST | None:
    """Tools whose items `loops` finds by index."""
    tool = call.node
    tool.args = [call.listed(a) for a in tool.args]
    return call.looped(tool)


@desugars(itertools.product)
def _product(call: LibraryCall) -> gast.AST | None:
    if not call.at_once or (call.args and all(_is_range(call, a) for a in call.args)):
        return None
    times = whole_number(call.words.pop("repeat", constant(1)))
    product = None if call.words or times is None else standard.PRODUCTS.get((len(call.args), times))
    if product is None:
        call.unit.refuse(call.node, "`itertools.product` is differentiated of one to three, and of one with `repeat=2` or "
                                    "`repeat=3`: write loops")  # fmt: skip
    return call.calling(product, call.args)


@desugars(*iterables.DRAWN)
def _drawn(call: LibraryCall) -> None:
    if call.at_once:
        call.unit.refuse(call.node, iterables.DRAWN_FROM)


@desugars(*standard.TOOLS)
def _tool(call: LibraryCall) -> gast.AST | None:
    """A tool with a counterpart in `standard` that takes the same arguments."""
    if isinstance(call.target, type) and not call.at_once:
        return None
    if call.target in (itertools.combinations, itertools.permutations) and call.args and _is_range(call, call.args[0]):
        return None  # its items are numbers
    return call.calling(standard.TOOLS[call.target], [call.listed(a) for a in call.args], call.words)


def _is_range(call: LibraryCall, node: gast.AST) -> bool:
    return call.resolve(node) is range
