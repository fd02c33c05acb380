"""Readers of matrices and contact problems from files. A reader refuses in one line, or returns validated data."""
