"""Functions of Python and NumPy that handles need help with: those that make arrays, write them, or look behind handles.

    np.zeros_like(x)     ->  an array of the run, without a derivative       np.copyto(y, x)  ->  y[...] = x
    type(x)              ->  the class of the value                          sum(xs)          ->  by its rule

`SPECIAL` maps each function to what is called in its place.
"""

from __future__ import annotations

import ast
import copy
import decimal
import fractions
import io
import json
import operator
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sgrad.ir.signatures import by_position, signature
from s2sgrad.primitives import catalogue, libraries
from s2sgrad.primitives.buffers import leaves_out, sums_rows
from s2sgrad.primitives.spellings import is_off, overwrites
from s2sgrad.recorded import arrays
from s2sgrad.recorded.applying import apply, as_scalar, born, innermost
from s2sgrad.recorded.guests import as_array, handles_stored, require_no_guest
from s2sgrad.recorded.handed_over import as_it_is, by_args
from s2sgrad.recorded.memory import write
from s2sgrad.recorded.patterns import known
from s2sgrad.recorded.runs import printed, refuse
from s2sgrad.recorded.states import State
from s2sgrad.recorded.values import PLAIN, Array, Number, bottom, follows, handles_in, is_handle, lost, mapped, plain
from s2sgrad.rules import table
from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.guests import acts_as_array

SPECIAL: dict[Any, Callable[..., Any]] = {}


def instead_of(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what is called in the place of these functions."""

    def register(own: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            SPECIAL[function] = own
        return own

    return register


_FROM_TEXT = frozenset(record.function for record in catalogue.records() if record.from_text)
_USUAL = PLAIN | {Array, Number}
_USUAL_OR_LISTED = _USUAL | {list, tuple}
_TREATED = frozenset({"out", "dtype", "where"})

# --- calls by the rule table -------------------------------------------------------------------------------------------


def applied(primitive: Any, args: tuple, keywords: dict[str, Any]) -> Any:
    """A call of a primitive; with `out`, its result is stored there."""
    plainly = not keywords or (_TREATED.isdisjoint(keywords) and not any(map(overwrites, keywords)))
    usual = _USUAL if type(primitive) is np.ufunc else _USUAL_OR_LISTED
    if plainly and usual.issuperset(map(type, args)) and len(args) <= known(primitive).lead:
        return _parsed(primitive, apply(primitive, args, keywords), args)
    args = _with_arrays(primitive, args)
    _require_followed(primitive, args, keywords)
    args, keywords, states = _handed_over(primitive, args, keywords)
    if any(isinstance(a, Iterator) for a in args):
        args = tuple([list(a) if isinstance(a, Iterator) else a for a in args])
    args, keywords, out = _apart(primitive, args, keywords)
    if not (handles_in(args, []) or is_handle(out) or handles_in(keywords, [])):
        return _parsed(primitive, primitive(*args, **keywords, **({} if out is None else {"out": out})), args)
    args, keywords = _in_double_precision(primitive, args, keywords)
    if out is None:
        return _once_stateless(born(apply(primitive, args, keywords)), states)
    if type(out) is not Array:
        return _into_plain(primitive, args, keywords, out)
    where = keywords.pop("where", True) if isinstance(primitive, np.ufunc) else True
    if where is not True:
        return _where(primitive, args, keywords, out, np.broadcast_to(bottom(where), np.shape(bottom(out))))
    y = apply(primitive, args, keywords)
    _require_apart(primitive, args, keywords, out, y)
    write(out, ..., y)
    return out


def _with_arrays(primitive: Any, args: tuple) -> tuple:
    """The arguments, of which NumPy makes arrays by `__array__`; `math.fsum` reads the items of such an object."""
    makes = isinstance(primitive, np.ufunc) or libraries.is_numeric(primitive)
    return tuple(map(_as_array, args)) if makes else args


def _is_listed(value: Any) -> bool:
    """Whether NumPy takes a value for a list of items."""
    return isinstance(value, (list, tuple)) and not acts_as_array(type(value))


def _as_array(value: Any) -> Any:
    """What an object gives NumPy for an array, by `__array__`, which of a number NumPy does not ask."""
    itself = isinstance(value, (np.ndarray, np.generic, type, float, int, complex))
    if type(value) in _USUAL_OR_LISTED or itself or not has(value, "__array__"):
        return value
    return value if libraries.is_numeric(type(value)) else as_array(value)  # a polynomial of NumPy's stays one


def _parsed(primitive: Any, y: Any, args: tuple) -> Any:
    """The result of a primitive, which may not be numbers off a text that shows what is followed."""
    if primitive in _FROM_TEXT:
        require_no_digits(y, *args)
    return born(y)


def _require_followed(primitive: Any, args: tuple, keywords: dict[str, Any]) -> None:
    """Refuse an option that lets a library write into an array behind the record, and a function on rows without a rule.
    Likewise an object that holds a handle where a rule reads a constant, and arrays of other libraries."""
    rule = known(primitive).rule
    on_rows = isinstance(primitive, np.ufunc) and primitive.signature is not None
    if on_rows and rule is None and handles_in(args, []):
        lost(f"`{primitive.__name__}`, which has no derivative rule,")
    given = [*zip(_positions(primitive), args, strict=False), *keywords.items()]
    if rule is not None:
        _require_constant(primitive, rule, given)
    option = next((name for name, value in given if overwrites(name) and not is_off(name, plain(value))), None)
    if option is not None and handles_in(args, []):
        name = its(primitive, "__name__", primitive)
        refuse(Refusal(None, f"`{option}` lets `{name}` write into its argument, which cannot be followed: leave it out"))
    for value in (*args, *keywords.values()) if handles_in((*args, *keywords.values()), []) else ():
        require_no_guest(value)


def _require_constant(primitive: Any, rule: Any, given: list[tuple[str, Any]]) -> None:
    """Refuse a handle in an object that a rule reads as a constant."""
    for name, value in given:
        if name in rule.constants and type(value) not in _USUAL and any(map(follows, handles_stored(value))):
            lost(f"`{primitive.__name__}`, which reads a `{type(value).__name__}`")


def _once_stateless(y: Any, states: list[State]) -> Any:
    """The result of a call, after which what the functions that it called read is the same."""
    for state in states:
        state.is_called = False
        state.require_unwritten()
        state.require_same()
    return y


def _holds_function(value: Any) -> bool:
    """Whether a value is a function, or a container of such."""
    if isinstance(value, (list, tuple, dict)):
        return any(map(_holds_function, value.values() if isinstance(value, dict) else value))
    return callable(value) and not is_handle(value)


def _handed_over(primitive: Any, args: tuple, keywords: dict[str, Any]) -> tuple[tuple, dict[str, Any], list[State]]:
    """The arguments, where a function among them that a library calls takes what it closes over by `args=`, or stays as it
    is now; and what functions read that must not change."""
    rule = known(primitive).rule
    if rule is None or not libraries.is_numeric(primitive):
        return args, keywords, []
    names = _positions(primitive)
    given = dict(zip(names, args, strict=False)) | keywords
    functions = {n: v for n, v in given.items() if n in rule.differentiable and callable(v) and not is_handle(v)}
    if not functions:
        return args, keywords, []
    run = innermost(handles_in([*args, *keywords.values()], []))
    said = f"`{primitive.__name__}`, where the run is recorded, gives no gradient"
    others = any(_holds_function(v) for n, v in given.items() if n not in functions)  # which `args=` is handed to, too
    takes = "args" in signature(primitive).parameters and not others
    found, states = by_args(said, functions, given.get("args"), takes), list[State]()
    if found is not None:
        given |= {**found[0], "args": found[1]}
        states = [found[2]]
    elif run is not None:
        given |= {name: as_it_is(function) for name, function in functions.items()}
        states = [_state_of(given[name], function) for name, function in functions.items()]
    if run is not None:
        states += [State(given["args"])] if "args" in given else []
        run.states += states
    lead = names[: len(args)]
    return tuple([given[n] for n in lead]), {n: v for n, v in given.items() if n not in lead}, states


def _state_of(made: Any, function: Any) -> State:
    """What a function reads, which stands for another one."""
    state = State(made)
    if made is not function:
        state.require_no_numbers_of_objects()
    return state


def _require_apart(primitive: Any, args: tuple, keywords: dict[str, Any], out: Any, y: Any) -> None:
    """Refuse a call that reads what it has written already: its value in shared memory is another one."""
    root = out.root
    if isinstance(primitive, np.ufunc) and not sums_rows(primitive):  # NumPy copies what overlaps
        return
    if not any(type(h) is Array and h.root is root for h in handles_in(args, [])):
        return
    memory = bytearray(root.owner.tobytes("A"))

    def beside(h: Any) -> Any:
        b = bottom(h)
        if type(h) is not Array or h.root is not root or not b.size:
            return b
        return np.ndarray(b.shape, b.dtype, memory, root.offset(b) * b.itemsize, b.strides)

    written = beside(out)
    primitive(*[mapped(a, beside) for a in args], **{k: plain(v) for k, v in keywords.items()}, out=written)
    if not np.array_equal(written, plain(y), equal_nan=True):
        refuse(Refusal(None, "an argument shares memory with one that is written: pass a copy of it"))


def _apart(primitive: Any, args: tuple, keywords: dict[str, Any]) -> tuple[tuple, dict[str, Any], Any]:
    """(arguments, keywords, `out`), wherever it stands."""
    out = keywords.get("out")
    if "out" in keywords:
        keywords = {k: v for k, v in keywords.items() if k != "out"}
    if isinstance(primitive, np.ufunc):
        args, behind = args[: primitive.nin], args[primitive.nin :]
        out = (behind if primitive.nout > 1 else behind[0]) if behind else out
        args = tuple([apply(np.array, (a,)) if _is_listed(a) else a for a in args])
    elif len(args) > 1 and "out" in (names := _positions(primitive)) and len(args) > (at := names.index("out")):
        out = args[at]
        keywords = {**keywords, **dict(zip(names[at + 1 :], args[at + 1 :], strict=False))}
        args = args[:at]
    out = None if leaves_out(primitive) else out
    if isinstance(primitive, np.ufunc) and primitive.nout > 1 and out is not None and handles_in([*args, out], []):
        refuse(Refusal(None, "`out=` of several results is not differentiated: assign the results to names"))
    return args, keywords, out[0] if isinstance(out, tuple) and len(out) == 1 else out


def _where(primitive: Any, args: tuple, keywords: dict[str, Any], out: Any, mask: np.ndarray) -> Any:
    """A ufunc at the places of a mask."""
    exact = bottom(out).copy()
    primitive(*map(plain, args), **keywords, out=exact, where=mask)
    parts = [apply(np.broadcast_to, (a,), {"shape": mask.shape})[mask] if np.ndim(plain(a)) else a for a in args]
    write(out, mask, apply(primitive, tuple(parts), keywords))
    bottom(out)[...] = exact  # as NumPy computes it, to the last digit
    return out


def _in_double_precision(primitive: Any, args: tuple, keywords: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments without a `dtype` that is that of the operands anyhow."""
    rule = table.lookup(primitive)
    if rule is None or "dtype" in rule.keywords or "dtype" in rule.positional or (len(args) < 3 and "dtype" not in keywords):
        return args, keywords
    names = _positions(primitive)
    if "dtype" in names and len(args) > (at := names.index("dtype")):
        keywords = {**dict(zip(names[at:], args[at:], strict=False)), **keywords}
        args = args[:at]
    if "dtype" in keywords:
        dtype = keywords["dtype"]
        kinds = {getattr(bottom(h), "dtype", np.dtype(float)) for h in handles_in(args, [])}
        if dtype is None or kinds == {np.dtype(dtype)}:
            keywords = {k: v for k, v in keywords.items() if k != "dtype"}
    return args, keywords


def _positions(primitive: Any) -> tuple[str, ...]:
    return by_position(primitive) or ()


def _into_plain(primitive: Any, args: tuple, keywords: dict[str, Any], out: Any) -> Any:
    y = apply(primitive, args, keywords)
    held = handles_in(y, [])
    if any(type(h) is Number or h.root.active for h in held):
        lost("a result stored by `out` into an array that was made outside")
    out[...] = plain(y)
    return out


# --- Python ------------------------------------------------------------------------------------------------------------


@instead_of(type)
def class_of(*args: Any, **keywords: Any) -> Any:
    """The class of the value; or a new class."""
    return args[0].__class__ if len(args) == 1 else type(*args, **keywords)


@instead_of(float)
def as_float(x: Any = 0.0) -> Any:
    """A number of Python's."""
    if is_handle(x):
        return apply(float, (x if type(x) is Number else arrays.method(x, "item"),))
    require_no_text(x)
    own = getattr(type(x), "__float__", None)
    return arrays.CALLED["call"](own, x) if type(own) is types.FunctionType else float(x)


@instead_of(complex)
def as_complex(*parts: Any, **named: Any) -> Any:
    """A complex number of Python's."""
    parts = (*parts, *named.values()) if named.keys() <= {"imag"} or not parts else parts
    if named and "imag" in named and len(parts) == 1:
        parts = (0.0, *parts)
    if not handles_in(parts, []):
        require_no_text(parts[0] if parts else 0.0)
        return complex(*parts)
    parts = tuple([p if type(p) is not Array else arrays.method(p, "item") for p in parts])
    return apply(complex, (*parts, 0.0)[:2])


@instead_of(np.float64)
def as_float64(x: Any = 0.0) -> Any:
    """A number of NumPy's."""
    if isinstance(x, (list, tuple)) and handles_in(x, []):
        x = apply(np.array, (x,))
    if type(x) is Array and np.ndim(bottom(x)):
        return x if bottom(x).dtype == np.float64 else arrays.method(x, "astype", np.float64)
    if is_handle(x):
        return as_scalar(as_float(x))
    require_no_text(x)
    return np.float64(x)


@instead_of(sum)
def total(items: Any, start: Any = 0) -> Any:
    """The sum, by the rule where handles are among the items: its value is that of Python's, rounding included."""
    listed: Any = items if isinstance(items, (list, tuple)) or is_handle(items) else list(items)
    if type(listed) is Array or not handles_in((listed, start), []):
        if type(listed) is not Array:
            return sum(listed, start)
        array: Any = listed
        listed = list(array)
    if all(type(v) is Number or isinstance(v, (float, int)) for v in listed) and isinstance(bottom(start), (float, int)):
        return apply(sum, (list(listed),) if type(start) is int and start == 0 else (list(listed), start))
    for item in listed:
        start = start + item
    return start


def require_no_text(x: Any) -> None:
    """Refuse to make a number of a text where one may show what is followed."""
    if isinstance(x, (str, bytes, bytearray)) and printed():
        lost("a number read from a text that may show the digits")


def require_no_digits(y: Any, *sources: Any) -> None:
    """Refuse numbers that a library made of texts, files or arrays of texts, where these may show what is followed."""
    if printed() and any(map(_shows, sources)) and _has_floats(y):
        lost("a number read from a text that may show the digits")


def _shows(source: Any) -> bool:
    if isinstance(source, np.ndarray):
        return source.dtype.kind in "USVO"
    if type(source) in (list, tuple):
        return any(map(_shows, source))
    return isinstance(source, (str, bytes, bytearray, io.IOBase, os.PathLike))


def _has_floats(y: Any) -> bool:
    if isinstance(y, np.ndarray):
        return bottom(y).dtype.kind in "fc"
    if isinstance(y, (list, tuple, dict)):
        return any(map(_has_floats, y.values() if isinstance(y, dict) else y))
    return isinstance(y, (float, np.floating, decimal.Decimal, fractions.Fraction))


def _reading(function: Any) -> Callable[..., Any]:
    def read(*args: Any, **keywords: Any) -> Any:
        require_no_text(next(iter((*args, *keywords.values())), None))
        return function(*args, **keywords)

    return read


_function: Any
for _function in (ast.literal_eval, json.loads, np.fromstring, float.fromhex):
    SPECIAL[_function] = _reading(_function)
for _function in (
    copy.copy,
    copy.deepcopy,
    len,
    range,
    repr,
    str,
    round,
    isinstance,
    issubclass,
    operator.setitem,
    hasattr,
    getattr,
    setattr,
    delattr,
    iter,
    next,
):
    SPECIAL[_function] = _function


@instead_of(print)
def shown(*args: Any, **keywords: Any) -> None:
    """Print values: perhaps into a text that is read again."""
    for h in handles_in(args, []):
        h.run.printed = True
    print(*map(plain, args), **keywords)
