"""The mechanics of a case that is not known by name, as a list of operations. Standard library only.

{steps, P, Q, w, locking}: each step is [operation, *operands], operands being numbers of earlier steps:

["parameter", name], ["number", "p/q"], ["pi"], ["+", i, j], ["-", i, j], ["*", i, j], ["/", i, j], ["cos", i],
["sin", i], ["sqrt", i], ["sign", i, s]: the number i has the sign s everywhere, which is checked on every box

P, Q (m columns) and w (m) as in `mechanisms`, and locking (or null), each by the number of a step or a whole number as
text. What is proved holds for these functions; whether they are those of a machine the certificate does not say.
"""

from collections.abc import Callable
from typing import Any

from workbench.certificates.documents import check_fields
from workbench.certificates.exact import index, rational
from workbench.certificates.forms import Form, constant, pi_over
from workbench.certificates.limits import check_time
from workbench.certificates.mechanisms import EnclosedParameters, Number, Sliding
from workbench.certificates.outcomes import RefusedError

LONGEST, LARGEST = 20_000, 4
"""Largest number of steps, and of contacts."""
PAIRS: dict[str, Callable[[Form, Form], Form]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
}
SINGLE: dict[str, Callable[[Form], Form]] = {"cos": Form.cos, "sin": Form.sin, "sqrt": Form.sqrt}


def functions(given: Any) -> Callable[[EnclosedParameters], Sliding]:
    """The functions of a programme. RefusedError for anything that is none."""
    check_fields(given, ("steps", "P", "Q", "w", "locking"), "the functions")
    steps = given["steps"]
    if not isinstance(steps, list) or not 0 < len(steps) <= LONGEST:
        raise RefusedError(f"the steps are not a list of 1 to {LONGEST}")
    for k, step in enumerate(steps):
        _check_step(step, k)
    m = len(given["w"]) if isinstance(given["w"], list) else 0
    if not 0 < m <= LARGEST:
        raise RefusedError(f"w is not a list of 1 to {LARGEST} numbers")
    for name in ("P", "Q"):
        columns = given[name]
        if not isinstance(columns, list) or [len(c) if isinstance(c, list) else 0 for c in columns] != [m] * m:
            raise RefusedError(f"{name} is not a list of {m} columns of {m} numbers")

    def evaluated(p: EnclosedParameters) -> Sliding:
        found: list[Form] = []
        for step in steps:
            check_time()
            found.append(_value(step, found, p))

        def number(x: Any) -> Number:
            if isinstance(x, str):
                whole = rational(x)
                if whole.denominator != 1:
                    raise RefusedError(f"{x[:20]!r} is not a whole number")
                return whole.numerator
            return found[index(x, len(found), "the number of a step")]

        P, Q = ([[number(x) for x in column] for column in given[name]] for name in ("P", "Q"))
        locking = None if given["locking"] is None else number(given["locking"])
        if isinstance(locking, int):
            raise RefusedError("locking is not the number of a step")
        return Sliding(P, Q, [number(x) for x in given["w"]], locking)

    return evaluated


def _check_step(step: Any, k: int) -> None:
    operands = {"parameter": 1, "number": 1, "pi": 0, "sign": 2} | dict.fromkeys(PAIRS, 2) | dict.fromkeys(SINGLE, 1)
    if not isinstance(step, list) or not step or operands.get(str(step[0])) != len(step) - 1:
        raise RefusedError(f"the step {str(step)[:40]} is of no kind that is known")
    if step[0] in ("parameter", "number"):
        if not isinstance(step[1], str):
            raise RefusedError(f"the step {str(step)[:40]} has no text")
    elif step[0] == "sign":
        index(step[1], k, "an operand")
        if type(step[2]) is not int or step[2] not in (-1, 0, 1):
            raise RefusedError(f"{str(step[2])[:20]!r} is no sign")
    else:
        for i in step[1:]:
            index(i, k, "an operand")


def _value(step: list[Any], found: list[Form], p: EnclosedParameters) -> Form:
    operation, *operands = step
    if operation == "parameter":
        return p[operands[0]]
    if operation == "number":
        return constant(rational(operands[0]), p.reach)
    if operation == "pi":
        return pi_over(p.reach)
    if operation == "sign":
        if found[operands[0]].sign != operands[1]:
            raise RefusedError("a sign is not certain")
        return found[operands[0]]
    values = [found[i] for i in operands]
    return PAIRS[operation](*values) if operation in PAIRS else SINGLE[operation](*values)
