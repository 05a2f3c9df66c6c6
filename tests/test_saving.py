"""A generated text saved as a module of its own gives the same bits, with and without s2sgrad beside it."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import linecache
import re
import subprocess
import sys
import textwrap
import traceback

import documents
import numpy as np
import pytest
from corpus import CASES, by_name
from differences import leaves
from judging import loaded
from kernels import KERNELS, VARIANTS

from s2sgrad import S2SGradError, grad, jvp, value_and_grad
from s2sgrad.__main__ import main
from s2sgrad.api import saving
from s2sgrad.api.forward import tangent_at
from s2sgrad.runtime import zeros
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.structure import rebuilt

MODEL = """
import numpy as np

SCALE = 2.0


def inner(w, x):
    return np.log1p(np.exp(x @ w)) * SCALE


def loss(w, x):
    out = np.zeros(len(x))
    for k in range(len(x)):
        out[k] = inner(w, x[k])
    return np.sum(out ** 2)
"""

# --- all that there is -------------------------------------------------------------------------------------------------


def halves(x):
    """A tangent of a value."""
    if isinstance(x, (list, tuple, dict)):
        return rebuilt(x, halves)
    is_float = isinstance(x, (float, np.floating)) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")
    return zeros(x) + 0.5 if is_float else zeros(x)


def derivatives(function, argnums, second, options):
    """Functions with saved texts: in both modes, of both orders."""
    yield grad(function, argnums, **options)
    yield jvp(function, **options).along(argnums)
    if second:
        gradient = grad(function, argnums[0], **options)
        yield grad(gradient, argnums[0])
        yield jvp(gradient).along((argnums[0],))


def pasted(df, args, standalone):
    """What the saved text gives, and what it gives in memory."""
    with contextlib.redirect_stdout(io.StringIO()):
        if not hasattr(df, "along"):
            expected, dots = df(*args()), {}
        else:
            given = args()
            tangents = tuple(halves(given[k]) for k in df._request.argnums)
            expected = df.along(given, tangents, {})
            given = (*df._request.lead, *given)  # of a method: the object
            dots = {w: tangent_at(df, p, given, tangents) for w, p in df.places(df._latest, len(given)).items()}
        text = saving.module_text(df._latest, standalone)
        file = f"<saved {df._latest.function.__name__}>"  # inner gradients of a text read it
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        space = {"__name__": "saved"}
        try:
            exec(compile(text, file, "exec"), space)
            return text, expected, space[df._latest.function.__name__](*df._request.lead, *args(), **dots)
        finally:
            linecache.cache.pop(file)


# What has no text to save: the gradient of a gradient, or its tangent, is refused where the first has what may be a view
# updated, or on a list more than once (docs/limits.md, forward-mode.md).
REFUSED_AGAIN = r"which of them cannot be followed|may be a view of what|in a list more than once"


def gives_the_same_bits(df, args, again=False):
    for standalone in (False, True):
        try:
            text, expected, got = pasted(df, args, standalone)
        except (S2SGradError, Refusal) as error:
            assert again and re.search(REFUSED_AGAIN, str(error))
            return
        except ValueError as error:
            said = "pass it as an argument|which no file has at its top level" + "|standalone=True" * standalone
            assert re.search(said, str(error))
            continue
        for a, b in zip(leaves(expected), leaves(got), strict=True):
            assert np.array_equal(a, b, equal_nan=True)
        if standalone:
            assert not {home.partition(".")[0] for home in imported(text)} & {"s2sgrad"}


def imported(text):
    """The modules that a text imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.sampled(one_in=400, turn=3)
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name)
def test_a_saved_text_of_the_corpus(entry):
    """What it closes over may be more than a module can hold: that is said."""
    for k, df in enumerate(derivatives(entry.function, entry.argnums, entry.second is True, {})):
        gives_the_same_bits(df, entry.fresh_args, again=k > 1)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("local", ["lower", "symmetric", "adjoint", "hermitian", "lower_"])
def test_a_local_variable_that_is_named_like_a_helper(local):
    """The second derivative of a factorization calls helpers by the module that they are in."""
    source = f"""
import numpy as np
def f(matrix, y):
    {local} = np.linalg.cholesky(matrix)
    return np.sum(np.linalg.solve({local}, y) ** 2) + np.sum({local} ** 2)
"""
    matrix, y = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([1.0, 2.0])
    with loaded(source, f"<{local}>") as f:
        for k, df in enumerate(derivatives(f, (0,), True, {})):
            gives_the_same_bits(df, lambda: (matrix.copy(), y.copy()), again=k > 1)


def test_a_helper_that_has_its_names_changed_and_its_annotations_left_out():
    """The text has a name `np` of its own: `np` of the helper, in `(dtype: np.dtype) -> np.dtype` as well, is `np_`."""
    entry = by_name("function_called_zeros_beside_ours")
    for k, df in enumerate(derivatives(entry.function, entry.argnums, entry.second is True, {})):
        gives_the_same_bits(df, entry.fresh_args, again=k > 1)


@pytest.mark.dear
@pytest.mark.sampled(one_in=60)
@pytest.mark.parametrize("entry", [*KERNELS, *VARIANTS], ids=lambda entry: entry.name)
def test_a_saved_text_of_a_kernel(entry):
    options = {"outputs": entry.outputs} if entry.outputs else {}
    for k, df in enumerate(derivatives(entry.function, entry.places, True, options)):
        gives_the_same_bits(df, entry.args, again=k > 1)


# --- the file ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [[], ["--forward"], ["--order", "2"]])
def test_saved_from_the_shell(tmp_path, monkeypatch, flags):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fitted_model.py").write_text(MODEL)
    given = "np.ones(2), np.eye(3)[:, :2]"
    assert main(["show", "fitted_model.py:loss", "--args", given, "-o", "saved.py", "--standalone", *flags]) == 0
    text = (tmp_path / "saved.py").read_text()
    assert "SCALE = 2.0" in text and "from fitted_model" not in text and "from s2sgrad" not in text
    more = ", w_dot=np.ones(2)" if flags == ["--forward"] else ""
    name = {"[]": "loss_grad", "['--forward']": "loss_jvp"}.get(str(flags), "loss_grad_grad")
    program = "import sys; sys.modules['s2sgrad'] = None; import numpy as np; import saved; "
    program += f"print(saved.{name}({given}{more}))"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True).stdout
    assert "nan" not in out and out.strip()


def test_what_cannot_be_saved_leaves_no_file(tmp_path):
    held = object()
    df = grad(lambda x: x * x if held else x)
    df(2.0)
    with pytest.raises(ValueError, match=r"`held` \(of type object\), which the function reads"):
        df.save(tmp_path / "saved.py")
    along = jvp(lambda x: x * x)
    along((2.0,), (1.0,))
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing"):
        along.save(tmp_path / "missing" / "along.py")
    with pytest.raises(IsADirectoryError, match="is a folder: name a file"):
        along.save(tmp_path)
    (tmp_path / "along.py").write_text("old = 1\n")
    along.save(tmp_path / "along.py")
    assert [p.name for p in tmp_path.iterdir()] == ["along.py"]
    space = {}
    exec((tmp_path / "along.py").read_text(), space)
    assert space["lambda__jvp"](3.0, x_dot=1.0) == (9.0, 6.0) and "old" not in space


def test_a_missing_folder_is_told_from_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fitted_model.py").write_text(MODEL)
    assert main(["show", "fitted_model.py:loss", "-o", "missing/saved.py"]) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("way", ["grad", "jvp", "second"])
def test_a_traceback_of_a_saved_text_has_the_users_line(tmp_path, monkeypatch, way):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lined_model.py").write_text(MODEL)
    model = importlib.import_module("lined_model")
    df = {"grad": grad(model.loss), "jvp": jvp(model.loss), "second": grad(grad(model.loss))}[way]
    df.source_for(np.ones(2), np.eye(3)[:, :2])
    df = df.along((0,)) if way == "jvp" else df
    df.prepare(np.ones(2), np.eye(3)[:, :2])
    df.save(tmp_path / f"lined_{way}.py", lines=True)
    saved = importlib.import_module(f"lined_{way}")
    with pytest.raises(ValueError) as caught:
        function = getattr(saved, df._latest.function.__name__)
        function(np.ones(2), np.eye(3), **({"w_dot": np.ones(2)} if way == "jvp" else {}))
    shown = "".join(traceback.format_exception(caught.value))
    (line,) = [k for k, text in enumerate(MODEL.splitlines(), 1) if "np.log1p" in text]
    assert f"# lined_model.py:{line}" in shown


# --- where things come from --------------------------------------------------------------------------------------------


def test_values_that_are_closed_over_are_written_out(tmp_path):
    weights, options = np.array([1.0, 2.0]), {"power": 3, "names": ("a", None), "step": np.float32(0.5)}
    df = grad(lambda x: np.sum(weights * x ** options["power"] * options["step"]))
    x = np.array([0.5, 2.0])
    expected = df(x)
    df.save(tmp_path / "saved.py")
    space = {}
    exec((tmp_path / "saved.py").read_text(), space)
    assert np.array_equal(space["lambda__grad"](x), expected)


CONSTANTS = {
    "of_constants": """
        import math
        from math import exp, pi
        import numpy as np
        from scipy.special import erf as error_function, expit
        import constant_helpers
        from constant_helpers import RATE, helper, quadrature
        WEIGHTS, MODE, EPS = np.array([0.5, 0.25]), "fast", np.finfo(float).eps
        OPTIONS = {"decay": 0.9, "steps": 3}

        def numbers(x):
            for _ in range(OPTIONS["steps"]):
                x = x * OPTIONS["decay"] + EPS
            return np.sum(x * WEIGHTS) * pi if MODE == "fast" else 0.0

        def functions(x):
            return np.sum(error_function(x) * expit(x)) + exp(x[0]) * math.tau

        def helpers(x):
            return helper(x).sum() * RATE + constant_helpers.helper(x)[0] * constant_helpers.WIDTH + quadrature(x)
        """,
    "constant_helpers": """
        import numpy as np
        RATE = 0.25
        WIDTH = np.float64(3.0)

        def scaled(x):
            return RATE * x

        def helper(x):
            return np.tanh(scaled(x))

        def quadrature(x):
            out = 0.0
            for v in x:
                if v > WIDTH:
                    break
                out = out + scaled(v) * v
            return out
        """,
}


@pytest.mark.parametrize("name", ["numbers", "functions", "helpers"])
def test_a_standalone_module_imports_none_of_the_users(tmp_path, monkeypatch, name):
    for module, text in CONSTANTS.items():
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    function = getattr(importlib.import_module("of_constants"), name)
    x = np.array([0.5, 2.0])
    for df in (grad(function), value_and_grad(function), grad(grad(function))):
        expected = df(x)
        df.save(tmp_path / "alone.py", standalone=True)
        text = (tmp_path / "alone.py").read_text()
        assert not {home.partition(".")[0] for home in imported(text)} & {*CONSTANTS, "s2sgrad"}
        space = {"__name__": "alone"}
        exec(text, space)
        for a, b in zip(leaves(expected), leaves(space[df._latest.function.__name__](x)), strict=True):
            assert np.array_equal(a, b)


PACKAGE = {
    "__init__": "",
    "inner": """
        import numpy as np

        SCALE = 3.0

        def helper(x):
            return np.sin(x) * SCALE

        def total(x):
            return np.sum(x)
        """,
    "other": """
        SCALE = 5.0

        def total(x):
            t = 0.0
            for v in x:
                t = t + v * SCALE
            return t
        """,
    "model": """
        from __future__ import annotations

        import functools
        from collections import namedtuple
        from dataclasses import dataclass
        from typing import Callable

        import numpy as np
        from numpy import exp

        from . import other
        from .inner import helper, total
        from .other import total as weighted

        DEFAULTS = {"k": 2.0}
        TABLE = np.arange(3.0)
        Pair = namedtuple("Pair", "u v")

        @dataclass
        class Spring:
            a: float
            b: float

            def energy(self):
                return self.a * self.b

        def relative(x: np.ndarray, opts=DEFAULTS, *, xp=np, limit=np.inf) -> float:
            y = helper(x) + xp.cos(x) * opts["k"]
            return weighted(y) + total(x) + other.SCALE if x[0] < limit else 0.0

        def classes(x):
            spring = Spring(x[0] * 2.0, x[1])
            pair = Pair(spring.energy(), x[2])
            return pair._replace(u=pair.u * 2.0).u * pair.v

        def größe(α, β=1.0):
            ξ = exp(α) * β
            return np.sum(ξ ** 2)

        def doubled(f):
            @functools.wraps(f)
            def inner(x):
                return 2.0 * f(x)
            return inner

        @doubled
        def decorated(x):
            return np.sum(x * TABLE * x)

        def made(k, weights):
            def h(x):
                t = 0.0
                for i in range(len(x)):
                    if t > 100.0:
                        break
                    t = t + x[i] * k * weights[i] * x[i]
                return t
            return h

        two, three = made(2.0, np.ones(3)), made(3.0, np.arange(3.0))

        def two_closures(x):
            return two(x) * three(x)

        class Net:
            scale = 2.0

            def __init__(self, w):
                self.w = w

            def loss(self, x):
                return np.sum((self.w @ x) ** 2)

            @staticmethod
            def cubes(x):
                return np.sum(x ** 3)

            @classmethod
            def scaled(cls, x):
                return np.sum(x ** 3) * cls.scale

        method, static, of_class, lambda_ = Net(np.eye(3)).loss, Net.cubes, Net.scaled, lambda x: np.sum(x * x * TABLE)
        """,
}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved_from")
    (folder / "springs").mkdir()
    for name, text in PACKAGE.items():
        (folder / "springs" / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    sys.path.insert(0, str(folder))
    yield importlib.import_module("springs.model")
    sys.path.remove(str(folder))
    for name in [n for n in sys.modules if n.partition(".")[0] == "springs"]:
        del sys.modules[name]


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize(
    "name",
    ["relative", "classes", "größe", "decorated", "two_closures", "method", "static", "of_class", "lambda_"],
)
def test_a_function_of_a_package(package, name):
    function, x = getattr(package, name), np.array([0.5, 1.0, 2.0])
    for df in (grad(function), value_and_grad(function), grad(grad(function)), jvp(function).along((0,))):
        gives_the_same_bits(df, lambda: (x.copy(),))


def test_a_file_of_a_package_is_shown(package, capsys):
    file = package.__file__
    assert main(["show", f"{file}:relative", "--args", "np.ones(3)"]) == 0
    assert "def relative_grad" in capsys.readouterr().out


NOTEBOOK = """
import numpy as np

SCALE = np.array([1.0, 2.0])
MANY = np.zeros(2000)

class Box:
    def __init__(self, a):
        self.a = a

def inner(x: np.ndarray) -> np.ndarray:
    return x ** 2

def helper(x, n=SCALE):
    return inner(x) * n

def repeated(x, k=2):
    for i in range(k):
        x = helper(x)
    return np.sum(x * inner(SCALE))

def large(x):
    return np.sum(x) * MANY[0]

def boxed(x):
    return 2.0 * np.sum(x * x) if issubclass(Box, object) else np.sum(x)
"""


@pytest.fixture
def notebook():
    name = "<ipython-input-7-saved>"
    linecache.cache[name] = (len(NOTEBOOK), None, NOTEBOOK.splitlines(keepends=True), name)
    space = {"__name__": "__main__"}
    exec(compile(NOTEBOOK, name, "exec"), space)
    yield space
    linecache.cache.pop(name)


def test_a_notebook_has_no_module(notebook):
    """Functions and values are written out; a class would be another one."""
    df, x = grad(notebook["repeated"]), np.array([0.5, 1.5])
    gives_the_same_bits(df, lambda: (x.copy(),))
    text = saving.module_text(df._latest)
    assert "__main__" not in text and "def inner(x):" in text and "SCALE = np.array([1.0, 2.0]" in text
    for name, said in (("large", r"`MANY` \(of type ndarray\), which the function reads"), ("boxed", "the class `Box`")):
        df = grad(notebook[name])
        df(x)
        with pytest.raises(ValueError, match=said):
            saving.module_text(df._latest)


def _limits():
    for language, text in documents.limits():
        if language == "python" and text.startswith("# ValueError of `save"):
            yield pytest.param(text, "standalone" in text.split("\n")[0], id=re.findall(r"def (\w+)", text)[-1])


@pytest.mark.parametrize(("text", "standalone"), list(_limits()))
def test_limits(text, standalone, tmp_path):
    """A block of docs/limits.md that does not raise any more describes a limit that is gone: take it out."""
    file = tmp_path / "limit.py"
    file.write_text(text, encoding="utf-8")
    space = {"np": np, "__name__": "limit", "__file__": str(file)}
    exec(compile(text, str(file), "exec"), space)
    df = grad(space[re.findall(r"^def (\w+)", text, re.M)[-1]])
    df(*((0.5, lambda v: v * v) if standalone else (np.ones(2),)))
    with pytest.raises(ValueError):
        saving.module_text(df._latest, standalone)
    if standalone:
        saving.module_text(df._latest)
