"""Statements and expressions of the normal form, as loops.

for t in range(n):           ->      for t in range(n):
    y[1:] = x[:-1] * 2.0                 for i in range(n0 - 1):
                                             y[i + 1] = x[i] * 2.0
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import gast
import numpy as np

from s2sgrad.compiled import collected, elementwise, indexing, loose, masks, missing, mixed, picked
from s2sgrad.compiled.elementwise import of_extent
from s2sgrad.compiled.frames import Frame
from s2sgrad.compiled.output import Block, Nest, Store
from s2sgrad.compiled.rows import index_parts
from s2sgrad.compiled.values import (
    BOOL,
    FLOAT,
    FLOATS,
    INT,
    SINGLE,
    Extent,
    Follows,
    Gather,
    Items,
    Leaf,
    Loose,
    Object,
    Scalar,
    Stack,
    Tree,
    Unfit,
    is_array,
    mapped,
    whole,
)
from s2sgrad.compiled.writer import Again, Found, Numbers, Writer
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import libraries

_NUMBERS = (bool, int, float, np.float64, np.float32, np.int64, np.bool_)
_LASTING = (
    bool,
    str,
    type(None),
    types.FunctionType,
    types.BuiltinFunctionType,
    np.ufunc,
)  # what is true of them stays true


Call = Callable[..., Any]


class Functions(Protocol):
    """What the lowering asks for about functions of the user's."""

    def normal_form(self, target: types.FunctionType) -> tuple[Unit, gast.FunctionDef]:
        """The unit and the normal form of a function."""


@dataclass
class Outside:
    """What is read under free names when the function is called, as parameters: (function, name) by parameter."""

    parameters: dict[str, tuple[types.FunctionType, str]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    defaults: list[tuple[Any, Any, Any]] = field(default_factory=list)  # of functions that are written out
    lines: list[Any] = field(default_factory=list)  # before all others: the sizes of arguments
    kept: set[tuple[int, str]] = field(default_factory=set)  # what NumPy computes, and the line of the text
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)  # functions of modules, by the names used


class Lowering:
    """Lowers one function, and those that it calls into it."""

    def __init__(self, functions: Functions, found: Found, taken: set[str], called: Call, matmul: Call) -> None:
        self.functions, self.called, self.matmul = functions, called, matmul
        self.writer = Writer(found, taken)
        self.found = found
        self.outside = Outside()
        self.bounds: indexing.Bounds = {}
        self.short: set[str] = set()  # variables of loops of a few trips
        self.frames: list[Frame] = []
        self.shapes: dict[str, Any] = {}  # of variables, since they were bound; of numbers, whether they are Python's
        self.bound: set[str] = set()  # variables that are certainly bound here
        self.calls = 0
        self.line = 0
        self.given: set[str] = set()  # the names of the arrays that are handed in
        self.reasons: dict[int, str] | None = (
            None  # by line, why it has no loops, if it goes on behind it; None: it is raised
        )

    # --- functions ---

    def run(self, frame: Frame, arguments: dict[str, Any]) -> Any:
        """The result of a function for these arguments."""
        self.frames.append(frame)
        self.writer.held.append(frame.env)
        keys = {frame.name(name) for name in frame.variables}
        self.bound -= keys
        for key in sorted(keys & self.found.unbound):
            self.writer.line(f"{self.writer.item(key, 'bound')} = False")
            missing.begun(self, key)
            for which in ("own", "whole"):
                if (key, which) in self.found.numbers.told:
                    self.writer.line(f"{self.writer.item(key, which)} = False")
        try:
            for parameter in frame.parameters:
                self.assign(frame, parameter, arguments[parameter])
            self.block(frame, frame.tree.body[:-1])
            return self.value(frame, frame.tree.body[-1].value)
        finally:
            self.writer.held.pop()
            self.frames.pop()

    def inlined(self, target: types.FunctionType, arguments: dict[str, Any]) -> Any:
        """The result of a function that is called, whose statements are written here."""
        if any(f.unit.primal.function is target for f in self.frames):
            raise Unfit(f"`{target.__name__}` calls itself")
        if len(self.frames) > 12 or self.calls > 60:
            raise Unfit("so many calls")
        self.calls += 1
        self.outside.defaults.append((target, target.__defaults__, dict(target.__kwdefaults__ or {})))
        unit, tree = self.functions.normal_form(target)
        prefix, taken = f"{tree.name}{self.calls}_", self.writer.taken
        while any(name.startswith(prefix) for name in taken):
            prefix += "_"
        frame = Frame(unit, tree, self.found, prefix)
        taken |= {frame.name(name) for name in frame.own}
        line = self.line
        out = self.run(frame, arguments)
        self.line = line
        return out

    # --- statements ---

    def block(self, frame: Frame, body: list[gast.AST]) -> None:
        """Lower the statements of a block; what they hold back is computed at its end."""
        for k, statement in enumerate(body):
            if frame.file == self.frames[0].file:
                self.line = getattr(statement, "lineno", self.line)
            try:
                form = _STATEMENTS.get(type(statement))
                if form is None:
                    raise Unfit(f"`{type(statement).__name__.lower()}`")
                if not missing.told_apart(self, frame, statement):
                    form(self, frame, statement)
                collected.followed(self.writer, frame, body, k)
            except Unfit as why:
                if self.reasons is None:
                    raise
                self._pass_over(frame, statement, why)

    def _pass_over(self, frame: Frame, statement: gast.AST, why: Unfit) -> None:
        """Note why a statement has no loops, and go on without it, to find other reasons."""
        if self.reasons is not None and not isinstance(why, Follows):
            self.reasons.setdefault(self.line, str(why))
        for name in {n.id for n in nodes(statement) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}:
            frame.env.pop(name, None)
            frame.unknown.add(name)
        for body in (getattr(statement, "body", ()), getattr(statement, "orelse", ())):
            self.block(frame, [*body])

    def assign(self, frame: Frame, name: str, value: Any) -> None:
        """Bind a name."""
        if name in frame.variables:
            self._bind(frame.name(name), value)
        elif isinstance(value, Items):
            frame.env[name] = self.writer.settled(value, frame.name(name))
        elif isinstance(value, (Leaf, Stack, Object)) or frame.uses.waits(name):
            frame.env[name] = value
        else:
            frame.env[name] = self.writer.settled(value, frame.name(name))

    def _bind(self, key: str, value: Any) -> None:
        """Bind a variable."""
        if isinstance(value, Object) and value.value is None and key in self.found.optional:
            self.bound.discard(key)
            self.writer.line(f"{self.writer.item(key, 'bound')} = False")
            return
        self._binds(key)
        if isinstance(value, Object) and isinstance(value.value, bool):
            value = constant(value.value)
        if isinstance(value, Items):
            self._type(key, (Items, value.type, len(value.items), value.keys))
            keys = set(self._keys(key))
            for k, item in enumerate([_out_of_the_way(self, self.writer.settled(v, key), keys) for v in value.items]):
                self._bind(self.writer.item(key, k), item)
        elif isinstance(value, Object):
            self._type(key, (Object, value.value))
        elif isinstance(value, Scalar):
            self._bind_number(key, value)
        elif isinstance(value, Loose):
            loose.joined(self.found, key, what := (Loose, value.dtype, value.rank))
            self._type(key, what)
            self._bind_array(key, value.value)
            self.shapes[key] = (*self.shapes[key], value.scales)
        elif is_array(value):
            self._type(key, (Leaf, value.dtype, value.rank))
            self._bind_array(key, value)
        else:
            raise Unfit("a variable of this type")

    def _bind_number(self, key: str, value: Scalar) -> None:
        _may_be_array(self.found.numbers, key, value.is_array)
        what = (Scalar, value.dtype, value.python, value.weak, _is_short(value))
        if value.own and value.weak:
            what = (Scalar, SINGLE, True, False, False)
        self._may_be_none(key, what)
        known = self.found.types.get(key)
        if loose.joined(self.found, key, what) and known is not None:
            value = self.writer.settled(value)
            self.writer.rebound({key})
            loose.of_number(self.writer, key, value, known[2])
            self.shapes[key] = loose.NUMBER
            return
        if known and known[0] is not Scalar:
            raise Unfit(f"`{key}` has values of two types")
        what = what if known is None else _either(known, what, key)
        differs = bool(value.own) or (known is not None and value.weak != known[3])
        numbers = self.found.numbers
        is_new = differs and key not in numbers.either
        numbers.either |= {key} if is_new else set()
        if what[1] in FLOATS and (value.whole or INT in (value.dtype, known and known[1])):
            numbers.whole.add(key)
        self._type(key, what, known is not None)
        if is_new:
            raise Again
        dtype = FLOAT if what[1] == SINGLE and key in numbers.either else what[1]  # it is held so
        self._binds_to(key, elementwise.held_text(value, dtype), value)

    def _binds_to(self, key: str, text: str, value: Scalar) -> None:
        """Write that a variable is bound to a number, and whether that is Python's, or an integer, if something asks."""
        says = {"own": value.own or str(value.weak), "whole": value.whole or str(value.dtype == INT)}
        if value.own or value.whole:
            self.shapes.pop(key, None)
        else:
            self.shapes[key] = (value.python, value.weak, says["whole"])
        told = self.found.numbers.told
        flags = {self.writer.item(key, which): self.writer.asked(own) for which, own in says.items() if (key, which) in told}
        self.writer.rebound({key, *flags})
        for name, new in {key: text, **flags}.items():
            if name != new:
                self.writer.line(f"{name} = {new}")

    def _binds(self, key: str) -> None:
        """Note that a variable is bound from here on."""
        self.bound.add(key)
        if key in self.found.unbound:
            self.writer.line(f"{self.writer.item(key, 'bound')} = True")

    def variable(self, key: str) -> Any:
        """The value of a variable, which is checked to be bound unless it is certain."""
        if key not in self.bound and key in self.found.types:
            if key not in self.found.unbound:
                self.found.unbound.add(key)
                raise Again
            self.writer.line(f"bound({self.writer.item(key, 'bound')})")
            self.bound.add(key)
        return self._variable(key)

    def _bind_array(self, key: str, value: Any) -> None:
        writer = self.writer
        if isinstance(value, (Tree, Gather)):
            if key in value.reads or any(self.found.share(key, r) for r in value.reads):
                value = writer.stored(value)
            else:
                writer.rebound({key})
                self.shapes[key] = writer.stored(value, key).extents
                return
        elif not value.is_whole:
            if not writer.stays(value.root) or not writer.stays(key):
                raise Unfit(f"`{key}` stands for several views")
            value = writer.stored(value)
        if self._is_known(value.root):
            self.found.join(value.root, key)
        writer.rebound({key})
        writer.line(f"{key} = {value.root}")
        self.shapes[key] = value.extents

    def _is_known(self, root: str) -> bool:
        """Whether memory can be reached under this name later: it is no new array that is only being bound."""
        named = root in self.found.types or root in self.parameters or root in self.found.sharing.groups
        held = any(root in v.reads for held in self.writer.held for v in held.values())
        return named or held or root in self.found.sharing.groups.values()

    def _type(self, key: str, what: tuple, widens: bool = False) -> None:
        self._may_be_none(key, what)
        known = self.found.types.get(key)
        if known is None:
            self.found.types[key] = what
        elif known != what and not loose.joined(self.found, key, what):
            if not widens or known[0] is not what[0]:
                raise Unfit(f"`{key}` has values of two types")
            if what[1] != known[1]:  # what follows from the other type is found out anew
                types_ = self.found.types
                self.found.types = {k: t for k, t in types_.items() if t[0] is not Scalar or t[1] != known[1]}
            self.found.types[key] = what
            raise Again

    def _may_be_none(self, key: str, what: tuple) -> None:
        """Note that a variable is None in one place, and an array or a number in another."""
        known = self.found.types.get(key)
        if known is None or known == what or (Object, None) not in (known, what):
            return
        other = what if known == (Object, None) else known
        if other[0] in (Scalar, Leaf):
            self.found.may_be_none({key: other})
            raise Again

    def _variable(self, key: str) -> Any:
        """The value of a variable."""
        known = self.found.types.get(key)
        if known is None:
            raise Unfit(f"`{key}` is read before it is bound")
        if known[0] is Items:
            return Items(tuple(self._variable(self.writer.item(key, k)) for k in range(known[2])), known[1], known[3])
        if known[0] is Object:
            return Object(known[1])
        if known[0] is Scalar:
            return _number(self, key, known)
        if key not in self.shapes:
            extents = []
            for axis in range(known[2]):
                n = self.writer.fresh("n")
                self.writer.line(f"{n} = {key}.shape[{axis}]")
                self.writer.lengths.add(n)
                extents.append(Extent(n))
            self.shapes[key] = tuple(extents)
            if known[0] is Loose:
                value = loose.measured(self.writer, whole(key, tuple(extents), known[1]))
                self.shapes[key] = (*extents, value.scales)
        return self._array(key, *known)

    def _array(self, key: str, kind: Any, dtype: str, rank: int) -> Any:
        """The array under a variable, or what is one at times."""
        shape = self.shapes[key]
        if kind is Loose and shape is loose.NUMBER:
            return loose.a_number(key, rank)
        return whole(key, shape, dtype) if len(shape) == rank else Loose(whole(key, shape[:rank], dtype), shape[rank])

    def compound(self, frame: Frame, *bodies: list[gast.AST]) -> None:
        """Prepare for blocks that may run once, often or never."""
        self.writer.settle()
        stores = (n for body in bodies for s in body for n in nodes(s) if isinstance(n, gast.Name))
        bound = {n.id for n in stores if isinstance(n.ctx, gast.Store) and n.id in frame.variables}
        keys = {k for n in bound for k in self._keys(frame.name(n))}
        self.writer.rebound(keys)
        self.shapes = {k: v for k, v in self.shapes.items() if k not in keys}
        self.bound -= keys & self.found.optional

    def _keys(self, key: str) -> list[str]:
        """The names of a variable in the lowered function, one for each item of a tuple."""
        known = self.found.types.get(key)
        if known is not None and known[0] is Items:
            return [k for item in range(known[2]) for k in self._keys(self.writer.item(key, item))]
        return [key]

    def within(
        self,
        frame: Frame,
        head: str,
        body: list[gast.AST] | Callable[[], None],
        into: Block | None = None,
        there: Iterable[str] = (),
    ) -> tuple[Block, set[str]]:
        """Write a block, in which some variables are not None; it, and the variables that are certainly bound at its end."""
        shapes, bounds, certain = self.shapes, self.bounds, set(self.bound)
        self.bound |= {*there}
        self.shapes, self.bounds = dict(shapes), dict(bounds)
        with self.writer.block(head, into) as block:
            body() if callable(body) else self.block(frame, body)
            self.writer.settle()
        bound = self.shapes
        self.shapes = {k: v for k, v in shapes.items() if bound.get(k) is v}
        within = self.bound
        self.bounds, self.bound = bounds, certain
        return block, within

    # --- expressions ---

    def value(self, frame: Frame, node: gast.AST) -> Any:
        """The value of an expression."""
        form = _EXPRESSIONS.get(type(node))
        if form is None:
            raise Unfit(f"`{type(node).__name__.lower()}`")
        return form(self, frame, node)

    def free(self, frame: Frame, node: gast.AST) -> Any:
        """What a free name, or an attribute of a module, stands for."""
        value = frame.unit.resolve(node)
        if value is MISSING:
            raise Unfit(f"`{getattr(node, 'id', getattr(node, 'attr', ''))}`, of which nothing is known")
        if isinstance(node, gast.Attribute):
            if isinstance(value, _NUMBERS) and libraries.is_installed(frame.unit.resolve(node.value)):
                return constant(value)
            return Object(value) if not isinstance(value, (*_NUMBERS, np.ndarray)) else _unfit("data of a module")
        if isinstance(value, (*_NUMBERS, np.ndarray)) and node.id not in frame.unit.helpers:
            return self._outside(frame, node.id, value)
        return constant(value) if type(value) is tuple else Object(value)

    def _outside(self, frame: Frame, name: str, value: Any) -> Any:
        where = (frame.unit.primal.function, name)
        for parameter, place in self.outside.parameters.items():
            if place[0] is where[0] and place[1] == name:
                return self.outside.values[parameter]
        parameter = self.writer.fresh(f"outside_{name}_")
        self.outside.parameters[parameter] = where
        here, self.writer.out = self.writer.out, self.outside.lines
        self.outside.values[parameter] = out = argument(self.writer, parameter, value)
        self.writer.out = here
        return out

    @property
    def parameters(self) -> set[str]:
        """The names of the arrays that are handed in."""
        given = {*self.outside.parameters, *self.given}
        return given


def _unfit(why: str) -> Any:
    raise Unfit(why)


def _either(a: tuple, b: tuple, key: str) -> tuple:
    """What is known of a number that is one of two: Python's are float32 beside such ones; all but constants are checked."""
    dtypes, short = {a[1], b[1]}, {t[1]: t[4] or (t[1] == FLOAT and t[3]) for t in (a, b)}
    if dtypes == {INT, FLOAT}:
        dtypes, a = {FLOAT}, (*a[:1], b[1], *a[2:])
    elif len(dtypes) > 1 and SINGLE in dtypes and all(short[d] for d in dtypes - {SINGLE}):
        dtypes = {SINGLE}
    if len(dtypes) > 1:
        raise Unfit(f"`{key}` has values of two types")
    return (Scalar, *dtypes, a[2] or b[2], a[3] and b[3] and a[1] == b[1], a[4] and b[4])


def _may_be_array(numbers: Numbers, key: str, is_array: bool | None) -> None:
    """Note whether a variable is an array without axes: at times, or always."""
    known = numbers.without_axes.setdefault(key, is_array)
    if known is not None and known is not is_array:
        numbers.without_axes[key] = None
        raise Again


def _number(self: Lowering, key: str, known: tuple) -> Scalar:
    """The number under a variable."""
    numbers = self.found.numbers
    python, weak, said = self.shapes.get(key, (*known[2:4], self.writer.item(key, "whole")))
    whole = said if key in numbers.whole and said != "False" else ""
    narrow, certain = known[1] == SINGLE and key in numbers.either, key in self.shapes or key not in numbers.either
    own = "" if certain else self.writer.item(key, "own")
    reads = frozenset({key, own, whole} - {"", "True"})
    is_array = numbers.without_axes.get(key, False)
    if not certain or (narrow and weak):
        dtype, weak = FLOAT if narrow else known[1], narrow
        return Scalar(key, dtype, True, reads, weak=weak, own=own, whole=whole, is_array=is_array)
    text = elementwise.cast_text(key, SINGLE) if narrow else key
    return Scalar(text, known[1], python, reads, weak=weak, whole=whole, is_array=is_array)


def _is_short(value: Scalar) -> bool:
    """Whether a number is a constant of Python's that float32 has as well."""
    if not value.weak or value.reads or value.dtype == BOOL:
        return False
    known = value.affine.offset if value.affine is not None and value.affine.base is None else value.text
    with contextlib.suppress(ValueError):
        return float(np.float32(known)) == float(known)
    return False


def constant(value: Any) -> Any:
    """A value that is known when the function is lowered."""
    if isinstance(value, (bool, np.bool_)):
        return Scalar(str(bool(value)), BOOL, isinstance(value, bool), weak=isinstance(value, bool))
    if isinstance(value, np.float32):
        return Scalar(elementwise.number(_digits(float(value)), SINGLE), SINGLE)
    if isinstance(value, int):
        return of_extent(Extent(None, value)) if abs(value) < 2**31 else _unfit("a large integer")
    if isinstance(value, (float, np.float64)):
        python = not isinstance(value, np.float64)
        return Scalar(_digits(float(value)), FLOAT, python, weak=python)
    return Items(tuple(map(constant, value))) if type(value) is tuple else Object(value)


def _digits(value: float) -> str:
    return repr(value) if np.isfinite(value) else "np.nan" if value != value else "np.inf" if value > 0 else "(-np.inf)"


_ARRAYS = {np.dtype(np.float64): FLOAT, np.dtype(np.float32): SINGLE, np.dtype(np.int64): INT, np.dtype(np.bool_): BOOL}


def is_small(value: int) -> bool:
    """Whether an integer of Python's has 64 bits, as has what it is with another sign."""
    return abs(value) < 2**63


def argument(writer: Writer, name: str, value: Any) -> Any:
    """The value of a parameter, as its argument is handed in."""
    if isinstance(value, (bool, np.bool_)):
        return Scalar(name, BOOL, isinstance(value, bool), weak=isinstance(value, bool))
    if isinstance(value, int) and not is_small(value):
        raise Unfit("an integer of more than 64 bits")
    if isinstance(value, (int, np.int64)):
        python = isinstance(value, int)
        return Scalar(name, INT, python, affine=Extent(name), weak=python)
    if isinstance(value, (float, np.float64)):
        python = not isinstance(value, np.float64)
        return Scalar(name, FLOAT, python, weak=python)
    if getattr(value, "dtype", None) == np.float32 and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        raise Unfit("float32 before NumPy 2")
    if isinstance(value, np.float32):
        return Scalar(name, SINGLE)
    if isinstance(value, np.ndarray) and type(value) is np.ndarray and value.dtype in _ARRAYS and value.ndim:
        extents = []
        for axis, n in enumerate(value.shape):
            if n == 1:
                extents.append(Extent(None, 1))
            else:
                length = writer.fresh("n")
                extents.append(Extent(length))
                writer.outermost.add(length)
                writer.lengths.add(length)
                writer.line(f"{extents[-1]} = {name}.shape[{axis}]")
        return whole(name, tuple(extents), _ARRAYS[value.dtype])
    if type(value) in (tuple, list, dict):
        return _items_argument(writer, name, value)
    if value is None or isinstance(value, (str, types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
        return Object(value)
    raise Unfit(f"an argument that is a {type(value).__name__}" + (f" of {value.dtype}" if hasattr(value, "dtype") else ""))


def _items_argument(writer: Writer, name: str, value: Any) -> Items:
    keys, items = ((*value,), value.values()) if type(value) is dict else ((), value)
    if not all(type(key) is str for key in keys):
        raise Unfit("a dict whose keys are no strings")
    return Items(tuple(argument(writer, writer.item(name, k), v) for k, v in enumerate(items)), type(value), keys)


# --- statements ---


def _assign(self: Lowering, frame: Frame, s: gast.Assign) -> None:
    (target,) = s.targets if len(s.targets) == 1 else _unfit("an assignment to several targets")
    value = self.value(frame, s.value)
    if isinstance(target, gast.Name):
        if isinstance(value, Stack) and isinstance(s.value, gast.List):
            value.name = self.writer.name_of_list(frame.name(target.id))
        self.assign(frame, target.id, value)
    elif isinstance(target, gast.Tuple):
        _assign_items(self, frame, target, unpacked(self, value, len(target.elts)))
    elif isinstance(target, gast.Subscript):
        _store(self, frame, target, value)
    else:
        raise Unfit("a store into an attribute")


def _assign_items(self: Lowering, frame: Frame, target: gast.Tuple, items: list[Any]) -> None:
    if len(items) != len(target.elts) or not all(isinstance(t, gast.Name) for t in target.elts):
        raise Unfit("this unpacking")
    if all(t.id in frame.variables for t in target.elts) and _swap(self, [frame.name(t.id) for t in target.elts], items):
        return
    if any(t.id in frame.variables for t in target.elts):
        items = [self.writer.settled(v) for v in items]
        keys = {k for t in target.elts if t.id in frame.variables for k in self._keys(frame.name(t.id))}
        items = [_out_of_the_way(self, v, keys) for v in items]
    for t, item in zip(target.elts, items, strict=True):
        self.assign(frame, t.id, item)


def _swap(self: Lowering, keys: list[str], items: list[Any]) -> bool:
    """Exchange the arrays under variables, if that is what it is: two that share no memory before share none after it."""
    if not all(isinstance(v, Leaf) and v.is_whole for v in items) or sorted(v.root for v in items) != sorted(keys):
        return False
    groups = [self.found.sharing.group(k) for k in keys]
    if len(set(groups)) < len(keys) or any(
        n not in keys and self.found.sharing.group(n) in groups for n in self.found.sharing.groups
    ):
        return False
    if _are_collected(self, keys) or any(
        self.found.types.get(k) != (Leaf, v.dtype, v.rank) for k, v in zip(keys, items, strict=True)
    ):
        return False
    self.writer.touch(lambda reads: not reads.isdisjoint(keys))
    becomes = {v.root: k for k, v in zip(keys, items, strict=True)}
    self.writer.renamed(becomes)
    self.writer.line(f"{', '.join(keys)} = {', '.join(v.root for v in items)}")
    self.shapes.update({k: v.extents for k, v in zip(keys, items, strict=True)})
    return True


def _are_collected(self: Lowering, keys: list[str]) -> bool:
    """Whether a list may hold views of these arrays, whose writes are told by the names of roots."""
    roots = {*self.found.assumed, *(root for held in self.writer.views.values() for root in held)}
    return any(self.found.share(key, root) for key in keys for root in roots)


def _out_of_the_way(self: Lowering, value: Any, keys: set[str]) -> Any:
    """A value that stays what it is when variables are bound anew."""

    def moved(part: Any) -> Any:
        if isinstance(part, Leaf) and part.root in keys:
            name = self.writer.fresh(f"{part.root}_")
            self.writer.line(f"{name} = {part.root}")
            self.found.join(name, part.root)
            return replace(part, root=name)
        if isinstance(part, Scalar) and part.reads & keys:
            return self.writer.named(part, "t")
        return part

    return mapped(moved, value)


def unpacked(self: Lowering, value: Any, count: int) -> list[Any]:
    """The items of a tuple, or of an array of this length."""
    if isinstance(value, Items):
        return [*value.items]
    if isinstance(value, (Tree, Gather)):
        value = self.writer.stored(value)
    if isinstance(value, Leaf):
        self.writer.same(Extent(None, count), value.extents[0])
        one = [of_extent(Extent(None, k)) for k in range(count)]
        return [element_of(self, indexing.indexed(self.writer, self.bounds, value, (k,))) for k in one]
    raise Unfit("an unpacking of unknown length")


def element_of(self: Lowering, view: Any) -> Any:
    """A view; one without axes is read as a number."""
    if isinstance(view, Leaf) and not view.rank:
        return Scalar(view.at([]), view.dtype, False, view.reads)
    return view


def _store(self: Lowering, frame: Frame, target: gast.Subscript, value: Any) -> None:
    x = self.value(frame, target.value)
    if not isinstance(x, Leaf):
        raise Unfit("a store into what is no array")
    store(self, x, index_parts(self.writer, self.value(frame, target.slice)), value)


def store(self: Lowering, x: Leaf, items: tuple[Any, ...], value: Any) -> None:
    """`x[items] = value`."""
    writer = self.writer
    if picked.is_picked(x, items):
        self.outside.kept.add((self.line, "[..]"))
        picked.put(writer, x, items, converted(value, x.dtype))
        return
    if masks.is_mask(items):
        masks.store(self, x, items[0], converted(value, x.dtype))
        return
    view = indexing.indexed(writer, self.bounds, x, items)
    if isinstance(value, Loose) and isinstance(view, Leaf):
        value = loose.stretched(writer, value, view.extents)
    value = converted(value, x.dtype)
    if isinstance(view, Gather):
        _scatter(self, view, value)
        return
    if not view.rank and isinstance(value, Scalar):
        writer.will_write(view.root)
        writer.line(f"{view.at([])} = {value.text}")
        return
    if value.rank > view.rank:
        raise Unfit("a store of more axes than there are")
    extents = writer.broadcast([view.extents, value.extents])
    if any(writer.canonical(e) != writer.canonical(v) for e, v in zip(extents, view.extents, strict=True)):
        raise Unfit("a store that stretches its target")
    writer.write(view, value)


def converted(value: Any, dtype: str) -> Any:
    """A value as it is stored into an array."""
    if not isinstance(value, Scalar) and not is_array(value):
        raise Unfit("a store of what is no number or array")
    if value.dtype == dtype:
        return value
    if dtype in FLOATS and value.dtype != BOOL:
        return elementwise.cast(value, dtype)
    raise Unfit(f"a store of {value.dtype} into {dtype}")


def _scatter(self: Lowering, view: Gather, value: Any, op: str = "=") -> None:
    """Store rows at the places that an array says, one after the other."""
    writer = self.writer
    target = writer.in_memory(view.root)
    if target is not view.root:
        raise Unfit("a store of rows into a view")
    index = writer.in_memory(view.index)
    extents = writer.broadcast([view.extents, value.extents])
    if len(extents) != view.rank:
        raise Unfit("a store that stretches its target")
    writer.will_write(target.root)
    if any(self.found.share(r, target.root) for r in value.reads):
        value = writer.settled(value) if isinstance(value, Scalar) else writer.stored(value)
    places = Gather(target, index, extents, target.dtype)
    writer.out.append(Nest(extents, [Store(places, op, value)]))


def scatter_add(self: Lowering, view: Gather, value: Any) -> None:
    """Add rows at the places that an array says, repeated ones several times."""
    _scatter(self, view, value, "+=")


def _augmented(self: Lowering, frame: Frame, s: gast.AugAssign) -> None:
    if not isinstance(s.target, gast.Name):
        x = self.value(frame, s.target.value)
        items = index_parts(self.writer, self.value(frame, s.target.slice))
        old = _read(self, x, items)
        if isinstance(old, Gather):
            old = self.writer.stored(old)
        value = elementwise.apply(self.writer, type(s.op), [old, self.value(frame, s.value)])
        store(self, x, items, value)
        return
    name = s.target.id
    old, more = self.value(frame, gast.Name(name, gast.Load(), None, None)), self.value(frame, s.value)
    if isinstance(old, (Tree, Gather)):
        frame.env[name] = old = self.writer.settled(old, frame.name(name))
    if isinstance(old, Leaf):
        value = elementwise.apply(self.writer, type(s.op), [old, more])
        if isinstance(value, Loose):
            raise Unfit("an update by what may be a number or an array")
        if {value.dtype, old.dtype} == {*FLOATS}:
            value = elementwise.cast(value, old.dtype)
        extents = self.writer.broadcast([old.extents, value.extents])
        if value.rank != old.rank or value.dtype != old.dtype or extents != tuple(map(self.writer.canonical, old.extents)):
            raise Unfit("an update that stretches or converts its target")
        self.writer.write(old, value)
        return
    if isinstance(old, Loose):
        raise Unfit("an update of what may be a number or an array")
    if name not in frame.variables:
        self.found.variables.add(frame.name(name))
        raise Again
    if isinstance(old, Scalar) and old.is_array is not False:
        raise Unfit("an update of an array without axes")
    self._bind(frame.name(name), elementwise.apply(self.writer, type(s.op), [old, more]))


def _expression(self: Lowering, frame: Frame, s: gast.Expr) -> None:
    if not isinstance(s.value, gast.Constant):
        self.value(frame, s.value)


def truth(self: Lowering, value: Any) -> bool | Scalar:
    """What a test says: known, or a number."""
    if isinstance(value, Object):
        if not isinstance(value.value, _LASTING):
            raise Unfit("a test of an object that may change")
        return bool(value.value)
    if isinstance(value, Items):
        return bool(value.items)
    if isinstance(value, Stack):
        return Scalar(f"(len({mixed.counted(value)}) > 0)", BOOL, True) if value.item is not None else False
    if not isinstance(value, Scalar):
        raise Unfit("a test of an array")
    if value.text in ("True", "False"):
        return value.text == "True"
    return value


def _if(self: Lowering, frame: Frame, s: gast.If) -> None:
    there = [missing.present(self, frame, s.test, holds) for holds in (True, False)]
    test = truth(self, self.value(frame, s.test))
    if isinstance(test, bool):
        self.block(frame, s.body if test else s.orelse)
        return
    self.compound(frame, s.body, s.orelse)
    before, start = dict(frame.env), len(self.writer.pushed)
    block, first = self.within(frame, f"if {test.text}:", s.body, there=there[0])
    _leave(frame, before)
    if s.orelse:
        middle = len(self.writer.pushed)
        _, second = self.within(frame, "", s.orelse, block, there[1])
        mixed.branches_apart(self.writer, start, middle)
        _leave(frame, before)
        self.bound |= first & second


def _leave(frame: Frame, before: dict[str, Any]) -> None:
    """Forget the locals of a block."""
    for name in set(frame.env) - set(before):
        del frame.env[name]


def _ends(self: Lowering, frame: Frame, s: gast.For) -> tuple[list[Any], bool]:
    """The arguments of the range of a loop, and whether it runs backwards."""
    backwards, call = False, s.iter
    if isinstance(call, gast.Call) and frame.unit.resolve(call.func) is reversed:
        backwards, (call,) = True, call.args
    if not isinstance(call, gast.Call) or frame.unit.resolve(call.func) is not range or call.keywords:
        raise Unfit("a loop over what is no range")
    if not isinstance(s.target, gast.Name) or s.orelse:
        raise Unfit("this loop")
    ends = [self.value(frame, a) for a in call.args]
    if any(not isinstance(e, Scalar) or e.dtype != INT for e in ends):
        raise Unfit("a range of no integers")
    return ends, backwards


def _items_of(self: Lowering, frame: Frame, s: gast.For) -> list[Any] | None:
    """What a loop over a few items that are known goes through, in its order; None for another loop."""
    backwards = isinstance(s.iter, gast.Call) and frame.unit.resolve(s.iter.func) is reversed
    over = s.iter.args[0] if backwards else s.iter
    if not isinstance(over, (gast.Name, gast.Tuple, gast.List)):
        return None
    value = self.value(frame, over)
    if not isinstance(value, Items) or value.type is dict or len(value.items) > _FEW or _breaks(s.body) or s.orelse:
        raise Unfit("a loop over what is no range")
    return [*value.items[::-1]] if backwards else [*value.items]


def _breaks(body: list[gast.AST]) -> bool:
    return any(isinstance(n, gast.Break) for s in body for n in nodes(s))


def _for(self: Lowering, frame: Frame, s: gast.For) -> None:
    items = _items_of(self, frame, s)
    if items is not None:
        _each_trip(self, frame, s, items)
        return
    ends, backwards = _ends(self, frame, s)
    variable = frame.name(s.target.id)
    trips = _few_trips(ends, s.body)
    if trips is not None and variable in self.found.unrolled:
        _each_trip(self, frame, s, [*map(constant, trips[::-1] if backwards else trips)])
        return
    self.compound(frame, s.body)
    before, bounds = dict(frame.env), self.bounds
    if s.target.id in frame.variables:
        known, what = self.found.types.get(variable), (Scalar, INT, True, True, False)
        self.found.numbers.either |= {variable} if known and known[3:4] != (True,) else set()
        self.found.numbers.whole |= {variable} if known and known[1] in FLOATS else set()
        self._type(variable, _either(known, what, variable) if known and known[0] is Scalar else what, known is not None)
        inner = self.writer.fresh(variable + "_")
    else:
        inner = variable
        frame.env[s.target.id] = Scalar(variable, INT, True, affine=Extent(variable), weak=True)
        self.short |= {variable} if trips is not None else set()
    text, within = _range(self, ends, backwards)
    if within is not None:
        self.bounds = {**bounds, inner: within}
    shapes, certain = self.shapes, set(self.bound)
    self.shapes = {k: v for k, v in shapes.items() if k != variable}
    with self.writer.block(f"for {inner} in {text}:"):
        if inner != variable:
            self._binds(variable)
            held = self.found.types[variable][1]
            number = Scalar(inner, INT, True, weak=True)
            self._binds_to(variable, inner if held == INT else f"float(exact({inner}))", number)
        self.block(frame, s.body)
        self.writer.settle()
    bound = self.shapes
    self.shapes = {k: v for k, v in shapes.items() if bound.get(k) is v}
    self.bounds, self.bound = bounds, certain
    _leave(frame, before)


_FEW = 16


def _few_trips(ends: list[Any], body: list[gast.AST]) -> range | None:
    """The trips of a loop, where they are known and few."""
    known = [k for e in ends if (k := indexing.constant_of(e)) is not None]
    if len(known) < len(ends) or known[2:] == [0] or _breaks(body):
        return None
    trips = range(*known)
    return trips if len(trips) <= _FEW else None


def _each_trip(self: Lowering, frame: Frame, s: gast.For, trips: list[Any]) -> None:
    """Write the trips of a loop one after the other: items of tuples are known in each."""
    for trip in trips:
        before = dict(frame.env)
        if not isinstance(s.target, gast.Name):
            raise Unfit("this loop")
        self.assign(frame, s.target.id, trip)
        self.block(frame, s.body)
        _leave(frame, before)


def _range(self: Lowering, ends: list[Scalar], backwards: bool) -> tuple[str, tuple[Extent, Extent] | None]:
    """The text of a range, perhaps backwards, and the least value and the end of its integers, where they are known."""
    zero, one = of_extent(Extent(None, 0)), of_extent(Extent(None, 1))
    low, high, step = [zero, *ends, one] if len(ends) == 1 else [*ends, one] if len(ends) == 2 else ends
    stride = indexing.constant_of(step)
    if stride not in (1, -1):
        if backwards or stride in (None, 0):
            raise Unfit("a range with this step")
        return f"range({low.text}, {high.text}, {step.text})", None
    a, b = self.writer.extent(low), self.writer.extent(high)
    if stride == 1:
        forwards = f"range({b})" if str(a) == "0" else f"range({a}, {b})"
        return (f"range({b.plus(-1)}, {a.plus(-1)}, -1)" if backwards else forwards), (a, b)
    return (f"range({b.plus(1)}, {a.plus(1)})" if backwards else f"range({a}, {b}, -1)"), (b.plus(1), a.plus(1))


def _while(self: Lowering, frame: Frame, s: gast.While) -> None:
    self.compound(frame, s.body)
    written = len(self.writer.out)
    test = truth(self, self.value(frame, s.test))
    if len(self.writer.out) != written or s.orelse:
        raise Unfit("a loop with this test")
    before = dict(frame.env)
    self.within(frame, f"while {test if isinstance(test, bool) else test.text}:", s.body)
    _leave(frame, before)


def _break(self: Lowering, frame: Frame, s: gast.Break) -> None:
    self.writer.settle()
    self.writer.line("break")


_STATEMENTS: dict[type, Any] = {
    gast.Assign: _assign, gast.AugAssign: _augmented, gast.Expr: _expression, gast.If: _if, gast.For: _for,
    gast.While: _while, gast.Break: _break, gast.Pass: lambda self, frame, s: None,
}  # fmt: skip


# --- expressions ---


def _name(self: Lowering, frame: Frame, node: gast.Name) -> Any:
    if node.id in frame.unknown:
        raise Follows(f"`{node.id}`")
    if node.id in frame.uses.bound:
        if node.id in frame.variables:
            return self.variable(frame.name(node.id))
        if node.id not in frame.env:
            raise Unfit(f"`{node.id}` is read before it is bound")
        value = frame.env[node.id]
        if frame.uses.waits(node.id) and isinstance(value, (Tree, Gather, Scalar)):
            del frame.env[node.id]
        return value
    return self.free(frame, node)


def _attribute(self: Lowering, frame: Frame, node: gast.Attribute) -> Any:
    if frame.unit.resolve(node) is not MISSING:
        return self.free(frame, node)
    x = self.value(frame, node.value)
    form = _ATTRIBUTES.get(getattr(np.ndarray, node.attr, None))
    if not is_array(x) or form is None:
        raise Unfit(f"`.{node.attr}`")
    return form(self, x)


def _transposed(self: Lowering, x: Any) -> Any:
    return transposed(self.writer, x, tuple(range(x.rank))[::-1])


def transposed(writer: Writer, x: Any, order: tuple[int, ...]) -> Any:
    """The array with its axes in another order."""
    extents = tuple(x.extents[k] for k in order)
    if isinstance(x, Leaf):
        return x.over(tuple(order.index(k) for k in range(x.rank)), extents)
    return transposed(writer, writer.stored(x), order)


def _size(self: Lowering, x: Any) -> Any:
    out = of_extent(Extent(None, 1))
    for e in x.extents:
        out = elementwise.apply(self.writer, gast.Mult, [out, of_extent(e)]) if out.text != "1" else of_extent(e)
    return out


_ATTRIBUTES: dict[Any, Any] = {
    np.ndarray.T: _transposed,
    np.ndarray.shape: lambda self, x: Items(tuple(map(of_extent, x.extents))),
    np.ndarray.size: _size,
    np.ndarray.ndim: lambda self, x: of_extent(Extent(None, x.rank)),
    np.ndarray.dtype: lambda self, x: Object(np.dtype(x.dtype)),
}


def _subscript(self: Lowering, frame: Frame, node: gast.Subscript) -> Any:
    x, index = self.value(frame, node.value), self.value(frame, node.slice)
    if isinstance(x, Items):
        return _item(self, x, index)
    if isinstance(x, (Tree, Gather)):
        x = self.writer.stored(x)
    if not isinstance(x, Leaf):
        raise Unfit("an item of what is no array")
    return _read(self, x, index_parts(self.writer, index))


def _read(self: Lowering, x: Leaf, items: tuple[Any, ...]) -> Any:
    """`x[items]`."""
    if picked.is_picked(x, items):
        self.outside.kept.add((self.line, "[..]"))
        return picked.picked(self.writer, x, items)
    if masks.is_mask(items):
        return masks.read(self, x, items[0])
    return element_of(self, indexing.indexed(self.writer, self.bounds, x, items))


def _item(self: Lowering, x: Items, index: Any) -> Any:
    if x.type is dict:
        return x.items[x.place(index)]
    if isinstance(index, Object) and isinstance(index.value, tuple):
        ends = [None if e is None else indexing.constant_of(e) for e in index.value]
        if all(e is None or isinstance(e, int) for e in ends):
            return Items(x.items[slice(*ends)], x.type)
    k = indexing.constant_of(index)
    if isinstance(index, Scalar) and index.affine is not None and index.affine.base in self.short:
        self.found.unrolled.add(index.affine.base)
        raise Again
    if k is None or not -len(x.items) <= k < len(x.items):
        raise Unfit("an item of a tuple that is not known")
    return x.items[k]


def _slice(self: Lowering, frame: Frame, node: gast.Slice) -> Any:
    ends = [None if e is None else self.value(frame, e) for e in (node.lower, node.upper, node.step)]
    return Object(tuple(None if isinstance(e, Object) and e.value is None else e for e in ends))


def _binary(self: Lowering, frame: Frame, node: gast.BinOp) -> Any:
    a, b = self.value(frame, node.left), self.value(frame, node.right)
    if isinstance(node.op, gast.MatMult):
        return self.matmul(self, a, b)
    if isinstance(a, Items) and isinstance(b, Items) and isinstance(node.op, gast.Add) and a.type is b.type is not dict:
        return a.of((*a.items, *b.items))
    return elementwise.apply(self.writer, type(node.op), [a, b])


def _compare(self: Lowering, frame: Frame, node: gast.Compare) -> Any:
    if len(node.ops) != 1:
        raise Unfit("a chain of comparisons")
    op = type(node.ops[0])
    if op in (gast.Is, gast.IsNot) and (there := missing.is_none(self, frame, node)) is not None:
        return there
    a, b = self.value(frame, node.left), self.value(frame, node.comparators[0])
    if op in (gast.Is, gast.IsNot):
        known = [v.value if isinstance(v, Object) else v for v in (a, b)]
        if all(isinstance(k, type) for k in known):
            return Object((known[0] is known[1]) is (op is gast.Is))
        if None not in known:
            raise Unfit("a comparison of objects")
        return Object((known[0] is known[1]) is (op is gast.Is))
    if all(isinstance(v, Scalar) and v.affine is not None and v.affine.base is None for v in (a, b)):
        test = {gast.Eq: int.__eq__, gast.NotEq: int.__ne__, gast.Lt: int.__lt__, gast.LtE: int.__le__, gast.Gt: int.__gt__,
                gast.GtE: int.__ge__}[op]  # fmt: skip
        return Object(test(a.affine.offset, b.affine.offset))
    return elementwise.apply(self.writer, op, [a, b])


def _unary(self: Lowering, frame: Frame, node: gast.UnaryOp) -> Any:
    value = self.value(frame, node.operand)
    if isinstance(node.op, gast.Not):
        value = truth(self, value)
        if isinstance(value, bool):
            return Object(not value)
    if isinstance(node.op, gast.USub) and isinstance(value, Scalar) and value.dtype == FLOAT and not value.reads:
        if elementwise.is_number(value.text):
            return replace(value, text=f"(-{value.text})")
    return elementwise.apply(self.writer, type(node.op), [value])


def _both(self: Lowering, frame: Frame, node: gast.BoolOp) -> Any:
    decides, certain, truths = isinstance(node.op, gast.Or), set(self.bound), []
    for v in node.values:
        truths.append(truth(self, self.value(frame, v)))
        there = missing.present(self, frame, v, not decides)
        self.bound |= {key for key in there if self.found.types[key][0] is Scalar}
    self.bound = certain
    if any(v is decides for v in truths):
        return Object(decides)
    values = [v for v in truths if not isinstance(v, bool)]
    if not values:
        return Object(not decides)
    if any(v.dtype != BOOL for v in values):
        raise Unfit("`and` or `or` of what are no truth values")
    sign = " or " if decides else " and "
    reads = frozenset().union(*(v.reads for v in values))
    own = _own_of_last(values, decides)
    return Scalar(f"({sign.join(v.text for v in values)})", BOOL, True, reads, weak=not own and values[-1].weak, own=own)


def _own_of_last(values: list[Scalar], decides: bool) -> str:
    """What says whether the truth value that decides is Python's, where that differs."""
    owns = [v.own or str(v.weak) for v in values]
    if len({*owns}) == 1 and not values[-1].own:
        return ""
    own = owns[-1]
    for v, o in zip(values[-2::-1], owns[-2::-1], strict=True):
        own = f"({o} if {v.text} else {own})" if decides else f"({own} if {v.text} else {o})"
    return own


def _display(self: Lowering, frame: Frame, node: gast.Tuple | gast.List) -> Any:
    if isinstance(node, gast.List) and not node.elts:
        out = Stack(self.writer.fresh("stack"))
        self.writer.out.append(Opened(out))
        return out
    values = [self.value(frame, e) for e in node.elts]
    values = [self.writer.settled(v) for v in values]
    return Items(tuple(values), tuple if isinstance(node, gast.Tuple) else list)


def _dict(self: Lowering, frame: Frame, node: gast.Dict) -> Any:
    keys = [self.value(frame, k) if k is not None else _unfit("a dict with `**`") for k in node.keys]
    values = [self.writer.settled(self.value(frame, v)) for v in node.values]
    if not all(isinstance(k, Object) and isinstance(k.value, str) for k in keys):
        raise Unfit("a dict of keys that are not known")
    own = {k.value: v for k, v in zip(keys, values, strict=True)}
    return Items((*own.values(),), dict, (*own,))


@dataclass
class Opened:
    """An empty list, which is written if something is pushed."""

    stack: Stack


def _conditional(self: Lowering, frame: Frame, node: gast.IfExp) -> Any:
    test = truth(self, self.value(frame, node.test))
    if isinstance(test, bool):
        return self.value(frame, node.body if test else node.orelse)
    a, b = self.value(frame, node.body), self.value(frame, node.orelse)
    if not (isinstance(a, Scalar) and isinstance(b, Scalar)):
        raise Unfit("a choice between values that are no numbers")
    return elementwise.chosen_number(test.text, test.reads, a, b)


def _call(self: Lowering, frame: Frame, node: gast.Call) -> Any:
    return self.called(self, frame, node)


_EXPRESSIONS: dict[type, Any] = {
    gast.Constant: lambda self, frame, node: constant(node.value), gast.Name: _name, gast.Attribute: _attribute,
    gast.Subscript: _subscript, gast.Slice: _slice, gast.BinOp: _binary, gast.Compare: _compare, gast.UnaryOp: _unary,
    gast.BoolOp: _both, gast.Dict: _dict, gast.Tuple: _display, gast.List: _display, gast.IfExp: _conditional,
    gast.Call: _call,
}  # fmt: skip
