"""All solutions of one LCP, and the existence of solutions of a friction problem, with proofs."""
