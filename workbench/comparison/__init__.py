"""Comparison of formulations with Coulomb's law, on a case or on a problem from a file."""
