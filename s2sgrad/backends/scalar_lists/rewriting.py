"""Loops over single elements run on lists: Python reads and writes an element of a list several times as fast.

    y = np.zeros(n)                              y = np.zeros(n)
    for i in range(1, n):                        x_list = x.tolist()
        y[i] = a * y[i - 1] + x[i]     ->        y_list = y.tolist()
                                                 for i in range(1, n):
                                                     y_list[i] = a * y_list[i - 1] + x_list[i]
                                                 y[:] = y_list

Only where the loop comes by all elements of an array (or a list of a long one would be made for a few).  And where nothing
else reads or writes its memory meanwhile, and where nothing tells the numbers apart (see `python_numbers`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.elements import is_whole
from s2sgrad.analysis.kinds import Array, Container, Kind, Number, kind_of
from s2sgrad.backends.scalar_lists import own_numbers
from s2sgrad.backends.scalar_lists.loops import YIELDS, Plan, Plans, contents, section
from s2sgrad.backends.scalar_lists.nested_kinds import NestedKinds, with_lists
from s2sgrad.backends.scalar_lists.precision import is_precise
from s2sgrad.backends.scalar_lists.python_numbers import PythonNumbers, Value
from s2sgrad.flow.graph import binds
from s2sgrad.ir.forms import everything, parts_of, whole_number
from s2sgrad.ir.quote import LOOPS, assign, blocks, constant, expression, mentioned, name, nodes
from s2sgrad.ir.unit import Unit

_Unpacked = dict[int, gast.Assign]  # by the identity of what is unpacked


def run(unit: Unit, tree: gast.FunctionDef) -> bool:
    """Put lists in the place of arrays of which loops read and write every element; whether there were any."""
    if not any(isinstance(s, LOOPS) for s in effects.walk(tree.body)):
        return False
    nested = NestedKinds(unit, tree, unit.kinds)
    plans, calls = Plans(unit, tree, nested).found, own_numbers.found(unit, tree, nested)
    if not (plans or calls) or not is_precise(unit, tree, unit.kinds.values()):
        return False
    unpacked = _unpackings(unit, tree) if plans else {}
    while (plans or calls) and _spoiled(unit, tree, plans, unpacked, nested, calls):
        pass
    if not plans and not calls:
        return False
    given = _given(unit, plans, unpacked)
    kinds = with_lists(unit, tree, given)
    if calls:
        turned = with_lists(unit, tree, given | dict.fromkeys(calls, Number(float)))
        worth = own_numbers.worthwhile(tree, calls, kinds, turned)
        if worth:
            kinds = turned if worth == calls else with_lists(unit, tree, given | dict.fromkeys(worth, Number(float)))
        calls = worth
    _Rewriter(unit, plans, unpacked, kinds).block(tree.body, set())
    for node in [*nodes(tree)] if calls else ():
        if id(node) in calls:
            node.func, node.args = unit.builtin(float), [gast.Call(node.func, node.args, [])]
    return bool(plans or calls)


def _given(unit: Unit, plans: list[Plan], unpacked: _Unpacked) -> dict[int, Kind]:
    """The kinds of what lists yield, by the identity of where it stands."""
    counts = {place: len(statement.targets[0].elts) for place, statement in unpacked.items()}
    out: dict[int, Kind] = {place: Container(list, (Number(float),) * n) for place, n in counts.items()}
    found = ((place, unit.kinds[array]) for plan in plans for place, array in plan.elements.items())
    return out | {place: Number(YIELDS[kind.dtype]) for place, kind in found}


def _unpackings(unit: Unit, tree: gast.FunctionDef) -> _Unpacked:
    """The statements `a, b = x` and `a, b = x[i]` that take rows of numbers apart."""
    out = {}
    for statement in effects.walk(tree.body):
        value = statement.value if isinstance(statement, gast.Assign) and effects.stored(statement) is None else None
        row = isinstance(value, gast.Subscript) and is_whole(value.slice, unit)
        owner = value.value if value is not None and row else value
        kind = kind_of(owner, unit.kinds)
        if isinstance(kind, Array) and kind.dtype == "float64" and kind.rank == (2 if row else 1):
            target = statement.targets[0]
            if isinstance(target, gast.Tuple) and all(isinstance(t, gast.Name) for t in target.elts):
                out[id(value)] = statement
    return out


def _spoiled(
    unit: Unit, tree: gast.FunctionDef, plans: list[Plan], unpacked: _Unpacked, nested: NestedKinds, calls: set[int]
) -> bool:  # fmt: skip
    """Take arrays out of the plans and the calls whose numbers must stay NumPy's; whether there were any."""
    causes: dict[int, tuple[Any, Any]] = {place: (None, place) for place in (*unpacked, *calls)}
    for plan in plans:
        plan.find_elements()
        causes |= {place: (plan, array) for place, array in plan.elements.items()}

    def element(node: gast.AST) -> Value[tuple[Any, Any]] | None:
        cause = causes.get(id(node))
        if cause is None:
            return None
        what = "float" if cause[0] is None else YIELDS[unit.kinds[cause[1]].dtype].__name__
        return Value(what, frozenset([cause]))

    spoiled = PythonNumbers(unit, tree, nested, element).spoiled
    for plan, array in spoiled:
        if plan is None:
            calls.discard(array)
            unpacked.pop(array, None)
        else:
            plan.drop(array)
    for plan in plans:
        if not any(unit.kinds[array].dtype == "float64" for array in plan.arrays):
            plan.arrays.clear()
    before = len(plans)
    plans[:] = [plan for plan in plans if plan.arrays]
    return bool(spoiled) or len(plans) < before


class _Rewriter:
    """Carries out the plans of a function, block by block."""

    def __init__(self, unit: Unit, plans: list[Plan], unpacked: _Unpacked, kinds: NestedKinds) -> None:
        self.unit, self.kinds = unit, kinds
        self.plans = {id(plan.loop): plan for plan in plans}
        self.lists: dict[str, str] = {}
        for statement in unpacked.values():
            statement.value = expression("x.tolist()", x=statement.value)

    def block(self, body: list[gast.AST], after: set[str]) -> None:
        """Rewrite a block, after which the names in `after` are mentioned.

        An array stays a list from one loop to the next: it is filled again where something else mentions it.
        """
        out: list[gast.AST] = []
        fresh: dict[str, bool] = {}  # the arrays whose lists are right, and whether the arrays are behind
        filled: list[gast.AST] = []  # goes behind the latest of the loops
        end = 0
        last = {name: k for k, statement in enumerate(body) for name in mentioned(statement)}
        for k, statement in enumerate(body):
            plan = self.plans.get(id(statement))
            if plan is None:
                self._meet(statement, fresh, set(), filled)
                if inner := blocks(statement):
                    inside = after.union(name for name, place in last.items() if place > k)
                    inside |= mentioned(statement) if isinstance(statement, LOOPS) else set()
                    for block in inner:
                        self.block(block, inside)
                out.append(statement)
                continue
            found = [plan.elements.get(id(n)) for n in contents(self.unit, statement)]
            arrays = {array: None for array in found if array is not None}  # in the order in which they are met
            self._meet(statement, fresh, set(arrays), filled)
            out[end:end] = _behind(out[:end], filled)
            filled = []
            for array in arrays:
                if array not in fresh:
                    made = assign(self.list_of(array), expression("x.tolist()", x=array))
                    out += _behind(out or [statement], [made])
                    fresh[array] = False
            for array in self._filled_by(plan):
                fresh[array] = True
            self._inside(plan)
            out.append(statement)
            end = len(out)
        for array, behind in fresh.items():
            if behind and self.unit.memory.at_once_with(array) & after:
                filled.append(self._filled(array))
        out[end:end] = _behind(out[:end], filled)
        body[:] = out

    def _meet(self, statement: gast.AST, fresh: dict[str, bool], lists: set[str], filled: list[gast.AST]) -> None:
        """Fill the arrays that a statement mentions from their lists; forget the lists of those that it changes."""
        met = {n.id for n in contents(self.unit, statement) if isinstance(n, gast.Name)}
        changed = set().union(*map(self._changed, effects.walk([statement])))
        rebound = {n for s in effects.walk([statement]) for n in binds(s)}
        for array in list(fresh):
            others = self.unit.memory.at_once_with(array)
            if array in lists:
                continue
            if fresh[array] and others & (met | changed):
                filled.append(self._filled(array))
                fresh[array] = False
            if others & changed or array in rebound:
                del fresh[array]

    def _changed(self, statement: gast.AST) -> set[str]:
        """The names whose content a statement may change; to bind another name to it does not."""
        plain = isinstance(statement, gast.Assign) and effects.stored(statement) is None
        return self.unit.changed(statement) - (set(binds(statement)) if plain else set())

    def list_of(self, array: str) -> str:
        if array not in self.lists:
            self.lists[array] = self.unit.local(f"{self.unit.bases.get(array, array)}_list")
            self.unit.kinds[self.lists[array]] = Container(list, None)
        return self.lists[array]

    def _filled(self, array: str) -> gast.AST:
        section = gast.Subscript(name(array), everything(), gast.Store())
        return assign(section, name(self.list_of(array)))

    def _filled_by(self, plan: Plan) -> list[str]:
        """The arrays whose lists a loop changes."""
        stored = [plan.elements.get(id(section(s))) for s in effects.walk([plan.loop])]
        return [n for n in dict.fromkeys((*stored, *sorted(plan.swapped))) if n is not None]

    def _inside(self, plan: Plan) -> None:
        """Have the loop read and write lists."""
        for statement in effects.walk([plan.loop]):
            if id(section(statement)) in plan.elements and not self.kinds.is_float(statement.value, float):
                whole = whole_number(statement.value)
                statement.value = self._float(statement.value) if whole is None else constant(float(whole))
        for node in [*nodes(plan.loop)]:
            if id(node) in plan.elements:
                *outer, last = parts_of(node.slice)
                owner: gast.AST = name(self.list_of(plan.elements[id(node)]))
                for part in outer:
                    owner = gast.Subscript(owner, part, gast.Load())
                node.value, node.slice = owner, last
        for swap in effects.walk([plan.loop]):
            for part in nodes(swap) if effects.permutes(swap) else ():
                if isinstance(part, gast.Name) and part.id in plan.swapped:
                    part.id = self.list_of(part.id)

    def _float(self, value: gast.AST) -> gast.AST:
        return gast.Call(self.unit.builtin(float), [value], [])


def _behind(body: list[gast.AST], made: list[gast.AST]) -> list[gast.AST]:
    """Statements as coming from where the last one of a block comes from: they bring no comment."""
    for statement in made:
        statement.origin = replace(body[-1].origin, comment=None)
    return made
