"""`try` around one look-up, or one call of a library: whether it raises decides which block runs.

    try: v = d[key]                       which = raised(lambda: d[key], KeyError)
    except KeyError: v = 0.0       ->     if which == 0: v = d[key]
                                          else: v = 0.0

Any other `try` with `except` is refused: how far its body gets is known to the run alone, which is recorded.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(K, y):
...     try:
...         L = np.linalg.cholesky(K)
...     except np.linalg.LinAlgError as error:
...         raise ValueError(f"no factor: {error}") from error
...     return np.sum(np.linalg.solve(L, y))
... ''', "try_statements"))
def f(K, y):
    which = raised(lambda: np.linalg.cholesky(K), np.linalg.LinAlgError)
    if which == 0:
        L = np.linalg.cholesky(K)
    else:
        error = caught(which)
        raise ValueError(f'no factor: {error}') from error
    return np.sum(np.linalg.solve(L, y))
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.ir.quote import assign, at, clone, constant, empty_arguments, name, nodes, rewritten
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory import behaviour
from s2sgrad.normalize import context_managers
from s2sgrad.primitives import catalogue

_OPERATIONS = (
    gast.Name, gast.Constant, gast.Attribute, gast.Subscript, gast.Slice, gast.Tuple, gast.Dict, gast.Call, gast.keyword,
    gast.BinOp, gast.UnaryOp, gast.expr_context, gast.operator, gast.unaryop,
)  # fmt: skip


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """The tree without `except`; raises Unsupported if more than one expression decides."""
    tree.body = rewritten(tree.body, lambda statement: context_managers.suppressed(unit, statement))
    for function in [n for n in nodes(tree) if isinstance(n, gast.FunctionDef)]:
        function.body = rewritten(function.body, lambda statement: _statement(unit, statement))
    return tree


def _statement(unit: Unit, statement: gast.AST) -> list[gast.AST]:
    if not isinstance(statement, gast.Try) or not statement.handlers:
        return [statement]
    decides = _decides(unit, statement.body)
    if decides is None or not all(_is_followed(h) for h in statement.handlers):
        unit.refuse(statement, "how far the body of `try` gets is known to the run alone, so that it has no text: test for "
                               "the case with `if` before it arises")  # fmt: skip
    which = unit.local("which")
    kinds = [h.type or name(unit.helper("Exception", Exception)) for h in statement.handlers]
    tried = gast.Lambda(empty_arguments(), clone(decides))
    raised = gast.Call(name(unit.helper("raised", runtime.raised)), [tried, *kinds], [])
    blocks = [[*statement.body, *statement.orelse], *(_handler(unit, h, which) for h in statement.handlers)]
    made = blocks.pop()
    for k, block in reversed(list(enumerate(blocks))):
        made = at(statement, gast.If(gast.Compare(name(which), [gast.Eq()], [constant(k)]), block, made))
    made = [*at(statement, assign(which, at(statement, raised)[0])), *made]
    return at(statement, gast.Try(made, [], [], statement.finalbody)) if statement.finalbody else made


def _decides(unit: Unit, body: list[gast.AST]) -> gast.AST | None:
    """The expression whose success is that of a block; None if there is more than one, or it does more than compute."""
    (only, *more) = body
    bound = [only.target] if isinstance(only, gast.AnnAssign) else getattr(only, "targets", [])
    plain = isinstance(only, (gast.Assign, gast.AnnAssign, gast.Return, gast.Expr)) and only.value is not None
    if more or not plain or not all(isinstance(target, gast.Name) for target in bound):
        return None
    return only.value if all(_computes(unit, part) for part in nodes(only.value)) else None


def _computes(unit: Unit, part: gast.AST) -> bool:
    """Whether a part of an expression is an operand, an operation of Python's, or a call of a library that computes."""
    if isinstance(part, gast.Attribute):
        return unit.resolve(part) is not MISSING
    if isinstance(part, gast.Call):
        target = unit.resolve(part.func)
        return target is not MISSING and catalogue.of(target).pure and not catalogue.of(target).iterates
    return isinstance(part, _OPERATIONS) and not behaviour.acts(unit, part)


def _is_followed(handler: gast.ExceptHandler) -> bool:
    """Whether a handler, if it names the exception, only raises: another one, with that as its cause or in its message."""
    if any(isinstance(n, gast.Raise) and n.exc is None for n in nodes(*handler.body)):
        return False
    return not _mentions(handler) or (len(handler.body) == 1 and isinstance(handler.body[0], gast.Raise))


def _mentions(handler: gast.ExceptHandler) -> bool:
    return any(isinstance(n, gast.Name) and n.id == _name(handler) for n in nodes(*handler.body))


def _name(handler: gast.ExceptHandler) -> str | None:
    named: str | None = handler.name.id if isinstance(handler.name, gast.Name) else handler.name
    return named


def _handler(unit: Unit, handler: gast.ExceptHandler, which: str) -> list[gast.AST]:
    """The statements of a handler."""
    if not _mentions(handler):
        body: list[gast.AST] = handler.body
        return body
    caught = gast.Call(name(unit.helper("caught", runtime.caught)), [name(which)], [])
    return [*at(handler, assign(_name(handler), caught)), *handler.body]
