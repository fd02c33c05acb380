"""The bundled solvers, one algorithm a file. Adding one is a file and a line in `MODULES`."""
