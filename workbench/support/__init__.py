"""Support for all rooms: errors, numbers as text, safe output, registries, user code, progress, signals, processes."""

__version__ = "0.1.0"
