"""Mutants: the code with one decision changed at a time, to see whether a test fails. What no test notices is printed.

A comparison, `and`, `not`, a condition, a tolerance, the order of what is sorted, an early return, a returned truth
or a statement is changed in a copy of the tree, and the tests of `TESTS` run there, or those that import the module.
Mutants that differ from the code in nothing that matters stand in `tests/equivalent_mutants.txt`, each with a reason.

    python -m tests.mutants                                  # all rooms of the table
    python -m tests.mutants workbench/engine/disk.py         # one file

A mutant takes a second or two, a room some minutes on two processors; `--lines 40:60` tries some lines of a file only,
`--every 5` a fifth of its mutants.
"""

import argparse
import ast
import copy
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
EQUIVALENT = ROOT / "tests" / "equivalent_mutants.txt"
TESTS = {
    "workbench/judge": ["test_judge.py", "test_judged_laws.py"],
    "workbench/problems/solution.py": ["test_solution.py", "test_taking_over.py"],
    "workbench/problems/residual.py": ["test_one_residual.py", "test_residuals.py", "test_judge.py"],
    "workbench/algorithms/escalation.py": ["test_taking_over.py", "test_escalation.py"],
    "workbench/studies/journal.py": ["test_journal.py", "test_status.py"],
    "workbench/studies/status.py": ["test_status.py"],
    "workbench/studies/study.py": ["test_progress.py", "test_studies.py"],
    "workbench/exams/recorded/findings.py": ["test_identified.py", "test_findings.py"],
    "workbench/exams/recorded/trial.py": ["test_identified.py", "test_findings.py"],
    "workbench/engine/disk.py": ["test_disk.py"],
    "workbench/certificates": [
        "test_checker.py", "test_checker_bounds.py", "test_problem_certificates.py", "test_certificate_documents.py",
        "test_certificates.py", "test_proved_answer.py", "test_box_certificates.py", "test_map_certificates.py",
        "test_box_rank.py", "test_large_matrices.py", "test_uncertain_bounds.py", "test_largest_uncertainty.py",
        "test_programmes.py", "test_large_blocks.py", "test_forms.py",
    ],
    "workbench/certificates/boxes.py": ["test_box_certificates.py", "test_box_rank.py"],
    "workbench/certificates/signed_pivots.py": ["test_box_certificates.py"],
    "workbench/certificates/uncertain.py": ["test_uncertain_bounds.py", "test_box_certificates.py"],
    "workbench/certificates/unique_box.py": ["test_uncertain_bounds.py"],
    "workbench/certificates/largest_uncertainty.py": ["test_largest_uncertainty.py", "test_box_certificates.py"],
    "workbench/certificates/programme.py": ["test_programmes.py"],
    "workbench/certificates/maps.py": ["test_programmes.py", "test_map_certificates.py"],
    "workbench/certificates/forms.py": ["test_programmes.py", "test_map_certificates.py"],
    "workbench/certificates/mechanisms.py": ["test_programmes.py", "test_map_certificates.py"],
    "workbench/diagnostics/contact_uniqueness.py": ["test_coulomb_solutions.py"],
    "workbench/matrices/solutions/coulomb_solutions.py": ["test_coulomb_solutions.py"],
    "workbench/matrices/solutions/coulomb_islands.py": ["test_coulomb_solutions.py", "test_coulomb_count.py"],
    "workbench/matrices/solutions/contradictions.py": ["test_coulomb_solutions.py"],
    "workbench/matrices/solutions/impulse_bound.py": ["test_coulomb_solutions.py"],
    "workbench/certificates/coulomb_count.py": ["test_coulomb_count.py"],
    "workbench/certificates/polynomials.py": ["test_coulomb_count.py", "test_coulomb_uniqueness.py"],
    "workbench/certificates/coulomb_uniqueness.py": ["test_coulomb_uniqueness.py"],
    "workbench/certificates/symmetric.py": ["test_box_certificates.py"],
    "workbench/step/scheme.py": ["test_schemes.py"],
    "workbench/studies/convergence.py": ["test_convergence.py"],
    "workbench/studies/refinement.py": ["test_orders.py"],
}  # fmt: skip
"""The rooms, and the tests that hold each, the quickest first."""
SMALL = 1e-2
"""Numbers up to this are taken for tolerances, as those with names in capitals are."""
SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
OPPOSITE = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "any": "all", "all": "any",
            "minimum": "maximum", "maximum": "minimum"}  # fmt: skip
PATIENCE = 30.0
"""Seconds that tests may take besides five times what they take of the code itself."""


@dataclass(frozen=True)
class Mutant:
    """A file with one change: where it is, what stood there, what stands there now, and the whole file's text."""

    path: str
    line: int
    function: str
    before: str
    after: str
    text: str

    @property
    def name(self) -> str:
        """What `equivalent_mutants.txt` calls it; line numbers would change with every edit."""
        return f"{self.path}, {self.function}: {self.before} -> {self.after}"


def mutants(path: str, text: str) -> Iterator[Mutant]:
    """All mutants of a file, in the order of its lines."""
    content = text.encode()
    starts = [0]
    for row in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))

    def changed(node: ast.AST, function: str, after: str) -> Mutant:
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        made = (content[:begin] + after.encode() + content[end:]).decode()
        return Mutant(path, node.lineno, function, _line(content[begin:end].decode()), _line(after), made)

    found = []
    for node, function, parents in _walk(ast.parse(text), "module", ()):
        for after in (*_expressions(node, parents), *_statements(node, parents)):
            found.append(changed(node, function, after))
    yield from sorted(found, key=lambda mutant: mutant.line)


def _line(text: str) -> str:
    return " ".join(text.split())


def _walk(node: ast.AST, function: str, parents: tuple[ast.AST, ...]) -> Iterator[tuple]:
    """Every node that decides something, with the names of its function and class, and what it stands in."""
    yield node, function, parents
    for field, children in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list") or isinstance(children, ast.JoinedStr):
            # Within strings the positions of nodes are not told.
            continue
        for child in children if isinstance(children, list) else [children]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                named = isinstance(child, ast.FunctionDef | ast.ClassDef)
                inside = f"{function}.{child.name}".removeprefix("module.") if named else function
                yield from _walk(child, inside, (*parents, node))


def _expressions(node: ast.AST, parents: tuple[ast.AST, ...]) -> Iterator[str]:
    parent = parents[-1] if parents else None
    match node:
        case ast.Compare():
            for k, operator in enumerate(node.ops):
                yield _with(node, "ops", [*node.ops[:k], SWAPPED[type(operator)](), *node.ops[k + 1 :]])
        case ast.BoolOp():
            yield _with(node, "op", SWAPPED[type(node.op)]())
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            yield _with(node, "op", SWAPPED[type(node.op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield f"({ast.unparse(node.operand)})"
        case ast.Constant(value=float(x)) if x and (abs(x) <= SMALL or _is_named(parents)):
            yield repr(10 * x)
        case ast.Attribute() | ast.Name() if isinstance(parent, ast.Compare) and "tolerance" in ast.unparse(node):
            yield f"(10 * {ast.unparse(node)})"
        case ast.Call(func=ast.Name(id="sorted")):
            yield f"{ast.unparse(node)}[::-1]"
        case ast.Call(func=ast.Name(id="reversed"), args=[what]):
            yield f"iter({ast.unparse(what)})"
        case ast.Call(func=ast.Name(id=name) as called) if name in OPPOSITE:
            yield _with(node, "func", ast.Name(OPPOSITE[called.id]))
        case ast.Call(func=ast.Attribute(attr=name) as called) if name in OPPOSITE:
            yield _with(node, "func", ast.Attribute(called.value, OPPOSITE[name]))
    if isinstance(parent, ast.If | ast.IfExp | ast.While) and node is parent.test and _is_free(node):
        yield f"(not {ast.unparse(node)})"


def _is_free(test: ast.expr) -> bool:
    """Whether a condition has no other mutant that denies it."""
    denied = isinstance(test, ast.UnaryOp) or (
        isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In)
    )
    return not denied and ast.unparse(test) != "TYPE_CHECKING"


def _is_named(parents: tuple[ast.AST, ...]) -> bool:
    """Whether a number is what a name in capitals stands for."""
    return len(parents) == 2 and isinstance(parents[1], ast.Assign) and ast.unparse(parents[1].targets[0]).isupper()


def _statements(node: ast.AST, parents: tuple[ast.AST, ...]) -> Iterator[str]:
    match node:
        case ast.Return(value=ast.Constant(value=bool(x))):
            yield f"return {not x}"
        case ast.Return() if not isinstance(parents[-1], ast.FunctionDef):
            yield "pass"
        case ast.Expr(value=ast.Call() | ast.Yield()) | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield "pass"
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "pass"


def _with(node: ast.AST, field: str, value: object) -> str:
    other = copy.copy(node)
    setattr(other, field, value)
    return f"({ast.unparse(other)})"


def known_equivalent() -> set[str]:
    """Names of mutants that are known to make no difference; the line below each says why."""
    return {line for line in EQUIVALENT.read_text("utf-8").splitlines() if " -> " in line and line[:1].strip()}


def room_of(path: str) -> str | None:
    """The entry of `TESTS` that a file belongs to."""
    return next((room for room in sorted(TESTS, reverse=True) if path.startswith(room)), None)


def tests_of(path: str) -> list[str]:
    """Paths of the tests of a file: those of its room, or those that name its module."""
    room = room_of(path)
    if room:
        return [f"tests/{name}" for name in TESTS[room]]
    module = path.removesuffix(".py").replace("/", ".")
    package, _, name = module.rpartition(".")
    named = (f"from {module} ", f"import {module}", f"from {package} import {name}")
    found = (p for p in sorted((ROOT / "tests").glob("test_*.py")) if any(x in p.read_text("utf-8") for x in named))
    return [f"tests/{p.name}" for p in found]


class Bench:
    """A copy of the tree, in which one mutant at a time is tried by a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = shutil.ignore_patterns(".git", "_build", "*.egg-info", ".*_cache")
        # Times of files too: numba takes machine code for that of the same file.
        shutil.copytree(ROOT, folder, ignore=kept, symlinks=True)
        self.process = 0
        self.mutant: Mutant | None = None
        self.begun = 0.0

    @property
    def said(self) -> str:
        """What the last tests have printed."""
        return (self.folder / "said.txt").read_text("utf-8", "replace")

    def begin(self, path: str, tests: Sequence[str], mutant: Mutant | None, marked: str = "") -> None:
        """Start the tests so `marked`, by default thorough ones too, of a mutant or of the code as it is."""
        self.mutant, self.begun = mutant, time.monotonic()
        for compiled in (self.folder / path).parent.glob(f"__pycache__/{Path(path).stem}.cpython*.pyc"):
            compiled.unlink()
        if mutant:
            (self.folder / path).write_text(mutant.text, "utf-8")
        sys.stdout.flush()
        self.process = os.fork()
        if not self.process:
            _test(self.folder, tests, marked)

    def ended(self, seconds: float) -> str:
        """How the tests ended: "passed", "failed", "late" after so many seconds; "" while they run."""
        process, status = os.waitpid(self.process, os.WNOHANG)
        late = not process and time.monotonic() - self.begun > seconds
        if not process and not late:
            return ""
        # What the tests have started ends with them.
        with suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)
        if late:
            os.waitpid(self.process, 0)
        if self.mutant:
            shutil.copy2(ROOT / self.mutant.path, self.folder / self.mutant.path)
        return "late" if late else "failed" if status else "passed"


def _test(folder: Path, tests: Sequence[str], marked: str) -> None:
    """Run tests in a copy of the tree, in a forked process that ends with them."""
    import pytest

    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path[:] = [str(folder), *(p for p in sys.path if Path(p or ".").resolve() not in (ROOT, folder))]
        for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "workbench")]:
            del sys.modules[name]
        silence = os.open(folder / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        options = ["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", "-m", marked]
        # File by file: most mutants fail in the first, and need not wait for what the others import.
        ends = (int(pytest.main([*options, name])) for name in tests)
        # A file in which no test is so marked says nothing.
        code = next((x for x in ends if x not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)), 0)
    finally:
        os._exit(code)


def tried(path: str, waiting: Sequence[Mutant], benches: Sequence[Bench]) -> Iterator[tuple[Mutant, str]]:
    """Every mutant of a file with how its tests ended; raises SystemExit where they fail on the code itself."""
    tests = tests_of(path)
    benches[0].begin(path, tests, None)
    while not (ended := benches[0].ended(600.0)):
        time.sleep(0.02)
    if ended != "passed":
        raise SystemExit(f"the tests of {path} fail: {' '.join(tests)}\n{benches[0].said}")
    seconds = PATIENCE + 5 * (time.monotonic() - benches[0].begun)
    left, free, busy = list(waiting)[::-1], list(benches), list[Bench]()
    while left or busy:
        while left and free:
            busy.append(free.pop())
            busy[-1].begin(path, tests, left.pop())
        time.sleep(0.02)
        for bench in [bench for bench in busy if bench.mutant]:
            if how := bench.ended(seconds):
                yield bench.mutant, how
                busy.remove(bench)
                free.append(bench)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("files", nargs="*", metavar="FILE", help="default: all rooms of the table")
    words.add_argument("--processes", type=int, default=2)
    words.add_argument("--lines", metavar="FIRST:LAST")
    words.add_argument("--every", type=int, default=1, metavar="K", help="every K-th mutant of a file")
    given = words.parse_args()
    chosen = [str(Path(name).resolve().relative_to(ROOT)) for name in given.files] or list(TESTS)
    files = [
        p for name in chosen for p in (sorted((ROOT / name).rglob("*.py")) if name[-3:] != ".py" else [ROOT / name])
    ]
    first, _, last = (given.lines or "0:1000000").partition(":")
    equivalent, counts = known_equivalent(), dict[str, list[int]]()
    import_others()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        benches = [Bench(Path(folder).resolve() / str(k)) for k in range(given.processes)]
        for file in files:
            path = str(file.relative_to(ROOT))
            made = [x for x in mutants(path, file.read_text("utf-8")) if int(first) <= x.line <= int(last)]
            made = made[:: given.every]
            count = counts.setdefault(room_of(path) or path, [0, 0, 0, 0])
            count[0] += len(made)
            count[2] += sum(x.name in equivalent for x in made)
            for mutant, how in tried(path, [x for x in made if x.name not in equivalent], benches) if made else ():
                count[1] += how != "passed"
                count[3] += how == "late"
                if how == "passed":
                    print(f"survived: {mutant.path}:{mutant.line} {mutant.function}: {mutant.before} -> {mutant.after}",
                          flush=True)  # fmt: skip
    print("\n| room | mutants | killed | of them by time | equivalent | score |\n|---|---|---|---|---|---|")
    for room, (total, killed, same, late) in counts.items():
        score = 100 * killed / max(total - same, 1)
        print(f"| `{room}` | {total} | {killed} | {late} | {same} | {score:.0f} % |")


def import_others() -> None:
    """What every test would import anew; nothing of the workbench, which each process has its own copy of."""
    import cvxpy  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import pytest  # noqa: F401
    import scipy.sparse  # noqa: F401


if __name__ == "__main__":
    # Of many processes at once each has one processor; the thread pools of libraries would not survive a fork.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "WORKBENCH_DATA": "nowhere"}
    main()
