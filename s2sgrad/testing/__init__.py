"""Checks for users and for us: gradients against central differences.

>>> import numpy as np
>>> def energy(x, k):
...     return 0.5 * k * np.sum(x ** 2)
>>> check_grads(energy, (np.array([1.0, 2.0]), 3.0), order=2, modes=("fwd", "rev"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from s2sgrad.api.binding import Transformed
from s2sgrad.errors.raised import entry
from s2sgrad.testing.checking import MODES, Comparison, comparisons, unchecked
from s2sgrad.testing.differences import by_differences

__all__ = ["Comparison", "by_differences", "check_grads", "comparisons", "unchecked"]


@entry
def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any] | None = None,
    order: int = 1,
    modes: Sequence[str] = ("rev", "fwd"),
    argnums: int | Sequence[int] | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> Any:
    """Compare the gradient of `f` at `args` with central differences; raise AssertionError where they differ.

    - `modes`: "rev" is the gradient of `grad`, "fwd" the tangent of `jvp`; both by default.  "vjp" is the pullback, "tape"
      the gradient of a GradientTape.  A function with its own gradient may have no tangent: `modes="rev"`.
    - `order=2` compares the derivatives of `<gradient, v>`, too, for a random `v`.
    - `argnums`: the positions to check, by default every argument that holds floats.  Arguments may be nested tuples, lists,
      dicts and objects: each float in them is checked.
    - `rtol`, `atol`: the tolerances; where the whole gradient is smaller than `atol`, `rtol` counts alone.

    Each number of an argument is shifted separately if there are few.  Many are shifted together in random directions; of
    complex ones both parts.  Where that disagrees, the differences are repeated with other steps, and the wrong elements are
    located: the message names each with its gradient and its difference quotient.

    The message also says where no comparison is possible (a corner, a jump, a value that is not finite), and where a second
    call of `f` returns another value.  Structure, shapes and dtypes are compared as well, and that no argument is changed.
    Raises TypeError for a function that returns no floats, or an argument whose floats cannot be checked; ValueError where
    there is nothing to compare.

    >>> import numpy as np
    >>> from s2sgrad import custom_gradient
    >>> check_grads(np.tanh, (np.linspace(-1.0, 1.0, 5),), order=2)
    >>> halved = custom_gradient(lambda x: (x * x, lambda g: g * x))
    >>> check_grads(lambda w: np.sum(halved(w["a"])) + np.sum(w["b"]), ({"a": np.arange(1.0, 3.0), "b": np.ones(50)},))
    Traceback (most recent call last):
    AssertionError: the gradient of `<lambda>` is not what differences give:
      argument `w['a']`, element [0]: gradient 1, differences 2 (relative error 5.0e-01)
      argument `w['a']`, element [1]: gradient 2, differences 4 (relative error 5.0e-01)
      forward mode, argument `w['a']`, element [0]: tangent 1, differences 2 (relative error 5.0e-01)
      forward mode, argument `w['a']`, element [1]: tangent 2, differences 4 (relative error 5.0e-01)
      File ...
    >>> check_grads(lambda x: max(x, 0.0), (0.0,))
    Traceback (most recent call last):
    AssertionError: the gradient of `<lambda>` cannot be compared with differences here:
      argument `x`: the slope is 0 to the left and 1 to the right; gradient ...
      File ...

    Without `args` it returns the check itself, to be called with the arguments: `check_grads(f, order=2)(x, y)`.
    """
    if not callable(f):
        raise TypeError(f"check_grads needs a function, not {type(f).__name__}: pass `f`, and not what `f(x)` returns")
    if args is None:
        return Transformed(f, lambda g: lambda *point: check_grads(g, point, order, modes, argnums, rtol, atol))
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    unknown = [m for m in modes if m not in MODES]
    if unknown or not modes:
        raise ValueError(f"there is no mode {unknown[0] if unknown else None!r}: modes=('fwd', 'rev'), 'vjp', and 'tape'")
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"args is a tuple of the arguments, (x, y), not {type(args).__name__}")
    wrong = [c for c in comparisons(f, tuple(args), order, argnums, rtol, atol, modes) if not c.agrees]
    if wrong:
        rows = list(dict.fromkeys(f"  {c}" for c in wrong))
        bad = not all(c.trouble for c in wrong)
        what = "is not what differences give" if bad else "cannot be compared with differences here"
        raise AssertionError("\n".join([f"the gradient of `{getattr(f, '__name__', repr(f))}` {what}:", *rows]))
    return None
