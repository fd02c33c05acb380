"""Kernels: one name, one compilation, when first called; nothing stale; clocks stand still; small things start soon."""

import itertools
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit, types

from workbench.engine.compiling import Kernel, kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.timing import clock, standing_still

ROOT = Path(__file__).parents[1]
F64 = types.float64


@kernel(F64(F64, F64))
def halved(a, b):
    if b < 0.0:
        raise ValueError("negative")
    return (a + b) / 2.0


@kernel(F64(F64))
def never_called(a):
    return a


@kernel(F64(VECTOR))
def folded(x):
    s = x[0]
    for i in range(1, x.shape[0]):
        s = halved(s, x[i])
    return s if s < 1e6 else never_called(s)


def run(code, folder, **environment):
    """The words that a fresh process prints."""
    command = [sys.executable, "-c", code]
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"} | environment
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


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


def test_a_kernel_is_compiled_when_it_is_first_called_and_gives_what_python_gives():
    x = np.random.default_rng(0).uniform(size=9)
    assert not folded.place
    assert folded(x) == folded.py_func(x)
    assert halved.place
    assert not never_called.place


def test_errors_pass_through_calls_by_name():
    with pytest.raises(ValueError, match="negative"):
        folded(np.array([1.0, -1.0]))


def test_other_types_are_refused_and_not_compiled_for():
    for wrong in (np.zeros(2, dtype=int), np.zeros((2, 2)), np.zeros(4)[::2]):
        with pytest.raises(TypeError):
            folded(wrong)
    assert len(folded.overloads) == 1


def test_kernels_serve_code_that_is_compiled_by_numba_alone():
    @njit
    def twice(a, f):
        return halved(a, 3.0 * a) + f(a, a)

    assert twice(1.0, halved) == 3.0


def test_the_code_of_a_caller_holds_none_of_what_it_calls():
    # What comes out of the cache has no assembly to look at.
    code = next(iter(njit(F64(VECTOR))(folded.py_func).inspect_asm().values()))
    assert halved.symbol in code
    assert "negative" not in code


@pytest.fixture
def project(tmp_path):
    """Two modules: what is linked in, and what it is linked into."""
    (tmp_path / "low.py").write_text(
        "from numba import types\nfrom workbench.engine.compiling import kernel\nSHARE = 2.0\n"
        "@kernel(types.float64(types.float64), linked=True)\ndef part(a):\n    return a * SHARE\n"
        "@kernel(types.float64(types.float64))\ndef other(a):\n    return a + 1.0\n"
    )
    (tmp_path / "high.py").write_text(
        "from numba import types\nfrom workbench.engine.compiling import kernel\nfrom low import part, other\n"
        "@kernel(types.float64(types.float64))\ndef whole(a):\n    return other(part(a))\n"
    )
    return tmp_path


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
""",
    "high.py": """
from low import GROUP, F, kernel
@kernel(F(GROUP))
def whole(group):
    return group.f(group.first) - group.second
""",
}
SHOW_GROUP = """
from low import Group, half
from high import whole
print(whole(Group(f=half, first=8.0, second=1.0)), sum(whole.stats.cache_hits.values()))
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
    refused = ["refused", "refused"]
    assert [forked(SHOW_GROUP, tmp_path, **cache) for _ in range(2)] == [["3.0", "0", *refused], ["3.0", "1", *refused]]
    first, second = "    first: float\n", "    second: float\n"
    (tmp_path / "low.py").write_text(GROUP["low.py"].replace(first + second, second + first))
    assert forked(SHOW_GROUP, tmp_path, **cache) == ["3.0", "0", *refused]


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
    assert len(whole) == 3
    for _ in range(3 if damage == "one bit" else 1):
        for file, content in whole.items():
            file.write_bytes(DAMAGES[damage](content, rng))
        assert forked(SHOW, project, **cache) == ["3.0", "0"]
        assert forked(SHOW, project, **cache) == ["3.0", "1"]
    assert not (project / "unpickled").exists()


def test_code_under_the_name_of_another_function_is_never_loaded(project, forked):
    cache = {"NUMBA_CACHE_DIR": str(project / "cache")}
    assert forked(SHOW, project, **cache) == ["3.0", "0"]
    (whole,) = (project / "cache").rglob("high.whole*.nbc")
    (other,) = (project / "cache").rglob("low.other*.nbc")
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
    assert len(list((project / "home").rglob("*.nbc"))) == 3


def test_kernels_need_neither_a_file_nor_a_folder_to_keep_code_in():
    code = "from numba import types\nfrom workbench.engine.compiling import kernel\n"
    code += "@kernel(types.float64(types.float64))\ndef twice(a):\n    return 2.0 * a\n"
    found: dict = {}
    exec(compile(code, "<nowhere>", "exec"), found)
    assert found["twice"](2.0) == 4.0


def closed_over(x):
    @kernel(F64(F64))
    def part(a):
        return a * x[1500]

    return part


def test_functions_made_in_a_loop_are_told_apart_by_what_they_close_over():
    x, y = np.zeros(3000), np.zeros(3000)
    # The words for both arrays are the same.
    x[1500], y[1500] = 1.0, 2.0
    one, two = closed_over(x), closed_over(y)
    assert njit(lambda a: 10.0 * one(a) + two(a))(1.0) == 12.0


INTERRUPTED = """
import low, high
kernel = type(low.other)
ready = kernel.ready
def fails(self):
    kernel.ready = ready
    raise error
high.whole.ready()
for error in KeyboardInterrupt, OSError:
    kernel.ready = fails
    try:
        high.whole(1.0)
    except error as found:
        print(type(found).__name__)
print(high.whole(1.0))
"""


def test_where_compiling_is_interrupted_or_fails_the_caller_raises_that_and_can_be_called_again(project):
    words = run(INTERRUPTED, project, NUMBA_CACHE_DIR=str(project / "cache"))
    assert words == ["KeyboardInterrupt", "OSError", "3.0"]


def branches(first):
    if first:

        @kernel(F64(F64))
        def part(a):
            return a

    else:

        @kernel(F64(F64))
        def part(a):
            return 2.0 * a

    @kernel(F64(F64))
    def whole(a):
        return part(a)

    return whole


def test_functions_of_one_name_keep_their_own_callers():
    one, two = branches(True), branches(False)
    assert (one(1.0), two(1.0)) == (1.0, 2.0)


STRUCK = """
import os, signal
from numba.core.typing.context import Context
from low import other
# What a shell starts in the background ignores Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
refresh = Context.refresh
def struck(self):
    os.kill(os.getpid(), signal.SIGINT)
    Context.refresh = refresh
    print(signal.getsignal(signal.SIGINT) is not signal.default_int_handler)
    refresh(self)
Context.refresh = struck
try:
    other(1.0)
except KeyboardInterrupt:
    print(bool(other.place), other(1.0), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_an_interrupt_waits_until_a_kernel_is_compiled(project):
    assert run(STRUCK, project, NUMBA_CACHE_DIR=str(project / "cache")) == ["True", "True", "2.0", "True"]


BEYOND = """
import numpy as np
from numba import types
from workbench.engine.compiling import kernel

@kernel(types.void(types.float64[::1]))
def beyond(x):
    x[x.shape[0]] = 1.0
"""
WRITE = """
import numpy as np
from beyond import beyond
whole = np.zeros(4)
try:
    beyond(whole[:3])
except IndexError:
    print("refused")
print(whole[3], sum(beyond.stats.cache_hits.values()))
"""


def test_where_bounds_are_checked_a_write_beyond_them_is_refused_and_the_code_is_kept_apart(tmp_path):
    (tmp_path / "beyond.py").write_text(BEYOND)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(WRITE, tmp_path, **cache) == ["1.0", "0"]
    for hits in "01":
        assert run(WRITE, tmp_path, NUMBA_BOUNDSCHECK="1", **cache) == ["refused", "0.0", hits]
    assert run(WRITE, tmp_path, **cache) == ["1.0", "1"]


def test_kernels_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(halved)) is halved


def test_the_clock_stands_still_while_code_is_made(monkeypatch):
    """By a clock that goes on by a second whenever it is looked at, and by none while code is made."""
    looks = itertools.count()
    monkeypatch.setattr("workbench.engine.timing.time", SimpleNamespace(perf_counter=lambda: float(next(looks))))
    fresh, within = Kernel(halved.py_func, F64(F64, F64), False, {}), []
    monkeypatch.setattr(fresh, "disable_compile", lambda: within.append((clock(), clock())))
    since = clock()
    fresh.ready()
    assert within == [(since + 1, since + 1)]
    # Looked at once when it stopped, once when it went on, and now.
    assert (clock() - since, next(looks)) == (2.0, 4)
    with standing_still(), standing_still():
        inside = clock()
        assert clock() == inside
    assert clock() == inside + 1


GIVEN = """
import numpy as np
from workbench.problems.classes import LCP
from workbench.algorithms import find_solver
assert find_solver("lemke").solve(LCP(np.eye(2), -np.ones(2))).verified
"""
DECLARED = """
from workbench.builtin.cases import CASES
from workbench.builtin.formulations import FORMULATIONS
from workbench.step.one_step import first_step
from workbench.algorithms import find_solver
step = first_step(CASES.find("wheel")(), FORMULATIONS.find("stewart-trinkle"), 1e-3)
assert step.solve(find_solver("lemke"))[0].verified
"""
FROM_FILE = "from workbench.cli.main import main; assert main(['solve', 'small.npz', '--json']) == 0"
HEAVY = {"cvxpy", "pandas", "pyarrow", "scipy.sparse", "scipy.optimize", "matplotlib", "altair", "rich"}


@pytest.mark.parametrize("code", [GIVEN, DECLARED, FROM_FILE], ids=["given", "declared", "file"])
def test_a_small_solve_imports_nothing_heavy(code, tmp_path):
    np.savez(tmp_path / "small.npz", M=np.eye(2), q=-np.ones(2))
    # The first process fills the caches.
    run(code, tmp_path)
    words = run(f"{code}\nimport sys\nprint('modules', *sys.modules)", tmp_path)
    assert not HEAVY & set(words[words.index("modules") :])
