"""One plain target per assignment: splits chained, tuple and starred targets, and drops annotations.

    a, b = b, c   ->   t1 = b; b = c; a = t1              u[0], u[1] = u[1], u[0]   ->   t1 = u[1]; t2 = u[0]; ...

Of a statement that is an expression which chooses, each arm is a statement: `c and a.append(v)` is `if c: a.append(v)`.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x, y):
...     a = b = x
...     a, (b, *c) = b, (y, a, x)
...     d, e = g(a)
...     return d
... ''', "targets"))
def f(x, y):
    a = x
    b = x
    t1 = b
    b = y
    c = [a, x]
    a = t1
    d, e = g(a)
    return d
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad import runtime
from s2sgrad.ir.forms import minus, opposite
from s2sgrad.ir.quote import assign, at, constant, expression, mentioned, name, nested, nodes, rewritten, statements, stored
from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import deletes


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree, in which an assignment has one target: a name, a flat tuple of names, or a section `x[i]`."""
    counts = Counter(n.id for n in nodes(tree) if isinstance(n, gast.Name))
    counts.update(n for s in nodes(tree) if isinstance(s, gast.Nonlocal) for n in s.names)  # nested functions read them
    tree.body = block(unit, tree.body)
    for body in nested(tree.body):
        _swaps(body, counts)
    return tree


def _swaps(body: list[gast.AST], counts: Counter[str]) -> None:
    """`t = a; a = b; b = t` as `a, b = b, a`, if t is not used elsewhere."""
    for k in range(len(body) - 3, -1, -1):
        three = body[k : k + 3]
        if all(isinstance(s, gast.Assign) and _is_copy(s) for s in three):
            (t, a), (a2, b), (b2, t2) = ((s.targets[0].id, s.value.id) for s in three)
            if (t, a, b) == (t2, a2, b2) and len({t, a, b}) == 3 and counts[t] == 2:
                both = [name(a, store=True), name(b, store=True)], [name(b), name(a)]
                swap = assign(gast.Tuple(both[0], gast.Store()), gast.Tuple(both[1], gast.Load()))
                body[k : k + 3] = at(three[0], swap)


def _is_copy(statement: gast.Assign) -> bool:
    return isinstance(statement.targets[0], gast.Name) and isinstance(statement.value, gast.Name)


def block(unit: Unit, body: list[gast.AST]) -> list[gast.AST]:
    """The statements of a block, with one target per assignment."""
    return rewritten(body, lambda statement: _of_one(unit, statement))


def _of_one(unit: Unit, statement: gast.AST) -> list[gast.AST]:
    """A statement as assignments with one target each."""
    if isinstance(statement, gast.AnnAssign):
        return [] if statement.value is None else at(statement, *bind(unit, statement.target, statement.value))
    if isinstance(statement, gast.Assign):
        return at(statement, *_chained(unit, statement.targets, statement.value))
    if isinstance(statement, gast.Expr) and isinstance(statement.value, (gast.IfExp, gast.BoolOp)):
        return at(statement, *_done(statement.value))
    return at(statement, *deletes.of_items(unit, statement)) if isinstance(statement, gast.Delete) else [statement]


def _done(value: gast.AST) -> list[gast.AST]:
    """An expression statement: a conditional expression becomes an `if` whose arms have the effects, and so does `and`."""
    if isinstance(value, gast.IfExp):
        return [gast.If(value.test, _done(value.body), _done(value.orelse))]
    if not isinstance(value, gast.BoolOp):
        return [gast.Expr(value)]
    first, rest = value.values[0], value.values[1:]
    then = _done(rest[0] if len(rest) == 1 else gast.BoolOp(value.op, rest))
    return [gast.If(first if isinstance(value.op, gast.And) else opposite(first), then, [])]


def _chained(unit: Unit, targets: list[gast.AST], value: gast.AST) -> list[gast.AST]:
    if len(targets) == 1:
        return bind(unit, targets[0], value)
    out = []
    if not isinstance(value, (gast.Name, gast.Constant)) or stored(*targets) & mentioned(value):
        holder = targets[0].id if isinstance(targets[0], gast.Name) else unit.temp()
        out.append(assign(holder, value))
        value = name(holder)
    for target in targets:
        if not (isinstance(target, gast.Name) and isinstance(value, gast.Name) and target.id == value.id):
            out += bind(unit, target, value)
    return out


def bind(unit: Unit, target: gast.AST, value: gast.AST) -> list[gast.AST]:
    """Assignments that bind the target, however nested, to the value, which is evaluated once."""
    if isinstance(target, gast.Name):
        return [assign(target.id, value)]
    if isinstance(target, (gast.Subscript, gast.Attribute)):
        return [assign(target, value)]
    targets = target.elts
    if isinstance(value, (gast.Tuple, gast.List)) and not any(isinstance(v, gast.Starred) for v in value.elts):
        return _parallel(unit, *_aligned(unit, target, value.elts))
    if any(isinstance(t, gast.Starred) for t in targets):
        return _starred(unit, targets, value)
    stores = [t for t in targets if not isinstance(t, gast.Name)]
    names = [t.id for t in targets if isinstance(t, gast.Name)]
    # `i, x[i] = v` binds from left to right, and so does `a, b, a = v`
    late = len({*names}) < len(names) or bool(stored(*targets) & mentioned(*stores))
    inner = [t.id if isinstance(t, gast.Name) and not late else unit.temp() for t in targets]
    out = [assign(gast.Tuple([name(i, store=True) for i in inner], gast.Store()), value)]
    for part, holder in zip(targets, inner, strict=True):
        if late or not isinstance(part, gast.Name):
            out += bind(unit, part, name(holder))
    return out


def _aligned(unit: Unit, target: gast.AST, values: list[gast.AST]) -> tuple[list[gast.AST], list[gast.AST]]:
    """Targets and values of equal number; the values of a starred target become a list."""
    targets = target.elts
    star = next((k for k, t in enumerate(targets) if isinstance(t, gast.Starred)), None)
    if star is None:
        if len(targets) != len(values):
            unit.refuse(target, f"{len(values)} values for {len(targets)} targets")
        return targets, values
    after = len(targets) - star - 1
    if len(values) < len(targets) - 1:
        unit.refuse(target, f"{len(values)} values for at least {len(targets) - 1} targets")
    middle = gast.List(values[star : len(values) - after], gast.Load())
    plain = targets[:star] + [targets[star].value] + targets[star + 1 :]
    return plain, values[:star] + [middle] + values[len(values) - after :]


def _parallel(unit: Unit, targets: list[gast.AST], values: list[gast.AST]) -> list[gast.AST]:
    """Assignments that evaluate all values before they bind the first target; a permutation of names is kept."""
    if len(targets) > 1 and all(isinstance(n, gast.Name) for n in (*targets, *values)):
        if len({t.id for t in targets}) == len(targets) and {t.id for t in targets} == {v.id for v in values}:
            return [assign(gast.Tuple(targets, gast.Store()), gast.Tuple(values, gast.Load()))]
    out, late = [], []
    repeated = len(stored(*targets)) < sum(len(stored(t)) for t in targets)
    stores = (gast.Subscript, gast.Attribute)  # stores may change later values
    repeated |= any(isinstance(n, stores) for n in nodes(*targets))
    for k, (target, value) in enumerate(zip(targets, values, strict=True)):
        later = mentioned(*values[k + 1 :])
        if repeated or stored(target) & later:
            holder = unit.temp()
            out.append(assign(holder, value))
            late.append((target, name(holder)))
        else:
            out += bind(unit, target, value)
    for target, value in late:
        out += bind(unit, target, value)
    return out


def _starred(unit: Unit, targets: list[gast.AST], value: gast.AST) -> list[gast.AST]:
    """`a, *b, c = v` for any sequence v: items indexed from both ends."""
    holder = unit.temp()
    star = next(k for k, t in enumerate(targets) if isinstance(t, gast.Starred))
    after = len(targets) - star - 1
    counted = unit.builtin(list) if unit.draws(value) else name(unit.helper("sequence", runtime.sequence))
    out = [assign(holder, at(value, gast.Call(counted, [value], []))[0])]
    out += statements(
        "if len(t) < n:\n    raise ValueError('not enough values to unpack')",
        t=holder,
        n=len(targets) - 1,
        len=unit.builtin(len),
        ValueError=unit.builtin(ValueError),
    )
    for k, target in enumerate(targets):
        if k < star:
            part = expression("t[k]", t=holder, k=k)
        elif k > star:
            part = expression("t[k]", t=holder, k=minus(constant(len(targets) - k)))
        else:
            target = target.value
            part = expression(
                "list(t[lo:len(t) - hi])", t=holder, lo=star, hi=after, len=unit.builtin(len), list=unit.builtin(list)
            )
        out += bind(unit, target, part)
    return out
