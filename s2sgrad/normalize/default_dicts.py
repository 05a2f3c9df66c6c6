"""`defaultdict` as a dict that is asked for the key first: reading a key stores it.

    d = defaultdict(list)           d = {}
    d[k].append(v)          ->      d.setdefault(k, []).append(v)
    s = s + d[n]                    d.setdefault(n, []); s = s + d[n]

Of a local variable that is bound once, and of which nothing but keys, values and items is asked.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(xs):
...     from collections import defaultdict
...     d = defaultdict(float)
...     for k, x in xs:
...         d[k] += x * x
...     return d["a"]
... ''', "default_dicts"))
def f(xs):
    d = {}
    for k, x in xs:
        d.setdefault(k, 0.0)
        d[k] += x * x
    d.setdefault('a', 0.0)
    return d['a']
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import gast

from s2sgrad.ir.forms import alone, bound_name
from s2sgrad.ir.quote import at, blocks, clone, constant, name, nodes, rewritten
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives.catalogue import is_named

_READERS = (len, sorted, list, dict)
_READ = (dict.items, dict.keys, dict.values, dict.get, dict.pop, dict.setdefault)
_LATER = (gast.IfExp, gast.BoolOp, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp,
          gast.FunctionDef)  # fmt: skip


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `defaultdict`, where it can be followed; elsewhere it is refused later."""
    made = _made(unit, tree)
    for local in [n for n, statement in made.items() if _is_followed(unit, tree, n, statement)]:
        statement = made[local]
        default = _default(unit, statement.value)
        statement.value = at(statement.value, gast.Dict([], []))[0]
        tree.body = rewritten(tree.body, lambda s: _asked(unit, s, local, default))
    return tree


def _made(unit: Unit, tree: gast.FunctionDef) -> dict[str, gast.Assign]:
    """The variables that are bound to a `defaultdict`, and to nothing else."""
    found: dict[str, gast.Assign] = {}
    for node in nodes(tree):
        value = node.value if isinstance(node, gast.Assign) else None
        if unit.called(value) is defaultdict and _default(unit, value) is not None and (variable := bound_name(node)):
            found[variable] = node
    return found


def _default(unit: Unit, call: gast.Call) -> gast.AST | None:
    """What a missing key stands for; None where that is not known."""
    if len(call.args) != 1 or call.keywords:
        return None
    factory = call.args[0]
    if isinstance(factory, gast.Lambda):
        return factory.body if not _parameters(factory) else None
    target = unit.resolve(factory)
    plain = {float: constant(0.0), int: constant(0), list: gast.List([], gast.Load()), dict: gast.Dict([], [])}
    return None if target is MISSING else next((node for kind, node in plain.items() if target is kind), None)


def _parameters(function: gast.Lambda) -> list[gast.AST]:
    a = function.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]


def _is_followed(unit: Unit, tree: gast.FunctionDef, local: str, statement: gast.Assign) -> bool:
    """Whether every mention of the variable is one of those that can be written out, and every key is read at once."""
    mentions = [n for n in nodes(tree) if isinstance(n, gast.Name) and n.id == local and n is not statement.targets[0]]
    if any(_reads(n, local) for n in nodes(*_read_later(tree))):
        return False
    followed = _followed(unit, tree)
    return all(id(n) in followed for n in mentions)


def _read_later(tree: gast.FunctionDef) -> Iterator[gast.AST]:
    """The parts of a function that are not evaluated where they stand, once."""
    for node in nodes(tree):
        if isinstance(node, gast.While):
            yield node.test
        elif isinstance(node, _LATER) and node is not tree:
            yield node


def _followed(unit: Unit, tree: gast.FunctionDef) -> set[int]:
    """The nodes, by identity, of which items, or what a dict tells of itself, are read or stored."""
    out: set[int] = set()
    for node in nodes(tree):
        if isinstance(node, gast.Subscript) or (isinstance(node, gast.Attribute) and is_named(node.attr, *_READ)):
            out.add(id(node.value))
        elif isinstance(node, gast.Compare):
            out |= set(map(id, node.comparators))
        elif isinstance(node, gast.Call) and any(unit.resolve(node.func) is reader for reader in _READERS):
            out |= set(map(id, node.args))
        elif isinstance(node, (gast.For, gast.comprehension)):
            out.add(id(node.iter))
    return out


def _reads(node: gast.AST, local: str) -> bool:
    """Whether a node is `d[k]`, which is read."""
    mine = isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node.value.id == local
    return mine and isinstance(node.ctx, gast.Load)


def _asked(unit: Unit, statement: gast.AST, local: str, default: gast.AST) -> list[gast.AST]:
    """The statement behind others that ask for the keys that it reads."""
    out: list[gast.AST] = []
    read = _read_by(statement, local)
    for section in read:
        if not isinstance(section.slice, (gast.Name, gast.Constant)):
            key = unit.local("key")
            out += at(statement, gast.Assign([name(key, store=True)], section.slice, None))
            section.slice = at(section, name(key))[0]
    asked = [_call(local, section, default) for section in read]
    call = alone(statement) if len(read) == 1 else None
    method = call.func if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) else None
    if method is not None and method.value is read[0]:
        method.value = at(method, asked.pop())[0]
    return [*out, *at(statement, *(gast.Expr(a) for a in asked)), statement]


def _read_by(statement: gast.AST, local: str) -> list[gast.Subscript]:
    """The items of the variable that a statement reads, of a compound one its header."""
    inside = {id(n) for inner in blocks(statement) for n in nodes(*inner)}
    read = [n for n in nodes(statement) if _reads(n, local) and id(n) not in inside]
    if isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Subscript):
        read += [statement.target] if getattr(statement.target.value, "id", "") == local else []
    return read


def _call(local: str, section: gast.Subscript, default: gast.AST) -> gast.Call:
    method = gast.Attribute(name(local), "setdefault", gast.Load())
    return at(section, gast.Call(method, [clone(section.slice), clone(default)], []))[0]
