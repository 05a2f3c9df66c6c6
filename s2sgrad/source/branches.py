"""Branches that are refused: they raise the refusal when they are taken, and the rest of the function is compiled.

    if verbose: plot(x)      ->      if verbose: raise NotImplementedError("`plot` has no derivative rule: ..")
    y = rare(x) if k else x  ->      y = NotImplementedError("`rare` has no ..") if k else x

The trees that `read` gives out have these branches replaced while `without` is entered.

>>> from s2sgrad.source import read
>>> def f(x, rare):
...     if rare:
...         x = plot(x)
...     return x * x
>>> with without([]):
...     place = read(f).place(read(f).tree.body[0].body[0].value)
...     branch = around(S2SGradError("`plot` is unknown", place))
>>> with without([branch]):
...     print(gast.unparse(read(f).tree).strip())
def f(x, rare):
    if rare:
        raise NotImplementedError('`plot` is unknown')
    return x * x
"""

from __future__ import annotations

import contextlib
import threading
import types
from collections.abc import Iterator
from dataclasses import dataclass, replace

import gast

from s2sgrad.errors import Place, S2SGradError
from s2sgrad.source.primal import Primal

_OF_THE_WHOLE = (gast.Global, gast.Nonlocal, gast.Yield, gast.YieldFrom, gast.Await)
_BLOCKS = ("body", "orelse", "finalbody")
_ARMS = ("body", "orelse")
_SCOPES = (gast.FunctionDef, gast.ClassDef, gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


@dataclass(frozen=True)
class Branch:
    """A branch of an `if` or `match`, or the rest of a block after an `if` that returns, by its function and its first
    statement.  Or one of a conditional expression, by where it begins and ends.  Then the reason why it is refused, and the
    line of the construct.  `is_rest`: it is such a rest, on the straight way through the function."""

    code: types.CodeType
    place: tuple[int, ...]
    reason: str
    construct: int
    is_rest: bool = False


def _start(node: gast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _span(node: gast.AST) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


class _Refused(threading.local):
    """Of a thread: the branches that are refused in this compilation, and whether calls of their functions are written
    out.  And the functions that it read, by the identity of their code (codes of equal texts are equal)."""

    branches: tuple[Branch, ...] = ()
    inlined: bool = False
    whole: frozenset[types.CodeType] = frozenset()  # of functions that are written out for their own sake
    read: dict[int, Primal] | None = None


_now = _Refused()


@contextlib.contextmanager
def without(branches: list[Branch], inlined: bool = False, whole: frozenset[types.CodeType] = frozenset()) -> Iterator[None]:
    """Functions are read with these branches, and those of the contexts around, replaced; `inlined`: calls of these
    functions are written out; and so are those of the functions with the codes `whole`."""
    before = _now.branches, _now.inlined, _now.whole, _now.read
    _now.branches, _now.inlined, _now.read = (*_now.branches, *branches), inlined or _now.inlined, {}
    _now.whole |= whole
    try:
        yield
    finally:
        _now.branches, _now.inlined, _now.whole, _now.read = before


def codes() -> frozenset[types.CodeType]:
    """The codes of the functions of which branches are replaced now."""
    return frozenset(b.code for b in _now.branches)


def inlined() -> frozenset[types.CodeType]:
    """Those of them that are written out where they are called, and of the others that are."""
    return codes() | _now.whole if _now.inlined else _now.whole


def around(error: S2SGradError) -> Branch | None:
    """The innermost branch around what an error is about, or around a call that leads there; None if there is none, or if
    its exceptions are handled by the function itself."""
    for place in error.origins:
        for primal in (_now.read or {}).values():
            if primal.file == place.file and _contains(primal, primal.tree, place):
                found = _innermost(primal, primal.tree.body, place)
                if found is not None:
                    where = _start(found[0]) if isinstance(found, list) else _span(found)
                    rest = isinstance(found, list) and not _begins(primal.tree, found[0])
                    return Branch(primal.function.__code__, where, error.reason, place.line, rest)
    return None


def leaves_none(branch: Branch) -> bool:
    """Whether the other branch of the same construct is refused already, so that no way through it would be left."""
    refused = {b.place for b in _now.branches if b.code is branch.code}
    for primal in (_now.read or {}).values():
        for node in gast.walk(primal.tree) if primal.function.__code__ is branch.code else ():
            arms: set[tuple[int, ...]] = set()
            if isinstance(node, gast.If) and node.orelse:
                arms = {_start(node.body[0]), _start(node.orelse[0])}
            elif isinstance(node, gast.IfExp):
                arms = {_span(node.body), _span(node.orelse)}
            if branch.place in arms and arms - {branch.place} <= refused:
                return True
    return False


def callee(error: S2SGradError, root: types.CodeType) -> types.CodeType | None:
    """The code of the function that an error is about, where the one that is differentiated calls it; else None."""
    for place in error.origins[:1]:
        for primal in (_now.read or {}).values():
            if primal.file == place.file and _contains(primal, primal.tree, place):
                code = primal.function.__code__
                return None if code is root or primal.is_generated else code
    return None


def _begins(tree: gast.AST, statement: gast.AST) -> bool:
    """Whether a statement is the first of its block."""
    return any(b and b[0] is statement for part in gast.walk(tree) if isinstance(part, gast.stmt) for b in _blocks(part))


def called(error: S2SGradError, root: types.CodeType) -> list[types.FunctionType]:
    """The functions that lead to what an error is about, the innermost first, without the one that is differentiated."""
    found: list[types.FunctionType] = []
    for place in error.origins:
        for primal in (_now.read or {}).values():
            function = primal.function
            if primal.file == place.file and _contains(primal, primal.tree, place) and function.__code__ is not root:
                found += [] if primal.is_generated or function in found else [function]
    return found


def noted(primal: Primal) -> Primal:
    """A function that is read: with its refused branches replaced."""
    if _now.read is None:
        return primal
    code = primal.function.__code__
    if id(code) not in _now.read:
        here = {b.place: b for b in _now.branches if b.code is code}
        _now.read[id(code)] = _replaced(primal, here) if here else primal
    known = _now.read[id(code)]
    return replace(primal, tree=known.tree, refusals=known.refusals, unbound=known.unbound)


def _replaced(primal: Primal, branches: dict[tuple[int, ...], Branch]) -> Primal:
    """The function without these branches, each from its first statement, which is given by its position, to the end of its
    block; and without these arms of conditional expressions."""
    tree = primal.fresh_tree()
    refusals: dict[tuple[int, ...], tuple[str, int]] = {}
    unbound: set[str] = set()
    _replace_arms(tree, branches, refusals)

    def refused(block: list[gast.AST], is_outer: bool) -> list[gast.AST] | None:
        branch = branches.get(_start(block[0])) if block else None
        if branch is None:
            return None
        parts = [part for statement in block for part in gast.walk(statement)]
        unbound.update(*(_bound(statement) for statement in block if is_outer))
        around_it = [p for p in parts if isinstance(p, gast.stmt) and p.lineno <= branch.construct <= p.end_lineno]
        raised = gast.Raise(_call("NotImplementedError", gast.Constant(branch.reason, None)), None)
        raised = _at((around_it or block)[-1], raised)
        refusals[_start(raised)] = branch.reason, branch.construct
        return [raised]

    def follow(block: list[gast.AST], is_outer: bool) -> None:
        for statement in block:
            for inner in _blocks(statement):
                follow(inner, is_outer and not isinstance(statement, _SCOPES))
        rest = next((k for k, s in enumerate(block) if _start(s) in branches), None)
        if rest is not None:
            block[rest:] = refused(block[rest:], is_outer) or ()

    follow(tree.body, True)
    return replace(primal, tree=tree, refusals=refusals, unbound=frozenset(unbound))


def _replace_arms(
    tree: gast.AST, branches: dict[tuple[int, ...], Branch], refusals: dict[tuple[int, ...], tuple[str, int]]
) -> None:
    """Put calls that stand for the refusals in the place of arms of conditional expressions, and note them."""
    for node in [part for part in gast.walk(tree) if isinstance(part, gast.IfExp)]:
        for field in _ARMS:
            arm = getattr(node, field)
            branch = branches.get(_span(arm))
            if branch is not None:
                setattr(node, field, _at(arm, _call("NotImplementedError", gast.Constant(branch.reason, None))))
                refusals[_span(arm)] = branch.reason, branch.construct


def _blocks(statement: gast.AST) -> list[list[gast.AST]]:
    parts = (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))
    return [block for part in parts for field in _BLOCKS if isinstance(block := getattr(part, field, None), list)]


def _call(function: str, *arguments: gast.AST) -> gast.Call:
    return gast.Call(gast.Name(function, gast.Load(), None, None), list(arguments), [])


def _at(origin: gast.AST, made: gast.AST) -> gast.AST:
    """Nodes that we make, at the position of `origin`."""
    for part in gast.walk(made):
        if not hasattr(part, "lineno"):
            gast.copy_location(part, origin)
    return made


def _bound(node: gast.AST) -> set[str]:
    """The names that a statement binds in its own scope."""
    if isinstance(node, gast.Name):
        return set() if isinstance(node.ctx, gast.Load) else {node.id}
    if isinstance(node, gast.alias):
        return {(node.asname or node.name).partition(".")[0]}
    own = {n for n in (getattr(node, "name", None), getattr(node, "rest", None)) if isinstance(n, str)}
    parts = () if isinstance(node, _SCOPES) else gast.iter_child_nodes(node)
    return own.union(*map(_bound, parts))


def _contains(primal: Primal, node: gast.AST, place: Place) -> bool:
    own = primal.place(node)
    return (own.line, own.column) <= (place.line, place.column) <= (own.end_line, own.end_column)


def _innermost(primal: Primal, body: list[gast.AST], place: Place) -> list[gast.AST] | gast.AST | None:
    """The innermost branch around a place; not one whose exceptions a `try` or a context manager may handle."""
    for k, statement in enumerate(body):
        if not _contains(primal, statement, place):
            continue
        inside = next((b for b in _blocks(statement) if any(_contains(primal, s, place) for s in b)), None)
        handled = isinstance(statement, (gast.With, gast.AsyncWith)) or (
            isinstance(statement, gast.Try) and inside is statement.body
        )
        found = _innermost(primal, inside, place) if inside is not None and not handled else None
        is_branch = isinstance(statement, (gast.If, gast.Match))
        if inside is None:
            found = _innermost_arm(primal, statement, place)
        if found is None and inside is not None and is_branch:
            found = inside if _is_usable(inside) else None
        return found or _after_return(body, k)
    return None


def _innermost_arm(primal: Primal, statement: gast.AST, place: Place) -> gast.AST | None:
    """The innermost arm around a place of a conditional expression, but the rest of which no other names depend on."""
    chosen = [part for part in gast.walk(statement) if isinstance(part, gast.IfExp)]
    arms = [arm for part in chosen for arm in (part.body, part.orelse) if _contains(primal, arm, place)]
    found = min(arms, key=lambda arm: sum(1 for _ in gast.walk(arm)), default=None)
    binds = (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await)
    return None if found is None or any(isinstance(part, binds) for part in gast.walk(found)) else found


def _after_return(body: list[gast.AST], place: int) -> list[gast.AST] | None:
    """The statements of a block before this place and after the last `if` before it that returns: another branch of it."""
    for k in range(place, 0, -1):
        ends = [block[-1] for block in _blocks(body[k - 1]) if block] if isinstance(body[k - 1], gast.If) else []
        if any(isinstance(end, gast.Return) for end in ends):
            return body[k:] if _is_usable(body[k:]) else None
    return None


def _is_usable(branch: list[gast.AST]) -> bool:
    """Whether a branch does not raise at once, and says nothing of the scope of names or of the sort of the function."""
    inside = (node for statement in branch for node in gast.walk(statement))
    return not isinstance(branch[0], gast.Raise) and not any(isinstance(n, _OF_THE_WHOLE) for n in inside)
