"""Tables of comparisons, put beside each other."""

TIMES = ("build_time", "solve_time", "cost", "cost_low", "cost_high", "timings")
"""Columns that no two runs share."""
