"""Autograd's `tracer`: nothing is boxed here, so the value of a variable is the variable itself, without its derivative."""

from s2sgrad.compat.autograd.extend import primitive
from s2sgrad.tape import stop_gradient as getval

__all__ = ["getval", "primitive"]
