"""Functions that are run on handles and swept backwards from their record: what only the run knows.

    y, pullback = vjp(f, x)      ->      x is a handle, f runs as it stands, and the pullback sweeps what it did

A handle stands for a number or an array, has its class, and no code can read its value unseen.  A run is the list of what
was done with handles; the rules are those of the table.  Functions run in a rewritten form, in which each call is handed to
a hook: that knows the functions of libraries, and follows those of the user.

Each room builds on the ones before it: `depths`, `garbage`, `places`, `limits`, `runs`, `values`, `formulas`, `honest`.
Then `captures`, `states`, `patterns`, `operations`, `applying`, `memory`, `told`, `guests`, `handed_over`, `arithmetic`,
`arrays`, `library`, `making`, `storing`, `remembering`, `identity`, `rewriting`, `special_methods`, `callees`, `made_of`,
`made_objects`, `hooks`, `sweep`, `careful`, `singular`, `escapes`, `derivatives`, `pairs`.
"""
