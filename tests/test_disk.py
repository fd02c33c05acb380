"""Files that only save time: whole and of one's own, or not read at all."""

import grp
import os
import pwd
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.engine import disk

ROOT = Path(__file__).parents[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONTACT_WORKBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_is_written_comes_back(folder):
    disk.write("a", b"content", b"about")
    assert disk.read("a", b"about") == b"content"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == ["a"]


def test_what_is_about_something_else_or_bears_another_name_counts_as_missing(folder):
    disk.write("a", b"content", b"about")
    (folder / "b").write_bytes((folder / "a").read_bytes())
    assert disk.read("b", b"about") is None
    assert disk.read("a", b"another") is None
    # Neither moves between name, matter and content.
    assert disk.read("a", b"about" + b"content"[:1]) is None
    disk.write("ab", b"content", b"out")
    (folder / "a").write_bytes((folder / "ab").read_bytes())
    assert disk.read("a", b"bout") is None


def test_a_folder_that_is_missing_has_nothing_and_is_made(tmp_path):
    place = tmp_path / "some" / "where"
    assert disk.read("a", where=place) is None
    disk.write("a", b"content", where=place)
    assert disk.read("a", where=place) == b"content"
    assert disk.read("b", where=place) is None


def test_the_folder_is_that_of_the_environment_or_of_the_user(monkeypatch, tmp_path):
    for name in ("CONTACT_WORKBENCH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert disk.folder() == tmp_path / ".cache" / "contact-workbench"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert disk.folder() == tmp_path / "xdg" / "contact-workbench"
    monkeypatch.setenv("CONTACT_WORKBENCH_CACHE", str(tmp_path / "own"))
    assert disk.folder() == tmp_path / "own"


HOLDING = """
from workbench.engine import disk
with disk.alone("a"):
    print("within", flush=True)
    input()
print("behind", flush=True)
input()
"""


@pytest.mark.skipif(os.name != "posix", reason="there are no such locks")
def test_of_two_processes_one_at_a_time_makes_a_file_and_none_waits_for_another(folder, tmp_path):
    def entered(name, where=None):
        with disk.alone(name, where):
            pass

    process = subprocess.Popen([sys.executable, "-c", HOLDING], env=os.environ | {"PYTHONPATH": str(ROOT)},
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    with process, ThreadPoolExecutor(1) as pool:
        assert process.stdout.readline() == "within\n"
        entered("b")
        entered("a", tmp_path / "elsewhere")
        waiting = pool.submit(entered, "a")
        assert not wait([waiting], 0.3).done
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "behind\n"
        # The other process lives on, and has given up its lock; ours is given up too.
        waiting.result(60)
        assert subprocess.run([sys.executable, "-c", HOLDING], env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True,
                              input="\n\n", capture_output=True, timeout=60, check=True).stdout  # fmt: skip
        process.stdin.write("\n")
    assert process.returncode == 0


def test_every_flipped_bit_makes_a_file_missing(folder):
    disk.write("a", b"content", b"about")
    whole = (folder / "a").read_bytes()
    for bit in range(8 * len(whole)):
        broken = bytearray(whole)
        broken[bit // 8] ^= 1 << bit % 8
        (folder / "a").write_bytes(bytes(broken))
        assert disk.read("a", b"about") is None
    (folder / "a").write_bytes(whole + b"0")
    assert disk.read("a", b"about") is None


def test_what_fails_while_it_is_written_leaves_nothing(folder, monkeypatch):
    def full(*names):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(KeyboardInterrupt):
        disk.write("a", b"content")
    assert not list(folder.iterdir())


def test_many_may_write_and_read_at_once(folder):
    def work(i):
        disk.write("a", b"x" * 10_000)
        return disk.read("a") == b"x" * 10_000

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(40)))


OPEN = {
    "everybody": (0o777, "everybody may write to it"),
    "sticky": (0o1777, "everybody may write to it"),
    "a group": (0o775, "group 54321 may write to it"),
}


@pytest.mark.parametrize("who", OPEN)
def test_a_folder_that_others_may_write_to_is_refused_and_the_user_is_warned_once(folder, who, monkeypatch):
    mode, reason = OPEN[who]
    disk.write("a", b"content")
    folder.chmod(mode)
    monkeypatch.setattr(disk, "_own_group", lambda number: False)
    with pytest.warns(disk.CacheWarning, match=reason.replace("54321", str(folder.stat().st_gid))):
        assert disk.read("a") is None
    with warnings.catch_warnings():
        assert disk.read("a") is None
        disk.write("b", b"content")
    assert not (folder / "b").exists()


def test_a_folder_below_one_that_others_may_write_to_is_refused_unless_that_is_sticky(folder):
    disk.write("a", b"content")
    folder.parent.chmod(0o1777)
    assert disk.read("a") == b"content"
    folder.parent.chmod(0o777)
    with pytest.warns(disk.CacheWarning, match=f"everybody may write to '{folder.parent}'"):
        assert disk.read("a") is None


def test_a_folder_of_another_user_is_refused(folder, monkeypatch):
    disk.write("a", b"content")
    owner = folder.stat().st_uid
    if owner == 0:
        os.chown(folder, 54321, -1)
        owner = 54321
    else:
        monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.warns(disk.CacheWarning, match=f"belongs to user {owner}"):
        assert disk.read("a") is None


def test_a_link_is_judged_by_where_it_leads(folder, tmp_path):
    inner = tmp_path / "open" / "inner"
    inner.mkdir(parents=True)
    inner.parent.chmod(0o777)
    folder.symlink_to(inner)
    with pytest.warns(disk.CacheWarning, match=f"everybody may write to '{inner.parent}'"):
        disk.write("a", b"content")
    assert not list(inner.iterdir())


MEMBERS = {
    "nobody else": ("me", [], True), "root": ("me", ["root"], True), "both": ("me", ["me", "root"], True),
    "another": ("me", ["you"], False), "a shared group": ("lab", [], False), "no group": (None, [], False),
}  # fmt: skip


@pytest.mark.parametrize("who", MEMBERS)
def test_a_group_may_write_where_the_user_is_its_only_member(folder, who, monkeypatch):
    name, members, fine = MEMBERS[who]
    disk.write("a", b"content")
    folder.chmod(0o770)
    number = folder.stat().st_gid
    groups = {number: SimpleNamespace(gr_name=name, gr_mem=members)} if name else {}
    monkeypatch.setattr(grp, "getgrgid", groups.__getitem__)
    users = {0: SimpleNamespace(pw_gid=number + 1, pw_name="root"), 1: SimpleNamespace(pw_gid=number, pw_name="me")}
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: users[min(uid, 1)])
    monkeypatch.setattr(os, "getuid", lambda: max(folder.stat().st_uid, 1))
    if fine:
        assert disk.read("a") == b"content"
        return
    with pytest.warns(disk.CacheWarning, match=f"group {number} may write to it"):
        assert disk.read("a") is None


def test_a_group_that_may_only_read_is_no_reason(folder, monkeypatch):
    disk.write("a", b"content")
    folder.chmod(0o750)
    monkeypatch.setattr(grp, "getgrgid", lambda gid: SimpleNamespace(gr_name="lab", gr_mem=["you"]))
    assert disk.read("a") == b"content"


def test_nothing_is_refused_where_there_are_no_owners(folder, monkeypatch):
    disk.write("a", b"content")
    folder.chmod(0o777)
    monkeypatch.delattr(os, "getuid")
    assert disk.read("a") == b"content"


def test_a_warning_shows_no_control_characters(tmp_path, monkeypatch):
    place = tmp_path / "red\x1b[31m"
    place.mkdir()
    place.chmod(0o777)
    monkeypatch.setenv("CONTACT_WORKBENCH_CACHE", str(place))
    with pytest.warns(disk.CacheWarning) as found:
        assert disk.read("a") is None
    assert "\x1b" not in str(found[0].message)
