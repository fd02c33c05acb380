"""The command line: what it writes, and one clear line for every mistake."""

import io
import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import workbench
from workbench.cli.main import _join_numbers, main, parser
from workbench.cli.progress import CommandProgress
from workbench.support.errors import WorkbenchError

SHORT = ["--duration", "0.05", "--reference-step", "5e-4"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A short comparison of two formulations, one of which cannot be solved by one of the solvers."""
    out = tmp_path_factory.mktemp("cli") / "result"
    arguments = ["compare", "wheel", *SHORT, "-f", "anitescu-potra:directions=8", "-f", "coulomb", "--solver", "lemke"]
    arguments += ["--solver", "coulomb-exact", "--step", "1e-3", "5e-3", "--quiet", "--figures", "svg"]
    assert main([*arguments, "--out", str(out)]) == 0
    return out


def test_compare_writes_what_it_promises(written):
    runs = pd.read_csv(written / "runs.csv")
    columns = (
        "case formulation options solver step window size rank rank_min claimed verified residual tolerance reason",
        "iterations build_time solve_time friction_rmsd misalignment_rms position_error energy_error signorini cone",
        "dissipation friction_error friction_discretisation velocity_formulation position_solver rank_tolerance",
    )
    assert {name for line in columns for name in line.split()} <= set(runs.columns)
    assert len(runs) == 2 * 2 * 2 * 2  # formulations x solvers x steps x windows
    assert set(runs["window"]) == {"sliding", "all"}
    assert runs["clipped"][runs["window"] == "sliding"].all()
    assert len(pd.read_parquet(written / "runs.parquet")) == len(runs)
    steps = pd.read_parquet(written / "trajectories.parquet")
    polygon = steps[(steps["formulation"] == "anitescu-potra") & (steps["step"] == 1e-3) & (steps["role"] == "run")]
    assert len(polygon) == 2 * 50
    facts = json.loads((written / "provenance.json").read_text())
    assert facts["settings"]["steps"] == [1e-3, 5e-3]
    assert "numpy" in facts["versions"]
    assert {p.name for p in (written / "figures").iterdir()} >= {"friction.svg", "budget.svg", "painleve.svg"}


def test_refused_runs_are_rows_with_a_reason(written):
    runs = pd.read_csv(written / "runs.csv")
    refused = runs[runs["claimed"] == "REFUSED"]
    for run in runs.itertuples():
        assert (run.claimed == "REFUSED") == (run.formulation == "coulomb" and run.solver != "coulomb-exact"), run
    assert refused["reason"].str.contains("cones in space have no finite set").all()
    assert not refused["verified"].any()
    assert refused["friction_rmsd"].isna().all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "whell"], ["whell", "did you mean 'wheel'?"]),
        (["show", "wheel"], ["wheel is a case, which workbench list wheel describes; name a formulation"]),
        (["compare", "ccp"], ["ccp is a formulation, which -f ccp chooses; name a case"]),
        (["compre", "wheel"], ["compre", "did you mean 'compare'?"]),
        (["compare", "wheel", "--normal", "gab"], ["--normal 'gab'", "did you mean 'gap'?"]),
        (["compare", "wheel", "-f", "boks"], ["boks", "did you mean 'box'?"]),
        (["compare", "nothing.hdf5"], ["nothing.hdf5 does not exist"]),
        (["exam", "coulomb", "--python", "/nothing"], ["python '/nothing' is not a program"]),
        (["compare", "wheel", "-f", "bax"], ["bax", "box", "coulomb"]),
        (["compare", "wheel", "-f", "box:bonds=last"], ["bonds", "bounds"]),
        (["compare", "wheel", "-f", "box:bounds=lost"], ["lost", "iterated"]),
        (["compare", "wheel", *SHORT, "-f", "anitescu-potra:directions=5"], ["directions=5", "even"]),
        (["compare", "wheel", *SHORT, "-f", "phantom-inertia:rho=-1"], ["rho=-1", "positive"]),
        (["compare", "wheel", "-f", "box:bounds"], ["bounds", "OPTION=VALUE"]),
        (["compare", "wheel", "--solver", "lemkee"], ["lemkee", "lemke"]),
        (["compare", "wheel", "--solver", "cvxpy:NOSUCH"], ["NOSUCH", "CLARABEL"]),
        (["compare", "wheel", "--step", "-1e-3"], ["--step", "-1e-3", "positive"]),
        (["compare", "wheel", "--step", "abc"], ["--step", "abc"]),
        (["compare", "wheel", "--step", "1.5e-4", "--reference-step", "1e-4"], ["0.00015", "reference"]),
        (["compare", "wheel", "--step", "nan"], ["nan"]),
        # Milliseconds given as seconds: more than the wheel slides.
        (["compare", "wheel", "--step", "2"], ["step 2 s is longer than the time compared, 1.98 s", "in seconds"]),
        (["compare", "wheel", "--duration", "0"], ["--duration", "0"]),
        (["compare", "wheel", "-f", "box", "--duration", "1e-6"], ["duration", "at least one step"]),
        (["compare", "wheel", "-f", "box", "--duration", "1e9"], ["GB", "steps"]),
        (["compare", "wheel", "-f", "box", "--duration", "1e300"], ["GB", "steps"]),
        (["compare", "wheel", "-f", "box", "--step", "1e-9", "--reference-step", "1e-9"], ["GB", "steps"]),
        (["compare", "wheel", "--set", "mas=2"], ["mas", "gravity"]),
        (["compare", "wheel", "--relax", "k_x=1"], ["k_x", "k_n"]),
        (["compare", "wheel", "--relax", "k_n"], ["k_n", "NAME=NUMBER"]),
        (["compare", "wheel", "--relax", "k_n=-1"], ["k_n = -1", "nonnegative"]),
        (["check"], ["FILE", "--case"]),
        (["check", "--case", "wheel"], ["--formulation"]),
        (["check", "M.csv", "--case", "wheel"], ["FILE", "--case"]),
        (["check", "--case", "whell", "-f", "box"], ["whell", "wheel"]),
        (["compare", "wheel", "--set", "m=-2"], ["m = -2", "positive"]),
        (["compare", "wheel", "--set", "mu=-0.1"], ["mu = -0.1; a nonnegative number is needed"]),
        (["compare", "wheel", "--set", "m=heavy"], ["m=heavy"]),
        (["compare", "wheel", "--normal", "sideways"], ["sideways", "gap"]),
        (["compare", "wheel", "--out", "{file}/below"], ["cannot write"]),
        (["compare", "wheel", "--out", "{file}"], ["is a file"]),
        (["compare", "wheel", "--no-such-option"], ["no-such-option"]),
        (["compare"], ["case"]),
        (["show", "nothing"], ["nothing", "stewart-trinkle"]),
        (["check", "{file}.missing"], ["missing"]),
        (["check", "1 2; 3 4"], ["'[1 2; 3 4]'"]),
        (["sensitivity", "block", "--of", "z", "z", "--to", "mu"], ["of holds z twice"]),
        (["fit", "block", "{file}", "--to", "mu", "mu"], ["to holds mu twice"]),
        (["solve", "{file}", "--tolerance", ""], ["--tolerance", "empty"]),
        (["solve", "{file}", "--max-iterations", "0.5"], ["--max-iterations 0.5", "whole number"]),
        (["study", "block", "--duration", ""], ["--duration", "empty"]),
        (["export", "cube", "step.npz", "--at", "0.1"], ["--at", "--step-number"]),
        *(
            (words, ["page.pdf", "ends in .html"])
            for words in (
                ["check", "[2]", "--out", "page.pdf"],
                ["trace", "[2]", "--rhs", "[-1]", "--out", "page.pdf"],
                ["slides", "wheel", "--out", "page.pdf"],
                ["painleve", "rod", "--out", "page.pdf"],
            )
        ),
        ([], ["COMMAND"]),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("not a folder")
    arguments = [a.replace("{file}", str(tmp_path / "file")) for a in arguments]
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.strip().split("\n")) == 1
    assert all(word in err for word in words), err
    assert [p.name for p in tmp_path.iterdir()] == ["file"], "nothing may be half-written"


def test_a_folder_is_no_case(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "steps").mkdir()
    assert main(["compare", "steps"]) == 2
    assert capsys.readouterr().err.startswith("workbench: steps is a folder; name a case, a scene, or a file")


@pytest.mark.thorough
@pytest.mark.parametrize("obstacle", ["report.html/", "figures"])
def test_an_obstacle_in_the_folder_is_named_and_nothing_replaced(obstacle, tmp_path, capsys):
    (tmp_path / "runs.csv").write_text("old")
    (tmp_path / obstacle).mkdir() if obstacle.endswith("/") else (tmp_path / obstacle).write_text("in the way")
    arguments = ["compare", "wheel", *SHORT, "-f", "box", "--quiet", "--figures", "svg", "--out", str(tmp_path)]
    assert main(arguments) == 2
    assert obstacle.strip("/") in capsys.readouterr().err
    assert (tmp_path / "runs.csv").read_text() == "old"


def test_folders_made_in_vain_are_taken_back(tmp_path):
    assert main(["compare", "wheel", "--set", "tilt=90", "--quiet", "--out", str(tmp_path / "a" / "b" / "c")]) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_old_figures_do_not_stay_beside_a_new_report(tmp_path):
    arguments = ["compare", "wheel", *SHORT, "-f", "coulomb", "--quiet", "--out", str(tmp_path)]
    assert main([*arguments, "--figures", "svg"]) == 0
    assert (tmp_path / "figures" / "friction.svg").exists()
    (tmp_path / "figures" / "mine.txt").write_text("kept")
    assert main(arguments) == 0
    assert [p.name for p in (tmp_path / "figures").iterdir()] == ["mine.txt"]


@pytest.mark.thorough
def test_a_case_and_a_file_of_one_name_have_folders_of_their_own_and_leave_nothing_of_each_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["export", "wheel", "wheel.npz"]) == 0
    short = ["-f", "coulomb", "--quiet"]
    assert main(["compare", "wheel", *SHORT, *short]) == main(["compare", "wheel.npz", *short]) == 0
    assert {p.name for p in tmp_path.glob("*-comparison")} == {"wheel-comparison", "wheel.npz-comparison"}
    assert main(["compare", "wheel.npz", *short, "--out", "wheel-comparison"]) == 0
    names = ({p.name for p in (tmp_path / f"{x}-comparison").iterdir()} for x in ("wheel", "wheel.npz"))
    assert next(names) == next(names)


@pytest.mark.thorough
def test_json_loses_no_digits(tmp_path, capsys):
    arguments = ["compare", "wheel", *SHORT, "-f", "box", "--json", "--out", str(tmp_path)]
    assert main(arguments) == 0
    rows = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    runs = pd.read_csv(tmp_path / "runs.csv")
    for name in ("rank_tolerance", "residual", "signorini", "friction_rmsd"):
        numbers = [np.nan if row[name] is None else row[name] for row in rows]
        assert numbers == pytest.approx(list(runs[name]), rel=1e-14, abs=0, nan_ok=True)
    assert 0 < rows[0]["rank_tolerance"] < 1e-9


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_terminated_politely_leaves_neither_files_nor_processes(tmp_path):
    command = [sys.executable, "-m", "workbench", "compare", "wheel", "--duration", "20", "--out", "result"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while process.poll() is None and not list(tmp_path.glob(".result-*")):
        pass
    process.send_signal(signal.SIGTERM)
    # The pipe ends when the last process that holds it has ended.
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert list(tmp_path.iterdir()) == []


def test_interruption_leaves_nothing(tmp_path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.verbs.compare.compare_case", interrupted)
    assert main(["compare", "wheel", "--out", str(tmp_path / "out"), "--quiet"]) == 130
    assert list(tmp_path.iterdir()) == []
    assert "interrupted" in capsys.readouterr().err


def test_show_prints_the_declaration(capsys):
    assert main(["show", "stewart-trinkle"]) == 0
    text = capsys.readouterr().out
    assert "0 ≤ p_n  ⊥  J_n v⁺ + b_n" in text
    assert "problem class  LCP" in text
    assert main(["show", "stewart-trinkle", "--latex"]) == 0
    latex = capsys.readouterr().out
    assert latex.startswith("\\documentclass")
    assert "\\perp" in latex
    assert main(["show", "hunt-crossley", "--numbers"]) == 0
    assert capsys.readouterr().out.endswith("every unknown is free; a step is one linear system\n")
    assert main(["show", "box", "--numbers", "--case", "wheel"]) == 0
    numbers = capsys.readouterr().out
    assert "M =" in numbers
    assert "lower" in numbers


def test_check_speaks_json(tmp_path, capsys):
    path = tmp_path / "m.csv"
    path.write_text("1,2\n2,1\n")
    assert main(["check", str(path), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["n"] == 2
    assert result["rank"]["value"] == 2
    assert result["rank"]["tolerance"] > 0
    assert result["p_matrix"]["verdict"] == "not P"
    assert result["p_matrix"]["witness"]["index_set"] == [0, 1]
    assert result["p_matrix"]["witness"]["minor"] == "-3"
    assert main(["check", str(path)]) == 0
    assert "not a P-matrix" in capsys.readouterr().out


@pytest.mark.thorough
def test_list_names_everything_on_a_screen(capsys):
    from workbench.algorithms import SOLVERS
    from workbench.builtin.cases import CASES
    from workbench.builtin.formulations import REGISTRIES

    names = [c.name for c in CASES] + [f.name for registry in REGISTRIES for f in registry] + SOLVERS.names
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert set(names) <= set(text.replace(",", " ").split())
    assert len(text.split("\n")) <= 24
    for kind in ("cases", "scenes", "formulations", "solvers", "reproductions"):
        assert main(["list", kind]) == 0
        assert max(map(len, capsys.readouterr().out.split("\n"))) <= 118
    for name, word in (
        ("wheel", "I_a = 0.6 kg m2      axial"),
        ("hopper", "friction coefficient"),
        ("hybrid", "bounds = last, one of last, iterated"),
        ("lemke", "LCP"),
    ):
        assert main(["list", name]) == 0
        assert word in capsys.readouterr().out
    assert main(["list", "weel"]) == 2
    assert "did you mean 'wheel'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["compare", "whe"], ["wheel"]), (["compare", "wheel", "-f", "sta"], ["staggered"]),
        (["check", "--case", "spatial"], ["spatial-particle"]), (["solve", "--solver", "judice"], ["judice-pires"]),
        (["compare", "--metric", "position"], ["position-error"]), (["compare", "step-"], ["step-1.npz"]),
    ],
)  # fmt: skip
def test_a_shell_completes_names_and_files(words, found, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    (tmp_path / "step-1.npz").touch()
    script = f"{capsys.readouterr().out}\nCOMP_WORDS=(workbench {' '.join(words)}); COMP_CWORD={len(words)}"
    done = subprocess.run(
        ["bash", "-c", f'{script}\n_shtab_workbench; echo "${{COMPREPLY[@]}}"'],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == found


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_have_a_script_too(shell, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--print-completion", shell])
    assert ended.value.code == 0
    assert ("spatial-particle" in capsys.readouterr().out) == (shell == "zsh")


def test_version_completion_and_examples(capsys):
    for words, found in ((["--version"], workbench.__version__), (["--print-completion", "bash"], "complete -o")):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        assert found in capsys.readouterr().out
    commands = next(iter(parser()._subparsers._group_actions)).choices
    for name, command in commands.items():
        examples = command.epilog.split("\n")[1:]
        assert examples
        for example in examples:
            words = shlex.split(example)
            assert words[:2] == ["workbench", name]
            parser().parse_args(_join_numbers(words[1:]))


@pytest.mark.thorough
def test_no_progress_bar_and_no_traceback_in_a_pipe(tmp_path):
    """As a process, in a folder with decoys: the installed packages are used; a pipe gets lines of progress."""
    for name in ("cases", "reports"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('decoy')")
    command = [os.path.join(os.path.dirname(sys.executable), "workbench"), "compare", "wheel", *SHORT, "-f", "coulomb"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0
    assert all(re.fullmatch(r"workbench: \d+ s: \w.*", line) for line in done.stderr.splitlines())
    assert "Exact Coulomb friction" in done.stdout
    # A row as it is ready, before the table.
    assert re.search(r"^workbench: \d+ s: coulomb, coulomb-exact: error \S+ m?m$", done.stderr, re.MULTILINE)
    assert (tmp_path / "wheel-comparison" / "report.html").stat().st_size > 100_000


def test_a_pipe_gets_a_line_now_and_then_as_long_as_something_is_done(monkeypatch, capsys):
    monkeypatch.setattr("workbench.cli.progress.EVERY", 0.02)
    with CommandProgress(quiet=False) as report:
        assert report is None, "stderr is somebody's own"
    monkeypatch.setattr("sys.__stderr__", sys.stderr)
    with CommandProgress(quiet=True) as report:
        assert report is None
    said = ""

    def heard(words):
        """Whether these are said sooner or later; machines that test are busy."""
        nonlocal said
        for _ in range(1000):
            said += capsys.readouterr().err
            if re.search(rf"^workbench: \d+ s: {words}$", said, re.MULTILINE):
                return True
            time.sleep(0.02)
        return False

    progress = CommandProgress(quiet=False)
    with progress as report:
        assert heard("loading and compiling kernels")
        monkeypatch.setattr("workbench.cli.progress.kernels", itertools.count(10**6).__next__)
        assert heard("loading and compiling kernels; 1000000 kernels ready")
        monkeypatch.setattr("workbench.cli.progress.kernels", int)
        report("box", 3, 7)
        assert heard("box, 3 of 7")
        report("the page", 0, 1)
        assert heard("the page")
    assert not progress.teller.is_alive()


def test_whoever_closes_the_pipe_of_a_table_has_seen_enough(monkeypatch):
    """Rich would end the program with exit code 1; `main` takes this error for the end."""
    from workbench.builtin.reports.text import terminal

    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr("sys.stdout", Closed())
    with pytest.raises(BrokenPipeError):
        terminal.wide_console().print("a row")


def test_a_terminal_without_greek_letters_shows_their_escapes():
    """What was computed is not lost in the last line, as in a C locale or in a pipe on Windows."""
    words = [sys.executable, "-m", "workbench", "show", "coulomb"]
    with_ascii = os.environ | {"PYTHONIOENCODING": "ascii"}
    found = subprocess.run(words, env=with_ascii, capture_output=True, text=True, timeout=300, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert "M v\\u207a" in found.stdout


def test_entries_of_long_arrays_are_listed_as_a_range(capsys):
    assert main(["sensitivity", "packing", "--of", "x", "--to", "mu"]) == 2
    found = capsys.readouterr().err
    assert re.fullmatch(
        r"workbench: unknown output 'x'; known: energy, q\[0\] to q\[\d+\], v\[0\] to v\[\d+\]\n", found
    )
    assert main(["sensitivity", "block", "--of", "xx", "--to", "mu"]) == 2
    assert "q[0], q[1], q[2], v[0], v[1], v[2]" in capsys.readouterr().err


def test_check_of_a_formulation_on_a_case(capsys):
    assert main(["check", "--case", "pushed-box", "-f", "phantom-inertia", "--time-limit", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rank"]["reduced"] is None
    assert "constraint relaxation" in found["refused"]
    assert found["redundancy"]["dimension"] == 1
    ranges = {x["name"]: x["range"] for x in found["redundancy"]["impulses"] if not x["determined"]}
    assert all(low < high for low, high in ranges.values())
    assert "p_n[0]" in ranges
    assert main(["check", "--case", "wheel", "-f", "stewart-trinkle", "--time-limit", "3"]) == 0
    text = capsys.readouterr().out
    assert "copositive" in text
    assert "all determined" in text
    assert max(map(len, text.splitlines())) <= 80


def test_check_of_a_formulation_at_any_state_of_a_case(capsys):
    """The box takes mu g h from each component of the velocity; exact friction took mu g T along the slope before."""
    base = ["check", "--case", "block", "-f", "box", "--time-limit", "3", "--json"]
    found = []
    for extra in ([], ["--set", "v=-2,0,0"], ["--at", "0.01"]):
        assert main([*base, *extra]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert [x["where"] for x in found] == ["first step", "step from the given state", "step after 0.01 s"]
    speeds = [[float(Fraction(z)) for z in x["problem"]["solutions"]["points"][0][:2]] for x in found]
    cosine, lost = 3**0.5 / 2, 0.3 * 9.81
    assert speeds[0] == pytest.approx([2 * cosine - lost * 1e-3, 1 - lost * 1e-3], rel=1e-9)
    assert speeds[1] == pytest.approx([-2 + lost * 1e-3, 0], abs=1e-9)
    assert speeds[2] == pytest.approx([(2 - 0.01 * lost) * x - lost * 1e-3 for x in (cosine, 0.5)], rel=1e-9)
    for extra, words in (
        (["--at", "1e9"], "the run of block goes from 0"),
        (["--at", "0.1", "--set", "v=1,0,0"], "at and a state (q, v) are both given"),
        (["--set", "v=1,0"], "3 finite numbers are needed"),
    ):
        assert main([*base, *extra]) == 2
        assert words in capsys.readouterr().err
    with pytest.raises(WorkbenchError, match="given as rhs"):
        workbench.check([[1]], q=[1])


def test_check_refuses_a_rectangle_in_one_line(tmp_path, capsys):
    (tmp_path / "M.txt").write_text("1 2 3\n4 5 6\n")
    assert main(["check", str(tmp_path / "M.txt")]) == 2
    error = capsys.readouterr().err
    assert "2 x 3" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "help_of"),
    [(["solve", "x", "--wrong"], "workbench solve"), (["list", "-z"], "workbench list"), (["-z", "list"], "workbench")],
)
def test_an_unknown_option_points_to_the_help_of_its_command(words, help_of, capsys):
    assert main(words) == 2
    assert capsys.readouterr().err.endswith(f" (see {help_of} --help)\n")


@pytest.mark.parametrize(
    "line",
    [
        "check '[2 1; 1 4/3]' --rhs '[-1; 1]'", "painleve rod", "painleve rod --set tan_theta=2 --set mu=4/3",
        "painleve block --set v=0,2,0", "check --case rod --vary mu=0.1:0.3 theta=50:60",
        "solve step.npz --prove --solver auto --solver murty", "judge step.npz bad.npz", "info step.npz",
        "follow block --duration 0.01 --quiet", "list hunt-crossley", "list tippe-top", "list energy-error",
        "list lemke", "show box",
    ],
)  # fmt: skip
def test_no_line_of_the_examples_is_wider_than_a_hundred_columns(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.savez("step.npz", W=np.eye(6), q=np.array([-1.0, -1.0, 0.5, 0.0, 0.5, 0.0]), mu=np.full(2, 0.3))
    np.savez("bad.npz", p=np.array([-1.0, 1.0, 0.5, 0.0, 0.5, 0.0]))
    assert main(shlex.split(line)) == 0
    printed = capsys.readouterr().out
    assert printed
    assert max(map(len, printed.split("\n"))) <= 100
