"""Expressions without arithmetic that a person would not write.

    1.0 * e   ->   e        a + -b   ->   a - b        g * 3 * (2 * x)   ->   g * 6 * x        x + x   ->   2.0 * x

>>> import gast
>>> from s2sgrad import emit
>>> emit.expression(simplified(gast.parse("y * 1.0 * (2 * x ** (2 - 1)) + -z").body[0].value))
'y * (2 * x) - z'
"""

from __future__ import annotations

import operator

import gast

from s2sgrad.ir.quote import constant

_FOLDED = {gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul}


_ARITHMETIC = (gast.BinOp, gast.UnaryOp, gast.Compare)


def simplified(node: gast.AST, identities: bool = True) -> gast.AST:
    """An equal expression, simplified from the leaves up.

    `x * 1.0` is new memory and `x` is not: what is not an operand of arithmetic stays what it is, and so does the whole
    where `identities` is False.
    """
    for field, value in node.__dict__.items():
        inner = isinstance(node, _ARITHMETIC)
        if isinstance(value, gast.expr):
            node.__dict__[field] = simplified(value, inner)
        elif isinstance(value, list):
            node.__dict__[field] = [simplified(v, inner) if isinstance(v, gast.expr) else v for v in value]
    new = node
    if isinstance(node, gast.BinOp):
        new = _binary(node)
    elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        new = _negated(node.operand) or node
    return new if identities or isinstance(new, (*_ARITHMETIC, gast.Constant)) else node


def _number(node: gast.AST) -> float | int | None:
    if isinstance(node, gast.Constant) and type(node.value) in (int, float):
        return node.value
    return None


def same(a: gast.AST, b: gast.AST) -> bool:
    """Whether two expressions without calls are the same."""
    if type(a) is not type(b) or isinstance(a, gast.Call):
        return False
    for field in a._fields:
        if field == "ctx":
            continue
        m, n = getattr(a, field, None), getattr(b, field, None)
        if isinstance(m, gast.AST) and isinstance(n, gast.AST):
            if not same(m, n):
                return False
        elif isinstance(m, list) and isinstance(n, list):
            if len(m) != len(n) or not all(same(p, q) for p, q in zip(m, n, strict=True)):
                return False
        elif m != n:
            return False
    return True


def _twice(node: gast.AST) -> gast.AST:
    """`2.0 * node`, the factor in front of a product (exact: 2 is a power of two)."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div)):
        return gast.BinOp(_twice(node.left), node.op, node.right)
    return gast.BinOp(constant(2.0), gast.Mult(), node)


def _negated(node: gast.AST) -> gast.AST | None:
    """`-node` where it is shorter than that."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return node.operand
    value = _number(node)
    return None if value is None else constant(-value)


def _gathered(node: gast.BinOp) -> gast.AST | None:
    """`g * 3 * (2 * x)` as `g * 6 * x`: whole numbers of one product are multiplied (exact)."""
    left, right = node.left, node.right
    if not (isinstance(left, gast.BinOp) and isinstance(left.op, gast.Mult) and type(_number(left.right)) is int):
        return None
    if isinstance(right, gast.BinOp) and isinstance(right.op, gast.Mult) and type(_number(right.left)) is int:
        factor = constant(left.right.value * right.left.value)
        return gast.BinOp(gast.BinOp(left.left, gast.Mult(), factor), gast.Mult(), right.right)
    return None


def _binary(node: gast.BinOp) -> gast.AST:
    left, right = _number(node.left), _number(node.right)
    if left is not None and right is not None and type(node.op) in _FOLDED:
        return constant(_FOLDED[type(node.op)](left, right))
    if isinstance(node.op, gast.Mult):
        gathered = _gathered(node)
        if gathered is not None:
            return gathered
        for value, other in ((left, node.right), (right, node.left)):
            if value == 1:
                return other
            if value == -1:
                return _negated(other) or gast.UnaryOp(gast.USub(), other)
        for side in ("left", "right"):
            part = getattr(node, side)
            if isinstance(part, gast.UnaryOp) and isinstance(part.op, gast.USub):
                setattr(node, side, part.operand)
                inner = _binary(node)
                return _negated(inner) or gast.UnaryOp(gast.USub(), inner)
    elif isinstance(node.op, gast.MatMult):
        for side in ("left", "right"):
            part = getattr(node, side)
            if isinstance(part, gast.UnaryOp) and isinstance(part.op, gast.USub):
                setattr(node, side, part.operand)
                return gast.UnaryOp(gast.USub(), _binary(node))
    elif isinstance(node.op, gast.Div):
        if right == 1:
            return node.left
        if isinstance(node.left, gast.UnaryOp) and isinstance(node.left.op, gast.USub):
            inner = gast.BinOp(node.left.operand, gast.Div(), node.right)
            return gast.UnaryOp(gast.USub(), inner)
    elif isinstance(node.op, gast.Pow):
        if right == 1:
            return node.left
    elif isinstance(node.op, (gast.Add, gast.Sub)):
        if right == 0:
            return node.left
        if left == 0 and isinstance(node.op, gast.Add):
            return node.right
        if isinstance(node.op, gast.Add) and same(node.left, node.right):
            return _twice(node.left)
        before = node.left
        if isinstance(node.op, gast.Add) and isinstance(before, gast.BinOp) and isinstance(before.op, gast.Add):
            if same(before.right, node.right):
                return gast.BinOp(before.left, gast.Add(), _twice(node.right))
        if isinstance(node.right, gast.UnaryOp) and isinstance(node.right.op, gast.USub):
            flipped = gast.Sub() if isinstance(node.op, gast.Add) else gast.Add()
            return gast.BinOp(node.left, flipped, node.right.operand)
        if isinstance(node.op, gast.Add) and isinstance(node.left, gast.UnaryOp) and isinstance(node.left.op, gast.USub):
            return gast.BinOp(node.right, gast.Sub(), node.left.operand)
    return node
