"""Globals that a function writes are read and written by calls, which are neither moved nor repeated.

    global count; count = count + 1       ->      count_global.write(count_global.read() + 1)

A global that is only read needs no declaration.  What is stored must not carry a derivative (`legality`), because readers
treat a global as constant.  `cleanup.global_names` restores the `global` at the end.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... count = 0
... def f(x):
...     global count, limit
...     count += 1
...     limit = 3
...     return x * count
... ''', "global_names"))
def f(x):
    count_global.write(count_global.read() + 1)
    limit_global.write(3)
    return x * count_global.read()
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from s2sgrad import runtime
from s2sgrad.ir.quote import at, expression, name, nodes, rewritten, statements_in
from s2sgrad.ir.unit import Unit

_ALONE = "a global is written in a plain assignment of its own to be differentiated: bind a local name first"
_SCOPES = (gast.FunctionDef, gast.Lambda, gast.ClassDef)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `global`; raises Unsupported where one is bound by anything but a plain assignment."""
    declared = {n for s in statements_in(tree.body) if isinstance(s, gast.Global) for n in s.names}
    stored = {n.id for n in nodes(tree) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    space = unit.primal.function.__globals__
    written = {n: unit.helper(f"{n}_global", runtime.Global(space, n)) for n in sorted(declared & stored)}
    if declared:
        tree.body = rewritten(tree.body, lambda s: at(s, *_statement(unit, s, written)))
        for node in list(nodes(tree)):
            if isinstance(node, _SCOPES) and node is not tree and any(n.id in written for n in _names(node)):
                unit.refuse(node, "a function in a function that writes the same global cannot be differentiated yet: bind "
                                  "a local name first")  # fmt: skip
            _reads(unit, node, written)
    return tree


def _names(node: gast.AST) -> Iterator[gast.Name]:
    return (n for n in nodes(node) if isinstance(n, gast.Name))


def _statement(unit: Unit, statement: gast.AST, written: dict[str, str]) -> list[gast.AST]:
    """The statement, or the call that replaces it; reads are not yet replaced."""
    if isinstance(statement, gast.Global):
        return []
    targets = statement.targets if isinstance(statement, gast.Assign) else [getattr(statement, "target", None)]
    target = targets[0]
    if not isinstance(target, gast.Name) or target.id not in written or len(targets) > 1:
        return [statement]
    if isinstance(statement, gast.Assign):
        value = statement.value
    elif isinstance(statement, gast.AugAssign):
        binding = unit.primal.lookup(target.id)
        if binding is None or not isinstance(binding.value, (int, float)):
            unit.refuse(statement, f"`{target.id}` is no number when the gradient is compiled: write it with `=`")
        unit.free.bindings[target.id] = binding  # `+=` may write a list in place, but not a number
        value = at(statement, gast.BinOp(name(target.id), statement.op, statement.value))[0]
    else:
        return [statement]
    return [gast.Expr(at(statement, expression("g.write(value)", g=written[target.id], value=value))[0])]


def _reads(unit: Unit, node: gast.AST, written: dict[str, str]) -> None:
    """Replace reads among the parts of a node by calls."""
    for field, value in node.__dict__.items():
        parts = value if isinstance(value, list) else [value]
        for k, part in enumerate(parts):
            if isinstance(part, gast.Name) and part.id in written:
                if not isinstance(part.ctx, gast.Load):
                    unit.refuse(part, _ALONE)
                parts[k] = at(part, expression("g.read()", g=written[part.id]))[0]
        if not isinstance(value, list):
            node.__dict__[field] = parts[0]
