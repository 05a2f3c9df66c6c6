"""Programs that were once silently wrong: the right derivative at both orders, or a refusal with the place."""

import copy
import linecache

import doubtful
import numpy as np
import pytest

from s2sgrad import S2SGradError, grad

STEP = 1e-5


def total(value):
    return float(np.sum(value))


def slope(f, args, direction):
    """The derivative in the first argument along a direction, by central differences."""

    def at(step):
        first, *others = copy.deepcopy(args)
        return total(f(first + step * direction, *others))

    return (at(STEP) - at(-STEP)) / (2 * STEP)


def is_refusal(error):
    """Whether an error is one of ours, with the place of a statement of the user's: a line of a file that is there."""
    place = getattr(error, "place", None)
    theirs = place is None or place.text == linecache.getline(place.file, place.line).rstrip("\n")
    return 'File "' in str(error) and "^" in str(error) and theirs and 'File "<' not in str(error)


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("program", doubtful.PROGRAMS, ids=[each.function.__name__ for each in doubtful.PROGRAMS])
def test_right_or_refused_as_recorded(program):
    direction = np.random.default_rng(0).normal(size=np.shape(program.args[0]))[()]
    f = program.function
    for order, recorded, tolerance in zip(("first", "second"), program.outcomes, (1e-6, 1e-4), strict=True):
        df = grad(f)
        try:
            gradient = df(*copy.deepcopy(program.args))
        except (S2SGradError, TypeError) as error:
            assert is_refusal(error), repr(error)
            assert type(error) is recorded, advice(program, order, recorded, type(error).__name__, error)
            return
        expected = slope(f, program.args, direction)
        assert total(gradient * direction) == pytest.approx(expected, rel=tolerance, abs=tolerance)
        assert recorded is None, advice(program, order, recorded, None, "It is right now.")
        f = df


@pytest.mark.records
@pytest.mark.parametrize(
    "program",
    [each for each in doubtful.PROGRAMS if each.outcomes[0] is not None],
    ids=lambda each: each.function.__name__,
)
def test_what_has_no_text_is_recorded_right_or_refused(program):
    direction = np.random.default_rng(0).normal(size=np.shape(program.args[0]))[()]
    try:
        program.function(*copy.deepcopy(program.args))
    except Exception as error:
        with pytest.raises((S2SGradError, type(error))):
            grad(program.function)(*copy.deepcopy(program.args))
        return
    try:
        gradient = grad(program.function)(*copy.deepcopy(program.args))
    except (S2SGradError, TypeError) as error:
        assert is_refusal(error), repr(error)
        return
    except ValueError as error:  # NumPy's, of an `__array__` that gives what is followed
        assert "__array__" in str(error)
        return
    expected = slope(program.function, program.args, direction)
    assert total(gradient * direction) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def advice(program, order, recorded, found, why):
    """What to do about an outcome that is not the one beside the program."""
    was = f"refused by {recorded.__name__}" if recorded else "right"
    now = f"put `{order}={found}` into" if found else f"take `{order}=..` from"
    return (
        f"{program.function.__name__} was {was} at {order} order.  {why}\n"
        f"If this is meant (a right answer never gets lost): {now} its `@program(..)` in tests/doubtful.py"
    )
