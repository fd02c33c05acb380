"""Contact problems of one instant, posed and solved: time steps, their runs and sweeps, and sliding contacts."""
