"""The state of one function during compilation: its tree, its names, and what its free names refer to."""
