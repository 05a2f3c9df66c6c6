"""A pause of Python's collector of cycles: a compiler makes many objects that live, and looking through them takes a tenth.

with without_collection():      ->      nothing is collected until the end
    compile_it()
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Collect no cycles meanwhile; what others asked of the collector stays.

    >>> with without_collection(), without_collection():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
