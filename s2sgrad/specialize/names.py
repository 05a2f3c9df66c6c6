"""What the names of a function stand for, and what the text tells about them before it is evaluated.

f = lambda t: t * w      ->      values["f"] is a Function; counts["f"] is 1
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import nodes, statements_in
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.specialize import trip_names
from s2sgrad.specialize.static_values import Value, called_alone, functions_among


class Names:
    """The names of one function that is being flattened, with what it inlines: what they stand for, and what the text
    binds them to."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef) -> None:
        self.unit = unit
        self.values: dict[str, Value] = {}  # function values and objects
        self.counts: Counter[str] = Counter()  # bindings of each name
        self.given = {p.id for p in parameters(tree)}
        self.data: set[str] = set()  # variables bound by an ordinary statement
        self.shared: set[str] = set()  # variables that a call may bind: those of attributes, and of `nonlocal`
        self.again: set[str] = set()  # variables bound in several unrolled trips
        self.mixed: set[str] = set()  # names of functions or objects that also stand for something else
        self.acting: set[str] = set()  # functions called for their effect
        self.growing: set[str] = set()  # variables and attributes with lists to which functions or objects are appended
        self.of_trips: set[str] = set()  # names private to the trips of loops (`trip_names`)
        self.in_turn: set[str] = set()  # those that stand for one item after the other
        self.loose: list[tuple[gast.AST, Any]] = []  # uses of the caller's objects as values
        self.early: set[str] = set()  # names that the text reads before it binds them, as a loop may
        self.meet_text(tree.body, bindings(tree.body))
        self.later = self.bound_later(tree.body) - self.given  # names of functions and objects

    def meet_text(self, body: list[gast.AST], bound: Counter[str]) -> None:
        """Scan a text, the function's or an inlined one, before it is evaluated."""
        self.counts.update(bound)
        self.of_trips |= trip_names.found(body)
        self.mixed |= functions_among(body) | self.objects_among(body)
        self.shared |= {n for part in nodes(*body) if isinstance(part, gast.Nonlocal) for n in part.names}
        self.acting |= called_alone(body)
        self.in_turn |= called_alone(body) & trip_names.straight(body)
        self.note_growing(body)

    def note_growing(self, body: list[gast.AST]) -> None:
        """Find the lists to which functions or objects are appended."""
        for call in (n for n in nodes(*body) if isinstance(n, gast.Call) and len(n.args) == 1):
            if isinstance(call.func, gast.Attribute) and call.func.attr == "append":
                owner, item = call.func.value, call.args[0]
                resolved = self.unit.resolve(item) if isinstance(item, (gast.Name, gast.Attribute)) else MISSING
                function = isinstance(item, gast.Lambda) or (resolved is not MISSING and callable(resolved))
                if function or takes_apart(self.unit, item):
                    self.growing.add(getattr(owner, "id", getattr(owner, "attr", "")))

    def bound_later(self, body: list[gast.AST]) -> set[str]:
        """The names bound to lambdas, nested functions and new objects."""
        out: set[str] = set()
        for node in statements_in(body):
            if isinstance(node, gast.FunctionDef):
                out.add(node.name)
            elif (local := bound_name(node)) is not None:
                is_made = isinstance(node.value, gast.Lambda) or takes_apart(self.unit, node.value)
                out |= {local} if is_made else set()
        return out

    def objects_among(self, body: list[gast.AST]) -> set[str]:
        """The names bound to a new object and also to a constant."""
        assigned = [n for n in nodes(*body) if isinstance(n, gast.Assign) and isinstance(n.targets[0], gast.Name)]
        made_here = {n.targets[0].id for n in assigned if takes_apart(self.unit, n.value)}
        return made_here & {n.targets[0].id for n in assigned if isinstance(n.value, gast.Constant)}

    def fresh(self, base: str) -> str:
        """A new local name."""
        fresh = self.unit.names.fresh(base)
        self.unit.locals.add(fresh)
        self.unit.bases[fresh] = base
        return fresh

    def require_bound(self, node: gast.AST) -> None:
        """Refuse a read of a function or object that the text binds only later; note a read of any other unbound name."""
        if not isinstance(node, gast.Name) or node.id in self.values:
            return
        if node.id in self.later:
            self._refuse_later(node.id, node)
        if self.counts[node.id] and node.id not in self.data and node.id not in self.given:
            self.early.add(node.id)

    def require_unread(self, target: str, statement: gast.AST) -> None:
        """Refuse a function or object under a name that was read before, as data: the next trip of a loop reads it."""
        if target in self.early:
            self._refuse_later(target, statement)

    def _refuse_later(self, bound: str, node: gast.AST) -> None:
        self.unit.refuse(node, f"`{bound}` is bound to a function or an object further down, which cannot be followed: "
                               "bind it before")  # fmt: skip

    def require_data(self, target: str, statement: gast.AST) -> None:
        """Refuse data under a name for functions or objects: `[g(x) for g in (lambda t: t, np.sum)]`."""
        if target in self.mixed or target in self.values:
            self.unit.refuse(statement, f"`{target}` stands for a function or an object, and here for something else, which "
                                        "cannot be followed: use two names")  # fmt: skip

    def is_fixed(self, local: str) -> bool:
        """Whether a variable is never rebound."""
        return self.counts[local] <= (0 if local in self.given else 1)


def takes_apart(unit: Unit, node: gast.AST) -> bool:
    """Whether an expression makes an object, which is taken apart into variables."""
    return isinstance(node, gast.Call) and is_plain_class(unit.resolve(node.func))
