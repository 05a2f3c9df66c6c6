"""Variables that are rebound while closures that read them are alive: every call passes their current values.

    for w in x:                                  for w in x:                     def lambda_(variables, t):
        fs.append(lambda t: w * t)       ->          fs.append(late(lambda_, ()))         w = variables[0]
    return fs[0](x[1])                           return now(fs[0], (w,))(x[1])            return w * t

The other captures of such a function are values, as for any closure (`closures`); functions among them may read variables in
turn, and receive the same ones.  Only variables of the compiled function can be late: those of an inlined function are new
at each call.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     fs = []
...     for w in x:
...         fs.append(lambda t: w * t)
...     return fs[0](2.0)
... ''', "flatten"))
def f(x):
    w = None
    fs = []
    t1 = sequence(x)
    t2 = len(t1)
    for k in range(t2):
        w = t1[k]
        t3 = ()
        t4 = late(lambda_, t3)
        fs.append(t4)
    t5 = fs[0]
    t6 = w,
    t7 = now(t5, t6)
    result = t7(2.0)
    return result
"""

from __future__ import annotations

import types
from dataclasses import dataclass

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.user_functions import is_plain
from s2sgrad.flow.counts import binding_counts
from s2sgrad.flow.facts import Facts
from s2sgrad.flow.graph import binds
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import Transformer, assign, at, blocks, calls_in, children, constant, name, nested, nodes
from s2sgrad.ir.reach import call
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory import mod_ref
from s2sgrad.primitives import catalogue
from s2sgrad.runtime import bound, late
from s2sgrad.runtime.copies import copied

_NESTED = (gast.FunctionDef, gast.Lambda)
_ARITHMETIC = (gast.BinOp, gast.UnaryOp, gast.Compare)


def bound_at_once(body: list[gast.AST]) -> set[str]:
    """The variables that a block binds itself, outside branches and loops."""
    return scoping.bound([s for s in body if isinstance(s, (gast.Assign, gast.AugAssign))])


def bound_in_no_loop(tree: gast.FunctionDef) -> set[str]:
    """The variables with one binding, which runs once."""
    inside = [s for s in effects.walk(tree.body) if isinstance(s, (gast.For, gast.While))]
    return {n for n, times in scoping.bindings(tree.body).items() if times == 1} - scoping.bound(inside)


def changed_while_held(unit: Unit, tree: gast.FunctionDef, displays: list[gast.Tuple]) -> set[str]:
    """The captured variables whose contents may be written in place after the capture."""
    whose = {id(display): {e.id for e in display.elts if isinstance(e, gast.Name)} for display in displays}
    copies = _copies(tree)
    captures: list[tuple[set[str], tuple[int, ...]]] = []  # (variables, enclosing loops)
    changed_names: set[str] = set()

    def follow(body: list[gast.AST], loops: tuple[int, ...]) -> None:
        for statement in body:
            changed = {n for name_ in _changed(unit, statement) for n in copies.get(name_, {name_})}
            for variables, _ in captures if changed else ():
                changed_names.update(variables & changed)
            variables = whose.get(id(getattr(statement, "value", None)))
            if variables is not None:
                captures.append((variables, loops))
            changes.append((changed, loops))
            inside = (*loops, id(statement)) if isinstance(statement, (gast.For, gast.While)) else loops
            for inner in blocks(statement):
                follow(inner, inside)

    changes: list[tuple[set[str], tuple[int, ...]]] = []
    follow(tree.body, ())
    for variables, loops in captures:
        for changed, around in changes:
            if loops and around[:1] == loops[:1]:
                changed_names.update(variables & changed)
    return changed_names


def _copies(tree: gast.FunctionDef) -> dict[str, set[str]]:
    """By name: the names that may stand for the same object, for one is bound to the other as it is."""
    out: dict[str, set[str]] = {}
    for statement in effects.walk(tree.body):
        if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Name):
            for target in effects.targets(statement):
                group = out.get(target, {target}) | out.get(statement.value.id, {statement.value.id})
                out |= dict.fromkeys(group, group)
    return out


# --- functions that read late variables ---


@dataclass
class Variables:
    """The late variables of a text; `unsure`: those that may be unbound; `are_read`: whether the opened function reads
    any."""

    names: tuple[str, ...]
    unsure: set[str]
    are_read: bool = False

    def opened(
        self, unit: Unit, captured: list[str], defaults: list[str], body: list[gast.AST]
    ) -> tuple[str | None, list[gast.AST]]:
        """The parameter for late variables of a function with this body, and the statements that unpack it; None if the
        function reads none of them and calls nothing that might."""
        read = [v for v in self.names if v in captured]
        called = [c for c in (*captured, *defaults) if self.names and _may_be_function(unit, c, body)]
        makes = any(_makes(unit, value) for s in effects.walk(body) if (value := getattr(s, "value", None)) is not None)
        if not read and not called and not makes:
            return None, []
        self.are_read = True
        variables_name = unit.names.fresh("variables")
        heads: list[gast.AST] = []
        for variable in read:
            place = constant(self.names.index(variable))
            heads.append(assign(variable, gast.Subscript(name(variables_name), place, gast.Load())))
            if variable in self.unsure:
                shown = constant(unit.bases.get(variable, variable))
                heads.append(gast.Expr(call(unit, "bound", bound, name(variable), shown)))
        heads += [assign(c, call(unit, "now", late.now, name(c), name(variables_name))) for c in called]
        _Settled(unit, {*called, *read}).within(body)
        if makes:
            _Giver(unit, body, self.names, variables_name).run()
        return variables_name, heads


def _may_be_function(unit: Unit, variable: str, body: list[gast.AST]) -> bool:
    """Whether a variable may be a function, or hold some: it is used in more than arithmetic."""
    return any(_hands_on(unit, statement, variable) for statement in body)


def _hands_on(unit: Unit, node: gast.AST, variable: str) -> bool:
    if isinstance(node, gast.Name):
        return node.id == variable
    if isinstance(node, _ARITHMETIC) or (isinstance(node, gast.Call) and _gives_data(unit, node)):
        return any(_is_asked(unit, part, variable) for part in children(node))
    return any(_hands_on(unit, part, variable) for part in children(node))


def _is_asked(unit: Unit, node: gast.AST, variable: str) -> bool:
    """Whether an operand uses the variable other than by itself or an item of it."""
    while isinstance(node, gast.Subscript) and not _hands_on(unit, node.slice, variable):
        node = node.value
    return not isinstance(node, gast.Name) and _hands_on(unit, node, variable)


def _gives_data(unit: Unit, node: gast.Call) -> bool:
    """Whether a call returns data: numbers, arrays or truth values of a library function."""
    target = unit.resolve(node.func)
    if target is MISSING or is_plain(target):
        return False
    record = catalogue.of(target)
    return record.gives_array or record.is_flat


class _Settled(Transformer):
    """Checks that a returned value that may be a function is none that reads late variables."""

    def __init__(self, unit: Unit, functions: set[str]) -> None:
        self.unit, self.functions = unit, functions

    def within(self, body: list[gast.AST]) -> None:
        """Visit the statements of a body, except nested scopes."""
        for statement in body:
            if not isinstance(statement, _NESTED):
                self.visit(statement)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        return node

    visit_Lambda = visit_FunctionDef

    def visit_Return(self, node: gast.Return) -> gast.AST:
        if node.value is not None and self.may_be_function(node.value):
            node.value = call(self.unit, "settled", late.settled, node.value)
        return node

    def may_be_function(self, node: gast.AST) -> bool:
        if isinstance(node, (*_ARITHMETIC, gast.Constant)):
            return False
        if isinstance(node, gast.Call):
            names = (n.id for part in (*node.args, *node.keywords) for n in nodes(part) if isinstance(n, gast.Name))
            return not _gives_data(self.unit, node) and any(n in self.functions for n in names)
        return True


# --- the function that has the late variables ---


def run(unit: Unit, tree: gast.FunctionDef, variables: tuple[str, ...]) -> gast.FunctionDef:
    """Pass the current variables to functions that are called, or passed on to be called."""
    if variables:
        giver = _Giver(unit, tree.body, variables)
        giver.require_kept({p.id for p in parameters(tree)})
        giver.run()
        facts = Facts(tree)
        unbound = {v for display in giver.displays for v in facts.lifetimes.unbound_reads(display)}
        for v in sorted({*variables} & unbound - binding_counts(tree.body).keys()):  # written out where it is called
            unit.refuse(giver.displays[0], f"the function `{v}`, which is no data, is read by one that is: move both to "
                                           "module level, and pass what they close over as arguments")  # fmt: skip
        tree.body[:0] = at(tree.body[0], *(assign(v, constant(None)) for v in variables if v in unbound))
    return tree


class _Giver:
    """Passes late variables in one body; `passed`: the parameter by which it receives them itself."""

    def __init__(self, unit: Unit, body: list[gast.AST], variables: tuple[str, ...], passed: str = "") -> None:
        self.unit, self.body, self.variables, self.passed = unit, body, variables, passed
        self.reading = _reading(unit, body)
        self.changed = {n for s in effects.walk(body) for n in _changed(unit, s)}
        self.displays: list[gast.AST] = []  # the statements that read the variables

    def require_kept(self, variables: set[str]) -> None:
        """Refuse a function that outlives the one whose variables it reads: it is returned, or stored in an argument."""
        for s in effects.walk(self.body):
            returned = isinstance(s, gast.Return) and s.value is not None and self.may_read(s.value)
            if returned or (_changed(self.unit, s) & variables and self.reading & effects.reads(s) - variables):
                self.unit.refuse(s, "a function leaves the one whose variables it reads, which are bound anew, which cannot "
                                    "be followed: give it their values as defaults")  # fmt: skip

    def run(self) -> None:
        """Rewrite all statements, in nested blocks too."""
        for body in list(nested(self.body)):
            for k in reversed(range(len(body))):
                body[k : k + 1] = self.given(body[k])

    def given(self, statement: gast.AST) -> list[gast.AST]:
        """A statement, with the statements before and after it that pass the variables."""
        before: list[gast.AST] = []
        behind: list[gast.AST] = []
        display_name = ""
        for site in [c for part in _own(statement) for c in calls_in(part)]:
            places = self.places(site)
            if places and isinstance(statement, gast.While):
                self.unit.refuse(statement, "a function that reads variables which are bound anew is called in the test of "
                                            "this loop, which cannot be followed: call it in the loop")  # fmt: skip
            for owner, field, k in places:
                display_name = display_name or self.display(before)
                value = getattr(owner, field) if k is None else getattr(owner, field)[k]
                holder = self.hold(before, call(self.unit, "now", late.now, value, name(display_name)))
                if k is None:
                    setattr(owner, field, name(holder))
                else:
                    getattr(owner, field)[k] = name(holder)
            handed = any(field != "func" for _, field, _ in places)
            if handed and isinstance(statement, gast.Assign) and statement.value is site:
                target = statement.targets[0]
                if isinstance(target, gast.Name) and not self.may_read(target):
                    behind.append(assign(target.id, call(self.unit, "settled", late.settled, name(target.id))))
        return [*at(statement, *before), statement, *at(statement, *behind)]

    def display(self, before: list[gast.AST]) -> str:
        """The current values of the variables; copies of those that are written in place."""
        if self.passed:
            return self.passed
        atoms = []
        for variable in self.variables:
            changed = variable in self.changed
            value = call(self.unit, "copied", copied, name(variable)) if changed else name(variable)
            atoms.append(name(self.hold(before, value)) if changed else value)
        return self.hold(before, gast.Tuple(atoms, gast.Load()))

    def hold(self, before: list[gast.AST], value: gast.AST) -> str:
        holder = self.unit.temp()
        before.append(assign(holder, value))
        if any(isinstance(n, gast.Name) and n.id in self.variables for n in nodes(value)):
            self.displays.append(before[-1])
        return holder

    def places(self, site: gast.Call) -> list[tuple[gast.AST, str, int | None]]:
        """The operands of a call that may read late variables, if the callee may call them."""
        if not self.calls(site):
            return []
        out: list[tuple[gast.AST, str, int | None]] = [(site, "func", None)] if self.may_read(site.func) else []
        out += [(site, "args", k) for k, a in enumerate(site.args) if self.may_read(a)]
        return out + [(word, "value", None) for word in site.keywords if self.may_read(word.value)]

    def may_read(self, node: gast.AST) -> bool:
        return isinstance(node, gast.Name) and node.id in self.reading

    def calls(self, site: gast.Call) -> bool:
        """Whether a callee may call its arguments: it is a user's function, one of ours, or unknown."""
        target = self.unit.resolve(site.func)
        if target is not MISSING:
            calling = "s2sgrad.pullbacks", "s2sgrad.api"
            ours = (getattr(target, "__module__", None) or "").startswith(calling)
            return is_plain(target) or ours or hasattr(target, "compiled_for")
        return not isinstance(site.func, gast.Attribute) or not catalogue.methods_named(site.func.attr)


def _own(statement: gast.AST) -> list[gast.AST]:
    """The expressions of a statement itself, without nested statements."""
    return [part for part in children(statement) if not isinstance(part, gast.stmt)]


def _reading(unit: Unit, body: list[gast.AST]) -> set[str]:
    """The names that may stand for functions which read late variables, or hold some."""
    out: set[str] = set()
    statements = [*effects.walk(body)]
    size = -1
    while size < len(out):
        size = len(out)
        for s in statements:
            value = s.iter if isinstance(s, gast.For) else getattr(s, "value", None)
            if value is None or not (_makes(unit, value) or out & effects.reads(value)) or _computes(unit, value, out):
                continue
            out |= {*binds(s), *_changed(unit, s)}
    return out


def _makes(unit: Unit, value: gast.AST) -> bool:
    return isinstance(value, gast.Call) and unit.called(value) is late.late


def _computes(unit: Unit, value: gast.AST, reading: set[str]) -> bool:
    """Whether an operation gives none of the functions `reading`: arithmetic, or a call that gives data or is checked."""
    if isinstance(value, gast.BinOp):
        return not isinstance(value.op, (gast.Add, gast.Mult))
    if not isinstance(value, gast.Call):
        return isinstance(value, _ARITHMETIC)
    target = unit.resolve(value.func)
    if target is MISSING:
        return isinstance(value.func, gast.Name)  # its result is checked
    return _gives_data(unit, value) or (is_plain(target) and not _hands_back(unit, target, value, reading))


def _hands_back(unit: Unit, target: types.FunctionType, call_: gast.Call, reading: set[str]) -> bool:
    """Whether the result of a user's function, which calls none that is unknown, may be, or hold, one of these arguments."""
    if mod_ref.of(target).outside:
        return False
    whole, inside, _ = mod_ref.returned_arguments(unit, target, call_, {}) or mod_ref.Returned([], [])
    return any(getattr(a, "id", "") in reading for a in (*whole, *inside))


def _changed(unit: Unit, statement: gast.AST) -> set[str]:
    """The names whose values a statement may write in place, itself or by a function that it calls."""
    stored = getattr(statement, "targets", []) if isinstance(statement, gast.Assign) else []
    places = [t for t in stored if isinstance(t, (gast.Subscript, gast.Attribute))]
    places += [statement.target] if isinstance(statement, gast.AugAssign) else []
    out: set[str] = set()
    if isinstance(statement, (gast.Assign, gast.Expr)):
        out |= effects.changed_by_call(statement.value)
        places += [a for call in calls_in(statement.value) for a in mod_ref.written_by(unit, call)]
    return out | {effects.base(place) for place in places if _has_base(place)}


def _has_base(target: gast.AST) -> bool:
    """Whether a target is a variable, or a part of one."""
    while isinstance(target, (gast.Subscript, gast.Attribute)):
        target = target.value
    return isinstance(target, gast.Name)
