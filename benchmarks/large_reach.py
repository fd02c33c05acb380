"""What `check` and `verify` take on large sparse matrices: time and memory by kind and order.

    python benchmarks/large_reach.py [--smoke]

Prints a table: kind, order, entries other than zero, processor seconds of `workbench check FILE.mtx` and its peak
memory, classes decided of 19, processor seconds of `workbench verify`. Every command is a process of its own, imports
included, with the default limit of ten seconds, kept in processor time.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import sparse
from scipy.io import mmwrite

LARGEST_DENSE = 3000


def line(n):
    """Second differences: an M-matrix, positive definite, not strictly dominant."""
    return sparse.diags_array([-np.ones(n - 1), np.full(n, 2.0), -np.ones(n - 1)], offsets=[-1, 0, 1])


def grid(n, axes):
    """Second differences on a square or a cube of about n points, and a skew part, so that it is no M-matrix."""
    k = round(n ** (1 / axes))
    total = 0
    for axis in range(axes):
        term = sparse.eye_array(1)
        for other in range(axes):
            term = sparse.kron(term, line(k) if other == axis else sparse.eye_array(k))
        total = total + term
    upper = sparse.triu(total, 1)
    return sparse.coo_array(total + 3 * (upper - upper.T))


def p_blocks(n, rng):
    """Blocks of 4 to 10 rows, positive definite plus skew, their rows scaled: neither definite nor dominant."""
    blocks, rows = [], 0
    while rows < n:
        m = min(int(rng.integers(4, 11)), n - rows)
        A, K = rng.integers(-2, 3, (m, m)), rng.integers(-9, 10, (m, m))
        blocks.append(np.exp2(rng.integers(-3, 4, m))[:, None] * (A @ A.T + np.eye(m) + K - K.T))
        rows += m
    return blocks


def islands(n, rng):
    return sparse.block_diag(p_blocks(n, rng))


def triangular(n, rng):
    """The same blocks, each coupled to later ones, rows and columns in disorder."""
    blocks = p_blocks(n, rng)
    label = np.repeat(np.arange(len(blocks)), [len(b) for b in blocks])
    i, j = rng.integers(0, n, (2, 4 * n))
    later = label[i] < label[j]
    couplings = sparse.coo_array((np.round(100 * rng.normal(size=later.sum())), (i[later], j[later])), shape=(n, n))
    order = rng.permutation(n)
    return (sparse.block_diag(blocks).tocsr() + couplings.tocsr())[order][:, order]


def dense(n, rng):
    A = rng.normal(size=(n, n // 2))
    return A @ A.T / n + 0.1 * np.eye(n)


def collection(smoke):
    rng = np.random.default_rng(1)
    for n in (620,) if smoke else (1000, 2000, 5000):
        yield "second differences", line(n)
        yield "grid in the plane", grid(n, 2)
        if not smoke:
            yield "grid in space", grid(n, 3)
        yield "islands of 4 to 10", islands(n, rng)
        yield "block triangular", triangular(n, rng)
        if n <= LARGEST_DENSE:
            yield "dense, definite", dense(n, rng)


def measured(words):
    """Output, processor seconds and peak memory [MB] of a command."""
    code = (
        "import resource, sys, time; from types import SimpleNamespace\n"
        "from workbench.cli.main import main; from workbench.engine import timing\n"
        "timing.time = SimpleNamespace(perf_counter=time.thread_time)\n"
        "status = main(sys.argv[1:])\nused = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    seconds, memory = done.stderr.split()[-2:]
    return done.stdout, float(seconds), float(memory)


def main():
    print("| matrix | n | entries | check [s] | [MB] | decided | verify [s] |\n|---|---|---|---|---|---|---|")
    for name, M in collection("--smoke" in sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            path, proof = (str(Path(folder) / x) for x in ("M.mtx" if sparse.issparse(M) else "M.npy", "proof.json"))
            if sparse.issparse(M):
                mmwrite(path, sparse.coo_array(M))
            else:
                np.save(path, M)
            few = sparse.issparse(M)
            certificate = ["--certificate", proof] if few else []
            out, _, _ = measured(["check", path, "--json", *certificate])
            classes = json.loads(out)["classes"].values()
            _, seconds, memory = measured(["check", path])
            checked = f"{measured(['verify', proof])[1]:.1f}" if few else "-"
        decided = sum(x["verdict"] != "undecided" for x in classes)
        entries = M.nnz if few else M.size
        print(
            f"| {name} | {M.shape[0]} | {entries} | {seconds:.1f} | {memory:.0f} | {decided} | {checked} |", flush=True
        )


if __name__ == "__main__":
    main()
