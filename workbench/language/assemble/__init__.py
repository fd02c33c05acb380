"""Compilation of declarations to numbers: once per size, evaluated at every step, stored on disk."""
