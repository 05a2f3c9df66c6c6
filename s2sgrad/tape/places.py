"""Source locations of recorded operations, for errors that are found later.

y = np.nextafter(x, 1.0)      recorded with (code object, instruction)     ->      a Place, if it is needed
"""

from __future__ import annotations

import types
from typing import Any

from s2sgrad.errors import S2SGradError
from s2sgrad.recorded.places import place_of, user_frame

Where = tuple[types.CodeType, int] | None
"""A code object and the offset of an instruction in it; None if only libraries are on the stack."""


def caller() -> Where:
    """The instruction that the user's program is at.  (A frame would keep its variables alive.)"""
    frame = user_frame()
    return None if frame is None else (frame.f_code, frame.f_lasti)


def pulled(record: Any, *arguments: Any) -> Any:
    """`record.pull(*given)`; an error gets the location where the operation was called."""
    try:
        return record.pull(*arguments)
    except S2SGradError as error:
        place = place_of(record.where) if error.place is None else None
        if place is None:
            raise
        raise type(error)(error.message, place) from None
    except Exception as error:
        place = place_of(record.where)
        if place is not None:
            error.add_note(f"in the gradient of what was computed here:\n{place.shown()}")
        raise
