"""Lists that are kept in order: the functions of `heapq`, and `bisect.insort`, as source that the compiler inlines.

    bisect.insort(xs, v)      ->      insort(xs, v)      xs.insert(bisect.bisect_right(xs, v), v)

>>> heap = [3.0, 1.0, 2.0]
>>> heapify(heap)
>>> heappush(heap, 0.5)
>>> heappop(heap), heap
(0.5, [1.0, 3.0, 2.0])
>>> heap.sort()
>>> insort(heap, 2.5)
>>> heap
[1.0, 2.0, 2.5, 3.0]
"""

from __future__ import annotations

import bisect


def heappush(heap, item):
    """`heapq.heappush`."""
    heap.append(item)
    rise(heap, 0, len(heap) - 1)


def heappop(heap):
    """`heapq.heappop`."""
    last = heap.pop()
    if len(heap) == 0:
        return last
    return heapreplace(heap, last)


def heapreplace(heap, item):
    """`heapq.heapreplace`."""
    smallest = heap[0]
    heap[0] = item
    sink(heap, 0)
    return smallest


def heappushpop(heap, item):
    """`heapq.heappushpop`."""
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item


def heapify(x):
    """`heapq.heapify`."""
    for place in range(len(x) // 2 - 1, -1, -1):
        sink(x, place)


def insort(a, x, lo=0, hi=None, *, key=None):
    """`bisect.insort`."""
    a.insert(bisect.bisect_right(a, x if key is None else key(x), lo, len(a) if hi is None else hi, key=key), x)


def insort_left(a, x, lo=0, hi=None, *, key=None):
    """`bisect.insort_left`."""
    a.insert(bisect.bisect_left(a, x if key is None else key(x), lo, len(a) if hi is None else hi, key=key), x)


def rise(heap, top, place):
    """Sift an item of a heap up until its parent is not larger, no higher than `top`."""
    item = heap[place]
    while place > top and item < heap[(place - 1) // 2]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = item


def sink(heap, place):
    """Sift an item of a heap down to a leaf, along the smaller children, and up again to its place, as Python does."""
    top, item = place, heap[place]
    while 2 * place + 1 < len(heap):
        child = 2 * place + 1
        if child + 1 < len(heap) and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
    heap[place] = item
    rise(heap, top, place)
