"""`python -m docs.flows`: figures and tables of `docs/howto/grains.md`, from the runs in `docs/flows/*.csv`.

The page has the commands that make the runs; `python -m docs.flows SCENE FOLDER...` takes them over from the folders
that these write.
"""

import sys
from pathlib import Path

import pandas as pd

from workbench.builtin.cases import SCENES
from workbench.builtin.reports.figures.charts import write_figures
from workbench.builtin.reports.figures.flow import artefact_figure, difference_figure
from workbench.comparison.scenes.flow import GranularFlow, columns
from workbench.comparison.scenes.flow_differences import EXACT
from workbench.verbs.flow import ROUGHNESS

HERE = Path(__file__).parent
PAGE = HERE.parent / "howto" / "grains.md"
DROPPED = ["solve_time", "residual", "reason"]
"""Of a machine, or of no use in a table."""


STUDIES = {
    "hopper": ("height", "delay", "discharge", "coordination"),
    "silo": ("height", "floor", "coordination"),
    "column-collapse": ("fall_time", "runout", "slope", "coordination"),
}
"""The scenes, and the measures that their figures and tables show."""


def flow_of(name: str) -> GranularFlow:
    """The study's runs as `workbench flow` has them, without forces and motion."""
    case = SCENES.find(name)()
    rows = pd.read_csv(HERE / f"{name}.csv")
    rows.attrs["columns"] = columns(case)
    radius = float(case.scene().radii().mean())
    return GranularFlow(case, rows, pd.DataFrame(), pd.DataFrame(), (), radius, ROUGHNESS * radius)


def table(name: str) -> str:
    """What the CCP has beside Coulomb's law, in per cent, a row per measure and step; what is significant in bold."""
    f = flow_of(name)
    d = f.differences
    d = d[(d["formulation"] != EXACT) & d["measure"].isin(STUDIES[name])]
    runs = f.rows[f.rows["formulation"] != EXACT].groupby("step")["seed"].nunique()
    head = ["in per cent", "step", "starts", *(f"μ = {mu:g}" for mu in sorted(set(d["mu"])))]
    lines = [head, ["---"] * len(head)]
    for measure in STUDIES[name]:
        for step, own in d[d["measure"] == measure].groupby("step", sort=False):
            cells = [cell(r) for r in own.sort_values("mu").to_dict("records")]
            lines.append([measure.replace("_", " "), f"{1e3 * step:g} ms", str(runs[step]), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def cell(r: dict[str, float]) -> str:
    words = f"{100 * r['difference']:.1f} ± {100 * r['uncertainty']:.1f}".replace("-", "−")
    return f"**{words}**" if r["significant"] else words


def marks(name: str) -> tuple[str, str]:
    """Where the table of a study stands in the page."""
    return f"<!-- {name} -->\n", f"<!-- end of {name} -->"


def written(text: str) -> str:
    """The page with all tables as they are now."""
    for name in STUDIES:
        begin, end = marks(name)
        head, rest = text.split(begin)
        text = head + begin + table(name) + end + rest.partition(end)[2]
    return text


def take_over(name: str, folders: list[Path]) -> None:
    """The runs of finished flows."""
    rows = pd.concat([pd.read_csv(folder / "flow.csv") for folder in folders]).drop(columns=DROPPED)
    rows.to_csv(HERE / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")


def main() -> None:
    if len(sys.argv) > 2:
        take_over(sys.argv[1], [Path(folder) for folder in sys.argv[2:]])
    for name, measures in STUDIES.items():
        f = flow_of(name)
        shown = [difference_figure(f, measures), artefact_figure(f)]
        for path in write_figures([x for x in shown if x], HERE, "svg"):
            print(path.replace(HERE / f"{name}-{path.name}"))
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
