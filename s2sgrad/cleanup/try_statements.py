"""Whether an expression raises, and then the same expression, become a `try` again, which evaluates it once.

    which = raised(lambda: d[key], KeyError)           try: v = d[key]
    if which == 0: v = d[key]; y = v * x       ->      except KeyError: which = 1; y = 0.0
    else: y = 0.0                                      else: which = 0; y = v * x

The number of the handler is kept only if the reverse sweep asks for it.  Where a handler would catch our own refusals, which
are TypeErrors, the question remains, for it lets these pass.

>>> from s2sgrad.cli.stages import changes
>>> print(changes('''
... def f(x, d):
...     try:
...         y = d["k"]
...     except KeyError:
...         y = 0.0
...     return x * y
... ''', "try_statements", 2.0, {}))
+     try:
-     which = raised(lambda: d['k'], KeyError)
-     if which == 0:
-     else:
+     except KeyError:
"""

from __future__ import annotations

import gast

from s2sgrad import runtime
from s2sgrad.ir.forms import bound_name, target_name
from s2sgrad.ir.quote import assign, at, constant, name, nested, nodes
from s2sgrad.ir.simplify import same
from s2sgrad.ir.unit import Unit

Block = list[gast.AST]


def run(unit: Unit, tree: gast.FunctionDef) -> gast.FunctionDef:
    """Restore the `try` statements whose exceptions nobody reads."""
    if not any(helper is runtime.raised for helper in unit.helpers.values()):
        return tree
    read = {n.id for call in nodes(tree) if unit.called(call) is runtime.caught for n in call.args}
    for body in reversed([*nested(tree.body)]):
        for k in range(len(body) - 2, -1, -1):
            asked = body[k]
            if bound_name(asked) in (None, *read) or unit.called(asked.value) is not runtime.raised:
                continue
            if not any(_may_catch_ours(unit, kind) for kind in asked.value.args[1:]):
                body[k : k + 2] = _restored(tree, asked, body[k + 1])
    return tree


def _may_catch_ours(unit: Unit, kind: gast.AST) -> bool:
    """Whether these exceptions may be refusals of ours."""
    classes = map(unit.resolve, kind.elts if isinstance(kind, gast.Tuple) else [kind])
    return any(not isinstance(cls, type) or issubclass(runtime.Refusal, cls) for cls in classes)


def _restored(tree: gast.FunctionDef, asked: gast.Assign, test: gast.AST) -> Block:
    """The `try`; the two statements as they are, if they are no such pair."""
    which, kinds = target_name(asked), asked.value.args[1:]
    arms = _arms(which, [test], len(kinds) + 1)
    if arms is None or not _does(arms[0], asked):
        return [asked, test]
    first, *rest = arms[0]
    asks = 1 + len(kinds)  # in the pair itself
    kept = sum(isinstance(n, gast.Name) and n.id == which for n in nodes(tree)) > asks
    done, *failed = [
        [*(at(asked, assign(which, constant(k))) if kept else []), *block] for k, block in enumerate([rest, *arms[1:]])
    ]
    handlers = [gast.ExceptHandler(k, None, b or at(asked, gast.Pass())) for k, b in zip(kinds, failed, strict=True)]
    return at(first, gast.Try([first], at(asked, *handlers), done, []))


def _arms(which: str, block: Block, count: int, number: int = 0) -> list[Block] | None:
    """The blocks of `if which == 0: .. elif which == 1: .. else: ..`, one more than its tests; None for anything else."""
    if number == count - 1:
        return [block]
    test = block[0] if len(block) == 1 and isinstance(block[0], gast.If) else None
    if test is None or not same(test.test, gast.Compare(name(which), [gast.Eq()], [constant(number)])):
        return None
    others = _arms(which, test.orelse, count, number + 1)
    return None if others is None else [test.body, *others]


def _does(block: Block, asked: gast.Assign) -> bool:
    """Whether a block begins with the expression that was asked about."""
    bound = bound_name(block[0])
    return bound not in (None, bound_name(asked)) and gast.dump(block[0].value) == gast.dump(asked.value.args[0].body)
