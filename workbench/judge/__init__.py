"""Distance of impulses from Coulomb's law; shares no code with formulations, solvers or assembly."""
