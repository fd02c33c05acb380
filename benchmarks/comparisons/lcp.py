"""Stewart-Trinkle LCPs from towers of boxes, from one contact to a hundred; every solver starts cold."""

from benchmarks.harness import Comparison, Options, Task
from benchmarks.peers import floor, ours, pivoting, siconos
from benchmarks.towers import SIZES, STATES, tower
from workbench.step.one_step import pose
from workbench.verbs.find import find_formulation

PROBLEMS = 40
"""Problems of each size."""
STEWART_TRINKLE = find_formulation("stewart-trinkle")


def task(n: int, k: int) -> Task:
    """Problem k of size n."""
    contacts = n // 6
    problem = pose(STEWART_TRINKLE, tower(contacts, k)).problem()
    return Task(f"{n}-{k} {STATES[k % len(STATES)]}", problem, f"n = {n}", contacts)


def tasks(options: Options) -> list[Task]:
    if options.quick:
        return [task(n, k) for n in SIZES[:2] for k in range(2)]
    return [task(n, k) for n in SIZES for k in range(PROBLEMS)]


COMPARISON = Comparison(
    "lcp",
    "Stewart-Trinkle LCPs of stacked boxes, cold",
    f"Towers of unit boxes, four contacts between neighbours, the topmost on a corner or an edge where the number of "
    f"contacts asks for it; four friction directions, so n = 6 contacts. {PROBLEMS} problems of each size, "
    f"in turn {', '.join(STATES)}; masses over two decades, steps of 0.1 to 10 ms.",
    tasks,
    (
        ours.solver("lemke"),
        siconos.siconos("Siconos LEMKE", "lcp", "LEMKE", None, None),
        siconos.siconos("Siconos PIVOT", "lcp", "PIVOT", None, None),
        siconos.siconos("Siconos PIVOT_LUMOD", "lcp", "PIVOT_LUMOD", None, None),
        pivoting.drake(),
        pivoting.quantecon(),
        pivoting.lemkelcp(),
        floor.PEER,
    ),
)
