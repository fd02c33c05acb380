"""The workbench beside its peers: `python -m benchmarks`."""
