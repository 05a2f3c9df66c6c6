"""Control flow and the dataflow facts about names: one graph for a function, each fact computed once, on request.

A pass walks only what it rewrites and asks for the rest.
"""
