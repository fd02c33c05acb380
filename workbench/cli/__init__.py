"""The command line: one file per command, and shared helpers."""
