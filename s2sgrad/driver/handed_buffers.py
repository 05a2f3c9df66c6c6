"""An adjoint that calls itself adds to one buffer, which is handed down, instead of adding up what its calls return.

    x_bar = np.zeros_like(x)                                      if x_bar is None:
    x_bar += tree_bwd(tree_saved, seed)                ->             x_bar = np.zeros_like(x)
    x_bar[k] += seed                                              tree_bwd(tree_saved, seed, x_bar)
    return x_bar                                                  x_bar[k] += seed
                                                                  return x_bar

A recursion that reads one array then costs what it reads, not one array a call.  The cotangent of a parameter only grows, in
any order: what calls add to a buffer, or to a section of it, need not be a sum of their results.  This is done last, and
not to a text that is differentiated again, for that of a function which writes its arguments costs more.

>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(defined('''
... def tree(x, k):
...     return 0.0 if k >= len(x) else x[k] ** 2 + tree(x, 2 * k + 1)
... def f(x):
...     return tree(x, 0)
... '''))
>>> df(np.ones(3)), "    tree_bwd(tree_saved, seed, x_bar)" in df.source
(array([2., 2., 0.]), True)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import gast
import numpy as np

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import Array
from s2sgrad.backends import NUMPY
from s2sgrad.cleanup import peephole
from s2sgrad.driver.additions import ALONE, Buffers, added_to, augmented, growths, is_plain, terms_of, zeros
from s2sgrad.driver.emitted import Emitted, reached
from s2sgrad.driver.folding import folded
from s2sgrad.driver.program import Program
from s2sgrad.flow.counts import binding_counts
from s2sgrad.flow.facts import Facts
from s2sgrad.ir import reach
from s2sgrad.ir.forms import bound_name, number
from s2sgrad.ir.quote import assign, branch, constant, mentioned, name, rewritten
from s2sgrad.ir.scoping import names
from s2sgrad.transform.calls import Pair


def run(program: Program, entry: Emitted) -> bool:
    """Hand buffers down in the adjoints of a program that call themselves; whether any was."""
    if not any(_calls_itself(pair.bwd) for pair in program.pairs):
        return False
    program.functions = folded(reached(program.functions, [entry]), [entry])
    pairs = [pair for pair in program.pairs if pair.bwd in program.functions and _calls_itself(pair.bwd)]
    sums = [s for pair in pairs for s in _sums(pair)]
    before = -1
    while before != len(sums):
        before, buffers = len(sums), _buffers(sums)
        grown = [g for s in sums for g in growths(s.adjoint, {s.bar}, buffers, {s.bar})]
        given = {(id(result.callee), result.place) for growth in grown for result in growth.results}
        sums = [s for s in sums if (id(s.adjoint), s.place) in given]
    for s in sums:
        s.take_buffer()
    for emitted in program.functions if sums else ():
        if emitted.backend is NUMPY:
            own = {*buffers.get(id(emitted), {}).values()}
            for growth in [*growths(emitted, own | zeros(emitted), buffers, own)]:
                growth.done_by_callees(emitted.unit)
            peephole.branches(emitted.unit, emitted.tree)
    return bool(sums)


def _calls_itself(adjoint: Emitted) -> bool:
    """Whether an adjoint calls itself, perhaps by way of others."""
    if adjoint.tree is None or adjoint.backend is not NUMPY or not is_plain(adjoint):
        return False
    called = [adjoint.unit.helpers.get(n) for n in mentioned(adjoint.tree)]
    return any(reached([adjoint], [f]) for f in called if isinstance(f, Emitted) and f.tree is not None)


def _buffers(sums: list[_Sum]) -> Buffers:
    out: Buffers = {}
    for s in sums:
        out.setdefault(id(s.adjoint), {})[s.place] = s.bar
    return out


@dataclass(eq=False)
class _Sum:
    """The cotangent of a parameter that is an array: an adjoint returns it at a place, under the name `bar`."""

    adjoint: Emitted
    parameter: str
    place: int
    bar: str

    def take_buffer(self) -> None:
        """Add to an argument, zeros where none is given."""
        adjoint, tree = self.adjoint, self.adjoint.tree
        tree.body = rewritten(tree.body, self._added)
        empty = assign(self.bar, reach.call(adjoint.unit, "zeros_like", np.zeros_like, name(self.parameter)))
        missing = branch(gast.Compare(name(self.bar), [gast.Is()], [constant(None)]), [empty])
        missing.origin = empty.origin = getattr(tree.body[-1], "origin", None)
        tree.body.insert(1 + max(k for k, s in enumerate(tree.body) if k == 0 or self.parameter in _unpacked(s)), missing)
        tree.args.args.append(gast.Name(self.bar, gast.Param(), None, None))
        tree.args.defaults.append(constant(None))
        more = " and" if adjoint.buffers else ", added to"
        adjoint.buffers += (self.bar,)
        doc = tree.body[0].value
        doc.value = f"{doc.value.removesuffix('.')}{more} `{self.bar}`."

    def _added(self, statement: gast.AST) -> list[gast.AST]:
        """`x_bar += e` for `x_bar = e` and `x_bar = x_bar + e`; nothing for zeros."""
        unit = self.adjoint.unit
        if bound_name(statement) != self.bar or effects.accumulates(unit, statement) is not None:
            return [statement]
        terms = [(sign, self._as_number(e)) for sign, e in terms_of(unit, statement.value)]
        terms = [(sign, e) for sign, e in terms if number(e) != 0 and not (isinstance(e, gast.Name) and e.id == self.bar)]
        return augmented(statement, name(self.bar, store=True), terms)

    def _as_number(self, e: gast.AST) -> gast.AST:
        """0 for zeros like x, and `e` for `np.full_like(x, e)`."""
        of_x = isinstance(e, gast.Call) and e.args and isinstance(e.args[0], gast.Name) and e.args[0].id == self.parameter
        called = self.adjoint.unit.called(e) if of_x and not e.keywords else None
        if called is np.zeros_like or called is runtime.zeros:
            return constant(0.0)
        return e.args[1] if called is np.full_like else e


def _sums(pair: Pair) -> Iterator[_Sum]:
    """The cotangents of arrays to which an adjoint only adds, and whose arguments are there when it begins."""
    tree, unit = pair.bwd.tree, pair.bwd.unit
    *others, last = [s for s in effects.walk(tree.body) if isinstance(s, gast.Return)]
    if others or last is not tree.body[-1]:
        return
    values = [last.value] if len(pair.active) == 1 else last.value.elts
    for k, (parameter, value) in enumerate(zip(pair.active, values, strict=True)):
        kind = unit.kinds.get(parameter)
        real = isinstance(kind, Array) and kind.dtype is not None and np.dtype(kind.dtype).kind == "f"
        if real and isinstance(value, gast.Name) and _is_there(pair, parameter) and _only_grows(pair.bwd, value.id):
            yield _Sum(pair.bwd, parameter, ALONE if len(pair.active) == 1 else k, value.id)


def _is_there(pair: Pair, parameter: str) -> bool:
    """Whether a parameter stands for its argument where the adjoint begins, and always."""
    if pair.fwd.tree is not None and binding_counts(pair.fwd.tree.body)[parameter]:
        return False
    body = pair.bwd.tree.body
    if any(p.id == parameter for p in pair.bwd.tree.args.args):
        return not binding_counts(body)[parameter]
    return binding_counts(body)[parameter] == 1 and any(parameter in _unpacked(s) for s in body)


def _unpacked(statement: gast.AST) -> set[str]:
    """The names that `x, k = saved` binds."""
    unpacks = isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Tuple)
    return set(effects.targets(statement)) if unpacks and isinstance(statement.value, gast.Name) else set()


def _only_grows(adjoint: Emitted, bar: str) -> bool:
    """Whether a cotangent is bound once on each path, is added to, is returned, and nothing else."""
    lifetimes = Facts(adjoint.tree).lifetimes
    for statement in effects.walk(adjoint.tree.body):
        times = sum(n == bar for n in names(effects.header(statement)))
        if times and bound_name(statement) == bar:
            anew = times == 1 and not lifetimes.is_rebound(bar, statement)
            more = effects.accumulates(adjoint.unit, statement) == bar or _adds_to(adjoint, statement.value, bar)
            if not anew and not (more and times == 2):
                return False
        elif times and (times > 1 or not (isinstance(statement, gast.Return) or added_to(statement) == bar)):
            return False
    return True


def _adds_to(adjoint: Emitted, value: gast.AST, bar: str) -> bool:
    """Whether a value is `x_bar + e`."""
    return any(sign > 0 and isinstance(e, gast.Name) and e.id == bar for sign, e in terms_of(adjoint.unit, value))
