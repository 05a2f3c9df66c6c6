"""What makes the text one that a person would have written: no dead code, no copies, no temporaries used once.

The passes take the unit and a function tree (forward and reverse sweep in one) and return a function tree that computes
the same value; `driver.pipeline` has them in order.
"""
