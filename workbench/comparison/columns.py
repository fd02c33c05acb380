"""The columns of a comparison's frames: name, unit, meaning. Those of `runs` that are computed are `metrics`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

CASE, PROBLEM, SCENE = frozenset({"case"}), frozenset({"problem"}), frozenset({"scene"})
BOTH = CASE | PROBLEM
STEPPED, ALL = CASE | SCENE, BOTH | SCENE
SHOWN = {
    "percent": (100.0, "{:.3g}", "%"), "degrees": (1.0, "{:.3g}", "°"), "milliseconds": (1e3, "{:.4g}", "ms"),
    "millimetres": (1e3, "{:.3g}", "mm"), "radians": (180.0 / np.pi, "{:.3g}", "°"),
    "number": (1.0, "{:.4g}", ""), "small": (1.0, "{:.0e}", ""), "count": (1.0, "{:.0f}", ""),
}  # fmt: skip
"""Display of a kind of column in tables: factor, format, unit in the heading. `small` shows the order of magnitude."""


@dataclass(frozen=True)
class Column:
    """A column: its unit ("1" for a pure number, "" for text), its meaning, where it is defined and NaN elsewhere.

    `of` names what has it, comparisons on a case, on a problem or both; tables show what has a `heading`, as `shown`.
    `part` names the part of an error budget that it is (`measured.PARTS`).
    """

    name: str
    unit: str
    meaning: str
    defined: str = ""
    of: frozenset[str] = BOTH
    heading: str = ""
    shown: str = "number"
    part: str = ""

    @property
    def title(self) -> str:
        """The heading with the unit that the table's numbers have."""
        unit = SHOWN[self.shown][2] or (self.unit if self.shown == "number" and self.unit != "1" else "")
        return f"{self.heading} [{unit}]" if unit else self.heading


LABELS = (
    Column("case", "", "name of the case", of=CASE),
    Column("file", "", "name of the problem", of=PROBLEM),
    Column("scene", "", "name of the scene", of=SCENE),
    Column("formulation", "", "name of the formulation", of=ALL),
    Column("label", "", "name of the formulation, with the options that differ from their defaults", of=ALL),
)
MODES = OPEN, SLIDING, STICKING = "open", "sliding", "sticking"
"""Modes of a contact."""
WORLD = "world"
"""The name of what does not move, as MuJoCo and URDF have it."""
ANSWERED = "where there is a solution"
WHOLE = "where the window is complete"
DRAWN = "where the bodies have shapes"
REPEATED = "where the run is no sample and reaches its end"
SEVERAL = "where a step has several"
TAKEN = "where a step has several, and the formulation has no springs of its own"
RUNS = (
    *LABELS,
    Column("options", "", "all options of the formulation", of=ALL),
    Column("law", "", "friction law that it discretises; it is judged by this law and by Coulomb's"),
    Column("axes", "", "tangent axes of friction in space: fixed, body, sliding; empty where it has none"),
    Column("condition", "", "condition under which its motion is that of Coulomb's law, where one is known", of=ALL),
    Column("solver", "", "name of the solver", of=ALL),
    Column("problem_class", "", "class of the problem that was solved", of=ALL),
    Column("step", "s", "step size", of=STEPPED),
    Column("window", "", "name of the window", of=STEPPED),
    Column("window_start", "s", "start of the window", of=STEPPED),
    Column("window_end", "s", "end of the window; the end of the run may clip it", of=STEPPED),
    Column("clipped", "", "whether the run ends before the window", of=STEPPED),
    Column(
        "body_size", "m", "longest edge of the bounding box of the largest body; 0 for a point mass", DRAWN, STEPPED
    ),
    Column("path_length", "m", "longest path of a body in the reference, over the window", DRAWN, STEPPED),
    Column(
        "growth", "1", "largest growth of an initial displacement of 1e-7 m under exact Coulomb friction at this step, "
        "in the first window", REPEATED, CASE,
    ),
    Column("steps", "1", "number of finished steps in the window, or in the sample", of=STEPPED),
    Column(
        "sampled", "", "whether only a sample of the steps was solved, each from a state of the round-off run",
        of=STEPPED,
    ),
    Column("size", "1", "order of the reduced problem", ANSWERED),
    Column("rank", "1", "rank of the reduced lead matrix in the first step", ANSWERED, CASE),
    Column("rank_min", "1", "least rank of the reduced lead matrix in the window", ANSWERED, CASE),
    Column("rank_tolerance", "of M", "threshold above which singular values of the first step count", ANSWERED, CASE),
    Column(
        "claimed", "", "status reported by the solver, or why there is no answer: REFUSED, FAILED, TIME_LIMIT, CRASHED",
        of=ALL,
    ),
    Column("verified", "", "whether the window is complete and the residual within the tolerance", of=ALL),
    Column(
        "residual", "1", "largest residual of the posed problem over the window", WHOLE, ALL,
        heading="residual", shown="small",
    ),
    Column("tolerance", "1", "largest residual at which an answer of this solver is verified", ANSWERED, ALL),
    Column("reason", "", "why there is no verified answer", of=ALL),
    Column(
        "iterations", "1", "iterations of the solver over the window, in all passes", ANSWERED, ALL,
        heading="iter.", shown="count",
    ),
    Column("taken_over", "", "methods that took over from the solver, with the number of steps of each", of=STEPPED),
    Column("passes_max", "1", "most passes in a step until data that depend on the answer converged", of=CASE),
    Column("build_time", "s", "time to compile the declaration; for a problem, to pose it", ANSWERED),
    Column(
        "solve_time", "s", "time of all steps; for a problem, of the solver in all passes", ANSWERED, ALL,
        heading="time", shown="milliseconds",
    ),
    Column(
        "cost", "s", "time per step, for a problem that of the solver: median of the timings; where a run is short "
        "enough to be repeated, the first timing, which loads code, is discarded", ANSWERED, ALL,
    ),
    Column("cost_low", "s", "shortest of these timings", ANSWERED, ALL),
    Column("cost_high", "s", "longest of these timings", ANSWERED, ALL),
    Column("timings", "1", "number of timings", ANSWERED, ALL),
    Column("notes", "", "metrics that could not be computed, with the reason", of=ALL),
    Column("steps_examined", "1", "steps of exact Coulomb friction whose solutions were counted or looked for", of=ALL),
    Column(
        "steps_counted", "1", "steps among these for which it is proved how many contact velocities obey Coulomb's law",
        of=ALL,
    ),
    Column("steps_several", "1", "steps among these for which several are proved", of=ALL),
    Column("several_from", "s", "start of the first of the steps with several", SEVERAL, STEPPED),
    Column("solutions_apart", "m/s", "largest distance of two of these contact velocities", SEVERAL, ALL),
    Column(
        "took_reference", "1", "steps with several at which the formulation's step from the same state is nearest to "
        "the solution of exact Coulomb friction", TAKEN, ALL,
    ),
    Column("took_other", "1", "steps with several at which it is nearest to another solution", TAKEN, ALL),
    Column(
        "took_none", "1", "steps with several at which it is farther from each than they are from one another", TAKEN,
        ALL,
    ),
    Column("solution_distance", "m/s", "largest distance from the nearest solution", TAKEN, ALL),
    Column(
        "first_contact", "s", "start of the first step with a contact force between two bodies",
        "where there is one", SCENE,
    ),
    Column("first_pair", "", "names of these bodies", of=SCENE),
)  # fmt: skip
"""Columns of `runs`; those of the metrics follow."""
TIMES = ("build_time", "solve_time", "cost", "cost_low", "cost_high", "timings")
"""Columns of `runs` that are not the same when the same comparison is made again."""

TRAJECTORIES = (
    *LABELS,
    Column("role", "", '"run", or "reference" for Coulomb\'s law, of a case every tenth step', of=ALL),
    Column("solver", "", "name of the solver", of=ALL),
    Column("step", "s", "step size", of=STEPPED),
    Column("body", "", "name of the body", of=SCENE),
    Column("contact", "1", "number of the contact, from 0"),
    Column("t", "s", "end of the step, the time of positions, velocities and energy", of=STEPPED),
    *(Column(x, "m", f"{x} of the centre of mass after the step", of=STEPPED) for x in "xyz"),
    Column("gap", "m", "gap phi at the start of the step; for a body the smallest of its contacts", of=STEPPED),
    Column("load", "N", "sum of the normal forces on the body", of=SCENE),
    Column("mu", "1", "friction coefficient in force"),
    Column("p_n", "N s", "normal impulse"),
    Column("u_n", "m/s", "left side of the normal law: normal velocity with gap, restitution and compliance"),
    Column("normalised_friction", "1", "|p_t|/(mu p_n); 0 where the contact is open"),
    Column("misalignment", "deg", "angle between friction and -u_t", "where the contact is closed and slides"),
    Column("mode", "", f"{OPEN} (no impulse, separating), {SLIDING} or {STICKING}"),
    Column("exact_friction", "1", "normalised friction of the exact solution", of=PROBLEM),
    Column("exact_mode", "", "mode in the exact solution", of=PROBLEM),
    Column("closed", "", "whether the impulse of the contact exceeds the tolerance", of=PROBLEM),
    Column("determined", "", "whether the motion determines the impulses of the contact"),
    Column("least_impulse", "N s", "largest impulse that counts as zero: tolerance times normaliser"),
    Column("least_velocity", "m/s", "largest velocity of the contact that counts as zero"),
    Column("energy", "J", "mechanical energy after the step", of=STEPPED),
    Column(
        "sliding_minor", "1/kg^k", "smallest principal minor, of order k, of the sliding matrix",
        "where a contact slides, up to eight contacts", CASE,
    ),
    Column("residual", "1", "residual of the posed problem", of=STEPPED),
    Column("natural_map", "1", "residual of Coulomb's law as a whole", of=CASE),
    Column("iterations", "1", "iterations of the solver", of=STEPPED),
    *(
        column for j in (1, 2) for column in (
            Column(f"p_t{j}", "N s", f"component {j} of the friction impulse", "in space" * (j == 2)),
            Column(f"u_t{j}", "m/s", f"component {j} of the sliding velocity", "in space" * (j == 2)),
            Column(f"free_t{j}", "m/s", f"component {j} of the free sliding velocity", "in space" * (j == 2), PROBLEM),
        )
    ),
    Column(
        "position_error", "m", "distance of the centre of mass from the reference; for the reference its uncertainty",
        of=STEPPED,
    ),
    Column(
        "orientation_error", "rad",
        "angle from the body's orientation in the reference; for the reference its uncertainty", of=SCENE,
    ),
    Column(
        "energy_error", "J", "difference of mechanical energy from the reference; for the reference its uncertainty",
        of=STEPPED,
    ),
)  # fmt: skip
"""Columns of `trajectories`: a row per run, step and contact; of scenes a row per run, moment and body."""

DIAGNOSTICS = (
    *LABELS,
    Column("step", "s", "step size", of=CASE),
    Column("quantity", "", "subject of the verdict", of=CASE),
    Column("value", "of the quantity", "its value", "where the quantity has one", CASE),
    Column("verdict", "", "verdict on it", of=CASE),
    Column("witness", "", "evidence for the verdict", of=CASE),
)
"""Columns of `diagnostics`: a row per formulation, step and quantity, of cases."""

ONWARD = (
    *LABELS,
    Column("step", "s", "step size", of=CASE),
    Column("after", "1", "number of steps since the exact state", of=CASE),
    Column(
        "gap_error", "m", "largest difference of a gap from that under exact Coulomb friction", of=CASE,
        shown="millimetres",
    ),
    Column("normal_error", "m/s", "largest difference of a gap's rate in the last of these steps", of=CASE),
    Column(
        "direction_error", "deg", "largest angle between the sliding direction and that under exact Coulomb friction",
        "where it slides under both", of=CASE, shown="degrees",
    ),
    Column(
        "speed_error", "1", "largest difference of a contact's sliding speed, over that under exact Coulomb friction",
        "where it slides under exact Coulomb friction", of=CASE, shown="percent",
    ),
    Column("states", "1", "number of exact states; each error is the median over those where it is defined", of=CASE),
)  # fmt: skip
"""Columns of `onward`: a row per formulation, step size and number of steps, each the median over exact states."""

TIMELINE = (
    *(x for x in LABELS if x.of & STEPPED),
    Column(
        "role", "", '"run", or "reference" for Coulomb\'s law: its motion, else steps of the reference\'s size',
        of=STEPPED,
    ),
    Column("solver", "", "name of the solver", of=STEPPED),
    Column("step", "s", "step size", of=STEPPED),
    Column("contact", "1", "number of the contact, from 0", of=CASE),
    Column("body", "", "name of the body", of=SCENE),
    Column("other", "", f'name of the other body, "{WORLD}" for what does not move', of=SCENE),
    Column("interval", "1", "number of the interval in which the contact stays closed, from 0", of=STEPPED),
    Column(
        "least_load", "N", "normal force above which they are in contact: the tolerance of the run's answers times the "
        "median normal force of a contact in the reference", of=SCENE,
    ),
    Column(
        "mode", "", f"{STICKING}, or {SLIDING} where the sliding speed is above the stick threshold v_th, in an "
        "event-driven reference above 0; for two bodies the mean over contacts by normal force", of=STEPPED,
    ),
    Column("start", "s", "start of the first of these steps; for an event-driven reference the instant", of=STEPPED),
    Column("end", "s", "end of the last of these steps; for an event-driven reference the instant", of=STEPPED),
    Column("impulse", "N s", "sum of the normal impulses in this time", of=STEPPED),
    Column("slip", "m", "distance that the contact slides in this time", of=STEPPED),
)  # fmt: skip
"""Columns of `timeline`: a row per run, contact, and time in which the contact sticks or slides throughout."""

MISSED, SPURIOUS = "missed", "spurious"
EVENTS = (
    *(x for x in LABELS if x.of >= CASE),
    Column(
        "role", "", f'"reference"; "{MISSED}" for one of its events that a run does not have, "{SPURIOUS}" for one '
        "that only the run has", of=CASE,
    ),
    Column("solver", "", "name of the solver", of=CASE),
    Column("step", "s", "step size", of=CASE),
    Column(
        "t", "s", "time of the event; for an event-driven reference the instant, elsewhere the start of a step, where "
        "contacts slide if they are faster than v_th", of=CASE,
    ),
    Column("contact", "1", "number of the contact, from 0", of=CASE),
    Column("what", "", "sticks, slips, reverses, lifts off, touches down", of=CASE),
    Column("u_n", "m/s", "rate of the gap before the event", "of an event-driven reference", CASE),
    Column("u_t", "m/s", "sliding speed before the event", "of an event-driven reference", CASE),
    Column("lambda_n", "N", "normal force after the event", "of an event-driven reference, but for impacts", CASE),
    Column("p_n", "N s", "normal impulse of an impact", "of an event-driven reference", CASE),
)  # fmt: skip
"""Columns of `events`: a row per event of the reference, and per run and event that it misses or has in excess."""


class Meaning(dict[str, str]):
    """Unit and meaning of a column, read-only, so that copies of frames can share it."""

    def __setitem__(self, key: str, value: str) -> NoReturn:
        raise TypeError(f"cannot set '{key}': the meaning of a column is read-only; replace all of it by a new dict")

    def __reduce__(self) -> tuple[type, tuple[dict[str, str]]]:
        return Meaning, (dict(self),)


class About(dict[str, dict[str, str]]):
    """Unit and meaning of columns by name. Pandas copies `attrs` deeply for every row that is read: quickly, here."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "About":
        return About(self)


def framed(
    rows: "Sequence[dict[str, Any]] | pd.DataFrame", columns: Sequence[Column], about: frozenset[str]
) -> "pd.DataFrame":
    """A frame of those columns, in this order, that are about a case or a problem.

    `attrs["columns"]` has their units and meanings, and so has a Parquet file that is written from the frame.
    """
    # Lazy, since who lists metrics needs no frame.
    import pandas as pd

    columns = [c for c in columns if about <= c.of]
    frame = pd.DataFrame(rows, columns=[c.name for c in columns])
    frame.attrs["columns"] = About(
        {c.name: Meaning(unit=c.unit, meaning=c.meaning, defined=c.defined) for c in columns}
    )
    return frame
