"""Functions in C that modules keep: as an argument, each is known, and has a text of its own.

def layer(x, act): return act(x)      ->      for `act` = `np.tanh`: y = np.tanh(x)
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np


def is_function_of_module(x: Any) -> bool:
    """Whether this is a function in C that a module keeps, so that it is one object.  A method of an object is none: each
    access makes it anew.

    >>> is_function_of_module(np.tanh), is_function_of_module([].append), is_function_of_module(lambda x: x)
    (True, False, False)
    """
    if isinstance(x, types.BuiltinFunctionType):
        return isinstance(x.__self__, types.ModuleType)
    return isinstance(x, _IN_C)


_IN_C = (np.ufunc, type(np.sum)) if type(np.sum) is not types.FunctionType else (np.ufunc,)
"""NumPy's; before NumPy 1.25, most of its functions were Python's."""
