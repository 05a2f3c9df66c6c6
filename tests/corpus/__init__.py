"""The corpus: small functions, each named for what it shows, with a point at which to check it.

`CASES` lists them all; `by_name` finds one.  Some modules write into arrays, in place, and some into lists and objects
(test_corpus.py names them); the others are functional.  Points keep away from kinks, and no function warns.
What is refused stands in refused.py.
"""

from . import (  # noqa: F401
    array_likes,
    arrays,
    asked_objects,
    assignments,
    attempts,
    attributes,
    bound_late,
    branches,
    buffers,
    callables,
    calls,
    checkpoints,
    chosen,
    class_members,
    classes,
    closures,
    collected,
    comprehensions,
    copies,
    decorated,
    dicts,
    drawn,
    exits,
    found,
    handed,
    idioms,
    imports,
    indexing,
    indices,
    iteration,
    kept_closures,
    list_sections,
    lists,
    loops,
    managers,
    methods,
    mixed_lists,
    mutators,
    named_alike,
    named_attributes,
    namespaces,
    naming,
    nested_gradients,
    nested_lists,
    numerics,
    objects,
    operands,
    outside,
    overwritten,
    parts,
    passed_on,
    pulled_back,
    rebinding,
    recursion,
    recursive_objects,
    recursive_writers,
    references,
    remembered,
    scopes,
    shared_lists,
    sharing,
    signatures,
    slotted,
    stacks,
    stateful,
    statements,
    stores,
    subclasses,
    swaps,
    tools,
    tried_objects,
    undecided,
    unforeseen,
    values,
    views,
    whiles,
    writers,
)
from .case import REGISTERED, Case, case

__all__ = ["CASES", "Case", "by_name", "case"]

CASES = tuple(REGISTERED)  # tests that run the text of a case, decorator included, register it again


def by_name(name: str) -> Case:
    """The case of this name."""
    return next(entry for entry in CASES if entry.name == name)
