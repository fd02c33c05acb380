"""Diagnostics, one question a file. Each returns a verdict with its certificate or witness, or says "undecided"."""
