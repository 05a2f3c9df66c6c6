"""Lengths of sections with bounds that are only known at run time: `x[:i]` and `y[:i]` in one statement are equally long.

    A[i, :j] @ B[:j, j]: both operands have the length `:j`, whatever it is      ->      Array('float64', (Size(-1),)), twice

Such a length is a size with a negative number.  It is believed of temporaries, which live within one statement, and of
variables that live within one trip of every loop that changes a name in its bounds.
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Dim, Kind, Known, Number, Size
from s2sgrad.analysis.lifetimes import Lifetimes, binds
from s2sgrad.unit import Unit, parameters

_MOST = 24


class Symbols:
    """The lengths of one function.  `texts` say what each temporary was computed as."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef | None) -> None:
        self.unit, self.tree = unit, tree
        self.known: dict[str, Size] = {}
        self.names: dict[Size, set[str]] = {}
        self.texts: dict[str, tuple[str, set[str]]] = {}
        self._lifetimes: Lifetimes | None = None
        self._counts: Counter[str] = Counter()

    def note(self, target: str, value: gast.AST) -> None:
        """Remember how a temporary index is computed."""
        if target in self.unit.temps and isinstance(value, (gast.BinOp, gast.Name, gast.Constant, gast.UnaryOp)):
            self.texts[target] = self._text(value)

    def _text(self, node: gast.AST | None) -> tuple[str, set[str]]:
        if node is None:
            return "", set()
        if isinstance(node, gast.Name):
            return self.texts.get(node.id, (node.id, {node.id}))
        if isinstance(node, gast.Constant):
            return repr(node.value), set()
        if isinstance(node, gast.UnaryOp):
            text, names = self._text(node.operand)
            return f"({type(node.op).__name__} {text})", names
        if isinstance(node, gast.BinOp):
            (a, m), (b, n) = self._text(node.left), self._text(node.right)
            return f"({a} {type(node.op).__name__} {b})", m | n
        return f"?{id(node)}", set()

    def sections(self, node: gast.Subscript, owner: Array, index: list[Kind], found: Kind) -> Kind:
        """The kind of a section, `found` by example, with lengths where nothing else was known of an axis."""
        parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        if not isinstance(found, Array) or found.dims is None or None not in found.dims or owner.dims is None:
            return found
        if not all(isinstance(p, gast.Slice) or _is_plain(k) for p, k in zip(parts, index, strict=True)):
            return found
        dims, axis = [], 0
        rest = len(owner.dims) - sum(not (isinstance(k, Known) and k.value in (None, Ellipsis)) for k in index)
        for part, kind in zip(parts, index, strict=True):
            if isinstance(kind, Known) and kind.value is None:
                dims.append(None)
            elif isinstance(kind, Known):
                dims += owner.dims[axis : axis + rest]
                axis += rest
            else:
                if isinstance(part, gast.Slice):
                    dims.append(self._length(part, owner.dims[axis]))
                axis += 1
        dims += owner.dims[axis:]
        if len(dims) != len(found.dims):
            return found
        return Array(found.dtype, tuple(f if f is not None else d for f, d in zip(found.dims, dims, strict=True)))

    def _length(self, part: gast.Slice, dim: Dim) -> Dim:
        if part.lower is None and part.upper is None and part.step is None:
            return dim
        texts, names = zip(*map(self._text, (part.lower, part.upper, part.step)), strict=True)
        key = f"{':'.join(texts)} of {dim}"
        if "?" in key or dim is None:
            return None
        if key not in self.known:
            if len(self.known) >= _MOST:
                return None
            self.known[key] = Size(-1 - len(self.known))
            self.names[self.known[key]] = set().union(*names)
        return self.known[key]

    def believed(self, name: str, kind: Kind | None) -> Kind | None:
        """The kind as it holds for all the life of a variable; an axis of unknown length is one that it keeps."""
        if name in self.unit.temps:
            return kind
        if isinstance(kind, Array) and kind.dims is not None and None in kind.dims and self._bound_once(name):
            dims = (self._axis(name, k) if d is None else d for k, d in enumerate(kind.dims))
            kind = Array(kind.dtype, tuple(dims))
        if not has_symbols(kind):
            return kind
        if isinstance(kind, Array) and self.tree is not None:
            used = set().union(*(self.names.get(Size(d.k), set()) for d in kind.dims if isinstance(d, Size) and d.k < 0))
            if all(self._outlives(n, name) for n in used):
                return kind
        return without_symbols(kind)

    def _bound_once(self, name: str) -> bool:
        self._prepare()
        return self._lifetimes is not None and self._counts[name] == 1

    def _axis(self, name: str, axis: int) -> Size | None:
        key = f"{name}#{axis}"
        if key not in self.known:
            if len(self.known) >= _MOST:
                return None
            self.known[key] = Size(-1 - len(self.known))
            self.names[self.known[key]] = {name}
        return self.known[key]

    def _prepare(self) -> None:
        if self._lifetimes is None and self.tree is not None:
            self._lifetimes = Lifetimes(self.tree)
            self._counts = Counter(b for s in effects.walk(self.tree.body) for b in binds(s))
            self._counts.update(p.id for p in parameters(self.tree))
            self._targets = {s.target.id: id(s.body) for s in effects.walk(self.tree.body) if isinstance(s, gast.For)}

    def _outlives(self, bound: str, name: str) -> bool:
        """Whether `bound` keeps its value while `name` lives."""
        self._prepare()
        if bound == name:
            return True
        if bound not in self.unit.locals:
            return True
        if self._counts[bound] != 1:
            return False
        block = self._targets.get(bound) or self._binder(bound)
        inside = self._lifetimes.home.get(name)
        while inside is not None and inside != block:
            inside = self._lifetimes.parent.get(inside)
        return inside == block

    def _binder(self, bound: str) -> int:
        """The block in which a name is bound."""
        for identity, body in self._lifetimes.blocks.items():
            if any(bound in binds(s) and not isinstance(s, gast.For) for s in body):
                return identity
        return self._lifetimes.root


def _is_plain(kind: Kind) -> bool:
    return isinstance(kind, Number) or (isinstance(kind, Known) and (kind.value is None or kind.value is Ellipsis))


def has_symbols(kind: Kind | None) -> bool:
    """Whether a kind speaks of lengths that are only known at run time."""
    if isinstance(kind, Array) and kind.dims is not None:
        return any(isinstance(d, Size) and d.k < 0 for d in kind.dims)
    if isinstance(kind, Container):
        return any(map(has_symbols, kind.items or ())) or has_symbols(kind.item)
    return isinstance(kind, Number) and isinstance(kind.size, Size) and kind.size.k < 0


def without_symbols(kind: Kind | None) -> Kind | None:
    """The kind as another function, or a later statement, may believe it."""
    if not has_symbols(kind):
        return kind
    if isinstance(kind, Array):
        return Array(kind.dtype, tuple(None if isinstance(d, Size) and d.k < 0 else d for d in kind.dims))
    if isinstance(kind, Number):
        return Number(kind.type, kind.known, kind.value)
    items = None if kind.items is None else tuple(map(without_symbols, kind.items))
    return Container(kind.type, items, kind.keys, without_symbols(kind.item))
