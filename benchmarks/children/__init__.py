"""What runs in child processes, under interpreters that know nothing of the workbench."""
