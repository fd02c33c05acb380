"""Journals of studies that are written on purpose, and what folders keep of them: the one place that opens them."""

from pathlib import Path
from typing import Any

from workbench.studies.journal import Journal, read_journals


def write(folder: Path, records: dict[str, list[dict[str, Any]]], name: str = "journal.jsonl") -> None:
    """Add the rows of runs to a folder's journal, each run a record of its own."""
    with Journal(folder / name) as journal:
        for record in records.items():
            journal.append([record])


def kept(folder: Path) -> dict[str, tuple[float, list[dict[str, Any]]]]:
    """When the rows of each run were written, and these rows."""
    return {key: (record.at, record.rows) for key, record in sorted(read_journals(folder).records.items())}


def damaged(folder: Path) -> dict[str, int]:
    """The number of damaged lines in each journal that has some."""
    return read_journals(folder).damaged
