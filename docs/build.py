"""`python -m docs.build [--out FOLDER]`: the documentation as a site that opens offline, with all its checks.

Every code block is run, the comparisons of the gallery and the notebooks become pages, Sphinx makes the site with
warnings as errors, all internal links are followed, and the pages are opened in a browser if the machine has one.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docs.site import examples, links
from docs.site.browser import chromium, faults
from docs.site.gallery import COMPARED, page_of
from docs.site.notebooks import FOLDER
from workbench.verbs.compare import compare

DOCS = Path(__file__).parent


def main() -> int:
    given = argparse.ArgumentParser(prog="python -m docs.build", description=(__doc__ or "").split("\n\n")[1])
    given.add_argument("--out", type=Path, default=DOCS / "_build", help="default: docs/_build")
    given.add_argument("--pages-only", action="store_true", help="neither code blocks, comparisons nor notebooks")
    options = given.parse_args()
    if (options.out / "objects.inv").exists():
        # A page that is no more would lie on among the new ones.
        shutil.rmtree(options.out)
    with tempfile.TemporaryDirectory() as folder:
        extra = Path(folder)
        if not options.pages_only:
            for page in examples.pages():
                examples.run(page)
            _add_pages(extra)
        settings = ["-b", "html", "-E", "-W", "--keep-going", "-q", "-D", f"html_extra_path={extra}"]
        done = subprocess.run([sys.executable, "-m", "sphinx", *settings, str(DOCS), str(options.out)], check=False)
    if done.returncode:
        return done.returncode
    wrong, external = links.check(options.out)
    (options.out / "external-links.txt").write_text("\n".join(external) + "\n", "utf-8")
    program = chromium()
    wrong += list(faults(options.out, program)) if program else []
    print(*wrong, f"{options.out / 'index.html'}: {len(external)} external links", sep="\n")
    return 1 if wrong else 0


def _add_pages(extra: Path) -> None:
    """The pages that the site links to and that the workbench makes."""
    for name, settings in COMPARED.items():
        path = extra / page_of(name)
        path.parent.mkdir(exist_ok=True)
        compare(name, **settings).page(path)
    if (FOLDER / "__main__.py").exists():
        subprocess.run([sys.executable, "-m", "docs.notebooks", "--out", str(extra / "notebooks")], check=True)


if __name__ == "__main__":
    sys.exit(main())
