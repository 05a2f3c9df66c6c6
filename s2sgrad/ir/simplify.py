"""Algebraic simplification of expressions.

    1.0 * e   ->   e        a + -b   ->   a - b        g * 3 * (2 * x)   ->   g * 6 * x        x + x   ->   2.0 * x

    a - t * 2.0 - b - t * 2.0   ->   a - 4.0 * t - b

>>> import gast
>>> from s2sgrad import emit
>>> emit.expression(simplified(gast.parse("y * 1.0 * (2 * x ** (2 - 1)) + -z").body[0].value))
'y * (2 * x) - z'
>>> emit.expression(simplified(gast.parse("a - t * 2.0 - b - t * 2.0 + -(u * 3.0)").body[0].value))
'a - 4.0 * t - b - u * 3.0'
"""

from __future__ import annotations

import operator

import gast

from s2sgrad.ir.forms import minus, negated, number
from s2sgrad.ir.quote import constant

_FOLDED = {gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul}


_ARITHMETIC = (gast.BinOp, gast.UnaryOp, gast.Compare)


def simplified(node: gast.AST, identities: bool = True) -> gast.AST:
    """An equal expression, simplified bottom-up.

    `x * 1.0` is new memory and `x` is not: an expression that is not an operand of arithmetic keeps its kind, as does the
    root if `identities` is False.
    """
    for field, value in node.__dict__.items():
        inner = isinstance(node, _ARITHMETIC)
        if isinstance(value, gast.expr):
            node.__dict__[field] = simplified(value, inner)
        elif isinstance(value, list):
            node.__dict__[field] = [simplified(v, inner) if isinstance(v, gast.expr) else v for v in value]
    new = node
    if isinstance(node, gast.Subscript):
        return _item(node)
    if isinstance(node, gast.BinOp):
        new = _binary(node)
    elif (operand := negated(node)) is not None:
        new = _negated(operand) or node
    return new if identities or isinstance(new, (*_ARITHMETIC, gast.Constant)) else node


def _item(node: gast.Subscript) -> gast.AST:
    """`e` for `(0.0, e)[1]`, if the other items are names and constants."""
    items = node.value.elts if isinstance(node.value, gast.Tuple) else []
    place = number(node.slice)
    if type(place) is not int or not 0 <= place < len(items):
        return node
    others = [item for k, item in enumerate(items) if k != place]
    return items[place] if all(isinstance(item, (gast.Name, gast.Constant)) for item in others) else node


def same(a: gast.AST, b: gast.AST) -> bool:
    """Whether two expressions are equal and contain no calls."""
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


def _commuted(a: gast.AST, b: gast.AST) -> bool:
    """Whether these are `u * v` and `v * u`."""
    products = all(isinstance(e, gast.BinOp) and isinstance(e.op, gast.Mult) for e in (a, b))
    return products and same(a.left, b.right) and same(a.right, b.left)


def _twice(node: gast.AST) -> gast.AST:
    """`2.0 * node`, with the factor first in a product (exact: 2 is a power of two); of a constant, its double.

    >>> from s2sgrad import emit
    >>> emit.expression(simplified(gast.parse("k + 1 + 1").body[0].value))
    'k + 2'
    """
    if (value := number(node)) is not None:
        return constant(value + value)
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div)):
        return gast.BinOp(_twice(node.left), node.op, node.right)
    return gast.BinOp(constant(2.0), gast.Mult(), node)


def _negated(node: gast.AST) -> gast.AST | None:
    """`-node` where that is shorter; None otherwise."""
    value = number(node)
    return negated(node) if value is None else constant(-value)


def _gathered(node: gast.BinOp) -> gast.AST | None:
    """`g * 6 * x` for `g * 3 * (2 * x)`, and `6 * x * y` for `3 * (2 * x * y)`: integer factors of a product are one."""
    left, right = node.left, node.right
    if type(number(left)) is int:
        return _multiplied(right, left.value)
    if not (isinstance(left, gast.BinOp) and isinstance(left.op, gast.Mult) and type(number(left.right)) is int):
        return None
    if isinstance(right, gast.BinOp) and isinstance(right.op, gast.Mult) and type(number(right.left)) is int:
        factor = constant(left.right.value * right.left.value)
        return gast.BinOp(gast.BinOp(left.left, gast.Mult(), factor), gast.Mult(), right.right)
    return None


def _multiplied(node: gast.AST, factor: int) -> gast.AST | None:
    """A product that begins with an integer, times another one; None for others."""
    if not (isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult)):
        return None
    first = number(node.left)
    leading = constant(first * factor) if type(first) is int else _multiplied(node.left, factor)
    return None if leading is None else gast.BinOp(leading, gast.Mult(), node.right)


def _minus(node: gast.AST) -> gast.AST:
    return _negated(node) or minus(node)


def _terms(node: gast.AST) -> list[tuple[int, gast.AST]]:
    """The terms of a sum with their signs."""
    terms: list[tuple[int, gast.AST]] = []
    while isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
        terms.append((1 if isinstance(node.op, gast.Add) else -1, node.right))
        node = node.left
    return [(1, node), *reversed(terms)]


def _scaled(term: gast.AST) -> tuple[float | int, gast.AST]:
    """A term as a number times the rest."""
    if (plain := negated(term)) is not None:
        factor, rest = _scaled(plain)
        return -factor, rest
    if isinstance(term, gast.BinOp) and isinstance(term.op, gast.Mult):
        for side, rest in ((term.right, term.left), (term.left, term.right)):
            if (value := number(side)) is not None:
                return value, rest
    return 1, term


def _like_terms(node: gast.BinOp) -> gast.AST | None:
    """A sum whose last term is joined with one like it; None where there is none, or where nothing would be left of both:
    infinity minus infinity is not 0."""
    *before, (sign, last) = _terms(node)
    factor, rest = _scaled(last)
    for place, (other_sign, other) in enumerate(before):
        its_factor, its_rest = _scaled(other)
        total = other_sign * its_factor + sign * factor
        if not (same(rest, its_rest) or _commuted(rest, its_rest)) or total in (0, 1, -1) or number(rest) is not None:
            continue
        size = constant(float(abs(total)))
        joined = gast.BinOp(size, gast.Mult(), rest)
        out: gast.AST | None = None
        for k, (its_sign, term) in enumerate(before):
            plus, value = (total > 0, joined) if k == place else (its_sign > 0, term)
            if out is None:
                out = value if plus else gast.BinOp(constant(-size.value), gast.Mult(), rest)
            else:
                out = gast.BinOp(out, gast.Add() if plus else gast.Sub(), value)
        return out
    return None


def _binary(node: gast.BinOp) -> gast.AST:
    left, right = number(node.left), number(node.right)
    if left is not None and right is not None and type(node.op) in _FOLDED:
        return constant(_FOLDED[type(node.op)](left, right))
    simplify = _BY_OPERATOR.get(type(node.op))
    return node if simplify is None else simplify(node) or node


def _product(node: gast.BinOp) -> gast.AST | None:
    """`1 * e`, `-1 * e`, `-a * b`."""
    gathered = _gathered(node)
    if gathered is not None:
        return gathered
    for factor, other in ((node.left, node.right), (node.right, node.left)):
        if number(factor) == 1:
            return other
        if number(factor) == -1:
            return _minus(other)
    inner = _without_sign(node)
    return None if inner is None else _minus(inner)


def _matrix_product(node: gast.BinOp) -> gast.AST | None:
    """`-a @ b` as `-(a @ b)`."""
    inner = _without_sign(node)
    return None if inner is None else minus(inner)


def _without_sign(node: gast.BinOp) -> gast.AST | None:
    """The product without the sign of its first negated factor; None if there is none."""
    if (plain := negated(node.left)) is not None:
        return _binary(gast.BinOp(plain, node.op, node.right))
    if (plain := negated(node.right)) is not None:
        return _binary(gast.BinOp(node.left, node.op, plain))
    return None


def _quotient(node: gast.BinOp) -> gast.AST | None:
    """`e / 1`, `-a / b`."""
    if number(node.right) == 1:
        return node.left
    plain = negated(node.left)
    return None if plain is None else minus(gast.BinOp(plain, gast.Div(), node.right))


def _power(node: gast.BinOp) -> gast.AST | None:
    return node.left if number(node.right) == 1 else None


def _sum(node: gast.BinOp) -> gast.AST | None:
    """`e + 0`, `a + a`, `a * b + b * a`, `a + -b`, `-a + b`."""
    if number(node.right) == 0:
        return node.left
    if number(node.left) == 0:
        return node.right
    if same(node.left, node.right) or _commuted(node.left, node.right):
        return _twice(node.right)
    before = node.left
    if isinstance(before, gast.BinOp) and isinstance(before.op, gast.Add) and same(before.right, node.right):
        return gast.BinOp(before.left, gast.Add(), _twice(node.right))
    if (joined := _like_terms(node)) is not None:
        return joined
    if (plain := negated(node.right)) is not None:
        return gast.BinOp(node.left, gast.Sub(), plain)
    plain = negated(node.left)
    return None if plain is None else gast.BinOp(node.right, gast.Sub(), plain)


def _difference(node: gast.BinOp) -> gast.AST | None:
    """`e - 0`, `a - -b`."""
    if number(node.right) == 0:
        return node.left
    if (joined := _like_terms(node)) is not None:
        return joined
    plain = negated(node.right)
    return None if plain is None else gast.BinOp(node.left, gast.Add(), plain)


_BY_OPERATOR = {
    gast.Mult: _product, gast.MatMult: _matrix_product, gast.Div: _quotient, gast.Pow: _power, gast.Add: _sum,
    gast.Sub: _difference,
}  # fmt: skip
