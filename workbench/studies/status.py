"""Progress of a study, read from its folder alone while other processes work on it."""

import time
from collections import Counter
from pathlib import Path

import pandas as pd

from workbench.studies.journal import in_use, read_journals
from workbench.studies.study import PLAN
from workbench.support.errors import WorkbenchError

RECENT = 300.0
"""Seconds over which the rate is averaged."""
MOST_REASONS = 5


def status(folder: Path) -> list[str]:
    """Return the progress in sentences; raises WorkbenchError if the folder contains no study."""
    try:
        wanted = pd.read_parquet(folder / PLAN, columns=["key"])["key"]
    except FileNotFoundError as error:
        raise WorkbenchError(f"'{folder}' holds no study: {PLAN} is missing") from error
    except (OSError, ValueError) as error:
        raise WorkbenchError(f"'{folder}' holds no study: its {PLAN} cannot be read ({error})") from error
    found = read_journals(folder)
    there = [found.records[key] for key in wanted if key in found.records]
    at_work, now = in_use(folder), time.time()
    words = [f"{len(there)} of {len(wanted)} runs are complete.", _at_work(at_work)]
    recent = [record.at for record in there if now - record.at < RECENT]
    if at_work and recent:
        rate = len(recent) / max(now - min(recent), 1.0)
        words.append(f"{rate:.3g} runs per second; about {round((len(wanted) - len(there)) / rate)} s left.")
    reasons = Counter(row.get("reason", "") for record in there if record.failed for row in record.rows[:1])
    words += [f"{count} failed: {reason}" for reason, count in reasons.most_common(MOST_REASONS)]
    words += [
        f"{count} damaged line{'s' * (count > 1)} in {name}; these runs will be repeated."
        for name, count in found.damaged.items()
    ]
    return words


def _at_work(names: list[str]) -> str:
    if not names:
        return "No process is running it."
    return f"{len(names)} process{'es are' if len(names) > 1 else ' is'} running it ({', '.join(names)})."
