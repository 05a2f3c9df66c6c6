"""Mathematics only: one file a topic, each filling the one table (`table.py`).  NumPy and the runtime, nothing else.

The topics are imported when the table is first asked (`arriving.py`): a text that an earlier process compiled needs none.
Any of them may be the first, as in a saved module, so each imports those whose rules it builds on.
"""
