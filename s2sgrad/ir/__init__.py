"""The normal form: what the passes between reading and printing may rely on."""
