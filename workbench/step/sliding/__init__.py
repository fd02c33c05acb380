"""Sliding contacts at one instant, at acceleration level."""
