"""Loops that a text has several times become a function, which is compiled once.

    for i in range(n): a[i] = x[i] * 2.0           def loops_0(v0, v1, v2):
    y = np.empty(m)                                    for v3 in range(v0): v1[v3] = v2[v3] * 2.0
    for i in range(m): b[i] = y[i] * 2.0    ->     loops_0(n, a, x)
                                                   y = np.empty(m)
                                                   loops_0(m, b, y)

Loops are the same if they differ in the names of variables alone.  Numbers that they bind are not read elsewhere.
"""

from __future__ import annotations

import ast
import collections
import copy
from collections.abc import Iterable
from typing import Any

_FUNCTION, _CALL = 25, 6  # what a function and a call of it cost a compiler, in milliseconds
_COSTS: dict[type[ast.AST], int] = {ast.For: 2, ast.Subscript: 4, ast.Call: 11}


def shared(tree: ast.Module) -> ast.Module:
    """The module, whose last statement is a function, with loops that it has several times in functions of their own.

    >>> loops = "    for i in range(9):\\n        for j in range(9):\\n            {0}[i, j] = {1}[i, j] * {1}[i, j]\\n"
    >>> calls = [loops.format(*names) for names in ("xy", "yx", "xy", "xy")]
    >>> print(ast.unparse(shared(ast.parse("def f(x, y):\\n" + "".join(calls)))))
    def loops_0(v2, v3):
        for v0 in range(9):
            for v1 in range(9):
                v2[v0, v1] = v3[v0, v1] * v3[v0, v1]
    <BLANKLINE>
    def f(x, y):
        loops_0(x, y)
        loops_0(y, x)
        loops_0(x, y)
        loops_0(x, y)
    """
    *before, function = tree.body
    assert isinstance(function, ast.FunctionDef)
    made = _Function(function)
    definitions = made.definitions()
    return ast.fix_missing_locations(ast.Module([*before, *definitions, function], []))


def seconds(text: str, enough: float = 0.0) -> float:
    """About how long a compiler takes for a text; what is no longer than `enough` may be said to be longer than it is.

    >>> seconds("def f(x, y):\\n    for i in range(9):\\n        y[i] = x[i] * x[i]\\n")
    0.05
    """
    tree = ast.parse(text)
    if (most := _total(tree)) > enough:
        return _total(shared(tree))
    return most


def _total(tree: ast.Module) -> float:
    functions = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    return (sum(_cost(f) for f in functions) + _FUNCTION * len(functions)) / 1000


class _Form:
    """Loops with names in order of their appearance.  `read`: the names that they read and do not bind, and what these are
    called here; sizes have a name for each place where they stand."""

    def __init__(self, loop: ast.For, own: set[str], bound: set[str]) -> None:
        self.read: list[tuple[str, str]] = []
        self.loop = copy.deepcopy(loop)
        names: dict[str, str] = {}
        sizes = {id(a) for n in _fors(self.loop) if isinstance(n.iter, ast.Call) for a in n.iter.args}
        count = 0
        for n in ast.walk(self.loop):
            if not isinstance(n, ast.Name) or n.id not in own:
                continue
            known = names.get(n.id) if id(n) not in sizes or n.id in bound else None
            if known is None:
                known, count = f"v{count}", count + 1
                self.read += [(n.id, known)] if n.id not in bound else []
                if id(n) not in sizes or n.id in bound:
                    names[n.id] = known
            n.id = known
        self.key = ast.dump(self.loop)


class _Function:
    """A function, and the loops that are taken out of it."""

    def __init__(self, tree: ast.FunctionDef) -> None:
        self.tree = tree
        self.own = bound_in(tree) | {a.arg for a in tree.args.args}
        self.counts = collections.Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name))
        self.counters = counters(tree)
        self.made: dict[str, ast.FunctionDef] = {}
        outlines: dict[int, int] = {}
        _outlined(tree, outlines)
        times = collections.Counter(outlines.values())
        found = ((n, self._form(n)) for n in _fors(tree) if (k := times[outlines[id(n)]]) > 1 and _pays(n, k))
        self.forms = {id(n): form for n, form in found if form is not None}
        self.times = collections.Counter(form.key for form in self.forms.values())

    def definitions(self) -> list[ast.stmt]:
        """The functions, whose calls are in the tree then."""
        self.tree.body = self._replaced(self.tree.body, True)
        return [*self.made.values()]

    def _replaced(self, body: list[ast.stmt], is_top: bool) -> list[ast.stmt]:
        """The statements, with calls in place of the outermost loops for which it pays: short ones within others do not."""
        out: list[ast.stmt] = []
        for s in body:
            form = self.forms.get(id(s))
            is_long = is_top or any(isinstance(n, ast.For) for n in ast.walk(s) if n is not s)
            if form is not None and is_long and _pays(s, self.times[form.key]):
                out.append(self._call(form))
                continue
            for part in ("body", "orelse"):
                if getattr(s, part, None):
                    setattr(s, part, self._replaced(getattr(s, part), False))
            out.append(s)
        return out

    def _form(self, loop: ast.For) -> _Form | None:
        """Loops under other names; None where they cannot be a function."""
        inside = [*ast.walk(loop)]
        names = [n for n in inside if isinstance(n, ast.Name)]
        bound, here = {n.id for n in names if isinstance(n.ctx, ast.Store)}, collections.Counter(n.id for n in names)
        leaves = any(here[n] != self.counts[n] for n in bound - self.counters)
        if leaves or any(isinstance(n, (ast.Attribute, ast.Return)) for n in inside if not self._is_known(n)):
            return None
        first: set[str] = set()
        read_first([loop], set(), first)
        return None if first & bound else _Form(loop, self.own, bound)

    def _is_known(self, node: ast.AST) -> bool:
        """Whether an attribute is that of a module, or the size of an array: nothing is appended to a list."""
        if not isinstance(node, ast.Attribute):
            return False
        return node.attr == "shape" or (isinstance(node.value, ast.Name) and node.value.id not in self.own)

    def _call(self, form: _Form) -> ast.stmt:
        if form.key not in self.made:
            name = f"loops_{len(self.made)}"
            while name in self.own or name in self.counts:
                name += "_"
            parameters = ast.arguments([], [ast.arg(here) for _, here in form.read], None, [], [], None, [])
            self.made[form.key] = ast.FunctionDef(name, parameters, [form.loop], [], None, None)
        own = self.made[form.key].name
        return ast.Expr(ast.Call(ast.Name(own, ast.Load()), [ast.Name(n, ast.Load()) for n, _ in form.read], []))


def _outlined(node: Any, outlines: dict[int, int]) -> int:
    """A number that nodes share which differ in names alone; those of loops are noted, by loop."""
    if isinstance(node, list):
        return hash(tuple([_outlined(n, outlines) for n in node]))
    if not isinstance(node, ast.AST):
        return hash((type(node), node))
    parts = [_outlined(getattr(node, part, None), outlines) for part in node._fields if part != "id"]
    own = hash((type(node), *parts))
    if isinstance(node, ast.For):
        outlines[id(node)] = own
    return own


def bound_in(tree: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def counters(tree: ast.FunctionDef) -> set[str]:
    """The names that are bound by loops alone, and read within these alone."""
    targets = collections.Counter(n.target.id for n in _fors(tree) if isinstance(n.target, ast.Name))
    stores = collections.Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    outside: set[str] = set()
    read_first(tree.body, set(), outside)
    return {n for n, count in targets.items() if stores[n] == count and n not in outside}


def _fors(tree: ast.AST) -> Iterable[ast.For]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.For))


def read_first(body: list[ast.stmt], bound: set[str], out: set[str]) -> set[str]:
    """The names that are certainly bound after statements; those that may be read before they are bound go to `out`."""
    bound = set(bound)
    for s in body:
        if isinstance(s, ast.For):
            out |= _read(s.iter) - bound
            read_first(s.body, bound | bound_in(s.target), out)
        elif isinstance(s, ast.While):
            out |= _read(s.test) - bound
            read_first(s.body, bound, out)
        elif isinstance(s, ast.If):
            out |= _read(s.test) - bound
            bound = read_first(s.body, bound, out) & read_first(s.orelse, bound, out)
        else:
            out |= _read(s) - bound
            bound |= bound_in(s)
    return bound


def _read(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    inside = [*ast.walk(node)]
    names = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return names | {n.target.id for n in inside if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}


def _pays(loop: ast.stmt, times: int) -> bool:
    """Whether a function costs a compiler less than so many loops."""
    return (times - 1) * _cost(loop) > _FUNCTION + times * _CALL


def _cost(tree: ast.AST) -> int:
    return sum(_COSTS.get(type(n), 0) for n in ast.walk(tree))
