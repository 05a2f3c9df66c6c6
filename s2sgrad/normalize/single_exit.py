"""Single exit: the statements after an early `return`, `break` or `continue` are nested into the other path.

After this pass `break` is the last statement of its path, `continue` and loop `else` are gone, and the function ends in
`return result`.  The adjoint of an exit is then empty.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     while True:
...         if x > 9.0:
...             return x
...         if x < 0.0:
...             continue
...         x = x * x
... ''', "single_exit"))
def f(x):
    returned = False
    while True:
        if x > 9.0:
            result = x
            returned = True
            break
        elif x < 0.0:
            pass
        else:
            x = x * x
    if returned:
        pass
    else:
        result = None
    return result
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import with_regions
from s2sgrad.ir.exits import EXITS, always_leaves, leaves, returns, with_exits
from s2sgrad.ir.quote import LOOPS, assign, at, clone, constant, name, nested
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime.traits import traits

_DEEPEST = 90  # CPython's parser allows a hundred levels of indentation


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree with a single `return result` at its end."""
    gradient_in = traits(unit.primal.function).gradient_in
    result = unit.local(f"{gradient_in[0]}_bar" if len(gradient_in) == 1 else "result")
    unit.words[result] = "the result", None
    body, flagged = returns_behind_loops(unit, tree.body, result)
    body = nest(unit, flagged + body)
    _strip_continues(body)
    if not always_leaves(body):
        last = body[-1] if body else tree
        body = _fall_through(body, at(last, gast.Return(None)))
    body = bind_results(body, result)
    last = body[-1] if body else tree
    tree.body = body + at(last, gast.Return(name(result)))
    _check_depth(unit, tree)
    return tree


def returns_behind_loops(unit: Unit, body: list[gast.AST], result: str) -> tuple[list[gast.AST], list[gast.AST]]:
    """A block in which `return` has moved out of loops, and loop `else` is gone; and the initialization of the flag."""
    returned: list[str] = []
    body = _returns(unit, body, result, returned, in_loop=False)
    return body, at(body[0], assign(returned[0], constant(False))) if returned else []


def _returns(unit: Unit, body: list[gast.AST], result: str, returned: list[str], in_loop: bool) -> list[gast.AST]:
    """The block with loop `else`, and `return` inside loops, rewritten with flags; other returns stay."""
    out: list[gast.AST] = []
    for statement in body:
        if isinstance(statement, gast.Return) and in_loop:
            if not returned:
                returned.append(unit.local("returned"))
            value = statement.value or constant(None)
            out += at(statement, assign(result, value), assign(returned[0], constant(True)), gast.Break())
        elif isinstance(statement, gast.If):
            statement.body = _returns(unit, statement.body, result, returned, in_loop)
            statement.orelse = _returns(unit, statement.orelse, result, returned, in_loop)
            out.append(statement)
        elif isinstance(statement, LOOPS):
            returned_from = returns(statement.body)
            orelse = _returns(unit, statement.orelse, result, returned, in_loop)
            statement.orelse = []
            statement.body = _returns(unit, statement.body, result, returned, in_loop=True)
            after: list[gast.AST] = []
            if returned_from:
                leave = gast.Break() if in_loop else gast.Return(name(result))
                after = at(statement, gast.If(name(returned[0]), at(statement, leave), []))
            if orelse and leaves(statement.body, gast.Break):
                completed = unit.local("completed")
                out += at(statement, assign(completed, constant(True)))
                no = assign(completed, constant(False))

                def unfinished(leaving: gast.AST, no: gast.Assign = no) -> list[gast.AST]:
                    return at(leaving, clone(no), gast.Break())

                statement.body = with_exits(statement.body, gast.Break, unfinished)
                orelse = at(statement, gast.If(name(completed), orelse, []))
            out += [statement, *after, *orelse]
        else:
            out.append(statement)
    return out


def nest(unit: Unit, body: list[gast.AST], rest: list[gast.AST] | None = None) -> list[gast.AST]:
    """Nest what follows an `if` with exits into the arm that continues, from the last statement to the first.

    `rest` follows the block and is already nested.  What no path reaches is dropped, but for what leaves a
    context: an exception leaves it, too.
    """
    rest = rest or []
    for statement in reversed(body):
        if always_leaves([statement]):
            rest = [s for s in rest if (end := with_regions.end(s)) is not None and end[0] == with_regions.EXIT]
        if isinstance(statement, EXITS):
            rest = [statement]
        elif isinstance(statement, LOOPS):
            statement.body = nest(unit, statement.body)
            rest = [statement, *rest]
        elif isinstance(statement, gast.If) and leaves([statement]):
            rest = _nest_if(unit, statement, rest)
        elif isinstance(statement, gast.If):
            statement.body, statement.orelse = nest(unit, statement.body), nest(unit, statement.orelse)
            rest = [statement, *rest]
        else:
            rest = [statement, *rest]
    return rest


def _strip_continues(body: list[gast.AST]) -> None:
    """Drop every `continue`, which is now the last statement of its path."""
    for block in nested(body):
        block[:] = [s for s in block if not isinstance(s, gast.Continue)]


def _nest_if(unit: Unit, statement: gast.If, rest: list[gast.AST]) -> list[gast.AST]:
    into_body, into_orelse = not always_leaves(statement.body), not always_leaves(statement.orelse)
    if rest and into_body and into_orelse:
        return _flagged(unit, statement, rest)
    statement.body = nest(unit, statement.body, rest if into_body else None)
    statement.orelse = nest(unit, statement.orelse, rest if into_orelse else None)
    return [statement]


def _flagged(unit: Unit, statement: gast.If, rest: list[gast.AST]) -> list[gast.AST]:
    """An `if` with an exit deep inside an arm: it sets a flag, which guards what follows."""
    flags: dict[type, str] = {}
    values: dict[type, str] = {}
    statement.body = replace_exits(unit, statement.body, flags, values)
    statement.orelse = replace_exits(unit, statement.orelse, flags, values)
    head = [at(statement, assign(flag, constant(False)))[0] for flag in flags.values()]
    guarded = rest
    for kind, flag in flags.items():
        leave: list[gast.AST] = []
        if kind is gast.Return:
            leave = at(statement, gast.Return(name(values[kind])))
        elif kind is gast.Break:
            leave = at(statement, gast.Break())
        guarded = at(statement, gast.If(name(flag), leave, guarded))
    return [*head, *nest(unit, [statement]), *guarded]


def replace_exits(unit: Unit, body: list[gast.AST], flags: dict[type, str], values: dict[type, str]) -> list[gast.AST]:
    """The block in which exits set a flag (one for each kind of exit), and `return` its value as well."""
    out: list[gast.AST] = []
    for statement in nest(unit, body):
        kind = type(statement)
        if kind in EXITS:
            if kind not in flags:
                base = {gast.Return: "left", gast.Break: "broke", gast.Continue: "skipped"}[kind]
                flags[kind] = unit.local(base)
                values[kind] = unit.local("value") if kind is gast.Return else ""
            if kind is gast.Return:
                out += at(statement, assign(values[kind], statement.value or constant(None)))
            out += at(statement, assign(flags[kind], constant(True)))
        elif isinstance(statement, gast.If):
            statement.body = replace_exits(unit, statement.body, flags, values)
            statement.orelse = replace_exits(unit, statement.orelse, flags, values)
            out.append(statement)
        else:
            out.append(statement)
    return out


def _fall_through(body: list[gast.AST], leave: list[gast.AST]) -> list[gast.AST]:
    """Append `leave` to every path that falls off the end of the block."""
    if body and isinstance(body[-1], gast.If) and leaves(body[-1:], gast.Return):
        last = body[-1]
        if not always_leaves(last.body):
            last.body = _fall_through(last.body, leave)
        if not always_leaves(last.orelse):
            last.orelse = _fall_through(last.orelse, leave)
        return body
    if body and isinstance(body[-1], gast.Raise):
        return body
    return body + leave


def bind_results(body: list[gast.AST], result: str) -> list[gast.AST]:
    """`return e` at the end of a path becomes `result = e`."""
    if body and isinstance(body[-1], gast.Return):
        last = body[-1]
        if isinstance(last.value, gast.Name) and last.value.id == result:
            return body[:-1]
        return body[:-1] + at(last, assign(result, last.value or constant(None)))
    if body and isinstance(body[-1], gast.If):
        body[-1].body = bind_results(body[-1].body, result)
        body[-1].orelse = bind_results(body[-1].orelse, result)
    return body


def _check_depth(unit: Unit, tree: gast.FunctionDef) -> None:
    """Refuse blocks nested too deeply for Python's parser; a chain of `elif` does not nest."""
    waiting = [(statement, 1) for statement in tree.body]
    while waiting:
        statement, depth = waiting.pop()
        if depth > _DEEPEST:
            unit.refuse(statement, f"early exits nest this function over {_DEEPEST} levels deep: move parts of it "
                                   "into functions of their own")  # fmt: skip
        if isinstance(statement, (gast.If, *LOOPS)):
            waiting += [(inner, depth + 1) for inner in statement.body]
            chained = len(statement.orelse) == 1 and isinstance(statement.orelse[0], gast.If)
            waiting += [(inner, depth + (not chained)) for inner in statement.orelse]
