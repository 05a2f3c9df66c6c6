"""`s2sgrad check`: the generated gradient against central differences."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from s2sgrad.api import grad, whole_text
from s2sgrad.api.whole import Whole
from s2sgrad.cli.targets import Mistake, evaluated, function_named, parameters_named, primal_of
from s2sgrad.errors import S2SGradError, raised
from s2sgrad.ir.signatures import signature
from s2sgrad.testing import comparisons, unchecked

_WRONG = 8  # wrong results that are listed
_COUNTS = frozenset(["count", "i", "j", "iterations", "n", "size", "steps", "trips"])


def run(options: argparse.Namespace) -> int:
    """Compare the gradient of a function with central differences, in every number of every parameter, objects included,
    and so its pullback and its tangent.  Without --args the arguments are guessed from defaults, annotations and names;
    arrays cannot be guessed."""
    target, space = function_named(options.target)
    function = primal_of(target)
    guessed = options.args is None
    arguments = _guessed(function) if guessed else evaluated(options.args, space)
    names = parameters_named(options.wrt)
    parameters = [p.name for p in signature(function).parameters.values()]
    try:
        signature(function).bind(*arguments)
        value = function(*arguments)
    except Exception as error:
        advice = "Give the arguments: --args" if guessed else "See --args"
        place = raised.innermost(error)
        where = "" if place is None else f"\n{place.shown(caret=False)}"
        raise Mistake(
            f"{options.target} cannot be called with ({_texts(arguments)}): {type(error).__name__}: {error}. {advice}{where}"
        ) from None
    for name in names or ():
        if name not in parameters[: len(arguments)]:
            raise Mistake(f"{options.target} has no argument {name!r}; it has {', '.join(parameters)}")
    argnums = None if names is None else tuple(parameters.index(n) for n in names)
    try:
        found_all, left = _compared(function, arguments, options.order, argnums)
    except S2SGradError:
        raise
    except (TypeError, ValueError, AssertionError) as error:  # no comparison possible: random numbers, nan
        raise Mistake(str(error)) from None
    print(f"{options.target} at {'guessed ' if guessed else ''}({_texts(arguments)}), where it is {_short(value)}\n")
    good = _table(found_all)
    unknown = all(c.agrees or c.trouble for c in found_all)
    said = "agrees with" if good else "cannot be compared here with" if unknown else "DIFFERS from"
    print(f"\nThe gradient {said} central differences.")
    _say_recorded(function, arguments, argnums)
    for what in left:
        print(f"Not checked: {what}")
    return 0 if good else 1


def _say_recorded(function: Any, arguments: tuple, argnums: tuple | None) -> None:
    """Print why the function has no text, where it has none."""
    try:
        compiled = grad(function, 0 if argnums is None else argnums)._compiled(arguments, {})
    except (S2SGradError, TypeError):  # its first argument has no floats
        return
    if isinstance(compiled, Whole):
        print(f"Recorded as it runs, for it has no text: {whole_text.sentence(compiled.error)}\n(strict=True refuses it)")


def _compared(function: Any, arguments: tuple, order: int, argnums: tuple | None) -> tuple[list, list[str]]:
    """The comparisons in all modes, and what is not checked."""
    found = comparisons(function, arguments, order, argnums)
    left = unchecked(function, arguments) if argnums is None else []
    for mode, word in (("vjp", "its pullback"), ("fwd", "its tangent")):
        try:
            found += comparisons(function, arguments, order, argnums, modes=(mode,))
        except S2SGradError as error:
            left.append(f"{word} ({error.message})")
    return found, left


def _table(found: list) -> bool:
    groups: dict[tuple[int, str], list] = {}
    for comparison in found:
        groups.setdefault((comparison.order, comparison.argument), []).append(comparison)
    width = max([8, *(len(name) for _, name in groups)])
    print(f"{'order':>5}  {'argument':<{width}}  {'directions':>10}  {'max relative error':>18}")
    for (order, name), comparisons_ in groups.items():
        error = max(c.error for c in comparisons_)
        good = all(c.agrees for c in comparisons_)
        verdict = "ok" if good else "?" if all(c.agrees or c.trouble for c in comparisons_) else "WRONG"
        print(f"{order:>5}  {name:<{width}}  {len(comparisons_):>10}  {error:>18.1e}  {verdict}")
    wrong = list(dict.fromkeys(str(c) for c in found if not c.agrees))
    if wrong:
        print("\n" + "\n".join(wrong[:_WRONG]) + "\n.." * (len(wrong) > _WRONG))
    return not wrong


def _guessed(function: Any) -> tuple:
    """An argument for each positional parameter, from its default, its annotation or its name."""
    rng = np.random.default_rng(1)
    out: list[Any] = []
    for parameter in signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
            continue
        annotation = parameter.annotation
        if parameter.default is not parameter.empty:
            out.append(parameter.default)
        elif annotation in (int, "int") or (annotation is parameter.empty and parameter.name in _COUNTS):
            out.append(3)
        elif annotation in (float, "float", parameter.empty):
            out.append(round(float(rng.uniform(0.5, 1.5)), 3))
        else:
            raise Mistake(
                f"the shape of `{parameter.name}` cannot be guessed: give the arguments, "
                '--args "np.ones(3), 2.0" for instance'
            )
    return tuple(out)


def _texts(arguments: tuple) -> str:
    return ", ".join(_short(a) for a in arguments)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"array of {value.dtype} {value.shape}"
    if isinstance(value, (float, np.floating)):
        return repr(float(f"{value:.6g}"))
    text = " ".join(repr(value).split())
    return text if len(text) < 60 else text[:56] + " ..."
