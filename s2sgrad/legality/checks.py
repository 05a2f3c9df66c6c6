"""All checks, in the order in which a reader would encounter what they refuse.

def f(x): y = np.fft.fft(x); x.sort(); return np.sum(y)      ->      the first line is refused, not the second
"""

from __future__ import annotations

import gast

from s2sgrad.analysis import effects
from s2sgrad.analysis.inference import Inference
from s2sgrad.flow.graph import binds
from s2sgrad.ir.quote import calls_in
from s2sgrad.legality import (
    array_attributes,
    calls,
    complex_values,
    containers,
    dense_matrices,
    file_roundtrips,
    guests,
    handed_functions,
    operations,
    own_readers,
    repeats,
    sequences,
    stand_ins,
    stores,
    string_roundtrips,
    structured_arrays,
    unseen_reads,
)
from s2sgrad.legality.context import Context


def run(context: Context, inference: Inference) -> bool:
    """Raise Unsupported or NoRule at the first construct of a function that cannot be differentiated; whether statements
    were inserted that check something when the function runs."""
    collections: set[str] = set()
    suspects, sums, checks = guests.suspects(context, inference), dense_matrices.sums(context), dict[int, list[gast.AST]]()
    for statement in effects.walk(context.tree.body):
        operation = context.paths.operations.get(id(statement))
        own_readers.check(context, statement)
        containers.check(context, statement, collections)
        operations.check_indices(context, statement, inference)
        array_attributes.check(context, statement)
        stand_ins.check(context, statement)
        on_path = bool(set(binds(statement)) & context.paths.active)
        structured_arrays.check(context, statement, operation)
        if found := dense_matrices.check(context, statement, operation, sums):
            checks[id(statement)] = found
        if operation is not None and (inserted := guests.check_flat(context, operation, suspects)):
            checks.setdefault(id(statement), []).extend(inserted)
        if operation is not None and on_path:
            if inserted := guests.check(context, operation, suspects):
                checks.setdefault(id(statement), []).extend(inserted)
            if inserted := sequences.check(context, operation):
                checks.setdefault(id(statement), []).extend(inserted)
            operations.check(context, statement, operation)
            handed_functions.check(context, operation)
        for call in calls_in(effects.header(statement)):
            calls.check(context, statement, call, operation is not None and on_path and operation.node is call)
            unseen_reads.note(context, call)
    for statement in effects.walk(context.tree.body):  # these come last
        stores.check(context, statement)
        if inserted := stores.checked(context, statement):
            checks.setdefault(id(statement), []).extend(inserted)
    string_roundtrips.check(context.unit, context.tree, context.varied, context.kinds)
    file_roundtrips.check(context.unit, context.tree, context.varied, context.kinds)
    containers.check_stacks(context)
    repeats.check(context)
    handed_functions.check_later(context)
    inserted = [guests.insert(context.tree, checks), complex_values.insert_checks(context, inference)]
    return any([*inserted, unseen_reads.check(context)])
