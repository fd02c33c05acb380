"""The documentation: pages in Markdown, and the code that makes a site of them (`python -m docs.build`)."""
