"""`deque` becomes a list, whose left end is the first item (`containers`); what does more than lists and dicts is recorded.

    q = deque(xs)                q = list(xs)
    q = deque(xs, maxlen=3)  ->  refused, and so are a `defaultdict` and subclasses of `list` and `dict`

>>> from s2sgrad.driver.pipeline import shown
>>> print(shown('''
... def f(xs):
...     from collections import deque
...     queue = deque([xs[0]])
...     queue.append(xs[1])
...     return queue[-1]
... ''', "flatten"))
def f(xs):
    t1 = xs[0]
    queue = [t1]
    t2 = xs[1]
    queue.append(t2)
    result = queue[-1]
    return result
"""

from __future__ import annotations

import inspect
from collections import defaultdict, deque

import gast

from s2sgrad.analysis.plain_classes import is_container_of_its_own
from s2sgrad.ir.forms import is_none
from s2sgrad.ir.quote import constant, placed
from s2sgrad.ir.unit import Unit

_SIGNATURE = inspect.signature(lambda iterable=(), maxlen=None: None)


def written(unit: Unit, node: gast.AST) -> gast.AST | None:
    """The list for a new deque, wherever it is made and whoever gets it; None for anything else."""
    require_plain(unit, node)
    arguments = _arguments(node) if unit.called(node) is deque else None
    if arguments is None:
        return None
    if not is_none(arguments.get("maxlen", constant(None))):
        unit.refuse(
            node, "a deque with `maxlen` drops items as others come, so that it has no text: take them off in the program"
        )
    unit.outside.stand_ins.add((deque, list))
    items = arguments.get("iterable", gast.List([], gast.Load()))
    return placed(node, items if isinstance(items, gast.List) else gast.Call(unit.builtin(list), [items], []))


def require_plain(unit: Unit, node: gast.AST) -> None:
    """Refuse a new container that does more than a list or a dict."""
    target = unit.called(node)
    if target is defaultdict:
        unit.refuse(node, "a `defaultdict` makes what it lacks as it is read, so that it has no text: use a dict, and ask "
                          "whether it has the key")  # fmt: skip
    if is_container_of_its_own(target):
        unit.refuse(node, f"`{target.__name__}` makes a list or a dict with methods of its own, which cannot be followed: "
                          "use a plain one")  # fmt: skip


def _arguments(call: gast.Call) -> dict[str, gast.AST] | None:
    """The arguments of a call of `deque`, by parameter; None if they cannot be matched."""
    words = {k.arg: k.value for k in call.keywords}
    if None in words or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    try:
        return _SIGNATURE.bind(*call.args, **words).arguments
    except TypeError:
        return None
