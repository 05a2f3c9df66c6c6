"""Parameters of a function by its own code object: `__wrapped__` and `__signature__` may describe another function.

>>> def f(x, /, y=2.0, *rest, k=3.0, **more): ...
>>> parameters = Parameters.of(f.__code__)
>>> parameters.positional, parameters.variadic
(('x', 'y'), 'rest')
>>> parameters.bound(f, (1.0,), {"z": 5.0})
{'x': 1.0, 'y': 2.0, 'rest': (), 'k': 3.0, 'more': {'z': 5.0}}
>>> parameters.bound(f, (), {}) is None
True
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sgrad.ir import notes
from s2sgrad.runtime.asking import its

_MISSING = object()
_AS_WRITTEN = {
    option: type(default).FORWARDREF
    for option, default in (inspect.signature.__kwdefaults__ or {}).items()
    if option == "annotation_format"
}
"""Annotations with deferred evaluation are not evaluated: they may name what does not exist."""


def defaults_of(function: types.FunctionType) -> dict[str, Any]:
    """The defaults of a function's parameters.

    >>> defaults_of(lambda a, b=1.0, *, c=None: a)
    {'b': 1.0, 'c': None}
    """
    names, values = Parameters.of(function.__code__).positional, function.__defaults__ or ()
    return dict(zip(names[len(names) - len(values) :], values, strict=True)) | (function.__kwdefaults__ or {})


@dataclass(frozen=True)
class Parameters:
    """The names of a code object's parameters; the first `only` of the positional ones are positional-only."""

    positional: tuple[str, ...]
    only: int
    named: tuple[str, ...]
    variadic: str | None
    keyworded: str | None

    @classmethod
    def of(cls, code: types.CodeType) -> Parameters:
        """The parameters of a code object."""
        names, count, named = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
        rest = list(names[count + named :])
        variadic = rest.pop(0) if code.co_flags & inspect.CO_VARARGS else None
        keyworded = rest.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else None
        return cls(names[:count], code.co_posonlyargcount, names[count : count + named], variadic, keyworded)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order of the signature."""
        variadic = () if self.variadic is None else (self.variadic,)
        return self.positional + variadic + self.named + (() if self.keyworded is None else (self.keyworded,))

    def bound(self, function: Any, args: tuple, keywords: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments of a call by parameter, defaults included; None where the call does not match."""
        given = len(args)
        out: dict[str, Any] = dict(zip(self.positional, args, strict=False))
        if given > len(self.positional) and self.variadic is None:
            return None
        left = dict(keywords)
        defaults = function.__defaults__ or ()
        first = len(self.positional) - len(defaults)
        for k in range(given, len(self.positional)):
            name = self.positional[k]
            value = left.pop(name, _MISSING) if k >= self.only else _MISSING
            if value is _MISSING:
                if k < first:
                    return None
                value = defaults[k - first]
            out[name] = value
        if self.variadic is not None:
            out[self.variadic] = args[len(self.positional) :]
        for name in self.named:
            value = left.pop(name, _MISSING)
            if value is _MISSING:
                value = (function.__kwdefaults__ or {}).get(name, _MISSING)
                if value is _MISSING:
                    return None
            out[name] = value
        if self.keyworded is not None:
            if any(name in left for name in self.positional[self.only : given]):
                return None
            out[self.keyworded] = left
        elif left:
            return None
        return out


def signature(function: Any) -> inspect.Signature:
    """The signature of the function itself, ignoring what it wraps; of a method, without its receiver."""
    if isinstance(function, types.MethodType):
        own = signature(function.__func__)
        first, *others = own.parameters.values()
        return own if first.kind is first.VAR_POSITIONAL else own.replace(parameters=others)
    if isinstance(function, types.FunctionType) and {"__wrapped__", "__signature__"} & function.__dict__.keys():
        bare = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        bare.__kwdefaults__ = function.__kwdefaults__
        annotations = "__annotate__" if hasattr(function, "__annotate__") else "__annotations__"
        setattr(bare, annotations, getattr(function, annotations))
        return inspect.signature(bare, **_AS_WRITTEN)
    if hasattr(type(function), "compiled_for"):  # asking a gradient for what it wraps would generate its text
        noted: inspect.Signature = function.__signature__
        return noted
    called = getattr(type(function), "__call__", None)  # noqa: B004  (of an object of the user's, which is asked for nothing)
    if isinstance(called, types.FunctionType) and not (
        isinstance(function, type) or hasattr(type(function), "__signature__")
    ):
        return signature(types.MethodType(called, function))
    return inspect.signature(function, **_AS_WRITTEN)


def require_parameters(function: types.FunctionType, outputs: str | tuple[str, ...]) -> None:
    """TypeError where `outputs` is not a name or tuple of names, or names no parameter."""
    known = signature(function).parameters
    if not outputs or not isinstance(outputs, (str, tuple)) or not all(isinstance(p, str) for p in outputs):
        raise TypeError(f"outputs is the name of an argument that is written, or a tuple of names, not {outputs!r}")
    for p in (outputs,) if isinstance(outputs, str) else outputs:
        if p not in known:
            raise TypeError(
                f"{function.__name__} has no parameter named {p!r}, which `outputs` names; it has {', '.join(known)}"
            )


def is_method(function: types.FunctionType, positional: tuple[str, ...]) -> bool:
    """Whether a function defined in a class has the name of a receiver as its first parameter."""
    owner = function.__qualname__.rpartition(".")[0] if positional[:1] in (("self",), ("cls",)) else ""
    return bool(owner) and not owner.endswith("<locals>")


_UNSAID: dict[Any, tuple[str, ...]] = {np.dot: ("a", "b", "out"), np.concatenate: ("arrays", "axis", "out")}
_UNSAID_OF_UFUNCS = {
    "reduce": ("array", "axis", "dtype", "out"),
    "accumulate": ("array", "axis", "dtype", "out"),
    "reduceat": ("array", "indices", "axis", "dtype", "out"),
}
"""The positional parameters up to `out` of functions that have a signature only from NumPy 2.4 on."""


def by_position(primitive: Any) -> tuple[str, ...]:
    """The names of the arguments of a library function that may be passed by position.

    >>> by_position(np.dot), by_position(np.multiply), by_position(np.add.reduce)[:4]
    (('a', 'b', 'out'), ('', '', 'out'), ('array', 'axis', 'dtype', 'out'))
    """
    try:
        return _by_position(primitive)
    except TypeError:  # a function of ctypes is not hashable and has no signature
        return ()


_OF_UFUNCS = frozenset(("out", "where", "axes", "axis", "keepdims", "casting", "order", "dtype", "subok", "signature"))


def by_keyword(primitive: Any) -> frozenset[str] | None:
    """The names of the arguments of a library function that may be passed by keyword, as `**options` may hold them; None
    where its signature does not tell.

    >>> sorted(by_keyword(np.cumsum)), by_keyword(np.einsum)
    (['a', 'axis', 'dtype', 'out'], None)
    """
    if isinstance(primitive, np.ufunc):
        return _OF_UFUNCS
    try:
        parameters = _parameters(primitive)
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return frozenset(p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD))


def _parameters(primitive: Any) -> list[inspect.Parameter]:
    """The parameters of a library function, or of an object that is called; TypeError or ValueError where nothing tells."""
    called: Any = getattr(type(primitive), "__call__", None)  # noqa: B004  (an object of the user's is asked for nothing)
    own = isinstance(called, types.FunctionType)
    return [*inspect.signature(called if own else primitive).parameters.values()][own:]


@functools.lru_cache(maxsize=1024)
def _by_position(primitive: Any) -> tuple[str, ...]:
    if isinstance(primitive, np.ufunc):
        return ("",) * primitive.nin + ("out",) * primitive.nout
    try:
        parameters = _parameters(primitive)
    except (TypeError, ValueError):
        if isinstance(its(primitive, "__self__", None), np.ufunc):
            return _UNSAID_OF_UFUNCS.get(primitive.__name__, ())
        return _UNSAID.get(primitive, ())
    return tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


def require_fit(function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raise TypeError, in the words of Python, if the arguments do not fit the parameters of a function.

    >>> def f(x, rate=1.0): ...
    >>> require_fit(f, (1.0,), {"rat": 2.0})
    Traceback (most recent call last):
    TypeError: f() got an unexpected keyword argument 'rat': it has x, rate
    """
    name, own = its(function, "__name__", repr(function)), signature(function)
    every = own.parameters.values()
    for word in () if any(p.kind is p.VAR_KEYWORD for p in every) else keywords:
        if word not in own.parameters:
            raise TypeError(f"{name}() got an unexpected keyword argument {word!r}: it has {', '.join(own.parameters)}")
    try:
        own.bind(*args, **keywords)
    except TypeError as error:
        raise TypeError(f"{name}(): {error}") from None


def signature_of(args: gast.arguments, defaults: dict[str, Any]) -> inspect.Signature:
    """A signature for these parameters, to bind arguments as Python does."""
    kinds = [(inspect.Parameter.POSITIONAL_ONLY, args.posonlyargs), (inspect.Parameter.POSITIONAL_OR_KEYWORD, args.args),
             (inspect.Parameter.VAR_POSITIONAL, [args.vararg] if args.vararg else []),
             (inspect.Parameter.KEYWORD_ONLY, args.kwonlyargs),
             (inspect.Parameter.VAR_KEYWORD, [args.kwarg] if args.kwarg else [])]  # fmt: skip
    return inspect.Signature([
        inspect.Parameter((notes.KEYWORD.of(p) or p.id), kind, default=defaults.get(p.id, inspect.Parameter.empty))
        for kind, group in kinds
        for p in group
    ])  # fmt: skip


def placed(
    function: Any, args: Iterable[Any], words: dict[str, Any], default: Callable[[inspect.Parameter], Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, those by name moved to their positions where these are known: and the others by name.  Where
    a parameter between them is not given, `default` makes its argument.

    >>> placed(lambda x, y=2.0, z=3.0, *, k=1.0: x, [5.0], {"z": 7.0, "k": 0.5}, lambda p: p.default)
    ([5.0, 2.0, 7.0], {'k': 0.5})
    """
    given, words = list(args), dict(words)
    named = [p for p in signature(function).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for k, parameter in enumerate(named[len(given) :], len(given)):
        if parameter.name in words:
            given.append(words.pop(parameter.name))
        elif parameter.default is parameter.empty or words.keys().isdisjoint(p.name for p in named[k:]):
            break
        else:
            given.append(default(parameter))
    return given, words
