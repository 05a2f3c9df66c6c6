"""What a user gets wrong in the first hour: each is an error that names the function and the argument, and no nonsense."""

from __future__ import annotations

import contextlib
import decimal
import fractions
import functools
import math
import os
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest

import s2sgrad
from s2sgrad import NoSource, Unsupported, grad, hessian, jvp, value_and_grad, vjp
from s2sgrad.source import typed_in
from s2sgrad.testing import check_grads


def squared(x):
    return x * x


def summed(x):
    return np.sum(np.asarray(x) ** 2)


def product(x, y):
    return np.sum(x * y)


def scaled(u, k):
    u *= k


def rebound(u, k):
    u = u * k


def starred(*args, **options):
    return args[0] * options["k"]


class Made:
    def __init__(self, x):
        self.x = x


class Called:
    def method(self, x):
        return x * x

    @property
    def value(self):
        return 1.0


async def coroutine(x):
    return x * x


async def async_generator(x):
    yield x


def generator(x):
    yield x


# --- what is no function ---------------------------------------------------------------------------------------------


def kind_of(thing):
    """The name of a case: no address in it, as the processes of one run must agree on it."""
    return type(thing).__name__


@pytest.mark.parametrize("thing", [3, 2.0, np, "f", np.ones(2), [squared], Called.value, Made(1.0)], ids=kind_of)
@pytest.mark.parametrize("way", [grad, value_and_grad, lambda f: vjp(f, 2.0), lambda f: check_grads(f, (2.0,))])
def test_what_is_no_function_is_refused(way, thing):
    with pytest.raises(TypeError, match=rf"(grad|vjp|check_grads) needs a function, not {type(thing).__name__}: pass `f`"):
        way(thing)


def test_the_value_instead_of_the_function():
    with pytest.raises(TypeError, match="grad needs a function, not float"):
        grad(squared(2.0))
    with pytest.raises(TypeError, match="grad needs a function, not float"):
        grad(grad(squared)(2.0))
    with pytest.raises(TypeError, match="grad needs a function, not float"):
        grad(None)(2.0)


@pytest.mark.parametrize("way", [lambda f: grad(f)(2.0), lambda f: vjp(f, 2.0)])
def test_classes_and_functions_that_do_not_just_return(way):
    with pytest.raises(NoSource, match="Made is a class, not a function: pass a method"):
        way(Made)
    for f, what in ((coroutine, "`coroutine` is an async"), (async_generator, "async"), (generator, "a generator cannot")):
        with pytest.raises(Unsupported, match=what):
            way(f)


@pytest.mark.parametrize("f", [int, np.argsort, np.argmax, np.isfinite, np.signbit], ids=lambda f: f.__name__)
def test_library_functions_of_ints_and_truth_values(f):
    with pytest.raises(TypeError, match=f"`{f.__name__}` returns an? .*, which has no derivative"):
        grad(f)(2.5 if f is int else np.array([2.5, 1.5]))


def test_library_functions_that_are_flat():
    assert grad(np.sign)(2.5) == 0.0 and vjp(np.floor, 2.5)[1](1.0) == (0.0,)
    assert grad(np.floor_divide)(2.5, 2.0) == 0.0


# --- calls that do not fit -------------------------------------------------------------------------------------------

CALLS = {
    "nothing": (lambda: grad(squared)(), r"squared\(\): missing a required argument: 'x'"),
    "too many": (lambda: grad(squared)(1.0, 2.0), r"squared\(\): too many positional arguments"),
    "another name": (lambda: grad(squared)(z=1.0), r"squared\(\) got an unexpected keyword argument 'z': it has x"),
    "twice": (lambda: grad(squared)(1.0, x=2.0), r"squared\(\): multiple values for argument 'x'"),
    "one of two": (lambda: grad(product)(1.0), r"product\(\): missing a required argument: 'y'"),
    "value too many": (lambda: value_and_grad(squared)(1.0, 2.0), r"squared\(\): too many positional arguments"),
    "text for nothing": (lambda: grad(squared).source_for(), r"squared\(\): missing a required argument: 'x'"),
    "vjp alone": (lambda: vjp(), r"vjp\(\) missing 1 required positional argument: 'f'"),
    "vjp of nothing": (lambda: vjp(squared), r"squared\(\): missing a required argument: 'x'"),
    "vjp too many": (lambda: vjp(squared, 1.0, 2.0), r"squared\(\): too many positional arguments"),
    "vjp another name": (lambda: vjp(squared, 1.0, z=2.0), r"squared\(\) got an unexpected keyword argument 'z': it has x"),
    "check of too many": (lambda: check_grads(squared, (1.0, 2.0)), r"squared\(\): too many positional arguments"),
    "check of none": (lambda: check_grads(squared, ()), r"squared\(\): missing a required argument: 'x'"),
    "check without a tuple": (lambda: check_grads(squared, 2.0), r"args is a tuple of the arguments, \(x, y\), not float"),
    "check of an array": (lambda: check_grads(summed, np.ones(2)), r"args is a tuple of .* not ndarray"),
    "check of an order": (lambda: check_grads(squared, (2.0,), order=1.5), r"the order must be an int, 1 or more, not 1\.5"),
    "check of argnums": (lambda: check_grads(squared, (2.0,), argnums=5), r"argnums=5 is none of the arguments: .* x"),
    "check of a name": (lambda: check_grads(squared, (2.0,), argnums="z"), r"argnums='z' is none of the arguments"),
    "partial of everything": (lambda: grad(functools.partial(squared, 2.0))(), r"squared has 0 arguments by position"),
    "keyword only": (lambda: grad(lambda *, x: x * x)(x=2.0), r"<lambda> has 0 arguments by position"),
    "no star": (lambda: grad(starred)(k=2.0), r"gradient of `starred` in `args\[0\]` .* `\*args` has 0 arguments"),
    "a key": (lambda: grad(starred, "k")(1.0, k=2.0), r"starred has no parameter named 'k', .*it has args, options"),
    "an option": (lambda: grad(squared, wrt=0), r"grad\(\) .* unexpected .* 'wrt': here it is `argnums`"),
    "JAX's word": (lambda: grad(squared, argnum=0), r"'argnum': here it is `argnums`, the position or name"),
    "torch's word": (
        lambda: value_and_grad(squared, requires_grad=True),
        r"'requires_grad': nothing is marked: .* `argnums`",
    ),
    "another compiler": (lambda: grad(squared, jit=True), r"'jit': here it is `compile=True`"),
    "a wrong letter": (lambda: hessian(squared, argnms=0), r"'argnms': did you mean `argnums`\?"),
    "no such option there": (
        lambda: jvp(squared, (1.0,), (1.0,), argnums=0),
        r"'argnums': .* None for an argument that is a constant",
    ),
    "a tangent less": (lambda: jvp(product, (1.0, 2.0), (1.0,)), r"`product` takes a tangent for each .* 2, tangents: 1"),
    "no such name": (lambda: hessian(product, "z")(1.0, 2.0), r"names 'z', which is no argument .*; there are x, y"),
    "no such option": (
        lambda: jvp(squared, (1.0,), (1.0,), seeds=0),
        "unexpected keyword argument 'seeds': its options are primals,",
    ),
    "an option of JAX": (lambda: grad(squared, allow_int=True), "'allow_int': its options are argnums, "),
    "an argument instead of a tuple": (lambda: jvp(squared, 1.0, (1.0,)), r"not float: write `\(x,\)`"),
    "the first one is a text": (lambda: grad(product)("a", 2.0), r'or ask for another one, argnums="y"'),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_do_not_fit(name):
    call, said = CALLS[name]
    with pytest.raises(TypeError, match=said):
        call()


NAMES = {
    "jit": "compile=True",
    "vmap": "whole arrays",
    "no_grad": "stop_gradient",
    "scan": "as they stand",
    "hesian": "hessian",
}


@pytest.mark.parametrize("name, said", NAMES.items())
def test_names_of_other_tools(name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(s2sgrad, name)
    assert not hasattr(s2sgrad, name)
    with pytest.raises(ImportError, match=f"'{name}'.*{said}"):
        exec(f"from s2sgrad import {name}", {})


def test_submodules_with_names_like_others_are_imported():
    names = [module.name for module in pkgutil.iter_modules(s2sgrad.__path__) if module.name != "__main__"]
    command = "; ".join(f"from s2sgrad import {name}" for name in names)
    assert subprocess.run([sys.executable, "-c", command], capture_output=True, check=True).stderr == b""


def test_check_grads_takes_names_and_places_from_the_end():
    check_grads(product, (2.0, 3), argnums="x")
    check_grads(product, (2, 3.0), argnums=-1)


# --- arguments that cannot be differentiated -------------------------------------------------------------------------

NO_FLOATS = {
    "an int": (2, "of type int"),
    "an int of NumPy": (np.int64(2), "of type int64"),
    "a bool": (True, "of type bool"),
    "a text": ("2", "of type str"),
    "bytes": (b"2", "of type bytes"),
    "None": (None, "None"),
    "a list of ints": ([1, 2], "a list without floats"),
    "an empty list": ([], "a list without floats"),
    "a dict of texts": ({"a": "b"}, "a dict without floats"),
    "an array of ints": (np.arange(3), "an array of int64"),
    "an array of bools": (np.array([True]), "an array of bool"),
    "an array of objects": (np.array([1.0, None], dtype=object), "an array of object"),
    "an array of texts": (np.array(["a"]), "an array of <U1"),
    "an array of dates": (np.array(["2020"], dtype="M8[D]"), "an array of datetime64[D]"),
    "a set": ({1.0}, "of type set"),
    "a range": (range(3), "of type range"),
    "a generator": ((x for x in [1.0]), "of type generator"),
    "a Decimal": (decimal.Decimal(2), "of type Decimal"),
    "a Fraction": (fractions.Fraction(1, 2), "of type Fraction"),
    "a function": (squared, "of type function"),
    "a module": (math, "of type module"),
    "a class": (float, "of type type"),
}


@pytest.mark.parametrize("name", NO_FLOATS)
def test_an_argument_without_floats_is_named(name):
    value, shown = NO_FLOATS[name]
    said = re.escape(f"the gradient of `summed` in `x` was asked for, but its value is {shown}: pass a float")
    for way in (grad(summed), value_and_grad(summed), grad(summed).source_for):
        with pytest.raises(TypeError, match=said):
            way(value)
    with pytest.raises(TypeError, match="the gradient of `product` in `y` was asked for"):
        grad(product, "y")(2.0, value)


def test_a_tangent_of_an_argument_without_floats_is_called_a_tangent():
    with pytest.raises(TypeError, match="the tangent of `product` in `y` was asked for") as caught:
        jvp(product, (2.0, 3), (0.0, 1.0))
    head = product.__code__
    assert f'File "{head.co_filename}", line {head.co_firstlineno}' in caught.value.__notes__[0]


@pytest.mark.parametrize("value", [2j, np.array([1j]), np.complex64(1.0)], ids=repr)
def test_a_complex_result_has_no_gradient(value):
    with pytest.raises(TypeError, match="`holomorphic=True`") as caught:
        grad(squared)(value)
    assert caught.value.__suppress_context__
    np.testing.assert_allclose(vjp(squared, value)[1](1j * np.ones_like(value))[0], 2j * value)


def test_vjp_of_ints_alone():
    with pytest.raises(TypeError, match="`squared` is given no floats by position, and returns an int: pass a float"):
        vjp(squared, 2)
    assert vjp(lambda x, n: x * n, 2.0, 3)[1](1.0) == (3.0, 0.0)


def test_check_grads_of_ints_alone():
    for value in (2, "a", [1, 2], np.arange(2)):
        with pytest.raises(ValueError, match="no argument holds floats: there is nothing to differentiate"):
            check_grads(squared, (value,))


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [3, True, (), (1,), ("u", None)], ids=repr)
def test_outputs_are_names(outputs):
    with pytest.raises(TypeError, match="outputs is the name of an argument that is written, or a tuple of names, not"):
        grad(scaled, "k", outputs=outputs)


def test_outputs_that_are_no_parameters():
    with pytest.raises(TypeError, match="scaled has no parameter named 'nope', which `outputs` names; it has u, k"):
        grad(scaled, "k", outputs="nope")


def test_outputs_that_are_not_written():
    for df in (grad(rebound, "k", outputs="u"), grad(scaled, "k", outputs=["u", "k"])):
        with pytest.raises(TypeError, match=r"does not write its argument `(u|k)`, an? .*, which `outputs` names: "):
            df(np.ones(3), 2.0)
    with pytest.raises(TypeError, match=r"`scaled` does not write its argument `u`, a float, which .*: pass an array"):
        grad(scaled, "k", outputs="u")(1.0, 2.0)
    np.testing.assert_allclose(grad(scaled, "k", outputs=["u"])(np.ones(3), 2.0), 3.0)


def test_other_options():
    with pytest.raises(ValueError, match="unconnected_gradients must be 'zero' or 'none', not 'maybe'"):
        grad(squared, unconnected_gradients="maybe")


# --- where there is no text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", ["exec", "eval"])
def test_functions_without_a_file(made):
    space = {}
    if made == "exec":
        exec("def f(x):\n    return x * x", space)
    f = space.get("f") or eval("lambda x: x * x")
    for way in (lambda: grad(f)(2.0), lambda: vjp(f, 2.0)):
        with pytest.raises(NoSource, match=r"keeps no source.*put it in a file or a notebook"):
            way()


PROGRAM = """from s2sgrad import grad, hessian
def f(x):
    return x * x * x
print(grad(f)(2.0), hessian(lambda x: x * x)(3.0))
"""
MADE = (
    'exec("def f(x): return max(x, 1.0) * x")\nfrom s2sgrad import grad\n'
    "try: grad(f)(2.0)\nexcept Exception as error: print(error)"
)


def run(*options, **given):
    done = subprocess.run([sys.executable, *options], capture_output=True, text=True, check=True, **given)
    assert not done.stderr
    return done.stdout


def test_functions_of_the_command_line():
    assert run("-c", PROGRAM) == run(f"-Bc{PROGRAM}") == "12.0 2.0\n"
    assert "put it in a file or a notebook" in run("-c", MADE)


def test_functions_of_standard_input(tmp_path):
    (tmp_path / "program").write_text(PROGRAM)
    with (tmp_path / "program").open() as file:
        assert run(stdin=file) == "12.0 2.0\n"
    assert run(input=PROGRAM) == "12.0 2.0\n"  # a pipe is read once: without a text, what calls nothing is recorded
    caught = PROGRAM.replace("x * x * x", "max(x, 1.0) * x").replace("print(", "try: print(")
    caught += "except Exception as error: print(error)\n"
    assert "put it in a file or a notebook" in run(input=caught)


def test_functions_typed_at_a_prompt(monkeypatch):
    """Where the history is all that there is, the latest statement that compiles to the function is its text."""
    typed = ["import math", "@staticmethod", "def f(x):", "    return x * x", "", "def f(x):", "    return x + x", "",
             "g = lambda t: t * t", "f(2.0)"]  # fmt: skip
    monkeypatch.setattr(typed_in, "_history", lambda: typed)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    space = {}
    for text in ("def f(x):\n    return x + x\n", "g = lambda t: t * t", "def h(x):\n    return x\n"):
        exec(compile(text, "<stdin>", "single"), space)
    assert grad(space["f"])(2.0) == 2.0 and grad(space["g"])(3.0) == 6.0
    with pytest.raises(NoSource, match="keeps no source"):
        grad(space["h"])(2.0)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_functions_typed_into_the_interpreter_itself():
    """Two functions of one name: each line asks the one that stands when it is typed."""
    import pty

    typed = [
        "from s2sgrad import grad, hessian",
        "def f(x):\n    return x * x * x\n",
        "g = lambda x: x * f(x)",
        "print('first', grad(f)(2.0), hessian(g)(1.0))",
        "def f(x):\n    return x * x\n",
        "print('second', grad(f)(2.0), grad(g)(2.0))",
    ]
    ours, its = pty.openpty()
    environment = os.environ | {"TERM": "dumb", "PYTHON_BASIC_REPL": "1"}
    with subprocess.Popen([sys.executable, "-q"], stdin=its, stdout=its, stderr=its, env=environment) as interpreter:
        os.close(its)
        os.write(ours, "\n".join([*typed, "exit()", ""]).encode())
        shown = b""
        with contextlib.suppress(OSError):  # at the end of what it writes
            while part := os.read(ours, 4096):
                shown += part
    os.close(ours)
    assert interpreter.returncode == 0
    assert b"first 12.0 12.0\r\n" in shown and b"second 4.0 12.0\r\n" in shown, shown.decode()
