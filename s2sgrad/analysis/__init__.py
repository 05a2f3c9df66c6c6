"""Facts about the values of a tree in normal form: types and shapes, effects, activity.  Nothing here changes a tree."""
