"""Functions that run on handles: values, derivatives, and every way to lose one."""
