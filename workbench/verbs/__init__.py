"""The functions of `import workbench as wb`: one verb per file, called by the command line too."""
