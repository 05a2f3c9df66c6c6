"""Loops over numbers become instructions of the machine's compiler at once: numba infers nothing for them.

    s = 0.0                               s = 0.0
    for i in range(n):          ->        s = nest_0(n, s, x)
        s = plus(s, x[i])

Types follow from those of the arguments, statement by statement, and operations are those of numba for these types.  What is
not known here, such as lists, stays in the function.
"""

from __future__ import annotations

import ast
import builtins
import copy
import importlib
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from s2sgrad.compiled.repeated import bound_in, counters, read_first

_BINARY: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_UNARY: dict[type[ast.AST], Callable[..., Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip
_PLAIN = (ast.Constant, ast.Name, ast.BoolOp, ast.IfExp, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop,
          ast.Tuple, ast.If, ast.Expr, ast.AugAssign, ast.Pass)  # fmt: skip
_OF_NUMPY = ("inf", "nan", "float32", "float64", "int64", "bool_")


@dataclass
class Nest:
    """Loops, and the names of what goes in and what comes out."""

    name: str
    takes: list[str]
    gives: list[str]
    loop: ast.For

    @property
    def call(self) -> ast.stmt:
        """The statement in place of the loops."""
        call = ast.Call(ast.Name(self.name, ast.Load()), [ast.Name(n, ast.Load()) for n in self.takes], [])
        if not self.gives:
            return ast.Expr(call)
        names: list[ast.expr] = [ast.Name(n, ast.Store()) for n in self.gives]
        return ast.Assign([names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())], call)


@dataclass
class Outlined:
    """The loops of a function that become instructions.

    `prefix` begins their names, `known` are those of functions, and `lists` those of lists.
    """

    tree: ast.FunctionDef
    prefix: str
    known: set[str]
    lists: set[str]
    nests: list[Nest] = field(default_factory=list)
    names: dict[Any, str] = field(default_factory=dict)  # of the first of loops that are equal but for names

    def __post_init__(self) -> None:
        self.counts = _counted(self.tree)
        self.own = bound_in(self.tree) | {a.arg for a in self.tree.args.args}
        self.counters = counters(self.tree)
        parts = (n.value for n in ast.walk(self.tree) if isinstance(n, (ast.Subscript, ast.Attribute)))
        self.arrays = {n.id for n in parts if isinstance(n, ast.Name)}
        self.tree.body = self._replaced(self.tree.body, {a.arg for a in self.tree.args.args})
        ast.fix_missing_locations(self.tree)

    def _replaced(self, body: list[ast.stmt], bound: set[str]) -> list[ast.stmt]:
        """The statements; `bound`: the names that are certainly bound before them."""
        out: list[ast.stmt] = []
        for s in body:
            nest = self._nest(s, bound) if isinstance(s, ast.For) else None
            after = read_first([s], bound, set())
            if nest is not None:
                name = self.names.setdefault(_form_of(nest, self.own), nest.name)
                if name == nest.name:
                    self.nests.append(nest)
                out.append(replace(nest, name=name).call)
            else:
                inner = bound | (bound_in(s.target) if isinstance(s, ast.For) else set())
                for part in ("body", "orelse"):
                    if getattr(s, part, None):
                        setattr(s, part, self._replaced(getattr(s, part), inner))
                out.append(s)
            bound = after
        return out

    def _nest(self, loop: ast.For, bound: set[str]) -> Nest | None:
        """The loops as instructions; None where they are not known to be numbers alone."""
        if not all(self._is_plain(n) for n in ast.walk(loop)):
            return None
        here, stored = _counted(loop), bound_in(loop)
        if not self.lists.isdisjoint(here):
            return None
        gives = [n for n in here if n in stored - self.counters and here[n] != self.counts[n]]
        first: set[str] = set()
        read_first([loop], set(), first)
        takes = [n for n in here if n in (first & self.own) | {*gives}]
        return Nest(f"{self.prefix}{len(self.names)}", takes, gives, loop) if {*takes} <= bound else None

    def _is_plain(self, node: ast.AST) -> bool:
        if isinstance(node, ast.For):
            return _counts(node)
        if isinstance(node, ast.Assign):
            return not isinstance(node.value, ast.Tuple) and not (
                isinstance(node.value, ast.Name) and node.value.id in self.arrays
            )
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else None
            return not node.keywords and (called in self.known or isinstance(node.func, ast.Attribute))
        if isinstance(node, ast.Attribute):
            return isinstance(node.value, ast.Name) and (
                node.attr == "shape" or (node.value.id not in self.own and node.attr in _OF_NUMPY)
            )
        if isinstance(node, ast.Compare):
            return len(node.ops) == 1 and type(node.ops[0]) in _BINARY
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return type(node.op) in (_BINARY if isinstance(node, ast.BinOp) else _UNARY)
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Name) or (isinstance(node.value, ast.Attribute) and node.value.attr == "shape")
        return isinstance(node, _PLAIN)


def _form_of(nest: Nest, own: set[str]) -> tuple[Any, ...]:
    """Loops with the names of variables in order of their appearance, and which of these they take and give."""
    loop = copy.deepcopy(nest.loop)
    names: dict[str, str] = {}
    for n in ast.walk(loop):
        if isinstance(n, ast.Name) and n.id in own:
            n.id = names.setdefault(n.id, f"v{len(names)}")
    return ast.dump(loop), *(tuple(names[n] for n in group) for group in (nest.takes, nest.gives))


def outlined(module: ast.Module, known: set[str]) -> list[Nest]:
    """The loops that become instructions, which are taken out of the functions of a module, whose last one is the main one.

    Loops of one function that differ in names alone are written once.

    A function that is loops and nothing else is instructions itself.

    >>> module = ast.parse("def f(x, n):\\n  s = 0.0\\n  for i in range(n):\\n    s = plus(s, x[i])\\n  return s")
    >>> nests = outlined(module, {"range", "plus"})
    >>> print(ast.unparse(module))
    def f(x, n):
        s = 0.0
        s = f_nest_0(n, s, x)
        return s
    """
    known, found = set(known), []
    functions = {s.name: s for s in module.body if isinstance(s, ast.FunctionDef)}
    lists = _lists(functions)
    *pending, main = functions.values()
    while alone := [(d, nest) for d in pending if (nest := _alone(d, known, lists[d.name])) is not None]:
        for definition, nest in alone:
            found.append(nest)
            known.add(nest.name)
            pending.remove(definition)
            module.body.remove(definition)
    for definition in [*pending, main]:
        prefix = f"{definition.name}_nest_"
        while any(name.startswith(prefix) for name in _counted(definition)):
            prefix += "_"
        found += Outlined(definition, prefix, known, lists[definition.name]).nests
    return found


def _alone(definition: ast.FunctionDef, known: set[str], lists: set[str]) -> Nest | None:
    """The loops of a function that has nothing else."""
    nests = Outlined(copy.deepcopy(definition), definition.name, known, lists).nests
    if len(definition.body) != 1 or len(nests) != 1 or not isinstance(definition.body[0], ast.For) or nests[0].gives:
        return None
    nest = Nest(definition.name, [a.arg for a in definition.args.args], [], definition.body[0])
    return nest if ast.dump(nests[0].loop) == ast.dump(nest.loop) else None


def _lists(functions: dict[str, ast.FunctionDef]) -> dict[str, set[str]]:
    """By function, the names of lists, also of those that are handed to it."""
    out = {
        name: {n.id for s in ast.walk(f) if isinstance(s, ast.Assign) and isinstance(s.value, ast.List) for n in s.targets
               if isinstance(n, ast.Name)}
        for name, f in functions.items()
    }  # fmt: skip
    calls = [(name, c.func.id, c.args) for name, f in functions.items() for c in ast.walk(f)
             if isinstance(c, ast.Call) and isinstance(c.func, ast.Name) and c.func.id in functions]  # fmt: skip
    for _ in functions:
        for caller, name, args in calls:
            names = (a.arg for a in functions[name].args.args)
            out[name] |= {n for n, a in zip(names, args, strict=True) if isinstance(a, ast.Name) and a.id in out[caller]}
    return out


def _counted(tree: ast.AST) -> dict[str, int]:
    out: dict[str, int] = {}
    for n in ast.walk(tree):
        if isinstance(n, ast.Name):
            out[n.id] = out.get(n.id, 0) + 1
    return out


def _counts(loop: ast.For) -> bool:
    """Whether loops go over a range whose step is known."""
    call = loop.iter
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != range.__name__:
        return False
    return isinstance(loop.target, ast.Name) and not loop.orelse and _step(call) is not None


def _step(call: ast.Call) -> int | None:
    """The step of a range, if it is known."""
    if not 1 <= len(call.args) <= 3:
        return None
    if len(call.args) < 3:
        return 1
    try:
        step = ast.literal_eval(call.args[2])
    except ValueError:
        return None
    return step if isinstance(step, int) and step else None


def _numba(name: str) -> Any:
    """A module of numba, which is imported when it is first needed."""
    return importlib.import_module(f"numba.{name}")


class _Instructions:
    """Writes the instructions of loops."""

    def __init__(self, context: Any, builder: Any, space: dict[str, Any]) -> None:
        self.context, self.builder, self.space, self.kinds = context, builder, space, _numba("core.types")
        self.utils, self.arrays_of = _numba("core.cgutils"), _numba("np.arrayobj")
        self.types: dict[str, Any] = {}  # of numbers
        self.places: dict[str, Any] = {}
        self.arrays: dict[str, tuple[Any, Any, Sequence[Any]]] = {}  # types, data and lengths
        self.whole: dict[str, tuple[Any, Any]] = {}  # the same, as they are handed on
        self.counted: set[str] = set()  # variables of loops that are not negative
        self._found: dict[Any, Any] = {}

    def take(self, name: str, type_: Any, value: Any) -> None:
        """An argument."""
        if not isinstance(type_, self.kinds.Array):
            return self._bind(name, type_, value)
        if type_.layout != "C" or not type_.aligned:
            raise TypeError("an array that is not in order")
        self.whole[name] = type_, value
        members = self.context.make_array(type_)(self.context, self.builder, value)
        shape = [self.builder.extract_value(members.shape, k) for k in range(type_.ndim)]
        self.arrays[name] = type_, members.data, shape
        return None

    def number(self, name: str) -> tuple[Any, Any]:
        """The type and the value of a number under a name."""
        return self.types[name], self.builder.load(self.places[name])

    def _bind(self, name: str, type_: Any, value: Any) -> None:
        type_ = self.kinds.unliteral(type_)
        if not isinstance(type_, (self.kinds.Number, self.kinds.Boolean)) or name in self.arrays:
            raise TypeError("what is no number")
        if self.types.setdefault(name, type_) != type_:
            raise TypeError("a variable of two types")
        if name not in self.places:
            self.places[name] = self.utils.alloca_once(self.builder, value.type)
        self.builder.store(value, self.places[name])

    # --- statements ---

    def block(self, body: list[ast.stmt]) -> None:
        """The statements of a block."""
        for s in body:
            if isinstance(s, ast.For):
                self.loop(s)
            elif isinstance(s, ast.If):
                with self.builder.if_else(self._truth(s.test)) as (then, otherwise):
                    with then:
                        self.block(s.body)
                    with otherwise:
                        self.block(s.orelse)
            elif isinstance(s, ast.AugAssign):
                self._update(s)
            elif isinstance(s, ast.Assign) and len(s.targets) == 1:
                self._assign(s.targets[0], *self.value(s.value))
            elif isinstance(s, ast.Expr):
                self.value(s.value)
            elif not isinstance(s, ast.Pass):
                raise TypeError("a statement of this kind")

    def _assign(self, target: ast.expr, type_: Any, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, type_, value)
        elif isinstance(target, ast.Subscript):
            self._store(*self._element(target), type_, value)
        else:
            raise TypeError("a target of this kind")

    def _update(self, s: ast.AugAssign) -> None:
        if isinstance(s.target, ast.Name):
            self._bind(s.target.id, *self._binary(s.op, self.number(s.target.id), self.value(s.value)))
        elif isinstance(s.target, ast.Subscript):
            type_, place = self._element(s.target)
            self._store(type_, place, *self._binary(s.op, self._loaded(type_, place), self.value(s.value)))
        else:
            raise TypeError("a target of this kind")

    def loop(self, s: ast.For) -> None:
        """A loop over a range."""
        assert isinstance(s.iter, ast.Call) and isinstance(s.target, ast.Name)
        builder, step = self.builder, _step(s.iter)
        ends = [self._integer(a) for a in s.iter.args[:2]]
        stop = ends[-1]
        start = ends[0] if len(ends) == 2 else stop.type(0)
        counter = self.utils.alloca_once_value(builder, start)
        if len(ends) == 1:
            self.counted.add(s.target.id)
        else:
            self.counted.discard(s.target.id)
        test, body, end = (builder.append_basic_block(f"loop.{part}") for part in ("test", "body", "end"))
        builder.branch(test)
        builder.position_at_end(test)
        k = builder.load(counter)
        builder.cbranch(builder.icmp_signed("<" if step > 0 else ">", k, stop), body, end)  # type: ignore[operator]
        builder.position_at_end(body)
        self._bind(s.target.id, self.kinds.int64, k)
        self.block(s.body)
        builder.store(builder.add(k, k.type(step)), counter)
        builder.branch(test)
        builder.position_at_end(end)

    # --- values ---

    def value(self, node: ast.AST) -> tuple[Any, Any]:
        """The type and the value of an expression."""
        if isinstance(node, ast.Constant):
            return self._constant(node.value)
        if isinstance(node, ast.Name):
            return self.whole[node.id] if node.id in self.whole else self.number(node.id)
        if isinstance(node, ast.BinOp):
            return self._binary(node.op, self.value(node.left), self.value(node.right))
        if isinstance(node, ast.Compare):
            return self._binary(node.ops[0], self.value(node.left), self.value(node.comparators[0]))
        if isinstance(node, ast.UnaryOp):
            return self._applied(_UNARY[type(node.op)], self.value(node.operand))
        if isinstance(node, ast.BoolOp):
            return self.kinds.boolean, self._both_or_either(node.op, node.values)
        if isinstance(node, ast.IfExp):
            return self._chosen(node)
        if isinstance(node, ast.Call):
            return self._applied(self._function(node.func), *map(self.value, node.args))
        if isinstance(node, ast.Attribute):
            return self._constant(getattr(np, node.attr))
        if isinstance(node, ast.Subscript):
            if isinstance(node.value, ast.Attribute):
                return self._length(node)
            return self._loaded(*self._element(node))
        raise TypeError("an expression of this kind")

    def _constant(self, value: Any) -> tuple[Any, Any]:
        kind = {bool: self.kinds.boolean, int: self.kinds.int64, float: self.kinds.float64}[type(value)]
        return kind, self.context.get_constant(kind, value)

    def _function(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Attribute):
            return getattr(np, node.attr)
        assert isinstance(node, ast.Name)
        return self.space[node.id] if node.id in self.space else getattr(builtins, node.id)

    def _binary(self, op: ast.AST, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        return self._applied(_BINARY[type(op)], a, b)

    def _applied(self, function: Any, *operands: tuple[Any, Any]) -> tuple[Any, Any]:
        """The result of a function for operands of these types, as numba computes it."""
        types_ = tuple(t for t, _ in operands)
        key = id(function), types_
        if key not in self._found:
            kind = self.context.typing_context.resolve_value_type(function)
            signature = self.context.typing_context.resolve_function_type(kind, types_, {})
            if signature is None:
                raise TypeError(f"a function of these types: {function}{types_}")
            self._found[key] = signature, self.context.get_function(kind, signature)
        signature, form = self._found[key]
        given = [self.context.cast(self.builder, v, t, to) for (t, v), to in zip(operands, signature.args, strict=True)]
        return self.kinds.unliteral(signature.return_type), form(self.builder, given)

    def _truth(self, node: ast.AST) -> Any:
        type_, value = self.value(node)
        return self.context.is_true(self.builder, type_, value)

    def _integer(self, node: ast.AST) -> Any:
        type_, value = self.value(node)
        if type_ != self.kinds.int64:
            raise TypeError("an integer of another type")
        return value

    def _both_or_either(self, op: ast.AST, parts: list[ast.expr]) -> Any:
        """`a and b`, or `a or b`: the second one is computed where it decides."""
        first = self._boolean(parts[0])
        if len(parts) == 1:
            return first
        place = self.utils.alloca_once_value(self.builder, first)
        with self.builder.if_then(first if isinstance(op, ast.And) else self.builder.not_(first)):
            self.builder.store(self._both_or_either(op, parts[1:]), place)
        return self.builder.load(place)

    def _boolean(self, node: ast.AST) -> Any:
        type_, value = self.value(node)
        if type_ != self.kinds.boolean:
            raise TypeError("a truth of what is no boolean")
        return value

    def _chosen(self, node: ast.IfExp) -> tuple[Any, Any]:
        """`a if c else b`, of which one is computed."""
        test, found = self._truth(node.test), []
        with self.builder.if_else(test) as (then, otherwise):
            for branch, part in ((then, node.body), (otherwise, node.orelse)):
                with branch:
                    type_, value = self.value(part)
                    found.append((type_, self.utils.alloca_once_value(self.builder, value)))
        (type_, place), (other, other_place) = found
        unified = self.context.typing_context.unify_types(type_, other)
        pairs = (type_, place), (other, other_place)
        a, b = (self.context.cast(self.builder, self.builder.load(p), t, unified) for t, p in pairs)
        return unified, self.builder.select(test, a, b)

    # --- arrays ---

    def _length(self, node: ast.Subscript) -> tuple[Any, Any]:
        assert isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name)
        return self.kinds.int64, self.arrays[node.value.value.id][2][ast.literal_eval(node.slice)]

    def _element(self, node: ast.Subscript) -> tuple[Any, Any]:
        """The type of an array, and the place of one of its elements."""
        assert isinstance(node.value, ast.Name)
        type_, data, lengths = self.arrays[node.value.id]
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(indices) != type_.ndim:
            raise TypeError("a row of an array")
        place = None
        for index, n in zip(indices, lengths, strict=True):
            k = self._index(index, n)
            place = k if place is None else self.builder.add(self.builder.mul(place, n), k)
        zero = self.context.get_constant(self.kinds.int64, 0)
        return type_, self.builder.gep(data, [zero if place is None else place], inbounds=True)

    def _index(self, node: ast.AST, n: Any) -> Any:
        """An index; sums are not negative, nor are variables that count from 0, and others may count from the end."""
        k = self._integer(node)
        if isinstance(node, (ast.BinOp, ast.Constant)) or (isinstance(node, ast.Name) and node.id in self.counted):
            return k
        return self.builder.select(self.builder.icmp_signed("<", k, k.type(0)), self.builder.add(k, n), k)

    def _loaded(self, type_: Any, place: Any) -> tuple[Any, Any]:
        return type_.dtype, self.arrays_of.load_item(self.context, self.builder, type_, place)

    def _store(self, type_: Any, place: Any, known: Any, value: Any) -> None:
        if not type_.mutable:
            raise TypeError("an array that is only read")
        self.arrays_of.store_item(
            self.context, self.builder, type_, self.context.cast(self.builder, value, known, type_.dtype), place
        )


def instructions(nest: Nest, space: dict[str, Any], apart: bool) -> Any:
    """What numba calls for loops; functions under names are those of `space`.

    `apart`: they stay a function of the machine's, which costs a compiler less than one long function.
    """
    types = _numba("core.types")

    def typed(typing: Any, *given: Any) -> Any:
        given = tuple(map(types.unliteral, given))
        out = [given[nest.takes.index(n)] for n in nest.gives]
        result = types.void if not out else out[0] if len(out) == 1 else types.Tuple(out)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _called(nest, space, apart, context, builder, signature, args)

        return result(*given), generate

    parameters = ", ".join(f"a{k}" for k in range(len(nest.takes)))
    made: dict[str, Any] = {"typed": typed}
    exec(f"def {nest.name}(typing, {parameters}): return typed(typing, {parameters})", made)
    return _numba("extending").intrinsic(made[nest.name])


def _written(nest: Nest, space: dict[str, Any], context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the loops where the builder stands; the value that they give."""
    made = _Instructions(context, builder, space)
    for name, type_, value in zip(nest.takes, signature.args, args, strict=True):
        made.take(name, type_, value)
    made.loop(nest.loop)
    values = [made.number(n)[1] for n in nest.gives]
    if not values:
        return context.get_dummy_value()
    return values[0] if len(values) == 1 else context.make_tuple(builder, signature.return_type, values)


def _called(nest: Nest, space: dict[str, Any], apart: bool, context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write a call of the loops."""
    convention, function = context.call_conv, function_of(nest, space, apart, context, builder.module, signature)
    status, value = convention.call_function(builder, function, signature.return_type, signature.args, args)
    with _numba("core.cgutils").if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return value


def function_of(nest: Nest, space: dict[str, Any], apart: bool, context: Any, module: Any, signature: Any) -> Any:
    """The loops as a function of the module, written once for these types."""
    ir = importlib.import_module("llvmlite.ir")
    convention = context.call_conv
    name = f"{nest.name}.{'.'.join(map(str, signature.args))}"
    function = module.globals.get(name)
    if function is None:
        function = ir.Function(module, convention.get_function_type(signature.return_type, signature.args), name)
        function.linkage = "internal"
        if apart:
            function.attributes.add("noinline")
        convention.decorate_function(function, nest.takes, signature.args)
        own = ir.IRBuilder(function.append_basic_block("entry"))
        given = context.get_arg_packer(signature.args).from_arguments(own, convention.get_arguments(function))
        value = _written(nest, space, context, own, signature, given)
        convention.return_value(own, context.get_return_value(own, signature.return_type, value))
    return function
