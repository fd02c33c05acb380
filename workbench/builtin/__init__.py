"""The cases, formulations and reports that come with the workbench, which lie beside it in the repository.

They are imported as `workbench.builtin.cases` and so on, never by their bare names: a file called `cases.py` beside
somebody's script is that person's own.
"""
