"""Facts about a tree in normal form, in side tables: effects, kinds, activity, ownership.  Nothing here changes a tree."""
