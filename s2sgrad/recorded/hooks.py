"""The hook: what a call in recorded code does, by the object that is called.

call(g, x)      g of the user  ->  g with its calls followed        call(np.sin, x)   ->  by its rule
call(Net, n)    ->  its `__init__` with its calls followed          call(rng.normal, ..)  ->  as it is, where no rule is
"""

from __future__ import annotations

import cmath
import collections
import dis
import functools
import itertools
import math
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from s2sgrad import standard
from s2sgrad.analysis.asked_objects import asks
from s2sgrad.analysis.libraries import is_library, is_ours
from s2sgrad.errors import NoRule, NoSource, S2SGradError, Unsupported
from s2sgrad.primitives import catalogue, libraries, spellings
from s2sgrad.recorded import arithmetic, arrays, guests, handed_over, honest, identity, made_objects, rewriting
from s2sgrad.recorded.applying import apply, born, of_number
from s2sgrad.recorded.callees import callee_of
from s2sgrad.recorded.guests import handles_stored
from s2sgrad.recorded.identity import ASKING
from s2sgrad.recorded.library import SPECIAL, applied, require_no_digits, require_no_text
from s2sgrad.recorded.making import vectorized
from s2sgrad.recorded.patterns import known
from s2sgrad.recorded.places import user_place
from s2sgrad.recorded.remembering import key_of
from s2sgrad.recorded.rewriting import FOLLOWED, followed
from s2sgrad.recorded.runs import OPEN, refuse
from s2sgrad.recorded.special_methods import follow_class, follow_classes_of, read_by
from s2sgrad.recorded.storing import permutes, writing_at
from s2sgrad.recorded.values import PLAIN, Array, Number, follows, handles_in, is_handle, items_of, lost, plain
from s2sgrad.rules import binding, table
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.subclasses import NUMBERS, plain_number
from s2sgrad.runtime.traits import traits
from s2sgrad.source import brings_gradient, read, underlying

TRANSFORMS: dict[type, Callable[..., Any]] = {}
"""How objects of these classes are called: gradients and what else differentiates; filled by `derivatives`."""
OWN_GRADIENTS: list[Callable[..., Any]] = []
"""How a function with a gradient of its own is called; filled by `derivatives`."""

OWN_PULLS: list[Callable[..., None]] = []
"""The adjoints of their entries, which the user wrote."""

_MAKING_HANDLES = frozenset({max, min, sorted, abs, pow, map, filter, zip, enumerate, reversed, list, tuple, dict, set})
"""Builtins that work on handles as they are, and return them."""
_MAPPING = _MAKING_HANDLES | {functools.reduce, itertools.starmap, itertools.accumulate}
"""Those whose arguments are called."""
_KEEPING = frozenset({list, dict, set, tuple, collections.deque, str, bytes})
"""Their methods keep their arguments as they are; only what is named by a keyword is called."""
_LISTED = (list, tuple, collections.deque)
_MOST = 4096  # copies of functions, before no more are kept
_ORDINARY: dict[int, tuple[str | None, int]] = {}
"""By the identity of its code: the module of a function of the user's, and how often rules had changed."""


def call(f: Any, /, *args: Any, **keywords: Any) -> Any:
    """`f(*args, **keywords)` in recorded code."""
    kind = type(f)
    if kind is types.FunctionType:
        if id(f.__code__) in FOLLOWED:
            return f(*args, **keywords)
        known = _known(f)
        return _of_function(f, args, keywords) if known is None else known[4].called(f, known[3], args, keywords)
    special = _BY_TYPE.get(kind)
    if special is not None:
        return special(f, args, keywords)
    if kind is str and f == "text":
        require_no_text(*args)
        return args[0]
    if isinstance(f, type):
        return _of_class(f, args, keywords)
    method = getattr(kind, "__call__", None)  # noqa: B004
    if not table.GIVEN and (copy := _followed_already(method)) is not None:
        return copy(f, *args, **keywords)
    for cls in kind.__mro__:
        if cls in TRANSFORMS and OPEN.runs:
            return TRANSFORMS[cls](f, args, keywords)
    return _of_object(f, args, keywords)


def _known(f: Any) -> tuple | None:
    """What was noted of a function in this run, where nothing has changed; its copy is the fourth of it, then its callee."""
    known: tuple | None = OPEN.copies.get(f)
    if known is None or known[0] is not f.__code__ or known[2] != table.changes:
        return None
    defaults, named = known[1]
    return known if f.__defaults__ is defaults and f.__kwdefaults__ is named else None


def _copy_of(f: Any) -> Any:
    """The function with its calls followed, where that was made in this run and nothing has changed; else None."""
    known = _known(f)
    return None if known is None else known[3]


def _followed_already(f: Any) -> Any:
    """A function of the user's with its calls followed, where that is known; else None."""
    return (f if id(f.__code__) in FOLLOWED else _copy_of(f)) if type(f) is types.FunctionType else None


def followed_once(f: Any) -> Any:
    """The function with its calls followed, noted while a run is open."""
    if (known := _copy_of(f)) is not None:
        return known
    copy = followed(f)
    if OPEN.runs and len(OPEN.copies) < _MOST:
        OPEN.copies[f] = f.__code__, (f.__defaults__, f.__kwdefaults__), table.changes, copy, callee_of(f)
    return copy


def _of_function(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    known = _ORDINARY.get(id(f.__code__))
    if known is not None and known == (f.__module__, table.changes) and not f.__dict__ and OPEN.runs:
        return _of_user(f, args, keywords)
    special = SPECIAL.get(f)
    if special is not None:
        return special(*args, **keywords)
    if brings_gradient(f) and OWN_GRADIENTS:
        return OWN_GRADIENTS[0](f, args, keywords)
    below = (f.__module__ or "").startswith(("s2sgrad.rules", "s2sgrad.runtime", "s2sgrad.solvers"))
    if not (below and _is_of_texts(f, args)) and (table.lookup(f) is not None or table.is_flat(f)):
        return applied(f, args, keywords)
    if below:
        return followed_once(f)(*args, **keywords)
    if is_ours(f):
        if traits(f).origin is not None:  # `exp(x)`, written for `grad(math.exp)`
            return followed_once(f)(*args, **keywords)
        return _of_ours(f, args, keywords)
    if not is_library(f):
        return _of_user(f, args, keywords)
    if _carries(args, keywords):
        stand_in = made_objects.instead(f, args, keywords, call, _read)
        return _read(f, args, keywords) if stand_in is None else stand_in
    return _as_it_is(f, args, keywords)


def _read(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A library's Python function, with its calls followed."""
    return _of_library(f, followed_once(f), args, keywords)


def _of_user(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A function of the user's: with its calls followed, or, where that pays, by its text."""
    copy = followed_once(f)
    if OPEN.runs:
        follow_classes_of([*args, *keywords.values(), *read_by(f)])
    if copy is not f:  # the code is kept, so that no other gets its identity
        _ORDINARY[id(f.__code__)] = f.__module__, table.changes
    elif not _needs_no_source(f, args):
        _refuse_without_source(f)
    known = OPEN.copies.get(f)
    return (callee_of(f) if known is None else known[4]).called(f, copy, args, keywords)


def _is_of_texts(f: Any, args: tuple) -> bool:
    """Whether the rule of a function of ours is for texts alone: a run sees what is stored, and which container is which."""
    own = (f.__module__ or "").startswith("s2sgrad.runtime")
    return _updates(f) or any(_is_container(a) and (own or any(map(_is_container, items_of(a)))) for a in args)


def _is_container(value: Any) -> bool:
    return type(value) not in PLAIN and isinstance(value, (list, tuple, dict))


@functools.cache
def _updates(f: Any) -> bool:
    """Whether a function that generated text calls updates its argument."""
    known = catalogue.of(f)
    return known.effect or bool(known.writes)


def _needs_no_source(f: Any, args: tuple) -> bool:
    """Whether a function is right as it stands: it calls nothing, a data class wrote it, or it is a part of Python."""
    if libraries.is_installed(f):  # frozen: the abstract classes of collections
        return True
    if f.__code__.co_filename == "<string>" and args and hasattr(type(args[0]), "__dataclass_fields__"):
        return True
    return not asks(f.__code__) and not any("CALL" in i.opname for i in dis.get_instructions(f.__code__))


def _refuse_without_source(f: Any) -> NoReturn:
    """NoSource: the calls in the function are not followed, so that `type(x)` or `float(text)` would be another."""
    try:
        read(f)
    except (NoSource, Unsupported) as error:
        refuse(error)
    refuse(NoSource(f"`{f.__name__}`: its calls cannot be followed: define it in a file, by `def`"))


def _of_ours(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A function of this package: those that recordings do not know take no handle."""
    if (own := underlying(f)) is not f:  # the guard of a rule of the user's
        return call(own, *args, **keywords)
    home = its(f, "__module__", None) or ""
    if not home.startswith(_KNOWING) and (handles_in(args, []) or handles_in(keywords, [])):
        name = its(f, "__name__", type(f).__name__)
        raise Refusal(None, f"`{name}` of s2sgrad is not followed inside of a function that is differentiated")
    return f(*args, **keywords)


_KNOWING = ("s2sgrad.recorded", "s2sgrad.api.recording", "s2sgrad.api.compiled_callees")


def _of_method(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    function = f.__func__
    if type(function) is types.FunctionType and not table.GIVEN:
        if id(function.__code__) in FOLLOWED:
            return f(*args, **keywords)
        if (copy := _copy_of(function)) is not None:
            return copy(f.__self__, *args, **keywords)
    if table.lookup(f) is not None:
        return applied(f, args, keywords)
    if (told := table.handed_on(f)) is not None and _carries(args, keywords):
        return _handing_on(*told, args, keywords)
    if type(function) is types.FunctionType and id(function.__code__) not in FOLLOWED:
        return _of_unfollowed_method(f, function, args, keywords)
    if type(function) is types.FunctionType:
        return f(*args, **keywords)
    if (own := permutes(f)) is not None:
        return own(f, *args, **keywords)
    return _as_it_is(f, args, keywords)


def _handing_on(primitive: Any, held: dict[Any, Any], args: tuple, keywords: dict[str, Any]) -> Any:
    """What a method of an object calls, with what the object holds behind its arguments."""
    behind = [held[k] for k in sorted(k for k in held if isinstance(k, int))]
    return call(primitive, *args, *behind, **{k: v for k, v in held.items() if isinstance(k, str)}, **keywords)


def _of_unfollowed_method(f: Any, function: types.FunctionType, args: tuple, keywords: dict[str, Any]) -> Any:
    """A method whose function is no copy of ours."""
    if brings_gradient(function) and OWN_GRADIENTS:
        return OWN_GRADIENTS[0](function, (f.__self__, *args), keywords)
    if table.lookup(function) is not None or not (is_library(function) or is_ours(function)):
        return call(function, f.__self__, *args, **keywords)
    if is_ours(function):
        return _of_ours(f, args, keywords)
    if _carries(args, keywords):
        return _of_library(function, followed_once(function), (f.__self__, *args), keywords)
    return _as_it_is(f, args, keywords)


def _of_partial(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    if f.func is arrays.method or f.func is call:
        return f(*args, **keywords)
    return call(f.func, *f.args, *args, **{**f.keywords, **keywords})


def _of_memo(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A memoized function remembers in each run what it gave in that."""
    if not OPEN.runs:
        return f(*args, **keywords)
    _, cache = OPEN.runs[-1].caches.setdefault(id(f), (f, {}))
    key = key_of((args, tuple(sorted(keywords.items()))))
    if key not in cache:
        cache[key] = call(f.__wrapped__, *args, **keywords)
    return cache[key]


def _of_class(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    special = SPECIAL.get(f)
    if special is not None:
        return special(*args, **keywords)
    stand_in = made_objects.instead(f, args, keywords, call, _instance) if _carries(args, keywords) else None
    return _instance(f, args, keywords) if stand_in is None else stand_in


def _instance(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """What a class makes."""
    follow_class(f)
    init: Any = f.__init__
    new: Any = f.__new__
    plain = type(f) is type and new is object.__new__ and type(init) is types.FunctionType
    if plain and (copy := _followed_already(init)) is not None:
        made = object.__new__(f)
        copy(made, *args, **keywords)
        return made
    if plain and id(init.__code__) not in FOLLOWED and not is_library(init):
        made = object.__new__(f)
        call(init, made, *args, **keywords)
        return made
    return _as_it_is(f, args, keywords)


def _of_ufunc(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    if len(args) == 1 and not keywords:
        kind = type(args[0])
        if kind is Number:
            return of_number(f, args[0])
        if kind is Array:
            return born(apply(f, args))
    if list in map(type, args) or tuple in map(type, args):  # rules are told arrays
        args = tuple([np.asarray(a) if isinstance(a, (list, tuple)) and not handles_in(a, []) else a for a in args])
    return applied(f, args, keywords)


def _special(f: Any) -> Any:
    """What is called in the place of a function, if anything."""
    try:
        return SPECIAL.get(f)
    except TypeError:  # a method of an object that has no hash
        return None


def _of_builtin(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    owner = f.__self__
    if owner is math and not keywords and 0 < len(args) < 3:
        return _of_math(f, args)
    if type(owner) in _KEEPING:
        return _of_container(f, owner, args, keywords)
    special = _special(f)
    if special is not None:
        return special(*args, **keywords)
    if f in _MAKING_HANDLES or isinstance(owner, (list, dict, set)):
        return f(*[ready(a, f) for a in args], **{k: ready(v, f) for k, v in keywords.items()})
    if isinstance(owner, np.ufunc) and f.__name__ == np.add.at.__name__:
        return writing_at(owner)(*args, **keywords)
    if (own := permutes(f)) is not None:
        return own(f, *args, **keywords)
    if isinstance(owner, (np.ndarray, np.generic)):
        return _of_plain_array(f, owner, args, keywords)
    if _is_told(f, owner):
        primitive = spellings.OF_MANY.get(f, f) if len(args) > 2 else f
        return applied(primitive, args, keywords)
    if _is_numeric(f, owner) and _carries(args, keywords):
        return applied(f, args, keywords)
    return _as_it_is(f, args, keywords)


def _of_container(f: Any, owner: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A method of a list, a dict, a text and their like."""
    if f.__name__ in ASKING and isinstance(owner, _LISTED):
        return ASKING[f.__name__](owner, *args)
    return f(*args, **{k: ready(v) for k, v in keywords.items()}) if keywords else f(*args)


def _of_math(f: Any, args: tuple) -> Any:
    """A function of one or two arguments of the module `math`."""
    kind = type(args[0])
    if len(args) == 1 and (kind is Number or kind is float or kind is int):
        return of_number(f, args[0]) if kind is Number else f(args[0])
    return applied(f, args, {}) if _is_told(f, None) or _carries(args, {}) else _as_it_is(f, args, {})


def _is_told(f: Any, owner: Any) -> bool:
    """Whether a function of C code has a rule, or is known to have no derivative; a ufunc would hand handles back to us."""
    return isinstance(owner, np.ufunc) or table.lookup(f) is not None or table.is_flat(f)


def _as_it_is(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """What a library computes without a rule: right, for it cannot look into handles, or an error."""

    def called(*args: Any, **keywords: Any) -> Any:
        return f(*[ready(a, f) for a in args], **{k: ready(v, f) for k, v in keywords.items()})

    carries = _carries(args, keywords) or any(map(follows, _held(f)))
    y = _of_library(f, called, args, keywords) if carries else called(*args, **keywords)
    require_no_digits(y, its(f, "__self__", None), *args)
    return born(y)


def _held(f: Any) -> list[Any]:
    """The handles in an object that is called, or whose method is."""
    owner = f.__self__ if type(f) is types.MethodType else f
    return [] if type(owner) in _BY_TYPE or type(owner) is types.FunctionType else handles_stored(owner)


def _of_library(f: Any, called: Callable[..., Any], args: tuple, keywords: dict[str, Any]) -> Any:
    """What a library computes of handles; NoRule, for the call of the user's, where it raises what it does not raise of
    values."""
    if OPEN.within:
        return called(*args, **keywords)
    OPEN.within = True
    try:
        return called(*args, **keywords)
    except (S2SGradError, MemoryError, RecursionError):
        raise
    except Exception as error:
        inside = _raised_in(error)
        if isinstance(error, Refusal):
            if inside is not True:
                raise
        elif inside is False or _raises(type(error), f, args, keywords):
            raise
        elif inside is None:
            lost(f"`{its(f, '__name__', f)}`, which is written in C,")
        name = binding.name_of(f)
        what = f"`{name}` reads the values of what carries a derivative, and {_unread(f)}"
        for run in OPEN.runs:
            run.refusal = None  # of a part of the library
        refuse(NoRule(what, user_place().place()))
    finally:
        OPEN.within = False


def _unread(f: Any) -> str:
    """Why a library's function has no derivative in a run, and what to do."""
    if table.has_own_operators(f):
        return "sparse arrays have derivatives in texts alone: `grad(f, strict=True)` says why this function has none"
    ways = "write the value with functions that have one, or give it one with `custom_gradient` or `defvjp`"
    return f"has no derivative rule: {ways}"


def _raised_in(error: Exception) -> bool | None:
    """Whether code of a library has raised an error, and not of the user's, which it called; None where C code did."""
    homes, trace = [], error.__traceback__
    while trace is not None:
        homes.append(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next
    home = next((h for h in reversed(homes) if not h.startswith("s2sgrad")), None)
    return None if home is None else libraries.is_installed(sys.modules.get(home, math))


def _raises(kind: type[Exception], f: Any, args: tuple, keywords: dict[str, Any]) -> bool:
    """Whether a call with values in the place of handles raises an error of this type, too."""
    if _held(f):
        return False
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            f(*map(plain, args), **{k: plain(v) for k, v in keywords.items()})
    except kind:
        return True
    except Exception:
        return False
    return False


def _carries(args: tuple, keywords: dict[str, Any]) -> bool:
    """Whether derivatives are carried by arguments."""
    return any(map(follows, handles_in(args, []))) or any(map(follows, handles_in(keywords, [])))


def _is_numeric(f: Any, owner: Any) -> bool:
    """Whether a function of C code computes with numbers, so that its rule is missing where it has none."""
    return owner is math or owner is cmath or (its(f, "__module__", "") or "").startswith("numpy")


def _of_plain_array(f: Any, owner: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A method of an array that is no handle."""
    if not (handles_in(args, []) or handles_in(keywords, [])):
        return _as_it_is(f, args, keywords)
    primitive = spellings.METHODS.get(f.__name__)
    if primitive is None:
        return f(*args, **keywords)
    return applied(primitive, (owner, *args), keywords)


def _of_descriptor(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A method by its class: `np.ndarray.sum(x)`, `list.append(xs, v)`."""
    if args and handles_in(args[:1], []) and its(f, "__objclass__", None) in (np.ndarray, float, np.generic):
        return call(getattr(args[0], f.__name__), *args[1:], **keywords)
    return _answered(f, args, f(*map(ready, args), **{k: ready(v) for k, v in keywords.items()}))


def _of_wrapper(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A special method of an object of a class of Python's: `super().__mul__(x)`."""
    return _answered(f, (f.__self__, *args), _of_object(f, args, keywords))


def _answered(f: Any, args: tuple, y: Any) -> Any:
    """What an operator of a number gives that is called by its name: where it takes a value, the handle answers."""
    of_numbers = y is NotImplemented and issubclass(f.__objclass__, NUMBERS)
    if not of_numbers or len(args) != 2 or not isinstance(args[0], NUMBERS) or not is_handle(args[1]):
        return y
    number, handle = args
    if getattr(plain_number(number), f.__name__)(plain(handle)) is NotImplemented:
        return y
    return getattr(handle, _answering(f.__name__))(plain_number(number))


def _answering(name: str) -> str:
    """The method that is asked after one of this name: `__rmul__` after `__mul__`, `__gt__` after `__lt__`."""
    if name in _COMPARING:
        return _COMPARING[name]
    word = name.strip("_")
    left = f"__{word[1:]}__"
    return left if word[0] == "r" and hasattr(float, left) else f"__r{word}__"


_COMPARING = {"__lt__": "__gt__", "__gt__": "__lt__", "__le__": "__ge__", "__ge__": "__le__", "__eq__": "__eq__",
              "__ne__": "__ne__"}  # fmt: skip


def _of_object(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    special = _special(f)
    if special is not None:
        return special(*args, **keywords)
    if table.lookup(f) is not None or table.is_flat(f):
        return applied(f, args, keywords)
    if type(f) is np.vectorize:
        return vectorized(call, f, args, keywords)
    stand_in = made_objects.instead(f, args, keywords, call, _by_its_class) if _carries(args, keywords) else None
    return _by_its_class(f, args, keywords) if stand_in is None else stand_in


def _by_its_class(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A call of an object by the function that its class has for that."""
    function = getattr(type(f), "__call__", None)  # noqa: B004
    if type(function) is types.FunctionType and not is_ours(f):
        if table.lookup(function) is not None or not is_library(function):
            return call(function, f, *args, **keywords)
        if _carries(args, keywords):
            return _of_library(function, followed_once(function), (f, *args), keywords)
        return _as_it_is(f, args, keywords)
    return _of_ours(f, args, keywords) if is_ours(f) else _as_it_is(f, args, keywords)


def _of_dispatched(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A function of NumPy's that dispatches."""
    special = SPECIAL.get(f)
    if special is not None:
        return special(*args, **keywords)
    told = known(f)
    return applied(f, args, keywords) if told.flat or told.rule is not None else _of_numpy(f, args, keywords)


def _of_numpy(f: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A function of NumPy's without a rule: where it is written in Python, its calls are followed."""
    body = its(f, "_implementation", f)
    if type(body) is types.FunctionType and _carries(args, keywords):
        with arrays.UNLESS_HIDDEN:
            return _of_library(f, followed_once(body), args, keywords)
    return applied(f, args, keywords)


def ready(value: Any, f: Any = None) -> Any:
    """An argument for C code or for a library, which may call it: a function with its calls followed."""
    kind = type(value)
    if kind is type:  # `map(float, ..)`; NumPy's functions take types of numbers
        return functools.partial(call, value) if value in SPECIAL and f in _MAPPING else value
    if kind is types.FunctionType:
        if id(value.__code__) in FOLLOWED:
            return value
        if table.lookup(value) is None and not is_library(value) and not is_ours(value) and not brings_gradient(value):
            copy = followed(value)
            return copy if copy is not value else functools.partial(call, value)
        return functools.partial(call, value)
    if kind is types.MethodType or kind is np.ufunc or kind is functools.partial:
        return functools.partial(call, value)
    if kind is types.BuiltinFunctionType and (_special(value) not in (None, value) or table.lookup(value) is not None):
        return functools.partial(call, value)
    return value


def _method_called(primitive: Any, handle: Any, args: tuple, keywords: dict[str, Any], method: Any) -> Any:
    return applied(primitive, (handle, *args), keywords)


_DISPATCHED = type(np.sum)  # of NumPy's functions, where it is a type of its own
_BY_TYPE: dict[type, Callable[..., Any]] = {
    _DISPATCHED: _of_dispatched,
    types.MethodType: _of_method,
    functools.partial: _of_partial,
    functools._lru_cache_wrapper: _of_memo,
    type: _of_class,
    np.ufunc: _of_ufunc,
    types.BuiltinFunctionType: _of_builtin,
    types.MethodDescriptorType: _of_descriptor,
    types.WrapperDescriptorType: _of_descriptor,
    types.MethodWrapperType: _of_wrapper,
}
for _tool in (np.fromiter, np.apply_along_axis, np.piecewise):
    SPECIAL[_tool] = functools.partial(call, standard.TOOLS[_tool])
SPECIAL.update(identity.FUNCTIONS)
arrays.CALLED.update(call=call, method=_method_called)
guests.CALLED.update(call=call)
honest.CALLED.update(call=call)
handed_over.CALLED.update(call=call)
rewriting.set_hook(call)
arithmetic.install()
arrays.install()
