"""Lemke's method: the path, small and sparse problems, eight at a time, in double-double precision."""
