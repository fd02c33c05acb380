"""Fixtures that several test modules share."""

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
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

# What a shell starts in the background ignores Ctrl-C, and below nohup a closed terminal; so would the processes that
# tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser):
    parser.addoption("--part", help="K/N: of N parts of the tests the one of number K, counted from 1, file by file")


def pytest_configure(config):
    # What is collected lives as long as the process: the garbage collector would look through it in vain.
    gc.disable()
    # Processes of xdist are given the words of the command line, and take the same files.
    if part := config.getoption("--part"):
        config.args[:] = _of_part(part, map(Path, config.args))


def _of_part(part, paths):
    """Of the files of tests in these folders and files those of the part: its N parts are all of them."""
    k, n = (int(x) for x in part.split("/"))
    if not 1 <= k <= n:
        raise pytest.UsageError(f"--part {part}: K/N with 1 <= K <= N is needed, such as 2/5")
    files = sorted(str(file) for path in paths for file in (path.glob("test_*.py") if path.is_dir() else [path]))
    return files[k - 1 :: n]


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


# Before pytest's own, which takes tests by their marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Where a test is marked share(N), one in N of its cases is in every run, and the others are thorough."""
    seen = Counter()
    for item in items:
        if mark := item.get_closest_marker("share"):
            test = item.nodeid.partition("[")[0]
            if seen[test] % mark.args[0]:
                item.add_marker(pytest.mark.thorough)
            seen[test] += 1


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
