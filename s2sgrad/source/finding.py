"""Finds the node of a code object: by line, name, columns, and what it compiles to."""

from __future__ import annotations
import __future__

import ast
import types
from typing import Any

from s2sgrad.source.comparing import same_code
from s2sgrad.source.files import File, Found, quietly
from s2sgrad.source.refusing import EDITED, Refusal

FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag


def find(file: File, code: types.CodeType) -> Found:
    """The node that a code object was compiled from; raises Refusal if there is none, or more than one."""
    key = code.co_firstlineno, code.co_name
    sharing = file.functions(*key)
    if not sharing:
        raise Refusal(EDITED.format(file.name))
    try:
        flags = code.co_flags & FUTURE_FLAGS
        same = [fresh for fresh in file.codes(flags).get(key, ()) if same_code(code, fresh)]
        if not same:
            same = [fresh for fresh in file.codes(flags, apart=True).get(key, ()) if same_code(code, fresh)]
    except (SyntaxError, ValueError):  # a text that parses may still not compile
        raise Refusal(EDITED.format(file.name)) from None
    if not same:
        raise Refusal(EDITED.format(file.name))
    fitting = [found for found in _narrowed(code, sharing) if any(found in _narrowed(fresh, sharing) for fresh in same)]
    if len(fitting) > 1:
        # No columns: Python 3.12 gives none to a lambda that returns a constant, and -X no_debug_ranges none at all.
        # What a lambda compiles to on its own still distinguishes them, unless it reads names of an enclosing function.
        alone = [found for found in fitting if same_code(code, _compiled_alone(found.node, file.name, flags))]
        fitting = alone if len(alone) == 1 else fitting
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise Refusal(
            f"{len(sharing)} lambdas start on line {code.co_firstlineno} of {file.name}, and the code has no column "
            "positions to tell them apart (they were ambiguous): put each on its own line, or use def"
        )
    raise Refusal(EDITED.format(file.name))


def _narrowed(code: types.CodeType, sharing: list[Found]) -> list[Found]:
    """Of the nodes that share a line and a name, the one whose body contains the instructions; all if columns are missing.

    The instructions of a lambda lie in its body, and at least one lies outside the lambdas nested in it (the one that makes
    the inner function spans all of it).
    """
    if len(sharing) == 1 or not isinstance(sharing[0].node, ast.Lambda):
        return sharing
    bodies = [_extent(found.node.body) for found in sharing]
    spots = {
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and end_line is not None and column is not None and end_column is not None
        if (line, column) != (end_line, end_column)
    }
    spots = {spot for spot in spots if any(_encloses(body, spot) for body in bodies)}
    around = [place for place, body in enumerate(bodies) if all(_encloses(body, spot) for spot in spots)]
    if not spots or not around:
        return sharing
    return [sharing[max(around, key=bodies.__getitem__)]]  # nested ones: the inner starts later


def _compiled_alone(node: ast.Lambda, filename: str, flags: int) -> types.CodeType:
    """The code of a lambda compiled by itself, without its defaults."""
    parameters = node.args
    arguments = ast.arguments(
        posonlyargs=parameters.posonlyargs,
        args=parameters.args,
        vararg=parameters.vararg,
        kwonlyargs=parameters.kwonlyargs,
        kw_defaults=[None] * len(parameters.kwonlyargs),
        kwarg=parameters.kwarg,
        defaults=[],
    )
    alone = ast.Expression(ast.copy_location(ast.Lambda(args=arguments, body=node.body), node))
    code = quietly(compile, alone, filename, "eval", flags, True)
    return next(const for const in code.co_consts if isinstance(const, types.CodeType))


_Extent = tuple[tuple[int, int], tuple[int, int]]


def _extent(node: Any) -> _Extent:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _encloses(outer: _Extent, inner: _Extent) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
