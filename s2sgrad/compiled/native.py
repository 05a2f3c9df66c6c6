"""A lowered text as machine code, by numba; kept on disk for the next process.

    native("def f(x): ...", "f", (np.ones(3),))      ->      a function that runs it

The file of a text has a name that follows from the text and from all that compiled it, so that a file never changes:
processes that write it at once write the same.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import math
import os
import pathlib
import sys
import tempfile
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sgrad.compiled import blas, direct, lapack, repeated, scalars, spread, vectors
from s2sgrad.compiled.elementwise import OF_MATH

_OF_NUMPY = (np.floor, np.ceil, np.log2)  # those of math return integers, or are not known to numba
_lock = threading.Lock()
_kept: dict[str, Any] = {}


_LARGE = 31 * 2**20  # bytes: glibc keeps freed memory for blocks up to 32 MiB


def numba() -> Any:
    """The package, which is imported when it is first needed."""
    return importlib.import_module("numba")


def keep_freed_memory() -> None:
    """Let the allocator of C keep what loops free, so that the next call need not fault its pages in again.

    That of glibc keeps blocks up to the largest one that was freed; this one is never touched.
    """
    np.empty(_LARGE, np.uint8)


def _helpers() -> dict[str, Any]:
    """What lowered texts call, compiled where they call it."""
    with _lock:
        if not _kept:
            keep_freed_memory()
            space: dict[str, Any] = {"np": np, "math": math, "__name__": scalars.__name__, **_intrinsics()}
            for name, value in vars(scalars).items():
                if isinstance(value, np.ufunc):
                    space[name] = value if value in _OF_NUMPY else OF_MATH.get(value, math.pow)
            space["prange"] = numba().prange
            space |= {"objmode": numba().objmode, **{name: getattr(scalars, name) for name in _OF_LIBRARY}}
            space |= {name: getattr(scalars, name) for name in ("_LARGEST", "_EXACT", "WELL")}
            for module in (vectors, scalars):
                for name, value in vars(module).items():
                    if (
                        isinstance(value, types.FunctionType)
                        and value.__module__ == module.__name__
                        and name not in (*_BITS, *_EXTREMES, *_OF_LIBRARY, *lapack.FUNCTIONS)
                    ):
                        options = {"fastmath": _ANY_ORDER} if name == scalars.plus.__name__ else {}
                        space[name] = _jitted(types.FunctionType(value.__code__, space, name), forceinline=True, **options)
            _kept.update(space | lapack.functions(_jitted) | {_DOT: blas.product()})
        return _kept


_PLACE, _DOT, _PRODUCT = "place", "dot_", "np.dot"
_ANY_ORDER = {"reassoc", "nsz"}  # of the additions of a sum, so that several are made at once
_EXTREMES = {scalars.largest.__name__: "llvm.maximum", scalars.least.__name__: "llvm.minimum"}
_BITS = (vectors.bits.__name__, vectors.number.__name__)


class _Kept(ast.NodeTransformer):
    """Puts what a library computes into functions of its own, in which numba goes back to Python.

    a0 = as_array(np.unwrap(x), 'float64', 1)      ->      a0 = kept_0(x)

    Calls that differ in the names of their arguments alone share a function, which is compiled once.
    """

    def __init__(self) -> None:
        self.functions: dict[str, str] = {}  # by what they compute, the names
        self.own: set[str] = set()
        self.imported: dict[str, tuple[str, str]] = {}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.imported[node.names[0].asname or ""] = (node.module or "", node.names[0].name)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.imported:
            return node
        return ast.parse(f"{scalars.library.__name__}{self.imported[node.id]!r}", mode="eval").body

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.own = stored | {a.arg for a in node.args.args}
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _OF_LIBRARY:
            node.value = self._apart(call, [])
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        call = self.visit(node.value)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in _OF_LIBRARY:
            return node
        told: list[Any] = [ast.literal_eval(a) for a in call.args[1:]]
        node.value = self._apart(call, told if call.func.id == scalars.as_items.__name__ else [told])
        return node

    def _apart(self, call: ast.Call, types_: list[Any]) -> ast.expr:
        """The call of a function that goes back to Python for this call."""
        names = [*dict.fromkeys(n.id for n in ast.walk(call) if isinstance(n, ast.Name) and n.id in self.own)]
        outs = [f"out_{k}" for k in range(len(types_))]
        declared = ", ".join(f"{out}={_type_said(*t)!r}" for out, t in zip(outs, types_, strict=True))
        target, parameters = ", ".join(outs), {n: f"p{k}" for k, n in enumerate(names)}
        for n in ast.walk(call):
            if isinstance(n, ast.Name) and n.id in parameters:
                n.id = parameters[n.id]
        assigned = f"{target} = " if outs else ""
        body = f"    with objmode({declared}):\n        {assigned}{ast.unparse(call)}\n    return {target}\n"
        head = f"({', '.join(parameters.values())}):\n"
        name = self.functions.setdefault(head + body, f"{_KEPT}{len(self.functions)}")
        return ast.parse(f"{name}({', '.join(names)})", mode="eval").body


_KEPT = "kept_"
_OF_LIBRARY = tuple(f.__name__ for f in (scalars.as_array, scalars.as_number, scalars.as_items, scalars.library, scalars.put,
                                         scalars.put_sum))  # fmt: skip


def _type_said(dtype: str, rank: int = 0) -> str:
    """What numba calls the type of a result.

    >>> _type_said("float64", 2), _type_said("bool")
    ('float64[:, ::1]', 'boolean')
    """
    dtype = dtype if rank else scalars.NUMBERS[dtype][1]
    dtype = "boolean" if dtype == "bool" else dtype
    return f"{dtype}[{', '.join([*[':'] * (rank - 1), '::1'])}]" if rank else dtype


class _Places(ast.NodeTransformer):
    """Says of sums that are indices that they are not negative: numba need not look whether to count from the end.

    x[i + k]      ->      x[place(i + k)]

    Products are those of `blas`.
    """

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return ast.Name(_DOT, ast.Load()) if ast.unparse(node) == _PRODUCT else self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._placed(i) for i in node.slice.elts]
        else:
            node.slice = self._placed(node.slice)
        return node

    def _placed(self, index: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(_PLACE, ast.Load()), [index], []) if isinstance(index, ast.BinOp) else index


_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # what only machine code calls


def _jitted(function: types.FunctionType, **options: Any) -> Any:
    return numba().njit(error_model="numpy", nogil=True, **options)(function)


def _intrinsics() -> dict[str, Any]:
    """`bits`, `number` and `place`, which cost nothing in machine code; and what makes several numbers at once one."""
    from llvmlite import ir
    from numba.core import types as kinds
    from numba.extending import intrinsic

    def cast(to: Any, given: Any, type_: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], type_)

        return intrinsic(lambda typing, x: (to(given), generate))

    def of_two(name: str) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            type_ = args[0].type
            made = ir.FunctionType(type_, [type_, type_])
            return builder.call(builder.module.declare_intrinsic(name, [type_], made), args)

        def typed(typing: Any, a: Any, b: Any) -> Any:
            to = a if a == b else kinds.float64
            return to(to, to), generate

        return intrinsic(typed)

    return {**{own: of_two(name) for own, name in _EXTREMES.items()},
            _BITS[0]: cast(kinds.int64, kinds.float64, ir.IntType(64)),
            _BITS[1]: cast(kinds.float64, kinds.int64, ir.DoubleType()),
            _PLACE: cast(kinds.uint64, kinds.int64, ir.IntType(64))}  # fmt: skip


def cache_folder() -> pathlib.Path:
    """Where compiled functions are kept: the environment variable S2SGRAD_CACHE, or a folder of the user's."""
    given = os.environ.get("S2SGRAD_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(given) if given else pathlib.Path(base) / "s2sgrad"


def key_of(text: str, arguments: tuple[Any, ...]) -> str:
    """What the machine code follows from: text, types, versions, and the machine."""
    nb = numba()
    modules = (scalars, vectors, blas, lapack, repeated, direct, spread, sys.modules[__name__])
    source = "".join(pathlib.Path(module.__file__ or "").read_text() for module in modules)
    types_ = [f"{a.dtype}{a.ndim}" if isinstance(a, np.ndarray) else type(a).__name__ for a in arguments]
    said = [text, source, *types_, np.__version__, nb.__version__, sys.version, _processor()]
    return hashlib.sha256("\0".join(said).encode()).hexdigest()[:32]


def _processor() -> str:
    import llvmlite.binding

    name: str = llvmlite.binding.get_host_cpu_name()
    return name


def native(text: str, name: str, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The function of a lowered text, compiled for arguments of these types."""
    nb, key = numba(), key_of(text, arguments)
    inferred = f"{key}{_INFERRED}"
    keys = [inferred] if _file(inferred).exists() else [key, inferred]
    loops: Callable[..., Any]
    for own in keys:
        with contextlib.suppress(Exception):  # a file that another version wrote or that is damaged; or no instructions
            loops = _compiled(nb, text, name, arguments, _written(text, own), is_direct=own is key)
            return loops
    loops = _compiled(nb, text, name, arguments, None, is_direct=False)
    return loops


_INFERRED = "_inferred"  # ends the names of the files of texts whose loops have no instructions


def _file(key: str) -> pathlib.Path:
    return cache_folder() / f"loops_{key}.py"


def _known() -> set[str]:
    """The names of functions of single numbers."""
    return {n for n, v in vars(scalars).items() if callable(v) and n not in _OF_LIBRARY} - {"prange"} | _BUILTINS


_MANY = 30  # loops; in one long function they take the compiler longer, and run no faster
_BUILTINS = {"range", "abs", "float", "int", "bool"}


def _compiled(
    nb: Any, text: str, name: str, arguments: tuple[Any, ...], path: pathlib.Path | None, is_direct: bool = True
) -> Any:
    filename = f"<{name}>" if path is None else str(path)
    space = dict(_helpers())
    kept = _Kept()
    tree, rows = kept.visit(ast.parse(text)), []
    options: dict[str, Any] = {}
    if runs_in_threads(text):
        importlib.import_module("numba.np.ufunc.parallel")._launch_threads()
        options = {} if is_direct else {"parallel": _TRIPS_ALONE}
        rows = spread.apart(tree) if is_direct else []
    tree = repeated.shared(tree)
    if is_direct:
        nests = direct.outlined(tree, _known() | {row + spread.IN_THREADS for row in rows})
        for nest in nests:
            space[nest.name] = direct.instructions(nest, space, len(nests) > _MANY)
            if nest.name in rows:
                space[nest.name + spread.IN_THREADS] = spread.in_threads(nest, space)
    tree = ast.fix_missing_locations(_Places().visit(tree))
    for function, own in kept.functions.items():
        exec(compile(f"def {own}{function}", filename, "exec"), space)
        space[own] = nb.njit(space[own])
    exec(compile(tree, filename, "exec"), space)
    for definition in tree.body:
        if isinstance(definition, ast.FunctionDef) and definition.name != name:
            space[definition.name] = _jitted(space[definition.name], **_INNER)
    made = _jitted(space[name], cache=path is not None, no_cfunc_wrapper=True, **options)
    types_ = tuple(nb.typeof(a) for a in arguments)
    if path is None or not _read(made, types_):
        made.compile(types_)
    made.disable_compile()
    return made


def _read(made: Any, types_: tuple[Any, ...]) -> bool:
    """Whether machine code was read from the cache of numba: without what numba imports before it compiles.

    Symbols that the code refers to are known once numba is imported, but for those of its memory, and those of threads,
    which the code brings along.  Numba promises nothing of
    the kind: another version than the one tried compiles as usual.
    """
    if importlib.import_module("numba").version_info.short != TRIED:
        return False
    with contextlib.suppress(Exception), importlib.import_module("numba.core.compiler_lock").global_compiler_lock:
        importlib.import_module("numba.core.runtime").rtsys.initialize(made.targetctx)
        found = made._cache._load_overload(types_, made.targetctx)
        if found is not None:
            made.add_overload(found)
            return True
    return False


TRIED = (0, 68)  # the version of numba from whose cache code is read directly: see `tests/compiled/test_numba.py`
_REST = ("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion")
_TRIPS_ALONE = {"prange": True, **dict.fromkeys(_REST, False)}  # no other statements


def runs_in_threads(text: str) -> bool:
    """Whether a text has loops that run in several threads."""
    return "in prange(" in text


def _written(text: str, key: str) -> pathlib.Path | None:
    """The file of a text; None where no file can be written."""
    with contextlib.suppress(OSError):
        path = _file(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
                file.write(text)
            os.replace(file.name, path)
        return path
    return None
