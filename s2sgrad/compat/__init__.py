"""The interfaces of other libraries, so that their programs can be ported by changing imports."""
