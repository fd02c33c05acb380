"""The floor: one LU factorisation of the problem's matrix by LAPACK."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgetrf

from benchmarks.harness import FLOOR, Measure, Peer, Task, in_process


def load() -> Measure:
    def ready(task: Task) -> Callable[[], Callable[[], Any]]:
        M = np.asfortranarray(task.problem.M)

        def fresh() -> Callable[[], Any]:
            A = M.copy(order="F")

            def solve() -> None:
                dgetrf(A, overwrite_a=True)

            return solve

        return fresh

    return in_process(ready)


PEER = Peer(FLOOR, load, "LAPACK's dgetrf on the problem's matrix; no answer to judge")
