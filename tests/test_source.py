"""`s2sgrad.source`: the right node of the right text, or a refusal; never another function."""

from __future__ import annotations

import ast
import copy
import doctest
import functools
import importlib
import importlib.util
import inspect
import itertools
import linecache
import math
import os
import pathlib
import py_compile
import subprocess
import sys
import textwrap
import zipfile

import gast
import numpy as np
import pytest

import s2sgrad
from s2sgrad import grad
from s2sgrad.errors import NoSource
from s2sgrad.source import Binding, Primal, making, read

_serial = itertools.count()


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module from text or bytes, and import it."""

    def write_and_import(text, name=None):
        name = name or f"module_of_source_{next(_serial)}"
        path = tmp_path / f"{name}.py"
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        spec = importlib.util.spec_from_file_location(name, path)
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return write_and_import


def unparsed(primal):
    return ast.unparse(gast.gast_to_ast(primal.fresh_tree()))


def body_text(function):
    """The text of what a one-line function or lambda returns."""
    primal = read(function)
    return primal.text(primal.tree.body[-1].value)


def rewrite(made, text):
    with open(made.__file__, "w", encoding="utf-8") as stream:
        stream.write(textwrap.dedent(text))
    os.utime(made.__file__, (1, next(_serial) + 1))


# ---------------------------------------------------------------------------------------------------------------------
# Lambdas


def test_a_lambda_becomes_a_function_with_one_return():
    double = lambda x, *rest, k=2: x * k  # noqa: E731
    primal = read(double)
    assert isinstance(primal, Primal) and isinstance(primal.tree, gast.FunctionDef)
    assert primal.tree.name == "lambda_"
    (only,) = primal.tree.body
    assert isinstance(only, gast.Return) and primal.text(only) == "x * k" == primal.text(only.value)
    assert primal.text(primal.tree) == "lambda x, *rest, k=2: x * k"
    assert primal.file == __file__ and primal.lines[primal.place(only).line - 1] == primal.place(only).text
    assert unparsed(primal) == "def lambda_(x, *rest, k=2):\n    return x * k"


def test_two_lambdas_on_one_line():
    f, g = lambda x: x * 2, lambda x: x * 3
    assert (body_text(f), body_text(g)) == ("x * 2", "x * 3")


def test_two_lambdas_of_equal_text_on_one_line():
    f, g = lambda x: x * 2, lambda x: x * 2
    columns = [read(h).place(read(h).tree).column for h in (f, g)]
    assert columns[0] < columns[1]


def test_constant_lambdas_on_one_line():
    many = [lambda: 1, lambda: -1, lambda: (1, 2), lambda: None, lambda: 2 if True else 3, lambda: (yield)]
    assert [body_text(f) for f in many] == ["1", "-1", "(1, 2)", "None", "2 if True else 3", "yield"]
    more = [lambda x, k=lambda: 1: 2.0, lambda x, *, k=lambda: 3: -0.0, lambda *x: 0.0]
    assert [body_text(f) for f in more] == ["2.0", "-0.0", "0.0"]
    assert body_text(more[0].__defaults__[0]) == "1" and body_text(more[1].__kwdefaults__["k"]) == "3"


def test_a_lambda_in_a_default_and_one_in_a_body():
    f = lambda x, k=lambda y: y + 1: k(x) * 3  # noqa: E731
    g = lambda x: lambda y: lambda z: x + y + z  # noqa: E731
    h = lambda x: (lambda: x)()  # noqa: E731
    assert body_text(f) == "k(x) * 3"
    assert body_text(f.__defaults__[0]) == "y + 1"
    assert body_text(g) == "lambda y: lambda z: x + y + z"
    assert body_text(g(1)) == "lambda z: x + y + z"
    assert body_text(g(1)(2)) == "x + y + z"
    assert body_text(h) == "(lambda: x)()"


def test_lambdas_in_comprehensions_and_in_a_finally():
    fs = [lambda x, k=k: [k * i for i in range(x)] for k in range(2)] + [lambda x: {x} for _ in "a"]
    assert [body_text(f) for f in fs] == ["[k * i for i in range(x)]"] * 2 + ["{x}"]
    try:
        pass
    finally:
        f, g = lambda x: x, lambda x: -x
    assert (body_text(f), body_text(g)) == ("x", "-x")


def test_lambdas_across_the_lines_of_a_call():
    fs = (
        lambda x: x
        + 1, lambda x:
            x + 2,
        (lambda x: (
            x + 3)),
    )  # fmt: skip
    assert [" ".join(body_text(f).split()) for f in fs] == ["x + 1", "x + 2", "x + 3"]


def test_text_before_the_function_that_is_not_ascii(module):
    made = module("é = lambda x: x; f = lambda x: 'ü' * 2; g = lambda x: x*3\n")
    assert [body_text(f) for f in (made.é, made.f, made.g)] == ["x", "'ü' * 2", "x*3"]
    place = read(made.g).place(read(made.g).tree.body[0])
    assert place.text[place.column : place.end_column] == "x*3"
    assert read(made.f).place(read(made.f).tree).column == 21


def test_lambdas_that_no_column_tells_apart(tmp_path):
    path = tmp_path / "ranges.py"
    path.write_text(
        "from s2sgrad.source import read\nf, g = lambda x: x, lambda x: x\nh, i = lambda x: x, lambda y: -y\n"
        "print(read(i).text(read(i).tree))\ntry:\n    read(g)\nexcept OSError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-X", "no_debug_ranges", str(path)]
    root = os.path.dirname(os.path.dirname(os.path.abspath(s2sgrad.__file__)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}
    out = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    assert out.startswith("lambda y: -y\n") and "ambiguous" in out


# ---------------------------------------------------------------------------------------------------------------------
# Functions


def deco(*_, **__):
    return lambda function: function


def wrapping(function):
    @functools.wraps(function)
    def wrapper(*args):
        return 10 * function(*args)

    return wrapper


@deco(lambda x: x)
@deco(
    key=1,
)
def decorated(x):
    return x * 5


@wrapping
def wrapped(x):
    return x * 6


def test_a_decorated_function():
    primal = read(decorated)
    assert primal.tree.name == "decorated" and len(primal.tree.decorator_list) == 2
    assert primal.text(primal.tree).startswith("def decorated(x):")
    assert body_text(decorated) == "x * 5"


def test_of_a_wrapper_the_wrapper_is_found():
    assert read(wrapped).tree.name == "wrapper"
    assert body_text(wrapped) == "10 * function(*args)"
    assert body_text(wrapped.__wrapped__) == "x * 6"


class Model:
    __rate = 3.0

    def method(self, x):
        return self.__rate * x

    @staticmethod
    def static(x):
        return x + 1

    @classmethod
    def made(cls, x):
        return cls.__rate + x

    late = lambda self, x: self.__rate - x  # noqa: E731


def test_methods():
    for method in (Model.method, Model().method):
        primal = read(method)
        assert primal.tree.name == "method" and primal.function is Model.__dict__["method"]
    assert body_text(Model.static) == body_text(Model.__dict__["static"]) == "x + 1"
    assert body_text(Model.made) == body_text(Model.__dict__["made"]) == "cls.__rate + x"
    assert body_text(Model.late) == "self.__rate - x"


def test_a_function_in_a_function():
    def outer(a):
        def inner(x):
            return a * x

        return inner

    assert body_text(outer(2)) == "a * x"
    assert read(outer(2)).lookup("a").value == 2


def test_one_name_defined_twice(module):
    made = module(
        """
        def f(x): return x
        first = f
        def f(x): return -x
        class A:
            def f(x): return x
        if True:
            def g(x): return x
        else:
            def g(x): return x + 1
        """
    )
    assert [body_text(f) for f in (made.first, made.f, made.A.f, made.g)] == ["x", "-x", "x", "x"]
    assert read(made.A.f).place(read(made.A.f).tree).line == 6


def test_equal_text_on_equal_lines_of_two_modules(module):
    text = "def helper(x):\n    return x\ndef f(x):\n    return helper(x)\n"
    one, two = module(text), module(text)
    assert one.f.__code__ == two.f.__code__
    assert (read(one.f).file, read(two.f).file) == (one.__file__, two.__file__)
    assert read(one.f).lookup("helper").value is one.helper
    assert read(two.f).lookup("helper").value is two.helper


def test_async_functions_and_generators_are_returned():
    async def wait(x):
        return x

    def items(x):
        yield x

    assert isinstance(read(wait).tree, gast.AsyncFunctionDef)
    assert isinstance(read(items).tree.body[0].value, gast.Yield)


def test_asserts_that_pytest_rewrote():
    def checked(x, *rest, k=1):
        assert x > 0 and len(rest) == 0, f"{x} {k}"
        y = [x * i for i in range(3)]

        def inner(z):
            assert z != math.pi
            return z * x

        return inner, y

    assert any(name.startswith("@py") for name in checked.__code__.co_names + checked.__code__.co_varnames)
    assert read(checked).tree.name == "checked"
    assert read(checked(1)[0]).tree.name == "inner"


def test_a_long_function_and_a_deep_one(module):
    made = module(
        "def f(x):\n" + "    x = x + 1\n" * 3000 + "    return x\ndef g(x):\n    return " + " + ".join("x" * 500) + "\n"
    )
    assert len(read(made.f).fresh_tree().body) == 3001
    assert read(made.g).fresh_tree().body[0].value.right.id == "x"


def test_what_nests_too_deeply_is_refused(module):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        made = module("def g(x):\n    return " + " + ".join("x" * 4000) + "\n")
    except RecursionError:
        pytest.skip("this Python does not compile it")
    finally:
        sys.setrecursionlimit(limit)
    try:
        read(made.g)
    except NoSource as error:
        assert "nested too deeply" in str(error) and error.place.line == 1
    else:  # from Python 3.13 on
        assert grad(made.g)(1.0) == 4000.0


# ---------------------------------------------------------------------------------------------------------------------
# Where text comes from


def made_under(filename, text, names=None):
    names = {} if names is None else names
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    exec(compile(text, filename, "exec"), names)
    return names


def test_text_that_is_registered_in_linecache():
    filename = "<a notebook's cell>"
    try:
        names = made_under(filename, "import math\n\ndef loss_grad(x):\n    return math.sin(x)\n")
        primal = read(names["loss_grad"])
        assert primal.file == filename and body_text(names["loss_grad"]) == "math.sin(x)"
        assert primal.place(primal.tree.body[0]).line == 4
        # Other text under the same name is noticed.
        made_under(filename, "import math\n\ndef loss_grad(x):\n    return math.cos(x)\n")
        with pytest.raises(NoSource, match="edited"):
            read(names["loss_grad"])
    finally:
        del linecache.cache[filename]


def test_generated_code_is_not_compared_with_its_text():
    # Its file name holds a digest of the text, and the functions that it calls are closure cells, not globals.
    filename = "<s2sgrad loss_grad 93e7>"
    names = {}
    inside = "def outer(helper):\n def loss_grad(x):\n  return helper(x)\n return loss_grad\n"
    exec(compile(ast.increment_lineno(ast.parse(inside), -1), filename, "exec"), names)
    made = names["outer"](abs)
    text = "def loss_grad(x):\n    return helper(x)\n"
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    try:
        assert made.__code__.co_freevars == ("helper",)
        assert body_text(made) == "helper(x)"
        assert read(made).lookup("helper").value is abs
    finally:
        del linecache.cache[filename]


def test_a_cell_of_a_notebook_that_awaits():
    filename = "<cell 12>"
    text = "await nothing()\nf = lambda x: x * 7\n"
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    try:
        code = compile(text, filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        (made,) = (const for const in code.co_consts if hasattr(const, "co_code"))
        assert body_text(type(deco)(made, {})) == "x * 7"
    finally:
        del linecache.cache[filename]


def test_a_doctest():
    text = """
    >>> def f(x):
    ...     return x * 8
    >>> g = lambda x: x * 9
    >>> texts.append(body_text(f))
    >>> texts.append(body_text(g))
    """
    texts = []
    example = doctest.DocTestParser().get_doctest(text, {"body_text": body_text, "texts": texts}, "sample", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
    assert texts == ["x * 8", "x * 9"]


def test_a_zip(tmp_path, monkeypatch):
    name = f"zipped_{next(_serial)}"
    with zipfile.ZipFile(tmp_path / "lib.zip", "w") as archive:
        archive.writestr(f"{name}.py", "# é\ndef f(x):\n    return x * 10\n")
    monkeypatch.syspath_prepend(str(tmp_path / "lib.zip"))
    made = importlib.import_module(name)
    assert body_text(made.f) == "x * 10"
    assert read(made.f).file.endswith(os.path.join("lib.zip", f"{name}.py"))


def test_tabs_form_feeds_carriage_returns_marks_and_encodings(module):
    made = module(b"\x0c\ndef f(x):\n\tif x:\n\t\treturn x\n\x0cdef g(x): return x * 2\n")
    assert read(made.f).text(read(made.f).tree) == "def f(x):\n\tif x:\n\t\treturn x"
    assert read(made.f).text(read(made.f).tree.body[0]) == "if x:\n\treturn x"
    assert body_text(made.g) == "x * 2" and read(made.g).place(read(made.g).tree).line == 5
    made = module(b"\xef\xbb\xbff = lambda x: 'a\\\r\n'\r\ndef g(x):\r\n    '''a\r\n    b'''\r\n    return x\r\n")
    assert body_text(made.f) == "'a\\\n'" and body_text(made.g) == "x"
    assert read(made.g).lines[-1] == "    return x"
    made = module("# coding: latin-1\né = lambda x: 'é' + x\n".encode("latin-1"))
    assert body_text(made.é) == "'é' + x"


def test_a_form_feed_registered_as_split_lines():
    filename = "<form feeds>"
    text = "s = 'a\x0cb'\n\x0c\nf = lambda x: x\r\n\r\ng = lambda x: -x"
    try:
        names = made_under(filename, text)  # splitlines splits at the form feeds
        assert (body_text(names["f"]), body_text(names["g"])) == ("x", "-x")
        assert read(names["g"]).place(read(names["g"]).tree).line == 5
    finally:
        del linecache.cache[filename]


# ---------------------------------------------------------------------------------------------------------------------
# Files that change


ORIGINAL = """
def above(x):
    return x

def f(x):
    return [x * 2, (1, 0.0)]
"""


@pytest.mark.parametrize(
    "old, new",
    [
        ("x * 2", "x * 3"),
        ("x * 2", "x + 2"),
        ("x * 2", "x * 2.0"),
        ("0.0", "-0.0"),
        ("1,", "True,"),
        ("def f(x)", "def g(x)"),
        ("def f(x)", "def f(y)"),
        ("def f(x)", "def f(x, y=1)"),
        ("return [", "return [["),
        ("def f(x):\n", "def f(x):\n    global above\n    above = 1\n"),
    ],
)
def test_an_edited_function_is_refused(module, old, new):
    made = module(ORIGINAL)
    assert read(made.f).tree.name == "f"
    rewrite(made, ORIGINAL.replace(old, new))
    with pytest.raises(NoSource, match=r"f: .*the file was edited after it was imported; reload it"):
        read(made.f)


def test_an_edit_elsewhere_does_no_harm(module):
    made = module(ORIGINAL)
    rewrite(made, ORIGINAL.replace("return x\n", "return -x\n"))
    assert body_text(made.f) == "[x * 2, (1, 0.0)]"
    with pytest.raises(NoSource, match="edited"):
        read(made.above)


def test_a_function_that_moved_is_never_another(module):
    made = module("def f(x):\n    return x\n\ndef f(x):\n    return -x\n")
    rewrite(made, "def f(x):\n    return -x\n\ndef f(x):\n    return x\n")
    with pytest.raises(NoSource):
        read(made.f)
    rewrite(made, "\n\ndef f(x):\n    return x\n\ndef f(x):\n    return -x\n")
    with pytest.raises(NoSource):
        read(made.f)


def test_lambdas_that_changed_places(module):
    made = module("f, g = lambda x: x * 2, lambda x: x * 3\n")
    rewrite(made, "f, g = lambda x: x * 3, lambda x: x * 2\n")
    for function in (made.f, made.g):
        with pytest.raises(NoSource):
            read(function)
    rewrite(made, "f, g = lambda x: x * 2, None\n")
    assert body_text(made.f) == "x * 2"
    with pytest.raises(NoSource):
        read(made.g)


def test_an_edited_inner_function_is_noticed(module):
    text = "def f(x):\n    def g(y):\n        return y * 2\n    return g(x)\n"
    made = module(text)
    rewrite(made, text.replace("* 2", "* 4"))
    with pytest.raises(NoSource, match="edited"):
        read(made.f)


def test_a_file_that_no_longer_parses_or_is_gone(module):
    made = module(ORIGINAL)
    rewrite(made, "def f(x:\n")
    with pytest.raises(NoSource, match="edited"):
        read(made.f)
    rewrite(made, "")
    with pytest.raises(NoSource):
        read(made.f)
    os.unlink(made.__file__)
    with pytest.raises(NoSource, match="cannot be read"):
        read(made.f)


def test_future_flags_and_warnings_do_not_disturb(module):
    text = "def f(x):\n    def g(y: x) -> x:\n        return y is 1, '\\d'\n    return g(x)\n"
    with pytest.warns(Warning):
        plain = module(text)
    with pytest.warns(Warning):
        flagged = module("from __future__ import annotations; " + "\n" + text)
    assert read(plain.f).tree.name == read(flagged.f).tree.name == "f"


def test_a_file_is_parsed_once(module, monkeypatch):
    made = module("".join(f"def f{i}(x): return x + {i}\n" for i in range(20)))
    calls = []
    parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda *args: calls.append(args) or parse(*args))
    assert [body_text(getattr(made, f"f{i}")) for i in range(20)] == [f"x + {i}" for i in range(20)]
    assert len(calls) == 1


# ---------------------------------------------------------------------------------------------------------------------
# The tree


def test_a_fresh_tree_is_a_deep_copy():
    primal = read(decorated)
    before = gast.dump(primal.tree, include_attributes=True)
    fresh = primal.fresh_tree()
    assert gast.dump(fresh, include_attributes=True) == before
    assert not {id(node) for node in gast.walk(fresh)} & {id(node) for node in gast.walk(primal.tree)}
    fresh.body.clear()
    fresh.args.args[0].id = "other"
    assert gast.dump(primal.tree, include_attributes=True) == before


def test_a_fresh_tree_shares_nothing_with_what_is_read_again():
    read(Model.method).fresh_tree().body.clear()
    assert unparsed(read(Model.method)) == "def method(self, x):\n    return self._Model__rate * x"


def test_positions_are_those_of_the_file():
    primal = read(wrapping)
    for node in gast.walk(primal.tree):
        if isinstance(node, (gast.stmt, gast.expr)):
            place = primal.place(node)
            assert primal.lines[place.line - 1] == place.text and place.end_line <= len(primal.lines)
    names = [node for node in gast.walk(primal.tree) if isinstance(node, gast.Name)]
    assert {primal.text(node) == node.id for node in names} == {True}


def test_place_and_text_of_nodes_without_a_position():
    def f(x):
        return [x * i for i in range(3) if i]

    primal = read(f)
    comprehension = primal.tree.body[0].value.generators[0]
    assert primal.text(comprehension) == "i in range(3) if i"
    assert primal.text(primal.tree.args) == "x"
    assert primal.place(gast.Load()).line == primal.place(primal.tree).line


def test_text_of_several_lines_is_dedented():
    def f(x):
        if x:
            y = """a
            b"""
            return (x,
                    y)  # fmt: skip

    primal = read(f)
    test = primal.tree.body[0]
    assert primal.text(test) == 'if x:\n    y = """a\n            b"""\n    return (x,\n            y)'
    assert primal.text(test.body[1].value) == "(x,\n        y)"


def test_a_place_shows_a_caret_under_characters(module):
    made = module("def f(é):\n    return 'üü' + foo(é)\n")
    primal = read(made.f)
    place = primal.place(primal.tree.body[0].value.right)
    assert place[1:5] == (2, 18, 2, 24)
    assert place.shown().endswith("    return 'üü' + foo(é)\n                  ^^^^^^")


PRIVATE = """
class _C:
    def m(self, __a, *, __k=1, **__rest):
        import os as __o
        global __g
        __g = __a + __k
        self.__w[__a:] = self.__w__ + self.___x
        def __inner(): return __inner, __k
        lambda __z: __z
        [__i for __i in __a]
        try:
            __t: int = 2
        except Exception as __e:
            pass
        f(__keyword=1)
        match self:
            case C(__x=__y): pass
            case [*__s]: pass
            case {"a": 1, **__others}: pass
        return __o, __a, __name__, _single, __rest

class __:
    def m(self):
        return self.__w

def outer():
    class D:
        @deco(__name)
        def m(self):
            return self.__w
        class E:
            def __n(self): return self.__w
            def n(self): return self.__n() + type(self).__n(self)
        def local(self):
            class F:
                def n(self): return self.__w
            return F().n, self.__w
    return D
"""


def test_private_names_are_those_that_python_compiles(module):
    made = module("def deco(x): return lambda f: f\n_D__name = 1\n" + PRIVATE)

    def again(function):
        names = {"deco": made.deco, "_D__name": 1}
        exec(compile(unparsed(read(function)), "<again>", "exec"), names)
        return names[function.__name__].__code__

    D = made.outer()
    for function in (made._C.m, made.__.m, D.m, D.E.n, D.E._E__n, D.local):
        code = again(function)
        assert code.co_names == function.__code__.co_names
        assert code.co_varnames == function.__code__.co_varnames
        assert code.co_cellvars == function.__code__.co_cellvars
        assert code.co_code == function.__code__.co_code
    assert unparsed(read(D.E._E__n)) == "def __n(self):\n    return self._E__w"
    assert "self._F__w" in unparsed(read(D.local)) and "self._D__w" in unparsed(read(D.local))
    assert "self.__w" in unparsed(read(made.__.m))
    assert body_text(D.m) == "self.__w"  # the text stays as written


# ---------------------------------------------------------------------------------------------------------------------
# Names


def test_a_name_in_a_cell():
    a = [1]

    def f(x):
        return a, x, late  # noqa: F821

    primal = read(f)
    binding = primal.lookup("a")
    assert isinstance(binding, Binding) and binding.value is a and binding.where == "cell" and binding.holds()
    assert primal.lookup("late") is None and primal.lookup("x") is None
    late = 1
    assert primal.lookup("late").value == 1
    a = [1]
    assert not binding.holds() and primal.lookup("a").value is a
    binding, late_binding = primal.lookup("a"), primal.lookup("late")
    del late
    assert not late_binding.holds() and binding.holds()


def test_a_global_name(module):
    made = module("k = None\ndef f(x):\n    return k * x\n")
    binding = read(made.f).lookup("k")
    assert binding.value is None and binding.where == "global" and binding.holds()
    del made.k
    assert not binding.holds() and read(made.f).lookup("k") is None
    made.k = 2
    assert not binding.holds() and read(made.f).lookup("k").value == 2


def test_a_builtin_name(module, monkeypatch):
    made = module("def f(x):\n    return abs(x)\n")
    binding = read(made.f).lookup("abs")
    assert binding.value is abs and binding.where == "builtin" and binding.holds()
    made.abs = abs
    assert not binding.holds() and read(made.f).lookup("abs").where == "global"
    del made.abs
    assert binding.holds()
    monkeypatch.setattr("builtins.abs", lambda x: x)
    assert not binding.holds()


def test_looking_up_runs_no_code_of_the_user(module):
    made = module(
        """
        class Touchy:
            def __eq__(self, other): raise RuntimeError
            def __bool__(self): raise RuntimeError
            __hash__ = None
        thing = Touchy()
        def f(x): return thing
        """
    )
    binding = read(made.f).lookup("thing")
    assert binding.holds() and binding == binding and binding != read(made.f).lookup("thing")


# ---------------------------------------------------------------------------------------------------------------------
# Refusals


class Callable:
    def __call__(self, x):
        return x


@pytest.mark.parametrize(
    "thing, message",
    [
        (math.sin, "<built-in function sin> has no Python source"),
        ([].append, "has no Python source"),
        (str.upper, "has no Python source"),
        (Callable, "Callable is a class"),
        (Callable(), "an object of type Callable has no Python source"),
        (functools.partial(deco, 1), "an object of type partial has no Python source"),
        (3.0, "an object of type float"),
        (math, "an object of type module"),
    ],
)
def test_what_has_no_source(thing, message):
    with pytest.raises(NoSource) as caught:
        read(thing)
    assert message in caught.value.message and caught.value.place is None


@pytest.mark.parametrize(
    "filename, message",
    [
        ("<stdin>", "f was typed into an interpreter that keeps no source: put it in a file or a notebook"),
        ("<string>", "an interpreter that keeps no source (or made by exec): put it in a file or a notebook"),
        ("<made by a tool>", "linecache holds no text of that name"),
        ("no_such_file_of_source.py", "the file no_such_file_of_source.py cannot be read"),
    ],
)
def test_text_that_is_nowhere(filename, message):
    names = {}
    exec(compile("def f(x): return x", filename, "exec"), names)
    with pytest.raises(NoSource) as caught:
        read(names["f"])
    assert message in caught.value.message


def test_code_that_claims_another_file():
    names = {"__name__": __name__, "__loader__": __loader__}
    exec(compile("def f(x): return x", __file__, "exec"), names)
    with pytest.raises(NoSource) as caught:
        read(names["f"])
    assert caught.value.place.file == __file__ and caught.value.place.line == 1


def test_a_primal_and_a_binding_copy_and_show():
    primal = read(decorated)
    assert "decorated" in repr(primal) and len(repr(primal)) < 500
    assert repr(primal.lookup("len")) == "Binding(value=<built-in function len>, where='builtin')"
    assert copy.copy(primal).tree is primal.tree


# --- where functions come from -----------------------------------------------------------------------------------------


def test_a_cell_of_a_notebook_is_compiled_statement_by_statement():
    text = "import numpy as np\ndef f(x):\n    return np.sin(x) * x\ng = lambda x: np.cos(x), lambda x: x * x\n"
    filename = "<ipython-input-1-aa>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space = {}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), filename, "exec"), space)
    assert body_text(space["f"]) == "np.sin(x) * x"
    assert [body_text(g) for g in space["g"]] == ["np.cos(x)", "x * x"]
    other = text.replace("np.sin(x)", "np.cos(x)")
    linecache.cache[filename] = (len(other), None, other.splitlines(keepends=True), filename)
    with pytest.raises(NoSource, match="edited"):
        read(space["f"])
    del linecache.cache[filename]


NOTEBOOK = r"""
import IPython
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()

def cell(text):
    result = shell.run_cell(text)
    result.raise_error()

cell("import numpy as np\nfrom s2sgrad import grad\ndef f(x):\n    return np.sin(x) * x\ng = lambda x: x*x, lambda x: x**3")
cell("assert abs(grad(f)(0.5) - np.cos(0.5) * 0.5 - np.sin(0.5)) < 1e-12")
cell("assert [grad(h)(2.0) for h in g] == [4.0, 12.0]")
cell("df = grad(lambda x: f(x) * x)\nassert abs(df(2.0) - grad(lambda x: np.sin(x) * x * x)(2.0)) < 1e-12")
cell("def f(x):\n    return x * 5.0")
cell("assert grad(f)(0.5) == 5.0 and df(2.0) == 20.0")
cell("def f(x):\n    return x * 7.0\nassert df(2.0) == 28.0")
print("right")
"""


def test_ipython_itself(tmp_path):
    pytest.importorskip("IPython")
    (tmp_path / "notebook.py").write_text(NOTEBOOK)
    root = str(pathlib.Path(read.__code__.co_filename).parents[2])
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path), "PYTHONPATH": root}
    done = subprocess.run([sys.executable, "notebook.py"], cwd=tmp_path, env=environment, capture_output=True, text=True,
                          timeout=120, check=False)  # fmt: skip
    assert done.stdout.splitlines()[-1:] == ["right"], done.stdout + done.stderr


def test_texts_of_ours_outlive_a_cleared_linecache(monkeypatch):
    monkeypatch.setattr(linecache, "cache", dict(linecache.cache))  # other tests' texts are kept
    df = s2sgrad.grad(lambda x: x * x * x)
    assert df(2.0) == 12.0
    text = inspect.getsource(df)
    linecache.clearcache()
    assert inspect.getsource(df) == text
    linecache.clearcache()
    assert s2sgrad.grad(df)(2.0) == 12.0
    linecache.clearcache()
    assert s2sgrad.grad(np.sin)(0.0) == 1.0
    cube = s2sgrad.primitive(lambda a: a**3)
    cube.defvjp(lambda g, y, a: 3.0 * g * a**2)
    linecache.clearcache()
    assert s2sgrad.jvp(cube, (2.0,), (1.0,)) == (8.0, 12.0)


@functools.lru_cache
def cached(x):
    return x


def test_what_wraps_a_function_says_how_to_reach_it():
    with pytest.raises(NoSource, match=r"pass cached\.__wrapped__"):
        read(cached)


def test_only_compiled_files_and_typed_functions(tmp_path, monkeypatch):
    path = tmp_path / "only_compiled.py"
    path.write_text("def f(x):\n    return x * x\n")
    py_compile.compile(str(path), str(tmp_path / "only_compiled.pyc"))
    path.unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = importlib.import_module("only_compiled")
    with pytest.raises(NoSource, match="cannot be read"):
        s2sgrad.grad(made.f)(2.0)
    with pytest.raises(NoSource, match="typed into an interpreter"):
        s2sgrad.grad(eval("lambda x: x * x"))(2.0)


def test_a_file_that_is_edited_and_reloaded(module, tmp_path):
    made = module("def f(x):\n    return x * 2.0\n")
    df = s2sgrad.grad(made.f)
    assert df(1.0) == 2.0
    path = pathlib.Path(made.__file__)
    path.write_text("def f(x):\n    return x * 3.0 * x\n")
    assert df(1.0) == 2.0  # the function that runs
    with pytest.raises(NoSource, match="edited"):
        s2sgrad.grad(made.f)(np.ones(2))
    exec(compile(path.read_text(), made.__file__, "exec"), vars(made))
    np.testing.assert_array_equal(s2sgrad.grad(made.f)(np.ones(2)), [6.0, 6.0])


def test_a_text_of_ours_stays_while_its_function_lives():
    """Of two functions of one text, one after the other, the text of the second is there when the first is gone."""

    def home():
        pass

    for _ in range(50):
        first, second = (making.made("def g(t): return t\n", "g", home, {}, set()) for _ in range(2))
        del first
        assert body_text(second) == "t"
