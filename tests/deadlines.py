"""Do commands keep their time limits? `python -m tests.deadlines [--kinds psd digits] [--orders 50 800] [--limits 2]`.

Every try is a process of its own, forked with the kernels loaded, that reads a file and runs `workbench check` on it.
It may take the limit plus `SHARE` of it plus `SECONDS`, in processor time of its thread, by which deadlines are kept
here too: what else the machine does changes nothing. Each try prints a line:

    kind, order, options, limit [s], processor time [s], wall-clock time [s], undecided classes, verdicts
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# Before numpy is imported: threads of the BLAS would wait on each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from workbench.cli.main import main as workbench
from workbench.engine import timing

SHARE, SECONDS = 0.2, 0.5
"""What a command may take beyond its limit, relative to that and absolute [s]."""
KILLED = 120
"""Seconds of wall-clock time after which a try is ended."""
ORDERS = (50, 100, 200, 400, 800, 1200, 2000)
LARGEST_DIGITS = 200
"""Order up to which integers of 300 digits are tried: with more they exceed what is read of a text."""

Rng = np.random.Generator
Data = dict[str, Any]


def _low_rank(n: int, rng: Rng) -> np.ndarray:
    A = rng.integers(-3, 4, (n, max(1, n // 4)))
    return (A @ A.T).astype(float)


def _rounded_low_rank(n: int, rng: Rng) -> np.ndarray:
    A = rng.normal(size=(n, max(1, n // 2)))
    return A @ A.T


def _nearly_singular(n: int, rng: Rng) -> np.ndarray:
    A = rng.normal(size=(n, max(1, n // 2)))
    return A @ A.T + 1e-12 * np.eye(n)


def _singular(n: int, rng: Rng) -> np.ndarray:
    """Of rank n - 1, neither symmetric nor definite: one row is the sum of all others."""
    A = rng.integers(-9, 10, (n, n)).astype(float) + 40 * np.sqrt(n) * np.eye(n)
    A[-1] = A[:-1].sum(axis=0)
    A[-1, -1] = abs(A[-1, -1]) + 1
    return A


def _skew(n: int, rng: Rng) -> np.ndarray:
    """Positive semidefinite of low rank, plus a skew matrix."""
    K = np.triu(rng.integers(-5, 6, (n, n)), 1)
    return _low_rank(n, rng) + K - K.T


def _laplacian(n: int, rng: Rng) -> np.ndarray:
    """Of a sparse graph with weights of 1/8 at least: semidefinite, singular, weakly dominant."""
    L = np.zeros((n, n))
    for i, j in zip(rng.permutation(n)[:-1], rng.permutation(n)[1:], strict=True):
        if i != j:
            L[i, j] = L[j, i] = -rng.integers(1, 9) / 8
    return L - np.diag(L.sum(axis=1))


def _sparse(n: int, rng: Rng) -> np.ndarray:
    """Four entries a row beside a positive diagonal: mostly neither definite nor dominant."""
    A = np.zeros((n, n))
    A[np.repeat(np.arange(n), 4), rng.integers(0, n, 4 * n)] = rng.normal(size=4 * n)
    np.fill_diagonal(A, rng.uniform(0.5, 1.5, n))
    return A


def _copositive(n: int, rng: Rng) -> np.ndarray:
    """A time step's form: semidefinite, bordered by ones and by friction coefficients, with zeros on the diagonal."""
    k = n // 4
    M = np.zeros((n, n))
    M[:-k, :-k] = _low_rank(n - k, rng)
    M[k : 2 * k, -k:], M[-k:, k : 2 * k] = np.eye(k), -np.eye(k)
    M[-k:, :k] = np.diag(rng.uniform(0.1, 1, k))
    return M


def _nonnegative(n: int, rng: Rng) -> np.ndarray:
    return rng.uniform(size=(n, n)) + np.diag(rng.uniform(0, 0.1, n))


def _m_matrix(n: int, rng: Rng) -> np.ndarray:
    """An M-matrix next to a singular one, scaled out of all dominance."""
    N = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.2)
    A = np.abs(np.linalg.eigvals(N)).max() * 1.001 * np.eye(n) - N if n <= 400 else 0.11 * n * np.eye(n) - N
    return A * np.exp2(rng.integers(-9, 10, n))[:, None] * np.exp2(rng.integers(-9, 10, n))


def _quotient(n: int, rng: Rng) -> np.ndarray:
    """B D C^-1 with row-dominant B and C: a P-matrix up to rounding, as a rule neither definite nor dominant."""
    B, C = (rng.normal(size=(n, n)) for _ in "BC")
    for A in (B, C):
        np.fill_diagonal(A, 1.02 * np.abs(A).sum(axis=1))
    return B @ np.diag(rng.uniform(0.1, 10, n)) @ np.linalg.inv(C)


def _similar(n: int, rng: Rng) -> np.ndarray:
    """B D B^-1: positive eigenvalues, the P-property open."""
    B = rng.normal(size=(n, n)) / np.sqrt(n) + 2 * np.eye(n)
    return B @ np.diag(rng.uniform(0.5, 2, n)) @ np.linalg.inv(B)


def _triangular(n: int, rng: Rng) -> np.ndarray:
    """A P-matrix with off-diagonal entries of a thousand, its rows and columns in disorder."""
    order = rng.permutation(n)
    return (np.triu(1000 * rng.normal(size=(n, n)), 1) + np.diag(rng.uniform(1, 2, n)))[np.ix_(order, order)]


def _indefinite(n: int, rng: Rng) -> np.ndarray:
    A = rng.normal(size=(n, n))
    return A + A.T + np.sqrt(n) * np.eye(n)


def _random(n: int, rng: Rng) -> np.ndarray:
    return rng.normal(size=(n, n)) + 1.2 * np.sqrt(n) * np.eye(n)


def _minus_identity(n: int, rng: Rng) -> np.ndarray:
    """Its q is positive: every index set has a solution."""
    return -np.eye(n)


def _digits(n: int, rng: Rng) -> list[list[str]]:
    """Positive definite up to a share of its rank, in whole numbers of 300 digits."""
    unit = 10**300 // 7
    rows = enumerate(_low_rank(n, rng).astype(int).tolist())
    return [[str(unit * x + 7 * (i == j)) for j, x in enumerate(row)] for i, row in rows]


def _many_digits(n: int, rng: Rng) -> list[list[str]]:
    """Whole numbers of 300 random digits, the diagonal some times as large."""
    rows = [[int.from_bytes(rng.bytes(124), "big") * int(rng.choice((-1, 1))) for _ in range(n)] for _ in range(n)]
    return [[str(abs(x) * n // 3 if i == j else x) for j, x in enumerate(row)] for i, row in enumerate(rows)]


MATRICES: dict[str, Callable[[int, Rng], Any]] = {
    "psd": _low_rank, "psd rounded": _rounded_low_rank, "nearly singular": _nearly_singular, "singular": _singular,
    "psd and skew": _skew, "laplacian": _laplacian, "sparse": _sparse, "copositive": _copositive,
    "nonnegative": _nonnegative, "M": _m_matrix, "quotient": _quotient, "similar": _similar,
    "triangular": _triangular, "indefinite": _indefinite, "random": _random, "minus identity": _minus_identity,
    "digits": _digits, "random digits": _many_digits,
}  # fmt: skip


def _friction(n: int, rng: Rng) -> Data:
    """Contacts in space on a third as many degrees of freedom as rows."""
    J = rng.normal(size=(n // 3 * 3, max(1, n // 3)))
    return {"W": J @ J.T, "q": rng.normal(size=len(J)), "mu": rng.uniform(0.1, 1, len(J) // 3)}


def _planar_friction(n: int, rng: Rng) -> Data:
    J = rng.normal(size=(n // 2 * 2, max(1, n // 3)))
    return {"W": J @ J.T, "q": rng.normal(size=len(J)), "mu": rng.uniform(0.1, 1, len(J) // 2)}


def _bounded(n: int, rng: Rng) -> Data:
    """A third of the unknowns free, a third in boxes, a third bounded below."""
    lower, upper = np.zeros(n), np.full(n, np.inf)
    lower[::3], upper[1::3] = -np.inf, 1.0
    return {"M": _random(n, rng), "q": rng.normal(size=n), "lower": lower, "upper": upper}


PROBLEMS: dict[str, Callable[[int, Rng], Data]] = {
    "friction": _friction, "planar friction": _planar_friction, "bounded": _bounded,
}  # fmt: skip
LARGEST_PROBLEM = 400
"""Order up to which problems are tried; beyond 300 nothing is judged."""


@dataclass(frozen=True)
class Try:
    """One run of `workbench check`."""

    kind: str
    order: int
    limit: float
    options: tuple[str, ...] = ()

    @property
    def allowed(self) -> float:
        """Processor time [s] that it may take."""
        return self.limit * (1 + SHARE) + SECONDS

    def written(self, folder: Path) -> list[str]:
        """The command's words, its files written."""
        rng = np.random.default_rng(self.order)
        if self.kind in PROBLEMS:
            path = folder / "problem.npz"
            np.savez(path, **PROBLEMS[self.kind](self.order, rng))
        else:
            M = MATRICES[self.kind](self.order, rng)
            path = folder / ("M.csv" if isinstance(M, list) or "text" in self.options else "M.npy")
            if isinstance(M, list):
                path.write_text("\n".join(map(" ".join, M)), "utf-8")
            elif "text" in self.options:
                np.savetxt(path, M, "%.17g")
            else:
                np.save(path, M)
        words = ["check", str(path), "--json", "--time-limit", str(self.limit)]
        if "q" in self.options and self.kind in MATRICES:
            q = rng.normal(size=self.order)
            np.save(folder / "q.npy", np.abs(q) if self.kind == "minus identity" else q)
            words += ["--rhs", str(folder / "q.npy")]
        if "certificate" in self.options:
            words += ["--certificate", str(folder / "proof.json")]
        return words

    def run(self) -> "Result":
        """The outcome, from a process of its own."""
        context = multiprocessing.get_context("fork")
        here, there = context.Pipe(duplex=False)
        with tempfile.TemporaryDirectory() as folder:
            child = context.Process(target=_run, args=(self.written(Path(folder)), there))
            child.start()
            there.close()
            found = None
            with contextlib.suppress(EOFError):
                found = here.recv() if here.poll(KILLED) else None
            child.kill()
            child.join()
        return Result(self, *(found or (float("inf"), float("inf"), {})))


@dataclass(frozen=True)
class Result:
    """Times [s] of a try and the data it printed."""

    tried: Try
    processor: float
    wall: float
    data: Data

    @property
    def holds(self) -> bool:
        return self.processor <= self.tried.allowed

    @property
    def verdicts(self) -> str:
        """The P verdict, the form, and the classes that are decided."""
        if "classes" in self.data:
            classes = self.data["classes"]
            yes, no = ([c for c, e in classes.items() if e["verdict"] == v] for v in ("yes", "no"))
            form = self.data["definiteness"]["verdict"]
            return f"{len(classes) - len(yes) - len(no)} undecided; {form}; is {' '.join(yes)}; is not {' '.join(no)}"
        problem = self.data.get("problem") or {}
        found = [f"P {(self.data.get('p_matrix') or {}).get('verdict')}", *(problem.get("existence") or ())]
        found += [problem[k] for k in ("uniqueness", "solutions") if problem.get(k)]
        return "; ".join(x if isinstance(x, str) else str(x.get("verdict", x.get("count"))) for x in found)

    def __str__(self) -> str:
        t = self.tried
        late = " " if self.holds else "!"
        return (
            f"{late} {t.kind:<16}{t.order:>5} {','.join(t.options):<12}{t.limit:>5g} {self.processor:>7.2f} "
            f"{self.wall:>7.2f}  {self.verdicts}"
        )


def measured(words: list[str]) -> tuple[float, float, Data]:
    """Processor time of this thread and wall-clock time [s] of a command, and the data it printed."""
    out = io.StringIO()
    wall, processor = time.perf_counter(), time.thread_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        workbench(words)
    spent = time.thread_time() - processor, time.perf_counter() - wall
    text = out.getvalue()
    return (*spent, json.loads(text[text.index("{") :]) if "{" in text else {})


def _run(words: list[str], pipe: Any) -> None:
    """Run the command and send what was measured."""
    pipe.send(measured(words))


PROCESSOR_TIME = SimpleNamespace(perf_counter=time.thread_time)
"""In the place of `timing.time`: deadlines are kept in processor time."""


def warm() -> None:
    """Let the clock count processor time, and load what a check may need before processes are forked."""
    timing.time = PROCESSOR_TIME
    kinds = ("similar", "psd", "random", "laplacian", "M", "sparse")
    every = [Try(kind, order, 1.0, ("q",)) for kind in kinds for order in (20, 90)]
    every += [Try(kind, 12, 1.0) for kind in PROBLEMS]
    for tried in [*every, Try("psd", 70, 2.0, ("certificate",)), Try("random", 300, 2.0)]:
        with tempfile.TemporaryDirectory() as folder:
            measured(tried.written(Path(folder)))


def tries(kinds: list[str], orders: list[int], limits: list[float], options: tuple[str, ...]) -> Iterator[Try]:
    """Every kind at every order that it is made for, with every limit."""
    for kind in kinds:
        largest = LARGEST_PROBLEM if kind in PROBLEMS else LARGEST_DIGITS if "digits" in kind else max(ORDERS)
        for order in orders:
            if order <= largest:
                yield from (Try(kind, order, limit, options) for limit in limits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kinds", nargs="*", default=[*MATRICES, *PROBLEMS])
    parser.add_argument("--orders", nargs="*", type=int, default=list(ORDERS))
    parser.add_argument("--limits", nargs="*", type=float, default=[0.5, 2.0])
    parser.add_argument("--options", nargs="*", default=[], choices=["q", "text", "certificate"])
    given = parser.parse_args()
    warm()
    late = 0
    for tried in tries(given.kinds, given.orders, given.limits, tuple(given.options)):
        result = tried.run()
        late += not result.holds
        print(result, flush=True)
    print(f"{late} late")
    sys.exit(1 if late else 0)


if __name__ == "__main__":
    main()
