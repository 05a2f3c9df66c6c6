"""Calls that may change what the reverse sweep reads, or pass on a value without being seen to.

keep(y)            with `def keep(v): LOG.append(v)`      ->      Unsupported: `keep` changes state outside of it ...
obj.run(y)         of an argument                         ->      checked where it runs: it must only read `y`
"""

from __future__ import annotations

import functools
import inspect
import types
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sgrad import emit, runtime, standard
from s2sgrad.analysis.kinds import Array, Assignable, Container, Drawing, Foreign, Known, Number, Opaque, Text
from s2sgrad.analysis.plain_classes import assigning, own_protocols
from s2sgrad.analysis.primitive_calls import is_user_function
from s2sgrad.analysis.trust import Trust, trust_of_owner
from s2sgrad.errors import Place
from s2sgrad.errors.raised import behind_partial
from s2sgrad.ir import reach
from s2sgrad.ir.forms import arguments_of, bound_name
from s2sgrad.ir.quote import clone, constant, nodes
from s2sgrad.ir.unit import MISSING
from s2sgrad.legality.context import Context
from s2sgrad.memory import behaviour, mod_ref
from s2sgrad.primitives import catalogue
from s2sgrad.primitives.catalogue import may_write, methods_named, on_stack
from s2sgrad.rules import table
from s2sgrad.runtime import outside
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checkpoints import Checkpoints
from s2sgrad.runtime.checks import is_special

_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType)
_UNSEEN = (*_DESCRIPTORS, types.BuiltinFunctionType, type(np.copyto))
_OURS = ("s2sgrad.api", "s2sgrad.pullbacks", "s2sgrad.runtime", "s2sgrad.rules")


@dataclass
class Call:
    """One call: whether its result is differentiated, whether it is called only for its effect (nobody reads its result),
    and whether it is a statement.
    """

    context: Context
    node: gast.Call
    differentiated: bool
    alone: bool
    outermost: bool

    @functools.cached_property
    def given(self) -> list[gast.AST]:
        """The arguments."""
        return arguments_of(self.node)

    @functools.cached_property
    def is_mutable(self) -> bool:
        """Whether an argument is, or holds, something that the callee could change."""
        return self.context.any_mutable(self.given)

    @property
    def shown(self) -> str:
        """The callee as text."""
        return emit.expression(self.node.func)

    def is_data(self, node: gast.AST) -> bool:
        """Whether an argument is a number, an array or a container of these, and not a function."""
        known = not isinstance(node, gast.Lambda) and not callable(self.context.unit.resolve(node))
        return known and trust_of_owner(self.context.unit, node, self.context.kinds) <= Trust.DATA

    def refuse(self, why: str, inside: Iterable[Place] = ()) -> None:
        """Raise Unsupported at this call; `inside`: the places in what is called that are the cause."""
        self.context.unit.refuse(self.node, why, inside)


def check(context: Context, statement: gast.AST, node: gast.Call, differentiated: bool) -> None:
    """Raise Unsupported where a call has an effect that the reverse sweep cannot undo; insert a run-time check where its
    effects are unknown.
    """
    whole, expression = getattr(statement, "value", None) is node, isinstance(statement, gast.Expr)
    alone = expression or (whole and bound_name(statement) not in {None, *context.read})
    call = Call(context, node, differentiated, alone, whole and expression)
    _effect(call)
    _held_arrays(call)


def _effect(call: Call) -> None:
    """The effects of the callee itself."""
    unit, function = call.context.unit, call.node.func
    if behaviour.is_missing(unit, function):
        return  # raises at run time
    if isinstance(function, gast.Attribute) and function.attr in _assigning(call.context, function.value):
        call.refuse(f"`{call.shown}` changes a value that the reverse sweep may read: change Variables outside of the "
                    "function, or record it on a GradientTape")  # fmt: skip
    target = unit.resolve(function)
    if mod_ref.writes_out(call.node, target):
        call.refuse("`out=` is not differentiated yet: assign the result to a name")
    option = mod_ref.overwriting(call.node, target)
    if option is not None:
        call.refuse(f"`{option}` lets `{call.shown}` write into its argument, which cannot be followed: leave it out")
    if target is not MISSING:
        _known(call, target)
    elif isinstance(function, gast.Attribute):
        _method(call, function.value, function.attr)
    else:
        _unknown(call)


def _assigning(context: Context, owner: gast.AST) -> frozenset[str]:
    """The methods that replace the value of a Variable; none for any other object."""
    kind, found = context.kind(owner), context.unit.resolve(owner)
    if isinstance(kind, Assignable):
        return kind.methods
    return frozenset() if found is MISSING else assigning(type(found))


# --- callees that are unknown at compile time --------------------------------------------------------------------------


def _method(call: Call, owner: gast.AST, name: str) -> None:
    """A method: of a container, of an array, or of an unknown object."""
    context = call.context
    found = context.unit.resolve(owner)
    if catalogue.of(getattr(type(found), name, None)).logs:
        return  # it formats its arguments immediately, as `print` does
    stack = on_stack(name) and context.is_local(owner)
    _writing(call, owner, name, stack)
    if name == "write" and isinstance(found, outside.Global):
        _kept_outside(call, call.given, found.name, False)
    elif not stack:
        _unknown(call, kept=name == "append" and _is_kept(call, owner))


def _writing(call: Call, owner: gast.AST, name: str, stack: bool) -> None:
    """A method that changes its object: only a stack may grow and shrink, in a statement of its own."""
    context = call.context
    resizes, grows = any(m.resizes for m in methods_named(name)), any(m.grows for m in methods_named(name))
    if may_write(name) and not resizes and context.is_mutable(owner):
        call.refuse(f"`.{name}(...)` writes its object inside an expression, which is not differentiated: call it on a line "
                    "of its own")  # fmt: skip
    plain = trust_of_owner(context.unit, owner, context.kinds) <= Trust.DATA
    if resizes and not stack and not grows and plain and context.is_local(owner):
        call.refuse(f"`.{name}(...)` changes its object in a way that is not differentiated: build a new one")
    if grows and not call.outermost and _may_be_container(context, owner):
        call.refuse(f"`.{name}(...)` changes its object inside an expression, which is not differentiated: make it a "
                    "statement of its own")  # fmt: skip


def _may_be_container(context: Context, node: gast.AST) -> bool:
    return context.is_local(node) and not isinstance(context.kind(node), (Number, Array))


def _is_kept(call: Call, owner: gast.AST) -> bool:
    """Whether what is stored is for the caller alone: this function does not look into the list or dict from outside, and
    whether others do is seen when all are known."""
    kept = getattr(owner, "id", "") in call.context.only_kept_in
    if kept and any(map(call.context.depends, call.given)):
        call.context.unit.outside.loses_to.add(owner.id)
    return kept


def _unknown(call: Call, kept: bool = False) -> None:
    """An unknown callee; `kept`: it only stores its arguments for the caller."""
    carries = any(map(call.context.depends, call.given)) and not kept
    if call.alone and (call.is_mutable or carries) and not call.context.unit.primal.is_generated:  # the result is unused
        call.refuse(f"`{call.shown}` is only known at run time and may change or keep what it is given, which is not "
                    "differentiated yet: return a value from it")  # fmt: skip
    loads = bool(call.context.unit.outside.given_objects)
    if (call.is_mutable or loads) and not call.differentiated and _is_unseen(call.context, call.node.func):
        call.node.func = _reading_only(call, call.node.func)


def _reading_only(call: Call, function: gast.AST) -> gast.AST:
    """A function that only the run knows, checked where it is called: it writes neither its arguments nor the objects of
    which the text has loaded attributes."""
    loaded = [clone(owner) for owner, _ in call.context.unit.outside.given_objects]
    shown, line = constant(emit.expression(function)), constant(getattr(call.node, "lineno", 0))
    return reach.call(call.context.unit, "reads_only", runtime.reads_only, function, shown, line, *loaded)


def _handed_over(call: Call, target: Any) -> None:
    """A function that only the run knows, and that a known one calls."""
    unit, record = call.context.unit, catalogue.of(target)
    place = 0 if target is runtime.call else record.called
    if call.differentiated or not unit.outside.given_objects or unit.primal.is_generated:
        return

    def checked(function: gast.AST) -> gast.AST:
        unseen = isinstance(function, gast.Name) and unit.resolve(function) is MISSING
        data = isinstance(call.context.kind(function), (Array, Number, Container))
        return _reading_only(call, function) if unseen and not data else function

    call.node.args = [checked(a) if k == place else a for k, a in enumerate(call.node.args)]
    for keyword in call.node.keywords:
        keyword.value = checked(keyword.value) if keyword.arg == record.called_name else keyword.value


def _is_unseen(context: Context, function: gast.AST) -> bool:
    """Whether nothing is known about what a callee does with its arguments."""
    owner = function.value if isinstance(function, gast.Attribute) else None
    return not context.unit.primal.is_generated and not isinstance(context.kind(owner), (Array, Number, Text, Container))


def _held_arrays(call: Call) -> None:
    """A method of an unknown object that may write differentiated arrays which the object refers to."""
    context, function = call.context, call.node.func
    if context.unit.primal.is_generated or not isinstance(function, gast.Attribute):
        return
    owner = function.value
    if isinstance(context.kind(owner), Foreign) and table.method_of_operators(function.attr) is not None:
        return  # by a rule
    made = any(isinstance(n, gast.Call) and isinstance(context.unit.resolve(n.func), type) for n in nodes(owner))
    if made and context.unit.resolve(function) is MISSING:
        written = bool(mod_ref.of_expression(context.unit, call.node, context.kinds).arguments) and context.is_mutable(owner)
    else:
        written = _may_write_held(context, owner)
    if written:
        call.refuse(f"`.{function.attr}(...)` of an object of which nothing is known may write the arrays that it holds, "
                    "which is not differentiated: give it copies")  # fmt: skip


def _may_write_held(context: Context, owner: gast.AST) -> bool:
    """Whether an object is unknown and shares memory with arrays that carry derivatives."""
    kind = context.kind(owner)
    if not context.is_local(owner) or owner.id not in context.paths.memory.lost:
        return False
    if not isinstance(kind, Opaque) or isinstance(kind, Drawing):
        return False
    held = context.paths.memory.with_memory_of(owner.id) & context.paths.active & context.varied
    return any(isinstance(context.kinds.get(n), Array) for n in held)


# --- known callees -----------------------------------------------------------------------------------------------------


def _known(call: Call, target: Any) -> None:
    if target is outside.set_item or target is outside.delete_items:
        _outside(call)
        return
    if target is Checkpoints:
        call.refuse("what `vjp` gives of a loop over `checkpointed` cannot be differentiated again: use `grad`, or loop "
                    "over the range itself")  # fmt: skip
    if catalogue.of(target).unseen:
        call.refuse(f"`{call.shown}` reads or writes variables unseen and cannot be differentiated: use names")
    if isinstance(target, type):
        _class(call, target)
    if catalogue.of(target).writes or catalogue.of_bound(target).writes:
        call.refuse(f"`{call.shown}` writes its argument, which is not differentiated yet: build a new array")
    if catalogue.of(target).is_given:
        return
    _handed_over(call, target)
    if call.is_mutable:
        _behind_a_partial(call, target)
    if catalogue.of(target).pure:
        return
    if is_user_function(target):
        _user_function(call, target)
    elif call.is_mutable and mod_ref.of_expression(call.context.unit, call.node, call.context.kinds).arguments:
        if call.alone or isinstance(target, type):
            call.refuse(f"`{call.shown}` may write its argument, which is not differentiated yet: give it a copy")
        _unknown(call)


def _outside(call: Call) -> None:
    """A store into a list or a dict that lives outside: what is stored is a constant to whoever reads it."""
    owner, _, *given = call.given
    _kept_outside(call, given, emit.expression(owner), _is_kept(call, owner))


def _kept_outside(call: Call, given: list[gast.AST], shown: str, kept: bool) -> None:
    """A value that is to be held by what lives outside under the name `shown`; `kept`: nobody reads it."""
    held, unit = [a for a in given if call.context.is_mutable(a)], call.context.unit
    known = any(isinstance(call.context.kind(a), (Array, Container)) for a in held)
    if known or (not kept and any(map(call.context.passes_on, call.given))):
        call.refuse(f"a differentiated value, or an array, is kept in the global `{shown}`, which is not "
                    "differentiated yet: return it")  # fmt: skip
    if held and not unit.primal.is_generated:
        line = constant(getattr(call.node, "lineno", 0))
        call.node.args[-1] = reach.call(unit, "kept_outside", outside.kept_outside, held[0], line)


def _class(call: Call, cls: type) -> None:
    if table.has_own_operators(cls):
        return  # a sparse array that is a dict
    if is_special(cls) and cls is not Counter:
        call.refuse(f"`{call.shown}` makes a list or a dict with methods of its own, which cannot be followed: use a "
                    "plain one")  # fmt: skip
    if call.is_mutable and own_protocols(cls):
        call.refuse(f"`{call.shown}` makes an object whose operators may write what it holds, which cannot be followed "
                    "here: bind it to a name")  # fmt: skip


def _behind_a_partial(call: Call, target: Any) -> None:
    """The callee behind a partial, a callable object or a method of a class, where an argument is mutable."""
    reached = behind_partial(target)
    unseen = isinstance(reached, _UNSEEN) and (reached is not target or isinstance(target, _DESCRIPTORS))
    if unseen and not catalogue.of(reached).pure:
        call.refuse(f"`{call.shown}` may write its argument, which cannot be followed: call it as a method")
    behind = _behind(target)
    if behind is not None and mod_ref.of(behind).arguments:
        call.refuse(f"`{call.shown}` may write its argument, which is not differentiated yet: return a new value from it")


def _behind(target: Any) -> Any:
    """The user's function that a partial or a callable object calls; None if there is none."""
    reached = behind_partial(target)
    if type(reached).__module__.startswith("s2sgrad."):  # a gradient
        return None
    if not isinstance(reached, (types.FunctionType, types.MethodType)):
        reached = None if isinstance(reached, type) else inspect.getattr_static(type(reached), "__call__", None)
    elif reached is target:
        return None
    return its(reached, "__func__", reached) if is_user_function(reached) else None


def _user_function(call: Call, target: types.FunctionType) -> None:
    """A user's function that is called unchanged, because its value is not differentiated."""
    home = its(target, "__module__", None) or ""  # None in a namespace without a name
    if call.differentiated or home.startswith(_OURS):
        return
    if home.startswith(standard.__name__) and all(map(call.is_data, call.given)):
        return  # its only effects are those of functions passed to it
    writes = mod_ref.of_call(call.context.unit, target, call.node, call.context.kinds)
    if writes.outside:
        call.refuse(f"`{call.shown}` changes state outside of it, which is not differentiated yet: pass the state in and "
                    "return it", mod_ref.places_of_writes(its(target, "__func__", target)))  # fmt: skip
    written = _written(call, target, writes.arguments) if writes.arguments else []
    if call.context.any_mutable(written) or any(_is_function(call.context, argument) for argument in written):
        call.refuse(f"`{call.shown}` may write its argument, which is not differentiated yet: return a new value from it")


def _is_function(context: Context, node: gast.AST) -> bool:
    """Whether an argument is a function for certain, whose attributes and defaults outlive the call."""
    kind = context.kind(node)
    value = kind.value if isinstance(kind, Known) else context.unit.resolve(node)
    return isinstance(value, types.FunctionType)


def _written(call: Call, target: types.FunctionType, names: frozenset[str]) -> list[gast.AST]:
    """The arguments bound to the named parameters; all where the binding is unknown."""
    if mod_ref.ANY in names or any(isinstance(a, gast.Starred) for a in call.node.args):
        return call.given
    out = []
    for parameter, value in call.context.pairs.arguments(call.context.unit, target, call.node).items():
        if parameter in names:
            out += value if isinstance(value, list) else [value]
    return out
