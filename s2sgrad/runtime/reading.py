"""What functions read that are handed on in a forward sweep, and that the reverse sweep calls again.

y = quad(rate, 0.0, 1.0)      ->      seen = read_by(rate)      ..      as_before(seen): `rate` is the same function still

It is compared, for a value that is the same may have another slope: `k ** CFG["n"]` at `k = 1`.
"""

from __future__ import annotations

from typing import Any

from s2sgrad.runtime.hooks import hook


def read_by(*given: Any) -> Any:
    """What tells whether what the functions among these read outside is as it is now; None where nothing can."""
    return hook("read_by")(given)


def as_before(seen: Any) -> None:
    """Refusal where something of this was changed since; None is nothing."""
    if seen is not None:
        seen()
