"""Formulations and physics engines against known motions: experiments with analytic results, and recordings."""
