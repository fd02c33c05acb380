"""Exact Coulomb friction on problems from files."""

from benchmarks.comparisons.files import coulomb_tasks
from benchmarks.harness import Comparison
from benchmarks.peers import floor, ours
from benchmarks.peers.pinocchio import pinocchio
from benchmarks.peers.siconos import siconos

TIGHT = 1e-12
COMPARISON = Comparison(
    "friction",
    "Exact Coulomb friction",
    f"Problems in space from files, global ones condensed beforehand. Peers are asked for a tolerance of {TIGHT:g} in "
    "their own measure; `as it comes` are their default options.",
    coulomb_tasks,
    (
        ours.solver("coulomb-exact", apart=True),
        siconos("Siconos NSN_AC", "friction", "NSN_AC", TIGHT, 1000),
        siconos("Siconos NSN_FB", "friction", "NSN_FB", TIGHT, 1000),
        siconos("Siconos NSN_NM", "friction", "NSN_NM", TIGHT, 1000),
        siconos("Siconos PROX", "friction", "PROX", TIGHT, 1000),
        siconos("Siconos NSGS", "friction", "NSGS", TIGHT, 10_000),
        siconos("Siconos NSN_AC as it comes", "friction", "NSN_AC", None, None),
        siconos("Siconos NSGS as it comes", "friction", "NSGS", None, None),
        pinocchio("Pinocchio ADMM", "ADMM", True, TIGHT, 10_000),
        pinocchio("Pinocchio PGS", "PGS", True, TIGHT, 10_000),
        pinocchio("Pinocchio ADMM as it comes", "ADMM", True, None, None),
        floor.PEER,
    ),
)
