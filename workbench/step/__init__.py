"""Time stepping: one step, a run, many systems at once."""
