"""Zeros like zeros are zeros like what these were made like.

    x_bar = np.zeros_like(x)                                x_bar = np.zeros_like(x)
    x_bar_dot = np.zeros_like(x_bar)               ->       x_bar_dot = np.zeros_like(x)

    t = np.zeros(x_bar.shape)                               t = np.zeros(x.shape)
    t_dot = np.zeros_like(t)                       ->       t_dot = np.zeros(x.shape)

Nobody may read the first of the two but for its shape: dead-code elimination removes it then.  Neither its name nor what it
was made like may be bound anew in between, and no list may grow or shrink; what is in an array does not matter.

>>> import numpy as np
>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(grad(defined('''
... def f(x):
...     return np.sum(x[1:] * x[:-1])
... ''')))
>>> df(np.ones(3)).tolist(), "x_bar_dot = np.zeros_like(x)" in df.source, "x_bar =" in df.source
([1.0, 2.0, 1.0], True, False)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array, Kind
from s2sgrad.analysis.sizes import Size
from s2sgrad.analysis.symbolic_shapes import is_exact
from s2sgrad.cleanup.described import Descriptions
from s2sgrad.flow.available import Available
from s2sgrad.flow.counts import binding_counts
from s2sgrad.flow.graph import Graph, Point, binds
from s2sgrad.ir.forms import bound_name, receiver
from s2sgrad.ir.quote import COMPOUND, clone, mentioned, nodes, nodes_of
from s2sgrad.ir.unit import Unit, is_derived, parameters

_ATTRIBUTES = frozenset({gast.Attribute})
_LIKE = (np.zeros_like, runtime.zeros)


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Make zeros of derivatives like what other zeros were made like."""
    ours = [s for s in effects.walk(tree.body) if is_derived(s) or unit.primal.is_generated]
    _ask_arguments(unit, tree, ours)
    sources = _sources(unit, tree, {n.id for s in ours for n in _asked(unit, s)})
    if not sources:
        return tree
    ends: dict[str, list[str]] = {}
    for bound, source in sources.items():
        for name in {bound, *effects.reads(source)}:
            ends.setdefault(name, []).append(bound)

    def spoiled(point: Point) -> Iterator[str]:
        return (bound for n in _bound_anew(unit, point.statement, point.binds) if n in ends for bound in ends[n])

    available = Available(Graph(tree, unit.kept), {n: [s] for n, s in sources.items()}, spoiled, at_start=False)
    for statement in ours:  # in order: zeros like zeros like zeros
        for like in _asked(unit, statement):
            if like.id in sources and available.before(like.id, statement):
                _ask(unit, statement, like, sources[like.id])
    return tree


def _ask_arguments(unit: Unit, tree: gast.FunctionDef, ours: list[gast.AST]) -> None:
    """Ask arguments for shapes that are theirs, in the place of what only loops bind, which need not be recorded then."""
    shaped = _shaped(unit, tree)
    if not shaped:
        return
    outside = {n for s in tree.body for n in binds(s)} | {p.id for p in parameters(tree)}
    unnamed: dict[str, str] = {}  # from adjoints to the temporaries whose zeros they begin with
    for statement in ours:
        for like in _asked(unit, statement):
            kind = unit.kinds.get(like.id)
            if like.id not in outside and isinstance(kind, Array) and kind in shaped:
                if like.id in unit.temps and (bar := bound_name(statement)) is not None:
                    unnamed[bar] = like.id
                like.id = shaped[kind]
                unit.rewritten(statement)
    if unnamed:
        bound = ((bound_name(s), s) for s in effects.walk(tree.body))
        values = {x: s.value for x, s in bound if x is not None and x in unnamed.values()}
        words = Descriptions(unit, values, mentioned(tree)).of_all(list(values))
        unit.derivative.said |= {bar: f"{words[x]}_bar" for bar, x in unnamed.items() if x in words}


def _shaped(unit: Unit, tree: gast.FunctionDef) -> dict[Kind, str]:
    """By kind: an argument of that shape, or the only copy of one that is made before anything else happens to either.
    A seed may be None."""
    given = {p.id: p.id for p in parameters(tree) if p.id not in unit.derivative.seeds}
    counts = binding_counts(tree.body)
    for statement in tree.body:
        name = bound_name(statement)
        copied = receiver(getattr(statement, "value", None), "copy") if name is not None else None
        if isinstance(statement, COMPOUND):
            break
        if name is None or not isinstance(copied, gast.Name) or name in given or counts[name] != 1:
            continue
        if given.get(copied.id) == copied.id:
            given[copied.id] = name
    kinds = {name: unit.kinds.get(name) for name in reversed(given)}
    told = {kind: name for name, kind in kinds.items() if kind is not None and _is_told_by_sizes(unit, kind)}
    return {kind: given[name] if unit.kinds.get(given[name]) == kind else name for kind, name in told.items()}


def _is_told_by_sizes(unit: Unit, kind: Kind | None) -> bool:
    """Whether arrays of a kind have one shape: each size is that of an axis of an argument, wherever sections end."""
    if not isinstance(kind, Array) or kind.dtype != "float64" or not kind.dims:
        return False
    return all(isinstance(d, Size) and d.k >= 0 and d.offset == 0 and is_exact(unit, d) for d in kind.dims)


def _sources(unit: Unit, tree: gast.FunctionDef, wanted: set[str]) -> dict[str, gast.Assign]:
    """The statements that make zeros, by the names that nothing else binds."""
    made: dict[str, list[gast.AST]] = {}
    for statement in effects.walk(tree.body) if wanted else ():
        for name in wanted.intersection(_bound_anew(unit, statement, binds(statement))):
            made.setdefault(name, []).append(statement)
    once = {n: statements[0] for n, statements in made.items() if len(statements) == 1}
    return {n: s for n, s in once.items() if bound_name(s) == n and _is_made_of_shapes(unit, s)}


def _bound_anew(unit: Unit, statement: gast.AST, bound: Iterable[str]) -> Iterable[str]:
    """The names that a statement binds, but for an array that it adds to, which keeps its shape; and the containers that it
    changes, whose items are others then."""
    plain = isinstance(statement, gast.AugAssign) and isinstance(statement.target, gast.Name)
    if plain and isinstance(unit.kinds.get(statement.target.id), Array):
        return ()
    return {*bound, *(n for n in unit.changed(statement) if not isinstance(unit.kinds.get(n), Array))}


def _asked(unit: Unit, statement: gast.AST) -> list[gast.Name]:
    """The names that a statement reads for their shapes only."""
    like = _like(unit, statement)
    if like is not None:
        return [like]
    found = [n.value for n in nodes_of(effects.header(statement), _ATTRIBUTES) if n.attr == "shape"]
    return [owner for owner in found if isinstance(owner, gast.Name)]


def _ask(unit: Unit, statement: gast.Assign, like: gast.Name, source: gast.Assign) -> None:
    """Ask what some zeros were made like, where they were made like something; else make the same zeros again."""
    first, kind = _like(unit, source), unit.kinds.get(like.id)
    same = unit.called(source.value) is unit.called(getattr(statement, "value", None))
    if _like(unit, statement) is not like:  # it asks for the shape of an array
        same = first is not None and isinstance(unit.kinds.get(first.id), Array)
    if first is not None and same:
        like.id = first.id
    elif first is None and _like(unit, statement) is not None:
        if not isinstance(kind, Array) or kind.dtype != "float64":
            return
        statement.value = clone(source.value)
    unit.rewritten(statement)


def _like(unit: Unit, statement: gast.AST) -> gast.Name | None:
    """`x` of `y = np.zeros_like(x)`."""
    value: Any = statement.value if bound_name(statement) is not None else None
    plain = isinstance(value, gast.Call) and len(value.args) == 1 and not value.keywords
    if not plain or not isinstance(value.args[0], gast.Name) or not effects.is_one_of(unit.called(value), _LIKE):
        return None
    like: gast.Name = value.args[0]
    return like


def _is_made_of_shapes(unit: Unit, statement: gast.Assign) -> bool:
    """Whether a statement makes zeros like another name, or of a shape that is as short again."""
    like, value = _like(unit, statement), statement.value
    if like is not None:
        return bool(like.id != bound_name(statement))
    if not isinstance(value, gast.Call) or unit.called(value) is not np.zeros or len(value.args) != 1 or value.keywords:
        return False
    kinds = (gast.Name, gast.Constant, gast.Tuple, gast.Attribute, gast.expr_context)
    plain = all(isinstance(n, kinds) and getattr(n, "attr", "shape") == "shape" for n in nodes(value.args[0]))
    return plain and effects.reads(statement).isdisjoint({*unit.temps, bound_name(statement)})
