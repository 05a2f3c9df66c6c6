"""Quasi-quotation: statement templates with checked holes; fast copies and walks of trees.

    statements("x = pop(stack)", x="w", stack="w_stack")   ->   [w = pop(w_stack)]

>>> import gast
>>> node = expression("g * np.cos(x)", g="y_bar", x="u")
>>> [n.id for n in gast.walk(node) if isinstance(n, gast.Name)]
['y_bar', 'u', 'np']
>>> expression("g + h", g="a", hh="b")
Traceback (most recent call last):
...
ValueError: template 'g + h' has no hole hh
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any, TypeAlias

import gast

from s2sgrad.ir import notes

Hole: TypeAlias = "gast.AST | str | int | float | None"
_POSITIONS = ("lineno", "col_offset", "end_lineno", "end_col_offset", *notes.PLACED)
_NONE = object()
Place = tuple[Any, int, int, int]
# Fields without child nodes: identifiers, numbers, operators, contexts of names.
_WORDS = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "type_comment", "kind", "level", "module", "asname", "simple",
                    "is_async", "conversion"})  # fmt: skip


class _Parts(dict[Any, tuple[str, ...] | None]):
    """The fields of a node class that may hold nodes; None for what is no node (a name in a `global`, the key of `**d`)."""

    def __missing__(self, kind: Any) -> tuple[str, ...] | None:
        self[kind] = tuple(f for f in kind._fields if f not in _WORDS) if issubclass(kind, gast.AST) else None
        return self[kind]


# The annotation of a parameter is left out of a name: nothing evaluates it.
PARTS: dict[type, tuple[str, ...] | None] = _Parts({gast.Constant: (), gast.Name: ()})


def clone(node: Any, put: Callable[[gast.AST], Any] | None = None) -> Any:
    """A copy of a tree (nodes and lists of nodes), with positions and origins.

    Where `put` returns something other than None for a node, that replaces it, in a list possibly by several nodes.
    """
    if put is None and not (node_fields := PARTS[type(node)]) and node_fields is not None:
        kind: Any = type(node)
        leaf = kind.__new__(kind)
        leaf.__dict__.update(node.__dict__)
        return leaf
    waiting: list[tuple[dict[str, Any], tuple[str, ...]]] = []  # copies whose children are still shared with the originals

    def copied(part: Any) -> Any:
        kind: Any = type(part)
        if kind is list:
            copies = [copied(item) for item in part]
            return copies if put is None else [item for c in copies for item in (c if type(c) is list else (c,))]
        fields = PARTS[kind]
        if fields is None:
            return part
        if put is not None and (new := put(part)) is not None:
            return new
        copy = kind.__new__(kind)
        held = copy.__dict__
        held.update(part.__dict__)
        if fields:
            waiting.append((held, fields))
        return copy

    root = copied(node)
    while waiting:
        held, fields = waiting.pop()
        for field in fields:
            value = held.get(field)
            if value is not None:
                held[field] = copied(value)
    return root


def loaded(target: gast.AST) -> gast.AST:
    """A copy of a target or expression, in load context."""
    out = clone(target)
    out.ctx = gast.Load()
    return out


def as_target(node: gast.AST) -> gast.AST:
    """A copy of a name or section, in store context."""
    out = clone(node)
    out.ctx = gast.Store()
    return out


def nodes(*roots: gast.AST) -> Iterator[gast.AST]:
    """All nodes of some trees except operators and contexts, parents first: like `gast.walk`, several times faster."""
    waiting, parts_of = [*reversed(roots)], PARTS
    while waiting:
        node = waiting.pop()
        parts = parts_of[type(node)]
        if parts is None:
            continue
        yield node
        held = node.__dict__
        for field in parts:
            value = held.get(field)
            if type(value) is list:
                waiting += value
            elif value is not None:
                waiting.append(value)


def nodes_of(root: gast.AST, wanted: Container[type], closed: Container[type] = ()) -> list[Any]:
    """The nodes of some classes in a tree, in the order of `nodes`; what is in one of a `closed` class is skipped."""
    waiting, parts_of, found = [root], PARTS, []
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind in wanted:
            found.append(node)
        if kind not in closed and (parts := parts_of[kind]):
            held = node.__dict__
            for field in parts:
                value = held.get(field)
                if type(value) is list:
                    waiting += value
                elif value is not None:
                    waiting.append(value)
    return found


NAMES, CALLS = frozenset({gast.Name}), frozenset({gast.Call})


def calls_in(root: gast.AST) -> list[gast.Call]:
    """The calls in a tree, outer ones first."""
    return nodes_of(root, CALLS)


def spread_names(tree: gast.AST) -> set[str]:
    """The names behind `*` and `**` in calls."""
    given = [a for call in calls_in(tree) for a in [*call.args, *call.keywords]]
    behind = [a.value for a in given if isinstance(a, gast.Starred) or getattr(a, "arg", "") is None]
    return {value.id for value in behind if isinstance(value, gast.Name)}


def mentioned(*parts: gast.AST) -> set[str]:
    """The names that occur in some trees."""
    return {node.id for part in parts for node in nodes_of(part, NAMES)}


def stored(*parts: gast.AST) -> set[str]:
    """The names that some trees bind."""
    return {node.id for part in parts for node in nodes_of(part, NAMES) if isinstance(node.ctx, gast.Store)}


def children(node: gast.AST) -> list[gast.AST]:
    """The child nodes of a node except contexts: like `gast.iter_child_nodes`, faster."""
    found: list[Any] = []
    for field in PARTS[type(node)] or ():
        value = getattr(node, field, None)
        if type(value) is list:
            found += [part for part in value if isinstance(part, gast.AST)]
        elif isinstance(value, gast.AST):
            found.append(value)
    return found


class Transformer:
    """Like `gast.NodeTransformer`, over fields that may hold trees: `visit_Call` returns the replacement of a call."""

    def visit(self, node: gast.AST) -> Any:
        """The replacement of a node."""
        method = getattr(self, f"visit_{type(node).__name__}", None)
        return self.generic_visit(node) if method is None else method(node)

    def generic_visit(self, node: gast.AST) -> Any:
        """The node with its children replaced; a statement in a list may be replaced by several or none."""
        for field in PARTS[type(node)] or ():
            value = getattr(node, field, None)
            if type(value) is list:
                out: list[Any] = []
                for part in value:
                    new = self.visit(part) if isinstance(part, gast.AST) else part
                    out += new if type(new) is list else [new]
                value[:] = out
            elif isinstance(value, gast.AST):
                setattr(node, field, self.visit(value))
        return node

    def within(self, statement: gast.AST) -> None:
        """Replace what a simple statement, or the header of a compound one, evaluates."""
        field = HEADER.get(type(statement))
        if field is None:
            self.generic_visit(statement)
        else:
            setattr(statement, field, self.visit(getattr(statement, field)))


HEADER: dict[type, str] = {gast.If: "test", gast.While: "test", gast.For: "iter"}  # what each evaluates itself
LOOPS = (gast.For, gast.While)
COMPOUND: tuple[Any, ...] = tuple(HEADER)  # the compound statements of the normal form
IS_COMPOUND = frozenset(COMPOUND)


_BLOCKS = {
    gast.If: ("body", "orelse"), gast.For: ("body", "orelse"), gast.AsyncFor: ("body", "orelse"), gast.Match: (),
    gast.While: ("body", "orelse"), gast.With: ("body",), gast.AsyncWith: ("body",),
    gast.Try: ("body", "orelse", "finalbody"), gast.TryStar: ("body", "orelse", "finalbody"),
}  # fmt: skip


def blocks(statement: gast.AST) -> list[list[gast.AST]]:
    """The statement lists inside a statement in user source, also of `with`, `try` and `match`.

    Bodies of nested functions and classes do not count: these are units of their own.
    """
    fields = _BLOCKS.get(type(statement))
    if fields is None:
        return []
    parts = (*(getattr(statement, "handlers", None) or ()), *(getattr(statement, "cases", None) or ()))
    return [*(getattr(statement, field) for field in fields), *(part.body for part in parts)]


def nested(body: list[gast.AST]) -> Iterator[list[gast.AST]]:
    """A block and all blocks nested in it, outer ones first; blocks added meanwhile are visited too."""
    waiting = [body]
    while waiting:
        block = waiting.pop()
        yield block
        waiting += [inner for statement in block for inner in blocks(statement)]


def statements_in(body: list[gast.AST]) -> Iterator[gast.AST]:
    """All statements of a block in user source, nested ones included, in no particular order."""
    return (statement for block in nested(body) for statement in block)


def call_around(tree: gast.AST, argument: gast.AST) -> gast.Call | None:
    """The call that has the node at this position as an argument; None if there is none."""
    for call in gast.walk(tree):
        if isinstance(call, gast.Call):
            given = [*call.args, *(k.value for k in call.keywords)]
            if any(hasattr(a, "lineno") and place_of(a) == place_of(argument) for a in given):
                return call
    return None


def name(identifier: str, store: bool = False) -> gast.Name:
    """A name in load context or (with `store`) in store context."""
    node = gast.Name.__new__(gast.Name)  # which nothing is made of as often
    node.__dict__.update(id=identifier, ctx=_STORE if store else _LOAD, annotation=None, type_comment=None)
    return node


_STORE, _LOAD = gast.Store(), gast.Load()


def constant(value: Any) -> gast.Constant:
    """A literal; a number of a subclass, as NumPy's doubles are, stands as Python's own, as in the text."""
    own = float if isinstance(value, float) else complex if isinstance(value, complex) else None
    return gast.Constant(value if own is None else own(value), None)


def assign(target: str | gast.AST, value: gast.AST) -> gast.Assign:
    """`target = value`."""
    return gast.Assign([name(target, store=True) if isinstance(target, str) else target], value, None)


def branch(test: gast.AST, body: list[gast.AST], orelse: Iterable[gast.AST] = ()) -> gast.If:
    """`if test: body; else: orelse`."""
    return gast.If(test, body, [*orelse])


def arms(statement: gast.AST) -> list[list[gast.AST]]:
    """The two branches of an `if`; empty for any other statement."""
    return [statement.body, statement.orelse] if isinstance(statement, gast.If) else []


def rewritten(body: list[gast.AST], rewrite: Callable[[gast.AST], list[gast.AST]]) -> list[gast.AST]:
    """A block with each statement replaced by the result of `rewrite`, innermost first."""
    out = []
    for statement in body:
        for inner in blocks(statement):
            inner[:] = rewritten(inner, rewrite)
        out += rewrite(statement)
    return out


def at(origin: gast.AST, *statements: gast.AST) -> list[gast.AST]:
    """Give statements the source position of `origin` (not those in nested blocks)."""
    place = {attribute: value for attribute in _POSITIONS if (value := origin.__dict__.get(attribute, _NONE)) is not _NONE}
    for statement in statements:
        statement.__dict__.update(place)
    return list(statements)


def placed(origin: gast.AST, made: gast.AST) -> Any:
    """Give nodes without position that of `origin`, where such a node has one."""
    for node in nodes(made):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            at(origin, node)
    return made


def place_of(node: gast.AST) -> Place:
    """The identity of a node's source statement: the inlined call, the source, the line and the column."""
    source = id(node.primal) if hasattr(node, "primal") else 0
    return getattr(node, "written_out", 0), source, getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


@functools.lru_cache(maxsize=512)
def _template(text: str) -> tuple[gast.AST, frozenset[str]]:
    module = gast.parse(text)
    for node in gast.walk(module):
        for attribute in _POSITIONS:
            node.__dict__.pop(attribute, None)
    return module, frozenset(n.id for n in gast.walk(module) if isinstance(n, gast.Name))


def statements(text: str, **holes: Hole | list[gast.AST]) -> list[gast.AST]:
    """The statements of `text` with holes filled: a name by a name or an expression, a lone name by statements."""
    module, names = _template(text)
    for hole in holes:
        if hole not in names:
            raise ValueError(f"template {text!r} has no hole {hole}")
    made: list[gast.AST] = substitute(module.body, holes)
    return made


def expression(text: str, **holes: Hole) -> Any:
    """The expression `text` with holes filled."""
    (statement,) = statements(text, **holes)
    return statement.value


def width(node: gast.AST) -> int:
    """About how many columns an expression takes.

    >>> width(expression("x * y + 2.0"))
    11
    """
    return sum(_WIDTHS.get(type(part), _width)(part) for part in nodes(node))


def _width(part: Any) -> int:
    return 2 if isinstance(part, gast.expr) else 0


_WIDTHS: dict[type, Callable[[Any], int]] = {
    gast.Name: lambda part: len(part.id),
    gast.Constant: lambda part: len(repr(part.value)),
    gast.Attribute: lambda part: 1 + len(part.attr),
    gast.BinOp: lambda part: 3,
    gast.UnaryOp: lambda part: 1,
}


def substitute(node: Any, holes: dict[str, Any]) -> Any:
    """A copy of `node` in which the names in `holes` are replaced by names, constants or trees."""

    def put(part: gast.AST) -> Any:
        name = part.value if type(part) is gast.Expr else part
        value = holes.get(name.id, _NONE) if type(name) is gast.Name else _NONE
        if value is _NONE or (type(value) is list) != (name is not part):
            return None
        if isinstance(value, str):
            return gast.Name(value, name.ctx, None, None)
        return clone(value) if isinstance(value, (gast.AST, list)) else constant(value)

    return clone(node, put)


def empty_arguments() -> gast.arguments:
    """The parameters of a function without any."""
    return gast.arguments([], [], None, [], [], None, [])
