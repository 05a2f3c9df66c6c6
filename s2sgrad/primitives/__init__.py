"""What is known of the callables of libraries: one record each, found by the object (`record`), filled by topic.

`sharing` says what results share, `methods` what methods of arrays, containers and texts do, `effects` what is pure and what
writes, `costs` what is cheap, `texts` what writes or reads text and files; `catalogue` has them all.  `spellings` maps
operators, methods and attributes to the functions that have rules, `libraries` tells whose a callable is.  Derivatives are
in `rules`.
"""
