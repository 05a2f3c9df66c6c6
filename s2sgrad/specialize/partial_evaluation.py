"""Partial evaluation of function values: a call of a known one is inlined, where its captures are in scope.

    f = lambda t: w * t; y = f(2.0); w = w * w; return y + f(3.0)      ->      y = w * 2.0; w = w * w; return y + w * 3.0

This covers lambdas, nested functions, `functools.partial`, and functions passed to or returned by functions.  Free names are
read at the call, as in Python; defaults are evaluated at the definition.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def compose(f, g):
...     return lambda t: f(g(t))
... def f(x):
...     def scaled(t, by=2.0):
...         if t < 0.0:
...             return 0.0
...         return t * x * by
...     return compose(np.sin, scaled)(x)
... ''', "flatten"))
def f(x):
    t2 = x < 0.0
    if t2:
        result_2 = 0.0
    else:
        t3 = x * x
        result_2 = t3 * 2.0
    t4 = np.sin(result_2)
    result_ = t4
    result = result_
    return result
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.user_functions import is_generator, is_plain
from s2sgrad.ir import notes
from s2sgrad.ir.quote import at, clone, constant, name, nodes
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.normalize import library
from s2sgrad.normalize.check import yields
from s2sgrad.specialize import lambda_lifting, static_calls, trip_names
from s2sgrad.specialize.argument_objects import GivenObjects
from s2sgrad.specialize.arguments import Arguments
from s2sgrad.specialize.binding_time import Lookahead, is_made_for_functions, is_super
from s2sgrad.specialize.callable_texts import owners_written
from s2sgrad.specialize.closures import Closures
from s2sgrad.specialize.fixed_functions import FixedFunctions
from s2sgrad.specialize.function_unions import Choices
from s2sgrad.specialize.generators import Generators
from s2sgrad.specialize.inlining import Inliner
from s2sgrad.specialize.named_attributes import NamedAttributes
from s2sgrad.specialize.nested_definitions import Definitions
from s2sgrad.specialize.nested_gradients import Derivatives
from s2sgrad.specialize.nested_matrices import Matrices
from s2sgrad.specialize.object_operators import Operators
from s2sgrad.specialize.object_updates import ObjectUpdates
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.stars import Stars
from s2sgrad.specialize.static_containers import Collections
from s2sgrad.specialize.static_values import (
    Adapted,
    Choice,
    Derivative,
    Display,
    Function,
    Generator,
    Known,
    Object,
    Partial,
    Value,
    called_alone,
    functions_among,
    keep_objects,
    substitute,
)
from s2sgrad.specialize.tuple_methods import TupleMethods
from s2sgrad.specialize.unrolling import Unroller


class Functions(Arguments, Choices, Closures, Collections, Definitions,
                Derivatives, FixedFunctions, Generators, GivenObjects, Inliner, Lookahead, Matrices,
                NamedAttributes, Objects, ObjectUpdates, Operators, Stars, TupleMethods,
                Unroller):  # fmt: skip
    """The function values of one function that is being flattened; `values` has those with a name.  Each family of values
    has its own class; no two define the same name, so that the order of the bases does not matter."""

    def __init__(self, unit: Unit, tree: gast.FunctionDef, flattener: Any) -> None:
        self.unit, self.flattener = unit, flattener
        self.homes, self.again, self.holding = {}, set(), []
        self.acting: set[str] = set()  # functions called for their effect
        self.values: dict[str, Value] = {}
        self.running, self.opened, self.calls, self.hint = [], [], 0, None
        self.outside_objects: dict[int, Object] = {}
        self.written_outside = set(map(id, owners_written(unit.primal.function) or ()))
        self.data, self.plain_names, self.arguments, self.mixed = set(), {}, set(), set()
        self.of_trips, self.in_turn, self.growing = set(), set(), set()
        self.lengths, self.numbers, self.shared = {}, {}, set()
        self.counts: Counter[str] = Counter()  # bindings of each name
        self.meet_text(tree.body, bindings(tree.body))
        self.heads, self.loose = [], []
        self.given = {p.id for p in parameters(tree)}
        self.later = self.bound_later(tree.body) - self.given
        self.known: dict[Any, Function] = {}
        self.lifted: dict[Function, tuple[Known, list[str]]] = {}
        self.by_class: dict[type, Callable[..., Any]] = {
            Adapted: self.call_adapted, Choice: self.apply_choice, Derivative: self.call_derivative,
            Function: self.call_function, Known: self.call_known,
            Object: self.call_object, Partial: self.call_partial,
        }  # fmt: skip
        self.chosen: set[str] = set()  # targets of `a if c else b` and of `a or b`

    def meet_text(self, body: list[gast.AST], bound: Counter[str]) -> None:
        """Scan a text, the function's or an inlined one, before it is evaluated."""
        self.counts.update(bound)
        self.of_trips |= trip_names.found(body)
        self.mixed |= functions_among(body) | self.objects_among(body)
        self.shared |= {n for part in nodes(*body) if isinstance(part, gast.Nonlocal) for n in part.names}
        self.acting |= called_alone(body)
        self.in_turn |= called_alone(body) & trip_names.straight(body)
        self.note_growing(body)

    # --- names that are not called ---

    def require_bound(self, node: gast.AST) -> None:
        """Refuse a read of a function or object that the text binds only later."""
        if isinstance(node, gast.Name) and node.id in self.later and node.id not in self.values:
            self.unit.refuse(node, f"`{node.id}` is bound to a function or an object further down, which cannot be "
                                   "followed: bind it before")  # fmt: skip

    def as_value(self, node: gast.AST) -> gast.AST:
        """A name as a value; it may stand for a callable from outside, not for a function that is made here."""
        self.require_bound(node)
        if not isinstance(node, gast.Name) or node.id not in self.values:
            return node
        value = self.values[node.id]
        if isinstance(value, (Object, Display)) and value.given is not None:
            self.loose.append((node, value))
            return at(node, clone(value.given))[0]
        if isinstance(value, Known):
            return at(node, clone(value.node))[0]
        self.unit.refuse(node, f"`{node.id}`, a function or an object, is used as a value here, where it cannot be "
                               "followed: call it, or move it to module level")  # fmt: skip

    def in_whole(self, node: gast.AST) -> gast.AST:
        """An expression that is not split, with the names of function values replaced."""
        if isinstance(node, gast.Compare) and isinstance(node.left, gast.Name) and node.left.id in self.values:
            if getattr(self.values[node.left.id], "argument", False):
                self.unit.refuse(node, f"whether `{node.left.id}`, an argument or a function of this text, is something "
                                       "cannot be followed: use two names")  # fmt: skip
        if isinstance(node, gast.Name) and node.id in self.values:
            return self.as_value(node)
        names = [n for n in nodes(node) if isinstance(n, gast.Name) and n.id in self.values]
        substitute(node, {n.id: self.as_value(n) for n in names})
        return node

    # --- statements ---

    def name(self, target: str, value: Value, statement: gast.AST) -> None:
        """Bind a name to a function value or an object."""
        self.require_here(value, statement)
        if not isinstance(value, Object):
            keep_objects(value)
        else:
            self.require_free(target, statement)
        current = self.values.get(target)
        if target in self.in_turn and target not in self.shared:
            self.values[target] = self.another_name(target, value, statement) if isinstance(value, Object) else value
            return
        if (self.counts[target] > 1 or target in self.given) and self.choose(target, value, statement):
            return
        if target in self.chosen:
            self.unit.refuse(statement, "which function or object this is depends on a condition, which cannot be followed: "
                                        "call them in the branches of an `if`")  # fmt: skip
        free = isinstance(current, Object) and (current.rebound or not current.names)
        if current is not None and current is not value and not free:
            self.unit.refuse(statement, f"`{target}` stands for one of several functions or objects, which cannot be "
                                        "followed: call them in the branches of an `if`")  # fmt: skip
        if isinstance(value, Object):
            self.name_object(target, value, statement)
        elif self.counts[target] > 1:
            self.unit.refuse(statement, f"`{target}` is bound to a function here and to something else elsewhere, which "
                                        "cannot be followed: use two names")  # fmt: skip
        else:
            self.values[target] = value

    def require_free(self, target: str, statement: gast.AST) -> None:
        """Refuse an object under a name that is an argument or was bound to data."""
        if target in self.given:
            self.unit.refuse(statement, f"`{target}` is an argument, and an object that is made here, which cannot be "
                                        "followed: use two names")  # fmt: skip
        if target in self.data and target not in self.values:
            self.unit.refuse(statement, f"`{target}` stands for an object here and for something else before, which cannot "
                                        "be followed: use two names")  # fmt: skip

    def bound_value(self, target: str, node: gast.AST) -> Any:
        """The value that an assignment binds to a name: static, or a single operation."""
        value = self.begun(name(target), node) or self.keys_among(node)
        if value is not None:
            return value
        self.note_length(name(target), node)
        shown = self.sequenced(node)
        if target in self.mixed or self.may_be_known(shown):
            self.hint = target
        if target in self.acting and (acting := self.acting_among(shown)) is not None:
            return acting
        return self.evaluate(shown) if target in self.mixed else self.flattener.value(shown, target)

    def require_data(self, target: str, statement: gast.AST) -> None:
        """Refuse data under a name for functions or objects: `[g(x) for g in (lambda t: t, np.sum)]`."""
        if target in self.mixed or target in self.values:
            self.unit.refuse(statement, f"`{target}` stands for a function or an object, and here for something else, which "
                                        "cannot be followed: use two names")  # fmt: skip

    def is_fixed(self, local: str) -> bool:
        """Whether a variable is never rebound."""
        return self.counts[local] <= (0 if local in self.given else 1)

    # --- values ---

    def evaluate(self, node: gast.AST) -> Any:
        """A static value, which includes callables from outside; or an atom for data."""
        return self.as_callable(self.flattener.operand(node))

    def as_callable(self, value: Any) -> Any:
        """A value, with a name or path of a callable from outside as a known callable."""
        target = self.unit.resolve(value) if isinstance(value, (gast.Name, gast.Attribute)) else MISSING
        return Known(target, value) if callable(target) else value

    def named(self, node: gast.Name) -> Any:
        """The value of a name."""
        self.require_bound(node)
        value = self.values.get(node.id, node)
        return self.chosen_now(value) if isinstance(value, Choice) else value

    def held_together(self, items: dict[Any, Any], literal: type | None = None) -> Display:
        """A static tuple or list (`literal`) or dict of these items."""
        block = self.flattener.blocks[-1] if self.flattener.blocks else 0
        kept = {key: self.lasting(self.as_callable(item)) for key, item in items.items()}
        return Display(kept, block=block if literal else 0, mapping=literal is None, literal=literal)

    def attribute(self, node: gast.Attribute) -> Any:
        """An attribute of an object or class; MISSING for data, whose owner has become an atom."""
        if isinstance(node.value, gast.Call) and is_super(self.unit, node.value):
            return self.above(node)
        owner = self.flattener.operand(node.value)
        if isinstance(owner, Known):
            return self.evaluate(at(node, gast.Attribute(clone(owner.node), node.attr, gast.Load()))[0])
        if isinstance(owner, Object):
            return self.get(owner, node.attr, node)
        node.value = self.flattener.data(owner, node.value)
        return self.of_tuple(node)

    def indexed(self, node: gast.AST) -> Any:
        """The operand of an index; a literal of functions from outside becomes a display."""
        at_once = self.holds_callables(node) and not self.may_be_known(node)
        return self.picked_at_once(node) if at_once else self.flattener.operand(node)

    def item(self, owner: Object | Display, node: gast.Subscript) -> Any:
        """An item of an object or display."""
        if isinstance(owner, Object):
            return self.apply(self.method(owner, "__getitem__", node), [self.evaluate(self.key(node.slice))], {}, node)
        if (section := self.section_of(owner, node.slice)) is not None:
            return section
        index = self.place(node.slice, owner)
        if index in owner.items:
            return owner.items[index]
        if isinstance(node.value, gast.Name) and node.value.id in self.growing:
            self.unit.refuse(node, "which function or object this is cannot be followed: use a constant index")
        return self.picked(owner, node)

    def callee(self, node: gast.AST) -> Any:
        """The callee of a call: a static value, or any other expression."""
        return self.evaluate(node) if self.may_be_known(node) else Known(self.unit.resolve(node), node)

    def called(self, node: gast.Call) -> Any:
        """The value of a call, after its statements; None for an ordinary call."""
        if not self.may_be_known(node):
            return None
        tool = static_calls.find(self.unit, node)
        if tool is not None:
            return tool.value(self, node)
        attribute = isinstance(node.func, gast.Attribute) and self.may_be_known(node.func)
        callee = (self.attribute if attribute else self.callee)(node.func)
        if callee is MISSING:
            return None
        if isinstance(callee, Known) and is_generator(callee.target):
            callee = self.read(callee.target)
        if notes.METHOD.of(node) is not None:
            bound = [o for o in getattr(callee, "options", [callee]) if isinstance(o, Partial)]
            self.require_inherited([o.given[0] for o in bound], node.func.attr, node)
        arguments, keywords = self.evaluated(callee, node)
        return self.apply(callee, arguments, keywords, node)

    def apply(self, callee: Any, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """The value of a call of a static value."""
        if callee is None:  # object.__init__
            return constant(None)
        if isinstance(callee, gast.AST):  # data in an attribute
            return self.plain(Known(None, callee), arguments, keywords, node)
        if type(callee) not in self.by_class:
            self.unit.refuse(node, "what is called here is not known to be a function")
        return self.by_class[type(callee)](callee, arguments, keywords, node)

    def call_partial(self, callee: Partial, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        words = {**callee.keywords, **keywords}
        if None in words and callee.keywords and keywords:  # which of them a later one replaces is not known
            self.unit.refuse(node, "keywords of a `partial` in a dict, beside others, cannot be followed: name them")
        return self.apply(callee.inner, [*callee.given, *arguments], words, node)

    def call_adapted(self, callee: Adapted, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        return callee.call(callee.inner, arguments, keywords, node)

    def call_object(self, callee: Object, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        return self.apply(self.method(callee, "__call__", node), arguments, keywords, node)

    def call_known(self, callee: Known, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        """A call of a callable from outside; a user's function is inlined if it takes or returns function values."""
        owner = getattr(callee.target, "__self__", None) if isinstance(callee.target, types.MethodType) else None
        if isinstance(owner, type):
            bound = Known(owner, name(self.unit.helper(owner.__name__, owner)))
            return self.apply(self.text_of(callee.target.__func__), [bound, *arguments], keywords, node)
        if is_plain_class(callee.target):
            return self.construct(callee.target, arguments, keywords, node)
        given = [*arguments, *(keywords := lambda_lifting.with_captures(self.unit, callee.target, keywords)).values()]
        static = any(isinstance(v, (Value, gast.Starred)) and not isinstance(v, Known) for v in given)
        again = is_made_for_functions(callee.target, (v.target for v in given if isinstance(v, Known)))
        followed = is_plain(callee.target)
        if followed and (static or again or self.is_read(callee.target, node)):
            return self.apply(self.read(callee.target), arguments, keywords, node)
        return self.plain(callee, arguments, keywords, node)

    def call_function(self, callee: Function, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Any:
        if yields(callee.node):
            words = {k: self.lasting(v) for k, v in keywords.items()}
            around = tuple(function for function, _ in self.running)
            return Generator(callee, [self.lasting(v) for v in arguments], words, tuple(self.flattener.loops), around)
        if callee.run_again:
            return self.called_again(callee, arguments, keywords, node)
        if lambda_lifting.calls_itself(callee.node):
            return self.recursive(callee, arguments, keywords, node)
        return self.written_out(callee, arguments, keywords, node)

    def plain(self, callee: Known, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> gast.AST:
        """A call that is kept as a call."""
        arguments = [self.handed(v, node, callee.node) or v for v in arguments]
        keywords = {k: self.handed(v, node, callee.node) or v for k, v in keywords.items()}
        for value in (*arguments, *keywords.values()):
            if isinstance(value, Value) and not isinstance(value, Known):
                self.unit.refuse(node, "a nested function or lambda that is handed to this function cannot be followed: "
                                       "move it to module level")  # fmt: skip
        atoms = [v.node if isinstance(v, Known) else v for v in arguments]
        words = [gast.keyword(k, v.node if isinstance(v, Known) else v) for k, v in keywords.items()]
        call = at(node, gast.Call(clone(callee.node), atoms, words))[0]
        return self.flattener.atom(library.of_found(self.unit, call))
