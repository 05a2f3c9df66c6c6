"""Whole programs as NumPy programmers write them: stores, sections, buffers, swaps, functions that write their arguments.

`KERNELS` lists them, `VARIANTS` other spellings of some of them (`ORIGINALS`: of which).  Points keep away from kinks, and
no program warns.  The formulas are those of the usual suites of numerical programs; the code was written for these tests.
"""

from . import (
    answers_of_systems,
    dynamics,
    factorizations,
    flows,
    linear_algebra,
    networks,
    programming,
    signals,
    stencils,
    variants,
    variants_of_systems,
    weather,
)
from .answers import CHECKS
from .case import KERNELS, SPELLINGS, Kernel, kernel_of, spelled

MODULES = (dynamics, factorizations, flows, linear_algebra, networks, programming, signals, stencils, weather)
SPELLED_BY = (variants, variants_of_systems)
ANSWERED_BY = (answers_of_systems,)
VARIANTS = [spelled(name, function) for name, function in SPELLINGS]
ORIGINALS = {function.__name__: kernel_of(name) for name, function in SPELLINGS}

__all__ = ["CHECKS", "KERNELS", "MODULES", "ORIGINALS", "VARIANTS", "Kernel", "kernel_of", "spelled"]
