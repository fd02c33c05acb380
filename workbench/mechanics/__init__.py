"""What touches: contact data of one instant, bodies, cases."""
