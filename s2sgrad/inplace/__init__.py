"""Arrays that are written in place, brought to the form that the reverse walk takes: one living name for one memory."""
