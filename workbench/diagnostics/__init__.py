"""Diagnostics, one question per file. Each returns a verdict with its certificate or witness, or says "undecided"."""
