"""Values that are numbers on one path and arrays on another: arrays whose axes are stretched where they have length 1.

    below = 0.0                                below = np.empty((1,)); below[0] = 0.0
    if k > 0:                        ->        if k > 0: ...
        below = g * 0.5                        n1 = below.shape[0]; s1 = 0 if n1 == 1 else 1
    y = x - below                              for i in range(n0): y[i] = x[i] - below[i * s1]

Beside an array, a number and an array of one element give the same.  Where they do not, there are no loops.
"""

from __future__ import annotations

import contextlib
from typing import Any

import gast

from s2sgrad.compiled.output import Nest, Store
from s2sgrad.compiled.values import (
    FLOAT,
    INT,
    ONE,
    Extent,
    Extents,
    Leaf,
    Loose,
    Scalar,
    Tree,
    Unfit,
    element,
    is_array,
    unchanged,
    whole,
)
from s2sgrad.compiled.writer import Again, Found, Writer

_ALONE = (gast.Add, gast.Sub, gast.Mult, gast.USub)  # never raise, of numbers
NUMBER = ("0",)  # what is known of the axes of what is a number here


def joined(found: Found, key: str, what: tuple) -> bool:
    """Whether a variable that is bound to what is of this type is known to be loose; Again where that is new."""
    known = found.types.get(key)
    if known is None or known[0] is what[0] or not {known[0], what[0]} <= {Loose, Leaf, Scalar}:
        return False
    array = what if known[0] is Scalar else known
    other = known if array is what else what
    if array[1] != FLOAT or other[1] not in (FLOAT, INT) or (other[0] is not Scalar and other[1:3] != array[1:3]):
        raise Unfit(f"`{key}` has values of two types")
    if known[0] is not Loose:
        found.types[key] = (Loose, *array[1:3])
        raise Again
    return True


def of_number(writer: Writer, key: str, value: Scalar, rank: int) -> None:
    """Bind a loose variable to a number."""
    text = value.text if value.dtype == FLOAT else f"float({value.text})"
    writer.line(f"{key} = np.empty(({'1, ' * rank}))")
    writer.line(f"{key}[{', '.join('0' * rank)}] = {text}")


def measured(writer: Writer, leaf: Leaf) -> Loose:
    """The value under a name, whose sizes are read."""
    return Loose(leaf, _scales(writer, leaf.extents))


def _scales(writer: Writer, extents: Extents) -> tuple[str, ...]:
    scales = []
    for extent in extents:
        scales.append(writer.fresh("s"))
        writer.line(f"{scales[-1]} = 0 if {extent} == 1 else 1")
    return tuple(scales)


def a_number(key: str, rank: int) -> Loose:
    """The value under a name where it is known to be a number."""
    return Loose(whole(key, (ONE,) * rank, FLOAT), NUMBER * rank)


def plain(writer: Writer, operation: Any, operands: list[Any]) -> tuple[list[Any], tuple[str, ...] | None]:
    """The operands as arrays; and, if there is no array besides, how the axes of the result are stretched."""
    arrays = [o for o in operands if is_array(o)]
    if arrays:
        extents = writer.broadcast([a.extents for a in arrays])
        return [stretched(writer, o, extents) if isinstance(o, Loose) else o for o in operands], None
    first, *others = [o for o in operands if isinstance(o, Loose)]
    if operation not in _ALONE or any(o.rank != first.rank for o in others):
        raise Unfit("an operation on what may be numbers or arrays")
    if all((o.value.extents, o.scales) == (first.value.extents, first.scales) for o in others):
        return [o.value if isinstance(o, Loose) else o for o in operands], first.scales
    extents, scales = _wider(writer, first, others[0])
    return [stretched(writer, o, extents) if isinstance(o, Loose) else o for o in operands], scales


def _wider(writer: Writer, a: Loose, b: Loose) -> tuple[Extents, tuple[str, ...]]:
    """The sizes of an operation on two loose values: those of the one that is an array, if one is."""
    extents = []
    for m, n in zip(a.value.extents, b.value.extents, strict=True):
        extents.append(Extent(writer.fresh("n")))
        writer.line(f"{extents[-1]} = wider({m}, {n})")
        writer.lengths.add(str(extents[-1]))
    return tuple(extents), _scales(writer, tuple(extents))


def stretched(writer: Writer, loose: Loose, extents: Extents) -> Tree:
    """The elements of a loose value beside an array of these extents."""
    if loose.rank > len(extents):
        raise Unfit("a number or array beside an array of fewer axes")
    leaf, scales = writer.in_memory(loose.value), loose.scales
    own = tuple(extents[len(extents) - loose.rank :])
    for n, e in zip(leaf.extents, own, strict=True):
        if n != ONE:
            writer.once(f"stretches({n}, {e})")

    def places(indices: list[str]) -> list[str]:
        return ["0" if "0" in (i, s) else f"{i} * {s}" if i.isidentifier() else f"({i}) * {s}"
                for i, s in zip(indices, scales, strict=True)]  # fmt: skip

    return Tree(unchanged, (leaf,), own, loose.dtype, places)


def summed_to(writer: Writer, g: Any, x: Loose) -> Loose:
    """The cotangent of a loose value that was stretched: sums along the axes where it was."""
    g = g.value if isinstance(g, Loose) else g
    if not is_array(g) or g.rank < x.rank or g.dtype != FLOAT:
        raise Unfit("a cotangent of what may be a number or an array")
    out = writer.allocate(writer.fresh("a"), x.value.extents, FLOAT)
    writer.out.append(Nest(out.extents, [Store(out, "=", Scalar("0.0", FLOAT))]))
    indices: list[str] = []
    lead = g.rank - x.rank
    for n, e in zip(x.value.extents, g.extents[lead:], strict=True):
        writer.once(f"stretches({n}, {e})")
    with contextlib.ExitStack() as loops:
        for extent in g.extents:
            indices.append(writer.fresh("k"))
            loops.enter_context(writer.block(f"for {indices[-1]} in range({extent}):"))
        places = ", ".join(f"{k} * {s}" for k, s in zip(indices[lead:], x.scales, strict=True))
        writer.line(f"{out.root}[{places}] += {element(g, indices)}")
    return Loose(out, x.scales)


def matched(writer: Writer, g: Loose, x: Any) -> Any:
    """The cotangent of an array or a number; it has its axes."""
    if isinstance(x, Scalar) or x.rank != g.rank:
        raise Unfit("a cotangent of what may be a number or an array")
    for n, e in zip(g.value.extents, x.extents, strict=True):
        writer.once(f"same({n}, {e})")
    return stretched(writer, g, x.extents)
