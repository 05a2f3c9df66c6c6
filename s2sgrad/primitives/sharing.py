"""What the results of functions alias.

    np.ravel(x), np.asarray(x)   may alias x        list(xs)   is a new list of the items of xs
    np.sin(x), np.sum(x)         never do           max(xs)    is one of them

>>> from s2sgrad.primitives.record import of
>>> of(np.unique).may_view, of(np.ravel).may_view, of(np.frombuffer).may_view, of(sorted).gives
(False, True, True, <Gives.SHELL: 5>)
"""

from __future__ import annotations

import builtins
import collections
import copy
import itertools
import operator

import numpy as np

from s2sgrad import runtime
from s2sgrad.primitives import spellings
from s2sgrad.primitives.record import Gives, know
from s2sgrad.rules import builtin_functions, einsum, helpers, joins
from s2sgrad.rules.table import existing
from s2sgrad.runtime import (
    checkpoints,
    closures,
    handed,
    item_slots,
    lanes,
    outside,
    shadows,
    structure,
)
from s2sgrad.runtime.copies import copied, copied_as_laid, data_of
from s2sgrad.runtime.given import fitted
from s2sgrad.runtime.structure import lacking, moved, place_of

_ANY = -1  # the result may alias any of the arguments

# --- of NumPy ---

know(np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.flip, np.fliplr, np.flipud, np.rot90, np.expand_dims,
     np.squeeze, gives=Gives.VIEW, computes=True)  # fmt: skip
know(np.reshape, np.ravel, gives=Gives.CONTIGUOUS, computes=True)
know(
    np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.broadcast_to, np.diagonal, np.diag, np.real,
    np.imag, np.nan_to_num, np.require, np.lib.stride_tricks.as_strided,
    np.lib.stride_tricks.sliding_window_view, np.trim_zeros, np.real_if_close, np.ndarray.view, np.linalg.matrix_power,
    data_of, np.asarray_chkfinite, np.diff, np.polyder, np.polyint, *existing(np, "matrix_transpose"),
    *existing(np.linalg, "diagonal", "matrix_transpose"),
    gives=Gives.MAYBE, computes=True,
)  # fmt: skip
know(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.ix_, *existing(np, "unstack"),
     gives=Gives.MAYBE, several=True, computes=True)  # fmt: skip
know(np.broadcast_arrays, np.meshgrid, np.histogram, np.atleast_1d, np.atleast_2d, np.atleast_3d,
     gives=Gives.MAYBE, of=_ANY, several=True, computes=True)  # fmt: skip
know(np.einsum, np.ndarray, np.from_dlpack, np.frombuffer, np.asmatrix, np.histogram2d, np.histogram_bin_edges, np.fft.fftn,
     np.fft.ifftn, np.fft.fft2, np.fft.ifft2, np.fft.rfftn, np.fft.irfftn, np.fft.rfft2, np.fft.irfft2,
     gives=Gives.MAYBE, of=_ANY, computes=True)  # fmt: skip
know(
    np.angle, np.array2string, np.array_repr, np.array_str, np.bartlett, np.base_repr, np.binary_repr, np.blackman,
    np.einsum_path, np.format_float_positional, np.format_float_scientific, np.fromstring, np.hamming, np.hanning, np.i0,
    np.intersect1d, np.kaiser, np.packbits, np.poly, np.polyadd, np.polydiv, np.polymul, np.polysub, np.roots, np.setdiff1d,
    np.setxor1d, np.sort_complex, np.typename, np.union1d, np.unique, np.unpackbits, np.linalg.cond, np.linalg.eig,
    np.linalg.eigvals, np.linalg.tensorinv, np.linalg.tensorsolve, np.fft.fft, np.fft.fftfreq, np.fft.hfft, np.fft.ifft,
    np.fft.ihfft, np.fft.irfft, np.fft.rfft, np.fft.rfftfreq,
    *existing(np, "row_stack", "isdtype", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    gives=Gives.NEW, computes=True,
)  # fmt: skip
know(np.full, np.full_like, fills=True)
know(np.concatenate, np.stack, joins=True)
know(np.sum, np.prod, np.cumsum, np.cumprod, np.mean, np.std, np.var, np.trace, accumulates=True)

# --- of Python ---

know(
    list, tuple, set, frozenset, sorted, reversed, iter, itertools.chain, itertools.islice, itertools.cycle,
    itertools.compress, itertools.takewhile, itertools.dropwhile, itertools.filterfalse,
    collections.deque, collections.OrderedDict, collections.Counter, collections.defaultdict,
    gives=Gives.SHELL,
)  # fmt: skip
know(zip, enumerate, itertools.product, itertools.combinations, itertools.permutations, itertools.zip_longest,
     itertools.pairwise, itertools.combinations_with_replacement, gives=Gives.ROWS)  # fmt: skip
know(builtins.dict, builtins.map, builtins.filter, builtins.getattr, copy.copy, itertools.accumulate, itertools.starmap,
     itertools.groupby, gives=Gives.MAYBE)  # fmt: skip
know(builtins.max, builtins.min, builtins.next, operator.getitem, gives=Gives.ITEM)
know(
    *(run for _, run in spellings.OPERATORS.values()), operator.concat, operator.abs, operator.inv, operator.not_,
    operator.truth, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.is_,
    operator.is_not, operator.contains, operator.countOf, operator.indexOf, operator.index,
    gives=Gives.OPERATOR,
)  # fmt: skip
know(
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
    operator.imatmul, operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift, operator.iconcat,
    gives=Gives.OPERATOR, writes=(0,),
)  # fmt: skip
know(print, id, input, dir, ascii, bin, oct, hex, aiter, open, breakpoint, np.seterr, np.geterr, np.errstate,
     gives=Gives.NEW)  # fmt: skip

# --- of our runtime ---

know(runtime.unbroadcast, runtime.unreduce, runtime.spreading, runtime.require_array, runtime.sequence, runtime.add_at,
     runtime.as_dict, runtime.push, runtime.restored, gives=Gives.MAYBE)  # fmt: skip
know(runtime.unbroadcast, runtime.unreduce, runtime.spreading, numeric=True)
know(runtime.zeros, runtime.own, gives=Gives.NEW)
know(runtime.require_array, runtime.sequence, runtime.own, copied, copied_as_laid, structure.kept, keeps_kind=True)
know(copied, copied_as_laid, runtime.zeros, runtime.own, copies=True)
know(runtime.add, runtime.call, runtime.jvp, runtime.vjp, runtime.with_fields, gives=Gives.MAYBE, of=_ANY)
know(copy.deepcopy, gives=Gives.NEW, keeps_kind=True)  # what is twice in the one is in the other
know(closures.closure, gives=Gives.MAYBE, of=1)
know(builtin_functions.spread, builtin_functions.regroup, helpers.fit, helpers.fit_given, gives=Gives.MAYBE, of=0)
know(joins.split_like, gives=Gives.MAYBE, several=True, computes=True)
know(shadows.add_into, shadows.refilled, gives=Gives.MAYBE, of=0)
know(item_slots.cell_at, gives=Gives.MAYBE, of=0, computes=True)
know(shadows.shadow_of, gives=Gives.MAYBE, of=2, numeric=True, computes=True)
know(shadows.tangent_of, gives=Gives.MAYBE, of=_ANY, numeric=True, computes=True)
know(shadows.of_copies, shadows.unless_shared, gives=Gives.MAYBE, of=0, numeric=True, computes=True)
know(shadows.shadow, shadows.cell, shadows.shadow_of_argument, shadows.each_once, shadows.laid_like, shadows.put,
     shadows.apart, gives=Gives.NEW, numeric=True, computes=True)  # fmt: skip
know(item_slots.slots, item_slots.slot, item_slots.slot_of, gives=Gives.NEW, computes=True)
know(item_slots.at_item, item_slots.at_section, gives=Gives.MAYBE, of=0, computes=True)
know(runtime.as_number, gives=Gives.NEW, flat=True)
know(outside.container, outside.unshared, outside.kept_outside, gives=Gives.MAYBE)
know(runtime.unset, gives=Gives.NEW, computes=True)
know(fitted, handed.require_still, gives=Gives.MAYBE, of=0, computes=True)
know(handed.ungiven, handed.unmoved, gives=Gives.NEW, computes=True)
know(checkpoints.Checkpoints, checkpoints.latest, checkpoints.keep, gives=Gives.NEW)
know(checkpoints.checkpointed, gives=Gives.MAYBE, of=0)
know(runtime.repeated, lacking, moved, builtin_functions.arranged, gives=Gives.SHELL)
know(builtin_functions.unarranged, gives=Gives.SHELL, of=0)
know(place_of, builtin_functions.order_of, joins.columns, gives=Gives.NEW, computes=True)
know(runtime.seed_like, runtime.holomorphic_seed, gives=Gives.MAYBE, of=1)
know(runtime.projected, runtime.wide, gives=Gives.MAYBE, of=0, computes=True)
know(runtime.widened, gives=Gives.NEW, computes=True)
know(runtime.conjugated, gives=Gives.MAYBE, computes=True)
know(lanes.zero_lanes, lanes.array_lanes, lanes.by_lane, gives=Gives.NEW, computes=True)
know(lanes.unbroadcast_lanes, lanes.unreduce_lanes, gives=Gives.MAYBE, numeric=True, computes=True)
know(lanes.like_lanes, gives=Gives.MAYBE, of=1, computes=True)
know(builtin_functions.preceded, einsum.replaced, einsum.contracted, of=_ANY)


_INTEGERS = np.arange(2)
ROUNDED = Gives.MAYBE if np.shares_memory(_INTEGERS, _INTEGERS.round()) else Gives.NEW
"""`round` returns integer arrays themselves, up to NumPy 1.26."""

know(np.round, np.around, gives=ROUNDED)


def _reads_what_it_wrote() -> bool:
    v = np.arange(4.0)
    v[[3, 1]] = v[2:]
    return bool(v[1] != 3.0)


STORES_ITEM_BY_ITEM = _reads_what_it_wrote()
"""Whether a store by an index array reads an overlapping view while it writes, as in NumPy 1.26 and 2.0."""
