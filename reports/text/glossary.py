"""The words that a newcomer may not know: those of a comparison's page, and those of the other pages and the site."""

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
    "judge": "the part of the workbench that holds answers against Coulomb's law and shares no code with solvers",
    "LCP": "linear complementarity problem: find z ≥ 0 with w = M z + q ≥ 0 and zᵀw = 0",
    "lead matrix": "the matrix M of the LCP or MLCP that is solved in a step",
    "local error": "of a single step, begun at a state of the exact run, so that nothing accumulates",
    "mixed NCP": "friction cones, discs of given radius and bounds beside one another in one problem",
    "MLCP": "mixed LCP: some unknowns have two bounds or none",
    "natural map": "p − P(p − ρ u), P the projection onto the set of impulses: zero at solutions alone",
    "P, P-matrix": "a matrix whose principal minors are all positive; its LCP has exactly one solution for every q",
    "principal minor": "the determinant of the rows and columns of one index set",
    "proximal": "a solver of MLCPs that settles on which bounds are active and then solves for them to round-off",
    "PSD": "positive semidefinite: xᵀ M x ≥ 0 for all x",
    "r, n_d": "the number of contacts, and of friction directions in each",
    "rank": "the number of independent rows; below the order of the lead matrix multipliers are not unique",
    "reference": "the motion under exact Coulomb friction, followed from event to event or stepped finely; of "
    "a problem from a file the exact solution",
    "residual": "how far an answer is from solving the problem that was posed, free of units",
    "rho, ρ": "the phantom inertia, which makes the lead matrix of friction directions regular; in residuals, the "
    "step of the natural map",
    "RMS": "root mean square",
    "stick threshold": "v_th, the sliding speed below which a contact counts as sticking, a parameter of the case",
    "turned axes": "axes that follow the sliding direction; ranked apart, since they help any polygon or box",
    "uncertainty of the reference": "what coarser tolerances change, or twice what half its step does",
    "verified": "the residual of every step is within the tolerance, whatever the solver claims",
    "W": "the Delassus matrix J M⁻¹ Jᵀ, which gives the contacts' velocities that impulses make",
    "window": "the part of a run over which errors are taken; “sliding” is what the case names so, and “all” the run",
    "world": "what does not move: the ground, walls and bodies that are held",
    "wrench": "the force and the moment of all contacts together",
}
"""Word and meaning, in alphabetical order."""

THEORY = {
    "bilateral": "of a constraint that holds in both directions, such as a joint; its force may have either sign",
    "certificate": "exact numbers by which somebody else can check a verdict without trusting whoever found it",
    "complementarity": "of two quantities of which both are nonnegative and at most one is positive, such as a "
    "contact's gap and its force; written 0 ≤ x ⊥ y ≥ 0",
    "complementary cone": "all q for which the LCP has a solution with given unknowns positive and the others zero; "
    "where cones overlap there are several solutions",
    "Coulomb's law": "friction is at most μ times the normal force; where a contact slides it is just that, against "
    "the sliding velocity",
    "Delassus operator": "W = J M⁻¹ Jᵀ: the velocities at the contacts that impulses at the contacts make",
    "discretisation error": "what is wrong because a step has a finite size; exact Coulomb friction has it too",
    "formulation": "relations that take the place of Coulomb's law in a step; the workbench declares each once",
    "formulation error": "what is wrong because a formulation is not Coulomb's law, though solved to round-off",
    "hyperstatic, redundant": "of contacts that bear more force components than the motion determines, as those of a "
    "table on four legs",
    "idle": "of a contact that bears no impulse, because it opens or because others bear the load",
    "lexicographic rule": "breaks ties between rows so that Lemke's method never comes back to a basis, and cannot "
    "cycle",
    "margin": "how far q is from the nearest one beyond which the number of solutions is another",
    "mixed mode": "some contacts slide, others stick or open",
    "NCP": "nonlinear complementarity problem, such as that of exact Coulomb friction in space",
    "Painlevé paradox": "a rigid body slides under Coulomb's law, and no contact force satisfies the law, or several "
    "do",
    "PGS": "projected Gauss-Seidel: rows are solved one by one, sweep after sweep; stopped early it leaves bodies "
    "creeping",
    "phantom inertia": "a mass ρ between the two slips of each friction direction, with nearly any of which the lead "
    "matrix is regular",
    "pivot": "an exchange of a basic unknown with a nonbasic one",
    "principal pivot": "exchanges that leave each index with one basic unknown of its pair z_i, w_i",
    "regime": "what the law of sliding says at an instant: sliding goes on, the contact opens, there is no answer, or "
    "several",
    "restitution": "the share of an approach that an impact gives back: of velocities by Newton's law, of impulses by "
    "Poisson's",
    "secondary ray": "how Lemke's method ends where no unknown can leave the basis: its path leads to no solution",
    "Signorini": "the law of contact without friction: gap and normal force are nonnegative, and one of them is zero",
    "solver error": "what is wrong because a solver stopped before it had solved the formulation to round-off",
    "verdict": "yes, no or undecided; a yes or no is exact and carries its certificate",
}
"""Words of the other pages and of the documentation."""
WORDS = GLOSSARY | THEORY
