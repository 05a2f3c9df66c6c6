"""Shadows for names whose aliasing is not known statically: each gets its adjoint bound beside it in the forward sweep.

    if x[0] > 0.0:          if x[0] > 0.0:
        v = y[1:]               v = y[1:]
                    ->          v_bar = y_bar[1:]
    else:                   else:
        v = z[1:]               v = z[1:]
                                v_bar = z_bar[1:]

A shadow is at the same place in the adjoint's memory as its name in the primal's, so that it does not matter which place
that is.
"""
