"""Functions that take numbers out of an array."""

from __future__ import annotations

import numpy as np

from s2sgrad.rules import padding, selections

from .base import example, example_if_taken, normal, younger

# --- selections ------------------------------------------------------------------------------------------------------

_k = np.array([[0, 2], [2, 2]])
example(np.take, normal(3), [0, 2, 0])
example(np.take, normal(2, 3), _k)
example(np.take, normal(2, 3, 2), _k, axis=1)
example(np.take, normal(3), np.array([True, False, True]))
example(np.take, normal(2, 3), True, axis=1)
example(np.take, normal(2, 3), 1, axis=-1)
example(selections.untake, normal(2, 2, 2, 2), normal(2, 3, 2), _k, axis=1)
example(selections.untake, normal(2, 2), normal(2, 3), _k)
example(np.take_along_axis, normal(2, 3), np.array([[0, 0], [2, 1]]), axis=1)
example(np.take_along_axis, normal(1, 3), np.array([[0, 0], [2, 1]]), axis=1)
example(np.take_along_axis, normal(5), np.array([0, 0, 4]), axis=None)
example(selections.untake_along_axis, normal(2, 2), normal(2, 3), np.array([[0, 0], [2, 1]]), 1)
example(np.diag, normal(3))
example(np.diag, normal(3), 1)
example(np.diag, normal(3, 4), -1)
example(np.diagonal, normal(3, 4))
example(np.diagonal, normal(3, 2, 4), 1, 0, 2)
example(younger(np.linalg, "diagonal"), normal(2, 3, 4), offset=1)
example(younger(np.linalg, "trace"), normal(2, 3, 4))
example(younger(np.linalg, "trace"), normal(3, 4), offset=-1)
example(np.diagflat, normal(2, 2))
example(np.diagflat, normal(3), 1)
example(np.trace, normal(3, 4))
example(np.trace, normal(3, 2, 4), -1, axis1=0, axis2=2)
example(selections.undiagonal, normal(3), normal(3, 4))
example(selections.undiagonal, normal(2, 1), normal(3, 2, 4), 1, 0, 2)
example(np.tile, normal(2, 3), 2)
example(np.tile, normal(3), (2, 2))
example(np.tile, normal(2, 1, 3), (2, 1))
example(selections.untile, normal(4, 3), normal(2, 3), (2, 1))
example(np.repeat, normal(2, 3), 2)
example(np.repeat, normal(2, 3), 2, axis=1)
example(np.repeat, normal(2, 3), 2, axis=-1)
example(np.repeat, normal(2, 3), [1, 0, 2], axis=1)
example(selections.unrepeat, normal(2, 6), normal(2, 3), 2, axis=1)
example(np.pad, normal(2, 3), 1)
example(np.pad, normal(2, 3), ((1, 0), (0, 2)))
for _mode in ("edge", "wrap", "reflect", "symmetric"):
    example(np.pad, normal(3, 4), ((1, 0), (2, 2)), mode=_mode)
for _mode in ("maximum", "minimum", "mean"):
    example(np.pad, normal(3, 4), ((1, 0), (2, 2)), mode=_mode)
    example(np.pad, normal(3, 4), 1, mode=_mode, stat_length=2)
example_if_taken(np.pad, normal(3, 4), {0: 1}, mode="linear_ramp")
example(np.pad, normal(3, 4), 2, constant_values=0.7)
example(np.pad, normal(4), (3, 1), mode="reflect", reflect_type="odd")
example(np.pad, normal(3, 4), 1, mode="symmetric", reflect_type="odd")
example(padding.unpad, normal(4, 5), normal(2, 3), 1)
example(np.meshgrid, normal(2), normal(3))
example(np.meshgrid, normal(2), normal(3), normal(4), indexing="ij")
example(np.meshgrid, normal(2), normal(3), normal(4))
example(np.meshgrid, normal(2), normal(3), sparse=True)
example(np.broadcast_arrays, normal(2, 1), normal(3), 0.7)
for _f in (selections.unmesh, selections.mesh):
    _grids = [normal(3, 2), normal(3, 2)]
    example(_f, *((_grids, [normal(2), normal(3)]) if _f is selections.unmesh else ([normal(2), normal(3)], _grids)))
example(selections.unbroadcast_each, [normal(2, 3), normal(2, 3)], [normal(3), 0.7])
_windows = np.lib.stride_tricks.sliding_window_view
example(_windows, normal(5), 3)
example(_windows, normal(4, 5), (2, 3))
example(_windows, normal(4, 5), 2, axis=0)
example(_windows, normal(6), (2, 3), axis=(0, 0))
example(selections.unwindow, normal(3, 4, 2, 2), normal(4, 5), (2, 2))

# --- by mask, rearranged ---------------------------------------------------------------------------------------------

_mask = np.array([True, False, True])
example(np.compress, _mask, normal(3))
example(np.compress, _mask, normal(2, 3), axis=1)
example(np.extract, np.array([[1, 0, 1], [0, 0, 1]]), normal(2, 3))
example(np.choose, np.array([[0, 1], [1, 2]]), [normal(2), normal(2, 2), 0.7])
example(np.choose, np.array([[0, 1], [1, 2]]), normal(3, 2, 2))
example(np.choose, np.array([-1, 5, 1]), [normal(3), normal(3)], mode="clip")
example(np.choose, np.array([-1, 5, 1]), (normal(3), normal(3)), mode="wrap")
example(selections.unchoose, normal(2, 2), np.array([[0, 1], [1, 2]]), [normal(2), normal(2, 2), 0.7])
_conditions = [np.array([True, False, False]), np.array([[True], [False]])]
example(np.select, _conditions, [normal(2, 3), normal(3)])
example(np.select, _conditions, [normal(2, 3), 0.3], default=0.7)
example(np.select, _conditions, [normal(2, 3), normal(3)], default=normal(3))
example(selections.unselect, normal(2, 3), _conditions, [normal(2, 3), normal(3)])
example(np.delete, normal(4), [0, 2])
example(np.delete, normal(3, 4), 1, axis=1)
example(np.delete, normal(3, 4), slice(0, 5, 2))
example(np.resize, normal(2, 3), (4, 2))
example(np.resize, normal(2, 3), 4)
example(np.insert, normal(4), 2, 0.7)
example(np.insert, normal(4), [0, 2], normal(2))
example(np.insert, normal(2, 3), 1, normal(2), axis=1)
example(np.insert, normal(2, 3), 1, normal(2), axis=None)
example(np.insert, normal(2, 3), [1, 1], normal(2, 2), axis=1)
example(selections.uninsert, normal(2, 4), normal(2, 3), 1, 0.7, axis=1)

example(selections.picked, normal(4, 3), (slice(1, 3), 0))
example(selections.picked, normal(4), np.array([0, 2, 0]))
example(selections.unpicked, normal(2), normal(4, 3), (slice(1, 3), 0))
example(selections.unpicked, normal(3), normal(4), np.array([0, 2, 0]))
