"""The cone complementarity problem on the same files, where W is symmetric."""

from benchmarks.comparisons.files import ccp_tasks
from benchmarks.harness import Comparison
from benchmarks.peers import floor, ours
from benchmarks.peers.convex import clarabel, cvxpy, scs
from benchmarks.peers.pinocchio import pinocchio

TIGHT = 1e-12
COMPARISON = Comparison(
    "ccp",
    "Cone complementarity problem",
    "The convex relaxation on the same W, q and mu, for the problems whose W is symmetric.",
    ccp_tasks,
    (
        ours.solver("ccp-exact", apart=True),
        clarabel(None),
        clarabel(TIGHT),
        cvxpy(),
        scs(None),
        scs(1e-9),
        pinocchio("Pinocchio ADMM", "ADMM", False, TIGHT, 10_000),
        floor.PEER,
    ),
)
