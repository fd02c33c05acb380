"""The classes of matrices that LCP theory knows, one verdict a class."""
