"""The effects of functions: which are pure, which write an argument, which call one.

    len(x)   pure        np.copyto(y, v)   writes y        map(f, xs)   calls f        list(it)   exhausts `it`

>>> import numpy as np
>>> from s2sgrad.primitives.record import of
>>> of(len).pure, of(print).pure, of(np.copyto).writes, of(map).called, of(sum).iterates
(True, False, (0,), 0, True)
"""

from __future__ import annotations

import bisect
import builtins
import functools
import heapq
import itertools
import operator
import random

import numpy as np

from s2sgrad import runtime
from s2sgrad.primitives.record import know
from s2sgrad.runtime import checkpoints, checks, given, outside, results, shadows, unseen_functions, watching

know(
    len, range, float, int, bool, abs, min, max, sum, round, isinstance, issubclass, type, str, repr, tuple, list, dict,
    set, frozenset, sorted, enumerate, zip, reversed, any, all, divmod, pow, complex, ord, chr, slice, hasattr,
    callable, hash, format, iter,
    computes=True,
)  # fmt: skip
know(np.clip, optional=(1, 2))
know(any, all, sum, min, max, sorted, list, tuple, set, frozenset, dict, np.fromiter, iterates=True)
know(len, int, bool, str, repr, isinstance, issubclass, type, hasattr, callable, range, slice, any, all, hash, format, ord,
     chr, flat=True)  # fmt: skip
know(
    np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis, np.random.shuffle,
    heapq.heappush, heapq.heappop, heapq.heapify, heapq.heappushpop, heapq.heapreplace, bisect.insort_left,
    bisect.insort_right, random.shuffle, operator.setitem, operator.delitem,
    writes=(0,),
)  # fmt: skip
know(builtins.exec, builtins.eval, builtins.locals, builtins.globals, builtins.vars, builtins.setattr, builtins.delattr,
     unseen=True)  # fmt: skip

know(map, filter, itertools.starmap, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, np.apply_along_axis,
     np.apply_over_axes, np.fromfunction, called=0)  # fmt: skip
know(functools.reduce, called=0, called_name="function")
know(itertools.accumulate, called=1, called_name="func")
know(itertools.groupby, called=1, called_name="key")
know(np.piecewise, called=2)
know(sorted, max, min, bisect.bisect_left, bisect.bisect_right, called_name="key")
know(bisect.bisect_left, bisect.bisect_right, computes=True)

know(checkpoints.Checkpoints, checkpoints.checkpoint, checkpoints.checkpointed, computes=True, flat=True)
know(checkpoints.keep, checkpoints.latest, writes=(0,))
know(
    runtime.push, runtime.add_at, runtime.jvp, runtime.tangent_fits, runtime.vjp, runtime.sequence,
    runtime.require_array, runtime.rebinds, runtime.bound, runtime.contiguous, runtime.scalar, runtime.as_number,
    checks.has_axes, runtime.set_attribute, outside.unshared, outside.container, outside.kept_outside,
    runtime.distinct, runtime.unreached, runtime.once, runtime.separate, shadows.require_view, shadows.add_into,
    shadows.refilled,
    runtime.replaces, runtime.resizes, runtime.restored, runtime.put_back, runtime.poison, runtime.unpackable,
    runtime.apart, runtime.real, runtime.keeps_floats, runtime.asked_whole, runtime.only_these, checks.fills,
    checks.as_long, unseen_functions.unreferred, checks.spreads, checks.shuffled, checks.lasts, checks.has_keys,
    checks.require_instance, runtime.number, checks.no_subclass, checks.no_subclass_itself,
    results.require_floats, results.pair, runtime.no_guest, watching.watch, watching.watch_derivative, watching.watch_result,
    given.require_real,
    effect=True,
)  # fmt: skip
know(outside.set_item, outside.delete_items, writes=(0,), effect=True)
