"""Matrices of rationals as people write them: every style the reader knows, and what chance makes of such text."""

import random
from fractions import Fraction

VULGAR = {"½": Fraction(1, 2), "¾": Fraction(3, 4), "⅓": Fraction(1, 3), "⅐": Fraction(1, 7), "⅞": Fraction(7, 8)}
Entries = list[list[str]]


def number(rng: random.Random) -> tuple[str, Fraction]:
    """A number as typed, and what it means."""
    sign = rng.choice(("", "", "-", "+"))
    p, q, k = rng.randrange(1000), rng.randrange(1, 100), rng.randrange(-9, 9)
    digits = f"{rng.randrange(10)}.{rng.randrange(10**6):06}"
    typed = rng.choice((str(p), f"{p}/{q}", digits, f"{p}.", f".{p}", f"{digits}e{k}", f"{p}E{k:+}"))
    return sign + typed, Fraction(sign + typed)


def typeset(entry: str, rng: random.Random) -> str:
    """The same with a minus sign as it is printed, and now and then a fraction as one character."""
    for character, value in VULGAR.items():
        if Fraction(entry) == value:
            return character
    return entry.replace("-", rng.choice("−–"))


def _joined(rows: Entries, between: str, end: str) -> str:
    return end.join(between.join(row) for row in rows)


STYLES = {
    "csv": lambda rows, rng: _joined(rows, ",", "\n"),
    "csv with blanks": lambda rows, rng: _joined(rows, " , ", "\r\n"),
    "semicolons": lambda rows, rng: _joined(rows, ";", "\n") + "\n",
    "tabs": lambda rows, rng: _joined(rows, "\t", "\n"),
    "blanks": lambda rows, rng: "\n".join("  " + "   ".join(row) for row in rows),
    "quoted": lambda rows, rng: "\n".join(",".join(f'"{x}"' for x in row) for row in rows),
    "trailing commas": lambda rows, rng: "\n".join(",".join(row) + "," for row in rows),
    "trailing semicolons": lambda rows, rng: "\n".join(", ".join(row) + ";" for row in rows),
    "header": lambda rows, rng: ",".join(f"x{j}" for j in range(len(rows[0]))) + "\n" + _joined(rows, ",", "\n"),
    "labels": lambda rows, rng: "\n".join(f"r{i},{','.join(row)}" for i, row in enumerate(rows)),
    "header and labels": lambda rows, rng: (
        "".join(f',"x {j}"' for j in range(len(rows[0]))) + "\n"
        + "\n".join(f'"r, {i}",{",".join(row)}' for i, row in enumerate(rows))
    ),
    "python": lambda rows, rng: "[" + ", ".join(f"[{', '.join(row)}]" for row in rows) + "]",
    "python, indented": lambda rows, rng: "[\n" + "".join(f"  [{','.join(row)}],\n" for row in rows) + "]\n",
    "json, quoted": lambda rows, rng: "[" + ",".join("[" + ",".join(f'"{x}"' for x in row) + "]" for row in rows) + "]",
    "numpy": lambda rows, rng: "[" + "\n ".join(f"[{'  '.join(row)}]" for row in rows) + "]",
    "numpy, repr": lambda rows, rng: (
        rng.choice(("array(", "np.array(", "M = numpy.array(")) + "["
        + ",\n       ".join(f"[{', '.join(row)}]" for row in rows) + rng.choice(("])", "], dtype=float32)"))
    ),
    "matlab": lambda rows, rng: f"[{_joined(rows, ' ', '; ')}]",
    "matlab, named": lambda rows, rng: f"% remark\nA = [{_joined(rows, ', ', ';')};];",
    "matlab, lines": lambda rows, rng: f"M = [{_joined(rows, ' ', chr(10))}\n]; % remark",
    "matlab, continued": lambda rows, rng: "M = [" + "; ".join(" ...\n  ".join(row) for row in rows) + "]",
    "matlab, shown": lambda rows, rng: f"\nM =\n\n    {_joined(rows, '   ', chr(10) + '    ')}\n",
}  # fmt: skip
"""Text of the entries, by the name of the style."""
NOTED = {"header": "columns: x0", "labels": "rows: r0", "header and labels": "columns: x 0"}
"""What a note says of what is left out."""


def matrix(rng: random.Random) -> tuple[Entries, list[list[Fraction]]]:
    """Entries as typed and what they mean, up to 4 x 4."""
    m, n = rng.randrange(1, 5), rng.randrange(1, 5)
    both = [[number(rng) for _ in range(n)] for _ in range(m)]
    return [[typed for typed, _ in row] for row in both], [[value for _, value in row] for row in both]


WORDS = (
    "", " ", ",", ";", "\n", "[", "]", "[[", "]]", "(", ")", "{", "}", '"', "'", "=", "M =", "q = [1; 2]", "...", "%",
    "-", "+", "/", "1e999999999", "1e-999999999", "1/0", "0/0", "1e400", "1,5", "nan", "inf", "1+2j", "3i", "1_0", "x",
    "−", "½", "1\u202f000", "\ufeff", "\u200b", "\x00", "\x85", "\u2028", "array(", "Fraction(1, 0)", "dtype=", "NaN",
    "é" * 999, "9" * 2000, "[" * 3000, "1" * 400 + "½", "{" * 3000, "\\", "\t", ":", "null", "true", "#", "05", "ñ",
    "%%MatrixMarket",
)  # fmt: skip
"""What is put between, or in the place of, pieces of a text."""


def mutilated(rng: random.Random) -> str:
    """A matrix as text after a few changes."""
    text = STYLES[rng.choice(list(STYLES))](matrix(rng)[0], rng)
    for _ in range(rng.choice((1, 1, 2, 4))):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 0, 1, 2, 10)))
        text = text[:start] + rng.choice((*WORDS, text[: rng.randrange(len(text) + 1)])) + text[end:]
    return text
