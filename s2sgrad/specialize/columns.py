"""Objects that cannot be split into variables become references; each attribute becomes a list indexed by them.

    ps = [Particle(v) for v in x]           ps = []
    for p in ps: p.pos += p.vel       ->    for v in x: ps.append(reference(Particle, len(pos))); pos.append(v)
                                            for p in ps: pos[p] += vel[p]

An attribute has one list, whatever names, lists and attributes refer to the object.  This models the heap as one array per
field, indexed by references, so that no alias analysis of objects is needed.  Classes that share the name of an attribute or
method form a *family*, whose objects are numbered together; a reference also records its class.

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... class Particle:
...     def __init__(self, v): self.v = v
...     def push(self, f): self.v += f
... def f(x):
...     ps = [Particle(v) for v in x]
...     for p in ps:
...         p.push(0.5)
...     return ps[0].v * ps[1].v
... ''', "flatten"))
def f(x):
    particle_v = []
    ps = []
    t2 = sequence(x)
    t3 = len(t2)
    for k_ in range(t3):
        v = t2[k_]
        new_particle_v = v
        t4 = None
        t5 = len(particle_v)
        t6 = reference(Particle, t5)
        particle_v.append(new_particle_v)
        ps.append(t6)
    t1 = sequence(ps)
    t7 = len(t1)
    for k in range(t7):
        p = t1[k]
        self_ = p
        t9 = place(self_, 'v')
        t10 = particle_v[t9]
        t11 = t10 + 0.5
        particle_v[t9] = t11
        t8 = None
    t12 = ps[0]
    t13 = place(t12, 'v')
    t14 = particle_v[t13]
    t15 = ps[1]
    t16 = place(t15, 'v')
    t17 = particle_v[t16]
    result = t14 * t17
    no_object(result, 9)
    return result
"""

from __future__ import annotations

import functools
import types
from collections import Counter
from typing import Any

import gast

from s2sgrad.analysis.plain_classes import HELD_BY_DATA, is_plain_class
from s2sgrad.analysis.reached_classes import families, fields_of, is_followed, methods_of, reached
from s2sgrad.flow.counts import binding_counts
from s2sgrad.ir import notes
from s2sgrad.ir.quote import assign, at, clone, constant, name, nodes
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.normalize import closure_classes
from s2sgrad.runtime import references
from s2sgrad.specialize.cached_attributes import is_something
from s2sgrad.specialize.static_values import Known, Object, Partial, Record, Value
from s2sgrad.specialize.ways import Ways

_ITSELF = "itself"  # the column of classes without attributes


class Columns:
    """The columns of references; `in_columns`: this function uses them."""

    unit: Unit
    flattener: Any
    in_columns: bool
    chosen: set[str]
    values: dict[str, Value]
    counts: Counter[str]
    heads: list[gast.AST]
    as_data: bool
    of_exactly: dict[str, tuple[type, ...]]  # variables whose objects can only be of these classes
    no_objects: set[str]  # variables that hold a function where they are called
    columns: dict[str, dict[str, str]]  # the lists of a family, by attribute; keyed by the first member's name
    seen_texts: dict[Any, bool]

    def open_columns(self, ways: Ways) -> None:
        """Find the classes that this function and its callees can name, and their members."""
        self.of_exactly, self.columns, self.seen_texts, self.no_objects = {}, {}, {}, set()
        inherited = self.inherited()
        self.in_columns = ways.in_columns or inherited is not None
        self.ways = ways if inherited is None else inherited.ways
        self.asked_of_data: list[tuple[str, gast.AST]] = []
        self.open_recursion()
        self.followed: list[type] = []
        if not self.in_columns:
            return
        self.holds = inherited.holds if inherited is not None else {}
        if inherited is not None:
            self.followed, self.columns, self.on_classes = inherited.followed, inherited.columns, inherited.on_classes
        else:
            begin = filter(is_plain_class, self.unit.helpers.values())
            classes, _ = reached(self.unit.primal.function, *begin, also=self.closures_among)
            self.followed = [c for c in classes if is_followed(c, ways.operators)]
            self.followed.sort(key=lambda c: (c.__module__, c.__qualname__))
        self.held_by = {c: [a for a in fields_of(c) if a not in self.names_on_classes()] or [_ITSELF] for c in self.followed}
        self.members: dict[str, list[type]] = {}
        for cls in self.followed:
            for attribute in {*self.held_by[cls], *methods_of(cls)}:
                self.members.setdefault(attribute, []).append(cls)
        self.families = families(self.followed, self.members)

    def closures_among(self, function: types.FunctionType) -> list[type]:
        """The classes that stand for nested functions of a function, in this way of compiling."""
        if not self.ways.closures:
            return []
        return [c.cls for c in closure_classes.classes_of(function, function is self.unit.primal.function).values()]

    def is_reference(self, cls: Any) -> bool:
        """Whether objects of a class are references."""
        return self.in_columns and cls in self.families

    def takes_apart(self, node: gast.AST) -> bool:
        """Whether an expression makes an object that is split into variables."""
        target = self.unit.resolve(node.func) if isinstance(node, gast.Call) else MISSING
        return is_plain_class(target) and not self.is_reference(target)

    def may_be_of_object(self, node: gast.AST) -> bool:
        """Whether an attribute or a call may be one of a reference."""
        if not self.in_columns or notes.OF_CONTEXT.of(node):
            return False
        if isinstance(node, gast.Attribute):
            return (node.attr in self.members or node.attr == "__class__") and self.unit.resolve(node) is MISSING
        return isinstance(node, gast.Call) and self.calls_object(node)

    def calls_object(self, node: gast.Call) -> bool:
        """Whether a call may invoke `__call__` of a reference."""
        func = node.func
        while isinstance(func, gast.Subscript):
            func = func.value
        if isinstance(func, gast.Call) and isinstance(func.func, gast.Attribute):  # `calls.pop()()`
            func = func.func.value
        is_static = not isinstance(func, gast.Name) or func.id in self.values or func.id not in self.unit.locals
        is_static = is_static or getattr(node.func, "id", "") in self.no_objects
        return self.in_columns and "__call__" in self.members and not is_static

    def column(self, cls: type, attribute: str) -> str:
        """The list for an attribute."""
        family = self.families[cls]
        if family not in self.columns:
            classes = [c for c in self.followed if self.families[c] == family]
            base = classes[0].__name__.lower() if len(classes) == 1 else ""
            every = sorted({a for c in classes for a in self.held_by[c]})
            columns_of = self.columns[family] = {a: self.unit.attribute(base, a) for a in every}
            for local in columns_of.values():
                self.counts[local] += 1
                self.heads += at(self.unit.primal.tree.body[0], assign(local, gast.List([], gast.Load())))
        return self.columns[family][attribute]

    def every_column(self) -> set[str]:
        """The lists for all attributes."""
        return {local for family in self.columns.values() for local in family.values()}

    def made_reference(self, instance: Object, node: gast.AST) -> gast.AST:
        """The reference to a new object, after its `__init__`."""
        cls, flattener, every = instance.cls, self.flattener, self.held_by[instance.cls]
        if unknown := instance.attributes.keys() - set(every):
            self.unit.refuse(node, f"the attribute `{min(unknown)}` of `{cls.__name__}` cannot be followed: set attributes "
                                   "in `__init__`")  # fmt: skip
        self.column(cls, every[0])
        family = self.columns[self.families[cls]]
        values: dict[str, gast.AST] = {}
        for attribute, column in family.items():
            local = instance.attributes.get(attribute)
            held = name(self.unit.helper("absent", references.ABSENT)) if local is None else self.values.get(local)
            values[column] = self.as_item(held or name(local), node)
        place = flattener.hold(at(node, gast.Call(self.unit.builtin(len), [name(next(iter(family.values())))], []))[0])
        helper = name(self.unit.helper("reference", references.reference))
        ref = flattener.hold(at(node, gast.Call(helper, [self.class_name(cls), place], []))[0])
        for column, value in values.items():
            append = gast.Attribute(name(column), "append", gast.Load())
            flattener.out += at(node, gast.Expr(gast.Call(append, [value], [])))
        self.of_exactly[ref.id] = (cls,)
        return ref

    def class_name(self, cls: type) -> gast.Name:
        """A name for a class."""
        plain = name(cls.__name__)
        return plain if self.unit.resolve(plain) is cls else name(self.unit.helper(cls.__name__, cls))

    def as_item(self, value: Any, node: gast.AST) -> gast.AST:
        """A value as data, to be stored in a list."""
        if isinstance(value, gast.AST):
            return value
        data = self.reified(value, node)
        if data is None:
            self.unit.refuse(node, "an attribute of an object holds a function or an object here, where it cannot be "
                                   "followed: keep it elsewhere")  # fmt: skip
        return data

    def record(self, owner: gast.AST, attribute: str, node: gast.AST) -> Record | None:
        """The reference whose attribute is read; None if the data cannot be a reference."""
        if not self.in_columns or attribute not in self.members or self.unit.resolve(owner) is not MISSING:
            return None  # what lives outside is no reference
        exact = self.of_exactly.get(owner.id) if isinstance(owner, gast.Name) else None
        if exact is None and attribute in HELD_BY_DATA:
            be = self.may_be(owner, node) & {*self.members[attribute]}
            if not be:
                return None  # a reference raises
            return Record(tuple(c for c in self.members[attribute] if c in be), owner, True, attribute)
        classes = [c for c in exact or self.followed if c in self.members[attribute]]
        return Record(tuple(classes), owner) if classes else None

    def may_be(self, owner: gast.AST, node: gast.AST) -> set[type]:
        """The classes of the objects that a value may be, by all that is written so far; or any, where it turned out to be
        one in another trip."""
        if not isinstance(owner, gast.Name):
            return set()
        if self.unit.source_place(node) in self.ways.objects:
            return {*self.followed}
        self.asked_of_data.append((owner.id, node))
        found = self.flow().classes(owner.id)
        return found if found or self.inherited() is None else {*self.followed}  # what it is given may hold objects

    def turned_out_objects(self, tree: gast.FunctionDef) -> set[Any]:
        """The places of attributes that are of an object, by the whole text, although none was known to be there."""
        bound = binding_counts(tree.body) if self.asked_of_data else {}
        flow = self.flow(tree) if bound else None
        had = {id(node): self.members.get(getattr(node, "attr", ""), self.followed) for _, node in self.asked_of_data}
        return {
            self.unit.source_place(node)
            for local, node in self.asked_of_data
            if (bound[local] == 1 or local in self.unit.temps) and flow.classes(local) & {*had[id(node)]}
        }

    def of_data(self, node: gast.Attribute) -> Any:
        """An attribute of data; MISSING if it is not one of an object, or that a named tuple computes."""
        if (found := self.of_tuple(node)) is not MISSING:
            return found
        if self.in_columns and node.attr == "__class__":
            return self.asked_for_class(at(node, gast.Call(self.unit.builtin(type), [node.value], []))[0])
        record = self.record(node.value, node.attr, node)
        return MISSING if record is None else self.of_record(record, node.attr, node)

    def put_field(self, target: gast.Attribute, value: gast.AST, statement: gast.AST) -> bool:
        """Write `owner.attribute = value` for a reference; returns whether it was one."""
        if not self.may_be_of_object(target):
            return False
        argument = self.as_item(self.evaluate(value), statement)
        owner = self.written_record(target)
        every = [self.looked_up(c, target.attr) for c in owner.classes]
        if any(isinstance(m, functools.cached_property) for m in every) and not is_something(self.unit, value):
            self.unit.refuse(target, f"`{target.attr}` is computed when it is first read, and set here to what may be None, "
                                     "which cannot be followed: use a property with a setter")  # fmt: skip
        setters = {id(s): s for c in owner.classes for s in [self.looked_up(c, target.attr)] if isinstance(s, property)}
        if setters:
            if len(setters) > 1 or (setter := next(iter(setters.values()))).fset is None:
                self.unit.refuse(target, f"the property `{target.attr}` cannot be set here")
            self.apply(self.bound(setter.fset, owner, target), [argument], {}, statement)
        else:
            self.flattener.statement(at(statement, gast.Assign([self.place_of(owner, target)], argument, None))[0])
        return True

    def written_record(self, target: gast.Attribute) -> Record:
        """The reference whose attribute is written."""
        owner = self.record(self.flattener.atom(target.value), target.attr, target)
        if owner is None:
            self.unit.refuse(target, f"the attribute `{target.attr}` cannot be set here: use one of another name, or make "
                                     "another object")  # fmt: skip
        return owner

    def place_of(self, owner: Record, target: gast.Attribute) -> gast.Subscript:
        """The list item for an attribute, as a target."""
        item = self.item_of(owner, target)
        item.slice = self.flattener.hold(at(target, item.slice)[0])
        return item

    def field_of(self, owner: gast.AST, target: gast.Attribute) -> gast.Subscript | None:
        """The list item for an attribute of data that is stored there, as an expression; None for any other."""
        record = self.record(owner, target.attr, target)
        members = [] if record is None else [self.looked_up(c, target.attr) for c in record.classes]
        if not members or any(isinstance(m, (property, functools.cached_property)) for m in members):
            return None
        if not all(target.attr in self.held_by[c] for c in record.classes):
            return None
        item = self.item_of(record, target)
        item.ctx = gast.Load()
        return at(target, item)[0]

    def item_of(self, owner: Record, target: gast.Attribute) -> gast.Subscript:
        """The list item for an attribute, which an expression numbers."""
        if not all(target.attr in self.held_by[c] for c in owner.classes):
            self.unit.refuse(target, f"the attribute `{target.attr}` cannot be set here: set it in `__init__`")
        arguments: list[gast.AST] = [clone(owner.node), constant(target.attr)]
        asked, had = references.place, tuple(self.members[target.attr])
        if any(c not in had for c in self.followed if self.families[c] == self.families[owner.cls]):
            asked = references.place_among
            arguments.append(gast.Tuple([self.class_name(c) for c in had], gast.Load()))
        helper = name(self.unit.helper(asked.__name__, asked))
        return gast.Subscript(name(self.column(owner.cls, target.attr)), gast.Call(helper, arguments, []), gast.Store())

    def update_field(self, statement: gast.AugAssign) -> bool:
        """Write `owner.attribute += value` for a reference; returns whether it was one."""
        target = statement.target
        if not self.may_be_of_object(target):
            return False
        owner = self.written_record(target)
        if any(isinstance(self.looked_up(c, target.attr), (property, functools.cached_property)) for c in owner.classes):
            target.value = clone(owner.node)
            update: gast.AST = gast.Assign([clone(target)], self.updated_in_place(statement), None)
        else:
            update = gast.AugAssign(self.place_of(owner, target), statement.op, statement.value)
        self.flattener.statement(at(statement, update)[0])
        return True

    def note_exact(self, target: str, value: Any) -> None:
        """Record the exact class of a variable that is bound once, unconditionally, to a new object."""
        once = self.is_fixed(target) and target not in self.chosen
        if once and isinstance(value, gast.Name) and value.id in self.of_exactly:
            self.of_exactly[target] = self.of_exactly[value.id]

    def received(self, local: str, record: Record, anew: bool, place: gast.AST) -> None:
        """Bind the parameter of a method to its object."""
        self.flattener.out += at(place, assign(local, clone(record.node)))
        if not anew:
            self.of_exactly[local] = record.classes

    def asks_objects(self, value: Any) -> bool:
        """Whether the text of a function value may read an attribute of a reference."""
        while isinstance(value, Partial):
            if any(isinstance(v, Record) for v in value.given):
                return True
            value = value.inner
        node = getattr(value, "node", None)
        return node is not None and any(map(self.may_be_of_object, nodes(node)))

    def asked_for_class(self, node: gast.Call) -> Any:
        """`isinstance(x, C)` or `type(x)` for a possible reference; the class itself where it is known."""
        node.args[0] = self.flattener.atom(node.args[0])
        exactly = self.of_exactly.get(getattr(node.args[0], "id", ""), ())
        if len(exactly) == len(node.args) == 1:
            return Known(exactly[0], self.class_name(exactly[0]))
        asked = {isinstance: references.is_instance, type: references.class_of}[self.unit.resolve(node.func)]
        helper = name(self.unit.helper(asked.__name__, asked))
        if isinstance(node.args[-1], gast.Tuple):  # of classes: `one_object` reads them
            return at(node, gast.Call(helper, node.args, []))[0]
        return at(node, gast.Call(helper, self.flattener.atoms(node.args), []))[0]

    def require_no_object(self, statement: gast.Return) -> None:
        """Check that no reference is returned."""
        value = statement.value
        if (inherited := self.inherited()) is not None:
            self.note_held(inherited, value)
            return
        if isinstance(value, gast.Name) and value.id in self.of_exactly:
            self.unit.refuse(statement, "an object that is made here is returned, which is not supported: return numbers, "
                                        "arrays, lists or dicts")  # fmt: skip
        if self.columns and isinstance(value, gast.Name):
            helper = name(self.unit.helper("no_object", references.no_object))
            line = constant(getattr(statement, "lineno", 0))
            self.flattener.out += at(statement, gast.Expr(gast.Call(helper, [clone(value), line], [])))
