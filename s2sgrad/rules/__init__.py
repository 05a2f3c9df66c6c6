"""Mathematics only: one file a topic, each filling the one table (`table.py`).  NumPy and the runtime, nothing else.

The topics of NumPy are imported with the first of them, in the order of `of_numpy.py`, for they build on each other.
Those of other libraries are imported when the table is asked (`arriving.py`).
"""

from s2sgrad.rules import arriving

arriving.begin()
