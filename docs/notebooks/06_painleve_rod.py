import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell(hide_code=True)
def _():
    from fractions import Fraction

    import altair as alt
    import marimo as mo
    import numpy as np

    import workbench as wb

    return Fraction, alt, mo, np, wb


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # 6. P-matrices and the Painlevé rod

    A rod slides on a rough floor. Newton's law and Coulomb's law together are one linear complementarity problem with a
    single unknown, and for strong friction it has no solution, or two. Painlevé found this in 1895.

    In 45 minutes you learn

    - which matrices give an LCP exactly one solution for every right-hand side;
    - how to derive the number whose sign decides about the rod, and why $\mu = 4/3$ is the least critical friction of a
      uniform rod;
    - what the four regimes of sliding contact are;
    - the result of a time step where no force exists.

    You need plane rigid-body dynamics, and from lesson 1 what $0 \le z \perp w \ge 0$ means: $z \ge 0$, $w \ge 0$,
    $z^T w = 0$.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## One solution for every right-hand side

    The linear complementarity problem LCP$(q, M)$ asks for $z$ with

    $$0 \le z \perp w = M z + q \ge 0 .$$

    With **one unknown**, $M = a$ is a number. If $a > 0$ there is exactly one solution for every $q$: it is $z = 0$
    where $q \ge 0$, and $z = -q/a$ where $q < 0$. If $a < 0$ there are two solutions where $q > 0$, namely $z = 0$
    and $z = -q/a$, and there is none where $q < 0$.

    With **$n$ unknowns** choose a set $\alpha$ of indices at which $z_i > 0$ and hence $w_i = 0$. The other $z_i$
    vanish. The problem $q = I w - M z$ then says that $q$ is a nonnegative combination of the columns $-M_i$,
    $i \in \alpha$, and of the unit vectors $I_i$, $i \notin \alpha$. These combinations are the *complementary cone* of
    $\alpha$, and the LCP has as many solutions as there are cones around $q$.

    **Theorem** (Samelson, Thrall and Wesler 1958). The $2^n$ cones cover the space without overlapping, so that every
    $q$ has exactly one solution, if and only if all principal minors of $M$ are positive. Such an $M$ is a *P-matrix*.

    For $M = \begin{pmatrix} 1 & c \\ c & 1 \end{pmatrix}$ the principal minors are $1$, $1$ and $1 - c^2$. Move $c$
    through 1 and watch the cones overlap; move the angle of $q$ through the regions.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    coupling = mo.ui.slider(-2.0, 2.0, 0.25, value=1.5, label="$c$", show_value=True)
    angle_of_q = mo.ui.slider(
        steps=[20, 70, 115, 160, 205, 225, 250, 290, 340], value=225, label="angle of $q$ [deg]", show_value=True
    )
    mo.hstack([coupling, angle_of_q], justify="start")
    return angle_of_q, coupling


@app.cell(hide_code=True)
def _(angle_of_q, coupling, mo, np, wb):
    _c, _turn = coupling.value, np.radians(angle_of_q.value)
    _found = wb.check([[1, _c], [_c, 1]], rhs=[round(np.cos(_turn), 3), round(np.sin(_turn), 3)])
    mo.vstack([mo.Html(_found.picture().svg), mo.md(_found.words[0])])
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    For $c > 1$ the cone of $\{0, 1\}$ is reversed and lies within those of $\{0\}$ and $\{1\}$: three solutions there, one
    elsewhere. For $c < -1$ it is reversed as well, but now some $q$ have two solutions and others none. Three solutions
    become one and two become none, but three never become two, because the signs of $\det M_{\alpha\alpha}$ over the
    solutions of $q$ have the same sum for every $q$ off the boundaries, the *degree*.

    ## The rod

    A uniform rod has the mass $m$ and the length $2 l$. Its tip $A = (x, z)$ touches the floor and slides with
    $\dot x \ne 0$; $\xi = \operatorname{sgn} \dot x$. The angle from the floor is $\theta$, the moment of inertia about
    the centre is $\kappa m l^2$, and $\kappa = 1/3$ for a uniform rod. The centre lies at
    $A + l (\cos\theta, \sin\theta)$. The floor pushes with $\lambda_n$ upwards and, because the tip slides, with
    $-\xi \mu \lambda_n$ along the floor.

    The balance of momentum and of angular momentum about the centre give

    $$m \ddot x_G = -\xi \mu \lambda_n, \qquad m \ddot z_G = \lambda_n - m g, \qquad
      \kappa m l^2 \ddot\theta = -l \lambda_n (\cos\theta + \xi \mu \sin\theta) .$$

    The height of the tip is $z = z_G - l \sin\theta$. Hence
    $\ddot z = \ddot z_G - l \cos\theta\, \ddot\theta + l \sin\theta\, \dot\theta^2$, and

    $$0 \le \lambda_n \perp \ddot z = a \lambda_n + b \ge 0, \qquad
      a = \frac{1}{m} \Big(1 + \frac{\cos\theta (\cos\theta + \xi \mu \sin\theta)}{\kappa}\Big), \qquad
      b = l \sin\theta\, \dot\theta^2 - g .$$

    This is the LCP with one unknown. $1/a$ is the effective mass at the contact. Without friction $a > 0$. With friction
    and $\xi = -1$ (the tip moves away from under the centre) the term $-\mu \sin\theta \cos\theta / \kappa$ may dominate:
    friction rotates the tip into the floor faster than the normal force lifts it. Then the effective mass is negative.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    theta = mo.ui.slider(5.0, 85.0, 0.5, value=63.5, label=r"$\theta$ [deg]", show_value=True)
    mu = mo.ui.slider(0.0, 3.0, 0.05, value=1.4, label=r"$\mu$", show_value=True)
    mo.hstack([theta, mu], justify="start")
    return mu, theta


@app.cell
def _(np):
    def scalar(theta, mu, spin, xi=-1, m=1.0, l=1.0, kappa=1 / 3, g=9.81):
        """a [1/kg] and b [m/s2] of the LCP of the tip; theta in rad."""
        c, s = np.cos(theta), np.sin(theta)
        return (1 + c * (c + mu * xi * s) / kappa) / m, l * s * spin**2 - g

    return (scalar,)


@app.cell(hide_code=True)
def _(np):
    def rod_picture(theta, mu):
        """The rod, its sliding direction, and the direction of the contact force at the edge of the friction cone."""
        t, size = np.radians(theta), 180
        x, z = 60 + size * np.cos(t), 210 - size * np.sin(t)
        force = 60 * np.array([mu, 1.0]) / np.hypot(mu, 1.0)

        def arrow(x1, y1, x2, y2, colour):
            along = np.array([x2 - x1, y2 - y1]) / np.hypot(x2 - x1, y2 - y1)
            across = np.array([-along[1], along[0]])
            tip = np.array([x2, y2])
            corners = [tip, tip - 9 * along + 4 * across, tip - 9 * along - 4 * across]
            points = " ".join(f"{p[0]:.1f},{p[1]:.1f}" for p in corners)
            line = f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="2"/>'
            return f'{line}<polygon points="{points}" fill="{colour}"/>'

        return f"""<svg viewBox="0 0 260 250" width="260" height="250" role="img"
            aria-label="A rod at {theta:g} degrees from the floor, its tip sliding to the left">
            <rect width="260" height="250" fill="#fff"/>
            <line x1="0" y1="210" x2="260" y2="210" stroke="#888" stroke-width="2"/>
            <line x1="60" y1="210" x2="{x:.1f}" y2="{z:.1f}" stroke="#222" stroke-width="7" stroke-linecap="round"/>
            <circle cx="{(60 + x) / 2:.1f}" cy="{(210 + z) / 2:.1f}" r="5" fill="#fff" stroke="#222" stroke-width="2"/>
            {arrow(55, 228, 12, 228, "#333")}<text x="62" y="233" font-size="14" fill="#333">slides</text>
            {arrow(60, 210, 60 + force[0], 210 - force[1], "#c2410c")}
            <text x="{64 + force[0]:.1f}" y="{206 - force[1]:.1f}" font-size="14" fill="#c2410c">force</text></svg>"""

    return (rod_picture,)


@app.cell(hide_code=True)
def _(alt):
    def solutions_picture(lines, far):
        """Lines w = a lambda + b by name, as (a, b, forces), and where they meet the edges of the quadrant."""
        x = alt.X("x:Q", title="λₙ [N]", scale=alt.Scale(domain=[-0.05 * far, far], nice=False))
        y = alt.Y("w:Q", title="a λₙ + b [m/s²]", scale=alt.Scale(domain=[-14, 25], nice=False))
        edges = [{"x": 0, "w": 25}, {"x": 0, "w": 0}, {"x": far, "w": 0}]
        drawn = [{"x": t, "w": a * t + b, "spin": n} for n, (a, b, _) in lines.items() for t in (0.0, far)]
        found = [{"x": f, "w": max(0.0, a * f + b)} for a, b, forces in lines.values() for f in forces]
        style = alt.Scale(domain=list(lines), range=["#6b6b6b", "#111111"])
        dash = alt.Scale(domain=list(lines), range=[[5, 4], [1, 0]])
        return alt.layer(
            alt.Chart(alt.Data(values=edges)).mark_line(color="#9ecae1", strokeWidth=5).encode(x=x, y=y, order="x:Q"),
            alt.Chart(alt.Data(values=drawn))
            .mark_line(clip=True)
            .encode(
                x=x,
                y=y,
                color=alt.Color("spin:N", scale=style, title="spin"),
                strokeDash=alt.StrokeDash("spin:N", scale=dash, title="spin"),
            ),
            alt.Chart(alt.Data(values=found)).mark_circle(size=150, color="#c2410c", opacity=1).encode(x=x, y=y),
        ).properties(
            width=300,
            height=210,
            title="Solutions: where a line meets the blue edges",
            description="Acceleration of the tip over the normal force, for a rod without spin and with 4 rad/s",
        )

    return (solutions_picture,)


@app.cell(hide_code=True)
def _(mo, mu, np, rod_picture, scalar, solutions_picture, theta, wb):
    _lines, _points = {}, []
    for _spin in (0, 4):
        _a, _b = scalar(np.radians(theta.value), mu.value, _spin)
        _found = wb.painleve("rod", {"theta": theta.value, "mu": mu.value, "spin": _spin})
        _forces = [answer.multipliers.lambda_nu[0] for answer in _found.state.regime.answers]
        # The formulas of this page against the workbench, which takes the mass matrix and the Jacobians.
        assert all(f >= 0 and abs(f * (_a * f + _b)) <= 1e-6 * max(1, f) for f in _forces)
        _lines[f"{_spin} rad/s"] = _a, _b, _forces
        _list = ", ".join(f"{f:.4g} N" for f in _forces) or "no force"
        _points.append(f"- spin {_spin} rad/s: $b = {_b:.2f}$ m/s², **{_found.state.regime.name}**: {_list}")
    _far = 1.3 * max([40.0, *(f for *_, forces in _lines.values() for f in forces if f < 500)])
    mo.vstack(
        [
            mo.hstack([mo.Html(rod_picture(theta.value, mu.value)), solutions_picture(_lines, _far)], justify="start"),
            mo.md(f"$a = {_a:.4f}$ / kg.\n\n" + "\n".join(_points)),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Try these:

    - At $\theta = 63.5°$ raise $\mu$ from 1 to 1.4. The lines tilt downwards. Without spin gravity presses the tip down,
      $b < 0$, and the only solution goes to infinity. With a spin of 4 rad/s the centrifugal term lifts the tip,
      $b > 0$, and a second solution comes from infinity.
    - Take $\theta = 45°$: no paradox before $\mu = 5/3$. Which angle needs the least friction?

    The four regimes have names (Génot and Brogliato 1999):

    | | $b < 0$ | $b > 0$ |
    |---|---|---|
    | $a > 0$ | **sliding**: one force | **lift-off**: $\lambda_n = 0$ only |
    | $a < 0$ | **inconsistent**: none | **indeterminate**: two |

    ## The critical friction

    $a = 0$ at $\xi = -1$ means $\cos^2\theta + \kappa = \mu \sin\theta \cos\theta$. Division by $\cos^2\theta$ gives

    $$\mu_c(\theta) = \frac{1 + \kappa (1 + \tan^2\theta)}{\tan\theta}
       = \frac{1 + \kappa}{\tan\theta} + \kappa \tan\theta .$$

    The product of the two terms does not depend on $\theta$, so their sum is smallest where they are equal, at
    $\tan^2\theta = (1 + \kappa)/\kappa$, and there $\mu_c = 2 \sqrt{\kappa (1 + \kappa)}$. For the uniform rod,
    $\kappa = 1/3$, this is $\tan\theta = 2$ and $\mu_c = 4/3$. The workbench finds the same number as an exact rational,
    from the determinants of the system and not from this formula:
    """)
    return


@app.cell
def _(wb):
    along_mu = wb.vary("rod", along=("mu", 0, 3), given={"tan_theta": 2})
    assert along_mu.critical.exact.tolist() == ["4/3"]
    along_mu
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    *Ray* means that a solution goes to infinity. The force $-b/a = g/a$ grows without bound as $\mu$ approaches $4/3$.

    Below are the regimes of the rod over $\theta$ and $\mu$, without spin and with 4 rad/s. The black line is the formula
    for $\mu_c$; the colours are computed by `wb.painleve`, cell by cell, from the mass matrix.
    """)
    return


@app.cell(hide_code=True)
def _(alt, np, wb):
    _colours = {"sliding": "#7ab8dd", "lift-off": "#f6e27a", "indeterminate": "#d9661f", "inconsistent": "#4b2a7b"}
    _colour = alt.Color("regime:N", title=None, scale=alt.Scale(domain=list(_colours), range=list(_colours.values())))
    _x = alt.X("x:Q", title="θ [deg]", scale=alt.Scale(domain=[5, 85], nice=False))
    _y = alt.Y("y:Q", title="μ", scale=alt.Scale(domain=[0, 3], nice=False))
    _tan = np.tan(np.radians(np.linspace(5, 85, 161)))
    _curve = [
        {"x": float(x), "y": float(y)}
        for x, y in zip(np.linspace(5, 85, 161), (1 + (1 + _tan**2) / 3) / _tan, strict=True)
    ]
    _axes = dict(x=("theta", np.linspace(5, 85, 161)), y=("mu", np.linspace(0, 3, 151)))
    _maps = [
        alt.layer(
            alt.Chart(alt.Data(values=wb.painleve("rod", {"spin": spin}, **_axes).frame.to_dict("records")))
            .mark_rect(clip=True)
            .encode(x=_x, x2="x2:Q", y=_y, y2="y2:Q", color=_colour),
            alt.Chart(alt.Data(values=_curve)).mark_line(color="black", clip=True).encode(x=_x, y=_y),
        ).properties(width=260, height=240, title=f"spin {spin} rad/s")
        for spin in (0, 4)
    ]
    alt.hconcat(*_maps).properties(
        description="Regimes over angle and friction. Without spin: sliding below the critical friction, inconsistent above. "
        "With 4 rad/s the right parts, from 37.8 degrees on, are lift-off below and indeterminate above."
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The boundary between $b < 0$ and $b > 0$ in the right map is vertical, since $b$ does not depend on friction. Where
    it meets the curve $\mu_c(\theta)$ all four regimes meet.

    ## Two contacts

    A box slides to the left on two feet, $2 a$ apart, with its centre at the height $c$ above the floor. At each foot
    $i$, at $x_1 = -a$ in front and $x_2 = a$ behind, the same derivation gives the matrix

    $$M_{ij} = \frac{1}{m} + \frac{x_i (x_j + \mu c)}{I}, \qquad q = (-g, -g) .$$

    For a uniform box, $I = m (a^2 + c^2)/3$ if the box has the width $2 a$ and the height $2 c$. With $a = 1$ m,
    $c = 2$ m and $m = 1$ kg all entries are rational, and the cones are drawn exactly. Move the friction through $1/2$,
    where the box begins to tip forwards, and through the value where $M$ stops being a P-matrix.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    feet_mu = mo.ui.slider(0.0, 2.0, 0.125, value=1.5, label=r"$\mu$ of the feet", show_value=True)
    feet_mu
    return (feet_mu,)


@app.cell(hide_code=True)
def _(Fraction, feet_mu, mo, wb):
    def feet(mu):
        """The matrix of the box on two feet, in fractions, for a = 1, c = 2, m = 1."""
        inertia = Fraction(5, 3)
        return [[1 + x_i * (x_j + 2 * mu) / inertia for x_j in (-1, 1)] for x_i in (-1, 1)]

    _found = wb.check(feet(Fraction(feet_mu.value)), rhs=["-9.81", "-9.81"])
    mo.vstack([mo.Html(_found.picture().svg), mo.md(_found.words[0])])
    return (feet,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## The time step

    Where no force exists, there is still a motion. A time step of length $h$ solves for impulses and for velocities at its
    *end*, and allows the slip to stop within the step. Then the friction is no longer $\mu \lambda_n$, and a solution
    exists. For $h \to 0$ the impulse does not vanish with $h$. It tends to the impulse $p = (p_n, p_t)$ that
    stops the tip at once, with $W$ the $2 \times 2$ matrix $J M^{-1} J^T$ of the tip:

    $$W p + (0, \dot x) = 0 \quad\Rightarrow\quad p_n = \frac{W_{nt}\, \dot x}{\det W}, \qquad
      p_t = -\frac{W_{nn}\, \dot x}{\det W} .$$

    This is an *impact without collision*. In the sliding regime, in contrast, $p_n / h$ tends to the force.
    """)
    return


@app.cell
def _(mo, np, wb):
    def tip(h, **given):
        """One step of h [s] of the rod as contact data, with the parameters of the case."""
        rod = wb.cases.find("rod")().with_parameters(**given)
        q, v = rod.start()
        s = rod.sliding_system(q, v)
        return wb.ContactSystem(M=s.M, v=v, f=s.f, h=h, J_n=s.J_nu, J_t=s.J_tu, mu=rod.mu)

    _start = tip(1.0, tan_theta=2)
    _J = np.vstack([_start.J_n, _start.J_t])
    _W = _J @ np.linalg.inv(_start.M) @ _J.T
    stop = _W[0, 1] * _start.v[0] / np.linalg.det(_W)
    _rows = []
    for _mu in (1.0, 1.5):
        for _h in (1e-2, 1e-3, 1e-4):
            _answer = wb.solve(tip(_h, tan_theta=2, mu=_mu))
            assert _answer.verified
            _p, _slip = _answer.p_n[0], _answer.v[0]
            assert abs(_p / _h - 24.525) < 1e-6 if _mu == 1 else abs(_p - stop) < 10 * _h and abs(_slip) < 1e-12
            _rows.append(f"| {_mu} | {_h:g} | {_p:.6f} | {_p / _h:.3f} | {abs(_slip):.4f} |")
    mo.md(
        "| $\\mu$ | $h$ [s] | $p_n$ [N s] | $p_n/h$ [N] | speed of the tip after the step [m/s] |\n|---|---|---|---|---|\n"
        + "\n".join(_rows)
    )
    return stop, tip


@app.cell(hide_code=True)
def _(mo, stop):
    mo.md(rf"""
    With $\mu = 1$ the force is 24.525 N at every step size. With $\mu = 1.5$ the impulse tends to {stop:.4f} N s, the
    slip is zero after a single step, and $p_n/h$ grows like $1/h$: no force. In the indeterminate regime this impact
    is a third solution besides the two forces (exercise 3).

    ## Exercises
    """)
    return


@app.cell(hide_code=True)
def exercise_1(mo):
    mo.md(r"""
    ### Exercise 1

    For which $c$ and $d$ is $\begin{pmatrix} 1 & c \\ d & 1 \end{pmatrix}$ a P-matrix? Find one that is P while its
    symmetric part is not positive definite.
    """)
    return


@app.cell(hide_code=True)
def solution_1(mo, wb):
    for _c, _d, _verdict in ((2, "1/3", "P"), (2, "1/2", "not P"), (3, -2, "P"), (9, 0, "P")):
        _found = wb.check([[1, _c], [_d, 1]]).data
        assert _found["p_matrix"]["verdict"] == _verdict
        assert (_found["definiteness"]["verdict"] == "positive definite") == (_c == 3)
    mo.accordion(
        {
            "Solution": mo.md(r"""
    The diagonal is positive, so that only the determinant counts: $1 - c d > 0$. The symmetric part is positive definite
    only for $|c + d| < 2$. With $c = 9$, $d = 0$ the matrix is P and its symmetric part indefinite. At $c d = 1$ the
    matrix is singular and no longer P.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_2(mo):
    mo.md(r"""
    ### Exercise 2

    Two equal masses at the ends of a light rod have $\kappa = 1$. What is the least critical friction, and at which
    angle? And what happens in the limit in which all mass sits in the centre, $\kappa \to 0$?
    """)
    return


@app.cell(hide_code=True)
def solution_2(mo, np, wb):
    _grid = dict(x=("theta", np.linspace(20, 85, 651)), y=("mu", [0, 3]))
    _map = wb.painleve("rod", {"kappa": 1}, **_grid).map
    _least = _map.critical.min()
    assert 0 <= _least - 2 * np.sqrt(2) < 1e-5
    assert abs(_map.x.values[_map.critical.argmin()] - np.degrees(np.arctan(np.sqrt(2)))) < 0.1
    _light = wb.painleve("rod", {"kappa": 1e-4, "tan_theta": 100.005}).data["critical_friction"][0]["mu_c"]
    assert abs(_light - 0.02) < 1e-5
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    $\mu_c = 2 \sqrt{{\kappa (1 + \kappa)}} = 2 \sqrt 2$ at $\tan\theta = \sqrt 2$, or 54.7°; the workbench finds
    {_least:.5f} among 651 angles. For $\kappa \to 0$ the least critical friction goes to zero like $2 \sqrt\kappa$, at
    angles ever closer to 90°: a body that is easy to turn meets the paradox under weak friction.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_3(mo):
    mo.md(r"""
    ### Exercise 3

    At $\tan\theta = 2$, $\dot\theta = 4$ rad/s and $\mu = 1.4$ two forces satisfy the laws. Which? Take one time step of
    0.1 ms under exact Coulomb friction, and one under Stewart and Trinkle's formulation, which in the plane is exact too.
    What do you find, and is one of them wrong?
    """)
    return


@app.cell(hide_code=True)
def solution_3(mo, stop, tip, wb):
    _given = dict(tan_theta=2, mu=1.4, spin=4)
    _forces = [x.multipliers.lambda_nu[0] for x in wb.painleve("rod", _given).state.regime.answers]
    assert abs(_forces[0]) < 1e-12
    assert abs(_forces[1] - 56.2604382) < 1e-6
    _steps = [wb.solve(tip(1e-4, **_given), name) for name in ("coulomb", "stewart-trinkle")]
    assert all(step.verified for step in _steps)
    _impulses = [step.p_n[0] for step in _steps]
    # A solver may find any of the solutions; each result must be one of them.
    assert all(min(abs(p), abs(p - stop), abs(p - _forces[1] * 1e-4)) < 1e-3 for p in _impulses)
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    The forces are $0$ and $-b/a = {_forces[1]:.4f}$ N. In the step the solver for exact Coulomb friction finds
    $p_n = {_impulses[0]:.4f}$ N s and Lemke's method on Stewart and Trinkle's LCP finds $p_n = {_impulses[1]:.4f}$ N s:
    the tip lifts off, or meets an impact without collision, $W_{{nt}} \dot x/\det W = {stop:.1f}$ N s. Both are verified
    by their residuals, and both are right. The laws of rigid bodies do not select one of them, so two programs, or one
    program with two initial guesses, may give two motions.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_4(mo):
    mo.md(r"""
    ### Exercise 4

    Show that the rod that slides the other way, $\xi = +1$, never meets the paradox for $0 < \theta < 90°$.
    """)
    return


@app.cell(hide_code=True)
def solution_4(mo, np, wb):
    _grid = dict(x=("theta", np.linspace(1, 89, 45)), y=("mu", np.linspace(0, 50, 51)))
    for _spin in (0, 4):
        assert set(wb.painleve("rod", {"xi": 1, "spin": _spin}, **_grid).map.shares()) <= {"sliding", "lift-off"}
    mo.accordion(
        {
            "Solution": mo.md(r"""
    With $\xi = +1$ every term of $m a = 1 + \cos\theta (\cos\theta + \mu \sin\theta)/\kappa$ is positive: friction
    rotates the tip up. So $a > 0$, and there is exactly one force. The map up to $\mu = 50$ contains only sliding and
    lift-off.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_5(mo):
    mo.md(r"""
    ### Exercise 5

    Derive the critical friction of the box on two feet. Show that $\det M$ does not depend on $\mu$ at all, so that the
    P-property is lost on the diagonal. For which ratio of width to height is it lost first?
    """)
    return


@app.cell(hide_code=True)
def solution_5(Fraction, feet, mo, wb):
    _constant, _one = feet(Fraction(0)), feet(Fraction(1))
    _slope = [[_one[i][j] - _constant[i][j] for j in range(2)] for i in range(2)]
    _found = wb.vary(_constant, rhs=["-9.81", "-9.81"], pencil=_slope, along=("mu", 0, 3))
    assert _found.critical.exact.tolist() == ["1/2", "4/3"]
    for _mu in (Fraction(0), Fraction(1), Fraction(7)):
        (_a, _b), (_c, _d) = feet(_mu)
        assert _a * _d - _b * _c == Fraction(12, 5)
    mo.accordion(
        {
            "Solution": mo.md(r"""
    $M = \frac1m (1, 1)^T (1, 1) + \frac1I (x_1, x_2)^T (x_1 + \mu c, x_2 + \mu c)$ has the determinant
    $(x_2 - x_1)^2/(m I)$. The entry of the front foot is $1/m + a (a - \mu c)/I$, which is negative for

    $$
    \mu > \frac{a^2 + I/m}{a c} = \frac43 \frac ac + \frac13 \frac ca
    $$

    This is $\mu_c$ of the rod with $\tan\theta = c/a$, and least at $c = 2 a$, a box twice as high as wide: again $4/3$.
    It is no coincidence. Beyond $\mu = a/c = 1/2$ the box tips over its front foot, and about that foot it is the rod from
    the foot to the centre, whose $\kappa = I/(m (a^2 + c^2))$ is $1/3$ as well. `wb.vary` finds both values exactly.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What to read

    - `docs/formulary.md`, section 5 (sliding friction, the rod) and 9.7 (complementary cones).
    - Cottle, Pang and Stone, *The Linear Complementarity Problem* (1992): 1.3 complementary cones, 3.3 P-matrices
      (theorem 3.3.7), 6.1 degree.
    - Génot and Brogliato, New results on Painlevé paradoxes, *Eur. J. Mech. A/Solids* 18 (1999).
    - Champneys and Várkonyi, The Painlevé paradox in contact mechanics, *IMA J. Appl. Math.* 81 (2016).
    - Blumentals, Brogliato and Bertails-Descoubes, The contact problem in Lagrangian systems subject to bilateral and
      unilateral constraints, with or without sliding Coulomb's friction (hal-01224915): (1) to (4) and Proposition 1.
    - On the command line: `workbench painleve rod --x theta=10:85:200 --y mu=0:3:200 --out rod.html`,
      `workbench check --case rod --vary mu=0:3 --out rod.html`.
    """)
    return


if __name__ == "__main__":
    app.run()
