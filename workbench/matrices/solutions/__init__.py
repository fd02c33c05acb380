"""The solutions of one LCP, all of them, and whether a friction problem has one: with what proves it."""
