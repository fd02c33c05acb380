"""Contact formulation workbench: declare, solve, judge and show formulations of frictional contact."""

__version__ = "0.1.0"
