"""Mechanics: contact data of one instant, bodies, cases."""
