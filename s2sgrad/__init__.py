"""s2sgrad: gradients of NumPy functions, written as readable Python.

>>> from s2sgrad import grad
>>> def energy(x, k):
...     return 0.5 * k * x ** 2
>>> grad(energy)(3.0, 2.0)
6.0

    grad, value_and_grad      the gradient of a function, as a function of the same arguments: `help(grad)`
    vjp, jvp, hvp             products with the Jacobian, from the left and from the right; with the Hessian
    jacobian, hessian         matrices (jacfwd, jacrev: by one mode; value_and_jacobian: with the value)
    elementwise_grad          the derivative at each element
    linearize                 the value, and the linear map of tangents

    explain                   what is known of each line of a function, and what happens to it
    stop_gradient             a constant, whatever it depends on
    checkpoint, checkpointed  less memory: a function, or the trips of a loop, run again
    compile                   a function as loops over single numbers
    use_cache                 a folder for compiled gradients: later processes read them

    custom_gradient, custom_jvp          a function with a gradient, or a tangent, of your own
    primitive, defvjp, defjvp            one that is only called, and its derivatives
    nondifferentiable                    one whose result is a constant

    GradientTape, Variable, constant     a tape over the same rules (Array: a value on it; SGD: steps down)
    function, gradients                  a recorded graph and its gradients
    differentiable, recompute_grad       a function as one operation of a tape; one that is run again
    trainable_variables                  the Variables in an object (UnconnectedGradients: None, or zeros)

    Unsupported, NoRule, NoSource, NotFinite    errors with file, line and a way out (S2SGradError: any)

`df = grad(f)` has its text in `df.source`; `df.save(path)` writes a module, `df.show()` shows it beside `f`.
`s2sgrad.testing.check_grads(f, args)` compares with central differences.  More: `help(grad)`, docs/start.md.
"""

import importlib.util
import sys
from typing import TYPE_CHECKING, Any

from s2sgrad import runtime
from s2sgrad.api import grad as grad
from s2sgrad.api import jvp as jvp
from s2sgrad.api import value_and_grad as value_and_grad
from s2sgrad.api import vjp as vjp
from s2sgrad.errors import NoRule as NoRule
from s2sgrad.errors import NoSource as NoSource
from s2sgrad.errors import NotFinite as NotFinite
from s2sgrad.errors import S2SGradError as S2SGradError
from s2sgrad.errors import Unsupported as Unsupported
from s2sgrad.pullbacks import hvp as hvp
from s2sgrad.pullbacks import linearize as linearize
from s2sgrad.runtime.checkpoints import checkpoint as checkpoint
from s2sgrad.runtime.checkpoints import checkpointed as checkpointed

if TYPE_CHECKING:
    from s2sgrad.api.loops import compile as compile
    from s2sgrad.api.matrices import elementwise_grad as elementwise_grad
    from s2sgrad.api.matrices import hessian as hessian
    from s2sgrad.api.matrices import jacfwd as jacfwd
    from s2sgrad.api.matrices import jacobian as jacobian
    from s2sgrad.api.matrices import jacrev as jacrev
    from s2sgrad.api.matrices import value_and_jacobian as value_and_jacobian
    from s2sgrad.explanation import explain as explain
    from s2sgrad.stored import use_cache as use_cache
    from s2sgrad.tape import SGD as SGD
    from s2sgrad.tape import Array as Array
    from s2sgrad.tape import GradientTape as GradientTape
    from s2sgrad.tape import UnconnectedGradients as UnconnectedGradients
    from s2sgrad.tape import Variable as Variable
    from s2sgrad.tape import constant as constant
    from s2sgrad.tape import custom_gradient as custom_gradient
    from s2sgrad.tape import custom_jvp as custom_jvp
    from s2sgrad.tape import defjvp as defjvp
    from s2sgrad.tape import defvjp as defvjp
    from s2sgrad.tape import differentiable as differentiable
    from s2sgrad.tape import function as function
    from s2sgrad.tape import gradients as gradients
    from s2sgrad.tape import nondifferentiable as nondifferentiable
    from s2sgrad.tape import primitive as primitive
    from s2sgrad.tape import recompute_grad as recompute_grad
    from s2sgrad.tape import stop_gradient as stop_gradient
    from s2sgrad.tape import trainable_variables as trainable_variables

__version__ = "0.1.0"
_HOMES = {  # The tape, the matrices and `explain` are imported on first use, so that `import s2sgrad` stays quick.
    "api": ("grad", "jvp", "value_and_grad", "vjp"),
    "api.loops": ("compile",),
    "api.matrices": ("elementwise_grad", "hessian", "jacfwd", "jacobian", "jacrev", "value_and_jacobian"),
    "errors": ("NoRule", "NoSource", "NotFinite", "S2SGradError", "Unsupported"),
    "explanation": ("explain",),
    "pullbacks": ("hvp", "linearize"),
    "runtime.checkpoints": ("checkpoint", "checkpointed"),
    "stored": ("use_cache",),
    "tape": (
        *("SGD", "Array", "GradientTape", "UnconnectedGradients", "Variable", "constant", "custom_gradient", "custom_jvp"),
        *("defjvp", "defvjp", "differentiable", "function", "gradients", "nondifferentiable", "primitive"),
        *("recompute_grad", "stop_gradient", "trainable_variables"),
    ),
}
_ROOMS = ("compat", "parallel", "testing")  # packages that users name


def __getattr__(name: str) -> Any:
    """Import a name on its first use."""
    for home, names in _HOMES.items():
        if name in names:
            globals()[name] = found = getattr(importlib.import_module(f"s2sgrad.{home}"), name)
            return found
    if name in _ROOMS:
        return importlib.import_module(f"s2sgrad.{name}")
    from s2sgrad.errors import foreign

    way = foreign.instead_of(name, __dir__())
    imported = sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap"  # `from s2sgrad import name`
    if way and imported and importlib.util.find_spec(f"{__name__}.{name}") is None:
        raise ImportError(f"cannot import name {name!r} from {__name__!r}{way}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{way}")


class _Names(list):
    """Names for `import *`.  `help` describes those that are `in` it, the most common ones; it begins with all of them."""

    def __contains__(self, name: object) -> bool:
        return name in ("grad", "value_and_grad")


if not TYPE_CHECKING:
    __all__ = _Names(n for names in _HOMES.values() for n in names if n != "compile")  # which would hide Python's own


def _shown(*request: Any) -> None:
    from s2sgrad.explanation import showing

    showing.show(*request)


def _framed(derivative: Any) -> str | None:
    from s2sgrad.explanation import showing

    return showing.framed(derivative)


runtime.provide(shown=_shown, framed=_framed)


def __dir__() -> list[str]:
    public = {name for names in _HOMES.values() for name in names}
    return sorted({*public, "__all__", "__doc__", "__file__", "__name__", "__version__", *_ROOMS})
