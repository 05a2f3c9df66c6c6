"""List, tuple and dict displays that are composed of others, or computed from others.

    [*a, b, *c]        ->      [v for v in a] + [b] + [v for v in c]
    p, q = [f(v) for v in (a, b)]      ->      p, q = f(a), f(b)
    d | {"a": x}       ->      {**d, **{"a": x}}
    d |= {"a": x}      ->      d.update({"a": x})

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, d):
...     d |= {"a": x}
...     a, b = map(abs, (x, 2.0))
...     return [x, *d.values()]
... ''', "library_desugaring"))
def f(x, d):
    d.update({'a': x})
    a, b = abs(x), abs(2.0)
    return [x, *(d[key] for key in keys_of(d))]
"""

from __future__ import annotations

import functools
from collections import OrderedDict

import gast

from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.quote import constant, expression, name, nodes, placed, statements, substitute
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.name_uses import NameUses
from s2sgrad.primitives import catalogue


def concatenated(unit: Unit, node: gast.List) -> gast.AST:
    """`[*a, b]` as a sum of lists."""
    parts: list[gast.AST] = []
    for element in node.elts:
        if isinstance(element, gast.Starred):
            parts.append(expression("[v for v in xs]", v=unit.local("item"), xs=element.value))
        elif parts and isinstance(parts[-1], gast.List):
            parts[-1].elts.append(element)
        else:
            parts.append(gast.List([element], gast.Load()))
    whole, *others = parts
    for part in others:
        whole = gast.BinOp(whole, gast.Add(), part)
    return placed(node, whole)


def tupled(unit: Unit, node: gast.Tuple) -> gast.AST:
    """`(*a, b)` as a tuple of such a sum."""
    only = len(node.elts) == 1 and isinstance(node.elts[0], gast.Starred)
    items = node.elts[0].value if only else concatenated(unit, gast.List(node.elts, gast.Load()))
    return placed(node, gast.Call(unit.builtin(tuple), [items], []))


_LATER = (gast.Lambda, gast.GeneratorExp, gast.NamedExpr, gast.Await)  # may read the variable later, or bind another


def unrolled(target: gast.AST, value: gast.AST, elsewhere: set[str]) -> gast.AST:
    """A comprehension over a display of names and constants, unpacked to `target`, as a tuple of its items; any other
    expression unchanged.  `elsewhere`: the names that nested functions bind."""
    if not isinstance(value, gast.ListComp) or len(value.generators) > 1:
        return value
    (each,) = value.generators
    items = each.iter.elts if isinstance(each.iter, (gast.Tuple, gast.List)) else []
    plain = not each.ifs and isinstance(each.target, gast.Name) and not any(isinstance(t, gast.Starred) for t in target.elts)
    kept = all(isinstance(i, gast.Constant) or (isinstance(i, gast.Name) and i.id not in elsewhere) for i in items)
    if not (plain and kept) or len(items) != len(target.elts) or any(isinstance(n, _LATER) for n in nodes(value.elt)):
        return value
    return placed(value, gast.Tuple([substitute(value.elt, {each.target.id: item}) for item in items], gast.Load()))


def united(node: gast.AST, dicts: set[str]) -> gast.Dict | None:
    """`a | b` as a dict display, if a side is a dict display or a variable that is always a dict; None for anything else."""
    if not isinstance(node, gast.BinOp) or not is_dict(node, dicts):
        return None
    return placed(node, gast.Dict([None, None], [node.left, node.right]))


def updated(statement: gast.AugAssign, dicts: set[str]) -> gast.AST | None:
    """`d |= {..}` as a call of its method; None for anything else."""
    if not isinstance(statement.op, gast.BitOr) or not isinstance(statement.target, gast.Name):
        return None
    if not is_dict(statement.value, dicts) and statement.target.id not in dicts:
        return None
    return placed(statement, statements("d.update(v)", d=name(statement.target.id), v=statement.value)[0])


def dicts(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The variables that are bound to dicts and nothing else."""
    uses, dict_names, before = NameUses(tree), set[str](), None
    while dict_names != before:
        before = set(dict_names)
        dict_names = uses.always(updated=True, also=functools.partial(_makes_dict, unit, before))
    return dict_names


def _makes_dict(unit: Unit, dict_names: set[str], value: gast.AST) -> bool:
    return is_one_of(unit.called(value), (dict, OrderedDict)) or is_dict(value, dict_names)


def is_dict(node: gast.AST, dicts: set[str]) -> bool:
    """Whether an expression is a dict display, one of these variables, or `|` of such."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.BitOr):
        return is_dict(node.left, dicts) or is_dict(node.right, dicts)
    return isinstance(node, (gast.Dict, gast.DictComp)) or (isinstance(node, gast.Name) and node.id in dicts)


def records(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The variables that are bound to dicts whose items are attributes, too, and to nothing else."""
    return NameUses(tree).always(also=functools.partial(is_record, unit, names=set()))


def is_record(unit: Unit, node: gast.AST, names: set[str]) -> bool:
    """Whether an expression is a call that returns such a dict, or one of these variables."""
    if isinstance(node, gast.Call):
        rule = catalogue.of(unit.called(node)).rule
        return rule is not None and rule.given is not None and rule.given.named
    return isinstance(node, gast.Name) and node.id in names


def objects(unit: Unit, tree: gast.FunctionDef) -> set[str]:
    """The items of such dicts that are objects, whose calls would lose a derivative."""
    rules = [catalogue.of(unit.called(node)).rule for node in nodes(tree) if isinstance(node, gast.Call)]
    named = [rule.given.named for rule in rules if rule is not None and rule.given is not None]
    return {part for parts in named if isinstance(parts, frozenset) for part in parts}


def item(node: gast.Attribute) -> gast.AST:
    """The attribute of such a dict, read as an item."""
    return placed(node, gast.Subscript(node.value, constant(node.attr), gast.Load()))
