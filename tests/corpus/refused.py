"""In-place programs that NumPy runs and that are refused: two names for one memory that cannot be followed, and their kin.

`REFUSED` lists them as (function, arguments, words of the message); `# <-`, in the function or in the helper above it, marks
the line that is named.  One that is refused no more belongs into the module of its kind, as a case.
"""

import numpy as np

VECTOR = np.array([0.7, -1.2, 0.4, 1.5, -0.6, 1.1])

REFUSED = []


def refused(*args, words):
    """List the decorated function, called with `args`."""

    def register(function):
        REFUSED.append((function, args, words))
        return function

    return register


@refused(VECTOR, words="which is read later, may share its memory")
def list_turned_round_while_an_iterator_reads_it(x):
    xs = [x[0], x[1], x[2]]
    items = iter(xs)
    first = next(items)
    xs.reverse()  # <-
    return first * next(items) * next(items)
