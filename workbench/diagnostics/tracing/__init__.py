"""Pivoting methods traced step by step in exact fractions, by the textbook rules, one method per file."""
