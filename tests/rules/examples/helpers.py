"""Helpers of the runtime, and Python's own functions on numbers and containers."""

from __future__ import annotations

import builtins
import copy
import operator
from collections import namedtuple

import numpy as np

from s2sgrad import runtime
from s2sgrad.rules import builtin_functions, helpers, named_tuples, picking, sequences
from s2sgrad.runtime import structure
from s2sgrad.runtime.given import fitted

from .base import example, normal

PLACE = namedtuple("PLACE", "x y z")

# --- helpers of the runtime ------------------------------------------------------------------------------------------

for _f in (runtime.unbroadcast, helpers.fit):
    example(_f, normal(2, 3), normal(3))
    example(_f, normal(2, 3), normal(2, 1))
    example(_f, normal(3), normal(2, 3))
    example(_f, normal(2, 3), 0.7)
    example(_f, 0.3, normal(3))
example(helpers.fit, [0.3, normal(2)], [0.7, normal(2)])
example(helpers.fit, {"a": 0.3, "b": normal(2)}, {"b": normal(2), "c": normal(3)})
example(fitted, normal(2, 3), normal(2, 3), "the vjp of `f`")
example(fitted, 0.7, normal(2, 3), "the vjp of `f`", argument="x")
example(runtime.unreduce, normal(2), normal(2, 3), axis=1)
example(runtime.unreduce, 0.7, normal(2, 3))
example(runtime.unreduce, normal(1, 3, 1), normal(2, 3, 4), axis=(0, 2), keepdims=True)
example(runtime.spreading, normal(2), normal(2, 3), axis=1)
example(runtime.spreading, normal(1, 3), normal(2, 3), axis=0, keepdims=True)
example(runtime.add, normal(2, 3), normal(3))
example(runtime.add, 0.3, 0.7)
example(runtime.add, [0.3, normal(2)], [0.7, normal(2)])
example(runtime.add, None, normal(2))
example(runtime.add, {"a": 0.3, "b": normal(2)}, {"b": normal(2), "c": normal(3)})
example(runtime.add_at, normal(3), 1, 0.7)
example(runtime.add_at, normal(3), [0, 0, 2], normal(3))
example(runtime.add_at, normal(3, 2), slice(0, 2), normal(2))
example(runtime.add_at, [0.3, normal(2)], 1, normal(2))
example(runtime.restored, normal(3), normal(3))
example(runtime.restored, 0.3, 0.7)
example(runtime.own, normal(3))
example(structure.kept, normal(3))
example(structure.kept, [normal(3), 0.7])
example(runtime.own, (0.3, normal(2)))
example(runtime.like, normal(2, 3), normal(3))
example(runtime.like, normal(2, 3), normal(2, 3))
example(runtime.seed_like, normal(3), normal(3))
example(runtime.seed_like, normal(3), None)
example(runtime.require_array, normal(3))
example(runtime.sequence, normal(3))

# --- Python's own functions on numbers and containers ---------------------------------------------------------------

example(builtins.pow, 0.3, 2)
example(builtins.pow, 0.3, 0.7)
example(builtins.sum, [0.3, 0.7, -0.4])
example(builtins.sum, normal(4))
example(builtins.sum, normal(3, 2))
example(builtins.sum, [normal(2, 3), normal(3), 0.7, np.array(0.3), np.float64(1.7)])
example(builtins.sum, [normal(3), 0.7], start=normal(2, 3))
example(builtins.sum, [normal(2, 3), 0.7], normal(3))
example(builtins.sum, normal(2, 3), normal(2, 1))
example(builtins.sum, normal(2, 3), start=0.7)
example(builtins.list, normal(3))
example(builtins.tuple, [0.3, 0.7])
example(builtins.tuple, [normal(3), 0.7])
example(builtins.list, (normal(3), normal(2)))
example(builtins.max, 0.3, 0.7)
example(builtins.min, 0.3, 0.7)
example(builtin_functions.largest, [0.3, 0.7, 0.1])
example(builtin_functions.largest, normal(4))
example(builtin_functions.largest_of, 0.3, 0.7, 0.1)
example(builtin_functions.smallest_of, 0.3, 0.7, 0.1, 0.5)
example(builtin_functions.smallest, (0.3, 0.7, 0.1))
example(builtin_functions.spread, 0.4, [0.3, 0.7])
example(builtin_functions.spread, normal(3), [normal(3), 0.7])
example(builtin_functions.spread, normal(2, 3), normal(2, 3))
example(builtin_functions.spread, 0.4, normal(3))
example(builtin_functions.regroup, [0.4, 0.5], normal(2))
example(builtin_functions.regroup, [normal(3), normal(3)], normal(2, 3))
example(builtin_functions.sum_of, [0.4, 0.5], 0.3)
example(builtin_functions.sum_of, [normal(3), normal(3)], normal(3))
example(builtin_functions.preceded, 0.4, [0.3, 0.7])
example(builtin_functions.preceded, 0.4, [normal(3), 0.7])
example(builtin_functions.placed, 0.4, 1, normal(3))
example(builtins.divmod, 1.7, 0.6)
example(builtins.sorted, [0.3, 0.7, 0.1])
example(builtins.sorted, normal(4), reverse=True)
example(builtin_functions.arranged, (0.3, 0.7, 0.1), [2, 0, 1])
example(builtin_functions.arranged, [normal(3), 0.7, normal(2)], [2, 0, 1])
example(builtin_functions.unarranged, [0.3, 0.7], normal(2), [1, 0])
example(builtin_functions.unarranged, [normal(3), normal(3)], normal(2, 3), [1, 0])

# --- lists and dicts -------------------------------------------------------------------------------------------------

example(runtime.with_fields, PLACE(0.3, normal(2), 0.5), ("y",), normal(3))
_parts = PLACE(0.3, normal(3), 0.9)
example(runtime.as_dict, PLACE(0.3, normal(2), 0.5))
example(named_tuples.of_dict, {"x": 0.3, "y": normal(2), "z": 0.7}, PLACE(0.3, normal(2), 0.5))
example(named_tuples.fields, _parts, PLACE(0.4, normal(3), 0.8), ("y",))
example(named_tuples.unfields, (_parts, 0.0, normal(3)), _parts, PLACE(0.4, normal(3), 0.8), ("y",))
example(operator.concat, [0.3, normal(2)], [0.7])
example(copy.copy, [0.3, normal(2)])
example(copy.copy, normal(2, 3))
example(copy.deepcopy, {"a": [0.3, normal(2)], "b": 0.7})
example(picking.picked, (0.3, normal(2), 0.7, 0.5), (0, (1, 3)))
example(picking.picked, (0.3, normal(2)), (1,))
example(picking.unpicked, (0.3, (normal(2), 0.7)), (0.1, normal(2), 0.4, 0.5), (0, (1, 3)))
example(picking.unpicked, normal(2), (0.1, normal(2)), (1,))
example(operator.concat, (0.3, None), ("name", normal(2, 3)))
example(runtime.repeated, [0.3, 0.7], 3)
example(runtime.repeated, (0.3, normal(2)), 1)
example(runtime.repeated, [0.3, normal(2)], 0)
example(runtime.repeated, (None, normal(2)), 2)
example(sequences.folded, [0.3, 0.7, 0.1, 0.9], [0.0, 0.0], 2)
example(sequences.folded, (0.3, normal(2), 0.1, normal(2)), (0.0, normal(2)), 2)
example(builtins.dict, {"a": 0.3, "b": normal(2)})
example(builtins.dict, {"a": [0.3, normal(2)], "b": None, "c": {"d": 0.7}})
example(runtime.held, {"a": 0.3, "b": normal(2)}, "b")
example(runtime.held, {"a": normal(3), "b": [normal(2), 0.7], "c": None}, "b")
example(runtime.held, {"a": 0.3}, "b")
example(runtime.put_back, {"a": 0.3, "b": 0.7}, "b", 0.4)
example(runtime.put_back, {"a": normal(3), "b": normal(2), "c": None}, "b", normal(2, 2))
example(runtime.put_back, {"a": normal(3), "b": [normal(2), 0.7]}, "b", 0.4)
example(runtime.put_back, {"a": normal(3), "b": normal(2)}, "b", runtime.held({}, "b"))
example(sequences.without, {"a": 0.3, "b": 0.7}, {"a": 0.3, "b": 0.7}, "b")
example(sequences.without, {"a": normal(2), "b": normal(3)}, {"a": normal(2), "b": [0.7, normal(2)]}, "b")
example(sequences.without, {"a": 0.3, "b": None}, {"a": 0.3, "b": normal(2)}, "b")
example(sequences.without, {"a": 0.3}, {"a": 0.3, "b": normal(2)}, "b")
example(sequences.entry, {"a": 0.3, "b": 0.7}, "b")
example(sequences.entry, {"a": normal(3), "b": normal(2), "c": None}, "b")
example(sequences.entry, {"a": normal(3)}, "b")
example(sequences.alone, 0.3, {"a": 0.3, "b": 0.7}, "b")
example(sequences.alone, normal(2), {"a": normal(3), "b": normal(2), "c": None}, "b")
example(sequences.alone, None, {"a": normal(3), "b": normal(2)}, "b")
example(sequences.alone, 0.3, {"a": normal(3)}, "b")
