"""Places in the user's program: where a recorded call stands.

np.gamma(x)    line 7 of model.py   ->   Where(code, instruction), a Place when a message is written
"""

from __future__ import annotations

import functools
import sys
import types
from typing import NamedTuple

from s2sgrad.errors import Place
from s2sgrad.errors.definitions import of_instruction

_OURS = ("s2sgrad", "numpy", "scipy")


class Where(NamedTuple):
    """An instruction of a code object; a frame would keep its variables alive."""

    code: types.CodeType | None
    instruction: int

    def place(self) -> Place | None:
        """The place in the file."""
        return of_instruction(self.code, self.instruction) if self.code is not None else None


def user_place() -> Where:
    """The instruction that the user's program is at."""
    frame = user_frame()
    return Where(None, 0) if frame is None else Where(frame.f_code, frame.f_lasti)


def user_frame() -> types.FrameType | None:
    """The frame of the user's program."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame


@functools.lru_cache(maxsize=4096)
def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in _OURS
