"""The maps in words say what the code says of itself."""

import re
from collections import Counter

from tests import pictures
from tests.maps import ROOT, rooms, sentence, written


def test_the_map_of_the_rooms_is_that_of_the_packages():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert written(text) == text, "run: python -m tests.maps"
    assert all(sentence(room) for room in rooms())


def test_every_package_is_a_room():
    named = {room.split(".")[1] for room in rooms()}
    found = {path.parent.name for path in (ROOT / "workbench").glob("*/__init__.py")}
    assert found <= named, found - named


def test_a_class_has_its_name_alone():
    """Engines' worlds, the layers of three packages, and symbols with and without CVXPY stand for each other."""
    found = Counter(
        name
        for folder in ("workbench", "cases", "formulations", "reports")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"^class ([A-Za-z]\w*)", path.read_text("utf-8"), re.MULTILINE)
    )
    assert {name for name, count in found.items() if count > 1} == {"World", "ContactLayer", "CoreSymbol", "Unknown"}


def test_links_between_pages_lead_somewhere():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_pictures_are_those_of_the_script():
    readme = (pictures.FOLDER / "README.md").read_text("utf-8")
    assert pictures.written(readme) == readme, "run: python -m tests.pictures"
    files = list(pictures.FOLDER.glob("*.webp"))
    assert {file.stem for file in files} == set(pictures.PICTURES)
    assert sum(file.stat().st_size for file in files) < 2e6
    assert {picture.page for picture in pictures.PICTURES.values()} <= set(pictures.PAGES)
