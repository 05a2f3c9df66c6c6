"""Specialization by the kinds of the arguments.  Each pass takes the inferred kinds of a function in normal form and reports
whether it has changed anything, so that they must be inferred again."""
