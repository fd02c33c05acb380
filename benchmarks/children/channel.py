"""Questions and answers between processes: one line of JSON, then arrays as .npz; nothing is ever unpickled.

A child may run under another Python with another numpy, hence the standard library and numpy alone, and plain formats.
"""

import io
import json
import os
import sys

import numpy as np


def send(stream, words, arrays):
    """Write a message: a dict of plain values and one of arrays."""
    body = io.BytesIO()
    np.savez(body, **arrays)
    stream.write(json.dumps({**words, "bytes": body.tell()}).encode() + b"\n" + body.getvalue())
    stream.flush()


def receive(stream):
    """The next message as (dict, dict of arrays); EOFError where the other side is gone."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    words = json.loads(line)
    size = words.pop("bytes")
    body = stream.read(size)
    if len(body) < size:
        raise EOFError
    with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
        return words, dict(arrays)


def serve(answer):
    """Answer questions from standard input until it closes; `answer(words, arrays)` returns the same pair.

    What compiled code prints goes to the null device, so that it cannot get between the answers.
    """
    out = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    send(out, {"ready": True}, {})
    while True:
        try:
            words, arrays = receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            words, arrays = answer(words, arrays)
            send(out, {**words, "resident": resident()}, arrays)
        except Exception as error:
            send(out, {"failed": " ".join(str(error).split())[:200] or type(error).__name__}, {})


def resident():
    """Bytes of memory this process holds; some solvers never give any back."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
