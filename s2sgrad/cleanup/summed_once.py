"""The cotangent of a product whose sizes are not known is summed for its factors, and not before for the product.

    t = a * b
    t_bar = unbroadcast(y_bar, t)
    a_bar = unbroadcast(t_bar * b, a)      ->      a_bar = unbroadcast(y_bar * b, a)

Along an axis that the first sum removes, both factors are one, so that it does not matter which is first.  An axis of the
product is one of `a`, or it is in `y_bar * b`: nothing is repeated that was to be summed.  Of a sum this is not so.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(z, n, c):
...     i, o = np.sin(z[:n]), np.cos(z[2 * n:])
...     y = c + i * o
...     return np.sum(y * y)
... ''', "summed_once", np.ones(6), 2, np.ones(2)))
-     t4_2 = i * o
-     t6 = unbroadcast(y_bar, t4_2)
-     i_bar = unbroadcast(t6 * o, i)
+     i_bar = unbroadcast(y_bar * o, i)
-     o_bar = unbroadcast(t6 * i, o)
+     o_bar = unbroadcast(y_bar * i, o)
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array
from s2sgrad.cleanup import deadcode
from s2sgrad.flow.counts import read_counts, write_counts
from s2sgrad.ir.forms import bound_name, target_name
from s2sgrad.ir.quote import NAMES, nested, nodes, nodes_of
from s2sgrad.ir.unit import Unit


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Sum the cotangents of factors alone."""
    whole = {id(s) for s in effects.walk(tree.body) if _is_summed(unit, s)}
    if not whole:
        return tree
    reads, writes = read_counts(tree.body), write_counts(tree.body)
    changed = False
    for block in nested(tree.body):
        for place, statement in enumerate(block):
            if id(statement) in whole and writes[target_name(statement)] == 1:
                changed = _is_left_out(unit, block, place, reads) or changed
    return deadcode.run(unit, tree) if changed else tree


def _is_summed(unit: Unit, statement: gast.AST) -> bool:
    """Whether a statement binds a name to `unbroadcast(g, x)` of names."""
    if bound_name(statement) is None or unit.called(statement.value) is not runtime.unbroadcast:
        return False
    return all(isinstance(a, gast.Name) for a in statement.value.args)


def _is_left_out(unit: Unit, block: list[gast.AST], place: int, reads: Counter[str]) -> bool:
    """Let the readers of a summed cotangent, all in this block, read the one that is not summed, if they sum theirs."""
    bar, (given, product) = target_name(block[place]), [a.id for a in block[place].value.args]
    made = next((k for k in range(place - 1, -1, -1) if bound_name(block[k]) == product), None)
    if made is None or not _is_product(block[made].value) or not isinstance(unit.kinds.get(given), Array):
        return False  # a number is spread over the product, once for both factors
    factors = [block[made].value.left.id, block[made].value.right.id]
    if product in factors:
        return False
    found: list[gast.Name] = []
    last = place
    for k in range(place + 1, len(block)):
        own = _sums(unit, block[k], bar, product, factors)
        found += own
        last = k if own else last
    between = [*block[made + 1 : place], *block[place:last]]
    if len(found) != reads[bar] or not found or any(unit.changed(s) & {given, product, *factors} for s in between):
        return False
    for node in found:
        node.id = given
    unit.rewritten(*block[place:])
    return True


def _is_product(value: gast.AST) -> bool:
    """Whether a value is the product or the quotient of two names."""
    plain = isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Mult, gast.Div))
    return plain and isinstance(value.left, gast.Name) and isinstance(value.right, gast.Name)


def _sums(unit: Unit, statement: gast.AST, bar: str, product: str, factors: list[str]) -> list[gast.Name]:
    """The reads of the cotangent `bar` of a product in sums of such terms for its factors."""
    out: list[gast.Name] = []
    for node in nodes(effects.header(statement)):
        if unit.called(node) is runtime.unbroadcast and isinstance(node.args[1], gast.Name) and node.args[1].id in factors:
            above, names = _numerator(node.args[0]), {n.id for n in nodes_of(node.args[0], NAMES)}
            own = [n for n in above if n.id == bar]
            whole = product in names or {node.args[1].id, *names} >= {*factors}
            if len(own) == 1 and whole and names <= {bar, product, *factors}:
                out += own
    return out


def _numerator(node: gast.AST) -> list[gast.Name]:
    """The names that a product multiplies; none of what is no product, or divides by more than a name."""
    if isinstance(node, gast.Name):
        return [node]
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return _numerator(node.operand)
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        left, right = _numerator(node.left), _numerator(node.right)
        return [*left, *right] if left and right else []
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Div) and isinstance(node.right, gast.Name):
        return _numerator(node.left)
    return []
