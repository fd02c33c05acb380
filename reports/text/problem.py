"""The numbers of an assembled problem as text."""

from typing import Any

import numpy as np


def problem_text(problem: Any, title: str, unknowns: list[str]) -> str:
    """The numbers of an assembled problem: lead matrix, constants, bounds or friction coefficients, row by row."""
    if problem is None:
        return f"{title}: the problem cannot be posed (the free unknowns cannot be eliminated)"
    if not unknowns:
        return f"{title}: every unknown is free; a step is one linear system"
    width = max(map(len, unknowns))
    with np.printoptions(precision=5, linewidth=10**6, threshold=10**9):
        lines = [f"{problem.kind}, {title}", "M ="]
        lines += [f"  {name:<{width}}  {row}" for name, row in zip(unknowns, str(problem.M).split("\n"), strict=True)]
        lines.append(f"q = {problem.q}")
        if problem.kind == "MLCP":
            lines += [f"lower = {problem.lower}", f"upper = {problem.upper}"]
        if hasattr(problem, "mu"):
            lines.append(f"mu = {problem.mu}")
    return "\n".join(lines)
