"""Relations of names and sets of them as numbers, beside sets of pairs and sets of words."""

from __future__ import annotations

import random

import pytest

from s2sgrad.flow.graph import Names
from s2sgrad.memory.relation import Relation

WORDS = [f"n{k}" for k in range(40)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("symmetric", [False, True])
def test_relation_is_a_set_of_pairs(seed, symmetric):
    rng = random.Random(seed)
    names = Names(())
    relation, pairs = Relation(names, symmetric), set()
    kept: list[tuple[Relation, set]] = []
    for _ in range(60):
        name, others = rng.choice(WORDS[:12]), rng.sample(WORDS[:12], rng.choice([1, 2, 9]))
        match rng.choice(["add", "add", "add_to", "drop", "copy", "join", "renamed"]):
            case "add":
                relation.add(name, names.interned(others))
                new = {(name, other) for other in others}
            case "add_to":
                relation.add_to(name, names.interned(others))
                new = {(other, name) for other in others}
            case "drop":
                relation.drop(name)
                pairs, new = {pair for pair in pairs if name not in pair}, set()
            case "copy":
                kept.append((relation, set(pairs)))
                relation, new = relation.copy(), set()
            case "join":
                other, new = rng.choice(kept) if kept else (relation, pairs)
                relation = relation | other
            case _:
                swapped = dict(zip(others, others[1:] + others[:1], strict=True))
                relation = relation.renamed(swapped)
                pairs, new = {(swapped.get(a, a), swapped.get(b, b)) for a, b in pairs}, set()
        pairs |= {(a, b) for a, b in new if a != b}
        pairs |= {(b, a) for a, b in pairs} if symmetric else set()
    kept.append((relation, pairs))
    for one, expected in kept:
        assert {(a, b) for a in WORDS for b in names.decoded(one.of(a))} == expected
        assert {(b, a) for a in WORDS for b in names.decoded(one.to(a))} == expected


@pytest.mark.parametrize("count", [0, 1, 5, 9, 10, 11, 25, 40])
def test_sets_of_names_are_what_they_were_made_of(count):
    names = Names(WORDS)
    for seed in range(10):
        some = random.Random(seed).sample(WORDS, count)
        assert names.decoded(names.mask(some)) == set(some)
