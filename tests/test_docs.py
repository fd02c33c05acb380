"""Pages that tell people what to type are typed: every file and every command of them is run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = ("docs/declare-your-own.md",)


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_works_on_the_files_of_the_page(page, tmp_path, monkeypatch, capsys):
    """Those of the workbench within this process, where everything is imported: that takes a third of the time."""
    for code in blocks(page, "python"):
        name = re.match(r"# (\S+\.py)\n", code)
        assert name, f"a block does not name its file:\n{code}"
        (tmp_path / name[1]).write_text(code, "utf-8")
    commands = [line[2:] for block in blocks(page, "console") for line in block.splitlines() if line.startswith("$ ")]
    assert commands
    monkeypatch.chdir(tmp_path)
    # Their folders are no part of the path of later tests.
    monkeypatch.setattr(sys, "path", [*sys.path])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    for command in commands:
        program, *words = command.split()
        if program == "workbench":
            status, (said, complained) = main(words), capsys.readouterr()
        else:
            done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True)
            status, said, complained = done.returncode, done.stdout, done.stderr
        assert status == 0, f"{command}\n{said}\n{complained}"
        assert "no answer" not in said
        assert " no \n" not in said, f"{command}: a row is not verified\n{said}"


def test_the_readmes_python_examples_run():
    for code in blocks("README.md", "python"):
        if "import workbench" in code:
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, cwd=ROOT)
            assert done.returncode == 0, done.stderr
