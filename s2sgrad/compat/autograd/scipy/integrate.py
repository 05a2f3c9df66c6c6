"""Autograd's `odeint` is SciPy's, whose rule differentiates it in what the function closes over, too.

>>> import numpy as np
>>> from s2sgrad import jvp
>>> y, y_dot = jvp(lambda k: odeint(lambda y, t: -k * y, np.array([2.0]), np.array([0.0, 1.0])), (0.5,), (1.0,))
>>> y.round(4)[:, 0], y_dot.round(4)[:, 0]
(array([2.    , 1.2131]), array([ 0.    , -1.2131]))
"""

from scipy.integrate import odeint

__all__ = ["odeint"]
