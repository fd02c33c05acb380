"""Files that only save time: a folder of the user's, where each is the SHA-256 of its content and then the content.

What is damaged, by whomever, counts as missing, and so does a folder that cannot be read or written. The folder is
`CONTACT_WORKBENCH_CACHE`, else `contact-workbench` below `XDG_CACHE_HOME` or `~/.cache`.
"""

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

DIGEST = hashlib.sha256().digest_size


def folder() -> Path:
    """Where the files are."""
    own = os.environ.get("CONTACT_WORKBENCH_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "contact-workbench"


def read(name: str) -> bytes | None:
    """The content of a file; None where there is none that is whole."""
    try:
        stored = (folder() / name).read_bytes()
    except OSError:
        return None
    content = stored[DIGEST:]
    return content if hashlib.sha256(content).digest() == stored[:DIGEST] else None


def write(name: str, content: bytes) -> None:
    """Write a file, where that is possible."""
    with suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        # Another process may be writing the same: each writes a file of its own, and the last one stays.
        handle, temporary = tempfile.mkstemp(dir=folder())
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(hashlib.sha256(content).digest() + content)
            os.replace(temporary, folder() / name)
        except OSError:
            os.unlink(temporary)
