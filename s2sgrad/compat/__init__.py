"""Other libraries' names for what is here, so that a program of theirs ports by its import lines."""
