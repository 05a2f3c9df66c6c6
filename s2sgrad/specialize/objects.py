"""Objects made in the function: their attributes become variables, and their methods are inlined.

Covers methods, properties and inheritance; operators are in `object_operators`, updates in `object_updates`.  An object that
escapes the function, or that shares its name with another one, is refused.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Layer:
...     def __init__(self, w): self.w = w
...     def __call__(self, x): return self.w * x
... def f(x, w):
...     return Layer(w)(x)
... ''', "flatten"))
def f(x, w):
    result_w = w
    t1 = None
    t2 = result_w * x
    result = t2
    return result
"""

from __future__ import annotations

import dataclasses
import functools
import types
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import member, reads_and_writes, written_attributes
from s2sgrad.analysis.reached_classes import asks_class, content
from s2sgrad.ir.lookups import note_member
from s2sgrad.ir.quote import assign, at, clone, constant, name
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives import spellings
from s2sgrad.runtime.outside import set_attribute
from s2sgrad.specialize.class_members import class_name, looked_up
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.homes import Homes
from s2sgrad.specialize.static_containers import Collections
from s2sgrad.specialize.static_values import Known, Object, Partial, Value
from s2sgrad.specialize.texts import Texts


def part_of_an_array(target: gast.Attribute) -> gast.Subscript | None:
    """`z.real[...]`, to store into the real or imaginary part `z.real` of an array; None for another attribute."""
    if target.attr not in spellings.PARTS:
        return None
    return gast.Subscript(gast.Attribute(target.value, target.attr, gast.Load()), constant(...), gast.Store())


class Objects(Family):
    """Makes objects, and reads and writes their attributes."""

    def __init__(self, evaluator: Evaluator, texts: Texts, homes: Homes, collections: Collections) -> None:
        super().__init__(evaluator)
        self.texts, self.homes, self.collections = texts, homes, collections
        self.hint: str | None = None  # the name for the next object
        self.first_written = 0  # the first line that writes an attribute of an object of the caller

    def construct(self, cls: type, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> Object:
        """`cls(..)`: a new object whose attributes are variables; `__init__` is inlined."""
        if type(cls).__call__ is not type.__call__:
            self.unit.refuse(node, f"`{cls.__name__}` has a metaclass with `__call__`, which cannot be followed: make the "
                                   "object outside")  # fmt: skip
        instance = self.begun_object(cls)
        self.of_the_class(instance, node)
        start = member(cls, "__init__")
        if dataclasses.is_dataclass(cls) and start.__code__.co_filename == "<string>":
            self.fields(instance, arguments, keywords, node)
            if hasattr(cls, "__post_init__"):
                self.evaluator.apply(self.method(instance, "__post_init__", node), [], {}, node)
        elif start is not object.__init__:
            self.evaluator.apply(self.method(instance, "__init__", node), arguments, keywords, node)
        elif arguments or keywords:
            self.unit.refuse(node, f"`{cls.__name__}` takes no arguments")
        instance.made = True
        return instance

    def namespace(self, attributes: dict[str, Any], node: gast.AST) -> Object:
        """`SimpleNamespace(**attributes)`."""
        instance = self.begun_object(types.SimpleNamespace)
        for attribute, value in attributes.items():
            self.put(instance, attribute, value, node)
        instance.made = True
        return instance

    def begun_object(self, cls: type) -> Object:
        """An empty object, recorded as made in the current block and loops."""
        instance = Object(cls, self.hint or cls.__name__.lower(), loops=tuple(self.writer.loops))
        instance.block = self.writer.blocks[-1] if self.writer.blocks else 0
        self.hint = None
        return instance

    def of_the_class(self, instance: Object, node: gast.AST) -> None:
        """Variables for attributes that the object inherits from the class until they are written."""
        for attribute in written_attributes(instance.cls, self.unit.primal.tree) - instance.attributes.keys():
            local = instance.attributes[attribute] = self.unit.attribute(instance.base, attribute)
            self.names.shared.add(local)
            self.names.counts[local] += 1
            member = self.of_class(instance, looked_up(instance.cls, attribute), attribute, node)
            self.writer.out += at(node, assign(local, member))

    def fields(self, instance: Object, arguments: list[Any], keywords: dict[str, Any], node: gast.AST) -> None:
        """The fields of a dataclass, from arguments and defaults."""
        try:
            bound = signature(instance.cls).bind(*arguments, **keywords)
        except TypeError as error:
            self.unit.refuse(node, f"this call does not fit `{instance.cls.__name__}`: {error}")
        for field in dataclasses.fields(instance.cls):
            if field.name in bound.arguments:
                value = bound.arguments[field.name]
            elif field.default is not dataclasses.MISSING:
                value = self.texts.outside(field.name, field.default)
            elif field.default_factory is not dataclasses.MISSING:
                value = self.made_by(field, node)
            else:
                continue  # `__post_init__` sets it
            self.put(instance, field.name, value, node)

    def made_by(self, field: dataclasses.Field, node: gast.AST) -> Any:
        """What the factory of a field returns."""
        factory = field.default_factory
        if isinstance(factory, types.FunctionType):
            return self.evaluator.apply(self.texts.text_of(factory), [], {}, node)
        called = self.unit.builtin(factory) if isinstance(factory, type) else name(self.unit.helper(field.name, factory))
        return self.evaluator.evaluate(at(node, gast.Call(called, [], []))[0])

    def put(self, owner: Object, attribute: str, value: Any, node: gast.AST) -> None:
        """`owner.attribute = value`."""
        setter = looked_up(owner.cls, attribute)
        if isinstance(setter, property):
            if setter.fset is None:
                self.unit.refuse(node, f"the property `{attribute}` cannot be set")
            change: Any = setter.fset
            self.evaluator.apply(self.bound(change, owner, node), [value], {}, node)
            return
        _require_stored(self.unit, setter, attribute, node)
        if owner.given is None and isinstance(value, Value):
            self.homes.require_here(value, node)
        if owner.given is not None and isinstance(value, Value):
            self.unit.refuse(node, f"the attribute `{attribute}` of an object of the caller's would hold a function or an "
                                   "object that is made here, which cannot be followed: make it outside")  # fmt: skip
        self.is_written(owner, attribute, node)
        local = owner.attributes.get(attribute)
        if local is None:
            if (owner.made or owner.given is not None) and setter is not MISSING:
                self.unit.refuse(node, f"the attribute `{attribute}` is that of the class until it is written here, which "
                                       "cannot be followed: set it in `__init__`")  # fmt: skip
            local = owner.attributes[attribute] = self.unit.attribute(owner.base, attribute)
            self.names.shared.add(local)
        if isinstance(value, Value):
            if local in self.names.values or self.names.counts[local]:
                self.unit.refuse(node, f"the attribute `{attribute}` stands for two functions or objects, which cannot be "
                                       "followed: use two attributes")  # fmt: skip
            self.names.values[local] = value
            if isinstance(value, Object):
                value.names += 1
        else:
            self.names.counts[local] += 1
            if local in self.names.values:
                self.unit.refuse(node, f"the attribute `{attribute}` stands for a function and for data, which cannot be "
                                       "followed: use two attributes")  # fmt: skip
            self.evaluator.assign(at(node, assign(local, value))[0])
            self.passed_on(owner, attribute, node)

    def is_written(self, owner: Object, attribute: str, node: gast.AST) -> None:
        """Record a write to an attribute; refuse if the object may have another name."""
        if owner.made and owner.copied:
            self.unit.refuse(node, f"this writes the attribute `{attribute}` of an object for which several names stand in "
                                   "turn, which cannot be followed: make a new object")  # fmt: skip
        owner.written = owner.written or owner.made

    def store(self, target: gast.Attribute, statement: gast.Assign) -> None:
        """`o.w = value` for an object made here."""
        owner = self.statics.held(target.value)
        if not isinstance(owner, Object):
            if (section := part_of_an_array(target)) is not None:
                self.evaluator.statement(at(statement, gast.Assign([section], statement.value, None))[0])
                return
            self.unit.refuse(target, "an assignment to an attribute of what is not made here is not differentiated: use a "
                                     "local variable")  # fmt: skip
        value = self.collections.begun(target, statement.value) or self.evaluator.evaluate(statement.value)
        self.put(owner, target.attr, value, statement)

    def set_item(self, target: gast.Subscript, statement: gast.Assign) -> None:
        """`o[i] = value` for an object."""
        method = self.method(self.evaluator.evaluate(target.value), "__setitem__", target)
        arguments = [self.evaluator.evaluate(part) for part in (self.key(target.slice), statement.value)]
        self.evaluator.apply(method, arguments, {}, statement)

    def key(self, index: gast.AST) -> gast.AST:
        """The argument of `__getitem__` for an index: slices become objects."""
        if isinstance(index, gast.Tuple):
            return gast.Tuple([self.key(e) for e in index.elts], gast.Load())
        if not isinstance(index, gast.Slice):
            return index
        parts = [constant(None) if p is None else p for p in (index.lower, index.upper, index.step)]
        return gast.Call(self.unit.builtin(slice), parts, [])

    def get(self, owner: Object, attribute: str, node: gast.AST) -> Any:
        """`owner.attribute`."""
        if attribute == "__class__":
            return Known(owner.cls, class_name(self.unit, owner.cls))
        member = looked_up(owner.cls, attribute)
        if isinstance(member, property):
            return self.of_class(owner, member, attribute, node)
        _require_stored(self.unit, member, attribute, node)
        if attribute in owner.attributes:
            local = owner.attributes[attribute]
            return self.names.values.get(local) or name(local)
        if member is MISSING:
            self.unit.refuse(node, f"`{owner.cls.__name__}` has no attribute `{attribute}` here")
        return self.of_class(owner, member, attribute, node)

    def replaced(self, node: gast.Call) -> Any:
        """`dataclasses.replace(o, ..)`: a new object."""
        owner, *values = self.evaluator.in_order([node.args[0], *(k.value for k in node.keywords)], self.evaluator.evaluate)
        if not isinstance(owner, Object) or not dataclasses.is_dataclass(owner.cls):
            self.unit.refuse(node, "which object is replaced cannot be followed: bind the new one to another name")
        keywords = {k.arg: value for k, value in zip(node.keywords, values, strict=True)}
        kept = [f.name for f in dataclasses.fields(owner.cls) if f.init and f.name not in keywords]
        return self.construct(owner.cls, [], {**{f: self.get(owner, f, node) for f in kept}, **keywords}, node)

    def of_class(self, owner: Object, member: Any, attribute: str, node: gast.AST) -> Any:
        """`owner.attribute`, found in the class: a method, what a property computes, or data of the class."""
        note_member(owner.cls, attribute)
        if isinstance(member, types.FunctionType):
            return self.bound(member, owner, node)
        method: Any = getattr(member, "fget" if isinstance(member, property) else "__func__", None)
        if isinstance(member, property):
            return self.evaluator.apply(self.bound(method, owner, node), [], {}, node)
        if isinstance(member, staticmethod):
            return self.texts.text_of(method)
        if isinstance(member, classmethod):
            cls = name(self.unit.helper(owner.cls.__name__, owner.cls))
            return Partial(self.texts.text_of(method), [Known(owner.cls, cls)], {})
        if hasattr(type(member), "__get__"):
            self.unit.refuse(node, f"`{attribute}` is a {type(member).__name__}, which computes what it is asked for and "
                                   "cannot be followed: use a property or a method")  # fmt: skip
        cls = name(self.unit.helper(owner.cls.__name__, owner.cls))
        return self.writer.hold(at(node, gast.Attribute(cls, attribute, gast.Load()))[0])

    def method(self, owner: Object, attribute: str, node: gast.AST) -> Any:
        """The method of an object as a function value, with the object bound."""
        member = looked_up(owner.cls, attribute)
        if not isinstance(member, types.FunctionType):
            self.unit.refuse(node, f"`{owner.cls.__name__}` has no method `{attribute}` whose text can be read")
        return self.bound(member, owner, node)

    def bound(self, function: types.FunctionType, owner: Object, node: gast.AST) -> Partial:
        """A method bound to its object."""
        home = next((k for k in owner.cls.__mro__ if any(f is function for f in _functions(k))), owner.cls)
        value = self.texts.text_of(function, home)
        if isinstance(value, Known):  # called, not inlined
            if owner.given is None:
                self.unit.refuse(node, f"`{function.__name__}` brings its own gradient, which cannot be followed in a "
                                       "method of an object that is made here: make a function of it")  # fmt: skip
            self.names.loose.append((node, owner))
            return Partial(value, [Known(None, owner.given)], {})
        value.owner = home
        return Partial(value, [owner], {})

    def above(self, node: gast.Attribute) -> Any:
        """`super().attribute` in the method that is being inlined, or `super(Class, self).attribute` in any."""
        attribute, given = node.attr, node.value.args
        running = reversed(self.writer.running)
        starts = [(function.owner or _class_around(function.of), receiver) for function, receiver in running]
        function = self.unit.primal.function
        starts += [(_class_around((function,)), self.receiver(name(n))) for n in function.__code__.co_varnames[:1]]
        if given:
            starts = [(self.unit.resolve(given[0]), self.receiver(given[1]))]
        for start, receiver in starts:
            if isinstance(receiver, Object) and start in receiver.cls.__mro__:
                order = receiver.cls.__mro__
                for cls in order[order.index(start) + 1 :]:
                    if attribute in vars(cls):
                        note_member(cls, attribute)
                        if cls is object:
                            return None
                        return self.of_class(receiver, vars(cls)[attribute], attribute, node)
        self.unit.refuse(node, f"`super().{attribute}` cannot be followed here")

    def receiver(self, node: gast.AST) -> Object | None:
        """The object that a name stands for; None where its class is not known."""
        value = self.evaluator.evaluate(node)
        return value if isinstance(value, Object) else None

    def passed_on(self, owner: Object, attribute: str, node: gast.AST) -> None:
        """Write an attribute of the caller's object."""
        if owner.given is None:
            return
        call = name(self.unit.helper("set_attribute", set_attribute))
        arguments = [clone(owner.given), constant(attribute), name(owner.attributes[attribute])]
        self.writer.out += at(node, gast.Expr(gast.Call(call, arguments, [])))
        self.unit.outside.separate.add(owner.cls)
        self.first_written = self.first_written or getattr(node, "lineno", 0)


def _require_stored(unit: Unit, member: Any, attribute: str, node: gast.AST) -> None:
    """Refuse what is computed when it is first read, and what a descriptor of the class reads and writes."""
    if isinstance(member, functools.cached_property):
        unit.refuse(node, f"`{attribute}` is a cached_property, which is computed when it is first read, and cannot be "
                          "followed: use a property")  # fmt: skip
    if reads_and_writes(member):
        unit.refuse(node, f"`{attribute}` is a {type(member).__name__}, which computes what it is asked for and cannot be "
                          "followed: use a property or a method")  # fmt: skip


def _class_around(of: tuple[Any, ...] | None) -> Any:
    """The class in whose text a function stands, which `super()` in it starts from; None where it asks for none."""
    function: Any = None if of is None else of[0]
    cells = zip(function.__code__.co_freevars, function.__closure__, strict=True) if asks_class(function) else ()
    return next((content(cell) for free, cell in cells if free == "__class__"), None)


def _functions(cls: type) -> list[Any]:
    out: list[Any] = []
    for value in vars(cls).values():
        value = value.func if isinstance(value, functools.cached_property) else value
        out += [value.fget, value.fset] if isinstance(value, property) else [value]
    return out
