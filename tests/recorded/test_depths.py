"""Calls of the user's go as deep as they do without a recording, and endless ones raise."""

from __future__ import annotations

import sys
import threading

import pytest

from s2sgrad.recorded.derivatives import grad


def deeper(x, n):
    return x if n == 0 else deeper(x, n - 1) + x


class Link:
    """A link of a chain."""

    def __init__(self, value, rest):
        self.value, self.rest = value, rest

    def total(self):
        return self.value + (self.rest.total() if self.rest else 0.0)

    def __call__(self):
        return self.value + (self.rest() if self.rest else 0.0)


def chained(x, n):
    chain = None
    for _ in range(n):
        chain = Link(x, chain)
    return chain.total() + chain()


def endless(x):
    return endless(x) + x


def test_as_deep_as_the_plain_run():
    limit, n = sys.getrecursionlimit(), sys.getrecursionlimit() - 300
    assert deeper(0.5, n) == 0.5 * (n + 1) and grad(deeper)(0.5, n) == n + 1
    assert chained(0.5, n // 2) == n // 2 and grad(chained)(0.5, n // 2) == n
    assert sys.getrecursionlimit() == limit


def test_endless_recursion_raises():
    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        grad(endless)(0.5)
    assert sys.getrecursionlimit() == limit


def test_threads_share_the_limit():
    limit, found = sys.getrecursionlimit(), []

    def work():
        found.extend(grad(deeper)(0.5, 400) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [401.0] * 80 and sys.getrecursionlimit() == limit


def test_what_the_function_sets_stays():
    limit = sys.getrecursionlimit()

    def f(x):
        sys.setrecursionlimit(limit + 7)
        return x * x

    try:
        grad(f)(2.0)
        assert sys.getrecursionlimit() == limit + 7
    finally:
        sys.setrecursionlimit(limit)
