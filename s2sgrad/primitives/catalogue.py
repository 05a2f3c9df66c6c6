"""All records of primitives, which importing this module fills in."""

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

TOPICS = (costs, effects, methods, sharing, texts)

__all__ = ["TOPICS", "VIEWS", "Gives", "Primitive", "is_named", "know", "know_methods", "may_write", "methods_named", "of",
           "of_bound", "on_stack", "records"]  # fmt: skip
