"""What becomes of what cannot be followed while the text is written: it is refused, or it is data.

    ps.append(Particle(v))      ->      refused (PLAIN), or a reference in a list (Ways(in_columns=True))
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ways:
    """Function values may be data (`closures`), and objects references (`columns`); the variables in `late` are given to
    function values when these are called (`late_binding`)."""

    as_data: bool = False
    in_columns: bool = False
    late: tuple[str, ...] = ()


PLAIN = Ways()
