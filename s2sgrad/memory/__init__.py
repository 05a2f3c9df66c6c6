"""Facts about memory: what a call may write, keep and return, and which names may share what.

For callees: `mod_ref` gives the summary of a function, which `points_to` computes over abstract `places`, with `callees`,
`library_calls` and `container_calls` for the calls in it and `arguments` for what they pass.  For callers: `sources` says
what the value of an expression may share, and `writes` what a statement writes.  `aliases`: which names may share memory at
a point, `aliasing` at any point, and `references` which objects have other references.
"""
