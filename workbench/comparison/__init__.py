"""Comparison of formulations with exact Coulomb friction, on a case or on a problem from a file."""
