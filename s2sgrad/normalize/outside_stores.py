"""A store into a list or a dict that lives outside is a call, which stays where it is and runs once.

    COUNTS["calls"] += 1      ->      set_item(COUNTS, "calls", COUNTS["calls"] + 1)

What is stored must not carry a derivative (`legality`), as with `COUNTS.update(calls=1)`: what lives outside is a constant
to whoever reads it.  The text has its store again at the end (`cleanup.attribute_writeback`).

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... STATE = {"calls": 0, "rate": 1.0}
... def f(x):
...     STATE["calls"] += 1
...     STATE["rate"] = 3.0
...     return x * STATE["rate"]
... ''', "outside_stores"))
def f(x):
    set_item(STATE, 'calls', unshared(STATE['calls'], 4) + 1)
    set_item(STATE, 'rate', 3.0)
    return x * STATE['rate']
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable

import gast

from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import assign, at, clone, constant, expression, name, nodes, rewritten, statements_in
from s2sgrad.ir.scoping import all_bindings
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.outside import container, delete_items, set_item, unshared

_CONTAINERS = (list, dict, defaultdict, OrderedDict, Counter)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without such stores."""
    _name_directly(unit, tree)
    tree.body = rewritten(tree.body, lambda statement: at(statement, *_statement(unit, statement)))
    return tree


def _name_directly(unit: Unit, tree: gast.FunctionDef) -> None:
    """A variable that is bound once, to a list or dict from outside, and written through: `c = CONFIG; c["s"] = 3.0`."""
    written = {target.value.id for s in statements_in(tree.body) if isinstance(target := _target(s), gast.Subscript)
               and isinstance(target.value, gast.Name) and target.value.id in unit.locals}  # fmt: skip
    if not written:
        return
    bound = all_bindings(tree)
    for statement in tree.body:
        local = bound_name(statement) or ""
        if local in written and bound[local] == 1 and is_outside(unit, statement.value) and _is_same_inside(tree, local):
            for node in nodes(tree):
                if isinstance(node, gast.Name) and node.id == local and isinstance(node.ctx, gast.Load):
                    node.id = statement.value.id


def _is_same_inside(tree: gast.FunctionDef, local: str) -> bool:
    """Whether no function within has a variable of this name."""
    return not any(isinstance(n, gast.Nonlocal) and local in n.names for n in nodes(tree))


def _target(statement: gast.AST) -> gast.AST | None:
    if isinstance(statement, gast.AugAssign):
        return statement.target
    return statement.targets[0] if isinstance(statement, gast.Assign) else None


def _statement(unit: Unit, statement: gast.AST) -> list[gast.AST]:
    """The statement, or the call that stands for it."""
    updates = isinstance(statement, gast.AugAssign)
    target = _target(statement)
    if not isinstance(target, gast.Subscript) or not is_outside(unit, root := _root(target.value)):
        return [statement]
    owner, key, value, before = target.value, target.slice, statement.value, []
    if owner is not root:
        checked = expression("f(v, line)", f=unit.helper("container", container), v=owner, line=_line(statement))
        before, owner = [assign(inner := unit.local(root.id.lower()), checked)], name(inner)
    if isinstance(key, gast.Slice):
        whole = not updates and isinstance(value, gast.List) and not value.elts
        return [*before, _call(unit, delete_items, owner, _slice(unit, key))] if whole else [statement]
    if not isinstance(key, (gast.Constant, gast.Name)):
        before += [] if updates else [assign(stored := unit.local("stored"), value)]
        before.append(assign(key_name := unit.local("key"), key))
        key, value = name(key_name), value if updates else name(stored)
    if updates:
        read = gast.Subscript(clone(owner), clone(key), gast.Load())
        read = expression("f(v, line)", f=unit.helper("unshared", unshared), v=read, line=_line(statement))
        value = gast.BinOp(read, statement.op, value)
    return [*before, _call(unit, set_item, owner, key, value)]


def _line(statement: gast.AST) -> gast.Constant:
    return constant(getattr(statement, "lineno", 0))


def _call(unit: Unit, asked: Callable[..., None], *arguments: gast.AST) -> gast.Expr:
    return gast.Expr(gast.Call(name(unit.helper(asked.__name__, asked)), [*arguments], []))


def _slice(unit: Unit, node: gast.Slice) -> gast.Call:
    bounds = [constant(None) if part is None else part for part in (node.lower, node.upper, node.step)]
    return gast.Call(unit.builtin(slice), bounds, [])


def _root(node: gast.AST) -> gast.AST:
    """The name at which a path of items begins."""
    while isinstance(node, gast.Subscript):
        node = node.value
    return node


def is_outside(unit: Unit, node: gast.AST) -> bool:
    """Whether a free name stands for a list or a dict of Python's own."""
    return isinstance(node, gast.Name) and node.id not in unit.locals and type(unit.resolve(node)) in _CONTAINERS
