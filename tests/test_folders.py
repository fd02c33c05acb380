"""The folders and the registries say the same: no formulation, case or solver lies in a file that nothing lists."""

from importlib import import_module
from inspect import isabstract
from pathlib import Path

import pytest

from workbench import algorithms
from workbench.algorithms import METHODS, ROUND_OFF, SOLVERS, find_solver, sphere_gradient, sphere_newton, spheres
from workbench.algorithms.escalation import default_solver
from workbench.builtin import cases, formulations
from workbench.builtin.cases import CASES
from workbench.builtin.formulations import REGISTRIES
from workbench.language.formulation import Formulation
from workbench.mechanics.case import Case
from workbench.problems.classes import LCP, MLCP, ConicQP, CoulombNCP, Equations
from workbench.problems.contact_blocks import ContactBlocks
from workbench.problems.global_problem import GlobalConicQP, GlobalCoulombNCP
from workbench.problems.mixed import MixedNCP
from workbench.support.errors import UnknownNameError
from workbench.verbs.find import find_case, find_formulation


def modules(package):
    """Every module of a package's folder, imported."""
    folder = Path(package.__file__).parent
    names = sorted(
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if path.stem != "__init__"
    )
    assert names
    return [import_module(f"{package.__name__}.{name}") for name in names]


def is_solver(thing) -> bool:
    """Whether it is an object that can be asked to solve, not a class or an interface."""
    return not isinstance(thing, type) and all(hasattr(thing, a) for a in ("name", "solves", "why_not", "solve"))


def objects(package) -> list:
    """Everything that the modules of a package name, each object once."""
    return list({id(thing): thing for module in modules(package) for thing in vars(module).values()}.values())


def test_every_formulation_in_the_folder_is_registered_and_the_other_way_round():
    found = [thing for thing in objects(formulations) if isinstance(thing, Formulation)]
    listed = [f for registry in REGISTRIES for f in registry]
    assert {id(f) for f in found} == {id(f) for f in listed}, sorted(f.name for f in found)
    assert len({f.name for f in listed}) == len(listed)


def test_every_case_in_the_folder_is_registered_and_the_other_way_round():
    kinds = [thing for thing in objects(cases) if isinstance(thing, type) and issubclass(thing, Case)]
    assert {case for case in kinds if not isabstract(case)} == set(CASES)
    assert len({case.name for case in CASES}) == len(CASES)


def test_every_solver_in_the_folder_is_registered_and_the_other_way_round():
    # Parts of solvers for contacts of spheres have no names by themselves.
    parts = {id(x.SOLVER) for x in (spheres, sphere_gradient, sphere_newton)}
    found = [thing for thing in objects(algorithms) if is_solver(thing) and id(thing) not in parts]
    assert {id(solver) for solver in found} == {id(solver) for solver in SOLVERS}, [s.name for s in found]
    assert len(found) == len(SOLVERS) == len(METHODS) + 1


@pytest.mark.parametrize("registry", [CASES, *REGISTRIES], ids=lambda r: r.kind)
def test_a_registry_calls_things_what_they_call_themselves_and_lists_what_is_close(registry):
    assert [registry.find(name).name for name in registry.names] == registry.names
    assert [thing.name for thing in registry] == registry.names == [thing.name for thing in registry[:]]
    assert registry[-1] is registry.find(registry.names[-1])
    with pytest.raises(UnknownNameError, match=registry.kind):
        registry.find("no-such-thing")


@pytest.mark.parametrize("name", SOLVERS.names)
def test_a_solver_is_called_what_the_registry_calls_it_and_says_what_it_is(name):
    solver = find_solver(name)
    assert solver.name == name
    kinds = LCP, MLCP, ConicQP, CoulombNCP, Equations, GlobalConicQP, GlobalCoulombNCP, ContactBlocks, MixedNCP
    assert solver.solves <= {kind.kind for kind in kinds}
    assert solver.guaranteed_for
    assert solver.tolerance > 0


@pytest.mark.parametrize("kind", [LCP.kind, MLCP.kind, ConicQP.kind, CoulombNCP.kind, Equations.kind])
def test_every_kind_of_problem_has_a_solver_that_takes_it_to_round_off(kind):
    assert ROUND_OFF[kind] in SOLVERS
    assert kind in default_solver(kind).solves


@pytest.mark.parametrize("formulation", [f for registry in REGISTRIES for f in registry], ids=lambda f: f.name)
def test_the_command_line_knows_a_formulation_by_its_name_and_by_its_label(formulation):
    assert find_formulation(formulation.name) == formulation
    assert formulation.label == formulation.name
    assert formulation.friction.strip()
    assert formulation.source.strip()
    assert set(formulation.meanings) == set(formulation.defaults), "an option does not say what it means"
    for option, default in formulation.defaults.items():
        assert find_formulation(f"{formulation.name}:{option}={default}").options == formulation.options


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_command_line_knows_a_case_by_its_name(case):
    assert type(find_case(case.name)) is case
    assert case.description.strip()
    assert case.source.strip()
