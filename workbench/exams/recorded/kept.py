"""Outcomes as text for storage, and a digest of everything that determines one."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from workbench.exams.recorded.throws import Subject
from workbench.exams.recorded.trial import Outcome, RealityTrial, tried
from workbench.support.arrays import arrays_as_text, from_text
from workbench.support.sources import digest_of

NUMBERS = "mu", "e", "failures", "seconds"
ARRAYS = "search", "losses", "position", "angle", "spread"


def tried_as_text(unit: tuple[RealityTrial, Subject]) -> list[dict[str, Any]]:
    """Return one row of text: the outcome of a subject, or the `reason` why there is none."""
    trial, subject = unit
    found = tried(trial, subject)
    if found.reason:
        # Subjects for which the time did not suffice may be completed the next time.
        return [{"reason": found.reason} | ({"claimed": "TIME_LIMIT"} if time.time() > trial.until else {})]
    steps = {f"step {k}": x for k, x in enumerate(found.step)}
    arrays = arrays_as_text({name: getattr(found, name) for name in ARRAYS} | steps)
    return [{"arrays": arrays} | {name: getattr(found, name) for name in NUMBERS}]


def outcome_of(subject: Subject, rows: list[dict[str, Any]]) -> Outcome:
    """The outcome from the rows of `tried_as_text`."""
    (row,) = rows
    if "arrays" not in row:
        return Outcome(subject, str(row["reason"]))
    arrays: Mapping[str, Any] = from_text(row["arrays"])
    steps = tuple(arrays[f"step {k}"] for k in range(len(arrays) - len(ARRAYS)))
    own = {name: arrays[name] for name in ARRAYS} | {name: row[name] for name in NUMBERS}
    return Outcome(subject, step=steps, **own)


def key_of(trial: RealityTrial, subject: Subject) -> str:
    """A digest of the code, of the subject, and of all numbers of the trial except the time limit."""
    found = sha256(repr((digest_of(subject.formulation.build), subject.label, str(subject.relaxation))).encode())
    for part in _parts(replace(trial, until=np.inf)):
        found.update(part)
    return found.hexdigest()[:32]


def _parts(x: Any) -> Iterator[bytes]:
    if is_dataclass(x):
        for field in fields(x):
            yield from _parts(getattr(x, field.name))
    elif isinstance(x, tuple):
        yield b"(%d" % len(x)
        for y in x:
            yield from _parts(y)
    elif isinstance(x, np.ndarray):
        yield repr(x.shape).encode() + x.tobytes()
    else:
        yield repr(x).encode() + b"\0"
