"""How a formulation is written and printed: sets, `equals`, `complements`, CVXPY expressions."""
