"""Vectorization: loops of the reverse sweep whose trips are independent become array operations.

    for j in reversed(range(i, n)):                      t1 = -a_bar[i, i:]
        t1 = -a_bar[i, j]                         ->     a_bar[i, :i] += a[:i, i:] @ t1
        a_bar[i, :i] += t1 * a[:i, j]                    a_bar[:i, i:] += np.outer(a[i, :i], t1)
        a_bar[:i, j] += t1 * a[i, :i]

Pure accumulation may be reordered.  What a trip reads or overwrites must be disjoint from what other trips write: it moves
with the loop along the same axis, or is elsewhere (see `regions.disjointness`).  The forward sweep stays as the user wrote
it.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(L, b):
...     x = b.copy()
...     for i in range(len(b)):
...         for j in range(i):
...             x[i] -= L[i, j] * x[j]
...     return x
... ''', "vectorize", np.ones((3, 3)), np.ones(3)))
-         for j3 in reversed(range(i2)):
-             t8 = x_bar2[i2]
+         t8 = x_bar2[i2]
-             L_bar[i2, j3] -= t8 * x[j3]
+         L_bar[i2, :i2] -= t8 * x[:i2]
-             x_bar2[j3] -= t8 * L[i2, j3]
+         x_bar2[:i2] -= t8 * L[i2, :i2]
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import Any, TypeGuard

import gast
import numpy as np

from s2sgrad.analysis import effects
from s2sgrad.analysis.affine import Form
from s2sgrad.analysis.kinds import Array, Kind, Number, kind_of
from s2sgrad.analysis.sizes import Size
from s2sgrad.cleanup.batching import FIRST, Batches, Factor, Product, Refused
from s2sgrad.flow.graph import binds
from s2sgrad.flow.occurrences import Occurrences
from s2sgrad.ir import notes
from s2sgrad.ir.forms import everything, parts_of, popped, whole_number
from s2sgrad.ir.quote import assign, blocks, clone, constant, expression, mentioned, name, nodes, statements, substitute
from s2sgrad.ir.reach import call as call_
from s2sgrad.ir.simplify import same
from s2sgrad.ir.unit import Unit, parameters, sweep_of
from s2sgrad.memory.sources import is_fresh
from s2sgrad.memory.writes import in_place
from s2sgrad.regions.bounds import Bounds
from s2sgrad.regions.disjointness import Indices
from s2sgrad.regions.loop_dependence import Touched
from s2sgrad.regions.loops import least_of, limits_of, range_of
from s2sgrad.regions.trip_counts import Sizes

_SUMS = (gast.Add, gast.Sub)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Vectorize such loops, innermost first."""
    if any(isinstance(s, gast.For) and sweep_of(s) == "reverse" for s in effects.walk(tree.body)):
        _Vectorizer(unit, tree).block(tree.body, [])
    return tree


class _Vectorizer:
    """Vectorizes the loops of one function."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit, self.kinds, self.tree = unit, unit.kinds, tree
        self.indices = Indices(unit, tree.body, unit.kinds)
        self.sizes = Sizes(unit, tree)
        loops = [s for s in effects.walk(tree.body) if isinstance(s, gast.For)]
        self.forward = {s.origin.line for s in loops if sweep_of(s) == "forward"}
        self.places = Occurrences(tree)

    def block(self, body: list[gast.AST], around: list[gast.For]) -> None:
        """Vectorize the loops of a block, which is inside of the loops `around`."""
        replaced: list[tuple[gast.For, list[gast.AST]]] = []
        for statement in body:
            inside = [*around, statement] if isinstance(statement, gast.For) else around
            for inner in blocks(statement):
                self.block(inner, inside)
            if isinstance(statement, gast.For) and sweep_of(statement) == "reverse":
                with contextlib.suppress(Refused):
                    replaced.append((statement, _Loop(self, statement, around).made()))
        for loop, made in replaced:
            self.places.replace(loop, made)


class _Loop:
    """One loop without nested loops."""

    def __init__(self, outer: _Vectorizer, loop: gast.For, around: list[gast.For]) -> None:
        self.all, self.loop = outer, loop
        self.unit, self.kinds = outer.unit, outer.kinds
        simple = all(isinstance(s, (gast.Assign, gast.AugAssign)) for s in loop.body)
        limits = limits_of(self.unit, loop)
        if not simple or loop.orelse or limits is None:
            raise Refused
        self.bounds = Bounds(self.unit, outer.sizes, around)
        self.variable = loop.target.id
        self.start, self.stop = limits
        self.batches = Batches(self.unit, self.variable, self.section, self.popped)
        self.guarded = False  # whether the statements must not run without a trip
        self.shown: set[str] = set()  # variables of one trip that the forward sweep has too
        self.touched = Touched(self.unit, outer.indices, loop, around)
        self.vectors: dict[str, Array] = {}
        self.changed = {b for s in loop.body if (b := in_place(self.unit, s, self.kinds)) is not None}
        self.inside = set(map(id, effects.walk([loop])))

    def made(self) -> list[gast.AST]:
        """The array statements in place of the loop; raises Refused."""
        body = self._without_indices()
        first = {n: s for s in reversed(body) for n in binds(s)}
        own = {n for n, s in first.items() if isinstance(s, gast.Assign)}
        self._require_alone(body, first.keys(), own)
        unknown = own | {n for n in first if isinstance(self.kinds.get(n), Number)}  # not bound yet, or a sum
        out = []
        for statement in body:
            index = getattr(getattr(statement, "target", None), "slice", None)
            if (effects.reads(statement.value) | effects.reads(index)) & unknown:
                raise Refused
            if isinstance(statement, gast.AugAssign) and own.intersection(binds(statement)):
                statement = self._bound_again(statement, first[statement.target.id])
            made = self._assigned(statement) if isinstance(statement, gast.Assign) else self._added(statement)
            unknown -= own.intersection(binds(statement))
            if made is not None:
                made.origin = statement.origin
                out.append(made)
        if not self.touched.is_independent():
            raise Refused
        self.kinds |= self.vectors
        start, stop = whole_number(self.start), whole_number(self.stop)
        if self.guarded and (start is None or stop is None or start >= stop):
            (guarded,) = statements("if start < stop: body", start=self.start, stop=self.stop, body=out)
            guarded.origin = self.loop.origin
            return [guarded]
        return out

    def _require_alone(self, body: list[gast.AST], bound: Collection[str], own: set[str]) -> None:
        """Raise Refused where the loop changes its own bounds, pops twice from one stack, or binds something that is read
        later."""
        self.shown = self._mentioned_outside(own)
        pops = Counter(popped(n) for n in nodes(*body))
        pops.pop(None, None)
        if (
            (effects.reads(self.start) | effects.reads(self.stop)).intersection(bound)
            or not self.bounds.is_natural(self.start)
            or any(sweep_of(s) == "reverse" for n in own for s in self._outside(self.all.places.reading(n)))
            or self._mentioned_outside({self.variable})
            or any(count > 1 for count in pops.values())
        ):
            raise Refused

    def _bound_again(self, statement: gast.AugAssign, first: gast.Assign) -> gast.Assign:
        """`v += e` for a variable of one trip as `v = v + e`."""
        target = statement.target.id
        if not isinstance(self.kinds.get(target), Number) and not is_fresh(self.unit, first.value):
            raise Refused
        value = gast.BinOp(name(target), statement.op, statement.value)
        made = assign(target, value)
        made.origin = statement.origin
        return made

    def popped(self, call: gast.Call, rank: int) -> gast.AST:
        """The values that all trips pop from a stack, in the order of the loop's variable."""
        self.guarded |= rank > 0  # without a trip the length of a row is unknown
        bounds = [clone(self.stop)] if getattr(self.start, "value", None) == 0 else [clone(self.start), clone(self.stop)]
        trips = gast.Call(self.unit.builtin(range), bounds, [])
        once = gast.comprehension(name("_", store=True), trips, [], 0)
        values = call_(self.unit, "array", np.array, gast.ListComp(clone(call), [once]))
        if range_of(self.unit, self.loop.iter) is self.loop.iter:
            return values
        return gast.Subscript(values, gast.Slice(None, None, constant(-1)), gast.Load())

    def _without_indices(self) -> list[gast.AST]:
        """The body with indices like `j + 1` substituted for their names."""
        found: dict[str, gast.AST] = {}
        out = []
        for statement in self.loop.body:
            if isinstance(statement, gast.Assign) and same(statement.targets[0], statement.value):
                continue  # x = x
            copy = substitute(statement, found) if found else clone(statement)
            for attribute in ("origin", "rebinds"):
                if hasattr(statement, attribute):
                    setattr(copy, attribute, getattr(statement, attribute))
            target: Any = copy.targets[0] if isinstance(copy, gast.Assign) else None
            whole = isinstance(target, gast.Name) and target.id in self.unit.temps
            if whole and self.all.indices.offset(copy.value, self.variable) is not None:
                found[target.id] = copy.value
            else:
                out.append(copy)
        if self._mentioned_outside(found.keys()):
            raise Refused
        return out

    def _mentioned_outside(self, names: Collection[str]) -> set[str]:
        given = {p.id for p in parameters(self.all.tree)}
        return {n for n in names if n in given or self._outside(self.all.places.of(n))}

    def _outside(self, statements: list[gast.AST]) -> list[gast.AST]:
        return [s for s in statements if id(s) not in self.inside]

    # --- statements ---

    def _assigned(self, statement: gast.Assign) -> gast.AST | None:
        """The assignment for all trips; None if it only names a section."""
        target = statement.targets[0]
        self._read(statement.value)
        self.batches.taken = self._taken(target, statement.value)
        product = self.batches.product(statement.value)
        self.guarded |= product.rank > 0 and not self.bounds.is_natural(self.stop)
        if isinstance(target, gast.Name):
            return self._bound(statement, target.id, product)
        section = self._target(target)
        self.touched.note(target, "w")
        return gast.Assign([_stored(section.node)], self._fitting(product, section), None)

    def _taken(self, target: gast.AST, value: gast.AST) -> int | None:
        """The rank of the value that an assignment pops, where it is known."""
        kind = kind_of(target, self.kinds)
        kind = None if isinstance(kind, Number) and kind.type not in (None, float, np.float64) else kind
        if popped(value) and isinstance(target, gast.Subscript):
            return self._target(target).rank
        if popped(value):
            return kind.rank if _has_one_length(kind) else None
        return 0 if isinstance(kind, Number) and all(map(_keeps_rank, nodes(value))) else None

    def _bound(self, statement: gast.Assign, target: str, product: Product) -> gast.AST | None:
        """The assignment to a name; None if it only names a section."""
        if not product.varies:
            self.batches.known.pop(target, None)
            return statement
        section = product.factors[0] if len(product.factors) == 1 and not product.negative else None
        if section is not None and self._is_changed(section.node):  # by a later statement of the loop
            product = Product((replace(section, node=expression("x.copy()", x=section.node)),))
        elif section is not None and isinstance(statement.value, gast.Subscript):
            self.batches.known[target] = product
            return None
        axis = next((f.axis for f in product.factors if f.rank and f.axis is not None), FIRST)
        made = self.unit.local(self.unit.bases.get(target, target)) if target in self.shown else target
        whole = self.batches.whole(product, axis)
        self.batches.known[target] = Product((Factor(name(made), product.rank, axis, product.truth),))
        self.vectors[made] = Array("float64", (None,) * (product.rank + 1))
        return assign(made, whole)

    def _is_changed(self, node: gast.AST) -> bool:
        """Whether a value may alias memory that the loop writes."""
        return not is_fresh(self.unit, node) and any(n.id in self.changed for n in effects.loads(node))

    def _added(self, statement: gast.AugAssign) -> gast.AST:
        """The augmented assignment for all trips."""
        target, op = statement.target, statement.op
        self.batches.taken = None  # the rank of a popped term is unknown
        self._read(statement.value)
        outer = self._outer(statement)
        if outer is not None:
            self.touched.note(target, "a")
            return gast.AugAssign(target, op, self.batches.outer_total(*outer))
        product = self.batches.product(statement.value)
        self.guarded |= product.rank > 0 and not self.bounds.is_natural(self.stop)
        if isinstance(target, gast.Name):
            kind = self.kinds.get(target.id)
            rank = kind.rank if isinstance(kind, (Array, Number)) else None
            if not isinstance(op, _SUMS) or rank != product.rank or notes.REBINDS.of(statement):
                raise Refused
            if isinstance(kind, Array):
                self.touched.note(target, "a")
            return gast.AugAssign(target, op, self.batches.total(product))
        if not isinstance(target, gast.Subscript) or not isinstance(target.value, gast.Name):
            raise Refused
        for part in parts_of(target.slice):
            self._read(part)
        self._guard(target)
        how = "a" if isinstance(op, _SUMS) else "w"
        self.touched.note(target, how)
        if self.variable not in mentioned(target):
            kind = self.kinds.get(target.value.id)
            if how == "w" or getattr(kind, "dtype", None) != "float64" or self.batches.rank(target) != product.rank:
                raise Refused
            return gast.AugAssign(target, op, self.batches.total(product))
        section = self._target(target)
        node = section.node if isinstance(section.node, gast.Name) else _stored(section.node)
        node.ctx = gast.Store()
        return gast.AugAssign(node, op, self._fitting(product, section))

    def _outer(self, statement: gast.AugAssign) -> list[gast.AST] | None:
        """The vectors in `x += np.outer(u, v)`; None for any other statement."""
        value, kind = statement.value, self.kinds.get(getattr(statement.target, "id", ""))
        matrix = isinstance(statement.op, _SUMS) and isinstance(kind, Array) and kind.rank == 2
        outer = self.unit.called(value) is np.outer and len(value.args) == 2
        return value.args if matrix and outer and not value.keywords else None

    def _target(self, target: gast.AST) -> Factor:
        if not isinstance(target, gast.Subscript):
            raise Refused
        return self.batches.element(target)

    def _fitting(self, product: Product, section: Factor) -> gast.AST:
        if product.rank > section.rank:
            raise Refused
        return self.batches.whole(product, section.axis, section.rank)

    # --- sections ---

    def section(self, part: gast.AST, kind: Array, place: int) -> gast.Slice:
        """`start + c:stop + c` for the index `variable + c`, where that is within the array."""
        offset = self.all.indices.offset(part, self.variable)
        if offset is None:
            raise Refused
        least = least_of(self.unit, self.loop)
        if offset < 0 and (least is None or least + offset < 0):
            raise Refused
        stop, length = self.bounds.form(self.stop), self.all.sizes.axis((kind.dims or ())[place])
        left = _difference(length, stop)
        fixed = stop is not None and left is not None and not self.bounds.moves(stop)
        if not (self.bounds.is_natural(self.stop) and offset >= 0):  # a negative bound would count from the end
            self.guarded |= not fixed or least is None or left is None or least < left - 2 * offset - 2
        if not self.bounds.end_within(stop, offset, length) and self.loop.origin.line not in self.all.forward:
            raise Refused  # a slice would be cut off where an index raises
        lower = _plus(self.start, offset)
        first = isinstance(lower, gast.Constant) and lower.value == 0
        last = fixed and left == offset
        return gast.Slice(None if first else lower, None if last else _plus(self.stop, offset), None)

    # --- loops without a trip ---

    def _read(self, node: gast.AST) -> None:
        self.touched.read(node, self.batches.known)
        self._guard(node)

    def _guard(self, node: gast.AST) -> None:
        """Note whether a loop-invariant expression might raise where the loop has no trip."""
        for part in nodes(node):
            if isinstance(part, gast.Subscript) and isinstance(part.value, gast.Name):
                kind = self.kinds.get(part.value.id)
                dims = kind.dims if isinstance(kind, Array) and kind.dims is not None else ()
                for index, dim in zip(parts_of(part.slice), dims, strict=False):
                    fixed = not isinstance(index, gast.Slice) and not self.batches.varies_in(index)
                    self.guarded |= fixed and not self.bounds.is_less(index, self.all.sizes.axis(dim))
            elif isinstance(part, gast.BinOp) and isinstance(part.op, gast.MatMult):
                self.guarded |= not self.bounds.is_natural(self.stop)  # lengths need not match if it does not run
            elif isinstance(part, gast.BinOp) and isinstance(part.op, (gast.Div, gast.Pow)):
                self.guarded |= not isinstance(part.right, gast.Constant) and not self.batches.varies_in(part)


def _difference(length: Form | None, stop: Form | None) -> int | None:
    """How far a bound is from a length, where they differ by a number; None elsewhere."""
    return None if length is None or stop is None or stop.terms != length.terms else length.constant - stop.constant


def _has_one_length(kind: Kind | None) -> TypeGuard[Kind]:
    """Whether a value has the same length in all trips."""
    if isinstance(kind, Array):
        return kind.dims is not None and all(isinstance(d, int) or (isinstance(d, Size) and d.k >= 0) for d in kind.dims)
    return isinstance(kind, Number)


def _keeps_rank(node: gast.AST) -> bool:
    """Whether a node computes numbers from numbers only."""
    if isinstance(node, gast.Call):
        return popped(node) is not None
    return not (isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult))


def _stored(node: gast.AST) -> gast.AST:
    """The target of a store: a whole array as `x[:]`."""
    if isinstance(node, gast.Name):
        return gast.Subscript(node, everything(), gast.Store())
    out = clone(node)
    out.ctx = gast.Store()
    return out


def _plus(node: gast.AST, offset: int) -> gast.AST:
    if isinstance(node, gast.Constant):
        return constant(node.value + offset)
    if not offset:
        return clone(node)
    if isinstance(node, gast.BinOp) and isinstance(node.op, _SUMS) and isinstance(node.right, gast.Constant):
        before = node.right.value if isinstance(node.op, gast.Add) else -node.right.value
        return _plus(node.left, before + offset)
    return gast.BinOp(clone(node), gast.Add() if offset > 0 else gast.Sub(), constant(abs(offset)))
