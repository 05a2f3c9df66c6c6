"""What a handler may do with the exception: format it, ask for its class, or raise it again.

    except ValueError as e: print(e); raise      ->      e = caught(which); print(e); raise caught(which)

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(x):
...     try:
...         return math.sqrt(x)
...     except ValueError as error:
...         print(f"failed: {error}")
...     return 0.0
... ''', "try_except"))
def f(x):
    which = raised(lambda: math.sqrt(x), ValueError)
    if which == 0:
        return math.sqrt(x)
    else:
        error = caught(which)
        print(f'failed: {error}')
    return 0.0
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from s2sgrad.ir.quote import assign, at, name, nodes
from s2sgrad.ir.unit import Unit
from s2sgrad.runtime import trials

_MESSAGES = (print, str, repr, type, isinstance, format)


class Handlers:
    """The handlers of one `try`; `which` is the variable with the number of the one that runs."""

    unit: Unit
    which: str

    def handler(self, handler: gast.ExceptHandler) -> list[gast.AST]:
        """The statements of a handler; the exception itself may only be formatted, or raised again."""
        called, inside = _called(handler), list(nodes(*handler.body))
        others = [n for n in inside if isinstance(n, gast.ExceptHandler)]
        for statement in (n for n in _apart_from(inside, others) if isinstance(n, gast.Raise)):
            if statement.exc is None or getattr(statement.exc, "id", "") == called:
                statement.exc = self.caught()
            if getattr(statement.cause, "id", "") == called:
                statement.cause = None
        told = {id(part) for n in inside if self.is_message(n) for part in nodes(n)}
        hiding = [h for h in others if _called(h) == called]
        mentions = [n for n in _apart_from(nodes(*handler.body), hiding) if isinstance(n, gast.Name) and n.id == called]
        for mention in mentions:
            if id(mention) not in told:
                self.unit.refuse(mention, f"the exception `{called}` is used, which cannot be differentiated yet: leave it "
                                          "out")  # fmt: skip
        bound = at(handler, assign(called, self.caught())) if mentions else []
        return bound + self.plain(handler.body)


    def caught(self) -> gast.Call:
        """A call that returns the exception that was raised."""
        return gast.Call(name(self.unit.helper("caught", trials.caught)), [name(self.which)], [])

    def is_message(self, node: gast.AST) -> bool:
        """Whether an expression formats its operands, or asks for their class."""
        return isinstance(node, gast.JoinedStr) or any(self.unit.called(node) is message_call for message_call in _MESSAGES)


def _called(handler: gast.AST) -> str | None:
    """The name that a handler binds to the exception."""
    target = handler.name if isinstance(handler, gast.ExceptHandler) else None
    return target.id if isinstance(target, gast.Name) else target


def _apart_from(inside: Iterable[gast.AST], others: list[gast.AST]) -> list[gast.AST]:
    """The nodes that are not part of the others."""
    hidden = {id(n) for n in nodes(*others)}
    return [n for n in inside if id(n) not in hidden]


def is_told(handler: gast.ExceptHandler) -> bool:
    """Whether a handler uses the exception."""
    inside = list(nodes(*handler.body))
    again = any(isinstance(n, gast.Raise) and n.exc is None for n in inside)
    return again or any(isinstance(n, gast.Name) and n.id == _called(handler) for n in inside)
