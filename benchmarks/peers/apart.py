"""A peer of a comparison in a process of its own, which can be stopped, and which may die alone."""

import sys
from pathlib import Path
from typing import Any

from benchmarks.harness import Comparison, Measure, Peer, Task
from benchmarks.peers.child import Child

ROOT = Path(__file__).parents[2]


def apart(comparison: Comparison, peer: Peer) -> Measure:
    """The peer's Measure, for tasks that are cone problems. Raises Missing where it is not installed."""
    child = Child([sys.executable, "-m", "benchmarks.children.peer_child", comparison.name, peer.name], folder=ROOT)
    child.start()

    def measure(task: Task) -> tuple[Any, float, str]:
        p = task.problem
        words, arrays = child.ask({"kind": p.kind, "d": p.d}, {"W": p.M, "q": p.q, "mu": p.mu})
        return arrays["z"], words["seconds"], words["remark"]

    return measure
