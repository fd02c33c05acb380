"""The P-property, equivalent to one solution for every q: verdicts on matrices and on mixed problems with bounds."""
