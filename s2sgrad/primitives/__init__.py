"""What is known of library callables: one record each, found by the object (`record`), filled in by topic.

`sharing`: what results alias; `methods`: methods of arrays, containers and strings; `effects`: purity and writes; `costs`:
what is cheap; `positions`: indices that select nothing twice; `texts`: text and file access; `catalogue` has all records.
`spellings` maps operators, methods and attributes to the functions with rules; `libraries` says which package a callable
belongs to.  Derivatives are in `rules`.
"""
