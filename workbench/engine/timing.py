"""A clock that stands still while functions are compiled or fetched from the disk, which happens when they are first
called: what a solve or a run takes is the same the first time as the second."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

_still = 0.0
_since: float | None = None


def clock() -> float:
    """Seconds since some moment, for differences."""
    return (time.perf_counter() if _since is None else _since) - _still


@contextmanager
def standing_still() -> Iterator[None]:
    """Nothing that happens inside takes any time by `clock`."""
    global _still, _since
    if _since is not None:
        yield
        return
    _since = time.perf_counter()
    try:
        yield
    finally:
        _still, _since = _still + time.perf_counter() - _since, None
