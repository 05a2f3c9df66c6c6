"""What would give a wrong number, found before anything is written: refused with the place and the way out.

y = np.fft.fft(x); return np.sum(y)      ->      NoRule: `np.fft.fft` has no derivative rule ...
"""

from __future__ import annotations

import functools
import inspect
import types
from collections import Counter, defaultdict, deque
from typing import Any

import gast
import numpy as np

from s2sgrad import emit, runtime, source
from s2sgrad.analysis import activity, effects
from s2sgrad.analysis.kinds import (
    Array,
    Assignable,
    Container,
    Drawing,
    Foreign,
    Kind,
    Number,
    Opaque,
    Text,
    is_complex,
)  # fmt: skip
from s2sgrad.analysis.plain_classes import assigning, own_protocols
from s2sgrad.analysis.primitive_calls import Operation, is_user_function
from s2sgrad.flow.graph import binds
from s2sgrad.ir import reach
from s2sgrad.ir.quote import children, constant, nodes
from s2sgrad.ir.unit import MISSING, Unit, parameters
from s2sgrad.memory import mod_ref
from s2sgrad.memory.sources import is_basic, sources
from s2sgrad.primitives import catalogue, sharing
from s2sgrad.primitives.catalogue import may_write, methods_named, on_stack
from s2sgrad.runtime.checks import is_special
from s2sgrad.transform.calls import Pairs
from s2sgrad.transform.paths import Paths


class Refusals:
    """Checks of one function whose kinds and activity are known."""

    def __init__(self, unit: Unit, paths: Paths, kinds: dict[str, Kind], pairs: Pairs) -> None:
        self.unit, self.found, self.kinds, self.pairs = unit, paths.operations, kinds, pairs
        self.active, self.varied, self.memory = paths.active, paths.varied, paths.memory

    def run(self, tree: gast.FunctionDef) -> None:
        """Raise Unsupported or NoRule at the first construct that cannot be differentiated."""
        self.histories = self.only_appended(tree)
        self.others: set[str] = set()
        self.given = {p.id for p in parameters(tree)}
        self.read = _read(tree)
        for statement in effects.walk(tree.body):
            operation = self.found.get(id(statement))
            if isinstance(statement, gast.AugAssign) and _is_list(self.kinds.get(getattr(statement.target, "id", ""))):
                self.unit.refuse(statement, "an update of a list in place cannot be followed here: use `append` or `extend`")
            section = effects.stored(statement)
            owner = getattr(section.value, "id", "") if section is not None else ""
            if _is_list(self.kinds.get(owner)) and _is_section(section.slice):
                self.unit.refuse(statement, "a store into a section of a list, or a sort of a list in place, cannot be "
                                            "followed: build a new list, or use an array")  # fmt: skip
            self.collection(statement)
            self.keys(statement, section)
            self.indices(statement)
            on_path = operation is not None and bool(set(binds(statement)) & self.active)
            if on_path:
                self.operation(statement, operation)
            header = statement
            if isinstance(statement, (gast.If, gast.While)):
                header = statement.test
            elif isinstance(statement, gast.For):
                header = statement.iter
            for call in (n for n in nodes(header) if isinstance(n, gast.Call)):
                whole = getattr(statement, "value", None) is call
                alone = isinstance(statement, gast.Expr) or (whole and not self.is_read(statement))
                self.effect(call, on_path and operation.node is call, alone, whole and isinstance(statement, gast.Expr))
                self.method(call)
        for statement in effects.walk(tree.body) if sharing.STORES_ITEM_BY_ITEM else ():  # what else is wrong is said first
            section = effects.stored(statement)
            if section is not None:
                self.overlap(statement, section)

    def is_read(self, statement: gast.AST) -> bool:
        """Whether anything reads what a statement binds: what is not read is called for its effect."""
        plain = isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Name)
        return not plain or bool(self.read & set(binds(statement)))

    def only_appended(self, tree: gast.FunctionDef) -> set[str]:
        """The lists from outside that the function appends to and does not look into: their items are for the caller."""
        kept: Counter[str] = Counter()
        for statement in effects.walk(tree.body):
            call = statement.value if isinstance(statement, gast.Expr) else None
            if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and call.func.attr == "append":
                if isinstance(call.func.value, gast.Name) and call.func.value.id not in self.unit.locals:
                    kept[call.func.value.id] += 1
        if not kept:
            return set()
        read = Counter(n.id for s in effects.walk(tree.body) for n in effects.loads(effects.header(s)))
        return {owner for owner, count in kept.items() if read[owner] == count}

    def collection(self, statement: gast.AST) -> None:
        """Collections that are no lists and no dicts, though their methods have the names."""
        value = getattr(statement, "value", None)
        made = self.unit.resolve(value.func) if isinstance(value, gast.Call) else MISSING
        if made is defaultdict:
            self.unit.refuse(value, "a `defaultdict` stores a key where it is read, which is not differentiated: use a "
                                    "dict, and `get` or `setdefault`")  # fmt: skip
        if any(made is kind for kind in (set, frozenset, deque, Counter)) or isinstance(value, gast.Set):
            self.others |= set(binds(statement)) if isinstance(statement, gast.Assign) else set()
        operation = self.found.get(id(statement))
        if operation is not None and (operation.is_stack or operation.is_resizing):
            owner = operation.operands[0]
            if isinstance(owner, gast.Name) and owner.id in self.others:
                self.unit.refuse(operation.node, f"`{owner.id}` is a set or a deque, of which items cannot be taken or "
                                                 "added like those of a list: use a list")  # fmt: skip

    def keys(self, statement: gast.AST, section: gast.Subscript | None) -> None:
        """The keys of a dict are constants: what is read off them again would be without a derivative."""
        keys: list[gast.AST] = []
        if self.unit.primal.is_generated:
            return
        if section is not None and not isinstance(self.kinds.get(getattr(section.value, "id", "")), Array):
            keys = [section.slice]
        elif isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Dict):
            keys = statement.value.keys
        for key in keys:
            floats = [n for n in effects.loads(key) if isinstance(self.kinds.get(n.id), (Number, Array))]
            if any(n.id in self.varied for n in floats):
                self.unit.refuse(key, "a key that depends on a differentiated value is not differentiated: use a constant, "
                                      "or `stop_gradient(..)`")  # fmt: skip

    def overlap(self, statement: gast.Assign, section: gast.Subscript) -> None:
        """`v[[3, 1]] = v[2:]`: what is read may have been written by this very store."""
        mask = getattr(self.kinds.get(getattr(section.slice, "id", "")), "dtype", None) == "bool"
        base = effects.base(section)
        read = sources(self.unit, statement.value, self.kinds) & self.memory.with_memory_of(base)
        may_be_array = not isinstance(self.kinds.get(base), (Opaque, Container))
        if may_be_array and read and not mask and not is_basic(section.slice, self.kinds):
            self.unit.refuse(statement, f"this store may read what it has written, for NumPy {np.__version__} goes item by "
                                        "item: copy the value first, as in `y[i] = y[1:].copy()`")  # fmt: skip

    def indices(self, statement: gast.AST) -> None:
        """`np.mgrid[0:x:5j]`: what computes with its index has no rule."""
        for node in nodes(effects.header(statement)):
            if not isinstance(node, gast.Subscript) or isinstance(self.unit.resolve(node.value), _INDEXED):
                continue
            if self.unit.resolve(node.value) is not MISSING and any(n.id in self.varied for n in effects.loads(node.slice)):
                self.unit.no_rule(node, f"the index of `{emit.expression(node.value)}` has no derivative rule: use a "
                                        "function that has one, like np.linspace")  # fmt: skip

    def operation(self, statement: gast.AST, operation: Operation) -> None:
        """An operation on the differentiated path."""
        carriers = [s for s in activity.sources(operation) if s in self.varied]
        if not carriers:
            return
        node = operation.node
        born = not any(is_complex(self.kinds.get(n)) for n in carriers)
        if born and operation.form != "call" and any(is_complex(self.kinds.get(n)) for n in binds(statement)):
            self.unit.refuse(node, "complex numbers cannot be differentiated yet: compute with real and imaginary parts")
        if operation.form == "call" and isinstance(node.func, gast.Attribute) and operation.target is MISSING:
            if any(n.id in self.varied for n in effects.loads(node.func)):
                self.unit.refuse(node, f"the method `{node.func.attr}` cannot be differentiated: use a NumPy function "
                                       "that has a rule")  # fmt: skip
        if operation.form == "opaque":
            self.unit.refuse(node, operation.why)
        if operation.why:
            self.unit.no_rule(node, operation.why)
        for keyword, value in operation.keywords.items():
            if keyword == "dtype" and self.unit.resolve(value) is object:
                self.unit.refuse(value, "arrays of objects cannot be differentiated: use an array of floats")
            has_rule = operation.rule is not None and keyword in operation.rule.keyword_rules
            if not has_rule and any(n.id in self.active for n in effects.loads(value)):
                self.unit.no_rule(value, f"the keyword `{keyword}` depends on a differentiated value, for which there is "
                                         "no rule: pass a constant")  # fmt: skip
        self.operands(operation)
        for parameter, why in operation.rule.constants.items() if operation.rule is not None else ():
            value = operation.operands[operation.rule.differentiable.index(parameter)]
            if any(n.id in self.varied for n in effects.loads(value)):
                self.unit.no_rule(node, why)
        target = operation.target
        late = target is MISSING or isinstance(target, functools.partial) or source.brings_gradient(target)
        if operation.form == "call" and not late and not is_user_function(target):
            if not self.pairs.has_source(target):
                self.unit.no_rule(node, f"`{emit.expression(node.func)}` has no derivative rule: use functions that "
                                        "have one, or give it one with `custom_gradient`")  # fmt: skip

    def operands(self, operation: Operation) -> None:
        """`x * S` of a sparse matrix is no product of elements: what is no number or array has operators of its own."""
        if not isinstance(operation.node, gast.BinOp) or isinstance(operation.node.op, gast.MatMult):
            return
        for node in (operation.node.left, operation.node.right):
            found = self.unit.resolve(node) if isinstance(node, (gast.Name, gast.Attribute)) else MISSING
            given = isinstance(node, gast.Name) and node.id in self.given and isinstance(self.kinds.get(node.id), Foreign)
            foreign = found is not MISSING and not hasattr(found, "__array_ufunc__") and not isinstance(found, _OPERANDS)
            if (foreign or given) and not self.unit.primal.is_generated:
                self.unit.no_rule(operation.node, f"operators of `{emit.expression(node)}`, which is no number and no "
                                                  "array, have no derivative rule: make an array of it")  # fmt: skip

    def effect(self, call: gast.Call, differentiated: bool, alone: bool, outermost: bool) -> None:
        """A call that may change what the reverse sweep reads, or carry a value where we do not see it."""
        target = self.unit.resolve(call.func)
        if effects.is_missing(self.unit, call.func):
            return  # an error where it runs
        given = [*call.args, *(k.value for k in call.keywords)]
        mutable = any(self.mutable(a) for a in given)
        shown = emit.expression(call.func)
        if isinstance(call.func, gast.Attribute) and call.func.attr in self.assigning(call.func.value):
            self.unit.refuse(call, f"`{shown}` changes a value that the reverse sweep may read: change Variables outside of "
                                   "the function, or record it on a GradientTape")  # fmt: skip
        if mod_ref.writes_out(call, target):
            self.unit.refuse(call, "`out=` is not differentiated yet: assign the result to a name")
        if target is MISSING:
            method = call.func.attr if isinstance(call.func, gast.Attribute) else ""
            owner = call.func.value if isinstance(call.func, gast.Attribute) else None
            if owner is not None and catalogue.of(getattr(type(self.unit.resolve(owner)), method, None)).logs:
                return  # which writes down what it is given at once, as `print` does
            local = isinstance(owner, gast.Name) and owner.id in self.unit.locals
            stack = on_stack(method) and local
            resizes, grows = (any(getattr(m, fact) for m in methods_named(method)) for fact in ("resizes", "grows"))
            if may_write(method) and not resizes and self.mutable(owner):
                self.unit.refuse(call, f"`.{method}(...)` writes its object inside an expression, which is not "
                                       "differentiated: call it on a line of its own")  # fmt: skip
            if method == "write" and isinstance(outer := self.unit.resolve(call.func.value), runtime.Global):
                if mutable or any(map(self.passes_on, given)):
                    self.unit.refuse(call, f"a differentiated value, or an array, is kept in the global `{outer.name}`, "
                                           "which is not differentiated yet: return it")  # fmt: skip
                return
            if resizes and not stack and not grows and local:
                self.unit.refuse(call, f"`.{method}(...)` changes its object in a way that is not differentiated: "
                                       "build a new one")  # fmt: skip
            if grows and not outermost and self.is_local_container(owner):
                self.unit.refuse(call, f"`.{method}(...)` changes its object inside an expression, which is not "
                                       "differentiated: make it a statement of its own")  # fmt: skip
            carries = self.carries(given) and not (method == "append" and getattr(owner, "id", "") in self.histories)
            if alone and not stack and (mutable or carries):
                self.unit.refuse(call, f"`{shown}` is only known at run time and may change or keep what it is given, "
                                       "which is not differentiated yet: return a value from it")  # fmt: skip
            if mutable and not differentiated and not stack and self.is_unseen(call.func):
                called = [call.func, constant(shown), constant(getattr(call, "lineno", 0))]
                call.func = reach.call(self.unit, "reads_only", runtime.reads_only, *called)
            return
        if catalogue.of(target).unseen:
            self.unit.refuse(call, f"`{shown}` reads or writes variables unseen and cannot be differentiated: use names")
        if isinstance(target, type) and is_special(target) and target is not Counter:
            self.unit.refuse(call, f"`{shown}` makes a list or a dict with methods of its own, which cannot be followed: "
                                   "use a plain one")  # fmt: skip
        if isinstance(target, type) and mutable and own_protocols(target):
            self.unit.refuse(call, f"`{shown}` makes an object whose operators may write what it holds, which cannot "
                                   "be followed here: bind it to a name")  # fmt: skip
        if catalogue.of(target).writes or catalogue.of_bound(target).writes:
            self.unit.refuse(call, f"`{shown}` writes its argument, which is not differentiated yet: build a new array")
        reached = _reached(target)
        unseen = isinstance(reached, _UNSEEN) and (reached is not target or isinstance(target, _DESCRIPTORS))
        if unseen and mutable and not catalogue.of(reached).pure:
            self.unit.refuse(call, f"`{shown}` may write its argument, which cannot be followed: call it as a method")
        behind = _behind(target)
        if behind is not None and mod_ref.of(behind).arguments and mutable:
            self.unit.refuse(call, f"`{shown}` may write its argument, which is not differentiated yet: return a new value "
                                   "from it")  # fmt: skip
        if mutable and not is_user_function(target) and not catalogue.of(target).pure:
            writes = mod_ref.of_expression(self.unit, call, self.kinds)
            if writes.arguments:
                self.unit.refuse(call, f"`{shown}` may write its argument, which is not differentiated yet: give it a copy")
        ours = (getattr(target, "__module__", None) or "").startswith(_OURS) or catalogue.of(target).pure
        if is_user_function(target) and not differentiated and not ours:
            writes = mod_ref.of_call(self.unit, target, call, self.kinds)
            if writes.outside:
                self.unit.refuse(call, f"`{shown}` changes state outside of it, which is not differentiated yet: pass the "
                                       "state in and return it")  # fmt: skip
            if writes.arguments and any(self.mutable(n) for n in self.written(call, target, writes.arguments)):
                self.unit.refuse(call, f"`{shown}` may write its argument, which is not differentiated yet: return a new "
                                       "value from it")  # fmt: skip

    def assigning(self, owner: gast.AST) -> frozenset[str]:
        """The methods that assign a Variable anew; of anything else, none."""
        kind, found = self.kinds.get(getattr(owner, "id", "")), self.unit.resolve(owner)
        if isinstance(kind, Assignable):
            return kind.methods
        return frozenset() if found is MISSING else assigning(type(found))

    def method(self, call: gast.Call) -> None:
        """A method of an object of which nothing is known, which may write the differentiated arrays that it holds."""
        if self.unit.primal.is_generated or not isinstance(call.func, gast.Attribute):
            return
        owner = call.func.value
        made = any(isinstance(n, gast.Call) and isinstance(self.unit.resolve(n.func), type) for n in nodes(owner))
        if made and self.unit.resolve(call.func) is MISSING:
            written = bool(mod_ref.of_expression(self.unit, call, self.kinds).arguments) and self.mutable(owner)
        else:
            name = owner.id if isinstance(owner, gast.Name) and owner.id in self.unit.locals else ""
            kind = self.kinds.get(name)
            held = self.memory.with_memory_of(name) & self.active & self.varied if name in self.memory.lost else ()
            known = not isinstance(kind, Opaque) or isinstance(kind, Drawing)
            written = not known and any(isinstance(self.kinds.get(n), Array) for n in held)
        if written:
            self.unit.refuse(call, f"`.{call.func.attr}(...)` of an object of which nothing is known may write the arrays "
                                   "that it holds, which is not differentiated: give it copies")  # fmt: skip

    def is_unseen(self, function: gast.AST) -> bool:
        """Whether nothing tells what a callee does with its arguments before it runs."""
        if self.unit.primal.is_generated:
            return False
        owner = function.value if isinstance(function, gast.Attribute) else None
        kind = self.kinds.get(owner.id) if isinstance(owner, gast.Name) else None
        return not isinstance(kind, (Array, Number, Text, Container))

    def is_local_container(self, node: gast.AST) -> bool:
        kind = self.kinds.get(node.id) if isinstance(node, gast.Name) and node.id in self.unit.locals else Number(None)
        return not isinstance(kind, (Number, Array))

    def written(self, call: gast.Call, target: types.FunctionType, names: frozenset[str]) -> list[gast.AST]:
        """The arguments of a call that reach the named parameters; all of them where that is not plain."""
        given = [*call.args, *(k.value for k in call.keywords)]
        if mod_ref.ANY in names or any(isinstance(a, gast.Starred) for a in call.args):
            return given
        out = []
        for parameter, value in self.pairs.arguments(self.unit, target, call).items():
            if parameter in names:
                out += value if isinstance(value, list) else [value]
        return out

    def mutable(self, node: gast.AST) -> bool:
        """Whether an argument is, or holds, something that a callee could change."""
        return any(n in self.unit.locals for n in sources(self.unit, node, self.kinds))

    def carries(self, nodes: list[gast.AST]) -> bool:
        return any(n.id in self.varied for node in nodes for n in effects.loads(node))

    def passes_on(self, node: gast.AST) -> bool:
        """Whether the value of an expression depends differentiably on a differentiated value."""
        if isinstance(node, gast.Name):
            return node.id in self.varied
        if isinstance(node, gast.expr) and activity.classify(self.unit, node, self.kinds).form == "flat":
            return False
        return any(self.passes_on(part) for part in children(node))


def _reached(target: Any) -> Any:
    """What a partial calls in the end; the target itself where it is no partial."""
    while isinstance(target, functools.partial):
        target = target.func
    return target


def _behind(target: Any) -> Any:
    """The user's function that a partial or a callable object calls; None where there is none."""
    reached = _reached(target)
    if type(reached).__module__.startswith("s2sgrad."):  # a gradient
        return None
    if not isinstance(reached, (types.FunctionType, types.MethodType)):
        reached = None if isinstance(reached, type) else inspect.getattr_static(type(reached), "__call__", None)
    elif reached is target:
        return None
    return getattr(reached, "__func__", reached) if is_user_function(reached) else None


_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType)
_UNSEEN = (*_DESCRIPTORS, types.BuiltinFunctionType, type(np.copyto))
_OURS = ("s2sgrad.api", "s2sgrad.runtime", "s2sgrad.rules")

_OPERANDS = (int, float, complex, str, bytes, list, tuple, dict, set)
_INDEXED = (np.ndarray, np.generic, list, tuple, dict, str, bytes)


def _read(tree: gast.FunctionDef) -> set[str]:
    """The names that are read, but for copies under names that nobody reads."""
    copies: dict[str, set[str]] = {}
    read: set[str] = set()
    for statement in effects.walk(tree.body):
        value = getattr(statement, "value", None)
        plain = isinstance(statement, gast.Assign) and isinstance(statement.targets[0], gast.Name)
        if plain and isinstance(value, gast.Name):
            copies.setdefault(statement.targets[0].id, set()).add(value.id)
        else:
            read |= {n.id for n in effects.loads(effects.header(statement))}
    waiting = [name for name in copies if name in read]
    while waiting:
        found = copies.get(waiting.pop(), set()) - read
        read |= found
        waiting += found
    return read


def _is_section(index: gast.AST) -> bool:
    return isinstance(index, gast.Slice) or (isinstance(index, gast.Constant) and index.value is Ellipsis)


def _is_list(kind: Kind | None) -> bool:
    return isinstance(kind, Container) and kind.type is not tuple
