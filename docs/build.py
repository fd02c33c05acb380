"""`python -m docs.build [--out FOLDER]`: the documentation as a site that opens offline.

Sphinx makes the pages, with warnings as errors, beside it the comparisons of the gallery and the notebooks become pages
of their own, and every internal link is followed. Code blocks are run, and pages opened in a browser, by the tests.
"""

import argparse
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic

# Each worker has one processor; idle threads of a linear algebra library would take turns waiting on it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from docs.site import links
from docs.site.gallery import COMPARED, page_of
from docs.site.notebooks import files
from docs.site.notebooks import page_of as page_of_notebook
from workbench.engine.interpreted import count_anew

DOCS = Path(__file__).parent
WORKERS = 2


def main() -> int:
    given = argparse.ArgumentParser(prog="python -m docs.build", description=(__doc__ or "").split("\n\n")[1])
    given.add_argument("--out", type=Path, default=DOCS / "_build", help="default: docs/_build")
    given.add_argument("--pages-only", action="store_true", help="neither comparisons nor notebooks")
    options = given.parse_args()
    start = monotonic()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.out.parent, prefix=f".{options.out.name}-") as folder:
        site = Path(folder) / "site"
        site.mkdir()
        parts = _parts(site, whole=not options.pages_only)
        with ProcessPoolExecutor(WORKERS, initializer=_begin) as pool:
            running = {pool.submit(_made, make): name for name, make in parts.items()}
            for count, done in enumerate(as_completed(running), 1):
                done.result()
                print(f"{monotonic() - start:4.0f} s  {count} of {len(parts)}: {running[done]}", flush=True)
            wrong, external = links.check(site, pool.map)
        (site / "external-links.txt").write_text("\n".join(external) + "\n", "utf-8")
        if options.out.exists():
            # A page that is no more would lie on among the new ones.
            shutil.rmtree(options.out)
        site.replace(options.out)
    print(*wrong, f"{options.out / 'index.html'}: {len(external)} external links", sep="\n")
    return 1 if wrong else 0


def _parts(site: Path, whole: bool) -> dict[str, Callable[[], None]]:
    """What is made, by name, in an order in which the workers seldom wait for the same kernel to be compiled.

    The pages and the last notebooks compile little or what nothing else needs, the first comparison most of the rest.
    """
    parts: dict[str, Callable[[], None]] = {"pages by Sphinx": partial(_pages, site, whole)}
    if whole:
        first, *others = [(f"comparison {name}", partial(_comparison, name, site)) for name in COMPARED]
        notebooks = [(f"notebook {path.stem}", partial(_notebook, path, site)) for path in reversed(files())]
        parts |= dict([first, *notebooks, *others])
    return parts


def _begin() -> None:
    """Prepare a worker: it collects no garbage, and tables hold Python's strings, faster than Arrow's in few rows."""
    import pandas as pd

    gc.disable()
    pd.set_option("mode.string_storage", "python")


def _made(make: Callable[[], None]) -> None:
    """Make a part. What is small in it is interpreted as in a process of its own, whichever parts came before."""
    count_anew()
    make()


def _pages(site: Path, whole: bool) -> None:
    from sphinx.cmd.build import main as sphinx

    settings = ["-b", "html", "-E", "-W", "--keep-going", "-q", *["-t", "whole"] * whole]
    with tempfile.TemporaryDirectory() as folder:
        if sphinx([*settings, "-d", folder, str(DOCS), str(site)]):
            raise SystemExit("Sphinx warns: nothing was written")


@contextmanager
def _drawn_once() -> Iterator[None]:
    """Context in which charts are not checked against their schema, as the tests do: it takes longer than drawing.

    Nor does marimo first let them draw themselves, whose HTML it does not use, nor Altair copy the rows of their data
    or index its classes anew for every channel.
    """
    from unittest.mock import patch

    from altair import Chart, Data, TopLevelMixin
    from altair.utils import schemapi

    index = schemapi._FromDict(Chart._default_wrapper_classes())
    with (
        schemapi.debug_mode(False),
        patch.object(schemapi.SchemaBase, "validate", lambda *_: None),
        patch.object(schemapi, "_FromDict", lambda _: index),
        patch.object(Data, "__deepcopy__", lambda data, *_: data, create=True),
        patch.object(TopLevelMixin, "_repr_mimebundle_", lambda *_: {}),
    ):
        yield


def _notebook(path: Path, site: Path) -> None:
    from docs.notebooks.static.notebook import read
    from docs.notebooks.static.page import page

    target = site / page_of_notebook(path)
    target.parent.mkdir(exist_ok=True)
    with _drawn_once():
        target.write_text(page(read(path)), "utf-8")


def _comparison(name: str, site: Path) -> None:
    from workbench.verbs.compare import compare

    path = site / page_of(name)
    path.parent.mkdir(exist_ok=True)
    found = compare(name, **COMPARED[name])
    with _drawn_once():
        found.page(path)


if __name__ == "__main__":
    sys.exit(main())
