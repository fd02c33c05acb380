"""Files that only save time: whole and of one's own, or not read at all."""

import grp
import os
import pwd
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from workbench.engine import disk


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


MEMBERS = {"nobody else": ("me", [], True), "root": ("me", ["root"], True), "another": ("me", ["you"], False),
           "a shared group": ("lab", [], False)}  # fmt: skip


@pytest.mark.parametrize("who", MEMBERS)
def test_a_group_may_write_where_the_user_is_its_only_member(folder, who, monkeypatch):
    name, members, fine = MEMBERS[who]
    disk.write("a", b"content")
    folder.chmod(0o770)
    number = folder.stat().st_gid
    monkeypatch.setattr(grp, "getgrgid", lambda gid: SimpleNamespace(gr_name=name, gr_mem=members))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_gid=number, pw_name="me"))
    if fine:
        assert disk.read("a") == b"content"
        return
    with pytest.warns(disk.CacheWarning, match=f"group {number} may write to it"):
        assert disk.read("a") is None


def test_a_warning_shows_no_control_characters(tmp_path, monkeypatch):
    place = tmp_path / "red\x1b[31m"
    place.mkdir()
    place.chmod(0o777)
    monkeypatch.setenv("CONTACT_WORKBENCH_CACHE", str(place))
    with pytest.warns(disk.CacheWarning) as found:
        assert disk.read("a") is None
    assert "\x1b" not in str(found[0].message)
