import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell(hide_code=True)
def _():
    from fractions import Fraction

    import marimo as mo
    import numpy as np

    import workbench as wb

    return Fraction, mo, np, wb


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # 4. Lemke's method, step by step

    Lesson 1 ended with a linear complementarity problem (LCP): given $M$ and $q$, find $z$ and $w$ with

    $$
    w = M z + q, \qquad 0 \le z \perp w \ge 0
    $$

    There are $2^n$ choices of which of $z_i$ and $w_i$ is zero. Lemke's method (1965) follows a path through them, one
    exchange at a time, and ends with a solution or on a ray to infinity. Most contact codes with LCPs use it. This lesson
    follows it in fractions, shows how it can cycle, and asks what a ray proves.
    All numbers here are exact. Indices count from zero, as in the workbench. You need lesson 1.

    ## A picture first

    Write the problem as $q = I w - M z$ with one of $z_i, w_i$ zero for each $i$. So $q$ has to be a nonnegative
    combination of columns, taken from $I$ or from $-M$, one for each $i$. Such a choice spans a *complementary cone*, and a
    solution is a cone that contains $q$. For two unknowns the cones are four sectors of the plane. If, for every $q$, there is
    exactly one solution, the sectors cover the plane once, and $M$ is called a P-matrix.

    Lemke's method adds a multiple of $e = (1, ..., 1)$ and considers $q + t e$. For large $t$ all entries are positive:
    $z = 0$ and $w = q + t e$ is a solution. The method lowers $t$ to zero while keeping the other conditions. In the
    picture this is a straight line from infinity to $q$. Where it crosses from one cone into the next, one column is
    exchanged.
    """)
    return


@app.cell
def _(mo):
    turn = mo.ui.slider(0, 360, 15, value=240, label="direction of q [°]", show_value=True)
    turn
    return (turn,)


@app.cell
def _(mo, np, turn, wb):
    _q = [str(round(10 * x)) for x in (3 * np.cos(np.radians(turn.value)), 3 * np.sin(np.radians(turn.value)))]
    walk = wb.trace([[2, 1], [1, 3]], rhs=_q)
    mo.vstack([mo.md(f"$q = ({', '.join(_q)})$. {walk.words[0]}"), mo.Html(walk.picture().svg)])
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## In numbers

    Solve the $n$ equations $w = q + M z + t e$ for $n$ unknowns at a time, the *basic* ones. The others are zero. One
    exchange, a *pivot*:

    1. First $t$ enters. The most negative $w_i$ leaves: with $t = -\min q_i$ all entries are nonnegative.
    2. After $w_i$ has left, its complement $z_i$ enters (if $z_i$ left, $w_i$ enters). So the two are never both positive.
    3. The entering unknown grows from zero until the first basic one reaches zero. That one leaves: the *ratio test*.
    4. If $t$ leaves, we have a solution. If no basic unknown falls, the entering one may grow without bound: a *ray*.

    Here is an example with three unknowns. Move to the next pivot; the bracket marks the number in the row of the leaving
    and the column of the entering unknown.
    """)
    return


@app.cell
def _(wb):
    example = wb.trace([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], rhs=[-3, 6, -1])
    assert example.data["z"] == ["0", "1", "3"]
    return (example,)


@app.cell(hide_code=True)
def _(mo):
    step = mo.ui.slider(0, 4, 1, value=0, label="after pivot", show_value=True)
    step
    return (step,)


@app.cell(hide_code=True)
def _(example, mo, step):
    _table = example.tableau(step.value)
    _now, _next = (example.frame.iloc[step.value + i] for i in (0, 1))
    _ratios = example.ratios[example.ratios["step"] == step.value + 1]
    _tested = ", ".join(f"{row.unknown}: {row.exact}" for row in _ratios.itertuples())
    mo.md(
        "| basic | " + " | ".join(map(str, _table.columns)) + " |\n|" + "---|" * (1 + len(_table.columns)) + "\n"
        + "\n".join(f"| {name} | " + " | ".join(map(str, row)) + " |" for name, row in zip(_table.index, _table.values, strict=True))
        + f"\n\nEvery row reads: the basic unknown is the column 1 plus the numbers times the unknowns above. "
        f"$t = {_now['t']}$.\n\nNext, **{_next['enters']}** enters and **{_next['leaves']}** leaves. Ratios: {_tested}; {_next['rule']}."
    )  # fmt: skip
    return


@app.cell(hide_code=True)
def _(example, mo):
    mo.md(f"{example.words[0]} {example.words[-1]}")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## The same in twenty lines

    This is the whole method, with Python's fractions. If the ratio test ends in a tie, the *topmost* row leaves: the
    simplest rule.
    """)
    return


@app.cell
def _(Fraction):
    def plain_lemke(M, q, most=20):
        """The basis after each pivot, and how it ends: "solution", "ray", or "cycle" when a basis comes back."""
        n = len(q)
        rows = [
            {"1": Fraction(q[i]), "t": Fraction(1)} | {f"z_{j}": Fraction(M[i][j]) for j in range(n)} for i in range(n)
        ]
        basis, visited = [f"w_{i}" for i in range(n)], []
        entering, r = "t", min(range(n), key=lambda i: (q[i], i))
        for _ in range(most):
            # Row r, solved for the entering unknown; then inserted into all other rows.
            leaving, pivot = basis[r], rows[r].pop(entering)
            solved = {name: -x / pivot for name, x in rows[r].items()} | {leaving: 1 / pivot}
            for i in range(n):
                if i != r:
                    factor = rows[i].pop(entering)
                    rows[i] = {name: rows[i].get(name, 0) + factor * x for name, x in solved.items()}
            basis[r], rows[r] = entering, solved
            if tuple(basis) in visited:
                return [*visited, tuple(basis)], "cycle"
            visited.append(tuple(basis))
            if leaving == "t":
                return visited, "solution"
            entering = ("z" if leaving[0] == "w" else "w") + leaving[1:]
            falling = [(-rows[i]["1"] / rows[i][entering], i) for i in range(n) if rows[i][entering] < 0]
            if not falling:
                return visited, "ray"
            r = min(falling)[1]
        return visited, "not finished"

    return (plain_lemke,)


@app.cell
def _(example, plain_lemke):
    _visited, _end = plain_lemke([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], [-3, 6, -1])
    assert _end == "solution"
    assert [" ".join(basis) for basis in _visited] == list(example.frame["basic"][1:])
    f"The bases of the workbench's trace, one by one: {_visited}"
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Cycling

    Now a problem of Kostreva (1979), with $q = -e$:

    $$
    M = \begin{pmatrix} 1 & 2 & 0 \\ 0 & 1 & 2 \\ 2 & 0 & 1 \end{pmatrix}
    $$

    Its principal minors are 1, 1, 1, 1, 1, 1 and $\det M = 9$. All are positive, so $M$ is a P-matrix, and every $q$ has
    exactly one solution: here $z = (\frac13, \frac13, \frac13)$. All entries of $q$ are equal, which is not unusual: a
    symmetric load does that. Ratio tests then end in ties.
    """)
    return


@app.cell
def _(mo, plain_lemke, wb):
    kostreva, ones = [[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1]
    _visited, _end = plain_lemke(kostreva, ones)
    circles = wb.trace(kostreva, rhs=ones, ties="first")
    assert _end == circles.data["outcome"] == "cycle"
    assert [" ".join(basis) for basis in _visited] == list(circles.frame["basic"][1:])
    mo.md("Bases: " + " → ".join(f"({', '.join(basis)})" for basis in _visited) + f". {circles.words[0]}")
    return kostreva, ones


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    $t = 1$ and $z = 0$ throughout: the method exchanges columns and never moves. The remedy is a rule that turns every tie
    into a strict inequality for an infinitesimally changed $q$: $q + (\varepsilon, \varepsilon^2,
    \varepsilon^3)$. Carried through symbolically, that is the *lexicographic* rule: among tied rows, the lexicographically
    least row of $B^{-1}$, each divided by minus its entry in the entering column, leaves. With it no basis comes back (Cottle,
    Pang and Stone, section 4.9), and the method is finite.
    """)
    return


@app.cell
def _(kostreva, mo, ones, wb):
    _cured = wb.trace(kostreva, rhs=ones)
    assert _cured.data["z"] == ["1/3", "1/3", "1/3"]
    mo.md(
        "| step | enters | leaves | t | basic |\n|---|---|---|---|---|\n"
        + "\n".join(f"| {r.step} | {r.enters} | {r.leaves} | {r.t} | {r.basic} |" for r in _cured.frame.itertuples())
        + f"\n\n{_cured.words[0]}"
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## A ray, and what it proves

    Two problems on which Lemke's method ends on a ray:

    $$
    M_1 = \begin{pmatrix} 1 & -1 \\ -1 & 1 \end{pmatrix},\ q_1 = \begin{pmatrix} -2 \\ 1 \end{pmatrix}, \qquad
    M_2 = \begin{pmatrix} -2 & 1 \\ 1 & 0 \end{pmatrix},\ q_2 = \begin{pmatrix} -2 \\ -1 \end{pmatrix}
    $$
    """)
    return


@app.cell
def _(mo, wb):
    _rays = [wb.trace([[1, -1], [-1, 1]], rhs=[-2, 1]), wb.trace([[-2, 1], [1, 0]], rhs=[-2, -1])]
    assert all(ray.data["outcome"] == "ray" for ray in _rays)
    # The first has no solution, as a certificate proves; the second has one.
    assert _rays[0].data["proof"] == ["1", "1"]
    assert _rays[1].data["proof"] is None
    assert wb.check([[-2, 1], [1, 0]], rhs=[-2, -1]).data["solutions"]["points"] == [["1", "4"]]
    mo.vstack([x for ray in _rays for x in (mo.md(" ".join(ray.words)), mo.Html(ray.picture().svg))])
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    In the first, the direction $x = (1, 1)$ of the ray has $x \ge 0$, $M_1^T x = 0$ and $q_1 \cdot x = -1$. So
    $x \cdot (M_1 z + q_1) = -1$ for *every* $z$, and no $z$ makes $M_1 z + q_1 \ge 0$: the ray proves that there is no
    solution. In the second, there is one, $z = (1, 4)$, $w = 0$, which the method misses. The picture shows why: the line
    from $+e$ never enters the sector of $q$.

    The meaning of a ray depends on $M$. If $M$ is *copositive-plus* ($z \cdot M z \ge 0$ for all $z \ge 0$, and
    $(M + M^T) z = 0$ where it is zero), a ray always means that $M z + q \ge 0$, $z \ge 0$ has no solution, so that the LCP
    has none either (Cottle, Pang and Stone, section 4.4). Positive semidefinite matrices are of that kind. $M_2$ is not:
    its first entry is $-2$.

    **And friction?** Stewart and Trinkle's matrix (lesson 1) is copositive, yet not "plus". But Anitescu and Potra (1997)
    prove: if $q \cdot x \ge 0$ for every solution $x$ of the LCP with $q = 0$, Lemke's method ends on a solution. Data of
    rigid bodies satisfy that. So for their problems there is no ray.
    """)
    return


@app.cell(hide_code=True)
def exercise_1(mo):
    mo.md(r"""
    ### Exercise 1

    Do Lemke's method by hand for $M = \begin{pmatrix} 2 & 1 \\ 1 & 3 \end{pmatrix}$, $q = (-2, -3)$: three pivots. Write
    down the tableau after each, and compare with `wb.trace(...).tableau(step)`.
    """)
    return


@app.cell(hide_code=True)
def solution_1(mo, wb):
    _traced = wb.trace([[2, 1], [1, 3]], rhs=[-2, -3])
    assert _traced.data["z"] == ["3/5", "4/5"]
    assert list(_traced.frame["basic"]) == ["w_0 w_1", "w_0 t", "z_1 t", "z_1 z_0"]
    assert list(_traced.frame["t"]) == ["0", "3", "3/2", "0"]
    assert _traced.tableau(1).loc["w_0"].tolist()[0] == "1"
    mo.accordion(
        {
            "Solution": mo.md(r"""
    The most negative entry is $q_1 = -3$: $t = 3 - z_0 - 3 z_1 + w_1$ enters, $w_1$ leaves, and
    $w_0 = 1 + z_0 - 2 z_1 + w_1$. Now $z_1$ enters: $w_0$ is zero at $z_1 = \frac12$, $t$ at $z_1 = 1$; $w_0$ leaves,
    $z_1 = \frac12 + \frac12 z_0 + \frac12 w_1 - \frac12 w_0$ and $t = \frac32 - \frac52 z_0 - \frac12 w_1 + \frac32 w_0$.
    Now $z_0$ enters: only $t$ falls, and is zero at $z_0 = \frac35$. Then $z_1 = \frac12 + \frac12 \cdot \frac35 = \frac45$,
    $w = 0$.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_2(mo):
    mo.md(r"""
    ### Exercise 2

    How many pivots can it take? Let $L_n$ have ones on the diagonal and twos below it, and let $q = -e$. Count the pivots of
    `lemke` for $n = 1, ..., 7$; then those of `murty` for $L_n$ and for its transpose. Guess the law. Is there a short way?
    """)
    return


@app.cell(hide_code=True)
def solution_2(mo, wb):
    def _pivots(n, solver, transposed=False):
        low = [[1 if i == j else 2 if (i > j) != transposed else 0 for j in range(n)] for i in range(n)]
        return len(wb.trace(low, rhs=[-1] * n, solver=solver).frame) - 1

    _rows = [(n, _pivots(n, "lemke"), _pivots(n, "murty"), _pivots(n, "murty", True)) for n in range(1, 8)]
    assert all(row[1:] == (2**n, 1, 2**n - 1) for n, *_ in _rows for row in _rows if row[0] == n)
    assert [_pivots(n, "lemke", True) for n in range(1, 8)] == [2] * 7
    mo.accordion(
        {
            "Solution": mo.md(
                "| n | lemke | murty | murty, transpose |\n|---|---|---|---|\n"
                + "\n".join(f"| {n} | {a} | {b} | {c} |" for n, a, b, c in _rows)
                + r"""

    $2^n$ pivots for Lemke's method, one for Murty's; and $2^n - 1$ for Murty's on the transpose, on which Lemke's takes two.
    No pivoting method is known that is fast on all LCPs with P-matrices. Here the solution can be read off: the first row
    of $L_n z \ge e$ requires $z_0 \ge 1$, and then all others hold with slack, so $z = (1, 0, ..., 0)$.
    """
            )
        }
    )
    return


@app.cell(hide_code=True)
def exercise_3(mo):
    mo.md(r"""
    ### Exercise 3

    Change the last entry of Kostreva's $q$ to $-1 - \varepsilon$, $\varepsilon$ a small positive fraction, and run
    `plain_lemke`. Does it still cycle? What does that imply for cycling in floating point?
    """)
    return


@app.cell(hide_code=True)
def solution_3(Fraction, kostreva, mo, plain_lemke):
    _ends = {k: plain_lemke(kostreva, [-1, -1, -1 - Fraction(1, 10**k)]) for k in (1, 3, 15, 30)}
    assert all(end == "solution" for _, end in _ends.values())
    assert plain_lemke(kostreva, [-1, -1, -1])[1] == "cycle"
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    It does not, for no $\varepsilon$ tried, down to $10^{{-30}}$: the ties are broken, and after {len(_ends[30][0])} pivots
    it reaches the solution. Cycling needs exact ties. In floating point rounding breaks ties at random. That prevents most
    cycles, but a difference of $10^{{-16}}$ may make the wrong row leave, and the path is then that of another problem. The
    workbench's compiled solver breaks ties by a fixed $s\, p$ with $p > 0$, and repeats doubtful paths in higher precision
    (decision records 0009 and 0010).
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_4(mo):
    mo.md(r"""
    ### Exercise 4

    For which $q$ does Lemke's method miss a solution of the LCP with $M_2$? Run it for $q$ in a dozen directions, and have
    `wb.check(M, rhs=q)` list all solutions.
    """)
    return


@app.cell(hide_code=True)
def solution_4(mo, wb):
    _M = [[-2, 1], [1, 0]]
    _directions = [
        (2, 1),
        (1, 2),
        (-1, 2),
        (-2, 1),
        (-2, -1),
        (-1, -2),
        (1, -2),
        (2, -1),
        (1, 3),
        (-1, 3),
        (-3, -1),
        (3, -1),
    ]
    _rows = []
    for _q in _directions:
        _outcome = wb.trace(_M, rhs=list(_q)).data["outcome"]
        _count = wb.check(_M, rhs=list(_q)).data["solutions"]["count"]
        _rows.append((_q, _outcome, _count))
        # Where q >= 0 it stops at once, at z = 0. Elsewhere it ends on a ray, whether there is a solution or not.
        assert _outcome == ("solution" if min(_q) >= 0 else "ray")
        assert _count == (2 if min(_q) >= 0 else 0 if _q[1] > 0 else 1)
    mo.accordion(
        {
            "Solution": mo.md(
                "| q | lemke ends on a | solutions |\n|---|---|---|\n"
                + "\n".join(f"| {q} | {outcome} | {count} |" for q, outcome, count in _rows)
                + "\n\nFor every $q$ in the lower half plane, $q_1 < 0$: there is one solution, and a ray. In the second "
                "quadrant there is none. Only for $q \\ge 0$, where $z = 0$ is a solution, the method finds one, but not "
                "the other."
            )
        }
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What to read

    - R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem* (1992): 1.3 complementary cones, 4.4 Lemke's
      method and what a ray means, 4.9 the lexicographic rule, 3.3 P-matrices.
    - M. M. Kostreva, *Cycling in linear complementarity problems*, Mathematical Programming 16 (1979).
    - K. G. Murty, *Note on a Bard-type scheme for solving the complementarity problem*, Opsearch 11 (1974): exercise 2.
    - M. Anitescu, F. A. Potra (1997), Nonlinear Dynamics 14: no ray for rigid bodies.
    - The workbench's `docs/formulary.md`, section 9.4 (the rules of all methods), 9.7 (complementary cones);
      `workbench trace FILE --solver lemke --tableau` does in the terminal what this lesson does.
    """)
    return


if __name__ == "__main__":
    app.run()
