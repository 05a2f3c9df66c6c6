"""Facts about the values of a tree in normal form: kinds and shapes, effects, activity.  No tree is changed here."""
