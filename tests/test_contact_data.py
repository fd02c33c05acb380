"""Contact data of one step: what is no data is refused, gaps choose their law, and no answer is NaN."""

import typing
from dataclasses import replace

import numpy as np
import pytest

from tests.refusals import assert_names, refusal
from workbench.algorithms import find_solver
from workbench.algorithms.escalation import default_solver
from workbench.builtin.formulations import FORMULATIONS
from workbench.mechanics.contact import ContactSystem
from workbench.problems.solution import Status
from workbench.step.one_step import solve_system
from workbench.step.sweep import sweep_steps
from workbench.support.errors import DataError

NAMED = {f.name: f for f in FORMULATIONS}
BLOCK = dict(M=np.eye(3), v=[0.0, 0, -1], f=np.zeros(3), h=0.01, J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("M", "heavy"),
        ("M", [[1.0, 2.0], [3.0]]),
        ("M", 1j * np.eye(3)),
        ("h", None),
        ("h", np.nan),
        ("v_th", -1.0),
        ("v_th", np.nan),
        ("J_b", 0.5),
        ("J_b", np.ones(3)),
        ("mu", [0.1, 0.2]),
        ("f", [np.inf, 0.0, 0.0]),
    ],
)
def test_contact_data_that_is_no_data(name, value):
    data = dict(M=np.eye(3), v=np.zeros(3), f=np.zeros(3), h=1e-2, J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5)
    assert_names(refusal(ContactSystem, error=DataError, **(data | {name: value})), name)


def test_gaps_choose_the_law_that_knows_them():
    """phi = 4 mm let the block fall at 0.4 m/s: phi/h = 0.4."""
    lemke = find_solver("lemke")
    laws = {}
    for given in (dict(), dict(phi=4e-3), dict(phi=4e-3, normal="gap"), dict(phi=-4e-3, normal="moreau")):
        system = ContactSystem(**BLOCK, **given)
        laws[system.law] = solve_system(NAMED["frictionless"], system, lemke)[0].v[2]
        assert replace(system, phi=0.0).law == (given.get("normal") or "velocity")
    assert laws == {"velocity": 0.0, "gap": pytest.approx(-0.4), "moreau": 0.0}
    assert replace(ContactSystem(**BLOCK), phi=4e-3).law == "gap"
    assert ContactSystem(**BLOCK, normal="velocity").law == "velocity"


def test_gaps_without_effect_are_refused():
    message = refusal(ContactSystem, **BLOCK, phi=[4e-3], normal="velocity", error=DataError)
    assert_names(message, "phi = 0.004", "normal='velocity'", "normal='gap'", "moreau", "leave phi out")


def test_swept_gaps_choose_the_law_too():
    v = sweep_steps(NAMED["frictionless"], ContactSystem(**BLOCK), phi=[0.0, 4e-3, 1.0]).v[:, 2]
    np.testing.assert_allclose(v, [0.0, -0.4, -1.0], atol=1e-14)
    explicit = ContactSystem(**BLOCK, normal="velocity")
    message = refusal(sweep_steps, NAMED["frictionless"], explicit, phi=[0.0, 4e-3], error=DataError)
    assert_names(message, "phi = 0.004", "normal='gap'")
    assert (sweep_steps(NAMED["frictionless"], explicit, phi=[0.0, 0.0]).v == 0).all()


def test_no_answer_is_nan():
    """A refusal must not look like a body at rest."""
    data = dict(M=np.eye(3), v=np.ones(3), f=np.zeros(3), h=1e-2, J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5)
    answer, solution = solve_system(NAMED["coulomb"], ContactSystem(**data), find_solver("lemke"))
    assert solution.claimed is Status.REFUSED
    assert np.isnan(answer.v).all()
    assert np.isnan(answer.p_n).all()


def test_unequal_relaxation_does_not_survive_turned_axes():
    data = dict(M=np.eye(3), v=np.ones(3), f=np.zeros(3), h=1e-2, J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5)
    system = ContactSystem(**data, eps_t=[0.0, 5.0])
    solve_system(NAMED["box"], system, find_solver("judice-pires"))
    turned = NAMED["box"].with_options(axes="sliding")
    message = refusal(solve_system, turned, system, find_solver("judice-pires"), error=DataError)
    assert_names(message, "eps_t", "turn")


HOSTILE: dict[str, dict[str, typing.Any]] = {
    "M nan": dict(M=np.diag([1.0, np.nan, 1.0])),
    "M not square": dict(M=np.ones((2, 3))),
    "M not symmetric": dict(M=np.eye(3) + np.eye(3, k=1)),
    "M singular": dict(M=np.diag([1.0, 1.0, 0.0])),
    "M indefinite": dict(M=np.diag([1.0, 1.0, -1.0])),
    "v infinite": dict(v=np.array([0.0, np.inf, 0.0])),
    "v too short": dict(v=np.zeros(2)),
    "f nan": dict(f=np.full(3, np.nan)),
    "J_n too wide": dict(J_n=np.ones((1, 4))),
    "J_n nan": dict(J_n=np.full((1, 3), np.nan)),
    "J_n a vector": dict(J_n=np.ones(3)),
    "no contacts": dict(J_n=np.zeros((0, 3)), J_t=np.zeros((0, 3)), mu=np.zeros(0)),
    "J_t of three tangents": dict(J_t=np.eye(3)),
    "J_b too narrow": dict(J_b=np.ones((1, 2)), g=np.zeros(1)),
    "g too long": dict(g=np.zeros(2)),
    "mu negative": dict(mu=-0.1),
    "mu nan": dict(mu=np.nan),
    "mu too long": dict(mu=np.ones(2)),
    "phi nan": dict(phi=np.nan),
    "e negative": dict(e=-0.5),
    "eps_t negative": dict(eps_t=-1.0),
    "h zero": dict(h=0.0),
    "h negative": dict(h=-0.01),
    "h nan": dict(h=np.nan),
}


@pytest.mark.parametrize("defect", HOSTILE)
def test_hostile_data_are_refused_in_one_line_that_names_them(systems, defect):
    with pytest.raises(DataError) as caught:
        replace(systems.particle((1.0, 0.0)), **HOSTILE[defect])
    message = str(caught.value)
    assert "\n" not in message
    assert ("J_n" if defect == "no contacts" else defect.split()[0]) in message


def test_redundant_constraints_are_refused_with_the_dependent_rows(systems):
    system = systems.random_system(0, r=1, d=2, m=1)
    twice = replace(system, J_b=np.repeat(system.J_b, 2, axis=0), g=np.repeat(system.g, 2), r_b=0.0, eps_b=0.0)
    with pytest.raises(DataError, match=r"dependent rows \D*0\D*1\D* of 'J_b "):
        solve_system(NAMED["coulomb"], twice, default_solver("Coulomb NCP"))
