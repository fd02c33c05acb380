"""Code of kernels on disk: nothing stale, damaged or forged is loaded, and it is kept only where it is safe."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from tests.processes import ROOT, run, two_modules

pytestmark = pytest.mark.thorough

SERVER = """
import json, os, sys, traceback
import workbench.engine.compiling
from numba.core import config
for line in sys.stdin:
    folder, code, environment = json.loads(line)
    child = os.fork()
    if child == 0:
        for stream in 1, 2:
            os.dup2(os.open(f"{folder}/.said{stream}", os.O_CREAT | os.O_TRUNC | os.O_WRONLY), stream)
        os.environ |= environment
        config.reload_config()
        os.chdir(folder)
        sys.path.insert(0, folder)
        status = 1
        try:
            exec(code, {})
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def forked():
    """`run` in forks of a process that has imported numba, and nothing of the folder: a tenth of the time."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, env=environment, stdin=-1, stdout=-1, text=True) as server:

        def run(code, folder, **environment):
            print(json.dumps([str(folder), code, environment]), file=server.stdin, flush=True)
            status = server.stdout.readline()
            assert status == "0\n", (folder / ".said2").read_text()
            return (folder / ".said1").read_text().split()

        yield run


@pytest.fixture
def project(tmp_path):
    return two_modules(tmp_path)


SHOW = "from high import whole; print(whole(1.0), sum(whole.stats.cache_hits.values()))"


TOGETHER = f"import sys, high; print(flush=True); sys.stdin.readline(); {SHOW}"


def test_of_processes_that_begin_together_one_compiles(project):
    cache = {"NUMBA_CACHE_DIR": str(project / "cache")}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", TOGETHER], cwd=project, env=os.environ | cache, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]  # fmt: skip
    for process in started:
        assert process.stdout.readline() == "\n"
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    assert sorted(process.communicate()[0] for process in started) == ["3.0 0\n", "3.0 1\n", "3.0 1\n"]


def test_code_is_stale_where_something_linked_into_it_has_changed_and_only_there(project, forked):
    cache = {"NUMBA_CACHE_DIR": str(project / "cache")}
    assert forked(SHOW, project, **cache) == ["3.0", "0"]
    assert forked(SHOW, project, **cache) == ["3.0", "1"]
    low = (project / "low.py").read_text()
    (project / "low.py").write_text(low.replace("SHARE = 2.0", "SHARE = 10.0"))
    assert forked(SHOW, project, **cache) == ["11.0", "0"]
    assert forked(SHOW, project, **cache) == ["11.0", "1"]
    # Of what is called by name only the signature counts.
    high = (project / "high.py").read_text().replace("other(part(a))", "other(a)")
    (project / "high.py").write_text(high)
    assert forked(SHOW, project, **cache) == ["2.0", "0"]
    (project / "low.py").write_text(low.replace("a + 1.0", "a + 5.5"))
    assert forked(SHOW, project, **cache) == ["6.5", "1"]


MANY = {
    "low.py": """
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from workbench.engine.compiling import kernel
F = types.float64
OPTIONS = {}
PAIR = (1.0, 2.0)
TABLE = np.array([1.0, 3.0])
SHARE = 4.0
def made(n):
    @kernel(F(F), linked=True)
    def part(a):
        return a * n
    return part
part = made(5.0)
@njit(inline="always")
def helper(a):
    return a * 6.0
@intrinsic
def direct(context, a):
    def generate(context, builder, signature, args):
        return builder.fmul(args[0], ir.Constant(ir.DoubleType(), 7.0))
    return a(a), generate
""",
    "high.py": """
import low
from low import F, OPTIONS, PAIR, TABLE, direct, helper, kernel, part
@kernel(F(F), **OPTIONS)
def whole(a):
    lost = (a + 1e17) - 1e17 - a
    return PAIR[1] * a + TABLE[1] + low.SHARE + part(a) + helper(a) + direct(a) + 10.0 * lost
""",
}
EDITS = [
    ("low.py", "1.0, 2.0", "1.0, 3.0"), ("low.py", "1.0, 3.0]", "1.0, 5.0]"), ("low.py", "SHARE = 4", "SHARE = 7"),
    ("low.py", "made(5", "made(9"), ("low.py", "a * 6", "a * 8"), ("low.py", "7.0)", "9.0)"),
    ("low.py", "{}", "{'fastmath': True}"), ("high.py", "10.0 *", "20.0 *"),
]  # fmt: skip


def test_code_is_stale_whatever_it_was_made_from_has_changed(tmp_path, forked):
    for name, text in MANY.items():
        (tmp_path / name).write_text(text)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    found = [forked(SHOW, tmp_path, **cache)]
    for name, old, new in EDITS:
        file = tmp_path / name
        stamp, text = file.stat(), file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
        # What counts is what the file says, not when it was written.
        os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        found.append(forked(SHOW, tmp_path, **cache))
    # The sum loses `a` in 1e17; sums in any order do not.
    assert found == [[x, "0"] for x in ("17.0", "18.0", "20.0", "23.0", "27.0", "29.0", "31.0", "41.0", "41.0")]
    assert forked(SHOW, tmp_path, **cache) == ["41.0", "1"]


GROUP = {
    "low.py": """
from typing import Any, NamedTuple
from numba import types
from workbench.engine.compiling import argument_type, kernel
F = types.float64
@kernel(F(F))
def half(a):
    return a / 2.0
class Group(NamedTuple):
    f: Any
    first: float
    second: float
GROUP = argument_type(Group, types.FunctionType(F(F)), F, F)
class Outer(NamedTuple):
    group: Group
    rest: int
OUTER = argument_type(Outer, GROUP, types.int64)
""",
    "high.py": """
from low import GROUP, OUTER, F, kernel
@kernel(F(GROUP))
def whole(group):
    return group.f(group.first) - group.second
@kernel(F(OUTER))
def ratio(outer):
    return outer.group.first / outer.group.second
""",
}
SHOW_GROUP = """
from low import Group, Outer, half
from high import ratio, whole
group = Group(f=half, first=8.0, second=1.0)
for f, x in (whole, group), (ratio, Outer(group, 1)):
    print(f(x), sum(f.stats.cache_hits.values()))
for wrong in (Group(half, 8.0, "1.0"), Group(8.0, 8.0, 8.0)):
    try:
        whole(wrong)
    except TypeError:
        print("refused")
"""


def test_arguments_are_grouped_by_name_and_code_is_stale_where_names_change_places(tmp_path, forked):
    for name, text in GROUP.items():
        (tmp_path / name).write_text(text)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    made, kept = (["3.0", hits, "8.0", hits, "refused", "refused"] for hits in "01")
    assert [forked(SHOW_GROUP, tmp_path, **cache) for _ in range(2)] == [made, kept]
    first, second = "    first: float\n", "    second: float\n"
    (tmp_path / "low.py").write_text(GROUP["low.py"].replace(first + second, second + first))
    assert forked(SHOW_GROUP, tmp_path, **cache) == made


PACKED = {
    "low.py": """
from typing import Any, NamedTuple
from workbench.engine.compiling import argument_type
from workbench.engine.layout import Packed
class Pair(Packed):
    sizes = ()
    fields = {"a": (), "b": ()}
class Holder(NamedTuple):
    pair: Any
HOLDER = argument_type(Holder, Pair.compiled)
""",
    "high.py": """
from low import HOLDER
from numba import types
from workbench.engine.compiling import kernel
@kernel(types.float64(HOLDER))
def first(holder):
    return holder.pair.a
""",
}
SHOW_PACKED = """
from low import Holder, Pair
from high import first
pair = Pair()
pair.a, pair.b = 1.0, 2.0
print(first(Holder(pair)), sum(first.stats.cache_hits.values()))
"""


def test_code_is_stale_where_numbers_of_a_group_change_places(tmp_path, forked):
    for name, text in PACKED.items():
        (tmp_path / name).write_text(text)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    assert [forked(SHOW_PACKED, tmp_path, **cache) for _ in range(2)] == [["1.0", "0"], ["1.0", "1"]]
    (tmp_path / "low.py").write_text(PACKED["low.py"].replace('"a": (), "b": ()', '"b": (), "a": ()'))
    assert forked(SHOW_PACKED, tmp_path, **cache) == ["1.0", "0"]


def test_code_compiled_while_its_file_is_edited_is_not_taken_for_that_of_the_new_file(project, forked):
    cache = {"NUMBA_CACHE_DIR": str(project / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    edit = "from pathlib import Path; f = Path('low.py'); f.write_text(f.read_text().replace('a * S', '5.0 * a * S'))"
    assert forked(SHOW.replace("; ", f"; {edit}; ", 1), project, **cache) == ["3.0", "0"]
    assert forked(SHOW, project, **cache) == ["11.0", "0"]


TYPED = """
from numba import types
from workbench.engine.compiling import kernel
class Own(types.Opaque):
    pass
@kernel(types.float64(Own("own")))
def whole(a):
    return 1.0
"""
EDITED = "from pathlib import Path; f = Path('typed.py'); f.write_text(f.read_text() + '# lowered otherwise')"
MADE_FROM = "from workbench.engine.compiling import _digest, _made_from; print(_digest(_made_from(whole)))"


def test_code_is_about_the_types_as_they_were_imported(tmp_path, forked):
    """What the file of a type says when the kernel is first called is not yet what the process knows of the type."""
    (tmp_path / "typed.py").write_text(TYPED)
    before = forked(f"from typed import whole; {MADE_FROM}", tmp_path)
    assert forked(f"from typed import whole; {EDITED}; {MADE_FROM}", tmp_path) == before
    assert forked(f"from typed import whole; {MADE_FROM}", tmp_path) != before


KILLED = """
import os
os.replace = lambda *names: os._exit(0)
from high import whole
whole(1.0)
"""


def test_a_process_that_is_killed_while_it_writes_leaves_no_code(project, forked):
    cache = {"NUMBA_CACHE_DIR": str(project / "cache")}
    assert forked(SHOW, project, **cache) == ["3.0", "0"]
    low = (project / "low.py").read_text()
    (project / "low.py").write_text(low.replace("SHARE = 2.0", "SHARE = 10.0"))
    assert forked(KILLED, project, **cache) == []
    assert forked(SHOW, project, **cache) == ["11.0", "0"]
    assert forked(SHOW, project, **cache) == ["11.0", "1"]


def flip(content, rng):
    place = int(rng.integers(8 * len(content)))
    return content[: place // 8] + bytes([content[place // 8] ^ 1 << place % 8]) + content[place // 8 + 1 :]


class Trap:
    """Leaves a file behind where it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("unpickled",)


DAMAGES = {
    "one bit": flip,
    "cut": lambda content, rng: content[:-7],
    "emptied": lambda content, rng: b"",
    "pickled by another": lambda content, rng: pickle.dumps(Trap()),
    "pickled behind the digest": lambda content, rng: content[:32] + pickle.dumps(Trap()),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_code_is_never_loaded_and_written_again(project, damage, forked):
    cache = {"NUMBA_CACHE_DIR": str(project / "cache")}
    assert forked(SHOW, project, **cache) == ["3.0", "0"]
    rng = np.random.default_rng(0)
    whole = {file: file.read_bytes() for file in (project / "cache").rglob("*.nbc")}
    # Three kernels, and what Python calls.
    assert len(whole) == 4
    for _ in range(3 if damage == "one bit" else 1):
        for file, content in whole.items():
            file.write_bytes(DAMAGES[damage](content, rng))
        assert forked(SHOW, project, **cache) == ["3.0", "0"]
        assert forked(SHOW, project, **cache) == ["3.0", "1"]
    assert not (project / "unpickled").exists()


def test_code_under_the_name_of_another_function_is_never_loaded(project, forked):
    cache = {"NUMBA_CACHE_DIR": str(project / "cache")}
    assert forked(SHOW, project, **cache) == ["3.0", "0"]
    (other,) = (project / "cache").rglob("low.other*.nbc")
    for whole in (project / "cache").rglob("high.whole*.nbc"):
        whole.write_bytes(other.read_bytes())
    assert forked(SHOW, project, **cache) == ["3.0", "0"]


def test_a_folder_that_others_may_write_to_keeps_no_code_and_the_user_is_warned_once(project):
    (project / "cache").mkdir()
    (project / "cache").chmod(0o777)
    show = "import warnings; warnings.simplefilter('always'); " + SHOW
    words = run(f"import sys; sys.stderr = sys.stdout; {show}", project, NUMBA_CACHE_DIR=str(project / "cache"))
    assert words[-2:] == ["3.0", "0"]
    assert " ".join(words).count("everybody may write to") == 1
    assert not list((project / "cache").rglob("*.nbc"))


def test_code_of_a_source_beside_which_others_may_write_is_kept_in_the_users_folder(project, forked):
    home = {"XDG_CACHE_HOME": str(project / "home"), "HOME": str(project / "home"), "NUMBA_CACHE_DIR": ""}
    (project / "__pycache__").mkdir()
    (project / "__pycache__").chmod(0o777)
    assert forked(SHOW, project, **home) == ["3.0", "0"]
    assert forked(SHOW, project, **home) == ["3.0", "1"]
    assert not list((project / "__pycache__").glob("*.nbc"))
    assert len(list((project / "home").rglob("*.nbc"))) == 4
