"""References to external objects in generated text: NumPy by the user's alias, our helpers by a free name.

np.sum of the library      ->      `numpy.sum` where the user writes `import numpy`
"""

from __future__ import annotations

import types
from typing import Any

import gast
import numpy as np

from s2sgrad.ir import notes
from s2sgrad.ir.quote import constant, name
from s2sgrad.ir.unit import Unit
from s2sgrad.primitives import catalogue
from s2sgrad.rules.table import Rule


def reach(unit: Unit, base: str, value: Any) -> str:
    """The free name by which the text refers to an object, in the user's module or as a helper."""
    if isinstance(value, types.ModuleType):
        return module_alias(unit, value)
    if isinstance(value, Rule):
        value, base = value.pullback, f"{base}_pullback"
    return unit.helper(base, value)


def module_alias(unit: Unit, module: types.ModuleType) -> str:
    """The user's own name for a module (NumPy, math or SciPy's), or a new name if there is none."""
    usual = ("np", "numpy") if module is np else (module.__name__.rpartition(".")[2],)
    globals_ = unit.primal.function.__globals__
    for candidate in (*usual, *(k for k in sorted(globals_) if globals_[k] is module)):
        if globals_.get(candidate) is module and candidate not in unit.locals:
            if unit.resolve(name(candidate)) is module:
                return str(candidate)
    return unit.helper(usual[0], module)


def numpy_function(unit: Unit, attribute: str) -> gast.Attribute:
    """`np.<attribute>` by the user's alias."""
    return gast.Attribute(name(module_alias(unit, np)), attribute, gast.Load())


def call(unit: Unit, base: str, function: Any, *arguments: gast.AST, **keywords: Any) -> gast.Call:
    """A call of a NumPy function (by the user's alias) or of a helper; what is stored into a view that it gives is stored
    into its first argument."""
    if getattr(np, base, None) is function:
        target: gast.AST = numpy_function(unit, base)
    else:
        target = unit.reached(base, function)
    given = [gast.keyword(k, constant(v)) for k, v in keywords.items()]
    made = gast.Call(target, list(arguments), given)
    notes.OF_FIRST.put(made, bool(arguments) and catalogue.of(function).gives in catalogue.VIEWS)
    return made
