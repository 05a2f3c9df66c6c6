"""Ways of compiling what partial evaluation cannot resolve: it is refused, or becomes data.

    ps.append(Particle(v))      ->      refused (PLAIN), or a reference in a list (Ways(in_columns=True))
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ways:
    """Function values may become data (`closures`), and objects references (`columns`); the variables `late` are passed to
    function values at each call (`late_binding`)."""

    as_data: bool = False
    in_columns: bool = False
    operators: bool = False  # of objects that are references
    late: tuple[str, ...] = ()


PLAIN = Ways()
