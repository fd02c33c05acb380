"""Tests hold on to what people use: an import of anything else is listed here, by room, with the reason.

A door is the package itself, the command line, the registries, and of every room the names that code outside it
or the documentation imports.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.imports import written
from tests.maps import rooms

ROOT = Path(__file__).parents[1]
ROOMS = rooms()
REGISTRIES = {"METHODS"}
"""Names by which a room lists what it holds."""
PAST = {
    "algorithms": (
        "kernels that need addresses, the compiled path that a trace is held against, a wrong method put in a "
        "right one's place, and how bodies are dissected, which costs time alone.",
        "lcps 3 test_contact_blocks 1 test_escalation 1 test_small_work 2 test_sphere_newton_steps 2 "
        "test_sphere_sweeps 1 test_trace 4",
    ),
    "certificates": (
        "the verifier's own arithmetic, its limits of time and size, and lists that must agree with those of "
        "the search.",
        "forger 1 test_box_certificates 9 test_certificate_documents 3 test_certificates 1 test_checker 1 "
        "test_checker_bounds 1 test_forger 1 test_forms 4 test_large_matrices 2 test_programmes 1 test_stress "
        "1",
    ),
    "cli": (
        "what is compiled while a command starts, and texts read by several commands.",
        "test_ahead 4 test_cli 2",
    ),
    "comparison": (
        "measures on made-up runs, of which the result is known, and what happens where a part of a comparison fails.",
        "test_comparison 1 test_contact_modes 3 test_decision 2 test_discharge 2 test_file_comparison 1 "
        "test_friction_section 1 test_grain_measures 1 test_horizon 1 test_limits 2 test_loupe 1 test_metrics "
        "3 test_nearest 2 test_once 1 test_onward 1 test_posing 3 test_reference 2 test_resumed_solving 1 "
        "test_sampling 3 test_scene_comparison 3 test_scene_runs 2 test_scene_words 1 test_several_solutions "
        "3 test_solve_command 2 test_symptoms 2 test_timeline 2 test_unmoved 1",
    ),
    "derivatives": (
        "kinds of points and modes that made-up problems have, the gradient of a single motion, tapes of "
        "made-up functions, and single steps by a tape or without one.",
        "derivative_states 7 test_degenerate_points 1 test_derivative_traps 1 test_difference_widths 1 "
        "test_motion_derivatives 3 test_sensitivity 1 test_tape 3",
    ),
    "diagnostics": (
        "regimes of random systems, which no case has; still to be moved to wb.painleve and wb.check.",
        "sliding_systems 2 stress 2 test_coulomb_solutions 2 test_large_matrices 3 test_margin 5 "
        "test_painleve 3 test_painleve_cases 1 test_posed_problem 3 test_programmes 2 test_proposition 1 "
        "test_proved_ranges 1 test_redundancy 2 test_slip_modes 3 test_structure 1 test_vary 4",
    ),
    "engine": (
        "the cache, kernels as objects, and numba's internals that are relied on.",
        "own_things 1 test_compiling 1 test_disk 1 test_numba_internals 1 test_small_work 1 test_store 1",
    ),
    "events": (
        "enclosures of single events beside formulas, and answers where several are possible.",
        "test_enclosure 8 test_events 7",
    ),
    "exams": (
        "trials and adapters on made-up scenes, and experiments one by one.",
        "test_exam 4 test_exam_engines 1 test_exam_mujoco 3 test_exam_run 2 test_findings 1 test_identified 1 "
        "test_reality 8 tosses 3",
    ),
    "judge": (
        "the judge's own formula beside that of the metrics.",
        "test_judge 2",
    ),
    "language": (
        "relations as text, and leaves of a declaration.",
        "test_assembly 2 test_notation 1 test_sliding 1 test_store 3",
    ),
    "matrices": (
        "exact and floating methods of one verdict beside each other; still to be moved to wb.check.",
        "test_box_classes 1 test_coulomb_solutions 2 test_deadlines 1 test_distance 4 test_existence 2 "
        "test_large_blocks 1 test_large_matrices 1 test_margin 1 test_matrix_classes 2 test_p_large 4 "
        "test_p_matrix 1 test_path 1 test_posed_problem 1 test_solution_set 1 test_structure 3 "
        "test_uncertain_mlcp 4 test_vary 1",
    ),
    "mechanics": (
        "kernels of constraints, and projections of sketches.",
        "derivative_states 1 test_motion 1",
    ),
    "readers": (
        "numbers and formats that no command writes.",
        "test_judge_command 1 test_matrix_reader 1 test_pasted 1 test_siconos_reader 1",
    ),
    "scenes": (
        "made-up tracks, memory of impulses, and grids of neighbours.",
        "test_block_claims 4 test_grain_measures 1 test_grains 2 test_jammed 1 test_mujoco_files 1 tracks 4",
    ),
    "step": (
        "parts of a run, and declarations of a single step.",
        "declared 1 test_front_door 2 test_painleve_cases 1 test_parts 2 test_schemes 1",
    ),
    "studies": (
        "journals damaged or written on purpose, pools, and single units of work.",
        "failing_disk 1 journals 2 test_convergence 1 test_executors 3 test_orders 2 test_progress 2 "
        "test_studies 3 test_study_tables 2 test_units 1 test_work 2",
    ),
    "support": (
        "the digest of sources of the workbench in another folder.",
        "test_sources 1",
    ),
    "verbs": (
        "thresholds lowered to have large matrices that are small, and trials of a recording.",
        "proved_answers 1 test_findings 2 test_front_door 1 test_large_matrices 1",
    ),
}
"""Imports past a door that are left: why a room has them, and how many each of its files has."""


def imported(path: Path) -> Iterator[tuple[str, str | None]]:
    """What a file imports of the workbench: modules, each with a name or as a whole."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "workbench":
            yield from ((node.module or "", name.name) for name in node.names)
        elif isinstance(node, ast.Import):
            yield from ((name.name, None) for name in node.names if name.name.split(".")[0] == "workbench")


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@cache
def within(module: str) -> str:
    """The room of a module, such as `workbench.matrices.paths`, the innermost where rooms lie in each other."""
    return max((name for name in ROOMS if f"{module}.".startswith(f"{name}.")), key=len, default=room(module))


def doors() -> set[tuple[str, str | None]]:
    """What is imported from another room, by whatever is not a test, or by the documentation."""
    # What the documentation shows has a prompt or none before it.
    pages = (path.read_text("utf-8").replace(">>> ", "") for path in (ROOT / "docs").rglob("*.md"))
    found = {x for page in pages for x in written(page)}
    for folder in ("workbench", "formulations", "cases", "reports", "benchmarks", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            here = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            imported = written(path.read_text("utf-8"))
            found |= {(module, name) for module, name in imported if within(module) != within(here)}
    return found


def past_doors() -> Iterator[tuple[str, str, str]]:
    """Imports of the tests past all doors: the room, the file, and the module with the name."""
    known = doors()

    def past(found: Iterator[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
        inside = (x for x in found if x[0] != "workbench" and not x[0].startswith("workbench.builtin"))
        return [(module, name) for module, name in inside if (module, name) not in known and name not in REGISTRIES]

    for path in sorted((ROOT / "tests").glob("*.py")):
        # Parsing takes time: only where the text, of which a part may be scripts, has such imports.
        for module, name in past(imported(path)) if past(written(path.read_text("utf-8"))) else ():
            yield room(module), path.stem, f"{module}:{name}"


def test_no_test_imports_past_a_door_without_a_reason():
    """A new one belongs behind a door; one that is gone is struck off the list, which only becomes shorter."""
    past = list(past_doors())
    found = Counter((room, file) for room, file, _ in past)
    listed = {}
    for room, (_, files) in PAST.items():
        names = files.split()
        listed |= {(room, file): int(count) for file, count in zip(names[::2], names[1::2], strict=True)}
    news = [x for x in past if found[x[:2]] > listed.get(x[:2], 0)]
    assert not news, f"imports of what only its own room uses: {news}"
    gone = {key: found[key] for key, count in listed.items() if found[key] < count}
    assert not gone, f"fewer imports than listed: {gone}"


def test_every_room_of_the_list_has_a_reason():
    assert all(reason and files for reason, files in PAST.values())
