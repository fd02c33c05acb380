"""Problems printed as Siconos prints them, for tests; from the format, not from the reader."""

import numpy as np


def number(x):
    return f"{x:32.24e}"


def line(values):
    return " ".join(number(x) for x in np.ravel(values)) + "\n"


def dense(A):
    m, n = A.shape
    return f"0\n{m}\n{n}\n{m}\t{n}\n" + "".join(line(A.ravel(order="F")[k : k + n]) for k in range(0, m * n, n))


def blocks(A, rows, columns, trailing=True):
    """Block rows and columns of the given sizes; zero blocks are left out."""
    tops, lefts = np.cumsum([0, *rows]), np.cumsum([0, *columns])
    starts, places, parts = [0], [], []
    for i, height in enumerate(rows):
        for j, width in enumerate(columns):
            block = A[tops[i] : tops[i] + height, lefts[j] : lefts[j] + width]
            if block.any():
                places.append(j)
                parts.append("".join(f"{x:.17e}\n" for x in block.ravel(order="F")))
        starts.append(len(places))
    while not trailing and len(starts) > 1 and starts[-1] == starts[-2]:
        starts.pop()
    return (
        f"1\n{A.shape[0]}\n{A.shape[1]}\n{len(places)}\n{len(rows)}\n{len(columns)}\n"
        + "\t".join(map(str, tops[1:])) + "\n" + "\t".join(map(str, lefts[1:])) + f"\n{len(starts)}\n{len(places)}\n"
        + "\t".join(map(str, starts)) + "\n" + "\t".join(map(str, places)) + "\n"
        + "".join(f"{k}\n{part}" for k, part in enumerate(parts))
    )  # fmt: skip


VERSION = "CXSparse Version 3.2.0, Sept 12, 2017.  Copyright (c) Timothy A. Davis, 2006-2016\n"


def triplets(A):
    m, n = A.shape
    entries = "".join(f"    {i} {j} : {A[i, j]:.17e}\n" for i, j in np.argwhere(A)[::-1])
    count = np.count_nonzero(A)
    return f"2\n{m}\n{n}\n1\n{VERSION}triplet: {m}-by-{n}, nzmax: {count} nnz: {count}\n{entries}"


def columns(A, layout=2):
    """Compressed columns; with layout 3 the lines `col` are rows."""
    m, n = A.shape
    B = A if layout == 2 else A.T
    count, done, text = np.count_nonzero(A), 0, ""
    for j in range(B.shape[1]):
        places = np.flatnonzero(B[:, j])
        text += f"    col {j} : locations {done} to {done + places.size - 1}\n"
        text += "".join(f"      {i} : {B[i, j]:.17e}\n" for i in places)
        done += places.size
    return f"2\n{m}\n{n}\n{layout}\n{VERSION}{m}-by-{n}, nzmax: {count + 3} nnz: {count}, 1-norm: 1.5\n{text}"


def rows(A):
    return columns(A, 3)


def lcp(M, q, printed=dense):
    return f"{q.size}\n{printed(M)}{line(q)}"


def local(W, q, mu, dimension, printed=dense):
    return f"{dimension}\n{mu.size}\n{printed(W)}{line(q)}{line(mu)}"


def global_(M, H, f, w, mu, dimension, printed=dense):
    return f"{dimension}\n{mu.size}\n{printed(M)}{printed(H)}{line(f)}{line(w)}{line(mu)}1\n"


def mlcp(M, q, equations, whole=True, parts=True):
    """`equations` (n + m,) says which rows are equations; the parts are those of equations and complementarities."""
    e, c = np.flatnonzero(equations), np.flatnonzero(~equations)
    text = f"{int(whole)}\n{int(parts)}\n{e.size}\n{c.size}\n"
    if whole:
        ends = [0, *(np.flatnonzero(np.diff(equations.astype(int))) + 1), q.size]
        text += " ".join(map(str, ends)) + " \n" + " ".join(str(int(not equations[k])) for k in ends[:-1]) + " \n"
        text += dense(M) + line(q)
    if parts:
        text += "".join(line(row) for a, b in ((e, e), (c, c), (e, c), (c, e)) for row in M[np.ix_(a, b)])
        text += line(q[e]) + line(q[c])
    return text


def tall_mlcp(M, q, n, m):
    """M with more rows than n + m columns, its last m the complementarities: both forms, with Siconos' strides."""
    rows, size = M.shape
    A, C = (part.ravel(order="F") for part in (M[: rows - m, :n], M[: rows - m, n:]))
    text = f"1\n1\n{n}\n{m}\n" + (f"0 {n} {size} \n0 1 \n" if n else f"0 {size} \n1 \n") + dense(M) + line(q[:size])
    text += "".join(line([A[i + n * j] for j in range(n)]) for i in range(n))
    text += "".join(map(line, M[rows - m :, n:]))
    text += "".join(line([C[i + n * j] for j in range(m)]) for i in range(n))
    return text + "".join(map(line, M[rows - m :, :n])) + line(q[:n]) + line(q[rows - m :])
