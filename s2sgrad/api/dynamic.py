"""The run-time entry for `runtime.vjp`: pairs for functions that are known only when they are called.

y, f_pullback = vjp(f, x)  ->  fwd, bwd, .. = pair_for(f, (x,), {}); y, saved = fwd(x); f_pullback = Pullback(bwd, ..)
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from s2sgrad import pullbacks, runtime, stored
from s2sgrad.analysis.call_keys import shapes_of
from s2sgrad.analysis.kinds import Kind, Unknown
from s2sgrad.analysis.kinds_key import Kinds
from s2sgrad.analysis.number_types import may_carry
from s2sgrad.analysis.value_kinds import kinds_of
from s2sgrad.api import brought, transposed
from s2sgrad.api.arguments import has_floats
from s2sgrad.api.higher import JVP, Call, Forward, backward_of, is_constant, options_of
from s2sgrad.api.library import plain, require_taken, with_places
from s2sgrad.api.whole import REFUSALS, begins_again, chosen_of, is_lost, is_recorded, renewed
from s2sgrad.driver import cache
from s2sgrad.driver.compiled import compile_pair
from s2sgrad.driver.recipe import Compiled
from s2sgrad.errors import S2SGradError, Unsupported
from s2sgrad.ir.signatures import require_fit, signature
from s2sgrad.recorded import pairs
from s2sgrad.rules import table
from s2sgrad.runtime.asking import has, its
from s2sgrad.runtime.checkpoints import behind_checkpoint
from s2sgrad.runtime.checks import Refusal, holds_complex_inside
from s2sgrad.runtime.closures import Closure
from s2sgrad.runtime.given import new
from s2sgrad.runtime.structure import attributes_of
from s2sgrad.runtime.traits import declare, traits
from s2sgrad.runtime.watching import is_noting
from s2sgrad.source import GENERATED_TEXTS, brings_gradient, is_method_of
from s2sgrad.standard import by_count, called_otherwise

_MOST = 64  # pairs cached on a generated function


def pair_for(
    f: Any, primals: tuple, keywords: dict[str, Any], again: bool = False, wanted: tuple[int, ...] | None = None
) -> tuple[Callable[..., Any], Callable[..., Any], tuple, tuple, dict[str, Any]]:
    """(fwd, bwd, places, lead, keywords): `fwd(*lead, *primals, **keywords) -> (y, saved)`, and `bwd(saved, y_bar)` returns
    the cotangents of the positional arguments at `places`, of those at `wanted` where it can; `again`: fwd and bwd will be
    differentiated in turn."""
    if f is runtime.call and hasattr(type(primals[0]), "__mul__") and attributes_of(primals[0]) is None:
        what = type(primals[0]).__name__  # `np.poly1d(c) * x`: its derivative in `x` would be lost
        raise Refusal(None, f"a {what} that carries derivatives is called, which cannot be followed: compute with arrays")
    if f is runtime.call and runtime.is_called_otherwise(primals[0], len(primals) - 1, keywords):
        f, keywords = called_otherwise, {"words": keywords}
    elif f is runtime.call:
        f = Call(0)
    elif f in (runtime.vjp, pullbacks.vjp, pullbacks.vjp_of_closure):
        f = Forward(0, f)
    elif f in JVP:
        f, keywords = runtime.hook("unfolded")(*primals, options_of(f, keywords)), {}
    if isinstance(f, (Forward, Call, pairs.Half)):
        return f.pair(primals, keywords)
    if isinstance(f, runtime.Pullback):
        return *transposed.pair(f, pair_in), (0,), (), keywords
    if traits(f).transposes is not None:
        raise Unsupported("a pullback that is transposed, as `linearize` does, is not differentiated again: take `jvp` of "
                          "the function")  # fmt: skip
    if brings_gradient(f):
        fwd, bwd = _own_pair(f)
        return fwd, bwd, tuple(range(len(primals))), (), keywords
    if (own := traits(f).half_of) is not None:
        raise Unsupported(
            f"`{own.__name__}` brings its own gradient, and this asks for the gradient of that: nest two GradientTapes"
        )
    if has(f, "taken_apart_for"):  # a gradient: its generated function is differentiated
        try:
            function, lead, words = f.taken_apart_for(primals, keywords)
            return _of_bound(function, lead, words, primals, wanted, again, False)
        except REFUSALS as error:  # the user's function is recorded, and no text of ours
            return *recorded_pair(f, primals, 0, renewed(error)), (), keywords
    if runtime.is_called_otherwise(f, len(primals), keywords):
        return _of_bound(called_otherwise, (f,), {"words": keywords}, primals, wanted, again)
    function, receiver, bound = plain(by_count(f, len(primals), keywords))
    return _of_bound(function, receiver, {**bound, **keywords} if bound else keywords, primals, wanted, again)


def _of_bound(
    function: Any, receiver: tuple, keywords: dict[str, Any], primals: tuple, wanted: tuple[int, ...] | None,
    again: bool, recorded: bool = True,
) -> tuple[Any, Any, tuple, tuple, dict[str, Any]]:  # fmt: skip
    """The pair of a function, called with what is bound to it first: compiled, or `recorded` as it runs where no text can be
    written."""
    lead = len(receiver)
    require_taken(function, lead + len(primals), keywords)
    function = with_places(function, lead, tuple(keywords))
    found = _written(function, receiver + primals, keywords, lead, wanted, again)
    if isinstance(found, S2SGradError):
        if not recorded:
            raise found
        found = recorded_pair(function, receiver + primals, lead, found)
    fwd, bwd, active = found
    places = tuple(tuple(j - lead for j in k) if isinstance(k, tuple) else k - lead for k in active)
    return fwd, bwd, places, receiver, keywords


def _written(
    function: FunctionType, args: tuple, keywords: dict[str, Any], lead: int, wanted: tuple[int, ...] | None, again: bool
) -> tuple[Any, Any, tuple] | S2SGradError:
    """The compiled pair of a function, or why there is none and it is recorded."""
    family = cache.of(function.__code__).family(("recorded", lead))
    quick = _quick(args, keywords, wanted, again) if family.unwritten else None
    changes, known, of = family.unwritten.get(quick, (0, None, None))
    if known is None or changes != table.changes or not is_recorded(known) or not _is_of(known, of, function):
        try:
            return _compiled(function, args, keywords, lead, wanted, again)
        except REFUSALS as error:
            if not is_recorded(error):
                raise
            known = renewed(error)
        if len(family.unwritten) < _MOST and (quick := _quick(args, keywords, wanted, again)) is not None:
            family.unwritten[quick] = table.changes, known, weakref.ref(function)
    return known


def _is_of(error: S2SGradError, refused: Any, function: FunctionType) -> bool:
    """Whether the compiler would say the same of a function of the same code: of the one that was refused, or of one in
    which all that was looked up is as it was."""
    return refused() is function if error.guards is None else error.guards.fitting(function) is not None


def _quick(args: tuple, keywords: dict[str, Any], wanted: Any, again: bool) -> Any:
    """A key of a call that is told quickly; None if there is none."""
    shapes = shapes_of((*args, *keywords.values()))
    return None if shapes is None else (len(args), tuple(keywords), shapes, wanted, again)


def recorded_pair(f: Any, args: tuple, lead: int, error: S2SGradError) -> tuple[Any, Any, tuple]:
    """The pair of a function that is recorded; the error of the compiler where that is refused, too."""
    if not is_recorded(error) or any(isinstance(a, (Closure, runtime.Pullback)) for a in args):
        raise error
    active = _followed(args, lead)
    return *pairs.pair(f, active, lambda found: chosen_of(error, found)), active


def pair_in_turn(
    f: Any, pair: tuple[Any, Any, tuple], receiver: tuple, primals: tuple, keywords: dict[str, Any]
) -> tuple[Any, Any, tuple]:
    """(fwd, bwd, places) of a function whose `fwd` is differentiated in turn: recorded, where that has no text."""
    function, lead = its(f, "__func__", f), len(receiver)
    if not isinstance(pair[0], FunctionType) or type(function) is not FunctionType or brings_gradient(function):
        return pair
    error = _written(pair[0], receiver + primals, keywords, 0, None, False)
    if not isinstance(error, S2SGradError):
        return pair
    fwd, bwd, active = recorded_pair(function, receiver + primals, lead, error)
    return fwd, bwd, tuple(k - lead for k in active)


def begun_again(
    error: Refusal, f: Any, primals: tuple, keywords: dict[str, Any], writes: bool = False
) -> tuple[Any, runtime.Pullback] | None:
    """(value, pullback) by a second run, which is recorded, of a function whose text was refused as it ran; None where that
    may do something else.  `writes`: it may write its arguments."""
    if has(f, "taken_apart_for"):
        function, receiver, judged = f, (), f._request.function
    elif isinstance(f, (Forward, Call, pairs.Half, runtime.Pullback)) or brings_gradient(f) or traits(f).half_of is not None:
        return None
    else:
        function, receiver, bound = plain(f)
        keywords, judged = {**bound, **keywords}, function
    if not begins_again(error, judged, (primals, keywords)):
        return None
    args, lead = receiver + primals, len(receiver)
    active = _followed(args, lead)
    fwd: Any
    fwd, bwd = pairs.pair(function, active, lambda found: error if is_lost(found) else found)
    y, saved = (fwd.of_copies if writes else fwd)(*args, **keywords)
    places = tuple(k - lead for k in active)
    return y, runtime.Pullback(bwd, saved, places, (None,) * len(primals))


def _followed(args: tuple, lead: int) -> tuple[int, ...]:
    """The positions of the arguments, after `lead` bound ones, that a recording follows."""
    return tuple(k for k in range(lead, len(args)) if has_floats(args[k]) and not is_constant(args[k]))


def called(f: Closure, *args: Any) -> tuple[Any, runtime.Pullback]:
    """`vjp(call, f, *args)` for a closure: as `pair_for`, with a faster lookup for repeated calls.

    The pairs are cached on the generated function.
    """
    function, arguments = f.function, f.called_with(args)
    pair = None
    if type(function) is FunctionType and "pairs" in function.__dict__:
        for value in arguments:
            if type(value) is Closure and value.carries is None:
                has_floats(value)
        pair = function.__dict__["pairs"].get(shapes_of(arguments))
    if pair is not None and not is_noting() and pair[0].holds():
        _, fwd, bwd, places = pair
        y, saved = fwd(*arguments)
        rest = tuple([None if k in places else runtime.zeros(v) for k, v in enumerate(arguments)])
        inner = runtime.Pullback(bwd, saved, places, rest)
    else:
        y, inner = runtime.vjp(function, *arguments)
    rest = (None,) * (len(args) + 1)
    return y, runtime.Pullback(backward_of(1, True), (inner, None, len(f.holds)), tuple(range(len(rest))), rest)


def _own_pair(f: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The pair of a function with its own gradient; the record is the pullback that it returned."""

    def fwd(*args: Any, **keywords: Any) -> tuple[Any, Any]:
        copies = map(new, args)  # copied, for the pullback captures it
        y, pullback = brought.pair_of(f.custom_gradient, tuple(copies), keywords, lends=True)
        if "variables" in signature(pullback).parameters:
            raise Unsupported(
                f"the pullback of `{f.__name__}` takes `variables`, whose gradients are known on a GradientTape alone: pass "
                "what it reads as arguments"
            )
        own = 1 if args and is_method_of(f, args[0]) else 0
        return y, (pullback, own, brought.zeros_of(f, args, own))

    def bwd(saved: Any, y_bar: Any) -> Any:
        pullback, own, rest = saved
        bars = (None,) * own + brought.cotangents(f, pullback, y_bar, rest, own)
        return bars[0] if len(bars) == 1 else bars

    declare(fwd, half_of=f)
    declare(bwd, half_of=f)
    return fwd, bwd


def pair_in(function: FunctionType, args: tuple, wanted: tuple[int, ...]) -> tuple[Any, Any, tuple[int, ...]]:
    """(fwd, bwd, places): as `pair_for`, for the arguments at the positions `wanted` that carry floats."""
    return _compiled(function, args, {}, 0, wanted)


def held_pair(function: FunctionType, args: tuple, wanted: tuple[int, ...]) -> tuple[Compiled, Any, Any, tuple[int, ...]]:
    """The same, after what says whether it still `holds`."""
    return _found(function, args, {}, 0, wanted, False)


def pair_or_refusal(
    function: FunctionType, args: tuple, wanted: tuple[int, ...]
) -> tuple[Any, Any, tuple[int, ...]] | S2SGradError:
    """As `pair_in`; the reason where there is no text and the function is recorded as it runs."""
    return _written(function, args, {}, 0, wanted, False)


def _compiled(
    function: FunctionType,
    args: tuple,
    keywords: dict[str, Any],
    lead: int,
    wanted: tuple[int, ...] | None = None,
    again: bool = False,
) -> tuple[Any, Any, tuple]:
    """(fwd, bwd, positions of the arguments that get cotangents; a tuple of positions for `*args`)."""
    debug = is_noting()  # a run under `debug`
    if function.__defaults__ or function.__kwdefaults__:
        keywords = {**keywords, **_module_defaults(function, args, keywords)}
    shapes = shapes_of((*args, *keywords.values()))
    ordinary = shapes is not None and (lead, keywords, wanted, again, debug) == (0, {}, None, False, False)
    if ordinary and (entry := function.__dict__.get("pairs", {}).get(shapes)) is not None and entry[0].holds():
        _, fwd, bwd, places = entry
        return fwd, bwd, places
    found = _found(function, args, keywords, lead, wanted, again)
    if ordinary and _is_told_by_shapes(function, args, found[0].key):
        _keep(function, shapes, found)
    return found[1:]


def _found(
    function: FunctionType, args: tuple, keywords: dict[str, Any], lead: int, wanted: tuple[int, ...] | None, again: bool
) -> tuple[Compiled, Any, Any, tuple]:
    """(the compiled text, fwd, bwd, positions)."""
    debug, shapes = is_noting(), shapes_of((*args, *keywords.values()))
    quick = None if shapes is None else (len(args), tuple(keywords), shapes, wanted, again)
    family = cache.of(function.__code__).family(("pair", lead, behind_checkpoint(function) is not None, debug))
    key = family.quick.get(quick)
    if key is None or key.forgotten:
        _require_fit(function, args, keywords)
        kinds = kinds_of([*args, *keywords.values()])
        active = _active(function, args, kinds, lead, wanted)
        of_complex = any(holds_complex_inside(args[k] if isinstance(k, int) else args) for k in active)
        key = Kinds((len(args), kinds, tuple(keywords), active, again, of_complex))
        if quick is not None and not any(isinstance(kind, Unknown) for kind in kinds[lead:]):
            family.remember(quick, key)
    compiled = cache.compiled(family, key, function, lambda: _compile(function, debug, *key.items))
    for name, half in zip(("fwd", "bwd"), compiled.made, strict=False):
        declare(half, origin=(name, function, key, compiled.recipe))
    return compiled, *compiled.made[:2], key.items[3]


def _active(
    function: FunctionType, args: tuple, kinds: tuple[Kind, ...], lead: int, wanted: tuple[int, ...] | None
) -> tuple[Any, ...]:
    """The positions of the differentiated arguments, those `wanted` after `lead` bound ones; a tuple of positions for
    `*args`."""
    count = function.__code__.co_argcount

    def carries(k: int) -> bool:
        constant = isinstance(kinds[k], Unknown) and is_constant(args[k])
        return may_carry(kinds[k]) and not constant and (wanted is None or k - lead in wanted)

    active: tuple[Any, ...] = tuple(k for k in range(lead, min(count, len(args))) if carries(k))
    if lead <= count and any(carries(k) for k in range(count, len(args))):  # all of `*args` together
        active += (tuple(range(count, len(args))),)
    return active


def _is_told_by_shapes(function: FunctionType, args: tuple, key: Kinds) -> bool:
    """Whether a function is generated, and the shapes of its arguments alone determine its pair."""
    if function.__code__.co_filename not in GENERATED_TEXTS:
        return False
    unknown = (a for a, kind in zip(args, key.items[1], strict=False) if isinstance(kind, Unknown))
    return all(isinstance(a, (Closure, FunctionType, np.ufunc)) for a in unknown)


def _keep(function: FunctionType, shapes: Any, pair: tuple) -> None:
    """Cache a pair on its function, for these shapes of the arguments."""
    if len(pairs := function.__dict__.setdefault("pairs", {})) >= _MOST:
        pairs.clear()
    pairs[shapes] = pair


def _module_defaults(function: FunctionType, args: tuple, keywords: dict[str, Any]) -> dict[str, Any]:
    """The modules that are defaults of missing parameters: the kind of a module is its identity."""
    bound = cache.of(function.__code__).parameters.bound(function, args, keywords) or {}
    names = cache.of(function.__code__).parameters.positional[: max(len(args), function.__code__.co_posonlyargcount)]
    return {p: v for p, v in bound.items() if isinstance(v, ModuleType) and p not in names and p not in keywords}


def compiled_pair(function: FunctionType, key: Kinds) -> Compiled:
    """The pair of a function for a key that `_compiled` made."""
    family = cache.of(function.__code__).family(("pair", 0, behind_checkpoint(function) is not None, False))
    return cache.compiled(family, key, function, lambda: _compile(function, False, *key.items))


def _require_fit(function: FunctionType, args: tuple, keywords: dict[str, Any]) -> None:
    if cache.of(function.__code__).parameters.bound(function, args, keywords) is None:
        require_fit(function, args, keywords)


def _compile(
    function: FunctionType, debug: bool, n_args: int, kinds: tuple[Kind, ...], keywords: tuple[str, ...],
    active: tuple[Any, ...], again: bool = False, of_complex: bool = False,
) -> Compiled:  # fmt: skip
    parameters = cache.of(function.__code__).parameters
    names, variadic = parameters.positional, parameters.variadic
    by_name: dict[str, Any] = dict(zip(names, kinds[:n_args], strict=False))
    by_name |= dict(zip(keywords, kinds[n_args:], strict=True))
    if variadic is not None and n_args > len(names):
        by_name[variadic] = list(kinds[len(names) : n_args])
    wrt: set[str] = {variadic or "" if isinstance(k, tuple) else names[k] for k in active}
    asked = "pair", tuple(sorted(wrt)), debug, again, of_complex, behind_checkpoint(function) is not None
    named = tuple((name, tuple(kind) if isinstance(kind, list) else kind) for name, kind in by_name.items())
    return stored.kept(function, named, asked, lambda: compile_pair(function, by_name, wrt, debug, again, of_complex))
