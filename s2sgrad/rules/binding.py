"""The arguments of a call under the names of its rule: for the compiler, which has their text, and for the tape.

    np.sum(x, 0)     ->      operands [x], keywords {"axis": 0}

>>> import numpy as np
>>> from s2sgrad.rules import reductions, table
>>> bound(table.lookup(np.sum), np.sum, ["x", "0"], {"keepdims": "True"})
(['x'], {'axis': '0', 'keepdims': 'True'}, '')
>>> bound(table.lookup(np.sum), np.sum, ["x"], {"out": "m"})[2]
'the keyword `out` of `sum` is not known to its derivative rule: leave it out'
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from s2sgrad.rules.table import Rule


@functools.lru_cache(maxsize=1024)
def parameters_of(primitive: Any) -> tuple[str, ...] | None:
    """The names of the parameters; None where the callable does not say."""
    try:
        parameters = inspect.signature(primitive).parameters
    except (TypeError, ValueError):
        return None
    taken = {p.kind for p in parameters.values()}
    anything = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= taken
    return None if anything else tuple(parameters)


def bound(
    rule: Rule, primitive: Any, arguments: list[Any], keywords: dict[str, Any], named: dict[str, Any] | None = None
) -> tuple[list[Any], dict[str, Any], str]:
    """(operands in the rule's order, keywords by the rule's names, why the rule does not treat the call or "").

    `named` are keywords under the rule's names already.
    """
    found, why = dict(named or {}), ""
    operands, left = arguments, arguments[:0]
    if not rule.variadic:
        wanted = len(rule.differentiable)
        operands, left = arguments[:wanted], arguments[wanted:]
    operands = list(operands)
    names = (parameters_of(primitive) if rule.given is None else tuple(rule.given.defaults)) or rule.positional
    for position, argument in enumerate(left, len(operands)):
        if position < len(rule.positional):
            found[rule.positional[position]] = argument
        else:
            shown = names[position] if position < len(names) else f"number {position + 1}"
            why = f"the argument {shown} of `{name_of(primitive)}` is not known to its derivative rule"
    for keyword in sorted(keywords, key=lambda k: names.index(k) if k in names else len(names)):
        argument = keywords[keyword]
        place = names.index(keyword) if keyword in names[: len(rule.positional)] else None
        if place is not None and place == len(operands) < len(rule.differentiable):
            operands.append(argument)
        elif keyword in rule.keywords:
            found[keyword] = argument
        elif place is not None and place >= len(rule.differentiable):  # the same argument under an older name
            found[rule.positional[place]] = argument
        else:
            why = f"the keyword `{keyword}` of `{name_of(primitive)}` is not known to its derivative rule: leave it out"
            if keyword == "where" and isinstance(primitive, np.ufunc):
                why = (f"`{name_of(primitive)}` with `where` and without `out` leaves items as they happened to be in "
                       "memory: give it an array by `out`, or use np.where")  # fmt: skip
    if not rule.variadic and len(operands) < len(rule.differentiable):
        why = f"`{name_of(primitive)}` is called with too few arguments"
    return operands, found, _once(why, rule, primitive, names[: len(arguments)], keywords)


def _once(why: str, rule: Rule, primitive: Any, by_position: tuple[str, ...], keywords: dict[str, Any]) -> str:
    """`why`, or that an argument is given twice: some of SciPy's functions take the one, some the other."""
    twice = next((name for name in by_position if name in keywords and not rule.variadic), None)
    return why if twice is None else f"the argument `{twice}` of `{name_of(primitive)}` is given by position and by name"


def name_of(primitive: Any) -> str:
    """The name of a callable, or of its class, for messages.

    >>> name_of(np.sum), name_of(np.polynomial.Polynomial([1.0]))
    ('sum', 'Polynomial')
    """
    name: str = getattr(primitive, "__name__", type(primitive).__name__)
    return name
