"""Pivoting methods step by step in exact fractions, by their textbooks' rules, one method a file."""
