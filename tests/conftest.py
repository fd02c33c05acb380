"""Fixtures that several test modules share."""

import atexit
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

# Several test processes share a machine: threads of the BLAS would wait on each other. Before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Declarations are compiled by the code under test, whatever the user's folder holds; once for all test processes.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["CONTACT_WORKBENCH_CACHE"] = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, os.environ["CONTACT_WORKBENCH_CACHE"], ignore_errors=True)

# The benchmarks are not installed. Last on the path, so that the packages under test stay the installed ones.
sys.path.append(str(Path(__file__).parents[1]))

import pytest

from tests import browser as _browser
from tests import systems as _systems

# What a shell starts in the background ignores Ctrl-C, and so would the processes that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def systems():
    """The module `systems`: random contact systems, and the laws that a step of them has to obey."""
    return _systems


# One for each file of tests, so that what other files do with asyncio meets no running event loop.
@pytest.fixture(scope="module")
def chromium():
    """A browser of `tests/browser.py`; tests of pages rather want `reader`."""
    if _browser.executable() is None:
        pytest.skip("no chromium is installed (Debian: apt-get install chromium)")
    with _browser.started() as found:
        yield found


@pytest.fixture
def reader(chromium, tmp_path):
    """Opens pages: `reader.open(path, width=360, dark=True)`. None may log an error or ask a network for anything."""
    found = _browser.Reader(chromium, tmp_path)
    yield found
    found.close()
    assert found.faults == []
