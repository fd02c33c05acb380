"""Code that runs in processes of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(code, folder, **environment):
    """The words that a fresh process prints."""
    command = [sys.executable, "-c", code]
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"} | environment
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def two_modules(folder):
    """What is linked in, `low`, and what it is linked into, `high`; the folder that holds both."""
    (folder / "low.py").write_text(
        "from numba import types\nfrom workbench.engine.compiling import kernel\nSHARE = 2.0\n"
        "@kernel(types.float64(types.float64), linked=True)\ndef part(a):\n    return a * SHARE\n"
        "@kernel(types.float64(types.float64))\ndef other(a):\n    return a + 1.0\n"
    )
    (folder / "high.py").write_text(
        "from numba import types\nfrom workbench.engine.compiling import kernel\nfrom low import part, other\n"
        "@kernel(types.float64(types.float64))\ndef whole(a):\n    return other(part(a))\n"
    )
    return folder
