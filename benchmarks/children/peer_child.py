"""A peer behind a pipe: python -m benchmarks.children.peer_child COMPARISON PEER."""

import sys
from typing import Any

import numpy as np

from benchmarks.children.channel import serve
from benchmarks.comparisons import COMPARISONS
from benchmarks.harness import Task
from workbench.problems.classes import ConicQP, CoulombNCP

KINDS = {"Coulomb NCP": CoulombNCP, "conic QP": ConicQP}


def main(comparison: str, name: str) -> None:
    """Serve; an ImportError of the peer ends the process before it says that it is ready."""
    peers = next(c.peers for c in COMPARISONS if c.name == comparison)
    measure = next(p for p in peers if p.name == name).load()

    def answer(words: dict[str, Any], data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        problem = KINDS[words["kind"]](data["W"], data["q"], data["mu"], words["d"])
        z, seconds, remark = measure(Task("", problem, ""))
        return {"seconds": seconds, "remark": remark}, {"z": np.array(z)}

    serve(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
