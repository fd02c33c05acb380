"""Dask: a study's units go to the workers of a running scheduler (`dask scheduler`, `dask worker`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.studies.pools import Pool
from workbench.support.errors import WorkbenchError

PATIENCE = 10
"""Seconds to wait for a scheduler to answer."""


def dask_pool(address: str) -> Pool:
    """Return the workers of the scheduler at this address; raises WorkbenchError unless each has one thread.

    Kernels compile while holding a lock and the GIL, and a worker that dies takes the units of all its threads with it.
    """
    if not address.rpartition(":")[2].isdecimal():
        raise WorkbenchError(f"Dask's scheduler is given as dask://HOST:PORT, not dask:{address.partition(':')[2]}")
    try:
        from distributed import KilledWorker
    except ImportError as error:
        raise WorkbenchError("executor dask needs distributed: pip install distributed") from error
    with _client(address) as client:
        threads = [worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
    if not threads or max(threads) > 1:
        found = f"workers of {max(threads)} threads" if threads else "no workers"
        raise WorkbenchError(
            f"Dask's scheduler {address} has {found}; start some of one thread each: "
            f"dask worker {address} --nworkers N --nthreads 1"
        )
    return Pool(lambda: _executor(address), len(threads), KilledWorker)


@contextmanager
def _executor(address: str) -> Iterator[Any]:
    with _client(address) as client:
        # Units are not pure functions for Dask: the same one may be needed again.
        yield client.get_executor(pure=False)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    from distributed import Client
    from distributed.utils import silence_logging_cmgr

    # Workers that die and schedulers that are lost are reported by the study itself, not by Dask's log.
    with silence_logging_cmgr("CRITICAL"):
        try:
            client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            why = " ".join(str(error).split())
            words = f"no scheduler of Dask answers at {address} ({why}); start one: dask scheduler"
            raise WorkbenchError(words) from error
        try:
            yield client
        finally:
            client.close(timeout=PATIENCE)
