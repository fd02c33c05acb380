import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell(hide_code=True)
def _():
    import altair as alt
    import marimo as mo
    import numpy as np

    import workbench as wb

    return alt, mo, np, wb


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # 7. The artificial gap of the cone complementarity problem

    Coulomb's law leads to a problem that may have no solution or several, and that no general method is guaranteed to
    solve. The *cone complementarity problem* (CCP) changes one row and becomes a convex optimisation problem, with methods
    that work for millions of contacts. The disadvantage is that sliding contacts lift off. How far, how long, and does it
    matter? In 45 minutes you derive the lift, measure it, and find where it vanishes with the step and where it does not.

    You need Newton's law, a time step with impulses (lesson 1) and the friction cone (lesson 3).

    ## Two problems

    One contact has the normal impulse $p_n$ and the friction impulse $p_t$, the normal velocity $u_n$ and the sliding
    velocity $u_t$ at the end of the step of length $h$, and the gap $\varphi$ before it. The friction cone and its dual are

    $$
    K = \{ |p_t| \le \mu p_n \}, \qquad K^* = \{ \mu |u_t| \le u_n \}
    $$

    Signorini's and Coulomb's laws together read (de Saxcé and Feng 1998)

    $$
    K \ni (p_n, p_t) \perp (u_n + \varphi/h + \mu |u_t|,\; u_t) \in K^*
    $$

    and the CCP (Anitescu and Tasora 2010) leaves the term $\mu |u_t|$ out:

    $$
    K \ni (p_n, p_t) \perp (u_n + \varphi/h,\; u_t) \in K^*
    $$

    Without that term, which depends on the unknown velocity, these are the optimality conditions of a convex programme:
    *among all velocities in $K^*$ take the one nearest to the velocity without contact*, where distance is measured by
    kinetic energy.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## One step by hand

    A block of mass $m$ touches the floor, $\varphi = 0$, and slides with the velocity $u > 0$. Without contact the
    step would end with $(u, -g h)$. If the block still slides at the end of the step, $u_t > 0$, complementarity to a
    velocity on the edge of $K^*$ puts the impulse on the edge of $K$, opposite to the sliding velocity:

    $$
    u_n = \mu u_t, \qquad p_t = -\mu p_n
    $$

    Momentum gives $u_t = u - \mu p_n/m$ and $u_n = -g h + p_n/m$. Three equations are left for $u_t$, $u_n$, $p_n$:

    $$
    u_t = \frac{u - \mu g h}{1 + \mu^2}, \qquad u_n = \mu u_t, \qquad p_n = m (g h + \mu u_t)
    $$

    Coulomb's law gives $u_t = u - \mu g h$ and $u_n = 0$. Under the CCP the block leaves the floor. This takes a normal
    impulse of many times the weight's $m g h$, and the corresponding friction reduces the speed by the fraction
    $\mu^2/(1 + \mu^2)$.

    The picture shows velocities of the block for $u = 1$ m/s: without contact, under the CCP (the nearest point of the
    shaded $K^*$), and under Coulomb's law. Both impulses have the same direction, the edge of $K$; they differ in size.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    mu = mo.ui.slider(steps=[0.1, 0.2, 0.3, 0.5, 0.8], value=0.5, label=r"$\mu$", show_value=True)
    step = mo.ui.slider(steps=[5, 10, 20, 50, 100], value=20, label="$h$ [ms]", show_value=True)
    mo.hstack([mu, step], justify="start")
    return mu, step


@app.cell
def _(np, wb):
    g = 9.81

    def block(h, mu, v, gap=0.0, **more):
        """A block of 1 kg over the floor, in the plane: one step of h [s] from the velocity v [m/s]."""
        return wb.ContactSystem(
            M=np.eye(2), v=v, f=[0, -g], h=h, J_n=[[0, 1]], J_t=[[1, 0]], mu=mu, phi=gap, **more
        )  # fmt: skip

    return block, g


@app.cell(hide_code=True)
def _(alt, block, g, mo, mu, np, step, wb):
    _h, _mu = step.value / 1000, mu.value
    _found = {law: wb.solve(block(_h, _mu, [1.0, 0.0]), law) for law in ("ccp", "coulomb")}
    _slip = (1 - _mu * g * _h) / (1 + _mu**2)
    assert np.allclose(_found["ccp"].v, [_slip, _mu * _slip])
    assert np.allclose(_found["coulomb"].v, [1 - _mu * g * _h, 0])
    _x = alt.X("u_t:Q", title="sliding velocity [m/s]", scale=alt.Scale(domain=[-0.6, 1.2], nice=False))
    _y = alt.Y("u_n:Q", title="normal velocity [m/s]", scale=alt.Scale(domain=[-1.05, 0.75], nice=False))
    _cone = [{"u_t": x, "u_n": _mu * abs(x), "top": 0.75} for x in np.linspace(-0.6, 1.2, 61)]
    _points = [{"u_t": 1.0, "u_n": -g * _h, "law": "without contact"}] + [
        {"u_t": float(a.v[0]), "u_n": float(a.v[1]), "law": law} for law, a in _found.items()
    ]
    _ways = [
        {**p, "way": law}
        for law in ("ccp", "coulomb")
        for p in (_points[0], *_points[1:])
        if p["law"] in (law, "without contact")
    ]
    _names, _colours = ["without contact", "ccp", "coulomb"], ["#ffffff", "#c2410c", "#111111"]
    _chart = alt.layer(
        alt.Chart(alt.Data(values=_cone)).mark_area(color="#cfe3f2", clip=True).encode(x=_x, y=_y, y2="top:Q"),
        alt.Chart(alt.Data(values=[{"u_n": 0}])).mark_rule(color="#888").encode(y=_y),
        alt.Chart(alt.Data(values=_ways)).mark_line(color="#555", strokeDash=[3, 3]).encode(x=_x, y=_y, detail="way:N"),
        alt.Chart(alt.Data(values=_points))
        .mark_circle(size=130, opacity=1, stroke="#111")
        .encode(x=_x, y=_y, color=alt.Color("law:N", title=None, scale=alt.Scale(domain=_names, range=_colours))),
    )
    mo.vstack(
        [
            _chart.properties(
                width=380, height=380,
                description=f"Velocities after a step, mu {_mu}, h {step.value} ms: the CCP's on the edge of the dual "
                "cone, Coulomb's on the axis of no normal velocity",
            ),
            mo.md(
                f"CCP: $u_t$ = {_slip:.4f}, $u_n$ = {_mu * _slip:.4f} m/s, lift in this step {_h * _mu * _slip * 1e3:.2f} mm, "
                f"$p_n$ = {_found['ccp'].p_n[0] / (g * _h):.1f} times $m g h$."
            ),
        ]
    )  # fmt: skip
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    In this one step the block rises by $h u_n = h \mu |u_t|$. This is the gap in the literature, and it vanishes with $h$.
    But look at the point of the CCP while you make $h$ smaller: it does *not* approach Coulomb's. Its normal velocity after
    the step is $\mu u/(1 + \mu^2)$ for any step. What happens next?

    ## The steps after

    The row of the CCP in the next steps is $u_n + \varphi/h = \mu |u_t|$ where the contact is loaded, and there the gap at
    the end of the step is $\varphi + h u_n = h \mu |u_t|$. So a block with a loaded contact slides at exactly this height:

    $$
    \varphi^+ = h \mu |u_t|
    $$

    Two motions are compatible with that. If the block *starts* at the height $h \mu |u|$, it sinks slowly as it slows
    down. If it starts on the floor, it is thrown up, flies freely, and lands at that height. The flight is a parabola with
    the initial velocity $\mu u_t$, and its height does not depend on the step:

    $$
    \varphi_{\max} \approx \frac{(\mu u_t)^2}{2 g}, \qquad u_t = \frac{u}{1 + \mu^2}
    $$
    """)
    return


@app.cell
def _(block, np, wb):
    def slide(h, law="ccp", mu=0.3, speed=2.0, gap=0.0, duration=0.8, **more):
        """Rows t, x, z, v_x, v_z of a block that is thrown along the floor."""
        x, v = np.array([0.0, gap]), np.array([speed, 0.0])
        rows = [(0.0, *x, *v)]
        for k in range(round(duration / h)):
            answer = wb.solve(block(h, mu, v, x[1] if not more else 0.0, **more), law)
            assert answer.verified
            v = answer.v
            x = x + h * v
            rows.append((h * (k + 1), *x, *v))
        return np.array(rows)

    return (slide,)


@app.cell
def _(slide):
    steps = (0.02, 0.01, 0.005)
    thrown = {h: slide(h) for h in steps}
    settled = {h: slide(h, gap=h * 0.3 * 2.0) for h in steps}
    exact = {h: slide(h, "coulomb") for h in steps}
    return exact, settled, steps, thrown


@app.cell(hide_code=True)
def _(alt, g, settled, steps, thrown):
    _rows = [
        {"t": float(row[0]), "gap": 1000 * float(row[2]), "h": f"{1000 * h:g} ms", "start": name}
        for name, runs in (("thrown from the floor", thrown), ("thrown from the height h μ |u|", settled))
        for h in steps
        for row in runs[h]
    ]
    _height = 1000 * (0.3 * 2 / 1.09) ** 2 / (2 * g)
    _scale = alt.Scale(domain=[f"{1000 * h:g} ms" for h in steps], range=["#9ecae1", "#4292c6", "#08306b"])
    _lines = (
        alt.Chart()
        .mark_line()
        .encode(
            x=alt.X("t:Q", title="time [s]"),
            y=alt.Y("gap:Q", title="gap [mm]"),
            color=alt.Color("h:N", title="step", scale=_scale, sort=None),
        )
    )
    _rule = alt.Chart().mark_rule(strokeDash=[5, 4], color="#c2410c").encode(y=alt.datum(_height))
    alt.layer(_lines, _rule, data=alt.Data(values=_rows)).properties(width=270, height=220).facet(
        column=alt.Column("start:N", title=None, sort=["thrown from the floor"])
    ).properties(
        description="Gap over time for three steps. Thrown from the floor the block hops 15 to 20 mm high at all steps; "
        "thrown from the settled height it sinks, at half the height for half the step."
    )
    return


@app.cell
def _(g, mo, np, settled, steps, thrown):
    _rows = []
    for _h in steps:
        _highest, _mean = 1000 * thrown[_h][:, 2].max(), 1000 * settled[_h][:, 2].max()
        # While it slides, the settled block is at h mu |u|, at the end of every step.
        assert np.allclose(settled[_h][1:, 2], _h * 0.3 * settled[_h][1:, 3], atol=1e-12)
        _rows.append(f"| {1000 * _h:g} | {_highest:.2f} | {_mean:.2f} |")
    _parabola = 1000 * (0.3 * 2 / 1.09) ** 2 / (2 * g)
    assert 0 < thrown[0.005][:, 2].max() * 1000 - _parabola < 1.5
    mo.md(
        "| $h$ [ms] | highest gap, thrown from the floor [mm] | highest gap, settled [mm] |\n|---|---|---|\n"
        + "\n".join(_rows)
        + f"\n| $\\to 0$ | {_parabola:.2f} (parabola) | 0 |"
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    So there are two artificial gaps. The settled one, $h \mu |u|$, vanishes with $h$. The hop does not: it is 15 mm here,
    at any step size. It occurs whenever a contact begins to slide on the floor: at the start, at every impact, and at every
    change of mode.

    ## Effect on the motion

    As long as the block slides in the same direction, its friction is $\mu$ times its normal impulse in each step, also in
    the air, where both are zero. Add the momenta from the start to the time $t$:

    $$
    m (v_z - 0) = \textstyle\sum p_n - m g t, \qquad m (v_x - u) = -\mu \sum p_n
    \quad\Rightarrow\quad v_x = u - \mu g t - \mu v_z
    $$

    Coulomb's block has $v_x = u - \mu g t$. Integrate once more, and the CCP's block is *behind by $\mu$ times its
    height*:

    $$
    x_{\mathrm{CCP}} = x_{\mathrm{Coulomb}} - \mu z
    $$

    After landing, the block is behind by only $\mu$ times the settled gap. It comes to rest where Coulomb's does, up to
    the step size, after a hop of 15 mm.
    """)
    return


@app.cell
def _(exact, mo, np, steps, thrown):
    _rows = []
    for _h in steps:
        _slides = exact[_h][:, 3] > 0.1
        _left = exact[_h][:, 1] - 0.3 * thrown[_h][:, 2] - thrown[_h][:, 1]
        assert np.abs(_left[_slides]).max() < 1e-12
        _rest = 1000 * (thrown[_h][-1, 1] - exact[_h][-1, 1])
        assert abs(_rest) < 0.05
        _rows.append(f"| {1000 * _h:g} | {1000 * exact[_h][-1, 1]:.3f} | {_rest:+.4f} |")
    mo.md("| $h$ [ms] | Coulomb rests at [mm] | CCP, difference [mm] |\n|---|---|---|\n" + "\n".join(_rows))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Other bodies

    `lift` is the largest gap of a contact beyond that of exact Coulomb friction; `local velocity error` compares
    single steps, each from a state of exact Coulomb friction. The cases are those of the workbench, half a second of each:
    the block thrown at 2 m/s, a sphere that slides and then rolls, the wheel of IDETC2016-60064 with 6 m/s, and a thrown
    cube.
    """)
    return


@app.cell
def _(mo, wb):
    lifts = {}
    for _case in ("block", "sphere", "wheel", "cube"):
        _found = wb.compare(
            _case, ["ccp"], solvers=["ccp-exact"], steps=[4e-3, 1e-3], duration=0.5, reference_step=1e-3,
            metrics=["lift", "local-velocity-error"],
        )  # fmt: skip
        _runs, _steps = _found.runs, _found.trajectories
        if _case != "cube":
            assert _steps[_steps["role"] == "reference"]["gap"].max() < 1e-6, "Coulomb's law keeps it on the floor"
        for _, _row in _runs[_runs["window"] == "all"].iterrows():
            assert _row["verified"]
            lifts[_case, 1000 * _row["step"]] = _row["lift"], _row["local_velocity_error"]
    mo.md(
        "| case | $h$ [ms] | lift [mm] | local velocity error |\n|---|---|---|---|\n"
        + "\n".join(f"| {case} | {h:g} | {lift:.1f} | {kick:.0%} |" for (case, h), (lift, kick) in lifts.items())
    )
    return (lifts,)


@app.cell(hide_code=True)
def _(lifts, mo):
    assert all(lifts[case, 1.0][0] > 0.9 * lifts[case, 4.0][0] for case in ("block", "sphere", "wheel"))
    mo.md(r"""
    The wheel, thrown at 6 m/s, hops 15 cm high at both steps, although the exact wheel never leaves the floor. The
    local velocity error tends to 200 %, its largest possible value, since the impulse of a step is about $m g h$ under exact
    friction and $m \mu u$ under the CCP. The cube tumbles; every impact with slip throws it up, and its lift of decimetres
    changes with the step as its path does.

    **The artificial gap does not matter**

    - where contacts stick: with $u_t = 0$ both problems are the same, so that the CCP is exact for stacks, heaps at rest
      and grasps without slip;
    - where $h \mu |u_t|$ is small compared with the measured quantity *and* contacts stay settled, as in slow shear of
      granular matter;
    - for the path of a body with a single sliding contact that does not rotate it, as derived above.

    **It matters** where a body slides fast and its motion depends on permanent contact (the wheel), where bodies are
    enclosed (exercise 4), in impacts with slip, and under the velocity law $u_n \ge 0$ without a gap term, where the
    body rises without bound (exercise 2).
    """)
    return


@app.cell(hide_code=True)
def exercise_1(mo):
    mo.md(r"""
    ## Exercises

    ### Exercise 1

    A step of 10 ms with $\mu = 1/2$ begins on the floor with $u = 1$ m/s. Compute $u_t$, $u_n$ and $p_n/(m g h)$ of the
    CCP. Which energy does the block have after the step, and is it less than Coulomb's?
    """)
    return


@app.cell(hide_code=True)
def solution_1(block, mo, np, wb):
    _ccp, _coulomb = (wb.solve(block(0.01, 0.5, [1.0, 0.0]), law) for law in ("ccp", "coulomb"))
    assert np.allclose(_ccp.v, [0.76076, 0.38038])
    assert abs(_ccp.p_n[0] / 0.0981 - 4.8775) < 1e-3
    _energies = [0.5 * float(a.v @ a.v) for a in (_ccp, _coulomb)]
    assert _energies[0] < _energies[1]
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    $u_t = (1 - 0.04905)/1.25 = 0.76076$ m/s, $u_n = 0.38038$ m/s, $p_n/(m g h) = 1 + \mu u_t/(g h) = 4.88$. The kinetic
    energy is {_energies[0]:.4f} J against {_energies[1]:.4f} J: the CCP loses more. It never gains energy in a step
    without forces, because it is a projection onto a cone.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_2(mo):
    mo.md(r"""
    ### Exercise 2

    Under the velocity law the row is $u_n \ge \mu |u_t|$ in every step, with no gap term. Show that the deceleration is
    $\mu g/(1 + \mu^2)$, and how far and how high the block comes before it rests. Check with `normal="velocity"`.
    """)
    return


@app.cell(hide_code=True)
def solution_2(g, mo, slide):
    _run = slide(0.0025, normal="velocity")
    _way = 2.0**2 / (2 * 0.3 * g * (1 + 0.3**2))
    assert abs(_run[-1, 1] - _way) < 3e-3
    assert abs(_run[-1, 2] - 0.3 * _run[-1, 1]) < 1e-12
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    In every step $u_n = \mu u_t$, so that the block moves along a straight line of slope $\mu$, as if on a ramp. From step
    to step $\Delta u_n = \mu \Delta u_t$, $p_n = m (g h + \mu \Delta u_t)$ and $\Delta u_t = -\mu p_n/m$, hence
    $\Delta u_t = -\mu g h/(1 + \mu^2)$. It starts with $u/(1 + \mu^2)$ after the kick and comes as far as

    $$
    \frac{{u^2}}{{2 \mu g (1 + \mu^2)}} = {_way:.3f} \text{{ m}}
    $$

    at the height $\mu$ times that; measured {_run[-1, 1]:.3f} and {_run[-1, 2]:.3f} m. It remains at that height, because
    the law contains no gap. This agrees with $x = x_{{\mathrm{{Coulomb}}}} - \mu z$.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_3(mo):
    mo.md(r"""
    ### Exercise 3

    Get Coulomb's law back from CCPs: solve a CCP whose normal row has a constant $s$ added, set $s = \mu |u_t|$ of the
    answer, and repeat. How fast does this converge for the block? In a `ContactSystem` the constant of the normal row is
    `r_n`.
    """)
    return


@app.cell(hide_code=True)
def solution_3(block, g, mo, np, wb):
    _mu, _s, _far = 0.5, 0.0, []
    _exact = 1 - _mu * g * 0.01
    for _ in range(10):
        _answer = wb.solve(block(0.01, _mu, [1.0, 0.0], r_n=_s), "ccp")
        _s = _mu * abs(_answer.v[0])
        _far.append(abs(_answer.v[0] - _exact))
    assert np.allclose(np.divide(_far[1:7], _far[:6]), _mu**2 / (1 + _mu**2), atol=1e-6)
    assert _far[-1] < 1e-6
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    With the shift $s$ the CCP gives $u_n = \mu u_t - s$ and $u_t (1 + \mu^2) = u - \mu g h + \mu s$. So
    $s \mapsto \mu (u - \mu g h + \mu s)/(1 + \mu^2)$, which contracts by $\mu^2/(1 + \mu^2)$, a fifth for $\mu = 1/2$. The
    fixed point has $u_n = 0$: Coulomb's law. The distances after the first steps are
    {", ".join(f"{x:.1e}" for x in _far[:5])} m/s. In general the iteration contracts where $\mu_{{\max}} \sqrt{{\operatorname{{cond}} W}} < 1$
    (formulary, section 7.6); this is how several solvers for Coulomb's law work.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_4(mo):
    mo.md(r"""
    ### Exercise 4

    A block slides between a floor and a ceiling that both touch it without pressure. What does Coulomb's law say, what
    does the CCP say? And if floor and ceiling move to opposite sides?
    """)
    return


@app.cell(hide_code=True)
def solution_4(g, mo, np, wb):
    def _plates(moving):
        return wb.ContactSystem(
            M=np.eye(2), v=[1.0, 0.0], f=[0, -g], h=0.01, mu=0.5, r_t=moving,
            J_n=[[0, 1], [0, -1]], J_t=[[1, 0], [1, 0]],
        )  # fmt: skip

    _coulomb, _ccp = (wb.solve(_plates([0, 0]), law) for law in ("coulomb", "ccp"))
    assert _coulomb.verified
    assert _ccp.verified
    assert abs(_coulomb.v[0] - 0.95095) < 1e-9
    assert abs(_ccp.v[0]) < 1e-9
    _moving = [wb.solve(_plates([1, -1]), law) for law in ("coulomb", "ccp")]
    assert _moving[0].verified
    assert _moving[1].status.name == "NO_SOLUTION"
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    Coulomb: the floor bears the weight, the ceiling nothing, and the block slows down by $\mu g h$ to
    {_coulomb.v[0]:.5f} m/s. CCP: it requires $u_n \ge \mu |u_t|$ at the floor and $-u_n \ge \mu |u_t|$ at the ceiling,
    hence $u_t = 0$. The block jams within one step, with normal impulses of {_ccp.p_n[0]:.3f} and {_ccp.p_n[1]:.3f} N s,
    ten times the {g * 0.01:.4f} N s of the weight. If the plates move to opposite sides, no velocity satisfies both rows,
    since their sum is $0 \ge \mu (|u_{{t1}}| + |u_{{t2}}|) > 0$: the CCP has no solution, which is proved exactly
    ({_moving[1].status.name}). Coulomb's law has the same solution as before.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What to read

    - `docs/formulary.md`, section 3: CCP, the soft cone, Coulomb; section 7.10 for the local step.
    - M. Anitescu, A. Tasora, *An iterative approach for cone complementarity problems for nonsmooth dynamics*, Comput.
      Optim. Appl. 47 (2010).
    - D. Negrut, R. Serban, A. Tasora, *Posing multibody dynamics with friction and contact as a differential
      complementarity problem*, J. Comput. Nonlinear Dyn. (2018), (5d) with its relaxation term,
      (7) for the CCP, (11) for the convex programme.
    - G. de Saxcé, Z.-Q. Feng, *The bipotential method*, Math. Comput. Modelling 28 (1998): the term that makes it exact.
    - V. Acary, F. Cadoux, C. Lemaréchal, J. Malick, *A formulation of the linear discrete Coulomb friction problem via
      convex optimization*, ZAMM 91 (2011): the iteration of exercise 3, and when a solution exists.
    - `workbench reproduce` with the source CND-17-1068, `workbench compare wheel -f ccp -f coulomb`.
    """)
    return


if __name__ == "__main__":
    app.run()
