"""Studies: comparisons over many parameters, stored row by row, resumed, and distributed to processes or clusters."""
