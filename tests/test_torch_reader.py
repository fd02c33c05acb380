"""Old files of torch are read without running what they contain, and hostile ones are refused in one line."""

import pickle
import struct

import numpy as np
import pytest

from tests.torch_files import chain, tensor_pickle, text, torch_bytes, whole, write_torch
from workbench.readers.torch_tensor import read_tensor
from workbench.support.errors import DataError


def read(tmp_path, content: bytes):
    path = tmp_path / "toss.pt"
    path.write_bytes(content)
    return read_tensor(path)


def test_a_tensor_is_what_was_written(tmp_path):
    x = np.random.default_rng(1).normal(size=(1, 7, 19))
    assert np.array_equal(read_tensor(write_torch(tmp_path / "0.pt", x)), x)


def test_strides_and_offset_choose_the_entries(tmp_path):
    entries = np.arange(12.0)
    pickled = tensor_pickle((3, 2), (1, 3), offset=4, entries=12)
    content = chain(pickled, pickle.dumps(["7"], 2), struct.pack("<q", 12) + entries.tobytes())
    assert np.array_equal(read(tmp_path, content), entries[4:10].reshape(2, 3).T)


def test_nothing_that_a_file_names_is_called(tmp_path):
    mark = tmp_path / "called"
    call = b"\x80\x02cpathlib\nPath\n" + text(str(mark)) + b"\x85R"
    attack = b"\x80\x02cos\nmkdir\n" + text(str(mark)) + b"\x85R."
    for content in (attack, torch_bytes(np.zeros((1, 2)))[:17] + attack, chain(attack, call + b".", b"")):
        with pytest.raises(DataError, match=r"toss\.pt is not a tensor"):
            read(tmp_path, content)
    assert not mark.exists()


def nested(times: int) -> bytes:
    """A tuple of itself and itself, again and again: small here, of 2^times parts for whoever looks at all of them."""
    return b")" + b"".join(b"q\x01h\x01\x86" for _ in range(times))


@pytest.mark.parametrize(
    ("what", "pickled"),
    [
        ("beyond its", tensor_pickle((3, 1000), (1000, 1))),
        ("beyond its", tensor_pickle((4,), (1,), offset=9)),
        ("whole numbers", tensor_pickle((4,), (-1,))),
        ("whole numbers", tensor_pickle((-1,), (1,))),
        ("of the kind", tensor_pickle((4,), (1,), kind="HalfStorage")),
        ("not a tensor alone", b"\x80\x02" + nested(200) + b"."),
        ("instruction", b"\x80\x02" + nested(200) + b"\x81."),
        ("nothing for", b"\x80\x02Q."),
        ("more than", b"\x80\x02" + b"N" * 20_000 + b"."),
        ("not a tensor", b"\x80\x02}" + nested(200) + b"Ns" + b"R."),
    ],
)
def test_tensors_that_lie_are_refused(tmp_path, what, pickled):
    content = chain(pickled, pickle.dumps(["7"], 2), struct.pack("<q", 12) + bytes(96))
    with pytest.raises(DataError, match=what) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_entries_that_are_announced_must_be_there(tmp_path):
    for count in (-1, 0, 11, 13, 2**62):
        content = chain(tensor_pickle((3, 4), (4, 1)), pickle.dumps(["7"], 2), struct.pack("<q", count) + bytes(96))
        with pytest.raises(DataError, match="announced"):
            read(tmp_path, content)


def test_a_bomb_for_whoever_hashes_the_key_of_a_storage(tmp_path):
    keys = b"\x80\x02]" + nested(300) + b"a."
    with pytest.raises(DataError, match="another storage"):
        read(tmp_path, chain(tensor_pickle((3, 4), (4, 1)), keys, bytes(8)))


def test_damaged_files_are_refused_in_one_line_or_read(tmp_path):
    """Bytes changed, cut out, put in and said twice, at random."""
    random = np.random.default_rng(7)
    good = torch_bytes(random.normal(size=(1, 3, 4)))
    assert whole(4) in good
    refused: list[str] = []
    for _ in range(1500):
        content = bytearray(good)
        for _ in range(int(random.integers(1, 4))):
            a, b = sorted(random.integers(0, len(content) - 1, size=2).tolist())
            kind = random.integers(4)
            if kind == 0:
                content[a] = int(random.integers(256))
            elif kind == 1:
                del content[a : min(b, a + 20)]
            elif kind == 2:
                content[a:a] = random.bytes(int(random.integers(1, 9)))
            else:
                content[a:a] = content[a : min(b, a + 40)]
        try:
            found = read(tmp_path, bytes(content))
            assert found.dtype == float
        except DataError as error:
            refused.append(str(error))
    assert len(refused) > 1000
    assert not any("\n" in words or len(words) > 250 for words in refused)
