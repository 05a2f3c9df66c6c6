"""Memory lies in the order in which loops go through it.

    c = np.empty((n, m, steps))                        c = np.empty((steps, n, m))
    for k in range(steps):                             for k in range(steps):
        for i in range(n):                                 for i in range(n):
            for j in range(m):                 ->              for j in range(m):
                c[i, j, k] = x[i, j, k] * 2.0                      c[k, i, j] = x_turned[k, i, j] * 2.0

That is memory of which only single elements are read and written.  Arguments are copied where that pays, and so are results.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

Order = tuple[int, ...]

_MORE = 2  # so many more accesses in another order pay for a copy
_INDICES = ("i_", "j_", "k_", "l_", "m_", "n_", "o_", "p_")


def laid_out(text: str, arguments: dict[str, str], taken: set[str]) -> str:
    """The text of a function, with its memory in another order; `arguments`: what allocates like them, behind the shape.

    >>> loops = "    for k in range(9):\\n        for i in range(9):\\n            x[i, k] = 0.0\\n"
    >>> print(laid_out("def f():\\n    x = np.empty((9, 8))\\n" + loops, {}, set()))
    def f():
        x = np.empty((8, 9))
        for k in range(9):
            for i in range(9):
                x[k, i] = 0.0
    <BLANKLINE>
    """
    module = ast.parse(text)
    function = module.body[-1]
    assert isinstance(function, ast.FunctionDef)
    found = _Found(function, arguments)
    orders = found.orders()
    if not orders:
        return text
    names: dict[str, str] = {}
    for name in orders.keys() & (arguments.keys() | found.returned):
        own = f"{name}_turned"
        while own in taken or own in found.used:
            own += "_"
        names[name] = own
    _Turned(orders, {n: own for n, own in names.items() if n in arguments}).visit(function)
    _copied(function, orders, names, arguments)
    return ast.unparse(ast.fix_missing_locations(module)) + "\n"


class _Found(ast.NodeVisitor):
    """How loops go through memory."""

    def __init__(self, function: ast.FunctionDef, arguments: dict[str, str]) -> None:
        self.arguments = arguments
        self.loops: list[str] = []  # the variables of the loops around
        self.votes: dict[str, Counter[Order]] = {}
        self.ranks: dict[str, set[int]] = {}
        self.plain: Counter[str] = Counter()  # mentions of which the order may be another
        self.made: Counter[str] = Counter()
        self.written: set[str] = set()
        self.returned: set[str] = set()
        self.thin: set[str] = set()  # memory of which an axis has length 1
        self.used: set[str] = set()
        self.mentions = Counter(n.id for n in ast.walk(function) if isinstance(n, ast.Name))
        self.used = {*self.mentions, *(a.arg for a in function.args.args)}
        for s in function.body:
            self.visit(s)

    def orders(self) -> dict[str, Order]:
        """The order of the axes of what is to have another one."""
        out = {}
        for name, votes in self.votes.items():
            ((order, count), *_) = votes.most_common(1)
            own = tuple(range(len(order)))
            is_argument = name in self.arguments and name not in self.written
            is_known = self.made[name] == 1 or (is_argument and not self.made[name])
            more = _MORE * (is_argument + (name in self.returned))
            if order != own and is_known and len(self.ranks[name]) == 1 and self.plain[name] == self.mentions[name]:
                if name not in self.thin and count > votes[own] + more:
                    out[name] = order
        return out

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.loops.append(node.target.id if isinstance(node.target, ast.Name) else "")
        for s in node.body:
            self.visit(s)
        self.loops.pop()

    def visit_Return(self, node: ast.Return) -> None:
        names = Counter(n.id for n in getattr(node.value, "elts", ()) if isinstance(n, ast.Name))
        self.returned |= {n for n, times in names.items() if times == 1}
        self.plain.update(self.returned)

    def visit_Assign(self, node: ast.Assign) -> None:
        shape = _shape(node)
        if shape is not None and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            self.made[name] += 1
            self.plain[name] += 1
            self.ranks.setdefault(name, set()).add(len(shape.elts))
            if any(isinstance(e, ast.Constant) and e.value == 1 for e in shape.elts):
                self.thin.add(name)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Tuple):
            self._vote(node.value.id, node.slice.elts)
            if isinstance(node.ctx, ast.Store):
                self.written.add(node.value.id)
        elif isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and isinstance(node.value.value, ast.Name):
            self.plain[node.value.value.id] += 1
        self.generic_visit(node)

    def _vote(self, name: str, places: list[ast.expr]) -> None:
        if any(isinstance(n, (ast.Slice, ast.Starred)) for p in places for n in ast.walk(p)):
            return
        self.plain[name] += 1
        self.ranks.setdefault(name, set()).add(len(places))
        depths = [self._depth(p) for p in places]
        order = tuple(sorted(range(len(places)), key=depths.__getitem__))
        self.votes.setdefault(name, Counter())[order] += 1

    def _depth(self, place: ast.expr) -> int:
        """The innermost loop along which a place moves, counted from the outermost one; 0 for none."""
        names = {n.id for n in ast.walk(place) if isinstance(n, ast.Name)}
        return max((k + 1 for k, variable in enumerate(self.loops) if variable in names), default=0)


def _shape(node: ast.Assign) -> ast.Tuple | None:
    """The shape of memory that is allocated."""
    call = node.value
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in ("np.empty", "np.zeros") or not call.args:
        return None
    return call.args[0] if isinstance(call.args[0], ast.Tuple) and len(node.targets) == 1 else None


class _Turned(ast.NodeTransformer):
    """Puts axes in another order; `names`: those of copies of arguments."""

    def __init__(self, orders: dict[str, Order], names: dict[str, str]) -> None:
        self.orders, self.names = orders, names

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        shape, target = _shape(node), node.targets[0]
        if shape is not None and isinstance(target, ast.Name) and target.id in self.orders:
            shape.elts = [shape.elts[k] for k in self.orders[target.id]]
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Tuple) and node.value.id in self.orders:
            node.slice.elts = [node.slice.elts[k] for k in self.orders[node.value.id]]
            node.value.id = self.names.get(node.value.id, node.value.id)
        elif isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name):
            name = node.value.value.id
            if name in self.orders and name not in self.names:
                node.slice = ast.Constant(self.orders[name].index(ast.literal_eval(node.slice)))
        return node


def _copied(function: ast.FunctionDef, orders: dict[str, Order], names: dict[str, str], arguments: dict[str, str]) -> None:
    """Copy arguments before they are read first, and results behind all."""
    body: list[ast.stmt] = []
    waiting = {own: n for n, own in names.items() if n in arguments}
    results = {n: own for n, own in names.items() if n not in arguments}
    for s in function.body:
        mentioned = {n.id for n in ast.walk(s) if isinstance(n, ast.Name)}
        for own in sorted(waiting.keys() & mentioned):
            name = waiting.pop(own)
            body += _copy(name, own, orders[name], arguments[name])
        if isinstance(s, ast.Return):
            for name in sorted(results.keys() & mentioned):
                back = tuple(map(orders[name].index, range(len(orders[name]))))
                body += _copy(name, results[name], back, _dtype_of(function, name))
            s = _Renamed(results).visit(s)
        body.append(s)
    function.body = body


def _copy(name: str, own: str, order: Order, dtype: str) -> list[ast.stmt]:
    """Loops that copy an array, with its axes in this order."""
    ends, indices = [f"{name}.shape[{k}]" for k in order], _INDICES[: len(order)]
    lines = [f"{own} = np.empty(({', '.join(ends)},){dtype})"]
    lines += ["    " * k + f"for {i} in range({end}):" for k, (i, end) in enumerate(zip(indices, ends, strict=True))]
    places = ", ".join(indices[order.index(k)] for k in range(len(order)))
    lines.append("    " * len(order) + f"{own}[{', '.join(indices)}] = {name}[{places}]")
    return ast.parse("\n".join(lines)).body


def _dtype_of(function: ast.FunctionDef, name: str) -> str:
    """What stands behind the shape where memory is allocated."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _shape(node) is not None and getattr(node.targets[0], "id", None) == name:
            call: Any = node.value
            return "".join(f", {ast.unparse(a)}" for a in call.args[1:])
    return ""


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node
