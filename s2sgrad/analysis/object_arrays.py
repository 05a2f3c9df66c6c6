"""Object arrays: they hold references to their items, where a numeric array copies them.

    z = np.array([a, None], dtype=object); z[0][0] = 5.0      writes a
    z = np.array([a, a]); z[0][0] = 5.0                       does not

>>> holds_objects(object), holds_objects("O"), holds_objects(float), holds_objects(np.float32)
(True, True, False, False)
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sgrad.ir.forms import is_none
from s2sgrad.ir.quote import nodes
from s2sgrad.ir.unit import MISSING, Unit


def holds_objects(dtype: Any) -> bool:
    """Whether arrays of a dtype hold objects; true where the dtype is unknown."""
    try:
        return dtype is MISSING or np.dtype(dtype).hasobject
    except TypeError:
        return True


def may_hold_objects(unit: Unit, call: gast.Call) -> bool:
    """Whether the result of `np.array` may hold objects, by its dtype argument, or by a None in the data without one."""
    kind = next((k.value for k in call.keywords if k.arg == "dtype"), call.args[1] if len(call.args) > 1 else None)
    if kind is None:
        return not call.args or any(is_none(n) for n in nodes(call.args[0]))
    if isinstance(kind, gast.Attribute) and kind.attr == "dtype":
        return False
    return holds_objects(kind.value if isinstance(kind, gast.Constant) else unit.resolve(kind))
