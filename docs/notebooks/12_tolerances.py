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
    # 12. From one matrix to the machine that was built

    A theorem about the LCP speaks of one matrix. A machine has masses that were weighed, lengths that were made to a tolerance, and
    a friction coefficient that somebody looked up. This lesson goes from a verdict on one matrix to verdicts on all machines
    within their tolerances, each of them proved. You need lessons 1, 4 and 6.

    ## One matrix, or which one?

    A matrix with all principal minors positive is a P-matrix, and then the LCP has exactly one solution for every $q$. Here
    is a matrix that is not one: its rows are multiples of each other.

    $$
    M = \begin{pmatrix} 1 & 3 \\ 0.1 & 0.3 \end{pmatrix}
    $$

    A program that stores it in floating point has another one. The double next to 0.1 is a little larger, the one next to 0.3 a
    little smaller:
    """)
    return


@app.cell
def _(mo, wb):
    stored = wb.check([[1, 3], [0.1, 0.3]]).data["classes"]
    typed = wb.check([["1", "3"], ["0.1", "0.3"]]).data["classes"]
    assert stored["P0"]["verdict"] == "no"
    assert typed["P0"]["verdict"] == "yes"
    mo.md(
        "| | as typed | as doubles |\n|---|---|---|\n"
        + "\n".join(
            f"| {name} | {typed[name]['verdict']} | {stored[name]['verdict']} |"
            for name in ("P0", "P", "nondegenerate")
        )
        + f"\n\nThe determinant of the doubles is {stored['P0']['witness']['minor']}."
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Both columns are exact and proved, for two different matrices. An engineer who knows the entries to three digits means
    neither of them, but all matrices that round to these digits: some are P-matrices and some are not.

    ## All matrices within a tolerance

    Let every entry differ from $C$ by at most $r$, independently of the others:

    $$
    \{A : |A - C| \le r D\}, \qquad C = \begin{pmatrix} 1 & \tfrac12 \\ -\tfrac12 & 1 \end{pmatrix}, \qquad
    D = \begin{pmatrix} 1 & 1 \\ 1 & 1 \end{pmatrix}
    $$

    These are infinitely many matrices. For P-matrices $2^{n-1}$ of them decide: with a vector of signs $z$, the matrix
    $A_z = C - r \operatorname{diag}(z) D \operatorname{diag}(z)$ has the least $x_i (A x)_i$ of all, for every $x$ with these signs.
    If all the $A_z$ are P-matrices, all are. Move $r$:
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    radius = mo.ui.slider(0.1, 0.7, 0.15, value=0.4, label="r", show_value=True)
    radius
    return (radius,)


@app.cell
def _(Fraction, mo, radius, wb):
    C = [["1", "1/2"], ["-1/2", "1"]]
    _r = Fraction(str(radius.value))
    _found = wb.check(wb.interval(C, str(_r)))
    _classes = _found.data["classes"]
    assert (_classes["P"]["verdict"] == "all") == (_r < Fraction(5, 8))
    assert (_classes["PD"]["verdict"] == "all") == (_r < Fraction(1, 2))
    _outside = _classes["P"]["outside"]
    mo.md(
        f"r = {_r}\n\n| class | how many of them |\n|---|---|\n"
        + "\n".join(f"| {name} | {_classes[name]['verdict']} |" for name in ("P", "PD", "H_plus", "S"))
        + (f"\n\nNot a P-matrix: {_outside['matrix']}" if _outside else "")
    )
    return (C,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## The largest tolerance

    The boxes are nested, so there is a largest $r$, and bisection finds it. Each of three classes has its own. Diagonal
    dominance after scaling (H) is the quickest test and the most pessimistic one; many codes assume positive definiteness (PD):
    """)
    return


@app.cell
def _(C, alt, mo, wb):
    _brackets = wb.check(wb.interval(C, 1)).data["largest_uncertainty"]
    largest = {name: (found["lower"], found["upper"]) for name, found in _brackets.items()}
    for _name, _exact in (("P", 5 / 8), ("PD", 1 / 2), ("H_plus", 1 / 4)):
        assert largest[_name][0] <= _exact <= largest[_name][1] < _exact + 1e-6
    _rows = [{"class": name, "r": upper} for name, (_, upper) in largest.items()]
    _bars = alt.Chart(alt.Data(values=_rows)).mark_bar(size=16, color="#4c6a92")
    mo.vstack(
        [
            _bars.encode(
                x=alt.X("r:Q", title="largest r", scale=alt.Scale(domain=[0, 0.7]), axis=alt.Axis(tickCount=7)),
                y=alt.Y("class:N", title=None, sort=None),
            ).properties(width=420, height=100, description="largest r for P, PD and H: 5/8, 1/2, 1/4"),
            mo.md("P: 5/8, PD: 1/2, H: 1/4. Each bracket is proved on both sides, to seven digits."),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Entries that depend on each other

    The entries of a machine's matrix are not independent: each is made of the same masses, lengths and friction coefficients. A
    tripod slides on three feet, in the direction of 30 degrees. With the feet at $(x_i, y_i)$, $h$ below the centre of mass, and
    the direction $(c, s)$,

    $$
    D_{ij} = \frac1m + \frac{y_i (y_j - \mu h s) + x_i (x_j - \mu h c)}{I}
    $$

    and contact forces are unique for every load while $D$ is a P-matrix. How uncertain may $\mu$ = 0.2 be? First with nine
    independent entries, each in the range that $\mu$ gives it; then with $\mu$ itself as the only uncertain number:
    """)
    return


@app.cell
def _(Fraction, mo, wb):
    # The root of 3 drops out: x_i = a_i sqrt(3), c = sqrt(3) / 2.
    _m, _R, _h, _I = Fraction(1), Fraction(3, 10), Fraction(6, 10), Fraction(2, 100)
    _y, _a = [_R, -_R / 2, -_R / 2], [Fraction(0), -_R / 2, _R / 2]
    _mu = Fraction(1, 5)
    _by_mu = [_h * (_y[i] / 2 + 3 * _a[i] / 2) / _I for i in range(3)]
    _rigid = [[1 / _m + (_y[i] * _y[j] + 3 * _a[i] * _a[j]) / _I for j in range(3)] for i in range(3)]
    _D = [[str(_rigid[i][j] - _mu * _by_mu[i]) for j in range(3)] for i in range(3)]
    _independent = wb.check(wb.interval(_D, [[str(abs(x))] * 3 for x in _by_mu])).data["largest_uncertainty"]["P"]
    # What the determinants say: one number, and the first principal minor that vanishes.
    _machine = wb.vary("tripod", along={"mu": ("0.2", "0.47"), "direction": ("29.99", "30.01")})
    assert abs(_independent["upper"] - 1 / 6) < 1e-6
    assert _machine.proved.shares() == {"unique": 1.0}
    mo.md(
        "| | proved up to |\n|---|---|\n"
        f"| nine independent entries | $\\mu$ = {0.2 + _independent['lower']:.4f} |\n"
        f"| one coefficient of friction | $\\mu$ = 0.47, of $17/36$ = {17 / 36:.4f} |\n\n{_machine.words[0]}"
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Independent entries give a weak guarantee, because the box has many matrices that no tripod has. Where the mechanics is known,
    vary its parameters. The proof then encloses the determinants over a box of parameters, which is halved until each part
    is decided.

    ## A map without gaps

    Lesson 6 drew Painlevé's rod by its states on a grid; between two grid points anything might happen. The proved map has boxes
    in place of points. Every state of a solid box has the verdict of its colour, and every critical state lies in a white one:
    """)
    return


@app.cell
def _(alt, mo, np, wb):
    rod_map = wb.painleve("rod", x=("theta", (10, 85)), y=("mu", (0, 3)), prove=True)
    _boxes = rod_map.frame
    _undecided = _boxes[_boxes.verdict == "undecided"]
    _theta = np.radians(np.linspace(11, 84, 500))
    _critical = (1 + (1 + np.tan(_theta) ** 2) / 3) / np.tan(_theta)
    for _x, _mu in zip(np.degrees(_theta), _critical, strict=True):
        _there = (_undecided.x <= _x) & (_x <= _undecided.x2) & (_undecided.y <= _mu) & (_mu <= _undecided.y2)
        assert _mu > 3 or _there.any()
    _shares = rod_map.proved.shares()
    assert _shares["undecided"] < 0.01
    _scale = alt.Scale(domain=["unique", "none", "undecided"], range=["#7ab8dd", "#4b2a7b", "#ffffff"])
    _axes = {
        "x": alt.X("x:Q", title="theta [deg]", scale=alt.Scale(domain=[10, 85], nice=False)),
        "y": alt.Y("y:Q", title="mu", scale=alt.Scale(domain=[0, 3])),
    }
    _rows = alt.Data(values=_boxes[["x", "x2", "y", "y2", "verdict"]].to_dict("records"))
    mo.vstack(
        [
            alt.Chart(_rows)
            .mark_rect()
            .encode(**_axes, x2="x2:Q", y2="y2:Q", color=alt.Color("verdict:N", scale=_scale, title=None))
            .properties(
                width=420,
                height=280,
                description="one answer below a curve with its least mu = 4/3 near 63 degrees, none above, white boxes between",
            ),
            mo.md(
                f"One answer on {100 * _shares['unique']:.1f} % of the map, none on {100 * _shares['none']:.1f} %, undecided on "
                f"{100 * _shares['undecided']:.2f} %."
            ),
        ]
    )
    return (rod_map,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Who checks the proof?

    The search has hundreds of lines, and nobody should have to trust them. A certificate holds what the search found, so that another
    program can check it without searching: for the map, the tree of cuts with a verdict for each box. `workbench verify` uses
    formulas and interval arithmetic of its own:
    """)
    return


@app.cell
def _(mo, rod_map, wb):
    rod_proof = rod_map.certificate()
    _verified = wb.verify(rod_proof)
    assert _verified.holds
    _tree = rod_proof["claims"][0]["support"]["tree"]
    mo.md(f"```\n{_verified.text}\n```\n\n{len(_tree)} characters, which begin with `{_tree[:40]}`.")
    return (rod_proof,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## A solution with its tolerance

    Finally the LCP itself, with a matrix known to a tenth:

    $$
    0 \le z \perp M z + q \ge 0, \qquad M = \begin{pmatrix} 2 & 1 \\ 1 & 2 \end{pmatrix} \pm \tfrac1{10}, \qquad
    q = \begin{pmatrix} -1 \\ -\tfrac12 \end{pmatrix}
    $$

    With the middle of the data the second unknown is exactly zero, and so is its slack: a contact that just touches. Is it closed?
    """)
    return


@app.cell
def _(mo, wb):
    M = wb.interval([["2", "1"], ["1", "2"]], "1/10")
    uncertain = wb.check(M, rhs=["-1", "-1/2"])
    _found = uncertain.data["solutions"]
    assert (_found["lower"], _found["upper"]) == (["9/20", "0"], ["10/19", "1/20"])
    assert wb.verify(uncertain.certificate(), of=M, rhs=["-1", "-1/2"]).holds
    mo.md(
        "| unknown | for the middle | for all data | |\n|---|---|---|---|\n"
        + "\n".join(
            f"| $z_{i}$ | {_found['centre'][i]} | {_found['lower'][i]} to {_found['upper'][i]} | {_found['signs'][i]} |"
            for i in range(2)
        )
        + "\n\nEvery bound is attained, and proved by a linear programme's dual."
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    For some of the data it is closed, for others it is open. No computation with the middle can tell this, however many
    digits it has.

    ## What to do

    - Say which numbers are meant: typed digits, doubles, or a tolerance.
    - A tolerance on independent entries is quick and safe, and pessimistic for machines; there, vary the parameters.
    - "Undecided" is an answer. What is critical stays undecided in any arithmetic that rounds.
    - Keep the certificate with the result.

    ## Exercises
    """)
    return


@app.cell(hide_code=True)
def exercise_1(mo):
    mo.md(r"""
    ### Exercise 1

    What is the largest $r$ for $C = I$ and $D$ all ones, of any order $n$?
    """)
    return


@app.cell(hide_code=True)
def solution_1(mo, np, wb):
    for _n in (2, 3, 5):
        _bracket = wb.check(wb.interval(np.eye(_n), 1)).data["largest_uncertainty"]
        assert all(_bracket[name]["lower"] <= 1 / _n <= _bracket[name]["upper"] for name in ("P", "PD", "H_plus"))
    mo.accordion(
        {
            "Solution": mo.md(r"""
    $1/n$, for P, PD and H alike. $A_z = I - r z z^T$ for a vector of signs $z$, with the eigenvalue $1 - r n$ for $z$ and
    determinant $1 - r n$.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_2(mo):
    mo.md(r"""
    ### Exercise 2

    In $\begin{pmatrix} 1 & a \\ b & -1 \end{pmatrix}$ let $a$ and $b$ be between $-1.1$ and $1.1$. Can it be singular? And if $a = b$?
    """)
    return


@app.cell(hide_code=True)
def solution_2(mo, wb):
    _C, _D = [["1", "0"], ["0", "-1"]], [["0", "1.1"], ["1.1", "0"]]
    _verdicts = [
        wb.check(wb.interval(_C, _D, symmetric)).data["classes"]["nondegenerate"]["verdict"]
        for symmetric in (False, True)
    ]
    assert _verdicts == ["some", "all"]
    mo.accordion(
        {
            "Solution": mo.md(r"""
    The determinant is $-1 - a b$. Independent entries make it zero, at $a = 1$, $b = -1$. A symmetric matrix has $-1 - a^2 < 0$:
    never. That two entries are one number may decide everything; `wb.interval(C, D, symmetric=True)`, `check --symmetric`.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def exercise_3(mo):
    mo.md(r"""
    ### Exercise 3

    Forge the rod's certificate: claim that the undecided boxes have one answer. Sign it with `digest` again. What does `verify` say?
    """)
    return


@app.cell(hide_code=True)
def solution_3(mo, rod_proof, wb):
    from workbench.certificates.documents import signed

    _claim = rod_proof["claims"][0]
    _tree = _claim["support"]["tree"].replace("??", "u+")
    _forged = signed(rod_proof["problem"], [{**_claim, "support": {"tree": _tree}}], [])
    _said = wb.verify(_forged)
    assert _said.outcome == "refuted"
    mo.accordion(
        {
            "Solution": mo.md(rf"""
    It is refuted: "{_said.findings[0].reason}". The digest only detects damage; what convinces is that each box is proved again.
    """)
        }
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What to read

    - J. Rohn, G. Rex, *Interval P-matrices*, SIAM J. Matrix Anal. Appl. 17 (1996) 1020: the vertices, and symmetric matrices.
    - S. M. Rump, *Verification methods: rigorous results using floating-point arithmetic*, Acta Numerica 19 (2010) 287.
    - W. Tucker, *Validated Numerics* (2011): enclosures, mean value forms, branch and bound.
    - F. Génot, B. Brogliato, *New results on Painlevé paradoxes*, Eur. J. Mech. A 18 (1999) 653: the rod's critical friction.
    - The workbench's `docs/howto/matrix.md`, `docs/howto/painleve.md` and `docs/certificates.md`.
    """)
    return


if __name__ == "__main__":
    app.run()
