"""What a user sees of an error that comes out of a gradient: the type that Python gives, their line, and nothing of ours.

For every way in and many ways to fail, in the forward sweep and in the reverse sweep.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import linecache
import os
import pickle
import re
import subprocess
import sys
import textwrap
import traceback
import types
import warnings

import numpy as np
import pytest

import s2sgrad
from s2sgrad import (
    GradientTape,
    NoRule,
    constant,
    function,
    grad,
    gradients,
    hessian,
    hvp,
    jacobian,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)
from s2sgrad.errors import Place
from s2sgrad.testing import check_grads

HOME = os.path.dirname(s2sgrad.__file__) + os.sep
LINES = 15
X = np.array([0.3, 0.7, 1.1])

HELPER = '''
import numpy as np


def fails(y):
    return np.reshape(y, (7, 2))  # here


def counted(y, k):
    total = 0.0
    for i in range(k):
        total = total + y[i] * y[i]  # here
    return total
'''

FORWARD = {
    "shapes": (ValueError, """
        def f(x):
            other = x * 2.0
            z = np.ones((2, 5)) @ other  # here
            return np.sum(z * z)
        """),
    "index": (IndexError, """
        def f(x):
            y = x * 2.0
            t = y[7] * y[7]  # here
            return np.sum(x) * t
        """),
    "loop": (IndexError, """
        def f(x):
            total = 0.0
            for k in range(5):
                total = total * x[k] + x[k]  # here
            return total * total
        """),
    "division": (ZeroDivisionError, """
        def f(x, n=0):
            k = 1 // n  # here
            return np.sum(x * x) * k
        """),
    "lengths in a comprehension": (ValueError, """
        def f(x):
            pairs = [a * b for a, b in zip(x, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], strict=True)]  # here
            return pairs[0]
        """),
    "lengths in a generator": (ValueError, """
        def f(x):
            return sum(a * b for a, b in zip(x[1:], x, strict=True))  # here
        """),
    "key": (KeyError, """
        def f(x):
            d = {"a": x}
            y = d["b"] * d["b"]  # here
            return np.sum(y)
        """),
    "raised": (ValueError, """
        def f(x):
            if x[0] > 0.0:
                raise ValueError("too large")  # here
            return np.sum(x)
        """),
    "own class": (RuntimeError, """
        class TooLarge(RuntimeError):
            pass

        def f(x):
            if x[0] > 0.0:
                raise TooLarge("too large")  # here
            return np.sum(x)
        """),
    "assert": (AssertionError, """
        def f(x):
            assert x[0] < 0.0, "positive"  # here
            return np.sum(x)
        """),
    "singular": (np.linalg.LinAlgError, """
        def f(x):
            m = np.outer(x, x) * 0.0
            return np.sum(np.linalg.inv(m))  # here
        """),
    "helper": (ValueError, """
        def f(x):
            y = x * x
            return np.sum(fails(y) ** 2)
        """),
    "helper loop": (IndexError, """
        def f(x):
            return np.tanh(counted(x, 4))
        """),
    "recursion": (RecursionError, """
        def f(x):
            return f(x) * x[0]  # here
        """),
    "with": (ValueError, """
        def f(x):
            with np.errstate(all="ignore"):
                y = np.log(x)
                z = np.reshape(y, (7, 2))  # here
            return np.sum(z * z)
        """),
    "finally": (ValueError, """
        def f(x):
            try:
                z = np.reshape(x * x, (7, 2))  # here
            finally:
                print("done")
            return np.sum(z * z)
        """),
    "closure": (ValueError, """
        def made(w):
            def f(x):
                return np.sum((w @ x) ** 2)  # here
            return f

        f = made(np.ones((2, 5)))
        """),
    "lambda": (ValueError, """
        f = lambda x: np.sum((np.ones((2, 5)) @ x) ** 2)  # here
        """),
    "method": (ValueError, """
        class Model:
            def __init__(self, w):
                self.w = w

            def loss(self, x):
                h = self.w @ x  # here
                return np.sum(h * h)

        f = Model(np.ones((2, 5))).loss
        """),
    "callable": (ValueError, """
        class Model:
            def __init__(self, w):
                self.w = w

            def __call__(self, x):
                h = self.w @ x  # here
                return np.sum(h * h)

        f = Model(np.ones((2, 5)))
        """),
    "decorated": (ValueError, """
        import functools

        def twice(g):
            @functools.wraps(g)
            def inner(x):
                return 2.0 * g(x)
            return inner

        @twice
        def f(x):
            z = np.ones((2, 5)) @ x  # here
            return np.sum(z * z)
        """),
    "nested gradient": (ValueError, """
        def inner(x):
            z = np.ones((2, 5)) @ x  # here
            return np.sum(z * z)

        def f(x):
            return np.sum(s2sgrad.grad(inner)(x) ** 2)
        """),
    "stored": (ValueError, """
        def f(x):
            y = np.zeros(3)
            y[:2] = x * x  # here
            return np.sum(y * y)
        """),
    "unpacked": (ValueError, """
        def f(x):
            a, b = x * x  # here
            return a * b
        """),
    "comprehension": (IndexError, """
        def f(x):
            ys = [x[k] * x[k] for k in range(5)]  # here
            return sum(ys)
        """),
    "nested recursion": (ValueError, """
        def f(x):
            def walk(n):
                if n == 0:
                    return x.reshape(9)  # here
                return walk(n - 1) * x[n]
            return np.sum(walk(2))
        """),
}

REVERSE = {
    "pullback": (ZeroDivisionError, """
        def back(g):
            return g * (1 // 0)  # here

        @s2sgrad.custom_gradient
        def own(x):
            return np.sum(x * x), back

        def f(x):
            return own(x) * 2.0
        """),
    "lambda pullback": (ValueError, """
        own = s2sgrad.custom_gradient(lambda x: (np.sum(x * x), lambda g: np.ones((2, 5)) @ x))  # here

        def f(x):
            return own(x) * 2.0
        """),
    "rule": (ValueError, """
        own = s2sgrad.primitive(lambda x: 2.0 * x)
        own.defvjp(lambda g, y, x: g.reshape(9))  # here

        def f(x):
            return np.sum(own(x) * x)
        """),
    "shape from a rule": (ValueError, """
        own = s2sgrad.primitive(lambda x: 2.0 * x)
        own.defvjp(lambda g, y, x: np.append(g, g))

        def f(x):
            z = own(x)  # here
            return np.sum(z * x)
        """),
}


def ways():
    def recorded(f, x):
        with GradientTape() as tape:
            v = constant(x)
            tape.watch(v)
            y = f(v)
        return tape.gradient(y, v)

    def jacobians(f, x):
        with GradientTape(persistent=True) as tape:
            v = constant(np.stack([x, x]))
            tape.watch(v)
            y = v * f(v[0])
        return tape.batch_jacobian(y, v)

    def in_graph(f, x):
        return function(lambda v: gradients(f(v), v))(x)

    return {
        "grad": lambda f, x: grad(f)(x), "value_and_grad": lambda f, x: value_and_grad(f)(x),
        "vjp": lambda f, x: vjp(f, x)[1](1.0), "check_grads": lambda f, x: check_grads(f, (x,)),
        "tape": recorded, "function": in_graph, "batch_jacobian": jacobians,
        "grad of grad": lambda f, x: grad(grad(f))(x), "nested": lambda f, x: grad(lambda v: np.sum(grad(f)(v) ** 2))(x),
        "jvp": lambda f, x: jvp(f, (x,), (x,)), "jacobian": lambda f, x: jacobian(f)(x),
        "hessian": lambda f, x: hessian(f)(x), "hvp": lambda f, x: hvp(f, (x,), (x,)),
        "linearize": lambda f, x: linearize(f, x)[1](x),
    }  # fmt: skip


WAYS = ways()
COMPILED = ("grad", "value_and_grad", "vjp", "grad of grad", "jvp")


def loaded(folder, text, name="model"):
    """A module of this text, and where its line `here` stands."""
    file = folder / f"{name}.py"
    head = "import numpy as np\nimport s2sgrad\nfrom fails_here import counted, fails\n\n" if name == "model" else ""
    file.write_text(head + textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module, file


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("model", "fails_here"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with contextlib.suppress(KeyError):  # a text of ours whose function is collected meanwhile
        linecache.checkcache()
    loaded(tmp_path, HELPER, "fails_here")
    yield lambda text: loaded(tmp_path, text)
    for name in ("model", "fails_here"):
        sys.modules.pop(name, None)


def here(folder, text):
    """The file and the line at which a program fails."""
    for file in ("model.py", "fails_here.py"):
        lines = (folder / file).read_text(encoding="utf-8").splitlines()
        marked = [k for k, line in enumerate(lines, 1) if line.endswith("# here")]
        if file == "model.py" and marked:
            return folder / file, marked[0]
        if marked:
            return folder / file, marked[1 if "counted(" in text else 0]
    raise AssertionError("no mark")


def complaints(error, kind, file, line):
    """What is wrong with an error that ought to have this type and this place."""
    shown = "".join(traceback.format_exception(error)).rstrip()
    inner = shown.split(f'File "{__file__}"')[-1].splitlines()[1:]
    out = []
    if not isinstance(error, kind):
        out.append(f"{type(error).__name__}, not {kind.__name__}")
    if f'File "{file}", line {line}' not in shown:
        out.append(f"not at {os.path.basename(file)}:{line}")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(HOME)]
    if frames:
        out.append(f"{len(frames)} frames of ours")
    if "<s2sgrad" in shown or "<made for" in shown:
        out.append("a line of generated text")
    if len(inner) > LINES:
        out.append(f"{len(inner)} lines")
    if re.search(r"\b(t\d+|\w+_stack|\w+_bar|refilled|other_)\b", shown):
        out.append("a name of ours")
    return [f"{what}\n{shown}" for what in out]


def failure(way, f):
    with contextlib.redirect_stdout(None):
        try:
            WAYS[way](f, X.copy())
        except Exception as error:
            return error
    raise AssertionError("nothing is raised")


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("way", COMPILED)
@pytest.mark.parametrize("name", FORWARD)
def test_the_forward_sweep(write, tmp_path, name, way):
    kind, text = FORWARD[name]
    module, _ = write(text)
    error = failure(way, module.f)
    assert not complaints(error, kind, *here(tmp_path, text))
    note, *_ = error.__notes__
    if "helper" in name:  # the statement that calls it, where it runs as it is
        assert re.match(r"in (the derivative of )?.*(model|fails_here)\.py, line \d+: ", note)
    else:
        file, line = here(tmp_path, text)
        assert re.match(rf"in (the derivative of )?{re.escape(str(file))}, line {line}: ", note)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("way", [w for w in WAYS if w not in COMPILED])
@pytest.mark.parametrize("name", ["shapes", "index", "raised", "assert", "helper", "lambda", "method"])
def test_the_other_ways_in(write, tmp_path, name, way):
    kind, text = FORWARD[name]
    module, _ = write(text)
    assert not complaints(failure(way, module.f), kind, *here(tmp_path, text))


REVERSED = ("grad", "value_and_grad", "vjp", "tape", "function")
AGAIN = [(name, way) for name in ("lambda pullback", "rule", "shape from a rule") for way in ("grad of grad", "hvp")]


@pytest.mark.parametrize(("name", "way"), [*((name, way) for name in REVERSE for way in REVERSED), *AGAIN])
def test_the_reverse_sweep(write, tmp_path, name, way):
    kind, text = REVERSE[name]
    module, _ = write(text)
    assert not complaints(failure(way, module.f), kind, *here(tmp_path, text))


def test_the_note_tells_the_derivative_from_the_function(write, tmp_path):
    """It goes with an error that is pickled, as those of other processes are."""
    text = """
        @s2sgrad.custom_gradient
        def own(x):
            return np.sum(x * x), lambda g: g * (1 // 0)

        def f(x):
            if x[0] > 2.0:
                raise ValueError("large")
            y = own(x)
            return y * 2.0
        """
    module, file = write(text)
    first = 1 + next(k for k, line in enumerate(file.read_text().splitlines(), 1) if line.startswith("def f"))
    with pytest.raises(ZeroDivisionError) as caught:
        grad(module.f)(X)
    assert caught.value.__notes__ == [f"in the derivative of {file}, line {first + 2}: y = own(x)"]
    for way in (grad(module.f), lambda x: jvp(module.f, (x,), (x,))):
        with pytest.raises(ValueError, match="large") as caught:
            way(10.0 * X)
        assert pickle.loads(pickle.dumps(caught.value)).__notes__ == [
            f'in {file}, line {first + 1}: raise ValueError("large")'
        ]


@pytest.mark.parametrize("way", [*COMPILED, "hvp", "jacobian"])
def test_a_refusal_in_a_function_that_is_put_beside(write, tmp_path, way):
    text = FORWARD["nested recursion"][1].replace(".reshape(9)", ".dot(np.sort_complex(x).real * x)")
    module, file = write(text)
    with pytest.raises(NoRule) as caught:
        WAYS[way](module.f, X)
    assert caught.value.place[:2] == (str(file), here(tmp_path, text)[1])


def test_a_cell_of_a_notebook():
    """IPython registers the source of a cell under a file name that is no file."""
    name = "<ipython-input-3-abc>"
    text = "import numpy as np\ndef f(x):\n    z = np.ones((2, 5)) @ x\n    return np.sum(z * z)\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), space)
    for way in WAYS:
        assert not complaints(failure(way, space["f"]), ValueError, name, 3)
    linecache.cache.pop(name)


@pytest.mark.parametrize("command", ["show", "check"])
def test_the_shell(write, tmp_path, command):
    _, file = write(FORWARD["shapes"][1])
    line = here(tmp_path, "")[1]
    asked = [sys.executable, "-m", "s2sgrad", command, f"{file}:f", "--args", "np.ones(3)"]
    done = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path)
    if command == "check":
        assert done.returncode != 0
        assert f'File "{file}", line {line}' in done.stderr, done.stderr
        assert "ValueError" in done.stderr
        assert HOME not in done.stderr
        assert len(done.stderr.splitlines()) <= LINES
    else:  # which runs nothing
        assert done.returncode == 0, done.stderr


def test_an_interrupt_is_left_alone(write):
    module, _ = write("def stop(x):\n    raise KeyboardInterrupt\n\ndef f(x):\n    stop(x)\n    return np.sum(x * x)\n")
    for way in ("grad", "vjp", "check_grads"):
        with pytest.raises(KeyboardInterrupt):
            WAYS[way](module.f, X)


def test_the_variables_of_the_frame_are_the_users(write):
    """A debugger that is started on the error finds what they know."""
    module, _ = write(FORWARD["shapes"][1])
    error = failure("grad", module.f)
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    assert set(last.tb_frame.f_locals) == {"x", "other"}
    assert np.array_equal(last.tb_frame.f_locals["other"], X * 2.0)


def test_an_error_that_was_caught_is_shown_with_the_one_behind_it(write, tmp_path):
    text = """
        def f(x):
            return np.sum((np.ones((2, 5)) @ x) ** 2)  # here
        """
    module, _ = write(text)
    try:
        try:
            grad(module.f)(X)
        except ValueError as error:
            raise RuntimeError("step 3") from error
    except RuntimeError as error:
        shown = "".join(traceback.format_exception(error))
    file, line = here(tmp_path, text)
    assert f'File "{file}", line {line}' in shown and "<s2sgrad" not in shown


def test_the_lines_that_are_advised_give_a_gradient(write, tmp_path):
    """Pasted as they are printed, with the derivative in the place of the dots."""
    text = """
        from scipy import special

        def f(x):
            y = special.itstruve0(x)
            return np.sum(y * y)
        """
    module, file = write(text)
    with pytest.raises(NoRule) as caught:
        grad(module.f)(X)
    (note,) = (n for n in caught.value.__notes__ if "custom_gradient" in n)
    lines = [line.strip() for line in note.splitlines()[1:]]
    assert lines[0] == "from s2sgrad import custom_gradient"
    assert lines[1].startswith("my_itstruve0 = custom_gradient(lambda a: ")
    pasted = "\n".join(lines).replace("...", "special.struve(0, a)")
    changed = file.read_text().replace("def f(x)", f"{pasted}\n\n\ndef f(x)")
    changed = changed.replace("y = special.itstruve0", "y = my_itstruve0")
    file.write_text(changed)
    spec = importlib.util.spec_from_file_location("pasted", file)
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    check_grads(again.f, (X,))


# --- warnings and notebooks ------------------------------------------------------------------------------------------


def of_a_logarithm(x):
    y = 2.0 * x
    return np.sum(np.log(y))


def shown_warnings(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [warnings.formatwarning(w.message, w.category, w.filename, w.lineno, w.line) for w in seen]


def test_a_warning_of_a_text_names_the_statement_of_the_user():
    df = grad(of_a_logarithm)
    first = inspect.getsourcelines(of_a_logarithm)[1]
    said = shown_warnings(lambda: (value_and_grad(of_a_logarithm)(np.array([-1.0, 0.0])), df(np.zeros(2))))
    assert said and all(w.startswith(f"{__file__}:{first + 2}: RuntimeWarning: ") for w in said), said
    assert all(w.endswith("  return np.sum(np.log(y))\n") for w in said)
    assert shown_warnings(lambda: warnings.warn("mine", UserWarning, stacklevel=1))[0].startswith(f"{__file__}:")


def test_a_cell_of_a_notebook_is_named_by_its_number(monkeypatch):
    place = Place("<ipython-input-3-2ddd>", 2, 4, 2, 9, "    y = x")
    assert place.shown().startswith('  File "<ipython-input-3-2ddd>", line 2')
    cells = {place.file: ("Cell", "In[3]")}
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(format_code_name=cells.get))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert place.shown().startswith("  Cell In[3], line 2\n")
    assert Place("model.py", 2, 4, 2, 9, "    y = x").shown().startswith('  File "model.py", line 2')


def of_an_array(x):
    y = 2.0 * x
    return np.log(y) + 1.0


def shaped_wrongly(x):
    h = np.array(x)
    return np.array([h]) @ np.ones((3, 3))


def test_what_a_result_is_computed_from_is_the_statement_that_returns_it():
    first = inspect.getsourcelines(of_an_array)[1]
    said = shown_warnings(lambda: grad(of_an_array)(np.zeros(2)))
    assert said and all(w.startswith(f"{__file__}:{first + 2}: RuntimeWarning: ") for w in said), said
    with pytest.raises(ValueError, match="matmul") as caught:
        grad(shaped_wrongly)(1.0)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "return np.array([h]) @ np.ones((3, 3))"


def test_the_note_is_left_out_in_a_notebook_which_shows_the_statement(monkeypatch):
    with pytest.raises(ValueError) as caught:
        grad(shaped_wrongly)(1.0)
    assert len(caught.value.__notes__) == 1
    monkeypatch.setattr("s2sgrad.errors.raised.named", lambda file: "Cell In[1]")
    with pytest.raises(ValueError) as caught:
        grad(shaped_wrongly)(1.0)
    assert not hasattr(caught.value, "__notes__")
