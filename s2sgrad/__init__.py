"""s2sgrad: gradients of NumPy functions, written as readable Python.

>>> from s2sgrad import grad
>>> def energy(x, k):
...     return 0.5 * k * x ** 2
>>> grad(energy)(3.0, 2.0)
6.0
"""

from s2sgrad.api import grad, value_and_grad, vjp
from s2sgrad.errors import NoRule, NoSource, S2SGradError, Unsupported

__all__ = ["NoRule", "NoSource", "S2SGradError", "Unsupported", "grad", "value_and_grad", "vjp"]
__version__ = "0.1.0"
