"""`try` with `except`."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from .case import case

MATRIX = np.array([[2.0, 0.3], [0.3, 1.0]])
VECTOR = np.array([1.0, 2.0])
FOUR = np.array([0.7, 0.4, -0.6, 1.2])


def solved(matrix, y):
    try:
        lower = np.linalg.cholesky(matrix)
        return np.sum(np.linalg.solve(lower, y) ** 2)
    except np.linalg.LinAlgError:
        return np.sum(y**3)


@case(MATRIX, VECTOR, argnums=(1,))
def factor_that_exists(matrix, y):
    return solved(matrix, y)


@case(-MATRIX, VECTOR, argnums=(1,))
def factor_that_does_not_exist(matrix, y):
    return solved(matrix, y)


@case(0.6)
def logarithm_of_a_negative_number(x):
    try:
        y = math.log(x - 1.0)
    except ValueError:
        y = x * 3.0
    return y * x


@case(0.65)
def attempts_in_a_loop_with_else(x):
    total = 0.0
    for k in range(4):
        try:
            y = math.sqrt(x - 0.2 * k)
        except (ValueError, ZeroDivisionError) as error:  # noqa: F841
            y = x * k
        else:
            total += x
        total = total + y
    return total


def square_of_a_small_number(v):
    if v > 1.0:
        raise ValueError("large")
    return v * v


@case(0.6)
def helper_that_raises(x):
    try:
        a = square_of_a_small_number(x)
        b = square_of_a_small_number(3.0 * a)
    except KeyError:
        return x
    except ValueError:
        return x * 5.0
    return a * b


@case(0.6)
def helper_that_does_not_raise(x):
    try:
        a = square_of_a_small_number(x)
        b = square_of_a_small_number(2.0 * a)
    except ValueError:
        return x * 5.0
    return a * b


@case(0.6)
def attempt_in_a_nested_function(x):
    def logarithm(t):
        try:
            return math.log(t)
        except Exception:
            return t * t * x

    return logarithm(x) + logarithm(x - 1.0)


@case(0.6)
def key_that_is_missing(x):
    try:
        return {"a": x}["b"]
    except KeyError:
        return x * x


@case(0.6)
def finally_behind_an_exception(x):
    y = x
    try:
        y = math.log(x - 1.0)
    except ValueError:
        y += 2.0 * x
    finally:
        print("done")
    return y * x


@case(0.6)
def names_of_a_body_that_succeeds(x):
    try:
        a = x * x
        b = math.log(a)
    except ValueError:
        return x * 3.0
    return a * b


# --- pieces with an effect: each is tried, and then carried out ------------------------------------------------------


@case(FOUR)
def updated_until_it_fails(x):
    total = 0.0
    for k in range(6):
        try:
            total += math.sqrt(x[k])
        except ValueError:
            total -= x[k]
        except IndexError:
            break
    return total * x[0]


@case(FOUR)
def loop_that_is_left_by_an_exception(x):
    total = 0.0
    try:
        for v in x:
            total += math.log(v)
        total = total * x[1]
    except ValueError as error:
        print("bad", error)
        total *= 2.0
    return total * x[0]


@case(FOUR)
def stores_before_the_failure_stay(x):
    y = x * 1.0
    try:
        y[0] = y[1] * 2.0
        y[7] = 3.0
        y[2] = 1.0
    except IndexError:
        y[1] = y[0] * 3.0
    return np.sum(y * y)


@case(FOUR)
def appended_before_the_failure(x):
    items = []
    try:
        items.append(x[0] * x[1])
        items.append(x[3])
        items.append(x[9])
    except IndexError:
        items.append(x[2] * items[0])
    return sum(items) * items[0]


@case(FOUR)
def raised_and_caught_in_one_function(x):
    try:
        y = x * x
        if y[0] < 0.6:
            raise ValueError("small")
        z = np.sum(y)
    except ValueError:
        z = y[1] * x[2]
    return z * y[2]


@case(FOUR)
def failures_that_are_suppressed(x):
    table, total = {"a": x[0]}, x[1]
    for key in ("a", "b", "c"):
        with contextlib.suppress(KeyError, IndexError):
            total = total * table[key]
            total = total + 1.0
            table[key + "b"] = total
    return total * x[0]


@case(FOUR)
def attempt_in_an_attempt(x):
    try:
        try:
            y = math.sqrt(x[0])
            z = math.sqrt(x[2])
        except KeyError:
            y, z = x[1], 1.0
        y = y + 1.0
    except ValueError:
        z = 2.0 * x[1] * y
    else:
        z = z + 1.0
    return y * z


@case(FOUR)
def finally_writes_what_the_body_writes(x):
    y = x * 1.0
    try:
        y[0] = y[1] * 2.0
        y[9] = 1.0
    except IndexError:
        y[0] += x[3]
    finally:
        y[1] = y[0] * 3.0
    return np.sum(y * y)


@case(FOUR)
def finally_between_failure_and_handler(x):
    y, total = x * 1.0, 1.0
    try:
        try:
            y[0] = 2.0 * y[1]
            total = math.sqrt(y[2])
        finally:
            y[1] = y[0] * y[0]
        total = total + 100.0
    except ValueError:
        total = y[1]
    return total * np.sum(y)


@case(FOUR)
def loop_that_ends_by_an_exception(x):
    total, k = 1.0, 0
    try:
        while x[k] > -100.0:
            total = total * (x[k] + 2.0)
            k += 1
    except IndexError:
        total = total * x[0]
    return total


@case(FOUR)
def return_from_a_loop_in_an_attempt(x):
    try:
        for k in range(9):
            if x[k] < 0.0:
                return x[k] * x[0]
    except IndexError:
        return x[1]
    return x[2]


def doubled_at(u, k):
    if k > 2:
        raise ValueError("far")
    u[k] = u[k] * u[k + 1]


@case(FOUR)
def callee_that_writes_or_raises(x):
    y = x * 1.0
    for k in range(5):
        try:
            doubled_at(y, k)
        except ValueError:
            y[0] = y[0] + y[1]
    return np.sum(y)


@case(FOUR)
def warning_that_is_an_error(x):
    y = 0.0
    try:
        with np.errstate(all="raise"):
            y = np.log(x[2])
    except FloatingPointError:
        y = x[2] * x[1]
    return y * y


@case(FOUR)
def every_exit_from_an_attempt(x):
    total = 0.0
    for k in range(4):
        try:
            if k == 1:
                continue
            if k == 3:
                break
            total += math.sqrt(x[k])
        except ValueError:
            total += x[k]
            continue
        else:
            total *= 2.0
        total = total * x[0]
    return total


@case(FOUR)
def bound_twice_before_the_failure(x):
    y = x[0]
    try:
        y = math.exp(x[1])
        y = math.log(x[2])
    except ValueError:
        pass
    return y * y


@case(FOUR)
def values_that_do_not_fit_their_names(x):
    try:
        a, b = x[0] * x[1], x[2]
        c, _, _ = x[1:3]
    except ValueError as error:
        c = a * b
        print(f"failed: {error}")
    return c * c


@case(FOUR)
def assertion_that_is_caught(x):
    try:
        assert x[0] > 1.0, "small"
        y = x[0]
    except AssertionError:
        y = x[1]
    return y * y


@case(FOUR)
def shapes_that_do_not_fit(x):
    y = x * 1.0
    try:
        y[:2] += x[:3]
    except ValueError:
        y[:2] *= x[1:3]
    try:
        y += np.ones((2, 4))
    except ValueError:
        y *= 2.0
    return np.sum(y * y)


@case(FOUR)
def taken_off_until_nothing_is_left(x):
    items, total = [x[0], x[1]], 1.0
    while True:
        try:
            v = items.pop()
        except IndexError:
            break
        total = total * v + 1.0
    return total


@case(FOUR)
def exception_that_is_raised_again(x):
    try:
        try:
            y = math.sqrt(x[2])
        except ValueError:
            y = x[0]
            raise
    except ValueError:
        y = y * x[1]
    return y


class NoRoot(Exception):
    pass


class Negative(NoRoot):
    pass


def rooted(v):
    if v < 0.5:
        raise NoRoot("too small")
    return math.sqrt(v)


@case(FOUR)
def exceptions_of_ones_own(x):
    least = x[0] - x[0]

    def signed(v):
        if v < least:
            raise Negative("too small")
        return rooted(v) * v

    total = 0.0
    for v in x:
        try:
            total += signed(v) * rooted(v)
        except Negative:
            total += v**3
        except NoRoot:
            total += v * v
    return total


@case(FOUR)
def comprehensions_in_attempts(x):
    try:
        powers = {k: x[0] ** k for k in range(3)}
        signed = [rooted(v) * powers[2] for v in x if v > 0.0]
    except NoRoot:
        signed = [x[2]]
    return powers[1] * sum(signed)


@case(VECTOR)
def annotated_in_an_attempt(x):
    total = 1.0
    try:
        scale: float = math.sqrt(x[0] - 2.0)
        total = total * scale
    except ValueError:
        total = total * x[1]
    return total * x[0]


def or_else(f, t, otherwise):
    try:
        return f(t)
    except (ValueError, ZeroDivisionError):
        return otherwise


def guarded(f):
    def inner(t):
        try:
            return f(t)
        except ValueError:
            return -t

    return inner


@case(np.array([0.5, 0.7, 1.3]))
def functions_that_are_given_to_what_tries_them(x):
    scale = x[0]
    f = guarded(lambda t: math.sqrt(t) * scale)
    total = f(x[1]) + or_else(lambda t: math.log(t) * x[2], x[0] - 9.0, x[1])
    scale = scale * x[1]
    return total + f(x[0]) * or_else(math.sqrt, x[2], 1.0) + f(-x[2])


AXES = {"xyz": (0, 1, 2), "zyx": (2, 1, 0)}
NAMES, PAIRS = ["low", "high"], ((1.0, 2.0), (3.0, 0.5))


@case(FOUR)
def texts_looked_up_in_try(x, axes="ZYX", which="high"):
    try:
        i, j, k = AXES[axes.lower()]
        p, q = PAIRS[NAMES.index(which.strip())]
    except (AttributeError, KeyError, ValueError):
        i, j, k = axes
        p, q = 0.0, 0.0
    return x[i] * x[j] * p + x[k] ** 2 * q


@case(0.05, 3.0)
def arguments_made_arrays_and_tried(rate, payment):
    (rate, payment) = map(np.asarray, [rate, payment])
    without = False
    with np.errstate(divide="raise"):
        try:
            worth = payment * (1.0 + rate) / rate
        except FloatingPointError:
            without = True
    return payment * 2.0 if without else worth * np.log1p(rate)


def halved(f, low, high, args=()):
    for _ in range(8):
        middle = 0.5 * (low + high)
        if f(middle, *args) > 0.0:
            high = middle
        else:
            low = middle
    return middle - f(middle, *args) / (3.0 * middle**2)


def above(t, a, b):
    if a < 0.0:
        raise ValueError("negative")
    return t**3 - a * b


@case(np.array([0.3, 0.7]))
def root_of_a_function_in_try(x):
    total = 0.0
    for sign in (1.0, -1.0):
        try:
            total = total + halved(above, 0.0, 2.0, args=(sign * x[0], x[1]))
        except ValueError:
            total = total + x[1] ** 2
    return total


def inverse(t):
    if abs(t) < 0.6:
        raise ValueError("too small")
    return 1.0 / t


def tried_with(f, t, otherwise):
    try:
        return f(t)
    except ValueError:
        return otherwise


@case(np.array([1.3, 0.5, 0.7]))
def functions_that_only_the_run_knows_are_tried(x):
    total, fs = x[0], {"log": math.log, "inverse": inverse}
    for f in [math.sqrt, lambda t: t * x[1], fs["log"]]:
        for v in (x[0], -x[0]):
            try:
                total += f(v)
            except ValueError:
                total += x[2] * v
    for key in fs:
        total += tried_with(fs[key], total - 1.5, x[1])
    f = fs["log"]
    for c in x:
        f = lambda t, f=f, c=c: f(t - c)  # noqa: E731
    return total + tried_with(f, x[0], x[2]) * tried_with(f, x[0] + 5.0, x[2])


def loss(matrix, y, sign):
    try:
        lower = np.linalg.cholesky(sign * matrix)
    except np.linalg.LinAlgError:
        return np.sum(y * np.diag(matrix)) * sign
    return np.sum(np.linalg.solve(lower, y) ** 2)


@case(MATRIX, VECTOR)
def loss_of_a_factor_or_another(matrix, y):
    return loss(matrix, y, 1.0) * loss(matrix, y, -1.0)


def looked_up(table, key):
    try:
        v = table[key]
    except (KeyError, TypeError):
        return 1.0
    else:
        table[key] = v * v
    return v * table[key]


@case(0.7)
def looked_up_in_a_helper(x):
    table, total = {"a": x, "b": 2.0 * x}, 0.0
    for key in ("a", "b", "c", "a"):
        total = total * x + looked_up(table, key)
    return total


@case(FOUR)
def one_of_several_handlers(x):
    total = 0.0
    for k in range(6):
        try:
            y = math.sqrt(x[k])
        except ValueError:
            y = x[k] * x[k]
        except IndexError:
            break
        else:
            total += y
        finally:
            print("tried")
        total = total * y + x[0]
    return total


@case(FOUR, "2")
def another_exception_is_raised(x, text):
    try:
        k = int(text)
    except ValueError as error:
        raise RuntimeError(f"no number: {text}") from error
    try:
        y = x[k]
    except IndexError:
        raise KeyError(k) from None
    return y * x[0]


@case(FOUR)
def bound_anew_or_left(x):
    y = x[0] * x[1]
    with contextlib.suppress(ValueError):
        y = math.log(y)
    with contextlib.suppress(ValueError):
        y = math.log(y)
    return y * x[3]


@case(FOUR, 0.3)
def loop_left_by_a_handler(x, c):
    a, b, total = c * x[0], x[1], 0.3
    for _ in range(2):
        try:
            total = float(total)
        except (ValueError, IndexError):
            return total * a + b
        total = total * 0.7 + a * b
    return total
