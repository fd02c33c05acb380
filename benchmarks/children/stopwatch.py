"""How a solve is timed, here and inside child processes: the standard library alone."""

import time
from statistics import median

SHORT = 1e-3
"""Seconds of solving that one measurement takes at least; a shorter solve is repeated and its median taken."""


def timed(fresh, clock=time.perf_counter):
    """The answer and the seconds of a solve. `fresh()` makes one ready, untimed, as a function without arguments."""
    times = []
    while sum(times) < SHORT and len(times) < 100:
        solve = fresh()
        start = clock()
        answer = solve()
        times.append(clock() - start)
    return answer, median(times)
