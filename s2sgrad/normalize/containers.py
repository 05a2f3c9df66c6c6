"""Mutating methods of lists and dicts become stores, or bind the list to a new one.

    d.update(a=v)         ->      d["a"] = v                  xs.insert(0, v)      ->      xs = [v] + xs
    d.setdefault(k, v)    ->      if k not in d: d[k] = v     y = xs.pop(i)        ->      y = xs[i]; xs = lacking(xs, i)

A list that is rebound must have no alias: `resizes` marks it for the pass that checks this (`inplace.alias_conflicts`)
and is then removed.  So is `replaces`, once the method is known to be that of a builtin list or dict.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     xs, d = [x], {"a": x}
...     xs.insert(0, 2.0)
...     d.update(b=3.0)
...     return {**d, "c": xs[0]}
... ''', "temporary_copies"))
def f(x):
    xs = [x]
    d = {'a': x}
    replaces(xs, 'insert', 4)
    resizes(xs)
    t1 = [2.0]
    xs2 = t1 + xs
    replaces(d, 'update', 5)
    d['b'] = 3.0
    merged = dict(d)
    t2 = xs2[0]
    merged['c'] = t2
    result = merged
    return result
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import gast

from s2sgrad import runtime
from s2sgrad.ir.quote import assign, clone, constant, expression, name, placed, statements
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize import library_desugaring, loops, targets
from s2sgrad.primitives.catalogue import is_named
from s2sgrad.runtime.structure import lacking, moved

Written = tuple[list[gast.AST], gast.AST]
Atom = Callable[[gast.AST], gast.AST]


def changes(unit: Unit, node: gast.AST) -> bool:
    """Whether an expression is a call of such a method."""
    method = _method(node.func.attr) if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) else None
    if method is None:
        return False
    if isinstance(node.func.value, gast.Name) and node.func.value.id not in unit.locals:
        return False
    plain = not any(isinstance(a, gast.Starred) for a in node.args) and all(k.arg for k in node.keywords)
    counted = method.least <= len(node.args) <= method.most and (method.words or not node.keywords)
    return plain and counted and unit.resolve(node.func) is MISSING


def written(unit: Unit, node: gast.Call, atom: Atom) -> Written | None:
    """The statements for a call of such a method, and its value; None for any other call."""
    if not changes(unit, node):
        return None
    owner = atom(node.func.value)
    if not isinstance(owner, gast.Name) or owner.id not in unit.locals:
        return None
    check = own_method(unit, owner.id, node.func.attr, node)
    method = _method(node.func.attr)
    assert method is not None  # it changes what it is called on
    before, value = method.write(unit, owner.id, node, atom)
    return [placed(node, statement) for statement in (*check, *before)], value


def own_method(unit: Unit, owner: str, method: str, node: gast.AST) -> list[gast.AST]:
    """A check that a method is that of a builtin list or dict; removed where the kinds prove it."""
    return statements("f(d, m, line)", f=unit.helper("replaces", runtime.replaces), d=owner, m=constant(method),
                      line=constant(getattr(node, "lineno", 0)))  # fmt: skip


def may_repeat(keys: list[gast.AST]) -> bool:
    """Whether two keys of a dict display may be equal, so that the second value replaces the first."""
    constants = [k.value for k in keys if isinstance(k, gast.Constant)]
    return len(keys) > 1 and (len(constants) < len(keys) or len(set(constants)) < len(keys))


def joined(unit: Unit, node: gast.Dict, atom: Atom) -> Written:
    """A dict display with `**`, or with keys that may be equal: a copy of its first part, updated with the rest."""
    merged = unit.local("merged")
    before: list[gast.AST] = []
    pairs = list(zip(node.keys, node.values, strict=True))
    if pairs[0][0] is None:
        start: gast.AST = gast.Call(unit.builtin(dict), [atom(pairs.pop(0)[1])], [])
    else:
        start = gast.Dict([], [])
    before.append(assign(merged, start))
    for key, value in pairs:
        if key is None:
            before += _copied(unit, merged, value)
        else:
            before += statements("d[k] = v", d=merged, k=key, v=value)
    return before, name(merged)


def _copied(unit: Unit, owner: str, other: gast.AST) -> list[gast.AST]:
    """Stores of all items of another dict."""
    if isinstance(other, gast.Dict) and None not in other.keys:
        return [s for k, v in zip(other.keys, other.values, strict=True) for s in statements("d[k] = v", d=owner, k=k, v=v)]
    key, item = unit.local("key"), unit.local("item")
    called = unit.called(other)
    if called in (zip, runtime.sequence) or isinstance(other, (gast.GeneratorExp, gast.ListComp, gast.List, gast.Tuple)):
        loop = statements("for k, v in pairs:\n    d[k] = v", k=key, v=item, d=owner, pairs=other)
        return loops.block(unit, targets.block(unit, [library_desugaring.plainer(unit, s) for s in loop]))
    before: list[gast.AST] = []
    if not isinstance(other, gast.Name):
        other_name = unit.local("other")
        before, other = [assign(other_name, other)], name(other_name)
    keys_of = unit.helper("keys_of", runtime.keys_of)
    loop = statements("for k in keys_of(e):\n    d[k] = e[k]", k=key, d=owner, e=other, keys_of=keys_of)
    return before + loops.block(unit, targets.block(unit, [library_desugaring.plainer(unit, s) for s in loop]))


def _update(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    """`d.update(e, k=v)`: everything is evaluated before the first store, except what a generator yields."""
    sources = list(node.args)
    for k, other in enumerate(sources):
        if isinstance(other, gast.Dict) and None not in other.keys:
            values = [atom(v) for pair in zip(other.keys, other.values, strict=True) for v in pair]
            sources[k] = gast.Dict(values[::2], values[1::2])
        elif isinstance(other, (gast.ListComp, gast.List, gast.Tuple)):
            sources[k] = expression("f(s)", f=unit.helper("sequence", runtime.sequence), s=atom(other))
    words = [(constant(word.arg), atom(word.value)) for word in node.keywords]
    before = [s for other in sources for s in _copied(unit, owner, other)]
    return before + [s for k, v in words for s in statements("d[k] = v", d=owner, k=k, v=v)], constant(None)


def _setdefault(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    """`d.setdefault(k, v)` as a test and a store."""
    arguments = list(map(atom, node.args))
    value = arguments[1] if len(arguments) > 1 else constant(None)
    before = statements("if k not in d:\n    d[k] = v", d=owner, k=arguments[0], v=value)
    return before, expression("d[k]", d=owner, k=clone(arguments[0]))


def _insert(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    """`xs.insert(i, v)`: the list is bound to a new one."""
    place, value = map(atom, node.args)
    if isinstance(place, gast.Constant) and place.value == 0:
        return _rebound(unit, owner, expression("[v] + s", s=owner, v=value)), constant(None)
    return _rebound(unit, owner, expression("s[:i] + [v] + s[i:]", s=owner, i=place, v=value)), constant(None)


def _append_left(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    return _rebound(unit, owner, expression("[v] + s", s=owner, v=atom(node.args[0]))), constant(None)


def _extend_left(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    (argument,) = node.args
    shown = isinstance(argument, gast.GeneratorExp)
    more = gast.ListComp(argument.elt, argument.generators) if shown else gast.Call(unit.builtin(list), [atom(argument)], [])
    return _rebound(unit, owner, expression("more[::-1] + s", s=owner, more=more)), constant(None)


def _rotate(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    turns, first = atom(node.args[0]) if node.args else constant(1), unit.local("first")
    before = statements("first = -n % max(len(s), 1)", first=first, n=turns, s=owner, max=unit.builtin(max),
                        len=unit.builtin(len))  # fmt: skip
    return [*before, *_rebound(unit, owner, expression("s[n:] + s[:n]", s=owner, n=first))], constant(None)


def _reverse(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    return _rebound(unit, owner, expression("s[::-1]", s=owner)), constant(None)


def _sort(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    """`xs.sort(..)` of a list; `key` and `reverse` exist for lists alone, without them `xs` may be an array."""
    (anew,) = statements("s = sorted(s)", s=owner, sorted=unit.builtin(sorted))
    anew.value.keywords = node.keywords
    return [*_resize_marker(unit, owner), library_desugaring.plainer(unit, anew)], constant(None)


def _clear(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    emptied = unit.helper("emptied", runtime.emptied)
    return _rebound(unit, owner, expression("f(s)", f=emptied, s=owner)), constant(None)


def _pop(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    """`y = s.pop(k)` of a list or a dict, with a default for a dict alone; `y = q.popleft()`."""
    arguments, item = list(map(atom, node.args)) or [constant(0)], unit.local("item")
    left = _rebound(unit, owner, expression("f(s, k)", f=unit.helper("lacking", lacking), s=owner, k=arguments[0]))
    before = [assign(item, expression("s[k]", s=owner, k=arguments[0])), *left]
    if len(arguments) == 2:
        kept = expression("k in d", d=owner, k=arguments[0])
        before = [gast.If(kept, before, [assign(item, arguments[1])])]
    return before, name(item)


def _pop_item(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    """`k, v = d.popitem()`, for an `OrderedDict` also the first item."""
    last = [*node.args, *(k.value for k in node.keywords)]
    place = expression("-1 if last else 0", last=atom(last[0])) if last else constant(-1)
    keys = unit.helper("keys_of", runtime.keys_of)
    key, item = unit.local("key"), unit.local("item")
    left = _rebound(unit, owner, expression("f(d, k)", f=unit.helper("lacking", lacking), d=owner, k=key))
    before = [assign(key, expression("f(d)[i]", f=keys, d=owner, i=place)), assign(item, expression("d[k]", d=owner, k=key))]
    return [*before, *left], gast.Tuple([name(key), name(item)], gast.Load())


def _move_to_end(unit: Unit, owner: str, node: gast.Call, atom: Atom) -> Written:
    value = expression("f(d, k)", f=unit.helper("moved", moved), d=owner, k=atom(node.args[0]))
    return _rebound(unit, owner, value), constant(None)


def _rebound(unit: Unit, owner: str, value: gast.AST) -> list[gast.AST]:
    return [*_resize_marker(unit, owner), assign(owner, value)]


def _resize_marker(unit: Unit, owner: str) -> list[gast.AST]:
    return statements("f(s)", f=unit.helper("resizes", runtime.resizes), s=owner)


class _Method(NamedTuple):
    """How a method is written, and its number of arguments (`words`: keywords are allowed)."""

    write: Callable[[Unit, str, gast.Call, Atom], Written]
    least: int
    most: int
    words: bool = False


_METHODS: dict[Any, _Method] = {
    dict.update: _Method(_update, 0, 1, words=True), dict.setdefault: _Method(_setdefault, 1, 2),
    list.insert: _Method(_insert, 2, 2), list.pop: _Method(_pop, 1, 2), dict.pop: _Method(_pop, 1, 2),
    list.reverse: _Method(_reverse, 0, 0), list.clear: _Method(_clear, 0, 0), dict.clear: _Method(_clear, 0, 0),
    list.sort: _Method(_sort, 0, 0, words=True), deque.popleft: _Method(_pop, 0, 0),
    deque.appendleft: _Method(_append_left, 1, 1), deque.extendleft: _Method(_extend_left, 1, 1),
    deque.rotate: _Method(_rotate, 0, 1), dict.popitem: _Method(_pop_item, 0, 1, words=True),
    OrderedDict.move_to_end: _Method(_move_to_end, 1, 1),
}  # fmt: skip


def rebinds(call: gast.Call) -> bool:
    """Whether a method call on a list or a deque binds the variable to a new list."""
    named = is_named(call.func.attr, list.pop) and bool(call.args)
    return named or is_named(call.func.attr, *_REBINDING)


_REBINDING = (list.insert, list.reverse, list.clear, deque.popleft, deque.appendleft, deque.extendleft, deque.rotate)


def _method(name: str) -> _Method | None:
    """The method with this name of a list, a dict or a deque, which becomes a list."""
    methods = (_METHODS.get(getattr(cls, name, None)) for cls in (list, dict, deque, OrderedDict))
    return next(filter(None, methods), None)
