"""Friction problems from files: a folder named on the command line or by WORKBENCH_DATA."""

from benchmarks.harness import Missing, Options, Task, say
from benchmarks.towers import tower_problem
from workbench.problems.friction_problem import FrictionProblem, GlobalFrictionProblem
from workbench.readers.files import problem_files, read_problem_file
from workbench.support.errors import DataError

SMALL, MEDIUM = 10, 50
"""Contacts that separate the groups."""


def friction_problems(options: Options) -> list[tuple[str, FrictionProblem]]:
    """Name and problem of all problems in space, the smallest first; what is not one is passed over and named.

    A quick run makes its own, two towers of boxes. Raises Missing without a folder.
    """
    if options.quick:
        return [(f"tower of {r} contacts", tower_problem(r, 1)) for r in (2, 4)]
    if options.data is None:
        raise Missing("no problems: name a folder of files with --data or in WORKBENCH_DATA")
    found = []
    for path, _ in problem_files([str(options.data)]):
        try:
            problem = read_problem_file(path)
            local = problem.local if isinstance(problem, GlobalFrictionProblem) else problem
        except DataError as error:
            say(f"passed over: {error}")
            continue
        if isinstance(local, FrictionProblem) and local.d == 2:
            found.append((path.name, local))
    if not found:
        raise Missing(f"{options.data} holds no friction problems in space")
    return sorted(found, key=lambda pair: pair[1].contacts)


def group(contacts: int) -> str:
    """The group a problem is counted in."""
    if contacts <= SMALL:
        return f"1 to {SMALL} contacts"
    return f"{SMALL + 1} to {MEDIUM} contacts" if contacts <= MEDIUM else f"more than {MEDIUM} contacts"


def coulomb_tasks(options: Options) -> list[Task]:
    """Exact Coulomb friction on every problem."""
    return [Task(name, p.coulomb(), group(p.contacts), p.contacts, p) for name, p in friction_problems(options)]


def ccp_tasks(options: Options) -> list[Task]:
    """The CCP on every problem whose W is symmetric."""
    tasks = []
    for name, p in friction_problems(options):
        try:
            tasks.append(Task(name, p.ccp(), group(p.contacts), p.contacts, p))
        except DataError as error:
            say(f"passed over: {name}: {error}")
    if not tasks:
        raise Missing("no problem with a symmetric W")
    return tasks
