"""The comparisons, one a file. Adding one is a file and a line in `COMPARISONS`."""

from benchmarks.comparisons import batch, ccp, friction, growth, lcp, mlcp, packings, robots, warm, wheel

COMPARISONS = (
    friction.COMPARISON,
    ccp.COMPARISON,
    lcp.COMPARISON,
    warm.COMPARISON,
    batch.COMPARISON,
    mlcp.COMPARISON,
    wheel.COMPARISON,
    robots.COULOMB,
    robots.CCP,
    packings.COULOMB,
    packings.CCP,
    packings.BINS,
    growth.SOLVER,
    growth.CCPS,
    growth.LCPS,
    growth.MLCPS,
    growth.CUBES,
    growth.TOWERS,
)
