"""In-place writes brought to a form that the reverse sweep can handle: each written location has one live name."""
