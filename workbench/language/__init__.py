"""The modelling language and its notation: sets, `equals`, `complements`, CVXPY expressions."""
