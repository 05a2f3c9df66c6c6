"""Sections of arrays in loops: whether two overlap, within a trip or across trips, and whether a loop covers an axis.

`disjointness` compares two sections in one trip, `later_trips` one section with the reads of later trips, `loop_dependence`
all accesses of the trips of a loop. `loops` has the bounds of a loop's variable, `trip_counts` the number of trips.
"""
