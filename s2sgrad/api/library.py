"""Library functions as functions with source: `grad(np.sin)` differentiates `def sin(x): return np.sin(x)`."""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

from s2sgrad import rules  # noqa: F401  (fills the table)
from s2sgrad.analysis.libraries import is_library
from s2sgrad.errors import NoRule, NoSource, S2SGradError
from s2sgrad.ir import advice, relatives
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.signatures import signature
from s2sgrad.ir.underlying import underlying
from s2sgrad.ir.unit import MISSING, Unit
from s2sgrad.primitives.libraries import library, package_of
from s2sgrad.rules import table
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.closures import Closure
from s2sgrad.runtime.traits import declare, traits
from s2sgrad.source import brings_gradient, defined, read

_OPERATORS: dict[Any, str] = {
    operator.add: "a + b", operator.sub: "a - b", operator.mul: "a * b", operator.truediv: "a / b", operator.pow: "a ** b",
    operator.mod: "a % b", operator.floordiv: "a // b", operator.matmul: "a @ b", operator.getitem: "a[b]",
    operator.neg: "-a", operator.pos: "+a", operator.abs: "abs(a)",
}  # fmt: skip


@functools.lru_cache(maxsize=1024)
def _wrapper(primitive: Any) -> types.FunctionType:
    return _written(primitive, table.lookup(primitive))


@dataclass(frozen=True)
class _Same:
    """An object, equal to itself alone, whatever its `==` and its hash are."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@functools.lru_cache(maxsize=1024)
def _caller_of(same: _Same) -> types.FunctionType:
    return _written(same.value, table.of_calls(same.value))


@functools.lru_cache(maxsize=1024)
def _rule_function(rule: table.Rule) -> types.FunctionType:
    return _written(rule.primitive, rule)


def _written(primitive: Any, rule: table.Rule | None) -> types.FunctionType:
    """The function with source; that of a user's rule lives as long as the rule."""
    name = its(primitive, "__name__", type(primitive).__name__)
    name = name if name.isidentifier() else "function"
    is_object = rule is not None and table.of_calls(primitive) is rule  # the first argument of its rule
    if isinstance(primitive, types.BuiltinFunctionType) and primitive in _OPERATORS:
        value = _OPERATORS[primitive]
        head = "a, b" if "b" in value.replace("abs", "") else "a"
    elif rule is not None and rule.tag == "flat":  # declared flat by the user, with unknown parameters
        head, value = "*given", "primitive(*given)"
    elif rule is None:  # its derivative is zero
        head = ", ".join(advice.required(primitive))
        value = f"primitive({head})"
    else:
        head, value = _of_rule(primitive, rule, is_object)
    text = f"def {name}({head}):\n    return {value}\n"
    own = rule if rule is not None and rule.given is not None else primitive if is_object else None
    own = its(primitive, "__self__", None) if own is None and isinstance(primitive, types.MethodType) else own
    own = "" if own is None else f" {id(own)}"  # `stats.gamma.cdf` and `stats.t.cdf` are told apart by their objects
    filename = f"<s2sgrad library {its(primitive, '__module__', '')}.{name}{own}>"
    function = defined(text, name, filename, {"primitive": primitive, "__name__": f"s2sgrad.api.library.{name}"})
    declare(function, origin=("library", primitive))
    return function


def _of_rule(primitive: Any, rule: table.Rule, is_object: bool) -> tuple[str, str]:
    """The parameters of a function with a rule, and a call that passes them on; those that its own order may have elsewhere
    are taken by keyword."""
    own = _parameters_of(primitive)
    names = [*rule.differentiable[is_object:], *(["*rest"] if rule.variadic else [])]
    others = not rule.variadic and not rule.keywords.keys() <= {*rule.positional}
    loose = others and any(p.kind is p.VAR_KEYWORD for p in own.values())  # what else it takes may depend on `mode`
    usual = {k: v for k, v in rule.keywords.items() if _is_passed(v, own.get(k), rule.variadic or loose)}
    in_order = [] if rule.variadic else [k for k in rule.positional if k in rule.keywords]
    places = [*itertools.takewhile(usual.__contains__, in_order)]  # what follows one that is not passed has another place
    words = [] if loose else [k for k in usual if k not in places]
    star = ["*"] if words and not rule.variadic else []
    shown = {k: f"{k}={v!r}" for k, v in usual.items()}
    by_place = _taken_by_place(primitive, own, places)
    given = (k if k in by_place else f"{k}={k}" for k in [*places, *words])
    head = ", ".join([*names, *map(shown.__getitem__, places), *star, *map(shown.__getitem__, words)])
    return head, f"primitive({', '.join((*names, *given))})"


def _taken_by_place(primitive: Any, own: dict[str, inspect.Parameter], places: list[str]) -> set[str]:
    """The parameters that a function takes by position alone."""
    if isinstance(primitive, types.BuiltinFunctionType):  # `math.log` takes none by keyword
        return {*places}
    return {k for k, p in own.items() if p.kind is p.POSITIONAL_ONLY}


def _is_passed(default: Any, parameter: inspect.Parameter | None, words: bool) -> bool:
    """Whether a function may be given this default of its rule's; None and a text only where it is its own, or a text if
    `words` are asked for."""
    if default is None:
        return parameter is None or parameter.default is None or parameter.default is parameter.empty
    if isinstance(default, str):
        return words or (parameter is not None and parameter.default == default)
    return isinstance(default, (bool, int, float)) and default == default  # no nan


def _parameters_of(primitive: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function, by name, or of the one that it hands all its arguments on to; none where it does not
    tell them."""
    try:
        parameters = dict(signature(primitive).parameters)
        hands_on = all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values())
        return dict(inspect.signature(primitive).parameters) if hands_on else parameters
    except (TypeError, ValueError):
        return {}


@functools.lru_cache(maxsize=1024)
def _caller(function: types.FunctionType) -> types.FunctionType:
    """A function with source that calls one with its own gradient."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    told = its(function, "custom_gradient", function)  # that, or one that is recorded
    parameters = signature(told).parameters.values()
    names_text = ", ".join(p.name for p in parameters if p.kind in positional)
    name = function.__name__ if function.__name__.isidentifier() else "function"
    text = f"def {name}({names_text}):\n    return primitive({names_text})\n"
    filename = f"<s2sgrad custom {function.__module__}.{function.__qualname__} {id(function)}>"
    caller = defined(text, name, filename, {"primitive": function, "__name__": function.__module__})
    declare(caller, stands_for=told)
    return caller


def with_places(function: types.FunctionType, count: int, words: tuple[str, ...]) -> types.FunctionType:
    """A function with so many parameters before `*rest`, for one with fewer: what is bound is no part of `*rest`."""
    has_rest = function.__code__.co_flags & inspect.CO_VARARGS
    return _placed(function, count, words) if has_rest and count > function.__code__.co_argcount else function


@functools.lru_cache(maxsize=1024)
def _placed(function: types.FunctionType, count: int, words: tuple[str, ...]) -> types.FunctionType:
    names = [f"bound{k}{'_' * sum(w.rstrip('_') == f'bound{k}' for w in words)}" for k in range(count)]
    head, given = ", ".join([*names, "*rest_", *words]), ", ".join([*names, "*rest_", *(f"{w}={w}" for w in words)])
    name = function.__name__ if function.__name__.isidentifier() else "function"
    text = f"def {name}({head}):\n    return primitive({given})\n"
    filename = f"<s2sgrad bound {count} {words} {function.__module__}.{function.__qualname__} {id(function)}>"
    return defined(text, name, filename, {"primitive": function, "__name__": function.__module__})


def require_taken(function: types.FunctionType, count: int, words: Iterable[str]) -> None:
    """Refusal where the text that stands for a library's function does not take these arguments, as the function may."""
    origin = traits(function).origin
    if origin is None or origin[0] != "library":
        return
    primitive = origin[1]
    parameters = inspect.signature(function).parameters.values()
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    loose = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    taken = {p.name for p in parameters if p.kind is not p.VAR_POSITIONAL} - {p.name for p in places[:count]}
    unknown = [f"`{word}`" for word in words if word not in taken]
    if unknown or (count > len(places) and not loose):
        shown = its(primitive, "__name__", type(primitive).__name__)
        what = ", ".join(unknown) or f"{count} arguments by position"
        raise Refusal(None, f"`{shown}`, which the run chooses or gives its arguments, is given {what}, which its "
                            "derivative rule does not take: call it by its own name, with each argument in its "
                            "place")  # fmt: skip


def spelled_out(primitive: Any) -> types.FunctionType | None:
    """A function with source for an operator or a primitive of the rule table; None for any other callable."""
    rule = table.lookup(primitive)
    operator_ = isinstance(primitive, types.BuiltinFunctionType) and primitive in _OPERATORS
    own = table.given(primitive)
    if own is not None:
        return _rule_function(own)
    if table.of_calls(primitive) is not None:
        return _caller_of(_Same(primitive))
    return _wrapper(primitive) if operator_ or rule is not None else None


def _behind_partial(function: functools.partial) -> tuple[types.FunctionType, tuple, dict[str, Any]]:
    inner, lead, keywords = plain(function.func)
    if any(type(a) is type(getattr(functools, "Placeholder", None)) for a in function.args if a is not None):
        raise NoSource(f"{inner.__name__}: a partial with placeholders is not differentiated: write a lambda")
    return inner, lead + function.args, {**keywords, **function.keywords} if keywords else function.keywords


@functools.lru_cache(maxsize=1024)
def _handing_on(primitive: Any, *held: tuple[Any, _Same]) -> types.FunctionType:
    """A function with source that calls a primitive as the method of an object does, with what the object holds."""
    name, first = primitive.__name__, next(iter(table.rule_of(primitive).differentiable))
    given = [f"held{place}" if type(place) is int else f"{place}=held_{place}" for place, _ in held]
    text = f"def {name}({first}):\n    return primitive({', '.join([first, *given])})\n"
    filename = f"<s2sgrad library method {name} {id(primitive.__self__)} {[id(same.value) for _, same in held]}>"
    space = {f"held{place}" if type(place) is int else f"held_{place}": same.value for place, same in held}
    return defined(text, name, filename, space | {"primitive": primitive, "__name__": f"s2sgrad.api.library.{name}"})


def _behind_method(method: types.MethodType) -> tuple[types.FunctionType, tuple, dict[str, Any]]:
    handed_on = table.handed_on(method)
    if handed_on is not None and table.lookup(handed_on[0]) is not None:
        primitive, held = handed_on
        return _handing_on(primitive, *((place, _Same(value)) for place, value in held.items())), (), {}
    if _lacks_rule(method.__func__) or _is_known_by_rule(method.__func__):
        raise _without_rule(method, relatives.full_name(method) or f"{type(method.__self__).__name__}.{method.__name__}")
    inner, lead, keywords = plain(method.__func__)
    return inner, (*lead, method.__self__), keywords


def _behind_function(function: types.FunctionType) -> types.FunctionType:
    if _lacks_rule(function):
        raise _without_rule(function, function.__qualname__)
    return _wrapper(function) if is_library(function) and table.is_flat(function) else function


def _lacks_rule(function: Any) -> bool:
    """Whether a function belongs to a library that is known by its rules, and has none, nor a source that has them all."""
    if not isinstance(function, types.FunctionType) or not is_library(function):
        return False
    known = spelled_out(function) is not None or brings_gradient(function) or table.is_flat(function)
    return not known and not _is_known_throughout(function)


def _is_known_by_rule(function: Any) -> bool:
    """Whether a callable without Python source belongs to a library that is known by its rules."""
    if isinstance(function, (types.FunctionType, type, types.ModuleType)):
        return False
    package = package_of(function) or package_of(type(function))
    return library(package).by_record and package != "builtins"


@functools.lru_cache(maxsize=1024)
def _is_known_throughout(function: types.FunctionType) -> bool:
    """Whether all that a function calls is known now and has a rule: `dot` of a sparse matrix, which is `self @ other`."""
    try:
        unit, tree = Unit.of(read(function))
    except S2SGradError:
        return False
    if any(isinstance(n, (gast.Starred, gast.Attribute)) and unit.resolve(n) is MISSING for n in nodes(tree)):
        return False
    targets = [unit.resolve(n.func) for n in nodes(tree) if isinstance(n, gast.Call)]
    return all(t is not MISSING and (table.lookup(t) is not None or table.is_flat(t)) for t in targets)


def _without_rule(function: Any, shown: str) -> NoRule:
    """The error for a library's function or method, which is known by its rule alone and not read."""
    if function is iter or (isinstance(function, type) and issubclass(function, Iterator)):
        return NoRule(f"`{shown}` makes an iterator, which cannot be followed where only the run knows it: loop over it in "
                      "its place, or make a list of it")  # fmt: skip
    error = NoRule(f"`{shown}` has no derivative rule: use functions that have one, or give it one with `custom_gradient` "
                   "or `defvjp`")  # fmt: skip
    for lines in (advice.for_function(function, relatives.full_name(function)), relatives.told(function)):
        if lines:
            error.add_note(lines)
    return error


def plain(function: Any) -> tuple[types.FunctionType, tuple, dict[str, Any]]:
    """The underlying function of a callable, and the arguments that are bound to it: a receiver, those of a partial.

    Raises NoSource for a callable that is neither Python nor in the rule table, NoRule for a library's that has no rule.

    >>> plain(functools.partial(str.format, "x", end=1))
    Traceback (most recent call last):
    s2sgrad.errors.NoSource: <method 'format' of 'str' objects> has no Python source: give it a gradient ...
    """
    if isinstance(function, (staticmethod, classmethod)):
        return plain(function.__func__)
    if brings_gradient(function):
        return _caller(function), (), {}
    if getattr(type(function), "followed", None) is not None and function.followed is not None:  # a matrix of derivatives
        return plain(function.followed)
    if underlying(function) is not function:
        return plain(underlying(function))
    of_library = spelled_out(function)  # a bound method may be in the table too
    if of_library is not None:
        return of_library, (), {}
    if isinstance(function, types.MethodType):
        return _behind_method(function)
    if isinstance(function, functools.partial):
        return _behind_partial(function)
    if isinstance(function, types.FunctionType):
        return _behind_function(function), (), {}
    if isinstance(function, Closure):
        inner, lead, keywords = plain(function.function)
        return inner, lead + function.called_with(()), keywords
    call = getattr(type(function), "__call__", None)  # noqa: B004  (the method itself is wanted)
    if isinstance(call, types.FunctionType) and not isinstance(function, type):
        inner, lead, keywords = plain(call)
        return inner, (*lead, function), keywords
    if table.is_flat(function):
        return _wrapper(function), (), {}
    if _is_known_by_rule(function):
        names = (getattr(function, word, None) for word in ("__qualname__", "__name__"))  # ufuncs have the latter alone
        raise _without_rule(function, next(filter(None, names), type(function).__name__))
    try:
        return read(function).function, (), {}
    except NoSource as error:
        if not isinstance(function, type) and (lines := advice.for_function(function)):
            error.add_note(lines)
        raise
