"""Exact linear algebra: rationals, linear programmes, definiteness, triangular factors."""
