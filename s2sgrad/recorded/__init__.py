"""Functions that are run on handles and swept backwards from their record: what only the run knows."""
