"""`deque` becomes a list: its left end is the first item (`containers`).

    q = deque(xs)                   q = list(xs)
    q = deque(maxlen=3)      ->     q = []
    q.append(v)                     q.append(v); if len(q) > 3: q.pop(0)

A deque with `maxlen` is followed if it is a local variable of which only the items are used.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(xs):
...     from collections import deque
...     window = deque(maxlen=3)
...     total = 0.0
...     for x in xs:
...         window.append(x)
...         total += sum(window) / len(window)
...     return total
... ''', "deques"))
def f(xs):
    window = []
    total = 0.0
    for x in xs:
        window.append(x)
        if len(window) > 3:
            window.pop(0)
        total += sum(window) / len(window)
    return total
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterable

import gast

from s2sgrad.analysis.effects import is_one_of
from s2sgrad.ir.forms import alone, arguments_of, bound_name, is_none, whole_number
from s2sgrad.ir.quote import (
    Transformer,
    assign,
    at,
    calls_in,
    clone,
    constant,
    expression,
    mentioned,
    name,
    nodes,
    placed,
    rewritten,
    statements,
)
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.iterables import LAZY, RUN_THROUGH
from s2sgrad.normalize.name_uses import NameUses
from s2sgrad.primitives import libraries
from s2sgrad.primitives.catalogue import is_named

_KEEPING = (deque.pop, deque.popleft, deque.clear, deque.remove, deque.reverse)
"""Methods that never add items."""

_FREE = constant(None)

Lengths = dict[str, gast.AST]


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with lists instead of deques, where these can be followed; what remains is refused later."""
    if not any(unit.called(call) is deque for call in calls_in(tree)):
        return tree
    for function in [n for n in nodes(tree) if isinstance(n, gast.FunctionDef)]:
        function.body = rewritten(function.body, lambda s: _one_by_one(unit, s))
    lengths = _lengths(unit, tree)
    while unfollowed := _unfollowed(unit, tree, lengths):
        lengths = {q: n for q, n in lengths.items() if q not in unfollowed}
    limits = {q: name(unit.local("most")) if _is_counted(n) else n for q, n in lengths.items()}
    for function in [n for n in nodes(tree) if isinstance(n, gast.FunctionDef)]:
        function.body = rewritten(function.body, lambda s: _written(unit, s, limits))
    free = NameUses(tree).always(also=lambda value: _most(unit, value) is _FREE)
    return _Limits({**limits, **dict.fromkeys(free, _FREE)}).visit(tree)


def _one_by_one(unit: Unit, statement: gast.AST) -> list[gast.AST]:
    """`p, q = deque(), deque()` as two statements."""
    target, value = (statement.targets[0], statement.value) if isinstance(statement, gast.Assign) else (None, None)
    if not isinstance(target, gast.Tuple) or not isinstance(value, gast.Tuple) or len(statement.targets) > 1:
        return [statement]
    names = {t.id for t in target.elts if isinstance(t, gast.Name)}
    apart = len(names) == len(value.elts) == len(target.elts) and names.isdisjoint(mentioned(value))
    if not apart or any(_most(unit, v) is None for v in value.elts):
        return [statement]
    return at(statement, *(assign(t.id, v) for t, v in zip(target.elts, value.elts, strict=True)))


def as_list(unit: Unit, node: gast.AST) -> gast.AST | None:
    """`list(xs)` for `deque(xs)` without a limit, wherever it is made and whoever gets it; None for anything else."""
    if _most(unit, node) is not _FREE:
        return None
    unit.stand_ins.add((deque, list))
    return placed(node, _listed(unit, _arguments(node)))


def _most(unit: Unit, node: gast.AST) -> gast.AST | None:
    """The `maxlen` of a new deque, `_FREE` if it has none; None for any other expression."""
    arguments = _arguments(node) if unit.called(node) is deque else None
    most = None if arguments is None else arguments.get("maxlen", _FREE)
    return _FREE if most is not None and is_none(most) else most


def _listed(unit: Unit, arguments: dict[str, gast.AST]) -> gast.AST:
    """A list of the initial items of a deque."""
    items = arguments.get("iterable", gast.List([], gast.Load()))
    return items if isinstance(items, gast.List) else gast.Call(unit.builtin(list), [items], [])


def _is_counted(most: gast.AST) -> bool:
    """Whether `maxlen` is known only at run time."""
    return whole_number(most) is None


def _lengths(unit: Unit, tree: gast.FunctionDef) -> Lengths:
    """The variables that are bound once, to a deque with `maxlen`, by its `maxlen`."""
    out: Lengths = {}
    outside = {n for node in nodes(tree) if isinstance(node, gast.Global) for n in node.names}
    for variable, values in NameUses(tree).assigned.items():
        most = _most(unit, values[0])
        bounded = most is not None and most is not _FREE and (_is_counted(most) or whole_number(most) > 0)
        if len(values) == 1 and bounded and variable not in outside:
            out[variable] = most
    return out


def _arguments(call: gast.Call) -> dict[str, gast.AST] | None:
    """The arguments of a call of `deque`, by parameter; None if they cannot be matched."""
    words = {k.arg: k.value for k in call.keywords}
    if None in words or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    try:
        return _SIGNATURE.bind(*call.args, **words).arguments
    except TypeError:
        return None


_SIGNATURE = inspect.signature(lambda iterable=(), maxlen=None: None)


def _unfollowed(unit: Unit, tree: gast.FunctionDef, lengths: Lengths) -> set[str]:
    """The deques of which more than the items is used."""
    followed = set(map(id, _followed(unit, tree, lengths)))
    return {n.id for n in nodes(tree) if isinstance(n, gast.Name) and n.id in lengths and id(n) not in followed}


def _followed(unit: Unit, tree: gast.FunctionDef, lengths: Lengths) -> Iterable[gast.AST]:
    """The nodes whose items are read, stored, added or removed, or whose length is read."""
    for node in nodes(tree):
        yield from _read(node)
        if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
            yield from _changed(node.value, lengths)
        elif isinstance(node, gast.Call):
            yield from _read_deques(node, lengths)
            target = unit.called(node)
            if is_one_of(target, (len, deque, reversed, *RUN_THROUGH, *LAZY)) or libraries.is_numeric(target):
                yield from arguments_of(node)
        elif isinstance(node, gast.Assign) and bound_name(node) in lengths and unit.called(node.value) is deque:
            yield node.targets[0]


def _read(node: gast.AST) -> Iterable[gast.AST]:
    """What syntax reads as it reads a list: an item, all of them in order, emptiness, membership, `maxlen`."""
    item = isinstance(node, gast.Subscript) and not isinstance(node.slice, (gast.Slice, gast.Tuple))
    if item or (isinstance(node, gast.Attribute) and is_named(node.attr, deque.maxlen)):
        yield node.value
    elif isinstance(node, gast.Compare) and all(isinstance(op, (gast.In, gast.NotIn)) for op in node.ops):
        yield from node.comparators
    elif isinstance(node, (gast.For, gast.comprehension)):
        yield node.iter
    elif isinstance(node, (gast.If, gast.While, gast.IfExp, gast.Assert)):
        yield from _tested(node.test)


def _tested(node: gast.AST) -> Iterable[gast.AST]:
    """The expressions whose truth a condition tests."""
    yield node
    if isinstance(node, gast.UnaryOp):
        yield from _tested(node.operand)
    for part in node.values if isinstance(node, gast.BoolOp) else ():
        yield from _tested(part)


def _changed(call: gast.Call, lengths: Lengths) -> Iterable[gast.AST]:
    """The deque that a call changes, if the call is a statement."""
    owner = call.func.value if isinstance(call.func, gast.Attribute) else None
    if not isinstance(owner, gast.Name) or owner.id not in lengths or call.keywords:
        return
    if call.func.attr in _STATEMENTS or is_named(call.func.attr, *_KEEPING):
        yield owner


def _read_deques(call: gast.Call, lengths: Lengths) -> Iterable[gast.AST]:
    """The deque whose method returns a value: a removed item, an index, a count."""
    owner = call.func.value if isinstance(call.func, gast.Attribute) else None
    if isinstance(owner, gast.Name) and owner.id in lengths and not call.keywords:
        shrinks = is_named(call.func.attr, list.pop, deque.popleft) and not call.args
        if shrinks or is_named(call.func.attr, list.index, list.count):
            yield owner


class _Limits(Transformer):
    """Rewrites `q.popleft()` to `q.pop(0)`, and `q.maxlen` to the number."""

    def __init__(self, lengths: Lengths) -> None:
        self.lengths = lengths

    def visit_Call(self, call: gast.Call) -> gast.AST:
        owner = call.func.value if isinstance(call.func, gast.Attribute) else None
        if self.lengths.get(getattr(owner, "id", None), _FREE) is not _FREE and is_named(call.func.attr, deque.popleft):
            call.func.attr, call.args = "pop", at(call, constant(0))
        return self.generic_visit(call)

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        if getattr(node.value, "id", None) in self.lengths and is_named(node.attr, deque.maxlen):
            return at(node, clone(self.lengths[node.value.id]))[0]
        return self.generic_visit(node)


def _written(unit: Unit, statement: gast.AST, lengths: Lengths) -> list[gast.AST]:
    """The statements for one that makes a deque or adds an item."""
    target = bound_name(statement)
    if target in lengths and unit.called(statement.value) is deque:
        return _begun(unit, statement, lengths[target])
    call = alone(statement)
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
        return [statement]
    owner = getattr(call.func.value, "id", None)
    write = _STATEMENTS.get(call.func.attr) if owner in lengths else None
    if write is None:
        return [statement]
    return [placed(statement, s) for s in write(unit, owner, call.args, lengths[owner])]


def _begun(unit: Unit, statement: gast.Assign, most: gast.AST) -> list[gast.AST]:
    """The statement that makes a deque with this `maxlen`, as one that makes a list."""
    arguments = _arguments(statement.value)
    items = _listed(unit, arguments)
    before: list[gast.AST] = []
    cut: list[gast.AST] = []
    if isinstance(most, gast.Name):
        before = statements("most = n\nif most < 0:\n    raise ValueError('maxlen must be non-negative')",
                            most=most.id, n=arguments["maxlen"], ValueError=unit.builtin(ValueError))  # fmt: skip
        if "iterable" in arguments:
            cut = statements("del q[: max(len(q) - n, 0)]", q=bound_name(statement), n=most, len=unit.builtin(len),
                             max=unit.builtin(max))  # fmt: skip
    elif not (isinstance(items, gast.List) and len(items.elts) <= whole_number(most)):
        items = expression("xs[first:]", xs=items, first=constant(-whole_number(most)))
    statement.value = placed(statement.value, items)
    return [*(placed(statement, s) for s in before), statement, *(placed(statement, s) for s in cut)]


def _limited(unit: Unit, text: str, most: gast.AST, left: bool, **holes: object) -> list[gast.AST]:
    """The statements that add an item, and remove one at the other end if there are too many."""
    drop = "pop()" if left else "pop(0)"
    over = statements(f"if len(q) > n:\n    q.{drop}", q=holes["q"], n=most, len=unit.builtin(len))
    (body,) = statements(text, **holes)
    if isinstance(body, gast.For):
        body.body += over
        return [body]
    return [body, *over]


def _append(unit: Unit, q: str, arguments: list[gast.AST], most: gast.AST) -> list[gast.AST]:
    return _limited(unit, "q.append(v)", most, False, q=q, v=arguments[0])


def _append_left(unit: Unit, q: str, arguments: list[gast.AST], most: gast.AST) -> list[gast.AST]:
    return _limited(unit, "q.insert(0, v)", most, True, q=q, v=arguments[0])


def _extend(unit: Unit, q: str, arguments: list[gast.AST], most: gast.AST) -> list[gast.AST]:
    return _limited(unit, "for v in xs:\n    q.append(v)", most, False, q=q, v=unit.local("item"), xs=arguments[0])


def _extend_left(unit: Unit, q: str, arguments: list[gast.AST], most: gast.AST) -> list[gast.AST]:
    return _limited(unit, "for v in xs:\n    q.insert(0, v)", most, True, q=q, v=unit.local("item"), xs=arguments[0])


def _rotate(unit: Unit, q: str, arguments: list[gast.AST], most: gast.AST) -> list[gast.AST]:
    first, turns = unit.local("first"), arguments[0] if arguments else constant(1)
    return statements("first = -n % max(len(q), 1)\nq[:] = q[first:] + q[:first]", q=q, first=first, n=turns,
                      max=unit.builtin(max), len=unit.builtin(len))  # fmt: skip


_Writer = Callable[[Unit, str, list[gast.AST], gast.AST], list[gast.AST]]
_STATEMENTS: dict[str, _Writer] = {
    m.__name__: write
    for m, write in (
        (deque.append, _append), (deque.appendleft, _append_left), (deque.extend, _extend), (deque.extendleft, _extend_left),
        (deque.rotate, _rotate),
    )
}  # fmt: skip
