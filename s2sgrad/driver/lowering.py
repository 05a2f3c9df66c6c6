"""Choice of the backend: the requested one, unless it may have to run the text twice and that is not safe.

def f(x): print("once"); ...      ->      on arrays: if a list raised, it would be printed again
"""

from __future__ import annotations

import types
from dataclasses import replace

from s2sgrad.analysis.contents import is_plain
from s2sgrad.analysis.kinds import Kind
from s2sgrad.analysis.reached import reaches_change
from s2sgrad.backends import NUMPY, Backend
from s2sgrad.backends.scalar_lists import ScalarLists
from s2sgrad.driver import handed_buffers, tangents_alone
from s2sgrad.driver.compilation import Observer
from s2sgrad.driver.emitted import Emitted
from s2sgrad.driver.options import LOOPS, THREADS, Options
from s2sgrad.driver.program import Program

_BACKENDS = {backend.name: backend for backend in (NUMPY, ScalarLists())} | {LOOPS: NUMPY, THREADS: NUMPY}


def lowered(
    function: types.FunctionType,
    kinds: dict[str, Kind],
    wrt: tuple[str, ...],
    options: Options,
    observer: Observer | None = None,
    kept_apart: bool = False,
) -> tuple[Program, Emitted, Backend]:
    """The program of a gradient, its entry, and the backend that rewrote some of its functions (else NumPy)."""
    backend = _BACKENDS[options.backend]
    if backend.gives_up_on and not all(map(is_plain, kinds.values())):
        backend = NUMPY
    program = Program(observer, backend, kept_apart)
    entry = program.gradient(function, kinds, wrt, options)
    if options.forward:
        tangents_alone.run(program, entry)
    if program.pairs and not program.kept_apart and reaches_change(function):
        return lowered(function, kinds, wrt, options, observer, kept_apart=True)
    if not options.records_all and not options.debug:
        program.hands_buffers = handed_buffers.run(program, entry)
    used = any(emitted.backend is backend for emitted in program.functions)
    if used and backend.gives_up_on and not all(emitted.is_repeatable() for emitted in program.functions):
        return lowered(function, kinds, wrt, replace(options, backend=NUMPY.name), observer, kept_apart)
    return program, entry, backend if used else NUMPY
