"""From the user's function to the normal form: a subset of Python with one operation per statement.

Each pass maps a function tree to one that computes the same value, and opens with a before/after doctest;
`driver.pipeline` has their order, and `verifier` says what holds after the last.
"""
