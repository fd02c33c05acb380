"""The recommendation of a comparison once more, from the paths alone: on every case, with random parameters.

    python -m tests.recommended [--sets 20] [--case NAME ...]

Every number of a case is multiplied by a random factor between 0.74 and 1.35, where it allows that. What is recommended
has to lie where the paths say that as good as exact friction is, and all others beyond. Prints a line for each case and
what does not agree.
"""

import argparse
import sys

import numpy as np
import pytest

import workbench as wb
from benchmarks.failures import perturbed
from workbench.builtin.cases import CASES
from workbench.comparison.decision import decide
from workbench.support.errors import WorkbenchError

BEYOND = 1e9
"""Distance [m] from which on a run has blown up."""
NAMES = ["frictionless", "stewart-trinkle", "box", "hybrid", "phantom-inertia", "ccp", "coulomb"]


def by_paths(c):
    """Errors by label, e_C, u, and the share up to which these are known: from the curves, step by step, and nothing of
    what ranks; and, as often as they are drawn, from the positions of the bodies themselves.

    Curves are those of one point. Of several bodies there is what is drawn, and u is not.
    """
    _, window = next(iter(c.windows.items()))
    start, end = (window[f"window_{which}"].iloc[0] for which in ("start", "end"))
    # A window is of steps, and an error of the ends of steps: the state with which it begins is none of them.
    inside = c.trajectories[c.trajectories["t"].between(start + 1e-9, end + 1e-9)]
    runs, reference = (inside[inside["role"] == role] for role in ("run", "reference"))
    errors = runs.groupby("label")["position_error"].max().to_dict()
    at = (c.motion.t > start + 1e-9) & (c.motion.t <= end + 1e-9)
    exact, known = c.motion.tracks[0].position, float(reference["position_error"].max())
    several = exact.shape[1] > 1
    # A run that ends before the window has no curve there, and one that blows up none with numbers to square.
    for x in (x for x in c.motion.tracks[1:] if errors.get(x.label, np.inf) < BEYOND and at.any()):
        drawn = float(np.linalg.norm(x.position[at] - exact[at], axis=-1).max())
        if several:
            errors[x.label] = drawn
        else:
            least, most = 0.8 * errors[x.label], errors[x.label] * (1 + 1e-9) + 1e-12
            assert least <= drawn <= most, (x.label, drawn, errors[x.label])
    return errors, errors["coulomb"], decide(c).known if several else known, 0.2 if several else 0.0


def agrees(c):
    """Whether what is recommended lies where the paths say that as good as exact friction is, and all others beyond."""
    d, (errors, own, known, share) = decide(c), by_paths(c)
    assert d.own == pytest.approx(own, rel=max(share, 1e-9), abs=1e-9 if share else 1e-12), own
    placed = {label: x.place for x in d.entries for label in (x.label, *x.alike)}
    # The reference's curve has every tenth of its steps, at other moments.
    assert d.known == pytest.approx(known, rel=0.01, abs=1e-12), known
    # Errors within a twentieth of each other tie.
    bound = own + max(d.known, 0.05 * own) + 1e-9
    for label, place in placed.items():
        near = abs(errors[label] - bound) <= share * bound
        assert near or (place == 1) == (errors[label] <= bound), (label, place, errors[label], own, d.known)
    ordered = sorted(d.entries, key=lambda x: x.place)
    assert [x.place for x in d.entries] == [x.place for x in ordered], d.entries
    if d.taken:
        assert errors[d.taken.label] <= (1 + share) * bound, d.taken.label
    return d


def tried(name, sets):
    """What does not agree on a case, a line for each set of parameters; sets that a case refuses count for nothing."""
    wrong = []
    for seed in range(sets):
        case = perturbed(CASES.find(name)(), np.random.default_rng([seed, *map(ord, name)]))
        try:
            found = wb.compare(case, NAMES).comparison
        except WorkbenchError as error:
            print(f"{name}, set {seed}: {error}", flush=True)
            continue
        try:
            agrees(found)
        except AssertionError as error:
            wrong.append(f"{name}, set {seed}: {case}: {error}")
    return wrong


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--sets", type=int, default=20)
    words.add_argument("--case", action="append", choices=CASES.names)
    given, wrong = words.parse_args(), []
    for name in given.case or CASES.names:
        found = tried(name, given.sets)
        print(f"{name}: {given.sets} sets, {len(found)} wrong", *found, sep="\n", flush=True)
        wrong += found
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
