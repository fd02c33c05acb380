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
    # 5. Rank: redundant friction directions

    The matrix of a frictional LCP is nearly always singular, not because of the bodies but because of how
    friction is written. This lesson shows where rank is lost, how a singular matrix affects solutions and solvers, and
    what *phantom inertia* (Peiret, Kövecses and Font-Llagunes, DETC2017-67988) changes: only the matrix.
    You need lessons 1 and 3.

    ## Where rank is lost

    One contact in space, $n_d = 4$ directions. Stewart and Trinkle write friction as a nonnegative combination of the unit
    vectors $\pm x, \pm y$:

    $$
    p_t = A \beta, \qquad A = \begin{pmatrix} 1 & 0 & -1 & 0 \\ 0 & 1 & 0 & -1 \end{pmatrix}, \qquad \beta \ge 0
    $$

    Two numbers are written as four. Add 1 to both $\beta_0$ and $\beta_2$, and $p_t$ stays. Of the problem's rows only
    $\sigma \perp \mu p_n - \sum_j \beta_j$ notices. It takes a change that keeps the sum as well: with
    $x = (1, -1, 1, -1)$, $A x = 0$ and $\sum_j x_j = 0$. So the lead matrix

    $$
    \begin{pmatrix} W_{nn} & W_{nt} A & 0 \\ A^T W_{tn} & A^T W_{tt} A & E \\ \mu & -E^T & 0 \end{pmatrix}
    $$

    maps $(0, x, 0)$ to zero. With $n_d$ directions the vectors with $A x = 0$ and $\sum_j x_j = 0$ have $n_d - 3$
    dimensions; that much rank is missing at every contact. In the *discrete velocity* formulation (Glocker 2001)
    two unknowns $w_{up}, w_{lo}$ enter each axis through one and the same column, as $w_{up} - w_{lo}$, and it lacks even
    $n_d - 2$. The workbench counts:
    """)
    return


@app.cell
def _(mo, wb):
    ranks = {
        (name, n): wb.check("spatial-particle", f"{name}:directions={n}", seconds=0.05).data
        for name in ("stewart-trinkle", "discrete-velocity")
        for n in (4, 6, 8, 12)
    }
    for (_name, _n), _data in ranks.items():
        _missing = _data["size"]["reduced"] - _data["rank"]["reduced"]
        assert _missing == (_n - 3 if _name == "stewart-trinkle" else _n - 2)
    mo.md(
        "| formulation | directions | order | rank | missing |\n|---|---|---|---|---|\n"
        + "\n".join(
            f"| {name} | {n} | {d['size']['reduced']} | {d['rank']['reduced']} | "
            f"{d['size']['reduced'] - d['rank']['reduced']} |"
            for (name, n), d in ranks.items()
        )
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Consequences

    An LCP with a singular matrix may have a solution, and often has many. Take a particle of 1 kg at rest that is pressed on the plane by
    a normal impulse of 1, and pushed by $(1/10, 1/5)$, $\mu = 1/2$: it sticks. In exact arithmetic:
    """)
    return


@app.cell
def _(Fraction, mo, np, wb):
    _A = [[1, 0, -1, 0], [0, 1, 0, -1]]
    _M = [["0"] * 6 for _ in range(6)]
    _M[0][0] = "1"
    for _i in range(4):
        _M[1 + _i][1:5] = [str(sum(_A[k][_i] * _A[k][j] for k in range(2))) for j in range(4)]
        _M[1 + _i][5], _M[5][1 + _i] = "1", "-1"
    _M[5][0] = "1/2"
    stick = wb.check(_M, rhs=["-1", "1/10", "1/5", "-1/10", "-1/5", "0"], seconds=5)
    _solutions = stick.data["solutions"]
    assert stick.data["rank"]["exact"] == 5
    assert _solutions["count"] != 1
    _corners = [[float(Fraction(x)) for x in v] for face in _solutions["faces"] for v in face["vertices"]]
    _friction = np.array(_corners)[:, 1:5] @ np.array(_A, dtype=float).T
    assert np.allclose(_friction, [-0.1, -0.2])
    mo.md(
        f"Rank {stick.data['rank']['exact']} of 6; the solutions form a set of dimension {_solutions['dimension']}, and its corners are, "
        "as $(p_n, \\beta_0, \\beta_1, \\beta_2, \\beta_3, \\sigma)$:\n\n"
        + "\n".join(
            f"- ({', '.join(v)})" for v in dict.fromkeys(tuple(v) for f in _solutions["faces"] for v in f["vertices"])
        )
        + "\n\nIn all of them $p_t = A\\beta = (-1/10, -1/5)$, and the velocity is zero."
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Where the particle sticks, $\sigma = 0$ and its row has slack, so that only $A\beta$ is determined: two of four numbers.
    The motion is not affected, since $p_t$ and the velocity are the same in all of them. Methods are. Lemke's works, since
    it only needs a regular current basis. Methods that need a P-matrix (Murty's, block pivoting) lose their guarantee, and
    a method that inverts all of $M$ fails.

    ## Phantom inertia

    Here is the idea of Peiret et al. Let a contact in the plane stand for one axis. Discrete velocity has $u_t = w_{up} - w_{lo}$ and

    $$
    0 \le w_{up} \perp \mu p_n + p_t \ge 0, \qquad 0 \le w_{lo} \perp \mu p_n - p_t \ge 0
    $$

    Put a mass $\rho$ between the two:

    $$
    0 \le w_{up} \perp \mu p_n + p_t + \rho\, w_{lo} \ge 0, \qquad 0 \le w_{lo} \perp \mu p_n - p_t + \rho\, w_{up} \ge 0
    $$

    For a particle, $p_t = m(u_t - v_x) = m (w_{up} - w_{lo} - v_x)$, and with $p_n$ held fixed the matrix for $(w_{up}, w_{lo})$ is

    $$
    M_\rho = \begin{pmatrix} m & \rho - m \\ \rho - m & m \end{pmatrix}, \qquad \det M_\rho = m^2 - (\rho - m)^2 = \rho\,(2m - \rho)
    $$

    Without phantom inertia, $\rho = 0$, it is singular. For $0 < \rho < 2m$ all principal minors are positive: a P-matrix, one
    solution for every load. At $\rho = 2m$ it is singular again, and beyond, no P-matrix.
    Move $\rho$ (for $m = 1$ kg) and watch the complementary cones (lesson 4) open, cover the plane once, and fold over.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    phantom = mo.ui.slider(0, 3, 0.25, value=0.5, label=r"phantom inertia $\rho$ [kg]", show_value=True)
    phantom
    return (phantom,)


@app.cell
def _(mo, phantom, wb):
    _rho = phantom.value
    _checked = wb.check([[1, _rho - 1], [_rho - 1, 1]])
    _verdict = _checked.data["p_matrix"]["verdict"]
    assert (_verdict == "P") == (0 < _rho < 2)
    mo.vstack(
        [
            mo.md(f"$\\rho$ = {_rho:g} kg: $\\det M_\\rho$ = {_rho * (2 - _rho):g}, {_verdict}."),
            mo.Html(_checked.picture().svg),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## In space

    With $k = n_d / 2$ axes $E = (e_1, ..., e_k)$, $\pi/k$ apart, the whole matrix for $(p_n, w_{up}, w_{lo})$ of a particle is

    $$
    \begin{pmatrix} 1/m & 0 & 0 \\ \mu & m E^T E & \rho - m E^T E \\ \mu & \rho - m E^T E & m E^T E \end{pmatrix}
    $$

    where $\rho$ stands for $\rho I$. Add the second block column to the first, and subtract the first block row from the
    second: with $G = m E^T E$ the determinant is $\frac1m \det(\rho I) \det(2 G - \rho I)$. It is zero where $\rho = 0$, or where
    $\rho$ is twice an eigenvalue of $G$.
    $E^T E$ has the eigenvalue $k/2$, twice, and $k - 2$ zeros. For two axes: singular at $\rho = 0$ and $\rho = 2m$ alone.
    """)
    return


@app.cell
def _(np):
    def phantom_matrix(k, rho, m=1.0, mu=0.5):
        """The reduced matrix of a particle in space with k axes, order 1 + 2 k."""
        angles = np.pi * np.arange(k) / k
        E = np.array([np.cos(angles), np.sin(angles)])
        G, one = m * E.T @ E, mu * np.ones((k, 1))
        off = rho * np.eye(k) - G
        return np.block([[np.array([[1 / m]]), np.zeros((1, 2 * k))], [one, G, off], [one, off, G]])

    return (phantom_matrix,)


@app.cell
def _(np, phantom_matrix, wb):
    for _k in (2, 4):
        for _rho in (0.3, 1.0, 1.7, 5.0):
            _G = phantom_matrix(_k, _rho)[1 : 1 + _k, 1 : 1 + _k]
            _formula = np.prod(_rho * (2 * np.linalg.eigvalsh(_G) - _rho))
            assert np.isclose(np.linalg.det(phantom_matrix(_k, _rho)), _formula)
            assert np.isclose(_formula, _rho ** (2 * _k - 2) * (_k - _rho) ** 2)
        # The same as the workbench's matrix: it reports the values at which that one is singular.
        _report = wb.check(
            "spatial-particle", f"phantom-inertia:axes=fixed,directions={2 * _k},rho=1", seconds=0.3
        ).data
        assert np.allclose(_report["rho"]["singular_values"], _k)
    rhos = np.linspace(0, 4.5, 181)
    determinants = {k: [np.linalg.det(phantom_matrix(k, rho)) for rho in rhos] for k in (2, 4)}
    return determinants, rhos


@app.cell(hide_code=True)
def _(alt, determinants, rhos):
    _rows = [
        {"rho": round(float(x), 4), "det": round(float(y), 5), "axes": f"{k} axes"}
        for k, values in determinants.items()
        for x, y in zip(rhos, values, strict=True)
    ]
    alt.Chart(alt.Data(values=_rows)).mark_line(clip=True).encode(
        x=alt.X("rho:Q", title="phantom inertia ρ [kg]"),
        y=alt.Y("det:Q", title="determinant", scale=alt.Scale(domain=[-0.5, 6])),
        color=alt.Color("axes:N", scale=alt.Scale(range=["#2b5a8c", "#e08a1e"]), title=None),
        strokeDash=alt.StrokeDash("axes:N", scale=alt.Scale(range=[[1, 0], [6, 3]]), title=None),
    ).properties(
        width=480, height=220,
        description="Determinant over rho for a particle of 1 kg: zero at 0 and 2 kg for two axes, at 0 and 4 kg for four",
    )  # fmt: skip
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    For two axes the curve is $\rho^2 (2 - \rho)^2$, which touches zero at 2. For four axes it is $\rho^6 (4 - \rho)^2$: no zero
    between 0 and 4, but *nowhere* a P-matrix (exercise 4). The determinant is only one of many minors.

    ## The wheel: rank and roundoff

    `wb.check` poses the first step of a case, and reports rank, verdict and the window of $\rho$; here for the wheel with two
    fixed axes, over fifteen decades of $\rho$.
    """)
    return


@app.cell
def _(mo, wb):
    _rows = []
    for _rho in (1e-15, 1e-14, 1e-8, 0.1, 1, 1.15, 1.16, 10):
        _data = wb.check("wheel", f"phantom-inertia:axes=fixed,rho={_rho}").data
        _rows.append((_rho, _data["rank"]["reduced"], _data["size"]["reduced"], *_data["p_matrix"].values()))
    wheel = wb.check("wheel", "phantom-inertia:axes=fixed,rho=1").data["rho"]
    assert [row[1] for row in _rows] == [3] + [5] * 7
    assert [row[3] for row in _rows] == ["P"] * 6 + ["not P"] * 2
    assert _rows[6][4] == "minor of rows [2, 4]"
    mo.md(
        "| ρ [kg] | numerical rank | P-matrix, exactly |\n|---|---|---|\n"
        + "\n".join(f"| {rho:g} | {rank} of {order} | {verdict} |" for rho, rank, order, verdict, _ in _rows)
        + f"\n\nSingular at {' and '.join(f'{x:.3f}' for x in wheel['singular_values'])} kg; a P-matrix up to {wheel['p_limit']:.3f} kg."
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    At $\rho = 10^{-15}$ kg the matrix of doubles *is* a P-matrix, as exact arithmetic proves, so its determinant is positive.
    But the floating-point rank is 3 of 5: two singular values are below roundoff. That the rank is full for almost all
    $\rho > 0$ with independent contacts is a theorem, which does not say how large $\rho$ should be. Take $\rho$ of the order
    of the effective masses. The default of the workbench is half of the bound $2/\lambda_{max}(W_{tt})$ below which the matrix
    can be P.

    The wheel's P-window ends at 1.152 kg, before the first zero of the determinant at 1.197 kg: the minor of rows 2 and 4
    vanishes first.

    ## The step does not change

    Here is a block that slides, and one that is pushed and sticks, with $\rho$ from $10^{-6}$ to 10 kg:
    """)
    return


@app.cell
def _(mo, np, wb):
    def pushed(v):
        return wb.ContactSystem(
            M=np.eye(3), v=v, f=[1, 0, -9.81], h=0.01, J_n=[[0, 0, 1]], J_t=[[1, 0, 0], [0, 1, 0]], mu=0.5
        )

    _steps = {}
    for _words, _v in (("slides", [0.6, 0.8, 0]), ("sticks", [0.01, 0.02, 0])):
        for _rho in (1e-6, 0.5, 1.9, 10):
            _steps[_words, _rho] = wb.solve(pushed(_v), f"phantom-inertia:axes=fixed,rho={_rho}")
            assert _steps[_words, _rho].verified
            assert np.allclose(_steps[_words, _rho].v, _steps[_words, 1e-6].v, atol=1e-14)
    mo.md(
        "| the block | ρ [kg] | velocity after the step [m/s] | friction [N s] |\n|---|---|---|---|\n"
        + "\n".join(
            f"| {words} | {rho:g} | ({', '.join(f'{x + 0:.6f}' for x in a.v.round(12))}) | ({', '.join(f'{x:.6f}' for x in a.p_t)}) |"
            for (words, rho), a in _steps.items()
        )
    )
    return (pushed,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    No digit depends on $\rho$: the inertia affects only the matrix, not the motion. Exercise 1 asks why. So the accuracy that
    the paper reports for the wheel does not come from $\rho$, but from rotating the two axes with the slip (lesson 3,
    exercise 4).
    """)
    return


@app.cell(hide_code=True)
def exercise_1(mo):
    mo.md(r"""
    ### Exercise 1

    Show: at a solution with $\rho > 0$, one of $w_{up}, w_{lo}$ is zero for any $p_n \ge 0$ and $p_t$. Conclude that it is
    also a solution without phantom inertia.
    """)
    return


@app.cell(hide_code=True)
def solution_1(mo, np, pushed, wb):
    _random = np.random.default_rng(3)
    for _ in range(60):
        _system = pushed([*_random.normal(0, 0.05, 2), 0.0])
        _plain = wb.solve(_system, "discrete-velocity")
        _with = wb.solve(_system, f"phantom-inertia:axes=fixed,rho={_random.uniform(0.01, 5):.3f}")
        assert _plain.verified
        assert _with.verified
        assert np.allclose(_plain.v, _with.v, atol=1e-12)
    mo.accordion(
        {
            "Solution": mo.md(r"""
    Write $a = \mu p_n + p_t$ and $b = \mu p_n - p_t$, so that $a + b = 2\mu p_n \ge 0$. If both $w_{up}$ and $w_{lo}$ were
    positive, both complements would vanish: $a = -\rho w_{lo} < 0$ and $b = -\rho w_{up} < 0$, against $a + b \ge 0$. So one is
    zero. If $w_{lo} = 0$, the first condition is $0 \le w_{up} \perp a \ge 0$, as without $\rho$; and the second,
    $b + \rho w_{up} \ge 0$: where $w_{up} > 0$, $a = 0$ and $b = 2 \mu p_n \ge 0$, and where $w_{up} = 0$ it says $b \ge 0$. So
    the conditions without $\rho$ hold. Of all the solutions of the singular problem, $\rho$ selects those in which at most
    one is positive. The cell of this solution compares 60 random steps.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_2(mo):
    mo.md(r"""
    ### Exercise 2

    Prove the counts $n_d - 3$ and $n_d - 2$ for one contact with $W$ positive definite: which vectors does each matrix map to
    zero, and why no others? (For discrete velocity, take $\rho = 0$ in the matrix above.)
    """)
    return


@app.cell(hide_code=True)
def solution_2(mo, np, phantom_matrix):
    def _directions_matrix(n, mu=0.5):
        turn = 2 * np.pi * np.arange(n) / n
        A, one = np.array([np.cos(turn), np.sin(turn)]), np.ones((n, 1))
        return np.block(
            [
                [np.ones((1, 1)), np.zeros((1, n + 1))],
                [np.zeros((n, 1)), A.T @ A, one],
                [np.array([[mu]]), -one.T, np.zeros((1, 1))],
            ]
        )

    for _n in (4, 6, 8, 10, 12):
        assert np.linalg.matrix_rank(_directions_matrix(_n)) == 5
        assert np.linalg.matrix_rank(phantom_matrix(_n // 2, 0.0)) == 3
    mo.accordion(
        {
            "Solution": mo.md(r"""
    *Stewart-Trinkle.* Let $(p, x, s)$ be mapped to zero. The second rows say
    $A^T (W_{tn} p + W_{tt} A x) + s E = 0$, where $E$ is a column of ones. The rows of $A$ hold cosines and sines of
    evenly spaced angles; they and $E$ are independent. So $s = 0$ and $W_{tn} p + W_{tt} A x = 0$. With the first row,
    $W_{nn} p + W_{nt} A x = 0$, that is $W y = 0$ for $y = (p, A x)$, and $W$ is regular: $p = 0$, $A x = 0$. Then the last
    row says $E^T x = 0$. Every such $(0, x, 0)$ is mapped to zero indeed. These are three independent conditions on $x$.

    *Discrete velocity*, $\rho = 0$: $p = 0$ from the first row, and then $G (x_{up} - x_{lo}) = 0$, that is
    $E (x_{up} - x_{lo}) = 0$: two conditions on $2k = n_d$ numbers.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_3(mo):
    mo.md(r"""
    ### Exercise 3

    Does phantom inertia help against redundant contacts? Give the particle in the plane the same contact twice, and work out the
    determinant for $(p_{n,0}, p_{n,1})$ alone. What does? Look for `eps_n` in the documentation of `wb.ContactSystem`.
    """)
    return


@app.cell(hide_code=True)
def solution_3(mo, np, wb):
    def _twice(**relaxed):
        return wb.ContactSystem(
            M=np.eye(2), v=[0, 0], f=[1, -9.81], h=0.01, J_n=[[0, 1], [0, 1]], J_t=[[1, 0], [1, 0]], mu=0.5, **relaxed
        )

    try:
        _refusal = ""
        wb.solve(_twice(), "phantom-inertia:rho=0.5")
    except wb.DataError as error:
        _refusal = str(error)
    _soft = wb.solve(_twice(eps_n=1e-4, eps_t=1e-4), "phantom-inertia:rho=0.5")
    assert np.linalg.matrix_rank(_twice().J_n @ _twice().J_n.T) == 1
    assert "dependent rows" in _refusal
    assert _soft.verified
    assert np.allclose(_soft.p_n, 0.5 * 0.0981, atol=1e-4)
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    No. The normal rows have $W_{{nn}} = \frac1m \begin{{pmatrix}} 1 & 1 \\ 1 & 1 \end{{pmatrix}}$, with determinant zero, and $\rho$ does
    not occur in them. Here even the reduction to an LCP fails, since it needs the inverse of $W_{{tt}}$, which is as
    singular, and the workbench says so: "{_refusal.partition(":")[0]}: ... {_refusal.rpartition(";")[2].strip()}". Relaxation does help: `eps_n` and `eps_t` add a compliance to the diagonal of
    $W$, and the two contacts share the weight evenly, {_soft.p_n[0]:.4f} N s each (formulary, section 4).
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_4(mo):
    mo.md(r"""
    ### Exercise 4

    Why is the matrix with $k \ge 3$ axes not a P-matrix for any $\rho$? Find a principal minor that is zero.
    """)
    return


@app.cell(hide_code=True)
def solution_4(mo, np, phantom_matrix, wb):
    for _k in (3, 4, 6):
        for _rho in (0.1, 1.0, 2.0):
            _three = phantom_matrix(_k, _rho)[1:4, 1:4]
            assert abs(np.linalg.det(_three)) < 1e-12
    _found = wb.check("spatial-particle", "phantom-inertia:axes=fixed,directions=8,rho=1")
    assert _found.data["p_matrix"]["verdict"] == "not P"
    mo.accordion(
        {
            "Solution": mo.md(r"""
    The block of $w_{up}$ is $G = m E^T E$, of rank two, since $E$ has two rows. Any three of its rows and columns have the
    determinant zero, and $\rho$ stands elsewhere. `wb.check` names the rows: 1, 2, 3. Two axes are the most that
    phantom inertia can make P.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What to read

    - A. Peiret, J. Kövecses, J. M. Font-Llagunes, *A friction model for non-singular complementarity formulations*,
      DETC2017-67988: (5) to (9) discrete velocity, (10), (11), (18) to (20) phantom inertia, (35) the lead matrix.
    - C. Glocker, *Set-Valued Force Laws* (2001), for the discrete velocity.
    - M. Anitescu, F. A. Potra (1997), Nonlinear Dynamics 14: why Lemke's method does not need the rank.
    - The workbench's `docs/formulary.md`: section 2 (all three formulations, with their ranks and the window of $\rho$), section
      4 (relaxation). `workbench show phantom-inertia` prints the block matrix.
    """)
    return


if __name__ == "__main__":
    app.run()
