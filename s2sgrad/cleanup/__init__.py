"""Optimization of the generated text: no dead code, no copies, no single-use temporaries.

Each pass takes the unit and a function tree (forward and reverse sweep together) and returns a tree that computes the same
value; `driver.pipeline` has their order.
"""
