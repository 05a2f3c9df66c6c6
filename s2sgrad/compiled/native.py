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

from s2sgrad.compiled import scalars, vectors
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
            space["_LARGEST"], space["_EXACT"] = scalars._LARGEST, scalars._EXACT
            for module in (vectors, scalars):
                for name, value in vars(module).items():
                    if isinstance(value, types.FunctionType) and value.__module__ == module.__name__ and name not in _BITS:
                        options = {"fastmath": _ANY_ORDER} if name == scalars.plus.__name__ else {}
                        space[name] = _jitted(types.FunctionType(value.__code__, space, name), forceinline=True, **options)
            _kept.update(space)
        return _kept


_PLACE = "place"
_ANY_ORDER = {"reassoc", "nsz"}  # of the additions of a sum, so that several are made at once
_BITS = (vectors.bits.__name__, vectors.number.__name__)


class _Places(ast.NodeTransformer):
    """Says of sums that are indices that they are not negative: numba need not look whether to count from the end.

    x[i + k]      ->      x[place(i + k)]
    """

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._placed(i) for i in node.slice.elts]
        else:
            node.slice = self._placed(node.slice)
        return node

    def _placed(self, index: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(_PLACE, ast.Load()), [index], []) if isinstance(index, ast.BinOp) else index


def _jitted(function: types.FunctionType, **options: Any) -> Any:
    return numba().njit(error_model="numpy", nogil=True, **options)(function)


def _intrinsics() -> dict[str, Any]:
    """`bits`, `number` and `place`, which cost nothing in machine code."""
    from llvmlite import ir
    from numba.core import types as kinds
    from numba.extending import intrinsic

    def cast(to: Any, given: Any, type_: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], type_)

        return intrinsic(lambda typing, x: (to(given), generate))

    return {_BITS[0]: cast(kinds.int64, kinds.float64, ir.IntType(64)),
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
    modules = (scalars, vectors, sys.modules[__name__])
    source = "".join(pathlib.Path(module.__file__).read_text() for module in modules)
    types_ = [f"{a.dtype}{a.ndim}" if isinstance(a, np.ndarray) else type(a).__name__ for a in arguments]
    said = [text, source, *types_, np.__version__, nb.__version__, sys.version, _processor()]
    return hashlib.sha256("\0".join(said).encode()).hexdigest()[:32]


def _processor() -> str:
    import llvmlite.binding

    return llvmlite.binding.get_host_cpu_name()


def native(text: str, name: str, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The function of a lowered text, compiled for arguments of these types."""
    nb = numba()
    path = _written(text, key_of(text, arguments))
    try:
        return _compiled(nb, text, name, arguments, path)
    except Exception:  # a file that another version wrote, or that is damaged
        if path is None:
            raise
        return _compiled(nb, text, name, arguments, None)


def _compiled(nb: Any, text: str, name: str, arguments: tuple[Any, ...], path: pathlib.Path | None) -> Any:
    filename = f"<{name}>" if path is None else str(path)
    space = dict(_helpers())
    tree = ast.fix_missing_locations(_Places().visit(ast.parse(text)))
    exec(compile(tree, filename, "exec"), space)
    threads = {"parallel": _TRIPS_ALONE} if runs_in_threads(text) else {}
    made = _jitted(space[name], cache=path is not None, **threads)
    made.compile(tuple(nb.typeof(a) for a in arguments))
    made.disable_compile()
    return made


_REST = ("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion")
_TRIPS_ALONE = {"prange": True, **dict.fromkeys(_REST, False)}  # no other statements


def runs_in_threads(text: str) -> bool:
    """Whether a text has loops that run in several threads."""
    return "in prange(" in text


def _written(text: str, key: str) -> pathlib.Path | None:
    """The file of a text; None where no file can be written."""
    with contextlib.suppress(OSError):
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"loops_{key}.py"
        if not path.exists() or path.read_text() != text:
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
                file.write(text)
            os.replace(file.name, path)
        return path
    return None
