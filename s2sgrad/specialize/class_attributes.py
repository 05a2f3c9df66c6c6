"""Attributes of classes that the program writes are read and written by calls, as globals are that it writes.

    Lin.count += 1; y = x * self.count      ->      lin_count.write(lin_count.read() + 1); t = lin_count.read(); y = x * t

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Lin:
...     count = 0
...     def __init__(self, w):
...         self.w = w
...         Lin.count += 1
... def f(x):
...     return Lin(x).w * Lin.count
... ''', "flatten"))
def f(x):
    result_w = x
    t2 = lin_count.read()
    t3 = unshared(t2, 6)
    t4 = t3 + 1
    lin_count.write(t4)
    t1 = None
    t5 = result_w
    t6 = lin_count.read()
    result = t5 * t6
    return result
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import is_plain_class
from s2sgrad.analysis.reached_classes import COMPUTED, codes_of, reached, stores_in, walked
from s2sgrad.errors import NoSource
from s2sgrad.ir.quote import at, expression, name, nodes, placed
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.runtime.outside import ClassAttribute, unshared
from s2sgrad.source import read
from s2sgrad.specialize.static_values import Known, Object


class ClassAttributes:
    """Reads and writes such attributes; `on_classes` are their names, once they are asked for."""

    unit: Unit
    flattener: Any
    on_classes: set[str] | None = None
    on_both: frozenset[str] = frozenset()  # those that are written on objects, too

    def is_written_on(self, cls: Any, attribute: str) -> bool:
        """Whether a class has an attribute of this name, and the program may write it on a class."""
        return is_plain_class(cls) and hasattr(cls, attribute) and attribute in self.names_on_classes()

    def names_on_classes(self) -> set[str]:
        """The names of the attributes that the program may write on a class; none where the module has no class."""
        if self.on_classes is None:
            home = self.unit.primal.function
            has_classes = any(map(is_plain_class, (*self.unit.helpers.values(), *home.__globals__.values())))
            begin = home, *filter(is_plain_class, self.unit.helpers.values())
            self.on_classes, on_objects = written_on_classes(*begin) if has_classes else (set(), set())
            self.on_both = frozenset(self.on_classes & on_objects)
        return self.on_classes

    def reads_classes(self, target: types.FunctionType) -> bool:
        """Whether a user's function, or what it calls, may read such an attribute: then it is written out."""
        return bool(self.names_on_classes()) and not self.names_on_classes().isdisjoint(reached(target)[1])

    def is_class_attribute(self, node: gast.AST) -> bool:
        """Whether an expression reads such an attribute of a class by its name."""
        return isinstance(node, gast.Attribute) and self.is_written_on(self.unit.resolve(node.value), node.attr)

    def of_outside(self, node: gast.Attribute) -> gast.AST:
        """An attribute of what lives outside, as it is now."""
        return self.read_on_class(self.unit.resolve(node.value), node) if self.is_class_attribute(node) else node

    def class_cell(self, cls: type, attribute: str) -> gast.Name:
        """The name for an attribute of a class in the text."""
        self.unit.on_classes.add(attribute)
        known = (v for v in self.unit.helpers.values() if isinstance(v, ClassAttribute))
        cell = next((v for v in known if v.owner is cls and v.attribute == attribute), None)
        return name(self.unit.helper(f"{cls.__name__.lower()}_{attribute}", cell or ClassAttribute(cls, attribute)))

    def read_on_class(self, cls: type, node: gast.Attribute) -> gast.AST:
        """The value of an attribute of a class, held from here on."""
        read = expression("c.read()", c=self.class_cell(cls, node.attr))
        return self.flattener.hold(at(node, read)[0])

    def written_class(self, node: gast.AST) -> type | None:
        """The class that an expression stands for."""
        if isinstance(node, gast.Call) and self.unit.resolve(node.func) is type and len(node.args) == 1:
            owner, found = self.held(node.args[0]), MISSING
        elif isinstance(node, gast.Attribute) and node.attr == "__class__":
            owner, found = self.held(node.value), MISSING
        else:
            owner, found = self.held(node), self.unit.resolve(node)
        found = owner.cls if isinstance(owner, Object) else owner.target if isinstance(owner, Known) else found
        return found if is_plain_class(found) else None

    def writes_class(self, statement: gast.Assign | gast.AugAssign, target: gast.Attribute) -> bool:
        """Write `Lin.count = value` or `Lin.count += value`; returns whether it was such an attribute."""
        cls = self.written_class(target.value)
        if cls is None:
            return False
        self.names_on_classes()
        if target.attr in self.on_both:
            self.unit.refuse(target, f"`{target.attr}` is written on the class and on its objects, which cannot be "
                                     "followed: use two names")  # fmt: skip
        value = statement.value
        if isinstance(statement, gast.AugAssign):
            read = expression("f(c.read(), line)", f=self.unit.helper("unshared", unshared),
                              c=self.class_cell(cls, target.attr), line=getattr(target, "lineno", 0))  # fmt: skip
            value = gast.BinOp(read, statement.op, value)
        given = self.flattener.atom(at(statement, value)[0])
        write = expression("c.write(v)", c=self.class_cell(cls, target.attr), v=given)
        self.flattener.out.append(placed(statement, gast.Expr(write)))
        return True


def written_on_classes(*begin: types.FunctionType | type) -> tuple[set[str], set[str]]:
    """The names of data attributes of the classes in reach that a function in reach may write on a class, and on an object,
    by its text."""
    functions, classes = walked(begin)
    members = [m for c in classes if is_plain_class(c) for k in c.__mro__[:-1] for m in vars(k).items()]
    data = {a for a, v in members if not isinstance(v, COMPUTED) and a[:2] != "__"}
    of_class = {m.__func__ for _, m in members if isinstance(m, classmethod)}
    written = [pair for function in functions for pair in _written(function, data, function in of_class)]
    return {a for a, on_class in written if on_class}, {a for a, on_class in written if not on_class}


def _written(function: types.FunctionType, data: set[str], of_class: bool) -> set[tuple[str, bool]]:
    """Those of the attributes `data` that a function may write, and whether on a class."""
    stored = {i.argval for code in codes_of(function.__code__) for i in stores_in(code)}
    if data.isdisjoint(stored):
        return set()
    try:
        unit, tree = Unit.of(read(function))
    except NoSource:  # of a dataclass, whose `__init__` writes objects; a call of any other is refused
        return {(a, False) for a in data & stored}
    own = function.__code__.co_varnames[:1] if of_class else ()
    stores = (n for n in nodes(tree) if isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Store))
    return {(n.attr, _is_class(unit, n.value, own)) for n in stores if n.attr in data}


def _is_class(unit: Unit, node: gast.AST, own: tuple[str, ...]) -> bool:
    """Whether an expression stands for a class."""
    if isinstance(node, gast.Name) and node.id in own:
        return True
    asked = unit.called(node) is type or (isinstance(node, gast.Attribute) and node.attr == "__class__")
    return asked or isinstance(unit.resolve(node), type)
