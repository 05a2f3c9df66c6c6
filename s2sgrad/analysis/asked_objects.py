"""Whether functions ask which object a value is: an expression that makes an object may then not be written twice.

v = u[1:]; w = v; u[0] = 2.0; return w is v        ->      `u[1:] is u[1:]` would be False
"""

from __future__ import annotations

import dis
import operator
import types
from collections.abc import Iterable
from typing import Any

from s2sgrad.analysis.reached_classes import codes_of
from s2sgrad.analysis.reached_codes import TOO_MUCH, of_libraries
from s2sgrad.primitives import libraries

_ASKING = (TOO_MUCH, id, operator.is_, operator.is_not)


def asks(code: types.CodeType) -> bool:
    """Whether a function asks which object a value is, other than whether it is None.

    >>> asks((lambda x, y: x is y).__code__), asks((lambda x: x is None or x < 1).__code__)
    (True, False)
    """
    before = None
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IS_OP" and before != "LOAD_CONST":
            return True
        before = instruction.opname
    return id.__name__ in code.co_names


def may_ask(functions: Iterable[Any]) -> bool:
    """Whether running these functions may ask that; True where there is too much to look at.

    >>> from s2sgrad.driver.pipeline import defined
    >>> may_ask([defined("def f(x, y): return id(x) == id(y)")]), may_ask([defined("def f(x): return x is None")])
    (True, False)
    """
    for found in of_libraries(functions):
        if any(found is asking for asking in _ASKING):
            return True
        if isinstance(found, types.FunctionType) and not libraries.is_installed(found):
            if any(map(asks, codes_of(found.__code__))):
                return True
    return False
