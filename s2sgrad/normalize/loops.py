"""Every `for` loops over a range: arrays, lists, zip, enumerate and reversed are indexed.

    for v in xs: s += v   ->   t1 = sequence(xs); for k in range(len(t1)): v = t1[k]; s += v

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(xs, ys):
...     s = 0.0
...     for i, (x, y) in enumerate(zip(xs, ys)):
...         s = s + i * x * y
...     for i in range(3):
...         i = i + 1
...     return s
... ''', "loops"))
def f(xs, ys):
    s = 0.0
    t1 = sequence(xs)
    t2 = sequence(ys)
    for k in range(min(len(t1), len(t2))):
        i = k
        x = t1[k]
        y = t2[k]
        s = s + i * x * y
    for i_ in range(3):
        i = i_
        i = i + 1
    return s
"""

from __future__ import annotations

import builtins
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import gast

from s2sgrad import runtime
from s2sgrad.analysis.user_functions import is_generator
from s2sgrad.ir import checkpoints
from s2sgrad.ir.exits import leaves_trip
from s2sgrad.ir.forms import is_none
from s2sgrad.ir.quote import assign, at, clone, constant, expression, name, nodes, stored, substitute
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import dict_views, iterables
from s2sgrad.normalize.iterator_kinds import is_plain_count, is_plain_repeat, is_shown
from s2sgrad.normalize.targets import bind


@dataclass
class _Walk:
    """How to index an iterable: its length (None: infinite), and the item at an index (an expression, or a list of them).

    `checks` are statements for the end of the loop, if it gets there.
    """

    length: gast.AST | None
    item: Callable[[gast.AST], gast.AST]
    checks: list[gast.AST] = field(default_factory=list)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree, whose loops are all `for NAME in range(..)` or `reversed(range(..))`."""
    tree.body = block(unit, tree.body)
    return tree


def block(unit: Unit, body: list[gast.AST]) -> list[gast.AST]:
    """The statements of a block, in which every `for` loops over a range."""
    out = []
    for statement in body:
        if isinstance(statement, (gast.If, gast.For, gast.While)):
            statement.body, statement.orelse = block(unit, statement.body), block(unit, statement.orelse)
        out += _loop(unit, statement) if isinstance(statement, gast.For) else [statement]
    return out


def _loop(unit: Unit, loop: gast.For) -> list[gast.AST]:
    """A loop as one over a range."""
    if checkpoints.slots_of(unit, loop.iter) is not None:
        return _of_states(unit, loop)
    called = unit.called(loop.iter)
    nested = isinstance(loop.iter, gast.Call) and isinstance(loop.iter.func, gast.Name)
    given = isinstance(loop.iter, gast.Name) and loop.iter.id in unit.arguments.drawn_from
    if (
        given
        or unit.draws(loop.iter)
        or is_generator(called)
        or (nested and loop.iter.func.id in unit.definitions.generators)
    ):
        return [loop]  # inlined when the function is flattened
    if is_range(unit, loop.iter) and isinstance(loop.target, gast.Name):
        if not _rebinds(loop.body, loop.target.id):
            return [loop]
        index = unit.local(loop.target.id)
        head = bind(unit, loop.target, name(index))
        loop.target = name(index, store=True)
        loop.body = at(loop, *head) + loop.body
        return [loop]
    if unit.called(loop.iter) is itertools.count and is_plain_count(loop.iter):
        bounds = [*loop.iter.args[:1], constant(sys.maxsize), *loop.iter.args[1:]]
        loop.iter = at(loop.iter, gast.Call(unit.builtin(range), bounds, []))[0]
        return _loop(unit, loop)
    return indexed(unit, loop)


def _of_states(unit: Unit, loop: gast.For) -> list[gast.AST]:
    """A loop over `checkpointed`, as one over a `range(n)`, so that its trips can be counted."""
    over, slots = loop.iter, checkpoints.slots_of(unit, loop.iter)
    loop.iter = over.args[0]
    if isinstance(loop.target, gast.Name) and not loop.target.id.strip("_"):  # an index is still needed
        loop.body = at(loop, *bind(unit, loop.target, name(index := unit.local("k")))) + loop.body
        loop.target = name(index, store=True)
    counted = unit.called(loop.iter) is builtins.range and len(loop.iter.args) == 1
    out = _loop(unit, loop) if counted else indexed(unit, loop, backward=False)
    if isinstance(loop.iter.args[0], gast.Constant) and loop.iter.args[0].value == sys.maxsize:
        unit.refuse(over, "how often a loop over `checkpointed` runs must be known when it begins: loop over a range, and "
                          "leave it by `break`")  # fmt: skip
    loop.iter = at(over, checkpoints.with_slots(over, loop.iter, slots))[0]
    return out


def indexed(unit: Unit, loop: gast.For, backward: bool | None = None) -> list[gast.AST]:
    """A loop over the indices of what is no range; `backward`: of the argument of `reversed` (None: if it is one)."""
    backward = unit.called(loop.iter) is builtins.reversed if backward is None else backward
    setup: list[gast.AST] = []
    walk = _walk(unit, loop.iter.args[0] if backward else loop.iter, setup)
    checks = at(loop, *walk.checks)
    if loop.orelse or leaves_trip(loop.body):
        loop.orelse, checks = checks + loop.orelse, []
    index = unit.local("k")
    steps: gast.AST = gast.Call(unit.builtin(range), [walk.length or constant(sys.maxsize)], [])
    loop.iter = gast.Call(unit.builtin(reversed), [steps], []) if backward else steps
    head = bind(unit, loop.target, walk.item(name(index)))
    loop.target = name(index, store=True)
    loop.body = at(loop, *head) + loop.body
    return at(loop, *setup) + [loop, *checks]


def is_range(unit: Unit, node: gast.AST) -> bool:
    """Whether `node` is `range(..)`, `reversed(range(..))`, or a slice `range(..)[:n]`."""
    if unit.called(node) is builtins.reversed and len(node.args) == 1:
        return is_range(unit, node.args[0])
    if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice):
        return is_range(unit, node.value)
    return unit.called(node) is builtins.range and not any(isinstance(a, gast.Starred) for a in node.args)


def _rebinds(body: list[gast.AST], target: str) -> bool:
    return target in stored(*body)


def _refuse_endless(unit: Unit, node: gast.AST, called: object) -> None:
    """Refuse loops over what cannot be indexed."""
    unindexed = called in (builtins.map, builtins.filter, builtins.iter, builtins.zip)
    if unindexed or isinstance(node, (gast.GeneratorExp, gast.Dict)):
        unit.refuse(node, "a loop over this cannot be reversed: loop over a list, a tuple, an array or a range")


def _walk(unit: Unit, node: gast.AST, setup: list[gast.AST]) -> _Walk:
    """How to index the iterable `node`; statements that come before the loop are appended to `setup`."""
    called = unit.called(node)
    if called is builtins.zip and node.args:
        return _zipped(unit, node, setup)
    if called is builtins.enumerate and node.args:
        start = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords), constant(0))
        inner = _walk(unit, node.args[0], setup)
        if isinstance(start, gast.Constant) and start.value == 0:
            return _Walk(inner.length, lambda k: gast.Tuple([k, inner.item(k)], gast.Load()), inner.checks)
        first = unit.temp()
        setup.append(assign(first, start))
        return _Walk(
            inner.length,
            lambda k: gast.Tuple([expression("k + first", k=k, first=first), inner.item(k)], gast.Load()),
            inner.checks,
        )
    endless = _endless(unit, node, called, setup) or _generated(unit, node, setup)
    if endless is not None:
        return endless
    _refuse_endless(unit, node, called)
    if called is builtins.reversed and len(node.args) == 1:
        inner = _walk(unit, node.args[0], setup)
        if inner.length is None:
            unit.refuse(node, "what has no end cannot be reversed")
        return _Walk(inner.length, lambda k: inner.item(expression("n - 1 - k", n=inner.length, k=k)))
    view = dict_views.of(unit, node)
    if view is not None:
        return _viewed(unit, view, setup)
    holder = unit.temp()
    if is_range(unit, node):
        value = node
    else:
        value = expression("sequence(xs)", sequence=unit.helper("sequence", runtime.sequence), xs=node)
        at(node, value)
    setup.append(assign(holder, value))
    length = gast.Call(unit.builtin(len), [name(holder)], [])
    return _Walk(length, lambda k: expression("xs[k]", xs=holder, k=k))


def _generated(unit: Unit, node: gast.AST, setup: list[gast.AST]) -> _Walk | None:
    """`(d[k] for k in ks)`, whose items are computed in their trips; None for anything else."""
    part = node.generators[0] if isinstance(node, gast.GeneratorExp) and len(node.generators) == 1 else None
    if part is None or part.ifs or not isinstance(part.target, gast.Name):
        return None
    if any(isinstance(n, (gast.Call, gast.NamedExpr, gast.Lambda)) for n in nodes(node.elt)):
        return None
    inner = _walk(unit, part.iter, setup)
    return _Walk(inner.length, lambda k: substitute(node.elt, {part.target.id: inner.item(k)}), inner.checks)


def _viewed(unit: Unit, view: dict_views.View, setup: list[gast.AST]) -> _Walk:
    """A dict view: the keys are read once, each value in its trip."""
    owner_name, keys = unit.temp(), unit.temp()
    setup.append(assign(owner_name, view.owner))
    setup.append(assign(keys, dict_views.keys(unit, name(owner_name))))
    length = gast.Call(unit.builtin(len), [name(keys)], [])
    held_view = view._replace(owner=name(owner_name))
    return _Walk(length, lambda k: dict_views.item(held_view, expression("ks[k]", ks=keys, k=k)))


def _endless(unit: Unit, node: gast.AST, called: object, setup: list[gast.AST]) -> _Walk | None:
    """Infinite iterables, and some without a length, that have an item at every index; None for anything else."""
    if called is itertools.count and is_plain_count(node):
        first, step = list(node.args) + [constant(0), constant(1)][len(node.args) :]
        return _Walk(None, lambda k: expression("a + k * d", a=first, k=k, d=step) if step.value != 1 else k
                     if first.value == 0 else expression("k + a", a=first, k=k))  # fmt: skip
    if called is itertools.repeat and is_plain_repeat(node):
        value_name, times = unit.temp(), unit.temp() if len(node.args) > 1 else None
        setup.append(assign(value_name, node.args[0]))
        if times is not None:
            setup.append(assign(times, node.args[1]))
        return _Walk(times and name(times), lambda k: name(value_name))
    if called is itertools.cycle and is_shown(node.args[0]):
        items = unit.temp()
        setup.append(assign(items, gast.List(node.args[0].elts, gast.Load())))
        return _Walk(None, lambda k: expression("xs[k % n]", xs=items, k=k, n=len(node.args[0].elts)))
    if called is itertools.islice and 2 <= len(node.args) <= 4:
        return _sliced(unit, node, setup)
    if called is itertools.pairwise and len(node.args) == 1:
        inner = _walk(unit, node.args[0], setup)
        return _Walk(
            inner.length and expression("n - 1", n=inner.length),
            lambda k: gast.Tuple([inner.item(k), inner.item(expression("k + 1", k=k))], gast.Load()),
        )
    return _filled(unit, node, setup) if called is itertools.zip_longest and node.args else None


def _sliced(unit: Unit, node: gast.Call, setup: list[gast.AST]) -> _Walk:
    """`islice(xs, ..)`."""
    over, *bounds = node.args
    inner = _walk(unit, over, setup)
    if len(bounds) == 1 and not is_none(bounds[0]):
        setup.append(assign(stop := unit.temp(), bounds[0]))
        return _Walk(_shortest(unit, [inner.length, name(stop)]), inner.item)
    start, end, step = [None if is_none(b) else b for b in iterables.slice_bounds(bounds)]
    if inner.length is None:
        unit.refuse(node, "a part of what has no end cannot be followed: loop over `islice(.., stop)`")
    steps = gast.Subscript(gast.Call(unit.builtin(range), [inner.length], []), gast.Slice(start, end, step), gast.Load())
    setup.append(assign(places := unit.temp(), steps))
    length = gast.Call(unit.builtin(len), [name(places)], [])
    return _Walk(length, lambda k: inner.item(expression("places[k]", places=places, k=k)))


def _filled(unit: Unit, node: gast.Call, setup: list[gast.AST]) -> _Walk:
    """`zip_longest(..)`."""
    walks = [_walk(unit, argument, setup) for argument in node.args]
    setup.append(assign(fill := unit.temp(), next((k.value for k in node.keywords), constant(None))))
    endless = any(w.length is None for w in walks)
    length = None if endless else gast.Call(unit.builtin(max), [w.length for w in walks], [])

    def item(k: gast.AST) -> gast.AST:
        parts = [w.item(k) if w.length is None else expression("v if k < n else w", k=k, n=w.length, v=w.item(k), w=fill)
                 for w in walks]  # fmt: skip
        return gast.Tuple(parts, gast.Load())

    return _Walk(length, item)


def _shortest(unit: Unit, lengths: list[gast.AST | None]) -> gast.AST | None:
    """The minimum of the finite lengths; None if all are infinite."""
    finite = [n for n in lengths if n is not None]
    return gast.Call(unit.builtin(min), finite, []) if len(finite) > 1 else finite[0] if finite else None


def _columns(unit: Unit, rows: gast.AST, setup: list[gast.AST]) -> _Walk:
    """`zip(*rows)`: as many columns as the shortest row has items."""
    rows_name, row = unit.temp(), unit.local("row")
    setup.append(assign(rows_name, rows))
    length = expression("len(rows) and min([len(r) for r in rows])", len=unit.builtin(len), min=unit.builtin(min),
                        rows=rows_name, r=row)  # fmt: skip
    return _Walk(length, lambda k: expression("[r[k] for r in rows]", r=unit.local("row"), k=k, rows=rows_name))


def _zipped(unit: Unit, node: gast.Call, setup: list[gast.AST]) -> _Walk:
    """`zip(..)`; with `strict=` the lengths are compared where Python compares them: at the end of the shortest."""
    if (
        len(node.args) == 1
        and isinstance(node.args[0], gast.Starred)
        and not any(getattr(k.value, "value", True) for k in node.keywords)
    ):
        return _columns(unit, node.args[0].value, setup)
    if any(isinstance(a, gast.Starred) for a in node.args):
        unit.refuse(node, "a loop over `zip(*...)` cannot be reversed: name what is zipped, or index it")
    walks = [_walk(unit, argument, setup) for argument in node.args]
    for argument, walk in zip(node.args, walks, strict=True):
        if walk.checks:
            unit.refuse(argument, "`zip(..., strict=True)` in another `zip` is not differentiated: zip all of it at once")
    strict = next((k.value for k in node.keywords if k.arg == "strict"), constant(False))
    length, checks = _shortest(unit, [w.length for w in walks]), []
    if len(walks) > 1:
        if not (isinstance(strict, gast.Constant) and not strict.value):
            if any(w.length is None for w in walks):
                unit.refuse(node, "`strict=True` beside what has no end always fails: leave one of the two out")
            checks = _equal_lengths(unit, strict, [w.length for w in walks], setup)
    return _Walk(length, lambda k: gast.Tuple([w.item(k) for w in walks], gast.Load()), checks)


def _equal_lengths(unit: Unit, strict: gast.AST, lengths: list[gast.AST], setup: list[gast.AST]) -> list[gast.AST]:
    first, *others = clone(lengths)
    test: gast.AST = gast.Compare(first, [gast.NotEq()], others)
    if len(others) > 1:
        test = gast.UnaryOp(gast.Not(), gast.Compare(first, [gast.Eq() for _ in others], others))
    if not isinstance(strict, gast.Constant):
        wanted = unit.temp()
        setup.append(assign(wanted, strict))
        test = gast.BoolOp(gast.And(), [name(wanted), test])
    error = gast.Call(unit.builtin(ValueError), [constant("zip() arguments differ in length")], [])
    return [gast.If(test, [gast.Raise(error, None)], [])]
