"""What a person writes again where it is read: a position next to another, a whole array, a number that scales arrays, and
the sign of a product.

    t1 = i + 1                                              x_bar[i] += t2 * y[i + 1]
    x_bar[i] += t2 * y[t1]; z_bar[t1] += t2         ->      z_bar[i + 1] += t2

    t1 = -y_bar                                             x_bar -= y_bar * z
    x_bar += t1 * z; z_bar += t1 * x                ->      z_bar -= y_bar * x

    t1 = y_bar[:]; x_bar += t1 * z[:]; z_bar += t1          ->      x_bar += y_bar * z; z_bar += y_bar

    t1 = 2.0 * dx; u_bar[1:] += y_bar / t1; ...             ->      u_bar[1:] += y_bar / (2.0 * dx); ...

    t1 = x[i]; y[i] = t1 * w                                        y[i] = x[i] * w
    y_dot[i] = x_dot[i] * w + t1 * w_dot                    ->      y_dot[i] = x_dot[i] * w + x[i] * w_dot

Positions are written again in what the user computes, too.  An element, or a section, is written again that is read twice,
in the block where it is taken: `elements` does so once it is settled which loops run on lists.

Each read must see the same operands as the temporary does.  `a + -b * c` and `a - b * c` are the same number to the bit; a
minus that finds no sum to go into is written at most once.

>>> import numpy as np
>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x, y, i):
...     z = x[i + 1] * y[i + 1]
...     return z * y[i]
... ''', "written_again", np.ones(3), np.ones(3), 1, argnums=(0, 1)))
-     t1_2 = i + 1
-     y_bar[t1_2] += z_bar * x[t1_2]
+     y_bar[i + 1] += z_bar * x[i + 1]
-     x_bar[t1_2] += z_bar * y[t1_2]
+     x_bar[i + 1] += z_bar * y[i + 1]
"""

from __future__ import annotations

import math

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.expression_shapes import Shapes
from s2sgrad.analysis.floating import is_floating
from s2sgrad.analysis.kinds import Array, Container, Number
from s2sgrad.analysis.number_types import is_complex
from s2sgrad.cleanup.linearity import is_linear
from s2sgrad.flow.available import Available
from s2sgrad.flow.counts import read_counts, write_counts
from s2sgrad.flow.graph import Graph, Point, evaluation
from s2sgrad.ir.forms import bound_name, minus, negated, parts_of, target_name, whole_number
from s2sgrad.ir.quote import NAMES, PARTS, clone, nested, nodes, nodes_of
from s2sgrad.ir.unit import Unit, is_derived
from s2sgrad.memory import behaviour
from s2sgrad.memory.aliasing import Memory

_MOST = 4  # reads of a position that is written again
_FEW = 3  # reads of a number, and operations that it takes, next to an operation on an array


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Write positions, whole arrays and signs of the reverse sweep where they are read."""
    for statement in filter(is_derived, effects.walk(tree.body)):
        if isinstance(statement, (gast.Assign, gast.AugAssign)):
            _write_whole(unit, statement)
    for _ in range(_MOST):  # a minus moves on to the next name
        positions, signs = _found(unit, tree)
        scales = _scales(unit, tree)
        if not positions and not signs and not scales:
            break
        rewriter = _Rewriter(unit, tree, [*positions, *signs, *scales])
        gone = rewriter.written([*positions, *scales], signs)
        for body in nested(tree.body) if gone else ():
            body[:] = [s for s in body if id(s) not in gone]
        if not rewriter.turned and not gone:
            break
    return tree


def elements(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Write elements and sections of arrays and lists where two expressions read them."""
    reads, writes = read_counts(tree.body), write_counts(tree.body)
    once = [s for s in effects.walk(tree.body) if bound_name(s) in unit.temps and writes[bound_name(s) or ""] == 1]
    twice = [s for s in once if reads[target_name(s)] == 2 and _is_element(unit, s)]
    if not twice:
        return tree
    unit.memory = Memory(unit, tree, unit.kinds)  # with what the passes since have named
    found = _read_beside(unit, tree, twice)
    gone = _Rewriter(unit, tree, found).written(found, []) if found else set()
    for body in nested(tree.body) if gone else ():
        body[:] = [s for s in body if id(s) not in gone]
    return tree


def _found(unit: Unit, tree: gast.FunctionDef) -> tuple[list[gast.Assign], list[gast.Assign]]:
    """The temporaries that are read and stand for positions or whole arrays, and those that begin with a minus."""
    reads, writes = read_counts(tree.body), write_counts(tree.body)
    once = [s for s in effects.walk(tree.body) if writes[bound_name(s) or ""] == 1]
    temps = [s for s in once if target_name(s) in unit.temps and reads[target_name(s)]]
    positions = [s for s in temps if _is_position(unit, s) and reads[target_name(s)] <= _MOST]
    positions += [s for s in temps if is_derived(s) and _whole(unit, s.value) is not None]
    sums = set(map(bound_name, positions))
    signs = [s for s in temps if is_derived(s) and negated(s.value) is not None and _has_sign(unit, s)]
    return [s for s in positions if sums.isdisjoint(effects.reads(s))], signs


def _read_beside(unit: Unit, tree: gast.FunctionDef, temps: list[gast.Assign]) -> list[gast.Assign]:
    """The temporaries that only plain statements of the same block read."""
    blocks = {id(s): block for block in nested(tree.body) for s in block}
    mine = {target_name(s): {id(t) for t in blocks[id(s)]} for s in temps}
    for statement in effects.walk(tree.body):
        changed = unit.changed(statement)
        for name in mine.keys() & effects.reads(statement):
            plain = isinstance(statement, (gast.Assign, gast.AugAssign, gast.Expr)) and name not in changed
            if not plain or id(statement) not in mine[name]:
                del mine[name]
    return [s for s in temps if target_name(s) in mine]


def _is_element(unit: Unit, statement: gast.Assign) -> bool:
    """Whether a statement takes an element or a section of an array, or an element of a list."""
    owner, kind = statement.value, unit.kinds.get(target_name(statement))
    if not isinstance(owner, gast.Subscript):
        return False
    while isinstance(owner, gast.Subscript):
        if not all(map(_is_place, parts_of(owner.slice))):
            return False
        owner = owner.value
    known = unit.kinds.get(owner.id) if isinstance(owner, gast.Name) else None
    if isinstance(known, Container) and known.type is list:
        return isinstance(kind, Number)
    return isinstance(known, Array) and isinstance(kind, (Number, Array))


def _is_place(part: gast.AST) -> bool:
    """Whether a part of an index takes next to nothing to compute."""
    if isinstance(part, gast.Slice):
        return all(p is None or _is_place(p) for p in (part.lower, part.upper, part.step))
    if isinstance(part, gast.BinOp):
        return isinstance(part.left, gast.Name) and whole_number(part.right) is not None
    return isinstance(part, gast.Name) or whole_number(part) is not None


def _scales(unit: Unit, tree: gast.FunctionDef) -> list[gast.Assign]:
    """The numbers that take few operations, and that only operations on arrays read, few times."""
    reads, writes, found = read_counts(tree.body), write_counts(tree.body), {}
    for statement in filter(is_derived, effects.walk(tree.body)):
        bound = bound_name(statement) or ""
        if bound not in unit.temps or writes[bound] != 1 or not 0 < reads[bound] <= _FEW:
            continue
        if isinstance(unit.kinds.get(bound), Number) and 0 < _operations(statement.value) <= _FEW:
            found[bound] = statement
    shapes = Shapes(unit, unit.kinds)
    for statement in effects.walk(tree.body) if found else ():
        read = found.keys() & effects.reads(statement)
        if read:
            around = _parents(effects.header(statement))
            beside = [
                n for n in nodes_of(effects.header(statement), NAMES) if n.id in read and not _scaling(shapes, n, around)
            ]
            found = {bound: s for bound, s in found.items() if all(n.id != bound for n in beside)}
    return [s for s in found.values() if found.keys().isdisjoint(effects.reads(s))]


def _operations(value: gast.AST) -> float:
    """The operations that a number takes, made of names and constants; infinitely many where it is made of more."""
    if isinstance(value, (gast.Name, gast.Constant)):
        return 0
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return _operations(value.operand)
    plain = isinstance(value, gast.BinOp) and not isinstance(value.op, (gast.MatMult, gast.Mod, gast.FloorDiv))
    return 1 + _operations(value.left) + _operations(value.right) if plain else math.inf


def _scaling(shapes: Shapes, node: gast.AST, around: dict[int, tuple[gast.AST, str, int | None]]) -> bool:
    """Whether a number, or the numbers that it is computed with, are next to an array."""
    while True:
        parent, part, _ = around.get(id(node), (None, "", None))
        if not isinstance(parent, gast.BinOp):
            return False
        rank = shapes.rank(parent.right if part == "left" else parent.left)
        if rank != 0:
            return rank is not None
        node = parent


def _has_sign(unit: Unit, statement: gast.Assign) -> bool:
    """Whether a statement binds a number or an array whose sign may change: `-k` of small integers wraps around."""
    kind = unit.kinds.get(target_name(statement))
    return isinstance(kind, (Number, Array)) and (is_floating(unit, statement.value) or is_complex(kind))


def _is_position(unit: Unit, statement: gast.Assign) -> bool:
    """Whether a statement adds whole numbers, at least one of them a name, or takes one from the other."""
    value, kind = statement.value, unit.kinds.get(target_name(statement))
    plain = (
        isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Add, gast.Sub)) and isinstance(value.left, gast.Name)
    )
    other = unit.kinds.get(value.right.id) if plain and isinstance(value.right, gast.Name) else None
    whole = [kind, *([] if plain and whole_number(value.right) is not None else [other])]
    return plain and all(isinstance(k, Number) and k.type is int for k in whole)


def _whole(unit: Unit, value: gast.AST) -> gast.Name | None:
    """`x` for `x[:]` of an array."""
    plain = isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name) and isinstance(value.ctx, gast.Load)
    kind = unit.kinds.get(value.value.id) if plain else None
    if not isinstance(kind, Array) or not kind.rank:
        return None
    return value.value if all(map(_is_everything, parts_of(value.slice))) else None


def _is_everything(part: gast.AST) -> bool:
    """Whether a part of an index is `:`."""
    return isinstance(part, gast.Slice) and part.lower is part.upper is part.step is None


def _write_whole(unit: Unit, statement: gast.Assign | gast.AugAssign) -> None:
    """Write `x` for `x[:]` in what a statement computes with."""
    found = [n for n in nodes(statement.value) if n is not statement.value and _whole(unit, n) is not None]
    around = _parents(statement) if found else {}
    for node in found:
        parent = around[id(node)][0]
        if isinstance(parent, (gast.BinOp, gast.UnaryOp)):
            _put(around[id(node)], node.value)
            unit.rewritten(statement)


class _Rewriter:
    """The reads of some temporaries of one function, and whether they see what the temporary was computed from."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, temps: list[gast.Assign]) -> None:
        self.unit, self.turned = unit, False
        computed = {target_name(s): [s] for s in temps}
        ends: dict[str, list[str]] = {}
        for bound, (statement,) in computed.items():
            for name in {bound, *effects.reads(statement)}:
                ends.setdefault(name, []).append(bound)

        def spoiled(point: Point) -> list[str]:
            changed = {*point.binds, *(unit.changed(point.statement) if point.role == "whole" else ())}
            return [name for c in changed & ends.keys() for name in ends[c]]

        self.available = Available(Graph(tree, unit.kept), computed, spoiled, at_start=False)
        self.readers: dict[str, list[gast.AST]] = {}
        for statement in effects.walk(tree.body):
            for name in evaluation(statement, unit.kept).reads & unit.temps:
                self.readers.setdefault(name, []).append(statement)
        self.once = {name for name, times in write_counts(tree.body).items() if times == 1}

    def _seen_alike(self, temp: str) -> bool:
        """Whether each read of a temporary sees the operands that it was computed from."""
        fixed = (gast.While, gast.If)  # tests keep their names
        return all(self.available.before(temp, s) and not isinstance(s, fixed) for s in self.readers[temp])

    def written(self, whole: list[gast.Assign], signs: list[gast.Assign]) -> set[int]:
        """Write temporaries as a whole, and the signs of others, where they are read; the ids of those that are gone."""
        put = [s for s in whole if self.put_everywhere(s)]
        moved = {name for s in put for name in effects.reads(s)}  # they are read elsewhere now
        turned = [s for s in signs if bound_name(s) not in moved and self.turn_everywhere(s)]
        return {id(s) for s in (*put, *turned)}

    def put_everywhere(self, statement: gast.Assign) -> bool:
        """Write a position, or an array, in place of its name; whether that can be done."""
        temp = target_name(statement)
        if not self._seen_alike(temp):
            return False
        whole = _whole(self.unit, statement.value)
        for reader in self.readers[temp]:
            self._substitute(reader, temp, statement.value if whole is None else whole)
        return True

    def _substitute(self, reader: gast.AST, temp: str, value: gast.AST) -> None:
        """Write a value in place of a name in a statement, or the header of one."""
        around = _parents(reader)
        for node in nodes_of(effects.header(reader), NAMES):
            if node.id == temp:
                _put(around[id(node)], clone(value))
        self.unit.rewritten(reader)

    def turn_everywhere(self, statement: gast.Assign) -> bool:
        """Move the minus of a temporary into the sums that it is a term of; whether the statement goes.

        What is more than a name stays under the name of the temporary, without its minus."""
        temp, operand = target_name(statement), negated(statement.value)
        readers, is_name = self.readers[temp], isinstance(operand, gast.Name)
        if not isinstance(operand, (gast.Name, gast.BinOp, gast.Subscript)):
            return False
        fresh = isinstance(operand, gast.BinOp) or (not is_name and isinstance(self.unit.kinds.get(temp), Number))
        if not fresh and not self._seen_alike(temp):  # it may be a view
            return False
        turned = self._turned(temp, 1)
        if turned is None:
            return False
        for reader, copy in zip(readers, turned, strict=True):
            reader.__dict__.update(copy.__dict__)
            self.unit.rewritten(reader)
            if is_name:
                self._substitute(reader, temp, operand)
        statement.value, self.turned = operand, True
        self.unit.derivative.cotangents.pop(temp, None)  # it is minus a cotangent now
        self.unit.rewritten(statement)
        return is_name

    def _turned(self, temp: str, left: int, depth: int = 3) -> list[gast.AST] | None:
        """The readers of a temporary with the other sign for it, if sums take it up but for `left` times; a minus of another
        temporary counts if sums do not take that up in turn."""
        turned = []
        for reader in self.readers[temp]:
            if not isinstance(reader, (gast.Assign, gast.AugAssign)):
                return None
            copy = clone(reader)
            for node in [n for n in nodes_of(copy, NAMES) if n.id == temp]:
                left -= not _turn(self.unit, copy, node)
            bound = bound_name(copy)
            if negated(copy.value) is not None and bound in self.unit.temps & self.once & self.readers.keys():
                left += depth > 0 and self._turned(bound, 0, depth - 1) is not None
            if left < 0:
                return None
            turned.append(copy)
        return turned


def _parents(root: gast.AST) -> dict[int, tuple[gast.AST, str, int | None]]:
    """By node of a tree: the parent, its field, and the index in that."""
    out: dict[int, tuple[gast.AST, str, int | None]] = {}
    for node in nodes(root):
        for part in PARTS[type(node)] or ():
            value = getattr(node, part, None)
            for place, child in enumerate(value) if isinstance(value, list) else ((None, value),):
                if isinstance(child, gast.AST):
                    out[id(child)] = node, part, place
    return out


def _put(where: tuple[gast.AST, str, int | None], new: gast.AST) -> None:
    """Replace the child of a node."""
    parent, part, place = where
    if place is None:
        setattr(parent, part, new)
    else:
        getattr(parent, part)[place] = new


def _turn(unit: Unit, statement: gast.AST, node: gast.AST) -> bool:
    """Take the other sign for a factor, and move the change outwards; whether a sum or another minus takes it up."""
    around = _parents(statement)
    while True:
        parent, part, place = where = around[id(node)]
        if isinstance(parent, gast.UnaryOp) and isinstance(parent.op, gast.USub):
            _put(around[id(parent)], node)
            return True
        if _takes_up(parent, part):
            parent.op = _OPPOSITE[type(parent.op)]()
            return True
        if isinstance(parent, gast.BinOp) and isinstance(parent.op, gast.Add) and behaviour.is_pure(unit, parent):
            parent.left, parent.op, parent.right = parent.right, gast.Sub(), node
            return True
        if isinstance(parent, gast.BinOp) and isinstance(parent.op, gast.Sub):
            parent.op = gast.Add()
            if (
                isinstance(parent.right, gast.BinOp)
                and type(parent.right.op) in _OPPOSITE
                and behaviour.is_pure(unit, parent)
            ):
                parent.left, parent.right = parent.right, parent.left  # `a + b + c`, and not `c + (a + b)`
        elif not _is_linear(unit, parent, part, place):
            _put(where, minus(node))
            return False
        node = parent


def _takes_up(parent: gast.AST, part: str) -> bool:
    """Whether a sum takes up the sign of this part by its operator."""
    term = part == ("right" if isinstance(parent, gast.BinOp) else "value")
    return term and isinstance(parent, (gast.BinOp, gast.AugAssign)) and type(parent.op) in _OPPOSITE


_OPPOSITE = {gast.Add: gast.Sub, gast.Sub: gast.Add}


def _is_linear(unit: Unit, parent: gast.AST, part: str, place: int | None) -> bool:
    """Whether the sign of a part, in a list of parts at a place, is that of the whole, exactly."""
    if isinstance(parent, gast.BinOp):
        return isinstance(parent.op, (gast.Mult, gast.MatMult, gast.Div))
    if isinstance(parent, gast.Call):
        if part == "func":
            return {k.arg for k in parent.keywords} <= {"axis", "keepdims"}  # no `initial`, no `where`
        return part == "args" and place is not None and is_linear(unit, parent, place)
    if isinstance(parent, gast.Attribute):
        return parent.attr in ("T", "sum")
    return isinstance(parent, gast.Subscript) and part == "value"
