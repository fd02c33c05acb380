import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell(hide_code=True)
def _():
    import altair as alt
    import cvxpy as cp
    import marimo as mo
    import numpy as np

    import workbench as wb
    from workbench.comparison.measured import MeasuredRun

    return MeasuredRun, alt, cp, mo, np, wb


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # 10. Your own formulation, judged

    A ski has much less friction along than across, and oil adds a force that grows with the speed. In 45 minutes you
    declare such friction laws in a dozen lines each, print the declarations, make steps with them, and learn what
    "verified" means and what it does not: a third law of this lesson is solved to round-off, and wrong.

    You need the friction cone (lesson 3) and, for exercise 3, one integral.

    ## A law with an ellipse

    Let the friction impulse lie in an ellipse with the axes $\mu p_n$ and $r \mu p_n$. With $D = \operatorname{diag}(1, r)$ this is

    $$
    p_t = D \pi, \qquad |\pi| \le \mu p_n
    $$

    Which point of the ellipse? The *principle of maximum dissipation* says: the one that takes the most power from the
    sliding velocity $u_t$. The power is $-p_t \cdot u_t = -\pi \cdot D u_t$. So $\pi$ belongs to the velocity $D u_t$ as Coulomb's
    friction belongs to $u_t$:

    $$
    \pi = -\mu p_n \frac{D u_t}{|D u_t|}, \qquad p_t = -\mu p_n \frac{D^2 u_t}{|D u_t|} \quad \text{where } u_t \ne 0
    $$

    This is Coulomb's law for $(p_n, \pi)$ and $(u_n, D u_t)$, and nothing else has to be declared: dynamics, the law over
    the friction cone, and what the answer is.
    """)
    return


@app.cell
def _(cp, np, wb):
    @wb.formulation(
        "elliptic", friction="an ellipse: the second direction bears `ratio` times the first", source="lesson 10"
    )
    def elliptic(s: wb.ContactSymbols, ratio: float = 0.5):
        v, p = wb.free("v", s.n), wb.friction_cone(s.mu, s.r, s.d)
        D = cp.Constant(np.kron(np.eye(s.r), np.diag([1.0, ratio][: s.d])), name="D")
        p_t = D @ p.t
        return wb.declare(
            wb.equals(s.balance(v, p.n, p_t)),
            *s.bilateral(v),
            wb.complements((s.un(v, p.n), D @ s.ut(v, p_t)), p, law="coulomb"),
            recover=dict(v=v, p_n=p.n, p_t=p_t),
        )

    return (elliptic,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    How to read it:

    - `s` holds the data of a step as symbols: $M$, $b = M v + h f$, the Jacobians, $\mu$; and the sizes `s.n` (velocities),
      `s.r` (contacts), `s.d` (tangents a contact).
    - `wb.free` and `wb.friction_cone` make unknowns that know their set. `s.balance(v, p_n, p_t)` is the balance of momentum,
      `s.un` and `s.ut` are the velocities at the contact.
    - `wb.complements(F, x)` says that $F$ is complementary to $x$ in the sense of the set of $x$; `law="coulomb"` adds de
      Saxcé's term, without it the relation is the CCP of lesson 7.
    - `ratio` is an option. `recover` names the velocity and the impulses of the answer.

    What you declared can be printed, from the same expressions that are solved. Read it: this is the place to find errors.
    """)
    return


@app.cell
def _(elliptic, mo, wb):
    shown = wb.show(elliptic)
    mo.md(f"```text\n{shown.text}\n```")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## One step

    A block of 2 kg slides at 2 m/s in a direction of your choice. The curve is the set of friction impulses over all sliding
    directions, from one `wb.sweep` of 72 systems; the arrows are the friction of your direction, Coulomb's and the
    ellipse's. Note that elliptic friction does not oppose the sliding velocity, and that the block therefore turns
    towards the direction that grips less.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    ratio = mo.ui.slider(steps=[0.3, 0.5, 0.7, 0.9, 1.0], value=0.5, label="ratio $r$", show_value=True)
    angle = mo.ui.slider(steps=[0, 20, 40, 60, 80], value=40, label="direction [deg]", show_value=True)
    mo.hstack([ratio, angle], justify="start")
    return angle, ratio


@app.cell
def _(np, wb):
    def block(direction=0.0, mu=0.5, speed=2.0, h=0.01):
        """One step of a 2 kg block on the floor that slides in a direction [rad]."""
        return wb.ContactSystem(
            M=2 * np.eye(3), v=[speed * np.cos(direction), speed * np.sin(direction), 0], f=[0, 0, -2 * 9.81], h=h, mu=mu,
            J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]],
        )  # fmt: skip

    def by_hand(answer, ratio, mu=0.5):
        """The ellipse's friction impulse for the answer's own sliding velocity."""
        D, u = np.array([1.0, ratio]), answer.v[:2]
        return -mu * answer.p_n[0] * D**2 * u / np.linalg.norm(D * u)

    return block, by_hand


@app.cell(hide_code=True)
def _(alt, angle, block, by_hand, elliptic, mo, np, ratio, wb):
    _law = elliptic.with_options(ratio=ratio.value)
    _turn = np.linspace(0, 2 * np.pi, 73)
    _velocities = 2 * np.c_[np.cos(_turn), np.sin(_turn), 0 * _turn]
    _section = []
    for _name, _f in (("coulomb", "coulomb"), ("elliptic", _law)):
        _swept = wb.sweep(_f, block(), v=_velocities)
        assert _swept.solved.all()
        _section += [{"x": float(x), "y": float(y), "law": _name, "i": i} for i, (x, y) in enumerate(_swept.p_t)]
    _direction = np.radians(angle.value)
    _found = {"coulomb": wb.solve(block(_direction)), "elliptic": wb.solve(block(_direction), _law)}
    assert np.allclose(_found["elliptic"].p_t, by_hand(_found["elliptic"], ratio.value), atol=1e-12)
    _arrows = [
        {"x": float(x), "y": float(y), "law": name}
        for name, answer in _found.items()
        for x, y in ((0.0, 0.0), answer.p_t)
    ]
    _slide = [{"x": 0.0, "y": 0.0}, {"x": 0.09 * np.cos(_direction), "y": 0.09 * np.sin(_direction)}]
    _x = alt.X("x:Q", title="friction impulse along x [N s]", scale=alt.Scale(domain=[-0.12, 0.12], nice=False))
    _y = alt.Y("y:Q", title="along y [N s]", scale=alt.Scale(domain=[-0.12, 0.12], nice=False))
    _colour = alt.Color(
        "law:N", title=None, scale=alt.Scale(domain=["coulomb", "elliptic"], range=["#111111", "#c2410c"])
    )
    _chart = alt.layer(
        alt.Chart(alt.Data(values=_section)).mark_line().encode(x=_x, y=_y, color=_colour, order="i:Q"),
        alt.Chart(alt.Data(values=_arrows)).mark_line(strokeWidth=4).encode(x=_x, y=_y, color=_colour),
        alt.Chart(alt.Data(values=_slide)).mark_line(strokeDash=[5, 4], color="#2171b5", strokeWidth=2).encode(x=_x, y=_y),
    ).properties(
        width=340, height=340,
        description=f"Friction sections of Coulomb's law and of the ellipse of ratio {ratio.value}, and the friction of a "
        f"slide in the direction of {angle.value} degrees",
    )  # fmt: skip
    _after = np.degrees(np.arctan2(*_found["elliptic"].v[1::-1]))
    mo.vstack(
        [
            _chart,
            mo.md(
                f"Dashed: the direction of sliding. After one step of 10 ms the block slides in the direction {_after:.3f}° "
                f"under the ellipse, still {angle.value}° under Coulomb's law. The answer agrees with "
                f"$-\\mu p_n D^2 u_t/|D u_t|$ to round-off; its own residual is {_found['elliptic'].residual:.0e}."
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## A law with a viscous term

    Oil adds an impulse $w = -c\, u_t$ to Coulomb's friction. It needs one more equation with a free unknown:
    """)
    return


@app.cell
def _(wb):
    @wb.formulation("viscous", friction="Coulomb's disc and a viscous impulse -c u_t", source="lesson 10")
    def viscous(s: wb.ContactSymbols, c: float = 0.001):
        v, p, w = wb.free("v", s.n), wb.friction_cone(s.mu, s.r, s.d), wb.free("w", s.d * s.r)
        p_t = p.t + w
        return wb.declare(
            wb.equals(s.balance(v, p.n, p_t)),
            *s.bilateral(v),
            wb.equals(w + c * s.ut(v, p_t)),
            wb.complements((s.un(v, p.n), s.ut(v, p_t)), p, law="coulomb"),
            recover=dict(v=v, p_n=p.n, p_t=p_t),
        )

    return (viscous,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## And one with a mistake

    The third law is Coulomb's with one wrong sign: $-u_t$ instead of $u_t$.
    """)
    return


@app.cell
def _(wb):
    @wb.formulation("mistaken", friction="Coulomb's disc and a sliding velocity of the wrong sign", source="lesson 10")
    def mistaken(s: wb.ContactSymbols):
        v, p = wb.free("v", s.n), wb.friction_cone(s.mu, s.r, s.d)
        return wb.declare(
            wb.equals(s.balance(v, p.n, p.t)),
            *s.bilateral(v),
            wb.complements((s.un(v, p.n), -s.ut(v, p.t)), p, law="coulomb"),
            recover=dict(v=v, p_n=p.n, p_t=p.t),
        )

    return (mistaken,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Judged

    `wb.compare` runs each on a case and compares it with exact Coulomb friction, here at the same step, so that there is no
    discretisation error. Three kinds of numbers answer three different questions:

    1. **verified**: does the answer solve what was *declared*? The problem's own residual within the tolerance.
    2. **residuals of Coulomb's law**: does it obey *Coulomb's* law? Computed from velocities and impulses by code that
       shares nothing with what it judges. `cone` is the largest $(|p_t| - \mu p_n)_+$, `dissipation` the largest
       $\big|\mu p_n |u_t| + p_t \cdot u_t\big|$, and `natural_map` takes the whole law at once:

    $$
    \frac{|p - P_K(p - \rho (u + \mu |u_t| n))|}{s}
    $$

       with the projection $P_K$ onto the friction cone, a mass $\rho$ and a scale $s$ of impulses. It is zero exactly
       if the law holds.

    3. **errors of the motion**: how far is the motion from Coulomb's? `velocity_error` grows over time,
       `local_velocity_error` takes single steps from Coulomb's own states.

    You may add your own metric. This one is the share of the power that Coulomb's law would take at the same normal
    impulses and sliding velocities; call it *grip*.
    """)
    return


@app.cell
def _(MeasuredRun, np, wb):
    @wb.metric("grip", unit="1", meaning="power taken by friction over mu p_n |u_t|", heading="grip")
    def grip(m: MeasuredRun) -> float:
        p_n, p_t, u_t, mu = (x[m.steps, 0] for x in (m.run.p_n, m.run.p_t, m.run.u_t, m.run.mu))
        return float(-(p_t * u_t).sum() / (mu * p_n * np.linalg.norm(u_t, axis=-1)).sum())

    return (grip,)


@app.cell
def _(elliptic, grip, mistaken, mo, viscous, wb):
    judged = wb.compare(
        "block",
        [elliptic, viscous.with_options(c=0.001), mistaken, "coulomb"],
        metrics=["natural-map", "cone", "dissipation", "local-velocity-error", "velocity-error", "energy-gained", "yaw-spread", grip],
        duration=0.3,
        reference_step=1e-3,
    )  # fmt: skip
    rows = judged.runs[judged.runs["window"] == "all"].set_index("formulation")
    assert rows["verified"].all()
    assert rows.loc["coulomb", "natural_map"] < 1e-9
    _columns = ["natural_map", "cone", "dissipation", "local_velocity_error", "velocity_error", "energy_gained", "yaw_spread", "grip"]  # fmt: skip
    _units = [judged.runs.attrs["columns"][c]["unit"] for c in _columns]
    _head = [f"`{c}`" + (f" [{unit}]" if unit != "1" else "") for c, unit in zip(_columns, _units, strict=True)]
    mo.md(
        f"| formulation | verified | {' | '.join(_head)} |\n|---|---|{'---|' * len(_columns)}\n"
        + "\n".join(
            f"| {name} | {'yes' if row['verified'] else 'no'} | "
            + " | ".join(f"{0 if abs(row[c]) < 1e-9 else row[c]:.3g}" for c in _columns)
            + " |"
            for name, row in rows.iterrows()
        )
    )
    return (rows,)


@app.cell(hide_code=True)
def _(mo, rows):
    assert rows.loc["elliptic", "cone"] == 0 < rows.loc["viscous", "cone"]
    assert rows.loc["elliptic", "grip"] < 1 < rows.loc["viscous", "grip"]
    assert rows.loc["mistaken", "energy_gained"] > 1
    assert abs(rows.loc["mistaken", "grip"] + 1) < 1e-9
    assert rows["yaw_spread"].drop("elliptic").max() < 1e-9 < rows.loc["elliptic", "yaw_spread"]
    mo.md(r"""
    Read it column by column, on the block thrown at 30°:

    - All four are *verified*. The mistaken law is a problem like any other, and the solver solves it to round-off.
      Verified means that the solution satisfies the declaration.
    - `cone` is zero for the ellipse, which lies inside the disc, and for the mistaken law, whose friction has the right size.
      It is positive for the viscous law, which pulls harder than $\mu p_n$.
    - `natural_map` is positive for all three.
    - `energy_gained` is zero except for the mistaken law, since friction only dissipates. Its grip is $-1$.
    - `yaw_spread` rotates the whole scene about the vertical and measures whether the step rotates with it. It is zero for
      isotropic laws, right or wrong, and positive for the ellipse.

    One number would have hidden most of this. The first two laws are not *wrong*: they are other laws, and the table shows
    by how much.

    ## On the wheel, and along a parameter

    A difference that goes to zero with its parameter shows that the parameter is all that separates two laws. Here is the
    local velocity error on the wheel over $c$, and over $1 - r$.
    """)
    return


@app.cell
def _(elliptic, mo, np, viscous, wb):
    _small = (1e-6, 1e-5, 1e-4)
    _laws = [viscous.with_options(c=x) for x in _small] + [elliptic.with_options(ratio=1 - 1000 * x) for x in _small]
    _found = wb.compare(
        "wheel", _laws, duration=0.1, reference_step=1e-3, metrics=["natural-map", "local-velocity-error"]
    ).runs
    _found = _found[_found["window"] == "all"]
    _errors = dict(zip(_found["label"], _found["local_velocity_error"], strict=True))
    assert _found["verified"].all()
    for _first in (0, 3):
        _values = [_errors[f.label] for f in _laws[_first : _first + 2]]
        assert abs(np.log10(_values[1] / _values[0]) - 1) < 0.05, "first order in the parameter"
    mo.md(
        "| formulation | local velocity error | natural map |\n|---|---|---|\n"
        + "\n".join(
            f"| {row['label']} | {100 * row['local_velocity_error']:.2g} % | {row['natural_map']:.1e} |"
            for _, row in _found.iterrows()
        )
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Both errors are proportional to their parameter while they are small, as they should be. A plateau instead would be an error in the
    declaration that no parameter removes.
    """)
    return


@app.cell(hide_code=True)
def exercise_1(mo):
    mo.md(r"""
    ## Exercises

    ### Exercise 1

    Leave out the $D$ before $u_t$ in `elliptic`. The section stays the same ellipse. What is the law now, and which of the two
    takes more power from a given sliding velocity?
    """)
    return


@app.cell(hide_code=True)
def solution_1(block, by_hand, cp, mo, np, wb):
    @wb.formulation("aligned", friction="an ellipse without maximum dissipation", source="lesson 10")
    def _aligned(s: wb.ContactSymbols, ratio: float = 0.5):
        v, p = wb.free("v", s.n), wb.friction_cone(s.mu, s.r, s.d)
        D = cp.Constant(np.kron(np.eye(s.r), np.diag([1.0, ratio][: s.d])), name="D")
        p_t = D @ p.t
        return wb.declare(
            wb.equals(s.balance(v, p.n, p_t)),
            *s.bilateral(v),
            wb.complements((s.un(v, p.n), s.ut(v, p_t)), p, law="coulomb"),
            recover=dict(v=v, p_n=p.n, p_t=p_t),
        )

    for _angle in np.radians([10, 40, 70]):
        _answer = wb.solve(block(_angle), _aligned)
        _u = _answer.v[:2]
        assert np.allclose(_answer.p_t, -0.5 * _answer.p_n[0] * np.array([1, 0.5]) * _u / np.linalg.norm(_u))
        assert -_answer.p_t @ _u < -by_hand(_answer, 0.5) @ _u
    mo.accordion(
        {
            "Solution": mo.md(r"""
    $\pi = -\mu p_n u_t/|u_t|$ and $p_t = -\mu p_n D u_t/|u_t|$. For a given $u_t$ it takes the power
    $\mu p_n\, u_t \cdot D u_t/|u_t| \le \mu p_n |D u_t|$ by Cauchy and Schwarz; equality holds along the axes alone. It
    still dissipates, since $D$ is positive definite, and is a possible law: a section does not yet say where on
    its edge friction lies. Both choices are in use.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_2(mo):
    mo.md(r"""
    ### Exercise 2

    Let $\mu = 0$ in `viscous`. What is the velocity after $k$ steps? Does it depend on the step size, at a given time, and
    should it?
    """)
    return


@app.cell(hide_code=True)
def solution_2(block, mo, np, viscous, wb):
    _c, _ends = 0.1, {}
    for _h in (0.02, 0.01):
        _v = 2.0
        for _ in range(round(0.2 / _h)):
            _v = wb.solve(block(mu=0.0, speed=_v, h=_h), viscous.with_options(c=_c)).v[0]
        _ends[_h] = _v
        assert np.isclose(_v, 2.0 / (1 + _c / 2) ** round(0.2 / _h))
    assert _ends[0.02] > 1.5 * _ends[0.01]
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    $m u^+ = m u - c u^+$ gives $u/(1 + c/m)^k$: the block is slower the smaller the step, {_ends[0.02]:.3f} m/s after 0.2 s
    with $h = 20$ ms and {_ends[0.01]:.3f} m/s with 10 ms. As an impulse, $c$ should be $h$ times a damping in N s/m. The step is no
    datum of the relations; a *hook* brings it in (`docs/declare-your-own.md`, "Data that depend on the state"). A run at
    two step sizes finds such errors; so `wb.compare` takes several `steps`.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_3(mo):
    mo.md(r"""
    ### Exercise 3

    A block slides at the speed $u_0$ under `viscous`, with the damping $d = c/h$ in N s/m and mass $m$. Coulomb's friction
    stops it in finite time, viscous friction alone does not. When does it stop under both? Check with `wb.compare` on the
    block.
    """)
    return


@app.cell(hide_code=True)
def solution_3(mo, np, viscous, wb):
    _h, _d, _mu, _g, _u_0 = 1e-3, 2.0, 0.3, 9.81, 2.0
    _case = wb.cases.find("block")(speed=_u_0, mu=_mu, m=1.0)
    _found = wb.compare(
        _case, [viscous.with_options(c=_h * _d)], duration=0.8, reference_step=1e-3, metrics=["rest-time"]
    ).runs
    _stop = float(_found[_found["window"] == "all"]["rest_time"].iloc[0])
    _formula = np.log1p(_d * _u_0 / (_mu * _g)) / _d
    # At rest counts what is slower than v_th = 0.01 m/s.
    _slow = (np.log(_mu * _g + _d * _u_0) - np.log(_mu * _g + _d * _case.v_th)) / _d
    assert abs(_stop - _slow) < 3 * _h
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    $m \dot u = -\mu m g - d u$ has the solution $u + \mu m g/d = (u_0 + \mu m g/d)\, e^{{-d t/m}}$, which is zero at

    $$
    t = \frac md \ln\Big(1 + \frac{{d u_0}}{{\mu m g}}\Big)
    $$

    For $d = 2$ N s/m and 1 kg at 2 m/s with $\mu = 0.3$ this is {_formula:.4f} s; Coulomb alone needs {_u_0 / (_mu * _g):.4f} s. The metric
    `rest_time` says {_stop:.4f} s, when the speed falls below its threshold of 0.01 m/s, for which the formula gives
    {_slow:.4f} s.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_4(mo):
    mo.md(r"""
    ### Exercise 4

    Is the elliptic law convex, like the CCP, if `law="coulomb"` is left out? Declare it, and find out on the block what it
    gives away.
    """)
    return


@app.cell(hide_code=True)
def solution_4(block, cp, mo, np, wb):
    @wb.formulation("elliptic-ccp", friction="an ellipse with associated flow", source="lesson 10")
    def _relaxed(s: wb.ContactSymbols, ratio: float = 0.5):
        v, p = wb.free("v", s.n), wb.friction_cone(s.mu, s.r, s.d)
        D = cp.Constant(np.kron(np.eye(s.r), np.diag([1.0, ratio][: s.d])), name="D")
        p_t = D @ p.t
        return wb.declare(
            wb.equals(s.balance(v, p.n, p_t)),
            *s.bilateral(v),
            wb.complements((s.un(v, p.n), D @ s.ut(v, p_t)), p),
            recover=dict(v=v, p_n=p.n, p_t=p_t),
        )

    assert "conic QP" in wb.show(_relaxed).text
    _answer = wb.solve(block(0.7), _relaxed)
    assert _answer.verified
    _rise = 0.5 * np.linalg.norm(np.array([1.0, 0.5]) * _answer.v[:2])
    assert np.isclose(_answer.v[2], _rise)
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    Yes: the workbench classifies it as a conic QP, whose matrix $\operatorname{{diag}}(1, D)\, W \operatorname{{diag}}(1, D)$
    is symmetric positive semidefinite. It gives away what the CCP does (lesson 7): what slides lifts off, here with
    $u_n = \mu |D u_t| = {_rise:.4f}$ m/s, a little less than with the round cone.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What to read

    - `docs/declare-your-own.md`: formulations, cases, solvers and metrics in files of your own, and hooks.
    - `docs/formulary.md`, section 3 (Coulomb), 7.2 to 7.4 (errors, budget, the judge) and 7.10 (local steps, symptoms);
      `docs/columns.md` for every column.
    - S. Goyal, A. Ruina, J. Papadopoulos, *Planar sliding with dry friction*, Wear 143 (1991): limit surfaces and maximum
      dissipation.
    - G. de Saxcé, Z.-Q. Feng, *The bipotential method*, Math. Comput. Modelling 28 (1998): the law over the cone.
    - The declarations that come with the workbench, `formulations/*.py`, each about as long as those of this lesson.
    """)
    return


if __name__ == "__main__":
    app.run()
