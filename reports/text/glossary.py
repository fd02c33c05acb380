"""The words that a newcomer may not know: those of a comparison's page, and those of the other pages and the site."""

GLOSSARY = {
    "accumulated error": "error of a whole run, whose states drift away from those of the reference",
    "axes": "the two directions of the tangent frame along which polygons and boxes are aligned: fixed in space, or "
    "along the sliding direction",
    "box, polygon, cone": "the cross-section of the set of friction forces under a formulation; under Coulomb's law it "
    "is a disc of radius μ p_n",
    "CCP": "cone complementarity problem: Coulomb's cone with associated flow, which opens sliding contacts",
    "compliance": "a small softness of constraint rows, which makes redundant contacts solvable",
    "conic QP": "convex quadratic programme over friction cones; the form in which the CCP is solved",
    "Coulomb NCP": "nonlinear complementarity problem of exact Coulomb friction",
    "copositive": "xᵀ M x ≥ 0 for all x ≥ 0; then Lemke's method ends on a solution or a ray",
    "judge": "the code that evaluates solutions by Coulomb's law; it shares nothing with the solvers",
    "LCP": "linear complementarity problem: find z ≥ 0 with w = M z + q ≥ 0 and zᵀw = 0",
    "lead matrix": "the matrix M of the LCP or MLCP that is solved in a step",
    "local error": "error of a single step that starts from a state of the exact run, so that nothing accumulates",
    "mixed NCP": "one problem with friction cones, discs of given radius and bounds",
    "MLCP": "mixed LCP: some unknowns have two bounds or none",
    "natural map": "p − P(p − ρ u), with P the projection onto the set of impulses; zero only at solutions",
    "P, P-matrix": "a matrix whose principal minors are all positive; its LCP has exactly one solution for every q",
    "principal minor": "the determinant of the rows and columns of one index set",
    "proximal": "a solver of MLCPs that finds the active bounds and then solves to round-off",
    "PSD": "positive semidefinite: xᵀ M x ≥ 0 for all x",
    "r, n_d": "the number of contacts, and of friction directions per contact",
    "rank": "the number of independent rows; if it is below the order of the lead matrix, multipliers are not unique",
    "reference": "the motion under exact Coulomb friction, event-driven or with small steps; for a problem from a "
    "file, the exact solution",
    "residual": "dimensionless measure of how far an answer is from solving the posed problem",
    "rho, ρ": "the phantom inertia, which makes the lead matrix of friction directions regular; in residuals, the "
    "step of the natural map",
    "RMS": "root mean square",
    "stick threshold": "v_th, the sliding speed below which a contact counts as sticking; a parameter of the case",
    "turned axes": "axes along the sliding direction (option axes=sliding)",
    "uncertainty of the reference": "the change with coarser tolerances, or twice the change at half its step",
    "verified": "the residual of every step is within the tolerance, whatever the solver claims",
    "W": "the Delassus matrix J M⁻¹ Jᵀ, which maps contact impulses to contact velocities",
    "window": "the part of a run over which errors are computed; the case names it, and “all” is the whole run",
    "world": "everything that does not move: ground, walls and fixed bodies",
    "wrench": "the net force and moment of all contacts",
}
"""Word and meaning, in alphabetical order."""

THEORY = {
    "bilateral": "constraint that holds in both directions, such as a joint; its force may have either sign",
    "certificate": "exact numbers that let independent code check a verdict",
    "complementarity": "relation of two nonnegative quantities of which at most one is positive, such as a contact's "
    "gap and force; written 0 ≤ x ⊥ y ≥ 0",
    "complementary cone": "all q for which the LCP has a solution with given unknowns positive and the others zero; "
    "where cones overlap there are several solutions",
    "Coulomb's law": "friction is at most μ times the normal force; at a sliding contact it equals this bound and "
    "opposes the sliding velocity",
    "Delassus operator": "W = J M⁻¹ Jᵀ, which maps contact impulses to contact velocities",
    "discretisation error": "error that comes from the finite step size; exact Coulomb friction has it too",
    "formulation": "relations that replace Coulomb's law in a time step; the workbench declares each once",
    "formulation error": "error of a formulation solved to round-off, because it is not Coulomb's law",
    "hyperstatic, redundant": "contacts with more force components than the motion determines, such as a four-legged "
    "table's",
    "idle": "contact without impulse, because it opens or because others carry the load",
    "lexicographic rule": "rule that breaks ties between rows so that Lemke's method never repeats a basis and cannot "
    "cycle",
    "margin": "distance of q from the nearest right-hand side at which the number of solutions changes",
    "mixed mode": "some contacts slide, others stick or open",
    "NCP": "nonlinear complementarity problem, such as that of exact Coulomb friction in space",
    "Painlevé paradox": "a rigid body slides under Coulomb's law, and no contact force or several satisfy the law",
    "PGS": "projected Gauss-Seidel: rows are solved one by one in repeated sweeps; stopped early, bodies creep",
    "phantom inertia": "a mass ρ between the two slips of each friction direction; with almost any ρ the lead matrix "
    "is regular",
    "pivot": "an exchange of a basic unknown with a nonbasic one",
    "principal pivot": "exchange that leaves one unknown of each pair z_i, w_i basic",
    "regime": "outcome of the law of sliding at an instant: continued sliding, lift-off, no solution, or several",
    "restitution": "the ratio of separation to approach in an impact: of velocities (Newton) or of impulses (Poisson)",
    "secondary ray": "end of Lemke's method at which no unknown can leave the basis, so that it finds no solution",
    "Signorini": "contact law without friction: gap and normal force are nonnegative, and one of them is zero",
    "solver error": "error that remains because a solver stopped before round-off",
    "verdict": "yes, no or undecided; a yes or no is exact and has a certificate",
}
"""Words of the other pages and of the documentation."""
WORDS = GLOSSARY | THEORY
