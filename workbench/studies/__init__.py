"""Studies: comparisons over many parameters, kept row by row, resumed, and shared out to processes or a cluster"""
