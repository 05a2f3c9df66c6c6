"""Facts about memory: what a call may write, keep and return, and which names may share what.

A callee: `mod_ref` is its summary, which `points_to` finds in `places`, with `callees`, `library_calls` and
`container_calls` for what it calls and `arguments` for what it passes.  A caller: `sources` says what one expression may
share, `writes` what one statement writes, `aliases` which names may share memory just then, `aliasing` whether ever, `fresh`
what nothing else refers to.
"""
