"""Classification of operations in normal form: which primitive, independent of its spelling, with which operands.

x.sum(axis=0), np.sum(x, 0), numpy.sum(x, axis=0)   ->   rule of np.sum, operand x, keyword axis=0
"""

from __future__ import annotations

import copy
import functools
import operator
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2sgrad import runtime, source
from s2sgrad.analysis import effects
from s2sgrad.analysis.kinds import (
    OPAQUE,
    PULLBACK,
    UNKNOWN,
    Container,
    Drawing,
    Foreign,
    Instance,
    Kind,
    Known,
    Text,
    kind_of,
)
from s2sgrad.analysis.number_types import is_real
from s2sgrad.analysis.trust import Trust, trust_of_kind, trust_of_owner
from s2sgrad.ir.forms import arguments_of
from s2sgrad.ir.quote import at, constant
from s2sgrad.ir.reach import numpy_function
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import catalogue, libraries, spellings
from s2sgrad.primitives.catalogue import methods_named, on_stack
from s2sgrad.rules import binding, table
from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.closures import Closure


@dataclass
class Operation:
    """One operation.  `form` is one of

    - `atom`: a name, a constant, an attribute of a module.
    - `rule`: a primitive with a rule: `operands` in the rule's order, `keywords` by the rule's names.
    - `flat`: an operation whose derivative is zero.
    - `item`: `operands[0][index]`.  `display`: a tuple, list or dict of `operands`.
    - `pop`, `push`: on a local stack. `shrink`, `grow`: on a local list that has other uses too.
    - `call`: a call of a function without a rule: `target` if it is known now, else MISSING.
    - `opaque`: anything else, which may not involve a value that carries a derivative. `why` says what to do.
    """

    form: str
    node: gast.AST
    operands: list[gast.AST] = field(default_factory=list)
    keywords: dict[str, gast.AST] = field(default_factory=dict)
    rule: table.Rule | None = None
    target: Any = MISSING
    why: str = ""

    @property
    def is_stack(self) -> bool:
        """Whether this pushes to or pops from a stack."""
        return self.form in _STACK

    @property
    def is_resizing(self) -> bool:
        """Whether this appends to or pops from a list that has other uses too."""
        return self.form in _RESIZING

    @property
    def given(self) -> list[gast.AST]:
        """The operands, and the values of a rule's keywords."""
        return [*self.operands, *self.keywords.values()]


_STACK = ("push", "pop")
_RESIZING = ("grow", "shrink")


def classify(unit: Unit, node: gast.AST, kinds: dict[str, Kind]) -> Operation:
    """The operation that a flat expression performs."""
    if isinstance(node, (gast.Name, gast.Constant)):
        return Operation("atom", node)
    if isinstance(node, (gast.Compare, gast.JoinedStr)) or (
        isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not)
    ):
        return Operation("flat", node)
    if isinstance(node, (gast.BinOp, gast.UnaryOp)):
        return _operator(unit, node, kinds)
    if isinstance(node, gast.Subscript):
        if not isinstance(node.value, (gast.Name, gast.Constant, gast.Attribute)):
            return Operation("opaque", node, why="an item of an expression cannot be differentiated: bind it to a name")
        return _item_of_operators(unit, node, kinds) or Operation("item", node, [node.value])
    if isinstance(node, gast.Attribute):
        return _attribute(unit, node, kinds)
    if isinstance(node, (gast.Tuple, gast.List)) and not any(isinstance(e, gast.Starred) for e in node.elts):
        return Operation("display", node, list(node.elts))
    if isinstance(node, gast.Dict) and None not in node.keys:
        return Operation("display", node, list(node.values))
    if isinstance(node, gast.Call):
        return _call(unit, node, kinds)
    if isinstance(node, gast.BoolOp):
        return Operation("flat", node)
    if isinstance(node, gast.Lambda):
        why = "a lambda is handed on here, where it cannot be followed: give this call a gradient of its own with " \
              "`custom_gradient`, or write what it does"  # fmt: skip
        return Operation("opaque", node, why=why)
    return Operation("opaque", node, why=f"{_words(node)} cannot be differentiated yet: write it as a loop")


def _words(node: gast.AST) -> str:
    return {
        "ListComp": "a list comprehension", "SetComp": "a set comprehension", "DictComp": "a dict comprehension",
        "GeneratorExp": "a generator expression", "Lambda": "a lambda", "Set": "a set",
    }.get(type(node).__name__, f"`{type(node).__name__}`")  # fmt: skip


def _operator(unit: Unit, node: gast.BinOp | gast.UnaryOp, kinds: dict[str, Kind]) -> Operation:
    operands = [node.operand] if isinstance(node, gast.UnaryOp) else [node.left, node.right]
    if any(isinstance(kind_of(o, kinds), (Container, Text)) for o in operands):
        sequence = _sequence(node, operands, kinds)
        if sequence is not None:
            return sequence
        return Operation("opaque", node, why="arithmetic on lists and tuples cannot be differentiated yet: use arrays")
    primitive = spellings.OPERATORS[type(node.op).__name__][0]
    if any(_has_own_operators(unit, o, kinds) for o in operands):
        primitive = table.own_operator(primitive) or primitive
    rule = table.lookup(primitive)
    if rule is None:
        return _flat(unit, node, operands, kinds)
    return Operation("rule", node, operands, {}, rule, primitive)


def _flat(unit: Unit, node: gast.AST, operands: list[gast.AST], kinds: dict[str, Kind]) -> Operation:
    """`x // y`, `np.sign(x)`: flat of numbers; what an object makes of it, such as a polynomial, it knows alone."""
    if any(trust_of_owner(unit, o, kinds) is Trust.ANY for o in operands):
        return Operation("opaque", node, why="this operation of an object has no derivative rule: compute with its numbers")
    return Operation("flat", node)


def _item_of_operators(unit: Unit, node: gast.Subscript, kinds: dict[str, Kind]) -> Operation | None:
    """An item of a sparse array, by the rule of such items; None for other items."""
    own = table.own_operator(operator.getitem) if isinstance(kind_of(node.value, kinds), Foreign) else None
    if own is None:
        return None
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    key = node.slice
    if any(isinstance(p, gast.Slice) for p in parts):
        key = gast.Subscript(numpy_function(unit, "s_"), node.slice, gast.Load())
    return Operation("rule", node, [node.value, key], {}, table.lookup(own), own)


def _has_own_operators(unit: Unit, operand: gast.AST, kinds: dict[str, Kind]) -> bool:
    """Whether an operand is a sparse array, also one that is bound outside of the function."""
    value = unit.resolve(operand) if isinstance(operand, (gast.Name, gast.Attribute)) else MISSING
    outside = has(value, "__matmul__") and not has(value, "__array_ufunc__") and not isinstance(value, type)
    return outside or isinstance(kind_of(operand, kinds), Foreign)


def _sequence(node: gast.AST, operands: list[gast.AST], kinds: dict[str, Kind]) -> Operation | None:
    """Concatenation `a + b` and repetition `a * 2` of lists and tuples; None for other operators."""
    found = [kind_of(o, kinds) for o in operands]
    listed = [isinstance(k, Container) and k.type in (list, tuple) for k in found]
    if isinstance(node.op, gast.Add) and all(listed):
        return Operation("rule", node, operands, {}, table.lookup(operator.concat), operator.concat)
    if isinstance(node.op, gast.Mult) and listed in ([True, False], [False, True]):
        given = operands if listed[0] else operands[::-1]
        return Operation("rule", node, given, {}, table.lookup(runtime.repeated), runtime.repeated)
    return None


def _attribute(unit: Unit, node: gast.Attribute, kinds: dict[str, Kind]) -> Operation:
    if unit.resolve(node) is not MISSING:
        return Operation("atom", node)
    owner = kind_of(node.value, kinds)
    place = named_place(owner, node.attr)
    if place is not None:
        item = at(node, gast.Subscript(node.value, constant(place), gast.Load()))[0]
        return Operation("item", item, [node.value])
    of_data = trust_of_owner(unit, node.value, kinds) <= Trust.DATA  # an object has attributes of its own
    if of_data and node.attr in spellings.FLAT_ATTRIBUTES:
        return Operation("flat", node)
    primitive = spellings.ATTRIBUTES.get(node.attr)
    rule = table.lookup(primitive) if primitive is not None else None
    if isinstance(owner, Foreign) and node.attr in table.attributes_of_operators():
        primitive = table.attributes_of_operators()[node.attr]
        if primitive is None:
            return Operation("flat", node)
        return Operation("rule", node, [node.value], {}, table.lookup(primitive), primitive)
    ours = isinstance(owner, Foreign) or unit.primal.is_generated  # a cotangent, which may be a sparse array
    of_data = of_data or (ours and primitive is np.transpose)  # as that of an array is
    if of_data and rule is not None:
        return Operation("rule", node, [node.value], {}, rule, primitive)
    return Operation("opaque", node, why=f"the attribute `{node.attr}` cannot be differentiated yet: pass its value as "
                                         "an argument")  # fmt: skip


def named_place(owner: Kind | None, attribute: str) -> Any:
    """The index or name under which a cotangent has the part of an attribute of an instance or a named tuple; None
    otherwise."""
    if isinstance(owner, Instance):
        return attribute if attribute in owner.names else None
    if isinstance(owner, Container) and owner.type is tuple and owner.keys is not None and attribute in owner.keys:
        return owner.keys.index(attribute)
    return None


_STARRED = "`*` and `**` in this call cannot be differentiated yet: write it out"


def _call(unit: Unit, node: gast.Call, kinds: dict[str, Kind]) -> Operation:
    target = unit.resolve(node.func)
    if target is MISSING:
        return _method(unit, node, kinds) if isinstance(node.func, gast.Attribute) else _unruled(node, target)
    if len(node.args) == 1 and any(target is known for known in _OF_KEYS):
        held = kind_of(node.args[0], kinds)
        if isinstance(held, Container) and held.type is dict:
            return Operation("flat", node)
    if target is runtime.push and len(node.args) == 2:
        return Operation("push", node, list(node.args))
    fields = _fields(node, target)
    if fields is not None:
        return Operation("display", node, fields)
    target = _of_own_operators(node, _by_count(node, target), kinds)
    rule, arguments = table.lookup(target), list(node.args)
    if rule is None and (rule := table.of_calls(target)) is not None:
        target, arguments = type(target).__call__, [node.func, *arguments]
    rule = rule or _of_complex_alone(unit, node, target, kinds)
    if rule is not None:
        return Operation("opaque", node, why=_STARRED) if _is_starred(node) else _bound(node, rule, target, arguments)
    is_flat = catalogue.of(target).is_flat and not _holds_given(node, target)
    return Operation("flat", node) if is_flat else _unruled(node, target)


def _of_own_operators(node: gast.Call, target: Any, kinds: dict[str, Kind]) -> Any:
    """What has the rule of a call: of a sparse array, that of its own `np.sqrt`."""
    own = table.own_operator(target) if any(isinstance(kind_of(a, kinds), Foreign) for a in node.args) else None
    return target if own is None else own


def _of_complex_alone(unit: Unit, node: gast.Call, target: Any, kinds: dict[str, Kind]) -> table.Rule | None:
    """The rule of what is flat of real numbers, where its operands may be complex."""
    real = not unit.derivative.complex or all(is_real(kind_of(a, kinds)) for a in node.args)
    return None if real else table.of_complex_alone(target)


def _holds_given(node: gast.Call, target: Any) -> bool:
    """Whether what a class makes holds what it is given: `np.ndarray(shape, dtype, x)`, `type(name, bases, {"w": x})`."""
    most = {np.ndarray: 2, type: 1}.get(target, len(node.args)) if isinstance(target, type) else len(node.args)
    return len(node.args) > most or (target is np.ndarray and any(k.arg == "buffer" for k in node.keywords))


_OF_KEYS = (sorted, list, tuple, max, min, sum)  # on a dict, their result consists of keys


def _is_starred(node: gast.Call) -> bool:
    return any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)


def _unruled(node: gast.Call, target: Any) -> Operation:
    """A call of a function without a rule."""
    if _is_starred(node):
        return Operation("opaque", node, why=_STARRED)
    return Operation("call", node, arguments_of(node), {}, None, target)


def _by_count(node: gast.Call, target: Any) -> Any:
    """The function whose rule applies, which may depend on the number of arguments: `max(xs)`, `max(a, b)`."""
    if node.keywords:
        return target
    known = spellings.OF_ONE if len(node.args) == 1 else spellings.OF_MANY if len(node.args) > 2 else {}
    return next((means for function, means in known.items() if function is target), target)


def _fields(node: gast.Call, target: Any) -> list[gast.AST] | None:
    """The fields of a named tuple that is constructed here; None for any other call."""
    if not isinstance(target, type) or not hasattr(target, "_fields") or _is_starred(node):
        return None
    given = dict(zip(target._fields, node.args, strict=False)) | {k.arg: k.value for k in node.keywords}
    return [given.get(f, constant(None)) for f in target._fields]


def _method(unit: Unit, node: gast.Call, kinds: dict[str, Kind]) -> Operation:
    owner, name = node.func.value, node.func.attr
    if on_stack(name) and isinstance(owner, gast.Name) and owner.id in unit.locals and not node.keywords:
        form = {("append", 1): "push", ("pop", 0): "pop"}.get((name, len(node.args)))
        if form is not None:
            return Operation(form, node, [owner, *node.args])
    if trust_of_owner(unit, owner, kinds) > Trust.DATA:
        return _of_object(node, kind_of(owner, kinds))
    primitive = spellings.METHODS.get(name)
    if any(record.flat for record in methods_named(name)):
        return Operation("flat", node)
    held = kind_of(owner, kinds)
    if name == "copy" and isinstance(held, Container) and held.type in (list, dict) and not node.args:
        return _bound(node, table.rule_of(copy.copy), copy.copy, [owner])
    rule = table.lookup(primitive) if primitive is not None else None
    if rule is None and primitive is not None and table.is_flat(primitive):
        return Operation("flat", node)
    if _is_starred(node):
        return Operation("opaque", node, why=_STARRED)
    if rule is None or isinstance(held, (Container, Text, Known)):
        return _unruled(node, MISSING)
    return _bound_method(node, rule, primitive)


def _of_object(node: gast.Call, owner: Kind | None) -> Operation:
    """A method of an object: of a sparse array, by the rule that all of these classes share, or a draw."""
    own = table.method_of_operators(node.func.attr) if isinstance(owner, Foreign) else None
    if own is None or _is_starred(node):
        return _draw(node, owner)
    return _bound(node, table.rule_of(own), own, [node.func.value, *node.args])


def _draw(node: gast.Call, owner: Kind | None) -> Operation:
    """A draw from a generator, by the rule of whichever class has one for a method of this name; of anything else an
    arbitrary method, whatever its name."""
    known = (getattr(cls, node.func.attr, None) for cls in libraries.DRAWING if isinstance(owner, Drawing))
    draw = next((method for method in known if table.lookup(method) is not None), None)
    return _unruled(node, MISSING) if draw is None else _bound(node, table.rule_of(draw), draw, list(node.args))


def _bound_method(node: gast.Call, rule: table.Rule, primitive: Any) -> Operation:
    """A method of an array as the function of this name; `x.transpose(1, 0)` passes its axes one by one."""
    owner, keyword = node.func.value, spellings.VARIADIC.get(node.func.attr)
    if keyword is None:
        return _bound(node, rule, primitive, [owner, *node.args])
    value = node.args[0] if len(node.args) == 1 else gast.Tuple(list(node.args), gast.Load())
    return _bound(node, rule, primitive, [owner], {keyword: value} if node.args else {})


def _bound(
    node: gast.Call, rule: table.Rule, primitive: Any, arguments: list[gast.AST], extra: dict[str, gast.AST] | None = None
) -> Operation:
    """Arguments bound to the rule's parameters; `why` is set where the rule does not accept one."""
    operands, keywords, why = binding.bound(rule, primitive, arguments, {k.arg: k.value for k in node.keywords}, extra)
    return Operation("rule", node, operands, keywords, rule, primitive, why)


def is_user_function(target: Any) -> bool:
    """Whether a callable is a Python function that is differentiated from its source."""
    if isinstance(target, types.MethodType):
        target = target.__func__
    return isinstance(target, types.FunctionType) and not effects.is_library(target)


def is_known_late(target: Any) -> bool:
    """Whether the derivative of a callee is looked up when it is called: only the run knows it, it has a gradient of its
    own, or it is a value that holds others."""
    return target is MISSING or isinstance(target, _HOLDING) or source.brings_gradient(target)


_HOLDING = (functools.partial, types.MethodType, runtime.Pullback, Closure)


def of_foreign_call(target: Any) -> Kind:
    """The kind of the result of a call that is not analyzed; an instance has methods of its own."""
    if (its(target, "__module__", None) or "").startswith("s2sgrad."):
        return PULLBACK  # or a gradient
    return OPAQUE if isinstance(target, type) or not effects.is_library(target) else UNKNOWN


def own_methods(kinds: Mapping[str, Kind]) -> set[str]:
    """The variables whose values may have methods of their own, whatever the names of these."""
    return {name for name, kind in kinds.items() if trust_of_kind(kind) > Trust.DATA}
