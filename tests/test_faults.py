"""No finished row of a study is lost, whatever happens to it; `python -m tests.faults` does this at more moments."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.faults import FAULTS, ROOT, dask_worker_killed, moments, tried

if sys.platform != "linux":
    pytest.skip("processes are found in /proc", allow_module_level=True)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_study_outlives(fault):
    if fault is dask_worker_killed and find_spec("distributed") is None:
        pytest.skip("distributed is not installed: pip install '.[test]'")
    (moment,) = moments(seed=149 + FAULTS.index(fault), count=1)
    assert tried(fault, moment) == []


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("cc") is None, reason="a failing disk needs a C compiler")
@pytest.mark.parametrize("command", ["solve FILE", "solve FOLDER", "study", "exam"])
def test_a_command_survives_a_disk_that_fails_at_any_call(command):
    words = [sys.executable, "-m", "tests.failing_disk", "--only", command, "--every", "3"]
    found = subprocess.run(words, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
                           check=False)  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr
