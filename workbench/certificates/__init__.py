"""Certificates: verifiable verdicts on a matrix and its LCP, and their checker, by the standard library alone."""
