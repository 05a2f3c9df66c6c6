"""`if`, ternaries, boolean operators, comparison chains, walrus, `assert`, `raise`, `print` and other statements."""

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])


@case(1.3, 0.7)
def if_without_else(x, y):
    a = x
    if x > y:
        a = x * y
    return a * a


@case(-1.3, 0.7)
def if_without_else_not_taken(x, y):
    a = x
    if x > y:
        a = x * y
    return a * a


@case(1.3, 0.7)
def if_else(x, y):
    if x < y:
        a = x * x
    else:
        a = x * y
    return a + y


@case(0.3, 0.7)
def elif_chain(x, y):
    if x > 1.0:
        a = x
    elif x > 0.5:
        a = x * y
    elif x > 0.1:
        a = np.sin(x) * y
    else:
        a = y
    return a * x


@case(1.3, -0.7)
def nested_branches(x, y):
    if x > 0.0:
        if y > 0.0:
            a = x * y
        else:
            a = x - y * y
            if a > 100.0:
                a = 0.0
    else:
        a = y
    return a * a


@case(1.3, 0.7)
def defined_in_one_arm_and_used_under_the_same_condition(x, y):
    large = x > y
    if large:
        bonus = x * x
    a = x + y
    if large:
        a = a * bonus
    return a


@case(1.3, 0.7)
def branch_that_overwrites_its_own_condition(x, y):
    if x > y:
        x = y * y
        y = x * 2.0
    return x * y


@case(1.3, 0.7)
def branches_on_a_boolean_variable(x, y):
    flag = x > y
    a = y
    if flag:
        a = a * x
    flag = a > 100.0
    if not flag:
        a = a + x
    return a


@case(1.3, 0.7)
def branch_with_a_constant_arm(x, y):
    if x > 5.0:
        a = x
    else:
        a = 2.0
    return a * y


@case(1.3, 0.7)
def ternary(x, y):
    a = x * y if x > y else x + y
    return a * a


@case(0.3, 0.7)
def nested_ternary(x, y):
    a = x if x > 1.0 else y * x if x > 0.5 else np.cos(x) * y
    return a * (x if y > 0.0 else y)


@case(0.4, VECTOR)
def ternary_of_arrays(x, v):
    w = v * x if np.sum(v) > 0.0 else v
    return np.sum(w * w)


@case(1.3, 0.7)
def ternary_guards_a_division(x, y):
    a = 1.0 / (x - 1.3) if x > 1.5 else x * y
    return a * x


@case(1.3, 0.7)
def or_as_a_value(x, y):
    a = x or y
    b = 0.0 or y
    return a * b


@case(1.3, 0.7)
def and_as_a_value(x, y):
    a = x and y
    b = x and y and x * y
    return a * b + x


@case(1.3, 0.7, -0.4)
def boolean_operators(x, y, z):
    a = x
    if x > 0.0 and y > 0.0 and not z > 0.0:
        a = a * y
    if x < 0.0 or (y > 0.5 and z < 0.0):
        a = a * z
    return a


@case(1.3, 0.7)
def boolean_operator_that_must_not_look_further(x, n):
    a = x
    if x < 0.0 and np.log(x) > 0.0:
        a = a * n
    if x > 0.0 or 1.0 / (x - x) > 0.0:
        a = a * x * n
    return a


@case(0.4, 0.7)
def comparison_chain(x, y):
    if 0.0 < x < y <= 1.0:
        a = x * y
    else:
        a = x
    return a * a


@case(0.4, 0.7)
def comparison_chain_as_a_value(x, y):
    inside = 0.0 < x < 1.0
    outside = 0.0 < x > y
    a = x * y if inside and not outside else x
    return a * a


@case(1.3, 0.7)
def walrus_in_a_condition(x, y):
    if (a := x * y) > 0.5:
        b = a * a
    else:
        b = a
    return a + b * y


@case(1.3, 0.7)
def walrus_in_an_expression(x, y):
    a = (b := x * y) + b * b
    return a * b


@case(1.3, 0.7)
def walrus_beside_the_name_it_rebinds(x, y):
    a = x * (x := y * y) + x
    return a * x


@case(1.3, 0.7)
def walrus_in_a_later_operand(x, y):
    if x > 0.0 and (a := np.sin(y)) > 0.0:
        return a * x
    return x


@case(1.3, 0.7)
def none_as_a_missing_value(x, y):
    bias = None
    if x > 1.0:
        bias = y * y
    a = x * y
    if bias is not None:
        a = a + bias
    return a


@case(1.3, 0.7, 2)
def membership_and_identity(x, y, n):
    a = x
    if n in (1, 2):
        a = a * y
    if n is not None and n not in [5, 6]:
        a = a * a
    return a


@case(1.3, 0.7, "square")
def branch_on_a_string(x, y, mode):
    if mode == "linear":
        a = x
    elif mode == "square":
        a = x * x
    else:
        raise ValueError(f"unknown mode {mode!r}")
    return a * y


@case(1.3, 0.7, True)
def branch_on_a_flag(x, y, flag):
    a = x * y
    if flag:
        a = np.exp(-a)
    return a


@case(1.3, 0.7)
def assertion(x, y):
    assert x > y, f"{x} should be larger than {y}"
    a = x * y
    assert a > 0.0
    return a * a


@case(1.3, 0.7)
def exception_that_is_not_raised(x, y):
    if x < 0.0:
        raise ValueError("x must be positive")
    a = np.log(x) * y
    if a > 100.0:
        raise OverflowError(f"{a:.3f} is too large")
    return a


@case(1.3, 0.7)
def exception_in_one_arm(x, y):
    if x > y:
        a = x * y
    else:
        raise ValueError("x must be the larger one")
    return a * a


@case(1.3, 0.7)
def statements_that_no_path_reaches(x, y):
    a, b = x * y, np.sin(x)
    if x > y:
        if a > 0.1:
            return a * b
        else:
            raise ValueError("too small")
        a, b = b, a
    elif y > 0.0:
        raise ValueError("x must be the larger one")
    else:
        raise TypeError("y must be positive")
    a, b = b, a
    return a.unknown


@case(np.array([0.4, 1.1, 0.7]), 0.3)
def a_trip_that_raises_before_it_binds(u, a):
    for k in range(len(u)):
        if abs(a) > 100.0:
            raise ValueError(f"{a} is too large")
        else:
            v = 0.7 * u + a * k
        u = np.cos(v * v[::-1])
        while True:
            if a > 50.0:
                raise ValueError("still too large")
            a = a * 1.5
            if a > 1.0:
                break
    return np.sum(u * a)


@case(1.3, 0.7)
def prints_what_it_computes(x, y):
    a = x * y
    print("a is", a)
    b = a * a
    print(f"b is {b:.3f}", f"and x {x!r}", sep=", ")
    return b + y


@case(1.3, 0.7)
def text_beside_numbers(x, y):
    label = f"{x:.2f} and {y:>8}"
    name = "x" + label
    a = x * y
    return a * len("four") + a * a * (len(name) > 0)


@case(1.3, 0.7)
def docstring(x, y):
    """A docstring of two lines.

    It says nothing about x * y.
    """
    return x * y * y


@case(1.3, 0.7)
def pass_and_bare_expressions(x, y):
    pass
    x * y
    "not a docstring"
    ...
    if x > y:
        pass
    else:
        x = y
    return x * y


@case(np.array([0.3, -0.7, 1.1, -0.2]))
def branch_on_an_element(x):
    a = x[0]
    if x[1] < 0.0:
        a = a * x[2]
    if x.sum() > 0.1:
        a = a + x[3] * x[3]
    return a


@case(1.3)
def only_a_return(x):
    return x


@case(1.3, 0.7)
def max_and_min_of_numbers(x, y):
    a = max(x, y)
    b = min(x * y, y, 3.0)
    return a * b


def scaled_if_of_numpy(v):
    w = v * 1.25
    if isinstance(w, np.generic):
        w = w * 2.0
    return w


@case(VECTOR, 0.7)
def asks_a_multiple_of_an_item_for_its_type(x, s):
    total = scaled_if_of_numpy(s)
    for v in x:
        total = total + scaled_if_of_numpy(v)
    return total * sum([scaled_if_of_numpy(v) for v in np.where(x > 0.0, x * x, x)])
