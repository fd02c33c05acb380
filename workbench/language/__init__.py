"""The modelling language: declarations of formulations, their notation, and their compilation to numbers."""
