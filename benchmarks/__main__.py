"""Every comparison, or some, by one command; see benchmarks/README.md.

python -m benchmarks [--only NAME ...] [--quick] [--data FOLDER] [--out FOLDER] [--json]
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

# One thread: what is compared is methods. Before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pandas as pd

from benchmarks.comparisons import COMPARISONS
from benchmarks.harness import Missing, Options, Result, say
from benchmarks.measuring import Rows, compare
from benchmarks.provenance import one_line, provenance
from benchmarks.tables import markdown

OUT = Path(__file__).parent / "results"


def arguments() -> argparse.Namespace:
    names = [c.name for c in COMPARISONS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="The workbench beside its peers.")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="a small part of everything: does it run? Judges no times")
    parser.add_argument("--data", type=Path, help="folder of friction problems (default: WORKBENCH_DATA)")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for tables and charts (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="rows as JSON on standard output")
    return parser.parse_args()


def main() -> None:
    """Measure, write the tables and charts, print the tables."""
    asked = arguments()
    data = asked.data or (Path(os.environ["WORKBENCH_DATA"]) if os.environ.get("WORKBENCH_DATA") else None)
    options = Options(asked.quick, data)
    asked.out.mkdir(parents=True, exist_ok=True)
    versions, results, absent = provenance(), [], {}
    for comparison in (c for c in COMPARISONS if c.name in asked.only):
        try:
            result = compare(comparison, options, keeper(asked.out / f"{comparison.name}.csv"))
        except Missing as reason:
            absent[comparison.name] = str(reason)
            say(f"{comparison.name}: {reason}")
            continue
        write(result, asked.out, one_line(versions))
        results.append(result)
    if asked.json:
        rows = [{k: None if v != v else v for k, v in row.items()} for r in results for row in r.rows]
        missing = {name: why for r in results for name, why in r.missing.items()}
        json.dump({"versions": versions, "missing": missing | absent, "rows": rows}, sys.stdout, indent=1, default=str)
        print()
    else:
        print("\n".join(markdown(r) for r in results))


def keeper(path: Path) -> Callable[[Rows], None]:
    """Writes all rows there are, so that a run which is broken off leaves what it has measured."""
    return lambda rows: pd.DataFrame(rows).to_csv(path, index=False)


def write(result: Result, folder: Path, versions: str) -> None:
    """NAME.md and the charts."""
    # Altair takes half a second to import, which is no part of a measurement.
    from benchmarks.charts import save_charts

    name = result.comparison.name
    (folder / f"{name}.md").write_text(f"{markdown(result)}\n{versions}\n")
    save_charts(result, folder)


if __name__ == "__main__":
    main()
