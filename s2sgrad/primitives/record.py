"""One record per library callable: what is known of it besides its derivative, by the object and never by its name.

    know(np.ravel, gives=Gives.CONTIGUOUS)      np.ravel(x) may alias x
    know(list.append, writes=(0,))              ys.append(x) writes ys

Unknown is unsafe: a callable without a record may have effects, and its result may alias all of its arguments.
A function with a derivative rule is pure, and returns new memory unless its record says otherwise.

>>> import numpy as np
>>> of(np.sin).pure, of(np.sin).gives, of(np.ravel).gives, of(np.frombuffer).may_view
(True, <Gives.NEW: 1>, <Gives.CONTIGUOUS: 3>, True)
>>> def sin(x): return x
>>> of(sin).pure, of(sin).gives
(False, <Gives.UNKNOWN: 0>)
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules import table
from s2sgrad.runtime.asking import its
from s2sgrad.source import brings_gradient


class Gives(Enum):
    """How the result of a callable, or of a method, aliases its arguments."""

    UNKNOWN = 0  # may be, or hold, anything that the callable can reach
    NEW = 1  # nothing else refers to it
    VIEW = 2  # always a writable view of the array
    CONTIGUOUS = 3  # a view if the array is contiguous
    MAYBE = 4  # may be a view, or hold one
    SHELL = 5  # a new container of the same items
    ROWS = 6  # a new container of tuples of the items
    ITEM = 7  # one of the items
    OPERATOR = 8  # new memory for numbers and arrays, a new container of the same items for lists


VIEWS = (Gives.VIEW, Gives.CONTIGUOUS)
_NUMPY = ("numpy", runtime.__name__.partition(".")[0])
_ANY_ARGUMENT = -1
_EACH_TIME = (types.BuiltinMethodType, types.MethodType)  # each access makes a new bound method


@dataclass(slots=True, eq=False)
class Primitive:
    """What is known of one callable whose source the compiler does not read.

    Arguments count from 0; of a method, 0 is its object.  `called` is the position of an argument that the callable
    calls, and `called_name` its keyword.
    """

    function: Any
    sharing: Gives | None = None  # None: derived from the rule
    shared: int | None = None  # the argument that the result may alias (-1: any of them)
    numeric: bool = False  # returns an array or a number, although it is not NumPy's
    several: bool = False  # returns a list or a tuple of possible views
    writes: tuple[int, ...] = ()
    effect: bool = False  # has effects besides writing arguments
    computes: bool = False  # is pure although it has no rule
    optional: tuple[int, ...] = ()  # operands that may be None
    iterates: bool = False  # iterates over its argument, exhausting an iterator
    unseen: bool = False  # reads or binds names that do not occur in the text
    called: int | None = None
    called_name: str = ""
    fills: bool = False  # makes an array of its argument, whatever that is
    chooses: bool = False  # chooses among the items of its argument
    accumulates: bool = False  # its `dtype` is the type that it computes in
    resizes: bool = False  # changes the length of its object
    grows: bool = False  # only adds to its object
    stack: bool = False  # pushes an item on a list, or pops the last one
    keeps_kind: bool = False  # returns a value of its argument's kind
    joins: bool = False  # writes parts of `out=` before it has read all of its arguments
    copies: bool = False  # its result has the structure of a deep copy: all memory that it holds is new
    cheap: bool = False  # costs no more than recording its result
    asks_shape: bool = False  # reads only the shape and dtype of its argument
    flat: bool = False  # has no derivative, as those that the table of rules lists
    logs: bool = False  # formats its arguments during the call, and keeps no reference
    to_text: bool = False  # writes numbers as text or bytes
    from_text: bool = False  # parses numbers from text or bytes
    files: str = ""  # "r" where it reads files, "w" where it writes them, "rw" where it may do both

    @property
    def rule(self) -> table.Rule | None:
        """The derivative rule."""
        return table.lookup(self.function) or table.of_calls(self.function)

    @property
    def is_flat(self) -> bool:
        """Whether the result never carries a derivative."""
        return self.flat or table.is_flat(self.function)

    @property
    def is_given(self) -> bool:
        """Whether its rule is the user's: then it writes none of its arguments."""
        said = table.given(self.function)
        return said is not None and said.given is not None

    @property
    def pure(self) -> bool:
        """Whether the callable has no effects, and its result depends on its arguments alone."""
        if self.effect or self.writes or table.changes_owner(self.function):
            return False
        declared = self.computes or self._is_elementwise or self._is_ours
        if not declared and self.is_given:  # a user's rule promises nothing about other effects
            return False
        return declared or table.is_flat(self.function) or self.rule is not None

    @property
    def gives(self) -> Gives:
        """How the result aliases the arguments."""
        if self.sharing is not None:
            return self.sharing
        if table.may_share(self.function):
            return Gives.MAYBE
        rule = self.rule
        if self._home.startswith("s2sgrad.rules."):  # a helper of the rules
            return Gives.NEW if rule is not None and rule.tag == "elementwise" else Gives.UNKNOWN
        if isinstance(self.function, type) and issubclass(self.function, np.generic):
            return Gives.MAYBE  # `np.float64(x)` of an array
        return Gives.NEW if self.pure or self._is_ours or table.changes_owner(self.function) else Gives.UNKNOWN

    @property
    def may_view(self) -> bool:
        """Whether the result may alias an argument, or hold one."""
        return self.gives is not Gives.NEW

    @property
    def gives_array(self) -> bool:
        """Whether the result is an array or a number, and not a container of these.

        >>> of(np.real).gives_array, of(np.split).gives_array, of(sorted).gives_array
        (True, False, False)
        """
        return self.numeric or (self.pure and not self.several and self._home.partition(".")[0] == "numpy")

    @property
    def viewed(self) -> int | None:
        """The position of the argument that the result may alias; None: any of them.

        >>> of(np.reshape).viewed, of(np.meshgrid).viewed, of(zip).viewed
        (0, None, None)
        """
        if self.shared is not None:
            return None if self.shared == _ANY_ARGUMENT else self.shared
        return 0 if self._home.partition(".")[0] in _NUMPY else None

    @property
    def _home(self) -> str:
        home = its(self.function, "__module__", None)
        return home if isinstance(home, str) else ""

    @property
    def _is_ours(self) -> bool:
        return self._home == runtime.__name__

    @property
    def _is_elementwise(self) -> bool:
        if isinstance(self.function, type):
            return issubclass(self.function, np.generic)
        builtin = self._home == "math" and isinstance(self.function, types.BuiltinFunctionType)
        return builtin or isinstance(self.function, np.ufunc)


_RECORDS: dict[Any, Primitive] = {}
_METHODS: dict[str, list[Primitive]] = {}  # records of methods, by name


def know(*functions: Any, gives: Gives | None = None, of: int | None = None, **facts: Any) -> None:
    """Enter facts about callables: fields of `Primitive`, `gives` for its `sharing`, `of` for its `shared`.

    Facts that are entered twice must agree.
    """
    facts |= {} if gives is None else {"sharing": gives}
    facts |= {} if of is None else {"shared": of}
    for function in functions:
        record = _RECORDS.get(function)
        if record is None:
            record = _RECORDS[function] = Primitive(function)
        for fact, value in facts.items():
            current, default = getattr(record, fact), Primitive.__dataclass_fields__[fact].default
            assert current in (value, default), f"{function}: {fact} is {current} and {value}"
            setattr(record, fact, value)


def know_methods(cls: type, names: str, **facts: Any) -> None:
    """Enter facts about methods of a class, by name; names that this version of the class lacks are skipped."""
    for name in names.split():
        if hasattr(cls, name):
            know(getattr(cls, name), **facts)
            record = _RECORDS[getattr(cls, name)]
            if record not in _METHODS.setdefault(name, []):
                _METHODS[name].append(record)


def of(target: Any) -> Primitive:
    """The record of a callable, an empty one if nothing is known of it."""
    try:
        record = _RECORDS.get(target)
    except (TypeError, ValueError):  # unhashable
        return Primitive(None if table.given(target) is None else target)
    said = table.given(target)
    if brings_gradient(target) or (said is not None and getattr(said.given, "made", False)):
        return Primitive(target, sharing=Gives.NEW)
    if record is None or (record.function is not target and not isinstance(target, _EACH_TIME)):
        return Primitive(target)  # an object that merely compares equal is another one
    return record


def of_bound(target: Any) -> Primitive:
    """The record of a bound builtin method, `list.append` for `ys.append`: its result depends on its object too.

    >>> of_bound(np.add.at).writes, of_bound([].append).writes, of_bound(np.copyto).writes
    ((1,), (0,), ())
    """
    owner = its(target, "__self__", None)
    if not isinstance(target, types.BuiltinMethodType) or isinstance(owner, (types.ModuleType, type, type(None))):
        return Primitive(None)
    return of(getattr(type(owner), target.__name__, None))


def methods_named(name: str) -> list[Primitive]:
    """The records of all methods of this name, of whatever class: the candidates where the object is unknown.

    >>> sorted({m.function.__objclass__.__name__ for m in methods_named("clear") if m.writes})
    ['OrderedDict', 'deque', 'dict', 'list', 'set']
    """
    return _METHODS.get(name, [])


def is_named(name: str, *methods: Any) -> bool:
    """Whether one of these methods has this name.

    >>> is_named("items", dict.keys, dict.items), is_named("items", list.append)
    (True, False)
    """
    return any(name == method.__name__ for method in methods)


def on_stack(name: str) -> bool:
    """Whether some method of this name pushes an item on a list, or pops the last one."""
    return any(record.stack for record in _METHODS.get(name, ()))


def may_write(name: str) -> bool:
    """Whether some method of this name writes its object, or an argument."""
    return any(record.writes for record in _METHODS.get(name, ()))


def records() -> Iterator[Primitive]:
    """All records."""
    return iter(_RECORDS.values())
