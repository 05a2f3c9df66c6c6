"""Lists of values of several types: one list for each type, and one that says which of them comes next.

    saved.append(x[1:].copy())             saved_0.append(..); saved_sorts.append(0)
    saved.append(x[0])            ->       saved_1.append(..); saved_sorts.append(1)
    t = saved.pop()                        same(saved_sorts.pop(), 1); t = saved_1.pop()

What is popped is guessed: the last statement that pops has what the first one pushed, and of two branches the first one what
the first one pushed.  A guess that is wrong raises, and the text runs.
"""

from __future__ import annotations

from typing import Any

from s2sgrad.compiled.values import Items, Leaf, Loose, Object, Scalar, Stack, Unfit
from s2sgrad.compiled.writer import Writer


def fits(a: Any, b: Any) -> bool:
    """Whether two values may be in one list; all may where there is none yet."""
    if a is None or b is None:
        return True
    if isinstance(a, Items) and isinstance(b, Items):
        return a.is_like(b) and all(map(fits, a.items, b.items))
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return a.dtype == b.dtype
    if isinstance(a, Leaf) and isinstance(b, Leaf):
        return (a.dtype, a.rank) == (b.dtype, b.rank)
    if isinstance(a, Loose) and isinstance(b, Loose):
        return a.rank == b.rank
    return isinstance(a, Object) and isinstance(b, Object) and a.value is b.value


def counted(stack: Stack) -> str:
    """The name of the list that has as many items."""
    return stack.which or stack.name


def part_for(writer: Writer, stack: Stack, item: Any) -> Stack:
    """The list for what is pushed; its type is noted."""
    stack.which = writer.item(stack.name, "sorts")
    k = next((k for k, part in enumerate(stack.sorts) if fits(part.item, item)), len(stack.sorts))
    if k == len(stack.sorts):
        stack.sorts.append(Stack(writer.item(stack.name, k), item))
    writer.pushed.append((stack.name, k))
    writer.line(f"{counted(stack)}.append({k})")
    return stack.sorts[k]


def branches_apart(writer: Writer, start: int, middle: int) -> None:
    """Note what two branches pushed as if the second one were first: backwards, it is the last one."""
    writer.pushed[start:] = writer.pushed[middle:] + writer.pushed[start:middle]


def part_of(writer: Writer, stack: Stack) -> Stack:
    """The list of what is popped, which is checked to be the one that comes next."""
    pushes = [k for name, k in writer.pushed if name == stack.name]
    if stack.pops >= len(pushes):
        raise Unfit("a list of values of several types")
    stack.pops += 1
    k = pushes[-stack.pops]
    writer.line(f"at_least(len({counted(stack)}), 1)")
    writer.line(f"same({counted(stack)}.pop(), {k})")
    return stack.sorts[k]
