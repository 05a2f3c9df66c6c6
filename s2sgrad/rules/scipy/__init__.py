"""Rules of SciPy, each file read once the part of SciPy that it is about has been imported: SciPy need not be there.

    import scipy.special; y = scipy.special.gammaln(x)      ->      x_bar = y_bar * scipy.special.digamma(x)

No file of s2sgrad imports these files: `table.lookup` reads them.
"""

from s2sgrad.rules import table

table.later("scipy.special", "s2sgrad.rules.scipy.special")
table.later("scipy.special", "s2sgrad.rules.scipy.bessel")
table.later("scipy.linalg", "s2sgrad.rules.scipy.linalg")
table.later("scipy.linalg", "s2sgrad.rules.scipy.blocks")
table.later("scipy.signal", "s2sgrad.rules.scipy.signal")
table.later("scipy.integrate", "s2sgrad.rules.scipy.integrate")
table.later("scipy.stats", "s2sgrad.rules.scipy.stats")
table.later("scipy.stats", "s2sgrad.rules.scipy.discrete")
table.later("scipy.stats", "s2sgrad.rules.scipy.multivariate")
table.later("scipy.interpolate", "s2sgrad.rules.scipy.interpolate")
