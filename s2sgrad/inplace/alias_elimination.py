"""Makes every memory that is written known by one living name: callees written out, views written out, checks put in.

    v = u; v += 1.0; return np.sum(u * v)      ->      u += 1.0; return np.sum(u * u)

What cannot be brought to this form is refused at the statement that writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import gast

from s2sgrad import runtime
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import Array, Container, Instance, Kind, Number
from s2sgrad.errors.wording import ANOTHER
from s2sgrad.flow.graph import binds
from s2sgrad.inplace import alias_conflicts, nested_lists, view_elimination
from s2sgrad.inplace.alias_conflicts import Clash
from s2sgrad.inplace.inline_writers import Splicer
from s2sgrad.inplace.rebind_markers import is_checked, is_said
from s2sgrad.ir.quote import assign, at, constant, expression, name, nodes, place_of
from s2sgrad.ir.unit import Unit, parameters
from s2sgrad.memory.aliases import OUTSIDE
from s2sgrad.memory.aliasing import Memory
from s2sgrad.memory.sources import HANDED_OUT, sources
from s2sgrad.transform.calls import Pairs

_ROUNDS = 400  # names that are written out, one after the other


def run(
    unit: Unit, tree: gast.FunctionDef, infer: Callable[[], Inference], pairs: Pairs, entry: bool
) -> tuple[Inference, dict[str, gast.AST]]:
    """(the kinds of the final tree, the parameters whose own memory it writes and where); changes the tree."""
    inference = infer()
    try:
        return _settled(unit, tree, infer, inference, pairs, entry)
    finally:
        for body in _blocks(tree.body):
            body[:] = [s for s in body if not is_said(unit, s) and not is_checked(unit, s, inference.env)]


def _settled(
    unit: Unit, tree: gast.FunctionDef, infer: Callable[[], Inference], inference: Inference, pairs: Pairs, entry: bool
) -> tuple[Inference, dict[str, gast.AST]]:
    nested_lists.check_updates(unit, tree, inference.env)
    if nested_lists.merge_names(unit, tree, inference.env):
        inference = infer()
    separate: set[str] = set()
    for rounds in range(_ROUNDS):
        splicer = Splicer(unit, pairs, inference.env)
        changed = splicer.run(tree)
        if not changed:
            if not alias_conflicts.writes_in_place(unit, tree, inference.env):
                return inference, {}
            found = alias_conflicts.run(unit, tree, inference.env, frozenset(separate))
            resolver = _Resolver(unit, tree, inference.env, splicer, separate)
            if found.clashes:
                said = [c for c in found.clashes if is_said(unit, c.statement)]
                if said:
                    _refuse(unit, said[0])
                if rounds == _ROUNDS - 1 or not resolver.any(found.clashes):
                    _refuse(unit, next((c for c in found.clashes if c.seen.startswith(OUTSIDE)), found.clashes[0]))
            elif entry or not sum(resolver.rebinding(s) for s in found.arguments.values()):
                if not _copied(unit, tree, inference.env):
                    return inference, found.arguments
        inference = infer()
        if changed and nested_lists.merge_names(unit, tree, inference.env):
            inference = infer()
    raise AssertionError("what the callees write was not settled")


def _copied(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind]) -> bool:
    """`x = u[k]`, bound again and again to sections of what is written while it is dead, is `x = u[k].copy()`."""
    memory = Memory(unit, tree, kinds)
    counts = Counter(b for s in effects.walk(tree.body) for b in binds(s))
    given = {p.id for p in parameters(tree)}
    found = False
    for body in _blocks(tree.body):
        for k in range(len(body) - 1, -1, -1):
            statement = body[k]
            if not isinstance(statement, gast.Assign) or not isinstance(statement.targets[0], gast.Name):
                continue
            x = statement.targets[0].id
            rebound = counts[x] > 1 and x not in given and x not in unit.temps
            if rebound and x in memory.written - memory.bases and isinstance(kinds.get(x), Array):
                if sources(unit, statement.value, kinds) and not isinstance(statement.value, gast.Name):
                    holder = unit.temp()
                    copied = assign(x, expression("x.copy()", x=holder))
                    body[k : k + 1] = at(statement, assign(holder, statement.value), copied)
                    found = True
    return found


def own_arguments(unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], written: dict[str, gast.AST]) -> None:
    """Copies on entry: the arguments whose memory the function writes are the function's own from then on."""
    heads: list[gast.AST] = []
    for parameter in parameters(tree):
        p = parameter.id
        if p not in written:
            continue
        if unit.separate and isinstance(kinds.get(p), Instance):
            unit.refuse(written[p], f"an array of the object `{p}` is written in place, and attributes are written too, "
                                    "which is not differentiated yet: bind new arrays, as in `o.w = o.w + x`")  # fmt: skip
        fresh = unit.names.fresh(p)
        unit.locals.add(fresh)
        unit.bases[fresh] = unit.bases.get(p, p)
        kinds[fresh] = kinds[p]
        for statement in effects.walk(tree.body):  # whether ravel copies, the user's own array decides
            if _checks_layout(unit, statement, p):
                heads += at(
                    statement, gast.Expr(expression("f(x, n)", f=statement.value.func, x=p, n=statement.value.args[1]))
                )
        for statement in tree.body:
            for node in nodes(statement):
                if isinstance(node, gast.Name) and node.id == p:
                    node.id = fresh
        copied = expression("x.copy()", x=p) if isinstance(kinds[p], Array) else expression(
            "own(x)", own=unit.helper("own", runtime.own), x=p)  # fmt: skip
        heads.append(assign(fresh, copied))
    tree.body = at(tree.body[0], *heads) + tree.body if tree.body else heads


def _checks_layout(unit: Unit, statement: gast.AST, p: str) -> bool:
    call = statement.value if isinstance(statement, gast.Expr) else None
    if not isinstance(call, gast.Call) or unit.resolve(call.func) is not runtime.contiguous:
        return False
    return isinstance(call.args[0], gast.Name) and call.args[0].id == p


class _Resolver:
    def __init__(
        self, unit: Unit, tree: gast.FunctionDef, kinds: dict[str, Kind], splicer: Splicer, separate: set[str]
    ) -> None:
        self.unit, self.tree, self.kinds, self.splicer, self.separate = unit, tree, kinds, splicer, separate

    def any(self, clashes: list[Clash]) -> bool:
        """Resolve what can be resolved; whether there was anything.

        All views of a round go at once: to write one out changes nothing about two other names.  What else is resolved
        may change the kinds of values, and ends the round.
        """
        gone: set[str] = set()
        for clash in clashes:
            if gone & {clash.seen, clash.written}:
                continue
            if clash.seen.startswith(OUTSIDE):  # what a function returned, which reads that
                if self.splicer.run(self.tree, frozenset((clash.written,))):
                    return True
                continue
            if self.rebinding(clash.statement) or self.updating(clash.statement):
                return True
            if nested_lists.put_back(self.unit, self.tree, self.kinds, clash):
                return True
            for suspect in (clash.seen, clash.written):
                if self.element(suspect) or self.unpacking(suspect):
                    return True
                if view_elimination.eliminate(self.unit, self.tree, self.kinds, suspect):
                    gone.add(suspect)
                    break
            else:
                if self.splicer.run(self.tree, frozenset((clash.seen, clash.written))):
                    return True
        return bool(gone)

    def rebinding(self, statement: gast.AST) -> bool:
        """`x += e` of unknown kind: right for a number, which it binds anew; checked when it runs."""
        x = getattr(getattr(statement, "target", None), "id", None)
        if not isinstance(statement, gast.AugAssign) or isinstance(self.kinds.get(x), (Array, Container)):
            return False
        statement.rebinds = True
        line = constant(getattr(statement, "lineno", 0))
        self.before(statement, "rebinds", runtime.rebinds, [name(x), constant(self.unit.shown(x)), line])
        return True

    def updating(self, statement: gast.AST) -> bool:
        """`d[k] += e` of an item that may have another name: into the array that it is; checked where it may be none."""
        if not alias_conflicts.updates_item(self.unit, statement, self.kinds):
            return False
        section = statement.targets[0]
        holder = self.unit.temp()
        item = at(statement, assign(holder, gast.Subscript(section.value, section.slice, gast.Load())))
        for body in _blocks(self.tree.body):
            body[:] = [new for s in body for new in ([*item, s] if s is statement else [s])]
        element = self.kinds[section.value.id].at(getattr(section.slice, "value", None))
        if isinstance(element, Array):
            statement.targets = at(section, gast.Subscript(name(holder), constant(Ellipsis), gast.Store()))
        else:
            line = constant(getattr(statement, "lineno", 0))
            shown = constant(self.unit.shown(holder, section))
            self.before(statement, "rebinds", runtime.rebinds, [name(holder), shown, line])
            self.unit.updates.discard(place_of(statement))
        return True

    def element(self, suspect: str) -> bool:
        """`t = a[i]` of unknown kind: an element and no row; checked when it runs."""
        if isinstance(self.kinds.get(suspect), (Array, Container, Number)) or suspect in self.separate:
            return False
        definitions = [s for s in effects.walk(self.tree.body) if suspect in binds(s)]
        if not definitions or not all(_picks_element(d) for d in definitions):
            return False
        self.separate.add(suspect)
        for definition in definitions:
            line = constant(getattr(definition, "lineno", 0))
            shown = constant(self.unit.shown(suspect, getattr(definition, "value", None)))
            self.before(definition, "scalar", runtime.scalar, [name(suspect), shown, line], behind=True)
        return True

    def unpacking(self, suspect: str) -> bool:
        """`a, b = u` of an array: `a = u[0]; b = u[1]`, views that can be followed; the length is checked when it runs."""
        for body in _blocks(self.tree.body):
            for k, statement in enumerate(body):
                if suspect not in binds(statement) or not isinstance(statement, gast.Assign):
                    continue
                target, value = statement.targets[0], statement.value
                array = isinstance(value, gast.Name) and isinstance(self.kinds.get(value.id), Array)
                if array and isinstance(target, gast.Tuple) and value.id not in effects.targets(statement):
                    check = self.unit.helper("unpackable", runtime.unpackable)
                    made = [gast.Expr(expression("f(u, n)", f=check, u=value.id, n=len(target.elts)))]
                    made += [assign(t.id, expression("u[k]", u=value.id, k=m)) for m, t in enumerate(target.elts)]
                    body[k : k + 1] = at(statement, *made)
                    return True
        return False

    def before(
        self, statement: gast.AST, base: str, check: Callable, arguments: list[gast.AST], behind: bool = False
    ) -> None:
        made = at(statement, gast.Expr(gast.Call(name(self.unit.helper(base, check)), arguments, [])))
        for body in _blocks(self.tree.body):
            for k, other in enumerate(body):
                if other is statement:
                    body[k + behind : k + behind] = made
                    return


def _blocks(body: list[gast.AST]) -> list[list[gast.AST]]:
    out = [body]
    for statement in effects.walk(body):
        if isinstance(statement, (gast.If, gast.For, gast.While)):
            out += [statement.body, statement.orelse]
    return out


def _picks_element(statement: gast.AST) -> bool:
    if not isinstance(statement, gast.Assign) or not isinstance(statement.value, gast.Subscript):
        return False
    index = statement.value.slice
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return not any(
        isinstance(p, gast.Slice) or (isinstance(p, gast.Constant) and not isinstance(p.value, int)) for p in parts
    )


def _refuse(unit: Unit, clash: Clash) -> None:
    if clash.seen.startswith(OUTSIDE):
        outside = clash.seen.removeprefix(OUTSIDE)
        shown = "what a function returned" if outside == HANDED_OUT else f"`{outside}`"
        unit.refuse(clash.statement, f"this writes {shown}, which lives outside of the function and is not "
                                     "differentiated: pass it as an argument, or copy it first")  # fmt: skip
    written, seen = unit.word(clash.written), unit.word(clash.seen)
    written = "an array" if written == ANOTHER else written
    seen = "what had this name before" if seen == written else seen
    way = "bind a new value to a name of its own here" if unit.primal.is_generated else "copy one of them, or use one name"
    unit.refuse(clash.statement, f"this writes {written}, and {seen}, which is read later, may share its memory; which of "
                                 f"them cannot be followed: {way}")  # fmt: skip
