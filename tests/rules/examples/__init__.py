"""At least one call of every primitive in the rule table: what the laws are checked on.

    Example(np.sum, (x,), {"axis": 1})

Arguments stay away from kinks and ties; those have tests of their own.  The same arrays come out at every import.
"""

from . import (
    elementwise,
    helpers,
    linalg,
    products,
    reductions,
    scipy_fft,
    scipy_functions,
    scipy_interpolate,
    scipy_laws,
    scipy_linalg,
    scipy_matrices,
    scipy_ndimage,
    scipy_samples,
    scipy_signal,
    scipy_signal_filters,
    scipy_signal_planes,
    scipy_signal_spectra,
    scipy_sparse,
    scipy_spatial,
    scipy_special,
    scipy_spectra,
    scipy_stats,
    selections,
    sets,
    shapes,
    signals,
    ufunc_methods,
)
from .base import EXAMPLES, Example

__all__ = [
    "EXAMPLES",
    "Example",
    "elementwise",
    "helpers",
    "linalg",
    "products",
    "reductions",
    "scipy_fft",
    "scipy_functions",
    "scipy_interpolate",
    "scipy_laws",
    "scipy_linalg",
    "scipy_matrices",
    "scipy_ndimage",
    "scipy_samples",
    "scipy_signal",
    "scipy_signal_filters",
    "scipy_signal_planes",
    "scipy_signal_spectra",
    "scipy_sparse",
    "scipy_spatial",
    "scipy_special",
    "scipy_spectra",
    "scipy_stats",
    "selections",
    "sets",
    "shapes",
    "signals",
    "ufunc_methods",
]
