"""Calls of functions without a rule: a pair for a callee that is known now, `vjp` for one known only at run time.

y = helper(x)    ->    y = helper(x)                    ...  x_bar = helper_bwd(x, y_bar)    (reads only arguments)
                       y, helper_saved = helper_fwd(x)  ...  x_bar = helper_bwd(helper_saved, y_bar)
y = f(x)         ->    y, f_pullback = vjp(f, x)        ...  x_bar = f_pullback(y_bar)[0]
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import gast

from s2sgrad import pullbacks, runtime, source
from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.analysis.kinds import UNKNOWN, Array, Container, Drawing, Foreign, Kind, Number
from s2sgrad.analysis.primitive_calls import Operation, is_known_late
from s2sgrad.analysis.symbolic_shapes import without_symbols
from s2sgrad.ir.quote import assign, at, clone, constant, expression, name
from s2sgrad.ir.signatures import placed
from s2sgrad.ir.unit import Unit
from s2sgrad.rules.table import VALUES
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checkpoints import behind_checkpoint
from s2sgrad.runtime.copies import copied

LATE = (runtime.jvp, runtime.vjp, pullbacks.jvp, pullbacks.jvp_again, pullbacks.vjp, pullbacks.vjp_of_closure)
"""Looked into at run time."""


@dataclass
class Pair:
    """The derivative of a known callee.  `bwd` gives the cotangents of `active`, in this order (a single one bare).

    If `needs` is None, the pair is `fwd(*args) -> (y, saved)`, `bwd(saved, y_bar)`; otherwise it is `bwd(*needs, y_bar)`,
    and the call itself is unchanged.  `idle` has the levels (see `zeros`) of the cotangents, None for those that are 0;
    `sizeless` are the numbers whose cotangents may be arrays without axes, `doubles` the arrays of
    float64 whose cotangents are that too.
    """

    fwd: Any
    bwd: Any
    active: tuple[str, ...]
    needs: tuple[str, ...] | None
    idle: dict[str, int | None] = field(default_factory=dict)
    sizeless: set[str] = field(default_factory=set)
    doubles: set[str] = field(default_factory=set)


class Pairs(Protocol):
    """The source of pairs for user functions."""

    @property
    def entry(self) -> Any:
        """The function that is compiled, which calls all others."""

    def has_source(self, target: Any) -> bool:
        """Whether the source of a callable can be read."""

    def kind(self, target: Any, kinds: list[Kind], keywords: dict[str, Kind]) -> Kind | None:
        """The kind of the result of a call with arguments of these kinds; None where it is not known yet."""

    def arguments(self, unit: Unit, target: Any, call: gast.Call) -> dict[str, Any]:
        """The arguments of a call by parameter; a list for a variadic one."""

    def pair(self, target: Any, kinds: dict[str, Any], active: set[str], *, idle: int = 0) -> Pair:
        """The pair for arguments of these kinds, differentiated in `active`; `idle`: the level of its cotangent."""

    def normal_form(self, target: Any) -> tuple[Unit, gast.FunctionDef]:
        """A user's function in normal form, to be inlined."""

    def written_by(self, target: Any, forms: dict[str, Any]) -> Any:
        """The function that also returns the final values of the parameters in `forms` (see `writers_with_pairs`)."""


Cotangents = list[tuple[gast.Name, gast.AST, int]]  # for each argument its cotangent, with its level (see `zeros`)


@dataclass
class Context:
    """The context of a call: the `active` names, and those whose memory is `written` after it."""

    unit: Unit
    inference: Inference
    active: set[str]
    written: frozenset[str]

    def holder(self, kind: Kind = UNKNOWN) -> str:
        """A temporary for a value of this kind."""
        holder = self.unit.temp()
        self.inference.env[holder] = kind
        return holder

    def record(self, name: str) -> str:
        """A variable for what a call records for its adjoint."""
        saved = self.unit.local(name)
        self.unit.derivative.said[saved] = name
        self.inference.env[saved] = UNKNOWN
        self.unit.derivative.records[saved] = saved
        return saved

    def is_active(self, node: Any) -> bool:
        """Whether a node is the name of an active variable."""
        return isinstance(node, gast.Name) and node.id in self.active

    def recorded(self, statement: gast.Assign, call: gast.Call, saved: str) -> list[gast.AST]:
        """`y, saved = call`, with copies of the arrays that are written later, `y` included."""
        call.args = list(map(self._copied_argument, call.args))
        call.keywords = [gast.keyword(k.arg, self._copied_argument(k.value)) for k in call.keywords]
        (y,) = statement.targets
        made = [gast.Assign([gast.Tuple([y, name(saved, store=True)], gast.Store())], call, None)]
        if isinstance(y, gast.Name) and y.id in self.written:
            text = "x.copy()" if isinstance(self.inference.env.get(y.id), Array) else "copied(x)"
            holes = {} if text == "x.copy()" else {"copied": self.unit.helper("copied", copied)}
            made.append(assign(y.id, expression(text, x=y.id, **holes)))
        return at(statement, *made)

    def _copied_argument(self, argument: gast.AST) -> gast.AST:
        written = isinstance(argument, gast.Name) and argument.id in self.written
        is_array = written and isinstance(self.inference.env.get(argument.id), Array)
        return expression("x.copy()", x=argument) if is_array else argument


class Call(Protocol):
    """How one call is differentiated: its replacement, the name of its record, and its adjoint."""

    @property
    def saved(self) -> str | None:
        """The name of its record; None where nothing is recorded."""

    def forward(self, statement: gast.Assign) -> list[gast.AST]:
        """The statements that replace `y = f(..)`."""

    def backward(self, y_bar: gast.AST) -> tuple[list[gast.AST], Cotangents]:
        """The statements that call the derivative, and the cotangents of the arguments."""


def call_adjoint(context: Context, pairs: Pairs, operation: Operation, idle: int) -> Call:
    """The plan for a call on the differentiated path; `idle` is the level of the result's cotangent."""
    target = operation.target
    if _is_operator(target):
        context.unit.refuse(operation.node, f"`{target.__name__}` is asked here of a function that carries derivatives and "
                                            "is only known at run time, which is not followed: pass what it closes over as "
                                            "arguments")  # fmt: skip
    if is_known_late(target) or target in LATE:
        return _AtRunTime(context, operation.node)
    return _ByPair(context, pairs, operation, idle)


def _is_operator(target: Any) -> bool:
    """Whether a function is one of our operators, like `grad`, and not generated text."""
    if not isinstance(target, types.FunctionType) or target in LATE or source.brings_gradient(target):
        return False
    ours = (target.__module__ or "").startswith(("s2sgrad.api", "s2sgrad.pullbacks"))
    return ours and not source.read(target).is_generated


class _ByPair:
    """A call of a function whose derivative is compiled as well."""

    def __init__(self, context: Context, pairs: Pairs, operation: Operation, idle: int) -> None:
        self.context = context
        self.arguments = pairs.arguments(context.unit, operation.target, operation.node)
        self.kinds: dict[str, Any] = {}
        self.wanted: list[tuple[str, int | None, gast.Name]] = []  # active arguments: parameter, position in a variadic one
        for parameter, given in self.arguments.items():
            several = isinstance(given, list)
            kinds = [without_symbols(context.inference.kind(g)) or UNKNOWN for g in (given if several else [given])]
            self.kinds[parameter] = kinds if several else kinds[0]
            places = enumerate(given) if several else [(None, given)]
            self.wanted += [(parameter, k, node) for k, node in places if context.is_active(node)]
        with context.unit.calling(operation.node):
            self.pair = pairs.pair(operation.target, self.kinds, {p for p, _, _ in self.wanted}, idle=idle)
        self.base = getattr(self.pair.bwd, "name", "helper_bwd")
        self.saved = None
        if self.pair.needs is None:
            self.saved = context.record(f"{self.base.partition('_bwd')[0]}_saved")
            context.unit.words[self.saved] = f"what `{its(operation.target, '__name__', 'it')}` records", None

    def forward(self, statement: gast.Assign) -> list[gast.AST]:
        if self.saved is None:
            self._call_without_checkpoint(statement.value)
            return [statement]
        fwd = name(self.context.unit.helper(self.pair.fwd.name, self.pair.fwd))
        call = gast.Call(fwd, statement.value.args, statement.value.keywords)
        unit = self.context.unit
        for y in effects.targets(statement):
            unit.derivative.said[y] = f"{self.base.partition('_bwd')[0]}_value"
            if not unit.is_ours(y):
                unit.derivative.said[self.saved] = f"{unit.bases.get(y, y)}_saved"
        return self.context.recorded(statement, call, self.saved)

    def _call_without_checkpoint(self, call: gast.Call) -> None:
        """Call a function under `checkpoint` directly: in the forward sweep that makes no difference."""
        plain = behind_checkpoint(self.context.unit.resolve(call.func))
        if isinstance(call.func, gast.Name) and call.func.id in self.context.unit.helpers and plain is not None:
            users = name(plain.__name__)
            ours = self.context.unit.resolve(users) is not plain
            call.func = name(self.context.unit.helper(call.func.id, plain)) if ours else users

    def backward(self, y_bar: gast.AST) -> tuple[list[gast.AST], Cotangents]:
        needs = self.pair.needs or ()  # None: what is recorded
        record = [name(self.saved)] if self.saved is not None else [clone(self.arguments[n]) for n in needs]
        value = gast.Call(name(self.context.unit.helper(self.base, self.pair.bwd)), [*record, y_bar], [])
        kinds = {p: Array(None, ()) if p in self.pair.sizeless else _bar_kind(k) for p, k in self.kinds.items()}
        kinds |= {p: self.kinds[p] for p in self.pair.doubles}
        holders = {p: self.context.holder(kinds.get(p, UNKNOWN)) for p in self.pair.active}
        names = [name(holder, store=True) for holder in holders.values()]
        target = names[0] if len(names) == 1 else gast.Tuple(names, gast.Store())
        out = []
        for parameter, k, node in self.wanted:
            if k is None:
                self.context.unit.derivative.meant[holders[parameter]] = node.id, parameter
            part, level = name(holders[parameter]), self.pair.idle.get(parameter, 0)
            if level is None and isinstance(self.kinds[parameter], (Number, Array)):
                continue
            if k is not None:
                part = gast.Subscript(part, constant(k), gast.Load())
            out.append((node, part, VALUES if level is None else level))
        return [gast.Assign([target], value, None)], out


def by_position(
    unit: Unit, call: gast.Call, carries: Callable[[gast.AST], bool]
) -> tuple[list[gast.AST], list[gast.keyword]]:
    """The arguments of a call whose derivative is looked up when it runs: those that carry derivatives by position; refused
    where that is not known.

        midpoint(state=s, rate=f)      ->      [f, s], []         where `midpoint` has a gradient of its own
    """
    if not any(carries(k.value) for k in call.keywords):
        return call.args, call.keywords
    target, given, words = unit.resolve(call.func), call.args, {k.arg: k.value for k in call.keywords}
    if source.brings_gradient(target):
        own = its(target, "custom_gradient", target)
        given, words = placed(own, given, words, lambda p: name(unit.helper(p.name, p.default)))
    if any(map(carries, words.values())):
        unit.refuse(call, "a differentiated keyword argument of a function that is only known at run time is not supported "
                          "yet: pass it by position")  # fmt: skip
    return given, [k for k in call.keywords if k.arg in words]


class _AtRunTime:
    """`y, f_pullback = vjp(f, x)`: a call of a function that is known only at run time."""

    def __init__(self, context: Context, call: gast.Call) -> None:
        self.context = context
        base = call.func.id if isinstance(call.func, gast.Name) else getattr(call.func, "attr", "f")
        self.saved = context.record(f"{base}_pullback")
        given, self.keywords = by_position(context.unit, call, context.is_active)
        self.given = [call.func, *given]
        if context.is_active(call.func):  # the callee is a pullback, which carries values too
            self.given.insert(0, name(context.unit.helper("call", runtime.call)))

    def forward(self, statement: gast.Assign) -> list[gast.AST]:
        call = gast.Call(name(self.context.unit.helper("vjp", runtime.vjp)), self.given, self.keywords)
        return self.context.recorded(statement, call, self.saved)

    def backward(self, y_bar: gast.AST) -> tuple[list[gast.AST], Cotangents]:
        holder = self.context.holder()
        out = [
            (node, gast.Subscript(name(holder), constant(k), gast.Load()), 0)
            for k, node in enumerate(self.given[1:])
            if self.context.is_active(node)
        ]
        return [assign(holder, gast.Call(name(self.saved), [y_bar], []))], out


def _bar_kind(kind: Any) -> Kind:
    """The kind of a cotangent: the shape of its value, with any type of number."""
    if isinstance(kind, Number):
        return Number(None)
    return Array(None, kind.dims) if isinstance(kind, Array) else UNKNOWN


def checked_owner(unit: Unit, kinds: dict[str, Kind], operation: Operation) -> list[gast.AST]:
    """`x.dot(y)` is NumPy's method only if x is an array: check at run time if its kind is unknown."""
    node = getattr(operation.node, "func", operation.node)
    owner = node.value if isinstance(node, gast.Attribute) and operation.form == "rule" else None
    if not isinstance(owner, gast.Name) or owner.id not in unit.locals or unit.primal.is_generated:
        return []
    if isinstance(kinds.get(owner.id), (Number, Array, Container, Drawing, Foreign)):
        return []
    return [gast.Expr(gast.Call(name(unit.helper("require_array", runtime.require_array)), [name(owner.id)], []))]
