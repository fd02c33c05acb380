"""Distances of a matrix from losing the P-property, of q from another number of solutions, of z from the solution."""
