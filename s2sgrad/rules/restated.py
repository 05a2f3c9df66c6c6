"""What functions of SciPy compute, stated again as texts: the derivative of such a function is that of its text.

    @restates(signal.kaiser_beta)
    def kaiser_beta(a): ...                 ->      a_bar = vjp(kaiser_beta, a)[1](beta_bar)[0]

The value is the library's; where the text gives another one, or fails, the call is refused.  A text names its arguments
as the function does: those without a default carry derivatives, those with one are constants, but for those in `moving`.
What is not worth a text is refused by name.  `vjp` and `jvp` are above this room: they are found when the first of these
files is read (`arriving`).
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules.made import made
from s2sgrad.rules.table import (
    Rule,
    flat,
    general,
    linear,
    of_complex_numbers,
    structured,
    taking_lists,
    with_sizes_of_their_own,
)
from s2sgrad.runtime import Refusal
from s2sgrad.runtime.results import without_floats


def tells(y: Any) -> bool:
    """Whether a result has floats: `find_peaks` without options gives places alone."""
    return not without_floats(y)


def filled(g: Any, y: Any) -> Any:
    """A cotangent of `y` with zeros for the parts that have none, such as whole numbers.

    >>> filled((None, {"a": 2.0}), (3, {"a": 1.0, "b": 5.0}))
    (0.0, {'a': 2.0, 'b': 0.0})
    """
    if g is None or not isinstance(y, (tuple, list, dict)):
        return runtime.zeros(y) if g is None else g
    if isinstance(y, dict):
        return {k: filled(g.get(k), part) for k, part in y.items()}
    return (list if isinstance(y, list) else tuple)(filled(*pair) for pair in zip(g, y, strict=True))


@linear(filled)
def _(w, z, g, y):
    return w, None


def agrees(text: Callable[..., Any], y: Any, *args: Any) -> bool:
    """Raise Refusal where a text gives something else than the result `y` of the function that it restates: for arguments
    that it does not foresee, so that its slopes are not theirs.  A part that is not finite has no slope.

    >>> agrees(lambda x: x * x, 9.0, 3.0)
    True
    """
    try:
        with np.errstate(all="ignore"):
            same = _is_same(text(*args), y, _close([*args, y]))
    except Refusal:
        raise
    except Exception:  # of arguments that SciPy makes arrays of, such as tuples
        same = False
    if not _is_finite(y):
        raise Refusal(None, f"`{text.__name__}` has no derivative where its result is not finite, as at a pole")
    if not same:
        raise Refusal(None, f"`{text.__name__}` has no derivative rule for these arguments, of which its formula gives "
                            "another value: pass arrays and numbers as its documentation has them")  # fmt: skip
    return True


def _is_same(found: Any, y: Any, close: float) -> bool:
    if isinstance(y, (tuple, list)):
        return len(found) == len(y) and all(_is_same(*pair, close) for pair in zip(found, y, strict=True))
    if isinstance(y, dict):
        return found.keys() == y.keys() and all(_is_same(found[k], y[k], close) for k in y)
    if not isinstance(y, (np.ndarray, np.number, float, complex)):
        return True
    a, b = np.asarray(found), np.asarray(y)
    if a.shape != b.shape or a.dtype.kind not in "fciub" or b.dtype.kind not in "fc":
        return bool(a.shape == b.shape)
    return bool(np.all(np.abs(a - b) <= close * np.max(np.abs(b), initial=0.0) + 1e-300))


def _is_finite(y: Any) -> bool:
    if isinstance(y, (tuple, list, dict)):
        return all(map(_is_finite, y.values() if isinstance(y, dict) else y))
    counted = isinstance(y, (np.ndarray, np.number, float, complex)) and np.asarray(y).dtype.kind in "fc"
    return not counted or bool(np.all(np.isfinite(y)))


def _close(values: Any) -> float:
    """How much a text may differ from the function by rounding, relative to the largest element: by the coarsest of them."""
    if isinstance(values, (tuple, list, dict)):
        return max(map(_close, values.values() if isinstance(values, dict) else values), default=0.0)
    dtype = getattr(values, "dtype", np.dtype(float))
    close: float = float(np.finfo(dtype if dtype.kind in "fc" else float).eps) ** 0.4
    return close


def checked(g: Any, same: bool) -> Any:
    """`g`, once the text agrees."""
    return g


flat(agrees, tells)


@linear(checked)
def _(w, z, g, same):
    return w, None


of_complex_numbers(checked)


def restates(
    *primitives: Any, constant: tuple[str, ...] = (), moving: tuple[str, ...] = (), tuples: tuple[str, ...] = (),
    complex: bool = False, counts: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Give these functions the derivatives of the decorated text.

    `constant`: arguments without a default that carry none. `moving`: arguments with one that do. `tuples`: those that are
    tuples, as systems are. `complex`: the text is right for complex numbers, too. `counts`: the result has parts without a
    derivative, such as whole numbers.
    """

    def register(text: Callable[..., Any]) -> Callable[..., Any]:
        rule = _ruled(text, primitives, moving, constant, counts)
        with_sizes_of_their_own(*primitives)
        for name in constant:
            rule.constant(name)
        for name in tuples:
            structured(name, primitives[0])
        if complex:
            of_complex_numbers(primitives[0])
        return text

    return register


def _ruled(
    text: Callable[..., Any],
    primitives: tuple[Any, ...],
    moving: tuple[str, ...],
    constant: tuple[str, ...],
    counts: bool,
) -> Rule:
    parameters = list(inspect.signature(text).parameters.values())
    names, operands = [p.name for p in parameters], [p.name for p in parameters if p.default is p.empty]
    options = "".join(f", {p.name}={p.default!r}" for p in parameters[len(operands) :])

    y = "y" if "y" not in names else "whole"
    seed = f"filled(g, {y})" if counts else "g"
    same = f"    same = agrees({text.__name__}, {y}, {', '.join(names)})\n"

    def pulled(wanted: list[str]) -> str:
        bars = ["None" if n in constant else f"bars[{names.index(n)}]" for n in wanted]
        run = f"vjp({text.__name__}, {', '.join(names)})[1](checked({seed}, same))"
        return f"{same}    bars = {run}\n    return {', '.join(bars)}\n"

    def along(name: str) -> str:
        dots = ", ".join(f"checked({n}_dot, same)" if n == name else "None" for n in names)
        if name in constant:
            return "None"
        dot = f"like({y}, jvp({text.__name__}, ({', '.join(names)},), ({dots},))[1])"
        return f"({dot} if tells({y}) else like({y}, None))" if counts else dot

    head, dots = ", ".join(operands), ", ".join(f"{n}_dot" for n in operands)
    terms = along(operands[0]) if len(operands) == 1 else "(" + ", ".join(map(along, operands)) + ")"
    lines = f"def pullback(g, {y}, {head}{options}):\n{pulled(operands)}\n\n"
    lines += f"def tangent({y}, {head}, {dots}{options}):\n{same}    return {terms}\n"
    for n in moving:
        lines += f"\n\ndef pullback_in_{n}(g, {y}, {head}{options}):\n{pulled([n])}\n\n"
        lines += f"def tangent_in_{n}({y}, {head}, {n}_dot{options}):\n{same}    return {along(n)}\n"
    above = importlib.import_module("s2sgrad.pullbacks")
    space = {"vjp": above.vjp, "jvp": above.jvp, "filled": filled, "agrees": agrees, "checked": checked,
             "like": runtime.like, "tells": tells, text.__name__: text}  # fmt: skip
    found = made(lines, f"{text.__module__}.of_{text.__name__}", space)
    rule = general(*primitives)(found["pullback"])
    taking_lists(rule)
    rule.forward()(found["tangent"])
    for n in moving:
        rule.keyword(n)(found[f"pullback_in_{n}"]).forward()(found[f"tangent_in_{n}"])
    return rule
