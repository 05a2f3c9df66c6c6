"""What the reverse sweep runs again must do the same again: functions under `checkpoint`, loops over `checkpointed`.

    h = checkpoint(layer)(h)      with `def layer(h): return h * rng.normal()`      ->      Unsupported at the draw
"""

from __future__ import annotations

import gast

from s2sgrad import emit
from s2sgrad.analysis import effects
from s2sgrad.legality.context import Context
from s2sgrad.memory import repeats


def check(context: Context) -> None:
    """Raise Unsupported at what may do something else when it is run again."""
    if context.again:
        run_again(context, context.tree.body, "a function under `checkpoint`, which is run")


def run_again(context: Context, body: list[gast.AST], what: str) -> None:
    """Raise Unsupported where one of these statements may."""
    found = repeats.obstacle(context.unit, effects.walk(body))
    if isinstance(found, gast.Call):
        context.unit.refuse(found, f"`{emit.expression(found.func)}` in {what} again in the reverse sweep, may do something "
                                   "else then: draw random numbers and print outside of it")  # fmt: skip
    if found is not None:
        context.unit.refuse(found, f"this may do something else when it is run again, as {what} in the reverse sweep: use "
                                   "up iterators and change what is global outside of it")  # fmt: skip
