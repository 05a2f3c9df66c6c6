"""Accumulation of outer products: those that a loop of the reverse sweep sums become one matrix product after it.

    for _ in range(n):                        W_bar_columns, W_bar_rows = [], []
        W_bar += np.outer(g, x)               for _ in range(n):
                                      ->          W_bar_columns.append(g)
                                                  W_bar_rows.append(x)
                                              if W_bar_columns:
                                                  W_bar += np.array(W_bar_columns).T @ np.array(W_bar_rows)

Adding one outer product reads and writes the whole matrix, which takes as long as seven matrix-vector products; a matrix
product works in the cache.  The order of a sum does not matter, so the loop may also add other terms, but must not read the
sum.  A section that grows or shrinks with the loop, `W_bar[:, i:]`, is a row with zeros before `i`.

Outer products within one block are combined too.

    A_bar = np.outer(a, b)
    A_bar += np.outer(c, d)           ->      A_bar = np.array([a, c]).T @ np.array([b, d])

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(W, x, n):
...     for _ in range(n):
...         x = np.tanh(W @ x)
...     return x
... ''', "accumulation", np.ones((3, 3)), np.ones(3), 3))
+     W_bar_columns, W_bar_rows = [], []
-         W_bar += np.outer(t2, x)
+         W_bar_columns.append(t2)
+         W_bar_rows.append(x)
+     if W_bar_columns:
+         W_bar += np.array(W_bar_columns).T @ np.array(W_bar_rows)
"""

from __future__ import annotations

from dataclasses import dataclass

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
from s2sgrad.analysis.kinds import Array
from s2sgrad.cleanup import kept_states, shared_lists
from s2sgrad.flow.graph import binds
from s2sgrad.ir import notes
from s2sgrad.ir.forms import bound_name, minus, negated, parts_of
from s2sgrad.ir.quote import LOOPS, assign, blocks, clone, expression, name, nodes, rewritten, statements
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import Unit, sweep_of
from s2sgrad.memory.sources import is_fresh
from s2sgrad.memory.writes import in_place


@dataclass
class _Term:
    """One outer product: `sign` times `column` times `row`, both (n,) arrays."""

    sign: int
    column: gast.AST
    row: gast.AST

    def transposed(self) -> _Term:
        """The transposed outer product."""
        return _Term(self.sign, self.row, self.column)

    def signed(self) -> gast.AST:
        """The column with the sign."""
        return self.column if self.sign > 0 else minus(self.column)

    def times(self, op: gast.operator, factor: gast.AST) -> _Term:
        """The outer product multiplied or divided by a number."""
        return _Term(self.sign, gast.BinOp(self.column, op, factor), self.row)


_Sum = dict[int, tuple[list[_Term], gast.AST | None]]  # by statement: its outer products, and other terms


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Move the sums of outer products out of loops."""
    _Products(unit).block(tree.body)
    return tree


class _Products:
    """Rewrites one function."""

    def __init__(self, unit: Unit) -> None:
        self.unit, self.kinds, self.shapes = unit, unit.kinds, Shapes(unit, unit.kinds)

    def block(self, body: list[gast.AST]) -> None:
        """Rewrite a block and nested ones, for each sum at the outermost loop that only adds to it."""
        out: list[gast.AST] = []
        for statement in body:
            if not isinstance(statement, LOOPS):
                for inner in blocks(statement):
                    self.block(inner)
                out.append(statement)
                continue
            few = kept_states.found(effects.walk([statement]))  # checkpointing limits memory
            summed = self.sums(statement) if sweep_of(statement) == "reverse" and not few else {}
            before, after = [], []
            for bar, found in summed.items():
                made, product = self.collected(statement, bar, found)
                before += made
                after += product
            if len(summed) > 1:
                before = shared_lists.joined(self.unit, statement, before, after)
            for inner in blocks(statement):
                self.block(inner)
            out += [*before, statement, *after]
        body[:] = self.joined(out)

    # --- recognition ---

    def sums(self, loop: gast.AST) -> dict[str, _Sum]:
        """The adjoints that a loop only adds to, with outer products among the terms."""
        out: dict[str, _Sum] = {}
        added: set[str] = set()
        spoiled: set[str] = set()
        for statement in effects.walk([loop]):
            section = _accumulated(statement)
            bar = None if section is None else effects.base(section)
            if bar in self.unit.derivative.bars and isinstance(self.kinds.get(bar), Array):
                terms, rest = self.split(statement.value, 1 if isinstance(statement.op, gast.Add) else -1)
                if terms and self.is_placed(section, loop):
                    out.setdefault(bar, {})[id(statement)] = terms, rest
            added |= set() if bar is None else {bar}
            spoiled |= _touched(statement, bar)
        shared = self.unit.memory.with_memory_of
        return {bar: found for bar, found in out.items() if not shared(bar) & (spoiled | (added - {bar}))}

    def is_placed(self, section: gast.AST, loop: gast.AST) -> bool:
        """Whether a section is the whole matrix, or most of it: one bound of an axis varies with the loop."""
        if isinstance(section, gast.Name):
            return True
        kind = self.kinds[effects.base(section)]
        parts = parts_of(section.slice)
        if not isinstance(section.value, gast.Name) or kind.dtype != "float64" or kind.rank != 2 or len(parts) > 2:
            return False
        moving = effects.written([loop])
        return all(isinstance(p, gast.Slice) and self.is_wide(p, moving) for p in parts)

    def is_wide(self, part: gast.Slice, moving: set[str]) -> bool:
        """Whether a slice has at most one bound, which varies with the loop."""
        bounds = [b for b in (part.lower, part.upper) if b is not None]
        if part.step is not None or len(bounds) > 1:
            return False
        return all(effects.reads(b) & moving for b in bounds)

    def split(self, value: gast.AST, sign: int) -> tuple[list[_Term], gast.AST | None]:
        """The outer products in a sum, and the remaining terms."""
        if isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Add, gast.Sub)):
            left, left_rest = self.split(value.left, sign)
            right, right_rest = self.split(value.right, sign if isinstance(value.op, gast.Add) else -sign)
            if right_rest is None:
                return left + right, left_rest
            if left_rest is None:
                negative = isinstance(value.op, gast.Sub)
                return left + right, minus(right_rest) if negative else right_rest
            return left + right, gast.BinOp(left_rest, value.op, right_rest)
        term = self.term(value, sign)
        return ([], value) if term is None else ([term], None)

    def term(self, value: gast.AST, sign: int) -> _Term | None:
        """An outer product, possibly transposed or scaled by a number; None for any other expression."""
        if (opposite := negated(value)) is not None:
            return self.term(opposite, -sign)
        if isinstance(value, gast.Attribute) and value.attr == "T":
            inner = self.term(value.value, sign)
            return None if inner is None else inner.transposed()
        if isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Mult, gast.Div)):
            if self.shapes.is_number(value.right):
                inner = self.term(value.left, sign)
                return None if inner is None else inner.times(value.op, value.right)
            scaled = isinstance(value.op, gast.Mult) and self.shapes.is_number(value.left)
            inner = self.term(value.right, sign) if scaled else None
            return None if inner is None else inner.times(value.op, value.left)
        outer = self.unit.called(value) is np.outer and len(value.args) == 2 and not value.keywords
        return _Term(sign, *value.args) if outer else None

    # --- within one block ---

    def joined(self, body: list[gast.AST]) -> list[gast.AST]:
        """Combine consecutive outer products of a block into one matrix product."""
        gone: set[int] = set()
        for k, first in enumerate(body):
            bar = _bound_to(first)
            kind = self.kinds.get(bar) if bar in self.unit.derivative.bars and sweep_of(first) == "reverse" else None
            if bar is None or id(first) in gone or not isinstance(kind, Array) or kind.dtype != "float64":
                continue
            terms, others = self.following(body, k, bar)
            if not others:
                continue
            columns = gast.List([self.flat(term.signed()) for term in terms], gast.Load())
            rows = gast.List([self.flat(term.row) for term in terms], gast.Load())
            target, value = name(bar, store=True), self.product(columns, rows)
            plain = isinstance(first, gast.Assign)
            made = assign(target, value) if plain else gast.AugAssign(target, gast.Add(), value)
            made.origin = others[-1].origin
            body[body.index(others[-1])] = made
            gone |= {id(first), *map(id, others)}
        return [s for s in body if id(s) not in gone]

    def following(self, body: list[gast.AST], k: int, bar: str) -> tuple[list[_Term], list[gast.AST]]:
        """The outer products of a statement and of later ones that add to the same adjoint, and these later statements."""
        terms, rest = self.summands(body[k])
        others: list[gast.AST] = []
        read = effects.reads(body[k]) - {bar}
        for statement in body[k + 1 :] if rest is None and terms else ():
            more, rest = self.summands(statement) if _accumulated(statement) is not None else ([], None)
            if more and rest is None and _bound_to(statement) == bar and bar not in _touched(statement, bar):
                terms = terms + more
                others.append(statement)
                read |= effects.reads(statement) - {bar}
                continue
            inside = [*effects.walk([statement])]
            touched = set().union(*(effects.reads(s) | self.unit.changed(s) for s in inside))
            if touched & self.unit.memory.with_memory_of(bar) or read & set().union(*map(self.unit.changed, inside)):
                break
        return terms, others

    def summands(self, statement: gast.AST) -> tuple[list[_Term], gast.AST | None]:
        """The outer products in the value that a statement binds or adds, and its other terms."""
        minus = isinstance(statement, gast.AugAssign) and isinstance(statement.op, gast.Sub)
        return self.split(statement.value, -1 if minus else 1)

    # --- generation ---

    def collected(self, loop: gast.AST, bar: str, found: _Sum) -> tuple[list[gast.AST], list[gast.AST]]:
        """The statements before and after the loop; inside, the factors are appended to two lists."""
        base = self.unit.bases.get(bar, bar)
        columns, rows = self.unit.local(f"{base}_columns"), self.unit.local(f"{base}_rows")
        changed = {b for s in effects.walk([loop]) if (b := in_place(self.unit, s, self.kinds)) is not None}
        every = changed | set().union(*(self.unit.memory.with_memory_of(b) for b in changed))
        first = next(s.origin for s in effects.walk([loop]) if id(s) in found)

        def kept(statement: gast.AST) -> list[gast.AST]:
            if id(statement) not in found:
                return [statement]
            terms, rest = found[id(statement)]
            changed = every - self.settled(loop.body, statement, every)
            new = [s for term in terms for s in self.kept(bar, columns, rows, term, statement.target, changed)]
            if rest is not None:
                statement.value = rest
                new.append(statement)
            for made in new:
                made.origin = statement.origin
            return new

        loop.body = rewritten(loop.body, kept)
        lists = gast.Tuple([gast.List([], gast.Load()), gast.List([], gast.Load())], gast.Load())
        before = [assign(gast.Tuple([name(columns, store=True), name(rows, store=True)], gast.Store()), lists)]
        product = self.product(name(columns), name(rows))
        after = statements("if columns: bar += product", columns=columns, bar=bar, product=product)  # no trip, no matrix
        before[0].origin, after[0].origin, after[0].body[0].origin = loop.origin, first, first
        return before, after

    def product(self, columns: gast.AST, rows: gast.AST) -> gast.AST:
        """The sum of the outer products of two lists of vectors."""
        factors = [call(self.unit, "array", np.array, n) for n in (columns, rows)]
        return gast.BinOp(gast.Attribute(factors[0], "T", gast.Load()), gast.MatMult(), factors[1])

    def kept(self, bar: str, columns: str, rows: str, term: _Term, target: gast.AST, changed: set[str]) -> list[gast.AST]:
        """The statements that append the factors of one term."""
        column = term.signed()
        parts: list[gast.AST | None] = [None, None]
        if isinstance(target, gast.Subscript):
            given = parts_of(target.slice)
            parts[: len(given)] = [None if effects.is_whole(p) else p for p in given]
        out: list[gast.AST] = []
        for axis, (stack, factor, part) in enumerate(zip((columns, rows), (column, term.row), parts, strict=True)):
            if part is None:
                kept = self.stable(factor, changed)
            else:
                kept = name(holder := self.unit.temp())
                self.kinds[holder] = Array("float64", (None,))
                size = expression(f"x.shape[{axis}]", x=bar)
                section = gast.Subscript(name(holder), clone(part), gast.Store())
                out += [assign(holder, call(self.unit, "zeros", np.zeros, size)), assign(section, factor)]
            out.append(gast.Expr(expression("s.append(x)", s=stack, x=kept)))
        return out

    def settled(self, trip: list[gast.AST], statement: gast.AST, changed: set[str]) -> set[str]:
        """Those names that each trip binds to new memory, which no later statement of the trip changes."""
        places = {n: k for k, s in enumerate(trip) if (n := bound_name(s)) is not None}
        last = next((k for k, s in enumerate(trip) if s is statement), -1)
        out: set[str] = set()
        for n, k in places.items():
            new = n in changed and k < last and is_fresh(self.unit, trip[k].value)
            if new and self.unit.memory.with_memory_of(n) == {n}:
                around, within = effects.walk([*trip[:k], *trip[last:]]), effects.walk(trip[k + 1 : last])
                stays = not any(n in self.unit.changed(s) for s in around)
                out |= {n} if stays and not any(n in binds(s) for s in within) else set()
        return out

    def flat(self, factor: gast.AST) -> gast.AST:
        """A factor of an outer product as a vector, of shape (n,)."""
        return factor if self.shapes.rank(factor) == 1 else call(self.unit, "ravel", np.ravel, factor)

    def stable(self, factor: gast.AST, changed: set[str]) -> gast.AST:
        """A vector that later statements of the loop do not change."""
        factor = self.flat(factor)
        if is_fresh(self.unit, factor) or not effects.reads(factor) & changed:
            return factor
        return expression("x.copy()", x=factor)


def _bound_to(statement: gast.AST) -> str | None:
    """The name that a statement binds, or adds to as a whole."""
    target = statement.targets[0] if isinstance(statement, gast.Assign) else _accumulated(statement)
    return target.id if isinstance(target, gast.Name) else None


def _touched(statement: gast.AST, bar: str | None) -> set[str]:
    """The names that a statement reads or writes, except the one that it only adds to."""
    if bar is None:
        return effects.reads(statement) | effects.writes(statement)
    read = [n for n in nodes(statement.target) if isinstance(n, gast.Name) and n.id != bar]
    return {n.id for n in (*effects.loads(statement.value), *read)}


def _accumulated(statement: gast.AST) -> gast.AST | None:
    """The target of `x += e`, `x -= e`, `x[i] += e` or `x[i] -= e`; None for any other statement."""
    if not isinstance(statement, gast.AugAssign) or not isinstance(statement.op, (gast.Add, gast.Sub)):
        return None
    plain = isinstance(statement.target, gast.Name) or (
        isinstance(statement.target, gast.Subscript) and isinstance(statement.target.value, gast.Name)
    )
    return statement.target if plain and not notes.REBINDS.of(statement) else None
