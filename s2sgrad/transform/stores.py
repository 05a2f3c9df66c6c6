"""The adjoint of a store: the overwritten section gets adjoint 0, and the stored value the section's adjoint.

    x[i] = e      ->      e_bar = x_bar[i]; x_bar[i] = 0.0            x[i] *= e      ->      x_bar[i] *= e; ...

While a store is processed, the section of the adjoint keeps its value.  Contributions to other variables read it in place.
Those to the same array wait in temporaries until the section has its new value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Container, Kind, Number
from s2sgrad.analysis.sizes import fitted_dims
from s2sgrad.ir import complex_parts
from s2sgrad.ir.forms import parts_of
from s2sgrad.ir.quote import as_target, clone, constant, expression, loaded, mentioned, name, nodes
from s2sgrad.ir.reach import call
from s2sgrad.ir.scoping import rename
from s2sgrad.ir.simplify import same, simplified
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.memory.sources import is_fresh
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import Gives
from s2sgrad.rules.table import SLOPES, VALUES
from s2sgrad.transform import zeros
from s2sgrad.transform.cotangents import Cotangent, accumulate, in_new_memory, index_value, total
from s2sgrad.transform.environment import Environment


@dataclass
class Store:
    """A store into `base` whose adjoint is being written; `section` is that of its adjoint `bar`."""

    base: str
    bar: str
    section: gast.Subscript
    kind: Kind | None
    primal: gast.Subscript
    owner: Kind | None  # of the object that contains the section
    views: set[str] = field(default_factory=set)
    copies: set[str] = field(default_factory=set)  # names for the old value of the section


def begin(adjoints: Environment, statement: gast.Assign) -> None:
    """Start the adjoint of a store: the stored value gets the adjoint of the section."""
    target: Any = effects.stored(statement)
    base = effects.base(target)
    if base not in adjoints.present:
        return
    adjoints.make_own(base)
    bar = adjoints.bar(base)
    section = loaded(target)
    rename({base: bar}, section)
    flat = isinstance(target.value, gast.Name) or getattr(adjoints.inference.env.get(base), "rank", None) == 0
    if not flat and reshapes(adjoints.unit, target.value):
        adjoints.out.append(laid_out(adjoints.unit, target.value, bar, adjoints.inference.kind))
    kind = _fitted(adjoints.inference.kind(section), adjoints.inference.kind(statement.value))
    primal = loaded(target)
    owner = adjoints.inference.env.get(base)
    if isinstance(owner, Container) and not isinstance(target.value, gast.Name):
        owner = adjoints.inference.kind(primal.value)
    adjoints.storing = Store(base, bar, section, kind, primal, owner)
    value: gast.AST = clone(section)
    if not adjoints.exclusions.selects_once(target.slice) and not isinstance(owner, Container):
        lasting = call(adjoints.unit, "lasting", runtime.lasting, clone(section.value),
                       index_value(section.slice, adjoints.unit.builtin(slice)))  # fmt: skip
        value = call(adjoints.unit, "where", np.where, lasting, value, constant(0.0))
    value = complex_parts.transferred(target, value)
    whole = isinstance(owner, Container) and not isinstance(target.slice, gast.Slice)  # an item is the value itself
    numeric = not isinstance(owner, Container) or isinstance(kind, (Number, Array))
    idle = adjoints.present[base].idle
    idle = idle if effects.is_whole(target.slice) or idle == VALUES else 0
    adjoints.contribute(statement.value, Cotangent(value, kind, whole, None, numeric, idle=idle))


def _fitted(section: Kind | None, value: Kind | None) -> Kind | None:
    """The kind of a section with the sizes that the stored value tells."""
    if not isinstance(section, Array) or not isinstance(value, Array) or section.dims is None or value.dims is None:
        return section
    return Array(section.dtype, fitted_dims(section.dims, value.dims))


def transfer(adjoints: Environment, statement: gast.Assign) -> None:
    """The adjoint of a store into memory that other names may alias: the section's adjoint is read and set to 0."""
    target: Any = effects.stored(statement)
    base = effects.base(target)
    bar, owner = adjoints.bar(base), effects.owner(target)
    section = clone(target, lambda part: name(bar) if part is owner else None)
    section.ctx = gast.Load()
    kind = adjoints.inference.kind(section)
    value: gast.AST = expression("x.copy()", x=clone(section)) if not isinstance(kind, Number) else clone(section)
    if not adjoints.exclusions.selects_once(target.slice):
        lasting = call(adjoints.unit, "lasting", runtime.lasting, clone(section.value),
                       index_value(section.slice, adjoints.unit.builtin(slice)))  # fmt: skip
        value = call(adjoints.unit, "where", np.where, lasting, clone(section), constant(0.0))
    present = adjoints.present[base]
    idle = present.idle
    present.idle = max(idle, adjoints.exclusions.level_of(target.slice))
    if isinstance(statement.value, gast.Name) and statement.value.id in adjoints.active:
        given = adjoints.named(Cotangent(complex_parts.transferred(target, value), kind, own=True, idle=idle))
        adjoints.contribute(statement.value, Cotangent(given.value, kind, False, None, True, None, True, idle))
    section.ctx = gast.Store()
    adjoints.out.append(gast.Assign([section], constant(0.0), None))


def reshapes(unit: Unit, view: gast.AST) -> bool:
    """Whether a store goes through a view that only a contiguous array has: `x.reshape(-1)[i] = e`."""
    for node in nodes(view):
        if isinstance(node, gast.Call):
            target = unit.resolve(node.func)
            if target is MISSING and isinstance(node.func, gast.Attribute):
                target = getattr(np.ndarray, node.func.attr, MISSING)
            if catalogue.of(target).gives is Gives.CONTIGUOUS:
                return True
    return False


def of_container(view: gast.AST, kind: Callable[[gast.AST], Kind | None]) -> gast.AST:
    """The array that a view is taken of, as a list or dict holds it: `d[k]` of `d[k].reshape(-1)`."""
    steps = [view]
    while not isinstance(steps[-1], gast.Name):
        steps.append(effects.operand(steps[-1]))
    array = steps.pop()
    while steps and isinstance(kind(array), Container) and isinstance(steps[-1], gast.Subscript):
        array = steps.pop()
    return array


def laid_out(unit: Unit, view: gast.AST, mirror: str, kind: Callable[[gast.AST], Kind | None]) -> gast.Assign:
    """Make the array that a view is taken of contiguous in `mirror`, an adjoint or tangent; a list or dict may hold it.

    `x.reshape(-1)` gives `x_bar = np.ascontiguousarray(x_bar)`, and `d[k].reshape(-1)`, where `d` is a dict,
    `d_bar[k] = np.ascontiguousarray(d_bar[k])`.
    """
    place = loaded(of_container(view, kind))
    effects.owner(place).id = mirror
    return gast.Assign([as_target(place)], call(unit, "ascontiguousarray", np.ascontiguousarray, clone(place)), None)


def finish(adjoints: Environment) -> None:
    """Emit the collected contributions around the section's new value."""
    store = adjoints.storing
    mine = adjoints.pending.pop(store.base, [])
    again = [c for c in mine if c.index is not None and _is_section(store, c) and adjoints.exclusions.selects_once(c.index)]
    named = isinstance(store.section.value, gast.Name) and isinstance(store.kind, Array)
    if named and effects.is_whole(store.section.slice):
        again += [c for c in mine if c.index is None and c.full]
    later = [adjoints.isolated(c) for c in mine if c not in again]
    for x, given in list(adjoints.pending.items()):
        adjoints.write(x, given)
    adjoints.pending.clear()
    adjoints.storing = None
    if again and isinstance(store.owner, Array):
        bar = adjoints.present[store.base]
        bar.idle = max(bar.idle, zeros.both([c.idle for c in again]))
    _new_value(adjoints, store, [simplified(clone(c.value)) for c in again])
    if later:
        adjoints.write(store.base, later)


def _is_section(store: Store, cotangent: Cotangent) -> bool:
    plain = isinstance(store.section.value, gast.Name)
    return plain and same(store.section.slice, cotangent.index)


def _new_value(adjoints: Environment, store: Store, values: list[gast.AST]) -> None:
    """Emit the adjoint of the section before the store: the sum of contributions to its old value, or 0."""
    target = as_target(store.section)
    values = [store.section if isinstance(v, gast.Name) and v.id in store.copies else v for v in values]
    if not values:
        adjoints.out.append(gast.Assign([target], _zero(adjoints, store), None))
    elif not _accumulated(adjoints, store, target, values):
        _replaced(adjoints, store, target, values)


def _accumulated(adjoints: Environment, store: Store, target: gast.Subscript, values: list[gast.AST]) -> bool:
    """Accumulate contributions in place if the adjoint itself is one of them and the others do not read it."""
    kept = [v for v in values if same(v, store.section)]
    rest = [v for v in values if v not in kept]
    in_array = isinstance(store.owner, Array)  # items of a list may be aliased
    if len(kept) != 1 or not in_array or any(_reads(v, store) for v in rest):
        return False
    for value in rest:
        adjoints.out.append(accumulate(clone(target), value))
    return True


def _zero(adjoints: Environment, store: Store) -> gast.AST:
    """A zero for the overwritten value: for a container's item, which may have any structure, one like the old item."""
    if isinstance(store.owner, Array):
        bar = adjoints.present[store.base]
        bar.idle = max(
            bar.idle, adjoints.exclusions.level_of(store.section.slice) or _is_constant(store.section.slice) * SLOPES
        )
        return constant(0.0)
    if isinstance(store.kind, Number):
        return constant(0.0)
    held: gast.AST = clone(store.primal)
    cut = any(isinstance(n, gast.Slice) for n in nodes(held.slice))
    if not cut and getattr(store.owner, "type", dict) is dict:  # there may have been no old value
        held = call(adjoints.unit, "held", runtime.held, held.value, held.slice)
    return call(adjoints.unit, "zeros", runtime.zeros, held)


def _replaced(adjoints: Environment, store: Store, target: gast.Subscript, values: list[gast.AST]) -> None:
    """Assign the sum of the contributions to the section."""
    in_array = isinstance(store.owner, Array)
    if in_array or isinstance(store.kind, (Number, Array)):
        value = simplified(total(values))
    else:  # possibly containers
        value = functools.reduce(lambda a, b: call(adjoints.unit, "add", runtime.add, a, b), values)
    if isinstance(value, gast.BinOp) and isinstance(value.left, gast.Name) and value.left.id in store.copies:
        value.left = clone(store.section)
    if in_array and isinstance(value, gast.BinOp) and same(value.left, store.section) and not _reads(value.right, store):
        adjoints.out.append(gast.AugAssign(target, value.op, value.right))
    else:
        adjoints.out.append(gast.Assign([target], value, None))


def _is_constant(index: gast.AST) -> bool:
    """Whether an index is constant, so that no mask decides what it selects."""
    parts = parts_of(index)
    bounds = [b for p in parts for b in ((p.lower, p.upper, p.step) if isinstance(p, gast.Slice) else (p,))]
    return all(b is None or isinstance(b, gast.Constant) for b in bounds)


def _reads(node: gast.AST, store: Store) -> bool:
    """Whether an expression reads the section, or a view of it."""
    return bool(mentioned(node) & {store.bar, *store.views})


def reads_section(adjoints: Environment, value: gast.AST) -> bool:
    """Whether an expression reads the adjoint that the store in progress will change."""
    store = adjoints.storing
    return store is not None and _reads(value, store)


def hold(adjoints: Environment, holder: str, value: gast.AST, kind: Kind | None) -> gast.AST:
    """What to bind `holder` to, so that it keeps its value while contributions are collected."""
    if not reads_section(adjoints, value):
        return value
    if same(value, adjoints.storing.section):
        adjoints.storing.copies.add(holder)
    if isinstance(kind, Number):
        return value
    adjoints.storing.views.add(holder)  # read only until the section gets its new value
    return value


def detached(adjoints: Environment, value: gast.AST, kind: Kind | None) -> gast.AST:
    """The value of an expression that survives a change of the section: a copy if it would be a view."""
    if isinstance(kind, Number) or not reads_section(adjoints, value):
        return value
    return in_new_memory(adjoints.unit, value, kind)


def apart(adjoints: Environment, cotangent: Cotangent) -> gast.AST:
    """The value of a cotangent that is put into a list: new memory, since both may be written in place."""
    value = simplified(clone(cotangent.value))  # `x_bar * 1.0` only looks like new memory
    if isinstance(cotangent.kind, Number) or cotangent.own or is_fresh(adjoints.unit, value):
        return value
    return in_new_memory(adjoints.unit, value, cotangent.kind, cotangent.or_none)
