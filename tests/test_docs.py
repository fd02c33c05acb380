"""Pages that tell people what to type are typed: every file and every command of them is run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ("docs/declare-your-own.md",)
WORKBENCH = f"{sys.executable} -m workbench"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_works_on_the_files_of_the_page(page, tmp_path):
    for code in blocks(page, "python"):
        name = re.match(r"# (\S+\.py)\n", code)
        assert name, f"a block does not name its file:\n{code}"
        (tmp_path / name[1]).write_text(code, "utf-8")
    commands = [line[2:] for block in blocks(page, "console") for line in block.splitlines() if line.startswith("$ ")]
    assert commands
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    for command in commands:
        words = re.sub(r"^workbench\b", WORKBENCH, re.sub(r"^python\b", sys.executable, command)).split()
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "no answer" not in done.stdout
        assert " no \n" not in done.stdout, f"{command}: a row is not verified\n{done.stdout}"


def test_the_readmes_python_examples_run():
    for code in blocks("README.md", "python"):
        if "import workbench" in code:
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, cwd=ROOT)
            assert done.returncode == 0, done.stderr
