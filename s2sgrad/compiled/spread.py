"""Loops in several threads as functions over some of their trips, which are instructions of the machine's compiler.

    if n > 32768:                                      def rows_0(first, last, y):
        for trip_ in prange(n):                            for i_ in range(first, last):
            i_ = np.int64(trip_)                               y[i_] = 1.0
            y[i_] = 1.0                        ->      ..
    else:                                              if n > 32768:
        for i_ in range(n):                                rows_0_in_threads(n, y)
            y[i_] = 1.0                                else:
                                                           rows_0(0, n, y)

Numba would compile each loop three times, with libraries of their own.  Here its threads call a function of the same module.
"""

from __future__ import annotations

import ast
import copy
import importlib
from typing import Any

from s2sgrad.compiled.direct import Nest, function_of
from s2sgrad.compiled.output import TRIP
from s2sgrad.compiled.repeated import bound_in

IN_THREADS = "_in_threads"
_ROWS, _FIRST, _LAST = "rows_", "first", "last"


class _Spread(ast.NodeTransformer):
    """Puts calls in place of loops that stand twice: for several threads, and for one."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.own = bound_in(function) | {a.arg for a in function.args.args}
        self.made: dict[str, ast.FunctionDef] = {}

    def visit_If(self, node: ast.If) -> ast.AST:
        head = node.body[0]
        if not (isinstance(head, ast.For) and isinstance(head.target, ast.Name) and head.target.id == TRIP):
            return self.generic_visit(node)
        (loop,) = node.orelse
        assert isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call)
        (trips,), rest, inside = loop.iter.args, loop.body, copy.deepcopy(loop)
        bound = bound_in(loop)
        read = [n.id for s in rest for n in ast.walk(s) if isinstance(n, ast.Name) and n.id in self.own - bound]
        names = [*dict.fromkeys(read)]
        here = {n: f"v{k}" for k, n in enumerate(names)}
        for n in ast.walk(inside):
            if isinstance(n, ast.Name):
                n.id = here.get(n.id, n.id)
        assert isinstance(inside.iter, ast.Call)
        inside.iter.args = [ast.Name(_FIRST, ast.Load()), ast.Name(_LAST, ast.Load())]
        made = self.made.setdefault(ast.dump(inside), self._function(inside, [*here.values()])).name
        given = [ast.Name(n, ast.Load()) for n in names]
        node.body = [_call(made + IN_THREADS, [trips, *given])]
        node.orelse = [_call(made, [ast.Constant(0), trips, *given])]
        return node

    def _function(self, loop: ast.For, names: list[str]) -> ast.FunctionDef:
        name = f"{_ROWS}{len(self.made)}"
        parameters = ast.arguments([], [ast.arg(n) for n in (_FIRST, _LAST, *names)], None, [], [], None, [])
        return ast.FunctionDef(name, parameters, [loop], [], None, None)


def _call(name: str, args: list[ast.expr]) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name(name, ast.Load()), args, []))


def apart(tree: ast.Module) -> list[str]:
    """Take loops in several threads out of the last function of a module; the names of the functions that they become.

    >>> one = "for i_ in range(n):\\n   y[i_] = 1.0"
    >>> several = "for trip_ in prange(n):\\n   i_ = np.int64(trip_)\\n   y[i_] = 1.0"
    >>> tree = ast.parse(f"def f(n, y):\\n if n > 9:\\n  {several}\\n else:\\n  {one}")
    >>> print(apart(tree), ast.unparse(tree), sep="\\n")
    ['rows_0']
    def rows_0(first, last, v0):
        for i_ in range(first, last):
            v0[i_] = 1.0
    <BLANKLINE>
    def f(n, y):
        if n > 9:
            rows_0_in_threads(n, y)
        else:
            rows_0(0, n, y)
    """
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    made = _Spread(function)
    made.visit(function)
    tree.body[-1:-1] = made.made.values()
    ast.fix_missing_locations(tree)
    return [f.name for f in made.made.values()]


def in_threads(nest: Nest, space: dict[str, Any]) -> Any:
    """What numba calls for loops whose trips threads share: with their number in place of the first and last."""
    types, typing = (importlib.import_module(f"numba.core.{name}") for name in ("types", "typing"))

    def typed(_: Any, trips: Any, *given: Any) -> Any:
        given = tuple(map(types.unliteral, given))
        inner = typing.signature(types.void, types.int64, types.int64, *given)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            _launched(nest, space, context, builder, inner, args)
            return context.get_dummy_value()

        return types.void(types.int64, *given), generate

    parameters = ", ".join(f"a{k}" for k in range(len(nest.takes) - 1))
    made: dict[str, Any] = {"typed": typed}
    exec(f"def threads(typing, {parameters}): return typed(typing, {parameters})", made)
    return importlib.import_module("numba.extending").intrinsic(made["threads"])


def _launched(nest: Nest, space: dict[str, Any], context: Any, builder: Any, inner: Any, args: Any) -> None:
    """Write the call of numba's threads.

    Each calls the kernel with the numbers of its parts of the trips; numbers go where addresses of rows are expected.
    """
    ir, utils = importlib.import_module("llvmlite.ir"), importlib.import_module("numba.core.cgutils")
    word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
    trips, *given = args
    threads = builder.call(utils.get_or_insert_function(builder.module, ir.FunctionType(word, []), "get_num_threads"), [])
    values = [trips, threads, word(0), *given]
    held = ir.LiteralStructType([v.type for v in values])
    data = utils.alloca_once(builder, held)
    for k, value in enumerate(values):
        builder.store(value, utils.gep(builder, data, 0, k))
    kernel = _kernel(nest, space, context, builder.module, inner, held)
    first = utils.alloca_once_value(builder, ir.Constant(byte, None))
    count, step = utils.alloca_once_value(builder, threads), utils.alloca_once_value(builder, word(1))
    called = ir.FunctionType(ir.VoidType(), [byte] * 5 + [word] * 3)
    launch = utils.get_or_insert_function(builder.module, called, "numba_parallel_for")
    builder.call(
        launch, [*(builder.bitcast(p, byte) for p in (kernel, first, count, step, data)), word(0), word(1), threads]
    )
    with utils.if_unlikely(builder, utils.is_not_null(builder, builder.load(utils.gep(builder, data, 0, _FAILED)))):
        context.call_conv.return_user_exc(builder, ValueError, ("loops raised in a thread",))


_TRIPS, _THREADS, _FAILED, _GIVEN = range(4)


def _kernel(nest: Nest, space: dict[str, Any], context: Any, module: Any, inner: Any, held: Any) -> Any:
    """The function that a thread calls: it runs the loops over its part of the trips."""
    ir, utils = importlib.import_module("llvmlite.ir"), importlib.import_module("numba.core.cgutils")
    name = f"{nest.name}{IN_THREADS}.{'.'.join(map(str, inner.args))}"
    if name in module.globals:
        return module.globals[name]
    word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
    numbers = word.as_pointer()
    kernel = ir.Function(module, ir.FunctionType(ir.VoidType(), [byte.as_pointer(), numbers, numbers, byte]), name)
    kernel.linkage = "internal"
    builder = ir.IRBuilder(kernel.append_basic_block("entry"))
    part, count = builder.ptrtoint(builder.load(kernel.args[0]), word), builder.load(kernel.args[1])
    data = builder.bitcast(kernel.args[3], held.as_pointer())
    values = [builder.load(utils.gep(builder, data, 0, k)) for k in range(len(held.elements))]
    ends = [builder.sdiv(builder.mul(p, values[_TRIPS]), values[_THREADS]) for p in (part, builder.add(part, count))]
    function = function_of(nest, space, True, context, module, inner)
    status, _ = context.call_conv.call_function(builder, function, inner.return_type, inner.args, [*ends, *values[_GIVEN:]])
    with builder.if_then(status.is_error):
        builder.store(word(1), utils.gep(builder, data, 0, _FAILED))
    builder.ret_void()
    return kernel
