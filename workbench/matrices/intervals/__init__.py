"""Interval matrices: verdicts that hold for every matrix of a box, and the solutions of an uncertain LCP."""
