"""How fast maps of sliding contacts are proved: boxes and CPU seconds until so little of the map is undecided.

    python benchmarks/map_reach.py [--smoke]

The undecided share is the larger of that of the verdicts and that of the P-property.
"""

import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from fractions import Fraction

from workbench.diagnostics.proved_ranges import proved_of_case
from workbench.verbs.find import find_case

MAPS = (
    ("rod", {}, {"angle": (10, 85), "mu": (0, 3)}),
    ("rod-in-guide", {"spin": 1.0, "mu_wall": 1.0}, {"angle": (10, 85), "mu_guide": (0, 3)}),
    ("wedged-box", {}, {"clearance": (Fraction(1, 2000), Fraction(1, 250)), "mu": (0, 3)}),
    ("tripod", {}, {"direction": (0, 360), "mu": (0, 2)}),
)
SECONDS = 120.0


def main():
    shares = ("1/10",) if "--smoke" in sys.argv else ("1/10", "3/100", "1/100", "3/1000", "1/1000")
    print("| map | undecided | boxes | CPU s |\n|---|---|---|---|")
    for name, settings, spans in MAPS:
        ranges = {key: (Fraction(low), Fraction(high)) for key, (low, high) in spans.items()}
        case = find_case(name, **settings)
        for share in map(Fraction, shares):
            start = time.process_time()
            found = proved_of_case(case, {}, ranges, share, SECONDS)
            took = time.process_time() - start
            left = max(found.shares().get("undecided", 0.0), found.share(found.p == -1))
            over = " and ".join(found.names)
            print(f"| {name}, {over} | {100 * left:.3g} % | {found.boxes} | {took:.2g} |", flush=True)


if __name__ == "__main__":
    main()
