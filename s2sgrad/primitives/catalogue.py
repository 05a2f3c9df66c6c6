"""All records of primitives, which importing this module fills in."""

from typing import Any

from s2sgrad.primitives import costs, effects, methods, sharing, texts
from s2sgrad.primitives.record import (
    VIEWS,
    Gives,
    Primitive,
    is_named,
    know,
    know_methods,
    may_write,
    methods_named,
    of,
    of_bound,
    on_stack,
    records,
)
from s2sgrad.rules import instances

TOPICS = (costs, effects, methods, sharing, texts)

__all__ = [
    "TOPICS", "VIEWS", "Gives", "Primitive", "instances_of", "is_named", "know", "know_methods", "may_write",
    "methods_named", "methods_of_made", "of", "of_bound", "on_stack", "records",
]  # fmt: skip


def instances_of(cls: Any) -> instances.Maker | None:
    """What makes the instances of a class of a library, and what calls them, where what they were made of is handed on."""
    return instances.of(cls)


def methods_of_made(maker: Any) -> dict[str, instances.Method]:
    """What stands for the methods of the objects that a callable makes, where what they were made of is handed on."""
    return instances.methods_of(maker)
