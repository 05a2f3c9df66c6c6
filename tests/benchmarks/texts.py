"""How long generated texts are: `python tests/benchmarks/texts.py [--every N] [--json] [--worst]`.

Counted are statements of the text for each of the source, and names like `t12` for each statement of the source.  The source
is the function and what it calls of the user's, once each.  The programs are the kernels, every Nth function of the corpus
(ten, if nothing is said) and what the examples differentiate.  `--worst` lists the longest.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import pathlib
import runpy
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
from counting import statements, unnamed  # noqa: E402

sys.path[:] = [path for path in sys.path if pathlib.Path(path or ".").resolve() != HERE]  # `kernels` is there, too
sys.path[:0] = [str(HERE.parent), str(ROOT)]

from corpus import CASES  # noqa: E402
from kernels import KERNELS  # noqa: E402

import s2sgrad  # noqa: E402
from s2sgrad import grad, jvp  # noqa: E402
from s2sgrad.errors import S2SGradError  # noqa: E402

ORDERS = ("first", "second", "forward")


def program(function: Callable, args: tuple) -> set[types.CodeType]:
    """The code of a function and of what it may call of the user's: functions, methods of classes and of arguments.

    A method counts where its name is used.
    """
    todo: list[Any] = [function, *map(type, args)]
    codes: set[types.CodeType] = set()
    methods: list[types.FunctionType] = []
    while todo:
        one = todo.pop()
        one = inspect.unwrap(getattr(one, "__func__", one)) if callable(one) else one
        if isinstance(one, type) and one.__module__ == inspect.unwrap(function).__module__:
            methods += [m for m in map(inspect.unwrap, vars(one).values()) if isinstance(m, types.FunctionType)]
        elif isinstance(one, types.FunctionType) and one.__code__ not in codes and mine(one):
            codes.add(one.__code__)
            spaces = inspect.getclosurevars(one)
            todo += [*spaces.globals.values(), *spaces.nonlocals.values()]
        used = {name for code in codes for name in code.co_names} | {"__init__", "__call__"}
        todo += [m for m in methods if m.__name__ in used and m.__code__ not in codes]
    return codes


def mine(function: types.FunctionType) -> bool:
    """Whether a function is of the tests or the examples."""
    file = pathlib.Path(function.__code__.co_filename)
    return file.is_relative_to(ROOT) and not file.is_relative_to(ROOT / "s2sgrad")


def source_statements(function: Callable, args: tuple) -> int:
    """The statements of a function and of what it calls, each once."""
    return sum(statements(inspect.getsource(code)) for code in program(function, args))


def written(order: str, function: Callable, argnums: tuple, args: tuple, options: dict) -> str:
    """The text of a derivative; at second order in all arguments twice, of the sum."""
    if order == "forward":
        return str(jvp(function).source_for(*args))
    derivative = grad(function, argnums, **options)
    if order == "second":
        derivative = grad(derivative, argnums)
    return str(derivative.source_for(*args))


def programs(every: int) -> Iterator[tuple[str, Callable, tuple, Callable, dict]]:
    """Name, function, argnums, arguments and options."""
    for kernel in KERNELS:
        yield kernel.name, kernel.function, kernel.argnums, kernel.args, {"outputs": kernel.outputs or None}
    for case in CASES[::every]:
        yield case.name, case.function, case.argnums, case.fresh_args, {}


@contextlib.contextmanager
def remembered() -> Iterator[list[Any]]:
    """The gradients that are made of functions meanwhile."""
    made: list[Any] = []
    before = {name: getattr(s2sgrad, name) for name in ("grad", "value_and_grad")}

    def remembering(make: Callable) -> Callable:
        return lambda *args, **keywords: made.append(make(*args, **keywords)) or made[-1]

    for name, make in before.items():
        setattr(s2sgrad, name, remembering(make))
    try:
        yield made
    finally:
        for name, make in before.items():
            setattr(s2sgrad, name, make)


def of_examples() -> Iterator[tuple[str, int, int, int]]:
    """Name, statements of the source and of the text, and unnamed names, of each gradient that an example takes."""
    home, path = os.getcwd(), list(sys.path)
    for file in sorted((ROOT / "examples").glob("*.py")):
        os.chdir(file.parent)
        sys.path[:0] = [str(file.parent)]
        try:
            with contextlib.redirect_stdout(io.StringIO()), remembered() as made:
                runpy.run_path(str(file), run_name="__main__")
        except ImportError:
            continue
        finally:
            os.chdir(home)
            sys.path[:] = path
        texts = {}
        for one in made:
            with contextlib.suppress(S2SGradError, TypeError, ValueError):  # what is recorded, or was never called
                texts[one.source] = one._request.function
        for text, function in texts.items():
            source = source_statements(function, ())
            if source:  # with a rule of the user's there is none
                yield f"{file.stem}.{function.__name__}", source, statements(text), unnamed(text)


def counted(every: int, orders: tuple[str, ...] = ORDERS) -> dict[str, list[tuple[str, int, int, int]]]:
    """For each order: name, statements of the source and of the text, and unnamed names, of each program that has a text."""
    rows: dict[str, list[tuple[str, int, int, int]]] = {order: [] for order in orders}
    for name, function, argnums, args, options in programs(every):
        for order in orders:
            if order == "forward" and options.get("outputs"):
                continue  # forward mode is of what a function returns
            with contextlib.suppress(S2SGradError, OSError):
                text = written(order, function, argnums, args(), options)
                rows[order].append((name, source_statements(function, ()), statements(text), unnamed(text)))
    if "first" in rows:
        rows["first"] += of_examples()
    return rows


def summary(rows: list[tuple[str, int, int, int]]) -> dict[str, float]:
    """Programs, statements and unnamed names for each statement of the source."""
    source = sum(row[1] for row in rows)
    return {
        "programs": len(rows),
        "statements": sum(row[2] for row in rows) / source,
        "unnamed": sum(row[3] for row in rows) / source,
    }


def main() -> None:
    """Print the table, or the figures."""
    warnings.simplefilter("ignore")
    words = sys.argv[1:]
    every = int(words[words.index("--every") + 1]) if "--every" in words else 10
    begun = time.process_time()
    rows = counted(every)
    figures = {order: summary(found) for order, found in rows.items()}
    if "--json" in words:
        print(json.dumps(figures))
        return
    for order, found in figures.items():
        print(
            "{:8} {programs} programs: {statements:.2f} statements a statement, {unnamed:.2f} unnamed".format(order, **found)
        )
        if "--worst" in words:
            for name, source, text, temporaries in sorted(rows[order], key=lambda row: 2 * row[1] - row[2])[:15]:
                print(f"    {name:40} {source:4} {text:5} {temporaries:4}")
    print(f"{time.process_time() - begun:.0f} s")


if __name__ == "__main__":
    main()
