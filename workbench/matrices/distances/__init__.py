"""How far a matrix is from losing the P-property, q from another number of solutions, z from the solution."""
