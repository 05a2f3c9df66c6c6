"""The passes that every function goes through, whether compiled by itself or inlined.

    def f(x, xp=np): from math import pi; a = b = x * pi; ...      ->      names, imports and constructs are resolved

`DEFINITION` works on a definition as a whole, `STATEMENTS` on the statements of its body.  Flattening comes later, because
it inlines callees: there the text of one function becomes part of another's.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sgrad.ir.unit import Unit
from s2sgrad.normalize import (
    alpha_renaming,
    argument_tests,
    check,
    drawing,
    global_names,
    imports,
    library_desugaring,
    loops,
    match_statements,
    module_values,
    outside_stores,
    separate_records,
    single_exit,
    targets,
    try_statements,
    with_statements,
)

Pass = Callable[[Unit, gast.FunctionDef], gast.FunctionDef]

DEFINITION: tuple[tuple[str, Pass], ...] = (
    ("match_statements", match_statements.run),
    ("module_values", module_values.run),
    ("separate_records", separate_records.run),
    ("imports", imports.run),
    ("argument_tests", argument_tests.run),
    ("try_statements", try_statements.run),
    ("with_statements", with_statements.run),
    ("global_names", global_names.run),
    ("check", check.run),
    ("drawing", drawing.run),
    ("library_desugaring", library_desugaring.run),
    ("alpha_renaming", alpha_renaming.run),
)

STATEMENTS: tuple[tuple[str, Pass], ...] = (
    ("targets", targets.run),
    ("outside_stores", outside_stores.run),
    ("loops", loops.run),
    ("single_exit", single_exit.run),
)
