"""The part of `autograd.scipy` that is not SciPy's own: a differentiable `odeint`."""
