"""Derivatives of solutions by the data of their problems: whether they exist, their values, the kind of point"""
