"""The code blocks of the documentation are run, page by page and in their order, in a folder of their own.

A block whose first line is `# NAME.ending`, or `<!-- NAME.ending -->`, is a file. Other Python blocks share their
names; those with `>>>` are doctests. In a console block `$` leads in a command, and where lines follow it, they are
what it prints; `...` stands for whatever is left out. Other blocks of `sh`, `toml`, `text`, `latex` and `xml` are only
shown.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.cli.main import main

DOCS = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?:#|<!--) (\S+\.\w+)(?: -->)?\n")
SHOWN = {"sh", "toml", "text", "latex", "xml"}
COMPARING = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class ExampleError(Exception):
    """A code block of the documentation does not do what the page says."""


def pages() -> list[Path]:
    """All pages with code blocks that are run."""
    found = [path for path in sorted(DOCS.rglob("*.md")) if "decisions" not in path.parts]
    return [path for path in found if any(language not in SHOWN for language, _ in blocks(path))]


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and code of each block; Sphinx' own directives, in braces, are none."""
    return BLOCK.findall(page.read_text("utf-8"))


def check(page: Path) -> None:
    """Run the blocks of a page. Raises ExampleError where one does something else than the page says."""
    names: dict[str, Any] = {"__name__": page.stem}
    with tempfile.TemporaryDirectory() as folder, _within(Path(folder)):
        for language, code in blocks(page):
            named = FILE.match(code)
            if named:
                Path(named[1]).write_text(code, "utf-8")
            elif language == "python":
                _python(page, code, names)
            elif language == "console":
                for command, shown in _commands(code):
                    _command(page, command, shown)
            elif language not in SHOWN:
                raise ExampleError(f"{page.name}: a block of {language}, which is neither run nor known")


@contextlib.contextmanager
def _within(folder: Path) -> Iterator[None]:
    """In this folder, as somebody at a terminal would be, and without traces of it afterwards."""
    path, modules, size = [*sys.path], {*sys.modules}, os.environ.get("COLUMNS")
    sys.path.insert(0, str(folder))
    os.environ["COLUMNS"] = "120"
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        sys.path[:] = path
        for name in {*sys.modules} - modules:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(f"{folder}{os.sep}"):
                del sys.modules[name]
        os.environ.pop("COLUMNS") if size is None else os.environ.update(COLUMNS=size)


def _python(page: Path, code: str, names: dict[str, Any]) -> None:
    said = io.StringIO()
    if ">>>" not in code:
        with contextlib.redirect_stdout(said):
            exec(compile(code, str(page), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), 0)
    if doctest.DocTestRunner(optionflags=COMPARING).run(test, out=said.write, clear_globs=False).failed:
        raise ExampleError(said.getvalue())
    names.update(test.globs)


def _commands(code: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with the lines below it."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def _command(page: Path, command: str, shown: str) -> None:
    program, *words = shlex.split(command)
    if program == "workbench":
        status, said = _workbench(words)
    elif program == "python":
        root = os.pathsep.join([str(DOCS.parent), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, *words], env=os.environ | {"PYTHONPATH": root}, capture_output=True, text=True
        )
        status, said = done.returncode, done.stdout + done.stderr
    else:
        raise ExampleError(f"{page.name}: `{command}` is no command of the workbench and no script")
    if shown.strip():
        works = status == 0 and doctest.OutputChecker().check_output(shown, said, COMPARING)
    else:
        # Of tables, every row has an answer and is verified.
        works = status == 0 and "no answer" not in said and " no \n" not in said
    if not works:
        raise ExampleError(f"{page.name}: {command}\n{shown and 'shown: ' + shown}\nprinted: {said}")


def _workbench(words: list[str]) -> tuple[int, str]:
    """Within this process, where everything is imported: that takes a third of the time."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            status = main(words)
        except SystemExit as leaving:
            status = int(leaving.code or 0)
    return status, said.getvalue()
