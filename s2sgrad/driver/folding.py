"""Functions of a program that have the same text are written once.

    total_fwd, for the first call, and total_fwd_, for those of the recursion, differ in what they call themselves
    ->      total_fwd

They are the same if their texts are, but for the names of functions that are the same in turn: the coarsest such partition,
by refinement, as states of an automaton are merged (E. F. Moore, 1956).

>>> from s2sgrad import grad
>>> from s2sgrad.driver.pipeline import defined
>>> df = grad(defined('''
... def total(x, n):
...     return x if n == 0 else x * total(x / 2.0, n - 1)
... def f(x):
...     return total(x, 3)
... '''))
>>> df(2.0), df.source.count("def total_fwd")
(0.5, 1)
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from s2sgrad import emit
from s2sgrad.driver.emitted import Emitted
from s2sgrad.ir import scoping
from s2sgrad.ir.quote import clone, mentioned, nodes


def folded(functions: list[Emitted], entries: list[Emitted]) -> list[Emitted]:
    """The functions without those that are the same as another, which is called in their place; entries all stay."""
    times = Counter(map(_group, functions))
    alike = [f for f in functions if times[_group(f)] > 1 and not any(f is entry for entry in entries)]
    if not alike:
        return functions
    classes = _classes(functions, {id(f): _text(f) for f in alike})
    chosen: dict[Any, Emitted] = {}
    for f in sorted(functions, key=lambda f: (len(f.name), f.name)):
        chosen.setdefault(classes[id(f)], f)
    for f in chosen.values() if len(chosen) < len(functions) else ():
        _call_chosen(f, {id(other): chosen[classes[id(other)]] for other in functions})
    return [f for f in functions if chosen[classes[id(f)]] is f]


def _classes(functions: list[Emitted], texts: dict[int, tuple[Any, list[Emitted]]]) -> dict[int, Any]:
    """The class of each function by its `id`: functions of a class have one text and call functions of the same classes."""
    classes: dict[int, Any] = {id(f): id(f) for f in functions} | {k: text for k, (text, _) in texts.items()}
    before, count = -1, 0
    while before != count:
        refined = {k: (classes[k], *(classes[id(f)] for f in called)) for k, (_, called) in texts.items()}
        numbers = {key: n for n, key in enumerate(dict.fromkeys(refined.values()))}
        classes |= {k: (numbers[key],) for k, key in refined.items()}
        before, count = count, len(numbers)
    return classes


def _group(f: Emitted) -> Any:
    """What functions with the same text have in common; cheap."""
    facts = f.traits, f.header, f.scalar, f.numpy, f.backend.name
    values = tuple((p, id(value)) for p, value in f.defaults.items())
    return id(f.primal), len(f.tree.body), values, tuple(f.dots.items()), *facts


def _called(f: Emitted) -> dict[str, Emitted]:
    """The functions of the program that a function calls, by its names for them."""
    names = mentioned(f.tree)
    return {n: value for n, value in f.unit.helpers.items() if n in names and isinstance(value, Emitted)}


def _text(f: Emitted) -> tuple[Any, list[Emitted]]:
    """The text of a function without the names of others of the program, with what its other names stand for; and these
    others, as it calls them."""
    called = _called(f)
    tree = clone(f.tree)
    calls = [called[n.id] for n in nodes(f.tree) if isinstance(n, gast.Name) and n.id in called]
    scoping.rename(dict.fromkeys(called, "called"), tree)
    tree.name = "f"
    names = mentioned(f.tree) - called.keys()
    helpers = tuple(sorted((n, id(value)) for n, value in f.unit.helpers.items() if n in names))
    return (_group(f), emit.function(tree, f.header), helpers), calls


def _call_chosen(f: Emitted, chosen: dict[int, Emitted]) -> None:
    """Let a function call those that are kept."""
    others = {n: chosen[id(other)] for n, other in _called(f).items() if chosen[id(other)] is not other}
    scoping.rename({n: other.name for n, other in others.items()}, f.tree)
    f.unit.helpers |= {other.name: other for other in others.values()}
