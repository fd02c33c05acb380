"""Derivatives of solutions by the data of their problems: which exist, what they are, and of what kind a point is"""
