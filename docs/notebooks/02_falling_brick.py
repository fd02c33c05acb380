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
    # 2. The falling brick

    A brick falls onto the floor, strikes it with a corner, and rebounds. An impact is so short that positions do not
    change, and only impulses count. The equations of motion do not determine their magnitude: that takes a law of
    restitution. There are two classical ones, Newton's and Poisson's. For a ball they agree. For a brick with friction
    they do not, and Newton's law can increase the energy. This lesson shows where, and why.
    You need lesson 1.

    ## A ball: one number

    A ball meets the floor at $u_n^- < 0$ and leaves at $u_n^+ = -e\, u_n^-$, with the coefficient of restitution
    $0 \le e \le 1$. As a complementarity condition (formulary, section 1, law (iii)):

    $$
    0 \le p_n \perp u_n^+ + e \min(0, u_n^-) \ge 0
    $$

    A closed contact that approaches rebounds; for one that is at rest or opens, $e$ has no effect.

    **When does it apply?** A time step of length $h$ may begin with a small gap $\phi$ and end in the floor. The usual law
    with the gap, $u_n + \phi/h \ge 0$, allows exactly the speed that closes the gap. With restitution in that row, the
    speed after the impact would depend on the instant of the impact within the step. Therefore impacts use Moreau's law:
    a contact with $\phi > 0$ is open and exerts no force, one with $\phi \le 0$ obeys the condition above (decision record
    0003). The graph shows the velocity after one step of a ball that comes down at 1 m/s, $h$ = 10 ms, $e = 0.8$, from
    gaps up to 15 mm.
    """)
    return


@app.cell
def _(np, wb):
    gaps = np.linspace(0, 0.015, 61)

    def ball(normal):
        system = wb.ContactSystem(
            M=[[1]], v=[-1], f=[0], h=0.01, J_n=[[1]], J_t=[[0]], mu=0, e=0.8, phi=0.001, normal=normal
        )
        return wb.sweep("frictionless", system, phi=gaps)

    after = {"law with the gap": ball("gap").v[:, 0], "Moreau's law": ball("moreau").v[:, 0]}
    assert np.allclose(after["law with the gap"], np.maximum(-1, 0.8 - gaps / 0.01))
    assert np.allclose(after["Moreau's law"], np.where(gaps > 0, -1, 0.8))
    return after, gaps


@app.cell(hide_code=True)
def _(after, alt, gaps):
    _rows = [
        {"gap": round(1e3 * float(x), 4), "v": round(float(v), 4), "law": name}
        for name, values in after.items()
        for x, v in zip(gaps, values, strict=True)
    ]
    _scale = alt.Scale(domain=list(after), range=["#e08a1e", "#2b5a8c"])
    alt.Chart(alt.Data(values=_rows)).mark_point(filled=True, size=22).encode(
        x=alt.X("gap:Q", title="gap at the start of the step [mm]"),
        y=alt.Y("v:Q", title="velocity after it [m/s]"),
        color=alt.Color("law:N", scale=_scale, title=None),
        shape=alt.Shape("law:N", scale=alt.Scale(domain=list(after), range=["circle", "square"]), title=None),
    ).properties(
        width=480, height=200,
        description="Velocity after one step over the gap: it varies under the law with the gap, and takes two values "
        "under Moreau's",
    )  # fmt: skip
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Under Moreau's law the ball continues to fall, penetrates by at most $h|u_n|$, and in the next step leaves at 0.8 m/s.
    The disadvantage is this penetration.

    ## A corner: two directions that are coupled

    A brick of sides 1 m and 0.5 m, mass $m$ = 1 kg, moment of inertia $I = m(a^2 + b^2)/12$, meets the floor with the
    corner at $r = (r_x, r_y)$ from its centre. The corner moves at

    $$
    u_n = v_y + r_x \omega, \qquad u_t = v_x - r_y \omega
    $$

    and impulses at the corner change that by $u^+ = u^- + W p$ with

    $$
    W = \begin{pmatrix} W_{nn} & W_{nt} \\ W_{nt} & W_{tt} \end{pmatrix}, \qquad
    W_{nn} = \frac1m + \frac{r_x^2}{I}, \quad W_{tt} = \frac1m + \frac{r_y^2}{I}, \quad W_{nt} = -\frac{r_x r_y}{I}
    $$

    The important number is $W_{nt}$: a push along the normal rotates the brick and moves the corner *sideways*. It is zero
    for a ball (the contact lies below the centre), but not for a corner.
    """)
    return


@app.cell
def _(np, wb):
    a, b, m = 1.0, 0.5, 1.0
    I = m * (a**2 + b**2) / 12
    M = np.diag([m, m, I])
    corners = np.array([(-a / 2, -b / 2), (a / 2, -b / 2), (a / 2, b / 2), (-a / 2, b / 2)])

    def lowest(theta):
        """The corner of the brick, turned by theta, that meets the floor first: r from the centre."""
        turned = corners @ np.array([[np.cos(theta), np.sin(theta)], [-np.sin(theta), np.cos(theta)]])
        return turned[turned[:, 1].argmin()]

    def impact(theta, v, mu, e):
        x, y = lowest(theta)
        return wb.ContactSystem(M=M, v=v, f=[0, 0, 0], h=0.01, J_n=[[0, 1, x]], J_t=[[1, 0, -y]], mu=mu, e=e)

    def energy(v):
        return 0.5 * np.einsum("...i,ij,...j->...", v, M, v)

    newton, poisson = "anitescu-potra", "anitescu-potra:restitution=poisson"
    return I, M, a, b, corners, energy, impact, lowest, m, newton, poisson


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Two laws

    **Newton's** law is about velocities: $u_n^+ = -e u_n^-$. Friction obeys Coulomb's law with the velocity after the
    impact. This is one complementarity problem.

    **Poisson's** law is about impulses. The impact has two phases. In *compression* the floor stops the corner: a problem with
    $e = 0$, which gives $p_c$. In *decompression* the floor gives back at least $e\, p_c$. Each phase has friction of its
    own, at most $\mu$ times the normal impulse of that phase. Two problems of the same form (Anitescu and Potra 1997;
    formulary, section 2):

    $$
    p_n = (1 + e)\, p_c + x, \qquad 0 \le x \perp u_n^+ \ge 0
    $$

    Without friction, or without the coupling $W_{nt}$, compression ends with $W_{nn} p_c = -u_n^-$, and
    $u_n^+ = u_n^- + W_{nn}(1 + e) p_c = -e u_n^-$: the laws agree. With both, they differ. One example by hand: the brick
    is rotated by 30°, does not spin, and comes down with $u^- = (u_n, u_t) = (-1, 0.6)$ m/s; $\mu = 1$ and $e = 1$. Friction
    is strong enough for the corner to stick, which the code asserts, so that all is linear.
    """)
    return


@app.cell
def _(I, energy, impact, lowest, m, newton, np, poisson, wb):
    v_before = np.array([0.6, -1.0, 0.0])
    u_before = np.array([-1.0, 0.6])
    r_x, r_y = lowest(np.radians(30))
    W = np.array([[1 / m + r_x**2 / I, -r_x * r_y / I], [-r_x * r_y / I, 1 / m + r_y**2 / I]])

    # Newton, stick: W p = u+ - u- with u+ = (-e u_n-, 0).
    p_newton = np.linalg.solve(W, np.array([1.0, 0.0]) - u_before)
    # Poisson, stick in both phases: first u = 0, then twice the normal impulse, and still no slip.
    p_c = np.linalg.solve(W, -u_before)
    p_poisson = np.array([2 * p_c[0], -(u_before[1] + W[1, 0] * 2 * p_c[0]) / W[1, 1]])

    by_hand = {newton: p_newton, poisson: p_poisson}
    by_workbench = {name: wb.solve(impact(np.radians(30), v_before, mu=1, e=1), name) for name in by_hand}
    for _name, _p in by_hand.items():
        assert by_workbench[_name].verified
        assert np.allclose(_p, [by_workbench[_name].p_n[0], by_workbench[_name].p_t[0]])
    assert all(abs(p[1]) < p[0] for p in (p_newton, p_c, p_poisson - p_c)), "friction is strong enough"
    gains = {name: energy(answer.v) / energy(v_before) - 1 for name, answer in by_workbench.items()}
    return W, by_workbench, gains, u_before


@app.cell(hide_code=True)
def _(W, by_workbench, gains, mo, newton, np, poisson, u_before):
    def _row(words, name):
        answer = by_workbench[name]
        p = np.array([answer.p_n[0], answer.p_t[0]])
        u = u_before + W @ p
        numbers = " | ".join(f"{x:.4f}" for x in (*p, *(u + 0.0).round(12)))
        return f"| {words} | {numbers} | {100 * gains[name]:+.1f} % |"

    mo.md(
        "| law | $p_n$ [N s] | $p_t$ [N s] | $u_n^+$ [m/s] | $u_t^+$ [m/s] | change of the kinetic energy |\n"
        "|---|---|---|---|---|---|\n" + _row("Newton", newton) + "\n" + _row("Poisson", poisson)
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Newton's law increases the energy. Poisson's law dissipates some.

    ## Where the energy comes from

    The kinetic energy changes by the work of the impulses over the *mean* of the velocities before and after (Thomson and
    Tait; exercise 1 proves it):

    $$
    \Delta T = \tfrac12\, p \cdot (u^- + u^+)
    $$

    Insert Newton's law, and a corner that ends in stick, $u_t^+ = 0$:

    $$
    \Delta T = \tfrac12 (1 - e)\, p_n u_n^- + \tfrac12\, p_t u_t^-
    $$

    The first term is never positive. The second is negative if friction brakes. But the slip may reverse during the
    impact: the normal impulse drives the corner sideways by $W_{nt} p_n$, and if that reverses the slip, friction at the
    end points in the direction of the *initial* slip. Then $p_t u_t^- > 0$. Coulomb's law holds at the end of the impact,
    but over the whole impact friction has done positive work. With $e = 1$ nothing compensates for it. In the example
    $p_t u_t^- / 2$ is the whole gain:
    """)
    return


@app.cell
def _(by_workbench, energy, gains, mo, newton, np, u_before):
    _work = 0.5 * by_workbench[newton].p_t[0] * u_before[1]
    _before = energy(np.array([0.6, -1.0, 0.0]))
    assert np.isclose(_work, gains[newton] * _before)
    mo.md(f"$p_t u_t^-/2$ = {_work:.4f} J of {_before:.2f} J, which is {100 * _work / _before:+.1f} %.")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Poisson's law in the version of Anitescu and Potra cannot do that: with one $e \le 1$ at all contacts no impact gains
    energy, and without friction none with any $e \le 1$ at each contact. Rotate the brick, change $\mu$ and $e$; the graph
    shows the remaining energy over the direction of the approach.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    turn = mo.ui.slider(steps=[0, 10, 20, 30, 40, 60, 80], value=30, label="attitude [°]", show_value=True)
    rub = mo.ui.slider(steps=[0, 0.3, 0.6, 1.0], value=0.6, label=r"friction $\mu$", show_value=True)
    bounce = mo.ui.slider(steps=[0, 0.5, 0.8, 0.9, 1.0], value=1.0, label="restitution $e$", show_value=True)
    mo.hstack([turn, rub, bounce], justify="start")
    return bounce, rub, turn


@app.cell
def _(bounce, energy, impact, newton, np, poisson, rub, turn, wb):
    slips = np.linspace(-3, 3, 121)
    falls = np.stack([slips, -np.ones(121), np.zeros(121)], axis=-1)
    left = {}
    for _words, _name in (("Newton", newton), ("Poisson", poisson)):
        _swept = wb.sweep(_name, impact(np.radians(turn.value), falls[0], rub.value, bounce.value), v=falls)
        assert _swept.residuals.max() < 1e-9
        left[_words] = energy(_swept.v) / energy(falls)
    assert left["Poisson"].max() < 1 + 1e-12
    return left, slips


@app.cell(hide_code=True)
def _(alt, bounce, corners, left, lowest, mo, np, rub, slips, turn):
    _rows = [
        {"slip": round(float(x), 3), "left": round(100 * float(y), 3), "law": name}
        for name, values in left.items()
        for x, y in zip(slips, values, strict=True)
    ]
    _lines = (
        alt.Chart(alt.Data(values=_rows))
        .mark_line()
        .encode(
            x=alt.X("slip:Q", title="sliding velocity over approach velocity, u_t / |u_n|"),
            y=alt.Y("left:Q", title="kinetic energy left [%]", scale=alt.Scale(domain=[0, 130])),
            color=alt.Color("law:N", scale=alt.Scale(range=["#b3261e", "#2b5a8c"]), title=None),
            strokeDash=alt.StrokeDash("law:N", scale=alt.Scale(range=[[1, 0], [6, 3]]), title=None),
        )
    )
    _all = alt.Chart(alt.Data(values=[{"left": 100}])).mark_rule(color="#999").encode(y="left:Q")
    _theta = np.radians(turn.value)
    _shape = corners @ np.array([[np.cos(_theta), np.sin(_theta)], [-np.sin(_theta), np.cos(_theta)]])
    _tip = lowest(_theta)
    _outline = " ".join(f"{90 + 90 * (x - _tip[0]):.1f},{150 - 90 * (y - _tip[1]):.1f}" for x, y in _shape)
    _brick = (
        '<svg viewBox="0 0 190 170" width="170" style="background:#fff" role="img" aria-label="The brick as it meets the floor">'
        '<rect x="5" y="150" width="180" height="6" fill="#bbb"/>'
        f'<polygon points="{_outline}" fill="#e6d5c3" stroke="#8d7461" stroke-width="2"/>'
        '<circle cx="90" cy="150" r="5" fill="#222"/></svg>'
    )
    mo.hstack(
        [
            mo.Html(_brick),
            (_lines + _all).properties(
                width=430, height=240,
                description=f"Energy left over the direction of approach, brick turned by {turn.value} degrees, mu = "
                f"{rub.value:g}, e = {bounce.value:g}, for Newton's law and Poisson's",
            ),
        ],
        justify="start",
    )  # fmt: skip
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Where the red curve is above the grey line, Newton's law has gained energy. This needs friction ($\mu = 0$: the curves
    coincide and stay below 100 %) and an $e$ near one.

    ## The whole fall

    A time-stepping code repeats this in every step: it poses one problem for all corners that touch, and moves the body.
    Here is a complete one for the brick. It falls tilted by 0.35 rad, with 1 m/s sideways, and four corners as contacts
    under Moreau's law.
    """)
    return


@app.cell
def _(M, corners, m, np, wb):
    h, g = 0.004, 9.81

    def fall(name, e, mu=0.3, steps=300):
        """Positions (x, y, theta), velocities, and energies of a falling brick."""
        q, v, track = np.array([0.0, 1.2, 0.35]), np.array([1.0, 0.0, 0.0]), []
        one, zero = np.ones(4), np.zeros(4)
        for _ in range(steps):
            track.append([*q, 0.5 * v @ M @ v + m * g * q[1]])
            c, s = np.cos(q[2]), np.sin(q[2])
            r = corners @ np.array([[c, s], [-s, c]])
            step = wb.ContactSystem(
                M=M, v=v, f=[0, -m * g, 0], h=h, mu=mu, e=e, normal="moreau", phi=q[1] + r[:, 1],
                J_n=np.stack([zero, one, r[:, 0]], axis=1), J_t=np.stack([one, zero, -r[:, 1]], axis=1),
            )  # fmt: skip
            v = wb.solve(step, name).v
            q = q + h * v
        return np.array(track)

    tracks = {"Newton": fall("anitescu-potra", 0.5), "Poisson": fall("anitescu-potra:restitution=poisson", 0.5)}
    return g, h, tracks


@app.cell(hide_code=True)
def _(alt, corners, h, mo, np, tracks):
    def _outline(x, y, theta):
        turned = corners @ np.array([[np.cos(theta), np.sin(theta)], [-np.sin(theta), np.cos(theta)]])
        return " ".join(f"{110 + 190 * (x + p):.1f},{330 - 190 * (y + s):.1f}" for p, s in turned)

    _shots = "".join(
        f'<polygon points="{_outline(*tracks["Newton"][k, :3])}" fill="#e6d5c3" fill-opacity="{0.25 + 0.002 * k:.2f}" '
        'stroke="#8d7461"/>'
        for k in range(0, 300, 23)
    )
    _film = (
        '<svg viewBox="0 0 420 345" width="400" style="background:#fff" role="img" aria-label="The brick every 92 ms: it falls, tumbles, and lies">'
        f'<rect x="5" y="330" width="410" height="6" fill="#bbb"/>{_shots}</svg>'
    )
    _rows = [
        {"t": round(h * k, 4), "energy": round(float(row[3]), 4), "law": name}
        for name, track in tracks.items()
        for k, row in enumerate(track)
    ]
    _energy = (
        alt.Chart(alt.Data(values=_rows))
        .mark_line()
        .encode(
            x=alt.X("t:Q", title="time [s]"),
            y=alt.Y("energy:Q", title="energy [J]"),
            color=alt.Color("law:N", scale=alt.Scale(range=["#b3261e", "#2b5a8c"]), title=None),
            strokeDash=alt.StrokeDash("law:N", scale=alt.Scale(range=[[1, 0], [6, 3]]), title=None),
        )
        .properties(width=330, height=240, description="Energy over time under both laws: it falls at every impact")
    )
    mo.hstack([mo.Html(_film), _energy], justify="start")
    return


@app.cell(hide_code=True)
def _(g, mo, np, tracks):
    _rises = {name: float(np.diff(track[:, 3]).max()) for name, track in tracks.items()}
    assert max(_rises.values()) < 1e-9
    _ends = {name: track[-1, 3] for name, track in tracks.items()}
    assert all(abs(end - g * 0.25) < 0.1 for end in _ends.values())
    mo.md(
        f"With $e = 0.5$ both lose energy in every impact of this fall, and end at {_ends['Newton']:.2f} and "
        f"{_ends['Poisson']:.2f} J; lying flat on the floor is 2.45 J. The two laws are not far apart here. They are where "
        "restitution is strong, friction is strong, and slip is turned round, all three."
    )
    return


@app.cell(hide_code=True)
def exercise_1(mo):
    mo.md(r"""
    ### Exercise 1

    Prove $\Delta T = \frac12 p \cdot (u^- + u^+)$ from $M(v^+ - v^-) = J^T p$ and $u = J v$. What is $\Delta T$ for one
    contact without friction under Newton's law? Check both with the workbench on random impacts.
    """)
    return


@app.cell(hide_code=True)
def solution_1(energy, impact, mo, newton, np, wb):
    _random = np.random.default_rng(2)
    for _ in range(200):
        _v, _e = _random.normal(size=3), _random.uniform()
        _system = impact(_random.uniform(-1.5, 1.5), _v, _random.choice([0.0, 0.7]), _e)
        _answer = wb.solve(_system, newton)
        _p = np.concatenate([_answer.p_n, _answer.p_t])
        _J = np.concatenate([_system.J_n, _system.J_t])
        _change = energy(_answer.v) - energy(_v)
        assert np.isclose(_change, 0.5 * _p @ _J @ (_v + _answer.v))
        _u = (_system.J_n @ _v)[0]
        if _system.mu[0] == 0 and _u < 0:
            _W = (_system.J_n @ np.linalg.solve(_system.M, _system.J_n.T))[0, 0]
            assert np.isclose(_change, -(1 - _e**2) * _u**2 / (2 * _W))
    mo.accordion(
        {
            "Solution": mo.md(r"""
    $\Delta T = \frac12 v^{+T} M v^+ - \frac12 v^{-T} M v^- = \frac12 (v^+ + v^-)^T M (v^+ - v^-)$, as $M$ is symmetric.
    Insert $M(v^+ - v^-) = J^T p$: $\Delta T = \frac12 (v^+ + v^-)^T J^T p = \frac12 p \cdot (u^+ + u^-)$.

    Without friction, $u_n^+ = -e u_n^-$ and $W_{nn} p_n = -(1 + e) u_n^-$, so that

    $$
    \Delta T = \tfrac12 p_n (1 - e) u_n^- = -\frac{(1 - e^2)(u_n^-)^2}{2 W_{nn}} \le 0
    $$
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_2(mo):
    mo.md(r"""
    ### Exercise 2

    A slender block rocks on its edge: it turns about its left corner with $\omega < 0$ (clockwise), until the right corner
    strikes the floor. Nothing rebounds ($e = 0$), friction is strong. Housner (1963) finds for a uniform block of width
    $a$ and height $b$, with $\tan\alpha = a/b$,

    $$
    \frac{\omega^+}{\omega^-} = 1 - \tfrac32 \sin^2\alpha
    $$

    Derive it, and check it with the workbench. Up to which $a/b$ does the block continue to rock?
    """)
    return


@app.cell(hide_code=True)
def solution_2(mo, np, wb):
    def _rocks(a, b):
        """omega after over omega before, as the workbench has it."""
        inertia = (a**2 + b**2) / 12
        v = np.array([0.5 * b, -0.5 * a, -1.0])
        block = wb.ContactSystem(
            M=np.diag([1, 1, inertia]), v=v, f=[0, 0, 0], h=0.01, J_n=[[0, 1, -a / 2], [0, 1, a / 2]],
            J_t=[[1, 0, b / 2], [1, 0, b / 2]], mu=10,
        )  # fmt: skip
        # Before, the left corner is at rest.
        assert np.allclose(block.J_n[0] @ v, 0)
        assert np.allclose(block.J_t[0] @ v, 0)
        return wb.solve(block).v[2] / v[2]

    for _ratio in np.linspace(0.05, 1.4, 28):
        assert np.isclose(_rocks(_ratio, 1.0), 1 - 1.5 * np.sin(np.arctan(_ratio)) ** 2)
    assert abs(_rocks(1.5, 1.0)) < 1e-12
    mo.accordion(
        {
            "Solution": mo.md(r"""
    The right corner gets all impulses, so that the angular momentum about it is kept. With the half diagonal $R$,
    $I = m R^2/3$ about the centre, and the centre moving at $R\omega^-$ about the left corner, that angular momentum is
    $I\omega^- + m R^2 \omega^- \cos 2\alpha$ before and $\frac43 m R^2 \omega^+$ after. Hence
    $\omega^+/\omega^- = \frac14 + \frac34\cos 2\alpha = 1 - \frac32 \sin^2\alpha$. In the law of impact the left corner is
    free to separate: $u_n \ge 0$, $p_n = 0$ there, which is consistent as long as the ratio is positive. It is zero at
    $\sin^2\alpha = \frac23$, that is $a/b = \sqrt2$; a wider block stays flat on the floor, with both corners loaded, as
    the workbench says for $a/b = 1.5$.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_3(mo):
    mo.md(r"""
    ### Exercise 3

    Two contacts and no friction: can Newton's law gain energy then? Let the brick, flat on its long side and with $e = 1$
    at both lower corners, come down at 1 m/s with a spin of $\omega = -4$ rad/s. Work out $u_n^-$ at both corners first.
    What does Poisson's law do?
    """)
    return


@app.cell(hide_code=True)
def solution_3(M, a, b, energy, mo, newton, np, poisson, wb):
    _v = np.array([0.0, -1.0, -4.0])
    _block = wb.ContactSystem(
        M=M, v=_v, f=[0, 0, 0], h=0.01, J_n=[[0, 1, -a / 2], [0, 1, a / 2]], J_t=[[1, 0, b / 2], [1, 0, b / 2]],
        mu=0, e=1,
    )  # fmt: skip
    _answers = {name: wb.solve(_block, name) for name in (newton, poisson)}
    _ratio = {name: energy(answer.v) / energy(_v) for name, answer in _answers.items()}
    assert np.allclose(_block.J_n @ _v, [1, -3])
    assert np.allclose(_answers[newton].v, [0, 1.5, 3])
    assert np.isclose(_ratio[newton], 153 / 128)
    assert np.isclose(_ratio[newton] * energy(_v) - energy(_v), _answers[newton].p_n[0] / 2)
    assert _ratio[poisson] < 1 + 1e-12
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    Yes. The left corner moves up at 1 m/s, the right one down at 3 m/s. The right corner's impulse turns the brick so that
    the left corner would go down; so the left one is pressed as well, though it was leaving. The law asks for
    $u_n^+ = 0$ there, as it was not approaching, and for $u_n^+ = 3$ m/s at the right corner: $v^+ = (0, 1.5, 3)$. By exercise 1,

    $$
    \Delta T = \tfrac12 \left( p_1 (1 + 0) + p_2 (-3 + 3) \right) = \tfrac12 p_1 > 0
    $$

    and the energy is 153/128 = {_ratio[newton]:.3f} times the one before: the left impulse works on a corner that moves
    its way. Poisson's law keeps {100 * _ratio[poisson]:.1f} % of the energy.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_4(mo):
    mo.md(r"""
    ### Exercise 4

    The theorem for Poisson's law asks for one $e$ at all contacts, or no friction. Is it sharp? Look for a gain with
    friction and different $e$: let the brick strike flat with both corners, at random velocities, with random $\mu$ and
    $e$. How often does Newton's law gain, how often Poisson's? What have you proved?
    """)
    return


@app.cell(hide_code=True)
def solution_4(M, a, b, energy, mo, newton, np, poisson, wb):
    _random = np.random.default_rng(0)
    _v, _e, _mu = _random.normal(size=(5000, 3)), _random.uniform(size=(5000, 2)), _random.uniform(0, 2, (5000, 2))
    _e[:2500] = np.round(_e[:2500])
    _block = wb.ContactSystem(
        M=M, v=_v[0], f=[0, 0, 0], h=0.01, J_n=[[0, 1, -a / 2], [0, 1, a / 2]], J_t=[[1, 0, b / 2], [1, 0, b / 2]],
        mu=0, e=0,
    )  # fmt: skip
    _counts = []
    for _name in (newton, poisson):
        _swept = wb.sweep(_name, _block, v=_v, e=_e, mu=_mu)
        assert _swept.solved.all()
        _counts.append(int((energy(_swept.v) > (1 + 1e-9) * energy(_v)).sum()))
    assert _counts[0] > 50
    assert _counts[1] == 0
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    Of 5000 impacts, half of them with $e$ of zero or one, Newton's law gains energy in {_counts[0]}, Poisson's in
    none. Nothing is proved by that: it says that a gain under Poisson's law, if there is one, is rare for this
    brick. A theorem needs a proof, a counterexample needs one impact.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What to read

    - M. Anitescu, F. A. Potra, *Formulating dynamic multi-rigid-body contact problems with friction as solvable linear
      complementarity problems*, Nonlinear Dynamics 14 (1997): Poisson's law in two phases, and its energy.
    - J. J. Moreau, *Unilateral contact and dry friction in finite freedom dynamics* (1988): laws of impact at velocity
      level.
    - T. R. Kane, D. A. Levinson, *Dynamics: Theory and Applications* (1985): the paradox of a pendulum that gains energy.
    - G. W. Housner, *The behavior of inverted pendulum structures during earthquakes*, Bull. Seism. Soc. Am. 53 (1963).
    - The workbench's `docs/formulary.md`: section 1, normal laws (i') and (iii); section 2, "Anitescu-Potra"; and
      `docs/decisions` 0002 and 0003.
    """)
    return


if __name__ == "__main__":
    app.run()
