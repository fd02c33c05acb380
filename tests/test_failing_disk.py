"""Commands on a disk that fails: `python -m tests.failing_disk` does this at every call, and to `compare` too."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.faults import ROOT

if sys.platform != "linux":
    pytest.skip("calls are caught by a library that is loaded before all others", allow_module_level=True)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("cc") is None, reason="a failing disk needs a C compiler")
@pytest.mark.parametrize("command", ["solve FILE", "solve FOLDER", "study", "exam"])
def test_a_command_survives_a_disk_that_fails_at_any_call(command):
    words = [sys.executable, "-m", "tests.failing_disk", "--only", command, "--every", "3"]
    found = subprocess.run(words, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
                           check=False)  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr
