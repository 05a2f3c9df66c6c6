"""Programs of the other generators with more branches: `branched_program` adds some that nobody takes and that cannot be
differentiated, `typed_program` some that depend on the type of a value.

    y = x * x      ->      if isinstance(x, Foreign):
                               y = x.sort_values().to_numpy()
                           y = x * x

The gradient of the former is that of the program without them.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from dataclasses import replace

from programs import Program, program_from_seed

FOREIGN = '''

class Foreign:
    """What a library might hand over."""

    __slots__ = ("values",)

    def __getattr__(self, name):
        return vars(self)[name]


'''
TESTS = ("isinstance({v}, Foreign)", "type({v}) is Foreign", "{v} is None", "hasattr({v}, 'to_numpy')", "{v} is Foreign",
         "isinstance({v}, (Foreign, set)) and len({v}) > 2")  # fmt: skip
RARE = ("{v} = {v}.sort_values().to_numpy()", "import absent_module\n{v} = absent_module.run({v})", "exec('{v} = 1.0')",
        "with open({v}) as file:\n    {v} = file.read()", "{v}.name = 'result'", "return Foreign({v}).values",
        "{v}.update(Foreign())\ndel {v}", "class Local(Foreign):\n    pass\n{v} = Local()",
        "async def later():\n    return {v}\n{v} = later()")  # fmt: skip
VALUES = ("{v}.sort_values().to_numpy()", "{v} * eval('2.0')", "Foreign({v})", "np.sort_complex({v})", "{v} + None")
TYPES = ("isinstance({v}, np.ndarray)", "isinstance({v}, np.generic)", "isinstance({v}, float)",
         "isinstance({v}, (int, float))", "isinstance({v}, numbers.Number)", "type({v}) is float",
         "type({v}) is not np.ndarray", "type({v}) == np.float64", "hasattr({v}, 'shape')", "hasattr({v}, 'append')",
         "hasattr({v}, '__len__')", "np.isscalar({v})", "isinstance({v}, collections.abc.Iterable)",
         "isinstance({v}, (list, np.ndarray))")  # fmt: skip
ATTEMPTS = ("{v}.fillna(0.0)", "{v}.name = 'result'", "{v}.columns")


def branched_program(seed: int, of: Callable[[int], Program] = program_from_seed) -> Program:
    """The program of this number of another generator, with one to three such branches."""
    program = of(seed)
    rng = random.Random(f"{seed}/branches")
    tree = ast.parse(program.source)
    for _ in range(rng.randint(1, 3)):
        functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.args.args]
        _insert(rng, rng.choice(functions))
    first = next(k for k, n in enumerate(tree.body) if isinstance(n, ast.FunctionDef))
    tree.body[first:first] = ast.parse(FOREIGN).body
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return replace(program, source=text, writer=f"branched_program of {of.__name__}")


def _insert(rng: random.Random, function: ast.FunctionDef) -> None:
    """Put a branch before a statement of a function, at its top level or in a loop."""
    v = rng.choice(function.args.args).arg
    body = function.body
    while (loops := [s for s in body if isinstance(s, (ast.For, ast.While, ast.If))]) and rng.random() < 0.4:
        body = rng.choice(loops).body
    place = rng.randint(0, len(body) - 1)
    if rng.random() < 0.2:
        lines = [f"{{v}} = {rng.choice(VALUES)} if {rng.choice(TESTS)} else {{v}}"]
    elif rng.random() < 0.25:
        lines = ["try:", f"    {rng.choice(ATTEMPTS)}", "except AttributeError:", "    pass"]
    else:
        lines = [f"if {rng.choice(TESTS)}:", *("    " + line for line in rng.choice(RARE).splitlines())]
    body[place:place] = ast.parse("\n".join(lines).format(v=v)).body


def typed_program(seed: int, of: Callable[[int], Program] = program_from_seed) -> Program:
    """The program of this number of another generator, in which the types of some values decide."""
    program = of(seed)
    rng = random.Random(f"{seed}/types")
    tree = ast.parse(program.source)
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.args.args]
    for _ in range(rng.randint(1, 4)):
        function = rng.choice(functions)
        bodies = [b for n in ast.walk(function) if isinstance(b := getattr(n, "body", None), list)]
        body = rng.choice(bodies)
        places = [k for k, s in enumerate(body) if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)]
        if places and rng.random() < 0.7:
            place = rng.choice(places)
            v, place = body[place].targets[0].id, place + 1
        else:
            v, body, place = rng.choice(function.args.args).arg, function.body, 0
        lines = [f"if {rng.choice(TYPES)}:", "    {v} = {v} * 1.25"]
        body[place:place] = ast.parse("\n".join(lines).format(v=v)).body
    head = "import collections.abc\nimport numbers\n\nimport numpy as np\n\n"
    text = head + ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return replace(program, source=text, writer=f"typed_program of {of.__name__}")
