"""Event-driven motion under Coulomb's law: smooth phases at acceleration level, and the events between them"""
