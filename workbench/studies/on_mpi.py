"""MPI by mpi4py.futures: the first rank holds the study, the others run its units."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.studies.pools import THREADS, Pool
from workbench.support.errors import WorkbenchError

START = "mpiexec -n 3 python -m mpi4py.futures -m workbench study ..."


def mpi_pool() -> Pool:
    """Return the other ranks; raises WorkbenchError if there are none. In MPI, a rank that dies ends all of them."""
    if "mpi4py.futures" not in sys.orig_argv:
        raise WorkbenchError(f"executor mpi is started by {START}")
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise WorkbenchError(f"executor mpi needs mpi4py and an MPI library: pip install mpi4py ({error})") from error
    ranks = MPI.COMM_WORLD.Get_size()
    if ranks < 2:
        raise WorkbenchError(f"executor mpi needs two ranks or more; there is one: {START}")
    return Pool(_executor, ranks - 1)


@contextmanager
def _executor() -> Iterator[Any]:
    from mpi4py.futures import MPIPoolExecutor

    # As text: unpickling one of our functions would import NumPy, whose library would then read its number of threads.
    pinned = "; ".join(f"os.environ.setdefault('{name}', '1')" for name in THREADS)
    # Objects defined in a script are pickled by value: the other ranks need not import it, nor run our command line.
    pool = MPIPoolExecutor(initializer=exec, initargs=(f"import os; {pinned}",), main=False)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
