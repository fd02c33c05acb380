"""How far impulses are from Coulomb's law; shares no code with what it judges."""
