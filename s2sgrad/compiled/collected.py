"""Lists that collect views for one array: copies of them, where nothing writes their memory before the list is read last.

    columns = []                                  columns = []
    for i in range(n):                            for i in range(n):
        columns.append(x[:, i])          ->           a = np.empty(..); a[:] = x[:, i]; columns.append(a)
    y = np.array(columns)                         y = np.array(columns)
    x *= 2.0                                      x *= 2.0

Between its first statement and the last one that mentions it, such a list is *open*.  It is only appended to, counted, and
made an array of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sgrad.compiled.frames import Frame
from s2sgrad.compiled.values import Stack
from s2sgrad.compiled.writer import Writer
from s2sgrad.ir.forms import appended_to
from s2sgrad.ir.quote import mentioned, nodes

Resolve = Callable[[gast.AST], Any]


def followed(writer: Writer, frame: Frame, body: list[gast.AST], k: int) -> None:
    """Open the list that statement `k` of a block begins; close those that nothing behind it mentions."""
    s, rest = body[k], body[k + 1 :]
    name = s.targets[0].id if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) else ""
    stack = frame.env.get(name)
    if isinstance(stack, Stack) and isinstance(s.value, gast.List):
        if _only_collects([*rest, frame.tree.body[-1]], name, frame.unit.resolve):
            writer.open[stack.name] = (name, rest, len(writer.log))
    for own, (name, rest, _) in [*writer.open.items()]:
        if rest and any(rest[-1] is t for t in body) and not any(name in mentioned(t) for t in body[k + 1 :]):
            del writer.open[own]
            writer.views.pop(own, None)


def may_copy(writer: Writer, stack: Stack, root: str) -> bool:
    """Whether a view that is appended may be copied: until the list is closed, its memory is not to be written."""
    if stack.name not in writer.open or stack.name in writer.found.moving:
        return False
    *_, since = writer.open[stack.name]
    if any(writer.found.share(root, other) for other in writer.log[since:]):
        return False
    writer.views.setdefault(stack.name, set()).add(root)
    return True


def _only_collects(body: list[gast.AST], name: str, resolve: Resolve) -> bool:
    """Whether a list is only appended to, counted, tested, and made an array of."""
    every = [n for s in body for n in nodes(s)]
    again = [n for n in every if isinstance(n, gast.Assign) and getattr(n.value, "id", None) == name]  # for tests alone
    others = {n.targets[0].id for n in again if isinstance(n.targets[0], gast.Name)}
    tests = {id(n.test) for n in every if isinstance(n, gast.If)}
    bound = {id(n.targets[0]) for n in again}
    uses = tests | {id(n.value) for n in again} | {id(m) for n in every if (m := _collects(n, resolve)) is not None}
    mentions = [n for n in every if isinstance(n, gast.Name)]
    return len(others) == len(again) and all(
        id(n) in uses if n.id == name else id(n) in tests | bound for n in mentions if n.id in {name, *others}
    )


def _collects(n: gast.AST, resolve: Resolve) -> gast.AST | None:
    """What is appended to, counted, or made an array of."""
    if isinstance(n, gast.Expr):
        return appended_to(n.value)
    is_known = isinstance(n, gast.Call) and len(n.args) == 1 and not n.keywords and resolve(n.func) in (np.array, len)
    return n.args[0] if is_known else None
