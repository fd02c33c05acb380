"""Genesis' resolution "signorini": MuJoCo's soft contact with Coulomb's disc, bounded by the actual normal force.

The rows and their compliances are those of `mujoco`, but friction is bounded by the disc of radius mu f_n, and the
normal row is independent of friction:

    0 <= p_n  perp  u_n+ + R_n p_n + b_n >= 0
    |p_t| <= mu p_n,   u_t+ + R_t p_t + b_t = 0 inside the disc, opposite to p_t on its boundary

Genesis takes f_n from the last iterate of its Newton method ("latched") and repeats this up to the fixed point. Here
the fixed point is one problem: exact Coulomb friction in De Saxcé's form with these rows. A sliding contact therefore
stays on the floor, where the cone with associated flow lifts it; a sticking one creeps as with `mujoco`, at
R_t |f_t| / b.

Included: the above, as the pull requests describe it, with Genesis' default time constant (0.01 s, RigidOptions). Not
included: iterations stopped before the fixed point, and everything that `mujoco` leaves out. A fixed point need neither
exist nor be unique.
"""

from dataclasses import replace

from workbench.builtin.formulations.coulomb import coulomb
from workbench.builtin.formulations.mujoco import Softness, given
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import Declaration, Hooks

RIGID_OPTIONS = Softness(timeconst=0.01)
"""Genesis' defaults."""


@formulation(
    "genesis",
    friction="Coulomb's disc bounded by the actual normal force, softened by MuJoCo's regulariser",
    source="Duburcq 2022, thesis, PSL, tel-04166955, eq. (C.22); genesis-world, pull requests 3126 and 3139",
    condition="contacts may be compliant",
)
def genesis(
    s: ContactSymbols,
    soft: Softness = RIGID_OPTIONS,
) -> Declaration:
    return replace(coulomb.build(s), hooks=Hooks(given, numbers=soft.numbers()))
