"""The words of a comparison's page that a newcomer may not know."""

GLOSSARY = {
    "accumulated error": "of a run from the start, whose states drift away from the reference's",
    "axes": "the two directions in the tangent plane in which polygons and boxes are laid: fixed in space, or turning "
    "with the sliding direction",
    "box, polygon, cone": "the cross-section that a formulation gives to the set of friction forces, which is a disc "
    "of radius μ p_n under Coulomb's law",
    "CCP": "cone complementarity problem: Coulomb's cone with a normal law that lifts contacts as they slide",
    "compliance": "a small softness of constraint rows that makes redundant contacts solvable",
    "conic QP": "convex quadratic programme over friction cones, as which the CCP is solved",
    "Coulomb NCP": "nonlinear complementarity problem of exact Coulomb friction",
    "copositive": "xᵀ M x ≥ 0 for all x ≥ 0, which is enough for Lemke's method to end on a solution or a ray",
    "LCP": "linear complementarity problem: find z ≥ 0 with w = M z + q ≥ 0 and zᵀw = 0",
    "lead matrix": "the matrix M of the LCP or MLCP that is solved in a step",
    "local error": "of a single step, begun at a state of the exact run, so that nothing accumulates",
    "MLCP": "mixed LCP: some unknowns have two bounds or none",
    "P, P-matrix": "a matrix whose principal minors are all positive; its LCP has exactly one solution for every q",
    "principal minor": "the determinant of the rows and columns of one index set",
    "PSD": "positive semidefinite: xᵀ M x ≥ 0 for all x",
    "r, n_d": "the number of contacts, and of friction directions in each",
    "rank": "the number of independent rows; below the order of the lead matrix multipliers are not unique",
    "reference": "exact Coulomb friction at a much smaller step, or the exact solution of a problem from a file",
    "residual": "how far an answer is from solving the problem that was posed, free of units",
    "rho, ρ": "the phantom inertia, which makes the lead matrix of friction directions regular; in residuals, the "
    "step of the natural map",
    "RMS": "root mean square",
    "turned axes": "axes that follow the sliding direction; ranked apart, since they help any polygon or box",
    "uncertainty of the reference": "twice its distance from a run at half its step",
    "verified": "the residual of every step is within the tolerance, whatever the solver claims",
    "W": "the Delassus matrix J M⁻¹ Jᵀ, which gives the contacts' velocities that impulses make",
    "window": "the part of a run over which errors are taken",
}
"""Word and meaning, in alphabetical order."""
