"""A comparison on disk: frames as Parquet, motion and problem as npz, the rest as comparison.json.

Open formats alone: nothing that is read names code to import or to run. A case of somebody's own comes back as what is
shown of it, a formulation as its name, options and mathematics, a metric as its columns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from workbench.comparison.columns import (
    CASE,
    DIAGNOSTICS,
    EVENTS,
    ONWARD,
    PROBLEM,
    RUNS,
    SCENE,
    SHOWN,
    TIMELINE,
    TRAJECTORIES,
    Column,
    framed,
)
from workbench.comparison.failure import Failed
from workbench.comparison.jobs import Settings
from workbench.comparison.metric import Metric
from workbench.comparison.motion import DrawnMotion
from workbench.comparison.plain_data import built, checked, from_json, written
from workbench.comparison.result import Comparison
from workbench.comparison.scenes.bodies import BODIES
from workbench.comparison.shown import SavedCase, SavedFormulation, SceneShown
from workbench.mechanics.case import Truth
from workbench.problems.friction_problem import FrictionProblem
from workbench.readers.files import read_problem_file, write_problem_file
from workbench.support.errors import DataError
from workbench.support.output import write_json

FORMAT, VERSION = "contact-workbench comparison", 8
"""Format and version in comparison.json; the version is raised when another release could not read it."""
FRAMES = ("runs", "trajectories", "diagnostics")
OF_CONTACTS = {"timeline": TIMELINE, "events": EVENTS}
"""Frames that a comparison of a case may have; what it has is in `Content.contacts`."""
MOST_CELLS = 200_000_000
"""Cells of a frame that is read; few bytes may stand for more than memory holds."""
Polygon = tuple[tuple[float, float], ...]
CARD = {
    "name": str, "label": str, "friction": str, "source": str, "theory": str, "problem_class": str,
    "relations": tuple[str, ...], "sets": tuple[tuple[str, str], ...], "blocks": str,
    "glossary": tuple[tuple[str, str], ...], "compiled": bool, "failure": Failed | None,
    "section": Polygon | None, "sliding_section": Polygon | None, "section_axes": tuple[str, str] | None,
}  # fmt: skip
"""Types of the entries of a formulation's mathematics; other entries are kept unchanged."""


@dataclass(frozen=True)
class SavedMetric:
    """The columns of a metric."""

    name: str
    column: Column
    parts: tuple[Column, ...]


@dataclass(frozen=True)
class Content:
    """Contents of comparison.json without its format: everything of a comparison except frames and the optional motion.

    `case` is None for a file and for a scene.
    """

    name: str
    case: SavedCase | None
    formulations: tuple[SavedFormulation, ...]
    metrics: tuple[SavedMetric, ...]
    mathematics: tuple[dict[str, Any], ...]
    settings: Settings
    truths: tuple[Truth, ...]
    remarks: tuple[str, ...]
    facts: dict[str, Any]
    known: dict[str, Any]
    seconds: float | None
    motion: bool
    scene: SceneShown | None
    contacts: tuple[str, ...] = ()


def save(c: Comparison, folder: Path) -> None:
    """Write comparison.json and the frames, whose columns carry units and meanings, into a folder that is there."""
    contacts = tuple(name for name in OF_CONTACTS if len(getattr(c, name).columns)) if c.case is not None else ()
    of_scene = ["bodies", "timeline"] * (c.scene is not None)
    for name in (*FRAMES, *of_scene, *["onward"] * (c.case is not None), *contacts):
        (folder / f"{name}.parquet").write_bytes(getattr(c, name).to_parquet(index=False))
    content = Content(
        c.name, None if c.case is None else SavedCase.of(c.case),
        tuple(SavedFormulation(f.name, f.label, f.friction, dict(f.options), f.axes) for f in c.formulations),
        tuple(SavedMetric(m.name, m.column, m.parts) for m in c.metrics),
        c.mathematics, c.settings, c.truths, c.remarks, c.facts, c.known, c.seconds, c.motion is not None,
        c.scene, contacts,
    )  # fmt: skip
    write_json(folder / "comparison.json", {"format": FORMAT, "version": VERSION, **written(content)})
    if c.motion is not None:
        c.motion.save(folder / "motion.npz")
    if c.problem is not None:
        write_problem_file(c.problem, folder / "problem.npz")


def load(folder: Path) -> Comparison:
    """Return a saved comparison; raises DataError if anything is missing, damaged, or of another format."""
    place = folder / "comparison.json"
    given = _json(place)
    if not isinstance(given, dict) or given.pop("format", None) != FORMAT:
        raise DataError(f"'{place}' is not a saved comparison; give folders that workbench compare wrote")
    if (version := given.pop("version", None)) != VERSION:
        raise DataError(f"'{place}' has format {version!r}, and this workbench reads {VERSION}; run compare again")
    # Comparisons older than scenes say nothing of one, and some of cases have no timeline of contacts.
    found = built(Content, {"scene": None, "contacts": []} | given, f"'{place}'")
    metrics = tuple(Metric(m.name, _not_kept, m.column, m.parts) for m in found.metrics)
    columns = [x for m in metrics for x in m.columns]
    for x in columns:
        if x.shown not in SHOWN:
            raise DataError(f"'{place}': column {x.name} is shown as {x.shown!r}; it can be {', '.join(SHOWN)}")
    about = SCENE if found.scene else PROBLEM if found.case is None else CASE
    labels = [f.label for f in found.formulations]
    if found.case is not None:
        found.case.sketch()
    cards = tuple(_card(card, f"'{place}': mathematics") for card in found.mathematics)
    known = {"runs": [*RUNS, *columns], "trajectories": TRAJECTORIES, "diagnostics": DIAGNOSTICS}
    runs, trajectories, diagnostics = (
        _frame(folder / f"{name}.parquet", known[name], about, needed=name != "trajectories") for name in FRAMES
    )
    _must_fit(folder, found, [card["label"] for card in cards] == labels, runs, labels)
    # What an earlier comparison has left in the folder is not this one's.
    motion = _read(DrawnMotion.load, folder / "motion.npz") if found.motion else None
    problem = None if found.case or found.scene else _read(read_problem_file, folder / "problem.npz")
    if problem is not None and not isinstance(problem, FrictionProblem):
        raise DataError(f"'{folder / 'problem.npz'}' holds no friction problem over W; run compare again")
    return Comparison(
        found.name, found.formulations, metrics, runs, trajectories, diagnostics, cards, found.case, found.settings,
        found.truths, found.remarks, problem, found.facts, found.known, found.seconds, motion, found.scene,
        _frame(folder / "bodies.parquet", BODIES, SCENE, needed=True) if found.scene else pd.DataFrame(),
        _frame(folder / "onward.parquet", ONWARD, CASE, needed=True) if found.case else pd.DataFrame(),
        *(
            _frame(folder / f"{name}.parquet", columns, about, needed=True)
            if name in found.contacts or (found.scene and name == "timeline") else pd.DataFrame()
            for name, columns in OF_CONTACTS.items()
        ),
    )  # fmt: skip


def provenance_of(folder: Path) -> dict[str, Any]:
    """Return the contents of provenance.json; raises DataError if its time or versions are missing."""
    place = folder / "provenance.json"
    given = _json(place)
    if not isinstance(given, dict):
        raise DataError(f"'{place}' lists no run; run compare again")
    checked(str, given.get("created"), f"'{place}': created")
    checked(dict[str, str], given.get("versions"), f"'{place}': versions")
    return given


def _json(place: Path) -> Any:
    try:
        return from_json(place.read_text("utf-8"), f"'{place}'")
    except UnicodeDecodeError:
        raise DataError(f"'{place}' is not text; it is damaged or of another kind") from None
    except OSError as error:
        words = f"'{place}' cannot be read: {error.strerror}"
        raise DataError(f"{words}; give a folder that workbench compare wrote") from None


def _not_kept(m: Any) -> float:
    raise DataError("a metric from a saved comparison has columns and no function; run compare again")


def _card(given: Mapping[str, Any], place: str) -> dict[str, Any]:
    if set(CARD) - set(given):
        raise DataError(f"{place} lacks {', '.join(sorted(set(CARD) - set(given)))}; it is damaged or of another kind")
    return {key: checked(CARD.get(key, Any), value, f"{place}: {key}") for key, value in given.items()}


def _read(reader: Callable[[Path], Any], place: Path) -> Any:
    """Read a file with a reader, whose errors are reported in one line."""
    try:
        return reader(place)
    except DataError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"'{place}' cannot be read: {reason or type(error).__name__}; it is damaged") from None


def _table(place: Path) -> pd.DataFrame:
    with pq.ParquetFile(place) as file:
        if file.metadata.num_rows * file.metadata.num_columns > MOST_CELLS:
            raise DataError(f"'{place}' has {file.metadata.num_rows} rows, more than are drawn")
        return file.read().to_pandas(ignore_metadata=True)


def _frame(place: Path, columns: Any, about: frozenset[str], needed: bool) -> pd.DataFrame:
    """Return the frame of these columns; all are `needed`, or only the available ones are taken."""
    frame = _read(_table, place)
    wanted = [x for x in columns if about <= x.of]
    missing = [x.name for x in wanted if x.name not in frame]
    if needed and missing:
        raise DataError(f"'{place}' lacks the columns {', '.join(missing[:5])}; it is damaged or of another kind")
    wanted = [x for x in wanted if x.name in frame]
    for x in wanted:
        if x.unit and len(frame) and not pd.api.types.is_numeric_dtype(frame[x.name]):
            raise DataError(f"'{place}': column {x.name} holds {frame[x.name].dtype}; numbers are needed")
    return framed(frame, wanted, about)


def _must_fit(folder: Path, found: Content, cards: bool, runs: pd.DataFrame, labels: list[str]) -> None:
    """Raise DataError if the frames and comparison.json belong to different comparisons."""
    settings = found.settings
    stepped = found.case is not None or found.scene is not None
    steps = stepped and bool(set(runs["step"]) - set(settings.steps))
    steps |= found.case is not None and None in vars(settings).values()
    known = {*labels, *(found.scene.engines if found.scene else ())}
    if runs.empty or not cards or steps or set(runs["label"]) - known:
        raise DataError(f"'{folder}': runs.parquet and comparison.json are of different comparisons")
