"""Lists and dicts that lose, gain and move items in place: sections, `del`, `sort`, heaps."""

from __future__ import annotations

import heapq

import numpy as np

from .case import case

VECTOR = np.array([0.7, 0.4, -0.6, 1.2])


def weighted(items):
    """A number that every item, and its place, changes."""
    return sum([(k + 1.0) * v * v for k, v in enumerate(items)])


@case(VECTOR)
def section_of_a_list_stored(x):
    items = [x[0], x[1], x[2], x[3]]
    items[1:3] = [items[2] * 2.0, items[1] * items[0], x[3]]
    items[-2:] = (items[0] * items[-1],)
    return weighted(items)


@case(VECTOR, 3, 1)
def section_with_bounds_that_are_known_at_run_time(x, a, b):
    items = list(x * x)
    items[a:b] = [items[0] * items[1]]
    items[len(items) :] = [x[b], x[a]]
    return weighted(items)


@case(VECTOR)
def sections_stored_in_a_loop(x):
    items = [x[0], x[1]]
    for k in range(3):
        items[k : k + 1] = [items[-1] * x[k], items[k] + x[3]]
    return weighted(items)


@case(VECTOR)
def items_deleted(x):
    items, table = list(x), {"a": x[0], 2: x[1] * x[2], 3: x[3]}
    spare = x * 2.0
    del items[0], items[-1], table[2], spare
    items += [table["a"] * table[3]]
    del items[:1]
    return weighted(items) + sum(table.values())


@case(VECTOR)
def items_deleted_in_a_loop(x):
    items = list(x * 2.0)
    for k in range(2):
        del items[k]
    return weighted(items)


@case(VECTOR)
def keys_taken_out_of_a_dict_of_numbers(x):
    table = {k: x[k] * x[k] for k in range(4)}
    total = 0.0
    for k in (2, 0, 7):
        total += table.pop(k, 0.5) * table[1]
    return total * len(table) + table[3]


@case(VECTOR)
def list_sorted_in_place(x):
    items = list(x)
    items.sort()
    total = weighted(items)
    items.sort(key=lambda v: (v - x[0]) ** 2)
    total += weighted(items) * 0.3
    items.sort(key=abs, reverse=True)
    return total + weighted(items) * items[0]


@case(VECTOR)
def rows_sorted_by_a_number_beside_them(x):
    rows = [(k, v) for k, v in enumerate(x)]
    rows.sort(key=lambda row: row[1], reverse=True)
    return weighted([v * (k + 1) for k, v in rows])


@case(VECTOR)
def values_of_a_dict_counted(x):
    table = {"a": x[0], "b": x[1] * x[2]}
    counted = sum([v * (k + 1.5) for k, v in enumerate(table.values())])
    return counted + sum([v * w for v, w in zip(table.values(), x, strict=False)])


@case(VECTOR)
def squares_and_sines_side_by_side(x):
    return sum([a * b for a, b in zip((v * v for v in x), (np.sin(v) for v in x[1:]), strict=False)])


@case(VECTOR)
def list_extended_by_a_part_of_itself(x):
    items = [x[0], x[1], x[2]]
    items.extend(items[:2])
    return weighted(items)


@case(VECTOR)
def heap_of_numbers(x):
    heap = []
    for v in x:
        heapq.heappush(heap, v * v)
    total = heapq.heappushpop(heap, x[0] * 0.5) + heap[0] * 2.0
    total += heapq.heapreplace(heap, x[1] * x[3]) * 3.0
    return total + weighted(heap)


@case(VECTOR)
def heap_of_pairs_that_is_emptied(x):
    heap = [(v * v, k) for k, v in enumerate(x)]
    heapq.heapify(heap)
    total = 0.0
    while heap:
        v, k = heapq.heappop(heap)
        total += v * (k + 1) * (len(heap) + 1)
    return total


@case(np.array([0.7, 0.4, 0.6, 0.9]))
def shortest_path(x):
    edges = {0: [(1, 0), (2, 1)], 1: [(3, 2)], 2: [(3, 3)], 3: []}
    distance, heap = {0: 0.0}, [(0.0, 0)]
    while heap:
        d, here = heapq.heappop(heap)
        if d > distance[here]:
            continue
        for there, edge in edges[here]:
            if there not in distance or d + x[edge] ** 2 < distance[there]:
                distance[there] = d + x[edge] ** 2
                heapq.heappush(heap, (distance[there], there))
    return distance[3]


@case(VECTOR)
def smallest_and_largest(x):
    return sum(heapq.nsmallest(2, x)) * heapq.nlargest(3, x, key=lambda v: v * v)[2]


class Writer:
    """Its methods write what they are given."""

    def put(self, items, value):
        """Store a value."""
        items[0] = value


put = Writer().put


@case(VECTOR)
def written_by_a_method_that_was_bound_outside(x):
    items, y = [x[1]], x * 2.0
    put(items, x[0] * x[2])
    put(y, x[0] * x[3])
    return items[0] * y[0] * y[1]


@case(VECTOR)
def list_filled_in_a_loop_and_written_under_one_of_two_names(x):
    squares, pairs = [], []
    for k in range(3):
        v = x[k] * 1.5
        squares.append(v * v)
        pairs.append((v * x[3], k))
    chosen = squares if x[0] > 0.0 else [x[0], x[1]]
    chosen[0] = chosen[1] * x[0]
    a, b = pairs[1]
    return weighted(squares) + a * (b + 1)


@case(VECTOR)
def items_taken_in_a_loop_off_one_of_two_lists(x):
    values, others = [v * v for v in x], [x[1], x[0]]
    chosen = values if x[0] > 0.0 else others
    total = 0.0
    for k in range(2):
        v = x[k] * 0.5
        total += chosen.pop() * v
        chosen.append(total * v)
    chosen[0] = total
    return weighted(values) + weighted(others)


@case(VECTOR)
def sorted_copy_stored_into_its_list_stays_an_array(x):
    items = [x[0], x[1], x[2]]
    ordered = np.sort(items)
    items[:] = ordered
    return (ordered * 2.0)[0] * items[1] + weighted(items)


@case(VECTOR)
def sorted_copies_of_a_list_that_is_changed(x):
    a = [x[0], x[1] * x[2], x[2], 0.8]
    if x[0] > 0.1:
        a.sort(reverse=True)
    b = sorted(a, key=abs)
    c = a[1:]
    a[:1] = (x[0], x[0] * x[1])
    a[1] *= a.pop()
    c[0] = a[0] * b[-1]
    return sum(v * (k + 1) for k, v in enumerate(a)) + b[0] * b[1] + c[0] * c[1]


@case(VECTOR)
def heap_that_is_put_in_order_again_and_again(x):
    b = [x[0], x[1], x[2]]
    for _ in range(2):
        heapq.heapify(b)
        b.sort(key=abs, reverse=True)
    return sum([v * v * (k + 1) for k, v in enumerate(b)])
