"""What `autograd.scipy` has that is not SciPy's own: an `odeint` that is differentiated."""
