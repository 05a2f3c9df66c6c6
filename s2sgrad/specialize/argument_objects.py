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
from s2sgrad.ir.quote import assign, clone, constant, name, nodes
from s2sgrad.ir.underlying import underlying
from s2sgrad.runtime.outside import distinct
from s2sgrad.specialize.callable_texts import objects_named
from s2sgrad.specialize.evaluator import Evaluator, Family
from s2sgrad.specialize.objects import Objects
from s2sgrad.specialize.static_values import Display, Object
from s2sgrad.specialize.texts import Texts


class GivenObjects(Family):
    """Loads the attributes of the caller's objects, and checks those that are written."""

    def __init__(self, evaluator: Evaluator, texts: Texts, objects: Objects) -> None:
        super().__init__(evaluator)
        self.texts, self.objects = texts, objects
        self.opened: list[Object] = []  # the caller's objects
        self.outside_objects: dict[int, Object | Display] = {}  # those reached by free names, by identity

    def open_given(self, tree: gast.FunctionDef) -> None:
        """Load the attributes of objects among the arguments, and of those reached by free names."""
        for p, opened_value in self.unit.arguments.opened.items():
            if not self.names.counts[p]:
                self.names.values[p] = self.open(opened_value, p, name(p))
        for node in list(nodes(tree)):
            if isinstance(node, gast.Name) and node.id not in self.unit.locals and node.id not in self.names.values:
                self.meet(node.id, self.unit.resolve(node), opens=True)
        for free, value in objects_named(self.unit.primal.function) or () if self.lookahead.written_outside else ():
            if id(value) in self.lookahead.written_outside and id(value) not in self.outside_objects:
                self.meet(self.unit.helper(free, value), value, opens=True)

    def meet(self, free: str, value: Any, opens: bool = False) -> None:
        """Bind a free name to its value; each instance has one `Object`."""
        if free in self.names.values:
            return
        if attributes_of(value) is None:
            self.unit.outside.unopened |= {free} if is_writable(value) else set()
            return
        if opens and id(value) not in self.outside_objects and (opened_value := opened_of(value)) is not None:
            self.outside_objects[id(value)] = self.open(opened_value, free, name(free))
        if id(value) in self.outside_objects:
            self.names.values[free] = self.outside_objects[id(value)]
        else:
            self.unit.outside.unopened.add(free)

    def open(self, opened: Opened, base: str, value: gast.AST) -> Object | Display:
        """An instance, or a container of some: its contents are loaded into variables."""
        instance = Object(opened.cls, base, given=value) if opened.cls is not None else None
        self.opened += [instance] if instance is not None else []
        items: dict[Any, Any] = {}
        if instance is not None:
            self.objects.of_the_class(instance, value)
        for place, part in opened.parts.items():
            local = self.unit.attribute(base, place) if instance else self.unit.local(f"{base}_{place}")
            attribute = gast.Attribute(clone(value), place, gast.Load()) if instance else None
            item = attribute or gast.Subscript(clone(value), constant(place), gast.Load())
            self.names.counts[local] += 1
            self.names.shared.add(local)
            function = held_function(self.unit.resolve(value), place) if instance is not None and part is None else None
            if function is not None:
                note_attribute(self.unit.resolve(value), place, function)
                self.names.values[local] = self.texts.outside(place, underlying(function))
            else:
                self.evaluator.statement(assign(local, item))
            if part is not None:
                self.names.values[local] = self.open(part, local, name(local))
            if instance is not None:
                instance.attributes[place] = local
            else:
                items[place] = self.names.values.get(local) or name(local)
        return instance or Display(items, given=value)

    def separated(self) -> list[gast.AST]:
        """A check to run first: the caller's objects with written attributes must be distinct."""
        classes = tuple(self.unit.outside.separate)
        self.unit.outside.given_objects += [(clone(o.given), o.cls) for o in self.opened]
        for node, value in self.names.loose:
            if any(isinstance(o, Object) and issubclass(o.cls, classes) for o in self.within(value)):
                self.unit.refuse(node, "an object of which attributes are written is used as a value here, where it cannot "
                                       "be followed: use its attributes")  # fmt: skip
        same_class = [o for o in self.opened if issubclass(o.cls, classes) or any(issubclass(c, o.cls) for c in classes)]
        if len(same_class) < 2:
            return []
        check = name(self.unit.helper("distinct", distinct))
        line = constant(self.objects.first_written)
        return [gast.Expr(gast.Call(check, [line, *(clone(o.given) for o in same_class)], []))]

    def within(self, value: Any) -> list[Any]:
        """An object or display of the caller, and those nested in it."""
        inner = value.attributes.values() if isinstance(value, Object) else getattr(value, "items", {}).values()
        names = [getattr(item, "id", item) for item in inner]
        initial = [self.names.values.get(n) if isinstance(n, str) else n for n in names]
        return [value, *(o for item in initial if isinstance(item, (Object, Display)) for o in self.within(item))]
