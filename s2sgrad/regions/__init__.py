"""Sections of arrays in loops: whether two meet, in one trip or in different ones, and whether a loop covers an axis.

`disjointness` compares two sections in one trip, `later_trips` one with what later trips read, `loop_dependence` all that
the trips of a loop touch; `loops` says what is known of a loop's variable, `trip_counts` how often it runs.
"""
