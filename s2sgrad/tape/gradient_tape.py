"""`GradientTape`: records what is computed inside its block, and differentiates it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from s2sgrad.errors import raised
from s2sgrad.runtime.structure import leaves
from s2sgrad.tape import jacobians
from s2sgrad.tape.recording import STATE, Tape
from s2sgrad.tape.targets import gradients_of, required, structured
from s2sgrad.tape.unconnected import UnconnectedGradients, checked
from s2sgrad.tape.values import Operand
from s2sgrad.tape.variable import Variable


class GradientTape:
    """Records the operations on Arrays and Variables inside its `with` block, for `gradient` afterwards.

    Trainable Variables that the block reads are watched, unless `watch_accessed_variables=False`; Arrays are watched on
    request (`watch`).  A tape computes one gradient and then frees its records; with `persistent=True` it computes any
    number, and the records live as long as the tape.  Tapes nest: an outer tape also records what an inner one computes,
    gradients included.  Each thread has its own tapes.

    >>> from s2sgrad import GradientTape, constant
    >>> x = constant(3.0)
    >>> with GradientTape() as t:
    ...     t.watch(x)
    ...     y = x * x
    >>> t.gradient(y, x)
    Array(6.0)
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._accessed = watch_accessed_variables
        self._tape: Tape | None = None
        self._used = self._begun = False
        self._watched: tuple[Variable, ...] = ()

    # --- the block ---

    @property
    def _recording(self) -> bool:
        return self._tape is not None and any(tape is self._tape for tape in STATE.tapes)

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise ValueError("the tape is already recording")
        if self._tape is None:
            self._tape = Tape(self._accessed)
        self._used, self._begun = False, True
        STATE.tapes.append(self._tape)
        return self

    def __exit__(self, kind: Any = None, error: Any = None, trace: Any = None) -> None:
        self._stop()
        if isinstance(error, Exception):
            raised.trim_ours(error)

    def _stop(self) -> None:
        if self._tape is not None:
            STATE.tapes[:] = [tape for tape in STATE.tapes if tape is not self._tape]

    def watch(self, tensor: Any) -> None:
        """Follow an Array or a Variable, or those in nested lists, tuples and dicts.

        Raises ValueError for plain numbers and ndarrays, which have no identity: convert them with `constant`.  For ints,
        which cannot be differentiated, it warns and does not follow them.

        >>> from s2sgrad import GradientTape
        >>> with GradientTape() as t:
        ...     t.watch(3.0)
        Traceback (most recent call last):
        ValueError: a tape cannot follow a value of type float: make it with `constant(..)` or `Variable(..)`, and watch that
        """
        for leaf in leaves(tensor):
            if not isinstance(leaf, Operand):
                raise ValueError(
                    f"a tape cannot follow a value of type {type(leaf).__name__}: make it with `constant(..)` or "
                    "`Variable(..)`, and watch that"
                )
            if leaf._value.dtype.kind not in "fc":
                dtype = leaf._value.dtype
                warnings.warn(f"an Array of {dtype} has no gradient and is not watched: use floats", stacklevel=2)
                continue
            if self._tape is None:
                self._tape = Tape(self._accessed)
            if isinstance(leaf, Variable):
                self._tape.watched[leaf.uid] = leaf
                self._tape.read(leaf, leaf._read())
            else:
                self._tape.watch(leaf)

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A block inside the tape's block that is not recorded: `with t.stop_recording(): ..`

        Raises RuntimeError where the tape is not recording.
        """
        if not self._recording:
            raise RuntimeError("the tape is not recording, so it cannot stop: use `stop_recording` inside its block")
        tape = self._tape
        place = next(k for k, other in enumerate(STATE.tapes) if other is tape)
        self._stop()
        try:
            yield
        finally:
            if self._tape is tape and not self._recording:
                STATE.tapes.insert(place, tape)

    def reset(self) -> None:
        """Drop all records and watches, and continue recording.  Raises ValueError where the tape is not recording."""
        if not self._recording or self._tape is None:
            raise ValueError("the tape is not recording: `reset` belongs into its block")
        self._tape.clear()

    def watched_variables(self) -> tuple[Variable, ...]:
        """The Variables that the tape watched, in order of creation; also after `gradient`."""
        if self._tape is not None:
            self._watched = tuple(v for _, v in sorted(self._tape.watched.items()))
        return self._watched

    # --- gradients ---

    @raised.trimmed
    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE
    ) -> Any:
        """The gradient of `target` with respect to `sources`, in the structure of `sources`.

        `target`: an Array, or nested lists, tuples and dicts of Arrays; the gradient is that of the sum over all elements
        of all targets (an empty list depends on nothing).  `output_gradients` weights each element: it has the structure
        and shapes of `target`, with None for ones.  Each gradient is an Array with the shape and dtype of its source.  If
        the target does not depend on a source, its gradient is None, or zeros with `unconnected_gradients="zero"`; the same
        holds for a source of ints.

        Raises RuntimeError at a second call if the tape is not persistent.  Raises ValueError for sources that are no Arrays
        or Variables, and for weights of wrong length or shape; TypeError for a target that is no Array of floats.  Raises
        NoRule, a LookupError, where an operation between source and target has no derivative rule: it names the place.
        """
        unconnected = checked(unconnected_gradients)
        tape = self._ready()
        required(sources)
        if not self._persistent:
            self._free()
        return structured(
            sources, gradients_of(tape, target, sources, output_gradients, unconnected, (), not self._persistent)
        )

    @raised.trimmed
    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of all elements of `target` with respect to all elements of `sources`, in their structure.

        Each has the shape of the target followed by that of its source.  Unconnected sources and errors are as for
        `gradient`.  The last two options are TensorFlow's and have no effect.

        >>> from s2sgrad import GradientTape, constant
        >>> x = constant([1.0, 2.0])
        >>> with GradientTape() as t:
        ...     t.watch(x)
        ...     y = x * x
        >>> t.jacobian(y, x).numpy()
        array([[2., 0.],
               [0., 4.]])
        """
        unconnected = checked(unconnected_gradients)
        tape = self._ready()
        required(sources)
        try:
            return structured(sources, jacobians.jacobian(tape, target, sources, unconnected))
        finally:
            self._done()

    @raised.trimmed
    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each row of `target` with respect to the same row of `source`, for independent rows.

        For shapes (n, ..) and (n, ...) the result has the shape (n, .., ...).  It is 0 where no row depends on the source,
        whatever `unconnected_gradients` says (as in TensorFlow).  Raises ValueError where the numbers of rows differ, or the
        rank of target or source is below 2.

        >>> from s2sgrad import GradientTape, constant
        >>> x = constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with GradientTape() as t:
        ...     t.watch(x)
        ...     y = x * x
        >>> t.batch_jacobian(y, x).shape
        (2, 2, 2)
        """
        checked(unconnected_gradients)
        tape = self._ready()
        required(source)
        try:
            return jacobians.batch_jacobian(tape, target, source)
        finally:
            self._done()

    def _ready(self) -> Tape:
        """The tape with the records; RuntimeError if it has been used up.  A tape that is not persistent stops recording."""
        if self._used or self._tape is None or not self._begun:
            raise RuntimeError(
                "a tape that is not persistent gives one gradient (or jacobian), and only after its block has begun: "
                "use GradientTape(persistent=True) to ask again"
            )
        if not self._persistent:
            self._stop()
        return self._tape

    def _done(self) -> None:
        if not self._persistent:
            self._free()

    def _free(self) -> None:
        self.watched_variables()
        self._tape, self._used = None, True
