"""Static values: functions whose source is known, what is made of them, displays of them, and objects.

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

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sgrad.ir.forms import bound_name
from s2sgrad.ir.quote import assign, at, branch, clone, constant, name, nodes, statements_in
from s2sgrad.ir.scoping import bindings
from s2sgrad.ir.unit import Unit


@dataclass(eq=False)
class Function:
    """A lambda or function definition; `unit` is that of the function that contains it."""

    node: gast.FunctionDef | gast.Lambda
    unit: Unit
    defaults: dict[str, Any] = field(default_factory=dict)
    tree: gast.FunctionDef | None = None
    used: bool = False
    owner: type | None = None  # for a method, its class
    run_again: bool = False  # under `checkpoint`: called, and never inlined
    of: tuple[Any, type | None] | None = None  # the function from outside, and the class whose method it was read as

    @property
    def name(self) -> str:
        """The function's name; `lambda` for one."""
        return getattr(self.node, "name", "lambda")


@dataclass(eq=False)
class Partial:
    """`functools.partial(inner, *given, **keywords)`."""

    inner: Any
    given: list[Any]
    keywords: dict[str, Any]


@dataclass(eq=False)
class Adapted:
    """A function that a library makes from another, `np.vectorize(inner)` or `jacobian(inner)`; `call(inner, given,
    keywords, node)` expands a call of it."""

    inner: Any
    call: Callable[..., Any]


@dataclass(eq=False)
class Known:
    """A function from outside, with the name or path for it in the text."""

    target: Any
    node: gast.AST


@dataclass(eq=False)
class Derivative:
    """`grad(of)` of a function value: `known` is the gradient of the lifted function; captures are keyword arguments."""

    known: Known
    captured: list[str]
    defaults: dict[str, Any]
    order: list[str]  # the positional parameters of f
    of: Any = None


@dataclass(eq=False)
class Display:
    """A tuple, list or dict with functions in it; `items` by index or key."""

    items: dict[Any, Any]
    given: gast.AST | None = None
    block: int = 0  # the block of a growing list
    mapping: bool = False  # a dict: -1 is a key, not the last index
    literal: Any = None  # the display node that it was written as

    def as_data(self) -> gast.Tuple | None:
        """A tuple of data and of the caller's objects; None for anything else."""
        items = [item if isinstance(item, gast.AST) else getattr(item, "given", None) for item in self.items.values()]
        if self.literal is not gast.Tuple or not all(isinstance(item, gast.AST) for item in items):
            return None
        return gast.Tuple([clone(item) for item in items], gast.Load())


@dataclass(eq=False)
class Object:
    """An instance of a user's class: `attributes` are the variables for its attributes; `given`: an expression for it, if it
    is the caller's and was not made here."""

    cls: type
    base: str
    given: gast.AST | None = None
    made: bool = False  # `__init__` has finished
    names: int = 0  # number of names and attributes for it
    methods: int = 0  # number of these that are methods of it
    copied: bool = False
    written: bool = False  # an attribute was written after `__init__`
    rebound: bool = False  # its name is also bound to other objects
    loops: tuple[int, ...] = ()  # the loops around its constructor
    block: int = 0  # the block of its constructor
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class Generator:
    """The result of a generator function: `function` called with `given` and `keywords`, to be consumed once."""

    function: Function
    given: list[Any]
    keywords: dict[str, Any]
    loops: tuple[int, ...] = ()  # loops around the call
    around: tuple[Function, ...] = ()  # the functions in which it is called
    used: bool = False


@dataclass(eq=False)
class Choice:
    """One of several functions: `options[k]` if the variable `selector` is k; `argument`: the first one is an argument.

    The selector of a copy, as of `g = f`, is its own; what the options hold is written anew in each trip of a loop that
    binds them."""

    selector: str
    options: list[Any]
    argument: bool = False
    loops: set[int] = field(default_factory=set)  # loops in which it was called
    bound: list[frozenset[int]] = field(default_factory=list)  # the loops around each binding, in turn
    bound_before: int = 0  # so many of the bindings came before this copy was made
    copied_in: frozenset[int] = frozenset()  # the loops around that copy

    @property
    def is_stale(self) -> bool:
        """Whether an option may hold what a later trip, or a later statement of the same trip, has written into it."""
        return any(loops & self.copied_in for loops in self.bound[self.bound_before :])


Value = Function | Partial | Adapted | Known | Derivative | Display | Object | Generator | Choice


def keep_objects(value: Any) -> None:
    """Count a reference to the objects in a value, which outlives their names."""
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
    """Replace parameters that are never rebound by atoms."""
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
    """The arm that the variable `selector` numbers: `if which == 0: .. elif which == 1: .. else: ..`."""
    *tested, rest = arms
    for number, arm in reversed(list(enumerate(tested))):
        test = unit.temp()
        compared = gast.Compare(name(selector), [gast.Eq()], [constant(number)])
        rest = at(node, assign(test, compared), branch(name(test), arm, rest))
    return rest


def functions_among(body: list[gast.AST]) -> set[str]:
    """The names bound to a function of this text and also to something else."""
    names, bound = set(), bindings(body)
    for node in statements_in(body):
        if isinstance(node, gast.FunctionDef):
            names.add(node.name)
        elif (local := bound_name(node)) is not None:
            sides = [node.value.body, node.value.orelse] if isinstance(node.value, gast.IfExp) else [node.value]
            names |= {local} if any(isinstance(side, gast.Lambda) for side in sides) else set()
    return {n for n in names if bound[n] > 1}


def called_alone(body: list[gast.AST]) -> set[str]:
    """The names of functions that are called for their effect, and of the containers that these come from."""
    inside = list(statements_in(body))
    sources = {_base_variable(s.value.func) for s in inside if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call)}
    values = {local: s.value for s in inside if (local := bound_name(s)) is not None}
    waiting = list(sources)
    while waiting:
        value = values.get(waiting.pop())
        value = value.args[0] if isinstance(value, gast.Call) and len(value.args) == 1 else value  # the iterable of a loop
        source = _base_variable(value)
        if source and source not in sources:
            sources.add(source)
            waiting.append(source)
    return sources - {""}


def _base_variable(node: gast.AST | None) -> str:
    """The variable that an expression is, or is an item of; empty for other expressions."""
    while isinstance(node, gast.Subscript):
        node = node.value
    return node.id if isinstance(node, gast.Name) else ""
