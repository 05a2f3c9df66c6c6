"""Rules of SciPy, each file read once the part of SciPy that it is about has been imported: SciPy need not be there.

    import scipy.special; y = scipy.special.gammaln(x)      ->      x_bar = y_bar * scipy.special.digamma(x)

No file of s2sgrad imports these files: `table.lookup` reads them.  Rules of functions that are handed functions are in
`s2sgrad.solvers`: they differentiate these.
"""

from s2sgrad.rules.arriving import later

later("scipy.special", "s2sgrad.rules.scipy.special")
later("scipy.special", "s2sgrad.rules.scipy.incomplete")
later("scipy.special", "s2sgrad.rules.scipy.integrals")
later("scipy.special", "s2sgrad.rules.scipy.waves")
later("scipy.special", "s2sgrad.rules.scipy.differences")
later("scipy.special", "s2sgrad.rules.scipy.bessel")
later("scipy.special", "s2sgrad.rules.scipy.elliptic")
later("scipy.special", "s2sgrad.rules.scipy.polynomials")
later("scipy.special", "s2sgrad.rules.scipy.transformations")
later("scipy.linalg", "s2sgrad.rules.scipy.linalg")
later("scipy.linalg", "s2sgrad.rules.scipy.cholesky")
later("scipy.linalg", "s2sgrad.rules.scipy.matrix_functions")
later("scipy.linalg", "s2sgrad.rules.scipy.blocks")
later("scipy.fft", "s2sgrad.rules.scipy.fft")
later("scipy.linalg", "s2sgrad.rules.scipy.spectra")
later("scipy.linalg", "s2sgrad.rules.scipy.eigenvalues")
later("scipy.linalg", "s2sgrad.rules.scipy.factors")
later("scipy.linalg", "s2sgrad.rules.scipy.orthogonal")
later("scipy.linalg", "s2sgrad.rules.scipy.least_squares")
later("scipy.linalg", "s2sgrad.rules.scipy.matrix_equations")
later("scipy.linalg", "s2sgrad.rules.scipy.toeplitz")
later("scipy.linalg", "s2sgrad.rules.scipy.bands")
later("scipy.spatial", "s2sgrad.rules.scipy.distance")
later("scipy.spatial", "s2sgrad.rules.scipy.spatial")
later("scipy.sparse", "s2sgrad.rules.scipy.sparse")
later("scipy.sparse.linalg", "s2sgrad.rules.scipy.sparse_systems")
later("scipy.signal", "s2sgrad.rules.scipy.signal")
later("scipy.signal", "s2sgrad.rules.scipy.signal_filters")
later("scipy.signal", "s2sgrad.rules.scipy.signal_spectra")
later("scipy.signal", "s2sgrad.rules.scipy.signal_planes")
later("scipy.integrate", "s2sgrad.rules.scipy.integrate")
later("scipy.stats", "s2sgrad.rules.scipy.stats")
later("scipy.stats", "s2sgrad.rules.scipy.continuous")
later("scipy.stats", "s2sgrad.rules.scipy.discrete")
later("scipy.stats", "s2sgrad.rules.scipy.samples")
later("scipy.stats", "s2sgrad.rules.scipy.multivariate")
later("scipy.interpolate", "s2sgrad.rules.scipy.interpolate")
later("scipy.interpolate", "s2sgrad.rules.scipy.interpolators")
later("scipy.optimize", "s2sgrad.rules.scipy.optimize")
later("scipy.ndimage", "s2sgrad.rules.scipy.filters")
later("scipy.ndimage", "s2sgrad.rules.scipy.rank_filters")
later("scipy.ndimage", "s2sgrad.rules.scipy.labels")
later("scipy.ndimage", "s2sgrad.rules.scipy.resampling")
for _name in ("roots", "minima", "fits"):
    later("scipy.optimize", f"s2sgrad.solvers.{_name}")
for _name in ("quadrature", "equations"):
    later("scipy.integrate", f"s2sgrad.solvers.{_name}")
