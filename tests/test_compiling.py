"""Kernels: one name, one compilation, when first called; clocks stand still; small things start soon."""

import gc
import itertools
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit, types

import workbench as wb
from tests.processes import run, two_modules
from workbench.engine import compiling
from workbench.engine.compiling import kernel
from workbench.engine.kernels import VECTOR
from workbench.engine.timing import clock, standing_still

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


def test_a_kernel_is_compiled_when_it_is_first_called_and_gives_what_python_gives():
    x = np.random.default_rng(0).uniform(size=9)
    assert not folded.place
    assert folded(x) == folded.py_func(x)
    assert halved.place
    assert not never_called.place


TWO = F64(F64, F64)


@kernel(TWO)
def differing(a, b):
    if b < 0.0:
        raise ValueError("negative")
    return a - b


@kernel(TWO, linked=True)
def linked_in(a, b):
    return a + 10.0 * b


@kernel(F64(types.FunctionType(TWO), F64, F64))
def handed(f, a, b):
    return f(a, b)


def wrappers(of):
    """Whether the code of a kernel holds what Python calls, and what C calls."""
    code = {function.name for function in of.made.library._get_module_for_linking().functions}
    return [name in code for name in (of.made.fndesc.llvm_cpython_wrapper_name, of.made.fndesc.llvm_cfunc_wrapper_name)]


@kernel(F64(F64))
def inner(a):
    return a + 1.0


@kernel(F64(F64))
def outer(a):
    return 2.0 * inner(a)


def test_what_python_calls_is_made_when_python_calls():
    assert outer(1.0) == 4.0
    assert wrappers(inner) == wrappers(outer) == [False, False]
    assert (inner.for_python is None, outer.for_python is None) == (True, False)
    # Also where numbers have to be converted, in any order.
    assert (inner(1), inner(1.5), inner(a=True)) == (2.0, 2.5, 2.0)
    with pytest.raises(TypeError):
        inner("1")
    assert len(inner.overloads) == 1


def test_kernels_are_handed_over_without_what_c_would_call():
    assert handed(differing, 3.0, 1.0) == 2.0
    with pytest.raises(ValueError, match="negative"):
        handed(differing, 3.0, -1.0)
    assert wrappers(differing) == [False, False]
    assert differing.for_python is None
    # By code of numba's own: what it was given, and what is linked into it.
    assert njit(lambda f, a, b: handed(f, a, b))(differing, 3.0, 1.0) == 2.0
    assert njit(lambda a, b: handed(linked_in, a, b))(1.0, 2.0) == handed(linked_in, 1.0, 2.0) == 21.0
    with pytest.raises(TypeError):
        handed(outer, 3.0, 1.0)


def test_errors_pass_through_calls_by_name():
    with pytest.raises(ValueError, match="negative"):
        folded(np.array([1.0, -1.0]))


def test_other_types_are_refused_and_not_compiled_for():
    for wrong in (np.zeros(2, dtype=int), np.zeros((2, 2)), np.zeros(4)[::2]):
        with pytest.raises(TypeError):
            folded(wrong)
    assert len(folded.overloads) == 1


def test_an_unchecked_kernel_takes_what_it_is_declared_for():
    @kernel(types.float64(types.UniTuple(VECTOR, 2), types.int64), checked=False)
    def entry(pair, i):
        return pair[0][i] - pair[1][i]

    x, y = np.arange(3.0), np.array([4.0, 9.0, 1.0])
    # The first call makes what the others go to.
    assert [entry((x, y), i) for i in (0, 1, 2, 1)] == [-4.0, -8.0, 1.0, -8.0]
    with pytest.raises(TypeError):
        entry((x, None), 1)


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


ARRAYS = """
import numpy as np
from numba import types
from workbench.engine.compiling import kernel

VECTOR = types.float64[::1]

@kernel(VECTOR(VECTOR), nogil=True)
def twice(x):
    if x[0] < 0.0:
        raise ValueError("negative")
    return 2.0 * x

@kernel(types.float64(VECTOR))
def added(x):
    return twice(x).sum()
"""
FREED = """
import sys, weakref
import numpy as np
from arrays import twice
x = np.ones(3)
y, gone = twice(x), weakref.ref(x)
try:
    twice(-x)
except ValueError as error:
    print(error)
del x
# Who else holds the numbers, of what was handed over and of what was returned.
print(gone() is None, y.base.refcount, y.sum(), sum(twice.stats.cache_hits.values()))
"""
FORBIDDEN = """
import workbench.engine.compiling as c
class Forbidden:  # Its calls raise.
    __module__ = c.with_wrapper.__module__
c.with_wrapper = Forbidden
"""


@pytest.mark.thorough
def test_what_python_calls_is_kept_on_disk_apart_and_frees_what_it_was_given_and_returns(tmp_path):
    (tmp_path / "arrays.py").write_text(ARRAYS)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run("import numpy as np; from arrays import added; assert added(np.ones(2)) == 4.0", tmp_path, **cache)
    files = set((tmp_path / "cache").rglob("*.nbc"))
    assert run(FREED, tmp_path, **cache) == ["negative", "True", "1", "6.0", "1"]
    (new,) = set((tmp_path / "cache").rglob("*.nbc")) - files
    assert run(FORBIDDEN + FREED, tmp_path, **cache) == ["negative", "True", "1", "6.0", "1"]
    # Where the kernel is compiled anew it has another name, and what called it is not taken for its own.
    for file in (tmp_path / "cache").rglob("arrays.twice*.nbc"):
        if file != new:
            file.unlink()
    before = "from workbench.engine.kernels import copy; copy.ready()\n"
    assert run(before + FREED, tmp_path, **cache) == ["negative", "True", "1", "6.0", "0"]
    # Compiled first, both at once.
    fresh = {"NUMBA_CACHE_DIR": str(tmp_path / "fresh")}
    assert run(FREED, tmp_path, **fresh) == ["negative", "True", "1", "6.0", "0"]


@pytest.fixture
def project(tmp_path):
    return two_modules(tmp_path)


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


@pytest.mark.thorough
def test_where_compiling_is_interrupted_or_fails_the_caller_raises_that_and_can_be_called_again(project):
    words = run(INTERRUPTED, project, NUMBA_CACHE_DIR=str(project / "cache"))
    assert words == ["KeyboardInterrupt", "OSError", "3.0"]


MADE = """
from numba import types
from workbench.engine.compiling import kernel

F64 = types.float64

def times(factor):
    @kernel(F64(F64))
    def scaled(x):
        return factor * x
    return scaled

def within(factor):
    @kernel(F64(F64), linked=True, inline="never")
    def part(x):
        return factor * x + 1.0 if x > 0.0 else factor
    @kernel(F64(F64))
    def whole(x):
        return part(x)
    return whole
"""


@pytest.mark.parametrize("make", ["times", "within"])
def test_functions_of_one_name_that_two_processes_have_stored_are_told_apart(make, tmp_path):
    """Each was the first that its process compiled; whichever is loaded first, both give their own values."""
    (tmp_path / "made.py").write_text(MADE)
    cache = dict(NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    values = [run(f"import made; print(made.{make}({k}.0)(1.0))", tmp_path, **cache)[0] for k in (2, 3)]
    assert values[0] != values[1]
    for order in ("a, b", "b, a"):
        code = f"""
import made
a, b = made.{make}(2.0), made.{make}(3.0)
for f in {order}:
    f.ready()
print(*[f(1.0) for f in (a, b, a)])
"""
        assert run(code, tmp_path, **cache) == [*values, values[0]]


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


@pytest.mark.thorough
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


@pytest.mark.thorough
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
    fresh, within = compiling.Kernel(halved.py_func, F64(F64, F64), False, {}), []
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


def test_what_compiling_leaves_to_collect_is_collected_while_the_clock_stands_still(monkeypatch):
    """Else it costs whoever is first called afterwards half a second of the time allowed."""
    looks, kept, moved = itertools.count(1), [], []
    monkeypatch.setattr("workbench.engine.timing.time", SimpleNamespace(perf_counter=lambda: float(next(looks))))
    fresh = compiling.Kernel(halved.py_func, F64(F64, F64), False, {})
    monkeypatch.setattr(fresh, "disable_compile", lambda: kept.extend([] for _ in range(10 * gc.get_threshold()[0])))

    def collecting(phase, _):
        if kept and phase == "start":
            moved.append(clock() - clock())

    gc.callbacks.append(collecting)
    try:
        fresh.ready()
        kept.append([[] for _ in range(gc.get_threshold()[0] // 2)])
    finally:
        gc.callbacks.remove(collecting)
    assert moved
    assert not any(moved)


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
HEAVY = {"cvxpy", "pandas", "pyarrow", "scipy.sparse", "scipy.linalg", "scipy.optimize", "matplotlib", "altair", "rich"}


CHECK = "from workbench.cli.main import main; assert main(['check', '[2 1; 1 4/3]']) == 0"
OF_FILE = "from workbench.cli.main import main; assert main(['check', 'friction.npz']) == 0"
LIST = "from workbench.cli.main import main; assert main(['list']) == 0"
HELP = """
from workbench.cli.main import main
try:
    main(['show', '--help'])
except SystemExit as end:
    assert not end.code
"""
SMALL = {
    "given": GIVEN, "declared": DECLARED, "solve": FROM_FILE, "check": CHECK, "check a file": OF_FILE, "list": LIST,
    "help": HELP,
}  # fmt: skip


@pytest.mark.share(7)
@pytest.mark.parametrize("code", SMALL.values(), ids=SMALL)
def test_small_commands_import_nothing_heavy(code, tmp_path):
    np.savez(tmp_path / "small.npz", M=np.eye(2), q=-np.ones(2))
    np.savez(tmp_path / "friction.npz", W=np.eye(3), q=-np.ones(3), mu=np.array([0.5]))
    # The first process fills the caches.
    run(code, tmp_path)
    words = run(f"{code}\nimport sys\nprint('modules', *sys.modules)", tmp_path)
    # W of a friction problem is a sparse matrix.
    allowed = {"scipy.sparse"} if code == OF_FILE else set()
    assert not (HEAVY - allowed) & set(words[words.index("modules") :])


def test_code_on_disk_depends_on_no_address():
    """A kernel of which it did would be compiled in every process."""
    methods = {type(wb.solvers.find(name)).__module__ for name in wb.solvers.names}
    assert len(methods) > 5
    assert len(compiling.PLACES) > 100
    for one in compiling.PLACES.values():
        assert not [word for word in compiling._made_from(one) if " at 0x" in str(word)], one
