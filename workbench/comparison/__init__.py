"""Many formulations on a case or on a problem from a file, judged against exact Coulomb friction."""
