"""arXiv 2207.05060: gradients of four families of contact simulation on three tasks, compared with exact ones.

The published numbers are those of the authors' repository, github.com/DesmondZhong/diff_sim_grads: the settings of the
tasks, the outputs of the notebooks and the conclusions of the poster.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from workbench.builtin.formulations.ccp import ccp
from workbench.builtin.formulations.frictionless import frictionless
from workbench.builtin.formulations.mujoco import mujoco
from workbench.builtin.reports.figures.charts import Figure, lines
from workbench.builtin.reports.reproductions._impact_tasks import (
    START,
    BounceOnce,
    GroundAndWall,
    ImpactTask,
    TwoBalls,
    exact_gradient,
)
from workbench.builtin.reports.reproductions._published_steps import (
    COMPLIANT,
    CONVEX,
    DIRECT,
    EXCHANGED,
    POSITION,
    PROJECTED,
    VELOCITY,
    Program,
)
from workbench.builtin.reports.reproductions.claims import Check, Claim, Reproduction, ResultTable, Section, in_turn
from workbench.comparison.derivatives import EVENT_DRIVEN, derivatives_of
from workbench.language.formulation import Formulation
from workbench.support.arrays import Array
from workbench.support.progress import ProgressCallback

REPOSITORY, NOTEBOOKS, POSTER = "the paper's repository", "the repository's notebooks", "the paper's poster"
STIFFNESS = 1e4
"""Stiffness of compliant contacts [N/m], the repository's."""
SINGLE, TRAINED = 5e-7, 1e-3
"""Tolerances: of numbers that the repository computes in single precision, and of results of its 1000 gradient steps,
those of DiffCoSim by a convex solver of first order."""
ITERATIONS = 1000
Gradients = dict[str, tuple[float, Array]]
"""Loss and gradient by name."""
BESIDE = 1 / 480
"""Distance that task 1 is moved up from the jump on which it lies, half of a step's fall [m]."""
REFINED = 100
"""Number of steps in the limit of small ones, relative to the paper's."""

DIRECT_PLAIN, DIRECT_TIMED = Program("DiffTaichi", DIRECT), Program("DiffTaichi, impact time", DIRECT, POSITION)
CONVEX_PLAIN, CONVEX_TIMED = Program("DiffCoSim", CONVEX), Program("DiffCoSim, impact time", CONVEX, POSITION)
SPRING, PROJECTION = Program("Warp, compliant", COMPLIANT, k=STIFFNESS), Program("Warp, position-based", PROJECTED)
PROGRAMS = (DIRECT_PLAIN, DIRECT_TIMED, CONVEX_PLAIN, CONVEX_TIMED, SPRING, PROJECTION)
TRAINED_VELOCITY = {
    DIRECT_PLAIN: (-2.49333715, -4.29840183), DIRECT_TIMED: (10.18414593, -4.16055489),
    CONVEX_PLAIN: (-2.4933767, -4.3371224), CONVEX_TIMED: (10.257491, -4.2041483),
    SPRING: (10.638576, -4.282096), PROJECTION: (9.729905, -4.0706034),
}  # fmt: skip
"""Initial velocity of task 2 after the repository's gradient steps [m/s]."""
LEARNED_LOSS = {
    DIRECT_PLAIN: 2.00144362449646, DIRECT_TIMED: 1.39581298828125, CONVEX_PLAIN: 2.0013787746429443,
    CONVEX_TIMED: 1.4078553915023804, SPRING: 1.6622765, PROJECTION: 1.4302428,
}  # fmt: skip
"""Loss of task 3 after them."""


def reproduce(progress: ProgressCallback) -> Reproduction:
    """All sections; about half a minute of one core once the kernels are compiled."""
    return Reproduction(
        "Gradients through impacts: are they those of the motion?",
        "Zhong, Han & Brikis: Differentiable Physics Simulations with Contacts: Do They Have Correct Gradients w.r.t. "
        "Position, Velocity and Control?, arXiv 2207.05060",
        "Four families of contact simulation are differentiated on three tasks with impacts. Their gradients do not "
        "agree with each other, and none is that of the motion. We confirm both, with exact gradients in closed form. "
        "Without the time of the impact some derivatives have the wrong sign at any step size. Correcting the position "
        "by it is enough without forces, but not with gravity: the velocity needs the same correction.",
        in_turn((families, bounce_once, ground_and_wall, two_balls, trained, impact_time), progress),
    )


# The families


def placed(task: ImpactTask) -> list[tuple[str, Formulation, float]]:
    """Name, formulation and placement of the workbench's nearest to each family."""
    return [
        ("LCP", frictionless, 0.0),
        ("LCP, impact time", frictionless, 1 + task.e),
        ("convex", ccp, 0.0),
        ("convex, impact time", ccp, 1 + task.e),
        ("compliant", spring(task), 0.0),
        ("position-based", frictionless, 1.0),
    ]


def spring(task: ImpactTask) -> Formulation:
    """MuJoCo's contact as an explicit spring with the repository's stiffness, and the damping that gives restitution e.

    A spring of frequency w, damped by b, returns exp(-pi b / 2 w) of the velocity. MuJoCo's b is 2 / timeconst and its
    w is 1 / (timeconst dampratio), as its impedance tends to 1.
    """
    frequency = float(np.sqrt(STIFFNESS) * np.linalg.norm(task.rows[0][:2]))
    timeconst = np.pi / (frequency * -np.log(task.e)) if task.e < 1 else 1e6
    return mujoco.with_options(
        timeconst=float(timeconst), dampratio=1 / (frequency * float(timeconst)), dmin=0.9999, dmax=0.9999
    )


def families() -> Section:
    rows = (
        ("LCP", "Nimble", "frictionless", "Nimble's gradient approximates that of an elastic collision "
         "in continuous time"),
        ("convex", "DiffCoSim", "ccp", "DiffCoSim moves the position by the velocity before the step"),
        ("compliant", "Warp, Brax", "mujoco as an undamped or weakly damped spring", "Warp damps the approach alone; "
         "Brax has two substeps"),
        ("position-based", "Warp, Brax", "frictionless, moved to the surface", "the same projection and rebound as "
         "Warp's; Brax has two substeps"),
    )  # fmt: skip
    return Section(
        "Formulations that stand for the programs",
        "All tasks are without friction, so formulations that differ by their friction alone give the same steps: "
        "Moreau's frictionless LCP stands for all LCPs. What counts is how an impact enters a step. Under Moreau's law "
        "a contact is struck in the step that begins at or below the surface; the programs predict this, one step "
        "earlier. A step $q^+ = q + h v^+$ ignores when the impact was within its step. With impact time the position "
        "is first moved to where the ball would be had it bounced at that time.\n\nSix of the nine published "
        "programs are also rewritten, step by step: DiffTaichi and DiffCoSim "
        "with and without impact time, and Warp's two. Nimble and Brax are not.",
        (r"q^+ = q + h v^+ - c\, J^T \frac{g}{J J^T}, \qquad c = 0 \text{ (plain)},\quad 1 \text{ (position-based)},"
         r"\quad 1 + e \text{ (impact time)}",),
        tables=(ResultTable("Families", ("family", "programs", "workbench", "what differs"), rows, words=True),),
    )  # fmt: skip


# Gradients of a task


def gradients(task: ImpactTask) -> Gradients:
    """Loss and gradient (4,) by the start, of the motion in closed form and by event-driven simulation, of each family,
    and of each program."""
    found = {"exact": exact_gradient(task)}
    for name, f, placement in placed(task):
        case = task.with_parameters(placement=placement)
        table = derivatives_of(case, [f], ["q[0]", "q[1]"], START, task.h, task.duration)
        if placement == 0:
            found["event-driven"] = of_table(task, table, EVENT_DRIVEN)
        found[name] = of_table(task, table, f.label)
    for program in of_task(task):
        found[program.name] = program.gradient(task)[:2]
    return found


def of_table(task: ImpactTask, table: pd.DataFrame, label: str) -> tuple[float, Array]:
    """Loss and gradient of one formulation, from the rows of its outputs q."""
    rows = table[table["formulation"] == label]
    loss, slope = task.loss(rows["value"].to_numpy()[:2])
    return loss, rows["derivative"].to_numpy().reshape(len(START), 2) @ slope


def of_task(task: ImpactTask) -> list[Program]:
    """The programs with what they have for this task alone: in task 2 damping, and the interchange of velocities."""
    if not isinstance(task, GroundAndWall):
        return list(PROGRAMS)
    return [*PROGRAMS[:4], replace(SPRING, b=10.0), replace(PROJECTION, kind=EXCHANGED)]


def wrong(by: Array, exact: Array) -> float:
    """Error of a gradient, relative to the size of the exact one."""
    return float(np.linalg.norm(by - exact) / np.linalg.norm(exact))


def row(name: str, loss: float, by: Array, exact: Array) -> tuple[str | float, ...]:
    """Name, loss, the derivatives shown, and the error of these."""
    error = 100 * wrong(by, exact)
    return name, loss, *map(float, by), (f"{error:.0f}" if error >= 10 else f"{error:.2g}") + "\u202f%"


def table_of(found: Gradients, names: dict[str, int], scale: float = 1.0) -> ResultTable:
    """The loss, and the derivatives by `names`, which are at these indices of a gradient, over `scale`."""
    shown = list(names.values())
    rows = tuple(
        row(name, loss, by[shown] / scale, found["exact"][1][shown] / scale)
        for name, (loss, by) in found.items() if name != "event-driven"
    )  # fmt: skip
    note = "First the motion, then the workbench's formulations, then the rewritten programs."
    columns = ("", "loss", *(f"dl/d{name}" for name in names), "error of the gradient")
    return ResultTable("Losses and gradients", columns, rows, note)


def followed(found: Gradients, names: dict[str, int], scale: float = 1.0) -> tuple[Check, ...]:
    """Checks of the closed form against difference quotients of the workbench's event-driven simulation."""
    (loss, by), (other, quotient) = found["exact"], found["event-driven"]
    numbers = {"Loss": (loss, other)} | {f"dl/d{n}": (by[j] / scale, quotient[j] / scale) for n, j in names.items()}
    return tuple(
        Check(f"{name} of the motion", float(x), float(y), tolerance=1e-9, origin="closed form", form=".12g",
              why="Computed by event-driven simulation.") for name, (x, y) in numbers.items()
    )  # fmt: skip


def bounce_once() -> Section:
    """Task 1."""
    task = BounceOnce()
    beside = task.with_parameters(q_2=task.q_2 + BESIDE)
    found = gradients(beside)
    heights = [DIRECT_PLAIN.gradient(task.with_parameters(q_2=task.q_2 + s))[0] for s in (-1e-9, 1e-9)]
    names = {"y₀": 1, "v₀": 3}
    slopes = {name: by[[1, 3]] for name, (_, by) in found.items()}
    plain, timed = CONVEX_PLAIN.gradient(task)[1], CONVEX_TIMED.gradient(task)[1]
    return Section(
        "Task 1: one bounce",
        "A ball of radius 0.1 m falls without gravity from 1 m at 2 m/s onto a floor, $e = 1$, for 1 s in 480 steps. "
        "The motion has $h = 2r - y_0 - v_0 T$, so both slopes are −1.\n\nThe start lies on a jump of the time-stepped "
        "result: the ball needs 0.9 × 240 = 216 steps to the floor, exactly, and rounding decides in which step it is "
        "struck. The table is for a start half of a step's fall (2.1 mm) higher. There the number of steps before the "
        "impact, 216 or 217, does not change with the start: without impact time the ball is higher at the end if it "
        "starts higher.",
        (r"\frac{\partial h}{\partial y_0} = \frac{\partial h}{\partial v_0} = -1, \qquad \text{plain:}\quad "
         r"\frac{\partial h}{\partial y_0} = +1,\quad \frac{\partial h}{\partial v_0} = \frac{k - (480 - k)}{480}",),
        claims=(
            Claim("With impact time, $\\partial h / \\partial y_0$ (DiffCoSim)", -1.0, float(timed[1]), "-", SINGLE,
                  origin=NOTEBOOKS),
            Claim("With impact time, $\\partial h / \\partial v_0$ (DiffCoSim)", -0.99559, float(timed[3]), "-",
                  TRAINED, origin=NOTEBOOKS, form=".5f",
                  why="Not −1, because DiffCoSim moves the ball by its velocity before the step: from the impact on it "
                      "is one step, $2 h v_0$, behind. The rest is its convex solver."),
            Claim("Gradients of the programs do not agree: range of $\\partial h / \\partial y_0$", 1.0,
                  float(np.ptp([slopes[p.name][0] for p in PROGRAMS])), relation="≥", origin=REPOSITORY,
                  why="At least the size of the exact slope."),
            *followed(found, names),
            Check("Jump of the final height where the paper starts (DiffTaichi): below it", 1.2 + 4 / 480, heights[0],
                  "m", 1e-6, origin="struck in step 215", form=".6f"),
            Check("Jump of the final height: above it", 1.2, heights[1], "m", 1e-6, origin="struck in step 216",
                  form=".6f"),
            Check("Without impact time, $\\partial h / \\partial y_0$ (DiffCoSim, at the paper's start)", 1.0,
                  float(plain[1]), tolerance=1e-10),
            Check("Without impact time, $\\partial h / \\partial v_0$ (DiffTaichi, above the jump)", -0.1,
                  float(slopes[DIRECT_PLAIN.name][1]), tolerance=1e-10),
            Check("Position-based, $\\partial h / \\partial y_0$ (workbench)", 0.0, float(slopes["position-based"][0]),
                  tolerance=1e-8, why="The projection forgets how deep the ball was."),
        ),
        tables=(table_of(found, names),),
        figures=(
            Figure("bounce", "Final height over the initial height",
                   "Task 1. The motion falls with slope −1; without impact time the height rises with slope +1 and "
                   "jumps down by twice a step's fall.", lines(height_curves(), "h", "final height [m]",
                                                               ("y_0", "initial height [m]"))),
        ),
    )  # fmt: skip


SHOWN = {"exact": None, "no impact time": DIRECT_PLAIN, "impact time": DIRECT_TIMED, "position-based": PROJECTION}
"""Curves of the figures; None is the motion."""


def curves(task: ImpactTask, x: str, y: str, around: float) -> pd.DataFrame:
    """Losses over the second coordinate at the start."""
    rows = []
    for at in task.q_2 + np.linspace(-around, around, 161):
        beside = task.with_parameters(q_2=float(at))
        for label, program in SHOWN.items():
            loss = exact_gradient(beside)[0] if program is None else program.gradient(beside)[0]
            rows.append({"label": label, x: float(at), y: loss})
    return pd.DataFrame(rows)


def height_curves() -> pd.DataFrame:
    return curves(BounceOnce(), "y_0", "h", 0.01)


def ground_and_wall() -> Section:
    """Task 2."""
    task = GroundAndWall()
    found = gradients(task)
    names = dict(zip(("x₀", "y₀", "v_x", "v_y"), range(4), strict=True))
    return Section(
        "Task 2: floor and wall",
        "A ball is thrown at (5, −5) m/s from (−0.5, 1) m on a floor and against a wall at 1.75 m, with gravity 9.8 "
        "m/s² and $e = 0.92$, for 0.6 s in 288 steps. The loss is the squared distance from (−2, 1.5) m.\n\nAlong x no "
        "force acts, and the impact time makes the derivatives exact. Along y it does not: the derivative by the "
        "height has the wrong sign with and without it.",
        claims=(
            *followed(found, names),
            Check("dl/d$x_0$ with impact time (LCP)", -5.27712, float(found["LCP, impact time"][1][0]), "m", 1e-8,
                  form=".8g", why="No force acts along x."),
            Check("LCP and convex: largest difference of the gradients", 0.0,
                  float(np.abs(found["LCP"][1] - found["convex"][1]).max()), tolerance=1e-6, form=".1e",
                  why="Without friction both have the same solution."),
        ),
        tables=(table_of(found, names),),
        figures=(
            Figure("ground", "Loss over the initial height",
                   "Task 2. With impact time the loss is close to that of the motion, but between its jumps it falls "
                   "where that of the motion rises.",
                   lines(curves(task, "y_0", "loss", 0.05), "loss", "loss [m²]",
                         ("y_0", "initial height [m]"))),
        ),
    )  # fmt: skip


def two_balls() -> Section:
    """Task 3."""
    task, root = TwoBalls(), np.sqrt(2.0)
    found = gradients(task)
    by = found["exact"][1]
    names = {"x₁": 0, "x₂": 1, "v₁": 2, "v₂": 3}
    published = {"x_1": -0.39866853, "x_2": -0.3212531, "v_1": -0.49779078, "v_2": -0.22213092}
    closest = min((wrong(found[p.name][1], by), p.name) for p in PROGRAMS)
    return Section(
        "Task 3: two balls",
        "A ball at (−2, −2) m is pushed by 3 N along each axis and strikes another at (−1, −1) m; both have radius "
        "0.2 m, $e = 1$. The loss is the second ball's squared distance from the origin after 1 s, plus 0.1 times the "
        "integral of the squared force. Derivatives are by the x of each ball, as in the repository.",
        claims=(
            *(Claim(f"Analytical dl/d${name}$", value, float(by[j] / root), "-", SINGLE, origin=NOTEBOOKS, form=".8f")
              for j, (name, value) in enumerate(published.items())),
            Claim("Analytical dl/d$u$ of the force in the first step", -0.0008888851,
                  task.exact_slope_by_first_force() / root, "-", 1e-8, origin=NOTEBOOKS, form=".10f",
                  why="The notebook adds 0.1 $u h$ to the loss instead of 0.1 $u^2 h$; with its term we get its "
                      "number."),
            Claim("Analytical optimum of the loss", 1.396542, task.exact_optimum(), tolerance=5e-7, origin=NOTEBOOKS,
                  form=".7f"),
            Claim("None of the calculated gradients match the analytical ones: smallest error of a program", 0.01,
                  closest[0], relation="≥", origin=POSTER, why=f"The error of {closest[1]}."),
            Check("With the notebook's term, dl/d$u$ of the first step", -0.0008888851,
                  (task.exact_slope_by_first_force() + task.weight * task.h * (1 - 2 * task.force[0])) / root,
                  tolerance=1e-8, origin=NOTEBOOKS, form=".10f"),
            *followed(found, names, root),
        ),
        tables=(table_of(found, names, root),),
    )  # fmt: skip


# Trained results


def trained_velocity(program: Program) -> Array:
    """Velocity (2,) of task 2 after the repository's gradient steps, of rate 0.01."""
    task = GroundAndWall()
    for _ in range(ITERATIONS):
        v_1, v_2 = np.array([task.v_1, task.v_2]) - 0.01 * program.gradient(task)[1][2:]
        task = task.with_parameters(v_1=float(v_1), v_2=float(v_2))
    return np.array([task.v_1, task.v_2])


def learned_loss(program: Program) -> float:
    """Loss of task 3 in the last of the repository's gradient steps by the force, of rate 10."""
    task = TwoBalls()
    force, loss = np.tile(np.array(task.force), (task.steps, 1)), 0.0
    for _ in range(ITERATIONS):
        loss, by = task_3(program, task, force)
        force[:, 0] -= 10.0 * by
    return loss


def task_3(program: Program, task: TwoBalls, force: Array) -> tuple[float, Array]:
    """Loss of a force (steps, 2), which acts on the first ball, and its gradient (steps,)."""
    end, _, by = program.gradient(task, force)
    constant = task.weight * task.force[0] ** 2 * task.duration
    spent = task.weight * task.h * float((force[:, 0] ** 2).sum())
    return end - constant + spent, by[:, 0] + 2 * task.weight * task.h * force[:, 0]


def trained() -> Section:
    """Gradient descent by the gradients of the programs."""
    found = {p.name: trained_velocity(q) for p, q in zip(PROGRAMS, of_task(GroundAndWall()), strict=True)}
    right = trained_velocity(PROJECTION)
    learned = {p.name: learned_loss(p) for p in PROGRAMS}
    single = "Single precision and a convex solver of first order are the difference."
    return Section(
        "Gradient descent",
        "The repository minimises the losses by 1000 steps of gradient descent: task 2 over the initial velocity, task "
        "3 over the force at each of 480 steps. We repeat this with the rewritten programs.\n\nWithout impact time the "
        "sign of the horizontal slope is wrong, and the ball of task 2 is turned away from the wall; task 3 ends with "
        "no force at all, at the loss 2.\n\nIn Warp's task 2 the two velocities in the rebound are interchanged: that "
        "before the projection stands for that after it. The restitution is then not 0.92, but depends on how the "
        "impact lies in its step. With the interchange undone the same descent ends elsewhere.",
        (r"\text{wanted: } J v^+ = -e\, J w, \qquad "
         r"\text{programmed: } J v^+ = (1 - e)\left(J w - \frac{g}{h}\right) - J w",),
        claims=(
            *(Claim(f"Task 2, trained $v_{axis}$ ({name})", value, float(found[name][j]), "m/s", TRAINED,
                    origin=REPOSITORY, form=".5f")
              for name, values in ((p.name, v) for p, v in TRAINED_VELOCITY.items())
              for j, (axis, value) in enumerate(zip("xy", values, strict=True))),
            *(Claim(f"Task 3, loss after training ({p.name})", value, learned[p.name], "-", TRAINED, origin=REPOSITORY,
                    form=".5f", why=single if p is CONVEX_TIMED else "") for p, value in LEARNED_LOSS.items()),
            Claim("Some programs fail to learn: largest loss after training, where no force at all gives 2", 2.0,
                  max(learned.values()), relation="≥", origin=POSTER),
            Check("Warp's task 2 with the velocities in their places: trained $v_x$", TRAINED_VELOCITY[PROJECTION][0],
                  float(right[0]), "m/s", TRAINED, origin="as programmed", form=".5f",
                  why="The interchange raises the restitution from 0.92 to between 0.92 and 1."),
        ),
    )  # fmt: skip


# The impact time


def impact_time() -> Section:
    """Show the limits of correcting the position, and of correcting the velocity, too, for small steps."""
    task, fine = GroundAndWall(), {}
    loss, exact = exact_gradient(task)
    rows = []
    for name, corrects in (("position", POSITION), ("position and velocity", VELOCITY)):
        for times in (1, 10, REFINED):
            found, fine[corrects], _ = Program(name, DIRECT, corrects).gradient(task, refined=times)
            label, *numbers = row(name, found, fine[corrects], exact)
            rows.append((label, f"{times * task.steps}", *numbers))
    # The height at the end over the target's, by the motion.
    rest, gravity = task.duration, -task.force[1]
    approach = np.sqrt(task.v_2**2 + 2 * gravity * (task.q_2 - 0.1))
    rest -= (task.v_2 + approach) / gravity
    above = 0.1 + task.e * approach * rest - gravity * rest**2 / 2 - task.target[1]
    return Section(
        "The impact time, in position and in velocity",
        "The correction of the position accounts for the time of the impact at constant velocity. With a force the "
        "approach velocity depends on that time too; in time steps it does not, but changes by $f h$ from one step to "
        "the next. So the derivative stays wrong however small the steps are. By the height: a ball that starts 1 mm "
        "higher ends $e$ mm lower, while the faster rebound of the higher fall is missing. With the velocity at the "
        "time of the impact the gradient converges to that of the motion.",
        (r"v^* = v + (h - t) f, \qquad v^+ = v + h f - (1 + e) J^T \frac{J v^*}{J J^T}",),
        claims=(
            Check("Position alone, small steps: dl/d$y_0$", float(-2 * task.e * above), float(fine[POSITION][1]), "m",
                  1e-3, origin="$-2 e (y_T - 1.5)$", form=".4f"),
            Check("Position and velocity, small steps: dl/d$y_0$", float(exact[1]), float(fine[VELOCITY][1]), "m", 1e-4,
                  origin="closed form", form=".5f"),
            Check("Position and velocity, small steps: error of the gradient", 0.0,
                  wrong(fine[VELOCITY], exact), tolerance=1e-4, form=".1e"),
        ),
        tables=(
            ResultTable("Task 2 under DiffTaichi's step",
                  ("corrected", "steps", "loss", "dl/dx₀", "dl/dy₀", "dl/dv_x", "dl/dv_y", "error of the gradient"),
                  tuple(rows),
                  f"The motion has the loss {loss:.6f} and the gradient "
                  f"({', '.join(f'{x:.6f}' for x in exact)})."),
        ),
    )  # fmt: skip
