"""Autograd's `misc`: vectors for nested parameters, optimizers, fixed points."""

from s2sgrad.compat.autograd.misc.flatten import flatten

__all__ = ["flatten"]
