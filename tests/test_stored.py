"""Texts in a folder: read by the next process, and never when anything that they follow from has changed."""

import contextlib
import functools
import importlib.util
import io
import itertools
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from corpus import CASES
from differences import leaves

from s2sgrad import S2SGradError, defvjp, grad, primitive, use_cache, value_and_grad, vjp
from s2sgrad.driver import cache
from s2sgrad.rules import table
from s2sgrad.stored import folder

PROGRAM = """
import functools
import numpy as np

N = 3
scale = 2.0
layers = [2.0, 3.0]
table = {"a": 1.0}

def twice(f):
    @functools.wraps(f)
    def called(x):
        return 2.0 * f(x)
    return called

def helper(x, power=2):
    return x ** power

def helped(x):
    return 3.0 * helper(x)

@twice
def decorated(x):
    return np.sin(x)

class Base:
    gain = 2.0
    def inside(self, x):
        return x * self.gain

class Model(Base):
    def __init__(self, w):
        self.w = w
    def predict(self, x):
        return self.inside(x) * self.w
    @property
    def half(self):
        return 0.5 * self.w
    @staticmethod
    def squared(x):
        return x * x

def make(n):
    def power(x):
        out = x
        for _ in range(n):
            out = out * x
        return out
    return power

power = make(2)
alias = helper
model = Model(1.5)

def of_functions(x):
    return helped(x) + alias(x)

def of_decorated(x):
    return decorated(x) * x

def of_cells(x):
    return power(x) * x

def of_data(x):
    total = x
    for k in range(N):
        total = total + k * x * scale
    for w in layers:
        total = total + w * x
    for name in table:
        total = total * table[name]
    return total

def of_objects(x):
    return Model(x).predict(x) + Model.squared(x) + model.half * x
"""

EDITS = {
    "a callee": ("of_functions", "return 3.0 * helper(x)", "return 5.0 * helper(x)"),
    "a callee of a callee": ("of_functions", "return x ** power", "return x ** power + x"),
    "a default": ("of_functions", "power=2", "power=3"),
    "another name": ("of_functions", "alias = helper", "alias = helped"),
    "the lines above": ("of_functions", "N = 3", "\n\nN = 3"),
    "the function itself": ("of_functions", "helped(x) + alias(x)", "helped(x) * alias(x)"),
    "a number that a loop counts to": ("of_data", "N = 3", "N = 4"),
    "a number": ("of_data", "scale = 2.0", "scale = 4.0"),
    "the type of a number": ("of_data", "scale = 2.0", "scale = np.float64(4.0)"),
    "the items of a list": ("of_data", "[2.0, 3.0]", "[2.0, 3.0, 4.0]"),
    "the keys of a dict": ("of_data", '{"a": 1.0}', '{"a": 1.0, "b": 3.0}'),
    "a decorator": ("of_decorated", "return 2.0 * f(x)", "return 7.0 * f(x)"),
    "what is decorated": ("of_decorated", "return np.sin(x)", "return np.cos(x)"),
    "a module": ("of_decorated", "import numpy as np", "import cmath, math as np"),
    "the content of a closure cell": ("of_cells", "make(2)", "make(3)"),
    "a method": ("of_objects", "return self.inside(x) * self.w", "return self.inside(x) + self.w"),
    "a method of a base": ("of_objects", "return x * self.gain", "return x * x * self.gain"),
    "an attribute of a class": ("of_objects", "gain = 2.0", "gain = 3.0"),
    "a property": ("of_objects", "return 0.5 * self.w", "return 0.25 * self.w"),
    "a static method": ("of_objects", "return x * x\n", "return x * x * x\n"),
    "what a class is made with": ("of_objects", "self.w = w", "self.w = 3.0 * w"),
    "a base": ("of_objects", "class Model(Base):", "class Other(Base):\n    gain = 5.0\n\nclass Model(Other):"),
}
NUMBER = itertools.count()


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """A folder for texts, of a process in which no earlier test has changed rules."""
    monkeypatch.setattr(table, "own", table.changes)
    monkeypatch.setattr(table, "GIVEN", {})
    use_cache(tmp_path / "texts")
    cache.forget()
    yield tmp_path / "texts"
    use_cache(None)


@pytest.fixture
def read(monkeypatch):
    """The texts that are read from a folder."""
    found = []
    original = folder._read

    def reading(*request):
        compiled = original(*request)
        if compiled is not None:
            found.append(compiled.text)
        return compiled

    monkeypatch.setattr(folder, "_read", reading)
    return found


def imported(path, text):
    """A module with this text, as a new process finds it."""
    path.write_text(textwrap.dedent(text))
    os.utime(path, ns=(0, next(NUMBER) * 10**9))
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["program"] = module
    cache.forget()
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield
    sys.modules.pop("program", None)


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_kept_is_read_only_while_the_program_is_the_same(edit, texts, read, tmp_path):
    name, before, after = EDITS[edit]
    assert PROGRAM.count(before) == 1
    edited = PROGRAM.replace(before, after)
    for text, is_read in ((PROGRAM, False), (PROGRAM, True), (edited, None), (edited, True), (PROGRAM, None)):
        function = getattr(imported(tmp_path / "program.py", text), name)
        read.clear()
        df = value_and_grad(function)
        value, slope = df(1.25)
        assert value == function(1.25)
        assert slope == pytest.approx((function(1.25 + 1e-6) - function(1.25 - 1e-6)) / 2e-6, rel=1e-6)
        assert is_read is None or bool(read) == is_read
        assert not read or df.source == read[0]


def test_a_text_that_is_read_is_right_while_its_names_stand_for_what_they_stood_for(texts, read, tmp_path):
    for _ in range(2):
        module = imported(tmp_path / "program.py", PROGRAM)
        df = grad(module.of_data)
        assert df(1.25) == 1.0 + 3 * 2.0 + 5.0
        module.scale = 5.0
        assert df(1.25) == 1.0 + 3 * 5.0 + 5.0
        module.scale = np.float32(2.0)
        assert df(1.25) == 1.0 + 3 * 2.0 + 5.0
        module.N = 4
        assert df(1.25) == 1.0 + 6 * 2.0 + 5.0
        df = grad(module.of_objects)
        assert df(1.25) == 4.0 * 1.25 + 2.0 * 1.25 + 0.75
        module.Model.squared = staticmethod(np.sin)
        assert df(1.25) == pytest.approx(4.0 * 1.25 + np.cos(1.25) + 0.75, abs=1e-12)
    assert read


def test_two_names_of_one_object_are_no_names_of_two(texts, tmp_path):
    text = "{}\ndef loss(x):\n    return f(x) * g(x)\n"
    maker = "def make(k):\n    def power(x):\n        return k * x\n    return power\n"
    same, other = maker + "f = make(2.0)\ng = f\n", maker + "f = make(2.0)\ng = make(3.0)\n"
    assert grad(imported(tmp_path / "program.py", text.format(same)).loss)(1.0) == 8.0
    assert grad(imported(tmp_path / "program.py", text.format(other)).loss)(1.0) == 12.0
    assert grad(imported(tmp_path / "program.py", text.format(same)).loss)(1.0) == 8.0


def test_options_and_kinds_have_texts_of_their_own(texts, read):
    def f(x, y):
        return np.sum(x * y)

    for _ in range(2):
        cache.forget()
        assert grad(f, "x")(2.0, 3.0) == 3.0
        assert grad(f, "y")(2.0, 3.0) == 2.0
        assert value_and_grad(f)(2.0, 3.0) == (6.0, 3.0)
        assert np.array_equal(grad(f)(np.ones(3), np.arange(3.0)), np.arange(3.0))
        assert np.array_equal(grad(f)(np.ones((2, 3)), np.arange(3.0)), np.tile(np.arange(3.0), (2, 1)))
        assert grad(grad(lambda x: x**3))(2.0) == 12.0
    assert len(read) >= 6


def test_pullbacks_are_kept_and_read(texts, read):
    def inner(x, *more):
        return x * np.sum(more[0]) + helped(x)

    def helped(x):
        return np.sin(x)

    def f(x, w):
        y, pullback = vjp(inner, x, w)
        (x_bar, w_bar) = pullback(np.ones(3))
        return np.sum(y) + np.sum(x_bar) + np.sum(w_bar)

    results = []
    for _ in range(2):
        cache.forget()
        y, pullback = vjp(inner, np.arange(3.0), np.ones(2))
        results += [y, *pullback(np.ones(3)), *grad(f, (0, 1))(np.arange(3.0), np.ones(2))]
    assert all(map(np.array_equal, results[:5], results[5:])) and len(results) == 10
    assert np.allclose(results[1], 2.0 + np.cos(np.arange(3.0)))
    assert any("inner_fwd" in text for text in read)


def test_nothing_is_kept_where_the_user_has_said_what_a_derivative_is(texts, tmp_path):
    @primitive
    def doubled(x):
        return 2.0 * x

    defvjp(doubled, lambda g, y, x: 5.0 * g)
    assert grad(lambda x: doubled(x) * x)(1.0) == 7.0
    assert not texts.exists() or not list(texts.iterdir())


def kept(texts):
    def f(x):
        return np.sin(x) * x

    cache.forget()
    assert grad(f)(1.0) == np.cos(1.0) + np.sin(1.0)
    (file,) = texts.iterdir()
    return f, file


@pytest.mark.parametrize("damage", [b"", b"x", b"x" * 500, "cut", "flipped", "of another version"])
def test_a_damaged_file_is_written_anew(damage, texts, read):
    f, file = kept(texts)
    whole = file.read_bytes()
    if damage == "cut":
        damage = whole[:-3]
    elif damage == "flipped":
        damage = whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:]
    elif damage == "of another version":  # a file that is whole, and says what nobody asked for
        import hashlib
        import marshal

        data = marshal.dumps((1, 2, 3))
        damage = hashlib.sha256(data).digest() + data
    file.write_bytes(damage)
    cache.forget()
    assert grad(f)(1.0) == np.cos(1.0) + np.sin(1.0) and not read
    assert file.read_bytes()[32:] == whole[32:] or len(file.read_bytes()) > 500


def test_no_error_comes_from_the_folder(texts, tmp_path, monkeypatch):
    def f(x):
        return np.sin(x) * x

    def refusing(*request):
        raise PermissionError(13, "no")

    (tmp_path / "a file").write_text("")
    for place in (tmp_path / "a file", tmp_path / "a file" / "texts", "\0"):
        use_cache(place)
        cache.forget()
        assert grad(f)(1.0) == np.cos(1.0) + np.sin(1.0)
    use_cache(texts)
    monkeypatch.setattr("s2sgrad.stored.folder.os.replace", refusing)  # as in a folder that is only read
    cache.forget()
    assert grad(f)(1.0) == np.cos(1.0) + np.sin(1.0)
    assert not list(texts.iterdir())


def test_an_error_names_the_line_of_the_user(texts, read):
    def f(x, n):
        y = np.reshape(x, n)
        return np.sum(y * y)

    for _ in range(2):
        cache.forget()
        assert np.array_equal(grad(f)(np.ones(4), (2, 2)), np.full(4, 2.0))
        with pytest.raises(ValueError, match="cannot reshape") as info:
            grad(f)(np.ones(4), (2, 3))
        assert any("test_stored.py" in note and "y = np.reshape(x, n)" in note for note in info.value.__notes__)
    assert read


SECOND = """
import sys
import scipy.optimize
import numpy as np
from s2sgrad import grad
def f(x):
    return np.sum(np.tanh(x) * x)
def g(x):
    return f(x) ** 2
print(grad(f)(np.ones(3)), grad(g)(np.ones(3)), grad(grad(lambda x: x ** 3))(2.0), "s2sgrad.driver.pipeline" in sys.modules)
"""


@pytest.mark.dear
def test_the_second_process_imports_no_compiler(tmp_path):
    (tmp_path / "program.py").write_text(SECOND)
    environment = {**os.environ, "S2SGRAD_CACHE": str(tmp_path / "texts"), "PYTHONPATH": os.pathsep.join(sys.path)}

    def begun():
        command = [sys.executable, "-W", "error", tmp_path / "program.py"]
        return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    at_once = [begun() for _ in range(2)]
    done = [process.communicate(timeout=120) for process in at_once]
    assert [errors for _, errors in done] == ["", ""]
    assert len({out for out, _ in done}) == 1 and done[0][0].rstrip().endswith("True")
    assert not [f for f in (tmp_path / "texts").iterdir() if f.name.startswith(".")]
    again, errors = begun().communicate(timeout=120)
    assert errors == "" and again == done[0][0].replace("True", "False")


@pytest.mark.sampled(one_in=160)
@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name)
def test_a_text_that_is_read_is_the_one_that_was_kept(entry, texts, read):
    def found():
        cache.forget()
        df = grad(entry.function, entry.argnums)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                return [*leaves(df(*entry.fresh_args()))], df.source, None
            except S2SGradError as error:
                return [], "", str(error)

    first, text, error = found()
    second, text_again, error_again = found()
    assert (text, error) == (text_again, error_again)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True))


def test_a_kept_text_needs_no_rules_and_no_compiler(tmp_path):
    """The second start of a program imports neither, and reads the text alone."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
        import sys
        import numpy as np
        from s2sgrad import grad

        k = 2.0

        def helper(x):
            return np.tanh(x) * k

        def loss(w, x):
            total = 0.0
            for i in range(len(x)):
                total = total + np.sum(helper(w * x[i]) ** 2)
            return total

        print(grad(loss)(np.ones(3), np.arange(6.0).reshape(2, 3)).tolist())
        print(*sorted(m for m in sys.modules if m.startswith("s2sgrad.")))
        """)
    )
    there = os.environ | {"S2SGRAD_CACHE": str(tmp_path / "kept")}
    runs = [
        subprocess.run([sys.executable, str(program)], env=there, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    (first, compiling), (second, reading) = (run.splitlines() for run in runs)
    assert first == second
    assert {"s2sgrad.rules.of_numpy", "s2sgrad.driver.pipeline"} <= set(compiling.split())
    rooms = {name.split(".")[1] for name in reading.split()}
    for room in (
        "cleanup",
        "emit",
        "flow",
        "forward",
        "inplace",
        "legality",
        "memory",
        "normalize",
        "specialize",
        "transform",
    ):
        assert room not in rooms
    assert "s2sgrad.rules.of_numpy" not in reading.split() and "s2sgrad.primitives.catalogue" not in reading.split()


TOPICS = ["polynomials", "complex_matrices", "complex_numbers", "complex_statistics", "restated", "scipy.blocks"]


@functools.cache
def imported_first(topic):
    program = f"import s2sgrad.rules.{topic}; from s2sgrad.rules import table; import numpy as np; print(len(table.rules()))"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_of_rules_may_be_imported_first(topic):
    """As a saved module does; the table is the same then."""
    assert int(imported_first(topic)) >= int(imported_first("of_numpy"))


def test_other_threads_ask_the_table_while_one_imports_a_topic():
    program = """
    import importlib, threading
    import numpy as np
    from s2sgrad.rules import table
    found = []
    ways = [lambda: importlib.import_module("s2sgrad.rules.polynomials")]
    ways += [lambda: found.append(table.lookup(np.tanh) is not None)] * 3
    threads = [threading.Thread(target=way) for way in ways]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(found)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert run.stdout == "[True, True, True]\n"
