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
    # 1. One particle on a plane

    A particle lies on a rough horizontal plane and is pulled by a string. Will it stay, slide, or lift off? This is not
    known in advance, and the equations of motion differ in the three cases. This lesson solves the question by hand, case
    by case; writes it as a *complementarity problem*, which contains all cases; and lets the workbench solve that problem.
    You need only Newton's law and Coulomb's law.

    ## Unknowns

    The particle has mass $m$ and velocity $v = (v_x, v_y)$. The string pulls with a force $F$ at an angle of
    $\alpha = 30°$ above the plane, and the particle is at rest. We look at one short time step $h$. Forces times $h$ are
    impulses, and we write them as such: $p_n$ is the impulse of the plane along its normal, $p_t$ the friction impulse.
    The velocity after the step is

    $$
    m v_x^+ = m v_x + h F \cos\alpha + p_t, \qquad m v_y^+ = m v_y + h (F \sin\alpha - m g) + p_n
    $$

    These are two equations for four unknowns, $v_x^+, v_y^+, p_n, p_t$. The contact gives the other two. With
    $u_n = v_y^+$, the velocity away from the plane, and $u_t = v_x^+$, the velocity along it, the laws are

    $$
    0 \le p_n \perp u_n \ge 0
    $$

    $$
    |p_t| \le \mu p_n, \qquad p_t = -\mu p_n \, \frac{u_t}{|u_t|} \ \text{ where } u_t \ne 0
    $$

    The first, Signorini's, says three things: the plane pushes and never pulls, the particle does not enter the plane,
    and one of the two numbers is zero ($\perp$ is read "complementary to": the product vanishes). The second is
    Coulomb's.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## By hand: four cases

    Each law says that one of two quantities is zero. Once you choose which, the rest is linear. Write
    $P = m v_x + h F\cos\alpha$ for the momentum that would result along the plane without friction, and
    $N = h(m g - F \sin\alpha) - m v_y$ for the normal impulse that keeps the particle on the plane.

    | case | chosen | then | consistent if |
    |---|---|---|---|
    | open | $p_n = 0$, $p_t = 0$ | $u_n = -N/m$ | $u_n \ge 0$ |
    | stick | $u_n = 0$, $u_t = 0$ | $p_n = N$, $p_t = -P$ | $p_n \ge 0$, $\lvert p_t\rvert \le \mu p_n$ |
    | slip to the right | $u_n = 0$, $p_t = -\mu p_n$ | $p_n = N$, $u_t = (P - \mu N)/m$ | $p_n \ge 0$, $u_t > 0$ |
    | slip to the left | $u_n = 0$, $p_t = +\mu p_n$ | $p_n = N$, $u_t = (P + \mu N)/m$ | $p_n \ge 0$, $u_t < 0$ |

    To solve by hand, try all cases and keep those that are consistent. The function below does this.
    """)
    return


@app.cell
def _(np):
    m, g, h = 1.0, 9.81, 0.01
    angle = np.radians(30)

    def by_hand(F, mu, v=(0.0, 0.0), alpha=angle):
        """All cases: name, p_n, p_t, u_n, u_t, and whether they are consistent."""
        P = m * v[0] + h * F * np.cos(alpha)
        N = h * (m * g - F * np.sin(alpha)) - m * v[1]
        right, left = (P - mu * N) / m, (P + mu * N) / m
        return [
            ("open", 0.0, 0.0, -N / m, P / m, -N / m >= 0),
            ("stick", N, -P, 0.0, 0.0, N >= 0 and abs(P) <= mu * N),
            ("slip to the right", N, -mu * N, 0.0, right, N >= 0 and right > 0),
            ("slip to the left", N, mu * N, 0.0, left, N >= 0 and left < 0),
        ]

    return angle, by_hand, g, h, m


@app.cell(hide_code=True)
def _(mo):
    pull = mo.ui.slider(steps=[0, 2, 4, 5, 6, 8, 12, 16, 20, 24], value=4, label=r"pull $F$ [N]", show_value=True)
    friction = mo.ui.slider(steps=[0, 0.25, 0.5, 0.75, 1.0], value=0.5, label=r"friction $\mu$", show_value=True)
    mo.hstack([pull, friction], justify="start")
    return friction, pull


@app.cell(hide_code=True)
def _(by_hand, friction, h, mo, pull):
    def _row(name, p_n, p_t, u_n, u_t, holds):
        numbers = " | ".join(f"{x:.3f}" for x in (p_n / h, p_t / h, u_n / h, u_t / h))
        return f"| {name} | {numbers} | {'**consistent**' if holds else 'inconsistent'} |"

    _rows = "\n".join(_row(*case) for case in by_hand(pull.value, friction.value))
    mo.md(
        f"Pull {pull.value:g} N, friction coefficient {friction.value:g}, from rest. Forces are impulses over the step, "
        "accelerations velocities over the step.\n\n"
        "| case | $p_n/h$ [N] | $p_t/h$ [N] | $u_n/h$ [m/s²] | $u_t/h$ [m/s²] | verdict |\n|---|---|---|---|---|---|\n"
        + _rows
    )
    return


@app.cell(hide_code=True)
def _(angle, by_hand, friction, g, h, m, mo, np, pull):
    _name, _p_n, _p_t, *_ = next(case for case in by_hand(pull.value, friction.value) if case[-1])

    def _arrow(dx, dy, colour, words, x=210, y=150):
        if np.hypot(dx, dy) < 1:
            return ""
        size, tip = np.hypot(dx, dy), (x + dx, y + dy)
        e, n = np.array([dx, dy]) / size * 9, np.array([-dy, dx]) / size * 4.5
        head = " ".join(f"{tip[0] + a:.1f},{tip[1] + b:.1f}" for a, b in (e, n, -n))
        end = "end" if dx < -1 else "start"
        return (
            f'<line x1="{x}" y1="{y}" x2="{tip[0]:.1f}" y2="{tip[1]:.1f}" stroke="{colour}" stroke-width="3"/>'
            f'<polygon points="{head}" fill="{colour}"/>'
            f'<text x="{tip[0] + (-12 if dx < -1 else 14):.1f}" y="{tip[1] + 5:.1f}" text-anchor="{end}" '
            f'fill="{colour}">{words}</text>'
        )

    _k = 7.0
    _parts = [
        _arrow(_k * pull.value * np.cos(angle), -_k * pull.value * np.sin(angle), "#2b5a8c", f"pull {pull.value:g} N"),
        _arrow(0, _k * m * g, "#5c6066", f"weight {m * g:.2f} N"),
        _arrow(0, -_k * _p_n / h, "#2a7340", f"normal force {_p_n / h:.2f} N"),
        _arrow(_k * _p_t / h, 0, "#b3261e", f"friction {abs(_p_t) / h:.2f} N"),
    ]
    mo.Html(
        '<svg viewBox="0 0 560 240" width="560" font-family="sans-serif" font-size="13" style="background:#fff" role="img" '
        f'aria-label="Forces on the particle: {_name}">'
        '<rect x="20" y="158" width="520" height="6" fill="#bbb"/>'
        f'{"".join(_parts)}<circle cx="210" cy="150" r="8" fill="#222"/>'
        f'<text x="24" y="24" font-weight="bold" fill="#222">{_name}</text></svg>'
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Move the sliders. For every pull exactly one case is consistent (exercise 4 asks why).

    ## By the workbench

    The workbench takes the same data as matrices: the mass matrix $M$, the velocity $v$, the forces $f$, and two
    Jacobians which map velocities to the contact, $u_n = J_n v$ and $u_t = J_t v$.
    """)
    return


@app.cell
def _(angle, g, h, m, np, wb):
    def particle(F, mu, v=(0.0, 0.0), alpha=angle):
        return wb.ContactSystem(
            M=m * np.eye(2),
            v=v,
            f=[F * np.cos(alpha), F * np.sin(alpha) - m * g],
            h=h,
            J_n=[[0, 1]],
            J_t=[[1, 0]],
            mu=mu,
        )

    wb.solve(particle(8, 0.5))
    return (particle,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The solution comes with a *residual*: the impulses are inserted into the laws above, and the violation is reported;
    the solver's own report is not used. The same with your sliders, compared with the case found by hand:
    """)
    return


@app.cell
def _(by_hand, friction, mo, np, particle, pull, wb):
    _answer = wb.solve(particle(pull.value, friction.value))
    _name, _p_n, _p_t, _u_n, _u_t, _ = next(case for case in by_hand(pull.value, friction.value) if case[-1])
    _difference = np.abs([_answer.p_n[0] - _p_n, _answer.p_t[0] - _p_t, *(_answer.v - [_u_t, _u_n])]).max()
    assert _answer.verified
    assert _difference < 1e-12
    mo.md(
        f"{_name}: $p_n$ = {_answer.p_n[0]:.5f} N s, $p_t$ = {_answer.p_t[0]:.5f} N s. By hand and by the workbench "
        f"differ by {_difference:.0e}."
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    A whole range of pulls is one call. The grey line is the friction needed to keep the particle at rest, $F\cos\alpha$;
    the dashed line is the bound of friction, $\mu p_n/h$, which falls as the string lifts. Friction (red) follows the grey
    line up to the intersection, and the dashed line from there on. At $F = m g/\sin\alpha$ = 19.62 N the particle leaves
    the plane.
    """)
    return


@app.cell
def _(angle, friction, g, h, m, np, particle, wb):
    pulls = np.linspace(0, 24, 121)
    swept = wb.sweep(
        "coulomb",
        particle(0, friction.value),
        f=np.stack([pulls * np.cos(angle), pulls * np.sin(angle) - m * g], axis=-1),
    )
    assert swept.residuals.max() < 1e-9
    asked, given = pulls * np.cos(angle), np.abs(swept.p_t[:, 0]) / h
    bound = friction.value * swept.p_n[:, 0] / h
    return asked, bound, given, pulls


@app.cell(hide_code=True)
def _(alt, asked, bound, friction, given, pull, pulls):
    _curves = {"asked for, F cos α": asked, "most that friction gives, μ p_n/h": bound, "friction, |p_t|/h": given}
    _rows = [
        {"pull": round(float(F), 2), "force": round(float(y), 4), "curve": name}
        for name, values in _curves.items()
        for F, y in zip(pulls, values, strict=True)
    ]
    _scale = alt.Scale(domain=list(_curves), range=["#999999", "#222222", "#b3261e"])
    _dash = alt.Scale(domain=list(_curves), range=[[1, 0], [5, 4], [1, 0]])
    _lines = (
        alt.Chart(alt.Data(values=_rows))
        .mark_line(clip=True)
        .encode(
            x=alt.X("pull:Q", title="pull F [N]"),
            y=alt.Y("force:Q", title="force [N]", scale=alt.Scale(domain=[0, 12])),
            color=alt.Color("curve:N", scale=_scale, title=None, legend=alt.Legend(orient="top", labelLimit=300)),
            strokeDash=alt.StrokeDash("curve:N", scale=_dash, title=None),
            strokeWidth=alt.condition(alt.datum.curve == "friction, |p_t|/h", alt.value(3), alt.value(1.5)),
        )
    )
    _here = alt.Chart(alt.Data(values=[{"pull": pull.value}])).mark_rule(color="#2b5a8c").encode(x="pull:Q")
    (_lines + _here).properties(
        width=600,
        height=260,
        description=f"Friction over the pull, mu = {friction.value:g}: it sticks, slips, lifts off",
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The particle starts to slip where the two lines cross, $F\cos\alpha = \mu (m g - F\sin\alpha)$, that is at

    $$
    F^* = \frac{\mu m g}{\cos\alpha + \mu \sin\alpha}
    $$

    The map shows the mode that the workbench finds at 25 × 21 points, and the formula as a line.
    """)
    return


@app.cell
def _(angle, g, m, np, particle, wb):
    _F, _mu = (x.ravel() for x in np.meshgrid(np.linspace(0, 24, 25), np.linspace(0, 1.25, 21)))
    _found = wb.sweep(
        "coulomb", particle(0, 0), f=np.stack([_F * np.cos(angle), _F * np.sin(angle) - m * g], axis=-1), mu=_mu
    )
    _mode = np.where(_found.p_n[:, 0] == 0, "open", np.where(_found.v[:, 0] > 1e-12, "slip", "stick"))
    modes = [
        {"pull": float(x), "mu": float(y), "mode": str(z)} for x, y, z in zip(_F, _mu.round(4), _mode, strict=True)
    ]
    line = [
        {"mu": float(y), "pull": float(y * m * g / (np.cos(angle) + y * np.sin(angle)))}
        for y in np.linspace(0, 1.25, 51)
    ]
    return line, modes


@app.cell(hide_code=True)
def _(alt, line, modes):
    _scale = alt.Scale(domain=["stick", "slip", "open"], range=["#2b5a8c", "#e08a1e", "#b9b9b9"])
    _shapes = alt.Scale(domain=["stick", "slip", "open"], range=["circle", "triangle-right", "cross"])
    _points = (
        alt.Chart(alt.Data(values=modes))
        .mark_point(filled=True, size=26, opacity=1)
        .encode(
            x=alt.X("pull:Q", title="pull F [N]"),
            y=alt.Y("mu:Q", title="friction coefficient μ"),
            color=alt.Color("mode:N", scale=_scale),
            shape=alt.Shape("mode:N", scale=_shapes),
        )
    )
    _edge = (
        alt.Chart(alt.Data(values=line)).mark_line(color="#222").encode(x="pull:Q", y="mu:Q", order=alt.Order("mu:Q"))
    )
    (_points + _edge).properties(
        width=560, height=280, description="Mode over pull and friction coefficient: stick, slip, open, and the formula"
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## As a linear complementarity problem

    Trying cases does not scale: four cases per contact are $4^r$ cases for $r$ contacts. Instead, write all cases as one
    problem of a standard form, for which there are methods (lesson 4). Coulomb's law has an absolute value and a sign, so
    it is split: $p_t = \beta_1 - \beta_2$ with $\beta_1, \beta_2 \ge 0$, one impulse to each side, and a third number
    $\sigma \ge 0$, which turns out to be the sliding speed:

    $$
    0 \le \beta_1 \perp u_t + \sigma \ge 0, \qquad 0 \le \beta_2 \perp -u_t + \sigma \ge 0, \qquad
    0 \le \sigma \perp \mu p_n - \beta_1 - \beta_2 \ge 0
    $$

    If the particle slides to the right, $u_t > 0$, the second condition requires $\sigma \ge u_t > 0$; so the third holds
    without slack, $\beta_1 + \beta_2 = \mu p_n$; the first has $u_t + \sigma > 0$, hence $\beta_1 = 0$. Friction is
    $p_t = -\beta_2 = -\mu p_n$, as it should be. This is Stewart and Trinkle's formulation. With the dynamics inserted, it
    has the form

    $$
    0 \le z \perp w = M z + q \ge 0
    $$

    with $z = (p_n, \beta_1, \beta_2, \sigma)$ and, for $m = 1$ kg, from rest,

    $$
    M = \begin{pmatrix} 1 & 0 & 0 & 0 \\ 0 & 1 & -1 & 1 \\ 0 & -1 & 1 & 1 \\ \mu & -1 & -1 & 0 \end{pmatrix}, \qquad
    q = \begin{pmatrix} -N \\ P \\ -P \\ 0 \end{pmatrix}
    $$

    (here $M$ is the matrix of the problem, no longer the mass). For $N = 3/10$, $P = 1/5$ and $\mu = 1/2$ the workbench
    solves it in fractions. By hand: $P > \mu N = 3/20$, so it slips to the right, with $\sigma = u_t = 1/5 - 3/20 = 1/20$.
    """)
    return


@app.cell
def _(wb):
    _lcp = [[1, 0, 0, 0], [0, 1, -1, 1], [0, -1, 1, 1], ["1/2", -1, -1, 0]]
    wb.trace(_lcp, rhs=["-3/10", "1/5", "-1/5", 0]).words[0]
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    $p_n = 3/10$, $\beta_2 = 3/20$, $\sigma = 1/20$, as expected. Of the six formulations below, the
    first four give the same step for one particle in the plane. Under `ccp`, the cone complementarity problem, a sliding
    particle rises ($v_y > 0$); lesson 7 explains why. `frictionless` has no friction.
    """)
    return


@app.cell
def _(mo, particle, wb):
    _answers = {
        name: wb.solve(particle(8, 0.5), name)
        for name in ("coulomb", "stewart-trinkle", "phantom-inertia", "box", "ccp", "frictionless")
    }
    assert all(answer.verified for answer in _answers.values())
    mo.md(
        "| formulation | $p_n$ [N s] | $p_t$ [N s] | $v_x$ [m/s] | $v_y$ [m/s] |\n|---|---|---|---|---|\n"
        + "\n".join(
            f"| {name} | {a.p_n[0]:.5f} | {a.p_t[0]:.5f} | {a.v[0]:.5f} | {abs(a.v[1]):.5f} |"
            for name, a in _answers.items()
        )
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Over time

    A sequence of steps is a motion. Here the pull oscillates along the plane, $F(t) = (8\ \text{N}) \sin 2\pi t$,
    with $\mu = 0.5$: the particle slips only while the pull exceeds $\mu m g = 4.905$ N, and for a while after, until
    friction has used up its momentum.
    """)
    return


@app.cell
def _(h, np, particle, wb):
    motion, _v = [], np.zeros(2)
    for _k in range(150):
        _F = 8 * np.sin(2 * np.pi * h * _k)
        _step = wb.solve(particle(_F, 0.5, v=_v, alpha=0.0))
        _v = _step.v
        motion.append({"t": h * _k, "pull": _F, "friction": _step.p_t[0] / h, "speed": _v[0]})
    return (motion,)


@app.cell(hide_code=True)
def _(alt, motion):
    def _plot(columns, colours, dashes, words, height):
        rows = [{"t": r["t"], "y": round(float(r[c]), 5), "curve": c} for c in columns for r in motion]
        return (
            alt.Chart(alt.Data(values=rows))
            .mark_line()
            .encode(
                x=alt.X("t:Q", title="time [s]"),
                y=alt.Y("y:Q", title=words),
                color=alt.Color("curve:N", scale=alt.Scale(domain=columns, range=colours), title=None),
                strokeDash=alt.StrokeDash("curve:N", scale=alt.Scale(domain=columns, range=dashes), title=None),
            )
            .properties(width=560, height=height)
        )

    alt.vconcat(
        _plot(["pull", "friction"], ["#999999", "#b3261e"], [[5, 4], [1, 0]], "force [N]", 170),
        _plot(["speed"], ["#2b5a8c"], [[1, 0]], "speed [m/s]", 110),
    ).resolve_scale(color="independent", strokeDash="independent").properties(
        description="Pull, friction and speed over time: stick, slip, stick, slip the other way"
    )
    return


@app.cell(hide_code=True)
def exercise_1(mo):
    mo.md(r"""
    ### Exercise 1

    Along which angle $\alpha$ does the smallest force set the particle in motion, and how large is that force? Is it
    smaller than $\mu m g$, the force for a horizontal string?
    """)
    return


@app.cell(hide_code=True)
def solution_1(g, m, mo, np, particle, wb):
    _mu = 0.5
    _best = np.arctan(_mu)
    _least = _mu * m * g / np.sqrt(1 + _mu**2)
    _angles = np.linspace(-0.5, 1.2, 60)
    _threshold = _mu * m * g / (np.cos(_angles) + _mu * np.sin(_angles))
    assert _threshold.min() >= _least - 1e-12
    for _alpha, _F in [*zip(_angles, _threshold, strict=True), (_best, _least)]:
        # A little less sticks, a little more slips.
        assert wb.solve(particle(0.999 * _F, _mu, alpha=_alpha)).v[0] == 0
        assert wb.solve(particle(1.001 * _F, _mu, alpha=_alpha)).v[0] > 0
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    $F^* = \mu m g/(\cos\alpha + \mu \sin\alpha)$ is least where $\cos\alpha + \mu\sin\alpha$ is greatest. Its derivative
    $-\sin\alpha + \mu\cos\alpha$ vanishes at $\tan\alpha = \mu$, and there
    $\cos\alpha + \mu\sin\alpha = \sqrt{{1 + \mu^2}}$. So

    $$
    F^*_{{\min}} = \frac{{\mu m g}}{{\sqrt{{1 + \mu^2}}}} < \mu m g
    $$

    For $\mu = 0.5$ that is {_least:.3f} N at {np.degrees(_best):.2f}°, against {_mu * m * g:.3f} N for a horizontal
    string. Lifting a little pays: it lowers the normal force.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_2(mo):
    mo.md(r"""
    ### Exercise 2

    Incline the plane by $\theta$ and take the string away. Work out the table of cases along the new axes. For which
    $\theta$ does the particle stay? How does it accelerate otherwise? Check it with a `wb.ContactSystem` whose axes lie
    along the plane.
    """)
    return


@app.cell(hide_code=True)
def solution_2(g, h, m, mo, np, wb):
    _mu = 0.5
    for _theta in np.linspace(0.02, 1.5, 75):
        _system = wb.ContactSystem(
            M=m * np.eye(2), v=[0, 0], f=[m * g * np.sin(_theta), -m * g * np.cos(_theta)], h=h,
            J_n=[[0, 1]], J_t=[[1, 0]], mu=_mu,
        )  # fmt: skip
        _expected = max(0.0, g * (np.sin(_theta) - _mu * np.cos(_theta)))
        assert abs(wb.solve(_system).v[0] / h - _expected) < 1e-10
    mo.accordion(
        {
            "Solution": mo.md(r"""
    Only the forces change: $P = h m g\sin\theta$ and $N = h m g \cos\theta$. Stick is consistent if
    $|P| \le \mu N$, that is $\tan\theta \le \mu$; then the particle stays, whatever its mass. Otherwise it slips with
    $u_t/h = g(\sin\theta - \mu\cos\theta)$. The cell of this solution compares both with the workbench at 75 angles.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_3(mo):
    mo.md(r"""
    ### Exercise 3

    The particle slides at 1 m/s without a pull, $\mu = 0.5$, $h = 0.01$ s. In which step does it stop? Someone proposes to
    do without complementarity: take the friction of the velocity *before* the step, $p_t = -\mu p_n\, \mathrm{sgn}(v_x)$.
    What happens instead of stopping?
    """)
    return


@app.cell(hide_code=True)
def solution_3(g, h, mo, np, particle, wb):
    _v, _explicit, _steps = np.array([1.0, 0.0]), 1.0, 0
    _last = []
    while _v[0] > 0:
        _v, _steps = wb.solve(particle(0, 0.5, v=_v)).v, _steps + 1
    for _ in range(40):
        _explicit -= h * 0.5 * g * np.sign(_explicit)
        _last.append(_explicit)
    assert _steps == int(np.ceil(1 / (0.5 * g * h))) == 21
    assert _v[0] == 0
    # It alternates without end, by the friction of one step.
    assert np.isclose(abs(_last[-1] - _last[-2]), 0.5 * g * h)
    assert np.isclose(_last[-1], _last[-3])
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    A step reduces the speed by $\mu g h$ = {0.5 * g * h:.5f} m/s, so it stops in step $\lceil 1/0.04905 \rceil$ = {_steps}. In
    that step full friction would reverse the motion; slip is inconsistent, stick is not, and the velocity is exactly zero
    from then on. The explicit rule has no stick: after 40 steps it still jumps between {_last[-1]:+.5f} and {_last[-2]:+.5f}
    m/s, and a smaller step makes the jumps smaller but never ends them.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_4(mo):
    mo.md(r"""
    ### Exercise 4

    Prove that for the particle exactly one case is consistent for any $P$, $N$ and $\mu \ge 0$, except for numbers on the
    border of two cases, where both describe the same motion. (Lesson 6 has a body for which this is false.)
    """)
    return


@app.cell(hide_code=True)
def solution_4(by_hand, mo, np):
    _random = np.random.default_rng(1)
    _counts = [
        sum(case[-1] for case in by_hand(F, mu, v=(x, y)))
        for F, mu, x, y in zip(
            _random.uniform(-30, 30, 3000), _random.uniform(0, 3, 3000), _random.normal(0, 0.1, 3000),
            _random.normal(0, 0.1, 3000), strict=True,
        )
    ]  # fmt: skip
    assert set(_counts) == {1}
    mo.accordion(
        {
            "Solution": mo.md(r"""
    If $N < 0$, only "open" is consistent, as all others need $p_n = N \ge 0$. If $N > 0$, "open" is inconsistent. The other
    three cases divide the values of $P$: stick needs $-\mu N \le P \le \mu N$, slip to the right $P > \mu N$, slip to the
    left $P < -\mu N$. These three sets are disjoint and cover all $P$. If $N = 0$, the contact carries nothing in any case,
    and all consistent cases have the velocity $P/m$. The proof uses that the normal impulse does not depend on friction.
    That holds for a particle, but not for a body that can rotate. The cell of this solution counts consistent cases for
    3000 random data.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What to read

    - J. C. Trinkle, lecture notes "Add Coulomb friction", 2018, pages 1 to 6: the split of friction into $\beta_1, \beta_2$
      and $\sigma$, with pictures.
    - D. E. Stewart and J. C. Trinkle, *An implicit time-stepping scheme for rigid body dynamics with inelastic collisions
      and Coulomb friction*, Int. J. Numer. Methods Eng. 39 (1996).
    - R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem* (1992), section 1.1 for the problem.
    - The workbench's `docs/formulary.md`: section 1 for the data of a step, section 2 "Stewart-Trinkle" for the problem in
      space; `workbench show stewart-trinkle` prints it from the declaration.
    """)
    return


if __name__ == "__main__":
    app.run()
