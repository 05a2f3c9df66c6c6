"""Variables that are None at times: a flag says when, and what hands them on tells the two apart.

    best = None                          best_bound = False
    for x in rows:
        saved.append(best)      ->           if best_bound: saved_0.append(best); saved_sorts.append(0)
        best = x * 2.0                       else: saved_sorts.append(1)
    best = saved.pop()                   best_bound = saved_sorts.pop() == 0
                                         if best_bound: best = saved_0.pop()

Everything else that reads one checks the flag, and raises; then the text runs.
"""

from __future__ import annotations

from typing import Any

import gast

from s2sgrad import runtime
from s2sgrad.compiled import mixed
from s2sgrad.compiled.frames import Frame
from s2sgrad.compiled.values import BOOL, FLOAT, INT, SINGLE, Extent, Leaf, Object, Scalar, Stack
from s2sgrad.compiled.writer import Again
from s2sgrad.ir.forms import appended_to, popped
from s2sgrad.ir.quote import expression, substitute

_KEEP_NONE = (runtime.zeros, runtime.own, runtime.copies.copied)  # None where they are handed None


def begun(self: Any, key: str) -> None:
    """Give a variable that is bound at times a value that nothing reads: a compiler asks for one."""
    kind, *what = self.found.types.get(key, (None,))
    if kind is Leaf:
        self.writer.allocate(key, (Extent(None, 0),) * what[1], what[0])
    elif kind is Scalar:
        self.writer.line(f"{key} = {_NOTHING[FLOAT if what[0] == SINGLE and key in self.found.numbers.either else what[0]]}")


_NOTHING = {FLOAT: "0.0", SINGLE: "np.float32(0.0)", INT: "0", BOOL: "False"}


def flag(self: Any, frame: Frame, node: gast.AST) -> Scalar | None:
    """Whether a variable is not None, where that is not known."""
    if not isinstance(node, gast.Name) or node.id not in frame.variables:
        return None
    key = frame.name(node.id)
    if key not in self.found.optional or key in self.bound:
        return None
    return Scalar(own := self.writer.item(key, "bound"), BOOL, True, frozenset((own,)))


def is_none(self: Any, frame: Frame, node: gast.Compare) -> Scalar | None:
    """`x is None`, or its contrary, for such a variable."""
    if not isinstance(node.comparators[0], gast.Constant) or node.comparators[0].value is not None:
        return None
    known = flag(self, frame, node.left)
    if known is None or isinstance(node.ops[0], gast.IsNot):
        return known
    return Scalar(f"(not {known.text})", BOOL, True, known.reads)


def present(self: Any, frame: Frame, test: gast.AST, holds: bool) -> set[str]:
    """The variables that are not None where a test holds, or does not."""
    if not isinstance(test, gast.Compare) or is_none(self, frame, test) is None:
        return set()
    return {frame.name(test.left.id)} if isinstance(test.ops[0], gast.IsNot) is holds else set()


def told_apart(self: Any, frame: Frame, s: gast.AST) -> bool:
    """Lower a statement that hands such a variable on, twice: for None, and for what else it may be."""
    if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) and popped(s.value) is not None:
        return _popped(self, frame, s)
    node = _handed_on(frame, s)
    if node is None or flag(self, frame, node) is None:
        return False
    if isinstance(s, gast.Assign):
        _is_variable(self, frame, s.targets[0].id)
    (none,) = (
        substitute([s], {node.id: gast.Constant(None, None)})
        if not isinstance(s, gast.Assign)
        else [gast.Assign(s.targets, gast.Constant(None, None), None)]
    )
    test = expression("x is not None", x=gast.Name(node.id, gast.Load(), None, None))
    self.block(frame, [gast.copy_location(gast.If(test, [s], [none]), s)])
    return True


def _is_variable(self: Any, frame: Frame, name: str) -> None:
    if name not in frame.variables:
        self.found.variables.add(frame.name(name))
        raise Again


def _handed_on(frame: Frame, s: gast.AST) -> gast.Name | None:
    """The name of what a statement hands on as it is, or as a zero of its kind."""
    node = None
    if isinstance(s, gast.Expr) and appended_to(s.value) is not None:
        node = s.value.args[0]
    elif isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
        node = s.value
        if isinstance(node, gast.Call) and len(node.args) == 1 and frame.unit.resolve(node.func) in _KEEP_NONE:
            node = node.args[0]
    return node if isinstance(node, gast.Name) else None


def _popped(self: Any, frame: Frame, s: gast.Assign) -> bool:
    """`x = stack.pop()` of what may be None."""
    taken_from = popped(s.value) or ""
    stack = frame.env.get(taken_from)
    if not isinstance(stack, Stack) or len(stack.sorts) != 2:
        return False
    nones = [k for k, part in enumerate(stack.sorts) if isinstance(part.item, Object) and part.item.value is None]
    if len(nones) != 1:
        return False
    name, part = s.targets[0].id, stack.sorts[1 - nones[0]]
    _is_variable(self, frame, name)
    self.writer.touch(lambda reads: stack.name in reads)
    self.compound(frame, [s])
    self.writer.line(f"at_least(len({mixed.counted(stack)}), 1)")

    frame.env[taken_from] = part  # in the first branch
    block, _ = self.within(frame, f"if {mixed.counted(stack)}.pop() == {1 - nones[0]}:", [s])
    frame.env[taken_from] = stack
    self.within(frame, "", lambda: self.assign(frame, name, Object(None)), block)
    return True
