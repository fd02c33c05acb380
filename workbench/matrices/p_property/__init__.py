"""The P-property, which is one solution for every q: verdicts on matrices and on mixed problems with bounds."""
