"""Names of one memory that cannot be told apart: each has its shadow, bound beside it in the forward sweep.

    if x[0] > 0.0:          if x[0] > 0.0:
        v = y[1:]               v = y[1:]
                    ->          v_bar = y_bar[1:]
    else:                   else:
        v = z[1:]               v = z[1:]
                                v_bar = z_bar[1:]

Whatever a name stands for, its shadow is the same place in the adjoint's memory.  So nobody needs to know which it is.
"""
