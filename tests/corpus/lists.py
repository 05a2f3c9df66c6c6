"""Lists that grow, shrink and are written: stacks, accumulators, histories, two names of one list."""

from collections import deque

import numpy as np

from .case import case

VECTOR = np.array([0.3, -0.7, 1.1])
MATRIX = np.array([[0.5, -1.2, 0.8], [1.4, 0.2, -0.6], [0.7, 0.9, -0.3]])


def history(x, n):
    values = [x]
    for k in range(n):
        values.append(np.sin(values[k]) * x)
    return values


def dense(h, params):
    for w, b in params:
        h = np.tanh(w @ h + b)
    return h


@case(1.3)
def repeated_list(x):
    a = [x] * 2 + [x]
    return sum(v * v for v in a)


@case(1.3)
def history_of_a_recurrence(x):
    hs = history(x, 4)
    return hs[4] * hs[1] + hs[-2]


@case(1.3)
def product_of_appended(x):
    log = []
    log.append(x)
    log.append(x * x)
    return log[0] * log[1]


@case(1.3)
def appended_in_branches(x):
    kept = []
    for k in range(5):
        v = x * k
        if k % 2:
            kept.append(v * v)
        elif v > 2.0:
            kept.append(v)
    return kept[0] * kept[-1] + len(kept) * kept[1]


@case(VECTOR)
def last_item_put_in_front(x):
    q = list(x)
    total = 0.0
    for k in range(4):
        q.insert(0, q.pop())
        total += q[0] * (k + 1)
    return total + sum([(k + 1) * v * v for k, v in enumerate(q)])


@case(VECTOR)
def last_item_joined_in_front(x):
    q = list(x)
    for _ in range(3):
        q = [q.pop() * x[0]] + q
    return sum([(k + 1) * v * v for k, v in enumerate(q)])


@case(1.3)
def stack_until_empty(x):
    stack = [x, x * x, 2.0]
    total = 0.0
    while stack:
        v = stack.pop()
        total = total * x + v
        if v > 1.9:
            stack.append(v * 0.5)
    return total


@case(1.3)
def reverse_polish_calculator(x):
    stack = []
    for token in ["x", "x", "*", "2", "+", "x", "*"]:
        if token == "x":
            stack.append(x)
        elif token == "2":
            stack.append(2.0)
        else:
            b = stack.pop()
            a = stack.pop()
            stack.append(a * b if token == "*" else a + b)
    return stack.pop()


@case(1.3)
def popped_and_pushed_again(x):
    log = []
    log.append(x)
    v = log.pop()
    log.append(v * v)
    return log[0] * x


@case(1.3)
def extended_and_added_to(x):
    a = [x, 1.0]
    a += [x * x]
    a.extend([x**3, x])
    return a[2] * a[3] + a[4] * len(a)


@case(1.3)
def reads_what_it_appended(x):
    a = [x, x * x]
    for k in range(3):
        a.append(a[k] * a[k + 1])
    return a[4]


@case(1.3)
def two_elements_swapped(x):
    a = [x, x * x, 2.0]
    a[0], a[2] = a[2], a[0] * a[1]
    return a[0] * a[2] + a[2] ** 2


@case(1.3)
def elements_updated_in_place(x):
    a = [x, 2.0, x * x]
    for k in range(3):
        a[k] *= x
        a[-1] += a[k]
    return a[0] * a[1] + a[2]


@case(1.3)
def bubble_sort(x):
    a = [x, -x, x * x, 0.5]
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a[0] * 2.0 + a[1] * 3.0 + a[2] * a[3]


@case(1.3)
def horner_with_a_list(x):
    coefficients = [x, 2.0]
    coefficients.append(x * x)
    total = 0.0
    for c in coefficients:
        total = total * 0.5 + c
    return total


@case(1.3)
def prefix_sums(x):
    sums = [0.0]
    for v in (x, x * x, 2.0):
        sums.append(sums[-1] + v)
    return sums[3] * sums[1] - sums[2]


@case(1.3)
def starred_unpacking(x):
    a, *b, c = [x, x * x, 2.0, x**3]
    return a * b[0] * c + len(b) * b[1]


@case(VECTOR)
def arrays_in_a_list(v):
    hs = []
    for k in range(3):
        hs.append(v[k] * v)
    hs[1] = hs[1] * hs[0]
    return np.sum(np.array(hs)) + hs[2] @ hs[1]


@case(VECTOR, MATRIX)
def layers_in_a_list_of_tuples(x, w):
    params = [(w, 0.1), (w.T, x), (w @ w, x * x)]
    return np.sum(dense(x, params))


@case(VECTOR, MATRIX)
def activations_kept_and_summed(x, w):
    acts = []
    h = x
    for _ in range(3):
        h = np.tanh(w @ h)
        acts.append(h)
    penalty = sum(np.sum(a * a) for a in acts)
    return penalty + np.sum(acts[0] * acts[2])


@case(1.3)
def condition_on_the_length(x):
    a = []
    while len(a) < 4:
        a.append(x * (len(a) + 1))
    return a[-1] * a[0] + sum(a)


@case(1.3)
def sections_of_a_list_that_is_only_read(x):
    a = [x * k for k in range(6)]
    b = a[1:4]
    c = a[::-1]
    return b[0] * b[2] + c[0] * c[-2] + sum(a[::2])


@case(1.3, 0.7)
def euler_steps_kept_as_pairs(q, p):
    path = [(q, p)]
    for _ in range(3):
        q, p = path[-1]
        path.append((q + 0.1 * p, p - 0.1 * np.sin(q)))
    return path[3][0] * path[1][1] + path[2][0]


@case(1.3)
def membership_and_position_are_constants(x):
    names = ["a", "b", "c"]
    return x ** names.index("c") + (x if "b" in names else 1.0) * names.count("a")


@case(1.3)
def list_of_lists_that_is_read(x):
    m = [[x, 1.0], [2.0, x * x]]
    trace = 0.0
    for i in range(2):
        for j in range(2):
            trace += m[i][j] * m[j][i]
    return trace * m[0][0]


@case(1.3)
def list_returned_with_a_number(x):
    log = [x]
    log.append(x * x)
    return log, x * log[1]


@case(1.3)
def list_is_bound_anew_in_a_loop(x):
    row = [1.0]
    for _ in range(4):
        new = [1.0]
        for k in range(len(row) - 1):
            new.append(row[k] + row[k + 1] * x)
        new.append(x)
        row = new
    return row[1] * row[2] + row[-1]


@case(1.3)
def loop_over_a_list_and_a_break(x):
    kept = []
    for v in [x, x * x, 5.0 * x, 100.0]:
        if v > 5.0:
            break
        kept.append(v * x)
    else:
        kept.append(1.0)
    return kept[0] * kept[-1]


@case(1.3)
def linear_in_what_was_appended(x):
    y = []
    y.append(x)
    y.append(2.0 * x)
    y.pop()
    y.append(3.0 * x)
    return y[-1] + y[0]


@case(1.3)
def rows_are_appended(x):
    rows = []
    for k in range(3):
        row = []
        for j in range(2):
            row.append(x**k * j + x)
        rows.append(row)
    return rows[2][1] * rows[1][0]


@case(1.3)
def stack_of_sums(x):
    stack = [x]
    while len(stack) < 5:
        stack.append(stack[-1] + x)
    return stack[-1] * x


@case(1.3)
def list_of_numbers_counts(x):
    numbers = []
    for k in range(3):
        numbers.append(k)
    return x ** len(numbers) + numbers[1] * x


@case(1.3)
def element_read_between_stores(x):
    a = [x, x]
    a[0] = a[0] * 2.0
    a[1] = a[0] * a[1]
    a[0] = 1.0
    return a[0] * a[1]


@case(1.3)
def rows_joined_by_a_sum(x):
    rows = [[x, 1.0], [x * x, 2.0]]
    flat = sum(rows, [])  # noqa: RUF017
    return flat[0] * flat[2] + flat[3]


@case(np.array([0.4, -0.7, 1.1]))
def list_of_none_that_stores_fill(x):
    r = [None] * 3
    for i in range(3):
        r[i] = x[i] * x[i - 1]
    return np.array(r).prod()


@case(VECTOR)
def sliding_window(x):
    window = deque(maxlen=2)
    total = 0.0
    for v in x:
        window.append(v)
        if len(window) == window.maxlen:
            total += window[0] * window[-1] ** 2
    return total


def handed_back(v):
    return v


@case(VECTOR)
def deque_of_a_helper_is_asked_for_its_bound(x):
    queue = handed_back(deque(x * x))
    if len(queue) != queue.maxlen:
        queue.append(queue.popleft() * x[1])
    return sum([(k + 1) * v for k, v in enumerate(queue)])


def bound_of(queue, n):
    return bound_of(queue, n - 1) if n else queue.maxlen


@case(VECTOR)
def bound_of_a_deque_that_a_callee_of_itself_asks_for(x):
    return x[0] * x[2] if bound_of(deque(x), 2) is None else x[1]


@case(VECTOR, 2)
def window_of_a_length_that_is_given(x, n):
    window = deque([x[0] * x[1], 0.3, x[2]], maxlen=n)
    for v in x:
        window.appendleft(v * v)
    return sum([(k + 1) * v * v for k, v in enumerate(window)])


@case(VECTOR)
def window_extended_at_both_ends_and_turned(x):
    window = deque(maxlen=3)
    window.extend([v * v for v in x])
    window.extendleft([x[0] * x[1], 0.5])
    window.rotate(1)
    return sum([(k + 1) * v * v for k, v in enumerate(window)])


@case(VECTOR)
def queue_of_pairs(x):
    queue = deque([(0, x[0])])
    total = 0.0
    while queue:
        depth, v = queue.popleft()
        total += v * v
        if depth < 2:
            queue.append((depth + 1, v * x[1]))
            queue.append((depth + 1, v + x[2]))
    return total


@case(VECTOR)
def deque_turned(x):
    q = deque(x)
    total = 0.0
    for k in range(3):
        q.rotate(k + 1)
        total += q[0] * (k + 1)
        q.extendleft([q.pop() * x[0], 0.5])
    return total + sum([(k + 1) * v * v for k, v in enumerate(q)])


@case(VECTOR)
def deque_that_a_closure_fills(x):
    recent = deque(maxlen=2)

    def note(v):
        recent.append(v * v)

    for v in x:
        note(v)
    return recent[0] * recent[1]


def pushed(queue, v):
    queue.appendleft(v * v)
    if len(queue) > 2:
        queue.pop()


@case(VECTOR)
def deque_that_a_helper_fills(x):
    queue = deque()
    for v in x:
        pushed(queue, v)
    return queue.popleft() * sum(queue)


@case(VECTOR)
def deque_that_a_helper_returns(x):
    def doubled():
        queue = deque()
        for v in x:
            queue.append(2 * v)
        return queue

    queue = doubled()
    queue.rotate(1)
    total = 0.0
    while queue:
        total = total * 0.5 + queue.popleft() ** 2
    return total


@case(VECTOR)
def deques_in_a_dict(x):
    lanes = {"even": deque(), "odd": deque()}
    for k, v in enumerate(x):
        lanes["odd" if k % 2 else "even"].append(v * v)
    return sum(lanes["even"]) * lanes["odd"][0]


@case(VECTOR)
def deque_until_it_raises(x):
    q = deque(x)
    total = 0.0
    while True:
        try:
            v = q.popleft()
        except IndexError:
            break
        total += v ** 3
    return total


@case(VECTOR)
def views_of_a_dict_beside_others(x):
    d = {"a": {"u": x[0], "v": x[1]}, "b": {"u": x[2]}}
    total = 1.0
    for name in d:
        for k, (_, w) in enumerate(d[name].items()):
            total = total * w + k
    e = {0: x[1], 1: x[2] * 2.0}
    for (k, v), w in zip(e.items(), x, strict=False):
        e[k] = v * w
        total += e[k] * (k + 1)
    return total + sum([v * (k + 1) for k, v in enumerate(e.values())])


@case(VECTOR)
def taken_from_the_head_twice(x):
    values = [v * v for v in x]
    values.append(0.3)
    while len(values) > 1:
        a, b = values.pop(0), values.pop(0)
        values.append(a + b * 0.5)
    return values[0]


@case(VECTOR)
def sets_that_are_united(x):
    parent = list(range(3))
    weight = [v * v for v in x]
    for a, b in [(0, 1), (2, 1), (0, 2)]:
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        if a != b:
            parent[a] = b
            weight[b] += weight[a] * 0.5
    return weight[parent[0]] ** 2 + weight[0]


def taken_first(queue):
    return queue.popleft()


@case(VECTOR)
def effects_within_what_is_tried(x):
    queue, left, total = deque(x), list(x), 0.0
    while True:
        try:
            total += queue.popleft() ** 3
            total = total * 0.5 + 2.0 * left.pop()
            total += taken_first(queue) * x[0]
        except IndexError:
            break
    return total


@case(np.array([0.7, 1.2, 0.4]))
def two_deques_in_one_statement(x):
    steps, slopes = deque(maxlen=2), deque(maxlen=2)
    y = x * 1.0
    for _ in range(4):
        for s, g in zip(steps, reversed(slopes), strict=True):
            y = y + 0.3 * s * (s @ g)
        steps.append(0.1 * y)
        slopes.append(np.sin(y))
    return np.sum(y)


@case(VECTOR)
def appends_to_another_list_than_the_loop_runs_over(x):
    d = {"a": [x[0], x[1]], "b": []}
    total = 0.0
    for y in d["a"]:
        d["b"].append(y * 0.5)
        total += y * y
    for row in [d["a"], d["b"]]:
        row.append(total)
    return total * sum(d["b"]) + len(d["a"])


@case(VECTOR)
def list_that_a_first_trip_makes(x):
    velocity, parameters = None, [x[:2], x[1:]]
    for _ in range(3):
        if velocity is None:
            velocity = [0.5 * g for g in parameters]
        velocity = [0.9 * v - 0.1 * g for v, g in zip(velocity, parameters, strict=True)]
        parameters = [p + v for p, v in zip(parameters, velocity, strict=True)]
    return sum(np.sum(p * p) for p in parameters)


@case(VECTOR)
def list_of_an_array(x):
    xs = x.tolist()
    ys = (x * x).tolist()
    ys[0] = ys[1] * 2.0
    ys.append(xs[2])
    return sum(ys) * xs[0] + sum([v * w for v, w in zip(xs, ys, strict=False)]) + np.sum(x * x).tolist()


@case(np.array([[0.3, -0.7, 1.1], [0.9, 0.4, -0.2]]))
def nested_lists_of_a_matrix(a):
    total = 0.0
    for k, row in enumerate(a.tolist()):
        for v in row:
            total += v * v * (k + 1)
    back = np.array((a * a).tolist())
    return total + np.sum(back * a)


@case(VECTOR, 0.8)
def list_of_an_array_or_a_number(x, s):
    part, total = x, 0.0
    for k in range(2):
        total = total + np.sum(np.array((part * part).tolist()))
        part = x[k] * s
    return total


OPERATIONS = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b}


def of_words(h, words):
    stack = []
    for word in words:
        if word in OPERATIONS:
            b, a = stack.pop(), stack.pop()
            stack.append(OPERATIONS[word](a, b))
        else:
            stack.append(h[int(word)])
    return stack[0]


@case(np.array([0.7, 1.3, 0.4]))
def words_for_a_stack_in_a_loop(x):
    h = np.sin(x)
    for _ in range(2):
        h = h * 0.5 + of_words(h, ["0", "1", "mul", "2", "add"]) * x * 0.1
    return np.sum(h * h)


@case(np.array([-0.3, -0.6, 0.8]))
def tuple_repeated_by_the_trips(x):
    items = x[0] * x[0], x[1]
    for k in range(2):
        items = items * (k + 1)
    return items[0] * 3.0 + items[2] * 5.0


@case(np.array([-0.3, -0.6, 0.8]))
def tuple_repeated_in_place(x):
    items = x[0] * x[0], x[1]
    items *= 2
    return items[0] * 3.0 + items[2] * 5.0


@case(np.array([-0.43, -1.23, 0.46, 0.81, 1.11]))
def sorted_after_pops_of_which_one_is_in_a_branch(x):
    b = [v * v for v in x]
    s = x[4]
    if s > 0.0:
        s += b.pop(1) * b[0]
    s += b.pop() * 1.3
    b.sort()
    return s + b[0] * b[1]


@case(np.array([0.3, -0.6, 0.8]))
def popped_twice_into_a_product(x):
    q = [x, 2.0 * x, 3.0 * x]
    return np.sum(np.exp(q.pop())) * np.sum(np.exp(q.pop()))
