"""From the user's function to the normal form: a subset of Python with one operation a statement.

Each pass takes the unit and a function tree and returns a function tree that computes the same value, and opens with a
before/after doctest; `driver.pipeline` has them in order, and `verifier` says what holds behind the last.
"""
