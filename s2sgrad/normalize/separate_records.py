"""A stack of tuples becomes one stack for each of their parts, which are followed one by one.

    tape = []                                           x_stack = []; y_stack = []
    tape.append((x, y.copy()))          ->              x_stack.append(x); y_stack.append(y.copy())
    x, y = tape.pop()                                   y = y_stack.pop(); x = x_stack.pop()

Generated texts keep one record a trip so (`cleanup.joint_records`): they are read back for the next order, and explained.

>>> from s2sgrad import emit
>>> body = statements('''
... tape = []
... for k in range(n):
...     tape.append((x, y.copy()))
... for k in range(n):
...     x, y = tape.pop()
... ''')
>>> print("\\n".join(map(emit.statement, separated(body, {"tape": ["x_stack", "y_stack"]}.get))))
x_stack = []
y_stack = []
for k in range(n):
    x_stack.append(x)
    y_stack.append(y.copy())
for k in range(n):
    y = y_stack.pop()
    x = x_stack.pop()
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import gast

from s2sgrad.ir.forms import alone, appended_to, bound_name, popped
from s2sgrad.ir.quote import NAMES, assign, at, blocks, expression, nested, nodes_of, statements, statements_in
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """A generated function without stacks of tuples."""
    if unit.primal.is_generated:
        for body in nested(tree.body):
            body[:] = [s for statement in body for s in _begun_apart(statement)]
        parts = {stack: [_named(unit, part) for part in pushed] for stack, pushed in _stacks(tree.body).items()}
        tree.body = separated(tree.body, lambda stack: None if stack is None else parts.get(stack))
    return tree


def _begun_apart(statement: gast.AST) -> list[gast.AST]:
    """`a = []; b = []` for `a, b = [], []`."""
    target, value = statement.targets[0] if isinstance(statement, gast.Assign) else None, getattr(statement, "value", None)
    if not isinstance(target, gast.Tuple) or not isinstance(value, gast.Tuple) or len(target.elts) != len(value.elts):
        return [statement]
    if not all(isinstance(v, gast.List) and not v.elts for v in value.elts):
        return [statement]
    return at(statement, *(gast.Assign([t], v, None) for t, v in zip(target.elts, value.elts, strict=True)))


def separated(body: list[gast.AST], parts_of: Callable[[str | None], list[str] | None]) -> list[gast.AST]:
    """The statements of a block, with the stacks that `parts_of` gives in place of a stack of tuples."""
    out: list[gast.AST] = []
    for statement in body:
        for inner in blocks(statement):
            inner[:] = separated(inner, parts_of)
        stack = _stack(statement)
        parts = parts_of(stack)
        if parts is None:
            out.append(statement)
        elif (pushed := _pushed(statement)) is not None:
            pairs = zip(parts, pushed, strict=True)
            out += at(statement, *(s for stack, e in pairs for s in statements("stack.append(e)", stack=stack, e=e)))
        elif (bound := _bound(statement)) is not None:
            last_first = reversed([*zip(parts, bound, strict=True)])
            out += at(statement, *(assign(t, expression("stack.pop()", stack=stack)) for stack, t in last_first))
        else:
            out += at(statement, *(assign(stack, gast.List([], gast.Load())) for stack in parts))
    return out


def _stack(statement: gast.AST) -> str | None:
    """The list that a statement makes, pushes to or pops from, where it is one of these three."""
    owner = appended_to(alone(statement))
    if isinstance(owner, gast.Name):
        return str(owner.id)
    if not isinstance(statement, gast.Assign):
        return None
    is_empty = isinstance(statement.value, gast.List) and not statement.value.elts
    return bound_name(statement) if is_empty else popped(statement.value)


def _pushed(statement: gast.AST) -> list[gast.AST] | None:
    """The parts of the tuple that a statement pushes."""
    call = alone(statement)
    return call.args[0].elts if call is not None and isinstance(call.args[0], gast.Tuple) else None


def _bound(statement: gast.AST) -> list[gast.AST] | None:
    """The names that a statement unpacks."""
    target = statement.targets[0] if isinstance(statement, gast.Assign) else None
    return target.elts if isinstance(target, gast.Tuple) else None


def _stacks(body: list[gast.AST]) -> dict[str, list[gast.AST]]:
    """The lists of which all uses are the first binding, pushes of tuples and pops into as many names: what one pushes."""
    uses = Counter(n.id for s in body for n in nodes_of(s, NAMES))
    found: dict[str, list[gast.AST]] = {}
    lengths: dict[str, set[int]] = {}
    made: set[str] = set()
    for statement in statements_in(body):
        stack = _stack(statement)
        if stack is None:
            continue
        uses[stack] -= 1
        parts = _pushed(statement) or _bound(statement)
        if parts is None and bound_name(statement) == stack and stack not in made:
            made.add(stack)
        else:
            lengths.setdefault(stack, set()).add(len(parts or ()))
            found.setdefault(stack, []).extend([] if found.get(stack) else _pushed(statement) or [])
    return {s: pushed for s, pushed in found.items() if s in made and uses[s] == 0 and len(lengths[s]) == 1 and pushed}


def _named(unit: Unit, part: gast.AST) -> str:
    """A name for the stack of this part."""
    names = [n.id for n in nodes_of(part, NAMES)]
    return unit.local(f"{names[0]}_stack" if len(names) == 1 else "record_stack")
