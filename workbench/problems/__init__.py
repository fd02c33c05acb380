"""The mathematical problems, each with its own residual."""
