"""`deque` as a list: what is taken off or put on at its left end is the first item.

    q = deque(xs)                   q = list(xs)
    q.appendleft(v)          ->     q.insert(0, v)
    u = q.popleft()                 u = q.pop(0)
    q = deque(maxlen=3)             q = []
    q.append(v)              ->     q.append(v); if len(q) > 3: q.pop(0)

Of local variables of which nothing but their items is asked: elsewhere a deque is no list.

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
from s2sgrad.ir.quote import Transformer, at, clone, constant, expression, name, nodes, placed, rewritten, statements
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize.iterables import LAZY, RUN_THROUGH
from s2sgrad.normalize.name_uses import NameUses
from s2sgrad.primitives import libraries
from s2sgrad.primitives.catalogue import is_named

_ALIKE = (list.append, list.pop, list.extend, list.clear, list.index, list.count, list.remove, list.reverse, list.insert)
"""Methods of a list that do the same to a deque."""

Lengths = dict[str, gast.AST | None]


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with lists in the place of deques, where these can be followed; elsewhere they are refused later."""
    lengths = _lengths(unit, tree)
    while unfollowed := _unfollowed(unit, tree, lengths):
        lengths = {q: n for q, n in lengths.items() if q not in unfollowed}
    if not lengths:
        return tree
    limits = {q: name(unit.local("most")) if _is_counted(n) else n for q, n in lengths.items()}
    for function in [n for n in nodes(tree) if isinstance(n, gast.FunctionDef)]:
        function.body = rewritten(function.body, lambda s: _written(unit, s, limits))
    return _Methods(limits).visit(tree)


def _is_counted(most: gast.AST | None) -> bool:
    """Whether only the running text tells how many items a deque may hold."""
    return most is not None and whole_number(most) is None


def _lengths(unit: Unit, tree: gast.FunctionDef) -> Lengths:
    """The variables that are bound to deques alone, and how many items each may hold at most; None: any number."""
    out: Lengths = {}
    outside = {n for node in nodes(tree) if isinstance(node, gast.Global) for n in node.names}
    for variable, values in NameUses(tree).assigned.items():
        given = [_arguments(value) for value in values if unit.called(value) is deque]
        if not given or None in given or variable in outside:
            continue
        most = [arguments.get("maxlen") for arguments in given]
        free = all(n is None or is_none(n) for n in most)
        positive = most[0] is not None and (_is_counted(most[0]) or whole_number(most[0]) > 0)
        if free or (len(given) == 1 and positive):
            out[variable] = None if free else most[0]
    return out


def _arguments(call: gast.Call) -> dict[str, gast.AST] | None:
    """What a call of `deque` is given, by the names of its parameters."""
    words = {k.arg: k.value for k in call.keywords}
    if None in words or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    try:
        return _SIGNATURE.bind(*call.args, **words).arguments
    except TypeError:
        return None


_SIGNATURE = inspect.signature(lambda iterable=(), maxlen=None: None)


def _unfollowed(unit: Unit, tree: gast.FunctionDef, lengths: Lengths) -> set[str]:
    """The deques of which more is asked than their items."""
    followed = set(map(id, _followed(unit, tree, lengths)))
    return {n.id for n in nodes(tree) if isinstance(n, gast.Name) and n.id in lengths and id(n) not in followed}


def _followed(unit: Unit, tree: gast.FunctionDef, lengths: Lengths) -> Iterable[gast.AST]:
    """The nodes of which items are read, stored, put on or taken off, or which are asked how many there are."""
    for node in nodes(tree):
        yield from _read(node)
        if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
            yield from _changed(node.value, lengths)
        elif isinstance(node, gast.Call):
            yield from _taken(node, lengths)
            target = unit.called(node)
            if is_one_of(target, (len, deque, reversed, *RUN_THROUGH, *LAZY)) or libraries.is_numeric(target):
                yield from arguments_of(node)
        elif isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add):
            yield from (node.target,) if lengths.get(getattr(node.target, "id", ""), node) is None else ()
        elif isinstance(node, gast.Assign) and (made := bound_name(node)) in lengths:
            other = getattr(node.value, "id", None)
            if unit.called(node.value) is deque or (other in lengths and lengths[other] is lengths[made] is None):
                yield from (node.targets[0], node.value)


def _read(node: gast.AST) -> Iterable[gast.AST]:
    """What syntax reads as it reads a list: one item, all of them in turns, whether there are any, how many there may be."""
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
    """What a condition asks whether it is empty."""
    yield node
    if isinstance(node, gast.UnaryOp):
        yield from _tested(node.operand)
    for part in node.values if isinstance(node, gast.BoolOp) else ():
        yield from _tested(part)


def _changed(call: gast.Call, lengths: Lengths) -> Iterable[gast.AST]:
    """The deque that a call changes which is a statement by itself."""
    owner = call.func.value if isinstance(call.func, gast.Attribute) else None
    if not isinstance(owner, gast.Name) or owner.id not in lengths or call.keywords:
        return
    from_end = not call.args or not is_named(call.func.attr, list.pop)
    free = lengths[owner.id] is None or not is_named(call.func.attr, list.insert)
    if call.func.attr in _STATEMENTS or (is_named(call.func.attr, *_ALIKE) and from_end and free):
        yield owner


def _taken(call: gast.Call, lengths: Lengths) -> Iterable[gast.AST]:
    """The deque whose method gives a value: an item that it takes off, where one is, how many there are."""
    owner = call.func.value if isinstance(call.func, gast.Attribute) else None
    if isinstance(owner, gast.Name) and owner.id in lengths and not call.keywords:
        shrinks = is_named(call.func.attr, list.pop, deque.popleft) and not call.args
        if shrinks or is_named(call.func.attr, list.index, list.count):
            yield owner


class _Methods(Transformer):
    """`q.popleft()` as `q.pop(0)`, `q.maxlen` as the number that it is."""

    def __init__(self, lengths: Lengths) -> None:
        self.lengths = lengths

    def visit_Call(self, call: gast.Call) -> gast.AST:
        owner = call.func.value if isinstance(call.func, gast.Attribute) else None
        if getattr(owner, "id", None) in self.lengths and is_named(call.func.attr, deque.popleft):
            call.func.attr, call.args = "pop", at(call, constant(0))
        return self.generic_visit(call)

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        if getattr(node.value, "id", None) in self.lengths and is_named(node.attr, deque.maxlen):
            most = self.lengths[node.value.id]
            return at(node, constant(None) if most is None else clone(most))[0]
        return self.generic_visit(node)


def _written(unit: Unit, statement: gast.AST, lengths: Lengths) -> list[gast.AST]:
    """What stands for a statement that makes a deque or puts something on one."""
    made = bound_name(statement)
    if made in lengths and unit.called(statement.value) is deque:
        return _begun(unit, statement, lengths[made])
    call = alone(statement)
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
        return [statement]
    owner = getattr(call.func.value, "id", None)
    write = _STATEMENTS.get(call.func.attr) if owner in lengths else None
    if write is None:
        return [statement]
    return [placed(statement, s) for s in write(unit, owner, call.args, lengths[owner])]


def _begun(unit: Unit, statement: gast.Assign, most: gast.AST | None) -> list[gast.AST]:
    given = _arguments(statement.value)
    items: gast.AST = gast.List([], gast.Load())
    before: list[gast.AST] = []
    cut: list[gast.AST] = []
    if "iterable" in given:
        shown = isinstance(given["iterable"], gast.List)
        items = given["iterable"] if shown else gast.Call(unit.builtin(list), [given["iterable"]], [])
    if isinstance(most, gast.Name):
        before = statements("most = n\nif most < 0:\n    raise ValueError('maxlen must be non-negative')",
                            most=most.id, n=given["maxlen"], ValueError=unit.builtin(ValueError))  # fmt: skip
        if "iterable" in given:
            cut = statements("del q[: max(len(q) - n, 0)]", q=bound_name(statement), n=most, len=unit.builtin(len),
                             max=unit.builtin(max))  # fmt: skip
    elif most is not None and not (isinstance(items, gast.List) and len(items.elts) <= whole_number(most)):
        items = expression("xs[first:]", xs=items, first=constant(-whole_number(most)))
    statement.value = placed(statement.value, items)
    return [*(placed(statement, s) for s in before), statement, *(placed(statement, s) for s in cut)]


def _text(unit: Unit, text: str, **holes: object) -> list[gast.AST]:
    functions = {f.__name__: unit.builtin(f) for f in (len,) if f"{f.__name__}(" in text}
    return statements(text, **holes, **functions)


def _limited(unit: Unit, text: str, most: gast.AST | None, left: bool, **holes: object) -> list[gast.AST]:
    """What puts an item on, and takes one off at the other end where there are too many."""
    if most is None:
        return _text(unit, text, **holes)
    taken = "pop()" if left else "pop(0)"
    over = _text(unit, f"if len(q) > n:\n    q.{taken}", q=holes["q"], n=most)
    (body,) = _text(unit, text, **holes)
    if isinstance(body, gast.For):
        body.body += over
        return [body]
    return [body, *over]


def _append(unit: Unit, q: str, given: list[gast.AST], most: gast.AST | None) -> list[gast.AST]:
    return _limited(unit, "q.append(v)", most, False, q=q, v=given[0])


def _append_left(unit: Unit, q: str, given: list[gast.AST], most: gast.AST | None) -> list[gast.AST]:
    return _limited(unit, "q.insert(0, v)", most, True, q=q, v=given[0])


def _extend(unit: Unit, q: str, given: list[gast.AST], most: gast.AST | None) -> list[gast.AST]:
    if most is None:
        return _text(unit, "q.extend(xs)", q=q, xs=given[0])
    return _limited(unit, "for v in xs:\n    q.append(v)", most, False, q=q, v=unit.local("item"), xs=given[0])


def _extend_left(unit: Unit, q: str, given: list[gast.AST], most: gast.AST | None) -> list[gast.AST]:
    return _limited(unit, "for v in xs:\n    q.insert(0, v)", most, True, q=q, v=unit.local("item"), xs=given[0])


def _rotate(unit: Unit, q: str, given: list[gast.AST], most: gast.AST | None) -> list[gast.AST]:
    turns = whole_number(given[0]) if given else 1
    if turns in (1, -1):
        return _text(unit, "if q:\n    q.insert(0, q.pop())" if turns == 1 else "if q:\n    q.append(q.pop(0))", q=q)
    first = unit.local("first")
    n = given[0] if turns is None else constant(turns)
    return _text(unit, "if q:\n    first = -n % len(q)\n    q[:] = q[first:] + q[:first]", q=q, first=first, n=n)


_Writer = Callable[[Unit, str, list[gast.AST], gast.AST | None], list[gast.AST]]
_STATEMENTS: dict[str, _Writer] = {
    m.__name__: write
    for m, write in (
        (deque.append, _append), (deque.appendleft, _append_left), (deque.extend, _extend),
        (deque.extendleft, _extend_left), (deque.rotate, _rotate),
    )
}  # fmt: skip
