"""Where control goes, and what follows from it for names: facts about one function, found once and asked for.

A pass asks; it walks only what it rewrites.
"""
