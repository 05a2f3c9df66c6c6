"""Functions of SciPy that are handed functions: roots, minima, integrals, differential equations.

    x = optimize.brentq(lambda x: x ** 3 - k * x, a, b)     ->     k_bar = -x_bar / (df/dx) * df/dk        at x

What the handed function closes over, and what `args=` holds, carry derivatives: `handed` differentiates it, once for all.
Each file is read once the part of SciPy that it is about has been imported.  The derivatives are rules like those that
users give (`api.given`), written with `vjp` and `jvp`, so that they can be differentiated again.
"""
