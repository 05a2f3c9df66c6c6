"""Tools that return iterators become generator expressions, or functions of `s2sgrad.standard` that return lists.

    map(f, xs), filter(f, xs)        ->      (f(v) for v in xs), (v for v in xs if f(v))
    itertools.chain(x, y)            ->      flattened((x, y))

A list replaces an iterator only where that is consumed at once and then dropped.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from itertools import chain, pairwise, takewhile
... def f(x, y, z):
...     a = [s * t for s, t in pairwise(x)]
...     b = sum(map(np.sin, filter(None, z)))
...     return a, b, [v for v in chain(x, y)]
... ''', "library_desugaring"))
def f(x, y, z):
    a = [s * t for s, t in pairwise(x)]
    b = sum(np.sin(item) for item in z if item)
    return a, b, [v for v in flattened((x, y))]
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import itertools
import sys
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad import standard
from s2sgrad.ir.forms import is_natural, is_none, whole_number
from s2sgrad.ir.quote import constant, name, nodes, placed, stored
from s2sgrad.normalize import iterables
from s2sgrad.normalize.library.table import LibraryCall, desugars, of_found
from s2sgrad.runtime import checks
from s2sgrad.standard import generators


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
    if not _lasts(call, function):
        return _with_function_made(call, generators.mapped)
    items = [call.unit.local("item") for _ in over]
    item = of_found(call.unit, placed(call.node, gast.Call(function, [name(i) for i in items], [])))
    if len(over) == 1:
        return call.written("(e for v in xs)", e=item, v=items[0], xs=over[0])
    stored = gast.Tuple([name(i, store=True) for i in items], gast.Store())
    each = gast.comprehension(stored, gast.Call(call.unit.builtin(zip), over, []), [], 0)
    return placed(call.node, gast.GeneratorExp(item, [each]))


def _with_function_made(call: LibraryCall, tool: Callable[..., Any]) -> gast.AST | None:
    """`map` and `filter` of one iterable, with a function that an expression makes, once: drawn from."""
    function, *over = call.args
    return call.looped(call.calling(tool, [function, *map(call.listed, over)])) if len(over) == 1 else None


@desugars(filter, takes=2)
def _filter(call: LibraryCall) -> gast.AST | None:
    function, over = call.args
    if is_none(function):
        return call.written("(v for v in xs if v)", v=call.unit.local("item"), xs=over)
    if not _lasts(call, function):
        return _with_function_made(call, generators.chosen)
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
    if call.at_once and id(call.node) not in call.scope.looped:
        part, item = call.unit.local("part"), call.unit.local("item")
        return call.written("[v for xs in parts for v in xs]", v=item, xs=part, parts=parts)
    return call.looped(call.calling(generators.flattened, [parts]))


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


@desugars(itertools.groupby)
def _groupby(call: LibraryCall) -> gast.AST | None:
    """Groups become lists, if each is consumed at most once, in its own trip: later it would be empty."""
    if not 1 <= len(call.args) + len(call.words) <= 2 or call.words.keys() - {"iterable", "key"}:
        return None
    if call.scope.endings.is_endless(call.node):
        return None
    if call.scope.changes([*call.args, *call.words.values()]):
        call.unit.refuse(call.node, checks.CHANGES)
    if not _groups_end(call):
        call.unit.refuse(call.node, "groups of `itertools.groupby` are run through once, in the loop over them: write `for "
                                    "k, group in groupby(..)`, and make a list of the group first")  # fmt: skip
    return call.calling(standard.groups, [call.listed(a) for a in call.args], call.words)


def _groups_end(call: LibraryCall) -> bool:
    """Whether a loop or comprehension runs directly over the groups, and consumes each at most once."""
    for loop in call.scope.nodes:
        if getattr(loop, "iter", None) is call.node and isinstance(loop, gast.For):
            return _runs_once(call, loop.target, loop.body)
        generators = loop.generators if isinstance(loop, iterables.COMPREHENSIONS) else []
        for k, each in enumerate(generators):
            if each.iter is call.node:
                results = [loop.key, loop.value] if isinstance(loop, gast.DictComp) else [loop.elt]
                return not generators[k + 1 :] and _runs_once(call, each.target, [*each.ifs, *results])
    return False


def _runs_once(call: LibraryCall, target: gast.AST, body: list[gast.AST]) -> bool:
    if not isinstance(target, gast.Tuple) or not all(isinstance(e, gast.Name) for e in target.elts):
        return False
    group = target.elts[-1].id
    read = {id(n) for n in call.scope.nodes if isinstance(n, gast.Name) and n.id == group and isinstance(n.ctx, gast.Load)}
    bound = {id(n) for node in call.scope.nodes if _binds(node, group) for n in nodes(node)}
    inside = list(nodes(*body))
    here = read & set(map(id, inside))
    again = {id(n) for part in inside for n in nodes(*_repeated(call, part))}
    return len(here) <= 1 and read <= bound and here <= call.scope.consumed - again


def _binds(node: gast.AST, local: str) -> bool:
    """Whether a loop or comprehension rebinds a name for its body."""
    if isinstance(node, gast.For):
        return local in stored(node.target)
    return isinstance(node, iterables.COMPREHENSIONS) and local in stored(*(each.target for each in node.generators))


def _repeated(call: LibraryCall, node: gast.AST) -> list[gast.AST]:
    """The parts of a node that run several times, or later."""
    if isinstance(node, (gast.For, gast.While, gast.Lambda, gast.FunctionDef)):
        return node.body if isinstance(node.body, list) else [node.body]
    if isinstance(node, iterables.COMPREHENSIONS):
        first = node.generators[0]
        results = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        lazy = [first.iter] if isinstance(node, gast.GeneratorExp) and id(node) not in call.scope.consumed else []
        return [*lazy, *first.ifs, *node.generators[1:], *results]
    return []


@desugars(*generators.DRAWN)
def _drawn(call: LibraryCall) -> gast.AST | None:
    """A tool with a generator function that takes the same arguments."""
    drawn = call.calling(generators.DRAWN[call.target], [call.listed(a) for a in call.args])
    return None if call.words else call.looped(drawn)


@desugars(itertools.accumulate)
def _accumulate(call: LibraryCall) -> gast.AST | None:
    with contextlib.suppress(TypeError):
        words: dict[Any, gast.AST] = {**call.words}
        function, arguments = iterables.accumulation(call.unit, *map(call.listed, call.args), **words)
        return call.looped(call.calling(function, arguments))
    return None


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
