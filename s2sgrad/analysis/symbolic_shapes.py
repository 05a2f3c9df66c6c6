"""Symbolic lengths of sections whose bounds are known only at run time: `x[:i]` and `y[1 : i + 1]` have equal length.

    A[i, :j] @ B[:j, j]: both operands have length `j`, whatever it is      ->      Array('float64', (Size(-1),)), twice

Such a length is a size with a negative number.  It is valid for temporaries, which live within one statement, and for
variables that live within one trip of each loop that changes a name in its bounds.

Lengths are compared under the assumption that sections lie within their axes.  If one does not, and its single remaining
element is broadcast, the cotangent does not fit into the section of the adjoint and NumPy raises.  Less may be concluded
from a length that is written in several ways: see `is_exact`.  The cotangent of a number that is added to sections meets
no section: it is brought to the shape of the sum first (`unbroadcasting.in_full`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, overload

import gast

from s2sgrad.analysis import affine, effects
from s2sgrad.analysis.affine import Form
from s2sgrad.analysis.container_items import Slice
from s2sgrad.analysis.kinds import Array, Container, Instance, Kind, Known, Number, OrNone, Slicing, operand
from s2sgrad.analysis.sizes import Dim, Size, surely_not_one
from s2sgrad.flow.counts import binding_counts
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import binds
from s2sgrad.flow.lifetimes import Lifetimes
from s2sgrad.ir.forms import bound_name, parts_of
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import Unit, parameters

_K = TypeVar("_K", bound=Kind)
_MOST = 24
_LONG = 10**6  # longer than what a constant bound counts


class Symbols:
    """The symbolic lengths of one function; `kind` gives the kind of a variable."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef | None, kind: Callable[[str], Kind | None]) -> None:
        self.unit, self.tree, self.kind = unit, tree, kind
        self.known: dict[str, Size] = {}
        self.names: dict[int, frozenset[str] | None] = {}  # the names that a length reads; None: valid for temporaries only
        self.written: dict[int, set[str]] = {}  # the expressions that a length is written as
        self.forms: dict[str, Form] = {}  # the affine form of each temporary
        self._lifetimes: Lifetimes | None = None
        self._counts: Counter[str] = Counter()

    def note(self, target: str, value: gast.AST) -> None:
        """Store the affine form of a temporary index."""
        if target in self.unit.temps and isinstance(value, (gast.BinOp, gast.Name, gast.Constant, gast.UnaryOp)):
            found = affine.form(value, self._atom)
            if found is not None:
                self.forms[target] = found

    def _atom(self, node: gast.AST) -> Form | None:
        if not isinstance(node, gast.Name):
            return None
        if node.id in self.forms:
            return self.forms[node.id]
        kind = self.kind(node.id) if node.id in self.unit.locals else None
        if isinstance(kind, Number) and kind.known and type(kind.value) is int:
            return Form(constant=kind.value)
        if isinstance(kind, Number) and kind.size is not None:
            return self._axis_form(kind.size)
        return Form({node.id: 1}, 0, frozenset([node.id]))

    def _dims_of(self, parts: list[gast.AST], index: list[Kind], of: tuple[Dim, ...]) -> list[Dim]:
        """The lengths of the axes of a section, each by the part of the index that selects it."""
        dims: list[Dim] = []
        axis = 0
        rest = len(of) - sum(_axes_of(k) for k in index)
        for part, kind in zip(parts, index, strict=True):
            if isinstance(kind, Known) and kind.value is None:
                dims.append(1)
            elif isinstance(kind, Known):
                dims += of[axis : axis + rest]
                axis += rest
            else:
                if isinstance(part, gast.Slice):
                    dims.append(self._length(part, of[axis]))
                elif isinstance(kind, Array):
                    dims.append(self._size(f"where {part.id}", 0, self._while_unchanged(part.id), part.id))
                elif isinstance(kind, Slicing):
                    key = f"{part.id} of {of[axis]}"
                    dims.append(None if of[axis] is None else self._size(key, 0, frozenset([part.id]), key))
                axis += _axes_of(kind)
        return [*dims, *of[axis:]]

    def _while_unchanged(self, mask: str) -> frozenset[str] | None:
        """The name of a mask that stays what it is: bound once, to a new array, and read as an index or an operand only."""
        if self._lived() is None or self._counts[mask] != 1 or mask in self._handed:
            return None
        new = isinstance(self._made.get(mask), (gast.Compare, gast.BinOp, gast.UnaryOp))
        return frozenset([mask]) if new else None

    def _axis_form(self, dim: Dim) -> Form | None:
        if isinstance(dim, Size):
            return Form({f"#{dim.k}": 1}, dim.offset, self.names.get(dim.k) or frozenset())
        return None if dim is None else Form(constant=dim)

    def sections(self, node: gast.Subscript, owner: Array, index: list[Kind], found: Kind) -> Kind:
        """The kind of a section, `found` by example, with symbolic lengths for axes that the example leaves unknown."""
        parts = parts_of(node.slice)
        self.unit.syntax.sliced.update(_beyond(index, owner.dims or ()))
        if not isinstance(found, Array) or found.dims is None or None not in found.dims or owner.dims is None:
            return found
        if not parts or len(parts) != len(index) or not all(map(_is_followed, parts, index)):  # x[()], x[places]
            return found
        arrays = [k for k in index if isinstance(k, Array)]
        if len(arrays) > 1 or (arrays and any(isinstance(k, Number) for k in index)):
            if len(arrays) > 1 or arrays[0].rank != 1 or not all(isinstance(k, (Array, Number)) for k in index):
                return found
            ((mask, selecting),) = ((p, k) for p, k in zip(parts, index, strict=True) if isinstance(k, Array))
            dims = self._dims_of([mask], [selecting], owner.dims[len(parts) - 1 :])  # numbers select along with the mask
        else:
            dims = self._dims_of(parts, index, owner.dims)
        if len(dims) != len(found.dims):
            return found
        return Array(found.dtype, tuple(f if f is not None else d for f, d in zip(found.dims, dims, strict=True)))

    def spanned(self, node: gast.Subscript, found: Kind) -> Kind:
        """The kind of a full grid, `found` by example, with the symbolic lengths of its slices: `np.mgrid[:n, :m]`."""
        parts = parts_of(node.slice)
        if not isinstance(found, Array) or found.dims is None or len(found.dims) != 1 + len(parts):
            return found
        lengths = [None, *(self._length(p, None) if isinstance(p, gast.Slice) else None for p in parts)]
        return Array(found.dtype, tuple(f if f is not None else d for f, d in zip(found.dims, lengths, strict=True)))

    def counted(self, node: gast.AST, kind: Kind) -> Kind:
        """The kind of a whole number that may be the length of an axis, where nothing is known of it: `np.zeros((n, m))`."""
        if not isinstance(kind, Number) or kind.type is not int or kind.known or kind.size is not None:
            return kind
        found = affine.form(node, self._atom)
        if found is None or not found.terms:
            return kind
        return replace(kind, size=self._size(found.body(), found.constant, found.names, found.text()))

    def _step(self, part: gast.Slice) -> int | None:
        """The step of a slice, if it is constant."""
        if part.step is None:
            return 1
        step = affine.form(part.step, self._atom)
        return None if step is None or step.terms else step.constant

    def _length(self, part: gast.Slice, dim: Dim) -> Dim:
        """The length of a slice of an axis of length `dim`."""
        if part.lower is None and part.upper is None and part.step is None:
            return dim
        first, last = (None if p is None else affine.form(p, self._atom) for p in (part.lower, part.upper))
        missing = any(p is not None and b is None for p, b in ((part.lower, first), (part.upper, last)))
        step = self._step(part)
        if missing or not step:
            return None
        found = affine.length(first, last, step, self._axis_form(dim))
        if found is None:
            return None
        written = _written((first, last), dim)
        if dim == 1 or (not found.terms and found.constant < 2):  # one or none, by where the axis ends
            return None if dim is None else self._size(written, 0, _read((first, last)), written)
        if abs(step) > 1:
            return self._size(f"{found.text()} by {abs(step)}", 0, found.names, written)
        return self._spanned(found, dim, written)

    def _spanned(self, found: Form, dim: Dim, written: str) -> Dim:
        """The length of a slice that spans so many elements of an axis of length `dim`."""
        axis = next((int(t[1:]) for t in found.terms if t[0] == "#" and found.terms == {t: 1}), -1)
        if axis >= 0:
            self.unit.syntax.sliced.add(Size(axis))
            return Size(axis, found.constant)
        size = self._size(found.body(), found.constant, found.names, written)
        if dim is None and size is not None:  # axes of two lengths are written alike
            self.unit.syntax.sliced.add(Size(size.k))
        return size

    def _size(self, key: str, offset: int, names: frozenset[str] | None, written: str) -> Size | None:
        """The size with a key plus an offset, a new one for a new key; None if there are too many."""
        if key not in self.known:
            if len(self.known) >= _MOST:
                return None
            self.known[key] = Size(-1 - len(self.known))
            self.names[self.known[key].k] = names
        size = self.known[key]
        ways = self.written.setdefault(size.k, set())
        ways.add(written)
        if len(ways) > 1:
            self.unit.syntax.sliced.add(Size(size.k))
        return Size(size.k, offset)

    def is_exact(self, dim: Dim) -> bool:
        """Whether equal lengths stay equal where sections reach beyond their axes."""
        return is_exact(self.unit, dim)

    def believed(self, name: str, kind: Kind | None) -> Kind | None:
        """The kind that holds for the whole lifetime of a variable.  An unknown axis of one that is bound once gets a size:
        of a temporary, if a call or a selection gives it.
        """
        if name not in self.unit.temps and kind is not None and has_symbols(kind) and not self._is_valid(name, kind):
            kind = without_symbols(kind)
        if isinstance(kind, Array) and kind.dims is not None and None in kind.dims and self._bound_once(name):
            if name in self.unit.temps and not isinstance(self._made.get(name), (gast.Call, gast.Subscript)):
                return kind  # what broadcasts may turn out to have the shape of an operand
            dims = (self._axis(name, k) if d is None else d for k, d in enumerate(kind.dims))
            kind = Array(kind.dtype, tuple(dims))
        return kind

    def _is_valid(self, name: str, kind: Kind) -> bool:
        """Whether what the lengths in a kind read keeps its value as long as a variable lives."""
        if not isinstance(kind, Array) or kind.dims is None or self.tree is None:
            return False
        used = [self.names.get(d.k, frozenset()) for d in kind.dims if isinstance(d, Size) and d.k < 0]
        return all(names is not None and all(self._outlives(n, name) for n in names) for names in used)

    def _bound_once(self, name: str) -> bool:
        return self._lived() is not None and self._counts[name] == 1

    def _axis(self, name: str, axis: int) -> Size | None:
        return self._size(f"{name}#{axis}", 0, frozenset([name]), "")

    def _lived(self) -> Lifetimes | None:
        """Which variables live how long; with other facts about the tree it is computed on first use."""
        if self._lifetimes is None and self.tree is not None:
            self._lifetimes = Facts(self.tree).lifetimes
            self._made = {bound_name(s): s.value for s in effects.walk(self.tree.body) if bound_name(s) is not None}
            self._handed = _handed_on(self.tree)
            self._counts = binding_counts(self.tree.body) + Counter(p.id for p in parameters(self.tree))
            self._targets = {s.target.id: id(s.body) for s in effects.walk(self.tree.body) if isinstance(s, gast.For)}
        return self._lifetimes

    def _outlives(self, bound: str, name: str) -> bool:
        """Whether `bound` keeps its value as long as `name` lives."""
        lived = self._lived()
        if bound == name or bound not in self.unit.locals:
            return True
        if lived is None or self._counts[bound] != 1:
            return False
        block = self._targets.get(bound) or _binder(bound, lived)
        inside = lived.home.get(name)
        while inside is not None and inside != block:
            inside = lived.parent.get(inside)
        return inside == block


def _handed_on(tree: gast.FunctionDef) -> set[str]:
    """The names that a function reads otherwise than as indices and operands, which give no other name to an array."""
    read: set[str] = set()
    for statement in effects.walk(tree.body):
        plain = set()
        for node in nodes(effects.header(statement)):
            if isinstance(node, gast.Subscript):
                plain |= {id(part) for part in parts_of(node.slice)}
            elif isinstance(node, (gast.BinOp, gast.UnaryOp)):
                plain |= {id(node.left), id(node.right)} if isinstance(node, gast.BinOp) else {id(node.operand)}
            elif isinstance(node, gast.Compare):
                plain |= {id(node.left), *map(id, node.comparators)}
            elif isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) and id(node) not in plain:
                read.add(node.id)
    return read


def _binder(bound: str, lived: Lifetimes) -> int:
    """The block in which a name is bound."""
    for identity, body in lived.blocks.items():
        if any(bound in binds(s) and not isinstance(s, gast.For) for s in body):
            return identity
    return lived.root


def _written(bounds: tuple[Form | None, ...], dim: Dim) -> str:
    """The bounds of a slice of an axis, as text."""
    return f"{':'.join('' if b is None else b.text() for b in bounds)} of {dim}"


def _read(bounds: tuple[Form | None, ...]) -> frozenset[str]:
    """The names that the bounds of a slice read."""
    return frozenset().union(*(b.names for b in bounds if b is not None))


def is_exact(unit: Unit, dim: Dim) -> bool:
    """Whether equal lengths stay equal where sections reach beyond their axes: no slice has it, or one that is written
    alike."""
    return dim is None or (Size(dim.k) if isinstance(dim, Size) else dim) not in unit.syntax.sliced


def _beyond(index: list[Kind], of: tuple[Dim, ...]) -> set[Dim]:
    """The lengths that constant slices have only where their axes are long enough."""
    out: set[Dim] = set()
    rest, axis = len(of) - sum(map(_axes_of, index)), 0
    plain = not any(isinstance(kind, Array) for kind in index)
    for kind in index:
        part, dim = _constant_slice(kind), of[axis] if plain and 0 <= axis < len(of) else None
        if part is not None and not isinstance(dim, int):
            least, large, larger = (len(range(n)[part]) for n in (2 if surely_not_one(dim) else 0, _LONG, _LONG + 1))
            out |= {large} if large == larger != least else set()
        axis += rest if isinstance(kind, Known) and kind.value is Ellipsis else _axes_of(kind)
    return out


def _constant_slice(kind: Kind) -> slice | None:
    """The slice that an index is; None for any other index, and for bounds that are not constant."""
    part: Any = kind.value if isinstance(kind, Known) else None
    if isinstance(kind, Slice) and all(isinstance(b, (Known, Number)) and b.known for b in kind.parts):
        part = slice(*(b.value for b in kind.parts))
    whole = isinstance(part, slice) and all(b is None or type(b) is int for b in (part.start, part.stop, part.step))
    return part if whole and part.step != 0 else None


def _is_followed(part: gast.AST, kind: Kind) -> bool:
    """Whether it is known how many axes a part of an index consumes, and what remains of them."""
    if isinstance(kind, Array):
        return kind.dtype == "bool" and kind.rank is not None and isinstance(part, gast.Name)
    if isinstance(part, gast.Slice) or isinstance(kind, Number):
        return True
    if isinstance(kind, Slicing):
        return isinstance(part, gast.Name)
    return isinstance(kind, Known) and (kind.value is None or kind.value is Ellipsis)


def _axes_of(kind: Kind) -> int:
    if isinstance(kind, Array):
        return kind.rank or 0
    return 0 if isinstance(kind, Known) and (kind.value is None or kind.value is Ellipsis) else 1


def has_symbols(kind: Kind | None) -> bool:
    """Whether a kind contains lengths that are known only at run time."""
    kind = operand(kind)
    if isinstance(kind, Array) and kind.dims is not None:
        return any(isinstance(d, Size) and d.k < 0 for d in kind.dims)
    if isinstance(kind, Container):
        return any(map(has_symbols, kind.items or ())) or has_symbols(kind.item)
    return isinstance(kind, Number) and isinstance(kind.size, Size) and kind.size.k < 0


@overload
def without_symbols(kind: _K) -> _K: ...
@overload
def without_symbols(kind: None) -> None: ...
def without_symbols(kind: Kind | None) -> Kind | None:
    """The kind that is valid in another function or a later statement."""
    if not has_symbols(kind):
        return kind
    if isinstance(kind, OrNone):
        return replace(kind, one=without_symbols(kind.one))
    if isinstance(kind, Array) and kind.dims is not None:
        return Array(kind.dtype, tuple(None if isinstance(d, Size) and d.k < 0 else d for d in kind.dims))
    if isinstance(kind, Number):
        return replace(kind, size=None)
    if not isinstance(kind, Container):
        return kind
    items = None if kind.items is None else tuple(map(without_symbols, kind.items))
    return Container(kind.type, items, kind.keys, without_symbols(kind.item))


def renumbered(kinds: dict[str, Any]) -> dict[str, Any]:
    """The kinds with sizes renumbered in order of first appearance, so that calls that differ in numbers only share a pair.

    >>> renumbered({"x": Array("float64", (Size(3), Size(1))), "y": Array("float64", (Size(1, 2),))})
    {'x': Array('float64', (Size(0, 0), Size(1, 0))), 'y': Array('float64', (Size(1, 2),))}
    """
    numbers: dict[int, int] = {}

    def anew(kind: Any) -> Any:
        if isinstance(kind, list):
            return [anew(k) for k in kind]
        if isinstance(kind, OrNone):
            return replace(kind, one=anew(kind.one))
        if isinstance(kind, Array) and kind.dims is not None:
            return Array(kind.dtype, tuple(size(d) if isinstance(d, Size) else d for d in kind.dims))
        if isinstance(kind, Number) and isinstance(kind.size, Size):
            return replace(kind, size=size(kind.size))
        if isinstance(kind, Container):
            items = None if kind.items is None else tuple(map(anew, kind.items))
            return replace(kind, items=items, item=anew(kind.item))
        return replace(kind, items=tuple(map(anew, kind.items))) if isinstance(kind, Instance) else kind

    def size(dim: Size) -> Size:
        return Size(numbers.setdefault(dim.k, len(numbers)), dim.offset)

    return {name: anew(kind) for name, kind in kinds.items()}
