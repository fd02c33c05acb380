"""Terms and their definitions, for reports of comparisons, for other pages and for the site."""

GLOSSARY = {
    "accumulated error": "error of a run from the start, as its states drift away from the reference's",
    "axes": "the two directions in the tangent plane along which polygons and boxes are aligned: fixed in space, or "
    "turning with the sliding direction",
    "box, polygon, cone": "cross-section of a formulation's set of friction forces; Coulomb's law has a disc of "
    "radius μ p_n",
    "CCP": "cone complementarity problem: friction cones with associated flow, which lifts sliding contacts",
    "compliance": "small softness of constraint rows, which makes redundant contacts solvable",
    "confidence": "in the ranking of the verified formulations: high without a doubt, medium with one, low with "
    "several. Doubts are an unknown uncertainty of the reference, several solutions of Coulomb's law or no proof that "
    "there is only one, a failed check against theory, and a second rank within the reference's uncertainty of the "
    "first. Also low where a displacement of the start by 0.1 µm moves a body by more than these two ranks differ, and "
    "where the error of the time step alone exceeds a tenth of the motion",
    "conic QP": "convex quadratic programme over friction cones; the form in which the CCP is solved",
    "copositive": "matrix with xᵀ M x ≥ 0 for all x ≥ 0; Lemke's method then ends on a solution or a ray",
    "Coulomb NCP": "nonlinear complementarity problem of exact Coulomb friction",
    "Coulomb's law": "friction is at most μ times the normal force; at a sliding contact it equals that bound and "
    "opposes the sliding velocity",
    "Delassus operator, W": "J M⁻¹ Jᵀ, which maps contact impulses to changes of the contact velocities",
    "exact Coulomb friction": "the formulation “coulomb”, which imposes Coulomb's law at the end of each time step; "
    "the time step is the only source of its error",
    "judge": "part of the workbench that checks solutions against Coulomb's law; shares no code with solvers",
    "LCP": "linear complementarity problem: find z ≥ 0 with w = M z + q ≥ 0 and zᵀw = 0",
    "lead matrix": "matrix M of the LCP or MLCP that is solved in a step",
    "local error": "error of a single step started from a state of the exact run, so that nothing accumulates",
    "mixed NCP": "problem with friction cones, discs of given radius and bounds over one matrix",
    "MLCP": "mixed LCP: some unknowns have two bounds or none",
    "natural map": "p − P(p − ρ u), with the projection P onto the set of impulses; zero exactly at solutions",
    "P, P-matrix": "matrix whose principal minors are all positive; its LCP has exactly one solution for every q",
    "principal minor": "determinant of the rows and columns of one index set",
    "proximal": "solver of MLCPs that finds the active bounds, then solves for them to round-off",
    "PSD": "positive semidefinite: xᵀ M x ≥ 0 for all x",
    "r, n_d": "number of contacts, and number of friction directions per contact",
    "rank": "number of independent rows; if it is below the order of the lead matrix, multipliers are not unique",
    "reference": "motion under Coulomb's law, event-driven or stepped at a small step; for a problem from a file, the "
    "exact solution",
    "residual": "dimensionless measure of how far a solution is from solving the problem that was posed",
    "rho, ρ": "phantom inertia, which makes the lead matrix of friction directions regular; in residuals, the step of "
    "the natural map",
    "RMS": "root mean square",
    "stick threshold": "v_th, the sliding speed below which a contact counts as sticking; a parameter of the case",
    "turned axes": "axes along the sliding direction (option axes=sliding)",
    "uncertainty of the reference": "change of the reference with coarser tolerances, or twice its change with half "
    "its step",
    "verified": "the residual of every step is within the tolerance, whatever the solver reports",
    "window": "part of a run over which errors are taken: “sliding” as defined by the case, or “all” of the run",
    "world": "everything that does not move: ground, walls and fixed bodies",
    "wrench": "net force and moment of all contacts",
}
"""Term and definition, in alphabetical order."""

THEORY = {
    "bilateral": "constraint that holds in both directions, such as a joint; its force may have either sign",
    "certificate": "exact numbers by which anybody can check a verdict without trusting the program that found it",
    "complementarity": "condition 0 ≤ x ⊥ y ≥ 0 on two quantities, such as a contact's gap and its force: both are "
    "nonnegative and at most one is positive",
    "complementary cone": "set of all q for which the LCP has a solution with given unknowns positive and the others "
    "zero; where cones overlap there are several solutions",
    "discretisation error": "error due to the finite time step; exact Coulomb friction has it too",
    "formulation": "set of relations that replaces Coulomb's law in a time step, declared once in the workbench",
    "formulation error": "error of a formulation solved to round-off, because its law is not Coulomb's",
    "hyperstatic, redundant": "contacts with more force components than the motion determines, such as those of a "
    "table on four legs",
    "idle": "contact without impulse, because it opens or because others carry the load",
    "lexicographic rule": "tie-breaking rule between rows by which Lemke's method never returns to a basis and cannot "
    "cycle",
    "margin": "distance of q to the nearest one with a different number of solutions",
    "mixed mode": "state in which some contacts slide while others stick or open",
    "NCP": "nonlinear complementarity problem, such as that of exact Coulomb friction in space",
    "Painlevé paradox": "a sliding rigid body for which no contact force satisfies Coulomb's law, or several do",
    "PGS": "projected Gauss-Seidel: rows are solved one by one, sweep after sweep; stopped early, it leaves bodies "
    "creeping",
    "phantom inertia": "mass ρ between the two slip velocities of each friction direction; for almost any ρ the lead "
    "matrix is regular",
    "pivot": "exchange of a basic unknown with a nonbasic one",
    "principal pivot": "pivots after which each index has one basic unknown of its pair z_i, w_i",
    "regime": "outcome of the law of sliding at an instant: sliding continues, the contact opens, there is no "
    "solution, or several",
    "restitution": "fraction of the approach returned by an impact: of velocities in Newton's law, of impulses in "
    "Poisson's",
    "secondary ray": "end of Lemke's method where no unknown can leave the basis; the path has not led to a solution",
    "Signorini": "condition of frictionless contact: gap and normal force are nonnegative, and one of them is zero",
    "solver error": "error because a solver stopped before it had solved the formulation to round-off",
    "verdict": "yes, no or undecided; a yes or no is exact and has a certificate",
}
"""Terms of the other pages and of the documentation."""
WORDS = GLOSSARY | THEORY
