"""What the reverse sweep runs again must be repeatable: functions under `checkpoint`, loops over `checkpointed`.

h = checkpoint(layer)(h)      with `def layer(h): return h * rng.normal()`      ->      Unsupported at the draw
"""

from __future__ import annotations

import gast

from s2sgrad import emit
from s2sgrad.analysis import effects
from s2sgrad.flow.graph import binds
from s2sgrad.ir.checkpoints import slots_of
from s2sgrad.ir.quote import calls_in
from s2sgrad.legality.context import Context
from s2sgrad.memory import repeats
from s2sgrad.runtime.checkpoints import checkpointed


def check(context: Context) -> None:
    """Raise Unsupported where code that runs again may behave differently the second time."""
    if context.again:
        _run_again(context, context.tree.body, "a function under `checkpoint`, which is run", False)
    for statement in effects.walk(context.tree.body):
        made = calls_in(statement.value) if isinstance(statement, (gast.Assign, gast.AugAssign, gast.Expr)) else []
        for call in made:
            if context.unit.resolve(call.func) is checkpointed:
                context.unit.refuse(call, "`checkpointed` stands around all that a `for` loop runs over: write "
                                          "`for .. in checkpointed(.., slots=..)`")  # fmt: skip
        if isinstance(statement, gast.For) and slots_of(context.unit, statement.iter) is not None:
            if any({*binds(s), *effects.writes(s)} & context.paths.active for s in effects.walk(statement.body)):
                _run_again(context, statement.body, "a loop over `checkpointed`, whose trips are run", True)


def _run_again(context: Context, body: list[gast.AST], what: str, shows: bool) -> None:
    """Raise Unsupported at the first statement that is not repeatable; with `shows`, output is allowed."""
    found = repeats.obstacle(context.unit, effects.walk(body), shows)
    if isinstance(found, gast.Call):
        context.unit.refuse(found, f"`{emit.expression(found.func)}` in {what} again in the reverse sweep, may do something "
                                   "else then: draw random numbers, print, and use up iterators outside of it")  # fmt: skip
    if found is not None:
        context.unit.refuse(found, f"this may do something else when it is run again, as {what} in the reverse sweep: use "
                                   "up iterators and change what is global outside of it")  # fmt: skip
