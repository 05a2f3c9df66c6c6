"""A text, lowered for arguments like the given ones: the loops as text, what goes in, and what comes out.

lower(loss_grad, {"x": np.ones(3), "seed": 1.0}).text      ->      "def loss_grad_loops(x, seed): ..."
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from s2sgrad.analysis.kinds import Array
from s2sgrad.analysis.sizes import Size
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.compiled import mixed, repeated, scalars
from s2sgrad.compiled.calls import called
from s2sgrad.compiled.frames import Frame, reserved
from s2sgrad.compiled.fusion import fused
from s2sgrad.compiled.lowering import Functions, Lowering, Opened, argument
from s2sgrad.compiled.output import Block, Line, text_of
from s2sgrad.compiled.products import matmul
from s2sgrad.compiled.threads import shared
from s2sgrad.compiled.values import BOOL, FLOAT, INT, SINGLE, Items, Leaf, Object, Scalar, Unfit, is_array
from s2sgrad.compiled.writer import Again, Found, Writer
from s2sgrad.ir.quote import mentioned

_ROUNDS = 60
_LONGEST = 20.0  # seconds of a compiler
_KINDS = {FLOAT: (float, np.float64), SINGLE: (float, np.float32), INT: (int, np.int64), BOOL: (bool, np.bool_)}


@dataclass(frozen=True)
class Part:
    """How a leaf of a result is handed out: an array, a number of Python's or of NumPy's."""

    make: Any


@dataclass(frozen=True)
class Either:
    """How a number is handed out that is Python's at times: beside it stands whether it is.

    >>> Either(float, np.float64)([0.5, True]), Either(float, np.float64)([0.5, False])
    (0.5, np.float64(0.5))
    """

    python: Any
    other: Any

    def __call__(self, values: list[Any]) -> Any:
        value, is_python = values
        return self.python(value) if is_python else self.other(value)


@dataclass(frozen=True)
class Whole:
    """How a number is handed out that is an integer at times; beside it stand whether it is one, and whether it is Python's.

    >>> Whole(np.float64)([2.0, True, True]), Whole(np.float32)([0.5, False, False])
    (2, np.float32(0.5))
    """

    of_numpy: Any

    def __call__(self, values: list[Any]) -> Any:
        value, is_whole, is_python = values
        if not is_whole:
            return float(value) if is_python else self.of_numpy(value)
        whole = int(scalars.exact(value))
        return whole if is_python else np.int64(whole)


@dataclass(frozen=True)
class Keyed:
    """How a dict is handed out.

    >>> Keyed(("a", "b"))([1, 2])
    {'a': 1, 'b': 2}
    """

    keys: tuple[str, ...]

    def __call__(self, values: list[Any]) -> dict[str, Any]:
        return dict(zip(self.keys, values, strict=True))


@dataclass(frozen=True)
class Lowered:
    """A lowered function: its text, the arguments that are arrays or numbers, what it reads besides, and the result."""

    name: str
    text: str
    takes: tuple[str, ...]
    outside: tuple[tuple[types.FunctionType, str], ...]
    result: Any
    defaults: tuple[tuple[Any, Any, Any], ...] = ()
    kept: tuple[tuple[int, str], ...] = ()  # the lines of which NumPy computes something

    @property
    def shown(self) -> str:
        """The text with what it imports, as it can be run."""
        called = sorted(
            {n.id for n in ast.walk(ast.parse(self.text)) if isinstance(n, ast.Name)} & {*vars(scalars)} - {"np"}
        )
        imports = f"from s2sgrad.compiled.scalars import {', '.join(called)}\n" if called else ""
        return f"import numpy as np\n{imports}\n\n{self.text}"


def lower(
    functions: Functions, function: types.FunctionType, arguments: dict[str, Any], threads: bool = False, equal: bool = True
) -> Lowered:
    """Lower a function for arguments of these types and ranks; Unfit if that is not proven to be the same.

    `equal`: sizes that are equal in these arguments are in all others, too.
    """
    unit, tree = functions.normal_form(function)
    if tree.args.vararg or tree.args.kwarg:
        raise Unfit("a function with `*` or `**`")
    found = Found()
    for _ in range(_ROUNDS):
        lowering = Lowering(functions, found, {*mentioned(tree), *reserved()}, called, matmul)
        found.sharing.is_news = False
        try:
            made = _once(lowering, Frame(unit, tree, found), arguments, threads, equal)
            if not found.sharing.is_news:
                return made
        except Again:
            continue
        except Unfit as why:
            if found.sharing.is_news:
                continue
            ahead = _looked_ahead(functions, function, arguments, threads, equal, found)
            later = ahead.found.optional - found.optional
            if not later:
                reasons = {**(ahead.reasons or {}), lowering.line: str(why)}
                raise Unfit("\n".join(f"line {k}: {reasons[k]}" for k in sorted(reasons))) from None
            found.may_be_none({key: ahead.found.types.get(key) for key in later})
    raise Unfit("what variables stand for is not settled")


def _looked_ahead(
    functions: Functions, function: types.FunctionType, arguments: dict[str, Any], threads: bool, equal: bool, before: Found
) -> Lowering:
    """A lowering that goes on where something has no loops: what the lines behind it say, or why they have none.

    Nothing that it writes is run, and why lines have no loops decides nothing.
    """
    unit, tree = functions.normal_form(function)
    found = Found(kept=dict(before.kept))
    for _ in range(_ROUNDS):
        lowering = Lowering(functions, found, {*mentioned(tree), *reserved()}, called, matmul)
        lowering.reasons = {}
        found.sharing.is_news = False
        try:
            _once(lowering, Frame(unit, tree, found), arguments, threads, equal)
        except Again:
            continue
        except Exception:  # what was passed over is missing somewhere: what was found so far is right
            pass
        if not found.sharing.is_news:
            return lowering
    return lowering


def _once(lowering: Lowering, frame: Frame, arguments: dict[str, Any], threads: bool = False, equal: bool = True) -> Lowered:
    writer, found = lowering.writer, lowering.found
    writer.out = lowering.outside.lines = []
    given = {p: argument(writer, parameter_name(frame, p), arguments[p]) for p in frame.parameters}
    lowering.given = {v.root for p in given.values() for v in _arrays(p)}
    if equal:
        _agree(lowering, given, arguments)
    body: list[Any] = []
    writer.out = body
    result = lowering.run(frame, given)
    values, parts = _results(lowering, result)
    writer.line(f"return ({', '.join([*values, ''])})" if values else "return (0,)")
    takes = [n for p in frame.parameters for n in _names(given[p])]
    if any(found.share(root, other) for root in lowering.parameters for other in found.written):
        raise Unfit("it writes its arguments, or what it reads under free names")
    statements = fused([*lowering.outside.lines, *_opened(body)], found.share, threads)
    statements = shared(statements) if threads else statements
    name = f"{frame.tree.name}_loops"
    text = text_of(name, [*takes, *lowering.outside.parameters], statements)
    imports = [f"from {home} import {called} as {own}\n" for own, (home, called) in lowering.outside.imports.items()]
    text = "".join(imports) + "\n\n" * bool(imports) + text
    seconds = repeated.seconds(text, _LONGEST)
    if seconds > _LONGEST:
        raise Unfit(f"so many loops that a compiler would take about {seconds:.0f} seconds")
    return Lowered(name, text, tuple(takes), tuple(lowering.outside.parameters.values()), parts,
                   tuple(lowering.outside.defaults), tuple(sorted(lowering.outside.kept)))  # fmt: skip


def parameter_name(frame: Frame, parameter: str) -> str:
    """The name of a parameter in the lowered function: another one if it is bound again."""
    own = frame.name(parameter)
    return frame.unlike(f"{own}_given") if parameter in frame.variables else own


def _agree(lowering: Lowering, given: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Check the sizes that are one symbol in the kinds."""
    flat = [v for p in given.values() for v in _leaves(p)]
    values = [v for a in arguments.values() for v in _flat(a)]
    first: dict[int, Any] = {}
    for value, kind in zip(flat, kinds_of(values), strict=True):
        if isinstance(kind, Array) and isinstance(value, Leaf):
            for extent, dim in zip(value.extents, kind.dims or (), strict=True):
                if isinstance(dim, Size) and not dim.offset and extent.base is not None:
                    lowering.writer.same(first.setdefault(dim.k, extent), extent)


def _flat(value: Any) -> Iterator[Any]:
    if type(value) in (tuple, list, dict):
        for item in value.values() if type(value) is dict else value:
            yield from _flat(item)
    else:
        yield value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Items):
        for item in value.items:
            yield from _leaves(item)
    else:
        yield value


def _arrays(value: Any) -> list[Leaf]:
    return [v for v in _leaves(value) if isinstance(v, Leaf)]


def _names(value: Any) -> list[str]:
    return [v.root if isinstance(v, Leaf) else v.text for v in _leaves(value) if isinstance(v, (Leaf, Scalar))]


def flat_arguments(arguments: Iterable[Any]) -> list[Any]:
    """The numbers and arrays among arguments, in the order in which a lowered function takes them."""
    out: list[Any] = []
    for a in arguments:
        if isinstance(a, (np.ndarray, np.generic, float, int)):
            out.append(a)
        elif isinstance(a, (list, tuple, dict)):
            out += flat_arguments(a.values() if isinstance(a, dict) else a)
    return out


def _results(lowering: Lowering, result: Any) -> tuple[list[str], Any]:
    """The texts of the leaves of a result, and its structure."""
    if isinstance(result, Items):
        pairs = [_results(lowering, item) for item in result.items]
        make = Keyed(result.keys) if result.type is dict else result.type
        return [t for texts, _ in pairs for t in texts], (make, tuple(p for _, p in pairs))
    if isinstance(result, Object) and result.value is None:
        return [], None
    if isinstance(result, Scalar):
        return _number(lowering.writer, result)
    if not is_array(result):
        raise Unfit("a result of this type")
    leaf = lowering.writer.in_memory(result)
    if leaf.root in lowering.parameters:
        leaf = lowering.writer.stored(leaf)
    return [leaf.root], Part(None)


def _number(writer: Writer, result: Scalar) -> tuple[list[str], Any]:
    """The texts of a number that is a result, and how it is handed out."""
    if result.is_array is None:
        raise Unfit("a number that may be an array without axes")
    if result.is_array:
        return [result.text], Part(partial(np.array, dtype=result.dtype))
    python, other = _KINDS[result.dtype]
    if result.whole:
        texts = [result.text, writer.asked(result.whole), writer.asked(result.own or str(result.weak))]
        is_single = result.dtype == SINGLE or (result.own and result.weak)
        return texts, (Whole(np.float32 if is_single else np.float64), (Part(None),) * 3)
    if result.own:
        either = Either(python, np.float32 if result.weak else other)
        return [result.text, writer.asked(result.own)], (either, (Part(None), Part(None)))
    return [result.text], Part(python if result.weak else other)


def rebuilt(values: Iterator[Any], structure: Any) -> Any:
    """The result of a function, from its leaves.

    >>> rebuilt(iter([1.0, 2]), (tuple, (Part(np.float64), (list, (Part(int), None)))))
    (np.float64(1.0), [2, None])
    """
    if structure is None:
        return None
    if isinstance(structure, Part):
        value = next(values)
        return value if structure.make is None else structure.make(value)
    kind, parts = structure
    return kind([rebuilt(values, part) for part in parts])


def _opened(body: list[Any]) -> list[Any]:
    """The statements, with empty lists where something is appended to them later; the others are tuples."""
    out: list[Any] = []
    for s in body:
        if isinstance(s, Opened):
            if s.stack.item is not None or s.stack.is_counted:
                out.append(Line(f"{mixed.counted(s.stack)} = {'()' if s.stack.item is None else '[]'}"))
            out += [Line(f"{part.name} = []") for part in s.stack.sorts]
        elif isinstance(s, Block):
            out.append(Block(s.head, _opened(s.body), _opened(s.orelse)))
        else:
            out.append(s)
    return out


def plain_function(lowered: Lowered) -> types.FunctionType:
    """The lowered function as Python runs it, without numba."""
    space = {n: v for n, v in vars(scalars).items() if n[0] != "_"}
    exec(compile(lowered.text, f"<{lowered.name}>", "exec"), space)
    function: types.FunctionType = space[lowered.name]
    return function
