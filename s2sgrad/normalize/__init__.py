"""From the user's function to the normal form: a subset of Python with one operation a statement.

The passes, in order: `check`, `targets`, `loops`, `exits`, `flatten`, `webs`.  Each takes the unit and a function tree
and returns a function tree that computes the same value; each opens with a before/after doctest.
"""
