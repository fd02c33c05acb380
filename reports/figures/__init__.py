"""Figures: declarations rendered on pages or in files."""
