"""What emit writes parses back to the same tree, in the fewest parentheses, under the right comments."""

from __future__ import annotations

import ast
import fractions
import json.decoder
import json.encoder
import json.scanner
import json.tool
import math
import statistics
import sys
import textwrap
from types import SimpleNamespace

import gast
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from s2sgrad import emit, grad

# ---- what must come back exactly as it is written

EXPRESSIONS = r"""
-x ** 2
(-x) ** 2
x ** -y
x ** -y ** z
a - (b - c)
a - b - c
(a + b) * c
a + b * c
a / (b * c)
a / b * c
a * (b / c)
a // b % c
a % (b + c)
a @ (b @ c)
a ** b ** c
(a ** b) ** c
(a * b) ** (c + d)
--x
-(x + y)
-x * y
-(x * y)
~x | y & ~z
(a | b) & c ^ d
a << b + c >> d
(a << b) + c
not (a and b)
not a and b
not a in b
(not a) + b
(not a) == b
a and b or c and d
a and (b or c)
a and (b and c)
(a or b) or c
a < b <= c != d
(a < b) < c
a < (b < c)
a is not b
a not in b
(a == b) + c
x if c else y
x if c else y if d else z
(x if c else y) if d else z
x if (c if d else e) else y
(x if c else y) + 1
(lambda: x) if c else y
lambda: x if c else y
lambda x, /, y=1, *a, z, w=2, **k: x + y
lambda *, a: a
lambda *a: (a, 1)
(lambda x: x)(3)
[(y := f(x)), y]
(y := 1)
f(y := 1, (yield))
f(k=(y := 1))
f((yield x))
(yield)
(yield x, y)
(yield from x)
(a, b)
(a,)
()
(*a, b)
(*(a if c else b),)
[*a, *b]
{*a, *b}
{**a, 'b': 1, **(c or d)}
{}
{1, 2}
x[a, b]
x[(a, b), c]
x[a,]
x[()]
x[*a]
x[*a, b]
x[1:3, 2]
u[1:-1, :]
u[:, None]
u[..., ::2]
u[::-1]
u[a:b:c, d]
u[i + 1:n - 1]
u[k := 1]
x[a][b].c(d)[e]
x[lambda: 1]
(2).real
(-2).real
2.0.real
2j.imag
True.real
(-x).y
(a + b).c
(a + b)[c]
(a, b)[0]
(a + b)(c)
'x'.join(y)
f(*a, b, k=c, **d)
f(*(a or b), **c or d)
f(x for x in y)
f((x for x in y), z)
f((x for x in y), k=z)
f(g(x), axis=0, keepdims=True)
(x for x in y)
[x for x in y if z if w]
[x for i, j in y for k in j]
[x for x, in y]
[x for (x, y), z in w]
[x for x in (a if c else b)]
[x for x in a or b]
[x for x in y if (a if b else c)]
[x for x in y if (z := x)]
[x for x in (lambda: y)]
[x if c else y for x in z]
{x for x in y}
{x: y for x, y in z}
{(x, y): lambda: z}
...
1j
1e309
1e-05
b'ab\x00'
'it\'s "quoted"'
"it's"
'\n\t\\\x00\ud800'
'{x}'
u'x'
f''
f'{x}'
f'{{{x}}}'
f'{x!r:>{w}}'
f'{x:{w}.{p}f}'
f'{x!s}{y!a}'
f'{x:}'
f'{x + y:.3f} and {f(a, b)}'
f"{x['a']}"
f'''{x['a']} "said"'''
f"it's {x['a']!r}" + "it's"
f'{x}\n\t{y}\\'
f"{f'{x}'}"
f'{ {1: 2}[1]}'
f'{(lambda: 1)}'
f'{(a if b else lambda: 1)}'
f'{a if b else c}'
f'{(a, b)}'
f'{(y := 1)}'
f'{a != b}'
f'{x:%H:%M}'
f'{x:\x7b\x7d}'
x.y.z(a)(b)
""".strip().splitlines()

ASYNC = ["(await x)(y)", "await x ** 2", "-await x", "await (await x)", "[x async for x in y]", "await f(x)"]

STATEMENTS = [
    "x = y",
    "x = a, b",
    "x = a,",
    "x = *a, b",
    "a, b = b, a",
    "a, (b, *c) = d",
    "*a, = b",
    "[a, b] = c",
    "x = y = z",
    "x = yield",
    "x = yield a, b",
    "x += yield a",
    "x = yield from y",
    "x = (y := 1)",
    "(y := 1)",
    "yield x",
    "x[0], y.z = 1, 2",
    "u[1:-1, :] += a - b",
    "x **= 2",
    "x @= y",
    "x: int",
    "x: int = 3",
    "x: tuple = a, b",
    "(x): int = 3",
    "x.y: int = 3",
    "x[0]: int",
    "del a, b[0], c.d",
    "del (a, b)",
    "assert x",
    "assert x, 'why'",
    "assert (y := x), (a, b)",
    "raise",
    "raise ValueError",
    "raise ValueError('x') from e",
    "import a",
    "import a.b as c, d",
    "from . import a",
    "from ..a.b import c as d, e",
    "from a import *",
    "global a, b",
    "'a string'",
    "a, b",
    "pass",
    "if y := x:\n    pass",
    "if x:\n    pass\nelif y:\n    a\nelse:\n    b",
    "if x:\n    pass\nelse:\n    if y:\n        a\n    b",
    "while x:\n    break\nelse:\n    pass",
    "while y := f():\n    continue",
    "for i, j in x:\n    pass",
    "for i in (a, b):\n    pass",
    "for i in (*a, b):\n    pass\nelse:\n    x = 1",
    "for x[i], (a, b) in y:\n    pass",
    "def f():\n    pass",
    "def f():\n    return",
    "def f():\n    return a, b",
    "def f():\n    return *a, b",
    "def f():\n    return (y := 1)",
    "def f():\n    return (yield)",
    "def f():\n    return (a + b) * c",
    "def f(a, b=1, /, c: int = 2, *args: int, d, e=3, f: int = 4, **kw: dict) -> tuple[int, str]:\n    pass",
    "def f(*, a):\n    nonlocal x",
    "def f(a, /):\n    pass",
    "def f(a, /, *, b=(1, 2)):\n    pass",
    "def f(*args: *Ts):\n    pass",
    "@a.b\n@c(1)\n@lambda f: f\ndef f():\n    pass",
    'def f():\n    """One line, "quoted" and it\'s fine."""\n    return 1',
    'def f():\n    """Two\n\n      lines.\n    """',
    'def f():\n    """Hard: \\\\ \\"\\"\\" \\x00 \\r \\""""',
    'def f():\n    """Naïve ∂y/∂x."""',
    "def f():\n    u'kind'",
    "def f():\n    def g():\n        return 1\n    return g",
    "async def f():\n    await c\n    async for i in x:\n        yield i",
    "@a(b)\nclass C(A, B, metaclass=M):\n    \"\"\"What it is.\"\"\"\n    x: int = 3\n    def f(self):\n        return x",
    "class A:\n    pass",
]

REFUSED = [
    "async def f():\n    async with a:\n        pass",
    "try:\n    a\nexcept* A:\n    b",
    "match x:\n    case 1:\n        pass",
]
NEWER = ["type X = int", "def f[T](x: T) -> T:\n    pass", "class C[T]:\n    pass"]  # refused too



def canonical(text: str) -> str:
    return ast.dump(ast.parse(text))


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_come_back_as_written(text):
    assert emit.expression(gast.parse(text, mode="eval").body) == text


@pytest.mark.parametrize("text", ASYNC)
def test_async_expressions_come_back_as_written(text):
    body = gast.parse(f"async def f():\n    x = {text}").body[0].body
    assert emit.statement(body[0]) == f"x = {text}"


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements_come_back_as_written(text):
    assert emit.statement(gast.parse(text).body[0]) == text


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 and PEP 701 came with 3.12")
def test_the_syntax_of_newer_pythons():
    for text in NEWER:
        with pytest.raises(TypeError, match="no text is known"):
            emit.statement(gast.parse(text).body[0])
    for text in [r"""f'{"\n".join(x)}'""", r"""f'{x["it's"] + y['"'] + z["'''"] + w['""\"']}'"""]:
        emitted = emit.expression(gast.parse(text, mode="eval").body)
        assert canonical(emitted) == canonical(text)


def test_an_f_string_that_3_11_cannot_write():
    hole = gast.FormattedValue(gast.Constant("\n", None), -1, gast.JoinedStr([gast.Constant("^5", None)]))
    tree = gast.JoinedStr([gast.Constant("a'{\"", None), hole])
    assert eval(emit.expression(tree)) == "a'{\"  \n  "


WITHOUT_TEXT = ast.Try | ast.Match


@pytest.mark.parametrize("module", [json, json.decoder, json.encoder, json.scanner, json.tool, statistics, textwrap,
                                    fractions])
def test_the_standard_library_comes_back(module):
    with open(module.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and not any(isinstance(each, WITHOUT_TEXT) for each in ast.walk(node)):
            wanted = ast.dump(node)
            twin = gast.ast_to_gast(node)
            assert ast.dump(ast.parse(emit.statement(twin)).body[0]) == wanted
            assert ast.dump(ast.parse(emit.function(twin, header="above")).body[0]) == wanted


# ---- random trees

NAMES = st.sampled_from(["a", "b", "x", "u_bar"])
TEXTS = st.text(st.sampled_from("ab{}'\"\\\n #é\x00:!"), max_size=6)
CONSTANTS = st.one_of(
    st.integers(0, 3), st.floats(0, allow_nan=False), st.floats(0, 9).map(lambda x: complex(0, x)), TEXTS,
    st.binary(max_size=3), st.sampled_from([None, True, False, ..., 10**30]))
LOAD, STORE = ast.Load(), ast.Store()


def constant(value: object) -> ast.expr:
    return ast.Constant(value)


def name(text: str) -> ast.expr:
    return ast.Name(text, LOAD)


def target(text: str) -> ast.expr:
    return ast.Name(text, STORE)


def parameters(names: list[str], default: ast.expr | None) -> ast.arguments:
    arguments = [ast.arg(each) for each in names]
    return ast.arguments([], arguments, None, [], [], None, [default] if default and arguments else [])


def comprehensions(inner):
    return st.lists(st.builds(ast.comprehension, NAMES.map(target), inner, st.lists(inner, max_size=1), st.just(0)),
                    min_size=1, max_size=2)


def larger(inner):
    """Strategies for expressions with the given ones inside."""
    few = st.lists(inner, min_size=1, max_size=3)
    more = st.lists(inner, min_size=2, max_size=3)
    starred = st.builds(ast.Starred, inner, st.just(LOAD))
    items = st.lists(st.one_of(inner, starred), max_size=3)
    part = st.one_of(st.none(), inner)
    index = st.one_of(inner, st.builds(ast.Slice, part, part, part))
    indices = st.lists(index, min_size=1, max_size=3).map(lambda elts: ast.Tuple(elts, LOAD))
    operators = st.sampled_from([ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.Mod, ast.FloorDiv,
                                 ast.LShift, ast.RShift, ast.BitOr, ast.BitXor, ast.BitAnd]).map(lambda op: op())
    comparison = more.flatmap(lambda each: st.tuples(
        st.just(each), st.lists(st.sampled_from([ast.Eq, ast.Lt, ast.In, ast.NotIn, ast.IsNot]).map(lambda op: op()),
                                min_size=len(each) - 1, max_size=len(each) - 1)))
    keywords = st.lists(inner, max_size=3).map(
        lambda values: [ast.keyword(key, value) for key, value in zip((None, "axis", "k"), values, strict=False)])
    return st.one_of(
        st.builds(ast.BinOp, inner, operators, inner),
        st.builds(ast.UnaryOp, st.sampled_from([ast.USub, ast.UAdd, ast.Invert, ast.Not]).map(lambda op: op()), inner),
        st.builds(ast.BoolOp, st.sampled_from([ast.And, ast.Or]).map(lambda op: op()), more),
        comparison.map(lambda pair: ast.Compare(pair[0][0], pair[1], pair[0][1:])),
        st.builds(ast.IfExp, inner, inner, inner),
        st.builds(ast.Lambda, st.builds(parameters, st.lists(NAMES, max_size=2, unique=True), part), inner),
        st.builds(ast.NamedExpr, NAMES.map(target), inner),
        st.builds(ast.Call, inner, items, keywords),
        st.builds(ast.Call, inner, st.builds(ast.GeneratorExp, inner, comprehensions(inner)).map(lambda x: [x]),
                  st.just([])),
        st.builds(ast.Attribute, inner, NAMES, st.just(LOAD)),
        st.builds(ast.Subscript, inner, st.one_of(index, indices, starred.map(lambda x: ast.Tuple([x], LOAD))),
                  st.just(LOAD)),
        st.builds(ast.Tuple, items, st.just(LOAD)),
        st.builds(ast.List, items, st.just(LOAD)),
        st.builds(ast.Set, few),
        few.flatmap(lambda keys: st.builds(ast.Dict, st.just([None, *keys]), st.just([*keys, keys[0]]))),
        st.builds(ast.ListComp, inner, comprehensions(inner)),
        st.builds(ast.DictComp, inner, inner, comprehensions(inner)),
        st.builds(ast.Yield, part),
        st.builds(ast.YieldFrom, inner),
        st.builds(ast.Await, inner),
    )


HOLES = st.builds(
    ast.FormattedValue,
    st.recursive(st.one_of(NAMES.map(name), st.integers(0, 3).map(constant)), larger, max_leaves=4),
    st.sampled_from([-1, ord("r"), ord("s"), ord("a")]),
    st.one_of(st.none(), st.text(st.sampled_from(">.5d{}'\"\\\n"), min_size=1, max_size=3).map(
        lambda text: ast.JoinedStr([constant(text)]))))
FSTRINGS = st.tuples(TEXTS, HOLES, TEXTS).map(
    lambda parts: ast.JoinedStr([constant(x) if isinstance(x, str) else x for x in parts if x != ""]))
TREES = st.recursive(st.one_of(NAMES.map(name), CONSTANTS.map(constant), FSTRINGS), larger, max_leaves=12)
SMALL = st.recursive(st.one_of(NAMES.map(name), CONSTANTS.map(constant)), larger, max_leaves=3)
SLOW = settings(deadline=None, max_examples=300, suppress_health_check=list(HealthCheck))


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # `1(2)`, `'a' is not x`
@SLOW
@given(TREES)
def test_random_expressions_come_back(tree):
    text = emit.expression(gast.ast_to_gast(tree))
    inside = ast.parse(f"async def f():\n    f({text})")
    assert ast.dump(inside.body[0].body[0].value.args[0]) == ast.dump(tree)


def statements(inner):
    block = st.lists(inner, min_size=1, max_size=3)
    maybe = st.one_of(st.just([]), block)
    goals = st.one_of(NAMES.map(target), st.lists(NAMES.map(target), min_size=1, max_size=2).map(
        lambda elts: ast.Tuple(elts, STORE)))
    return st.one_of(
        st.builds(ast.If, SMALL, block, maybe),
        st.builds(ast.While, SMALL, block, maybe),
        st.builds(ast.For, goals, SMALL, block, maybe),
        st.builds(lambda body: ast.FunctionDef("g", parameters(["x"], None), body, [], None, **EMPTY), block),
    )


EMPTY = {"type_params": []} if sys.version_info >= (3, 12) else {}
SIMPLE = st.one_of(
    st.builds(ast.Expr, SMALL),
    st.builds(ast.Assign, st.lists(NAMES.map(target), min_size=1, max_size=2), SMALL),
    st.builds(ast.AugAssign, NAMES.map(target), st.just(ast.Sub()), SMALL),
    st.builds(ast.AnnAssign, NAMES.map(target), SMALL, SMALL, st.sampled_from([0, 1])),
    st.builds(ast.Return, st.one_of(st.none(), SMALL)),
    st.builds(ast.Assert, SMALL, st.one_of(st.none(), SMALL)),
    st.builds(ast.Raise, SMALL, st.one_of(st.none(), SMALL)),
    st.just(ast.Pass()),
)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(SLOW, max_examples=100)
@given(st.lists(st.recursive(SIMPLE, statements, max_leaves=4), min_size=1, max_size=3))
def test_random_functions_come_back(body):
    body = [each for each in body if not isinstance(each, ast.Expr)] or [ast.Pass()]
    tree = ast.AsyncFunctionDef("f", parameters(["x"], None), body, [], None, **EMPTY)
    twin = gast.ast_to_gast(tree)
    for i, each in enumerate(gast.walk(twin)):
        if isinstance(each, gast.stmt) and i % 3:
            each.origin = SimpleNamespace(sweep=("forward", "reverse", None)[i % 4 % 3], line=i % 5, column=0,
                                          comment=f"{i}\nlines")
    for text in (emit.statement(twin), emit.function(twin, header="above")):
        assert ast.dump(ast.parse(text).body[0]) == ast.dump(tree)


# ---- constants


@pytest.mark.parametrize("value", [
    -1.0, -0.0, math.inf, -math.inf, -3, 10**5000, -10**5000, 1e-300, np.float64(1.5), np.float64(-0.5),
    1 + 2j, -1j, complex(0.0, -1.0), complex(-0.0, 1.0), complex(-0.0, -0.0), complex(0.0, -0.0),
    complex(1.5, -math.inf), complex(math.inf, 0.0), (1, (2,), ()), True, None, "a'b\"c", b"\xff",
    np.str_("text")], ids=lambda _: "")
def test_constants_evaluate_to_themselves(value):
    text = emit.expression(gast.Constant(value, None))
    again = eval(text)
    assert again == value
    if isinstance(value, float | complex):
        assert [math.copysign(1, part) for part in (again.real, again.imag)] == [
            math.copysign(1, part) for part in (value.real, value.imag)]


def test_a_negative_constant_binds_like_a_sign():
    x = gast.Name("x", gast.Load(), None, None)
    minus = gast.Constant(-1.0, None)
    assert emit.expression(gast.BinOp(minus, gast.Pow(), x)) == "(-1.0) ** x"
    assert emit.expression(gast.BinOp(x, gast.Pow(), minus)) == "x ** -1.0"
    assert emit.expression(gast.BinOp(x, gast.Sub(), minus)) == "x - -1.0"
    assert emit.expression(gast.Attribute(gast.Constant(-2, None), "real", gast.Load())) == "(-2).real"


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    a\nexcept A:\n    b",
        "try:\n    a\nexcept (A, B.c) as e:\n    b\nexcept:\n    c\nelse:\n    d\nfinally:\n    e",
        "try:\n    a\nfinally:\n    b",
    ],
)
def test_every_part_of_try_is_written(text):
    assert emit.statement(gast.parse(text).body[0]).strip() == text


def test_what_has_no_text_is_refused():
    with pytest.raises(TypeError, match="ndarray"):
        emit.expression(gast.Constant(np.ones(2), None))
    with pytest.raises(TypeError, match="SimpleNamespace"):
        emit.statement(SimpleNamespace())
    for text in REFUSED:
        with pytest.raises(TypeError, match="no text is known for a node of type"):
            emit.statement(gast.parse(text).body[0])
    assert math.isnan(eval(emit.expression(gast.Constant(math.nan, None))))


# ---- comments


def origin(sweep=None, line=0, column=0, comment=None):
    return SimpleNamespace(sweep=sweep, line=line, column=column, comment=comment)


def function(text: str, **origins) -> gast.FunctionDef:
    """A function in which the statement that begins with `name` has origin `origins[name]`."""
    tree = gast.parse(textwrap.dedent(text)).body[0]
    for node in gast.walk(tree):
        if isinstance(node, gast.stmt):
            first = emit.statement(node).split()[0]
            if first in origins:
                node.origin = origins[first]
    return tree


def test_sweeps_and_comments():
    tree = function(
        """
        def f(x):
            for i in x:
                y = 1
            for_ = 2
            while x:
                a = 1
                b = 2
                c = 3
                d = 4
            e = 5
            return x
        """,
        y=origin("forward", 2, 0), for_=origin("reverse", 9), **{"while": origin("reverse", 3, 0, "for i in x:")},
        a=origin("reverse", 3, 0, "for i in x:"), b=origin("reverse", 4, 1, "y = (\n    1)"),
        c=origin("reverse", 4, 1, "y = (\n    1)"), d=origin("reverse", 4, 7, "z = 2"), e=origin(None, 5, 0, "last"))
    assert emit.function(tree, header="Made by hand.\n\nTwice.") == textwrap.dedent("""\
        # Made by hand.
        #
        # Twice.
        def f(x):
            for i in x:
                # forward sweep
                y = 1

            # reverse sweep
            for_ = 2
            # for i in x:
            while x:
                a = 1
                # y = (
                #     1)
                b = 2
                c = 3
                # z = 2
                d = 4

            # last
            e = 5
            return x
        """)
    assert "#" not in emit.statement(tree)


def test_one_sweep_alone_is_not_headed():
    tree = function("def f(x):\n    a = 1\n    b = 2", a=origin("reverse", 1), b=origin("reverse", 2))
    assert emit.function(tree) == "def f(x):\n    a = 1\n    b = 2\n"


def test_a_sweep_says_where_it_begins_even_if_the_place_has_not_changed():
    tree = function("def f(x):\n    a = 1\n    b = 2\n    c = 3\n    d = 4",
                    **{name: origin("forward" if name < "c" else "reverse", 1, 0, "return x * x") for name in "abcd"})
    assert emit.function(tree) == textwrap.dedent("""\
        def f(x):
            # forward sweep
            # return x * x
            a = 1
            b = 2

            # reverse sweep
            # return x * x
            c = 3
            d = 4
        """)


def test_an_inner_function_has_its_own_sweeps():
    tree = function("def f(x):\n    a = 1\n    def g():\n        b = 2\n        c = 3\n    d = 4",
                    a=origin("forward", 1), b=origin("forward", 2), c=origin("reverse", 3), d=origin("forward", 4))
    assert emit.function(tree) == textwrap.dedent("""\
        def f(x):
            a = 1
            def g():
                # forward sweep
                b = 2

                # reverse sweep
                c = 3
            d = 4
        """)


def test_a_comment_above_elif():
    tree = function("def f(x):\n    if x:\n        a = 1\n    elif y:\n        b = 2")
    tree.body[0].origin = origin(None, 1, 0, "if x:")
    tree.body[0].orelse[0].origin = origin(None, 3, 0, "elif y:")
    assert emit.function(tree) == (
        "def f(x):\n    # if x:\n    if x:\n        a = 1\n    # elif y:\n    elif y:\n        b = 2\n")


def test_statements_without_an_origin_do_not_repeat_a_comment():
    tree = function("def f(x):\n    a = 1\n    b = 2\n    c = 3", a=origin(None, 1, 0, "u"), c=origin(None, 1, 0, "u"))
    assert emit.function(tree).count("# u") == 1


# ---- layout


def test_empty_blocks_print_pass():
    tree = gast.parse("def f(x):\n    if x: pass\n    for i in x: pass").body[0]
    tree.body[0].body = []
    tree.body[1].body = []
    assert emit.function(tree) == "def f(x):\n    if x:\n        pass\n    for i in x:\n        pass\n"
    tree.body = []
    assert emit.function(tree) == "def f(x):\n    pass\n"


def test_fields_left_out_are_not_missed_and_nothing_is_written():
    def read(text):
        return gast.Name(id=text)

    tree = gast.FunctionDef(
        name="f", args=gast.arguments(args=[read("x")]),
        body=[gast.If(test=read("x"), body=[gast.Return(value=gast.Call(func=read("g"), args=[read("x")]))]),
              gast.For(target=read("i"), iter=read("x"),
                       body=[gast.Assign(targets=[read("y")], value=gast.Constant(value=1))]),
              gast.Return()])
    before = gast.dump(tree)
    assert emit.function(tree) == (
        "def f(x):\n    if x:\n        return g(x)\n    for i in x:\n        y = 1\n    return\n")
    assert gast.dump(tree) == before


LONG = [
    "x = function(" + ", ".join(f"argument_{i}=value_{i}" for i in range(12)) + ")",
    "x_bar = " + " + ".join(f"contribution_{i} * seed" for i in range(12)),
    "def f(" + ", ".join(f"parameter_{i}" for i in range(12)) + "):\n    return "
    + ", ".join(f"parameter_{i}_bar" for i in range(12)),
    "if " + " and ".join(f"condition_{i} > {i}" for i in range(12)) + ":\n    pass",
    "x[a, b] = np.sum(" + " - ".join(f"function_{i}(x, y)" for i in range(12)) + ", axis=0)",
    "x = " + "*".join(f"term({i}, 'a, (b', [{', '.join('abcdefghijklmnopqrstuvwxyz')}])" for i in range(3)),
    "raise ValueError('" + "x" * 90 + "', " + "name" * 5 + ")",
    "x = [value_of_a_long_name + 1 for value_of_a_long_name in values_of_a_long_name if value_of_a_long_name > 3]",
]


@pytest.mark.parametrize("text", LONG)
def test_long_lines_are_broken(text):
    emitted = emit.statement(gast.parse(text).body[0])
    assert canonical(emitted) == canonical(text)
    assert max(map(len, emitted.splitlines())) <= (100 if not text.startswith("raise") else 110)


def test_how_long_lines_are_broken():
    text = emit.statement(gast.parse(LONG[4]).body[0])
    assert text.splitlines()[-2:] == ["    axis=0", ")"] and text.splitlines()[2].startswith("    - function_")
    text = emit.statement(gast.parse(LONG[1]).body[0])
    assert text.splitlines()[0] == "x_bar = (" and text.splitlines()[2].startswith("    + contribution_")
    assert text.splitlines()[-1] == ")"
    text = "x = " + "x" * 120
    assert emit.statement(gast.parse(text).body[0]) == text


def test_long_chains_need_no_stack():
    x = gast.Name("x", gast.Load(), None, None)
    total, nested = x, x
    for _ in range(5000):
        total = gast.BinOp(total, gast.Add(), x)
    for i in range(5000):
        nested = gast.BinOp(nested, gast.Mult() if i % 2 else gast.Add(), x)
    assert emit.expression(total).count("+") == 5000
    assert emit.expression(nested).startswith("((((")
    assert len(emit.statement(gast.Assign([x], total, None))) > 20_000
    arms = [gast.If(gast.Name(f"x{i}", gast.Load(), None, None), [gast.Pass()], []) for i in range(3000)]
    for i in range(len(arms) - 1):
        arms[i].orelse = [arms[i + 1]]
    text = emit.function(gast.FunctionDef(name="f", args=gast.arguments(args=[]), body=[arms[0]]))
    assert text.count("    elif ") == 2999
    choice = x
    for _ in range(3000):
        choice = gast.IfExp(x, x, choice)
    assert emit.expression(choice).count("else") == 3000


class Scaled:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value * 2.0

    def __exit__(self, *_):
        return False


def test_a_comment_of_match_or_with_is_its_header():
    """What is computed in a header has the line of the header above its derivative, and not the statements inside."""

    def matched(x, k):
        match x[0] * 2.0, k:
            case (q, 1):
                y = np.sin(x) * q
            case _:
                y = x
        return y.sum()

    def opened(x):
        with Scaled(np.sin(x)) as y:
            z = y * x
        return z.sum()

    for text, header in (
        (grad(matched).source_for(np.ones(3), 1), "# match x[0] * 2.0, k:"),
        (grad(opened).source_for(np.ones(3)), "# with Scaled(np.sin(x)) as y:"),
    ):
        (line,) = [k for k, shown in enumerate(text.splitlines()) if shown.strip() == header]
        assert not text.splitlines()[line + 1].strip().startswith("#")
