import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell(hide_code=True)
def _():
    import altair as alt
    import marimo as mo
    import numpy as np

    import workbench as wb
    from workbench.derivatives.sensitivity import sensitivity_of
    from workbench.problems.classes import LCP

    return LCP, alt, mo, np, sensitivity_of, wb


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # 11. Can you trust a gradient through contact?

    Trajectory optimisers, identification of friction and learned controllers differentiate simulations. A simulation with contact
    has derivatives almost everywhere, and a program that differentiates it always returns numbers. This lesson shows three ways
    in which such a number is wrong: the formulation changes it, there is none at a kink, and a fixed step does not know when
    an impact happens. You need lessons 1 and 3.

    ## A formulation has a gradient of its own

    A block slides on a rough floor at $u_0$ = 2 m/s, at 30 degrees to the axes $x, y$. Friction acts against the velocity,

    $$
    u(t) = u_0 - \mu g t\, e, \qquad e = (\cos 30°, \sin 30°), \qquad
    \frac{\partial u_x}{\partial \mu} = -g t \cos 30°
    $$

    The friction polygon of Stewart and Trinkle with four directions acts along the nearest axis instead, $e = (1, 0)$, and the
    derivative loses its cosine. After 0.2 s:
    """)
    return


@app.cell
def _(mo, np, wb):
    slid = wb.sensitivity("block", ["coulomb", "ccp", "stewart-trinkle"], of="v[0]", to="mu", duration=0.2)
    by_mu = slid.table.set_index("formulation")
    assert np.isclose(by_mu.loc["event-driven motion", "derivative"], -9.81 * 0.2 * np.cos(np.pi / 6), rtol=1e-9)
    assert np.isclose(by_mu.loc["stewart-trinkle", "derivative"], -9.81 * 0.2, rtol=1e-9)
    _exact = by_mu.loc["event-driven motion", "value"]
    mo.md(
        "| formulation | $u_x$ [m/s] | error | $\\partial u_x / \\partial \\mu$ [m/s] | error |\n|---|---|---|---|---|\n"
        + "\n".join(
            f"| {name} | {row['value']:.4f} | {100 * (row['value'] / _exact - 1):+.2f} % | {row['derivative']:.4f} | "
            f"{100 * row['error']:+.2f} % |"
            for name, row in by_mu.iterrows()
        )
    )
    return (by_mu,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The first row is the event-driven motion, which has no step. The polygon's velocity is 6.5 % off, its derivative 15 %: an
    error that grows in proportion to $\mu$ is small while $\mu$ is small, and its slope is not.

    ## What identification makes of it

    Somebody measures $u_x$ after 0.2 s and asks for $\mu$. Newton's method, $\mu \leftarrow \mu - (u_x(\mu) - u_x^*) / u_x'(\mu)$,
    under each formulation, from $\mu$ = 0.2:
    """)
    return


@app.cell
def _(by_mu, mo, np, wb):
    _measured, _block = by_mu.loc["event-driven motion", "value"], wb.cases.find("block")
    identified = {}
    for _name in ("coulomb", "ccp", "stewart-trinkle"):
        _mu = 0.2
        for _ in range(4):
            _here = wb.sensitivity(
                _block().with_parameters(mu=_mu), [_name], of="v[0]", to="mu", duration=0.2
            ).table.set_index("formulation")
            _mu -= (_here.loc[_name, "value"] - _measured) / _here.loc[_name, "derivative"]
        identified[_name] = _mu
    _true = _block().mu
    assert np.isclose(identified["coulomb"], _true, rtol=1e-6)
    assert np.isclose(identified["stewart-trinkle"], _true * np.cos(np.pi / 6), rtol=1e-6)
    mo.md(
        "| formulation | identified $\\mu$ | the block's |\n|---|---|---|\n"
        + "\n".join(f"| {name} | {mu:.4f} | {_true:g} |" for name, mu in identified.items())
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Every one of these fits is perfect: the residual is zero. The polygon's $\mu$ is 13 % too small, and it would be right for
    a block that slides along an axis.

    ## Kinks

    A contact that just touches is between two modes. For one contact $0 \le p \perp p + q \ge 0$ has the solution
    $p = \max(0, -q)$: the slope is $-1$ to the left of $q = 0$ and $0$ to the right. Now put two equal contacts under one
    body, a problem that every robot's foot poses,

    $$
    0 \le p_1 \perp p_1 + p_2 + q_1 \ge 0, \qquad 0 \le p_2 \perp p_1 + p_2 + q_2 \ge 0
    $$

    The body feels $p_1 + p_2 = \max(0, -q_1, -q_2)$. At $q_1 = q_2 = -1$ press one foot a little more, $q_1 = -1 - s$, or a little
    less. Move $s$:
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    pressed = mo.ui.slider(-0.5, 0.5, 0.125, value=0.25, label="s", show_value=True)
    pressed
    return (pressed,)


@app.cell
def _(LCP, alt, mo, np, pressed, wb):
    _s = np.linspace(-0.5, 0.5, 81)
    _sum = np.maximum(1.0 + _s, 1.0)
    _solution = wb.solve(LCP(np.ones((2, 2)), np.array([-1.0 - pressed.value, -1.0])), solver="lemke")
    _found = float(_solution.values["z"].sum())
    assert np.isclose(_found, max(1 + pressed.value, 1.0))
    _curve = alt.Chart(alt.Data(values=[{"s": a, "sum": b} for a, b in zip(_s, _sum, strict=True)])).mark_line()
    _slope = alt.Chart(alt.Data(values=[{"s": a, "sum": 1 + 0.5 * a} for a in _s])).mark_line(
        strokeDash=[4, 4], color="#d55e00"
    )
    _axes = {"x": alt.X("s:Q", title="s"), "y": alt.Y("sum:Q", title="p1 + p2", scale=alt.Scale(domain=[0.7, 1.5]))}
    _here = alt.Chart(alt.Data(values=[{"s": pressed.value, "sum": _found}])).mark_point(size=90, filled=True)
    mo.vstack(
        [
            (_curve.encode(**_axes) + _slope.encode(**_axes) + _here.encode(**_axes)).properties(
                width=420, height=240, description="p1 + p2 over s, with a kink at 0, and the line of slope one half"
            ),
            mo.md(f"s = {pressed.value:g}: $p_1 + p_2$ = {_found:g}."),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    One side has the slope 1, the other 0. The dashed line has the slope $\tfrac12$: that is what the pseudo-inverse of the
    singular matrix returns, and with it most differentiable solvers. It is the slope of neither side, though central differences
    confirm it. The workbench says what kind of point this is, and refuses a derivative:
    """)
    return


@app.cell
def _(LCP, mo, np, sensitivity_of, wb):
    feet = LCP(np.ones((2, 2)), np.array([-1.0, -1.0]))
    _s = sensitivity_of(feet, np.array([0.5, 0.5]))
    try:
        _s.along(outputs=np.ones((1, 2)), q=np.array([-1.0, 0.0]))
        _said = ""
    except wb.DataError as _error:
        _said = str(_error)
    assert "outputs have a kink" in _said
    _half = -np.linalg.pinv(feet.M) @ [-1.0, 0.0]
    assert np.isclose(_half.sum(), 0.5)
    mo.md(
        f'- the point: {_s.verdict[0]}, {_s.verdict[1]}\n- $p_1 + p_2$ by $q_1$ alone: "{_said}"\n'
        f"- by the pseudo-inverse: {_half.sum():g}"
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## The time of an impact

    A ball is dropped from a height $H$ and bounces with restitution $e$. Drop it from higher up, and it comes later: after the
    bounce it is *lower* at a given time. Let $t_1 = \sqrt{2 H / g}$ be the time of the impact. Then

    $$
    z(t) = e\, g\, t_1 (t - t_1) - \tfrac12 g (t - t_1)^2
    $$

    and the derivative by $H$ goes through $t_1$. Time stepping with a fixed step makes every impact at the end of a step, and
    while $H$ moves a little, that step stays the same:
    """)
    return


@app.cell
def _(mo, np, wb):
    _ball = wb.cases.find("bouncing-ball")()
    _h, _e, _g, _t = _ball.height, _ball.e, _ball.gravity, 0.6
    _t1 = np.sqrt(2 * _h / _g)
    _by_t1 = _e * _g * (_t - 2 * _t1) + _g * (_t - _t1)
    by_height = _by_t1 * _t1 / (2 * _h)
    bounced = wb.sensitivity("bouncing-ball", ["coulomb", "ccp"], of="z", to="height", duration=0.6)
    _table = bounced.table.set_index("formulation")
    assert np.isclose(_table.loc["event-driven motion", "derivative"], by_height, rtol=1e-9)
    assert np.isclose(_table.loc["coulomb", "derivative"], 1.0)
    mo.md(
        f"By the formula $\\partial z / \\partial H$ = {by_height:.6f} at 0.6 s.\n\n"
        "| | $z$ [m] | $\\partial z / \\partial H$ | by a quotient of two runs |\n|---|---|---|---|\n"
        + "\n".join(
            f"| {name} | {row['value']:.4f} | {row['derivative']:.4f} | {row['quotient']:.4f} |"
            for name, row in _table.iterrows()
        )
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The position is right to 1 %, and its derivative has the wrong sign, whatever the formulation is and however small the step.
    A quotient of two runs confirms the wrong value, since it asks the same program. Zhong, Han and Brikis (2022) saw this in
    four differentiable simulators, and mended it in one by computing the time of the impact.

    ## What to do

    - Ask what kind of point it is: smooth, a kink, or not unique. A number without that is no derivative.
    - Hold the derivative against the motion's own, not against quotients of the same program.
    - Across impacts differentiate the event-driven motion, or a smoother quantity.

    ## Exercises
    """)
    return


@app.cell(hide_code=True)
def exercise_1(mo):
    mo.md(r"""
    ### Exercise 1

    At which angles to the axes is the derivative by $\mu$ of the polygon's $u_x$ right, and at which is it worst?
    """)
    return


@app.cell(hide_code=True)
def solution_1(mo, np, wb):
    _block = wb.cases.find("block")
    _along = wb.sensitivity(
        _block().with_parameters(direction=0.0), ["stewart-trinkle"], of="v[0]", to="mu", duration=0.2
    )
    _error = float(_along.table.set_index("formulation").loc["stewart-trinkle", "error"])
    assert np.isclose(_error, 0.0, atol=1e-9)
    mo.accordion(
        {
            "Solution": mo.md(r"""
    Along an axis the polygon is exact. At an angle $\alpha < 45°$ friction acts along $x$ alone, so that the derivative of $u_x$
    is $-g t$ in place of $-g t \cos\alpha$: worst just below $45°$, by $\sqrt2 - 1 = 41$ %. At $45°$ both directions tie,
    and the law has several solutions.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_2(mo):
    mo.md(r"""
    ### Exercise 2

    Give each foot a compliance $\varepsilon$: the matrix becomes $\begin{pmatrix} 1 + \varepsilon & 1 \\ 1 & 1 + \varepsilon
    \end{pmatrix}$. What is the derivative of $p_1 + p_2$ by $-q_1$ now, and what does that say of central differences?
    """)
    return


@app.cell(hide_code=True)
def solution_2(LCP, mo, np, sensitivity_of):
    _soft = LCP(np.ones((2, 2)) + 0.01 * np.eye(2), np.array([-1.0, -1.0]))
    _s = sensitivity_of(_soft, np.full(2, 1 / 2.01))
    (_one,) = _s.along(q=np.array([-1.0, 0.0]))
    assert np.isclose(_one.z.sum(), 1 / 2.01)
    mo.accordion(
        {
            "Solution": mo.md(r"""
    $1 / (2 + \varepsilon)$: both feet bear, the point is smooth, and half a slope is right, for $|s| < \varepsilon$ or so. The
    compliance rounds the kink over that width. Differences with a larger step see the two slopes 0 and 1 and average
    them to the same $\tfrac12$: agreement at one step size proves nothing.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_3(mo):
    mo.md(r"""
    ### Exercise 3

    Is the ball's derivative by its restitution $e$ wrong as well?
    """)
    return


@app.cell(hide_code=True)
def solution_3(mo, np, wb):
    _ball = wb.cases.find("bouncing-ball")()
    _by_e = wb.sensitivity("bouncing-ball", ["coulomb"], of="z", to="e", duration=0.6).table.set_index("formulation")
    _t1 = np.sqrt(2 * _ball.height / _ball.gravity)
    _formula = _ball.gravity * _t1 * (0.6 - _t1)
    assert np.isclose(_by_e.loc["event-driven motion", "derivative"], _formula, rtol=1e-9)
    assert abs(_by_e.loc["coulomb", "error"]) < 0.01
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    No. The time of the first impact does not depend on $e$: $\partial z / \partial e = g t_1 (t - t_1)$ = {_formula:.4f} m, and a
    fixed step has it within {100 * abs(_by_e.loc["coulomb", "error"]):.1g} %. After the second impact, whose time depends on
    $e$, it is wrong again.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What to read

    - Y. D. Zhong, J. Han, G. O. Brikis, *Differentiable physics simulations with contacts: do they have correct gradients
      w.r.t. position, velocity and control?*, arXiv 2207.05060 (2022).
    - S. M. Robinson, *Strongly regular generalized equations*, Math. Oper. Res. 5 (1980) 43: when a solution moves at a bounded rate.
    - S. Scholtes, *Introduction to Piecewise Differentiable Equations* (2012): one-sided derivatives and limiting Jacobians.
    - The workbench's `docs/howto/sensitivity.md`; `workbench sensitivity CASE --of OUTPUT --to PARAMETER`.
    """)
    return


if __name__ == "__main__":
    app.run()
