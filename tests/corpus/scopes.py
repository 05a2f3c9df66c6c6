"""One name in several scopes: nested functions, comprehensions, lambdas, loops, the module, and when each is read."""

# ruff: noqa: B007, E731, E741, F841

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
k = 7.0
scale = 3.0


def reads_the_module(t):
    return t * scale


def hides_the_module(t, scale=2.0):
    k = t * scale
    return k * k


@case(1.3)
def same_name_in_four_scopes(x):
    def f(x):
        g = lambda x: x * 2.0
        return g(x * x) + sum(x for x in [1.0, 2.0])

    return f(x) * x


@case(1.3)
def name_of_the_module_and_of_a_loop(x):
    total = k * x
    ys = [k * x for k in range(3)]
    return total + ys[2] * k


@case(1.3)
def helpers_with_the_same_locals(x):
    return hides_the_module(x) * reads_the_module(x) + hides_the_module(scale, x)


@case(1.3)
def parameter_hides_the_function_around_it(x):
    def f(v, x):
        return v * x

    return f(x, 2.0) * f(3.0, x)


@case(1.3)
def argument_has_the_name_of_a_local(x):
    y = 2.0

    def f(y):
        y = y * x
        return y

    z = f(y * x)
    return z * y


@case(1.3)
def locals_of_two_calls_are_two(x):
    def f(v):
        a = v * x
        b = a + 1.0
        return a * b

    a = f(x)
    b = f(a)
    return a + b


@case(1.3)
def loop_variable_read_after_the_loop(x):
    y = 0.0
    for i in range(4):
        y = y + x * i
    f = lambda: y * i
    return f() + i


@case(1.3)
def late_read_of_a_loop_variable(x):
    f = lambda t: t * x * j
    total = 0.0
    for j in range(3):
        total += f(x)
    return total + f(1.0)


@case(1.3)
def nested_function_defined_before_what_it_reads(x):
    def f():
        return later * x

    later = x * x
    first = f()
    later = 2.0
    return first * f()


@case(1.3, 0.7)
def variable_of_two_branches_read_by_a_closure(x, y):
    def f(t):
        return t * w

    if x > y:
        w = x * x
    else:
        w = y
    return f(x) + f(2.0)


@case(1.3)
def function_defined_in_a_loop_and_called_there(x):
    total = 0.0
    for i in range(3):
        f = lambda t: t * i * x
        total += f(x + i)
    return total


@case(1.3)
def nested_function_in_a_loop(x):
    v = x
    for i in range(3):

        def step(t, i=i):
            return t * 0.5 + x**i

        v = step(v) * v
    return v


@case(1.3)
def function_in_one_branch(x):
    if x > 1.0:
        f = lambda t: t * x
        y = f(2.0)
    else:
        y = 0.0
    return y * x


@case(1.3)
def closure_of_a_closure_with_equal_names(x):
    def f(a):
        def f(b):
            return a * b

        return f(a) + f(x)

    return f(x) * f(2.0)


@case(1.3)
def builtin_names_as_locals(x):
    sum = x * x
    list = [sum, x]
    len = lambda v: v[0] * 2.0
    max = list[1]
    return sum * len(list) + max


@case(1.3)
def names_that_the_compiler_uses(x):
    t1, seed, result, x_bar, total, item = x, x * x, 2.0, 3.0, x, 1.0
    f = lambda t1, result=seed: t1 * result * x_bar
    ys = [f(item * t) for t, item in [(x, 2.0), (1.0, x)]]
    return ys[0] * ys[1] + t1 * total * result


@case(1.3)
def closure_reads_what_a_walrus_binds(x):
    f = lambda t: t * w
    if (w := x * x) > 1.0:
        w = w + f(x)
    return f(w)


@case(1.3)
def variable_bound_by_unpacking_in_a_closure(x):
    a, b = x, 2.0

    def swap():
        nonlocal a, b
        a, b = b * x, a

    swap()
    swap()
    return a * b + a


@case(1.3)
def closure_called_in_a_condition(x):
    left = 3

    def more():
        nonlocal left
        left -= 1
        return left >= 0

    y = x
    while more():
        y = y * x + left
    return y


@case(1.3)
def short_circuit_leaves_calls_out(x):
    n = 0

    def positive(v):
        nonlocal n
        n += 1
        return v > 0

    y = x if positive(-x) and positive(x) else x * x
    z = x if positive(x) or positive(x) else 1.0
    return y * z * n


@case(1.3)
def state_of_an_outer_loop_in_an_inner_function(x):
    total = 0.0
    for i in range(3):

        def weight(t):
            return t * (i + 1)

        for l in range(2):
            total += weight(x) * l + weight(total)
    return total


@case(VECTOR)
def array_bound_anew_between_reads(v):
    w = v
    f = lambda: np.sum(w * w)
    a = f()
    w = w * v
    return a * f()


@case(VECTOR)
def array_written_between_reads(v):
    w = v * 1.0
    f = lambda: np.sum(w * w)
    a = f()
    w[0] = w[1] * w[2]
    return a * f()


@case(VECTOR)
def closure_writes_an_array_of_the_function(v):
    w = v * 2.0

    def mix(i, j):
        w[i] = w[i] * w[j]

    mix(0, 1)
    mix(1, 2)
    return np.sum(w * v)


@case(1.3)
def lambda_reads_its_default_and_the_variable(x):
    w = x
    f = lambda t, v=w: t * v + w
    w = w * w
    return f(x) + f(1.0, w)


@case(1.3)
def conditional_functions_called_at_once(x):
    f, g = (lambda t: t * x), (lambda t: t + x)
    return f(x) * g(x) if x > 1.0 else g(f(x))


@case(1.3)
def assertion_in_a_closure(x):
    def checked(v):
        assert v > 0.0, "not positive"
        return np.log(v) * x

    return checked(x) * checked(2.0)


@case(1.3)
def deleted_and_bound_again(x):
    y = x * x
    f = lambda: y * 2.0
    a = f()
    del y
    y = x
    return a * f()
