"""One function on its way through the passes: its tree, its names, and what its free names stand for."""
