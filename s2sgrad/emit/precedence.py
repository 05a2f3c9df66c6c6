"""How tightly each kind of expression binds, and where parentheses are therefore needed.

>>> import gast
>>> product, total, call = (gast.parse(text, mode="eval").body for text in ("a * b", "a + b", "f(a)"))
>>> level_of(total) < level_of(product) < level_of(call) == ATOM
True
>>> level_of(total) < sides(product.op)[0]  # a sum in a product is written in parentheses
True
"""

from __future__ import annotations

from typing import Any

from s2sgrad.emit.literals import literal

# Loosest first.  Nodes that are not listed are atoms and never need parentheses.
_LEVELS = (
    ("NamedExpr",),
    ("Yield", "YieldFrom"),
    ("Tuple",),
    ("IfExp", "Lambda"),
    ("Or",),
    ("And",),
    ("Not",),
    ("Compare",),
    ("BitOr",),
    ("BitXor",),
    ("BitAnd",),
    ("LShift", "RShift"),
    ("Add", "Sub"),
    ("Mult", "MatMult", "Div", "FloorDiv", "Mod"),
    ("UAdd", "USub", "Invert"),
    ("Pow",),
    ("Await",),
    ("Atom",),
)
_LEVEL = {name: level for level, names in enumerate(_LEVELS) for name in names}
NAMED, YIELD, TUPLE, TEST, OR = range(5)
BITOR, SIGN, AWAIT, ATOM = (_LEVEL[name] for name in ("BitOr", "USub", "Await", "Atom"))


def kind(node: Any) -> str:
    """The name of a node's class, which gast and ast share."""
    return type(node).__name__


def level_of(node: Any) -> int:
    """The binding level of a node's text."""
    name = kind(node)
    if name in ("BinOp", "UnaryOp", "BoolOp"):
        return _LEVEL[kind(node.op)]
    if name == "Constant":
        value = node.value
        return SIGN if isinstance(value, int | float) and literal(value)[0] == "-" else ATOM
    return ATOM if name == "Tuple" and not node.elts else _LEVEL.get(name, ATOM)


def sides(op: Any) -> tuple[int, int]:
    """The levels that a binary operator requires of its operands."""
    level = _LEVEL[kind(op)]
    return (AWAIT, SIGN) if kind(op) == "Pow" else (level, level + 1)
