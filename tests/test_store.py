"""Compiled declarations on disk: the same numbers, without CVXPY; nothing stale, damaged or half-written."""

import io
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.thorough import quickly
from workbench.algorithms import find_solver
from workbench.builtin.formulations import FORMULATIONS, REGISTRIES
from workbench.engine import disk
from workbench.language.assemble import find
from workbench.language.assemble.find import compiled
from workbench.language.assemble.plan import Compiled, Plan
from workbench.language.assemble.rows import read_rows
from workbench.language.assemble.tensor import compile_declaration
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import complements, declare, equals, free, nonneg
from workbench.language.values import by_values
from workbench.step.one_step import solve_system

ROOT = Path(__file__).parents[1]
SIZES = {ContactSymbols: (4, 1, 2, 2)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONTACT_WORKBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def numbers(c: Compiled) -> dict:
    hooks = {name: getattr(c.hooks, name) for name in ("given", "again", "remember", "numbers", "memory", "estimate")}
    arrays = dict(zip(Plan._fields, c.plan, strict=True)) | dict(constant=c.constant, theta=c.theta)
    return {name: np.asarray(a).tolist() for name, a in arrays.items()} | dict(kind=c.kind, own=c.own) | hooks


def stored(folder):
    """All files but the one of locks."""
    return [path for path in folder.iterdir() if path.name != disk.LOCKS]


@pytest.mark.share(2)
@pytest.mark.parametrize("f", [f for registry in REGISTRIES for f in registry], ids=lambda f: f.name)
def test_what_is_stored_comes_back(f, folder):
    size = SIZES.get(f.symbols, (2, 1))
    c = compile_declaration(f, size)
    assert find.load_declaration(f, size) is None
    find.save_declaration(c)
    back = find.load_declaration(f, size)
    # Through text, so that nan equals nan; hooks are the same functions.
    assert repr(numbers(back)) == repr(numbers(c))
    assert [u.name() for u in back.declaration.unknowns] == [u.name() for u in c.declaration.unknowns]
    assert [path.suffix for path in stored(folder)] == [".declaration"]


def test_other_options_sizes_and_versions_are_other_files(folder, monkeypatch):
    f = FORMULATIONS.find("stewart-trinkle")
    eight = f.with_options(directions=8)
    names = [find._name(*case) for case in ((f, (6, 0, 1, 2)), (eight, (6, 0, 1, 2)), (f, (6, 0, 2, 2)))]
    monkeypatch.setattr(find, "_versions", lambda: ("another",))
    names.append(find._name(f, (6, 0, 1, 2)))
    assert len(set(names)) == 4
    assert None not in names
    assert find._name(f.with_options(directions=4), (6, 0, 1, 2)) == names[3]


@pytest.mark.parametrize("damage", ["cut", "emptied", "one bit", "other", "longer"])
def test_a_damaged_file_counts_as_missing_and_is_written_again(folder, damage):
    f, size = FORMULATIONS.find("box"), (6, 0, 1, 2)
    c = compile_declaration(f, size)
    find.save_declaration(c)
    (path,) = stored(folder)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    broken = {"cut": whole[:-9], "emptied": b"", "one bit": bytes(flipped), "other": b"x" * 500, "longer": whole + b"0"}
    path.write_bytes(broken[damage])
    assert find.load_declaration(f, size) is None
    find.save_declaration(c)
    assert repr(numbers(find.load_declaration(f, size))) == repr(numbers(c))


def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CONTACT_WORKBENCH_CACHE", str(tmp_path / "file" / "cache"))
    f, size = FORMULATIONS.find("ccp"), (6, 0, 1, 2)
    find.save_declaration(compile_declaration(f, size))
    assert find.load_declaration(f, size) is None


def test_many_may_write_and_read_at_once(folder):
    f, size = FORMULATIONS.find("ccp"), (6, 0, 1, 2)
    c = compile_declaration(f, size)

    def work(i: int) -> bool:
        find.save_declaration(c)
        return find.load_declaration(f, size) is not None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(40)))
    assert len(stored(folder)) == 1


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

    find.save_declaration(compile_declaration(within, (2, 0, 1, 1)))
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
from workbench.language.assemble.find import compiled
from workbench.step.stepper import Stepper
c = compiled(own, 2, 0, 1, 1)
s = Stepper(c, 0.1, "gap", 0.01)
s.core.M[:], s.core.J_n[:] = [[1, 0], [0, 1]], [[0, 1]]
assert "pandas" not in sys.modules
print(json.dumps([float(s.problem().M[0, 0]), "cvxpy" in sys.modules]))
"""


@pytest.mark.thorough
def test_a_users_own_file_is_stored_and_follows_what_it_imports(folder, tmp_path):
    """The second process needs no CVXPY; a change of a module that the file imports is seen."""
    environment = own_project(tmp_path, "SHARE = 2.0")
    assert probe(environment) == [2.0, True]
    assert probe(environment) == [2.0, False]
    assert probe(own_project(tmp_path, "SHARE = 3.0")) == [3.0, True]
    assert len(stored(folder)) == 2


def own_project(folder, helper):
    (folder / "helper.py").write_text(helper)
    (folder / "own.py").write_text(OWN)
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "PYTHONDONTWRITEBYTECODE": "1"}


def probe(environment, before="", after="", shell=""):
    """M[0, 0] of the probe, which is the share, and whether it needed CVXPY."""
    compiling = "from workbench.language.assemble.find"
    code = before + PROBE.replace(compiling, after + compiling, 1)
    command = shlex.join([sys.executable, "-c", code])
    # As in `bash -c "A && B"`: the last command takes the place of the shell, which has been there for longer.
    done = subprocess.check_output(["bash", "-c", f"{shell}exec {command}"], env=environment)
    return json.loads(done)


def edit(folder, share):
    return f"open({str(folder / 'helper.py')!r}, 'w').write('SHARE = {share}')\n"


@pytest.mark.thorough
def test_what_was_written_while_the_shell_ran_that_became_the_interpreter_is_stored(folder, tmp_path):
    environment = own_project(tmp_path, "SHARE = 2.0")
    write = f"printf 'SHARE = 5.0' > {shlex.quote(str(tmp_path / 'helper.py'))} && "
    assert probe(environment, shell=write) == [5.0, True]
    assert probe(environment, shell=write) == [5.0, False]
    assert probe(environment) == [5.0, False]


@pytest.mark.thorough
def test_a_source_that_is_edited_before_it_is_imported_is_what_is_imported(folder, tmp_path):
    environment = own_project(tmp_path, "SHARE = 2.0")
    assert probe(environment, before=edit(tmp_path, 3.0)) == [3.0, True]
    assert probe(environment) == [3.0, False]


@pytest.mark.thorough
@pytest.mark.parametrize("first", quickly(["the old version", "the new version"], "the old version".__eq__))
def test_a_source_that_is_edited_after_it_was_imported_is_not_what_was_imported(folder, tmp_path, first):
    environment = own_project(tmp_path, "SHARE = 2.0")
    if first == "the new version":
        # Under the name of the new sources there is a good file already, which is not this process's.
        edited = own_project(tmp_path, "SHARE = 3.0")
        assert probe(edited) == [3.0, True]
        own_project(tmp_path, "SHARE = 2.0")
    assert probe(environment, after=edit(tmp_path, 3.0)) == [2.0, True]
    assert probe(environment) == [3.0, True]
    assert probe(environment) == [3.0, False]


@pytest.mark.thorough
def test_a_declaration_that_uses_more_of_cvxpy_than_plain_numbers_can_do_is_stored_too(folder, tmp_path):
    environment = own_project(tmp_path, "import cvxpy as cp\nSHARE = cp.Constant(2.0)")
    (tmp_path / "own.py").write_text("import cvxpy as cp\n" + OWN.replace("SHARE * s.un", "cp.hstack([SHARE * s.un"
                                     ).replace("), p_n), recover", ")]), p_n), recover"))  # fmt: skip
    use = "from workbench.language.assemble import find"
    count = f"{use}; assert find.load_declaration(own, (2, 0, 1, 1)) is not None\n"
    assert probe(environment) == [2.0, True]
    assert probe(environment, after=count) == [2.0, True]


def forged(path, **changes):
    """The file with other arrays, under a digest that is right."""
    with np.load(io.BytesIO(path.read_bytes()[disk.DIGEST :])) as stored:
        arrays = {name: stored[name].copy() for name in stored}
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    file = io.BytesIO()
    np.savez(file, **arrays)
    disk.write(path.name, file.getvalue())


def changed(entry, to):
    def change(x):
        x[entry] = to(x[entry])
        return x

    return change


FORGERIES = {
    "a value": dict(val=changed(3, lambda v: v * (1 + 1e-9))),
    "a constant": dict(constant=changed(0, lambda v: v + 1e-9)),
    "a parameter": dict(par=changed(3, lambda k: k + 1)),
    "a place": dict(at=changed(0, lambda k: k + 1)),
    "a place far away": dict(at=changed(0, lambda k: 10**12)),
    "a place before": dict(at=changed(0, lambda k: -1)),
    "a parameter far away": dict(par=changed(0, lambda k: 10**12)),
    "a constant far away": dict(place=changed(0, lambda k: 10**12)),
    "sums that grow from step to step": dict(first=changed(0, lambda k: k - 1)),
    "more entries than there are": dict(first=changed(0, lambda k: 10**6)),
    "lengths": dict(val=lambda x: x[:-1]),
    "kinds": dict(at=lambda x: x.astype(float)),
    "dimensions": dict(at=lambda x: x[None]),
}


@pytest.mark.parametrize("name", ["stewart-trinkle", "phantom-inertia"])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_tensor_is_found_out_by_the_declaration_at_hand(folder, name, forgery):
    f, size = FORMULATIONS.find(name), (6, 0, 2, 2)
    c = compile_declaration(f, size)
    find.save_declaration(c)
    (path,) = stored(folder)
    forged(path)
    assert find.load_declaration(f, size) is not None
    forged(path, **FORGERIES[forgery])
    assert find.load_declaration(f, size) is None


@pytest.mark.parametrize("content", [b"", b"no arrays", "empty archive"])
def test_what_holds_no_arrays_counts_as_missing(folder, content):
    f, size = FORMULATIONS.find("ccp"), (6, 0, 1, 2)
    find.save_declaration(compile_declaration(f, size))
    (path,) = stored(folder)
    file = io.BytesIO()
    np.savez(file)
    disk.write(path.name, file.getvalue() if isinstance(content, str) else content)
    assert find.load_declaration(f, size) is None


def test_a_forged_declaration_makes_no_wrong_impulse(folder, systems):
    f, system = FORMULATIONS.find("stewart-trinkle"), systems.random_system(0, 2, 2)
    c = compile_declaration(f, system.size)
    right = solve_system(f, system, find_solver("lemke"))[0]
    find.save_declaration(c)
    (path,) = stored(folder)
    forged(path, val=lambda x: 2.0 * x)
    compiled.cache_clear()
    answer, solution = solve_system(f, system, find_solver("lemke"))
    assert solution.verified
    np.testing.assert_array_equal(answer.p_n, right.p_n)
    # The forged file has given way to a good one.
    assert find.load_declaration(f, system.size) is not None


OPTIONS = [(f, {}) for registry in REGISTRIES for f in registry] + [
    (FORMULATIONS.find(name), options)
    for name, options in [
        ("stewart-trinkle", dict(directions=8, axes="sliding")), ("anitescu-potra", dict(restitution="poisson")),
        ("box", dict(bounds="coupled")), ("box", dict(bounds="iterated")), ("phantom-inertia", dict(directions=8)),
        ("discrete-velocity", dict(directions=6)), ("staggered", dict(directions=6)), ("hybrid", dict(k_t=1e5)),
    ]
]  # fmt: skip


@pytest.mark.share(3)
@pytest.mark.share(2)
@pytest.mark.parametrize("size", [(4, 1, 2, 2), (6, 0, 3, 2), (3, 2, 1, 1)])
@pytest.mark.parametrize(("f", "options"), OPTIONS, ids=lambda x: getattr(x, "name", None))
def test_plain_numbers_say_what_cvxpy_says(f, options, size):
    f = f.with_options(**options)
    size = size if f.symbols is ContactSymbols else size[1:3]
    c = compile_declaration(f, size)
    with by_values():
        rows = read_rows(f, size)
        again = rows.compiled(c.constant, c.plan.at, c.plan.par, c.plan.val, c.plan.first)
        assert rows.difference(again, np.random.default_rng(0)) <= find.ROUND_OFF
    assert repr(numbers(again)) == repr(numbers(c))


def test_plain_numbers_are_for_one_thread_and_for_a_while():
    with by_values():
        assert free("v", 2).__class__.__module__ == "workbench.language.values"
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(lambda: free("v", 2).__class__.__module__).result() == "workbench.language.leaves"
    assert free("v", 2).__class__.__module__ == "workbench.language.leaves"
