"""Words of other tools, and what it is here.

grad(f, argnum=1)      ->      TypeError: .. 'argnum': here it is `argnums`, the position or name of an argument, ..
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_WHICH = "here it is `argnums`, the position or name of an argument, or a tuple of these"

# By our option: what to say of it, and what others call it.
_OPTIONS = {
    "argnums": (_WHICH, {"argnum", "argname", "argnames", "inputs", "sources", "variables", "var", "wrt"}),
    "compile": ("here it is `compile=True`", {"jit", "jit_compile", "njit", "nopython"}),
    "unconnected_gradients": ('here it is `unconnected_gradients="none"`', {"allow_unused", "materialize_grads"}),
    "output_gradients": ("here it is `output_gradients`", {"cotangent", "cotangents", "grad_outputs", "output_grads"}),
}
_COLUMNS = "nothing is needed: all columns are computed at once, where that is possible"
_LOOPS = "loops and branches are differentiated as they stand"
_WITHOUT = {
    "requires_grad": f"nothing is marked: {_WHICH}",
    "create_graph": "nothing is needed: a gradient can be differentiated as it is, `grad(grad(f))`",
    "retain_graph": "nothing is needed: a gradient may be called again and again",
    "persistent": "nothing is needed: a gradient may be called again and again",
    "vectorize": _COLUMNS,
    "vmap": _COLUMNS,
}
_NAMES = {
    "Function": "here it is `custom_gradient`",
    "Tensor": "arguments are NumPy arrays, as they are",
    "array": "arguments are NumPy arrays, as they are",
    "backward": "`grad(f)` returns the gradient, as a function of the same arguments",
    "check_grads": "it is in `s2sgrad.testing`",
    "cond": _LOOPS,
    "custom_vjp": "here it is `custom_gradient`",
    "derivative": "here it is `grad`",
    "detach": "here it is `stop_gradient`",
    "enable_grad": "nothing is recorded outside of a gradient",
    "fori_loop": _LOOPS,
    "gradient": "here it is `grad`",
    "hessian_vector_product": "here it is `hvp`; autograd's names are in `s2sgrad.compat.autograd`",
    "jit": "here it is an option, `grad(f, compile=True)`; without it the text runs on NumPy",
    "make_hvp": "here it is `hvp`; autograd's names are in `s2sgrad.compat.autograd`",
    "make_jaxpr": "here it is `grad(f).source_for(*arguments)`",
    "make_jvp": "here it is `jvp`; autograd's names are in `s2sgrad.compat.autograd`",
    "make_vjp": "here it is `vjp`; autograd's names are in `s2sgrad.compat.autograd`",
    "no_grad": "nothing is recorded outside of a gradient; `stop_gradient(x)` makes a constant",
    "np": "use NumPy itself, `import numpy as np`",
    "numpy": "use NumPy itself, `import numpy as np`",
    "pmap": "run gradients in processes: they can be pickled",
    "requires_grad": f"nothing is marked: {_WHICH}",
    "scan": _LOOPS,
    "tensor": "arguments are NumPy arrays, as they are",
    "vmap": f"write the function for whole arrays, or loop over them: {_LOOPS}",
    "while_loop": _LOOPS,
}


def answered(error: Exception, function: Callable[..., Any], args: Sequence[Any], given: Mapping[str, Any]) -> Exception:
    """The error of a call that does not fit, with what the option is called here, or where the arguments belong.

    >>> def transform(f, argnums=0, *, debug=False): ...
    >>> print(answered(TypeError("no 'argnum'"), transform, (), {"argnum": 1}))
    no 'argnum': here it is `argnums`, the position or name of an argument, or a tuple of these
    >>> print(answered(TypeError("no 'argnms'"), transform, (), {"argnms": 1}))
    no 'argnms': did you mean `argnums`?
    >>> print(answered(TypeError("too many"), transform, (abs, 1.0, 2.0), {}))
    too many: the arguments are for the function that it returns, `transform(f)(x, y)`
    """
    own = inspect.signature(function).parameters
    word = next((w for w in given if w not in own), None)
    way = _beyond(function, args, own) if word is None else _option(word, list(own))
    return error if way is None else TypeError(f"{error}: {way}")


def _beyond(function: Callable[..., Any], args: Sequence[Any], own: Mapping[str, inspect.Parameter]) -> str | None:
    """Where arguments belong that are more than a function takes by position."""
    if len(args) <= sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in own.values()):
        return None
    if "tangents" in own:
        return "the primals are a tuple, and so are the tangents: `(x, y), (x_dot, y_dot)`"
    if "argnums" in own:
        return f"the arguments are for the function that it returns, `{function.__name__}(f)(x, y)`"
    return None


def _option(word: str, own: list[str]) -> str | None:
    for name, (way, words) in _OPTIONS.items():
        if word in words and name in own:
            return way
    if word in (_OPTIONS["argnums"][1] | {"argnums"}) and "tangents" in own:
        return "here it is the tangents that say so: None for an argument that is a constant"
    import difflib

    close = difflib.get_close_matches(word, own, 1)
    return _WITHOUT.get(word) or (f"did you mean `{close[0]}`?" if close else _its_own(own))


def _its_own(own: list[str]) -> str | None:
    """The options of a function, which come behind what is differentiated."""
    return f"its options are {', '.join(own[1:])}" if own[1:] else None


# Of a derivative, which others ask for gradients.
_CALLED = "call it, as a function of the same arguments: it returns the gradient"
_MEMBERS = dict.fromkeys(("backward", "grad", "gradient", "apply", "pullback", "run"), _CALLED) | {
    "lower": "here it is `source_for(*arguments)`",
    "numpy": "it is a function; what it returns are NumPy's arrays",
    "requires_grad_": _NAMES["requires_grad"],
    "text": "here it is `source`",
    "trace": "here it is `source_for(*arguments)`",
    "zero_grad": "nothing is accumulated: each call returns its own gradient",
}


def member_instead_of(name: str, public: list[str]) -> str:
    """The same for a member of a derivative.

    >>> member_instead_of("backward", []), member_instead_of("sourse", ["source"])
    (': call it, as a function of the same arguments: it returns the gradient', ': did you mean `source`?')
    """
    return f": {_MEMBERS[name]}" if name in _MEMBERS else instead_of(name, public)


def instead_of(name: str, public: list[str]) -> str:
    """What to say of a name that the package does not have; `public` are those that it has.

    >>> instead_of("detach", []), instead_of("hesian", ["grad", "hessian"]), instead_of("spline", ["grad"])
    (': here it is `stop_gradient`', ': did you mean `hessian`?', '')
    """
    if name in _NAMES:
        return f": {_NAMES[name]}"
    import difflib

    close = difflib.get_close_matches(name.lower(), public, 1, 0.75)
    return f": did you mean `{close[0]}`?" if close else ""
