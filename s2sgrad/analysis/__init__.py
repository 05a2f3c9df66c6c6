"""Facts about a tree in normal form, in side tables: effects, kinds, activity, memory.  Nothing here changes a tree."""
