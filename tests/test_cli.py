"""The command line, as a user meets it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import s2sgrad
from s2sgrad.__main__ import main

MODEL = """
import numpy as np
from s2sgrad import custom_gradient, grad

rate = 2.0
start = np.ones(3)


def energy(x, k):
    return 0.5 * k * np.sum(x ** 2)


def logistic(x, r, n):
    for i in range(n):
        x = r * x * (1.0 - x)
    return x


def calling(x, r, n):
    return logistic(x, r, n) ** 2


def jumps(x):
    return np.floor(x) * x


def store(x):
    x.flags.writeable = True
    return np.sum(x)


def shaped(x: np.ndarray, k: float = 2.0):
    return k * np.sum(x)


def views(x):
    y = x * 2.0
    v = y[1:-1]
    s = np.sum(v)
    y[0] = s
    return np.sum(y * y)


@grad
def decorated(x):
    return x ** 3


class Model:
    @staticmethod
    def area(r):
        return rate * r ** 2


def scale(a, c):
    a *= c


def scaled_behind(x, mode=None):
    u = x * 2.0
    v = u[1:]
    scale(v, 3.0)
    if mode is not None:
        u = u * mode
    return np.sum(u * x)


def noisy(x):
    return x * np.random.normal()


own = custom_gradient(lambda x: (x * x, lambda g: g * x))


def halved(x):
    return np.sum(own(x))


class Layer:
    __slots__ = ("w", "step")

    def __init__(self, w, step=None):
        self.w, self.step = w, step


class Hidden:
    def __init__(self, w):
        self.__dict__["w"] = w

    def __getattr__(self, name):
        raise AttributeError(name)


class Others:
    def __array__(self, dtype=None, copy=None):
        return np.ones(2)

    def __array_ufunc__(self, *args, **keywords):
        return NotImplemented


def of_layer(layer):
    return np.sum(layer.w ** 2)


def of_wrong_layer(layer):
    return np.sum(own(layer.w))


def writes(x):
    x *= 2.0
    return np.sum(x)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A directory with model.py in it."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "broken.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    (tmp_path / "needs.py").write_text("import no_such_module\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before = {k: v for k, v in sys.modules.items() if k in ("model", "broken", "needs")}
    path = list(sys.path)
    yield tmp_path
    assert sys.path == path
    for name in ("model", "broken", "needs"):
        sys.modules.pop(name, None)
    sys.modules.update(before)


def test_show_for_any_arguments(here, capsys):
    assert main(["show", "model.py:logistic", "--wrt", "x,r"]) == 0
    printed = capsys.readouterr().out
    assert "# for arguments of any kind\ndef logistic_grad(x, r, n, *, seed=None):" in printed
    compile(printed, "printed", "exec")


def test_show_for_these_arguments(here, capsys):
    assert main(["show", "model:energy", "--args", "start, rate"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# for x: float64 (n,), k: float\ndef energy_grad(x, k, *, seed=1.0):")


def test_show_value(here, capsys):
    assert main(["show", "model.py:energy", "--value", "--wrt", "k", "--args", "start, rate"]) == 0
    assert "def energy_value_and_grad(" in capsys.readouterr().out


def test_show_second_order(here, capsys):
    assert main(["show", "model.py:decorated", "--order", "2", "--args", "2.0"]) == 0
    assert "def decorated_grad_grad(x, " in capsys.readouterr().out


def test_show_stages(here, capsys):
    assert main(["show", "model.py:logistic", "--stages"]) == 0
    printed = capsys.readouterr().out
    heads = [line for line in printed.splitlines() if line.startswith("# ----")]
    assert heads[0] == "# ---- after reading ----"
    assert heads[-1] == "# ---- the generated text ----"
    assert "        t1 = r * x\n" in printed
    names = [head.removeprefix("# ---- after ").removesuffix(" ----") for head in heads[:-1]]
    assert names.index("flatten") < names.index("reverse") < names.index("deadcode") < names.index("forward_substitution")
    for stage in re.split(r"# ---- .* ----\n", printed):
        compile(stage, "stage", "exec")


def test_show_stages_of_settling(here, capsys):
    assert main(["show", "model.py:scaled_behind", "--stages", "--args", "np.ones(3)"]) == 0
    printed = capsys.readouterr().out
    names = re.findall(r"^# ---- after (\w+)", printed, re.M)
    order = ["flatten", "branch_pruning", "inline_writers", "alias_elimination", "reverse"]
    assert [name for name in names if name in order] == order
    last = re.split(r"# ---- .* ----\n", printed)[1 + names.index("alias_elimination")]
    assert "scale(" not in last and "if t" not in last and "u[1:] = t" in last


def test_every_stage_runs(here, capsys):
    assert main(["show", "model.py:logistic", "--stages", "--args", "0.6, 3.1, 4"]) == 0
    found = []
    for stage in re.split(r"# ---- .* ----\n", capsys.readouterr().out)[1:]:
        space = {}
        exec(stage, space)
        function = next(value for name, value in space.items() if name.startswith("logistic"))
        found.append(function(0.6, 3.1, 4, **({"seed": 1.0} if "seed" in stage else {})))
    assert len(found) > 6 and len(set(found)) == 2  # the value, and from `reverse` on the gradient
    assert found == sorted(found, key=found.index)


def test_show_facts(here, capsys):
    assert main(["show", "model.py:logistic", "--facts", "--args", "0.6, 3.1, 4"]) == 0
    shown, _, text = capsys.readouterr().out.partition("# ---- the generated text ----")
    assert shown.startswith("# ---- what is known ----\n# x: float\n# r: float\n# n: int\ndef logistic(x, r, n):")
    line = MODEL.splitlines().index("        x = r * x * (1.0 - x)") + 1
    notes = dict(re.findall(r"# (.*)\n *(.*)", shown))
    bound = next(note for note, statement in notes.items() if statement.startswith("x = "))
    assert bound.startswith("binds x (float); reads ") and bound.endswith("; live behind it: r, x")
    returned = next(note for note, statement in notes.items() if statement.startswith("result = "))
    assert f"reads x (line {line - 2}, {line})" in returned
    assert "def logistic_grad(" in text


def test_show_facts_of_shared_memory_and_of_the_second_order(here, capsys):
    assert main(["show", "model.py:views", "--facts", "--args", "np.ones(5)"]) == 0
    shown = capsys.readouterr().out
    assert "binds v (float64 (n - 2,), may share memory with" in shown and "# writes " in shown
    assert main(["show", "model.py:decorated", "--order", "2", "--facts"]) == 0
    assert "def decorated_grad(x, seed" in capsys.readouterr().out.replace("*, ", "")


def test_show_stages_of_the_function_alone(here, capsys):
    assert main(["show", "model.py:calling", "--stages", "--args", "2.0, 0.5, 3"]) == 0
    stages = capsys.readouterr().out.partition("# ---- the generated text ----")[0]
    assert set(re.findall(r"^def (\w+)", stages, re.M)) == {"calling"}
    assert re.findall(r"^# ---- after (\w+)", stages, re.M).count("reverse") == 1


def test_show_stages_of_the_second_order(here, capsys):
    assert main(["show", "model.py:decorated", "--order", "2", "--stages"]) == 0
    stages = capsys.readouterr().out.partition("# ---- the generated text ----")[0]
    assert set(re.findall(r"^def (\w+)", stages, re.M)) == {"decorated_grad"}


def test_show_static_method(here, capsys):
    assert main(["show", "model.py:Model.area"]) == 0
    assert "def area_grad(r" in capsys.readouterr().out


def test_check_agrees(here, capsys):
    assert main(["check", "model.py:energy", "--args", "start, rate", "--order", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("  ok\n") == 4
    assert "The gradient agrees with central differences." in printed


def test_check_guesses_numbers(here, capsys):
    assert main(["check", "model.py:logistic"]) == 0
    assert "guessed (" in capsys.readouterr().out


def test_check_differs(here, capsys):
    assert main(["check", "model.py:halved", "--at", "start"]) == 1
    printed = capsys.readouterr().out
    assert "WRONG" in printed and "DIFFERS" in printed
    assert "argument `x`, element [1]: gradient 1, differences 2" in printed


def test_check_where_nothing_can_be_compared(here, capsys):
    assert main(["check", "model.py:jumps", "--at", "2.0"]) == 1
    printed = capsys.readouterr().out
    assert "cannot be compared here" in printed and "WRONG" not in printed


def test_check_goes_into_objects_and_names_the_rest(here, capsys):
    assert main(["check", "model.py:of_layer", "--args", "Layer(start, Others())", "--order", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("layer.w") == 2
    assert "agrees with central differences.\nNot checked: `layer.step`, a Others\n" in printed
    assert main(["check", "model.py:of_wrong_layer", "--args", "Layer(start)"]) == 1
    assert "argument `layer.w`, element [1]: gradient 1, differences 2" in capsys.readouterr().out


def test_check_names_a_mode_that_is_refused(here, capsys):
    assert main(["check", "model.py:writes", "--args", "start"]) == 0
    assert "Not checked: its pullback (this writes the argument `x`" in capsys.readouterr().out


def test_arguments_that_begin_with_a_minus(here, capsys):
    assert main(["check", "model.py:energy", "--args", "-start, -1.0"]) == 0


def test_what_is_written_to_no_file_is_left_in_its_place(here, capsys):
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert main(["show", "model.py:energy", "-o", "pipe"]) == 0
    assert b"def energy_grad" in os.read(reader, 10000)
    os.close(reader)
    assert Path("pipe").is_fifo()


def test_check_only_some(here, capsys):
    assert main(["check", "model.py:energy", "--args", "start, rate", "--wrt", "k"]) == 0
    rows = [line.split()[1] for line in capsys.readouterr().out.splitlines() if line.endswith("ok")]
    assert rows == ["k"]


@pytest.mark.parametrize(("arguments", "message"), [
    ("show model.py", "does not name a function"),
    ("show nowhere.py:f", "there is no file 'nowhere.py'"),
    ("show no_such_package.inner:f", "there is no module"),
    ("show model.py:nothing", "model.py has no 'nothing'; it has energy, logistic"),
    ("show model.py:rate", "is no function but float"),
    ("show broken.py:f", "broken.py cannot be imported: ZeroDivisionError"),
    ("show needs.py:f", "needs.py cannot be imported: No module named 'no_such_module'"),
    ("show needs:f", "needs cannot be imported: No module named 'no_such_module'"),
    ("show model.py:energy --wrt q", "has no parameter 'q'; it has x, k"),
    ("show model.py:energy --order 0", "--order must be 1 or more"),
    ("show model.py:energy --args 1/0", "cannot be evaluated: ZeroDivisionError"),
    ("show model.py:energy --args 1.0", "missing a required argument: 'k'"),
    ("show model.py:energy --args 1,1.0", "`x`"),
    ("show model.py:store", "line 28"),
    ("show leaves.py:f", "leaves.py cannot be imported: SystemExit: 3"),
    ("show model.py:energy --args exit(3)", "cannot be evaluated: SystemExit: 3"),
    ("show model.py:energy --wrt ,", "--wrt names no parameter"),
    ("show model.py:energy --standalone", "--standalone says what -o FILE writes"),
    ("check model.py:noisy --args 1.0", "is not the same function twice"),
    ("check model.py:shaped", "the shape of `x` cannot be guessed"),
    ("check model.py:store", "cannot be called with"),
    ("check model.py:store --args start", "line 28"),
    ("check model.py:energy --args 1,1", "there is nothing to differentiate"),
    ("check model.py:of_layer --args Layer(start[:0])", "there is nothing to compare"),
    ("check model.py:of_layer --args Hidden(start)", "cannot be checked"),
    ("check model.py:energy --args start,1.0 --order 0", "--order must be 1 or more"),
])  # fmt: skip
def test_mistakes_are_told_in_a_paragraph(here, capsys, arguments, message):
    assert main(arguments.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("s2sgrad: ")
    assert message in captured.err
    assert "Traceback" not in captured.err


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"s2sgrad {s2sgrad.__version__}\n"


def test_as_a_process(here):
    command = [sys.executable, "-m", "s2sgrad", "show", "model.py:nothing"]
    environment = {**os.environ, "PYTHONPATH": str(Path(s2sgrad.__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert "model.py has no 'nothing'" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_command_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
