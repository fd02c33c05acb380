"""The matrix classes of LCP theory, one verdict per class."""
