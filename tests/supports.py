"""Supports of claims that just suffice, and others that fail by as little as possible."""


def tree(*lines):
    """A tree of principal pivots."""
    return {"by": "tree", "tree": list(lines)}


def ldl(order, L, D):
    """Triangular factors of M + M^T."""
    return {"by": "ldl", "order": order, "L": L, "D": D}


def split(order, L, D):
    """Triangular factors of a matrix nowhere above M + M^T."""
    return {**ldl(order, L, D), "by": "split"}


def cholesky(powers, bits, G):
    """A rounded factor of M + M^T."""
    return {"by": "cholesky", "powers": powers, "bits": bits, "G": G}


def cones(*cover):
    """A cover of the feasible right-hand sides."""
    return {"by": "cones", "cover": list(cover)}


MINORS = ["minors"]
ONE, TWO = [["1"]], [["1", "0"], ["0", "1"]]

# Class, verdict, M, a support that is accepted or None, and others that are refused.
SUPPORTS = [
    ("PSD", "yes", [[1, -1], [-1, 1]], {"by": "entries"}, []),
    ("PSD", "yes", [[1, -1], [-1, "1/2"]], None, [{"by": "entries"}]),
    (
        "P",
        "yes",
        TWO,
        None,
        [
            tree(["branch", 0, 0], MINORS, MINORS),
            tree(["blocks", [[0], [1]], 0], MINORS, MINORS),
            tree(["diagonal", ["1", "1"], 0]),
            tree(["weights", ["1", "1"]]),
            tree(["quotient", [["1", "0"], ["0", "1"]], 0]),
            tree(["turn"], MINORS),
        ],
    ),
    ("P", "yes", [[1, 2], [2, 1]], None, [tree(["blocks", [[0], [1]]], MINORS, MINORS)]),
    # Supports of another class, or of the other verdict.
    ("PD", "yes", [[1, -3], [0, 1]], None, [tree(MINORS)]),
    ("P", "no", [[1, 1], [0, 1]], None, [{"entry": [0, 1]}]),
    ("PD", "no", [[1, 1], [1, 2]], None, [ldl([0, 1], [[], ["1"]], ["2", "2"])]),
    ("PSD", "yes", [[0, 0], [0, -1]], None, [{"index_set": [0]}, {"index_set": []}]),
    (
        "PSD",
        "yes",
        [[1, 0, 0], [0, 1, 0], [0, 0, 0]],
        {"index_set": [0, 1]},
        [{"index_set": [0]}, {"index_set": [0, 2]}, {"index_set": [2, 0, 1]}],
    ),
    ("Q0", "yes", [[0]], cones(["cone", []], ["empty", ["1"]]), [cones(["cone", []], ["full", ["1"]])]),
    ("Q0", "yes", [[0, 0], [0, 0]], cones(["cone", []], ["empty", ["1"]], ["empty", ["0", "1"]]), []),
    ("P", "yes", [[1, 2, 0], [0, 1, 0], [3, 4, 1]], {"by": "entries"}, []),
    ("P", "yes", [[1, 2], [3, 1]], None, [{"by": "entries"}]),
    ("PD", "yes", [[1, 0], [-3, 1]], None, [{"d": ["1", "4"]}]),
    ("M", "no", [[-1, 1], [0, -1]], {"y": ["1", "1"]}, [{"y": ["0", "-1"]}]),
    ("Z", "yes", [[1, 0], [-1, 1]], {"by": "entries"}, []),
    ("copositive", "yes", [[0, -1], [1, 0]], {"by": "entries"}, []),
    ("strictly_copositive", "yes", [[1, -1], [1, 1]], {"by": "entries"}, []),
    ("H_plus", "yes", [[2, -1], [1, 2]], {"d": ["1", "1"]}, [{"d": ["1", "2"]}, {"d": ["-1", "-1"]}, {"d": ["1"]}]),
    ("M", "yes", [[2, -1], [-1, 2]], {"d": ["1", "1"]}, [{"d": ["2", "1"]}, {"d": ["0", "0"]}]),
    ("S", "yes", [[1, 0], [1, -1]], {"x": ["1", "0"]}, [{"x": ["1", "1"]}, {"x": ["2", "-1"]}, {"x": ["0", "0"]}]),
    ("S", "no", [[-1, 0], [5, 5]], {"y": ["1", "0"]}, [{"y": ["0", "1"]}, {"y": ["0", "-1"]}]),
    ("S", "no", [[-1, 0], [5, 5]], None, [{"y": ["1", "1"]}, {"y": ["1", "-1"]}, {"y": ["1"]}]),
    ("S", "no", [[1, 1], [-1, -1]], {"y": ["1", "1"]}, [{"y": ["2", "1"]}, {"y": ["0", "0"]}, {"y": ["-1", "-1"]}]),
    ("Z", "no", [[1, 1], [0, 1]], {"entry": [0, 1]}, [{"entry": [1, 0]}, {"entry": [0, 0]}, {"entry": [0]}]),
    ("M", "no", [[1, 1], [0, 1]], {"entry": [0, 1]}, [{"entry": [1, 0]}, {"entry": [0, 1, 0]}, {"entry": [0, 2]}]),
    ("P", "no", [[1, 1], [1, 1]], {"index_set": [0, 1]}, [{"index_set": [0]}, {"index_set": []}]),
    (
        "P",
        "no",
        [[1, 1], [1, 1]],
        {"index_set": [0, 1], "minor": "0", "x": ["1", "-1"]},
        [
            {"index_set": [0, 1], "minor": "-1", "x": ["1", "-1"]},
            {"index_set": [0, 1], "minor": "0", "x": ["1", "1"]},
        ],
    ),
    ("P0", "no", [[0, 1], [1, 0]], {"index_set": [0, 1]}, [{"index_set": [0]}, {"index_set": [1]}]),
    ("nondegenerate", "no", [[1, 1], [1, 1]], {"index_set": [1, 0]}, [{"index_set": [0]}]),
    ("nondegenerate", "no", [[0, 1], [1, 0]], {"index_set": [1]}, [{"index_set": [0, 1]}]),
    ("M", "no", [[1, -1], [-1, 1]], {"index_set": [0, 1]}, [{"index_set": [1]}]),
    ("H_plus", "no", [[1, 2], [-2, 1]], {"index_set": [0, 1]}, [{"index_set": [1]}]),
    ("P", "no", [[1, 1], [1, 1]], {"x": ["1", "-1"]}, [{"x": ["2", "-1"]}, {"x": ["0", "0"]}]),
    ("PD", "no", [[1, 1], [1, 1]], {"x": ["1", "-1"]}, [{"x": ["2", "-1"]}, {"x": ["0", "0"]}]),
    ("PSD", "no", [[1, 1], [1, "1/2"]], {"x": ["1", "-1"]}, [{"x": ["1", "0"]}, {"x": ["0", "0"]}]),
    ("PSD", "no", [[-1, 1], [1, -1]], {"x": ["1", "0"]}, [{"x": ["1", "1"]}]),
    ("column_sufficient", "no", [[0, 1], [0, 0]], {"x": ["1", "-1"]}, [{"x": ["1", "0"]}, {"x": ["1", "1"]}]),
    ("row_sufficient", "no", [[0, 0], [1, 0]], {"x": ["1", "-1"]}, [{"x": ["1", "0"]}, {"x": ["1", "1"]}]),
    ("copositive", "no", [[1, -3], [0, 1]], {"x": ["1", "1"]}, [{"x": ["1", "0"]}, {"x": ["-1", "-1"]}]),
    ("copositive", "no", [[1, 3], [0, 1]], None, [{"x": ["1", "-1"]}]),
    ("copositive", "no", [[1, -2], [0, 1]], None, [{"x": ["1", "1"]}]),
    ("strictly_copositive", "no", [[1, -2], [0, 1]], {"x": ["1", "1"]}, [{"x": ["1", "2"]}, {"x": ["-1", "-1"]}]),
    ("copositive_plus", "no", [[0, 1], [0, 0]], {"x": ["1", "0"]}, [{"x": ["1", "1"]}, {"x": ["-1", "0"]}]),
    ("copositive_plus", "no", [[1, -3], [0, 1]], {"x": ["1", "1"]}, [{"x": ["-1", "-1"]}]),
    ("copositive_plus", "no", [[0, 1], [-1, 0]], None, [{"x": ["1", "1"]}]),
    ("E0", "no", [[-1, 0], [0, 1]], {"x": ["1", "0"]}, [{"x": ["1", "1"]}, {"x": ["-1", "0"]}, {"x": ["0", "1"]}]),
    ("E0", "no", [[0, 0], [0, 1]], None, [{"x": ["1", "0"]}]),
    ("E0", "no", [[1, 0], [0, 1]], None, [{"x": ["-1", "0"]}]),
    ("E", "no", [[0, 5], [5, 1]], {"x": ["1", "0"]}, [{"x": ["0", "1"]}, {"x": ["-1", "0"]}]),
    ("R0", "no", [[0, 1], [1, 1]], {"x": ["1", "0"]}, [{"x": ["0", "1"]}, {"x": ["-1", "0"]}]),
    ("R0", "no", [[0, 1], [-1, 1]], None, [{"x": ["1", "0"]}]),
    ("R0", "no", [[0, 1], [1, 1]], {"x": ["1", "0"]}, [{"x": ["1", "1"]}]),
    ("Q", "no", [[-1]], {"q": ["-1"], "cover": [["none", ["1"]]]}, [{"q": ["0"], "cover": [["none", ["1"]]]}]),
    (
        "Q0",
        "no",
        [[0, 1], [0, 0]],
        {"q": ["-1", "1"], "z": ["0", "1"], "cover": [["branch", 1], ["none", ["1", "0"]], ["none", ["0", "-1"]]]},
        [
            {
                "q": ["-1", "1"],
                "z": ["0", "1/2"],
                "cover": [["branch", 1], ["none", ["1", "0"]], ["none", ["0", "-1"]]],
            },
            {"q": ["-1", "1"], "cover": [["branch", 1], ["none", ["1", "0"]], ["none", ["0", "-1"]]]},
            {"q": ["-1", "0"], "z": ["0", "1"], "cover": [["branch", 1], ["none", ["1", "0"]], ["none", ["0", "-1"]]]},
        ],
    ),
    ("Q0", "no", [[1]], None, [{"q": ["-1"], "z": ["-1"], "cover": [["none", ["1"]]]}]),
    ("Q0", "no", [[-1]], None, [{"q": ["-1"], "z": ["-1"], "cover": [["none", ["1"]]]}]),
    # -I is Q0: this q is feasible with a negative z alone.
    ("Q0", "no", [[-1, 0], [0, -1]], None, [{"q": ["-1", "1"], "z": ["-1", "0"], "cover": [["none", ["1", "0"]]]}]),
    (
        "PD",
        "yes",
        [[1, 1], [1, 2]],
        ldl([0, 1], [[], ["1"]], ["2", "2"]),
        [
            ldl([1, 0], [[], ["1"]], ["2", "2"]),
            ldl([0, 1], [[], ["1/2"]], ["2", "2"]),
            ldl([0, 1], [[], ["1"]], ["2", "1"]),
            ldl([0], [[]], ["2"]),
            {**ldl([0, 1], [[], ["1"]], ["2", "2"]), "note": "1"},
            ldl([0, 1], [[], ["1"], []], ["2", "2"]),
            split([0, 1], [[], ["1"]], ["2", "2"]),
        ],
    ),
    ("PD", "yes", [[1, 1], [1, 1]], None, [ldl([0, 1], [[], ["1"]], ["2", "0"])]),
    ("PSD", "yes", [[1, 1], [1, 1]], ldl([0, 1], [[], ["1"]], ["2", "0"]), []),
    ("PSD", "yes", [[1, 1], [1, 0]], None, [ldl([0, 1], [[], ["1"]], ["2", "-2"])]),
    (
        "copositive",
        "yes",
        [[1, 3], [0, 0]],
        split([0, 1], [[], ["0"]], ["2", "0"]),
        [
            split([0, 1], [[], ["2"]], ["2", "0"]),
            split([0, 1], [[], ["0"]], ["3", "0"]),
            split([0, 1], [[], ["0"]], ["2", "-1"]),
            ldl([0, 1], [[], ["0"]], ["2", "0"]),
        ],
    ),
    (
        "PD",
        "yes",
        [[2, 1], [1, 2]],
        cholesky([0, 0], 0, [[1], [1, 1]]),
        [
            cholesky([0, 0], 0, [[2], [1, 1]]),
            cholesky([0, 0], -1, [[1], [1, 1]]),
            cholesky([0, -1], 0, [[1], [1, 1]]),
            cholesky([0, 0], 0, [[1]]),
            cholesky([0], 0, [[1], [1, 1]]),
            cholesky([0, 1000000000], 0, [[1], [1, 1]]),
            cholesky([0, 0], -1000000000, [[1], [1, 1]]),
            cholesky([0, 0], 0, [[1], [1, True]]),
        ],
    ),
    ("PD", "yes", [[1, 1], [1, 1]], None, [cholesky([0, 0], 0, [[0], [0, 0]])]),
    # Dominant in one row alone, whichever it is.
    ("PD", "yes", [[1, 2], [2, "5/2"]], None, [cholesky([0, 0], 0, [[0], [0, 0]])]),
    ("PD", "yes", [["5/2", 2], [2, 1]], None, [cholesky([0, 0], 0, [[0], [0, 0]])]),
    ("PD", "yes", [[1]], cholesky([4000], -4000, [[1]]), [cholesky([4001], -4001, [[1]])]),
    ("PD", "yes", [[2, -3], [-3, 2]], None, [cholesky([0, 0], 0, [[0], [0, 0]])]),
    ("PSD", "yes", TWO, None, [cholesky([0, 0], 0, [[1], [0, 1]])]),
    ("P", "yes", [[1, -3], [-3, 1]], None, [tree(["diagonal", ["1", "-1"]])]),
    ("P", "yes", [[-1]], None, [tree(["diagonal", ["-1"]])]),
    ("P", "yes", [[1, 0], [0, -1]], None, [tree(["diagonal", ["1", "-1"]])]),
    ("P", "yes", TWO, tree(["diagonal", ["1", "2"]]), [tree()]),
    ("P", "yes", TWO, None, [tree(MINORS, MINORS), tree(["quotient", 1])]),
    (
        "Q0",
        "yes",
        [[-1]],
        cones(["cone", []], ["empty", ["1"]]),
        [
            cones(["cone", []]),
            cones(["cone", []], ["empty", ["1"]], ["empty", ["1"]]),
            cones(["cone", []], ["empty", ["0"]]),
            cones(["cone", []], ["empty", ["-1"]]),
            cones(["empty", []]),
        ],
    ),
    # The q with q_1 < 0 < q_2 are feasible, and on no cone with interior; opposite multipliers would say otherwise.
    (
        "Q0",
        "yes",
        [[0, 1], [0, 0]],
        None,
        [
            cones(
                ["cone", []],
                ["cone", []],
                ["empty", ["1", "-1"]],
                ["empty", ["1", "1", "0"]],
                ["empty", ["0", "1"]],
            )
        ],
    ),
    ("Q0", "yes", [[0]], None, [cones(["cone", [0]], ["empty", ["1"]])]),
    ("Q0", "yes", [[1]], None, [cones(["cone", []], ["empty", ["1"]])]),
    ("Q", "yes", [[-1]], None, [cones(["cone", []], ["empty", ["1"]])]),
    ("P", "yes", TWO, tree(["diagonal", ["1", "1"]]), [tree(["diagonal", ["1", "0"]])]),
    ("P", "yes", [[1, 2], [-2, 1]], tree(["branch", 0], MINORS, MINORS), []),
    ("P", "yes", [[1, 2], [0, 1]], tree(["blocks", [[0], [1]]], MINORS, MINORS), []),
    ("P", "yes", [[1, 2], [0, 1]], tree(["transpose"], ["blocks", [[1], [0]]], MINORS, MINORS), []),
    ("P", "yes", [[1, 2], [0, 1]], None, [tree(["blocks", [[0]]], MINORS)]),
    ("P", "yes", [[1, 2], [0, 1]], None, [tree(["blocks", [[0], [1], []]], MINORS, MINORS, MINORS)]),
    ("P", "yes", [[0, 2], [-2, 1]], None, [tree(["branch", 0], MINORS, MINORS)]),
    ("P", "yes", [[1, 1], [1, 1]], None, [tree(["branch", 0], MINORS, MINORS)]),
    ("P", "yes", [[1, 2], [2, 5]], tree(["diagonal", ["1", "1"]]), []),
    ("P", "yes", [[1, 2], [2, 4]], None, [tree(["diagonal", ["1", "1"]])]),
    (
        "P",
        "yes",
        [["4/5", "7/5"], ["-1/5", "2/5"]],
        tree(["quotient", [["2", "-1"], ["1", "2"]]]),
        [tree(["quotient", [["2", "-2"], ["1", "2"]]])],
    ),
    ("P", "yes", [[1, 1], [1, 1]], None, [tree(["quotient", [["1", "0"], ["0", "1"]]])]),
    ("P", "yes", TWO, tree(["quotient", [["1", "0"], ["0", "1"]]]), [tree(["quotient", [["1"]]])]),
    ("P", "yes", [[-1]], None, [tree(["quotient", [["-1"]]])]),
    ("P", "yes", [["1"]], tree(["branch", 0]), [tree(["branch", 1])]),
]

B = ["branch", 0]


def pinned(*c):
    """z = 0 alone solves LCP(0, [[0, 1], [-1, 1]]): where w_1 = z_2 = 0 are fixed, M_11 is zero, but z_1 + w_2 = 0."""
    end, fork = ["point", 0, ["0", "0"]], ["branch", 1]
    return {"points": [["0", "0"]], "cover": [B, fork, end, end, fork, ["point", 0, list(c)], end]}


def two(first, second):
    """A cover that names points where z = 0 and where w_1 = z_2 = 0, and rules out w_2 = 0, for M = I and q_2 = 1."""
    one, other, none = ["point", first, ["0", "0"]], ["point", second, ["0", "0"]], ["none", ["0", "-1"]]
    return [B, ["branch", 1], one, none, ["branch", 1], other, none]


COUNTS = [

    ([[1]], ["1"], 1, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]], ["none", ["-1"]]]}),
    ([[1]], ["-1"], 1, {"points": [["1"]], "cover": [B, ["none", ["1"]], ["point", 0, ["0"]]]}),
    ([[-1]], ["-1"], 0, {"points": [], "cover": [["none", ["1"]]]}),
    ([[-1]], ["1"], 2, {"points": [["0"], ["1"]], "cover": [B, ["point", 0, ["0"]], ["point", 1, ["0"]]]}),
    ([[0]], ["0"], "infinite", {"points": [["0"], ["1"]]}),
    (
        [[1, -1], [-1, 1]],
        ["1", "0"],
        1,
        {
            "points": [["0", "0"]],
            "cover": [
                B, ["branch", 1], ["point", 0, ["0", "0"]], ["point", 0, ["0", "0"]],
                ["branch", 1], ["none", ["-1", "0"]], ["none", ["-1", "-1"]],
            ],
        },
    ),
    ([[0, 1], [-1, 1]], ["0", "0"], 1, pinned("1", "1")),
    # Where w = 0 both equations are z_1 + z_2 = 0.
    (
        [[1, 1], [1, 1]],
        ["0", "0"],
        1,
        {
            "points": [["0", "0"]],
            "cover": [
                B, ["branch", 1], ["point", 0, ["0", "0"]], ["point", 0, ["0", "0"]],
                ["branch", 1], ["point", 0, ["0", "0"]], ["point", 0, ["1", "1"]],
            ],
        },
    ),
]  # fmt: skip
FALSE_COUNTS = [
    # Where all z are fixed to be zero, c is on a w that is not.
    ([[1]], ["1"], 1, {"points": [["0"]], "cover": [B, ["point", 0, ["1"]], ["none", ["-1"]]]}),
    # Without its sign, y would rule out the branch that has the solution z = 0.
    ([[1]], ["1"], 0, {"points": [], "cover": [["none", ["-1"]]]}),
    # Nodes of a shape or kind that is not known.
    *(
        ([[1]], ["-1"], 1, {"points": [["1"]], "cover": cover})
        for cover in (
            [["branch", 0, 0], ["none", ["1"]], ["point", 0, ["0"]]],
            [B, ["none", ["1"], 0], ["point", 0, ["0"]]],
            [B, ["absent", ["1"]], ["point", 0, ["0"]]],
            [B, ["none", ["1"]], ["point", 0, ["0"], 0]],
            [B, ["none", ["1"]], ["dot", 0, ["0"]]],
        )
    ),
    # In the branch w = 0 the point z = 0 does not lie: it hides the solution z = 1.
    ([[-1]], ["1"], 1, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]], ["point", 0, ["0"]]]}),
    ([[-1]], ["1"], 1, {"points": [["1"]], "cover": [B, ["point", 0, ["0"]], ["point", 0, ["0"]]]}),
    ([[-1]], ["1"], 1, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]], ["none", ["-1"]]]}),
    ([[-1]], ["1"], 1, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]], ["none", ["1"]]]}),
    ([[-1]], ["1"], 1, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]]]}),
    ([[-1]], ["1"], 1, {"points": [["0"]], "cover": [["point", 0, ["0"]]]}),
    ([[-1]], ["1"], 1, {"points": [["0"]], "by": "P"}),
    ([[-1]], ["1"], "infinite", {"points": [["0"], ["1"]]}),
    ([[0]], ["0"], "infinite", {"points": [["0"]]}),
    ([[0]], ["0"], "infinite", {"points": [["0"], ["0"]]}),
    ([[0]], ["0"], "infinite", {"points": [["0"], ["-1"]]}),
    ([[0]], ["0"], "infinite", {"points": [["0"], ["1"], ["2"]]}),
    ([[1]], ["1"], "infinite", {"points": [["0"], ["2"]]}),
    # z w is zero at one index, and not at the other.
    (TWO, ["0", "0"], "infinite", {"points": [["0", "0"], ["1", "0"]]}),
    ([[0]], ["1"], "infinite", {"points": [["0"], ["1"]]}),
    ([[1]], ["0"], 2, {"points": [["0"], ["0"]], "cover": [B, ["point", 0, ["0"]], ["point", 1, ["0"]]]}),
    ([[1]], ["0"], True, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]], ["point", 0, ["0"]]]}),
    ([[1]], ["0"], 0, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]], ["point", 0, ["0"]]]}),
    # One z, the zero, is not all: 0 >= 0 holds for every z.
    ([[0]], ["0"], 1, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]], ["point", 0, ["0"]]]}),
    ([[0]], ["0"], 1, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]], ["point", 0, ["1"]]]}),
    ([[0]], ["0"], 1, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]], ["point", 0, ["-1"]]]}),
    ([[0]], ["0"], 1, {"points": [["0"]], "cover": [B, ["point", 0, ["0"]], ["none", ["0"]]]}),
    ([[0]], ["0"], 1, {"points": [["1"]], "cover": [B, ["point", 0, ["0"]], ["point", 0, ["1"]]]}),
    *(([[0, 1], [-1, 1]], ["0", "0"], 1, pinned(*c)) for c in (("0", "0"), ("1", "0"), ("-1", "-1"), ("0", "1"))),
    # z or w has a negative entry beside a zero.
    ([["1", "0"], ["0", "1"]], ["1", "1"], 2, {"points": [["0", "0"], ["-1", "0"]], "cover": two(0, 1)}),
    ([["1", "0"], ["0", "1"]], ["-1", "1"], 2, {"points": [["0", "0"], ["1", "0"]], "cover": two(0, 1)}),
    # On z = (t, 0) is w = (0, t): z_1 - w_2 = 0 holds no z.
    ([[0, 1], [1, 1]], ["0", "0"], 1, pinned("1", "-1")),
    # On z = (t, t) w is zero throughout; c = 1 on w adds nothing.
    (
        [[1, -1], [-1, 1]],
        ["0", "0"],
        1,
        {
            "points": [["0", "0"]],
            "cover": [
                B, ["branch", 1], ["point", 0, ["0", "0"]], ["point", 0, ["0", "0"]],
                ["branch", 1], ["point", 0, ["0", "0"]], ["point", 0, ["1", "1"]],
            ],
        },
    ),
]  # fmt: skip
