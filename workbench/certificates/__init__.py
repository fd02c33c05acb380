"""Certificates: verdicts on a matrix and its LCP that anybody can check, and the checking, by the standard library."""
