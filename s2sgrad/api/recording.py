"""Derivatives of what is recorded: gradients, tangents and matrices, where the run alone knows the function.

    grad(f)(x), f with what no text can say     ->     f runs on handles; the gradient is the sweep over its record

Inside of a recorded function they are nested recordings, and what they give is followed.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad import pullbacks, runtime
from s2sgrad.api import compiled_callees, own_recorded  # noqa: F401  (functions with a text, and with a gradient of their own)
from s2sgrad.api.arguments import has_floats
from s2sgrad.api.assembling import misfit
from s2sgrad.api.forward import Jvp
from s2sgrad.api.gradient import Gradient
from s2sgrad.api.matrices import Hessian, Matrix, ValueAndJacobian
from s2sgrad.api.products import Hvp
from s2sgrad.driver import cache
from s2sgrad.errors import Unsupported
from s2sgrad.errors.raised import in_a_text
from s2sgrad.ir.signatures import signature
from s2sgrad.recorded.applying import apply
from s2sgrad.recorded.derivatives import Recorded, is_float
from s2sgrad.recorded.hooks import TRANSFORMS, call
from s2sgrad.recorded.library import instead_of
from s2sgrad.recorded.pairs import require_unwritten
from s2sgrad.recorded.values import bottom, handles_in, is_complex, is_handle, plain
from s2sgrad.runtime.asking import its
from s2sgrad.runtime.checks import holds_complex, holds_complex_inside
from s2sgrad.runtime.results import ComplexResult, NoResult, without_floats
from s2sgrad.runtime.structure import ONES, filled, leaves, ones, rebuilt


def places(
    g: Gradient, args: tuple, keywords: dict[str, Any], names: tuple[str, ...]
) -> tuple[tuple, dict, list[int | str]]:
    """(arguments by position, keywords, where the parameters of these names are among them)."""
    function = g._request.function
    if type(function) is types.FunctionType and not keywords and not function.__dict__:  # the usual case
        known = cache.of(function.__code__).parameters
        if known.names == known.positional and len(args) == len(known.positional):
            return args, {}, [known.positional.index(name) for name in names]
    bound = signature(g._request.function).bind(*args, **keywords)
    bound.apply_defaults()
    positional, named = bound.args, bound.kwargs
    found: list[int | str] = []
    order = [p for p in bound.arguments if p not in named]
    for name in names:
        bare, _, item = name.partition("[")
        if bare in named:
            found.append(bare)
        else:
            found.append(order.index(bare) + (int(item[:-1]) if item else 0))
    return positional, named, found


def gradient_called(g: Gradient, args: tuple, keywords: dict[str, Any]) -> Any:
    """What a call of a gradient gives, by a recording."""
    return gradient(g, *g._request.lead, *args, **{**g._request.keywords, **keywords})


def gradient(g: Gradient, /, *args: Any, **keywords: Any) -> Any:
    """What a gradient gives, by a recording; with the arguments that are bound to it."""
    options = g._request.options
    seed = g._request.word.taken(keywords) if keywords else None
    args, keywords, wanted = places(g, args, keywords, g._request.wrt())
    outputs = (options.outputs,) if isinstance(options.outputs, str) else options.outputs
    ends = None if outputs is None else tuple(places(g, args, keywords, outputs)[2])
    recorded = Recorded(_function(g), args, keywords, tuple(wanted), ends)
    seed = _seed(g, recorded.value, g._seed if seed is None else seed)
    bars = recorded.pullback(ONES if seed is None else seed)
    bars = [_like(x, bar) for x, bar in zip(recorded.primals, bars, strict=True)]
    if options.conjugate:
        bars = [_conjugated(bar) for bar in bars]
    result: Any = bars[0]
    if options.several or options.listed:
        result = list(bars) if options.listed else tuple(bars)
    value = recorded.value[0] if isinstance(options.outputs, str) else recorded.value
    if options.value:
        return value, result
    return (result, value[1]) if options.has_aux else result


def _seed(g: Gradient, value: Any, seed: Any) -> Any:
    """The cotangent of what the function returned; None for ones."""
    single = isinstance(g._request.options.outputs, str)
    differentiated = value[0] if single or g._request.options.has_aux else value
    if seed is None and not g._request.options.holomorphic and holds_complex(plain(differentiated)):
        raise ComplexResult
    if seed is not None and not _has_handles(differentiated, seed):
        seed = runtime.seed_like(plain(differentiated), seed)
    elif seed is None and (what := without_floats(plain(differentiated), type(differentiated) is int)):
        raise NoResult(what, g._request.function.__name__)
    if g._request.options.has_aux:
        return _ones(differentiated) if seed is None else seed, _zeros(value[1])
    return (seed,) if single and seed is not None else seed


def _function(g: Gradient) -> Any:
    return g._request.function if g._request.inner is None else functools.partial(gradient, g._request.inner)


def _has_handles(*values: Any) -> bool:
    return bool(handles_in(values, []))


def _ones(value: Any) -> Any:
    if isinstance(bottom(value), np.ndarray) or not isinstance(value, (list, tuple, dict)):
        return ones(bottom(value))
    return rebuilt(value, _ones)


def _conjugated(bar: Any) -> Any:
    if not _has_handles(bar):
        return runtime.conjugated(bar)
    return apply(np.conjugate, (bar,)) if is_handle(bar) else rebuilt(bar, _conjugated)


def _zeros(value: Any) -> Any:
    if is_handle(value) or not isinstance(value, (list, tuple, dict)):
        return runtime.zeros(bottom(value))
    return rebuilt(value, _zeros)


def _like(x: Any, bar: Any) -> Any:
    """A cotangent as the gradient of an argument."""
    return bar if _has_handles(x, bar) else runtime.like(x, bar)


# --- tangents ------------------------------------------------------------------------------------------------------------


def tangent(f: Any, args: tuple, keywords: dict[str, Any], wanted: list[int], dots: list[Any]) -> tuple[Any, Any]:
    """The value and its tangent."""
    recorded = Recorded(f, args, keywords, tuple(wanted))
    return recorded.value, recorded.tangent(dots)


def jvp(j: Jvp, args: tuple, keywords: dict[str, Any]) -> Any:
    """What `jvp(f)` gives, by a recording."""
    return _along(j, *args, **keywords)


def _along(j: Jvp, primals: Any, tangents: Any, **keywords: Any) -> Any:
    wanted = [k for k, t in enumerate(tangents) if t is not None]
    value, dot = tangent(j.primal, tuple(primals), keywords, wanted, [tangents[k] for k in wanted])
    return (value[0], dot[0], value[1]) if j.has_aux else (value, dot) if j._options.value else dot


def hvp(h: Hvp, args: tuple, keywords: dict[str, Any]) -> Any:
    """What `hvp(f)` gives, by nested recordings."""
    primals, tangents = args
    wanted = [k for k, t in enumerate(tangents) if t is not None]
    argnums: Any = tuple(wanted) if len(wanted) > 1 else wanted[0]
    inner = _gradient_of(h.primal, argnums)
    return tangent(inner, tuple(primals), keywords, wanted, [tangents[k] for k in wanted])[1]


def _gradient_of(f: Any, argnums: Any) -> Callable[..., Any]:
    """The gradient of a function, recorded at each call."""

    def recorded_gradient(*args: Any, **keywords: Any) -> Any:
        numbers = (argnums,) if isinstance(argnums, int) else argnums
        bars = Recorded(f, args, keywords, numbers).pullback()
        return bars[0] if isinstance(argnums, int) else tuple(bars)

    return recorded_gradient


# --- matrices ------------------------------------------------------------------------------------------------------------


def matrix(m: Matrix, args: tuple, keywords: dict[str, Any]) -> Any:
    """A Jacobian or a Hessian: the function runs once, and each row is a sweep."""
    args, keywords = m._by_position(args, keywords)
    names = m._names() if any(isinstance(a, str) for a in m._asked) else []
    wanted = tuple(names.index(a) if isinstance(a, str) else a % len(args) for a in m._asked)
    for k in wanted:
        if (why := misfit(plain(args[k]), m.holomorphic)) is not None:
            raise Unsupported(f"a matrix in an argument {why}")
    f = _gradient_of(m.primal, wanted) if isinstance(m, Hessian) else m.primal
    recorded = Recorded(f, args, keywords, wanted)
    value, aux = recorded.value if m.has_aux else (recorded.value, None)
    single = not isinstance(m._argnums, tuple)
    blocks = _blocks(recorded, value, value)
    shown = _shown(value, blocks, single)
    if isinstance(m, Hessian) and single:
        shown = shown[0]
    if isinstance(m, ValueAndJacobian):
        return recorded.value, shown
    return (shown, aux) if m.has_aux else shown


def _blocks(recorded: Recorded, whole: Any, value: Any) -> list[Any]:
    """For each leaf of the value, the matrices in the arguments."""
    parts = leaves(value)
    out = []
    for number, leaf in enumerate(parts):
        shape = np.shape(bottom(leaf))
        rows = []
        for place in np.ndindex(shape):
            seeds: list[Any] = [np.zeros(np.shape(bottom(other)))[()] for other in parts]
            if shape:
                seeds[number][place] = 1.0
            else:
                seeds[number] = 1.0
            row = recorded.pullback(filled(whole, iter(seeds)))
            if is_complex(leaf) and not any(map(holds_complex_inside, plain(recorded.primals))):
                seeds[number] = seeds[number] * -1j
                row = [_both(a, b) for a, b in zip(row, recorded.pullback(filled(whole, iter(seeds))), strict=True)]
            rows.append(row)
        out.append([_stacked([row[k] for row in rows], shape) for k in range(len(recorded.primals))])
    return out


def _both(real: Any, imaginary: Any) -> Any:
    """The derivative of a complex number in real ones, of those of its parts."""
    if is_handle(real) or not isinstance(real, (list, tuple, dict)):
        return real + 1j * imaginary
    return rebuilt(real, _both, imaginary)


def _stacked(rows: list[Any], shape: tuple[int, ...]) -> Any:
    """The rows of one argument as a matrix, with its structure."""
    first = rows[0]
    if not is_handle(first) and isinstance(first, (list, tuple, dict)):
        keys = list(first) if isinstance(first, dict) else range(len(first))
        parts = {key: _stacked([row[key] for row in rows], shape) for key in keys}
        return rebuilt(first, lambda _, item: item, parts if isinstance(first, dict) else list(parts.values()))
    if not shape:
        return first
    stacked = apply(np.stack, (list(rows),))
    return apply(np.reshape, (stacked, shape + np.shape(bottom(first))))


def _shown(value: Any, blocks: list[Any], single: bool) -> Any:
    ready = iter([parts[0] if single else tuple(parts) for parts in blocks])
    return filled(value, ready)


# --- functions that take a function ----------------------------------------------------------------------------------------


@instead_of(pullbacks.vjp, runtime.vjp)
def vjp(f: Any, /, *primals: Any, **keywords: Any) -> Any:
    """`vjp` in recorded code."""
    has_aux = "has_aux" in keywords and not pullbacks.takes(f, "has_aux") and keywords.pop("has_aux")
    wanted = tuple(k for k, p in enumerate(primals) if _may_carry(p))
    recorded = Recorded(f, primals, keywords, wanted)
    aux = recorded.value[1] if has_aux else None

    def pullback(y_bar: Any) -> tuple:
        seed = (y_bar, _zeros(aux)) if has_aux else y_bar
        bars = dict(zip(wanted, recorded.pullback(seed), strict=True))
        return tuple([bars[k] if k in bars else runtime.zeros(p) for k, p in enumerate(primals)])

    return (recorded.value[0], pullback, aux) if has_aux else (recorded.value, pullback)


def _may_carry(p: Any) -> bool:
    if is_handle(p) or is_float(p):
        return True
    return not isinstance(p, (int, str, bool, type(None))) and not callable(p) and (_has_handles(p) or has_floats(p))


@instead_of(pullbacks.linearize)
def linearize(f: Any, /, *primals: Any, **keywords: Any) -> Any:
    """`linearize` in recorded code."""
    wanted = tuple(k for k, p in enumerate(primals) if _may_carry(p))
    recorded = Recorded(f, primals, keywords, wanted)

    def along(*tangents: Any) -> Any:
        return recorded.tangent([_zeros(primals[k]) if tangents[k] is None else tangents[k] for k in wanted])

    return recorded.value, along


@instead_of(pullbacks.jvp)
def jvp_of(function: Any = None, primals: Any = None, tangents: Any = None, **options: Any) -> Any:
    """`jvp` in recorded code."""
    if function is None:
        return functools.partial(jvp_of, **options)
    made = pullbacks.jvp(function, **options)
    return made if primals is None else call(made, primals, tangents)


@instead_of(pullbacks.hvp)
def hvp_of(function: Any = None, primals: Any = None, tangents: Any = None, **options: Any) -> Any:
    """`hvp` in recorded code."""
    if function is None:
        return functools.partial(hvp_of, **options)
    made = pullbacks.hvp(function, **options)
    return made if primals is None else call(made, primals, tangents)


def along(g: Any, args: tuple, tangents: tuple, keywords: dict[str, Any]) -> Any:
    """The value and the tangent of a function along those of its argnums, with the arguments that are bound to it."""
    args, keywords, wanted = places(g, args, keywords, g._request.wrt())
    options = g._request.options
    outputs = (options.outputs,) if isinstance(options.outputs, str) else options.outputs
    ends = None if outputs is None else tuple(places(g, args, keywords, outputs)[2])
    recorded = Recorded(_function(g), args, keywords, tuple(wanted), ends)
    if in_a_text():
        require_unwritten(recorded, its(g.primal, "__name__", type(g.primal).__name__))
    value, dot = recorded.value, recorded.tangent(list(tangents))
    if isinstance(options.outputs, str):
        value, dot = value[0], dot[0]
    if options.has_aux:
        return (value[0], dot[0], value[1]) if options.value else (dot[0], value[1])
    return (value, dot) if options.value else dot


TRANSFORMS.update({Gradient: gradient_called, Jvp: jvp, Hvp: hvp, Matrix: matrix})
