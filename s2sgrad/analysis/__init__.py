"""Facts about the values of a tree in normal form: kinds and shapes, effects, activity, aliasing.

Two rooms rewrite what the kinds of the arguments decide, while these are inferred: `branch_pruning` and `array_likes`.
"""
