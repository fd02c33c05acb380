"""Support for all rooms: errors, safe output, registries, own code, progress, signals, and lifetimes of processes."""

__version__ = "0.1.0"
