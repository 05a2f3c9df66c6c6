"""Objects of the caller, passed as arguments or reached through globals and cells: their attributes become variables.

    def f(layer, x):                       layer_w = layer.w
        layer.h = layer.w * x      ->      layer_h = layer_w * x
        return layer.h ** 2                layer.h = layer_h
                                           return layer_h ** 2

What the function writes to an attribute is also written to the object.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Layer:
...     def __init__(self, w): self.w, self.h = w, None
...     def __call__(self, x):
...         self.h = self.w * x
...         return self.h ** 2
... layer = Layer(0.5)
... def f(x):
...     return layer(x)
... ''', "flatten"))
def f(x):
    layer_w = layer.w
    layer_h = layer.h
    t2 = layer_w * x
    layer_h = t2
    set_attribute(layer, 'h', layer_h)
    t1 = layer_h ** 2
    result = t1
    return result
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad.analysis.plain_classes import Opened, attributes_of, opened_of
from s2sgrad.analysis.trust import is_writable
from s2sgrad.ir.held_functions import held_function
from s2sgrad.ir.lookups import note_attribute
from s2sgrad.ir.quote import assign, at, clone, constant, name, nodes
from s2sgrad.ir.underlying import underlying
from s2sgrad.runtime.outside import distinct, set_attribute
from s2sgrad.specialize.callable_texts import objects_named
from s2sgrad.specialize.static_values import Display, Generator, Known, Object, Value


class GivenObjects:
    """Loads the attributes of the caller's objects, and writes them back."""

    opened: list[Object]  # the caller's objects
    outside_objects: dict[int, Object]  # those reached by free names, by identity
    loose: list[tuple[gast.AST, Any]]  # uses of the caller's objects as values
    first_written: int = 0  # the first line that writes an attribute

    def returned(self, statement: gast.Return) -> gast.Return:
        """The `return` of the function: data, or objects of the caller."""
        value = self.held(statement.value) if statement.value is not None else None
        whole = value.as_data() if isinstance(value, Display) else None
        if whole is not None:
            statement.value = self.flattener.hold(at(statement, whole)[0])
        elif isinstance(value, Generator):
            self.unit.refuse(statement, "the iterator that is returned here is drawn from as the program runs, which cannot "
                                        "be followed: return a list")  # fmt: skip
        elif (data := self.converted(value, statement, True)) is not None:
            statement.value = data
        elif isinstance(value, Value) and not isinstance(value, Known) and getattr(value, "given", None) is None:
            self.unit.refuse(statement, "a function or an object that is made here is returned, which is not supported: "
                                        "return numbers, arrays, lists or dicts")  # fmt: skip
        if isinstance(value, (Object, Display)):
            self.loose.append((statement, value))
        if isinstance(value, Object) and value.given is not None:
            statement.value = self.flattener.hold(at(statement, clone(value.given))[0])
        return statement

    def open_given(self, tree: gast.FunctionDef) -> None:
        """Load the attributes of objects among the arguments, and of those reached by free names."""
        for p, opened_value in self.unit.arguments.opened.items():
            if not self.counts[p]:
                self.values[p] = self.open(opened_value, p, name(p))
        for node in list(nodes(tree)):
            if isinstance(node, gast.Name) and node.id not in self.unit.locals and node.id not in self.values:
                self.meet(node.id, self.unit.resolve(node), opens=True)
        for free, value in objects_named(self.unit.primal.function) or () if self.written_outside else ():
            if id(value) in self.written_outside and id(value) not in self.outside_objects:
                self.meet(self.unit.helper(free, value), value, opens=True)

    def meet(self, free: str, value: Any, opens: bool = False) -> None:
        """Bind a free name to its value; each instance has one `Object`."""
        if free in self.values:
            return
        if attributes_of(value) is None:
            self.unit.outside.unopened |= {free} if is_writable(value) else set()
            return
        if opens and id(value) not in self.outside_objects and (opened_value := opened_of(value)) is not None:
            self.outside_objects[id(value)] = self.open(opened_value, free, name(free))
        if id(value) in self.outside_objects:
            self.values[free] = self.outside_objects[id(value)]
        else:
            self.unit.outside.unopened.add(free)

    def open(self, opened: Opened, base: str, value: gast.AST) -> Object | Display:
        """An instance, or a container of some: its contents are loaded into variables."""
        instance = Object(opened.cls, base, given=value) if opened.cls is not None else None
        self.opened += [instance] if instance is not None else []
        items: dict[Any, Any] = {}
        if instance is not None:
            self.of_the_class(instance, value)
        for place, part in opened.parts.items():
            local = self.unit.attribute(base, place) if instance else self.unit.local(f"{base}_{place}")
            attribute = gast.Attribute(clone(value), place, gast.Load()) if instance else None
            item = attribute or gast.Subscript(clone(value), constant(place), gast.Load())
            self.counts[local] += 1
            self.shared.add(local)
            function = held_function(self.unit.resolve(value), place) if instance is not None and part is None else None
            if function is not None:
                note_attribute(self.unit.resolve(value), place, function)
                self.values[local] = self.outside(place, underlying(function))
            else:
                self.flattener.statement(assign(local, item))
            if part is not None:
                self.values[local] = self.open(part, local, name(local))
            if instance is not None:
                instance.attributes[place] = local
            else:
                items[place] = self.values.get(local) or name(local)
        return instance or Display(items, given=value)

    def passed_on(self, owner: Object, attribute: str, node: gast.AST) -> None:
        """Write an attribute of the caller's object."""
        if owner.given is None:
            return
        call = name(self.unit.helper("set_attribute", set_attribute))
        arguments = [clone(owner.given), constant(attribute), name(owner.attributes[attribute])]
        self.flattener.out += at(node, gast.Expr(gast.Call(call, arguments, [])))
        self.unit.outside.separate.add(owner.cls)
        self.first_written = self.first_written or getattr(node, "lineno", 0)

    def separated(self) -> list[gast.AST]:
        """A check to run first: the caller's objects with written attributes must be distinct."""
        classes = tuple(self.unit.outside.separate)
        self.unit.outside.given_objects += [(clone(o.given), o.cls) for o in self.opened]
        for node, value in self.loose:
            if any(isinstance(o, Object) and issubclass(o.cls, classes) for o in self.within(value)):
                self.unit.refuse(node, "an object of which attributes are written is used as a value here, where it cannot "
                                       "be followed: use its attributes")  # fmt: skip
        same_class = [o for o in self.opened if issubclass(o.cls, classes) or any(issubclass(c, o.cls) for c in classes)]
        if len(same_class) < 2:
            return []
        check = name(self.unit.helper("distinct", distinct))
        return [gast.Expr(gast.Call(check, [constant(self.first_written), *(clone(o.given) for o in same_class)], []))]

    def within(self, value: Any) -> list[Any]:
        """An object or display of the caller, and those nested in it."""
        inner = value.attributes.values() if isinstance(value, Object) else getattr(value, "items", {}).values()
        names = [getattr(item, "id", item) for item in inner]
        initial = [self.values.get(n) if isinstance(n, str) else n for n in names]
        return [value, *(o for item in initial if isinstance(item, (Object, Display)) for o in self.within(item))]
