"""What `import workbench as wb` offers: one verb a file, which the command line calls too."""
