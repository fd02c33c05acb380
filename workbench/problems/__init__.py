"""Mathematical problems, each with its own residual."""
