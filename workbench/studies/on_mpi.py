"""MPI: the first rank holds the study, the others make its units, by mpi4py.futures."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.errors import WorkbenchError
from workbench.studies.pools import THREADS, Pool

START = "mpiexec -n 3 python -m mpi4py.futures -m workbench study ..."


def mpi_pool() -> Pool:
    """The other ranks; raises WorkbenchError where there are none. By MPI's rules a rank that dies ends them all."""
    if "mpi4py.futures" not in sys.orig_argv:
        raise WorkbenchError(f"executor mpi is started by {START}")
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise WorkbenchError(
            f"executor mpi needs mpi4py and an MPI library: pip install 'contact-workbench[cluster]' ({error})"
        ) from error
    ranks = MPI.COMM_WORLD.Get_size()
    if ranks < 2:
        raise WorkbenchError(f"executor mpi needs two ranks or more; there is one: {START}")
    return Pool(_executor, ranks - 1)


@contextmanager
def _executor() -> Iterator[Any]:
    from mpi4py.futures import MPIPoolExecutor

    # By text: unpickling a function of ours would import NumPy, whose library counts its threads then.
    pinned = "; ".join(f"os.environ.setdefault('{name}', '1')" for name in THREADS)
    # What a script defines travels by value: the other ranks need not import it, nor run our command line.
    pool = MPIPoolExecutor(initializer=exec, initargs=(f"import os; {pinned}",), main=False)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
