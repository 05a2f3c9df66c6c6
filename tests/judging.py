"""The judge of random programs: gradients against central differences, at the program's point or at another.

A program is rejected where differences cannot judge it: its value is not moderate, or two step sizes disagree, because
a branch changes within the step; another point of the same program is tried first.  A failure is shown after reduction,
with the seed that writes the program again.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import linecache
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from differences import assert_value, copied, directional, inner, is_float, leaves, leaves_sum, random_directions
from programs import Program, reduced

from s2sgrad import S2SGradError, grad, hessian, jacfwd, jacrev, value_and_grad
from s2sgrad.api.forward import jvp
from s2sgrad.pullbacks import vjp
from s2sgrad.runtime.checks import Refusal
from s2sgrad.runtime.structure import rebuilt

POINTS = 4  # tries for one program
STEPS = (4e-6, 1e-6)
LARGEST = 1e4
LINES = 100_000  # that a reduced program may run, so that a loop that lost its counter ends


class Rejected(Exception):
    """Central differences cannot judge this program."""


@contextlib.contextmanager
def loaded(source: str, name: str):
    """The function `f` of a module's text, with its lines where `inspect` finds them."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"__name__": "program", "__file__": name}
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(source, name, "exec"), namespace)
            yield namespace["f"]
    finally:
        linecache.cache.pop(name, None)


def expected(f, args, argnums):
    """Value, directions, and the derivative along each direction, one for each argument; or Rejected."""
    try:
        value = f(*copied(args))
    except Exception as error:
        raise Rejected(f"raises {type(error).__name__}") from None
    total = leaves_sum(value)
    if not abs(total) < LARGEST:
        raise Rejected("large value")
    if leaves_sum(f(*copied(args))) != total:
        raise Rejected("writes what it reads from outside")
    directions = random_directions(np.random.default_rng(0), args, argnums)
    slopes = []
    for number, direction in zip(argnums, directions, strict=True):
        rough, fine = (directional(f, args, (number,), (direction,), step=step) for step in STEPS)
        if not abs(rough - fine) <= 1e-6 * max(1.0, abs(fine), abs(total)) or abs(fine) > LARGEST:
            raise Rejected("steps disagree")
        slopes.append(rough)
    return value, directions, slopes


def assert_unchanged(args, before, message):
    for arg, old in zip(args, before, strict=True):
        assert type(arg) is type(old), message
        assert np.array_equal(arg, old), message


def assert_gradient(f, args, argnums, alone=True):
    """Compare `value_and_grad`, and `grad` in one of the arguments if it is to be compiled `alone`, with the function and
    with differences at this point; Rejected where these cannot judge."""
    value, directions, slopes = expected(f, args, argnums)
    scale = max(1.0, abs(leaves_sum(value)))
    before = copied(args)
    again, gradient = value_and_grad(f, argnums=argnums)(*args)
    assert_unchanged(args, before, "value_and_grad writes its arguments")
    assert_value(again, value)
    assert len(gradient) == len(argnums)
    for number, part, direction, slope in zip(argnums, gradient, directions, slopes, strict=True):
        assert np.shape(part) == np.shape(args[number]), f"shape of the gradient of argument {number}"
        np.testing.assert_allclose(inner(part, direction), slope, rtol=1e-5, atol=2e-6 * scale, err_msg=f"argument {number}")
    if alone:
        place = len(inspect.getsource(f)) % len(argnums)
        same = grad(f, argnums=argnums[place])(*args)
        assert_unchanged(args, before, "grad writes its arguments")
        assert_same(same, gradient[place], "gradient in one argument")


def assert_tangent(f, args, argnums):
    """Compare `jvp` with differences at this point; Rejected where these cannot judge."""
    value, directions, slopes = expected(f, args, argnums)
    before = copied(args)
    tangents = [None] * len(args)
    for number, direction in zip(argnums, directions, strict=True):
        tangents[number] = direction
    again, tangent = jvp(f, args, tangents)
    assert_unchanged(args, before, "jvp writes its arguments")
    assert_value(again, value)
    pairs = list(zip(leaves(tangent), (v for v in leaves(value) if type(v) is not bool), strict=True))
    assert all(np.shape(t) == np.shape(v) for t, v in pairs), "shape of the tangent"
    scale = max(1.0, abs(leaves_sum(value)))
    np.testing.assert_allclose(leaves_sum(tangent), sum(slopes), rtol=1e-5, atol=2e-6 * scale, err_msg="tangent")


def assert_pullback(f, args, argnums):
    """Compare the pullback of `vjp`, called twice with one record, with differences; Rejected where these cannot judge."""
    value, directions, slopes = expected(f, args, argnums)
    again, pullback = vjp(f, *copied(args))
    assert_value(again, value)
    scale = max(1.0, abs(leaves_sum(value)))
    ones_ = rebuilt_of(value, lambda v: np.ones_like(v) if isinstance(v, (float, np.ndarray, np.floating)) else None)
    for call in ("first", "second"):
        cotangents = pullback(ones_)
        for number, direction, slope in zip(argnums, directions, slopes, strict=True):
            got = inner(cotangents[number], direction)
            message = f"argument {number}, {call} call"
            np.testing.assert_allclose(got, slope, rtol=1e-5, atol=2e-6 * scale, err_msg=message)


def rebuilt_of(value, leaf):
    """A value with other leaves."""
    return rebuilt(value, lambda v: rebuilt_of(v, leaf)) if isinstance(value, (list, tuple, dict)) else leaf(value)


def assert_jacobian(way, f, args, argnums):
    """Compare a Jacobian with differences, and with tangents, one column after the other; Rejected where differences
    cannot judge."""
    value, directions, slopes = expected(f, args, argnums)
    before = copied(args)
    matrix = way(f, argnums)(*args)
    assert_unchanged(args, before, "a matrix writes the arguments")
    scale = max(1.0, abs(leaves_sum(value)))
    assert_columns(matrix, f, value, args, argnums, scale)
    along = blocks_along(matrix, value, directions)
    np.testing.assert_allclose(along, sum(slopes), rtol=1e-5, atol=2e-6 * scale, err_msg="along a direction")


def assert_hessian(f, args, argnums, way=None):
    """The same of a Hessian, or of the Jacobian of the gradient of what is no number, with differences of gradients; or of
    the matrix that `way` gives of the gradient."""
    value, directions, _ = expected(f, args, argnums)
    df = grad(f, argnums=argnums)
    coarse, fine = (directional(df, args, argnums, directions, directions, step) for step in (1e-4, 1e-5))
    if not abs(coarse - fine) < 1e-4 * (1.0 + abs(fine)):
        raise Rejected("steps disagree")
    before = copied(args)
    is_number = isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and not value.ndim)
    matrix = (hessian(f, argnums) if is_number and way is None else (way or jacfwd)(df, argnums))(*args)
    assert_unchanged(args, before, "a matrix writes the arguments")
    gradient = df(*copied(args))
    assert_columns(matrix, df, gradient, args, argnums, 1.0 + abs(fine))
    parts = zip(matrix, gradient, directions, strict=True)
    along = sum(np.sum(u * sum(map(along_block, row, directions))) for row, _, u in parts)
    np.testing.assert_allclose(along, fine, rtol=1e-3, atol=1e-4, err_msg="along a direction")


def assert_columns(matrix, f, value, args, argnums, scale):
    """A matrix has the columns that tangents along one float after the other give."""
    held = [*map(is_float, leaves(value))]
    blocks = list(leaves(matrix))
    assert len(blocks) == sum(held) * len(argnums), "structure of the matrix"
    along, columns = jvp(f, None, None), []
    for number in argnums:
        for place in np.ndindex(np.shape(args[number])):
            tangents = [np.zeros(np.shape(x))[()] if k in argnums else None for k, x in enumerate(args)]
            tangents[number] = unit_at(args[number], place)
            found = leaves(along(copied(args), tangents)[1])
            columns.append([t for t, taken in zip(found, held, strict=True) if taken])
    shapes = [np.shape(leaf) for leaf, taken in zip(leaves(value), held, strict=True) if taken]
    for k, shape in enumerate(shapes):
        mine, done = np.stack([np.broadcast_to(column[k], shape) for column in columns], axis=-1), 0
        for block, number in zip(blocks[k * len(argnums) :], argnums, strict=False):
            size, own = np.size(args[number]), np.shape(args[number])
            assert np.shape(block) == shape + own, "shape of a block"
            part = np.reshape(mine[..., done : done + size], shape + own)
            np.testing.assert_allclose(block, part, rtol=1e-8, atol=1e-9 * scale, err_msg=f"argument {number}, columns")
            done += size


def unit_at(x, place):
    """The tangent of a float or an array that is 1 at one place."""
    if not isinstance(x, np.ndarray):
        return 1.0
    unit = np.zeros(x.shape)
    unit[place] = 1.0
    return unit


def blocks_along(matrix, value, directions):
    """The sum of a Jacobian's blocks along directions, over all leaves."""
    blocks = iter(leaves(matrix))
    return sum(np.sum(along_block(next(blocks), d)) for leaf in leaves(value) if is_float(leaf) for d in directions)


def along_block(block, direction):
    """A block times a direction of its argument."""
    return np.tensordot(block, direction, np.ndim(direction)) if np.ndim(direction) else block * direction


JUDGES = {
    -1: assert_pullback, 0: assert_tangent, 1: None, "hessian": assert_hessian,
    "jacfwd": functools.partial(assert_jacobian, jacfwd), "jacrev": functools.partial(assert_jacobian, jacrev),
    "twice": functools.partial(assert_hessian, way=jacrev),
}  # fmt: skip
"""By the order of a campaign; None: of gradients; "twice": reverse mode over reverse mode."""
Order = int | str


def assert_same(left, right, name):
    """Both are the same value: structure, and numbers to the last digits."""
    assert type(left) is type(right) or (isinstance(left, float) and isinstance(right, float)), f"{name}: type"
    left, right = list(leaves(left)), list(leaves(right))
    assert len(left) == len(right), f"{name}: structure"
    for a, b in zip(left, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=name)


def check(program: Program, judge=None) -> int:
    """Check a program at its point, or at another, by `assert_gradient` or another judge; the number of points it took."""
    judge = judge or functools.partial(assert_gradient, alone=program.seed % 4 == 0)
    with loaded(program.source, f"<program {program.seed}>") as f:
        for attempt in range(POINTS):
            try:
                args = (program.redrawn(attempt) if attempt else program).args
                judge(f, args, program.argnums)
                return attempt + 1
            except Rejected:
                continue
    raise Rejected("no point")


def outcome(program: Program, order: Order = 1) -> str:
    """What becomes of a program: "right", "rejected" or "refused"; the test that asks fails where it is wrong."""
    try:
        check_second(program) if order == 2 else check(program, JUDGES[order])
    except Rejected:
        return "rejected"
    except (S2SGradError, Refusal):
        return "refused"
    except Exception as error:
        pytest.fail(explained(program, error, order), pytrace=False)
    return "right"


def explained(program: Program, error: Exception, order: Order = 1) -> str:
    """The failing program after reduction, and how to write it again."""

    def fails_alike(source):
        try:
            with loaded(source, "<reduced program>") as f, lines_at_most(LINES):
                expected(f, program.args, program.argnums)
        except Exception:
            return False
        try:
            if order != 2:
                with loaded(source, "<reduced program>") as f:
                    (JUDGES[order] or assert_gradient)(f, program.args, program.argnums)
            else:
                check_second(replace(program, source=source))
        except Exception as found:
            return type(found) is type(error)
        return False

    args = ", ".join(repr(arg) for arg in program.args)
    return (
        f"{type(error).__name__}: {error}\n\n{program!r}, reduced, at f({args}):\n\n"
        f"{reduced(program.source, fails_alike)}\n\nin full:\n\n{program.source}"
    )


@contextlib.contextmanager
def lines_at_most(count: int):
    """Stop what runs more lines of a program than this."""
    left = count

    def trace(frame, event, arg):
        nonlocal left
        if not frame.f_code.co_filename.startswith("<"):
            return None
        left -= 1
        if left < 0:
            raise TimeoutError("too many lines")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def slope_of_gradient(df, args, number, direction, step):
    """The derivative of the sum of the gradient along a direction, by differences."""

    def at(h):
        moved = list(copied(args))
        moved[number] = moved[number] + h * direction
        return np.sum(df(*moved))

    return (at(step) - at(-step)) / (2 * step)


def check_second(program: Program) -> None:
    """Check the second derivative in one of the arguments at the program's point; Rejected where branches change."""
    number = program.argnums[program.seed % len(program.argnums)]
    with loaded(program.source, f"<program {program.seed}>") as f:
        args = copied(program.args)
        expected(f, args, (number,))
        direction = np.random.default_rng(program.seed).normal(size=np.shape(args[number]))[()]
        df = grad(f, argnums=number)
        coarse, fine = (slope_of_gradient(df, args, number, direction, step) for step in (1e-4, 1e-5))
        second = grad(df, argnums=number)(*args)
        if not abs(coarse - fine) < 1e-4 * (1.0 + abs(fine)):
            raise Rejected("steps disagree")
        np.testing.assert_allclose(np.sum(second * direction), fine, rtol=1e-3, atol=1e-4)
