"""From a declaration to numbers: compiled once per size, stamped at every step, kept on disk."""
