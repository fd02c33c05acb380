"""The table of all columns, which `python -m workbench.builtin.reports.text.columns > docs/columns.md` writes."""

from collections.abc import Sequence

from workbench.comparison.columns import DIAGNOSTICS, ONWARD, RUNS, TRAJECTORIES, Column
from workbench.comparison.metrics import METRICS
from workbench.comparison.scenes.bodies import BODIES
from workbench.comparison.timeline import EVENTS, TIMELINE
from workbench.studies.refinement import COLUMNS, ROWS

INTRODUCTION = """# Columns

What the frames of a comparison hold, and at the end those of `workbench convergence`; definitions are in the
[formulary](formulary.md), section 7. Column by column,
`frame.attrs["columns"]` has the same, and so has a Parquet file. This page is written by
`python -m workbench.builtin.reports.text.columns > docs/columns.md`.

Columns of a *case* are not those of a *problem* from a file, nor of a *scene*, where the table says so. NaN means "not
defined": a column is defined where it says and everywhere if it says nothing, and a metric needs an answer besides, of
a case or a scene one for the whole window.
"""


def markdown() -> str:
    """The whole page."""
    metrics = [c for m in METRICS for c in m.columns]
    parts = (
        ("`runs`: a row per formulation and solver, of a case or scene also per step size and window", RUNS),
        ("`runs`: the metrics, one file each in `workbench/comparison/metrics`", metrics),
        ("`trajectories`: a row per run, step and contact; of scenes per run, moment and body", TRAJECTORIES),
        ("`diagnostics`: a row per formulation, step size and quantity, of cases", DIAGNOSTICS),
        ("`onward`: a row per formulation, step size and number of steps from exact states, of cases", ONWARD),
        ("`bodies`: a row per run and body, of scenes", BODIES),
        (
            "`timeline`: a row per run, contact or pair of bodies, and time in which it sticks or slides throughout",
            TIMELINE,
        ),
        ("`events`: a row per event of the reference, and per run and event missed or in excess, of cases", EVENTS),
        ("`orders` of `convergence`: a row per formulation, scheme, phase of the motion and error", COLUMNS),
        ("`rows` of `convergence`: a row per formulation, scheme, step size and phase of the motion", ROWS),
    )
    return "\n".join([INTRODUCTION, *(f"## {title}\n\n{_table(columns)}" for title, columns in parts)])


def _table(columns: Sequence[Column]) -> str:
    lines = ["| column | unit | of | meaning | defined |", "|---|---|---|---|---|"]
    for c in columns:
        about = ", ".join(x for x in ("case", "problem", "scene") if x in c.of)
        # A bar would end the cell.
        meaning = c.meaning.replace("|", "&#124;")
        lines.append(f"| `{c.name}` | {c.unit} | {about} | {meaning} | {c.defined} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    print(markdown(), end="")
