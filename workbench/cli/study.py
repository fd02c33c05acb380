"""The command `workbench study`."""

import argparse
import shlex
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.parsing import command
from workbench.cli.progress import goes_on
from workbench.cli.words import number_if_given
from workbench.support.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.studies.study import Progress

EVERY = 10.0
"""Seconds between the lines of a log."""
MOST_LINES = 16
"""Largest number of workers whose current work is shown on a terminal."""


def add_command(commands: Any) -> None:
    """Add the command to the parser's."""
    study = command(
        commands, "study", "run a parameter study, or resume an interrupted one",
        "study wheel --vary mu=0.1:0.9:9 step=1e-3,5e-4 -f box -f ccp",
        "study cube --sample sobol:128 --vary mu=0.1:1 speed=1:5 --out cube-study",
        "study wheel sphere --vary stewart-trinkle.directions=4,8,16 -f stewart-trinkle", "study study.toml",
        "study cube --vary mu=0.1:0.9:900 --executor dask://head:8786",
        "study cube --vary mu=0.1:0.9:900 --executor submitit:slurm --workers 40", "study status cube-study",
    )  # fmt: skip
    study.add_argument(
        "what", nargs="+", metavar="CASE", help="names of cases; or a study file (.toml); or: status FOLDER"
    )
    study.add_argument(
        "--vary", nargs="+", action="extend", default=[], metavar="NAME=VALUES",
        help="values of a parameter, step, duration, relax.k_n or FORMULATION.OPTION: 0.1,0.3 or 0.1:0.9:9 or "
        "1e-3:1:4:log; with --sample a range LOW:HIGH",
    )  # fmt: skip
    study.add_argument(
        "--zip", nargs="+", action="append", default=[], metavar="NAME=VALUES",
        help="parameters that vary together, with equally many values; repeatable",
    )  # fmt: skip
    study.add_argument("--sample", metavar="METHOD:N", help="sample the ranges: sobol:128, lhs:100 or random:100")
    study.add_argument("--seed", type=int, default=0, metavar="K", help="seed of the sample; default: 0")
    study.add_argument(
        "-f",
        "--formulation",
        action="append",
        metavar="NAME[:OPTION=VALUE,...]",
        help="formulation; repeatable; default: all",
    )
    study.add_argument("--solver", action="append", metavar="NAME", help="solver; repeatable; default: auto")
    study.add_argument("--metric", action="append", metavar="NAME", help="metric; repeatable; default: all that apply")
    study.add_argument("--duration", metavar="T", help="simulated time [s]; default: the case's")
    study.add_argument("--reference-step", metavar="H", help="step size of the reference runs [s]; default: 1e-4")
    study.add_argument(
        "--out", metavar="FOLDER", help="folder for rows and report; default: CASE-study, or the study file's name"
    )
    study.add_argument(
        "--executor", metavar="WHERE",
        help="where runs are computed: processes; dask://HOST:PORT; mpi (under mpiexec -n N python -m mpi4py.futures "
        "-m workbench); submitit:slurm or submitit:local (N jobs); default: processes",
    )  # fmt: skip
    study.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="number of processes or submitit jobs; default: the number of processors",
    )
    study.add_argument("--shard", metavar="I/N", help="compute every N-th point, starting with the I-th")
    study.add_argument("--retry-failed", action="store_true", help="compute failed rows again")
    study.add_argument("--quiet", action="store_true", help="print nothing")
    study.set_defaults(run=run_study)


def run_study(o: argparse.Namespace) -> None:
    """Compute missing rows, then write the rows and the page."""
    if o.what[0] == "status":
        _status(o)
        return
    from workbench.support.output import staged
    from workbench.verbs.study import study

    given, out = _asked(o)
    log = _Log(o.quiet)
    with goes_on(log.kept):
        with log:
            found = study(**given, folder=out, progress=log)
        if found.whole:
            with staged(out) as stage:
                found.write(stage, found.facts | {"command": f"workbench {shlex.join(o.words)}"})
    if not o.quiet:
        print("\n".join(found.words))
        print(
            f"report: {out / 'report.html'}"
            if found.whole
            else f"the rows of other shards are still missing in '{out}'"
        )


def _status(o: argparse.Namespace) -> None:
    """Print the state of a study, from its folder alone."""
    from workbench.studies.status import status

    if len(o.what) != 2:
        raise WorkbenchError("status needs the folder of a study: workbench study status FOLDER")
    print("\n".join(status(Path(o.what[1]))))


def _asked(o: argparse.Namespace) -> tuple[dict[str, Any], Path]:
    """The arguments of `wb.study`, and the folder."""
    from workbench.studies.design import side_by_side

    if Path(o.what[0]).suffix == ".toml":
        from workbench.studies.described import described

        if len(o.what) > 1:
            raise WorkbenchError(f"{o.what[0]} describes a whole study; leave out '{o.what[1]}'")
        given, name = described(Path(o.what[0])), Path(o.what[0]).stem
    else:
        given, name = {"cases": o.what}, f"{'-'.join(Path(x.partition(':')[0]).stem for x in o.what)}-study"
    varied: dict[Any, Any] = dict(_pair(word, "--vary") for word in o.vary)
    for group in o.zip:
        together = {key: values.split(",") for key, values in (_pair(word, "--zip") for word in group)}
        varied[tuple(together)] = side_by_side(together)
    if varied:
        given["parameters"] = given.get("parameters", {}) | varied
    for key, value in (
        ("sample", o.sample), ("seed", o.seed or None), ("formulations", o.formulation), ("solvers", o.solver),
        ("metrics", o.metric), ("executor", o.executor), ("workers", o.workers),
        ("retry_failed", o.retry_failed or None),
        ("duration", number_if_given(o.duration, "--duration", "seconds")),
        ("reference_step", number_if_given(o.reference_step, "--reference-step", "seconds")),
        ("shard", o.shard and _shard(o.shard)),
    ):  # fmt: skip
        if value is not None:
            given[key] = value
    return given, Path(o.out or name)


def _pair(word: str, option: str) -> tuple[str, str]:
    name, equals, values = word.partition("=")
    if not (name and equals and values):
        raise WorkbenchError(f"{option} {word[:60]}: give NAME=VALUES")
    return name, values


def _shard(text: str) -> tuple[int, int]:
    i, _, n = text.partition("/")
    if not (i.isdecimal() and n.isdecimal()):
        raise WorkbenchError(f"--shard {text[:20]}: give I/N, such as 1/4")
    return int(i), int(n)


class _Log:
    """On a terminal a bar and the current work of each worker, else a line every `EVERY` seconds; nothing if quiet."""

    def __init__(self, quiet: bool) -> None:
        self.newest: Progress | None = None
        self.last = -EVERY
        self.live: Any = None
        self.lines = not quiet and not sys.stderr.isatty()
        self.shown = not quiet and sys.stderr.isatty()

    def __enter__(self) -> "_Log":
        if self.shown:
            from rich.console import Console
            from rich.live import Live

            self.live = Live(get_renderable=self._screen, console=Console(stderr=True), transient=True)
            self.live.start()
        return self

    def __call__(self, p: "Progress") -> None:
        self.newest = p
        if self.lines and (p.seconds - self.last >= EVERY or p.kept + p.made == p.total):
            self.last = p.seconds
            now = time.strftime("%H:%M:%S")
            words = ", ".join(filter(None, (f"{now}  {p.kept + p.made} of {p.total} runs", _rate(p), p.where)))
            print(words, file=sys.stderr, flush=True)

    def _screen(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        p = self.newest
        if p is None:
            return "planning"
        there, now = p.kept + p.made, time.monotonic()
        words = ", ".join(filter(None, (f"{there} of {p.total} runs", _rate(p))))
        lines = [f"  {place}, {duration(now - since)}" for place, since in p.under_way[:MOST_LINES]]
        return Group(Text(words), ProgressBar(p.total, there, 60), *map(Text, lines))

    def kept(self) -> str:
        """Message when the study is interrupted."""
        p = self.newest
        return f"{p.kept + p.made} of {p.total} runs are kept" if p else "finished runs are kept"

    def __exit__(self, *_: object) -> None:
        if self.live:
            # The terminal may be gone, which is the reason for SIGHUP.
            with suppress(OSError):
                self.live.stop()


def _rate(p: "Progress") -> str:
    there = f"{p.kept} kept from before" if p.kept and not p.made else ""
    left = f"{p.rate:.3g} runs per second, {duration(p.left)} left" if p.made else ""
    return ", ".join(filter(None, (there, left)))


def duration(seconds: float) -> str:
    """Seconds as hours, minutes and seconds, the two largest."""
    if seconds == float("inf"):
        return "unknown time"
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours} h {m:02} min" if hours else f"{m} min {s:02} s" if m else f"{s} s"
