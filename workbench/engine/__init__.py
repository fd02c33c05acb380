"""What makes Python fast here: compiled kernels, their arrays, their cache."""
