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
    # 8. A table with four legs

    How large is the force under each leg of a table? For three legs statics gives the answer. For four neither statics nor
    rigid-body theory does: a program that prints a number has chosen one. In 45 minutes you learn which quantities a
    contact problem determines and which it does not, how large the set of all solutions is, how formulations and solvers
    choose among them, and what can be compared between two programs.

    You need statics of a rigid body and the null space of a matrix.

    ## Three equations, four unknowns

    A rectangular table stands on four legs at $(x_i, y_i) = (\pm a, \pm b)$, $a = 0.6$ m, $b = 0.4$ m, numbered around
    the table. Weight and load together are a force $F = 100$ N through the point $(x, y)$. The floor is smooth for now. The
    normal forces $N_i \ge 0$ satisfy

    $$
    \sum N_i = F, \qquad \sum x_i N_i = x F, \qquad \sum y_i N_i = y F
    $$

    One solution is linear in the position of the leg,

    $$
    \bar N_i = \frac F4 \Big(1 + \frac{x x_i}{a^2} + \frac{y y_i}{b^2}\Big)
    $$

    and any multiple of $n = (1, -1, 1, -1)$ can be added: the legs of one diagonal press more, those of the other
    less. The sum does not change, and neither does a moment. This is a *self-stress*. A structure with a self-stress is called
    *hyperstatic*. As the forces may not be negative, what is left is a *window*

    $$
    N = \bar N + s\, n, \qquad -\min(\bar N_1, \bar N_3) \le s \le \min(\bar N_2, \bar N_4)
    $$

    Move the load, and watch the windows. The workbench finds them from the LCP $0 \le N \perp W_{nn} N + q \ge 0$ in
    exact fractions, as the set of all its solutions.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    load_x = mo.ui.slider(steps=[-0.6, -0.2, 0, 0.2, 0.6], value=0.2, label="$x$ of the load [m]", show_value=True)
    load_y = mo.ui.slider(steps=[-0.4, -0.1, 0, 0.1, 0.4], value=0.1, label="$y$ of the load [m]", show_value=True)
    mo.hstack([load_x, load_y], justify="start")
    return load_x, load_y


@app.cell
def _(Fraction, np, wb):
    a, b, height, mass, F = 0.6, 0.4, 0.7, 10.0, 100.0
    feet = np.array([[-a, -b], [a, -b], [a, b], [-a, b]])
    self_stress = np.array([1.0, -1.0, 1.0, -1.0])

    def linear(x, y):
        """Return the solution that is linear in the position of the leg [N]."""
        return F / 4 * (1 + x * feet[:, 0] / a**2 + y * feet[:, 1] / b**2)

    def table(x, y, push=0.0, mu=0.0, h=0.01, places=feet, **more):
        """One step of h [s] of the table at rest, load F at (x, y) [m], pushed along x by `push` [N] at the top."""
        inertias = mass * np.array([b**2, a**2, a**2 + b**2]) / 3
        tangents = [row for p, q in places for row in ([1, 0, 0, 0, -height, -q], [0, 1, 0, height, 0, p])]
        return wb.ContactSystem(
            M=np.diag([mass, mass, mass, *inertias]), v=np.zeros(6), f=[push, 0, -F, -F * y, F * x, 0], h=h, mu=mu,
            J_n=[[0, 0, 1, q, -p, 0] for p, q in places], J_t=tangents, **more,
        )  # fmt: skip

    def window(x, y):
        """The ends of the segment of all solutions, exactly: an LCP in fractions."""
        x, y, a_, b_, m = (Fraction(str(z)) for z in (x, y, a, b, mass))
        legs = [(-a_, -b_), (a_, -b_), (a_, b_), (-a_, b_)]
        W = [[1 / m + 3 * (p * r / a_**2 + q * s / b_**2) / m for r, s in legs] for p, q in legs]
        rhs = [-int(F) * (1 / m + 3 * (p * x / a_**2 + q * y / b_**2) / m) for p, q in legs]
        found = wb.check(W, rhs=rhs).data["solutions"]
        faces = [v for face in found["faces"] for v in face["vertices"]]
        corners = faces or [point["z"] for point in found["points"]]
        return np.array([[float(Fraction(z)) for z in corner] for corner in corners])

    return F, a, b, feet, linear, self_stress, table, window


@app.cell(hide_code=True)
def _(alt, b, a, feet, linear, load_x, load_y, mo, np, self_stress, table, wb, window):
    _x, _y = load_x.value, load_y.value
    _mean = linear(_x, _y)
    _ends = window(_x, _y)
    _low, _high = _ends.min(axis=0), _ends.max(axis=0)
    _s = [-min(_mean[0], _mean[2]), min(_mean[1], _mean[3])]
    assert np.allclose(np.sort(_ends[:, 0]), np.unique(np.round(_mean[0] + np.array(_s), 9))), "the window by hand"
    _names = ["frictionless", "stewart-trinkle", "ccp"]
    _points = []
    for _name in _names:
        _forces = wb.solve(table(_x, _y, mu=0.4), _name).p_n / 0.01
        assert np.allclose(_forces - _mean, self_stress * (_forces - _mean)[0], atol=1e-6)
        _points += [{"leg": i + 1, "N": float(f), "by": _name} for i, f in enumerate(_forces)]
    _bars = [{"leg": i + 1, "low": float(_low[i]), "high": float(_high[i])} for i in range(4)]
    _leg = alt.X("leg:O", title="leg", axis=alt.Axis(labelAngle=0))
    _scale = alt.Scale(domain=_names, range=["#111111", "#c2410c", "#1f6fb2"])
    _chart = alt.layer(
        alt.Chart(alt.Data(values=_bars))
        .mark_bar(color="#cfe3f2", size=34, stroke="#1f4e8c")
        .encode(x=_leg, y=alt.Y("low:Q", title="normal force [N]", scale=alt.Scale(domain=[0, 100])), y2="high:Q"),
        alt.Chart(alt.Data(values=_points))
        .mark_point(size=90, filled=True, opacity=1)
        .encode(
            x=_leg, y="N:Q", color=alt.Color("by:N", title=None, scale=_scale),
            shape=alt.Shape("by:N", title=None, scale=alt.Scale(domain=_names, range=["circle", "triangle-up", "square"])),
        ),
    ).properties(
        width=260, height=260,
        description=f"Windows of the four normal forces for a load at ({_x}, {_y}), and what three formulations find in them",
    )  # fmt: skip

    def _place(x, y):
        return 150 + 180 * x, 110 - 180 * y

    _legs = "".join(
        f'<circle cx="{_place(*p)[0]:.0f}" cy="{_place(*p)[1]:.0f}" r="9" fill="#fff" stroke="#222" stroke-width="2"/>'
        f'<text x="{_place(*p)[0] + (14 if p[0] > 0 else -22):.0f}" y="{_place(*p)[1] + 5:.0f}" font-size="14">{i + 1}</text>'
        for i, p in enumerate(feet)
    )
    _plan = f"""<svg viewBox="0 0 300 220" width="300" height="220" role="img"
        aria-label="The table from above, the load at {_x}, {_y}"><rect width="300" height="220" fill="#fff"/>
        <rect x="{_place(-a, b)[0]:.0f}" y="{_place(-a, b)[1]:.0f}" width="{360 * a:.0f}" height="{360 * b:.0f}"
        fill="#f3efe6" stroke="#888"/>{_legs}
        <circle cx="{_place(_x, _y)[0]:.0f}" cy="{_place(_x, _y)[1]:.0f}" r="7" fill="#c2410c"/></svg>"""
    mo.vstack(
        [
            mo.hstack([mo.Html(_plan), _chart], justify="start"),
            mo.md(
                f"Windows: {', '.join(f'leg {i + 1} [{_low[i]:.1f}, {_high[i]:.1f}] N' for i in range(4))}. The points "
                "are single answers of formulations with their default solvers; each is one point of the segment."
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Determined quantities

    With friction each leg has three impulses, 12 in all, $p = (p_n, p_t)$. The motion depends on them only through the six
    components of $J^T p$: resultant force and resultant moment. So the null space of $J^T$, the space of self-stresses, has
    at least the dimension $12 - 6 = 6$. These are one self-stress of the normal impulses, $n$, and five of the tangential
    ones, such as two legs that pull towards each other. The Delassus matrix $W = J M^{-1} J^T$ has the same null space:

    $$
    W p = 0 \quad\Leftrightarrow\quad J^T p = 0
    $$

    since $p^T W p = |J^T p|^2$ in the norm of $M^{-1}$. The velocity depends on $p$ only through $J^T p$. Therefore

    - **determined** is the resultant of all contact impulses whenever the velocity is: here the table rests, so that the
      resultant balances the load;
    - **not determined** are the impulses of single contacts. The set of all answers with this motion is convex: the
      point $p$ moves in the null space as far as $p_n \ge 0$ and $|p_t| \le \mu p_n$ allow.

    `wb.check` on a case gives the dimension and the windows. Here is the workbench's own table, on a plane of 12°:
    """)
    return


@app.cell
def _(mo, np, table, wb):
    _system = table(0.2, 0.1)
    _J = np.vstack([_system.J_n, _system.J_t])
    _W = _J @ np.linalg.inv(_system.M) @ _J.T
    assert np.linalg.matrix_rank(_W) == np.linalg.matrix_rank(_J) == 6
    assert np.linalg.matrix_rank(_system.J_n) == 3
    # The classes of matrices that a second leaves open take ten without being decided.
    _answers = wb.check("table", "coulomb", seconds=1).rows
    _kept = ("rank", "impulses", "determined", "p_n")
    mo.md(
        "| question | answer |\n|---|---|\n" + "\n".join(f"| {q} | {a} |" for q, a in _answers if q.startswith(_kept))
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## How programs choose

    The table stands on a rough floor, $\mu = 0.4$, loaded at $(0.2, 0.1)$ m and pushed along $x$ at the top by 20 N.
    Below is one step under each formulation: normal forces of the legs, and the resultant force along $x$ and $z$ and
    its moment about $x$.
    """)
    return


@app.cell
def _(np, table, wb):
    names = ["coulomb", "stewart-trinkle", "ccp", "box", "phantom-inertia", "staggered", "mujoco", "frictionless"]
    answers = {}
    for _name in names:
        try:
            answers[_name] = wb.solve(table(0.2, 0.1, push=20.0, mu=0.4), _name)
        except wb.WorkbenchError as _refusal:
            answers[_name] = str(_refusal)
    _system = table(0.2, 0.1)

    def resultant(answer):
        """Force [N] and moment [N m] of all contacts."""
        return (_system.J_n.T @ answer.p_n + _system.J_t.T @ answer.p_t) / 0.01

    for _name in ("coulomb", "stewart-trinkle", "ccp", "box"):
        assert answers[_name].verified
        assert np.abs(answers[_name].v).max() < 1e-9
        assert np.allclose(resultant(answers[_name]), [-20, 0, 100, 10, -20, 0], atol=1e-6)
    return answers, resultant


@app.cell(hide_code=True)
def _(answers, mo, resultant):
    def _row(name, answer):
        if isinstance(answer, str):
            return f"| {name} | refused | | | | | | | dependent rows |"
        if not answer.verified:
            return f"| {name} | no answer | | | | | | | {answer.status.name} |"
        total = resultant(answer)
        speed = abs(answer.v).max()
        numbers = [*(answer.p_n / 0.01), total[0], total[2], total[3]]
        motion = "rests" if speed < 1e-9 else f"moves, up to {1000 * speed:.0f} mm/s"
        return f"| {name} | " + " | ".join(f"{x + 0.0:.1f}" for x in numbers) + f" | {motion} |"

    mo.md(
        "| formulation | $N_1$ | $N_2$ | $N_3$ | $N_4$ | $F_x$ | $F_z$ | $M_x$ | |\n|---|---|---|---|---|---|---|---|---|\n"
        + "\n".join(_row(name, answer) for name, answer in answers.items())
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    - `coulomb`, `stewart-trinkle`, `ccp` and `box` agree on the motion and on the resultant, but not on the legs.
      `stewart-trinkle` and `box` are solved by pivoting, which ends in a vertex of the set of answers, where some leg
      carries nothing. The solvers of `coulomb` and `ccp` do not pivot, and stay inside.
    - `phantom-inertia` eliminates the friction impulses and needs independent rows: it refuses. The message says what
      helps, a compliance.
    - `staggered` projects normal and tangential impulses in turn, and its passes do not converge here.
    - `mujoco` is soft, and its solution unique: it is not rigid, and penetrates in this first step.
    - `frictionless` does not hold the pushed table, and has another resultant.

    Comparing two programs leg by leg is therefore meaningless, even with tiny residuals. The workbench's
    reports compare the *net wrench* of all contacts and the motion there, and say so (`determined`, `free_directions`,
    `wrench_error`).

    ## A compliance chooses

    Real legs are springs. A leg of stiffness $k$ and damping $b$ is a row with the compliance $\varepsilon = 1/(k h^2 + b h)$:

    $$
    0 \le p_n \perp u_n + \varepsilon p_n \ge 0
    $$

    Then $W_{nn} + \operatorname{diag} \varepsilon$ is positive definite, and the answer unique. Which of the rigid answers
    does it tend to when all $\varepsilon_i = \tau e_i$ become small in proportion? The unique solution minimises
    $\frac12 p^T (W + \tau \operatorname{diag} e) p + q^T p$ over $p \ge 0$. On the set of rigid answers the first part is
    constant. What remains is

    $$
    \min \; \sum e_i N_i^2 \quad \text{over the window} \quad\Rightarrow\quad
    s = -\frac{\sum e_i n_i \bar N_i}{\sum e_i}, \text{ cut off at the ends of the window}
    $$

    With equal legs this is $s = 0$: the linear distribution $\bar N$ of the textbooks. Soften leg 1:
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    softness = mo.ui.slider(
        steps=[0.01, 0.1, 0.3, 1, 3, 10, 100],
        value=3,
        label="compliance of leg 1 over that of the others",
        show_value=True,
    )
    softness
    return (softness,)


@app.cell(hide_code=True)
def _(linear, mo, np, self_stress, softness, table, wb):
    _e = np.array([softness.value, 1.0, 1.0, 1.0])
    _mean = linear(0.2, 0.1)
    _s = -(_e * self_stress * _mean).sum() / _e.sum()
    _s = np.clip(_s, -min(_mean[0], _mean[2]), min(_mean[1], _mean[3]))
    _rows = ["| rule | " + " | ".join(f"{x:.3f}" for x in _mean + _s * self_stress) + " |"]
    for _tau in (1e-2, 1e-4, 1e-6):
        _forces = wb.solve(table(0.2, 0.1, mu=0.4, eps_n=_tau * _e)).p_n / 0.01
        _rows.append(f"| $\\tau$ = {_tau:g} / kg | " + " | ".join(f"{x:.3f}" for x in _forces) + " |")
    assert np.allclose(_forces, _mean + _s * self_stress, atol=0.01)
    mo.md("| | $N_1$ | $N_2$ | $N_3$ | $N_4$ |\n|---|---|---|---|---|\n" + "\n".join(_rows))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    A soft leg transfers load to its neighbours, and so does the opposite leg, although its stiffness is unchanged. So the
    solution in the limit of rigid legs depends on the *ratio* of the vanishing compliances. "The rigid limit" is not
    unique; a regularisation that makes a matrix invertible determines the forces.
    """)
    return


@app.cell(hide_code=True)
def exercise_1(mo):
    mo.md(r"""
    ## Exercises

    ### Exercise 1

    For which positions of the load are all four forces determined? And where is the window of leg 1 widest?
    """)
    return


@app.cell(hide_code=True)
def solution_1(F, a, b, linear, mo, np, window):
    def _width(x, y):
        mean = linear(x, y)
        return min(mean[0], mean[2]) + min(mean[1], mean[3])

    for _x, _y in ((a, 0.1), (-a, 0.0), (0.3, b), (a, b)):
        assert abs(_width(_x, _y)) < 1e-9
        assert len(window(_x, _y)) == 1
    _grid = [(x, y) for x in np.linspace(-a, a, 41) for y in np.linspace(-b, b, 41)]
    _widths = [_width(x, y) for x, y in _grid]
    assert min(w for (x, y), w in zip(_grid, _widths, strict=True) if abs(x) < a and abs(y) < b) > 0
    assert abs(max(_widths) - F / 2) < 1e-9
    assert np.allclose(_grid[int(np.argmax(_widths))], 0)
    mo.accordion(
        {
            "Solution": mo.md(r"""
    The width is $\min(\bar N_1, \bar N_3) + \min(\bar N_2, \bar N_4)$. With $\xi = |x|/a$ and $\eta = |y|/b$ it is
    $\frac F4 (1 - (\xi + \eta)) + \frac F4 (1 - |\xi - \eta|) = \frac F2 (1 - \max(\xi, \eta))$. It is zero exactly on the
    edge of the table, where two legs carry nothing and the other two are a beam. It is largest in the centre: each leg
    then carries anything from 0 to $F/2$.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_2(mo):
    mo.md(r"""
    ### Exercise 2

    Show that three legs, not in a line, have determined normal forces. Are their friction forces determined too? Give the
    dimension of the space of self-stresses for a body with $k$ contacts, with and without friction.
    """)
    return


@app.cell(hide_code=True)
def solution_2(mo, np, table, wb):
    _angles = 2 * np.pi * np.arange(7) / 7
    _places = np.c_[np.cos(_angles), np.sin(_angles)]
    _found = {}
    for _k in range(2, 8):
        _system = table(0, 0, places=_places[:_k])
        _J = np.vstack([_system.J_n, _system.J_t])
        _found[_k] = _k - np.linalg.matrix_rank(_system.J_n), 3 * _k - np.linalg.matrix_rank(_J)
    assert _found == {2: (0, 1)} | {k: (k - 3, 3 * k - 6) for k in range(3, 8)}
    _three = table(0, 0, places=_places[:3])
    _W = _three.J_n @ np.linalg.inv(_three.M) @ _three.J_n.T
    assert wb.check(_W).data["p_matrix"]["verdict"] == "P"
    mo.accordion(
        {
            "Solution": mo.md(r"""
    The three rows $(1, y_i, -x_i)$ of $J_n$ are independent exactly if the legs are not in a line. Then $W_{nn}$ is positive
    definite, a P-matrix, and the LCP has one solution. For $k \ge 3$ legs the normal self-stresses have the dimension
    $k - 3$, and all together $3 k - 6$: for three legs three, in which pairs of legs pull at each other along the line
    between them. With friction even a stool is hyperstatic. Two contacts have one self-stress, along the line that joins
    them: the pinch of two fingers.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_3(mo):
    mo.md(r"""
    ### Exercise 3

    Prove that Lemke's method, which returns a basic solution, must leave at least one leg of the frictionless table
    without load wherever the window has a width. Check it with `wb.trace`.
    """)
    return


@app.cell(hide_code=True)
def solution_3(Fraction, mo, wb):
    _x, _y, _m = Fraction(1, 2), Fraction(1, 2), Fraction(10)
    _legs = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    _W = [[(1 + 3 * (p * r + q * s)) / _m for r, s in _legs] for p, q in _legs]
    _q = [-100 * (1 + 3 * (p * _x + q * _y)) / _m for p, q in _legs]
    _found = wb.trace(_W, rhs=_q, solver="lemke")
    _z = _found.trace.steps[-1].z
    assert min(_z) == 0
    assert sum(_z) == 100
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    A basic solution has independent columns of $W_{{nn}}$ at its positive unknowns. All four columns together are
    dependent, $W_{{nn}} n = 0$, so at most three are positive. The columns of two legs on a diagonal and any third leg are
    independent; so three legs may bear. For a load half way to leg 3, in coordinates $x/a$, $y/b$, the workbench says:
    {_found.words[0]} A table of rigid legs on a rigid floor, computed by Lemke's method, wobbles.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_4(mo):
    mo.md(r"""
    ### Exercise 4

    Friction makes another window. The table carries its load in the centre and is not pushed. Between which limits can
    the friction force of leg 1 along $x$ lie? (Legs 1 and 2 may pull at each other, and so may legs 3 and 4.) Give at least
    one set of forces in which all four legs use their friction fully, and check it with Coulomb's law.
    """)
    return


@app.cell(hide_code=True)
def solution_4(F, mo, np, table):
    _mu, _N = 0.4, np.full(4, F / 4)
    _T = _mu * _N[:, None] * np.array([[1, 0], [-1, 0], [-1, 0], [1, 0]])
    _system = table(0, 0, mu=_mu)
    _total = _system.J_n.T @ _N + _system.J_t.T @ _T.ravel()
    assert np.allclose(_total + _system.f, 0)
    # Largest force of leg 1: the diagonal 1, 3 takes the whole load, and its legs push towards each other.
    _N_1 = np.array([F / 2, 0, F / 2, 0])
    _along = np.array([0.6, 0.4]) / np.hypot(0.6, 0.4)
    _T_1 = _mu * _N_1[:, None] * np.array([_along, [0, 0], -_along, [0, 0]])
    assert np.allclose(_system.J_n.T @ _N_1 + _system.J_t.T @ _T_1.ravel() + _system.f, 0)
    assert _T_1[0, 0] > _T[0, 0]
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    With $N_i = F/4$ and $T = \mu F/4\,(1, -1, -1, 1)$ along $x$ the sum is zero and the moment too, nothing moves, so any
    friction within the cone obeys Coulomb's law: leg 1 has {_T[0, 0]:.1f} N. The normal forces may help: if the diagonal
    1, 3 bears all, legs 1 and 3 may push towards each other with $\mu F/2$, and leg 1 has {_T_1[0, 0]:.2f} N along $x$,
    which is $\mu F/2 \cdot a/\sqrt{{a^2 + b^2}}$. By symmetry the window reaches at least from $-${_T_1[0, 0]:.2f} to
    $+${_T_1[0, 0]:.2f} N. None of this can be seen from outside.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What to read

    - `docs/formulary.md`, section 1 (Delassus operator), 4 (constraint relaxation, (40) to (43)), 7.1 (what the motion
      determines) and 7.9 (where impulses are not unique).
    - A. Peiret, J. Kövecses, J. M. Font-Llagunes, *A friction model for non-singular complementarity formulations*,
      DETC2017-67988: (39) to (43), relaxation of redundant contacts.
    - V. Acary, B. Brogliato, *Numerical Methods for Nonsmooth Dynamical Systems* (2008), on hyperstaticity and the Delassus
      operator.
    - R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem* (1992), section 3.1: solution sets of
      positive semidefinite LCPs are convex.
    - On the command line: `workbench check --case cube -f phantom-inertia:rho=1 --at 0.2`, `workbench compare table`.
    """)
    return


if __name__ == "__main__":
    app.run()
