"""Sweeps: the bits of single steps under every formulation; what is wrong with one system stays its own; no Python
between systems."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.systems import SHAPES, particle, random_system
from workbench.algorithms import find_solver
from workbench.builtin.formulations import FORMULATIONS
from workbench.problems.solution import Status
from workbench.step.one_step import solve_system
from workbench.step.sweep import sweep_steps
from workbench.support.errors import DataError, UnknownNameError

BY_NAME = {f.name: f for f in FORMULATIONS}
ALL = [
    *FORMULATIONS,
    BY_NAME["box"].with_options(bounds="iterated"), BY_NAME["hybrid"].with_options(bounds="iterated"),
    BY_NAME["stewart-trinkle"].with_options(axes="sliding"),
    BY_NAME["anitescu-potra"].with_options(restitution="poisson"),
]  # fmt: skip

PER_CONTACT = ("phi", "r_n", "r_t", "mu", "mu_s", "e", "eps_n", "eps_t")


def variations(system, B, seed):
    """Data of B systems: all of the kinds a datum may have, a number each for h, friction and gap."""
    rng = np.random.default_rng(seed)
    spread = rng.uniform(0.5, 2.0, (B, system.n))
    return dict(
        mu=np.linspace(0, 1, B), h=rng.uniform(1e-3, 2e-2, B), M=system.M * spread[:, :, None] * spread[:, None, :],
        v=system.v + 0.3 * rng.normal(size=(B, system.n)),
        J_t=system.J_t + 0.1 * rng.normal(size=(B, *system.J_t.shape)),
        phi=0.002 * rng.normal(size=B), e=rng.choice([0.0, 0.5], (B, system.size[2])),
    )  # fmt: skip


def one(system, varied, k):
    """System k of a sweep by itself."""
    return replace(system, **{name: value[k] for name, value in varied.items()})


@pytest.mark.parametrize("shape", ["two contacts, one constraint", "one planar contact"])
@pytest.mark.parametrize("formulation", ALL, ids=lambda f: f.label)
def test_a_sweep_has_the_bits_of_single_steps(formulation, shape):
    system = random_system(3, **SHAPES[shape], normal="gap")
    varied = variations(system, 40, 4)
    answer = sweep_steps(formulation, system, **varied)
    apart = sweep_steps(formulation, system, **varied, threads=3)
    assert answer.solved.sum() >= 30
    for name in ("v", "p_n", "p_t", "p_b", "status", "residuals", "iterations", "passes"):
        np.testing.assert_array_equal(getattr(answer, name), getattr(apart, name))
    for k in np.flatnonzero(answer.solved)[::4]:
        single, solution = solve_system(formulation, one(system, varied, k), find_solver(answer.solver))
        for name in ("v", "p_n", "p_t", "p_b"):
            np.testing.assert_array_equal(getattr(answer, name)[k], getattr(single, name))
        assert solution.claimed is Status.SOLVED
        assert answer.residuals[k] == pytest.approx(solution.residual, rel=1e-6, abs=1e-14)
    if formulation.options.get("bounds") == "iterated" and formulation.name == "box":
        assert answer.passes.max() > 1


@pytest.mark.parametrize("name", ["stewart-trinkle", "box"])
def test_many_bodies_apart_have_the_bits_of_single_steps(name):
    """More unknowns than are solved in one piece: fifteen particles that nothing couples."""
    count, lone = 15, particle((0.6, 0.8))
    whole = replace(
        lone, M=np.kron(np.eye(count), lone.M), v=np.tile(lone.v, count), f=np.tile(lone.f, count),
        J_n=np.kron(np.eye(count), lone.J_n), J_t=np.kron(np.eye(count), lone.J_t), J_b=np.zeros((0, 3 * count)),
        heading=np.tile(lone.heading, (count, 1)),
        **{field: np.tile(getattr(lone, field), count) for field in PER_CONTACT},
    )  # fmt: skip
    varied = dict(mu=np.linspace(0, 1, 5), v=whole.v + 0.3 * np.random.default_rng(6).normal(size=(5, whole.n)))
    answer = sweep_steps(BY_NAME[name], whole, **varied)
    for k in range(5):
        single, solution = solve_system(BY_NAME[name], one(whole, varied, k), find_solver(answer.solver))
        np.testing.assert_array_equal(answer.p_t[k], single.p_t)
        assert answer.iterations[k] == solution.iterations


def test_friction_over_a_range_is_the_closed_form():
    """A particle of 2 kg at 1 m/s that meets the floor at 1 m/s: it slows by mu (1 m/s), and stops at mu = 1."""
    mu = np.linspace(0, 2, 101)
    answer = sweep_steps(BY_NAME["coulomb"], particle((0.6, 0.8)), mu=mu)
    np.testing.assert_allclose(answer.p_t, -2.0 * np.minimum(mu, 1.0)[:, None] * [0.6, 0.8], atol=1e-12)
    np.testing.assert_allclose(answer.p_n, 2.0, atol=1e-12)
    assert answer.residuals.max() <= 1e-12


def test_an_answer_that_fails_is_its_own_systems():
    formulation, system = BY_NAME["phantom-inertia"], random_system(1, r=2, d=2, m=1)
    v, J_t = np.repeat([system.v], 7, 0), np.repeat([system.J_t], 7, 0)
    good = sweep_steps(formulation, system, v=v, J_t=J_t)
    v[1, 0], v[5, 2] = np.nan, np.inf
    # Dependent tangents, which this formulation cannot eliminate.
    J_t[3, 2:] = J_t[3, :2]
    answer = sweep_steps(formulation, system, v=v, J_t=J_t)
    assert answer.status.tolist() == [0, Status.NOT_FINITE, 0, Status.SINGULAR, 0, Status.NOT_FINITE, 0]
    for k in (1, 3, 5):
        assert np.isnan(answer.v[k]).all()
        assert answer.residuals[k] == np.inf
    for k in (0, 2, 4, 6):
        np.testing.assert_array_equal(answer.v[k], good.v[k])


def test_axes_that_turn_refuse_tangents_of_unequal_compliance():
    formulation, system = BY_NAME["hybrid"], particle((0.6, 0.8))
    eps_t = np.array([[1e-3, 1e-3], [1e-3, 2e-3], [0.0, 0.0]])
    answer = sweep_steps(formulation, system, eps_t=eps_t)
    assert answer.status.tolist() == [Status.SOLVED, Status.REFUSED, Status.SOLVED]
    with pytest.raises(DataError, match="eps_t differs"):
        solve_system(formulation, replace(system, eps_t=eps_t[1]), find_solver("proximal"))


def test_no_python_runs_between_systems():
    """The calls that Python makes are as many for a hundred times the systems."""

    def calls(B):
        count = 0

        def counted(frame, event, argument):
            nonlocal count
            count += event in ("call", "c_call")

        mu, h = np.linspace(0, 1, B), np.linspace(1e-3, 1e-2, B)
        sys.setprofile(counted)
        try:
            sweep_steps(BY_NAME["stewart-trinkle"], particle((0.6, 0.8)), mu=mu, h=h)
        finally:
            sys.setprofile(None)
        return count

    calls(10)
    assert calls(10) == calls(1000)


def test_no_system_at_all():
    answer = sweep_steps(BY_NAME["box"], particle((1.0, 0.0)), mu=np.zeros(0))
    assert answer.v.shape == (0, 3)
    assert answer.status.shape == answer.residuals.shape == (0,)


SPD = np.broadcast_to(2 * np.eye(3), (4, 3, 3)).copy()


def changed(value, *at):
    M = SPD.copy()
    M[at] = value
    return M


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "nothing varies"),
        ({"mass": [1.0]}, "unknown contact datum 'mass'"),
        ({"normal": ["gap"]}, "unknown contact datum 'normal'"),
        ({"mu": 0.5}, r"mu has shape \(\); \(B,\)"),
        ({"mu": [0.5, 0.6], "v": np.zeros((3, 3))}, r"v has shape \(3, 3\); \(2, 3\) or \(2,\)"),
        ({"v": np.zeros((3, 2))}, r"v has shape \(3, 2\); \(3, 3\) or \(3,\)"),
        ({"h": np.ones((2, 1))}, r"h has shape \(2, 1\); \(2,\)"),
        ({"mu": [0.5, -0.1]}, r"mu\[1, 0\] = -0.1; a nonnegative number"),
        ({"h": [0.1, 0.0]}, r"h\[1\] = 0; a positive number"),
        ({"mu": "ab"}, "mu = 'ab' is not an array"),
        ({"M": changed(1.0, 2, 0, 1)}, r"M\[2\] is not symmetric"),
        ({"M": changed(-1.0, 3, 1, 1)}, r"M\[3\] is not positive definite"),
        ({"mu": [0.5], "threads": 0}, "threads = 0"),
        ({"mu": [0.5], "solver": "clarabel"}, "clarabel is not compiled"),
        ({"mu": [0.5], "solver": "ccp-exact"}, "ccp-exact solves .*, not LCP"),
        ({"mu": [0.5], "solver": "keller"}, "symmetric"),
    ],
)
def test_what_makes_no_sweep_is_refused_in_one_line(given, words):
    with pytest.raises((DataError, UnknownNameError), match=words) as error:
        sweep_steps(BY_NAME["stewart-trinkle"], particle((0.6, 0.8)), **given)
    assert "\n" not in str(error.value)
