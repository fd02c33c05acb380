"""The compiled core: kernels, their arrays and their cache."""
