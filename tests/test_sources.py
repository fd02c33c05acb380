"""The digests that stand in keys for code: whatever could change a number changes them, and nothing else does."""

import importlib.util
import sys

import pytest

import workbench
from workbench.support import sources
from workbench.support.sources import digest_of

COMPUTING = ("numpy", "scipy", "numba", "clarabel", "cvxpy")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A small workbench in a folder that is called reports; what is builtin lies behind links, as in a checkout."""
    found = tmp_path / "reports" / "workbench"
    names = "__init__.py", "one/deep.py", "reports/page.py", "one/table.csv", "../cases/wheel.py", "../reports/text.py"
    for name in names:
        (found / name).parent.mkdir(parents=True, exist_ok=True)
        (found / name).write_text(f"# {name}\n")
    (found / "builtin").mkdir()
    for name in ("cases", "reports"):
        (found / "builtin" / name).symlink_to(found.parent / name)
    monkeypatch.setattr(sources, "ROOT", found)
    return found


def of_workbench():
    """The digest, not from the cache."""
    return sources._workbench.__wrapped__()


@pytest.mark.parametrize("name", ["__init__.py", "one/deep.py", "builtin/cases/wheel.py"])
def test_whatever_computes_is_in_the_digest_wherever_the_workbench_lies(name, root):
    before, path = of_workbench(), root / name
    assert of_workbench() == before
    path.write_text("x = 1\n")
    changed = of_workbench()
    path.rename(path.with_name("other.py"))
    moved = of_workbench()
    assert len({before, changed, moved}) == 3


def test_what_only_shows_is_not_in_it(root):
    before = of_workbench()
    for name in ("reports/page.py", "builtin/reports/text.py", "one/table.csv"):
        (root / name).write_text("x = 1\n")
    assert of_workbench() == before


def test_the_version_of_every_library_that_computes_is_in_the_digest(root, monkeypatch):
    found = [of_workbench()]
    for library in ("numpy", "scipy", "numba", "clarabel", "cvxpy"):
        with monkeypatch.context() as m:
            m.setattr(sources, "version", lambda name, library=library: f"{name == library}")
            found.append(of_workbench())
    assert len(set(found)) == len(found)
    assert len(COMPUTING) == len(found) - 1


def own(path, content, name):
    """The function f of somebody's own file."""
    path.write_text(content)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.f


def test_somebody_s_own_code_is_the_file_that_it_stands_in(tmp_path, monkeypatch):
    for name in ("own_first", "own_second", "own_third"):
        monkeypatch.setitem(sys.modules, name, None)
    content = "def f():\n    return 1\n"
    first = own(tmp_path / "a.py", content, "own_first")
    again = own(tmp_path / "b.py", content, "own_second")
    changed = own(tmp_path / "c.py", f"x = 2\n{content}", "own_third")
    assert digest_of(first) == digest_of(again)
    assert len({digest_of(), digest_of(first), digest_of(changed), digest_of(first, changed)}) == 4
    # What is the workbench's own is in all of them.
    assert digest_of(digest_of) == digest_of() == digest_of(workbench.support.errors.WorkbenchError)


def test_of_what_stands_in_no_file_it_is_what_travels():
    def function(number):
        cell = {"__name__": "a_notebook"}
        exec(f"def f(): return {number}", cell)
        return cell["f"]

    assert digest_of(function(1)) == digest_of(function(1))
    assert len({digest_of(), digest_of(function(1)), digest_of(function(2))}) == 3


def test_the_digest_of_the_workbench_is_in_that_of_everything(monkeypatch):
    before = digest_of.__wrapped__(), digest_of.__wrapped__(test_what_only_shows_is_not_in_it)
    monkeypatch.setattr(sources, "_workbench", lambda: "other")
    after = digest_of.__wrapped__(), digest_of.__wrapped__(test_what_only_shows_is_not_in_it)
    assert len({*before, *after}) == 4
