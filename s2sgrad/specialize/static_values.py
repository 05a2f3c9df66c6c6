"""What a name can stand for besides data: functions whose text is known, and what it says; displays of them, objects.

    f = lambda t: w * t      ->      f is a Function;   partial(f, 2.0): a Partial;   [f, np.sin]: a Display

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... from functools import partial
... def f(x, w):
...     scale = partial(lambda k, t: k * t, w)
...     tools = [scale, np.sin]
...     return tools[1](tools[0](x))
... ''', "flatten"))
def f(x, w):
    result_ = w * x
    t1 = np.sin(result_)
    result = t1
    return result
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import assign, at, branch, clone, constant, name, nodes, statements_in
from s2sgrad.ir.unit import Unit


@dataclass(eq=False)
class Function:
    """A lambda or a function definition; `unit` is that of the function whose text it stands in."""

    node: gast.FunctionDef | gast.Lambda
    unit: Unit
    defaults: dict[str, Any] = field(default_factory=dict)
    tree: gast.FunctionDef | None = None
    used: bool = False
    owner: type | None = None  # the class whose method it is
    run_again: bool = False  # it is called, under `checkpoint`, and never written out

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "lambda")


@dataclass(eq=False)
class Partial:
    """`functools.partial(inner, *given, **keywords)`."""

    inner: Any
    given: list[Any]
    keywords: dict[str, Any]


@dataclass(eq=False)
class Adapted:
    """A function that a library makes of another one, `np.vectorize(inner)` or `jacobian(inner)`; `call(inner, given,
    keywords, node)` writes out a call of it."""

    inner: Any
    call: Callable[..., Any]


@dataclass(eq=False)
class Known:
    """A function from outside, under the name (or path) by which the text reaches it."""

    target: Any
    node: gast.AST


@dataclass(eq=False)
class Derivative:
    """`grad(of)` of a function value: `known` is the gradient of it lifted, which takes what it closes over by keyword."""

    known: Known
    captured: list[str]
    defaults: dict[str, Any]
    order: list[str]  # the parameters of f that have positions
    of: Any = None


@dataclass(eq=False)
class Display:
    """A tuple, list or dict with functions in it that is never changed; `items` by index or key."""

    items: dict[Any, Any]
    given: gast.AST | None = None
    block: int = 0  # how deep the block is in which a list begins that grows
    mapping: bool = False  # a dict: -1 is a key, and not the last place
    literal: type | None = None  # what it was written as

    def as_data(self) -> gast.Tuple | None:
        """A tuple of data and of the caller's objects; None for anything else."""
        items = [item if isinstance(item, gast.AST) else getattr(item, "given", None) for item in self.items.values()]
        if self.literal is not gast.Tuple or not all(isinstance(item, gast.AST) for item in items):
            return None
        return gast.Tuple([clone(item) for item in items], gast.Load())


@dataclass(eq=False)
class Object:
    """An instance of a user's class that was made here: `attributes` are the variables that stand for its own; `given`: the
    argument that it is, if it was not made here."""

    cls: type
    base: str
    given: gast.AST | None = None
    made: bool = False  # its `__init__` is through
    names: int = 0  # how many names and attributes stand for it
    methods: int = 0  # how many of them stand for one of its methods
    copied: bool = False
    written: bool = False  # an attribute was assigned after that
    rebound: bool = False  # the name that stands for it will stand for others
    loops: tuple[int, ...] = ()  # those in which it is made
    block: int = 0  # the block in which it is made
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class Record:
    """An object whose attributes are items of lists (`columns`): `node` is its reference, an object of one of `classes`."""

    classes: tuple[type, ...]
    node: gast.AST
    is_checked: bool = False  # that it is of one of them has to be asked when it runs
    given: None = None

    @property
    def cls(self) -> type:
        return self.classes[0]


@dataclass(eq=False)
class Generator:
    """What a generator function returned: `function` called with `given` and `keywords`, to be run once."""

    function: Function
    given: list[Any]
    keywords: dict[str, Any]
    loops: tuple[int, ...] = ()  # those around the call
    used: bool = False


@dataclass(eq=False)
class Choice:
    """One of several functions: `options[k]` where the variable `selector` is k; `argument`: the first is one."""

    selector: str
    options: list[Any]
    argument: bool = False
    loops: set[int] = field(default_factory=set)  # those in which it was called


@dataclass(eq=False)
class Memoized:
    """A function that calls itself and keeps its values in the variable `memo`, under its parameters in `key`; by `table`
    it keeps them itself.  `plain` takes itself, what is `passed` on and what it has `captured` by keyword; one `step` takes
    what is passed on and the memo, under the name `looked`, and looks up what it needs."""

    function: Function
    memo: str | None
    table: Any = None
    key: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    plain: Known | None = None
    captured: list[str] = field(default_factory=list)
    step: Function | None = None
    looked: str = ""


Value = Function | Memoized | Partial | Adapted | Known | Derivative | Display | Object | Record | Generator | Choice


def keep_objects(value: Any) -> None:
    """A value keeps the objects in it, whatever their names will stand for."""
    if isinstance(value, Object):
        value.names += 1
    elif isinstance(value, Partial):
        for part in (value.inner, *value.given, *value.keywords.values()):
            keep_objects(part)
            if isinstance(part, Object):
                part.methods += 1
    elif isinstance(value, Adapted):
        keep_objects(value.inner)
    elif isinstance(value, Derivative):
        keep_objects(value.of)
    elif isinstance(value, Display):
        for part in value.items.values():
            keep_objects(part)


def substitute(statement: gast.AST, values: dict[str, gast.AST]) -> None:
    """Put atoms in the place of parameters that are never bound anew."""
    if not values:
        return
    for node in nodes(statement):
        for key, value in node.__dict__.items():
            if isinstance(value, gast.Name) and value.id in values:
                node.__dict__[key] = at(value, clone(values[value.id]))[0]
            elif isinstance(value, list):
                for k, item in enumerate(value):
                    if isinstance(item, gast.Name) and item.id in values:
                        value[k] = at(item, clone(values[item.id]))[0]


def chosen(unit: Unit, selector: str, arms: list[list[gast.AST]], node: gast.AST) -> list[gast.AST]:
    """The arm whose number is in the variable `selector`: `if which == 0: .. elif which == 1: .. else: ..`."""
    *tested, rest = arms
    for number, arm in reversed(list(enumerate(tested))):
        test = unit.temp()
        compared = gast.Compare(name(selector), [gast.Eq()], [constant(number)])
        rest = at(node, assign(test, compared), branch(name(test), arm, rest))
    return rest


def bindings(body: list[gast.AST]) -> Counter[str]:
    """How often the text binds each name."""
    out: Counter[str] = Counter()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, gast.Name):
            out[node.id] += isinstance(node.ctx, gast.Store)
            continue
        if isinstance(node, gast.FunctionDef):  # what it binds for itself is counted where it is written out
            out[node.name] += 1
            out.update(2 * [n for part in nodes(node) if isinstance(part, gast.Nonlocal) for n in part.names])
            continue
        for value in node.__dict__.values():
            if isinstance(value, list):
                waiting += [part for part in value if isinstance(part, gast.AST)]
            elif isinstance(value, gast.AST) and not isinstance(value, gast.expr_context):
                waiting.append(value)
    return out


def functions_among(body: list[gast.AST]) -> set[str]:
    """The names that stand for a function of this text and for something else in turn."""
    made, bound = set(), bindings(body)
    for node in statements_in(body):
        if isinstance(node, gast.FunctionDef):
            made.add(node.name)
        elif (local := bound_name(node)) is not None:
            sides = [node.value.body, node.value.orelse] if isinstance(node.value, gast.IfExp) else [node.value]
            made |= {local} if any(isinstance(side, gast.Lambda) for side in sides) else set()
    return {n for n in made if bound[n] > 1}


def called_alone(body: list[gast.AST]) -> set[str]:
    """The names that stand for functions which are called for their effect, and for what these are taken from."""
    inside = list(statements_in(body))
    found = {_taken_from(s.value.func) for s in inside if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call)}
    given = {local: s.value for s in inside if (local := bound_name(s)) is not None}
    waiting = list(found)
    while waiting:
        value = given.get(waiting.pop())
        value = value.args[0] if isinstance(value, gast.Call) and len(value.args) == 1 else value  # what a loop runs over
        source = _taken_from(value)
        if source and source not in found:
            found.add(source)
            waiting.append(source)
    return found - {""}


def _taken_from(node: gast.AST | None) -> str:
    """The variable that an expression is, or is an item of; empty for anything else."""
    while isinstance(node, gast.Subscript):
        node = node.value
    return node.id if isinstance(node, gast.Name) else ""
