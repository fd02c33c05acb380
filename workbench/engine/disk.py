"""Cache files: compiled declarations and the like in a folder of the user, machine code in numba's folders.

Each file is a SHA-256 digest followed by the content. The digest covers the name of the file, a description of its
content and the content itself, and is checked before the content is used: a file that is damaged, renamed or of another
description counts as missing, and so does a folder that cannot be read or written.

A digest does not show who wrote a file, so folders that others may write to are rejected with a `CacheWarning`
(`why_unsafe`). The user's folder is `CONTACT_WORKBENCH_CACHE`, else `contact-workbench` below `XDG_CACHE_HOME` or
`~/.cache`.
"""

import hashlib
import os
import stat
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

DIGEST = hashlib.sha256().digest_size
LOCKS = "locks"


class CacheWarning(UserWarning):
    """A cache is ignored, and everything is computed again, since others may write to its folder."""


def folder() -> Path:
    """Return the user's cache folder."""
    own = os.environ.get("CONTACT_WORKBENCH_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "contact-workbench"


def read(name: str, about: bytes = b"", where: Path | None = None) -> bytes | None:
    """Return the content of a file in the user's folder, or `where`; None if there is no intact one."""
    place = trusted(where or folder())
    if place is None:
        return None
    try:
        stored = (place / name).read_bytes()
    except OSError:
        return None
    content = stored[DIGEST:]
    return content if stored[:DIGEST] == _digest(name, about, content) else None


def write(name: str, content: bytes, about: bytes = b"", where: Path | None = None) -> None:
    """Write a file, if possible."""
    with suppress(OSError):
        trusted_place = _made(where or folder())
        if trusted_place is None:
            return
        # Another process may be writing the same: each writes its own file, and the last one remains.
        handle, temporary = tempfile.mkstemp(dir=trusted_place)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(_digest(name, about, content) + content)
            os.replace(temporary, trusted_place / name)
        except BaseException:
            os.unlink(temporary)
            raise


@contextmanager
def alone(name: str, where: Path | None = None) -> Iterator[None]:
    """Let one process at a time into this block for the same file, so that the others find it made.

    The others wait until the first has finished, and look again. The lock ends with the process. Without support for
    locks, or if the folder is not writable, nobody waits.
    """
    file, at = None, int.from_bytes(_digest(name)[:3], "big")
    with suppress(OSError, ImportError):
        from fcntl import LOCK_EX, LOCK_UN, lockf

        place = _made(where or folder())
        if place is not None:
            file = _locks(place / LOCKS)
            lockf(file, LOCK_EX, 1, at)
    try:
        yield
    finally:
        if file is not None:
            with suppress(OSError):
                lockf(file, LOCK_UN, 1, at)


@cache
def _locks(path: Path) -> int:
    """Open a file of which each byte locks some files; it stays open, since closing it would release all its locks."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _made(place: Path) -> Path | None:
    """Return the folder, created if missing; None if others may write to it. Raises OSError."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.mkdir(mode=0o700, exist_ok=True)
    return trusted(place)


def _digest(*parts: str | bytes) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        words = part.encode() if isinstance(part, str) else part
        digest.update(b"%d " % len(words))
        digest.update(words)
    return digest.digest()


def trusted(place: Path) -> Path | None:
    """Return a folder with links resolved; None, with a `CacheWarning`, if others may write to it."""
    try:
        real = place.resolve(strict=True)
    except OSError:
        return None
    reason = why_unsafe(real)
    if reason:
        _warn(f"nothing is kept in or taken from {str(place)!r}: {reason}; a folder that is yours alone would be used")
    return None if reason else real


@cache
def _warn(message: str) -> None:
    """Warn once for each folder, whatever the warning filters."""
    warnings.warn(message, CacheWarning, stacklevel=3)


def why_unsafe(place: Path) -> str | None:
    """Return why the files in a folder, its path without links, may be another user's; None if they cannot be.

    The folder and all above it must belong to the user or to root and be writable by nobody else. Above it, a sticky
    folder such as /tmp is allowed: others cannot replace the user's entries there. On systems without owners, such as
    Windows, nothing is rejected.
    """
    if not hasattr(os, "getuid"):
        return None
    for path in (place, *place.parents):
        facts = path.stat()
        here = "it" if path == place else repr(str(path))
        if facts.st_uid not in (os.getuid(), 0):
            return f"{here} belongs to user {facts.st_uid}"
        if path != place and facts.st_mode & stat.S_ISVTX:
            continue
        if facts.st_mode & stat.S_IWOTH:
            return f"everybody may write to {here}"
        if facts.st_mode & stat.S_IWGRP and not _own_group(facts.st_gid):
            return f"group {facts.st_gid} may write to {here}"
    return None


def _own_group(number: int) -> bool:
    """Return whether a group has the user, or root, as its only member: by convention it then has the user's name."""
    import grp
    import pwd

    try:
        group, users = grp.getgrgid(number), [pwd.getpwuid(uid) for uid in {os.getuid(), 0}]
    except KeyError:
        return False
    return any(
        user.pw_gid == number and user.pw_name == group.gr_name and set(group.gr_mem) <= {user.pw_name, "root"}
        for user in users
    )
