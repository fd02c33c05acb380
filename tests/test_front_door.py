"""What `import workbench as wb` gives: every name documented and tried, nothing heavy imported, nothing shadowed."""

import doctest
import inspect
import os
import subprocess
import sys
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.scenes import Balls
from workbench.problems.solution import Solution, Status
from workbench.step import sweep as step_sweep
from workbench.step.sliding import sweep as sliding_sweep
from workbench.support.registry import Registry
from workbench.verbs.sweep import GIVEN


def python(code: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words, "-c", code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("name", wb.__all__)
def test_every_public_name_is_there_and_documented(name):
    thing = getattr(wb, name)
    assert name in dir(wb)
    assert isinstance(thing, Registry) or (inspect.getdoc(thing) or "").strip()


def test_static_and_lazy_imports_name_the_same_things():
    text = Path(wb.__file__).read_text("utf-8")
    for name, (module, attribute) in wb._FOUND.items():
        assert f"from workbench.{module} import" in text
        assert getattr(import_module(f"workbench.{module}"), attribute) is getattr(wb, name)
    assert set(wb._FOUND) - {"__version__"} == set(wb.__all__)


def test_a_mistyped_name_is_reported_with_the_known_ones():
    with pytest.raises(AttributeError, match=r"'sovle'.*solve"):
        _ = wb.sovle


QUICK = (
    "check", "compare", "contact", "find", "one_step", "painleve", "read", "scene", "show", "solve", "sweep", "trace",
    "vary", "workbench",
)  # fmt: skip
PACKAGE = Path(wb.__file__).parent
DOCUMENTED = [
    pytest.param(
        module := ".".join(("workbench", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"),
        marks=() if module.rpartition(".")[2] in QUICK else pytest.mark.thorough,
    )
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("module", DOCUMENTED)
def test_examples_in_docstrings_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0
    assert found.failed == 0


def test_importing_takes_nothing_along(tmp_path):
    done = python("import sys; old = set(sys.modules); import workbench; print(*set(sys.modules) - old)", tmp_path)
    assert done.returncode == 0, done.stderr
    assert not {"numpy", "numba", "cvxpy", "pandas", "scipy"} & set(done.stdout.split())


@pytest.mark.thorough
def test_files_of_the_same_names_beside_a_script_do_no_harm(tmp_path):
    """Decoys of all three names; the script's own `cases` stays its own."""
    for name in ("cases", "formulations", "reports"):
        (tmp_path / f"{name}.py").write_text(f"MINE = '{name}'\n")
    (tmp_path / "script.py").write_text(
        "import cases, formulations, reports\n"
        "import workbench as wb\n"
        "import numpy as np\n"
        "block = wb.ContactSystem(M=np.eye(3), v=[1, 0, 0], f=[0, 0, -10], h=0.01, J_n=[[0, 0, 1]],\n"
        "                         J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5)\n"
        "assert wb.solve(block).verified\n"
        "assert 'wheel' in wb.cases and wb.show('box', 'cube').latex\n"
        "assert wb.check([[2, 1], [1, 2]]).html()\n"
        "print(cases.MINE, formulations.MINE, reports.MINE)\n"
    )
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "cases formulations reports\n"), done.stderr


@pytest.mark.parametrize("name", ["formulations", "cases", "solvers", "metrics"])
def test_lists_tell_what_they_hold(name):
    registry = getattr(wb, name)
    assert registry._ipython_key_completions_() == registry.names
    assert registry.names[0] in repr(registry)
    assert registry[registry.names[0]] is registry.find(registry.names[0])
    page = registry._repr_html_()
    assert all(f"<code>{n}</code>" in page for n in registry.names)


def block(**changed):
    data = dict(M=2 * np.eye(3), v=[0.6, 0.8, 0], f=[0, 0, -19.62], h=0.01, J_n=[[0, 0, 1]], mu=0.5)
    return wb.ContactSystem(**data | dict(J_t=[[1, 0, 0], [0, 1, 0]]) | changed)


@pytest.mark.parametrize(
    "make",
    [
        lambda: wb.solve(block()),
        lambda: wb.sweep("box", block(), mu=np.linspace(0, 1, 7)),
        lambda: wb.check([[2, 1], [1, 2]], rhs=[-1, -1]),
        lambda: wb.check("wheel", "box", seconds=2),
        lambda: wb.painleve("rod"),
        lambda: wb.show("box"),
    ],
    ids=["solve", "sweep", "check", "formulation", "painleve", "show"],
)
def test_results_can_be_looked_at_saved_and_shown(make, tmp_path):
    result = make()
    assert result.title in repr(result)
    assert "<table" in result._repr_html_()
    folder = result.save(tmp_path / "saved")
    names = {path.name for path in folder.iterdir()}
    assert names == {"provenance.json", "report.html", *(f"{name}.csv" for name in result.frames)}
    page = result.page(tmp_path / "page.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_what_solve_takes(tmp_path):
    lcp = wb.solve(wb.solve.__globals__["MLCP"](np.eye(2), [-1.0, 1.0], [0.0, 0.0], [np.inf, np.inf]))
    np.testing.assert_allclose(lcp.z, [1, 0], atol=1e-12)
    with pytest.raises(wb.WorkbenchError, match="ndarray is not a problem"):
        wb.solve(np.eye(2))
    with pytest.raises(wb.WorkbenchError, match="does not exist"):
        wb.solve(tmp_path / "nothing.npz")
    with pytest.raises(AttributeError, match="v, p_n, p_t, p_b"):
        _ = wb.solve(block()).beta


OWN = """
import workbench as wb

@wb.formulation("elliptic", friction="an elliptic cone", source="this test")
def elliptic(s: wb.ContactSymbols, ratio: float = 0.5):
    v, p = wb.free("v", s.n), wb.friction_cone(s.mu, s.r, s.d)
    return wb.declare(
        wb.equals(s.balance(v, p.n, p.t)), *s.bilateral(v),
        wb.complements((s.un(v, p.n), s.ut(v, p.t)), p), recover=dict(v=v, p_n=p.n, p_t=p.t),
    )
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    return path


def test_a_formulation_in_somebodys_file_is_found_by_its_place(own):
    found = wb.show(f"{own}:elliptic:ratio=0.25")
    assert found.formulation.options == {"ratio": 0.25}
    assert wb.formulations.find(f"{own}:elliptic") is wb.formulations.find(str(own))
    assert wb.solve(block(), f"{own}:elliptic").verified


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("import nothing_like_it", "mine.py:elliptic", "line 1: ModuleNotFoundError"),
        ("x = 1 +", "mine.py:elliptic", "line 1: "),
        ("raise SystemExit('bye')", "mine.py", "SystemExit: bye"),
        ("elliptic = 3", "mine.py:elliptic", "is a int; a formulation is needed"),
        (OWN, "mine.py:eliptic", "did you mean 'elliptic'"),
        ("", "mine.py", "no formulation"),
        (None, "mine.py:elliptic", "cannot be read"),
        (None, "no_such_package.module:x", "there is no module 'no_such_package.module'"),
        (None, "ellptic", "unknown formulation 'ellptic'"),
    ],
)
def test_mistakes_about_own_things_are_one_line(text, place, words, tmp_path):
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    place = str(tmp_path / place) if "mine" in place else place
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.show(place)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.thorough
def test_what_an_installed_package_announces_is_found(tmp_path):
    """A distribution in a folder on the path, as pip leaves it behind."""
    (tmp_path / "plug_in.py").write_text(OWN)
    info = tmp_path / "plug_in-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[workbench.formulations]\nelliptic = plug_in:elliptic\nbroken = plug_in:nothing\nbox = plug_in:elliptic\n"
        "coulomb = plug_in:elliptic\n"
    )
    code = (
        "import workbench as wb\n"
        "assert wb.formulations.find('elliptic').name == 'elliptic' and 'elliptic' in wb.formulations\n"
        "from workbench.verbs.find import find_formulation\n"
        "for name in ('box', 'coulomb'):\n"
        "    assert wb.formulations.find(name).name == find_formulation(name).name == name\n"
        "assert 'AttributeError' in wb.formulations.lines()['broken']\n"
        "assert wb.show('elliptic:ratio=2').formulation.options == {'ratio': 2.0}\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


CASE = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import workbench as wb

@dataclass(frozen=True)
class Point(wb.Case):
    name: ClassVar[str] = "point"
    size: ClassVar = (2, 0, 1, 1)
    duration: ClassVar[float] = 0.01
    mu: float = wb.quantity(0.3, "-", "friction coefficient", "nonnegative")

    def mechanics(self, q, v):
        return dict(M=np.eye(2), f=[0, -9.81], J_n=[[0, 1]], J_t=[[1, 0]], phi=q[1], mu=self.mu)

    def start(self):
        return np.zeros(2), np.array([1.0, 0.0])

    def centre(self, q):
        return np.stack([q[..., 0], 0 * q[..., 0], q[..., 1]], axis=-1)

    def energy(self, q, v):
        return 1.0 + (v**2).sum(axis=-1)
"""


def test_a_case_is_read_from_a_file(tmp_path):
    (tmp_path / "own.py").write_text(CASE)
    assert wb.compare(f"{tmp_path / 'own.py'}:Point", "coulomb", reference_step=1e-3).runs["verified"].all()


@pytest.mark.share(5)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("phi=q[1], mu=self.mu", "phi=q[1]", "mechanics gives no mu"),
        ("phi=q[1], mu=self.mu", "phi=q[1], mu=self.mew", "own.py, line 15: AttributeError: "),
        ("M=np.eye(2)", "M=-np.eye(2)", "not symmetric positive definite"),
        ("M=np.eye(2)", "M=np.array([[1, 0.5], [0, 1]])", "not symmetric positive definite"),
        ("J_n=[[0, 1]]", "J_n=[0, 1]", "J_n of shape (2,); (1, 2) is needed"),
        ("dict(M", "dict(speed=1, M", "unknown contact datum"),
        ("    size: ClassVar = (2, 0, 1, 1)\n", "", "Point has no size"),
        ('wb.quantity(0.3, "-", "friction coefficient", "nonnegative")', "0.3", "mu is not a parameter"),
        ("def energy", "def energie", "lacks energy"),
        ("np.array([1.0, 0.0])", "np.array([1.0, 0.0, 0.0])", "start gives shapes (2,), (3,)"),
        ("np.stack([q[..., 0], 0 * q[..., 0], q[..., 1]], axis=-1)", "q", "centre of one state has shape (2,)"),
        ("(v**2).sum(axis=-1)", "v**2", "energy of one state has shape (2,)"),
        ("(v**2).sum(axis=-1)", "(v**2).sum()", "energy of 3 states at once, q (3, 2), v (3, 2), gives shape ()"),
        ("np.stack([q[..., 0], 0 * q[..., 0], q[..., 1]], axis=-1)", "np.array([q[0], 0 * q[0], q[1]])", "centre of 3"),
        ("(v**2).sum(axis=-1)", "v @ v", "gives ValueError: matmul: Input operand 1 has a mismatch"),
    ],
)
def test_mistakes_in_a_case_are_one_line(old, new, words, tmp_path):
    assert old in CASE
    place = f"{tmp_path / 'own.py'}:Point"
    (tmp_path / "own.py").write_text(CASE.replace(old, new))
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.compare(place, "coulomb", reference_step=1e-3)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (", recover=dict(v=v, p_n=p.n, p_t=p.t)", "", "recover is missing"),
        (", p_t=p.t)", ")", "recover needs p_t"),
        ("*s.bilateral(v)", "s.bilateral(v)", "declare: () is not a relation; put a * before several"),
        ("    return wb", "    wb", "returns NoneType; it has to return declare(...)"),
        ("s.balance(v, p.n, p.t)", "s.balance(v, p.n, nothing)", "mine.py, line 8: NameError"),
        ("s.un(v, p.n)", "s.un(v, p.n) - s.h", "ContactSymbols has no 'h'; it has M"),
        ("s.un(v, p.n)", "s.mu * p.n", "mine.py, line 9: UserWarning: This use of"),
    ],
)
def test_mistakes_in_a_formulation_are_one_line(old, new, words, own):
    assert old in OWN
    own.write_text(OWN.replace(old, new))
    with warnings.catch_warnings():
        # As users have it, and not as the tests, where every warning is an error.
        warnings.simplefilter("default")
        with pytest.raises(wb.WorkbenchError) as caught:
            wb.show(f"{own}:elliptic", "cube")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("place", ["elliptic:ratio", "elliptic:ratio:2", "elliptic:"])
def test_options_behind_a_place_are_reported_from_the_place(place, own):
    with pytest.raises(wb.WorkbenchError, match="is not OPTION=VALUE") as caught:
        wb.show(f"{own}:{place}")
    assert "import" not in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: wb.check(1j * np.eye(2)), "the matrix has complex entries"),
        (lambda: wb.compare("wheel", "box", duration=0.01, steps=[]), "no step is given"),
        (lambda: wb.compare("packing", "ccp", duration=0.01, steps=[]), "no step is given"),
        *(
            (partial(wb.compare, "wheel", "box", **{"duration": 0.01} | given), words)
            for given, words in (
                ({"workers": 0}, "workers = 0; a whole number"),
                ({"workers": 1.5}, "workers = 1.5; a whole number"),
                ({"workers": "2"}, "workers = '2'; a whole number"),
                ({"duration": np.inf}, "duration inf s; a finite"),
                ({"duration": "1"}, "duration '1'; a number"),
                ({"steps": ["1e-3"]}, "step '1e-3'; a number"),
                ({"reference_step": "x"}, "step 'x'; a number"),
                ({"relaxation": -1}, "relaxation -1; give NAME"),
                ({"reference": 3}, "unknown reference '3'"),
                ({"normal": 3}, "unknown normal law '3'"),
            )
        ),
        (lambda: wb.compare("wheel", 3, duration=0.01), "a formulation or its name is needed; int was given"),
        (lambda: wb.compare(wb.cases.find("wheel")(mu="a")), "wheel: mu = 'a'; a number"),
        *(
            (partial(wb.study, "wheel", "box", **{"duration": 0.01, "parameters": {"mu": [0.2]}} | given), words)
            for given, words in (
                ({"workers": 0}, "workers = 0; a whole number"),
                ({"workers": 1.5}, "workers = 1.5; a whole number"),
                ({"shard": 1}, "shard 1/None; the first"),
                ({"shard": (1.5, 2)}, "shard 1.5/2; the first"),
                ({"parameters": [1]}, "parameters of type list"),
                ({"parameters": {3: [1]}}, "3 is varied; the name"),
                ({"parameters": {("mu", "m"): [(0.1,)]}}, r"mu, m = \[0.1\]; 2 values"),
                ({"parameters": {"mu": (0.1, 0.9)}, "sample": "lhs:2", "seed": -1}, "seed = -1; a whole number >= 0"),
                ({"parameters": {"mu": (0.1, 0.9)}, "sample": 7}, "sample '7'; give a method"),
                ({"folder": 3}, "folder = 3; a path is needed"),
            )
        ),
        (lambda: wb.exam("nope"), "formulation or engine 'nope'"),
        (lambda: wb.exam("ccp", experiments="nope"), "experiment 'nope'"),
        (lambda: wb.exam("ccp", experiments="lift", steps=[]), "no step is given"),
        (lambda: wb.exam("ccp", experiments="lift", workers=-3), "workers = -3; a whole number"),
        (lambda: wb.reality(3), "folder = 3; a path is needed"),
        (lambda: wb.check(np.eye(2)).save(3), "folder = 3; a path is needed"),
        (lambda: wb.check(np.eye(2)).page(3), "page = 3; a path is needed"),
        (lambda: wb.scene("hopper", [1]), r"values = \[1\]; values by name are needed"),
        (lambda: wb.fit("wheel", [1, 2], to="mu"), "measurements of type list; a frame or a CSV file"),
        (lambda: wb.fit("wheel", "nowhere.csv", to=3), "to holds 3; names are needed"),
        (lambda: wb.fit("wheel", "nowhere.csv", to="mu", step="x"), "step 'x'; a number of seconds"),
        (lambda: wb.compare(Balls(np.zeros((0, 3)), np.zeros((0, 3))), "ccp", duration=0.01), "balls has no bodies"),
        (lambda: wb.compare(Balls([[0, 0, np.nan]], np.zeros((1, 3))), "ccp", duration=0.01), "not finite"),
    ],
)
def test_what_nobody_can_compute_is_one_line(ask, words):
    with pytest.raises(wb.WorkbenchError, match=words) as error:
        ask()
    assert "\n" not in str(error.value)


def test_one_thing_or_several(own):
    found = wb.compare("wheel", "box", solvers="proximal", metrics="position-error", steps=1e-3, duration=0.01)
    assert set(found.runs["solver"]) == {"proximal"}
    assert "energy_error" not in found.runs
    assert str(wb.compare("cube", "box", relaxation="rigid", duration=0.01).comparison.settings.relaxation) == "rigid"
    twin = own.with_name("twin.py")
    twin.write_text(OWN)
    with pytest.raises(wb.WorkbenchError, match="two formulations are called 'elliptic'"):
        wb.compare("wheel", [f"{own}:elliptic", f"{twin}:elliptic"], duration=0.01)


def test_a_solver_gets_only_problems_of_the_kinds_that_it_solves():
    class Blind:
        """It claims to have solved whatever it is given."""

        name, solves, guaranteed_for, tolerance = "blind", frozenset({"LCP"}), "nothing", 1e-6

        def why_not(self, problem):
            return None

        def solve(self, problem):
            assert problem.kind == "LCP"
            return Solution(np.zeros(problem.size), Status.SOLVED, 0.0, self.tolerance, 0, 0.0, self.name)

    for formulation in ("ccp", "coulomb"):
        answer = wb.solve(block(), formulation, Blind())
        assert (answer.status.name, answer.verified) == ("REFUSED", False)
        assert "no finite set of generators" in answer.words[-1]
    box = wb.solve(block(), "box", Blind())
    assert box.solution.path == ("bounds with multipliers",)
    assert (box.status.name, box.verified) == ("INACCURATE", False)
    rows = wb.compare("wheel", ["ccp", "coulomb"], solvers=[Blind()], duration=0.01).runs
    assert set(rows["claimed"]) == {"REFUSED"}


def test_every_column_of_a_sweep_has_a_unit_and_a_meaning_and_what_varies_stays():
    """Also where what varies has the name of an answer, as the velocity."""
    v = np.array([[0.6, 0.8, 0.0], [0.3, 0.4, 0.0]])
    frame = wb.sweep("coulomb", block(), v=v, mu=[0.1, 0.2]).frame
    assert list(frame.columns) == list(frame.attrs["columns"])
    np.testing.assert_array_equal(frame[["v_given[0]", "v_given[1]", "v_given[2]"]], v)
    assert frame.attrs["columns"]["mu"] == {"unit": "1", "meaning": "friction coefficient"}
    assert all(x["meaning"] for x in frame.attrs["columns"].values())
    assert {*step_sweep.VARIES, *sliding_sweep.VARIES} == {*GIVEN}
