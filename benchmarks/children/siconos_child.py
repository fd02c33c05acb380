"""Siconos behind a pipe, under the Python that Debian's `python3-siconos` is built for, with numpy alone beside it.

Questions and answers are those of `channel`; a question names a problem (`KINDS`), a solver by the end of
Siconos' own constant, a tolerance and a number of iterations (None: as the options come). Problems are handed over as
text files, the one way that fills every kind of storage, and are read anew for each run, since some solvers change
them. Only the call of the driver is timed.
"""

import os
import tempfile

import numpy as np
import siconos.numerics as sn
from channel import serve
from siconos_text import friction_text, mlcp_text
from stopwatch import timed

PREFIX = {"friction": "FRICTION_3D", "lcp": "LCP", "mlcp": "MLCP", "batch": "LCP", "built batch": "LCP"}


def friction(data, folder, storage):
    """Problems are made ready by the function returned, and solved by what that returns, given the options."""
    q = data["q"]
    W = (data["first"], data["column"], data["blocks"]) if storage == "blocks" else data["W"]
    path = written(folder, friction_text(W, q, data["mu"]))

    def prepare():
        problem = sn.frictionContact_new_from_filename(path)
        p, u = np.zeros(q.size), np.zeros(q.size)
        return lambda options: (sn.fc3d_driver(problem, p, u, options), p)

    return prepare


def lcp(data, folder, storage):
    M, q = np.asfortranarray(data["M"]), data["q"]

    def prepare():
        problem = sn.LCP(M, q)
        z, w = np.zeros(q.size), np.zeros(q.size)
        return lambda options: (sn.linearComplementarity_driver(problem, z, w, options), z)

    return prepare


def batch(data, folder, storage):
    """A loop over LCPs in arrays: what a user of Python writes."""
    problems, q = [np.asfortranarray(M) for M in data["M"]], data["q"]
    z, w = np.zeros_like(q), np.zeros(q.shape[1])

    def run(options):
        worst = 0
        for i, M in enumerate(problems):
            worst = max(worst, sn.linearComplementarity_driver(sn.LCP(M, q[i]), z[i], w, options))
        return worst, z

    return lambda: run


def built_batch(data, folder, storage):
    """The same with Siconos' objects made beforehand, so that drivers alone are timed."""
    q = data["q"]
    problems = [sn.LCP(np.asfortranarray(M), q[i]) for i, M in enumerate(data["M"])]
    z, w = np.zeros_like(q), np.zeros(q.shape[1])

    def run(options):
        worst = 0
        for i, problem in enumerate(problems):
            worst = max(worst, sn.linearComplementarity_driver(problem, z[i], w, options))
        return worst, z

    return lambda: run


def mlcp(data, folder, storage):
    """From a file alone: made from arrays, MLCPs lead some of Siconos' solvers out of their memory."""
    q = data["q"]
    path = written(folder, mlcp_text(data["M"], q, int(data["free"])))

    def prepare():
        problem = sn.MLCP()
        sn.mixedLinearComplementarity_newFromFilename(problem, path)
        z, w = np.zeros(q.size), np.zeros(q.size)

        def run(options):
            sn.mlcp_driver_init(problem, options)
            try:
                return sn.mlcp_driver(problem, z, w, options), z
            finally:
                sn.mlcp_driver_reset(problem, options)

        return run

    return prepare


def written(folder, text):
    path = os.path.join(folder, "problem.dat")
    with open(path, "w") as file:
        file.write(text)
    return path


KINDS = {"friction": friction, "lcp": lcp, "mlcp": mlcp, "batch": batch, "built batch": built_batch}


def options_of(question):
    options = sn.SolverOptions(getattr(sn, f"SICONOS_{PREFIX[question['kind']]}_{question['solver']}"))
    if question["tolerance"] is not None:
        options.dparam[sn.SICONOS_DPARAM_TOL] = question["tolerance"]
    if question["iterations"] is not None:
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = question["iterations"]
    return options


def answer(question, data):
    with tempfile.TemporaryDirectory() as folder:
        prepare = KINDS[question["kind"]](data, folder, question.get("storage"))

        def fresh():
            options, run = options_of(question), prepare()
            return lambda: run(options)

        (info, z), seconds = timed(fresh)
    return {"seconds": seconds, "reason": "" if info == 0 else f"info {info}"}, {"z": np.array(z)}


if __name__ == "__main__":
    serve(answer)
