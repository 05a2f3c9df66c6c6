"""Dicts and named tuples: constructors, and methods that read.

    dict(a=x), dict(zip(ks, vs))     ->      {'a': x}, {k: v for k, v in zip(ks, vs)}
    d.get(k, 0.0)                    ->      d[k] if k in d else 0.0
    {'a': x, 'b': y}.get('a')        ->      {'a': x, 'b': y}['a']
    d.keys(), d.values()             ->      keys_of(d), (d[k] for k in keys_of(d))

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(ks, vs, r):
...     d = dict(zip(ks, vs))
...     total = sum(d.values()) + d.get("a", 0.0)
...     return total, dict(d, b=1.0), r._replace(x=2.0)
... ''', "library_desugaring"))
def f(ks, vs, r):
    d = {key: item for key, item in zip(ks, vs)}
    total = sum(d[key_] for key_ in keys_of(d)) + (d['a'] if 'a' in d else 0.0)
    return total, {**d, 'b': 1.0}, with_fields(r, ('x',), 2.0)
"""

from __future__ import annotations

import builtins
from collections import OrderedDict, namedtuple

import gast

from s2sgrad import runtime, standard
from s2sgrad.ir import notes
from s2sgrad.ir.quote import clone, constant, name, nodes, placed
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import dict_views
from s2sgrad.normalize.library.table import LibraryCall, desugars, desugars_method

_RECORD = namedtuple("_RECORD", ())
_PAIRS = (builtins.enumerate, builtins.sorted, builtins.list, standard.ordered)
"""Callables whose result is no mapping, so that `dict` expects pairs."""


@desugars(dict)
def _dict(call: LibraryCall) -> gast.AST | None:
    if len(call.args) < 2 and call.words:
        keys = [*(None for _ in call.args), *map(constant, call.words)]
        whole = [_of_pairs(a) if _holds_pairs(a) else a for a in call.args]
        return placed(call.node, gast.Dict(keys, [*whole, *call.words.values()]))
    if len(call.args) != 1:
        return None
    (source,) = call.args
    if _holds_pairs(source):
        return placed(call.node, _of_pairs(source))
    tool = call.resolve(source)
    zipped = tool is builtins.zip and len(source.args) == 2 and not source.keywords
    yields = isinstance(source, gast.Call) and call.scope.endings.is_source(source)
    if isinstance(source, gast.GeneratorExp) or tool in _PAIRS or zipped or yields:
        key, item = call.unit.local("key"), call.unit.local("item")
        return call.written("{k: v for k, v in pairs}", k=key, v=item, pairs=source)
    return None


@desugars(OrderedDict)
def _ordered(call: LibraryCall) -> gast.AST | None:
    """As a dict, which is ordered; an empty one is left to the evaluator."""
    if not call.node.args and not call.node.keywords:
        return None
    call.unit.outside.stand_ins.add((OrderedDict, dict))
    return _dict(call) or placed(call.node, gast.Call(call.unit.builtin(dict), call.args, call.node.keywords))


def empty_dict(unit: Unit, node: gast.AST) -> gast.AST | None:
    """`{}` for `OrderedDict()`; None for anything else."""
    if unit.called(node) is not OrderedDict or node.args or node.keywords:
        return None
    unit.outside.stand_ins.add((OrderedDict, dict))
    return placed(node, gast.Dict([], []))


def _of_pairs(node: gast.List | gast.Tuple) -> gast.Dict:
    """The dict of a literal list of pairs."""
    return gast.Dict([pair.elts[0] for pair in node.elts], [pair.elts[1] for pair in node.elts])


def _holds_pairs(node: gast.AST) -> bool:
    """Whether an expression is a literal list of pairs."""
    shown = isinstance(node, (gast.List, gast.Tuple))
    return shown and all(isinstance(e, (gast.List, gast.Tuple)) and len(e.elts) == 2 for e in node.elts)


def _literal_item(call: LibraryCall) -> gast.AST | None:
    """The item of a literal dict that a method call asks for."""
    keys = call.owner.keys if isinstance(call.owner, gast.Dict) else []
    plain = bool(call.args) and all(isinstance(key, gast.Constant) for key in (call.args[0], *keys))
    if not plain or call.args[0].value not in [key.value for key in keys]:
        return None
    return placed(call.node, gast.Subscript(call.owner, call.args[0], gast.Load()))


@desugars_method(dict, "pop")
def _pop(call: LibraryCall) -> gast.AST | None:
    """`pop` of a dict without other references."""
    return _literal_item(call) if len(call.args) == 1 and not call.words else None


@desugars_method(dict, "get")
def _get(call: LibraryCall) -> gast.AST | None:
    called = [n for n in nodes(*call.args) if isinstance(n, gast.Call)]  # Python evaluates them all
    if len(call.args) not in (1, 2) or call.words or called:
        return None
    if (item := _literal_item(call)) is not None:
        return item
    if not dict_views.is_path(call.owner):
        return None
    asked = key = call.args[0]
    if not isinstance(key, (gast.Constant, gast.Name)):
        key = name(call.unit.local("key"))
        asked = gast.NamedExpr(name(key.id, store=True), call.args[0])
    default = call.args[1] if len(call.args) == 2 else constant(None)
    conditional = call.written("d[k] if asked in d else v", d=call.owner, k=key, asked=asked, v=default)
    notes.METHOD.put(conditional.test, "get")  # `flatten` checks that the owner is a dict, if its kind is unknown
    return conditional


@desugars_method(dict, "keys")
@desugars_method(dict, "values")
@desugars_method(dict, "items")
def _view(call: LibraryCall) -> gast.AST | None:
    """Outside of loops: a loop reads each value in its own trip."""
    view = dict_views.of(call.unit, call.node)
    if view is None:
        return None
    if (shown := dict_views.displayed(view)) is not None:
        return placed(call.node, shown)
    keys = dict_views.keys(call.unit, view.owner)
    if not dict_views.is_path(view.owner) or view.which == "keys":
        return placed(call.node, keys) if dict_views.is_path(view.owner) else None
    key = call.unit.local("key")
    item = dict_views.item(view, key)
    return call.written("(v for k in ks)", v=item, k=key, ks=keys)


@desugars_method(_RECORD, "_replace")
def _replace(call: LibraryCall) -> gast.AST | None:
    if call.args or not call.words or None in call.words or not dict_views.is_path(call.owner):
        return None
    names = gast.Tuple([constant(word) for word in call.words], gast.Load())
    return call.calling(runtime.with_fields, [call.owner, names, *call.words.values()])


@desugars_method(_RECORD, "_asdict")
def _asdict(call: LibraryCall) -> gast.AST | None:
    return None if call.args or call.words else call.calling(runtime.as_dict, [clone(call.owner)])
