"""`python -m docs.notebooks --out FOLDER`: every notebook as a page that opens offline."""

import argparse
from pathlib import Path

from docs.notebooks.static.notebook import read
from docs.notebooks.static.page import page, title
from docs.site.notebooks import files


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.notebooks", description=__doc__.split("`: ")[1])
    parser.add_argument("notebooks", nargs="*", type=Path, default=files(), help="files; by default all of them")
    parser.add_argument("--out", type=Path, required=True, help="folder for the pages")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for path in given.notebooks:
        notebook = read(path)
        written = given.out / f"{notebook.name}.html"
        written.write_text(page(notebook), "utf-8")
        print(f"{written}: {title(notebook)}, {written.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
