"""Tools of Python's library and of NumPy that call functions, as functions with source (`s2sgrad.standard`).

    max(rows, key=f)                ->      largest(rows, f)
    itertools.islice(x, 1, None)    ->      islice(x, 1, None, 1)
    next((v for v in x if v > 0), 0.0)      ->      first_of([v for v in x if v > 0], 0.0)
    helper(v * v for v in x)        ->      helper([v * v for v in x])          where helper runs through it once
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
import sys
import types
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime, standard
from s2sgrad.analysis import effects
from s2sgrad.errors import S2SGradError
from s2sgrad.ir.quote import at, constant, name, nodes
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.runtime.structure import ENDLESS
from s2sgrad.source import read


def consumed(unit: Unit, tree: gast.FunctionDef) -> set[int]:
    """The calls, by identity, of which the values are run through at once, and then are gone."""
    out: set[int] = set()
    for node in nodes(tree):
        if isinstance(node, (gast.For, gast.comprehension)):
            out.add(id(node.iter))
        elif isinstance(node, gast.Starred):
            out.add(id(node.value))
        elif isinstance(node, gast.Call):
            target = unit.resolve(node.func)
            if _is_one_of(target, CONSUMERS):
                out |= {id(a) for a in node.args}
    return out


def spelled(unit: Unit, call: gast.Call, at_once: bool) -> gast.AST:
    """The call, of a function with source where there is one; `at_once`: its value is run through at once."""
    if (unit.primal.function.__module__ or "") == standard.__name__:
        return call
    target = unit.resolve(call.func)
    if target is MISSING and getattr(call.func, "attr", "") == "_asdict" and not call.args and not call.keywords:
        return _call(unit, call, runtime.as_dict, [call.func.value])
    words = {k.arg: k.value for k in call.keywords}
    if isinstance(target, np.vectorize):
        kinds = {None: constant(None), "d": unit.builtin(float)}
        if target.otypes not in kinds or target.excluded or target.signature is not None:
            unit.refuse(call, "the options of this `np.vectorize` are not differentiated: leave them out, or write a loop")
        return _vectorized(unit, call, name(unit.helper("function", target.pyfunc)), kinds[target.otypes])
    if not _is_one_of(target, _KNOWN) or any(isinstance(a, gast.Starred) for a in call.args) or None in words:
        return _with_lists(unit, call, target)
    if target in standard.RUN_ONCE and not at_once:
        return call
    made = standard.TOOLS.get(target)
    places = [isinstance(a, gast.Call) and unit.resolve(a.func) is range for a in call.args]
    if target in (itertools.combinations, itertools.permutations) and any(places[:1]):
        return call  # of numbers
    if target is itertools.product and any(places) and all(places):
        return call
    endless = lambda n: isinstance(n, gast.Call) and unit.resolve(n.func) in ENDLESS  # noqa: E731
    if target is itertools.islice and len(call.args) == 2 and any(map(endless, nodes(call.args[0]))):
        return call  # it is walked as it stands
    if target is itertools.pairwise and len(call.args) == 1 and not isinstance(call.args[0], gast.Name):
        return _call(unit, call, standard.neighbours, [_listed(unit, call.args[0])])
    if target is itertools.islice and 2 <= len(call.args) <= 4:
        given = call.args[1:]
        start, stop, step = given if len(given) == 3 else (*given, constant(1)) if len(given) == 2 else (
            constant(0), *given, constant(1))  # fmt: skip
        return _call(unit, call, standard.islice, [call.args[0], start, stop, step])
    if target is itertools.product:
        repeat = words.pop("repeat", constant(1))
        times = repeat.value if isinstance(repeat, gast.Constant) and type(repeat.value) is int else 0
        if words or (len(call.args), times) not in standard.PRODUCTS:
            unit.refuse(call, "`itertools.product` is differentiated of one to three, and of one with `repeat=2` or "
                              "`repeat=3`: write loops")  # fmt: skip
        return _call(unit, call, standard.PRODUCTS[len(call.args), times], call.args)
    if target in (max, min) and set(words) == {"key"}:
        items = call.args[0] if len(call.args) == 1 else gast.List(call.args, gast.Load())
        which = standard.largest if target is max else standard.smallest
        key = words["key"]
        if isinstance(items, gast.Name) and isinstance(key, gast.Attribute) and key.attr == "get":
            if isinstance(key.value, gast.Name) and key.value.id == items.id:  # the key of the largest value
                key = at(key, _lambda("k", gast.Subscript(key.value, name("k"), gast.Load())))[0]
                items = at(items, gast.Call(unit.builtin(list), [items], []))[0]
        return _call(unit, call, which, [_listed(unit, items), key])
    if target is sorted and "key" in words and not isinstance(words["key"], gast.Constant):
        return _call(unit, call, standard.ordered, [_listed(unit, call.args[0]), words.pop("key")], words)
    if target is next and len(call.args) == 2 and isinstance(call.args[0], gast.GeneratorExp):
        return _call(unit, call, standard.first_of, [_listed(unit, call.args[0]), call.args[1]])
    if target is zip and not words:
        call.args = [_counted(unit, a) for a in call.args]
    if target is operator.itemgetter and len(call.args) == 1:
        return at(call, _lambda("row", gast.Subscript(name("row"), call.args[0], gast.Load())))[0]
    if target is operator.attrgetter and isinstance(getattr(call.args[0], "value", None), str) and len(call.args) == 1:
        return at(call, _lambda("row", gast.Attribute(name("row"), call.args[0].value, gast.Load())))[0]
    if target in (math.prod, math.fsum):
        call.args = [_listed(unit, a) for a in call.args]
    if made is None:
        return _with_lists(unit, call, target)
    return _call(unit, call, made, [_listed(unit, a) for a in call.args], words)


CONSUMERS = {list, tuple, set, frozenset, dict, sum, max, min, sorted, any, all, builtins.enumerate, builtins.zip, np.array,
              np.fromiter, functools.reduce, math.prod, math.fsum, itertools.chain, itertools.chain.from_iterable,
              *standard.RUN_ONCE}  # fmt: skip


LAZY = {builtins.enumerate, builtins.zip, builtins.map, builtins.filter, itertools.chain, itertools.chain.from_iterable,
         *standard.RUN_ONCE}  # fmt: skip
COMPREHENSIONS = (gast.GeneratorExp, gast.ListComp, gast.SetComp, gast.DictComp)


def _call(
    unit: Unit, call: gast.Call, made: types.FunctionType, args: list[gast.AST], words: dict[str, gast.AST] | None = None
) -> gast.AST:
    keywords = [gast.keyword(k, v) for k, v in (words or {}).items()]
    return at(call, gast.Call(name(unit.helper(made.__name__, made)), args, keywords))[0]


def _vectorized(unit: Unit, call: gast.Call, function: gast.AST, kind: gast.AST) -> gast.AST:
    if call.keywords or len(call.args) not in (1, 2):
        unit.refuse(call, "a function of `np.vectorize` is differentiated with one or two arguments: write a loop")
    made = standard.vectorized if len(call.args) == 1 else standard.vectorized_of_two
    return _call(unit, call, made, [function, kind, *call.args])


def _listed(unit: Unit, node: gast.AST) -> gast.AST:
    """An argument; what is run through once as a list."""
    if isinstance(node, gast.GeneratorExp):
        return at(node, gast.ListComp(node.elt, node.generators))[0]
    target = unit.resolve(node.func) if isinstance(node, gast.Call) else None
    if target not in (zip, enumerate) or any(isinstance(a, gast.Starred) for a in node.args):
        return node
    items = [unit.local("item") for _ in range(2 if target is enumerate else len(node.args))]
    stored = gast.Tuple([name(i, store=True) for i in items], gast.Store())
    each = [gast.comprehension(stored, node, [], 0)]
    return at(node, gast.ListComp(gast.Tuple([name(i) for i in items], gast.Load()), each))[0]


def _lambda(parameter: str, body: gast.AST) -> gast.Lambda:
    arguments = gast.arguments([gast.Name(parameter, gast.Param(), None, None)], [], None, [], [], None, [])
    return gast.Lambda(arguments, body)


def _counted(unit: Unit, node: gast.AST) -> gast.AST:
    """`itertools.count(a, b)` beside what ends, as `range(a, huge, b)`."""
    if not isinstance(node, gast.Call) or unit.resolve(node.func) is not itertools.count or node.keywords:
        return node
    if not all(isinstance(a, gast.Constant) and type(a.value) is int and a.value >= 0 for a in node.args):
        return node
    first, *step = [a.value for a in node.args] or [0]
    last = constant(sys.maxsize // 2)
    return at(node, gast.Call(unit.builtin(range), [constant(first), last, *map(constant, step or [1])], []))[0]


def _with_lists(here: Unit, call: gast.Call, target: Any) -> gast.AST:
    """Generator expressions that a user's function runs through once, as lists."""
    where = [k for k, a in enumerate(call.args) if isinstance(a, gast.GeneratorExp)]
    if not where or not isinstance(target, types.FunctionType) or effects.is_library(target):
        return call
    try:
        parameters = list(signature(target).parameters)
        unit, tree = Unit.of(read(target))
    except (S2SGradError, ValueError):
        return call
    for k in where:
        if k < len(parameters) and _runs_once(unit, tree, parameters[k]):
            call.args[k] = _listed(here, call.args[k])
    return call


def joined(unit: Unit, node: gast.List) -> gast.AST:
    """`[*a, b, *c]` as `[v for v in a] + [b] + [v for v in c]`."""
    parts: list[gast.AST] = []
    for element in node.elts:
        if isinstance(element, gast.Starred):
            item = unit.local("item")
            each = [gast.comprehension(name(item, store=True), element.value, [], 0)]
            parts.append(gast.ListComp(name(item), each))
        elif parts and isinstance(parts[-1], gast.List):
            parts[-1].elts.append(element)
        else:
            parts.append(gast.List([element], gast.Load()))
    whole = parts[0]
    for part in parts[1:]:
        whole = at(node, gast.BinOp(at(node, whole)[0], gast.Add(), at(node, part)[0]))[0]
    return at(node, whole)[0]


def shows_dict(node: gast.BinOp) -> bool:
    """Whether a side of `a | b` is a dict in the text."""
    return any(isinstance(side, (gast.Dict, gast.DictComp)) for side in (node.left, node.right))


def displayed(owner: gast.AST, attribute: str) -> gast.Tuple | None:
    """`{"a": f}.items()`, `.keys()` or `.values()` of a dict in the text as a tuple; None where keys may be equal."""
    shown = isinstance(owner, gast.Dict) and attribute in ("items", "keys", "values")
    if not shown or not all(isinstance(k, gast.Constant) for k in owner.keys):
        return None
    if len({k.value for k in owner.keys}) < len(owner.keys):
        return None
    pairs = [gast.Tuple([k, v], gast.Load()) for k, v in zip(owner.keys, owner.values, strict=True)]
    return gast.Tuple({"keys": owner.keys, "values": owner.values}.get(attribute, pairs), gast.Load())


def merged(statement: gast.AugAssign) -> gast.AST:
    """`d |= {..}` as `d.update({..})`."""
    dicts = isinstance(statement.op, gast.BitOr) and isinstance(statement.value, (gast.Dict, gast.DictComp))
    if not dicts or not isinstance(statement.target, gast.Name):
        return statement
    method = gast.Attribute(name(statement.target.id), "update", gast.Load())
    return at(statement, gast.Expr(at(statement, gast.Call(method, [statement.value], []))[0]))[0]


def _runs_once(unit: Unit, tree: gast.FunctionDef, parameter: str) -> bool:
    """Whether a function mentions a parameter once, as what a loop, a comprehension or a reduction runs through."""
    mentioned = [n for s in tree.body for n in nodes(s) if isinstance(n, gast.Name) and n.id == parameter]
    if len(mentioned) != 1:
        return False
    loops = [n for s in tree.body for n in nodes(s) if isinstance(n, (gast.For, gast.While))]
    if any(any(part is mentioned[0] for s in (*n.body, *n.orelse) for part in nodes(s)) for n in loops):
        return False
    for node in (n for s in tree.body for n in nodes(s)):
        over = [node.iter] if isinstance(node, gast.For) else []
        over += [node.generators[0].iter] if isinstance(node, (gast.ListComp, gast.GeneratorExp, gast.SetComp)) else []
        reduced = isinstance(node, gast.Call) and _is_one_of(unit.resolve(node.func), {sum, list, tuple, max, min})
        over += node.args[:1] if reduced else []
        if any(part is mentioned[0] for part in over):
            return True
    return False


_KNOWN = {*standard.TOOLS, math.prod, math.fsum, itertools.islice, itertools.product, itertools.pairwise, max, min, sorted,
          next, zip, operator.itemgetter, operator.attrgetter}  # fmt: skip


def _is_one_of(target: Any, group: set[Any]) -> bool:
    try:
        return target in group
    except TypeError:
        return False
