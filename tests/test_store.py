"""Compiled declarations on disk: the same numbers, without CVXPY; nothing stale, damaged or half-written."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from workbench.assemble import store
from workbench.assemble.plan import Compiled, Plan
from workbench.assemble.tensor import compile_declaration
from workbench.builtin.formulations import FORMULATIONS, SLIDING
from workbench.engine import disk
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import complements, declare, equals, free, nonneg

SIZES = {ContactSymbols: (4, 1, 2, 2)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONTACT_WORKBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def numbers(c: Compiled) -> dict:
    hooks = {name: getattr(c.hooks, name) for name in ("given", "again", "remember", "numbers", "memory", "estimate")}
    arrays = dict(zip(Plan._fields, c.plan, strict=True)) | dict(constant=c.constant, theta=c.theta)
    return {name: np.asarray(a).tolist() for name, a in arrays.items()} | dict(kind=c.kind, own=c.own) | hooks


@pytest.mark.parametrize("f", [*FORMULATIONS, *SLIDING], ids=lambda f: f.name)
def test_what_is_stored_comes_back(f, folder):
    size = SIZES.get(f.symbols, (2, 1))
    c = compile_declaration(f, size)
    assert store.load(f, size) is None
    store.save(c)
    back = store.load(f, size)
    # Through text, so that nan equals nan; hooks are the same functions.
    assert repr(numbers(back)) == repr(numbers(c))
    assert [u.name() for u in back.declaration.unknowns] == [u.name() for u in c.declaration.unknowns]
    assert [path.suffix for path in folder.iterdir()] == [".declaration"]


def test_other_options_sizes_and_versions_are_other_files(folder, monkeypatch):
    f = FORMULATIONS.find("stewart-trinkle")
    eight = f.with_options(directions=8)
    names = [store._name(*case) for case in ((f, (6, 0, 1, 2)), (eight, (6, 0, 1, 2)), (f, (6, 0, 2, 2)))]
    monkeypatch.setattr(store, "_versions", lambda: ("another",))
    names.append(store._name(f, (6, 0, 1, 2)))
    assert len(set(names)) == 4
    assert None not in names
    assert store._name(f.with_options(directions=4), (6, 0, 1, 2)) == names[3]


@pytest.mark.parametrize("damage", ["cut", "emptied", "one bit", "other", "longer"])
def test_a_damaged_file_counts_as_missing_and_is_written_again(folder, damage):
    f, size = FORMULATIONS.find("box"), (6, 0, 1, 2)
    c = compile_declaration(f, size)
    store.save(c)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    broken = {"cut": whole[:-9], "emptied": b"", "one bit": bytes(flipped), "other": b"x" * 500, "longer": whole + b"0"}
    path.write_bytes(broken[damage])
    assert store.load(f, size) is None
    store.save(c)
    assert repr(numbers(store.load(f, size))) == repr(numbers(c))


def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CONTACT_WORKBENCH_CACHE", str(tmp_path / "file" / "cache"))
    f, size = FORMULATIONS.find("ccp"), (6, 0, 1, 2)
    store.save(compile_declaration(f, size))
    assert store.load(f, size) is None


def test_many_may_write_and_read_at_once(folder):
    f, size = FORMULATIONS.find("ccp"), (6, 0, 1, 2)
    c = compile_declaration(f, size)

    def work(i: int) -> bool:
        store.save(c)
        return store.load(f, size) is not None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(40)))
    assert len(list(folder.iterdir())) == 1


def test_the_folder_is_the_users(monkeypatch, tmp_path):
    for name in ("CONTACT_WORKBENCH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert disk.folder() == Path.home() / ".cache" / "contact-workbench"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert disk.folder() == tmp_path / "contact-workbench"
    monkeypatch.setenv("CONTACT_WORKBENCH_CACHE", str(tmp_path / "mine"))
    assert disk.folder() == tmp_path / "mine"


def test_what_cannot_be_found_again_by_name_is_not_stored(folder):
    @formulation("within", friction="none", source="this test")
    def within(s: ContactSymbols):
        v, p_n = free("v", s.n), nonneg("p_n", s.r)
        return declare(equals(s.balance(v, p_n)), complements(s.un(v, p_n), p_n), recover=dict(v=v, p_n=p_n))

    store.save(compile_declaration(within, (2, 0, 1, 1)))
    assert not folder.exists()


OWN = """
from helper import SHARE
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import complements, declare, equals, free, nonneg

@formulation("own", friction="none", source="this test")
def own(s: ContactSymbols):
    v, p_n = free("v", s.n), nonneg("p_n", s.r)
    return declare(equals(s.balance(v, p_n)), complements(SHARE * s.un(v, p_n), p_n), recover=dict(v=v, p_n=p_n))
"""
PROBE = """
import json, sys
from own import own
from workbench.assemble.find import compiled
from workbench.step.stepper import Stepper
c = compiled(own, 2, 0, 1, 1)
s = Stepper(c, 0.1, "gap", 0.01)
s.core.M[:], s.core.J_n[:] = [[1, 0], [0, 1]], [[0, 1]]
print(json.dumps([float(s.problem().M[0, 0]), "cvxpy" in sys.modules, "pandas" in sys.modules]))
"""


def test_a_users_own_file_is_stored_and_follows_what_it_imports(folder, tmp_path):
    """The second process needs no CVXPY; a change of a module that the file imports is seen."""
    (tmp_path / "own.py").write_text(OWN)
    root = Path(store.__file__).parents[1]
    path = os.pathsep.join([str(tmp_path), str(root)])

    def probe(share: float) -> list:
        helper = tmp_path / "helper.py"
        if not helper.exists() or helper.read_text() != f"SHARE = {share}\n":
            helper.write_text(f"SHARE = {share}\n")
            # Older than the process that is started next, whatever the resolution of its clock.
            os.utime(helper, (1e9, 1e9))
            os.utime(tmp_path / "own.py", (1e9, 1e9))
        command = [sys.executable, "-B", "-c", PROBE]
        return json.loads(subprocess.check_output(command, env=os.environ | {"PYTHONPATH": path}))

    assert probe(2.0) == [2.0, True, False]
    assert probe(2.0) == [2.0, False, False]
    assert probe(3.0) == [3.0, True, False]
    assert len(list(folder.iterdir())) == 2


def test_a_source_that_changed_under_a_running_process_is_not_trusted(folder, monkeypatch):
    f, size = FORMULATIONS.find("ccp"), (6, 0, 1, 2)
    store.save(compile_declaration(f, size))
    monkeypatch.setattr(store, "STARTED", 1e9)
    assert store.load(f, size) is None
