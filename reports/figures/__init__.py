"""Figures, as declarations that draw themselves in a page or a file."""
